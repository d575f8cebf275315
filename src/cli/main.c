// main.c - the command line: one word says what to do, the rest is options.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_int.h"
#include "config.h"
#include "num/lanes.h"
#include "num/xgemm.h"
#include "support/parallel.h"

static void on_signal(int number)
{
    if (parallel_cancelled())
        _exit(128 + SIGINT);    // a second Ctrl-C does not wait
    parallel_cancel(number == SIGALRM ? -1 : number);
}

static void catch_signals(const Cli *c)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGALRM, &act, NULL);
    int64_t limit = cli_int(c, OPT_TIMEOUT, 0, 1, 1000000);
    if (limit)
        alarm(limit);
}

static int version(void)
{
    printf("%s\n", PACKAGE_STRING);
    printf("small matrix products  %s\n", xgemm_library());
    printf("instruction set        %s\n", isa_name(lanes_best()->isa));
    printf("threads                %d\n", parallel_threads());
    return EXIT_CLEAN;
}

static bool want_color(const Cli *c)
{
    Text when = cli_text(c, OPT_COLOR, "auto");
    if (text_is(when, "always"))
        return true;
    if (text_is(when, "never"))
        return false;
    if (!text_is(when, "auto"))
        cli_usage(c, "--color '%.*s': expected auto, always or never",
                  TEXT_ARG(when));
    const char *no = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !(no && *no);
}

static void settle(Cli *c)
{
    c->color = want_color(c);
    c->quiet = cli_flag(c, OPT_QUIET);
    c->verbose = cli_flag(c, OPT_VERBOSE);
    c->json = cli_flag(c, OPT_JSON);
    c->diag = diag_create(c->sources, stderr, c->color);
    diag_limit(c->diag, cli_int(c, OPT_MAX_ERRORS, 20, 1, 1000000));
    if (c->quiet)
        diag_hide_warnings(c->diag, true);
    parallel_set_threads(cli_int(c, OPT_THREADS, 0, 1, 4096));
}

static int run_command(Cli *c)
{
    static int (*const run[])(Cli *) = {
#define COMMAND(id, function, ...) [COMMAND_##id] = cmd_##function,
#include "cli/commands.def"
    };
    return run[c->command](c);
}

static void flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        fatal(EXIT_ENVIRONMENT, "cannot write to standard output");
}

static int run(char **words, int count)
{
    Cli c = {.arena = arena_create(), .command = COMMAND_COUNT,
             .started = time_now()};
    if (!cli_command_find(words[0], &c.command))
        cli_unknown_command(words[0]);
    c.sources = sources_create();
    c.ops = op_table_create(c.arena);
    cli_parse(&c, words + 1, count - 1);
    int code = EXIT_CLEAN;
    if (cli_flag(&c, OPT_HELP)) {
        cli_command_help(c.command);
    } else {
        settle(&c);
        catch_signals(&c);
        code = run_command(&c);
        diag_summary(c.diag);
        if (c.leave) {
            flush();
            _exit(code);
        }
        diag_destroy(c.diag);
    }
    sources_destroy(c.sources);
    arena_destroy(c.arena);
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        cli_help();
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version"))
        return version();
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")
        || !strcmp(argv[1], "help")) {
        cli_help();
        return EXIT_CLEAN;
    }
    int code = run(argv + 1, argc - 1);
    flush();
    return code;
}
