// library.c - the parts of Python's library that programs import.
#include "lang/eval_int.h"

static const Library library[] = {
    {"math", fill_math},
    {"itertools", fill_itertools},
    {"functools", fill_functools},
    {"collections", fill_collections},
    {"dataclasses", fill_dataclasses},
    {"enum", fill_enum},
    {"operator", fill_operator},
    {"copy", fill_copy},
    {"random", fill_random},
    {"re", fill_re},
    {"types", fill_types},
    {"typing", fill_typing},
    {"typing_extensions", fill_typing},
    {"collections.abc", fill_typing},
    {"abc", fill_abc},
    {"__future__", fill_future},
    {"sys", fill_sys},
    {"os", fill_os},
    {"time", fill_time},
    {"warnings", fill_warnings},
    {"logging", fill_logging},
};

// What a module of Python has and this one has not: using it is the error.
static bool lookup_missing(Lang *l, Module *m, Text name, Value *out)
{
    Module *part = lang_module(l, text_format(l->options.arena, "%.*s.%.*s",
                                              TEXT_ARG(m->name),
                                              TEXT_ARG(name)).at);

    part->opaque = true;
    *out = v_module(part);
    return !text_starts(name, "__");
}

Module *library_module(Lang *l, Text name)
{
    for (size_t i = 0; i < countof(library); i++) {
        Module *m;

        if (!text_is(name, library[i].name))
            continue;
        m = lang_module(l, library[i].name);
        m->lookup = lookup_missing;
        if (library[i].fill == fill_math)       // it is all there
            m->lookup = NULL;
        library[i].fill(l, m);
        return m;
    }
    return NULL;
}
