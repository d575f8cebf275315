// cmd_matrix.c - recomputes captured matrix instructions bit by bit.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/matrix_bench.h"
#include "cli/json_keys.h"
#include "device/capture.h"
#include "support/json.h"

// Where a record first differs.
typedef struct {
    int64_t tile;
    int row, column;
    uint64_t c, expected, found;
} Miss;

typedef struct {
    Capture capture;
    int64_t outputs, mismatches;
    Miss first;
} Record;

typedef struct {
    Record *at;
    int len, room;
    int64_t outputs, mismatches;
} Records;

static uint64_t element(const char *at, size_t i, int bytes)
{
    uint64_t v = 0;
    memcpy(&v, at + i * (size_t)bytes, (size_t)bytes);
    return v;
}

static void compare_tile(Record *r, int64_t tile, const char *found)
{
    const Capture *c = &r->capture;
    int bytes = mma_type_info(c->spec.acc)->bits / 8;
    const char *want = c->d + (size_t)tile * c->c_bytes;
    if (!memcmp(found, want, c->c_bytes))
        return;
    for (size_t i = 0; i < (size_t)c->m * (size_t)c->n; i++) {
        uint64_t w = element(want, i, bytes), f = element(found, i, bytes);
        if (w == f)
            continue;
        if (!r->mismatches++)
            r->first = (Miss){
                tile, (int)(i / (size_t)c->n), (int)(i % (size_t)c->n),
                element(c->c + (size_t)tile * c->c_bytes, i, bytes), w, f,
            };
    }
}

static void recompute(Record *r, MmaPath path)
{
    const Capture *c = &r->capture;
    char *d = xmalloc(c->c_bytes);
    r->outputs = c->tiles * c->m * c->n;
    for (int64_t tile = 0; tile < c->tiles; tile++) {
        capture_run(c, path, tile, d);
        compare_tile(r, tile, d);
    }
    free(d);
}

// ---- switches: the MI300X's open points ------------------------------------

static bool set_nan(MmaSpec *s, Text value)
{
    uint64_t bits = 0;
    if (value.len == 0 || value.len > 16)
        return false;
    for (size_t i = 0; i < value.len; i++) {
        const char *digits = "0123456789abcdef", *at;
        at = memchr(digits, value.at[i], 16);
        if (!at)
            return false;
        bits = bits << 4 | (uint64_t)(at - digits);
    }
    s->nan = bits;
    return true;
}

static void apply_switch(const Cli *c, Text given, MmaSpec *s)
{
    if (text_is(given, "no-renormalise"))
        s->skip_renormalise = true;
    else if (text_is(given, "negative-zero"))
        s->negative_zero = true;
    else if (text_is(given, "saturate"))
        s->saturate = true;
    else if (!text_starts(given, "nan=") ||
             !set_nan(s, text_slice(given, 4, given.len)))
        cli_usage(c, "--switch '%.*s': expected no-renormalise, negative-zero, "
                  "saturate or nan=HEX", TEXT_ARG(given));
}

static void apply_switches(const Cli *c, MmaSpec *s)
{
    const TextList *given = &c->values[OPT_MATRIX_SWITCH];
    MmaSpec ignored = *s;
    for (int i = 0; i < given->len; i++)
        apply_switch(c, given->at[i],
                     s->unit == MMA_UNIT_MFMA ? s : &ignored);
}

// ---- reports ---------------------------------------------------------------

static void put_miss(TextBuf *b, const Record *r)
{
    const Miss *m = &r->first;
    int digits = mma_type_info(r->capture.spec.acc)->bits / 4;
    buf_printf(b, "    first: tile %" PRId64 ", row %d, column %d: c %0*" PRIx64
               ", captured %0*" PRIx64 ", computed %0*" PRIx64 "\n",
               m->tile, m->row, m->column, digits, m->c, digits, m->expected,
               digits, m->found);
}

static int name_width(const Records *rs)
{
    size_t width = 11;
    for (int i = 0; i < rs->len; i++)
        if (rs->at[i].capture.name.len > width)
            width = rs->at[i].capture.name.len;
    return (int)width;
}

static void report_text(TextBuf *b, const Records *rs)
{
    int width = name_width(rs);
    buf_printf(b, "%-*s  %7s  %9s  %10s  arithmetic\n", width, "instruction",
               "tiles", "outputs", "mismatches");
    for (int i = 0; i < rs->len; i++) {
        const Record *r = &rs->at[i];
        buf_printf(b, "%-*.*s  %7" PRId64 "  %9" PRId64 "  %10" PRId64 "  %s\n",
                   width, TEXT_ARG(r->capture.name), r->capture.tiles,
                   r->outputs, r->mismatches, basis_name(r->capture.basis));
        if (r->mismatches)
            put_miss(b, r);
    }
    buf_printf(b, "\n%d record%s, ", rs->len, rs->len == 1 ? "" : "s");
    buf_grouped(b, rs->outputs);
    buf_puts(b, " outputs, ");
    buf_grouped(b, rs->mismatches);
    buf_puts(b, rs->mismatches == 1 ? " mismatch\n" : " mismatches\n");
}

static void key_bits(Json *j, const char *key, uint64_t value, int digits)
{
    char hex[32];
    snprintf(hex, sizeof hex, "%0*" PRIx64, digits, value);
    key_string(j, key, hex);
}

static void json_miss(Json *j, const Record *r)
{
    const Miss *m = &r->first;
    int digits = mma_type_info(r->capture.spec.acc)->bits / 4;
    json_key(j, TEXT("first"));
    json_begin_object(j);
    key_int(j, "tile", m->tile);
    key_int(j, "row", m->row);
    key_int(j, "column", m->column);
    key_bits(j, "c", m->c, digits);
    key_bits(j, "captured", m->expected, digits);
    key_bits(j, "computed", m->found, digits);
    json_end_object(j);
}

static void report_json(TextBuf *b, const Records *rs, const char *file)
{
    Json j = json_start(b, true);
    json_begin_object(&j);
    key_string(&j, "schema", "tilesim/1");
    key_string(&j, "command", "matrix");
    key_string(&j, "file", file);
    json_key(&j, TEXT("records"));
    json_begin_array(&j);
    for (int i = 0; i < rs->len; i++) {
        const Record *r = &rs->at[i];
        json_begin_object(&j);
        json_key(&j, TEXT("name"));
        json_text(&j, r->capture.name);
        key_int(&j, "tiles", r->capture.tiles);
        key_int(&j, "outputs", r->outputs);
        key_int(&j, "mismatches", r->mismatches);
        key_string(&j, "basis", basis_name(r->capture.basis));
        if (r->mismatches)
            json_miss(&j, r);
        json_end_object(&j);
    }
    json_end_array(&j);
    key_int(&j, "outputs", rs->outputs);
    key_int(&j, "mismatches", rs->mismatches);
    key_int(&j, "exit", rs->mismatches ? EXIT_FINDINGS : EXIT_CLEAN);
    json_end_object(&j);
    buf_addc(b, '\n');
}

// ---- the command -----------------------------------------------------------

static MmaPath path_of(const Cli *c)
{
    Text path = cli_text(c, OPT_MATRIX_PATH, "vector");
    if (text_is(path, "vector"))
        return MMA_PATH_VECTOR;
    if (text_is(path, "scalar"))
        return MMA_PATH_SCALAR;
    cli_usage(c, "--path '%.*s': expected scalar or vector", TEXT_ARG(path));
}

static Records read_all(const Cli *c, const char *file, Text data,
                        MmaPath path)
{
    Records rs = {0};
    if (data.len == 0)
        fatal(EXIT_ENVIRONMENT, "%s: the file is empty", file);
    for (size_t at = 0; at < data.len;) {
        Record r = {0};
        const char *why;
        if (!capture_next(data, &at, &r.capture, &why))
            fatal(EXIT_ENVIRONMENT, "%s: record %d, at byte %zu: %s", file,
                  rs.len + 1, at, why);
        apply_switches(c, &r.capture.spec);
        recompute(&r, path);
        rs.outputs += r.outputs;
        rs.mismatches += r.mismatches;
        vec_push(c->arena, &rs, r);
    }
    return rs;
}

int cmd_matrix(Cli *c)
{
    MmaPath path = path_of(c);
    if (cli_flag(c, OPT_MATRIX_BENCH))
        return matrix_bench(c, path);
    const char *file = cli_file(c, "FILE.gold"), *why;
    TextBuf b = {0};
    char *at;
    size_t len;
    if (!file_read_unpacked(file, &at, &len, &why))
        fatal(EXIT_ENVIRONMENT, "cannot read '%s': %s", file, why);
    Records rs = read_all(c, file, (Text){at, len}, path);
    if (c->json)
        report_json(&b, &rs, file);
    else
        report_text(&b, &rs);
    buf_write(&b, stdout);
    buf_release(&b);
    free(at);
    return rs.mismatches ? EXIT_FINDINGS : EXIT_CLEAN;
}
