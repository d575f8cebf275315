// program.c - compilers that are programs: found, asked, run.
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_backend/toolchain_int.h"

extern char **environ;

// Runs a program; both of its outputs go to `out`. Its exit status, or -1.
static int run_program(char *const *words, const char *log, TextBuf *out)
{
    posix_spawn_file_actions_t actions;
    const char *why;
    int status = -1;
    char *text;
    size_t len;
    pid_t pid;
    bool ok;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    ok = !posix_spawn(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    while (ok && waitpid(pid, &status, 0) < 0)
        ;
    if (ok && file_read(log, &text, &len, &why)) {
        buf_add(out, text, len);
        free(text);
    }
    return ok && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool program_at(char *path, size_t room, const char *folder, size_t len,
                const char *name)
{
    int n = snprintf(path, room, "%.*s/%s", (int)len, folder, name);

    if (n > 0 && (size_t)n < room && !access(path, X_OK))
        return true;
    path[0] = '\0';
    return false;
}

bool program_on_path(char *path, size_t room, const char *name)
{
    const char *p = getenv("PATH");

    while (p && *p) {
        size_t len = strcspn(p, ":");

        if (len && program_at(path, room, p, len, name))
            return true;
        p += len + (p[len] == ':');
    }
    return false;
}

// A directory of our own, below $TMPDIR.
static bool make_folder(TextBuf *folder)
{
    const char *base = getenv("TMPDIR");

    buf_printf(folder, "%s/tilesim-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder->at) != NULL;
}

static const char *below(Arena *a, const TextBuf *folder, const char *name)
{
    return text_cstr(a, text_format(a, "%s/%s", folder->at, name));
}

bool program_says(const char *path, const char *option, TextBuf *out)
{
    TextBuf folder = {0};
    Arena *a = arena_create();
    bool ok = make_folder(&folder);

    if (ok) {
        char *const words[] = {(char *)path, (char *)option, NULL};
        const char *log = below(a, &folder, "log");

        ok = !run_program(words, log, out);
        unlink(log);
        rmdir(folder.at);
    }
    buf_release(&folder);
    arena_destroy(a);
    return ok;
}

bool program_compile(Arena *a, const char **words, int n, const GpuSource *s,
                     TextBuf *image, TextBuf *log)
{
    TextBuf folder = {0};
    const char *source, *output, *printed, *why = NULL;
    bool ok = false;
    char *bytes;
    size_t len;

    if (!make_folder(&folder)) {
        buf_puts(log, "no temporary directory can be made");
        buf_release(&folder);
        return false;
    }
    source = below(a, &folder, s->name);
    output = below(a, &folder, "image");
    printed = below(a, &folder, "log");
    words[n++] = "-o";
    words[n++] = output;
    words[n++] = source;
    if (file_write(source, s->source.at, s->source.len, &why)
        && !run_program((char *const *)words, printed, log)
        && file_read(output, &bytes, &len, &why)) {
        buf_add(image, bytes, len);
        free(bytes);
        ok = len > 0;
    }
    if (!ok && !log->len)
        buf_puts(log, why ? why : "it printed nothing");
    unlink(source);
    unlink(output);
    unlink(printed);
    rmdir(folder.at);
    buf_release(&folder);
    return ok;
}
