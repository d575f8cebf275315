// bank_pass.c - how an instruction splits its warp, and what words it touches.
//
//   NVIDIA  up to 32 bits   one pass of 32 lanes
//           64 bits         two passes of 16 lanes \ loads: neighbours merge
//           128 bits        four passes of 8 lanes / when lanes pair up
//           ldmatrix xN     N passes, lanes 8i .. 8i+7 address matrix i
//   AMD     by the tables below, once for each half of read2 and write2
#include "sim_lds/bank.h"
#include "sim_lds/bank_int.h"

#include <string.h>

// Lane groups of AMD's LDS. MIX8 and MIX16 serve the second half of the wave
// like the first.
static const struct {
    int count;
    uint64_t lanes[8];
} groups[] = {
    [GROUPS_HALF] = {2, {0xffffffff, 0xffffffff00000000}},
    [GROUPS_BY16] = {4, {0xffff, 0xffff0000, 0xffff00000000,
                         0xffff000000000000}},
    [GROUPS_BY8] = {8, {0xff, 0xff00, 0xff0000, 0xff000000, 0xff00000000,
                        0xff0000000000, 0xff000000000000,
                        0xff00000000000000}},
    // 0-3,20-23   4-7,16-19   8-11,28-31   12-15,24-27
    [GROUPS_MIX8] = {8, {0x00f0000f, 0x000f00f0, 0xf0000f00, 0x0f00f000,
                         0x00f0000f00000000, 0x000f00f000000000,
                         0xf0000f0000000000, 0x0f00f00000000000}},
    // 0-3,12-15,20-27   4-11,16-19,28-31
    [GROUPS_MIX16] = {4, {0x0ff0f00f, 0xf00f0ff0, 0x0ff0f00f00000000,
                          0xf00f0ff000000000}},
};

// Whether every pair of active lanes (l, l^x) has equal addresses.
static bool paired(const BankAccess *a, int x)
{
    for (int l = 0; l < 32; l++) {
        uint64_t both = 1ull << l | 1ull << (l ^ x);
        if ((a->active & both) == both && a->address[l] != a->address[l ^ x])
            return false;
    }
    return true;
}

static int nvidia_passes(const BankAccess *a, const BankOpInfo *op,
                         BankPass *out)
{
    bool matrix = op->kind == BANK_MATRIX;
    int lanes = matrix || op->bits == 128 ? 8 : op->bits == 64 ? 16 : 32;
    if (op->kind == BANK_LOAD && lanes < 32 && (paired(a, 1) || paired(a, 2)))
        lanes *= 2;
    int count = matrix ? op->parts : 32 / lanes;
    uint64_t first = (1ull << lanes) - 1;
    for (int i = 0; i < count; i++)
        out[i] = (BankPass){
            .lanes = a->active & first << i * lanes,
            .part = matrix ? i : 0,
            .banks = 32,
        };
    return count;
}

static int amd_passes(const BankAccess *a, const BankOpInfo *op,
                      const BankRule *rule, BankPass *out)
{
    int count = 0;
    for (int part = 0; part < op->parts; part++)
        for (int g = 0; g < groups[rule->groups].count; g++)
            out[count++] = (BankPass){
                .lanes = a->active & groups[rule->groups].lanes[g],
                .part = part,
                .banks = rule->banks,
            };
    return count;
}

// Enters the word of `lane` unless another lane of the pass has it already;
// lanes of an atomic never share.
typedef struct {
    BankWord *at;
    int count;
    int8_t head[BANK_MOST], next[BANK_WORDS], ways[BANK_MOST];
} WordSet;

static void enter_word(WordSet *s, int64_t word, int lane, int banks,
                       bool share)
{
    int bank = (int)(word % banks);
    for (int i = s->head[bank]; share && i >= 0; i = s->next[i]) {
        if (s->at[i].word == word) {
            s->at[i].lanes |= 1ull << lane;
            return;
        }
    }
    s->at[s->count] = (BankWord){
        .word = word, .lanes = 1ull << lane,
        .bank = bank, .way = s->ways[bank]++,
    };
    s->next[s->count] = s->head[bank];
    s->head[bank] = (int8_t)s->count++;
}

int bank_words(const Device *d, const BankAccess *a, const BankPass *pass,
               BankWord out[BANK_WORDS])
{
    const BankOpInfo *op = bank_op_info(a->op);
    int words = op->bits > 32 ? op->bits / 32 : 1;
    bool twice = op->vendor == VENDOR_AMD;
    int64_t offset = a->offset[twice ? pass->part : 0];
    WordSet set = {.at = out};
    memset(set.head, -1, sizeof set.head);
    for (uint64_t left = pass->lanes; left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        int64_t first = (a->address[lane] + offset) / d->bank_bytes;
        for (int w = 0; w < words; w++)
            enter_word(&set, first + w, lane, pass->banks,
                       op->kind != BANK_ATOMIC);
    }
    return set.count;
}

int bank_passes(const Device *d, const BankAccess *a,
                BankPass out[BANK_PASSES])
{
    const BankOpInfo *op = bank_op_info(a->op);
    int count = d->vendor == VENDOR_NVIDIA
                    ? nvidia_passes(a, op, out)
                    : amd_passes(a, op, bank_rule(d, a->op), out);
    BankWord words[BANK_WORDS];
    for (int i = 0; i < count; i++) {
        int n = bank_words(d, a, &out[i], words);
        for (int w = 0; w < n; w++)
            if (words[w].way >= out[i].ways)
                out[i].ways = words[w].way + 1;
    }
    return count;
}
