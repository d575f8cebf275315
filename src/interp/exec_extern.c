// exec_extern.c - calls of C functions, through libffi.
//
// Lanes call one after the other. A pointer is one into the real memory, but
// for arrays that each thread has: those lie interleaved and are copied for
// the time of the call.
#include "interp/interp_int.h"

#include <ffi.h>
#include <stdlib.h>
#include <string.h>

struct NativeCall {
    void (*function)(void);
    ffi_cif cif;
    ffi_type *type[NATIVE_ARGS];
};

// ---- before the run ------------------------------------------------------

static ffi_type *type_of(DType t)
{
    const DTypeInfo *info = dtype_info(t);
    bool sign = info->kind == KIND_INT;

    if (info->kind == KIND_FLOAT)
        return info->bits == 64 ? &ffi_type_double : &ffi_type_float;
    switch (info->bits) {
    case 16: return sign ? &ffi_type_sint16 : &ffi_type_uint16;
    case 32: return sign ? &ffi_type_sint32 : &ffi_type_uint32;
    case 64: return sign ? &ffi_type_sint64 : &ffi_type_uint64;
    default: return sign ? &ffi_type_sint8 : &ffi_type_uint8;
    }
}

static bool find_function(Run *run, Diag *d, const Native *n, NativeCall *c)
{
    const InterpNatives *from = run->options->natives;
    char name[256];
    void *symbol;

    snprintf(name, sizeof name, "%.*s", TEXT_ARG(n->name));
    symbol = from && n->name.len < sizeof name ? from->find(from->ctx, name)
                                               : NULL;
    memcpy(&c->function, &symbol, sizeof symbol);
    if (symbol)
        return true;
    if (from)
        diag_error(d, EXIT_LIMIT, n->at, "no-function", "no library given with "
                   "--extern has a function '%s'", name);
    else
        diag_error(d, EXIT_LIMIT, n->at, "no-function", "'%s' is a C function: "
                   "give the library that has it, with --extern LIB.so", name);
    return false;
}

// The tensor is one piece of memory, and all of it may be written.
static bool open_tensor(Run *run, Diag *d, const Native *n, const Access *a)
{
    const CodeBuffer *b = &run->code->buffer[a->buffer];
    const InterpArg *arg = b->place == BUFFER_PARAM ? &run->args[b->param]
                                                    : NULL;
    int64_t dense = 1;

    for (int k = arg ? arg->rank - 1 : -1; k >= 0; dense *= arg->shape[k--])
        if (arg->shape[k] > 1 && arg->strides[k] != dense) {
            diag_error(d, EXIT_LIMIT, n->at, "not-contiguous", "'%.*s' is not "
                       "contiguous: T.call_extern takes no pointer into it",
                       TEXT_ARG(b->name));
            return false;
        }
    if (arg && arg->writes)
        memset(arg->writes, 1, (size_t)dense);
    return true;
}

static bool prepare(Run *run, Diag *d, const Native *n, NativeCall *c)
{
    ffi_type *result = n->result == DT_NONE ? &ffi_type_void
                                            : type_of(n->result);

    for (int i = 0; i < n->count; i++) {
        int access = n->arg[i].access;

        c->type[i] = access < 0 ? type_of(n->arg[i].dtype) : &ffi_type_pointer;
        if (access >= 0 &&
            !open_tensor(run, d, n, &run->code->access[access]))
            return false;
    }
    if (ffi_prep_cif(&c->cif, FFI_DEFAULT_ABI, (unsigned)n->count, result,
                     c->type) != FFI_OK)
        BUG("libffi cannot call '%.*s'", TEXT_ARG(n->name));
    return find_function(run, d, n, c);
}

bool find_natives(Run *run, Diag *d)
{
    const Code *c = run->code;

    run->native = xcalloc((size_t)c->native_count + 1, sizeof *run->native);
    for (int i = 0; i < c->native_count; i++)
        if (!prepare(run, d, &c->native[i], &run->native[i]))
            return false;
    return true;
}

void release_natives(Run *run)
{
    free(run->native);
}

// ---- one call ------------------------------------------------------------

typedef union {
    ffi_arg integer;
    float f;
    double d;
} Result;

// Little-endian: the low bytes of a lane are the value in a narrower type.
static void call(NativeCall *c, const Native *n, uint64_t *value, Slot *out)
{
    void *at[NATIVE_ARGS];
    Result r = {0};

    for (int i = 0; i < n->count; i++)
        at[i] = &value[i];
    ffi_call(&c->cif, c->function, &r, at);
    if (n->result == DT_NONE)
        return;
    if (dtype_info(n->result)->kind == KIND_FLOAT) {
        memcpy(out, &r, sizeof *out);
        return;
    }
    // libffi widens a narrow integer; what C left above it is cut off
    unsigned unused = 64 - (unsigned)dtype_info(n->result)->bits;
    uint64_t bits = (uint64_t)r.integer << unused;
    if (dtype_info(n->result)->kind == KIND_INT)
        out->i = (int64_t)bits >> unused;
    else
        out->i = (int64_t)(bits >> unused);
    if (dtype_info(n->result)->kind == KIND_BOOL)
        out->i = out->i != 0;
}

const Instr *exec_EXTERN(Worker *w, const Instr *i)
{
    const Native *n = &w->code->native[i->a];
    uint64_t value[NATIVE_ARGS] = {0};
    Slot out = {0};
    bool good = true;

    for (int k = 0; k < n->count; k++) {
        const Access *a = n->arg[k].access < 0
                              ? NULL : &w->code->access[n->arg[k].access];
        int64_t at;

        if (!a) {
            memcpy(&value[k], &w->slot[n->arg[k].reg], sizeof value[k]);
        } else if (element_of(w, a, &at)) {
            const Tensor *t = &w->buffer[a->buffer];

            value[k] = (uintptr_t)(t->at + at * t->element);
            note_store(w, t, at, 0);
        } else {
            good = false;
        }
    }
    if (good)
        call(&w->run->native[i->a], n, value, &out);
    if (i->d >= 0)
        w->slot[i->d] = out;
    return i + 1;
}

// ---- a call for each lane ------------------------------------------------

// The pointers of a chunk, and what is copied for one lane.
typedef struct {
    const Tensor *t;
    int root;
    bool private;
    int64_t *offset;
    char *copy;         // of a private array
    int64_t elements, thread;
} Pointer;

static int64_t elements_of(const CodeBuffer *b)
{
    int64_t n = 1;

    for (int d = 0; d < b->rank; d++)
        n *= b->shape[d];
    return n;
}

// Where each lane's element is; lanes that have none are left out.
static void aim(Worker *w, Pointer *p, const Access *a, const int32_t *mask,
                bool *active)
{
    const CodeBuffer *b = &w->code->buffer[a->buffer];
    Box box;

    set_box(w, &box, a, false);
    lane_offsets(w, &box, mask);
    p->root = b->root;
    p->private = b->place == BUFFER_PRIVATE;
    p->t = &w->buffer[p->private ? b->root : a->buffer];
    p->elements = elements_of(&w->code->buffer[b->root]);
    p->offset = xcalloc((size_t)w->n, sizeof *p->offset);
    memcpy(p->offset, w->offset, (size_t)w->n * sizeof *p->offset);
    for (int lane = 0; lane < w->n; lane++)
        active[lane] &= w->inside[lane] != 0;
    note_store(w, p->t, 0, 0);
}

static void move(const Pointer *p, bool back)
{
    int64_t size = p->t->element;

    for (int64_t e = 0; e < p->elements; e++) {
        char *there = p->t->at + (e * CODE_LANES + p->thread) * size;
        char *here = p->copy + e * size;

        memcpy(back ? there : here, back ? here : there, (size_t)size);
    }
}

// The address for a lane; two pointers into one array share its copy.
static char *address(Pointer *p, int k, int lane)
{
    int64_t at = p[k].offset[lane], size = p[k].t->element;

    if (!p[k].private)
        return p[k].t->at + at * size;
    for (int j = 0; j < k; j++)
        if (p[j].copy && p[j].root == p[k].root)
            return p[j].copy + at / CODE_LANES * size;
    p[k].thread = at % CODE_LANES;
    p[k].copy = xcalloc((size_t)p[k].elements, (size_t)size);
    move(&p[k], false);
    return p[k].copy + at / CODE_LANES * size;
}

static void give_back(Pointer *p)
{
    if (!p->copy)
        return;
    move(p, true);
    free(p->copy);
    p->copy = NULL;
}

static void call_lane(Worker *w, const Instr *i, Pointer *p, int lane)
{
    const Native *n = &w->code->native[i->a];
    uint64_t value[NATIVE_ARGS] = {0};
    size_t size = lane_bytes((LaneType)i->type);
    Slot out = {0};

    for (int k = 0; k < n->count; k++) {
        size_t bytes;

        if (n->arg[k].access >= 0) {
            value[k] = (uintptr_t)address(p, k, lane);
            continue;
        }
        bytes = lane_bytes(lane_type_of(n->arg[k].dtype));
        memcpy(&value[k],
               (char *)w->v[n->arg[k].reg] + (size_t)lane * bytes, bytes);
    }
    call(&w->run->native[i->a], n, value, &out);
    for (int k = 0; k < n->count; k++)
        give_back(&p[k]);
    if (i->d >= 0)
        memcpy((char *)w->v[i->d] + (size_t)lane * size, &out, size);
}

const Instr *exec_VEXTERN(Worker *w, const Instr *i)
{
    const Native *n = &w->code->native[i->a];
    const int32_t *mask = mask_of(w, i->c);
    size_t size = lane_bytes((LaneType)i->type);
    Pointer p[NATIVE_ARGS] = {0};
    bool active[CODE_LANES];

    for (int lane = 0; lane < w->n; lane++)
        active[lane] = !mask || mask[lane];
    for (int k = 0; k < n->count; k++)
        if (n->arg[k].access >= 0)
            aim(w, &p[k], &w->code->access[n->arg[k].access], mask, active);
    if (i->d >= 0)
        memset(w->v[i->d], 0, (size_t)w->n * size);
    for (int lane = 0; lane < w->n; lane++)
        if (active[lane])
            call_lane(w, i, p, lane);
    for (int k = 0; k < n->count; k++)
        free(p[k].offset);
    return i + 1;
}
