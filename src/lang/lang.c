// lang.c - a Lang from creation to destruction, and running files.
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lang/eval_int.h"

enum {
    STACK_USUAL = 8 << 20,
    STACK_MOST = 64 << 20,
    STACK_SPARE = 512 << 10,    // for what runs between two checks
};

// ---- life ------------------------------------------------------------------

static char *find_stack_end(void)
{
    struct rlimit r;
    size_t room = STACK_USUAL;
    char *here = __builtin_frame_address(0);

    if (getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
        room = r.rlim_cur < STACK_MOST ? r.rlim_cur : STACK_MOST;
    if (room < 2 * STACK_SPARE)
        room = 2 * STACK_SPARE;
    return here - (room - STACK_SPARE);
}

Lang *lang_create(const LangOptions *options)
{
    Lang *l = xcalloc(1, sizeof *l);

    l->options = *options;
    if (!l->options.max_bytes)
        l->options.max_bytes = (size_t)4 << 30;
    l->more = xcalloc(1, sizeof *l->more);
    l->more->temps = xcalloc(TEMPS_ROOM, sizeof(Value));
    l->more->stack_end = find_stack_end();
    l->raised = l->returned = V_NONE;
    l->builtins = lang_module(l, "builtins");
    methods_init(l);
    class_init_object(l);
    exceptions_init(l);
    named_tuple_init(l);
    builtins_init(l);
    return l;
}

void lang_destroy(Lang *l)
{
    if (!l)
        return;
    foreign_free_all(l);
    for (int i = 0; i < l->more->texts.len; i++) {
        buf_release(l->more->texts.at[i]);
        free(l->more->texts.at[i]);
    }
    free(l->more->pins.at);
    free(l->more->temps);
    free(l->more);
    free(l);
}

const LangOptions *lang_options(const Lang *l)
{
    return &l->options;
}

Arena *lang_arena(Lang *l)
{
    return l->options.arena;
}

int lang_exit_code(const Lang *l)
{
    return l->exit_code;
}

// ---- files -----------------------------------------------------------------

static Text file_key(Lang *l, uint32_t file)
{
    return text_format(l->options.arena, "%u", file);
}

Ast *lang_parse(Lang *l, uint32_t file)
{
    Arena *a = l->options.arena;
    Text key = file_key(l, file);
    const MapEntry *known = map_find(&l->more->parsed, key);
    int errors = diag_raised(l->options.diag);
    Ast *ast;

    if (known)                                  // NULL: it was reported
        return known->value;
    ast = parse(a, l->options.diag, l->options.sources,
                lex(a, l->options.diag, l->options.sources, file));
    if (diag_raised(l->options.diag) > errors)
        ast = NULL;
    map_set(a, &l->more->parsed, key, ast);
    return ast;
}

// `__name__ == "__main__"`, either way round.
static bool is_main_test(const Ast *e)
{
    const Ast *a, *b;

    if (e->kind != AST_COMPARE || e->x.len != 1 || e->ops[0] != AST_OP_EQ)
        return false;
    a = e->a->kind == AST_NAME ? e->a : e->x.at[0];
    b = e->a->kind == AST_NAME ? e->x.at[0] : e->a;
    return a->kind == AST_NAME && text_is(a->text, "__name__") &&
           b->kind == AST_STRING && text_is(b->text, "__main__");
}

bool lang_has_main(const Lang *l, uint32_t file)
{
    const Ast *ast = lang_parse((Lang *)l, file);

    for (int i = 0; ast && i < ast->x.len; i++)
        if (ast->x.at[i]->kind == AST_IF && is_main_test(ast->x.at[i]->a))
            return true;
    return false;
}

static Text folder_of(Text path)
{
    size_t n = path.len;

    while (n && path.at[n - 1] != '/')
        n--;
    return text_slice(path, 0, n);
}

Module *module_of_file(Lang *l, uint32_t file, Text name)
{
    Module *m = lang_module(l, text_cstr(l->options.arena, name));
    Text path = text_of(sources_get(l->options.sources, file)->path);

    m->file = file;
    module_set(l, m, "__name__", v_str(m->name));
    module_set(l, m, "__file__", v_str(path));
    module_set(l, m, "__doc__", V_NONE);
    return m;
}

void module_run(Lang *l, Module *m, const Ast *ast)
{
    Frame *f = frame_new(l, ast, NULL, m);

    f->captured = true;
    frame_enter(l, f, SPAN_NONE);
    exec_block(l, f, &ast->x);
    frame_leave(l);
    foreign_sweep(l);
}

typedef struct {
    Module *module;
    const Ast *ast;
} Run;

static void run_module(Lang *l, void *ctx)
{
    const Run *run = ctx;

    module_run(l, run->module, run->ast);
}

// SystemExit: its code, or a text for people and code 1.
static void keep_exit_code(Lang *l, Value e)
{
    const List *args = exception_args(l, e).list;
    Value code = args->len ? args->at[0] : V_NONE;
    int64_t n = 0;

    if (code.kind != VAL_NONE && !as_int(code, &n)) {
        TextBuf *b = text_begin(l);

        value_str(l, b, code);
        fprintf(stderr, "%.*s\n", TEXT_ARG(buf_view(b)));
        text_end(l);
        n = 1;
    }
    l->exit_code = (int)(n & 0xff);
}

bool lang_run_file(Lang *l, uint32_t file, Text name, Module **out)
{
    Run run = {.ast = lang_parse(l, file)};
    Value e;
    bool main = text_is(name, "__main__");

    if (!run.ast)
        return false;
    run.module = module_of_file(l, file, name);
    if (main || !l->main) {
        l->main = run.module;
        l->more->main_folder =
            folder_of(text_of(sources_get(l->options.sources, file)->path));
    }
    map_set(l->options.arena, &l->modules,
            text_copy(l->options.arena, name), run.module);
    if (out)
        *out = run.module;
    if (protect(l, run_module, &run, &e))
        return true;
    if (exception_is(l, e, EXC_SYSTEM_EXIT))
        keep_exit_code(l, e);
    else
        exception_report(l, e);
    foreign_sweep(l);
    return exception_is(l, e, EXC_SYSTEM_EXIT) && l->exit_code == 0;
}

int64_t lang_checks(const Lang *l)
{
    return l->more->checks;
}

void lang_checked(Lang *l)
{
    l->more->checks++;
}

int64_t lang_differences(const Lang *l)
{
    return l->more->differences;
}

Module *lang_main(const Lang *l)
{
    return l->main;
}

// ---- what the host asks of functions ---------------------------------------

int function_param_count(const Function *f)
{
    return f->def->b ? f->def->b->x.len : 0;
}

Text function_param(const Function *f, int i, Value *fallback,
                    bool *has_fallback)
{
    *has_fallback = f->defaults[i].kind != VAL_UNBOUND;
    *fallback = *has_fallback ? f->defaults[i] : V_NONE;
    return f->def->b->x.at[i]->text;
}
