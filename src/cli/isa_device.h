// isa_device.h - the gfx942 executor in the place of a card.
#ifndef CLI_ISA_DEVICE_H
#define CLI_ISA_DEVICE_H

#include "device/device.h"
#include "gpu_backend/gpu_runtime.h"
#include "support/json.h"

typedef struct IsaDevice IsaDevice;

typedef struct {
    const Device *target;
    const char *why;                            // no card runs them
    int orders;                                 // of the waves
    uint64_t seed;
} IsaDeviceOptions;

// Opened as any device; what it finds goes to `d`. Lives in `a`.
Gpu *isa_device_open(Arena *a, Diag *d, const IsaDeviceOptions *o,
                     IsaDevice **out);
// What the launches of the last gpu_run() counted: a line, a member each.
void isa_device_counters(const IsaDevice *d, TextBuf *out);
// Of the longest of them; false: nothing ran.
bool isa_device_cycles(const IsaDevice *d, TextBuf *line, TextBuf *table);
void isa_device_json(const IsaDevice *d, Json *out);

// isa_image.c - the instructions of a code object, kernel by kernel.
bool isa_image_put(TextBuf *out, Arena *a, Text image);
// Its kernels, in order. False, with a sentence: it is no code object.
bool isa_image_usage(Arena *a, Text image, GpuBuilt *out, const char **why);
#endif
