// mod_re.c - the module re, as far as programs need it here: patterns are
// looked for in generated code, which is unseen (see unseen.c), or escaped to
// be part of a pattern. A search in a text that is known is not built.
#include <string.h>

#include "lang/eval_int.h"

// What re.escape puts a backslash before.
static const char special[] = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";

static Value re_escape(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "escape", args, 1, 1);
    if (args->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span, "escape() takes a str; "
                   "found %s", value_type_name(args->at[0]));
    Text t = args->at[0].s;
    TextBuf *b = text_begin(l);
    for (size_t i = 0; i < t.len; i++) {
        if (t.at[i] && strchr(special, t.at[i]))
            buf_addc(b, '\\');
        buf_addc(b, t.at[i]);
    }
    return text_end(l);
}

static Value on_text(Lang *l, void *ctx, const Args *args)
{
    lang_unsupported(l, args->at_span, "re.%s() on a text", (const char *)ctx);
}

void fill_re(Lang *l, Module *m)
{
    static const char *const names[] = {
        "search", "match", "fullmatch", "findall", "finditer", "sub", "subn",
        "split", "compile",
    };

    module_set(l, m, "escape", v_builtin(l, "escape", re_escape, NULL));
    for (size_t i = 0; i < countof(names); i++)
        module_set(l, m, names[i],
                   v_builtin(l, names[i], on_text, (void *)names[i]));
}
