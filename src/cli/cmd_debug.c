// cmd_debug.c - `tilesim debug`: one block of a kernel, statement by statement.
//
// The interpreter calls on_step before each statement of the block; commands
// are read there, so that all the block holds is at hand. Names of the program
// are names of expressions: a tile is a tensor of its elements.
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/debug.h"
#include "cli/run.h"
#include "support/parallel.h"

void debug_fail(Debug *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    d->failed = !d->talks;
}

// ---- going on ---------------------------------------------------------------

static void go(Debug *d, Going how, Text count)
{
    int64_t n = 1;

    if (count.len && (!text_to_i64(count, &n) || n < 1)) {
        debug_fail(d, "how often? '%.*s' is no count", TEXT_ARG(count));
        return;
    }
    d->going = how;
    d->skip = n - 1;
    d->depth = d->step->depth;
    interp_stop_threads(d->at, &d->warp);
    d->goes = true;
}

static void do_step(Debug *d, Text e)
{
    go(d, TO_STEP, e);
}

static void do_next(Debug *d, Text e)
{
    go(d, TO_NEXT, e);
}

static void do_continue(Debug *d, Text e)
{
    go(d, TO_STOP, e);
}

static void do_nan(Debug *d, Text e)
{
    debug_count_nan(d);
    go(d, TO_NAN, e);
}

static void do_quit(Debug *d, Text e)
{
    (void)e;
    d->goes = d->quit = true;
}

static void do_run(Debug *d, Text e)
{
    (void)e;
    d->goes = d->again = true;
}

// X,Y,Z [LAUNCH]
static void do_block(Debug *d, Text e)
{
    size_t i = 0;
    int64_t block[3], launch = d->launch;
    int launches = code_facts(kernel_code(d->kernel, CODE_STEPPED)).launches;

    while (i < e.len && !isspace((unsigned char)e.at[i]))
        i++;
    Text rest = text_trim(text_slice(e, i, e.len));
    if (!cli_coordinates(text_slice(e, 0, i), block)
        || (rest.len && !text_to_i64(rest, &launch))) {
        debug_fail(d, "block takes X,Y,Z and, where the kernel has several "
                   "launches, the number of one");
        return;
    }
    if (launch < 0 || launch >= launches) {
        debug_fail(d, "there is no launch %" PRId64 ": they are 0 to %d",
                   launch, launches - 1);
        return;
    }
    memcpy(d->block, block, sizeof block);
    d->launch = (int)launch;
    do_run(d, e);
}

// ---- the commands -----------------------------------------------------------

static void do_help(Debug *d, Text e);

static const struct {
    const char *name, *brief, *takes, *doc;
    void (*call)(Debug *d, Text e);
} commands[] = {
    {"step", "s", "[N]", "to the next statement; T.Parallel is one", do_step},
    {"next", "n", "[N]", "the same, and loops are one statement", do_next},
    {"continue", "c", "", "to the next stop, or the block's end", do_continue},
    {"nan", "", "", "to the first statement that computes a NaN", do_nan},
    {"break", "b", "LINE [if COND]", "stop at a line, when COND holds",
     debug_break},
    {"watch", "w", "EXPR", "stop when its value changes: acc_s[3,5]",
     debug_watch},
    {"stops", "", "", "the stops, and what is watched", debug_stops},
    {"delete", "d", "[N]", "forget a stop, or all", debug_delete},
    {"print", "p", "EXPR", "a tile, a slice of it, any expression",
     debug_print},
    {"heat", "", "TILE", "magnitudes as shades", debug_heat},
    {"owner", "o", "TILE[I,J]", "the thread that holds an element, or its bank",
     debug_owner},
    {"names", "", "", "what has a value here", debug_names},
    {"where", "", "", "the block, its scalars, the line", debug_where},
    {"list", "l", "", "the lines around", debug_list},
    {"block", "", "X,Y,Z [L]", "from the start of another block, of launch L",
     do_block},
    {"run", "r", "", "from the start of this block", do_run},
    {"quit", "q", "", "the end", do_quit},
    {"help", "h", "", "this text", do_help},
};

static void do_help(Debug *d, Text e)
{
    (void)d, (void)e;
    for (size_t i = 0; i < countof(commands); i++)
        printf("  %-9s %-2s %-15s %s\n", commands[i].name, commands[i].brief,
               commands[i].takes, commands[i].doc);
    printf("An empty line repeats the last command. Expressions are Python's: "
           "acc_s[0,:].max(),\nk == 3 and m_i[0] > 1; a tile is a tensor.\n");
}

static void obey(Debug *d, Text command)
{
    size_t i = 0;

    while (i < command.len && !isspace((unsigned char)command.at[i]))
        i++;
    Text name = text_slice(command, 0, i);
    for (size_t k = 0; k < countof(commands); k++)
        if (text_is(name, commands[k].name)
            || (*commands[k].brief && text_is(name, commands[k].brief))) {
            commands[k].call(d, text_trim(text_slice(command, i,
                                                     command.len)));
            return;
        }
    debug_fail(d, "there is no command '%.*s': help lists them",
               TEXT_ARG(name));
}

// The next command, without comments of a file; false: there is none.
static bool read_command(Debug *d, Text *out)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    printf(d->talks ? "(tilesim) " : "");
    fflush(stdout);
    n = getline(&line, &room, d->in);
    d->line++;
    if (n >= 0)
        *out = text_trim(text_copy(d->s.cli->arena,
                                   (Text){line, (size_t)n}));
    free(line);
    return n >= 0;
}

static void read_commands(Debug *d)
{
    Text command;

    d->goes = false;
    while (!d->goes && !d->failed && !parallel_cancelled()) {
        if (!read_command(d, &command)) {
            d->quit = true;
            return;
        }
        if (!d->talks && (!command.len || *command.at == '#'))
            continue;
        if (!d->talks)
            printf("(tilesim) %.*s\n", TEXT_ARG(command));
        if (command.len)
            d->last = command;
        if (d->last.len)
            obey(d, d->last);
    }
}

// ---- the run ----------------------------------------------------------------

static bool is_over(const Debug *d)
{
    return d->quit || d->again || d->failed;
}

static bool on_step(void *ctx, const InterpStop *at)
{
    Debug *d = ctx;
    TextBuf words = {0};
    const char *why;

    d->at = at;
    d->step = &d->steps[interp_stop_step(at)];
    if (!d->reached)
        interp_stop_threads(at, &d->warp);
    d->reached = true;
    why = debug_reason(d, &words);
    buf_release(&words);
    if (why && (*why || d->step->stmt < 0 || d->skip-- <= 0)) {
        debug_place(d, why);
        read_commands(d);
    }
    d->before = debug_line(d);
    return !is_over(d);
}

static void report_findings(Debug *d, const InterpResult *r)
{
    for (int i = 0; i < r->finding_count; i++)
        diag_error(d->s.cli->diag, EXIT_FINDINGS, r->findings[i].at,
                   r->findings[i].id, "%s", r->findings[i].message);
}

static void say_unreached(Debug *d, const InterpResult *r)
{
    if (d->reached || r->cancelled || diag_errors(d->s.cli->diag) ||
        d->launch >= r->launches)
        return;
    const int64_t *g = r->grid[d->launch];
    diag_error(d->s.cli->diag, EXIT_USAGE, (Span){0}, "no-such-block",
               "there is no block %" PRId64 ",%" PRId64 ",%" PRId64
               " in a grid of %" PRId64 " x %" PRId64 " x %" PRId64,
               d->block[0], d->block[1], d->block[2], g[0], g[1], g[2]);
}

static void run_once(Debug *d, CaseOptions *options)
{
    LaunchCase c;
    InterpOptions run = {.step = on_step, .step_ctx = d,
                         .step_launch = d->launch};

    d->again = d->reached = false;
    d->going = TO_STEP;
    d->skip = 0;
    memcpy(run.step_block, d->block, sizeof run.step_block);
    if (launch_case(d->s.host, d->kernel, options, &c)) {
        InterpResult r = kernel_run(d->kernel, CODE_STEPPED, c.args, NULL,
                                    &run);

        buf_write(&r.printed, stdout);
        report_findings(d, &r);
        say_unreached(d, &r);
        interp_result_release(&r);
    }
    launch_case_release(&c);
}

static void debug_kernel(Debug *d, CaseOptions *options)
{
    Code *code = kernel_code(d->kernel, CODE_STEPPED);
    int count;

    if (!code)
        return;
    d->steps = code_steps(code, &count);
    d->nan = new_array(d->s.cli->arena, int64_t,
                       (size_t)d->kernel->ir->buffer_count + 1);
    do
        run_once(d, options);
    while (d->again && !d->failed);
    debug_forget_stops(d);
    if (d->failed)
        diag_error(d->s.cli->diag, EXIT_USAGE, (Span){0}, "debug-command",
                   "line %d of the commands cannot be done", d->line);
}

static bool open_commands(Debug *d, Cli *c)
{
    const char *path = text_cstr(c->arena, cli_text(c, OPT_COMMANDS, ""));
    struct stat st;

    d->in = *path ? fopen(path, "r") : stdin;
    if (*path && d->in && !fstat(fileno(d->in), &st) && S_ISDIR(st.st_mode)) {
        fclose(d->in);
        d->in = NULL;
        errno = EISDIR;
    }
    if (!d->in)
        diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
                   "cannot read '%s': %s", path, strerror(errno));
    d->talks = d->in == stdin && isatty(STDIN_FILENO);
    return d->in != NULL;
}

// The kernel that is named, or the first that the script makes.
static KernelObject *find_kernel(Session *s, const CaseOptions *options)
{
    if (session_is_launch(s))
        return session_load(s) ? session_kernel(s, options) : NULL;
    diag_hide_warnings(s->cli->diag, true);
    if (!session_script(s))
        return NULL;
    diag_hide_warnings(s->cli->diag, false);
    if (!s->host->kernels.len)
        diag_error(s->cli->diag, EXIT_USAGE, (Span){0}, "no-kernel",
                   "the script makes no kernel: name one with --kernel");
    return s->host->kernels.len ? s->host->kernels.at[0] : NULL;
}

int cmd_debug(Cli *c)
{
    Debug d = {.s.cli = c};
    FILE *nowhere = fopen("/dev/null", "w");    // what a script prints of a run
    HostOptions host = {.out = nowhere ? nowhere : stdout, .record_only = true};
    CaseOptions options = {0};
    ExitCode code;

    if (cli_given(c, OPT_NUMERICS))
        host.numerics = run_numerics(c);
    if (cli_given(c, OPT_BLOCK))
        cli_block(c, d.block);
    if (!cli_given(c, OPT_THREADS))
        parallel_set_threads(1);        // blocks in order, up to the chosen one
    options.in = session_pairs(c, OPT_IN, &options.in_count);
    options.defines = session_pairs(c, OPT_DEFINE, &options.define_count);
    if (session_open(&d.s, c, &host) && open_commands(&d, c)) {
        d.kernel = find_kernel(&d.s, &options);
        if (d.kernel)
            debug_kernel(&d, &options);
        if (d.in != stdin)
            fclose(d.in);
    }
    code = session_exit(&d.s);
    session_close(&d.s);
    if (nowhere)
        fclose(nowhere);
    return code;
}
