// build_cache.c - what compilers made, kept for the next run.
//
// An entry is one file named after its key. It holds the key whole, so that
// two keys with one name are told apart, and a sum over everything, so that a
// file that was cut short or damaged is found out. It appears by renaming a
// complete temporary file: processes may read and write at the same time.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpu_backend/toolchain_int.h"

static const char first_line[] = "tilesim-build 1 %zu %zu %zu %016llx\n";

// Makes the directory and those above it.
static bool make_folder(TextBuf *path)
{
    for (size_t i = 1; i <= path->len; i++) {
        char kept = i < path->len ? path->at[i] : '\0';

        if (kept && kept != '/')
            continue;
        path->at[i] = '\0';
        if (mkdir(path->at, 0777) && errno != EEXIST)
            return false;
        path->at[i] = kept;
    }
    return true;
}

// The entry's path. False: there is no place for a cache.
static bool entry_path(Text key, TextBuf *path)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    Text tail = text_slice(key, key.len / 2, key.len);

    if (base && base[0] == '/')
        buf_puts(path, base);
    else if (home && home[0] == '/')
        buf_printf(path, "%s/.cache", home);
    else
        return false;
    buf_puts(path, "/tilesim");
    buf_addc(path, '\0');
    path->len--;
    if (!make_folder(path))
        return false;
    buf_printf(path, "/%016llx%016llx.build",
               (unsigned long long)text_hash(key),
               (unsigned long long)text_hash(tail));
    return true;
}

static bool read_entry(Text file, Text key, TextBuf *image, TextBuf *log)
{
    size_t key_len, image_len, log_len, head;
    unsigned long long sum;
    const char *line = memchr(file.at, '\n', file.len);
    char start[128];

    if (!line || (head = (size_t)(line + 1 - file.at)) >= sizeof start)
        return false;
    memcpy(start, file.at, head);
    start[head] = '\0';
    if (sscanf(start, first_line, &key_len, &image_len, &log_len, &sum) != 4
        || key_len > file.len || image_len > file.len || log_len > file.len
        || head + key_len + image_len + log_len != file.len)
        return false;
    Text body = text_slice(file, head, file.len);
    if (text_hash(body) != sum || !text_eq(text_slice(body, 0, key_len), key))
        return false;
    buf_add(image, body.at + key_len, image_len);
    buf_add(log, body.at + key_len + image_len, log_len);
    return true;
}

bool cache_read(Text key, TextBuf *image, TextBuf *log)
{
    TextBuf path = {0};
    const char *why;
    bool found = false;
    char *at;
    size_t len;

    if (entry_path(key, &path) && file_read(path.at, &at, &len, &why)) {
        found = read_entry((Text){at, len}, key, image, log);
        free(at);
    }
    buf_release(&path);
    return found;
}

// A cache that cannot be written is none; nothing is lost but time.
void cache_write(Text key, Text image, Text log)
{
    TextBuf path = {0}, file = {0}, body = {0};
    const char *why;

    if (entry_path(key, &path)) {
        buf_text(&body, key);
        buf_text(&body, image);
        buf_text(&body, log);
        buf_printf(&file, first_line, key.len, image.len, log.len,
                   (unsigned long long)text_hash(buf_view(&body)));
        buf_text(&file, buf_view(&body));
        file_write(path.at, file.at, file.len, &why);
    }
    buf_release(&body);
    buf_release(&file);
    buf_release(&path);
}
