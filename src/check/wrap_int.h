// wrap_int.h - what the files of integer overflow share.
#ifndef CHECK_WRAP_INT_H
#define CHECK_WRAP_INT_H

#include "check/check_int.h"

// What there is to look at where an instruction runs.
typedef enum {
    WRAP_NOTHING,
    WRAP_OP,            // arithmetic on signed numbers
    WRAP_SHIFT,         // a shift's count; its operand is taken for bits
    WRAP_BITS,          // operands are taken for bits
    WRAP_CAST,          // to a narrower signed type
    WRAP_FLOAT,         // a float to an integer
    WRAP_AFFINE, WRAP_COORDINATES,
    WRAP_GEMM, WRAP_REDUCE, WRAP_SCAN, WRAP_WARP, WRAP_ATOMIC,
} WrapKind;

typedef struct {
    uint8_t kind;               // WrapKind
    uint8_t dtype;              // that has to hold the result
    int mask;                   // register: under which it is used, or -1
} WrapSite;

// A place where a number wrapped, as an origin of shadows.
typedef struct {
    uint64_t key;               // 1 + launch and pc; 0: free
} WrapOrigin;

typedef struct Wraps {
    WrapSite **site;            // by launch and pc
    int first;                  // the first origin that is no buffer's
    WrapOrigin origin[SHADE_ORIGIN + 1];
    bool full;
} Wraps;

// wrap_site.c
void wrap_sites(const Code *c, int launch, const uint8_t *buffer_flags,
                WrapSite *out);
// By root buffer: whether something that is taken for bits is stored there.
// The caller frees it.
uint8_t *wrap_buffers(const Code *c);

// wrap.c
typedef __int128 Wide;

bool wrap_fits(DType t, Wide v);
// The origin of what wraps here, and its note, to which the first time's
// operands belong; 0 when there are too many places.
uint8_t wrap_origin(Check *k, const InterpStep *s);
Note *wrap_note(Check *k, const InterpStep *s, int lane, Wide a, Wide b,
                Wide result);

// wrap_tile.c - products, reductions, running sums and atomics
void wrap_gemm(Check *k, const InterpStep *s, const WrapSite *w);
void wrap_reduce(Check *k, const InterpStep *s, const WrapSite *w);
void wrap_scan(Check *k, const InterpStep *s, const WrapSite *w);
void wrap_atomic(Check *k, const InterpStep *s, const WrapSite *w);
#endif
