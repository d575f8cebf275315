// text_buf.c - text that grows.
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

void buf_write(const TextBuf *b, FILE *out)
{
    if (b->len)
        fwrite(b->at, 1, b->len, out);
}

void buf_release(TextBuf *b)
{
    free(b->at);
    *b = (TextBuf){0};
}

void buf_clear(TextBuf *b)
{
    b->len = 0;
}

// Room for n more bytes and a NUL.
static void reserve(TextBuf *b, size_t n)
{
    size_t need, room = b->room ? b->room : 64;

    if (__builtin_add_overflow(b->len, n, &need) ||
        __builtin_add_overflow(need, 1, &need) || need > SIZE_MAX / 2)
        fatal(EXIT_LIMIT, "out of memory (a text of %zu more bytes)", n);
    if (need <= b->room)
        return;
    while (room < need)
        room *= 2;
    b->at = xrealloc(b->at, room, 1);
    b->room = room;
}

void buf_add(TextBuf *b, const char *bytes, size_t n)
{
    reserve(b, n);
    if (n)
        memcpy(b->at + b->len, bytes, n);
    b->len += n;
    b->at[b->len] = 0;
}

void buf_addc(TextBuf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_puts(TextBuf *b, const char *cstr)
{
    buf_add(b, cstr, strlen(cstr));
}

void buf_text(TextBuf *b, Text t)
{
    buf_add(b, t.at, t.len);
}

void buf_printf(TextBuf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_vprintf(TextBuf *b, const char *format, va_list args)
{
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    if (n < 0)
        BUG("buf_vprintf: cannot format '%s'", format);
    reserve(b, (size_t)n);
    vsnprintf(b->at + b->len, (size_t)n + 1, format, again);
    b->len += (size_t)n;
    va_end(again);
}

void buf_pad(TextBuf *b, int width)
{
    size_t start = b->len;

    while (start && b->at[start - 1] != '\n')
        start--;
    for (int w = text_width(text_slice(buf_view(b), start, b->len)); w < width;
         w++)
        buf_addc(b, ' ');
}

Text buf_view(const TextBuf *b)
{
    return (Text){b->at ? b->at : "", b->len};
}

void buf_grouped(TextBuf *b, int64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);

    for (int i = 0; i < len; i++) {
        bool group = i > 0 && digits[i - 1] != '-' && (len - i) % 3 == 0;

        if (group)
            buf_addc(b, ',');
        buf_addc(b, digits[i]);
    }
}
