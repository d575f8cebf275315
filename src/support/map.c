// map.c - text to pointer, insertion-ordered.
//
// `slots` is an open-addressing table of entry numbers plus one (0: free), at
// most half full; the entries themselves stay in insertion order.
#include "support/support.h"

static int slot_of(const Map *m, Text key, uint64_t hash)
{
    int mask = m->slot_count - 1;
    int i = (int)(hash & (uint64_t)mask);

    while (m->slots[i]) {
        const MapEntry *e = &m->at[m->slots[i] - 1];

        if (e->hash == hash && text_eq(e->key, key))
            break;
        i = (i + 1) & mask;
    }
    return i;
}

MapEntry *map_find(const Map *m, Text key)
{
    int slot;

    if (!m->slot_count)
        return NULL;
    slot = slot_of(m, key, text_hash(key));
    return m->slots[slot] ? &m->at[m->slots[slot] - 1] : NULL;
}

void *map_get(const Map *m, Text key)
{
    const MapEntry *e = map_find(m, key);

    return e ? e->value : NULL;
}

static void grow_slots(Arena *a, Map *m)
{
    if (m->slot_count > 1 << 28)
        fatal(EXIT_LIMIT, "a table has more than %d entries", m->len);
    m->slot_count = m->slot_count ? 2 * m->slot_count : 16;
    m->slots = new_array(a, int, (size_t)m->slot_count);
    for (int i = 0; i < m->len; i++)
        m->slots[slot_of(m, m->at[i].key, m->at[i].hash)] = i + 1;
}

void map_set(Arena *a, Map *m, Text key, void *value)
{
    MapEntry *old = map_find(m, key);
    MapEntry entry = {.key = key, .value = value, .hash = text_hash(key)};

    if (old) {
        old->value = value;
        return;
    }
    if (2 * (m->len + 1) > m->slot_count)
        grow_slots(a, m);
    vec_push(a, m, entry);
    m->slots[slot_of(m, key, entry.hash)] = m->len;
}
