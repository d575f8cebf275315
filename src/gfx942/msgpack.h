// msgpack.h - MessagePack, the form of a code object's metadata, as a tree.
#ifndef GFX942_MSGPACK_H
#define GFX942_MSGPACK_H

#include "support/support.h"

typedef enum { PACK_NIL, PACK_INT, PACK_TEXT, PACK_ARRAY, PACK_MAP } PackType;

typedef struct PackNode {
    PackType type;
    int64_t number;                             // booleans too; floats are NIL
    Text text;
    struct PackNode *items;                     // a map has key, value, key...
    int count;                                  // of items
} PackNode;

// One value; NULL when the bytes end early, nest too deep or are malformed.
const PackNode *pack_read(Arena *a, const uint8_t *at, size_t len);

// The value of a key of a map; NULL when there is none (or no map).
const PackNode *pack_get(const PackNode *map, const char *key);
int64_t pack_int(const PackNode *map, const char *key, int64_t fallback);
Text pack_text(const PackNode *map, const char *key);
#endif
