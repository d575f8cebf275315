// gunzip.c - files that may be packed by gzip.
#include "support/support.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LARGEST = 1 << 30 };                     // unpacked; a bomb stops here

static bool is_packed(const char *at, size_t len)
{
    return len >= 2 && (unsigned char)at[0] == 0x1f &&
           (unsigned char)at[1] == 0x8b;
}

static const char *refusal(int code)
{
    return code == Z_BUF_ERROR ? "is cut short (gzip)"
                               : "is damaged (gzip)";
}

// Doubles the room of `out` until all is unpacked; one member after the other.
static bool inflate_all(z_stream *z, TextBuf *out, const char **why)
{
    char piece[1 << 16];
    for (;;) {
        z->next_out = (Bytef *)piece;
        z->avail_out = sizeof piece;
        int code = inflate(z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END) {
            *why = refusal(code);
            return false;
        }
        buf_add(out, piece, sizeof piece - z->avail_out);
        if (out->len > LARGEST) {
            *why = "unpacks to more than 1 GiB";
            return false;
        }
        if (code == Z_STREAM_END && z->avail_in == 0)
            return true;
        if (code == Z_STREAM_END && inflateReset(z) != Z_OK)
            BUG("inflateReset");
    }
}

bool gunzip(const char *at, size_t len, TextBuf *out, const char **why)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)at, .avail_in = (uInt)len};
    if (len > LARGEST) {
        *why = "is larger than 1 GiB";
        return false;
    }
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        BUG("inflateInit2");
    bool ok = inflate_all(&z, out, why);
    inflateEnd(&z);
    return ok;
}

bool file_read_unpacked(const char *path, char **at, size_t *len,
                        const char **why)
{
    TextBuf out = {0};
    char *packed;
    size_t packed_len;
    if (!file_read(path, &packed, &packed_len, why))
        return false;
    if (!is_packed(packed, packed_len)) {
        *at = packed;
        *len = packed_len;
        return true;
    }
    bool ok = gunzip(packed, packed_len, &out, why);
    free(packed);
    if (!ok)
        buf_release(&out);
    *at = out.at;
    *len = out.len;
    return ok;
}
