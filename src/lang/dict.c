// dict.c - dicts and sets: hashed, in insertion order.
//
// `slots` is an open-addressing table of entry numbers plus one (0: free), at
// most half full. A deleted entry keeps its slot and has an UNBOUND key;
// growing packs the entries.
#include <math.h>
#include <string.h>

#include "lang/eval_int.h"

// ---- hashing ---------------------------------------------------------------

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

// Equal numbers have equal hashes, whatever their type.
static uint64_t float_hash(double f)
{
    uint64_t bits;

    if (f == floor(f) && f >= -0x1p63 && f < 0x1p63)
        return mix((uint64_t)(int64_t)f);
    memcpy(&bits, &f, sizeof bits);
    return mix(bits + 1);
}

static uint64_t list_hash(Lang *l, const List *list, Span at)
{
    uint64_t h = 0x345678;

    stack_check(l, at);
    for (int i = 0; i < list->len; i++)
        h = mix(h * 31 + value_hash(l, list->at[i], at));
    return h;
}

static uint64_t set_hash(Lang *l, const Dict *d, Span at)
{
    uint64_t h = 1927868237;

    for (int i = 0; i < d->len; i++)
        if (d->keys[i].kind != VAL_UNBOUND)
            h += value_hash(l, d->keys[i], at);
    return mix(h);
}

static uint64_t pointer_hash(const void *p)
{
    return mix((uint64_t)(uintptr_t)p >> 4);
}

_Noreturn static void unhashable(Lang *l, Value v, Span at)
{
    lang_raise(l, "TypeError", at, "unhashable type: '%s'",
               value_type_name(v));
}

static uint64_t data_hash(Lang *l, Value v, Span at);

// A class with __eq__ and no __hash__ is unhashable, as in Python.
static uint64_t instance_hash(Lang *l, Value v, Span at)
{
    Value out;

    if (call_dunder(l, v, "__hash__", NULL, 0, &out, at))
        return mix((uint64_t)value_to_int(l, out, "a hash", at));
    if (v.instance->cls->mixin &&
        map_value(&v.instance->attributes, TEXT("value"), &out))
        return value_hash(l, out, at);
    if (v.instance->cls->form == CLASS_DATA && !v.instance->cls->data->no_eq)
        return data_hash(l, v, at);
    if (class_find(v.instance->cls, TEXT("__eq__"), &out))
        unhashable(l, v, at);
    return pointer_hash(v.instance);
}

// Of a frozen dataclass: its fields.
static uint64_t data_hash(Lang *l, Value v, Span at)
{
    const Map *m = &v.instance->attributes;
    uint64_t h = 5;

    if (!v.instance->cls->data->frozen)
        unhashable(l, v, at);
    for (int i = 0; i < m->len; i++)
        h = mix(h * 31 + value_hash(l, *(Value *)m->at[i].value, at));
    return h;
}

uint64_t value_hash(Lang *l, Value v, Span at)
{
    switch (v.kind) {
    case VAL_NONE:
    case VAL_ELLIPSIS:
        return mix(v.kind);
    case VAL_BOOL:
        return mix(v.b);
    case VAL_INT:
        return mix((uint64_t)v.i);
    case VAL_FLOAT:
        return float_hash(v.f);
    case VAL_STR:
    case VAL_BYTES:
    case VAL_POLICY:
        return text_hash(v.s);
    case VAL_DTYPE:
        return text_hash(text_of(dtype_info(v.dtype)->name));
    case VAL_VECTYPE:
        return text_hash(vectype_name(l, v));
    case VAL_PRIM:
        return mix((uint64_t)v.prim + 1000);
    case VAL_TYPE:
        return mix((uint64_t)v.type + 2000);
    case VAL_TUPLE:
        return list_hash(l, v.list, at);
    case VAL_RANGE:
        return mix((uint64_t)(v.range.r[0] + 3 * range_len(v.range.r)));
    case VAL_SET:
        if (!v.dict->fixed)
            unhashable(l, v, at);
        return set_hash(l, v.dict, at);
    case VAL_INSTANCE:
        return instance_hash(l, v, at);
    case VAL_LIST:
    case VAL_DICT:
    case VAL_SLICE:
        unhashable(l, v, at);
    case VAL_BOUND:
        return pointer_hash(v.bound->callee.function);
    default:
        return pointer_hash(v.list);            // any pointer of the union
    }
}

// ---- the table -------------------------------------------------------------

Dict *dict_new(Lang *l)
{
    return new (l->options.arena, Dict);
}

Value v_dict(Lang *l)
{
    return v_of_dict(VAL_DICT, dict_new(l));
}

static int first_slot(const Dict *d, uint64_t hash)
{
    return (int)(hash & (uint64_t)(d->slot_count - 1));
}

// The slot of `key`, or the free one where it belongs.
static int slot_of(Lang *l, const Dict *d, Value key, uint64_t hash)
{
    int i = first_slot(d, hash);

    while (d->slots[i]) {
        Value other = d->keys[d->slots[i] - 1];

        if (other.kind != VAL_UNBOUND &&
            (value_is(other, key) || value_equal(l, other, key)))
            break;
        i = (i + 1) & (d->slot_count - 1);
    }
    return i;
}

static void pack(Dict *d, Value *keys, Value *values)
{
    int n = 0;

    for (int i = 0; i < d->len; i++) {
        if (d->keys[i].kind == VAL_UNBOUND)
            continue;
        keys[n] = d->keys[i];
        values[n++] = d->values[i];
    }
    d->keys = keys;
    d->values = values;
    d->len = n;
}

static void fill_slots(Lang *l, Dict *d)
{
    for (int i = 0; i < d->len; i++) {
        int at = first_slot(d, value_hash(l, d->keys[i], SPAN_NONE));

        while (d->slots[at])
            at = (at + 1) & (d->slot_count - 1);
        d->slots[at] = i + 1;
    }
}

static void grow(Lang *l, Dict *d)
{
    Arena *a = l->options.arena;
    int room = 2 * d->live < 8 ? 8 : 2 * d->live;

    if (d->live >= MOST_ELEMENTS)
        lang_raise(l, "MemoryError", SPAN_NONE,
                   "a dict or set of more than %d elements is too large",
                   MOST_ELEMENTS);
    pack(d, new_array(a, Value, (size_t)room),
         new_array(a, Value, (size_t)room));
    d->room = room;
    d->slot_count = 16;
    while (d->slot_count < 2 * room)
        d->slot_count *= 2;
    d->slots = new_array(a, int, (size_t)d->slot_count);
    fill_slots(l, d);
}

bool dict_find(Lang *l, const Dict *d, Value key, int *at)
{
    uint64_t hash = value_hash(l, key, SPAN_NONE);
    int slot;

    if (d->live == 0)
        return false;
    slot = slot_of(l, d, key, hash);
    *at = d->slots[slot] - 1;
    return d->slots[slot] != 0;
}

void dict_set(Lang *l, Dict *d, Value key, Value v)
{
    uint64_t hash = value_hash(l, key, SPAN_NONE);
    int slot, at;

    value_bind(key);
    value_bind(v);
    if (dict_find(l, d, key, &at)) {
        d->values[at] = v;
        return;
    }
    if (d->len == d->room)
        grow(l, d);
    slot = slot_of(l, d, key, hash);
    d->keys[d->len] = key;
    d->values[d->len] = v;
    d->slots[slot] = ++d->len;
    d->live++;
}

bool dict_get(Lang *l, const Dict *d, Value key, Value *out)
{
    int at;

    if (!dict_find(l, d, key, &at))
        return false;
    *out = d->values[at];
    return true;
}

bool dict_get_text(Lang *l, const Dict *d, const char *key, Value *out)
{
    return dict_get(l, d, v_str(text_of(key)), out);
}

bool dict_remove(Lang *l, Dict *d, Value key)
{
    int at;

    if (!dict_find(l, d, key, &at))
        return false;
    d->keys[at] = (Value){.kind = VAL_UNBOUND};
    d->values[at] = (Value){.kind = VAL_UNBOUND};
    d->live--;
    return true;
}

void dict_clear(Dict *d)
{
    d->len = d->live = 0;
    if (d->slots)
        memset(d->slots, 0, (size_t)d->slot_count * sizeof *d->slots);
}

Dict *dict_copy(Lang *l, const Dict *d)
{
    Dict *out = dict_new(l);

    for (int i = 0; i < d->len; i++)
        if (d->keys[i].kind != VAL_UNBOUND)
            dict_set(l, out, d->keys[i], d->values[i]);
    out->missing = d->missing;
    out->kind = d->kind;
    return out;
}

// d[key], with a defaultdict's or Counter's answer for what is missing.
Value dict_index(Lang *l, Value d, Value key, Span at)
{
    Value out;

    if (dict_get(l, d.dict, key, &out))
        return out;
    if (d.dict->missing && d.dict->missing->kind != VAL_NONE) {
        Args none = {.at_span = at};

        out = call_value(l, *d.dict->missing, &none);
        dict_set(l, d.dict, key, out);
        return out;
    }
    if (d.dict->kind && strcmp(d.dict->kind, "Counter") == 0)
        return v_int(0);
    exception_raise(l, exception_new(l, l->more->exceptions[EXC_KEY], &key, 1),
                    at);
}

// ---- sets ------------------------------------------------------------------

void set_add(Lang *l, Dict *d, Value v)
{
    int at;

    if (!dict_find(l, d, v, &at))
        dict_set(l, d, v, V_NONE);
}

Dict *set_of(Lang *l, Value v, Span at)
{
    Dict *out = dict_new(l);
    int top = temps_top(l);
    List *items;

    if (v.kind == VAL_SET)
        return dict_copy(l, v.dict);
    items = value_to_list(l, v, at);
    temp_push(l, v_of_list(items));             // hashing may run the program
    for (int i = 0; i < items->len; i++)
        set_add(l, out, items->at[i]);
    temps_cut(l, top);
    return out;
}

static void add_where(Lang *l, Dict *out, const Dict *from, const Dict *other,
                      bool present)
{
    int at;

    for (int i = 0; i < from->len; i++)
        if (from->keys[i].kind != VAL_UNBOUND &&
            dict_find(l, other, from->keys[i], &at) == present)
            set_add(l, out, from->keys[i]);
}

Value set_binary(Lang *l, AstOp op, const Dict *a, const Dict *b)
{
    Dict *out = op == AST_OP_OR ? dict_copy(l, a) : dict_new(l);

    if (op == AST_OP_AND)
        add_where(l, out, a, b, true);
    if (op == AST_OP_SUB || op == AST_OP_XOR)
        add_where(l, out, a, b, false);
    if (op == AST_OP_OR || op == AST_OP_XOR)
        add_where(l, out, b, a, false);
    out->fixed = a->fixed;
    return v_of_dict(VAL_SET, out);
}

bool set_subset(Lang *l, const Dict *a, const Dict *b)
{
    int at;

    for (int i = 0; i < a->len; i++)
        if (a->keys[i].kind != VAL_UNBOUND &&
            !dict_find(l, b, a->keys[i], &at))
            return false;
    return true;
}
