// bank_file.c - reads tables of single accesses, one a line.
#include "sim_lds/bank_file.h"

#include <string.h>

// What is being read, and where complaints go.
typedef struct {
    Diag *diag;
    const Source *source;
    uint32_t file;
    const Device *device;
    Text line;
} Reader;

static Span span_of(const Reader *r, Text t)
{
    uint32_t begin = (uint32_t)(t.at - r->source->text.at);
    return (Span){r->file, begin, begin + (uint32_t)t.len};
}

static bool complain(const Reader *r, Text at, const char *id,
                     const char *message)
{
    diag_error(r->diag, EXIT_ENVIRONMENT, span_of(r, at), id, "%s", message);
    return false;
}

// Takes the text up to `stop` off the front of *rest.
static Text take(Text *rest, char stop)
{
    size_t i = 0;
    while (i < rest->len && rest->at[i] != stop)
        i++;
    Text first = text_slice(*rest, 0, i);
    *rest = text_slice(*rest, i < rest->len ? i + 1 : i, rest->len);
    return first;
}

// The next blank-separated word; its length is 0 at the end.
static Text take_word(Text *rest)
{
    *rest = text_trim(*rest);
    return take(rest, ' ');
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_hex(Text t, uint64_t *out)
{
    if (text_starts(t, "0x") || text_starts(t, "0X"))
        t = text_slice(t, 2, t.len);
    if (t.len == 0 || t.len > 16)
        return false;
    *out = 0;
    for (size_t i = 0; i < t.len; i++) {
        int digit = hex_digit(t.at[i]);
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    return true;
}

static bool read_number(Text t, int64_t *out)
{
    uint64_t hex;
    if (!text_starts(t, "0x"))
        return text_to_i64(t, out);
    if (!read_hex(t, &hex) || hex > INT64_MAX)
        return false;
    *out = (int64_t)hex;
    return true;
}

static const char *vendor_name(DeviceVendor v)
{
    return v == VENDOR_AMD ? "AMD" : "NVIDIA";
}

static bool unknown_op(const Reader *r, Text name)
{
    BankOp op;
    const Device *d = r->device;
    DeviceVendor other = d->vendor == VENDOR_AMD ? VENDOR_NVIDIA : VENDOR_AMD;
    diag_error(r->diag, EXIT_ENVIRONMENT, span_of(r, name), "bank-op",
               "unknown instruction '%.*s'", TEXT_ARG(name));
    if (bank_op_find(other, name, &op))
        diag_note(r->diag, span_of(r, name),
                  "it is an instruction of %s; %s is made by %s",
                  vendor_name(other), d->name, vendor_name(d->vendor));
    else
        diag_note(r->diag, span_of(r, name), "did you mean '%s'?",
                  bank_op_nearest(d->vendor, name));
    return false;
}

// offset:N counts bytes; offset0:N and offset1:N count elements, and the
// st64 forms 64 of them.
static bool read_offset(const Reader *r, Text word, BankAccess *a)
{
    const BankOpInfo *op = bank_op_info(a->op);
    bool pair = op->parts == 2 && op->vendor == VENDOR_AMD;
    int64_t unit = pair ? op->bits / 8 : 1, most = pair ? 255 : 65535, n;
    Text rest = word, name = take(&rest, ':');
    int which = text_is(name, "offset1");
    bool known = op->vendor == VENDOR_AMD &&
                 (pair ? which || text_is(name, "offset0")
                       : text_is(name, "offset"));
    if (!known)
        return complain(r, word, "bank-offset", pair
                            ? "expected offset0:N or offset1:N"
                            : op->vendor == VENDOR_AMD
                                  ? "expected offset:N"
                                  : "expected one word, the instruction");
    if (!text_to_i64(rest, &n) || n < 0 || n > most)
        return complain(r, word, "bank-offset",
                        pair ? "an offset of read2 and write2 is 0 to 255"
                             : "an offset is 0 to 65535");
    a->offset[which] = n * unit * (strstr(op->name, "st64") ? 64 : 1);
    return true;
}

static bool read_op(const Reader *r, Text field, BankRow *row)
{
    Text rest = field, name = take_word(&rest);
    row->op = field;
    if (!bank_op_find(r->device->vendor, name, &row->access.op))
        return unknown_op(r, name);
    if (!bank_has_op(r->device, row->access.op)) {
        diag_error(r->diag, EXIT_LIMIT, span_of(r, name), "bank-target",
                   "%s (%s) has no '%.*s'", r->device->name,
                   device_arch_name(r->device), TEXT_ARG(name));
        return false;
    }
    for (Text word = take_word(&rest); word.len; word = take_word(&rest))
        if (!read_offset(r, word, &row->access))
            return false;
    return true;
}

static bool read_mask(const Reader *r, Text field, uint64_t *out)
{
    int lanes = (int)r->device->warp_lanes;
    if (!read_hex(field, out)) {
        diag_error(r->diag, EXIT_ENVIRONMENT, span_of(r, field), "bank-mask",
                   "the mask is not a hexadecimal number of up to %d digits",
                   lanes / 4);
        return false;
    }
    if (lanes < 64 && *out >> lanes) {
        diag_error(r->diag, EXIT_ENVIRONMENT, span_of(r, field), "bank-mask",
                   "the mask names lane %d; a warp of %s has lanes 0 to %d",
                   63 - __builtin_clzll(*out), r->device->name, lanes - 1);
        return false;
    }
    if (*out == 0)
        return complain(r, field, "bank-mask", "the mask has no active lane");
    return true;
}

static bool read_address(const Reader *r, Text word, BankAccess *a, int lane)
{
    bool active = a->active >> lane & 1;
    if (text_is(word, "-") && !active)
        return true;
    if (read_number(word, &a->address[lane]))
        return true;
    diag_error(r->diag, EXIT_ENVIRONMENT, span_of(r, word), "bank-address",
               "the address of lane %d is no number%s", lane,
               text_is(word, "-") ? ", and the lane is active" : "");
    return false;
}

static bool read_addresses(const Reader *r, Text field, BankAccess *a)
{
    int lanes = (int)r->device->warp_lanes, count = 0;
    Text rest = field;
    for (Text word = take_word(&rest); word.len; word = take_word(&rest)) {
        if (count < lanes && !read_address(r, word, a, count))
            return false;
        count++;
    }
    if (count == lanes)
        return true;
    diag_error(r->diag, EXIT_ENVIRONMENT, span_of(r, field), "bank-lanes",
               "%d address%s; a warp of %s has %d lanes", count,
               count == 1 ? "" : "es", r->device->name, lanes);
    return false;
}

static bool read_result(const Reader *r, Text field, bool *has, int64_t *out)
{
    if (text_is(field, "-"))
        return true;
    *has = true;
    if (read_number(field, out) && *out >= 0)
        return true;
    return complain(r, field, "bank-result",
                    "a result is a count or '-' for unknown");
}

static bool check_access(const Reader *r, Text addresses, const BankRow *row)
{
    int lane;
    const char *why;
    if (bank_check(r->device, &row->access, &lane, &why))
        return true;
    if (lane < 0)
        return complain(r, row->op, "bank-access", why);
    Text rest = addresses, word = take_word(&rest);
    for (int i = 0; i < lane; i++)
        word = take_word(&rest);
    diag_error(r->diag, EXIT_ENVIRONMENT, span_of(r, word), "bank-access",
               "lane %d: %s", lane, why);
    return false;
}

enum { COLUMNS = 5 };

static bool read_row(const Reader *r, BankRow *row)
{
    Text field[COLUMNS], rest = r->line;
    int count = 0;
    while (rest.len && count < COLUMNS)
        field[count++] = text_trim(take(&rest, '\t'));
    if (count < 3)
        return complain(r, r->line, "bank-columns",
                        "expected op, mask and addresses, separated by tabs");
    if (rest.len)
        return complain(r, rest, "bank-columns",
                        "more columns than op, mask, addresses and two "
                        "results");
    if (count == 4)
        return complain(r, field[3], "bank-columns",
                        "one result; expected both, or none");
    if (!read_op(r, field[0], row) ||
        !read_mask(r, field[1], &row->access.active) ||
        !read_addresses(r, field[2], &row->access) ||
        !check_access(r, field[2], row))
        return false;
    return count == 3 ||
           (read_result(r, field[3], &row->has_cycles, &row->cycles) &&
            read_result(r, field[4], &row->has_conflicts, &row->conflicts));
}

static bool is_row(Text line, bool first)
{
    Text t = text_trim(line);
    if (t.len == 0 || t.at[0] == '#')
        return false;
    return !first || !(text_starts(t, "op\t") || text_is(t, "op"));
}

BankRows bank_file_read(Arena *a, Diag *d, const SourceSet *s, uint32_t file,
                        const Device *device)
{
    Reader r = {d, sources_get(s, file), file, device, {0}};
    BankRows rows = {0};
    bool first = true;
    for (int n = 1; n <= r.source->line_count; n++) {
        BankRow row = {.line = n};
        r.line = sources_line(s, file, n);
        if (!is_row(r.line, first)) {
            first = first && text_starts(text_trim(r.line), "#");
            continue;
        }
        first = false;
        if (read_row(&r, &row))
            vec_push(a, &rows, row);
    }
    return rows;
}
