// msgpack.c - reads MessagePack; every length is checked against what is left.
#include "gfx942/msgpack.h"

typedef struct {
    Arena *arena;
    const uint8_t *at, *end;
    int depth;
} Reader;

enum { DEEPEST = 32 };

static bool read_node(Reader *r, PackNode *out);

// A big-endian number of `bytes` bytes.
static bool read_uint(Reader *r, int bytes, uint64_t *out)
{
    if (r->end - r->at < bytes)
        return false;
    *out = 0;
    while (bytes--)
        *out = *out << 8 | *r->at++;
    return true;
}

static bool read_int(Reader *r, int bytes, PackNode *out)
{
    uint64_t v;
    if (!read_uint(r, bytes, &v))
        return false;
    int unused = 64 - 8 * bytes;
    out->type = PACK_INT;
    out->number = (int64_t)(v << unused) >> unused;
    return true;
}

static bool read_text(Reader *r, uint64_t len, PackNode *out)
{
    if ((uint64_t)(r->end - r->at) < len)
        return false;
    out->type = PACK_TEXT;
    out->text = (Text){(const char *)r->at, len};
    r->at += len;
    return true;
}

// An item takes a byte at least: no count can ask for more memory than that.
static bool read_items(Reader *r, PackType type, uint64_t count, PackNode *out)
{
    if (count > (uint64_t)(r->end - r->at) || r->depth >= DEEPEST)
        return false;
    out->type = type;
    out->count = (int)count;
    out->items = new_array(r->arena, PackNode, count);
    r->depth++;
    for (uint64_t i = 0; i < count; i++)
        if (!read_node(r, &out->items[i]))
            return false;
    r->depth--;
    return true;
}

static bool skip(Reader *r, uint64_t bytes)
{
    if ((uint64_t)(r->end - r->at) < bytes)
        return false;
    r->at += bytes;
    return true;
}

// Types 0xc0 to 0xdf.
static bool read_marked(Reader *r, uint8_t mark, PackNode *out)
{
    uint64_t n = 0;
    switch (mark) {
    case 0xc0: return true;
    case 0xc2: case 0xc3:
        out->type = PACK_INT;
        out->number = mark & 1;
        return true;
    case 0xc4: case 0xc5: case 0xc6:            // bytes
        return read_uint(r, 1 << (mark - 0xc4), &n) && read_text(r, n, out);
    case 0xca: return skip(r, 4);
    case 0xcb: return skip(r, 8);
    case 0xcc: case 0xcd: case 0xce: case 0xcf:
        out->type = PACK_INT;
        if (!read_uint(r, 1 << (mark - 0xcc), &n))
            return false;
        out->number = (int64_t)n;
        return true;
    case 0xd0: case 0xd1: case 0xd2: case 0xd3:
        return read_int(r, 1 << (mark - 0xd0), out);
    case 0xd9: case 0xda: case 0xdb:
        return read_uint(r, 1 << (mark - 0xd9), &n) && read_text(r, n, out);
    case 0xdc: case 0xdd:
        return read_uint(r, 2 << (mark - 0xdc), &n)
               && read_items(r, PACK_ARRAY, n, out);
    case 0xde: case 0xdf:
        return read_uint(r, 2 << (mark - 0xde), &n)
               && read_items(r, PACK_MAP, 2 * n, out);
    }
    return false;
}

static bool read_node(Reader *r, PackNode *out)
{
    if (r->at == r->end)
        return false;
    uint8_t mark = *r->at++;
    *out = (PackNode){0};
    if (mark < 0x80 || mark >= 0xe0) {
        out->type = PACK_INT;
        out->number = (int8_t)mark;
        return true;
    }
    if (mark < 0x90)
        return read_items(r, PACK_MAP, 2 * (mark & 15u), out);
    if (mark < 0xa0)
        return read_items(r, PACK_ARRAY, mark & 15, out);
    if (mark < 0xc0)
        return read_text(r, mark & 31, out);
    return read_marked(r, mark, out);
}

const PackNode *pack_read(Arena *a, const uint8_t *at, size_t len)
{
    Reader r = {.arena = a, .at = at, .end = at + len};
    PackNode *root = new(a, PackNode);
    return read_node(&r, root) ? root : NULL;
}

const PackNode *pack_get(const PackNode *map, const char *key)
{
    if (!map || map->type != PACK_MAP)
        return NULL;
    for (int i = 0; i + 1 < map->count; i += 2)
        if (map->items[i].type == PACK_TEXT
            && text_is(map->items[i].text, key))
            return &map->items[i + 1];
    return NULL;
}

int64_t pack_int(const PackNode *map, const char *key, int64_t fallback)
{
    const PackNode *n = pack_get(map, key);
    return n && n->type == PACK_INT ? n->number : fallback;
}

Text pack_text(const PackNode *map, const char *key)
{
    const PackNode *n = pack_get(map, key);
    return n && n->type == PACK_TEXT ? n->text : (Text){0};
}
