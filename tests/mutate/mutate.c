// mutate.c - plants small faults in a kernel's IR: does anything notice?
//
//     mutate list FILE [NAME=VALUE...]            sites: number, operator
//     mutate run NUMBERS FILE [NAME=VALUE...]     "3,17,40" or "all"
//     mutate staged FILE [NAME=VALUE...]          pipelines, in their order
//
// One line a mutant: number, operator, place, what noticed, and of a shifted
// index where it leaves a buffer and whether -Wtail tells. Each is planted in a
// process of its own, which runs the kernel under all checks and holds it
// against the program's reference. What noticed is one of
//
//     refused ID   does not compile
//     found ID     a finding of the checks; the first one's id
//     wrong        the verdict
//     same         no byte of an output changed
//     missed       some did
//     stopped      took more than LIMIT seconds
//     crashed      a fault of ours
//
// Accesses outside are counted by tests/oracle/naive.c, which shares nothing
// with the checks; there are more than as written in memory of a block
// ("block"), before ("below") or past ("above") a tensor; "?" where it does not
// know what the program uses.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../oracle/naive.h"
#include "check/check.h"
#include "cli/watch_int.h"
#include "host/launch.h"
#include "interp/observe.h"
#include "plan/plan.h"
#include "sites.h"
#include "support/parallel.h"

enum { LIMIT = 20, MOST_SITES = 4096 };

typedef struct {
    bool known;
    NaiveOutside count;
} Outside;

typedef struct {
    Host *h;
    Arena *arena;
    Diag *diag;
    LaunchCase first, c;        // the same: as written, and for mutants
    Value reference;
    VerdictOptions options;
    ReferenceCache cache;
    char *right;                // bytes of the outputs, one after the other
    size_t right_bytes;
    Outside outside;            // as written
    int64_t tails, tails_now;   // accesses past the end that -Wtail tells
} Bench;

// ---- a kernel and its tensors --------------------------------------------

static NamedText *defines_of(Arena *a, char **words, int count)
{
    NamedText *out = new_array(a, NamedText, count + 1);

    for (int i = 0; i < count; i++) {
        char *equals = strchr(words[i], '=');

        if (!equals)
            fatal(EXIT_USAGE, "'%s': expected NAME=VALUE", words[i]);
        out[i].name = (Text){words[i], (size_t)(equals - words[i])};
        out[i].value = text_of(equals + 1);
    }
    return out;
}

static bool open_case(Bench *b, const char *path, char **words, int count)
{
    CaseOptions options = {.defines = defines_of(b->arena, words, count),
                           .define_count = count};
    const char *why;
    Candidate c;
    KernelObject *k;
    uint32_t file = sources_read(b->h->options.sources, path, &why);

    if (!file)
        fatal(EXIT_ENVIRONMENT, "cannot read '%s': %s", path, why);
    if (!lang_run_file(b->h->lang, file, TEXT("mutant"), &b->h->module) ||
        !launch_choose(b->h, b->h->module, (Text){0}, &c))
        return false;
    k = launch_make(b->h, &c, &options);
    if (!k || !launch_case(b->h, k, &options, &b->first))
        return false;
    b->h->random_streams = 0;       // inputs() draws the same numbers again
    if (!launch_case(b->h, k, &options, &b->c))
        return false;
    launch_reference(b->h, b->h->module, TEXT("ref_program"), false,
                     &b->reference);
    b->options = (VerdictOptions){.rtol = 1e-2,
                                  .atol = 1e-2,
                                  .ratio = 0.01,
                                  .block = {-1, -1, -1},
                                  .cache = &b->cache};
    return true;
}

static size_t output_bytes(const LaunchCase *c, char *out)
{
    size_t at = 0;

    for (int i = 0; i < c->kernel->ir->param_count; i++) {
        const Tensor *t = &c->args[i].tensor;
        size_t bytes;

        if (!c->is_output[i])
            continue;
        bytes = (size_t)dtype_bytes(t->dtype, tensor_count(t));
        if (out)
            memcpy(out + at, tensor_data(t), bytes);
        at += bytes;
    }
    return at;
}

// ---- checks and verdict --------------------------------------------------

static Check *watch(Bench *b, const CheckTarget *trace, bool *empty)
{
    KernelObject *k = b->c.kernel;
    CheckOptions o = {.trace = trace,
                      .groups = CHECK_ALL,
                      .empty = empty,
                      .tails = true};
    Code *code = kernel_code(k, CODE_AS_WRITTEN);

    for (int i = 0; i < k->ir->param_count; i++)
        empty[i] = kernel_is_output(k, i);
    if (code)
        o.place = watch_places(b->arena, b->diag, k, code,
                               b->h->options.device);
    return code ? check_create(code, &o) : NULL;
}

// The first finding that is shown; where values were lost, a second run says
// where they began.
static const char *finding_of(Bench *b, const LaunchCase *c, Check *k,
                              const InterpResult *r, bool *empty)
{
    CheckFindings found = {0};
    CheckTarget target;

    check_findings(k, b->arena, r, &found);
    b->tails_now = 0;
    for (int i = 0; i < found.len; i++)
        if (found.at[i].id == FINDING_TAIL)
            b->tails_now += found.at[i].count;
    if (check_target(k, r, &target)) {
        Check *again = watch(b, &target, empty);
        InterpOptions run = {.max_findings = 1,
                             .observer = check_observer(again)};
        InterpResult second = kernel_run(c->kernel, CODE_AS_WRITTEN, c->args,
                                         NULL, &run);

        check_findings(again, b->arena, &second, &found);
    }
    for (int i = 0; i < found.len; i++)
        if (finding_info(found.at[i].id)->level != CHECK_OFF)
            return finding_info(found.at[i].id)->slug;
    return NULL;
}

// "found ID", "wrong" or NULL; leaves the outputs as the kernel did.
static const char *judged(Bench *b, LaunchCase *c, char *words, size_t room)
{
    bool *empty = new_array(b->arena, bool, c->kernel->ir->param_count + 1);
    Check *k = watch(b, NULL, empty);
    VerdictOptions options = b->options;
    const char *id;
    Verdict v;

    if (!k)
        return "refused lower";
    options.observer = check_observer(k);
    v = verdict_run(b->h, c, b->reference, &options);
    if (!v.run.launches)
        return "refused launch";
    id = finding_of(b, c, k, &v.run, empty);
    if (id) {
        snprintf(words, room, "found %s", id);
        return words;
    }
    return v.wrong || v.failed ? "wrong" : NULL;
}

// ---- who leaves a buffer -------------------------------------------------

static bool is_plain(const KernelArg *a)
{
    return !a->is_scalar && tensor_is_contiguous(&a->tensor) &&
           dtype_info(a->tensor.dtype)->bits >= 8;
}

static NaiveArg naive_arg(Bench *b, const IrParam *p, const KernelArg *a)
{
    NaiveArg n = {.dtype = a->tensor.dtype, .rank = a->tensor.rank};
    size_t bytes;

    if (p->is_scalar) {
        n.dtype = p->var->dtype;
        n.data = arena_alloc(b->arena, 16, 1);
        if (dtype_is_float(n.dtype))
            num_put_f64(n.dtype, n.data, a->f64);
        else
            num_put_i64(n.dtype, n.data, a->i64);
        return n;
    }
    if (!is_plain(a))
        exit(3);
    memcpy(n.shape, a->tensor.shape, sizeof n.shape);
    bytes = (size_t)dtype_bytes(n.dtype, tensor_count(&a->tensor));
    n.data = arena_alloc(b->arena, bytes + 16, 1);
    memcpy(n.data, tensor_data(&a->tensor), bytes);
    return n;
}

// In a process of its own: the naive reading stops at what it does not know.
static Outside outside_of(Bench *b)
{
    Outside *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const IrKernel *ir = b->c.kernel->ir;
    Outside out;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        NaiveArg *args = new_array(b->arena, NaiveArg, ir->param_count + 1);

        fclose(stderr);
        alarm(LIMIT);
        for (int i = 0; i < ir->param_count; i++)
            args[i] = naive_arg(b, &ir->params[i], &b->c.args[i]);
        naive_outside(ir, args, &shared->count);
        shared->known = true;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    out = *shared;
    munmap(shared, sizeof *shared);
    return out;
}

static void print_outside(Bench *b)
{
    Outside now, was = b->outside;

    now = was.known ? outside_of(b) : was;
    printf("\t%s", !now.known ? "?"
                   : now.count.block > was.count.block ? "block"
                   : now.count.below > was.count.below ? "below"
                   : now.count.above > was.count.above ? "above"
                                                       : "-");
    printf("\t%s", b->tails_now > b->tails ? "tail" : "-");
}

// ---- mutants -------------------------------------------------------------

// Outputs come without contents, whatever earlier runs left in them.
static void run_mutant(Bench *b, int number, Fault f)
{
    IrKernel *ir = b->c.kernel->ir;
    char words[80];
    const char *said;

    alarm(LIMIT);
    sites_plant(ir, number);
    if (diag_errors(b->diag) || !ir_verify(ir) ||
        !kernel_code(b->c.kernel, CODE_AS_WRITTEN)) {
        printf("refused compile\t-\t-\n");
        return;
    }
    said = judged(b, &b->c, words, sizeof words);
    if (!said) {
        char *got = xcalloc(b->right_bytes + 1, 1);

        output_bytes(&b->c, got);
        said = memcmp(got, b->right, b->right_bytes) == 0 ? "same" : "missed";
    }
    printf("%s", said);
    if (f == FAULT_SHIFT_UP || f == FAULT_SHIFT_DOWN)
        print_outside(b);
    else
        printf("\t-\t-");
    printf("\n");
}

static bool one(Bench *b, int number, const FaultSite *site)
{
    Place at = sources_place(b->h->options.sources, site->at.file,
                             site->at.begin);
    int status;
    pid_t child;

    printf("%d\t%s\t%d:%d\t", number, fault_name(site->fault), at.line,
           at.column);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        fclose(stderr);
        run_mutant(b, number, site->fault);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s\t-\t-\n", WTERMSIG(status) == SIGALRM ? "stopped" : "crashed");
    else if (WEXITSTATUS(status))
        printf("refused exit\t-\t-\n");
    return !WIFSIGNALED(status) || WTERMSIG(status) == SIGALRM;
}

// As written: must be silent and right.
static bool first_run(Bench *b)
{
    char words[80];
    const char *said;

    b->outside = outside_of(b);
    said = judged(b, &b->first, words, sizeof words);
    b->tails = b->tails_now;
    if (said) {
        fprintf(stderr, "as written: %s\n", said);
        return false;
    }
    b->right_bytes = output_bytes(&b->first, NULL);
    b->right = xcalloc(b->right_bytes + 1, 1);
    output_bytes(&b->first, b->right);
    return true;
}

static bool is_wanted(const char *numbers, int n)
{
    char word[16];
    const char *at = numbers;
    size_t len = (size_t)snprintf(word, sizeof word, "%d", n);

    if (strcmp(numbers, "all") == 0)
        return true;
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, len) == 0 && (at[len] == ',' || !at[len]))
            return true;
    return false;
}

// The kernel with its pipelined loops in the order of their stages: "3 loops,
// the same", or not.
static int run_staged(Bench *b)
{
    KernelObject *k = b->c.kernel;
    PlanStaged staged = plan_staged(b->arena, k->ir, b->h->options.device);
    InterpOptions run = {.max_findings = 1};
    InterpResult r;
    char *got;
    bool same;

    if (!first_run(b))
        return 1;
    printf("%d loops%s", staged.loops, staged.reordered ? " reordered" : "");
    if (!staged.kernel) {
        printf("\n");
        return staged.loops > 0;
    }
    k->ir = staged.kernel;
    memset(k->code, 0, sizeof k->code);
    r = kernel_run(k, CODE_AS_WRITTEN, b->c.args, NULL, &run);
    got = xcalloc(b->right_bytes + 1, 1);
    output_bytes(&b->c, got);
    same = r.ok && !memcmp(got, b->right, b->right_bytes);
    printf(", %s\n", same ? "the same" : "not the same");
    return !same;
}

static int run_all(Bench *b, const char *numbers)
{
    IrKernel *ir = b->c.kernel->ir;
    FaultSite *sites = new_array(b->arena, FaultSite, MOST_SITES);
    int n = sites_list(ir, sites, MOST_SITES);
    bool ok = true;

    for (int i = 0; !numbers && i < n && i < MOST_SITES; i++)
        printf("%d\t%s\n", i, fault_name(sites[i].fault));
    if (!numbers)
        return 0;
    if (n > MOST_SITES || !first_run(b))
        return 1;
    memset(b->c.kernel->code, 0, sizeof b->c.kernel->code);
    for (int i = 0; i < n; i++)
        if (is_wanted(numbers, i))
            ok &= one(b, i, &sites[i]);
    return !ok;
}

int main(int argc, char **argv)
{
    bool lists = argc > 2 && strcmp(argv[1], "list") == 0;
    bool stages = argc > 2 && strcmp(argv[1], "staged") == 0;
    bool runs = argc > 3 && strcmp(argv[1], "run") == 0;
    int at = runs ? 3 : 2;
    Bench b = {.arena = arena_create()};
    SourceSet *sources = sources_create();
    HostOptions options;

    if (!lists && !runs && !stages)
        fatal(EXIT_USAGE, "usage: mutate list|staged|run NUMBERS FILE "
              "NAME=VALUE...");
    parallel_set_threads(1);
    b.diag = diag_create(sources, stderr, false);
    options = (HostOptions){.arena = b.arena,
                            .diag = b.diag,
                            .sources = sources,
                            .out = stderr,
                            .ops = op_table_create(b.arena),
                            .device = device_find(TEXT("h100"))};
    b.h = host_create(&options);
    if (!open_case(&b, argv[at], argv + at + 1, argc - at - 1))
        return EXIT_PROGRAM;
    if (stages)
        return run_staged(&b);
    return run_all(&b, lists ? NULL : argv[2]);
}
