// capture.c - reads files of captured matrix instructions, and repeats them.
#include "device/capture.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 64, FIELDS = 12, MOST = 1 << 16 };

// The twelve integers of a record, in order.
typedef struct {
    int32_t m, n, k, bytes[4], tiles, types[4];
} Header;

_Static_assert(sizeof(Header) == 4 * FIELDS, "a record's header is packed");

static bool fail(const char **why, const char *message)
{
    *why = message;
    return false;
}

static bool read_name(Text rest, Text *out, const char **why)
{
    size_t len = strnlen(rest.at, NAME);
    if (len == 0 || len == NAME)
        return fail(why, "the record's name has no end within 64 bytes");
    for (size_t i = 0; i < len; i++)
        if (rest.at[i] < ' ' || rest.at[i] > '~')
            return fail(why, "the record's name is not printable text");
    *out = text_slice(rest, 0, len);
    return true;
}

static bool check_sizes(const Header *h, const char **why)
{
    if (h->m < 1 || h->n < 1 || h->k < 1 || h->m > MOST || h->n > MOST ||
        h->k > MOST)
        return fail(why, "M, N and K are 1 to 65536");
    if (h->tiles < 1)
        return fail(why, "a record has one tile or more");
    return true;
}

static bool read_types(const Header *h, MmaType out[4], const char **why)
{
    const int64_t elements[4] = {
        (int64_t)h->m * h->k, (int64_t)h->n * h->k,
        (int64_t)h->m * h->n, (int64_t)h->m * h->n,
    };
    for (int i = 0; i < 4; i++) {
        if (!mma_type_of_code(h->types[i], &out[i]))
            return fail(why, "a type is none of the numbers in use");
        if (h->bytes[i] != elements[i] * (mma_type_info(out[i])->bits / 8))
            return fail(why, "the bytes of a tile do not follow from M, N, K "
                             "and the types");
    }
    if (out[2] != out[3])
        return fail(why, "C and D have different types");
    return true;
}

static bool read_unit(Text name, MmaUnit *out)
{
    if (text_starts(name, "mma"))
        *out = MMA_UNIT_SYNC;
    else if (text_starts(name, "wgmma"))
        *out = MMA_UNIT_WGMMA;
    else if (text_starts(name, "mfma") || text_starts(name, "v_mfma"))
        *out = MMA_UNIT_MFMA;
    else
        return false;
    return true;
}

static bool contains(Text t, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= t.len; i++)
        if (!memcmp(t.at + i, word, n))
            return true;
    return false;
}

// N of "xN chained"; 1 when the name does not say it, 0 when N is no count.
static int read_repeats(Text name)
{
    int64_t n = 1;
    if (!text_ends(name, " chained"))
        return 1;
    Text head = text_slice(name, 0, name.len - strlen(" chained"));
    size_t i = head.len;
    while (i > 0 && head.at[i - 1] != 'x')
        i--;
    bool sound = text_to_i64(text_slice(head, i, head.len), &n);
    return sound && n >= 1 && n <= 1024 ? (int)n : 0;
}

static Basis basis_of(MmaUnit unit, const MmaSpec *s)
{
    Basis best = BASIS_ESTIMATE;
    for (int i = 0; i < mma_count(); i++) {
        const DeviceMma *m = mma_at(i);
        bool same = m->unit == unit && m->a == s->a && m->b == s->b &&
                    m->acc == s->acc && m->bits != BASIS_NONE;
        if (same && m->bits < best)
            best = m->bits;
    }
    return best;
}

static bool read_arithmetic(Capture *c, const MmaType types[4],
                            const char **why)
{
    MmaUnit unit;
    if (!read_unit(c->name, &unit))
        return fail(why, "the name starts with none of mma, wgmma, mfma");
    if (!mma_spec(unit, types[0], types[1], types[3], c->k, &c->spec))
        return fail(why, "no arithmetic is known for these types and this K "
                         "on that unit");
    c->spec.negate_a = contains(c->name, "negA");
    c->spec.saturate = contains(c->name, "satfinite");
    c->repeats = read_repeats(c->name);
    c->basis = basis_of(unit, &c->spec);
    return c->repeats || fail(why, "'xN chained' has no N from 1 to 1024");
}

// Takes `bytes` for each tile off the front of *rest.
static bool take_tiles(Text *rest, int64_t tiles, size_t bytes,
                       const char **out)
{
    if (rest->len / bytes < (size_t)tiles)
        return false;
    *out = rest->at;
    *rest = text_slice(*rest, bytes * (size_t)tiles, rest->len);
    return true;
}

static bool read_tiles(Capture *c, const Header *h, Text *rest,
                       const char **why)
{
    c->a_bytes = (size_t)h->bytes[0];
    c->b_bytes = (size_t)h->bytes[1];
    c->c_bytes = (size_t)h->bytes[2];
    return (take_tiles(rest, c->tiles, c->a_bytes, &c->a) &&
            take_tiles(rest, c->tiles, c->b_bytes, &c->b) &&
            take_tiles(rest, c->tiles, c->c_bytes, &c->c) &&
            take_tiles(rest, c->tiles, c->c_bytes, &c->d)) ||
           fail(why, "the file ends inside the record's tiles");
}

bool capture_next(Text file, size_t *at, Capture *out, const char **why)
{
    Header h;
    MmaType types[4];
    Text rest = text_slice(file, *at, file.len);
    *out = (Capture){0};
    if (rest.len < NAME + sizeof h)
        return fail(why, "the file ends inside a record's header");
    if (!read_name(rest, &out->name, why))
        return false;
    memcpy(&h, rest.at + NAME, sizeof h);
    out->m = h.m, out->n = h.n, out->k = h.k, out->tiles = h.tiles;
    if (!check_sizes(&h, why) || !read_types(&h, types, why) ||
        !read_arithmetic(out, types, why))
        return false;
    rest = text_slice(rest, NAME + sizeof h, rest.len);
    if (!read_tiles(out, &h, &rest, why))
        return false;
    *at = file.len - rest.len;
    return true;
}

void capture_run(const Capture *c, MmaPath path, int64_t tile, void *d)
{
    char *a = xmalloc(c->a_bytes), *b = xmalloc(c->b_bytes);
    memcpy(a, c->a + (size_t)tile * c->a_bytes, c->a_bytes);
    memcpy(b, c->b + (size_t)tile * c->b_bytes, c->b_bytes);
    memcpy(d, c->c + (size_t)tile * c->c_bytes, c->c_bytes);
    MmaTile t = {.m = c->m, .n = c->n, .k = c->k, .a = a, .b = b, .c = d,
                 .d = d, .lda = c->k, .ldb = c->k, .ldc = c->n, .ldd = c->n};
    for (int i = 0; i < c->repeats; i++)
        mma_tile(&c->spec, path, &t);
    free(a);
    free(b);
}
