// import.c - import statements and where modules come from.
//
// In this order: tilelang.language, the host's modules, the library here, a
// file beside the importing one (or beside the main file, in sys.path, in
// PYTHONPATH, above the importing one, in the current folder), a member of the
// parent module. What nobody knows is an opaque module: importing it is
// nothing, using it is the error. Inside a `try` that has an answer to
// ImportError, it is that.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/eval_int.h"

static Text folder_of_file(Lang *l, uint32_t file)
{
    Text path = text_of(sources_get(l->options.sources, file)->path);
    size_t n = path.len;

    while (n && path.at[n - 1] != '/')
        n--;
    return text_slice(path, 0, n);
}

// ---- sibling files ---------------------------------------------------------

static const char *try_path(Lang *l, Text folder, Text name,
                            const char *ending)
{
    TextBuf b = {0};
    const char *path;

    buf_text(&b, folder);
    for (size_t i = 0; i < name.len; i++)
        buf_addc(&b, name.at[i] == '.' ? '/' : name.at[i]);
    buf_puts(&b, ending);
    path = text_cstr(l->options.arena, buf_view(&b));
    buf_release(&b);
    return access(path, F_OK) == 0 ? path : NULL;
}

static const char *find_file(Lang *l, Text folder, Text name)
{
    static const char *const endings[] = {".py", ".tile", "/__init__.py"};

    for (size_t i = 0; i < countof(endings); i++) {
        const char *path = try_path(l, folder, name, endings[i]);

        if (path)
            return path;
    }
    return NULL;
}

typedef struct {
    Module *module;
    Ast *ast;
} Load;

static void load_body(Lang *l, void *ctx)
{
    const Load *load = ctx;

    module_run(l, load->module, load->ast);
}

// What a module needs and nobody knows ends it: names that it would have
// defined later are unknown. Nobody may ask for them.
static void run_loaded(Lang *l, Module *m, Ast *ast)
{
    Load load = {m, ast};
    Value e;

    l->more->loading++;
    bool ok = protect(l, load_body, &load, &e);
    l->more->loading--;
    if (ok)
        return;
    if (!e.instance->trouble || !e.instance->trouble->forgiven) {
        map_set(l->options.arena, &l->modules, m->name, NULL);
        exception_throw(l, e);                  // the next import tries again
    }
    m->opaque = true;
}

static Module *load_file(Lang *l, const char *path, Text name, Span at)
{
    const char *why;
    uint32_t file = sources_read(l->options.sources, path, &why);
    Ast *ast;
    Module *m;

    if (!file)
        lang_raise(l, "ImportError", at, "cannot read '%s': %s", path, why);
    ast = lang_parse(l, file);
    if (!ast)
        lang_raise(l, "ImportError", at,
                   "'%s' has errors (see above)", path);
    m = module_of_file(l, file, name);
    map_set(l->options.arena, &l->modules, m->name, m);
    run_loaded(l, m, ast);
    return m;
}

static Module *sibling(Lang *l, Text folder, Text name, Span at)
{
    const char *path = find_file(l, folder, name);
    char *real;
    Text key;
    Module *m;

    if (!path)
        return NULL;
    real = realpath(path, NULL);
    key = text_format(l->options.arena, "file:%s", real ? real : path);
    free(real);
    m = map_get(&l->modules, key);
    if (m)
        return m;
    lang_step(l, at);
    m = load_file(l, path, name, at);
    map_set(l->options.arena, &l->modules, key, m);
    return m;
}

// ---- finding a module ------------------------------------------------------

static Module *from_host(Lang *l, Text name)
{
    Value v;

    if (text_is(name, "tilelang.language"))
        return language_module(l);
    if (l->options.import && l->options.import(l, name, &v) &&
        v.kind == VAL_MODULE)
        return v.module;
    return library_module(l, name);
}

static Module *import_module(Lang *l, Text name, Span at);

static Module *from_parent(Lang *l, Text name, Span at)
{
    size_t n = name.len;
    Value v;

    while (n && name.at[n - 1] != '.')
        n--;
    if (n < 2)
        return NULL;
    v = v_module(import_module(l, text_slice(name, 0, n - 1), at));
    if (v.module->opaque ||
        !lang_getattr(l, v, text_slice(name, n, name.len), &v, at))
        return NULL;
    return v.kind == VAL_MODULE ? v.module : NULL;
}

static Module *opaque_module(Lang *l, Text name)
{
    Module *m = lang_module(l, text_cstr(l->options.arena, name));

    m->opaque = true;
    return m;
}

_Noreturn static void not_found(Lang *l, Text name, Span at)
{
    lang_raise(l, "ModuleNotFoundError", at, "No module named '%.*s'",
               TEXT_ARG(name));
}

// What the program put on sys.path.
static Module *from_path(Lang *l, Text name, Span at)
{
    Module *sys = map_get(&l->modules, TEXT("sys")), *m = NULL;
    Value path;

    if (!sys || !map_value(&sys->members, TEXT("path"), &path) ||
        path.kind != VAL_LIST)
        return NULL;
    for (int i = 0; i < path.list->len && !m; i++) {
        Value v = path.list->at[i];

        if (v.kind == VAL_STR && v.s.len)
            m = sibling(l, text_format(l->options.arena, "%.*s%s",
                                       TEXT_ARG(v.s),
                                       text_ends(v.s, "/") ? "" : "/"),
                        name, at);
    }
    return m;
}

// The folders of PYTHONPATH, as Python has them.
static Module *from_environment(Lang *l, Text name, Span at)
{
    const char *list = getenv("PYTHONPATH");
    Module *m = NULL;

    while (list && *list && !m) {
        size_t n = strcspn(list, ":");

        if (n)
            m = sibling(l, text_format(l->options.arena, "%.*s/", (int)n,
                                       list), name, at);
        list += n + (list[n] == ':');
    }
    return m;
}

// A file that is run from the top of its project names packages from there:
// `examples.quantize.fp4` beside a folder that the importing file is below.
static Module *from_above(Lang *l, Text name, Span at)
{
    Text folder = folder_of_file(l, at.file);
    Module *m = NULL;
    size_t n = folder.len;

    if (!memchr(name.at, '.', name.len) || text_starts(name, "tilelang.") ||
        text_starts(name, "tvm."))
        return NULL;
    while (n > 1 && !m) {
        for (n--; n && folder.at[n - 1] != '/'; n--)
            ;
        if (n)
            m = sibling(l, text_slice(folder, 0, n), name, at);
    }
    return m;
}

static Module *from_files(Lang *l, Text name, Span at)
{
    Module *m = NULL;

    if (at.file)
        m = sibling(l, folder_of_file(l, at.file), name, at);
    if (!m)
        m = sibling(l, l->more->main_folder, name, at);
    if (!m)
        m = from_path(l, name, at);
    if (!m)
        m = from_environment(l, name, at);
    if (!m && at.file)
        m = from_above(l, name, at);
    return m ? m : sibling(l, TEXT(""), name, at);
}

// What nobody knows may be a name of ours with a slip in it.
static void warn_slip(Lang *l, Text name, Span at)
{
    static const char *const known[] = {
        "argparse", "functools", "itertools", "math", "numpy", "tilelang",
        "tilelang.autotuner", "tilelang.language", "tilelang.layout",
        "tilelang.profiler", "tilelang.testing", "torch", "torch.nn",
        "torch.nn.functional", "typing",
    };
    NearWord near = {.name = name};

    for (size_t i = 0; i < countof(known); i++)
        near_try(&near, text_of(known[i]));
    if (near.word.len && near.distance < 3)
        diag_warning(l->options.diag, at, "unknown-module", "nothing is known "
                     "of the module '%.*s'; did you mean '%.*s'?",
                     TEXT_ARG(name), TEXT_ARG(near.word));
}

static Module *import_module(Lang *l, Text name, Span at)
{
    Module *m = map_get(&l->modules, name);

    if (m && m->opaque && l->more->import_guards)
        not_found(l, name, at);
    if (m && !text_is(name, "__main__"))
        return m;
    m = from_host(l, name);
    if (!m)
        m = from_files(l, name, at);
    if (!m)
        m = from_parent(l, name, at);
    if (!m && l->more->import_guards)
        not_found(l, name, at);
    if (!m)
        m = opaque_module(l, name);
    if (m->opaque)
        warn_slip(l, name, at);
    map_set(l->options.arena, &l->modules, text_copy(l->options.arena, name),
            m);
    return m;
}

Module *lang_find_module(Lang *l, Text name, Span at)
{
    Module *m = import_module(l, name, at);

    return m->opaque ? NULL : m;
}

// ---- import a.b.c as x -----------------------------------------------------

static Text first_name(Text dotted)
{
    size_t n = 0;

    while (n < dotted.len && dotted.at[n] != '.')
        n++;
    return text_slice(dotted, 0, n);
}

// Each module of a.b.c is a member of the one before.
static void link_parents(Lang *l, Text name, Span at)
{
    size_t from = first_name(name).len;
    Module *parent = import_module(l, text_slice(name, 0, from), at);

    while (from < name.len) {
        Text rest = text_slice(name, from + 1, name.len);
        Text part = first_name(rest);
        Module *child;
        Value old;

        from += 1 + part.len;
        child = import_module(l, text_slice(name, 0, from), at);
        if (!map_value(&parent->members, part, &old))
            map_bind(l, &parent->members, part, v_module(child));
        parent = child;
    }
}

static void import_plain(Lang *l, Frame *f, const Ast *alias)
{
    Text first = first_name(alias->text);

    if (alias->as.len) {
        name_bind(l, f, alias->as,
                  v_module(import_module(l, alias->text, alias->at)));
        return;
    }
    link_parents(l, alias->text, alias->at);
    name_bind(l, f, first, v_module(import_module(l, first, alias->at)));
}

// ---- from m import a, b ----------------------------------------------------

static Module *relative_module(Lang *l, const Ast *s)
{
    Text folder = folder_of_file(l, s->at.file);
    Module *m;

    for (int up = 1; up < s->level; up++)
        folder = text_format(l->options.arena, "%.*s../", TEXT_ARG(folder));
    if (!s->text.len)
        return NULL;
    m = sibling(l, folder, s->text, s->at);
    if (!m)
        lang_raise(l, "ModuleNotFoundError", s->at,
                   "No module named '%.*s' (no %.*s%.*s.py)",
                   TEXT_ARG(s->text), TEXT_ARG(folder), TEXT_ARG(s->text));
    return m;
}

// Every primitive there is; those that are not built say so when called.
static void language_import_all(Lang *l, Frame *f)
{
    Value v;

    for (int op = 0; op < OP_COUNT; op++) {
        const char *name = op_info(l->options.ops, (Op)op)->surface;
        Text t = text_of(name);

        if (text_starts(t, "T.") &&
            lang_getattr(l, v_module(language_module(l)),
                         text_slice(t, 2, t.len), &v, SPAN_NONE))
            name_bind(l, f, text_slice(t, 2, t.len), v);
    }
}

static void import_all(Lang *l, Frame *f, Module *m)
{
    Value names;

    if (m == l->language) {
        language_import_all(l, f);
        return;
    }
    if (map_value(&m->members, TEXT("__all__"), &names)) {
        List *list = value_to_list(l, names, SPAN_NONE);

        for (int i = 0; i < list->len; i++) {
            Value v;

            if (list->at[i].kind == VAL_STR &&
                map_value(&m->members, list->at[i].s, &v))
                name_bind(l, f, list->at[i].s, v);
        }
        return;
    }
    for (int i = 0; i < m->members.len; i++) {
        Text name = m->members.at[i].key;
        Value v = *(const Value *)m->members.at[i].value;

        if (!text_starts(name, "_") && v.kind != VAL_UNBOUND)
            name_bind(l, f, name, v);
    }
}

// A file in the folder of the package m.
static Module *file_of_package(Lang *l, const Module *m, const Ast *alias)
{
    const char *path = m->file ? sources_get(l->options.sources,
                                             m->file)->path : "";

    if (!text_ends(text_of(path), "/__init__.py"))
        return NULL;
    return sibling(l, folder_of_file(l, m->file), alias->text, alias->at);
}

static Value member(Lang *l, Module *m, const Ast *alias)
{
    int guards = l->more->import_guards;
    Value v;
    Module *child;

    if (lang_getattr(l, v_module(m), alias->text, &v, alias->at))
        return v;
    child = file_of_package(l, m, alias);
    if (child)
        return v_module(child);
    l->more->import_guards = 0;                 // the answer is ours to give
    child = import_module(l, text_format(l->options.arena, "%.*s.%.*s",
                                         TEXT_ARG(m->name),
                                         TEXT_ARG(alias->text)), alias->at);
    l->more->import_guards = guards;
    if (!child->opaque)
        return v_module(child);
    if (m == l->language)
        language_unknown(l, alias->text, alias->at);
    lang_raise_near(l, "ImportError", alias->at,
                    nearest_name(&m->members, alias->text, TEXT("")),
                    "cannot import name '%.*s' from '%.*s'",
                    TEXT_ARG(alias->text), TEXT_ARG(m->name));
}

static void import_from(Lang *l, Frame *f, const Ast *s)
{
    Module *m = s->level ? relative_module(l, s)
                         : import_module(l, s->text, s->at);

    for (int i = 0; i < s->x.len; i++) {
        const Ast *alias = s->x.at[i];
        Value v;

        if (m && text_is(alias->text, "*")) {
            opaque_check(l, v_module(m), s->at);
            import_all(l, f, m);
            continue;
        }
        if (m) {
            v = member(l, m, alias);
            if (v.kind == VAL_MODULE && v.module->opaque)
                warn_slip(l, v.module->name, alias->at);
        } else {                                // from . import name
            Module *file = sibling(l, folder_of_file(l, s->at.file),
                                   alias->text, alias->at);

            if (!file)
                lang_raise(l, "ImportError", alias->at,
                           "cannot import name '%.*s'",
                           TEXT_ARG(alias->text));
            v = v_module(file);
        }
        name_bind(l, f, alias->as.len ? alias->as : alias->text, v);
    }
}

void exec_import(Lang *l, Frame *f, const Ast *s)
{
    if (s->kind == AST_IMPORTFROM) {
        import_from(l, f, s);
        return;
    }
    for (int i = 0; i < s->x.len; i++)
        import_plain(l, f, s->x.at[i]);
}
