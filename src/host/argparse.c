// argparse.c - argparse.ArgumentParser for scripts' options.
#include <stdlib.h>
#include <string.h>

#include "host/host.h"

typedef struct {
    Text flags[4];              // "--seq_len", "-s", or a positional's name
    int flag_count;
    Text dest, help, metavar;
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
    Text description;
} Parser;

typedef struct {
    Foreign foreign;
    Dict *values;
} Namespace;

// ---- the result -------------------------------------------------------------

static bool namespace_getattr(Lang *l, Foreign *self, Text name, Value *out,
                              Span at)
{
    (void)at;
    return dict_get(l, ((Namespace *)self)->values, v_str(name), out);
}

static bool namespace_setattr(Lang *l, Foreign *self, Text name, Value v,
                              Span at)
{
    (void)at;
    dict_set(l, ((Namespace *)self)->values, v_str(name), v);
    return true;
}

static void namespace_mark(Foreign *self, void (*mark)(Lang *l, Value v),
                           Lang *l)
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

// ---- add_argument -----------------------------------------------------------

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
        else if (text_is(k, "help"))
            o.help = v.kind == VAL_STR ? v.s : (Text){0};
        else if (text_is(k, "metavar"))
            o.metavar = v.kind == VAL_STR ? v.s : (Text){0};
        else
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

// ---- usage ------------------------------------------------------------------

static Text program(const Parser *p)
{
    const Module *m = p->host->module;
    const Source *s = m ? sources_get(p->host->options.sources, m->file) : NULL;
    Text path = s ? text_of(s->path) : TEXT("the script");
    size_t from = path.len;
    while (from && path.at[from - 1] != '/')
        from--;
    return text_slice(path, from, path.len);
}

// "--seq_len SEQ_LEN", "{a,b}", "name"
static void put_value(Lang *l, TextBuf *b, const Option *o)
{
    if (o->choices && !o->metavar.len) {
        for (int i = 0; i < o->choices->len; i++) {
            buf_puts(b, i ? "," : "{");
            value_str(l, b, o->choices->at[i]);
        }
        buf_addc(b, '}');
        return;
    }
    Text name = o->metavar.len ? o->metavar : o->dest;
    bool upper = !o->metavar.len && !o->positional;
    for (size_t i = 0; i < name.len; i++)
        buf_addc(b, upper && name.at[i] >= 'a' && name.at[i] <= 'z'
                        ? (char)(name.at[i] - 'a' + 'A') : name.at[i]);
}

static void put_option(Lang *l, TextBuf *b, const Option *o)
{
    if (!o->positional)
        buf_text(b, o->flags[0]);
    if (o->action != STORE)
        return;
    if (!o->positional)
        buf_addc(b, ' ');
    put_value(l, b, o);
    if (o->many)
        buf_puts(b, " ...");
}

static void put_usage(Lang *l, TextBuf *b, const Parser *p)
{
    size_t line = b->len;
    buf_printf(b, "usage: %.*s [-h]", TEXT_ARG(program(p)));
    size_t indent = b->len - line - 5;
    for (int i = 0; i < p->options.len; i++) {
        const Option *o = &p->options.at[i];
        TextBuf one = {0};
        if (!o->required)
            buf_addc(&one, '[');
        put_option(l, &one, o);
        if (!o->required)
            buf_addc(&one, ']');
        if (b->len - line + one.len + 1 > 78) {
            buf_addc(b, '\n');
            line = b->len;
            buf_pad(b, (int)indent);
        }
        buf_addc(b, ' ');
        buf_add(b, one.at, one.len);
        buf_release(&one);
    }
    buf_addc(b, '\n');
}

static void help_line(Lang *l, TextBuf *b, const Option *o)
{
    size_t line = b->len;
    buf_puts(b, "  ");
    put_option(l, b, o);
    if (o->help.len) {
        do
            buf_addc(b, ' ');
        while (b->len - line < 24);
        buf_text(b, o->help);
    }
    buf_addc(b, '\n');
}

static _Noreturn void help(Lang *l, const Parser *p, Span at)
{
    TextBuf b = {0};
    put_usage(l, &b, p);
    if (p->description.len)
        buf_printf(&b, "\n%.*s\n", TEXT_ARG(p->description));
    buf_puts(&b, "\noptions:\n  -h, --help            show this help message "
                 "and exit\n");
    for (int i = 0; i < p->options.len; i++)
        help_line(l, &b, &p->options.at[i]);
    buf_write(&b, p->host->options.out);
    buf_release(&b);
    p->host->helped = true;
    lang_exit(l, 0, at);
}

// In the words of Python's argparse.
static _Noreturn void usage(Lang *l, const Parser *p, Span at,
                            const char *format, ...) PRINTF_LIKE(4, 5);
static _Noreturn void usage(Lang *l, const Parser *p, Span at,
                            const char *format, ...)
{
    TextBuf b = {0};
    va_list list;
    put_usage(l, &b, p);
    buf_printf(&b, "%.*s: error: ", TEXT_ARG(program(p)));
    va_start(list, format);
    buf_vprintf(&b, format, list);
    va_end(list);
    fprintf(stderr, "%.*s\n", (int)b.len, b.at);
    buf_release(&b);
    lang_exit(l, EXIT_USAGE, at);
}

// ---- parse_args -------------------------------------------------------------

static bool is_long(Text flag)
{
    return text_starts(flag, "--");
}

// The option of a flag; a beginning that only one has will do.
static Option *find(Parser *p, Text flag)
{
    Option *near = NULL;
    int hits = 0;
    for (int i = 0; i < p->options.len; i++) {
        Option *o = &p->options.at[i];
        bool begins = false;
        for (int j = 0; j < o->flag_count && !o->positional; j++) {
            if (text_eq(o->flags[j], flag))
                return o;
            begins = begins || (is_long(flag) && flag.len > 2
                                && o->flags[j].len > flag.len
                                && text_eq(text_slice(o->flags[j], 0, flag.len),
                                           flag));
        }
        hits += begins;
        near = begins ? o : near;
    }
    return hits == 1 ? near : NULL;
}

typedef struct {
    const Option *o;
    Value text, out;
    Span at;
} Conversion;

static void convert_body(Lang *l, void *ctx)
{
    Conversion *c = ctx;
    Args one = {.at = &c->text, .count = 1, .at_span = c->at};
    c->out = lang_call(l, c->o->type, &one);
}

// "int" of "<class 'int'>", "f" of "<function f ...>"
static void put_type(Lang *l, TextBuf *b, Value type)
{
    TextBuf whole = {0};
    if (type.kind == VAL_FUNCTION) {
        buf_text(b, type.function->name);
        return;
    }
    value_repr(l, &whole, type);
    const char *from = memchr(whole.at, '\'', whole.len);
    const char *to = from ? memchr(from + 1, '\'',
                                   whole.len - (from + 1 - whole.at)) : NULL;
    if (to)
        buf_add(b, from + 1, to - from - 1);
    buf_release(&whole);
}

static Value convert(Lang *l, const Parser *p, const Option *o, Value text,
                     Span at)
{
    Conversion c = {o, text, text, at};
    LangError error = {0};
    TextBuf b = {0};
    if (o->type.kind != VAL_NONE && !lang_try(l, convert_body, &c, &error)) {
        if (!text_is(error.type, "ValueError")
            && !text_is(error.type, "TypeError"))
            usage(l, p, at, "argument %.*s: %.*s", TEXT_ARG(o->flags[0]),
                  TEXT_ARG(error.message));
        put_type(l, &b, o->type);
        Text type = text_copy(lang_arena(l), buf_view(&b));
        buf_release(&b);
        usage(l, p, at, "argument %.*s: invalid %.*s value: '%.*s'",
              TEXT_ARG(o->flags[0]), TEXT_ARG(type), TEXT_ARG(text.s));
    }
    for (int i = 0; o->choices && i < o->choices->len; i++)
        if (value_equal(l, o->choices->at[i], c.out))
            return c.out;
    if (!o->choices)
        return c.out;
    for (int i = 0; i < o->choices->len; i++) {
        buf_puts(&b, i ? ", " : "");
        value_repr(l, &b, o->choices->at[i]);
    }
    Text choices = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    usage(l, p, at, "argument %.*s: invalid choice: '%.*s' (choose from %.*s)",
          TEXT_ARG(o->flags[0]), TEXT_ARG(text.s), TEXT_ARG(choices));
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
    List *unknown;
} Reading;

static void take_values(Lang *l, Reading *r, const Option *o)
{
    Value list = v_list(l, NULL, 0);
    if (!o->many) {
        if (r->next == r->count || looks_like_flag(r->words[r->next].s))
            usage(l, r->p, r->at, "argument %.*s: expected one argument",
                  TEXT_ARG(o->flags[0]));
        dict_set(l, r->out, v_str(o->dest),
                 convert(l, r->p, o, r->words[r->next++], r->at));
        return;
    }
    while (r->next < r->count && !looks_like_flag(r->words[r->next].s))
        list_append(l, list.list,
                    convert(l, r->p, o, r->words[r->next++], r->at));
    dict_set(l, r->out, v_str(o->dest), list);
}

static void take_flag(Lang *l, Reading *r, Text word)
{
    const char *eq = memchr(word.at, '=', word.len);
    Text flag = eq ? text_slice(word, 0, eq - word.at) : word;
    const Option *o = find(r->p, flag);
    if (!o && (text_is(flag, "-h") || text_is(flag, "--help")))
        help(l, r->p, r->at);
    if (!o) {
        list_append(l, r->unknown, v_str(word));
    } else if (o->action != STORE) {
        dict_set(l, r->out, v_str(o->dest), o->constant);
    } else if (eq) {
        Value v = v_str(text_slice(word, eq + 1 - word.at, word.len));
        dict_set(l, r->out, v_str(o->dest), convert(l, r->p, o, v, r->at));
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
    list_append(l, r->unknown, r->words[r->next - 1]);
}

static bool was_given(Lang *l, const Reading *r, const Option *o)
{
    Value v;
    return dict_get(l, r->out, v_str(o->dest), &v);
}

static void fill_defaults(Lang *l, const Reading *r)
{
    TextBuf missing = {0};
    for (int i = 0; i < r->p->options.len; i++) {
        const Option *o = &r->p->options.at[i];
        if (was_given(l, r, o))
            continue;
        if (o->required)
            buf_printf(&missing, "%s%.*s", missing.len ? ", " : "",
                       TEXT_ARG(o->flags[0]));
        Value v = o->fallback;
        if (v.kind == VAL_STR && o->type.kind != VAL_NONE)
            v = convert(l, r->p, o, v, r->at);
        dict_set(l, r->out, v_str(o->dest), v);
    }
    Text names = text_copy(lang_arena(l), buf_view(&missing));
    buf_release(&missing);
    if (names.len)
        usage(l, r->p, r->at, "the following arguments are required: %.*s",
              TEXT_ARG(names));
}

static Value parse_words(Lang *l, Parser *p, const Value *words, int count,
                         Span at, List *unknown)
{
    Reading r = {p, words, count, 0, 0, v_dict(l).dict, at, unknown};
    for (int i = 0; i < count; i++)
        if (words[i].kind != VAL_STR)
            lang_raise(l, "TypeError", at, "parse_args() takes texts");
    while (r.next < r.count) {
        Text word = words[r.next++].s;
        if (looks_like_flag(word))
            take_flag(l, &r, word);
        else
            take_positional(l, &r);
    }
    fill_defaults(l, &r);
    Namespace *n = xcalloc(1, sizeof *n);
    n->values = r.out;
    return lang_adopt(l, &n->foreign, &namespace_type, sizeof *n);
}

static Value parse_known_args(Lang *l, Parser *p, const Args *args,
                              List *unknown)
{
    const HostOptions *o = &p->host->options;
    if (args->count && args->at[0].kind != VAL_NONE) {
        List *list = value_to_list(l, args->at[0], args->at_span);
        return parse_words(l, p, list->at, list->len, args->at_span, unknown);
    }
    Value *words = new_array(lang_arena(l), Value, o->script_arg_count + 1);
    for (int i = 0; i < o->script_arg_count; i++)
        words[i] = v_str(o->script_args[i]);
    return parse_words(l, p, words, o->script_arg_count, args->at_span,
                       unknown);
}

static Value parse_args(Lang *l, Parser *p, const Args *args)
{
    Value unknown = v_list(l, NULL, 0);
    TextBuf b = {0};
    Value v = parse_known_args(l, p, args, unknown.list);
    for (int i = 0; i < unknown.list->len; i++)
        buf_printf(&b, " %.*s", TEXT_ARG(unknown.list->at[i].s));
    Text words = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    if (words.len)
        usage(l, p, args->at_span, "unrecognized arguments:%.*s",
              TEXT_ARG(words));
    return v;
}

static Value parse_known(Lang *l, Parser *p, const Args *args)
{
    Value unknown = v_list(l, NULL, 0);
    Value both[2] = {parse_known_args(l, p, args, unknown.list), unknown};
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
    p->host = ctx;
    for (int i = 0; i < args->keyword_count; i++)
        if (text_is(args->names[i], "description")
            && args->values[i].kind == VAL_STR)
            p->description = args->values[i].s;
    return lang_adopt(l, &p->foreign, &parser_type, sizeof *p);
}

// argparse.Namespace(batch=2, heads=8)
static Value namespace_new(Lang *l, void *ctx, const Args *args)
{
    Namespace *n = xcalloc(1, sizeof *n);
    (void)ctx;
    n->values = v_dict(l).dict;
    for (int i = 0; i < args->keyword_count; i++)
        dict_set(l, n->values, v_str(args->names[i]), args->values[i]);
    return lang_adopt(l, &n->foreign, &namespace_type, sizeof *n);
}

bool script_import(Host *h, Text name, Value *out)
{
    Lang *l = h->lang;
    if (!text_is(name, "argparse"))
        return false;
    Module *m = lang_module(l, "argparse");
    Value make = v_builtin(l, "ArgumentParser", parser_new, h);
    module_set(l, m, "ArgumentParser", make);
    module_set(l, m, "Namespace",
               v_builtin(l, "Namespace", namespace_new, h));
    module_set(l, m, "ArgumentDefaultsHelpFormatter", V_NONE);
    module_set(l, m, "RawDescriptionHelpFormatter", V_NONE);
    *out = (Value){.kind = VAL_MODULE, .module = m};
    return true;
}
