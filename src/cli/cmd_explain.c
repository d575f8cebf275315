// cmd_explain.c - says more: matrix fragment layouts, devices, findings.
#include <string.h>

#include "check/check.h"
#include "cli/check_report.h"
#include "cli/cli.h"
#include "cli/json_keys.h"
#include "device/fragment.h"
#include "support/json.h"

static void put(TextBuf *b)
{
    buf_write(b, stdout);
    buf_release(b);
}

// ---- explain layout --------------------------------------------------------

// An operand as a table: for each cell of it the lane and element.
typedef struct {
    const DeviceMma *m;
    FragmentOperand operand;
    Fragment f;
    struct Holder {
        int lane, element;
    } *at;                                      // [block][row][column]
} Grid;

static struct Holder *holder(const Grid *g, FragmentCell c)
{
    return &g->at[(c.block * g->f.rows + c.row) * g->f.columns + c.column];
}

static Grid grid_of(Arena *a, const DeviceMma *m, FragmentOperand operand)
{
    Grid g = {.m = m, .operand = operand, .f = fragment_of(m, operand)};
    size_t cells = (size_t)g.f.rows * (size_t)g.f.columns *
                   (size_t)g.f.blocks;
    g.at = arena_alloc(a, cells, sizeof *g.at);
    for (int lane = 0; lane < g.f.lanes; lane++)
        for (int e = 0; e < g.f.elements; e++)
            *holder(&g, fragment_cell(m, operand, lane, e)) =
                (struct Holder){lane, e};
    return g;
}

static const char *operand_name(FragmentOperand o)
{
    return o == FRAGMENT_A ? "A" : o == FRAGMENT_B ? "B" : "C and D";
}

static MmaType operand_type(const DeviceMma *m, FragmentOperand o)
{
    return o == FRAGMENT_A ? m->a : o == FRAGMENT_B ? m->b : m->acc;
}

static const char *axis(FragmentOperand o, bool row)
{
    if (row)
        return o == FRAGMENT_B ? "k" : "row";
    return o == FRAGMENT_A ? "k" : "column";
}

enum { ACROSS = 16, SHORT = 32 };               // columns: of a panel, shown

static void put_panel(TextBuf *b, const Grid *g, int block, int first)
{
    int last = first + ACROSS < g->f.columns ? first + ACROSS : g->f.columns;
    buf_printf(b, "\n  %6s", axis(g->operand, false));
    for (int c = first; c < last; c++)
        buf_printf(b, " %6d", c);
    buf_addc(b, '\n');
    for (int r = 0; r < g->f.rows; r++) {
        buf_printf(b, "  %3s %2d", r == 0 ? axis(g->operand, true) : "", r);
        for (int c = first; c < last; c++) {
            struct Holder *h = holder(g, (FragmentCell){r, c, block});
            buf_printf(b, " %3d.%-2d", h->lane, h->element);
        }
        while (b->at[b->len - 1] == ' ')
            b->len--;
        buf_addc(b, '\n');
    }
}

static void put_grid(TextBuf *b, const Grid *g, bool all)
{
    int columns = all || g->f.columns <= SHORT ? g->f.columns : SHORT;
    int blocks = all ? g->f.blocks : 1;
    for (int block = 0; block < blocks; block++) {
        if (g->f.blocks > 1)
            buf_printf(b, "\n  block %d of %d", block, g->f.blocks);
        for (int first = 0; first < columns; first += ACROSS)
            put_panel(b, g, block, first);
    }
    if (blocks < g->f.blocks || columns < g->f.columns)
        buf_printf(b, "  ... %d %s in all; -v shows them\n",
                   blocks < g->f.blocks ? g->f.blocks : g->f.columns,
                   blocks < g->f.blocks ? "blocks" : "columns");
}

// "element e is register e / 2, bits 16 (e % 2) up"
static void put_packing(TextBuf *b, const Fragment *f)
{
    if (f->bits == 32)
        buf_puts(b, "element e is register e");
    else if (f->bits == 64)
        buf_puts(b, "element e is registers 2e and 2e + 1");
    else
        buf_printf(b, "element e is register e / %d, bits %d (e %% %d) up",
                   32 / f->bits, f->bits, 32 / f->bits);
}

static void put_operand(TextBuf *b, const Grid *g, bool all)
{
    const Fragment *f = &g->f;
    buf_printf(b, "\n%s: %d x %d", operand_name(g->operand), f->rows,
               f->columns);
    if (f->blocks > 1)
        buf_printf(b, " x %d blocks", f->blocks);
    buf_printf(b, " of %s",
               mma_type_info(operand_type(g->m, g->operand))->name);
    if (!f->in_registers) {
        buf_puts(b, ", read from shared memory\n");
        return;
    }
    buf_printf(b, ", %d element%s and %d register%s a lane; ", f->elements,
               f->elements == 1 ? "" : "s", f->registers,
               f->registers == 1 ? "" : "s");
    put_packing(b, f);
    buf_addc(b, '\n');
    put_grid(b, g, all);
}

static void layout_text(TextBuf *b, const Cli *c, const DeviceMma *m, Text name)
{
    buf_printf(b, "%.*s: %d x %d x %d", TEXT_ARG(name), m->m, m->n, m->k);
    if (m->blocks > 1)
        buf_printf(b, ", %d blocks", m->blocks);
    buf_printf(b, ", %s; layout %s", m->unit == MMA_UNIT_MFMA ? "64 lanes"
               : m->unit == MMA_UNIT_WGMMA ? "128 threads" : "32 lanes",
               basis_name(m->layout));
    if (m->cycles)
        buf_printf(b, "; %d cycles on gfx942", m->cycles);
    buf_puts(b, "\nA cell is lane.element.\n");
    for (FragmentOperand o = FRAGMENT_A; o <= FRAGMENT_C; o++) {
        Grid g = grid_of(c->arena, m, o);
        put_operand(b, &g, c->verbose);
    }
}

static void json_cells(Json *j, const Grid *g)
{
    json_key(j, TEXT("cells"));
    json_begin_array(j);
    for (int lane = 0; lane < g->f.lanes; lane++) {
        for (int e = 0; e < g->f.elements; e++) {
            int number, bit;
            FragmentCell c = fragment_cell(g->m, g->operand, lane, e);
            fragment_register(&g->f, e, &number, &bit);
            json_begin_object(j);
            key_int(j, "lane", lane);
            key_int(j, "register", number);
            key_int(j, "bit", bit);
            key_int(j, "row", c.row);
            key_int(j, "column", c.column);
            key_int(j, "block", c.block);
            json_end_object(j);
        }
    }
    json_end_array(j);
}

static void json_operand(Json *j, const Grid *g)
{
    static const char *const names[] = {"A", "B", "C"};
    json_begin_object(j);
    key_string(j, "operand", names[g->operand]);
    key_string(j, "type",
               mma_type_info(operand_type(g->m, g->operand))->name);
    key_int(j, "rows", g->f.rows);
    key_int(j, "columns", g->f.columns);
    key_int(j, "blocks", g->f.blocks);
    json_key(j, TEXT("in_registers"));
    json_bool(j, g->f.in_registers);
    key_int(j, "lanes", g->f.lanes);
    key_int(j, "registers", g->f.registers);
    json_cells(j, g);
    json_end_object(j);
}

static void layout_json(TextBuf *b, const Cli *c, const DeviceMma *m, Text name)
{
    Json j = json_start(b, false);
    json_begin_object(&j);
    key_string(&j, "schema", "tilesim/1");
    key_string(&j, "command", "explain");
    json_key(&j, TEXT("layout"));
    json_text(&j, name);
    key_string(&j, "basis", basis_name(m->layout));
    json_key(&j, TEXT("operands"));
    json_begin_array(&j);
    for (FragmentOperand o = FRAGMENT_A; o <= FRAGMENT_C; o++) {
        Grid g = grid_of(c->arena, m, o);
        json_operand(&j, &g);
    }
    json_end_array(&j);
    json_end_object(&j);
    buf_addc(b, '\n');
}

static int explain_layout(Cli *c, Text name)
{
    DeviceMma m;
    const char *why;
    TextBuf b = {0};
    if (!mma_find(NULL, name, &m, &why))
        cli_usage(c, "'%.*s': %s; did you mean '%s'?", TEXT_ARG(name), why,
                  mma_nearest(name)->name);
    if (c->json)
        layout_json(&b, c, &m, name);
    else
        layout_text(&b, c, &m, name);
    put(&b);
    return EXIT_CLEAN;
}

// ---- explain device --------------------------------------------------------

static void put_device(TextBuf *b, const Device *d)
{
    buf_printf(b, "%s: %s, %s\n\n", d->name, d->title, device_arch_name(d));
    for (DeviceField f = 0; f < DEVICE_FIELD_COUNT; f++) {
        TextBuf value = {0};
        buf_grouped(&value, device_value(d, f));
        buf_printf(b, "  %-16s %14.*s %-9s  %s [%s]\n", device_field_name(f),
                   TEXT_ARG(buf_view(&value)), device_field_unit(f),
                   device_field_doc(f), device_source(d, f));
        buf_release(&value);
    }
    buf_puts(b, "\nmatrix instructions:\n");
    for (int i = 0; i < mma_count(); i++)
        if (device_has_mma(d, mma_at(i)))
            buf_printf(b, "  %s\n", mma_at(i)->name);
}

// One line a constant, one column a target; docs/devices.md has it.
static void put_devices(TextBuf *b)
{
    buf_printf(b, "%-16s", "");
    for (int i = 0; i < device_count(); i++)
        buf_printf(b, " %10s", device_at(i)->name);
    buf_puts(b, "  unit\n");
    for (DeviceField f = 0; f < DEVICE_FIELD_COUNT; f++) {
        buf_printf(b, "%-16s", device_field_name(f));
        for (int i = 0; i < device_count(); i++)
            buf_printf(b, " %10lld", (long long)device_value(device_at(i), f));
        buf_printf(b, "  %s", device_field_unit(f));
        while (b->at[b->len - 1] == ' ')
            b->len--;
        buf_addc(b, '\n');
    }
}

static void json_device(Json *j, const Device *d)
{
    json_begin_object(j);
    key_string(j, "name", d->name);
    key_string(j, "title", d->title);
    key_string(j, "arch", device_arch_name(d));
    json_key(j, TEXT("constants"));
    json_begin_array(j);
    for (DeviceField f = 0; f < DEVICE_FIELD_COUNT; f++) {
        json_begin_object(j);
        key_string(j, "name", device_field_name(f));
        key_int(j, "value", device_value(d, f));
        key_string(j, "unit", device_field_unit(f));
        key_string(j, "source", device_source(d, f));
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void devices_json(TextBuf *b, const Device *only)
{
    Json j = json_start(b, true);
    json_begin_object(&j);
    key_string(&j, "schema", "tilesim/1");
    key_string(&j, "command", "explain");
    json_key(&j, TEXT("devices"));
    json_begin_array(&j);
    for (int i = 0; i < device_count(); i++)
        if (!only || only == device_at(i))
            json_device(&j, device_at(i));
    json_end_array(&j);
    json_end_object(&j);
    buf_addc(b, '\n');
}

static int explain_device(Cli *c, Text name)
{
    const Device *d = name.len ? device_find(name) : NULL;
    TextBuf b = {0};
    if (name.len && !d)
        cli_usage(c, "no target '%.*s'; did you mean '%s'?", TEXT_ARG(name),
                  device_nearest(name)->name);
    if (c->json)
        devices_json(&b, d);
    else if (d)
        put_device(&b, d);
    else
        put_devices(&b);
    put(&b);
    return EXIT_CLEAN;
}

// ---- explain ID ------------------------------------------------------------

static int explain_finding(const Cli *c, FindingId id)
{
    const FindingInfo *f = finding_info(id);
    const char *level = f->level == CHECK_ERROR ? "error" : "warning";
    TextBuf b = {0};
    if (c->json) {
        Json j = json_start(&b, true);
        json_begin_object(&j);
        key_string(&j, "schema", "tilesim/1");
        key_string(&j, "command", "explain");
        key_string(&j, "id", f->slug);
        key_string(&j, "check", check_group_name(f->group));
        key_string(&j, "level", level);
        key_string(&j, "title", f->title);
        key_string(&j, "text", f->text);
        json_end_object(&j);
        buf_addc(&b, '\n');
    } else {
        buf_printf(&b, "%s: %s\n\n%s\n\nOf the check '%s', level %s; silent "
                   "with -Wno-%s.\n", f->slug, f->title, f->text,
                   check_group_name(f->group), level, f->slug);
    }
    put(&b);
    return EXIT_CLEAN;
}

static const char *level_of(const FindingInfo *f)
{
    return f->level == CHECK_OFF       ? "off"
           : f->level == CHECK_WARNING ? "warning"
                                       : "error";
}

// Which check has a name; -1: none.
static int find_group(Text name)
{
    for (int g = 0; g < CHECK_GROUP_COUNT; g++)
        if (text_is(name, check_group_name((CheckGroup)g)))
            return g;
    return -1;
}

// The findings of one check, or of all.
static int list_findings(const Cli *c, int only)
{
    if (c->json)
        cli_usage(c, "--json is for one finding at a time");
    for (int g = 0; g < CHECK_GROUP_COUNT; g++) {
        if ((only >= 0 && g != only) || !check_group_exists((CheckGroup)g))
            continue;
        printf("%s\n", check_group_name((CheckGroup)g));
        for (int i = 0; i < FINDING_COUNT; i++) {
            const FindingInfo *f = finding_info((FindingId)i);

            if (f->group == (CheckGroup)g)
                printf("  %-17s %-8s %s\n", f->slug, level_of(f), f->title);
        }
    }
    return EXIT_CLEAN;
}

int cmd_explain(Cli *c)
{
    FindingId id;
    Text topic = c->operands.len ? c->operands.at[0] : (Text){0};
    Text name = c->operands.len > 1 ? c->operands.at[1] : (Text){0};
    if (c->operands.len > 2)
        cli_usage(c, "one name at a time: '%.*s' is a second one",
                  TEXT_ARG(c->operands.at[2]));
    if (text_is(topic, "device"))
        return explain_device(c, name);
    if (text_is(topic, "layout") && name.len)
        return explain_layout(c, name);
    if (finding_find(topic, &id) && !name.len)
        return explain_finding(c, id);
    if (text_is(topic, "findings") && !name.len)
        return list_findings(c, -1);
    if (find_group(topic) >= 0 && !name.len)
        return list_findings(c, find_group(topic));
    if (topic.len && check_nearest(topic).len)
        cli_usage(c, "there is no '%.*s' to explain; did you mean '%.*s'?",
                  TEXT_ARG(topic), TEXT_ARG(check_nearest(topic)));
    cli_usage(c, "tell me what to explain: layout NAME (as in %s), device "
              "[NAME], findings, or the id of one (as in uninit-read)",
              "mfma_32x32x8_f16");
}
