// gpu_case.c - the tensors and arguments of one launch on the device.
#include <stdlib.h>
#include <string.h>

#include "host/gpu.h"

// ---- sizes ------------------------------------------------------------------

static void symbol_values(GpuCase *c)
{
    const IrKernel *ir = c->kernel->kernel->ir;

    for (int i = 0; i < ir->param_count; i++) {
        const IrParam *p = &ir->params[i];
        const KernelArg *a = &c->c->args[i];

        if (p->is_scalar) {
            c->symbols[p->var->id] = a->i64;
            continue;
        }
        for (int d = 0; d < p->buffer->rank; d++) {
            IrLinear l;
            int64_t size;

            if (ir_linear(p->buffer->shape[d], &l)
                && ir_linear_solve(&l, a->tensor.shape[d], &size))
                c->symbols[l.symbol->id] = size;
        }
    }
}

static bool size_of(const GpuCase *c, const IrExpr *e, Span at, int64_t *out)
{
    *out = 1;
    if (!e || gpu_eval(c->kernel->program, e, c->symbols, out))
        return true;
    diag_error(c->kernel->host->options.diag, EXIT_LIMIT, at, "gpu-size",
               "this size cannot be computed before the launch");
    return false;
}

// ---- memory -----------------------------------------------------------------

// Elements of 4 bits lie two a byte on the device, and one a byte here.
static bool is_packed(const IrBuffer *b)
{
    return dtype_info(b->dtype)->bits < 8 && b->dtype != DT_BOOL;
}

static size_t device_bytes(const IrBuffer *b, const Tensor *t)
{
    int64_t last = b->rank ? t->shape[b->rank - 1] : 1;

    if (!is_packed(b))
        return (size_t)tensor_count(t) * dtype_bytes(t->dtype, 1);
    return last ? (size_t)(tensor_count(t) / last * ((last + 1) / 2)) : 0;
}

static bool allocate_tensors(GpuCase *c)
{
    const IrKernel *ir = c->kernel->kernel->ir;

    for (int i = 0; i < ir->param_count; i++) {
        const IrParam *p = &ir->params[i];
        size_t bytes;

        if (p->is_scalar)
            continue;
        bytes = device_bytes(p->buffer, &c->c->args[i].tensor);
        if (!gpu_alloc(c->gpu, bytes, p->name, &c->tensors[i]))
            return false;
        *(c->c->is_output[i] ? &c->output_bytes : &c->input_bytes)
            += (int64_t)bytes;
    }
    return true;
}

static bool allocate_workspaces(GpuCase *c)
{
    const GpuProgram *p = c->kernel->program;

    for (int i = 0; i < p->workspace_count; i++) {
        const IrBuffer *b = p->workspaces[i];
        int64_t count = 1, size;

        for (int d = 0; d < b->rank; d++)
            if (!size_of(c, b->shape[d], b->at, &size)
                || __builtin_mul_overflow(count, size, &count))
                return false;
        if (!gpu_alloc(c->gpu, dtype_bytes(b->dtype, count), b->name,
                       &c->workspaces[i]))
            return false;
    }
    return true;
}

// ---- arguments --------------------------------------------------------------

static int workspace_of(const GpuProgram *p, const IrBuffer *b)
{
    for (int i = 0; i < p->workspace_count; i++)
        if (p->workspaces[i] == b)
            return i;
    BUG("a workspace that the program does not list");
}

// The driver's numbers for elements of so many bytes, and for a swizzle.
static int type_of_bytes(size_t n)
{
    return n == 1 ? 0 : n == 2 ? 1 : n == 4 ? 2 : 4;
}

static int swizzle_of(int bytes)
{
    return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

bool gpu_case_map(const GpuCase *c, const GpuParam *p, unsigned long long at,
                  void *map)
{
    enum { PROMOTE_256 = 3 };       // what L2 reads ahead of a box
    const GpuTensorMap *m = &p->map;
    size_t size = dtype_bytes(p->buffer->dtype, 1);
    GpuTensorBox box = {.type = type_of_bytes(size), .rank = m->rank, .at = at,
                        .swizzle = swizzle_of(m->swizzle),
                        .promotion = PROMOTE_256};
    uint64_t stride = size;

    for (int d = 0; d < m->rank; d++) {
        int64_t n;
        if (!size_of(c, m->size[d], p->buffer->at, &n))
            return false;
        box.sizes[d] = n > 0 ? (uint64_t)n : 1;
        stride *= box.sizes[d];
        box.strides[d] = stride;    // from one index of d + 1 to the next
        box.box[d] = (uint32_t)m->box[d];
        box.steps[d] = 1;
    }
    return gpu_tensor_map(c->gpu, &box, map);
}

// Eight bytes hold the value of any argument but a tensor map.
static void argument(const GpuCase *c, const GpuParam *p, uint64_t *value)
{
    const KernelArg *a = p->param >= 0 ? &c->c->args[p->param] : NULL;

    *value = 0;
    switch (p->kind) {
    case GPU_PARAM_TENSOR:
        *value = c->tensors[p->param].at;
        break;
    case GPU_PARAM_WORKSPACE:
        *value = c->workspaces[workspace_of(c->kernel->program, p->buffer)].at;
        break;
    case GPU_PARAM_SCALAR:
        if (c->kernel->kernel->ir->params[p->param].pointer)
            *value = (uint64_t)gpu_pointed_address(c, a->i64);
        else if (dtype_is_float(p->var->dtype))
            num_put_f64(p->var->dtype, value, a->f64);
        else
            num_put_i64(p->var->dtype, value, a->i64);
        break;
    case GPU_PARAM_SYMBOL:
        num_put_i64(p->var->dtype, value, c->symbols[p->var->id]);
        break;
    case GPU_PARAM_TENSOR_MAP:
        break;
    }
}

static unsigned long long address_of(const GpuCase *c, const GpuParam *p)
{
    return p->param >= 0
               ? c->tensors[p->param].at
               : c->workspaces[workspace_of(c->kernel->program, p->buffer)].at;
}

static void *aligned(Arena *a, size_t bytes, size_t to)
{
    uintptr_t at = (uintptr_t)new_array(a, char, bytes + to);
    return (void *)((at + to - 1) / to * to);
}

static bool make_grid(const GpuCase *c, const GpuLaunch *l, GpuCall *call)
{
    static const int64_t limit[3] = {INT32_MAX, 65535, 65535};

    for (int d = 0; d < 3; d++) {
        int64_t size = 1;

        if (d < IR_MAX_GRID && !size_of(c, l->grid[d], l->stmt->at, &size))
            return false;
        if (size < 0 || size > limit[d]) {
            diag_error(c->kernel->host->options.diag, EXIT_LIMIT, l->stmt->at,
                       "gpu-grid", "the grid has %lld blocks along %c: a "
                       "device takes at most %lld", (long long)size, 'x' + d,
                       (long long)limit[d]);
            return false;
        }
        call->grid[d] = (unsigned)size;
        call->threads[d] = (unsigned)l->threads[d];
    }
    return true;
}

static bool make_call(GpuCase *c, const GpuLaunch *l, GpuCall *call)
{
    Arena *a = c->kernel->host->options.arena;
    uint64_t *values = new_array(a, uint64_t, l->param_count + 1);

    *call = (GpuCall){.shared = (size_t)l->dynamic_shared,
                      .cooperative = l->is_cooperative, .at = l->stmt->at};
    call->symbol = text_cstr(a, l->symbol);
    call->parameters = new_array(a, void *, l->param_count + 1);
    for (int i = 0; i < l->param_count; i++) {
        const GpuParam *p = &l->params[i];
        argument(c, p, &values[i]);
        call->parameters[i] = &values[i];
        if (p->kind != GPU_PARAM_TENSOR_MAP)
            continue;
        call->parameters[i] = aligned(a, 128, 64);
        if (!gpu_case_map(c, p, address_of(c, p), call->parameters[i]))
            return false;
    }
    return make_grid(c, l, call)
           && gpu_prepare(c->gpu, &c->module, call)
           && gpu_needs(c->gpu, call, &c->needs[call - c->calls]);
}

bool gpu_case_make(Gpu *g, const GpuKernel *k, LaunchCase *c, GpuCase *out)
{
    Arena *a = k->host->options.arena;
    const GpuProgram *p = k->program;
    bool ok;

    *out = (GpuCase){.gpu = g, .kernel = k, .c = c,
                     .call_count = p->launch_count};
    out->tensors = new_array(a, GpuBuffer, k->kernel->ir->param_count + 1);
    out->workspaces = new_array(a, GpuBuffer, p->workspace_count + 1);
    out->calls = new_array(a, GpuCall, p->launch_count + 1);
    out->needs = new_array(a, GpuNeeds, p->launch_count + 1);
    out->symbols = new_array(a, int64_t, k->kernel->ir->next_var + 1);
    symbol_values(out);
    ok = gpu_enter(g) && allocate_tensors(out) && allocate_workspaces(out)
         && gpu_pointed_make(out) && gpu_load(g, &k->built, &out->module);
    for (int i = 0; ok && i < p->launch_count; i++)
        ok = make_call(out, &p->launches[i], &out->calls[i]);
    return ok;
}

void gpu_case_release(GpuCase *c)
{
    if (!c->gpu)
        return;
    for (int i = 0; i < c->kernel->kernel->ir->param_count; i++)
        gpu_free(c->gpu, &c->tensors[i]);
    for (int i = 0; i < c->kernel->program->workspace_count; i++)
        gpu_free(c->gpu, &c->workspaces[i]);
    gpu_pointed_release(c);
    gpu_unload(c->gpu, &c->module);
}

// ---- contents ---------------------------------------------------------------

static bool put_tensor(GpuCase *c, int i)
{
    const IrBuffer *b = c->kernel->kernel->ir->params[i].buffer;
    const Tensor *t = &c->c->args[i].tensor;
    int64_t shape[TENSOR_MAX_RANK];
    Tensor packed = {0};
    bool ok;

    if (gpu_pointed_table(c, t, &packed)) {
        ok = gpu_put(c->gpu, &c->tensors[i], tensor_data(&packed));
        tensor_release(&packed);
        return ok;
    }
    if (!is_packed(b))
        return gpu_put(c->gpu, &c->tensors[i], tensor_data(t));
    memcpy(shape, t->shape, sizeof shape);
    shape[b->rank - 1] = (t->shape[b->rank - 1] + 1) / 2;
    if (!tensor_new(tensor_heap(t), &packed, tensor_storage_dtype(b->dtype),
                    b->rank, shape))
        return false;
    tensor_pack4(&packed, t);
    ok = gpu_put(c->gpu, &c->tensors[i], tensor_data(&packed));
    tensor_release(&packed);
    return ok;
}

bool gpu_case_put(GpuCase *c, int poison)
{
    const KernelObject *k = c->kernel->kernel;

    for (int i = 0; i < k->ir->param_count; i++) {
        bool fill = poison >= 0 && kernel_is_output(k, i);

        if (k->ir->params[i].is_scalar)
            continue;
        if (fill ? !gpu_fill(c->gpu, &c->tensors[i], (uint8_t)poison)
                 : !put_tensor(c, i))
            return false;
    }
    for (int i = 0; i < c->kernel->program->workspace_count; i++)
        if (poison >= 0
            && !gpu_fill(c->gpu, &c->workspaces[i], (uint8_t)poison))
            return false;
    return gpu_pointed_put(c);
}

bool gpu_case_run(GpuCase *c)
{
    return gpu_run(c->gpu, c->calls, c->call_count);
}

bool gpu_case_get(GpuCase *c, int param, Tensor *out)
{
    const IrBuffer *b = c->kernel->kernel->ir->params[param].buffer;
    const Tensor *t = &c->c->args[param].tensor;
    int64_t shape[TENSOR_MAX_RANK];
    Tensor packed;
    bool ok;

    if (!is_packed(b))
        return tensor_new_raw(tensor_heap(t), out, t->dtype, t->rank, t->shape)
               && gpu_get(c->gpu, tensor_data(out), &c->tensors[param]);
    memcpy(shape, t->shape, sizeof shape);
    shape[b->rank - 1] = (t->shape[b->rank - 1] + 1) / 2;
    if (!tensor_new(tensor_heap(t), &packed, tensor_storage_dtype(b->dtype),
                    b->rank, shape))
        return false;
    ok = gpu_get(c->gpu, tensor_data(&packed), &c->tensors[param])
         && tensor_unpack4(out, &packed, b->dtype, t->shape[b->rank - 1]);
    tensor_release(&packed);
    return ok;
}
