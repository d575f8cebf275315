// args.c - the arguments of functions written in C.
#include <string.h>

#include "lang/eval_int.h"

void args_count(Lang *l, const char *function, const Args *args, int least,
                int most)
{
    int n = args->count;

    if (args->keyword_count)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() takes no keyword arguments", function);
    if (n >= least && n <= most)
        return;
    if (least == 1 && most == 1)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() takes exactly one argument (%d given)", function, n);
    if (least == most)
        lang_raise(l, "TypeError", args->at_span,
                   "%s expected %d argument%s, got %d", function, least,
                   least == 1 ? "" : "s", n);
    lang_raise(l, "TypeError", args->at_span,
               "%s expected at %s %d argument%s, got %d", function,
               n < least ? "least" : "most", n < least ? least : most,
               (n < least ? least : most) == 1 ? "" : "s", n);
}

bool args_keyword(const Args *args, const char *name, Value *out)
{
    return args_named(args, text_of(name), out);
}

bool args_named(const Args *args, Text name, Value *out)
{
    for (int i = 0; i < args->keyword_count; i++)
        if (text_eq(args->names[i], name))
            return *out = args->values[i], true;
    return false;
}

// ---- args_bind -------------------------------------------------------------

static bool is_optional(const char *name)
{
    return name[strlen(name) - 1] == '=';
}

static Text bare_name(const char *name)
{
    return (Text){name, strlen(name) - is_optional(name)};
}

static bool is_marker(const char *name)
{
    return strcmp(name, "*") == 0;
}

static int find_name(const char *const *names, int count, Text name)
{
    for (int i = 0, slot = 0; i < count; i++) {
        if (is_marker(names[i]))
            continue;
        if (text_eq(bare_name(names[i]), name))
            return slot;
        slot++;
    }
    return -1;
}

_Noreturn static void unknown_name(Lang *l, const char *function,
                                   const Args *args, Text name,
                                   const char *const *names, int count)
{
    Map known = {0};

    for (int i = 0; i < count; i++)
        if (!is_marker(names[i]))
            map_set(l->options.arena, &known, bare_name(names[i]), &known);
    lang_raise_near(l, "TypeError", args->at_span,
                    nearest_name(&known, name, TEXT("")),
                    "%s() got an unexpected keyword argument '%.*s'", function,
                    TEXT_ARG(name));
}

static void bind_by_place(Lang *l, const char *function, const Args *args,
                          const char *const *names, int count, Value *out)
{
    int slot = 0;

    for (int i = 0; i < count && slot < args->count; i++) {
        if (is_marker(names[i]))
            break;
        out[slot] = args->at[slot];
        slot++;
    }
    if (slot < args->count)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() takes %d positional argument%s but %d %s given",
                   function, slot, slot == 1 ? "" : "s", args->count,
                   args->count == 1 ? "was" : "were");
}

static void bind_by_name(Lang *l, const char *function, const Args *args,
                         const char *const *names, int count, Value *out)
{
    for (int k = 0; k < args->keyword_count; k++) {
        int slot = find_name(names, count, args->names[k]);

        if (slot < 0)
            unknown_name(l, function, args, args->names[k], names, count);
        if (out[slot].kind != VAL_UNBOUND)
            lang_raise(l, "TypeError", args->at_span,
                       "%s() got multiple values for argument '%.*s'",
                       function, TEXT_ARG(args->names[k]));
        out[slot] = args->values[k];
    }
}

// `out` has one slot a name, "*" not counted.
void args_bind(Lang *l, const char *function, const Args *args,
               const char *const *names, int count, Value *out)
{
    int slots = 0, slot = 0;

    for (int i = 0; i < count; i++)
        if (!is_marker(names[i]))
            out[slots++] = (Value){.kind = VAL_UNBOUND};
    bind_by_place(l, function, args, names, count, out);
    bind_by_name(l, function, args, names, count, out);
    for (int i = 0; i < count; i++) {
        if (is_marker(names[i]))
            continue;
        if (out[slot].kind == VAL_UNBOUND && !is_optional(names[i]))
            lang_raise(l, "TypeError", args->at_span,
                       "%s() missing required argument '%s' (pos %d)",
                       function, names[i], slot + 1);
        slot++;
    }
}
