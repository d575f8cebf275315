// session.c - opens a program file: reads it, runs its Python level, finds
// the kernels a command is about.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"
#include "support/parallel.h"

NamedText *session_pairs(const Cli *c, OptionId o, int *count)
{
    const TextList *v = &c->values[o];
    NamedText *out = new_array(c->arena, NamedText, v->len + 1);
    for (int i = 0; i < v->len; i++) {
        bool by_name = o != OPT_DEFINE && text_ends(v->at[i], ".safetensors")
                       && !memchr(v->at[i].at, '=', v->at[i].len);
        if (by_name)
            out[i] = (NamedText){{0}, v->at[i]};
        else
            cli_pair(c, o, v->at[i], &out[i].name, &out[i].value);
    }
    *count = v->len;
    return out;
}

static int64_t machine_memory(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? pages / 10 * 9 * size : 0;
}

const char *session_target(const Cli *c)
{
    return text_is(cli_text(c, OPT_NUMERICS, ""), "mi300x") ? "mi300x" : "h100";
}

PlanRules session_rules(const Cli *c, PlanRules fallback)
{
    Text t = cli_text(c, OPT_AS, plan_rules_name(fallback));
    if (text_is(t, "tilelang"))
        return PLAN_TILELANG;
    if (!text_is(t, "tilesim"))
        cli_usage(c, "--as '%.*s': expected tilesim or tilelang", TEXT_ARG(t));
    return PLAN_TILESIM;
}

bool session_open(Session *s, Cli *c, HostOptions *options)
{
    return session_open_file(s, c, options, cli_file(c, "FILE"));
}

bool session_open_file(Session *s, Cli *c, HostOptions *options,
                       const char *path)
{
    const Device *devices[16];
    const char *why;
    *s = (Session){.cli = c, .path = path};
    cli_devices(c, session_target(c), devices, countof(devices));
    s->defines = session_pairs(c, OPT_DEFINE, &s->define_count);
    s->file = sources_read(c->sources, s->path, &why);
    if (!s->file) {
        diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
                   "cannot read '%s': %s", s->path, why);
        return false;
    }
    s->is_ir = text_starts(sources_get(c->sources, s->file)->text,
                           "tilesim-ir ");
    options->arena = c->arena;
    options->diag = c->diag;
    options->sources = c->sources;
    options->ops = c->ops;
    options->device = devices[0];
    options->seed = cli_int(c, OPT_SEED, 0, 0, INT64_MAX);
    options->tune_config = cli_int(c, OPT_TUNE_CONFIG, 0, 1, INT32_MAX);
    options->memory_limit = machine_memory();
    options->script_args = c->script_args.at;
    options->script_arg_count = c->script_args.len;
    const TextList *libraries = &c->values[OPT_EXTERN];
    if (libraries->len) {
        s->natives = natives_open(c->diag, c->arena, libraries->at,
                                  libraries->len);
        if (!s->natives)
            return false;
        options->natives = s->natives;
    }
    s->host = host_create(options);
    return true;
}

void session_close(Session *s)
{
    if (s->host)
        host_destroy(s->host);
    natives_close(s->natives);
}

bool session_asks(const Session *s)
{
    static const OptionId asks[] = {
        OPT_KERNEL, OPT_DEFINE, OPT_SWEEP, OPT_IN, OPT_EXPECT, OPT_BLOCK,
        OPT_PRINT, OPT_REF, OPT_NO_REF,
    };
    for (size_t i = 0; i < countof(asks); i++)
        if (cli_given(s->cli, asks[i]))
            return true;
    // With --emit, -o is the source's name, and not a tensor's.
    return cli_given(s->cli, OPT_OUT) && !cli_given(s->cli, OPT_EMIT);
}

bool session_is_launch(const Session *s)
{
    return s->is_ir || session_asks(s)
           || !lang_has_main(s->host->lang, s->file);
}

static Text stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    Text name = text_of(slash ? slash + 1 : path);
    const char *dot = memchr(name.at, '.', name.len);
    return dot ? text_slice(name, 0, dot - name.at) : name;
}

bool session_load(Session *s)
{
    if (s->is_ir)
        return true;
    return lang_run_file(s->host->lang, s->file, stem(s->path),
                         &s->host->module);
}

bool session_script(Session *s)
{
    return lang_run_file(s->host->lang, s->file, TEXT("__main__"),
                         &s->host->module);
}

static KernelObject *read_ir(Session *s)
{
    IrKernel *ir = ir_read(s->cli->arena, s->cli->ops, s->cli->diag,
                           s->cli->sources, s->file);
    return ir ? kernel_from_ir(s->host, ir, V_NONE, (Span){0}) : NULL;
}

KernelObject *session_kernel(Session *s, const CaseOptions *options)
{
    Candidate c;
    if (s->is_ir)
        return read_ir(s);
    if (!launch_choose(s->host, s->host->module,
                       cli_text(s->cli, OPT_KERNEL, ""), &c))
        return NULL;
    return launch_make(s->host, &c, options);
}

ExitCode session_exit(const Session *s)
{
    ExitCode code = diag_exit(s->cli->diag);
    int why = parallel_cancelled();
    if (why == SIGINT)
        code = exit_worst(code, EXIT_INTERRUPTED);
    else if (why)
        code = exit_worst(code, EXIT_LIMIT);
    return code;
}
