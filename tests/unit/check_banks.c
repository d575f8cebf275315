// check_banks.c - the bank rule against counters that others published.
//
// Access patterns are written down from the sources of the kernels; expected
// counts are those kernels' hardware counters, never tilesim's own. The table
// measured on an H200 is tests/hardware.test's affair.
#include <string.h>

#include "sim_lds/bank_file.h"
#include "unit.h"

static const Device *device(const char *name)
{
    const Device *d = device_find(text_of(name));
    ck_assert_ptr_nonnull(d);
    return d;
}

static BankOp op_of(const Device *d, const char *name)
{
    BankOp op;
    ck_assert_msg(bank_op_find(d->vendor, text_of(name), &op), "%s", name);
    return op;
}

static BankAccess all_lanes(const Device *d, const char *op)
{
    return (BankAccess){
        .op = op_of(d, op),
        .active = d->warp_lanes == 64 ? ~0ull : 0xffffffff,
    };
}

static BankCount count(const Device *d, const BankAccess *a)
{
    int lane;
    const char *why;
    ck_assert_msg(bank_check(d, a, &lane, &why), "lane %d: %s", lane, why);
    return bank_count(d, a);
}

// Every lane `stride` bytes after the one before it.
static BankCount strided(const Device *d, const char *op, int stride)
{
    BankAccess a = all_lanes(d, op);
    for (int l = 0; l < d->warp_lanes; l++)
        a.address[l] = (int64_t)l * stride;
    return count(d, &a);
}

// ---- AMD: the transpose study of Composable Kernel's bank conflict tutorial
//
// 65,536 x 256 halves in tiles of 64 x 32: 32,768 wave iterations of a block
// of 4 waves. LDS address of element (m, k) by kernel.

typedef int Layout(int banks, int m, int k);

static int row_major(int banks, int m, int k)
{
    (void)banks;
    return 2 * (32 * m + k);
}

static int column_major(int banks, int m, int k)
{
    (void)banks;
    return 2 * (m + 64 * k);
}

static int padded(int banks, int m, int k)
{
    (void)banks;
    return 2 * (34 * m + k);
}

static int xored(int m, int k, int layer, int pitch)
{
    int slots = 4 * layer, row = m / layer, slot = (m % layer) * 4 + k / 8;
    return 2 * (row * pitch + 8 * (slot ^ row % slots) + k % 8);
}

static int xor_32(int banks, int m, int k)
{
    (void)banks;
    return xored(m, k, 2, 64);
}

static int xor_padded(int banks, int m, int k)
{
    (void)banks;
    return xored(m, k, 2, 66);
}

static int xor_of_banks(int banks, int m, int k)
{
    int layer = banks / 16;
    return xored(m, k, layer, 32 * layer);
}

// Which element lane l of wave w starts from; `d` counts its elements.
typedef void Spread(int w, int l, int d, int *m, int *k);

static void by_rows(int w, int l, int d, int *m, int *k)
{
    *m = 16 * w + l / 4;
    *k = 8 * (l % 4) + d;
}

static void by_columns(int w, int l, int d, int *m, int *k)
{
    *m = 8 * (l % 8) + d;
    *k = 8 * w + l / 8;
}

static void by_lanes(int w, int l, int d, int *m, int *k)
{
    *m = l;
    *k = 8 * w + d;
}

static void by_m_vector(int w, int l, int d, int *m, int *k)
{
    *m = 8 * (l / 8) + d;
    *k = 8 * w + l % 8;
}

// Conflicts of `times` instructions a wave, summed over the four waves; each
// covers 8 / times elements of a lane.
static int64_t four_waves(const Device *d, const char *op, int times,
                          Layout *layout, Spread *map)
{
    int64_t conflicts = 0;
    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < times; i++) {
            BankAccess a = all_lanes(d, op);
            for (int l = 0; l < 64; l++) {
                int m, k;
                map(w, l, i * 8 / times, &m, &k);
                a.address[l] = layout((int)d->wide_read_banks, m, k);
            }
            conflicts += count(d, &a).conflicts;
        }
    }
    return conflicts;
}

static const struct {
    const char *name;
    Layout *layout;
    const char *write;
    int writes;
    const char *read;
    int reads;
    Spread *read_map;
    int64_t mi355x, mi300x;     // whole study; the latter unmeasured for 10
} kernels[] = {
    {"01", row_major, "ds_write_b128", 1, "ds_read_u16", 8, by_columns,
     3670016, 3670016},
    {"02", column_major, "ds_write_b16", 8, "ds_read_b128", 1, by_columns,
     1572864, 1572864},
    {"03", padded, "ds_write_b64", 2, "ds_read_u16", 8, by_columns,
     786432, 786432},
    {"05", xor_padded, "ds_write_b128", 1, "ds_read_u16", 8, by_columns, 0, 0},
    {"08", xor_of_banks, "ds_write_b128", 1, "ds_read_b128", 1, by_lanes, 0, 0},
    {"10", xor_of_banks, "ds_write_b128", 1, "ds_read_u16", 8, by_m_vector,
     0, 524288},
};

START_TEST(transpose_study_is_exact)
{
    const Device *targets[] = {device("mi355x"), device("mi300x")};
    for (int t = 0; t < 2; t++) {
        int64_t want = t == 0 ? kernels[_i].mi355x : kernels[_i].mi300x;
        int64_t got =
            four_waves(targets[t], kernels[_i].write, kernels[_i].writes,
                       kernels[_i].layout, by_rows) +
            four_waves(targets[t], kernels[_i].read, kernels[_i].reads,
                       kernels[_i].layout, kernels[_i].read_map);
        ck_assert_msg(got * 32768 / 4 == want, "kernel %s on %s: %lld",
                      kernels[_i].name, targets[t]->name,
                      (long long)got * 32768 / 4);
    }
}
END_TEST

// Kernel 03 may store two halves of a vector by ds_write2_b32 instead.
START_TEST(padded_store_counts_the_same_by_write2)
{
    const Device *d = device("mi355x");
    int64_t conflicts = 0;
    for (int i = 0; i < 2; i++) {
        BankAccess a = all_lanes(d, "ds_write2_b32");
        a.offset[1] = 4;
        for (int l = 0; l < 64; l++)
            a.address[l] = padded(32, l / 4, 8 * (l % 4) + 4 * i);
        conflicts += count(d, &a).conflicts;
    }
    ck_assert_int_eq(conflicts, 2 * 4);
}
END_TEST

START_TEST(small_gfx942_kernels_are_exact)
{
    const Device *d = device("mi300x");
    int64_t plain = four_waves(d, "ds_write_b128", 1, row_major, by_rows) +
                    four_waves(d, "ds_read_u16", 8, row_major, by_columns);
    int64_t swizzled = four_waves(d, "ds_write_b128", 1, xor_32, by_rows) +
                       four_waves(d, "ds_read_u16", 8, xor_32, by_columns);
    ck_assert_int_eq(plain * 64 / 4, 7168);
    ck_assert_int_eq(swizzled * 64 / 4, 3072);
}
END_TEST

static int f32_rows(int m, int k)
{
    return 4 * (32 * m + k);
}

static int f32_xor(int m, int k)
{
    return 4 * (32 * m + 8 * (k / 8 ^ m % 4) + k % 8);
}

static int64_t f32_writes(const Device *d, int (*layout)(int, int))
{
    int64_t conflicts = 0;
    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < 2; i++) {
            BankAccess a = all_lanes(d, "ds_write_b128");
            for (int l = 0; l < 64; l++)
                a.address[l] = layout(32 * i + 8 * w + l / 8, 4 * (l % 8));
            conflicts += count(d, &a).conflicts;
        }
    }
    return conflicts;
}

// 8 elements a lane: two k, four m each; `pair` reads two m at once.
static int64_t f32_reads(const Device *d, int (*layout)(int, int), bool pair)
{
    int64_t conflicts = 0;
    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < 2; i++) {
            for (int e = 0; e < 4; e += pair ? 2 : 1) {
                BankAccess a = all_lanes(d, pair ? "ds_read2_b32"
                                                 : "ds_read_b32");
                a.offset[1] = pair ? 128 : 0;
                for (int l = 0; l < 64; l++)
                    a.address[l] = layout(4 * (l % 16) + e,
                                          16 * i + 4 * w + l / 16);
                conflicts += count(d, &a).conflicts;
            }
        }
    }
    return conflicts;
}

START_TEST(small_gfx942_f32_kernels_are_exact)
{
    const Device *d = device("mi300x");
    int64_t plain = f32_writes(d, f32_rows) + f32_reads(d, f32_rows, true);
    int64_t swizzled = f32_writes(d, f32_xor) + f32_reads(d, f32_xor, false);
    ck_assert_int_eq(plain * 64 / 4, 15360);
    ck_assert_int_eq(swizzled * 64 / 4, 15360);
}
END_TEST

// 1024^3 halves, tiles 64 x 64 x 32, 2 x 2 waves of 16 x 16 x 16 MFMAs, six
// dispatches: A stored by b128, B by b16 after a transpose in registers, both
// read by b64.
START_TEST(xor_gemm_is_exact)
{
    const Device *d = device("mi300x");
    int64_t conflicts = four_waves(d, "ds_write_b128", 1, xor_32, by_rows) +
                        four_waves(d, "ds_write_b16", 8, xor_32, by_columns);
    for (int w = 0; w < 4; w++) {
        for (int read = 0; read < 8; read++) {
            int operand = read / 4, k = 16 * (read & 1);
            int half = operand ? w / 2 : w % 2, row = 32 * (read / 2 & 1);
            BankAccess a = all_lanes(d, "ds_read_b64");
            for (int l = 0; l < 64; l++)
                a.address[l] = xor_32(32, row + 16 * half + l % 16,
                                      k + 4 * (l / 16));
            conflicts += count(d, &a).conflicts;
        }
    }
    ck_assert_int_eq(conflicts / 4 * 32768 * 6, 15728640);
}
END_TEST

START_TEST(write_b64_at_256_bytes_has_60_conflicts)
{
    BankCount c = strided(device("mi355x"), "ds_write_b64", 256);
    ck_assert_int_eq(c.conflicts, 60);
    ck_assert_int_eq(c.conflicts_basis, BASIS_PUBLISHED);
}
END_TEST

// Lane i reads dword 32 i, the first N lanes of 64.
START_TEST(n_lanes_on_one_bank)
{
    const Device *d = device("mi300x");
    BankAccess a = all_lanes(d, "ds_read_b32");
    int n = _i + 1;
    a.active = n == 64 ? ~0ull : (1ull << n) - 1;
    for (int l = 0; l < 64; l++)
        a.address[l] = 128 * l;
    BankCount c = count(d, &a);
    ck_assert_int_eq(c.conflicts, n - 1);
    ck_assert_int_eq(c.cycles, n + 1);
}
END_TEST

// Counts of 64 reads, by lane stride 4, 8, ... 512; -1: not measured.
static const struct {
    const char *op;
    int conflicts[8];
} sweep[] = {
    {"ds_read_b32", {0, 128, 384, 896, 1920, 3968, 3968, 3968}},
    {"ds_read_b64", {-1, 0, 256, 768, 1792, 3840, 3840, 3840}},
    {"ds_read_b128", {-1, -1, 0, 512, 1536, 3584, 3584, 3584}},
};

START_TEST(mi300x_stride_sweep_is_exact)
{
    for (int i = 0; i < 8; i++)
        if (sweep[_i].conflicts[i] >= 0)
            ck_assert_int_eq(64 * strided(device("mi300x"), sweep[_i].op,
                                          4 << i).conflicts,
                             sweep[_i].conflicts[i]);
}
END_TEST

static int two_lanes(const char *op, int a, int b)
{
    const Device *d = device("mi355x");
    BankAccess access = all_lanes(d, op);
    access.active = 1ull << a | 1ull << b;
    access.address[b] = 1024;
    return count(d, &access).conflicts;
}

START_TEST(gfx950_lane_pairs_meet_by_the_phase_tables)
{
    ck_assert_int_eq(two_lanes("ds_read_b128", 0, 12), 1);
    ck_assert_int_eq(two_lanes("ds_read_b128", 0, 27), 1);
    ck_assert_int_eq(two_lanes("ds_read_b128", 0, 4), 0);
    ck_assert_int_eq(two_lanes("ds_read_b128", 0, 32), 0);
    ck_assert_int_eq(two_lanes("ds_read_b64", 0, 31), 1);
    ck_assert_int_eq(two_lanes("ds_read_b64", 0, 32), 0);
    ck_assert_int_eq(two_lanes("ds_read_b96", 0, 20), 1);
    ck_assert_int_eq(two_lanes("ds_read_b96", 0, 12), 0);
    ck_assert_int_eq(two_lanes("ds_write_b64", 0, 15), 1);
    ck_assert_int_eq(two_lanes("ds_write_b64", 0, 16), 0);
}
END_TEST

START_TEST(halves_of_a_word_do_not_collide)
{
    const Device *d = device("mi300x");
    BankAccess a = all_lanes(d, "ds_read_u16");
    a.active = 0xff;
    for (int l = 0; l < 8; l++)
        a.address[l] = 128 * l;
    ck_assert_int_eq(count(d, &a).conflicts, 7);
    for (int l = 0; l < 8; l++)
        a.address[l] = 128 * (l / 2) + 2 * (l % 2);
    ck_assert_int_eq(count(d, &a).conflicts, 3);
    for (int l = 0; l < 8; l++)
        a.address[l] = 4 * (l / 2) + 2 * (l % 2);
    ck_assert_int_eq(count(d, &a).conflicts, 0);
}
END_TEST

// ---- NVIDIA ----------------------------------------------------------------

static int ldmatrix(const char *op, const int *address)
{
    const Device *d = device("h100");
    BankAccess a = all_lanes(d, op);
    for (int l = 0; l < 32; l++)
        a.address[l] = address[l];
    return count(d, &a).conflicts;
}

// LeetCUDA: rows of 16 and 8 halves, then of 16 and 128.
START_TEST(ldmatrix_counters_are_exact)
{
    int a[32], swizzled[32], b[32], wide[32], wide_padded[32];
    for (int l = 0; l < 32; l++) {
        int row = l % 16, half = l / 16;
        a[l] = 32 * row + 16 * half;
        swizzled[l] = 32 * row + 16 * (half ^ (row / 4 & 1));
        b[l] = 16 * row;
        wide[l] = 256 * row;
        wide_padded[l] = 272 * row;
    }
    int naive = ldmatrix("ldsm4", a) + ldmatrix("ldsmt2", b);
    int tiled = 4 * ldmatrix("ldsm4", a) + 4 * ldmatrix("ldsmt2", wide);
    ck_assert_int_eq(naive * 128 * 64 * 64, 2097152);
    ck_assert_int_eq(tiled * 8 * 8 * 8 * 64, 2359296);
    ck_assert_int_eq(ldmatrix("ldsm4", swizzled), 0);
    ck_assert_int_eq(ldmatrix("ldsmt2", wide_padded), 0);
}
END_TEST

// Vector loads measured on an A100; `at` is the element a thread reads, -1 for
// a thread that does not.
static int at_thread(int t) { return t; }
static int at_half(int t) { return t / 2; }
static int far_pair(int t) { return t == 15 || t == 16 ? 4 : -1; }
static int near_pair(int t) { return t == 0 || t == 15 ? 4 : -1; }
static int by_pairs(int t) { return t / 8 * 2 + t % 8 / 2 % 2; }
static int mixed(int t)
{
    return t < 16 ? by_pairs(t) : t / 8 * 2 + t % 8 % 2;
}
static int two_way(int t)
{
    return t / 16 * 4 + t % 16 / 8 + t % 8 / 4 * 8;
}
static int uniform(int t) { return 0 * t; }

static const struct {
    const char *op;
    int (*at)(int t);
    int wavefronts, conflicts;
} vectors[] = {
    {"ld64", at_thread, 2, 0}, {"ld64", at_half, 1, 0},
    {"ld128", far_pair, 2, 0}, {"ld128", near_pair, 1, 0},
    {"ld128", by_pairs, 2, 0}, {"ld128", mixed, 4, 0},
    {"ld128", two_way, 4, 2}, {"ld128", uniform, 2, 0},
};

START_TEST(a100_vector_loads_are_exact)
{
    const Device *d = device("a100");
    BankAccess a = all_lanes(d, vectors[_i].op);
    int bytes = bank_op_info(a.op)->bits / 8;
    for (int t = 0; t < 32; t++) {
        if (vectors[_i].at(t) < 0)
            a.active &= ~(1ull << t);
        else
            a.address[t] = (int64_t)vectors[_i].at(t) * bytes;
    }
    BankCount c = count(d, &a);
    ck_assert_int_eq(c.cycles, vectors[_i].wavefronts);
    ck_assert_int_eq(c.conflicts, vectors[_i].conflicts);
}
END_TEST

START_TEST(every_instruction_is_found_by_its_name)
{
    const BankOpInfo *info = bank_op_info((BankOp)_i);
    BankOp found;
    ck_assert(bank_op_find(info->vendor, text_of(info->name), &found));
    ck_assert_int_eq(found, _i);
}
END_TEST

// Words of all passes are the lanes' words, and ways add up to the counts.
START_TEST(passes_cover_every_active_lane)
{
    const BankOpInfo *info = bank_op_info((BankOp)_i);
    const Device *d = device(info->vendor == VENDOR_AMD ? "mi355x" : "h200");
    BankAccess a = all_lanes(d, info->name);
    if (info->kind != BANK_MATRIX)
        a.active &= 0x5a5af00fff00137full;
    for (int l = 0; l < d->warp_lanes; l++)
        a.address[l] = l * 7 % 64 * 48;
    BankPass passes[BANK_PASSES];
    int n = bank_passes(d, &a, passes);
    uint64_t seen[4] = {0};
    for (int i = 0; i < n; i++) {
        BankWord words[BANK_WORDS];
        int count = bank_words(d, &a, &passes[i], words), ways = 0;
        for (int w = 0; w < count; w++) {
            seen[passes[i].part] |= words[w].lanes;
            ways = words[w].way + 1 > ways ? words[w].way + 1 : ways;
        }
        ck_assert_int_eq(ways, passes[i].ways);
    }
    uint64_t all = seen[0] | seen[1] | seen[2] | seen[3];
    uint64_t matrix = (1ull << 8 * info->parts) - 1;
    ck_assert_uint_eq(all, info->kind == BANK_MATRIX ? matrix : a.active);
}
END_TEST

// ---- malformed tables ------------------------------------------------------

#define A31 "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 " \
            "88 92 96 100 104 108 112 116 120"
#define A32 A31 " 124"

static const struct {
    const char *text, *id, *message;
    int line, column;
} broken[] = {
    {"ld32\tffffffff\t" A31 "\n", "bank-lanes",
     "31 addresses; a warp of h100 has 32 lanes", 1, 15},
    {"# c\nld32\tfffffffz\t" A32 "\n", "bank-mask",
     "the mask is not a hexadecimal number of up to 8 digits", 2, 6},
    {"ld32\t1ffffffff\t" A32 "\n", "bank-mask",
     "the mask names lane 32; a warp of h100 has lanes 0 to 31", 1, 6},
    {"ld32\t0\t" A32 "\n", "bank-mask", "the mask has no active lane", 1, 6},
    {"ld32\tffffffff\t2 " A31 "\n", "bank-access",
     "lane 0: the address is not a multiple of 4", 1, 15},
    {"ld32\tffffffff\t" A31 " 232448\n", "bank-access",
     "lane 31: the address is outside the shared memory of a block", 1, 111},
    {"ld32\tffffffff\t-4 " A31 "\n", "bank-access",
     "lane 0: the address is outside the shared memory of a block", 1, 15},
    {"ld32\tffffffff\t" A31 " x\n", "bank-address",
     "the address of lane 31 is no number", 1, 111},
    {"ld32\tffffffff\t" A31 " -\n", "bank-address",
     "the address of lane 31 is no number, and the lane is active", 1, 111},
    {"ld23\tffffffff\t" A32 "\n", "bank-op",
     "unknown instruction 'ld23'", 1, 1},
    {"ld32 ffffffff " A32 "\n", "bank-columns",
     "expected op, mask and addresses, separated by tabs", 1, 1},
    {"ldsm4\tfffffffe\t" A32 "\n", "bank-access",
     "ldmatrix and stmatrix need every lane active", 1, 1},
    {"ld32\tffffffff\t" A32 "\t1\n", "bank-columns",
     "one result; expected both, or none", 1, 115},
    {"ld32\tffffffff\t" A32 "\t1\t-1\n", "bank-result",
     "a result is a count or '-' for unknown", 1, 117},
    {"ld32\tffffffff\t" A32 "\t1\t0\t0\n", "bank-columns",
     "more columns than op, mask, addresses and two results", 1, 119},
    {"ld32 offset:4\tffffffff\t" A32 "\n", "bank-offset",
     "expected one word, the instruction", 1, 6},
};

static BankRows read_text(Arena *a, const char *target, const char *text,
                          Diag **diag, SourceSet **sources)
{
    *sources = sources_create();
    *diag = diag_create(*sources, stderr, false);
    diag_quiet(*diag, true);
    uint32_t file = sources_add(*sources, "t.tsv", text_of(text));
    return bank_file_read(a, *diag, *sources, file, device(target));
}

START_TEST(malformed_row_gets_one_message)
{
    Arena *a = arena_create();
    Diag *d;
    SourceSet *s;
    const DiagEntry *at;
    BankRows rows = read_text(a, "h100", broken[_i].text, &d, &s);
    ck_assert_int_eq(rows.len, 0);
    ck_assert_int_eq(diag_errors(d), 1);
    ck_assert_int_ge(diag_entries(d, &at), 1);
    Place p = sources_place(s, at[0].at.file, at[0].at.begin);
    ck_assert_str_eq(at[0].message.at, broken[_i].message);
    ck_assert_str_eq(at[0].id, broken[_i].id);
    ck_assert_int_eq(p.line, broken[_i].line);
    ck_assert_int_eq(p.column, broken[_i].column);
    ck_assert_int_eq(diag_exit(d), EXIT_ENVIRONMENT);
    diag_destroy(d);
    sources_destroy(s);
    arena_destroy(a);
}
END_TEST

START_TEST(sound_rows_are_read)
{
    Arena *a = arena_create();
    Diag *d;
    SourceSet *s;
    BankRows rows = read_text(a, "h100",
        "# by hand\nop\tmask\taddresses\twavefronts\tconflicts\n\n"
        "ld32\t0xF\t0 0x80 256 384 - - - - - - - - - - - - - - - - - - - - - "
        "- - - - - - -\t4\t-\r\n", &d, &s);
    ck_assert_int_eq(diag_errors(d), 0);
    ck_assert_int_eq(rows.len, 1);
    ck_assert_int_eq(rows.at[0].line, 4);
    ck_assert_uint_eq(rows.at[0].access.active, 15);
    ck_assert_int_eq(rows.at[0].access.address[1], 128);
    ck_assert(rows.at[0].has_cycles && !rows.at[0].has_conflicts);
    ck_assert_int_eq(bank_count(device("h100"), &rows.at[0].access).cycles, 4);
    diag_destroy(d);
    sources_destroy(s);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("banks");
    TCase *amd = tcase_create("amd"), *nvidia = tcase_create("nvidia");
    TCase *table = tcase_create("table");
    suite_add_tcase(s, amd);
    suite_add_tcase(s, nvidia);
    suite_add_tcase(s, table);
    tcase_add_loop_test(amd, transpose_study_is_exact, 0, countof(kernels));
    tcase_add_test(amd, padded_store_counts_the_same_by_write2);
    tcase_add_test(amd, small_gfx942_kernels_are_exact);
    tcase_add_test(amd, small_gfx942_f32_kernels_are_exact);
    tcase_add_test(amd, xor_gemm_is_exact);
    tcase_add_test(amd, write_b64_at_256_bytes_has_60_conflicts);
    tcase_add_loop_test(amd, n_lanes_on_one_bank, 0, 32);
    tcase_add_loop_test(amd, mi300x_stride_sweep_is_exact, 0, countof(sweep));
    tcase_add_test(amd, gfx950_lane_pairs_meet_by_the_phase_tables);
    tcase_add_test(amd, halves_of_a_word_do_not_collide);
    tcase_add_test(nvidia, ldmatrix_counters_are_exact);
    tcase_add_loop_test(nvidia, a100_vector_loads_are_exact, 0,
                        countof(vectors));
    tcase_add_loop_test(table, every_instruction_is_found_by_its_name, 0,
                        BANK_OP_COUNT);
    tcase_add_loop_test(table, passes_cover_every_active_lane, 0,
                        BANK_OP_COUNT);
    tcase_add_loop_test(table, malformed_row_gets_one_message, 0,
                        countof(broken));
    tcase_add_test(table, sound_rows_are_read);
    return unit_run(s);
}
