// stream.c - stores that go past the caches, for tensors larger than them.
//
// An ordinary store first reads the line it writes to; a tensor that is
// written once and is too large to be found in a cache later is better off
// without. Such stores are not ordered with others until stream_settle().
#include "interp/interp_int.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

enum { LINE = 64 };

static void stream_line(char *d, const char *s)
{
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((__m128i *)(d + i),
                         _mm_loadu_si128((const __m128i *)(s + i)));
}

void stream_bytes(char *d, const char *s, size_t n)
{
    size_t head = -(uintptr_t)d % LINE;

    if (n < 4 * LINE)
        head = n;
    memcpy(d, s, head);
    for (d += head, s += head, n -= head; n >= LINE; n -= LINE) {
        stream_line(d, s);
        d += LINE;
        s += LINE;
    }
    memcpy(d, s, n);
}

void stream_settle(void)
{
    _mm_sfence();
}
#else
void stream_bytes(char *d, const char *s, size_t n)
{
    memcpy(d, s, n);
}

void stream_settle(void)
{
}
#endif
