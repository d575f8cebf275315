// check_cycles.c - the model of a compute unit, on streams short enough to be
// issued by hand. Encodings are llvm-mc's.
#include <string.h>

#include "gfx942/cycles.h"
#include "unit.h"

typedef struct {
    char letter;
    uint32_t word[2];
    uint16_t lds, sectors;
    const char *text;
} Known;

static const Known known[] = {
    {'a', {0x02020702}, 0, 0, "v_add_f32 v1, v2, v3"},
    {'b', {0x02120b04}, 0, 0, "v_add_f32 v9, v4, v5"},
    {'e', {0x7e024102}, 0, 0, "v_exp_f32 v1, v2"},
    {'t', {0x02060301}, 0, 0, "v_add_f32 v3, v1, v1"},
    {'m', {0xd3cd0004, 0x04122d14}, 0, 0, "16x16x16 v[4:7] += v[20:21]"},
    {'n', {0xd3cd0008, 0x04222d14}, 0, 0, "16x16x16 v[8:11] += v[20:21]"},
    {'A', {0xd3cd000c, 0x04322d04}, 0, 0, "16x16x16 v[12:15] += v[4:5]"},
    {'C', {0xd3cd0018, 0x04122d14}, 0, 0, "16x16x16 v[24:27] = v[4:7] +"},
    {'M', {0xd3cc0020, 0x04822d14}, 0, 0, "32x32x8 v[32:47] += v[20:21]"},
    {'d', {0xd9fe0000, 0x3c000001}, 8, 0, "ds_read_b128 v[60:63], v1"},
    {'w', {0xbf8cc07f}, 0, 0, "s_waitcnt lgkmcnt(0)"},
    {'x', {0xbf8cc17f}, 0, 0, "s_waitcnt lgkmcnt(1)"},
    {'g', {0xdc5c8000, 0x407f0002}, 0, 16, "global_load_dwordx4 v[64:67]"},
    {'v', {0xbf8c0f70}, 0, 0, "s_waitcnt vmcnt(0)"},
    {'|', {0xbf8a0000}, 0, 0, "s_barrier"},
    {'p', {0xbf8f0003}, 0, 0, "s_setprio 3"},
    {'.', {0xbf800003}, 0, 0, "s_nop 3"},
    {'j', {0xbf820000}, 0, 0, "s_branch"},
    {'s', {0x80000100}, 0, 0, "s_add_u32 s0, s0, s1"},
};

enum { MOST_CODE = 1024, MOST_TRACES = 16 };

typedef struct {
    Arena *arena;
    IsaInstr code[MOST_CODE];
    GfxObject object;
    GfxTrace traces[MOST_TRACES];
    size_t used;
} Setup;

static const Known *find(char letter)
{
    for (size_t i = 0; i < countof(known); i++)
        if (known[i].letter == letter)
            return &known[i];
    ck_abort_msg("no instruction '%c'", letter);
}

// A stream as letters; after 'J' the branch is taken.
static GfxTrace stream(Setup *s, const char *letters)
{
    size_t n = strlen(letters);
    GfxTrace t = {.at = new_array(s->arena, GfxStep, n + 1), .len = n};

    for (size_t i = 0; i < n; i++) {
        bool taken = letters[i] == 'J';
        const Known *k = find(taken ? 'j' : letters[i]);
        ck_assert(s->used + 4 < MOST_CODE);
        ck_assert(isa_decode(k->word, 2, &s->code[s->used]));
        t.at[i] = (GfxStep){(uint32_t)s->used, k->lds, k->sectors};
        s->used += s->code[s->used].words + taken;
    }
    return t;
}

// Waves of one group, separated by spaces.
static GfxCycles issued(const char *waves)
{
    Setup *s = calloc(1, sizeof *s);
    GfxCycles out;
    int n = 0;

    s->arena = arena_create();
    s->object.code = s->code;
    char *copy = strdup(waves);
    for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
        s->traces[n++] = stream(s, strcmp(w, "-") ? w : "");
    free(copy);
    gfx_cycles(s->arena, &s->object, s->traces, 1, n, 1, &out);
    arena_destroy(s->arena);
    int64_t sum = 0;
    for (int t = 0; t < GFX_TIMES; t++)
        sum += out.wave[t];
    ck_assert_int_eq(sum, out.cycles * n);          // nothing is lost
    free(s);
    return out;
}

// The first wave's SIMD has the fifth one, too.
static const struct {
    const char *waves;
    int64_t cycles, matrix;
    GfxTime time;
    int64_t spent;                                  // there, of all waves
    const char *why;
} by_hand[] = {
    {"aaaa", 16, 0, TIME_VALU, 16, "one every 4 cycles"},
    {"ss", 8, 0, TIME_SALU, 8, "scalar ones, too"},
    {"e", 4, 0, TIME_VALU, 4, "the unit goes on, the wave does not"},
    {"ea", 20, 0, TIME_WAIT_VALU, 12, "v_exp takes the unit for 16"},
    {"et", 20, 0, TIME_WAIT_VALU, 12, "and gives its result then"},
    {"es", 8, 0, TIME_SALU, 4, "another unit is free"},
    {"m", 16, 16, TIME_ENDED, 12, "4 passes of 4 cycles"},
    {"M", 32, 32, TIME_ENDED, 28, "8 passes of 4 cycles"},
    {"mn", 32, 32, TIME_WAIT_MATRIX, 12, "one after the other"},
    {"mm", 32, 32, TIME_WAIT_MATRIX, 12, "a sum goes on at once"},
    {"maaan", 32, 32, TIME_VALU, 12, "three fit beneath one of 16 cycles"},
    {"maaaan", 36, 32, TIME_VALU, 16, "the fourth does not"},
    {"mb", 36, 16, TIME_WAIT_RESULT, 28, "its result: 4 passes later"},
    {"mA", 48, 32, TIME_WAIT_RESULT, 28, "as A of the next one, too"},
    {"mC", 40, 32, TIME_WAIT_RESULT, 20, "as C of another: 2 passes later"},
    {"dw", 124, 0, TIME_WAIT_LDS, 116, "4 + 2 x 8 of the port, then 100"},
    {"ddw", 144, 0, TIME_WAIT_LDS, 132, "one after the other on the port"},
    {"ddx", 124, 0, TIME_WAIT_LDS, 112, "the first of two"},
    {"d d dw", 144, 0, TIME_WAIT_LDS, 136, "SIMDs 0 and 2 share a port"},
    {"d dw", 124, 0, TIME_WAIT_LDS, 116, "SIMDs 0 and 1 do not"},
    {"gv", 520, 0, TIME_WAIT_MEMORY, 512, "16 of the address path, then 500"},
    {"ggv", 536, 0, TIME_WAIT_MEMORY, 524, "one after the other"},
    {".a", 20, 0, TIME_INTERNAL, 16, "s_nop 3: four"},
    {"Ja", 20, 0, TIME_SALU, 16, "a branch that is taken"},
    {"ja", 8, 0, TIME_SALU, 4, "and one that is not"},
    {"|a aaaa|a", 24, 0, TIME_WAIT_BARRIER, 16, "the first waits for all"},
    {"a|a aaaa", 20, 0, TIME_WAIT_BARRIER, 8, "or for their ends"},
    {"mn - - - aaaa", 32, 32, TIME_VALU, 16,
     "another wave's beneath: at 4, 8, 12 and 20"},
    {"aa - - - aa", 16, 0, TIME_WAIT_VALU, 8, "the oldest first"},
    {"saa - - - paaa", 24, 0, TIME_WAIT_VALU, 12, "s_setprio before age"},
    {"ss - - - ss", 16, 0, TIME_WAIT_TURN, 8, "one a slot of each kind"},
    {"aa - - - ss", 8, 0, TIME_WAIT_TURN, 0, "two units at the same time"},
};

START_TEST(stream_takes_what_a_hand_finds)
{
    GfxCycles c = issued(by_hand[_i].waves);
    ck_assert_msg(c.cycles == by_hand[_i].cycles,
                  "%s: %lld cycles, %lld by hand: %s", by_hand[_i].waves,
                  (long long)c.cycles, (long long)by_hand[_i].cycles,
                  by_hand[_i].why);
    ck_assert_msg(c.matrix == by_hand[_i].matrix, "%s: matrix units %lld",
                  by_hand[_i].waves, (long long)c.matrix);
    ck_assert_msg(c.wave[by_hand[_i].time] == by_hand[_i].spent,
                  "%s: %s %lld, %lld by hand", by_hand[_i].waves,
                  gfx_time_name(by_hand[_i].time),
                  (long long)c.wave[by_hand[_i].time],
                  (long long)by_hand[_i].spent);
}
END_TEST

// Four SIMDs whose matrix units never rest but for the last issue.
START_TEST(utilisation_is_of_all_four)
{
    GfxCycles four = issued("MMMM MMMM MMMM MMMM"), one = issued("MMMM");
    ck_assert_double_eq(gfx_matrix_utilisation(&four), 1.0);
    ck_assert_double_eq(gfx_matrix_utilisation(&one), 0.25);
}
END_TEST

// A single wave's 64 reads as they were measured on an MI300X, in cycles.
START_TEST(reads_take_what_was_measured)
{
    static const struct {
        int banks, measured;
    } sweep[] = {{2, 501}, {4, 852}, {8, 1384}};
    Setup *s = calloc(1, sizeof *s);
    char letters[66];
    GfxCycles out;

    memset(letters, 'd', 64);
    letters[64] = 'w';
    letters[65] = 0;
    s->arena = arena_create();
    s->object.code = s->code;
    s->traces[0] = stream(s, letters);
    for (int i = 0; i < 64; i++)
        s->traces[0].at[i].lds = (uint16_t)sweep[_i].banks;
    gfx_cycles(s->arena, &s->object, s->traces, 1, 1, 1, &out);
    double rel = (double)out.cycles / sweep[_i].measured;
    ck_assert_msg(rel > 0.95 && rel < 1.3, "%lld cycles, %d measured",
                  (long long)out.cycles, sweep[_i].measured);
    arena_destroy(s->arena);
    free(s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cycles");
    TCase *t = tcase_create("cycles");

    tcase_add_loop_test(t, stream_takes_what_a_hand_finds, 0,
                        (int)countof(by_hand));
    tcase_add_test(t, utilisation_is_of_all_four);
    tcase_add_loop_test(t, reads_take_what_was_measured, 0, 3);
    suite_add_tcase(s, t);
    return unit_run(s);
}
