// named.c - tuples with field names that the host returns.
#include "lang/eval_int.h"

Value v_named_tuple(Lang *l, const char *type, const char *const *fields,
                    const Value *at, int count)
{
    Arena *a = lang_arena(l);
    Class *c = class_new(l, text_of(type), NULL, 0);
    Value *names = new_array(a, Value, count + 1);
    Value *all = new (a, Value);
    for (int i = 0; i < count; i++)
        names[i] = v_str(text_of(fields[i]));
    *all = v_tuple(l, names, count);
    map_set(a, &c->attributes, TEXT("_fields"), all);
    Value out = v_tuple(l, at, count);
    out.list->cls = c;
    return out;
}
