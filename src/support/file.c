// file.c - whole files, and output that is there completely or not at all.
#include "support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support_int.h"

static bool fail(const char **why)
{
    *why = errno == EISDIR ? "is a directory" : strerror(errno);
    return false;
}

// Grows by what fstat promises, or by doubling where it promises nothing.
bool fd_read(int fd, char **at, size_t *len, const char **why)
{
    struct stat st;
    size_t room = 1 << 16;

    if (fstat(fd, &st))
        return fail(why);
    if (S_ISREG(st.st_mode) && st.st_size > 0)
        room = (size_t)st.st_size + 1;
    *at = xmalloc(room);
    *len = 0;
    for (;;) {
        ssize_t n = read(fd, *at + *len, room - *len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(*at);
            *at = NULL;
            return fail(why);
        }
        if (n == 0)
            return true;
        *len += (size_t)n;
        if (*len == room) {
            *at = xrealloc(*at, room, 2);
            room *= 2;
        }
    }
}

bool file_read(const char *path, char **at, size_t *len, const char **why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return fail(why);
    ok = fd_read(fd, at, len, why);
    close(fd);
    return ok;
}

static bool write_pieces(int fd, const FilePiece *pieces, int count,
                         const char **why)
{
    for (int i = 0; i < count; i++) {
        const char *at = pieces[i].at;
        size_t left = pieces[i].len;

        while (left) {
            ssize_t n = write(fd, at, left);

            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return fail(why);
            at += n;
            left -= (size_t)n;
        }
    }
    return true;
}

// Opens a new file beside `path`; its name comes back in `temp`.
static int open_sibling(const char *path, TextBuf *temp, mode_t mode)
{
    int fd = -1;

    for (int attempt = 0; attempt < 100 && fd < 0; attempt++) {
        buf_clear(temp);
        buf_printf(temp, "%s.%ld-%d.tmp", path, (long)getpid(), attempt);
        fd = open(temp->at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static bool write_direct(const char *path, const FilePiece *pieces, int count,
                         const char **why)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return fail(why);
    ok = write_pieces(fd, pieces, count, why);
    if (close(fd) && ok)
        ok = fail(why);
    return ok;
}

static bool write_and_rename(const char *path, mode_t mode,
                             const FilePiece *pieces, int count,
                             const char **why)
{
    TextBuf temp = {0};
    int fd = open_sibling(path, &temp, mode);
    bool ok;

    if (fd < 0) {
        fail(why);
        buf_release(&temp);
        return false;
    }
    ok = write_pieces(fd, pieces, count, why);
    if (ok && fsync(fd))
        ok = fail(why);
    if (close(fd) && ok)
        ok = fail(why);
    if (ok && rename(temp.at, path))
        ok = fail(why);
    if (!ok)
        unlink(temp.at);
    buf_release(&temp);
    return ok;
}

bool file_write_pieces(const char *path, const FilePiece *pieces, int count,
                       const char **why)
{
    struct stat st;
    char *real;
    bool ok;

    if (stat(path, &st))
        return write_and_rename(path, 0666, pieces, count, why);
    if (!S_ISREG(st.st_mode))
        return write_direct(path, pieces, count, why);
    real = realpath(path, NULL);                // keep a symbolic link
    if (!real)
        return fail(why);
    ok = write_and_rename(real, st.st_mode & 0777, pieces, count, why);
    free(real);
    return ok;
}

bool file_write(const char *path, const void *at, size_t len, const char **why)
{
    return file_write_pieces(path, &(FilePiece){at, len}, 1, why);
}
