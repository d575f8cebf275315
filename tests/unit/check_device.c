// check_device.c - targets, matrix instructions by name, fragment layouts.
#include <math.h>
#include <string.h>

#include "device/fragment.h"
#include "unit.h"

// ---- targets ---------------------------------------------------------------

START_TEST(device_is_found_by_its_name)
{
    const Device *d = device_at(_i);
    ck_assert_ptr_eq(device_find(text_of(d->name)), d);
}
END_TEST

START_TEST(every_constant_has_a_source)
{
    const Device *d = device_at(_i);
    for (DeviceField f = 0; f < DEVICE_FIELD_COUNT; f++) {
        const char *source = device_source(d, f);
        ck_assert_msg(source && *source, "%s %s", d->name,
                      device_field_name(f));
        ck_assert_int_ge(device_value(d, f), 0);
    }
}
END_TEST

START_TEST(unknown_target_gets_a_suggestion)
{
    ck_assert_ptr_null(device_find(TEXT("mi300")));
    ck_assert_str_eq(device_nearest(TEXT("mi300"))->name, "mi300x");
    ck_assert_str_eq(device_nearest(TEXT("H100"))->name, "h100");
}
END_TEST

// TFLOP/s that the vendors quote.
static const struct {
    const char *name;
    MmaType type;
    double peak;
} peaks[] = {
    {"h100", MMA_F16, 989.4}, {"h100", MMA_E4M3, 1978.9},
    {"h100", MMA_TF32, 494.7}, {"h200", MMA_BF16, 989.4},
    {"a100", MMA_F16, 312}, {"a100", MMA_S8, 624}, {"a100", MMA_TF32, 156},
    {"a100", MMA_F64, 19.5}, {"a100", MMA_E4M3, 0},
    {"mi300x", MMA_F16, 1307.4}, {"mi300x", MMA_E4M3FNUZ, 2614.9},
    {"mi300x", MMA_TF32, 653.7}, {"mi300x", MMA_F32, 163.4},
    {"mi300x", MMA_F64, 163.4}, {"mi325x", MMA_S8, 2614.9},
    {"mi355x", MMA_F16, 2516.6}, {"mi355x", MMA_F32, 157.3},
    {"mi355x", MMA_F64, 78.6}, {"mi355x", MMA_TF32, 0},
};

START_TEST(peak_is_what_the_vendor_quotes)
{
    const Device *d = device_find(text_of(peaks[_i].name));
    double peak = device_peak(d, peaks[_i].type);
    ck_assert_double_le(fabs(peak - peaks[_i].peak), 0.001 * peaks[_i].peak);
}
END_TEST

START_TEST(shared_memory_is_what_a_block_can_have)
{
    ck_assert_int_eq(device_find(TEXT("h100"))->smem_block, 232448);
    ck_assert_int_eq(device_find(TEXT("a100"))->smem_block, 166912);
    ck_assert_int_eq(device_find(TEXT("mi300x"))->smem_block, 65536);
    ck_assert_int_eq(device_find(TEXT("mi355x"))->smem_block, 163840);
}
END_TEST

// ---- instructions by name --------------------------------------------------

// An instruction of the table; wgmma with the given n.
static DeviceMma instruction(int i, int n)
{
    DeviceMma m = *mma_at(i);
    if (m.n == 0)
        m.n = n;
    return m;
}

static const Device *target_of(const DeviceMma *m)
{
    for (int i = 0; i < device_count(); i++)
        if (device_has_mma(device_at(i), m))
            return device_at(i);
    ck_abort_msg("%s has no target", m->name);
    return NULL;
}

START_TEST(instruction_is_found_by_its_name)
{
    char name[64];
    const char *why;
    DeviceMma m = instruction(_i, 128), found;
    snprintf(name, sizeof name, "%s", m.name);
    char *n = strstr(name, "nN");
    if (n) {
        char rest[64];
        snprintf(rest, sizeof rest, "%s", n + 2);
        snprintf(n, sizeof name - (size_t)(n - name), "n128%s", rest);
    }
    ck_assert_msg(mma_find(target_of(&m), text_of(name), &found, &why),
                  "%s: %s", name, why);
    ck_assert_str_eq(found.name, m.name);
    ck_assert_int_eq(found.n, m.n);
    ck_assert_int_eq(found.a, m.a);
    ck_assert_int_eq(found.acc, m.acc);
}
END_TEST

static const struct {
    const char *spelling, *name;
} spellings[] = {
    {"v_mfma_f32_32x32x8_f16", "mfma_32x32x8_f16"},
    {"v_mfma_f32_16x16x16_bf16", "mfma_16x16x16_bf16"},
    {"__builtin_amdgcn_mfma_f32_16x16x16bf16_1k", "mfma_16x16x16_bf16"},
    {"v_mfma_i32_16x16x32_i8", "mfma_16x16x32_i8"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "mfma_16x16x32_fp8_bf8"},
    {"v_mfma_f64_4x4x4_4b_f64", "mfma_4x4x4_4b_f64"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     "mma_m16n8k16_f32_f16"},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
     "mma_m16n8k16_f16_f16"},
    {"mma.m16n8k32.s32.u8.s8", "mma_m16n8k32_s32_u8_s8"},
    {"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
     "wgmma_m64nNk16_f32_bf16"},
    {"wgmma.m64n8k32.f32.e5m2.e4m3", "wgmma_m64nNk32_f32_e5m2_e4m3"},
    {"wgmma_m64n24k32_s32_s8", "wgmma_m64nNk32_s32_s8"},
    {"wgmma_m64n40k32_s32_s8", NULL},
    {"wgmma_m64n12k16_f32_f16", NULL},
    {"wgmma_m64n264k16_f32_f16", NULL},
    {"mma_m16n8k17_f32_f16", NULL},
    {"mma_m16n8k16", NULL},
    {"m16n8k16_f32_f16", NULL},
    {"mma_f32_f16", NULL},
    {"mfma_32x32x8_f16_x", NULL},
    {"mfma_32x32x99999_f16", NULL},
    {"", NULL},
};

START_TEST(mnemonic_of_the_vendor_is_understood)
{
    DeviceMma found;
    const char *why = NULL;
    bool ok = mma_find(NULL, text_of(spellings[_i].spelling), &found, &why);
    ck_assert_msg(ok == (spellings[_i].name != NULL), "%s: %s",
                  spellings[_i].spelling, ok ? found.name : why);
    if (ok)
        ck_assert_str_eq(found.name, spellings[_i].name);
    else
        ck_assert_ptr_nonnull(why);
}
END_TEST

START_TEST(instruction_of_another_target_is_refused)
{
    DeviceMma m;
    const char *why;
    const Device *h100 = device_find(TEXT("h100"));
    ck_assert(!mma_find(h100, TEXT("mfma_32x32x8_f16"), &m, &why));
    ck_assert_str_eq(why, "the target does not have this instruction");
    const Device *new = device_find(TEXT("mi355x"));
    ck_assert(mma_find(new, TEXT("mfma_16x16x32_fp8_fp8"), &m, &why));
    ck_assert_int_eq(m.a, MMA_E4M3);
    ck_assert(!mma_find(new, TEXT("mfma_16x16x8_xf32"), &m, &why));
}
END_TEST

START_TEST(arithmetic_is_known_where_the_table_says)
{
    DeviceMma m = instruction(_i, 8);
    for (int i = 0; i < device_count(); i++) {
        MmaSpec s;
        const Device *d = device_at(i);
        bool measured = d->arch == ARCH_SM90 || d->arch == ARCH_GFX942;
        bool want = measured && device_has_mma(d, &m) &&
                    m.bits != BASIS_NONE;
        ck_assert_msg(device_mma_spec(d, &m, &s) == want, "%s on %s", m.name,
                      d->name);
    }
}
END_TEST

// ---- fragments -------------------------------------------------------------

static void check_bijection(const DeviceMma *m, FragmentOperand operand)
{
    Fragment f = fragment_of(m, operand);
    size_t cells = (size_t)f.rows * (size_t)f.columns * (size_t)f.blocks;
    char *seen = calloc(cells, 1);
    if (!f.in_registers) {
        free(seen);
        return;
    }
    ck_assert_uint_eq((size_t)f.lanes * (size_t)f.elements, cells);
    for (int lane = 0; lane < f.lanes; lane++) {
        for (int e = 0; e < f.elements; e++) {
            FragmentCell c = fragment_cell(m, operand, lane, e);
            ck_assert(c.row >= 0 && c.row < f.rows && c.column >= 0 &&
                      c.column < f.columns && c.block >= 0 &&
                      c.block < f.blocks);
            char *cell = &seen[(c.block * f.rows + c.row) * f.columns +
                               c.column];
            ck_assert_msg(!*cell, "%s holds a cell twice", m->name);
            *cell = 1;
        }
    }
    free(seen);
}

START_TEST(fragment_holds_every_cell_once)
{
    for (int n = 8; n <= 256; n += 8) {
        DeviceMma m = instruction(_i, n);
        for (FragmentOperand o = FRAGMENT_A; o <= FRAGMENT_C; o++)
            check_bijection(&m, o);
        if (mma_at(_i)->n)
            return;
    }
}
END_TEST

START_TEST(fragment_find_is_the_inverse)
{
    DeviceMma m = instruction(_i, 16);
    for (FragmentOperand o = FRAGMENT_A; o <= FRAGMENT_C; o++) {
        Fragment f = fragment_of(&m, o);
        for (int lane = 0; lane < f.lanes; lane += 13) {
            for (int e = 0; e < f.elements; e += 3) {
                int l, g;
                fragment_find(&m, o, fragment_cell(&m, o, lane, e), &l, &g);
                ck_assert(l == lane && g == e);
            }
        }
    }
}
END_TEST

static DeviceMma by_name(const char *name)
{
    DeviceMma m;
    const char *why;
    ck_assert_msg(mma_find(NULL, text_of(name), &m, &why), "%s: %s", name, why);
    return m;
}

// D of an m16n8 by the inverse formula of the PTX manual.
START_TEST(mma_accumulators_by_the_inverse_formula)
{
    DeviceMma m = by_name("mma_m16n8k16_f32_f16");
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 8; j++) {
            int lane, e;
            fragment_find(&m, FRAGMENT_C, (FragmentCell){i, j, 0}, &lane, &e);
            ck_assert_int_eq(lane, 4 * (i % 8) + j / 2);
            ck_assert_int_eq(e, 2 * (i / 8) + (j & 1));
        }
    }
}
END_TEST

START_TEST(wgmma_accumulators_by_the_inverse_formula)
{
    DeviceMma m = by_name("wgmma_m64n48k16_f32_f16");
    for (int row = 0; row < 64; row++) {
        for (int column = 0; column < 48; column++) {
            int thread, i, w = row / 16, g = row % 8, upper = row / 8 & 1;
            fragment_find(&m, FRAGMENT_C, (FragmentCell){row, column, 0},
                          &thread, &i);
            ck_assert_int_eq(thread, 32 * w + 4 * g + column % 8 / 2);
            ck_assert_int_eq(i, 4 * (column / 8) + 2 * upper + (column & 1));
        }
    }
}
END_TEST

// Registers of A and B by the words of the PTX manual: a0 is row g word t, a1
// row g + 8 word t, a2 row g word t + 4, a3 row g + 8 word t + 4.
START_TEST(mma_operands_by_words)
{
    static const struct {
        const char *name;
        int word;
    } shapes[] = {
        {"mma_m16n8k16_f32_bf16", 2}, {"mma_m16n8k8_f32_tf32", 1},
        {"mma_m16n8k32_s32_s8", 4}, {"wgmma_m64n8k32_f32_e4m3", 4},
    };
    for (size_t s = 0; s < countof(shapes); s++) {
        DeviceMma m = by_name(shapes[s].name);
        Fragment f = fragment_of(&m, FRAGMENT_A);
        ck_assert_int_eq(f.registers, 4);
        for (int lane = 0; lane < f.lanes; lane++) {
            for (int e = 0; e < f.elements; e++) {
                int number, bit, g = lane % 32 / 4, t = lane % 4;
                FragmentCell c = fragment_cell(&m, FRAGMENT_A, lane, e);
                fragment_register(&f, e, &number, &bit);
                int row = g + (number == 1 || number == 3 ? 8 : 0);
                int word = number >= 2 ? t + 4 : t;
                ck_assert_int_eq(c.row, 16 * (lane / 32) + row);
                ck_assert_int_eq(c.column / shapes[s].word, word);
                ck_assert_int_eq(c.column % shapes[s].word * f.bits, bit);
            }
        }
    }
}
END_TEST

// ---- AMD's own calculator --------------------------------------------------

typedef struct {
    char name[64], operand;
    int row, column, block, lane, number, bit;
} Entry;

static void check_entry(const Entry *e, const DeviceMma *m)
{
    FragmentOperand o = e->operand == 'A'   ? FRAGMENT_A
                        : e->operand == 'B' ? FRAGMENT_B : FRAGMENT_C;
    Fragment f = fragment_of(m, o);
    int element = (e->number * 32 + e->bit) / f.bits;
    FragmentCell c = fragment_cell(m, o, e->lane, element);
    ck_assert_msg(c.row == e->row && c.column == e->column &&
                  c.block == e->block, "%s %c lane %d register %d: row %d, "
                  "column %d, block %d", e->name, e->operand, e->lane,
                  e->number, c.row, c.column, c.block);
}

START_TEST(mfma_layouts_agree_with_amds_calculator)
{
    Arena *a = arena_create();
    char *at, last[64] = "";
    size_t len;
    const char *why;
    DeviceMma m = {0};
    int entries = 0, instructions = 0;
    bool ok = file_read_unpacked(
        unit_path(a, "tests/data/device/mfma_layout.tsv.gz"), &at, &len, &why);
    ck_assert_msg(ok, "%s", why);
    at[len - 1] = '\0';
    for (char *line = strtok(at, "\n"); line; line = strtok(NULL, "\n")) {
        Entry e;
        if (line[0] == '#')
            continue;
        ck_assert_int_eq(sscanf(line, "%63s\t%c\t%d\t%d\t%d\t%d\t%d\t%d",
                                e.name, &e.operand, &e.row, &e.column,
                                &e.block, &e.lane, &e.number, &e.bit), 8);
        if (strcmp(e.name, last)) {
            m = by_name(e.name);
            strcpy(last, e.name);
            instructions++;
        }
        check_entry(&e, &m);
        entries++;
    }
    ck_assert_int_eq(instructions, 32);
    ck_assert_int_eq(entries, 43456);
    free(at);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("device");
    TCase *t = tcase_create("targets"), *m = tcase_create("instructions");
    TCase *f = tcase_create("fragments");
    suite_add_tcase(s, t);
    suite_add_tcase(s, m);
    suite_add_tcase(s, f);
    tcase_add_loop_test(t, device_is_found_by_its_name, 0, device_count());
    tcase_add_loop_test(t, every_constant_has_a_source, 0, device_count());
    tcase_add_test(t, unknown_target_gets_a_suggestion);
    tcase_add_loop_test(t, peak_is_what_the_vendor_quotes, 0, countof(peaks));
    tcase_add_test(t, shared_memory_is_what_a_block_can_have);
    tcase_add_loop_test(m, instruction_is_found_by_its_name, 0, mma_count());
    tcase_add_loop_test(m, mnemonic_of_the_vendor_is_understood, 0,
                        countof(spellings));
    tcase_add_test(m, instruction_of_another_target_is_refused);
    tcase_add_loop_test(m, arithmetic_is_known_where_the_table_says, 0,
                        mma_count());
    tcase_add_loop_test(f, fragment_holds_every_cell_once, 0, mma_count());
    tcase_add_loop_test(f, fragment_find_is_the_inverse, 0, mma_count());
    tcase_add_test(f, mma_accumulators_by_the_inverse_formula);
    tcase_add_test(f, wgmma_accumulators_by_the_inverse_formula);
    tcase_add_test(f, mma_operands_by_words);
    tcase_add_test(f, mfma_layouts_agree_with_amds_calculator);
    return unit_run(s);
}
