// argparse.c - argparse.ArgumentParser for scripts' options.
#include <stdlib.h>
#include <string.h>

#include "host/host.h"

typedef struct {
    Text flags[4];              // "--seq_len", "-s", or a positional's name
    int flag_count;
    Text dest;
    Value type, fallback, constant;
    enum { STORE, STORE_TRUE, STORE_FALSE, STORE_CONST } action;
    bool positional, required, many, optional_value;
    List *choices;
} Option;

typedef struct {
    Foreign foreign;
    Host *host;
    struct {
        Option *at;
        int len, room;
    } options;
} Parser;

typedef struct {
    Foreign foreign;
    Dict *values;
} Namespace;

// ---- the result --------------------------------------------------------------------

static bool namespace_getattr(Lang *l, Foreign *self, Text name, Value *out,
                              Span at)
{
    (void)at;
    return dict_get(l, ((Namespace *)self)->values, v_str(name), out);
}

static bool namespace_setattr(Lang *l, Foreign *self, Text name, Value v, Span at)
{
    (void)at;
    dict_set(l, ((Namespace *)self)->values, v_str(name), v);
    return true;
}

static void namespace_mark(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    mark(l, (Value){.kind = VAL_DICT, .dict = ((Namespace *)self)->values});
}

static void namespace_repr(Lang *l, Foreign *self, TextBuf *out)
{
    const Dict *d = ((Namespace *)self)->values;
    buf_puts(out, "Namespace(");
    for (int i = 0; i < d->len; i++) {
        buf_printf(out, "%s%.*s=", i ? ", " : "", TEXT_ARG(d->keys[i].s));
        value_repr(l, out, d->values[i]);
    }
    buf_addc(out, ')');
}

static const ForeignType namespace_type = {
    .name = "Namespace",
    .getattr = namespace_getattr,
    .setattr = namespace_setattr,
    .mark = namespace_mark,
    .repr = namespace_repr,
};

// ---- add_argument --------------------------------------------------------------------

static Text dest_of(Host *h, const Option *o)
{
    Text best = o->flags[0];
    for (int i = 0; i < o->flag_count; i++)
        if (text_starts(o->flags[i], "--")) {
            best = o->flags[i];
            break;
        }
    while (best.len && best.at[0] == '-')
        best = text_slice(best, 1, best.len);
    char *copy = (char *)text_cstr(h->options.arena, best);
    for (size_t i = 0; i < best.len && !o->positional; i++)
        copy[i] = copy[i] == '-' ? '_' : copy[i];
    return text_of(copy);
}

static void read_action(Lang *l, Option *o, Value v, Span at)
{
    static const char *const names[] = {"store", "store_true", "store_false",
                                        "store_const"};
    for (int i = 0; i < 4; i++)
        if (v.kind == VAL_STR && text_is(v.s, names[i])) {
            o->action = i;
            return;
        }
    lang_unsupported(l, at, "this action of add_argument");
}

static void read_nargs(Lang *l, Option *o, Value v, Span at)
{
    if (v.kind == VAL_STR && text_is(v.s, "?"))
        o->optional_value = true;
    else if (v.kind == VAL_STR && (text_is(v.s, "*") || text_is(v.s, "+")))
        o->many = true;
    else if (v.kind != VAL_NONE)
        lang_unsupported(l, at, "this nargs of add_argument");
}

static Value add_argument(Lang *l, Parser *p, const Args *args)
{
    Option o = {.type = V_NONE, .fallback = V_NONE, .constant = V_NONE};
    Span at = args->at_span;
    bool has_default = false;
    for (int i = 0; i < args->count && i < 4; i++) {
        if (args->at[i].kind != VAL_STR || !args->at[i].s.len)
            lang_raise(l, "TypeError", at, "add_argument() takes names");
        o.flags[o.flag_count++] = args->at[i].s;
    }
    if (o.flag_count == 0)
        lang_raise(l, "TypeError", at, "add_argument() needs a name");
    o.positional = o.flags[0].at[0] != '-';
    o.dest = dest_of(p->host, &o);
    for (int i = 0; i < args->keyword_count; i++) {
        Text k = args->names[i];
        Value v = args->values[i];
        if (text_is(k, "type"))
            o.type = v;
        else if (text_is(k, "default"))
            o.fallback = v, has_default = true;
        else if (text_is(k, "action"))
            read_action(l, &o, v, at);
        else if (text_is(k, "const"))
            o.constant = v;
        else if (text_is(k, "required"))
            o.required = value_truth(l, v, at);
        else if (text_is(k, "dest") && v.kind == VAL_STR)
            o.dest = v.s;
        else if (text_is(k, "nargs"))
            read_nargs(l, &o, v, at);
        else if (text_is(k, "choices"))
            o.choices = value_to_list(l, v, at);
        else if (!text_is(k, "help") && !text_is(k, "metavar"))
            lang_unsupported(l, at, "add_argument(%.*s=...)", TEXT_ARG(k));
    }
    if (o.action == STORE_TRUE || o.action == STORE_FALSE) {
        if (!has_default)
            o.fallback = v_bool(o.action == STORE_FALSE);
        o.constant = v_bool(o.action == STORE_TRUE);
    }
    o.required = o.required || (o.positional && !o.optional_value && !o.many);
    vec_push(lang_arena(l), &p->options, o);
    return V_NONE;
}

// ---- parse_args ----------------------------------------------------------------------

static _Noreturn void usage(Lang *l, Span at, const char *format, ...)
    PRINTF_LIKE(3, 4);
static _Noreturn void usage(Lang *l, Span at, const char *format, ...)
{
    TextBuf b = {0};
    va_list list;
    va_start(list, format);
    buf_vprintf(&b, format, list);
    va_end(list);
    Text t = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    lang_raise_exit(l, EXIT_USAGE, "SystemExit", at,
                    "arguments of the script: %.*s", TEXT_ARG(t));
}

static Option *find(Parser *p, Text flag)
{
    for (int i = 0; i < p->options.len; i++)
        for (int j = 0; j < p->options.at[i].flag_count; j++)
            if (!p->options.at[i].positional
                && text_eq(p->options.at[i].flags[j], flag))
                return &p->options.at[i];
    return NULL;
}

static Value convert(Lang *l, const Option *o, Value text, Span at)
{
    Value v = text;
    if (o->type.kind != VAL_NONE) {
        Args one = {.at = &text, .count = 1, .at_span = at};
        v = lang_call(l, o->type, &one);
    }
    for (int i = 0; o->choices && i < o->choices->len; i++)
        if (value_equal(l, o->choices->at[i], v))
            return v;
    if (o->choices)
        usage(l, at, "'%.*s' is no choice for %.*s", TEXT_ARG(text.s),
              TEXT_ARG(o->flags[0]));
    return v;
}

static bool looks_like_flag(Text t)
{
    double number;
    return t.len > 1 && t.at[0] == '-' && !text_to_f64(t, &number);
}

typedef struct {
    Parser *p;
    const Value *words;
    int count, next, positional;
    Dict *out;
    Span at;
} Reading;

static void take_values(Lang *l, Reading *r, const Option *o)
{
    Value list = v_list(l, NULL, 0);
    if (!o->many) {
        if (r->next == r->count)
            usage(l, r->at, "%.*s needs a value", TEXT_ARG(o->flags[0]));
        dict_set(l, r->out, v_str(o->dest),
                 convert(l, o, r->words[r->next++], r->at));
        return;
    }
    while (r->next < r->count && !looks_like_flag(r->words[r->next].s))
        list_append(l, list.list, convert(l, o, r->words[r->next++], r->at));
    dict_set(l, r->out, v_str(o->dest), list);
}

static void take_flag(Lang *l, Reading *r, Text word)
{
    const char *eq = memchr(word.at, '=', word.len);
    Text flag = eq ? text_slice(word, 0, eq - word.at) : word;
    const Option *o = find(r->p, flag);
    if (!o)
        usage(l, r->at, "unknown option '%.*s'", TEXT_ARG(flag));
    if (o->action != STORE) {
        dict_set(l, r->out, v_str(o->dest), o->constant);
    } else if (eq) {
        Value v = v_str(text_slice(word, eq + 1 - word.at, word.len));
        dict_set(l, r->out, v_str(o->dest), convert(l, o, v, r->at));
    } else if (o->optional_value && (r->next == r->count
                                     || looks_like_flag(r->words[r->next].s))) {
        dict_set(l, r->out, v_str(o->dest), o->constant);
    } else {
        take_values(l, r, o);
    }
}

static void take_positional(Lang *l, Reading *r)
{
    int n = 0;
    for (int i = 0; i < r->p->options.len; i++) {
        const Option *o = &r->p->options.at[i];
        if (!o->positional || n++ != r->positional)
            continue;
        r->positional++;
        r->next--;
        take_values(l, r, o);
        return;
    }
    usage(l, r->at, "'%.*s' is one word too many",
          TEXT_ARG(r->words[r->next - 1].s));
}

static bool was_given(Lang *l, const Reading *r, const Option *o)
{
    Value v;
    return dict_get(l, r->out, v_str(o->dest), &v);
}

static Value parse_words(Lang *l, Parser *p, const Value *words, int count,
                         Span at)
{
    Reading r = {p, words, count, 0, 0, v_dict(l).dict, at};
    while (r.next < r.count) {
        Value word = words[r.next++];
        if (word.kind != VAL_STR)
            lang_raise(l, "TypeError", at, "parse_args() takes texts");
        if (looks_like_flag(word.s))
            take_flag(l, &r, word.s);
        else
            take_positional(l, &r);
    }
    for (int i = 0; i < p->options.len; i++) {
        const Option *o = &p->options.at[i];
        if (was_given(l, &r, o))
            continue;
        if (o->required)
            usage(l, at, "%.*s is required", TEXT_ARG(o->flags[0]));
        Value v = o->fallback;
        if (v.kind == VAL_STR && o->type.kind != VAL_NONE)
            v = convert(l, o, v, at);
        dict_set(l, r.out, v_str(o->dest), v);
    }
    Namespace *n = xcalloc(1, sizeof *n);
    n->values = r.out;
    return lang_adopt(l, &n->foreign, &namespace_type, sizeof *n);
}

static Value parse_args(Lang *l, Parser *p, const Args *args)
{
    const HostOptions *o = &p->host->options;
    if (args->count) {
        List *list = value_to_list(l, args->at[0], args->at_span);
        return parse_words(l, p, list->at, list->len, args->at_span);
    }
    Value *words = new_array(lang_arena(l), Value, o->script_arg_count + 1);
    for (int i = 0; i < o->script_arg_count; i++)
        words[i] = v_str(o->script_args[i]);
    return parse_words(l, p, words, o->script_arg_count, args->at_span);
}

static Value parse_known(Lang *l, Parser *p, const Args *args)
{
    Value both[2] = {parse_args(l, p, args), v_list(l, NULL, 0)};
    return v_tuple(l, both, 2);
}

static bool parser_method(Lang *l, Foreign *self, Text name, const Args *args,
                          Value *out)
{
    Parser *p = (Parser *)self;
    if (text_is(name, "add_argument"))
        *out = add_argument(l, p, args);
    else if (text_is(name, "parse_args"))
        *out = parse_args(l, p, args);
    else if (text_is(name, "parse_known_args"))
        *out = parse_known(l, p, args);
    else if (text_is(name, "add_argument_group"))
        *out = v_foreign(self);
    else
        return false;
    return true;
}

static void parser_mark(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    const Parser *p = (Parser *)self;
    for (int i = 0; i < p->options.len; i++) {
        const Option *o = &p->options.at[i];
        mark(l, o->type);
        mark(l, o->fallback);
        mark(l, o->constant);
        if (o->choices)
            mark(l, (Value){.kind = VAL_LIST, .list = o->choices});
    }
}

static const ForeignType parser_type = {
    .name = "ArgumentParser",
    .method = parser_method,
    .mark = parser_mark,
};

static Value parser_new(Lang *l, void *ctx, const Args *args)
{
    Parser *p = xcalloc(1, sizeof *p);
    (void)args;
    p->host = ctx;
    return lang_adopt(l, &p->foreign, &parser_type, sizeof *p);
}

bool script_import(Host *h, Text name, Value *out)
{
    Lang *l = h->lang;
    if (!text_is(name, "argparse"))
        return false;
    Module *m = lang_module(l, "argparse");
    Value make = v_builtin(l, "ArgumentParser", parser_new, h);
    module_set(l, m, "ArgumentParser", make);
    module_set(l, m, "ArgumentDefaultsHelpFormatter", V_NONE);
    module_set(l, m, "RawDescriptionHelpFormatter", V_NONE);
    *out = (Value){.kind = VAL_MODULE, .module = m};
    return true;
}
