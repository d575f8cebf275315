// device.h - the hardware that a program can be compiled for, as tables.
//
// device.def has the constants with their sources, mma.def the matrix
// instructions; everything here is a constant table or a pure function.
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "num/mma.h"
#include "support/support.h"

// How sure a figure is. MEASURED: the rule reproduces hardware counters or
// bits at hand; PUBLISHED: it reproduces figures that others published;
// ESTIMATE: neither, and reports print the word.
typedef enum {
    BASIS_NONE, BASIS_MEASURED, BASIS_PUBLISHED, BASIS_ESTIMATE
} Basis;
const char *basis_name(Basis b);
Basis basis_worse(Basis a, Basis b);

typedef enum { VENDOR_NVIDIA, VENDOR_AMD } DeviceVendor;
typedef enum {
    ARCH_SM80, ARCH_SM90, ARCH_GFX942, ARCH_GFX950, ARCH_COUNT
} DeviceArch;
typedef enum { FP8_NONE, FP8_FN, FP8_FNUZ } DeviceFp8;
#define ARCH_BIT(arch) (1u << ARCH_##arch)

typedef enum {
#define DEVICE(id, ...) DEVICE_##id,
#include "device/device.def"
    DEVICE_COUNT
} DeviceId;

typedef enum {
#define DEVICE_FIELD(name, ...) DEVICE_FIELD_##name,
#include "device/device_field.def"
    DEVICE_FIELD_COUNT
} DeviceField;

typedef struct {
    DeviceId id;
    const char *name;                           // "mi300x"
    const char *title;                          // "AMD Instinct MI300X"
    DeviceVendor vendor;
    DeviceArch arch;
    DeviceFp8 fp8;
#define DEVICE_FIELD(name, unit, doc) int64_t name;
#include "device/device_field.def"
} Device;

// device.c - targets by name and number.
int device_count(void);
const Device *device_at(int i);                 // 0 <= i < device_count()
const Device *device_find(Text name);           // NULL: no such target
const Device *device_nearest(Text name);        // for "did you mean"
const char *device_arch_name(const Device *d);  // "sm_90a", "gfx942"

// A constant by number, its unit, meaning and where it is from; for tables.
int64_t device_value(const Device *d, DeviceField f);
const char *device_field_name(DeviceField f);
const char *device_field_unit(DeviceField f);
const char *device_field_doc(DeviceField f);
const char *device_source(const Device *d, DeviceField f);

// Dense matrix peak in TFLOP/s (or TOP/s) at the quoted clock; 0: has none.
double device_peak(const Device *d, MmaType operand);
// Warps (waves) that `threads` threads take.
int device_warps(const Device *d, int threads);

// device_mma.c - matrix instructions.
typedef struct {
    const char *name;                           // as in mma.def
    MmaUnit unit;
    unsigned archs;                             // ARCH_BITs
    int m, n, k, blocks;                        // n = 0: any wgmma n
    MmaType a, b, acc;
    int cycles;                                 // gfx942; 0: not published
    Basis bits, layout;
} DeviceMma;

int mma_count(void);
const DeviceMma *mma_at(int i);
bool device_has_mma(const Device *d, const DeviceMma *m);

// Finds an instruction by mma.def's name or the vendor's mnemonic, in which
// '.' and '_' are the same ("wgmma.m64n128k16.f32.f16", "v_mfma_f32_32x32x8_
// f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"). `d` may be NULL:
// any architecture. wgmma needs its n. On failure `*why` is a sentence.
bool mma_find(const Device *d, Text name, DeviceMma *out, const char **why);
const DeviceMma *mma_nearest(Text name);        // for "did you mean"

// The arithmetic of `m` on `d`; false when nobody knows its bits.
bool device_mma_spec(const Device *d, const DeviceMma *m, MmaSpec *out);
#endif
