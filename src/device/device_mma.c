// device_mma.c - matrix instructions by name: ours and the vendors' mnemonics.
//
// A name is read as words between '.' and '_': the unit (mma, wgmma, mfma), a
// shape (m16n8k16 or 32x32x8, with 4b for blocks) and formats. Words that
// carry no choice (sync, aligned, row, col, v) are skipped.
#include "device/device.h"

#include <limits.h>

static const DeviceMma instructions[] = {
#define MMA(name_, unit_, archs_, m_, n_, k_, blocks_, a_, b_, acc_, cycles_, \
            bits_, layout_)                                                   \
    {                                                                         \
        .name = name_, .unit = MMA_UNIT_##unit_, .archs = archs_, .m = m_,    \
        .n = n_, .k = k_, .blocks = blocks_, .a = MMA_##a_, .b = MMA_##b_,    \
        .acc = MMA_##acc_, .cycles = cycles_, .bits = BASIS_##bits_,          \
        .layout = BASIS_##layout_,                                            \
    },
#include "device/mma.def"
};

int mma_count(void)
{
    return countof(instructions);
}

const DeviceMma *mma_at(int i)
{
    return &instructions[i];
}

bool device_has_mma(const Device *d, const DeviceMma *m)
{
    return m->archs >> d->arch & 1;
}

static bool wgmma_n_valid(MmaType a, int n)
{
    if (n < 8 || n > 256 || n % 8)
        return false;
    bool integer = a == MMA_S8 || a == MMA_U8;
    return !integer || n <= 32 || n % 16 == 0;
}

// What a name says, word by word.
typedef struct {
    bool unit_known, shape_known, acc_first;
    MmaUnit unit;
    int m, n, k, blocks;
    MmaType types[4];
    int type_count;
    Text unknown;                               // first word not understood
} Parsed;

static bool read_number(Text *t, int *out)
{
    int value = 0;
    size_t i = 0;
    for (; i < t->len && t->at[i] >= '0' && t->at[i] <= '9'; i++) {
        if (i == 4)
            return false;
        value = value * 10 + (t->at[i] - '0');
    }
    *out = value;
    *t = text_slice(*t, i, t->len);
    return i > 0;
}

static bool read_letter(Text *t, char letter)
{
    if (t->len == 0 || t->at[0] != letter)
        return false;
    *t = text_slice(*t, 1, t->len);
    return true;
}

// m16n8k16 or 16x16x16, the latter with a format right behind it (builtins).
static bool read_shape(Text t, Parsed *p, Text *rest)
{
    Text mnk = t, x = t;
    *rest = (Text){0};
    if (read_letter(&mnk, 'm') && read_number(&mnk, &p->m) &&
        read_letter(&mnk, 'n') && read_number(&mnk, &p->n) &&
        read_letter(&mnk, 'k') && read_number(&mnk, &p->k) && mnk.len == 0)
        return true;
    if (!read_number(&x, &p->m) || !read_letter(&x, 'x') ||
        !read_number(&x, &p->n) || !read_letter(&x, 'x') ||
        !read_number(&x, &p->k))
        return false;
    *rest = x;
    return true;
}

static bool read_blocks(Text t, Parsed *p)
{
    int blocks;
    if (!read_number(&t, &blocks) || !text_is(t, "b"))
        return false;
    p->blocks = blocks;
    return true;
}

static bool read_unit(Text t, Parsed *p)
{
    static const char *const units[] = {"mma", "wgmma", "mfma"};
    if (p->unit_known)
        return false;
    for (int i = 0; i < 3; i++) {
        if (!text_is(t, units[i]))
            continue;
        p->unit = (MmaUnit)i;
        p->unit_known = true;
        return true;
    }
    return false;
}

// AMD writes i8/i32, fp8/bf8 and xf32 for what we call s8, e4m3fnuz and tf32.
static bool read_type(Text t, Parsed *p)
{
    static const struct {
        const char *name;
        MmaType type;
    } other[] = {
        {"i8", MMA_S8}, {"i32", MMA_S32}, {"xf32", MMA_TF32},
        {"fp8", MMA_E4M3FNUZ}, {"bf8", MMA_E5M2FNUZ},
    };
    MmaType type = MMA_TYPE_COUNT;
    for (size_t i = 0; i < countof(other); i++)
        if (text_is(t, other[i].name))
            type = other[i].type;
    if (type == MMA_TYPE_COUNT && !mma_type_find(t, &type))
        return false;
    if (p->type_count == 4)
        return false;
    p->types[p->type_count++] = type;
    return true;
}

static bool is_noise(Text t)
{
    static const char *const words[] = {
        "v", "sync", "aligned", "row", "col", "async", "1k", "builtin",
        "amdgcn", "",
    };
    for (size_t i = 0; i < countof(words); i++)
        if (text_is(t, words[i]))
            return true;
    return false;
}

static void read_word(Text word, Parsed *p)
{
    if (read_unit(word, p) || is_noise(word))
        return;
    if (text_is(word, "mma") && p->unit_known)
        return;                                 // wgmma.mma_async
    Text rest;
    if (!p->shape_known && read_shape(word, p, &rest)) {
        p->shape_known = true;
        p->acc_first = p->type_count == 1;
        if (rest.len == 0)
            return;
        word = rest;
    }
    if (read_blocks(word, p) || read_type(word, p))
        return;
    if (!p->unknown.at)
        p->unknown = word;
}

static Parsed parse_name(Text name)
{
    Parsed p = {.blocks = 1};
    size_t from = 0;
    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.at[i] != '.' && name.at[i] != '_')
            continue;
        read_word(text_slice(name, from, i), &p);
        from = i + 1;
    }
    return p;
}

// Formats as written: NVIDIA d [a [b [c]]], AMD [d before the shape] a [b].
static void operands(const Parsed *p, MmaType *a, MmaType *b)
{
    int first = 0, count = p->type_count;
    if (p->unit != MMA_UNIT_MFMA && count > 1)
        first = 1;
    if (p->unit == MMA_UNIT_MFMA && p->acc_first && count > 1)
        first = 1;
    *a = p->types[first];
    *b = first + 1 < count ? p->types[first + 1] : *a;
}

static bool same_fp8(MmaType written, MmaType row)
{
    return written == row ||
           (written == MMA_E4M3FNUZ && row == MMA_E4M3) ||
           (written == MMA_E5M2FNUZ && row == MMA_E5M2);
}

static bool matches(const Parsed *p, const DeviceMma *m)
{
    MmaType a, b;
    operands(p, &a, &b);
    bool mfma = m->unit == MMA_UNIT_MFMA;
    bool acc_written = mfma ? p->acc_first : p->type_count > 1;
    return p->unit == m->unit && p->m == m->m && p->k == m->k &&
           (m->n == 0 || p->n == m->n) && p->blocks == m->blocks &&
           (mfma ? same_fp8(a, m->a) && same_fp8(b, m->b)
                 : a == m->a && b == m->b) &&
           (!acc_written || p->types[0] == m->acc);
}

static const char *problem(const Parsed *p)
{
    if (!p->unit_known)
        return "a name starts with mma, wgmma or mfma";
    if (!p->shape_known)
        return "the name has no shape such as m16n8k16 or 32x32x8";
    if (p->type_count == 0)
        return "the name has no operand format such as f16";
    if (p->unknown.at)
        return "the name has a word that is no shape and no format";
    return NULL;
}

bool mma_find(const Device *d, Text name, DeviceMma *out, const char **why)
{
    Parsed p = parse_name(name);
    *why = problem(&p);
    if (*why)
        return false;
    *why = "there is no such instruction";
    for (int i = 0; i < mma_count(); i++) {
        const DeviceMma *m = &instructions[i];
        if (!matches(&p, m))
            continue;
        if (d && !device_has_mma(d, m)) {
            *why = "the target does not have this instruction";
            continue;
        }
        if (m->n == 0 && !wgmma_n_valid(m->a, p.n)) {
            *why = m->a == MMA_S8 || m->a == MMA_U8
                       ? "n of an integer wgmma is 8, 16, 24 or a multiple "
                         "of 16 up to 256"
                       : "n of a wgmma is a multiple of 8 up to 256";
            continue;
        }
        *out = *m;
        out->n = p.n;
        return true;
    }
    return false;
}

const DeviceMma *mma_nearest(Text name)
{
    const DeviceMma *best = NULL;
    int best_distance = INT_MAX;
    for (int i = 0; i < mma_count(); i++) {
        int distance = text_distance(name, text_of(instructions[i].name));
        if (distance < best_distance) {
            best_distance = distance;
            best = &instructions[i];
        }
    }
    return best;
}

bool device_mma_spec(const Device *d, const DeviceMma *m, MmaSpec *out)
{
    bool known = d->arch == ARCH_SM90 || d->arch == ARCH_GFX942;
    return known && device_has_mma(d, m) && m->bits != BASIS_NONE &&
           mma_spec(m->unit, m->a, m->b, m->acc, m->k, out);
}
