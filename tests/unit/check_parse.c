// check_parse.c - tokens, trees, scopes and syntax errors.
//
// Expected values are worked out by hand from Python's reference; whole files
// are compared with CPython by tests/lang/parse_vs_python.py.
#include "unit.h"

#include <string.h>

#include "lang/parse.h"

static Arena *arena;
static SourceSet *sources;
static Diag *diag;
static FILE *printed;

static void set_up(void)
{
    arena = arena_create();
    sources = sources_create();
    printed = unit_capture();
    diag = diag_create(sources, printed, false);
}

static void tear_down(void)
{
    diag_destroy(diag);
    sources_destroy(sources);
    arena_destroy(arena);
    fclose(printed);
}

static TokenList lex_text(Text text)
{
    return lex(arena, diag, sources, sources_add(sources, "t.tile", text));
}

static Ast *parse_text(const char *text)
{
    return parse(arena, diag, sources, lex_text(text_of(text)));
}

static Ast *expression(const char *text)
{
    return parse_expression(arena, diag, sources, lex_text(text_of(text)));
}

// ---- trees in a short form: (+ a (* b c)), (call f x), (Tuple a b)

static void shape(TextBuf *out, const Ast *n);

static void shape_list(TextBuf *out, AstList list)
{
    for (int i = 0; i < list.len; i++) {
        buf_addc(out, ' ');
        shape(out, list.at[i]);
    }
}

static void shape_slot(TextBuf *out, const Ast *n)
{
    if (!n)
        return;
    buf_addc(out, ' ');
    shape(out, n);
}

static void shape_head(TextBuf *out, const Ast *n)
{
    buf_puts(out, n->op ? ast_op_text(n->op) : ast_name(n->kind));
    for (int i = 0; n->kind == AST_COMPARE && i < n->x.len; i++)
        buf_printf(out, " %s", ast_op_text(n->ops[i]));
    if (n->text.len)
        buf_printf(out, " %.*s", TEXT_ARG(n->text));
    if (n->kind == AST_FORMATTED && n->conversion)
        buf_printf(out, " !%c", n->conversion);
}

static void shape(TextBuf *out, const Ast *n)
{
    if (!n) {
        buf_puts(out, "-");
    } else if (n->kind == AST_NAME || n->kind == AST_NUMBER) {
        buf_text(out, n->text);
    } else if (n->kind == AST_STRING) {
        buf_printf(out, "'%.*s'", TEXT_ARG(n->text));
    } else {
        buf_addc(out, '(');
        shape_head(out, n);
        shape_slot(out, n->a);
        shape_slot(out, n->b);
        shape_slot(out, n->c);
        shape_list(out, n->x);
        shape_list(out, n->y);
        buf_addc(out, ')');
    }
}

static const struct {
    const char *text, *shape;
} shapes[] = {
    // precedence and associativity
    {"1 + 2 * 3", "(+ 1 (* 2 3))"},
    {"1 - 2 - 3", "(- (- 1 2) 3)"},
    {"2 ** 3 ** 4", "(** 2 (** 3 4))"},
    {"-2 ** -3", "(- (** 2 (- 3)))"},
    {"a @ b // c % d", "(% (// (@ a b) c) d)"},
    {"a | b ^ c & d << e + f", "(| a (^ b (& c (<< d (+ e f)))))"},
    {"~a.b[c](d)", "(~ (Call (Subscript (Attribute b a) c) d))"},
    {"not a == b", "(not (Compare == a b))"},
    {"not a or b and c", "(or (not a) (and b c))"},
    {"a or b or c", "(or a b c)"},
    {"a < b <= c not in d is not e", "(Compare < <= not in is not a b c d e)"},
    {"a if b else c if d else e", "(IfExp b a (IfExp d c e))"},
    {"lambda x, *y, z=1, **k: x + 1",
     "(Lambda (+ x 1) (arguments (arg x) (arg y) (arg z 1) (arg k)))"},
    {"await_ + 1", "(+ await_ 1)"},
    {"(yield)", "(Yield)"},
    // displays
    {"()", "(Tuple)"},
    {"(a)", "a"},
    {"(a,)", "(Tuple a)"},
    {"a, *b, c", "(Tuple a (Starred b) c)"},
    {"[]", "(List)"},
    {"{}", "(Dict)"},
    {"{a}", "(Set a)"},
    {"{a: b, **c}", "(Dict a - b c)"},
    {"[a for b in c if d if e for f in g]",
     "(ListComp a (comprehension b c d e) (comprehension f g))"},
    {"{a: b for c in d}", "(DictComp a b (comprehension c d))"},
    // calls and subscripts
    {"f(a, *b, c=d, **e)",
     "(Call f a (Starred b) (keyword c d) (DoubleStarred e))"},
    {"f(x for x in y)", "(Call f (GeneratorExp x (comprehension x y)))"},
    {"f(a := 1)", "(Call f (NamedExpr a 1))"},
    {"a[1:2, ::3, ...]",
     "(Subscript a (Tuple (Slice 1 2) (Slice 3) (Constant)))"},
    {"a[:]", "(Subscript a (Slice))"},
    {"a[*b]", "(Subscript a (Tuple (Starred b)))"},
    {"a[b,]", "(Subscript a (Tuple b))"},
    // strings
    {"'a' \"b\" '''c'''", "'abc'"},
    {"f'a{b}c{d!r:>{e}}'",
     "(JoinedStr 'a' (FormattedValue b) 'c' (FormattedValue !r d "
     "(JoinedStr '>' (FormattedValue e))))"},
    {"f'{{}}'", "(JoinedStr '{}')"},
    {"f'{a}' 'b' f'c'", "(JoinedStr (FormattedValue a) 'bc')"},
    {"f'{x = }'", "(JoinedStr (FormattedValue x =  !r x))"},
    {"f'{x=:5}'", "(JoinedStr (FormattedValue x= x (JoinedStr '5')))"},
    // what Python 3.12 allows in f-strings: the same quotes, lines, comments
    {"f'{d['k']}'", "(JoinedStr (FormattedValue (Subscript d 'k')))"},
    {"f'{f'{1}'}'", "(JoinedStr (FormattedValue (JoinedStr "
                    "(FormattedValue 1))))"},
    {"f'{\na # one\n}'", "(JoinedStr (FormattedValue a))"},
    {"f'{\"\\n\".join(a)}'",
     "(JoinedStr (FormattedValue (Call (Attribute join '\n') a)))"},
    {"f'{a!=b}'", "(JoinedStr (FormattedValue (Compare != a b)))"},
    {"f'{a:=5}'", "(JoinedStr (FormattedValue a (JoinedStr '=5')))"},
    {"f'{(a:=5)}'", "(JoinedStr (FormattedValue (NamedExpr a 5)))"},
    {"f'{(lambda x: 1)}'", "(JoinedStr (FormattedValue (Lambda 1 "
                           "(arguments (arg x)))))"},
    {"f'{{{a}}}'", "(JoinedStr '{' (FormattedValue a) '}')"},
    {"rf'\\{a}'", "(JoinedStr '\\' (FormattedValue a))"},
    {"f'{a:\\x41}'", "(JoinedStr (FormattedValue a (JoinedStr 'A')))"},
    {"f'''\n{a\n}'''", "(JoinedStr '\n' (FormattedValue a))"},
    // words that are names elsewhere
    {"match + case + type + _", "(+ (+ (+ match case) type) _)"},
    {"print", "print"},
    {"\xce\xb1\xce\xb2 + \xc2\xb5", "(+ \xce\xb1\xce\xb2 \xce\xbc)"},
};

START_TEST(expressions_have_their_shape)
{
    TextBuf out = {0};

    shape(&out, expression(shapes[_i].text));
    buf_addc(&out, 0);
    ck_assert_int_eq(diag_errors(diag), 0);
    ck_assert_str_eq(out.at, shapes[_i].shape);
    buf_release(&out);
}
END_TEST

// ---- numbers

static const struct {
    const char *text;
    int64_t i;
    double f;
    char kind;                  // i, f, j or B(ig)
} numbers[] = {
    {"0", 0, 0, 'i'}, {"00", 0, 0, 'i'}, {"0_0", 0, 0, 'i'},
    {"1_000", 1000, 0, 'i'}, {"0x_fF", 255, 0, 'i'}, {"0o17", 15, 0, 'i'},
    {"0B101", 5, 0, 'i'}, {"9223372036854775807", INT64_MAX, 0, 'i'},
    {"9223372036854775808", 0, 9223372036854775808.0, 'B'},
    {"0x8000000000000000", 0, 9223372036854775808.0, 'B'},
    {"1.", 0, 1, 'f'}, {".5", 0, 0.5, 'f'}, {"1e3", 0, 1000, 'f'},
    {"1_0.2_5e-1_0", 0, 10.25e-10, 'f'}, {"0123.5", 0, 123.5, 'f'},
    {"1e400", 0, __builtin_inf(), 'f'}, {"2j", 0, 2, 'j'},
    {"1.5E1J", 0, 15, 'j'}, {"010j", 0, 10, 'j'},
};

START_TEST(numbers_have_their_value)
{
    Ast *n = expression(numbers[_i].text);
    char kind = numbers[_i].kind;

    ck_assert_int_eq(n->kind, AST_NUMBER);
    ck_assert_int_eq(n->big, kind == 'B');
    ck_assert_int_eq(n->is_float, kind == 'f' || kind == 'j');
    ck_assert_int_eq(n->imaginary, kind == 'j');
    if (kind == 'i')
        ck_assert_int_eq(n->i64, numbers[_i].i);
    else
        ck_assert(n->f64 == numbers[_i].f);
}
END_TEST

// ---- strings

static const struct {
    const char *text;
    Text value;
} strings[] = {
    {"''", TEXT("")},
    {"'a\\tb'", TEXT("a\tb")},
    {"r'a\\tb'", TEXT("a\\tb")},
    {"'\\\\\\'\\\"\\a\\b\\f\\n\\r\\v'", TEXT("\\'\"\a\b\f\n\r\v")},
    {"'\\0\\101\\7z'", TEXT("\0A\7z")},
    {"'\\x41\\u00e9\\U0001F600'", TEXT("A\xc3\xa9\xf0\x9f\x98\x80")},
    {"'\\ud800'", TEXT("\xed\xa0\x80")},
    {"'a\\\nb'", TEXT("ab")},
    {"'a\\\r\nb'", TEXT("ab")},
    {"'''a\r\nb\rc'''", TEXT("a\nb\nc")},
    {"'''it's \"\" so'''", TEXT("it's \"\" so")},
    {"b'\\xff\\777\\u00'", TEXT("\xff\xff\\u00")},
    {"rb'\\x'", TEXT("\\x")},
    {"R'\\''", TEXT("\\'")},
    {"u'\xc3\xa9'", TEXT("\xc3\xa9")},
    {"'\\d'", TEXT("\\d")},
};

START_TEST(strings_have_their_value)
{
    Ast *n = expression(strings[_i].text);

    ck_assert_int_eq(diag_errors(diag), 0);
    ck_assert_uint_eq(n->text.len, strings[_i].value.len);
    ck_assert_mem_eq(n->text.at, strings[_i].value.at, n->text.len);
}
END_TEST

START_TEST(text_is_length_counted)
{
    static const char text[] = "x = 1 # rest";
    Ast *module = parse(arena, diag, sources, lex_text((Text){text, 5}));

    ck_assert_int_eq(module->x.len, 1);
    ck_assert_uint_eq(module->x.at[0]->a->text.len, 1);
    lex_text((Text){"a\0b", 3});
    ck_assert_int_eq(diag_errors(diag), 1);
}
END_TEST

// ---- tokens

static const struct {
    const char *text, *kinds;
} layouts[] = {
    {"", "END"},
    {"x", "NAME NEWLINE END"},
    {"x\n\n  # c\n", "NAME NEWLINE END"},
    {"if x:\n  y\nz", "IF NAME COLON NEWLINE INDENT NAME NEWLINE DEDENT NAME "
                      "NEWLINE END"},
    {"f(\n  x\n)\n", "NAME LPAREN NAME RPAREN NEWLINE END"},
    {"x = \\\n 1", "NAME EQUAL NUMBER NEWLINE END"},
    {"1if x else.5", "NUMBER IF NAME ELSE NUMBER NEWLINE END"},
    {"a**=b//c->...", "NAME POWER_EQUAL NAME FLOOR NAME ARROW ELLIPSIS NEWLINE "
                      "END"},
    {"f'a{b!r:c}d'", "FSTRING_BEGIN FSTRING_TEXT LBRACE NAME EXCLAMATION NAME "
                     "COLON FSTRING_TEXT RBRACE FSTRING_TEXT FSTRING_END "
                     "NEWLINE END"},
    {"bR'x' Fr'' u''", "STRING FSTRING_BEGIN FSTRING_END STRING NEWLINE END"},
    {"\xef\xbb\xbfx", "NAME NEWLINE END"},
};

static void put_kinds(TextBuf *out, TokenList tokens)
{
    static const char *const names[] = {
#define TOKEN(id, ...) #id,
#include "lang/token.def"
    };

    for (int i = 0; i < tokens.len; i++)
        buf_printf(out, "%s%s", i ? " " : "", names[tokens.at[i].kind]);
}

START_TEST(tokens_are_as_python_has_them)
{
    TextBuf out = {0};

    put_kinds(&out, lex_text(text_of(layouts[_i].text)));
    buf_addc(&out, 0);
    ck_assert_int_eq(diag_errors(diag), 0);
    ck_assert_str_eq(out.at, layouts[_i].kinds);
    buf_release(&out);
}
END_TEST

// ---- places

START_TEST(nodes_have_their_place)
{
    Ast *module = parse_text("@d\ndef f(a):\n    x = (a + b).c[1]\n\n# end\n");
    Ast *f = module->x.at[0], *assign = f->x.at[0];
    Place b = sources_place(sources, f->at.file, f->at.begin);
    Place e = sources_place(sources, f->at.file, f->at.end);

    ck_assert_int_eq(b.line, 2);
    ck_assert_int_eq(e.line, 3);
    ck_assert_int_eq(e.column, 21);
    b = sources_place(sources, f->at.file, assign->a->at.begin);
    ck_assert_int_eq(b.column, 9);
    b = sources_place(sources, f->at.file, assign->a->a->name_at.begin);
    ck_assert_int_eq(b.column, 17);
}
END_TEST

// ---- scopes

static void check_names(const Map *found, const char *want)
{
    TextBuf out = {0};

    for (int i = 0; i < found->len; i++)
        buf_printf(&out, "%s%.*s", i ? " " : "", TEXT_ARG(found->at[i].key));
    buf_addc(&out, 0);
    ck_assert_str_eq(out.at, want);
    buf_release(&out);
}

START_TEST(scopes_know_their_names)
{
    Ast *module = parse_text(
        "def f(a, *b, c=d, **e):\n"
        "    import g.h, i as j\n"
        "    from k import l, m as n\n"
        "    global o\n"
        "    o = p = 1\n"
        "    for q, (r, *s) in t: u.v = w[0] = x\n"
        "    with y as z: z += 1\n"
        "    try: pass\n"
        "    except A as B: del C\n"
        "    D: int\n"
        "    class E: F = 1\n"
        "    def G():\n"
        "        nonlocal a\n"
        "        a = yield\n"
        "    print([H := 1 for I in J])\n"
        "    return lambda K: (L := 1)\n");
    Ast *f = module->x.at[0], *g = f->x.at[9];

    ck_assert_int_eq(diag_errors(diag), 0);
    check_names(f->locals,
                "a b c e g j l n p q r s z B C D E G H");
    check_names(f->globals, "o");
    ck_assert(!f->is_generator);
    check_names(f->x.at[8]->locals, "F");
    check_names(g->locals, "");
    check_names(g->nonlocals, "a");
    ck_assert(g->is_generator);
    check_names(f->x.at[10]->a->x.at[0]->locals, "I");
    check_names(f->x.at[11]->a->locals, "K L");
}
END_TEST

// ---- errors

static const struct {
    const char *text, *id;
    int line, column;
} errors[] = {
    {"x = )", "syntax-bracket", 1, 5},
    {"x = (1\ny = 2", "syntax-bracket", 1, 5},
    {"x = 'a", "syntax-string", 1, 5},
    {"x = f'{a'", "syntax-fstring", 1, 9},
    {"x = f'{}'", "syntax-expected", 1, 8},
    {"x = 012", "syntax-number", 1, 5},
    {"x = 1 $ 2", "syntax-character", 1, 7},
    {"\xff", "syntax-encoding", 1, 1},
    {"x\n  y", "syntax-indent", 2, 1},
    {"if x:\n    y\n  z", "syntax-dedent", 3, 1},
    {"if x:\n\ty\n        z", "syntax-tabs", 3, 1},
    {"x \\ y", "syntax-continuation", 1, 3},
    {"f() = 1", "syntax-target", 1, 1},
    {"x = *y", "syntax-star", 1, 5},
    {"f(a=1, b)", "syntax-argument", 1, 8},
    {"def f(a=1, b): pass", "syntax-parameter", 1, 12},
    {"[a, b for c in d]", "syntax-comprehension", 1, 2},
    {"try: pass\nexcept: pass\nexcept A: pass", "syntax-except", 2, 1},
    {"import a from b", "syntax-import", 1, 1},
    {"return", "syntax-scope", 1, 1},
    {"'\\x1'", "syntax-escape", 1, 2},
    {"b'\xc3\xa9'", "syntax-bytes", 1, 3},
    {"match x:\n  case 1: pass", "syntax-match", 1, 1},
    {"if x = 1: pass", "syntax-expected", 1, 6},
};

START_TEST(an_error_is_reported_once_at_its_place)
{
    const DiagEntry *e;
    Place p;

    parse_text(errors[_i].text);
    ck_assert_int_eq(diag_errors(diag), 1);
    diag_entries(diag, &e);
    p = sources_place(sources, e->at.file, e->at.begin);
    ck_assert_str_eq(e->id, errors[_i].id);
    ck_assert_int_eq(p.line, errors[_i].line);
    ck_assert_int_eq(p.column, errors[_i].column);
    ck_assert_int_eq(e->exit, strcmp(e->id, "syntax-match") ? EXIT_PROGRAM
                                                            : EXIT_LIMIT);
}
END_TEST

START_TEST(one_expression_is_required)
{
    static const char *const bad[] = {"", "1 2", "x = 1", "x\ny", "pass", "("};

    expression(bad[_i]);
    ck_assert_int_eq(diag_errors(diag), 1);
}
END_TEST

// ---- depth

// `before` n times, `middle`, `after` n times.
static const char *repeated(const char *before, const char *middle,
                            const char *after, int n)
{
    TextBuf b = {0};
    const char *text;

    for (int i = 0; i < n; i++)
        buf_puts(&b, before);
    buf_puts(&b, middle);
    for (int i = 0; i < n; i++)
        buf_puts(&b, after);
    text = text_cstr(arena, buf_view(&b));
    buf_release(&b);
    return text;
}

static const struct {
    const char *before, *middle, *after;
} chains[] = {
    {"1+", "1", ""}, {"a and ", "a", ""}, {"a<", "a", ""}, {"x=", "1", ""},
    {"", "f", "()"}, {"", "f", ".a"}, {"", "f", "[0]"}, {"'a' ", "'b'", ""},
    {"", "if a: b\n", "elif a: b\n"}, {"@a\n", "def f(): pass", ""},
};

START_TEST(a_chain_may_be_long)
{
    TextBuf out = {0};
    Ast *module = parse_text(repeated(chains[_i].before, chains[_i].middle,
                                      chains[_i].after, 100000));

    ck_assert_int_eq(diag_errors(diag), 0);
    ast_print(&out, sources, module);
    ck_assert_uint_gt(out.len, 0);
    buf_release(&out);
}
END_TEST

static const struct {
    const char *before, *middle, *after;
} nestings[] = {
    {"(", "1", ")"}, {"[", "1", "]"}, {"{", "1", "}"}, {"f(", "1", ")"},
    {"a[", "1", "]"}, {"-", "1", ""}, {"not ", "1", ""}, {"2**", "1", ""},
    {"lambda: ", "1", ""}, {"a if b else ", "c", ""}, {"f'{", "1", "}'"},
    {"{1: ", "2", "}"}, {"[a for b in ", "c", "]"}, {"*(", "a,", "),"},
};

START_TEST(nesting_is_bounded)
{
    const char *before = nestings[_i].before, *middle = nestings[_i].middle;
    const char *after = nestings[_i].after;
    const DiagEntry *e;

    parse_text(repeated(before, middle, after, 90));
    ck_assert_int_eq(diag_errors(diag), 0);
    parse_text(repeated(before, middle, after, 10000));
    ck_assert_int_eq(diag_errors(diag), 1);
    diag_entries(diag, &e);
    ck_assert_str_eq(e->id, "syntax-nesting");
}
END_TEST

static TCase *looped(Suite *s, const char *name, const TTest *test, int count)
{
    TCase *t = tcase_create(name);

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, test, 0, count);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    return t;
}

int main(void)
{
    Suite *s = suite_create("parse");

    looped(s, "shapes", expressions_have_their_shape, countof(shapes));
    looped(s, "numbers", numbers_have_their_value, countof(numbers));
    looped(s, "strings", strings_have_their_value, countof(strings));
    looped(s, "length", text_is_length_counted, 1);
    looped(s, "tokens", tokens_are_as_python_has_them, countof(layouts));
    looped(s, "places", nodes_have_their_place, 1);
    looped(s, "scopes", scopes_know_their_names, 1);
    looped(s, "errors", an_error_is_reported_once_at_its_place,
           countof(errors));
    looped(s, "expression", one_expression_is_required, 6);
    looped(s, "chains", a_chain_may_be_long, countof(chains));
    looped(s, "nesting", nesting_is_bounded, countof(nestings));
    return unit_run(s);
}
