// cmd_banks.c - what single shared-memory instructions cost, from a table.
#include "cli/cli.h"
#include "cli/json_keys.h"
#include "sim_lds/bank_file.h"
#include "support/json.h"

#include <unistd.h>

typedef struct {
    Cli *cli;
    const char *file;
    const Device *device;
    BankRows rows;
    int compared, misses;
} Table;

static const char *cycles_word(const Device *d)
{
    return d->vendor == VENDOR_AMD ? "idx_active" : "wavefronts";
}

static const char *conflicts_word(const Device *d)
{
    return d->vendor == VENDOR_AMD ? "bank_conflict" : "conflicts";
}

static bool is_compared(const BankRow *r)
{
    return r->has_cycles || r->has_conflicts;
}

static bool is_miss(const BankRow *r, const BankCount *c)
{
    return (r->has_cycles && r->cycles != c->cycles) ||
           (r->has_conflicts && r->conflicts != c->conflicts);
}

static void compare(Table *t)
{
    for (int i = 0; i < t->rows.len; i++) {
        BankCount c = bank_count(t->device, &t->rows.at[i].access);
        t->compared += is_compared(&t->rows.at[i]);
        t->misses += is_miss(&t->rows.at[i], &c);
    }
}

// ---- for people ------------------------------------------------------------

static int op_width(const Table *t)
{
    int width = 11;
    for (int i = 0; i < t->rows.len; i++)
        if ((int)t->rows.at[i].op.len > width)
            width = (int)t->rows.at[i].op.len;
    return width;
}

static void put_heading(TextBuf *b, const Table *t, int width)
{
    buf_printf(b, "\n  %5s %5s  %-*s  %-*s  %6s  %*s  %*s  basis\n", "row",
               "line", width, "instruction",
               (int)t->device->warp_lanes / 4, "mask", "passes", 10,
               cycles_word(t->device), 13, conflicts_word(t->device));
}

static void put_basis(TextBuf *b, const Device *d, const BankCount *c)
{
    if (c->cycles_basis == c->conflicts_basis)
        buf_puts(b, basis_name(c->cycles_basis));
    else
        buf_printf(b, "%s %s, %s %s", conflicts_word(d),
                   basis_name(c->conflicts_basis), cycles_word(d),
                   basis_name(c->cycles_basis));
}

static void put_expected(TextBuf *b, const Table *t, const BankRow *r)
{
    const char *comma = "";
    buf_puts(b, "  file says ");
    if (r->has_cycles) {
        buf_printf(b, "%lld %s", (long long)r->cycles, cycles_word(t->device));
        comma = ", ";
    }
    if (r->has_conflicts)
        buf_printf(b, "%s%lld %s", comma, (long long)r->conflicts,
                   conflicts_word(t->device));
}

static void put_row(TextBuf *b, const Table *t, int i, int width)
{
    const BankRow *r = &t->rows.at[i];
    BankCount c = bank_count(t->device, &r->access);
    buf_printf(b, "  %5d %5d  %-*.*s  %0*llx  %6d  %10d  %13d  ", i + 1,
               r->line, width, TEXT_ARG(r->op),
               (int)t->device->warp_lanes / 4,
               (unsigned long long)r->access.active, c.passes, c.cycles,
               c.conflicts);
    put_basis(b, t->device, &c);
    if (is_miss(r, &c))
        put_expected(b, t, r);
    buf_addc(b, '\n');
}

static void put_total(TextBuf *b, const Table *t)
{
    buf_addc(b, '\n');
    buf_grouped(b, t->rows.len);
    buf_puts(b, t->rows.len == 1 ? " row" : " rows");
    if (t->compared) {
        buf_puts(b, ": ");
        buf_grouped(b, t->compared - t->misses);
        buf_puts(b, " agree with the file, ");
        buf_grouped(b, t->misses);
        buf_puts(b, t->misses == 1 ? " differs" : " differ");
    }
    buf_addc(b, '\n');
}

// All rows, or only those that differ when the file has results.
static void report_text(TextBuf *b, const Table *t)
{
    int width = op_width(t);
    bool all = t->compared == 0 || t->cli->verbose;
    buf_printf(b, "%s on %s (%s, %s)\n", t->file, t->device->name,
               t->device->title, device_arch_name(t->device));
    if (all ? t->rows.len : t->misses)
        put_heading(b, t, width);
    for (int i = 0; i < t->rows.len; i++) {
        BankCount c = bank_count(t->device, &t->rows.at[i].access);
        if (all || is_miss(&t->rows.at[i], &c))
            put_row(b, t, i, width);
    }
    put_total(b, t);
}

static void explain(TextBuf *b, const Table *t)
{
    int row = (int)cli_int(t->cli, OPT_EXPLAIN, 1, 1, 1 << 30);
    if (row > t->rows.len)
        cli_usage(t->cli, "--explain %d: the file has %d row%s", row,
                  t->rows.len, t->rows.len == 1 ? "" : "s");
    bank_draw(b, t->device, &t->rows.at[row - 1],
              t->cli->color && isatty(STDOUT_FILENO));
}

// ---- for machines ----------------------------------------------------------

static void json_passes(Json *j, const Table *t, const BankRow *r)
{
    BankPass passes[BANK_PASSES];
    int n = bank_passes(t->device, &r->access, passes);
    json_key(j, TEXT("passes"));
    json_begin_array(j);
    for (int i = 0; i < n; i++) {
        char lanes[32];
        snprintf(lanes, sizeof lanes, "%0*llx", (int)t->device->warp_lanes / 4,
                 (unsigned long long)passes[i].lanes);
        json_begin_object(j);
        key_string(j, "lanes", lanes);
        key_int(j, "part", passes[i].part);
        key_int(j, "banks", passes[i].banks);
        key_int(j, "ways", passes[i].ways);
        json_end_object(j);
    }
    json_end_array(j);
}

static const char *basis_key(const Table *t, const char *word)
{
    Arena *a = t->cli->arena;
    return text_cstr(a, text_format(a, "%s_basis", word));
}

static void json_row(Json *j, const Table *t, int i)
{
    const BankRow *r = &t->rows.at[i];
    BankCount c = bank_count(t->device, &r->access);
    const char *cycles = cycles_word(t->device);
    const char *conflicts = conflicts_word(t->device);
    json_begin_object(j);
    key_int(j, "row", i + 1);
    key_int(j, "line", r->line);
    json_key(j, TEXT("op"));
    json_text(j, r->op);
    key_int(j, cycles, c.cycles);
    key_string(j, basis_key(t, cycles), basis_name(c.cycles_basis));
    key_int(j, conflicts, c.conflicts);
    key_string(j, basis_key(t, conflicts), basis_name(c.conflicts_basis));
    if (r->has_cycles)
        key_int(j, "file_cycles", r->cycles);
    if (r->has_conflicts)
        key_int(j, "file_conflicts", r->conflicts);
    if (is_compared(r)) {
        json_key(j, TEXT("agrees"));
        json_bool(j, !is_miss(r, &c));
    }
    json_passes(j, t, r);
    json_end_object(j);
}

static void report_json(Json *j, const Table *t)
{
    json_begin_object(j);
    key_string(j, "name", t->device->name);
    key_string(j, "arch", device_arch_name(t->device));
    key_int(j, "compared", t->compared);
    key_int(j, "misses", t->misses);
    json_key(j, TEXT("rows"));
    json_begin_array(j);
    for (int i = 0; i < t->rows.len; i++)
        json_row(j, t, i);
    json_end_array(j);
    json_end_object(j);
}

static void begin_document(Json *j, const char *file)
{
    json_begin_object(j);
    key_string(j, "schema", "tilesim/1");
    key_string(j, "command", "banks");
    key_string(j, "file", file);
    json_key(j, TEXT("targets"));
    json_begin_array(j);
}

static void end_document(Json *j, int code)
{
    json_end_array(j);
    key_int(j, "exit", code);
    json_end_object(j);
}

// ---- the command -----------------------------------------------------------

static uint32_t open_file(Cli *c, const char *path)
{
    const char *why;
    uint32_t file = sources_read(c->sources, path, &why);
    if (!file)
        fatal(EXIT_ENVIRONMENT, "cannot read '%s': %s", path, why);
    return file;
}

static void report(TextBuf *b, Json *j, const Table *t)
{
    if (t->cli->json)
        report_json(j, t);
    else if (cli_given(t->cli, OPT_EXPLAIN))
        explain(b, t);
    else
        report_text(b, t);
}

int cmd_banks(Cli *c)
{
    const Device *devices[DEVICE_COUNT];
    int count = cli_devices(c, "h100", devices, countof(devices));
    const char *path = cli_file(c, "FILE.tsv");
    uint32_t file = open_file(c, path);
    TextBuf b = {0};
    Json j = json_start(&b, true);
    ExitCode code = EXIT_CLEAN;
    if (c->json)
        begin_document(&j, path);
    for (int i = 0; i < count; i++) {
        Table t = {.cli = c, .file = path, .device = devices[i]};
        int errors = diag_errors(c->diag);
        t.rows = bank_file_read(c->arena, c->diag, c->sources, file,
                                t.device);
        compare(&t);
        if (t.misses)
            code = EXIT_FINDINGS;
        if (diag_errors(c->diag) == errors)
            report(&b, &j, &t);
    }
    code = exit_worst(code, diag_exit(c->diag));
    if (c->json) {
        end_document(&j, code);
        buf_addc(&b, '\n');
    }
    buf_write(&b, stdout);
    buf_release(&b);
    return code;
}
