// check_lang.c - the life of host objects, and the host's way into programs.
//
// A fake tensor claims 65 MiB, so that every statement sweeps; it knows whether
// it is alive, and every use of a dead one fails the test.
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "unit.h"

enum { MOST = 4096, CLAIMED = 65 << 20 };

typedef struct {
    Foreign base;
    int id;
    int64_t value;
} Fake;

typedef struct {
    Arena *arena;
    SourceSet *sources;
    Diag *diag;
    Lang *lang;
    FILE *out;
    char *text;                 // what the program printed
    size_t len;
    const OpTable *ops;
    Module *module;
    size_t claimed;
    bool alive[MOST];
    int made, live, entered;
    uint64_t max_steps;
} World;

static World world;             // the fake's methods have no other way to it

static Fake *fake_of(Value v);

static const ForeignType fake_type;

static Value make(Lang *l, int64_t value)
{
    Fake *f = calloc(1, sizeof *f);

    ck_assert_int_lt(world.made, MOST);
    f->id = world.made++;
    f->value = value;
    world.alive[f->id] = true;
    world.live++;
    return lang_adopt(l, &f->base, &fake_type, world.claimed);
}

static Fake *check_alive(Foreign *self)
{
    Fake *f = (Fake *)self;

    ck_assert_msg(f->id >= 0 && f->id < world.made && world.alive[f->id],
                  "object %d is used after its end", f->id);
    return f;
}

static Fake *fake_of(Value v)
{
    Foreign *f = foreign_as(v, &fake_type);

    return f ? check_alive(f) : NULL;
}

static int64_t number_of(Value v)
{
    Fake *f = fake_of(v);

    return f ? f->value : v.kind == VAL_INT ? v.i : 0;
}

static bool fake_binary(Lang *l, AstOp op, Value a, Value b, Value *out,
                        Span at)
{
    int64_t x = number_of(a), y = number_of(b);

    (void)at;
    if (op == AST_OP_ADD)
        *out = make(l, x + y);
    else if (op == AST_OP_MUL)
        *out = make(l, x * y);
    else if (op == AST_OP_LT)
        *out = v_bool(x < y);
    else if (op == AST_OP_EQ)
        *out = v_bool(x == y);
    else
        return false;
    return true;
}

static bool fake_getattr(Lang *l, Foreign *self, Text name, Value *out,
                         Span at)
{
    (void)l;
    (void)at;
    if (!text_is(name, "value"))
        return false;
    *out = v_int(check_alive(self)->value);
    return true;
}

// twice(): a new one; apply(f): what f makes of it, with a fresh object beside
static bool fake_method(Lang *l, Foreign *self, Text name, const Args *args,
                        Value *out)
{
    Fake *f = check_alive(self);

    if (text_is(name, "twice")) {
        *out = make(l, 2 * f->value);
        return true;
    }
    if (text_is(name, "apply")) {
        Value fresh = make(l, 1000), in = v_foreign(self);
        Args call = {.at = &in, .count = 1, .at_span = args->at_span};
        Value a = lang_call(l, args->at[0], &call);
        Value b = lang_call(l, args->at[0], &call);

        ck_assert(!foreign_may_steal(a.foreign));       // b may be used again
        *out = make(l, number_of(fresh) + number_of(a) + number_of(b));
        return true;
    }
    return false;
}

static Value fake_getitem(Lang *l, Foreign *self, Value index, Span at)
{
    return make(l, check_alive(self)->value + value_to_int(l, index, "i", at));
}

static int64_t fake_length(Lang *l, Foreign *self, Span at)
{
    (void)l;
    (void)at;
    check_alive(self);
    return 3;
}

static bool fake_truth(Lang *l, Foreign *self, Span at)
{
    (void)l;
    (void)at;
    return check_alive(self)->value != 0;
}

static void fake_repr(Lang *l, Foreign *self, TextBuf *out)
{
    (void)l;
    buf_printf(out, "t%lld", (long long)check_alive(self)->value);
}

static Value fake_enter(Lang *l, Foreign *self, Span at)
{
    (void)l;
    (void)at;
    world.entered++;
    check_alive(self);
    return v_foreign(self);
}

static void fake_exit(Lang *l, Foreign *self, Span at)
{
    (void)l;
    (void)at;
    check_alive(self);
    world.entered--;
}

static void fake_release(Foreign *self)
{
    Fake *f = check_alive(self);

    world.alive[f->id] = false;
    world.live--;
}

static const ForeignType fake_type = {
    .name = "fake", .binary = fake_binary, .getattr = fake_getattr,
    .method = fake_method, .getitem = fake_getitem, .length = fake_length,
    .truth = fake_truth, .repr = fake_repr, .enter = fake_enter,
    .exit = fake_exit, .release = fake_release,
};

static Value f_fake(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return make(l, value_to_int(l, args->at[0], "value", args->at_span));
}

static Value f_live(Lang *l, void *ctx, const Args *args)
{
    (void)l;
    (void)ctx;
    (void)args;
    return v_int(world.live);
}

static bool import(Lang *l, Text name, Value *out)
{
    if (!text_is(name, "fake"))
        return false;
    *out = (Value){.kind = VAL_MODULE, .module = lang_module(l, "fake")};
    module_set(l, out->module, "t", v_builtin(l, "t", f_fake, NULL));
    module_set(l, out->module, "live", v_builtin(l, "live", f_live, NULL));
    return true;
}

// ---- running ---------------------------------------------------------------

static void open_world(size_t claimed)
{
    LangOptions options;

    memset(&world, 0, sizeof world);
    world.claimed = claimed;
    world.arena = arena_create();
    world.sources = sources_create();
    world.diag = diag_create(world.sources, stderr, false);
    diag_quiet(world.diag, true);
    world.ops = op_table_create(world.arena);
    world.out = open_memstream(&world.text, &world.len);
    options = (LangOptions){
        .arena = world.arena, .diag = world.diag, .sources = world.sources,
        .ops = world.ops, .out = world.out, .import = import,
        .device = device_find(TEXT("h100")),
    };
    world.lang = lang_create(&options);
}

static void close_world(void)
{
    lang_destroy(world.lang);
    ck_assert_int_eq(world.live, 0);
    fclose(world.out);
    free(world.text);
    arena_destroy(world.arena);
    diag_destroy(world.diag);
    sources_destroy(world.sources);
}

static bool run_text(const char *text)
{
    uint32_t file = sources_add(world.sources, "test.py", text_of(text));
    bool ok = lang_run_file(world.lang, file, TEXT("__main__"),
                            &world.module);

    fflush(world.out);
    return ok;
}

static void check_output(const char *program, const char *want)
{
    const DiagEntry *e;
    bool ok;

    open_world(CLAIMED);
    ok = run_text(program);
    ck_assert_msg(ok, "%s", diag_entries(world.diag, &e) ? e->message.at
                                                         : "?");
    ck_assert_str_eq(world.text, want);
    close_world();
}

#define HEAD "from fake import t, live\n"

// ---- what must stay alive --------------------------------------------------

START_TEST(arguments_outlive_the_calls_beside_them)
{
    check_output(HEAD
                 "def busy():\n"
                 "    a = t(5)\n"
                 "    b = a + a\n"
                 "    return b\n"
                 "def three(a, b, c):\n"
                 "    x = a + b\n"
                 "    return x + c\n"
                 "print(three(t(1), busy(), three(t(2), t(3), busy())))\n"
                 "print(t(1) + busy() + (t(2) + busy()))\n"
                 "print([t(1), busy(), t(2)], (busy(), busy()))\n"
                 "print({'a': t(1), 'b': busy()}, t(7).value + busy().value)\n"
                 "print(t(1) if busy() else t(2), t(0) or busy())\n"
                 "print(t(1)[busy().value], t(1) < busy() < t(99))\n"
                 "print(*[busy(), t(4)], t(8).twice().twice())\n",
                 "t26\nt23\n[t1, t10, t2] (t10, t10)\n"
                 "{'a': t1, 'b': t10} 17\nt1 t10\nt11 True\nt10 t4 t32\n");
}
END_TEST

START_TEST(containers_and_closures_keep_objects)
{
    check_output(HEAD
                 "x = []\n"
                 "for i in range(4):\n"
                 "    x.append(t(i))\n"
                 "y = {'k': [t(9), (t(8),)]}\n"
                 "def outer():\n"
                 "    hidden = t(7)\n"
                 "    def inner(d=t(6)):\n"
                 "        return hidden + d\n"
                 "    return inner\n"
                 "f = outer()\n"
                 "class C:\n"
                 "    shared = t(5)\n"
                 "    def __init__(self): self.own = t(4)\n"
                 "    @property\n"
                 "    def both(self): return self.own + C.shared\n"
                 "c = C()\n"
                 "import functools\n"
                 "p = functools.partial(lambda a, b: a + b, t(2))\n"
                 "@functools.lru_cache\n"
                 "def cached(n): return t(n)\n"
                 "cached(1)\n"
                 "f.extra = t(11)\n"
                 "g = (v + v for v in [t(1), t(2)])\n"
                 "it = iter([t(3)])\n"
                 "z = zip([t(1)], [t(2)])\n"
                 "pass\n"
                 "pass\n"
                 "print(x, y, f(), c.both, C().both, p(t(1)), cached(1))\n"
                 "print(f.extra, list(g), next(it), list(z))\n",
                 "[t0, t1, t2, t3] {'k': [t9, (t8,)]} t13 t9 t9 t3 t1\n"
                 "t11 [t2, t4] t3 [(t1, t2)]\n");
}
END_TEST

START_TEST(callbacks_of_built_ins_keep_their_results)
{
    check_output(HEAD
                 "def mk(n):\n"
                 "    a = t(n)\n"
                 "    return a\n"
                 "def key(v):\n"
                 "    a = v + 0\n"
                 "    return a.value\n"
                 "def add(a, b):\n"
                 "    c = a + b\n"
                 "    return c\n"
                 "import functools, itertools\n"
                 "print(list(map(mk, [3, 1, 2])))\n"
                 "print(sorted([mk(3), mk(1), mk(2)], key=key))\n"
                 "print(max(map(mk, [1, 5, 3]), key=key))\n"
                 "print(functools.reduce(add, map(mk, [1, 2, 3])))\n"
                 "print(list(itertools.accumulate([mk(1), mk(2)], add)))\n"
                 "print([add(mk(i), mk(j)) for i in range(2) for j in [1]])\n"
                 "print({i: mk(i) for i in range(2)}, sum([mk(1), mk(2)], mk(0)))\n"
                 "print(mk(5).apply(lambda v: add(v, v)), len(mk(1)))\n"
                 "print([v for v in mk(1)], list(filter(key, [mk(0), mk(1)])))\n"
                 "print(dict(zip('ab', map(mk, [1, 2]))), min(mk(4), mk(2)))\n",
                 "[t3, t1, t2]\n[t1, t2, t3]\nt5\nt6\n[t1, t3]\n[t1, t2]\n"
                 "{0: t0, 1: t1} t3\nt1020 3\n[t1, t2, t3] [t1]\n"
                 "{'a': t1, 'b': t2} t2\n");
}
END_TEST

START_TEST(exceptions_carry_objects)
{
    check_output(HEAD
                 "class E(Exception): pass\n"
                 "def fail(n):\n"
                 "    local = t(n)\n"
                 "    raise E(t(n), local)\n"
                 "def work():\n"
                 "    a = t(1)\n"
                 "    b = a + a\n"
                 "    return b\n"
                 "keep = t(100)\n"
                 "try:\n"
                 "    print(t(1) + fail(2))\n"
                 "except E as e:\n"
                 "    work()\n"
                 "    print(e.args[0] + e.args[1], keep)\n"
                 "    try:\n"
                 "        fail(3)\n"
                 "    except E as inner:\n"
                 "        work()\n"
                 "        print(inner.args, e.args)\n"
                 "    print(e.args)\n"
                 "def ret():\n"
                 "    try:\n"
                 "        return t(8)\n"
                 "    finally:\n"
                 "        work()\n"
                 "        work()\n"
                 "print(ret())\n"
                 "try:\n"
                 "    try:\n"
                 "        fail(4)\n"
                 "    finally:\n"
                 "        work()\n"
                 "except E as e:\n"
                 "    print(e.args[1])\n"
                 "with t(6) as w:\n"
                 "    work()\n"
                 "    print(w)\n",
                 "t4 t100\n(t3, t3) (t2, t2)\n(t2, t2)\nt8\nt4\nt6\n");
}
END_TEST

// Keys whose __hash__ and __eq__ run statements, and so sweeps.
START_TEST(hashing_and_comparing_may_sweep)
{
    check_output(HEAD
                 "class K:\n"
                 "    def __init__(self, n): self.n = n\n"
                 "    def __hash__(self):\n"
                 "        a = t(1)\n"
                 "        a = a + a\n"
                 "        return 1\n"
                 "    def __eq__(self, o):\n"
                 "        a = t(2)\n"
                 "        a = a + a\n"
                 "        return self.n == o.n\n"
                 "d = {K(1): t(1), K(2): t(2), K(1): t(3)}\n"
                 "print(list(d.values()))\n"
                 "print(list({K(i): t(i) for i in range(3)}.values()))\n"
                 "print(len({K(1), K(1), K(2)}), len({K(i % 2) for i in range(4)}))\n"
                 "print(len(set(K(i % 3) for i in range(6))))\n"
                 "d[K(3)] = t(5)\n"
                 "print(d.setdefault(K(4), t(6)), d.pop(K(3)), d.get(K(9), t(7)))\n"
                 "import functools, itertools\n"
                 "@functools.lru_cache\n"
                 "def f(k): return t(k.n)\n"
                 "print(f(K(8)), f(K(8)), f(K(9)))\n"
                 "g = itertools.groupby([t(1), t(1), t(2)], key=lambda v: K(v.value))\n"
                 "print([(k.n, list(v)) for k, v in g])\n"
                 "print([K(1), K(2)].index(K(2)), K(2) in [K(1), K(2)])\n"
                 "print([t(4), t(5)][K.__hash__(K(0)):], t(9)[K.__hash__(K(0))])\n",
                 "[t3, t2]\n[t0, t1, t2]\n2 2\n3\nt6 t5 t7\nt8 t8 t9\n"
                 "[(1, [t1, t1]), (2, [t2])]\n1 True\n[t5] t10\n");
}
END_TEST

START_TEST(generators_and_unpacking_keep_objects)
{
    check_output(HEAD
                 "def gen(n):\n"
                 "    for i in range(n):\n"
                 "        a = t(i)\n"
                 "        yield a\n"
                 "        yield t(i + 10)\n"
                 "a, *b = gen(2)\n"
                 "print(a, b)\n"
                 "(p, q), r = (t(1), t(2)), t(3)\n"
                 "p, q = q, p\n"
                 "x = y = t(4)\n"
                 "del x\n"
                 "print(p, q, r, y, (w := t(5)), w)\n"
                 "def star(*a, **k): return a, k\n"
                 "print(star(t(1), *[t(2)], z=t(3), **{'q': t(4)}))\n"
                 "l = [t(0)] * 3\n"
                 "l[1] = t(7)\n"
                 "l[1:2] = [t(8), t(9)]\n"
                 "l += [t(1)]\n"
                 "print(l, l[::-1])\n"
                 "d = {}\n"
                 "d['a'], d['b'] = t(1), t(2)\n"
                 "d['a'] += t(5)\n"
                 "print(d, f'{t(3)}{d[\"a\"]}')\n",
                 "t0 [t10, t1, t11]\nt2 t1 t3 t4 t5 t5\n"
                 "((t1, t2), {'z': t3, 'q': t4})\n"
                 "[t0, t8, t9, t0, t1] [t1, t0, t9, t8, t0]\n"
                 "{'a': t6, 'b': t2} t3t6\n");
}
END_TEST

// ---- what must go ----------------------------------------------------------

START_TEST(temporaries_go_at_once)
{
    open_world(1);                              // too small for any sweep
    ck_assert(run_text(HEAD
                       "a = t(1)\n"
                       "b = (a + a) * (a + a) + a\n"
                       "n = live()\n"
                       "c = t(1).twice().twice().value\n"
                       "m = live()\n"
                       "t(5)\n"
                       "print(t(6))\n"
                       "k = len(t(3)[0]) if t(1) else 0\n"
                       "o = t(2) < t(3) < t(4)\n"
                       "print(n, m, live())\n"));
    // the middle operand of a chained comparison waits for the sweep
    ck_assert_str_eq(world.text, "t6\n2 2 3\n");
    close_world();
}
END_TEST

START_TEST(unreachable_objects_are_swept)
{
    open_world(CLAIMED);
    ck_assert(run_text(HEAD
                       "x = t(0)\n"
                       "most = 0\n"
                       "for i in range(100):\n"
                       "    x = x + t(1)\n"
                       "    most = max(most, live())\n"
                       "def f(v):\n"
                       "    w = v + v\n"
                       "    return w\n"
                       "for i in range(100):\n"
                       "    f(x)\n"
                       "    most = max(most, live())\n"
                       "class Node: pass\n"
                       "for i in range(50):\n"
                       "    a, b = Node(), Node()\n"
                       "    a.b, b.a, a.t = b, a, t(i)\n"
                       "    most = max(most, live())\n"
                       "del a, b\n"
                       "pass\n"
                       "print(x, most < 8, live() < 4)\n"));
    ck_assert_str_eq(world.text, "t100 True True\n");
    close_world();
}
END_TEST

START_TEST(context_managers_are_left_on_errors)
{
    open_world(CLAIMED);
    ck_assert(!run_text(HEAD
                        "def f():\n"
                        "    with t(1), t(2):\n"
                        "        raise ValueError('x')\n"
                        "try:\n"
                        "    f()\n"
                        "except ValueError: pass\n"
                        "with t(3):\n"
                        "    import unknown\n"
                        "    unknown.use()\n"));
    ck_assert_int_eq(world.entered, 0);
    ck_assert_int_eq(diag_exit(world.diag), EXIT_LIMIT);
    close_world();
}
END_TEST

// ---- the host's side -------------------------------------------------------

typedef struct {
    Value callee, result;
    const char *name;
} Call;

static void call_body(Lang *l, void *ctx)
{
    Call *c = ctx;
    Value args[2] = {v_int(20), v_int(22)};

    ck_assert(lang_module_get(world.module, text_of(c->name), &c->callee));
    c->result = lang_call(l, c->callee, &(Args){.at = args, .count = 2});
}

START_TEST(the_host_calls_functions)
{
    Call c = {.name = "add"};
    LangError error;

    open_world(CLAIMED);
    ck_assert(run_text("def add(a, b): return a + b\n"
                       "def bad(a, b): return a.nope\n"));
    ck_assert(lang_try(world.lang, call_body, &c, &error));
    ck_assert_int_eq(c.result.i, 42);
    c.name = "bad";
    ck_assert(!lang_try(world.lang, call_body, &c, &error));
    ck_assert(text_is(error.type, "AttributeError"));
    ck_assert(text_is(error.message, "'int' object has no attribute 'nope'"));
    ck_assert_int_eq(error.at.file, 1);
    ck_assert_int_eq(diag_errors(world.diag), 0);
    close_world();
}
END_TEST

static const Function *function_named(const char *name)
{
    Value v;

    ck_assert(lang_module_get(world.module, text_of(name), &v));
    ck_assert_int_eq(v.kind, VAL_FUNCTION);
    return v.function;
}

START_TEST(parameters_can_be_read)
{
    const Function *f;
    Value fallback;
    bool has;

    open_world(CLAIMED);
    ck_assert(run_text("def f(a, b: int = 3, *, c='x'): pass\n"));
    f = function_named("f");
    // a bare '*' is a parameter of its own or none: c is the last either way
    ck_assert_int_ge(function_param_count(f), 3);
    ck_assert(text_is(function_param(f, 0, &fallback, &has), "a"));
    ck_assert(!has);
    ck_assert(text_is(function_param(f, 1, &fallback, &has), "b"));
    ck_assert(has && fallback.i == 3);
    ck_assert(text_is(function_param(f, function_param_count(f) - 1, &fallback,
                                     &has), "c"));
    close_world();
}
END_TEST

START_TEST(exit_codes_are_kept)
{
    open_world(CLAIMED);
    ck_assert(!run_text("import sys\nsys.exit(7)\n"));
    ck_assert_int_eq(lang_exit_code(world.lang), 7);
    ck_assert_int_eq(diag_errors(world.diag), 0);
    ck_assert(run_text("import sys\nsys.exit(0)\n"));
    ck_assert(!run_text("1 / 0\n"));
    ck_assert_int_eq(diag_exit(world.diag), EXIT_PROGRAM);
    close_world();
}
END_TEST

START_TEST(main_parts_are_found)
{
    uint32_t with, without;

    open_world(CLAIMED);
    with = sources_add(world.sources, "a.py",
                       TEXT("x = 1\nif __name__ == '__main__':\n    x = 2\n"));
    without = sources_add(world.sources, "b.py", TEXT("if 1 == 1: pass\n"));
    ck_assert(lang_has_main(world.lang, with));
    ck_assert(!lang_has_main(world.lang, without));
    ck_assert(lang_run_file(world.lang, with, TEXT("a"), &world.module));
    close_world();
}
END_TEST

// ---- bounds ----------------------------------------------------------------

static const char *const endless[] = {
    "while True: pass\n",
    "def f(): return f()\nwhile 1:\n    try: f()\n    except RecursionError: pass\n",
    "import itertools\nfor x in itertools.count(): pass\n",
    "sum(1 for _ in iter(int, 1)) if 0 else [0 for _ in range(10**9)]\n",
    "any(map(lambda v: 0, range(10**12)))\n",
    "class A:\n    def __iter__(self): return self\n"
    "    def __next__(self): return 1\nlist(A())\n",
    "def g():\n    while True: yield 1\ng()\n",
    "x = 'a'\nwhile True: x = x[:1000] + x[:1000]\n",
};

START_TEST(programs_can_be_stopped)
{
    LangOptions options;

    open_world(CLAIMED);
    options = *lang_options(world.lang);
    lang_destroy(world.lang);
    options.max_steps = 200000;
    world.lang = lang_create(&options);
    ck_assert(!run_text(endless[_i]));
    ck_assert_int_eq(diag_exit(world.diag), EXIT_LIMIT);
    close_world();
}
END_TEST

static const char *const too_large[] = {
    "x = [0] * 10**12\n", "x = 'ab' * 10**12\n", "x = list(range(10**12))\n",
    "x = 2 ** 10000\n", "x = [1] * 2**62\n", "x = f'{1:999999999999}'\n",
    "x = 'a'.ljust(10**12)\n", "x = ()\nfor i in range(40): x = x + x + (1,)\n",
    "def f(n): return f(n + 1)\nf(0)\n",
    "x = []\nx.append(x)\nrepr(x)\n", "x = []\nx.append(x)\nx == [x]\n[x] == x\n"
    "y = []\ny.append(y)\nx == y\n",
    "class A:\n    def __getattr__(self, n): return self.q\nA().z\n",
    "class A:\n    def __repr__(self): return repr(self)\nrepr(A())\n",
    "1 << 99999999999\n", "'%*d' % (10**12, 1)\n", "x = bytes(10**12)\n",
};

START_TEST(what_is_too_large_is_an_error)
{
    open_world(CLAIMED);
    ck_assert(!run_text(too_large[_i]));
    ck_assert_int_eq(diag_exit(world.diag), EXIT_PROGRAM);
    close_world();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lang");
    TCase *t = tcase_create("lang");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, arguments_outlive_the_calls_beside_them);
    tcase_add_test(t, containers_and_closures_keep_objects);
    tcase_add_test(t, callbacks_of_built_ins_keep_their_results);
    tcase_add_test(t, exceptions_carry_objects);
    tcase_add_test(t, hashing_and_comparing_may_sweep);
    tcase_add_test(t, generators_and_unpacking_keep_objects);
    tcase_add_test(t, temporaries_go_at_once);
    tcase_add_test(t, unreachable_objects_are_swept);
    tcase_add_test(t, context_managers_are_left_on_errors);
    tcase_add_test(t, the_host_calls_functions);
    tcase_add_test(t, parameters_can_be_read);
    tcase_add_test(t, exit_codes_are_kept);
    tcase_add_test(t, main_parts_are_found);
    tcase_add_loop_test(t, programs_can_be_stopped, 0, countof(endless));
    tcase_add_loop_test(t, what_is_too_large_is_an_error, 0,
                        countof(too_large));
    suite_add_tcase(s, t);
    return unit_run(s);
}
