// mod_os.c - os and os.path. Files are looked at and never made; the
// environment is empty, so that a program does the same on every machine.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/eval_int.h"

typedef Value Call(Lang *l, void *ctx, const Args *args);

static void add(Lang *l, Module *m, const char *name, Call *call)
{
    module_set(l, m, name, v_builtin(l, name, call, (void *)name));
}

// A path: a str, or an object that gives one (pathlib's do).
static Text path_arg(Lang *l, const char *function, const Args *args, int i)
{
    Value v = i < args->count ? args->at[i] : V_NONE;

    if (v.kind == VAL_INSTANCE)
        call_dunder(l, v, "__fspath__", NULL, 0, &v, args->at_span);
    if (v.kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() needs a str, not %s", function,
                   i < args->count ? value_type_name(v) : "nothing");
    return v.s;
}

static const char *path_cstr(Lang *l, void *ctx, const Args *args)
{
    return text_cstr(l->options.arena, path_arg(l, ctx, args, 0));
}

// ---- names of paths ----------------------------------------------------------

static Value o_fspath(Lang *l, void *ctx, const Args *args)
{
    return v_str(path_arg(l, ctx, args, 0));
}

static Value o_join(Lang *l, void *ctx, const Args *args)
{
    TextBuf b = {0};

    for (int i = 0; i < args->count; i++) {
        Text t = path_arg(l, ctx, args, i);

        if (text_starts(t, "/"))
            buf_clear(&b);
        else if (b.len && b.at[b.len - 1] != '/')
            buf_addc(&b, '/');
        buf_text(&b, t);
    }
    return v_buf(l, &b);
}

static size_t last_slash(Text t)
{
    size_t n = t.len;

    while (n && t.at[n - 1] != '/')
        n--;
    return n;
}

static Value o_basename(Lang *l, void *ctx, const Args *args)
{
    Text t = path_arg(l, ctx, args, 0);

    return v_str(text_slice(t, last_slash(t), t.len));
}

// Slashes at its end go, but where there is nothing else.
static Text folder_of(Text t)
{
    size_t end = last_slash(t), n = end;

    while (n && t.at[n - 1] == '/')
        n--;
    return text_slice(t, 0, n ? n : end);
}

static Value o_dirname(Lang *l, void *ctx, const Args *args)
{
    return v_str(folder_of(path_arg(l, ctx, args, 0)));
}

static Value o_split(Lang *l, void *ctx, const Args *args)
{
    Text t = path_arg(l, ctx, args, 0);
    Value out[2];

    out[0] = v_str(folder_of(t));
    out[1] = v_str(text_slice(t, last_slash(t), t.len));
    return v_tuple(l, out, 2);
}

static Value o_splitext(Lang *l, void *ctx, const Args *args)
{
    Text t = path_arg(l, ctx, args, 0);
    size_t base = last_slash(t), dot = t.len;
    Value out[2];

    while (base < t.len && t.at[base] == '.')
        base++;
    while (dot > base && t.at[dot - 1] != '.')
        dot--;
    dot = dot > base ? dot - 1 : t.len;
    out[0] = v_str(text_slice(t, 0, dot));
    out[1] = v_str(text_slice(t, dot, t.len));
    return v_tuple(l, out, 2);
}

static Value o_isabs(Lang *l, void *ctx, const Args *args)
{
    return v_bool(text_starts(path_arg(l, ctx, args, 0), "/"));
}

// Whether the last part of a normal path is one that ".." takes away.
static bool can_go_up(const TextBuf *b, size_t root)
{
    Text whole = buf_view(b);
    Text part = text_slice(whole, last_slash(whole), whole.len);

    return whole.len > root && !text_is(part, "..");
}

static void go_up(TextBuf *b, size_t root)
{
    size_t n = last_slash(buf_view(b));

    b->len = n > root ? n - 1 : root;
}

// Without ".", "..", and slashes that say nothing. A path of two leading
// slashes keeps them, as POSIX has it.
static Value normal(Lang *l, Text t)
{
    bool two = text_starts(t, "//") && !text_starts(t, "///");
    size_t root = text_starts(t, "/") ? two ? 2 : 1 : 0;
    TextBuf b = {0};

    buf_puts(&b, root == 2 ? "//" : root ? "/" : "");
    for (size_t i = 0, n; i < t.len; i += n + 1) {
        Text part;

        for (n = 0; i + n < t.len && t.at[i + n] != '/'; n++)
            ;
        part = text_slice(t, i, i + n);
        if (!n || text_is(part, ".") ||
            (text_is(part, "..") && root && b.len == root))
            continue;
        if (text_is(part, "..") && can_go_up(&b, root)) {
            go_up(&b, root);
            continue;
        }
        if (b.len > root)
            buf_addc(&b, '/');
        buf_text(&b, part);
    }
    if (!b.len)
        buf_addc(&b, '.');
    return v_buf(l, &b);
}

static Value o_normpath(Lang *l, void *ctx, const Args *args)
{
    return normal(l, path_arg(l, ctx, args, 0));
}

static Text here(Lang *l)
{
    char *at = getcwd(NULL, 0);
    Value out = v_text(l, "%s", at ? at : ".");

    free(at);
    return out.s;
}

static Value o_getcwd(Lang *l, void *ctx, const Args *args)
{
    args_count(l, ctx, args, 0, 0);
    return v_str(here(l));
}

static Value absolute(Lang *l, Text t)
{
    if (text_starts(t, "/"))
        return normal(l, t);
    return normal(l, v_text(l, "%.*s/%.*s", TEXT_ARG(here(l)),
                            TEXT_ARG(t)).s);
}

static Value o_abspath(Lang *l, void *ctx, const Args *args)
{
    return absolute(l, path_arg(l, ctx, args, 0));
}

// Links are followed as far as there are files.
static Value o_realpath(Lang *l, void *ctx, const Args *args)
{
    Text t = absolute(l, path_arg(l, ctx, args, 0)).s, rest = TEXT("");
    Value out;

    for (;;) {
        char *real = realpath(text_cstr(l->options.arena, t), NULL);

        if (real) {
            out = v_text(l, "%s%s%.*s", real,
                         rest.len && strcmp(real, "/") ? "/" : "",
                         TEXT_ARG(rest));
            free(real);
            return out;
        }
        rest = v_text(l, "%.*s%s%.*s",
                      TEXT_ARG(text_slice(t, last_slash(t), t.len)),
                      rest.len ? "/" : "", TEXT_ARG(rest)).s;
        t = folder_of(t);
    }
}

// There is no home folder: the environment is empty.
static Value o_expanduser(Lang *l, void *ctx, const Args *args)
{
    return v_str(path_arg(l, ctx, args, 0));
}

// ---- files --------------------------------------------------------------------

static Value o_exists(Lang *l, void *ctx, const Args *args)
{
    return v_bool(access(path_cstr(l, ctx, args), F_OK) == 0);
}

static bool is_kind(const char *path, mode_t kind)
{
    struct stat st;

    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static Value o_isfile(Lang *l, void *ctx, const Args *args)
{
    return v_bool(is_kind(path_cstr(l, ctx, args), S_IFREG));
}

static Value o_isdir(Lang *l, void *ctx, const Args *args)
{
    return v_bool(is_kind(path_cstr(l, ctx, args), S_IFDIR));
}

// In the order of their names: the same on every machine.
static Value o_listdir(Lang *l, void *ctx, const Args *args)
{
    const char *path = args->count ? path_cstr(l, ctx, args) : ".";
    struct dirent **found;
    int n = scandir(path, &found, NULL, alphasort);
    List *out;

    if (n < 0)
        lang_raise(l, "FileNotFoundError", args->at_span,
                   "no folder '%s'", path);
    out = list_new(l, n, false);
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;

        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            list_append(l, out, v_text(l, "%s", name));
        free(found[i]);
    }
    free(found);
    return v_of_list(out);
}

// ---- the process --------------------------------------------------------------

static Value o_getenv(Lang *l, void *ctx, const Args *args)
{
    Held *held = ctx;
    Value out;

    args_count(l, "getenv", args, 1, 2);
    if (dict_get(l, held->value.dict, args->at[0], &out))
        return out;
    return args->count == 2 ? args->at[1] : V_NONE;
}

static Value o_cpu_count(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "cpu_count", args, 0, 0);
    return v_int(1);
}

void fill_os(Lang *l, Module *m)
{
    Module *path = lang_module(l, "os.path");
    Value environ = v_dict(l);

    static const struct {
        const char *name;
        Call *call;
    } of_path[] = {
        {"join", o_join}, {"basename", o_basename}, {"dirname", o_dirname},
        {"split", o_split}, {"splitext", o_splitext}, {"isabs", o_isabs},
        {"normpath", o_normpath}, {"abspath", o_abspath},
        {"realpath", o_realpath}, {"expanduser", o_expanduser},
        {"exists", o_exists}, {"isfile", o_isfile}, {"isdir", o_isdir},
    };

    for (size_t i = 0; i < countof(of_path); i++)
        add(l, path, of_path[i].name, of_path[i].call);
    module_set(l, path, "sep", v_cstr("/"));
    module_set(l, m, "path", v_module(path));
    module_set(l, m, "environ", environ);
    module_set(l, m, "getenv", v_keeper(l, "getenv", o_getenv, environ));
    module_set(l, m, "sep", v_cstr("/"));
    module_set(l, m, "linesep", v_cstr("\n"));
    module_set(l, m, "name", v_cstr("posix"));
    add(l, m, "fspath", o_fspath);
    add(l, m, "listdir", o_listdir);
    add(l, m, "getcwd", o_getcwd);
    add(l, m, "cpu_count", o_cpu_count);
}
