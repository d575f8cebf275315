// object.h - a gfx942 code object: its image, kernels and instructions.
//
// The image is the ELF file as it lies in memory, at address OBJECT_BASE. It is
// decoded once, an instruction at every word: a jump finds its target whatever
// stands before it.
#ifndef GFX942_OBJECT_H
#define GFX942_OBJECT_H

#include "gfx942/isa.h"

enum { OBJECT_BASE = 0x10000000 };

typedef struct {
    int offset, size;
    Text kind;                                  // "global_buffer", "hidden_…"
    Text name, type;                            // may be empty
} GfxArg;

typedef struct {
    const char *name;
    uint64_t entry;                             // address of its code
    uint64_t end;                               // where its symbol ends
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties, preload;
    int kernarg_size;
    int lds_bytes, scratch_bytes;               // fixed sizes
    int vgprs, agprs, sgprs;
    int vgpr_spills, sgpr_spills;
    int max_threads;
    GfxArg *args;
    int arg_count;
} GfxKernel;

typedef struct {
    uint8_t *image;
    size_t image_bytes;
    IsaInstr *code;                             // one a word of the image
    size_t words;
    GfxKernel *kernels;
    int kernel_count;
} GfxObject;

// An ELF code object, or the gfx942 one of a clang offload bundle. NULL with a
// sentence when it is none. The object lives in `a` and keeps nothing of `at`.
GfxObject *gfx_object_read(Arena *a, const void *at, size_t len,
                           const char **why);
const GfxKernel *gfx_kernel_find(const GfxObject *o, Text name);
// The kernel whose code holds an address; NULL outside all.
const GfxKernel *gfx_kernel_at(const GfxObject *o, uint64_t address);
#endif
