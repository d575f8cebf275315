// gpu_pointed.c - tensors that a kernel reaches by their addresses.
//
// The program has the addresses of this process, in tables or as arguments.
// Each storage whose address it asked for is on the device as well, and where a
// 64-bit integer that the kernel is given is an address in one of them, the
// kernel gets the device's. What it writes there is held against the CPU's.
#include <stdlib.h>
#include <string.h>

#include "host/gpu.h"

static bool uses_addresses(const IrKernel *ir)
{
    for (int i = 0; i < ir->buffer_count; i++)
        if (ir->buffers[i]->pointed)
            return true;
    for (int i = 0; i < ir->param_count; i++)
        if (ir->params[i].pointer)
            return true;
    return false;
}

// The storage as one row.
static Tensor whole(const Tensor *t)
{
    Tensor row = *t;

    row.offset = 0;
    row.rank = 1;
    row.shape[0] = (int64_t)(tensor_bytes(t) / dtype_bytes(t->dtype, 1));
    tensor_row_major(&row);
    tensor_touch(&row);
    return row;
}

// One tensor would be in two places.
static bool is_passed_too(const GpuCase *c, const Tensor *t)
{
    const IrKernel *ir = c->kernel->kernel->ir;

    for (int i = 0; i < ir->param_count; i++)
        if (!ir->params[i].is_scalar
            && c->c->args[i].tensor.storage == t->storage) {
            diag_error(c->kernel->host->options.diag, EXIT_LIMIT,
                       ir->params[i].buffer->at, "gpu-pointer",
                       "'%.*s' is passed to a kernel that may reach it by its "
                       "address, too: that is not supported on a GPU",
                       TEXT_ARG(ir->params[i].name));
            return true;
        }
    return false;
}

bool gpu_pointed_make(GpuCase *c)
{
    const Host *h = c->kernel->host;

    if (!uses_addresses(c->kernel->kernel->ir))
        return true;
    c->pointed = new_array(h->options.arena, GpuPointed, h->pointed.len + 1);
    for (int i = 0; i < h->pointed.len; i++) {
        GpuPointed *p = &c->pointed[i];

        if (is_passed_too(c, &h->pointed.at[i]))
            return false;
        p->here = whole(&h->pointed.at[i]);
        if (!gpu_alloc(c->gpu, tensor_bytes(&p->here), TEXT("an address"),
                       &p->there))
            return false;
        c->pointed_count++;
    }
    return true;
}

void gpu_pointed_release(GpuCase *c)
{
    for (int i = 0; i < c->pointed_count; i++) {
        gpu_free(c->gpu, &c->pointed[i].there);
        tensor_release(&c->pointed[i].got);
    }
    c->pointed_count = 0;
}

bool gpu_pointed_put(GpuCase *c)
{
    for (int i = 0; i < c->pointed_count; i++)
        if (!gpu_put(c->gpu, &c->pointed[i].there,
                     tensor_data(&c->pointed[i].here)))
            return false;
    return true;
}

int64_t gpu_pointed_address(const GpuCase *c, int64_t at)
{
    for (int i = 0; i < c->pointed_count; i++) {
        const GpuPointed *p = &c->pointed[i];
        int64_t from = (intptr_t)tensor_data(&p->here);

        if (at >= from && at < from + (int64_t)p->there.bytes)
            return (int64_t)p->there.at + (at - from);
    }
    return at;
}

bool gpu_pointed_table(const GpuCase *c, const Tensor *t, Tensor *out)
{
    const int64_t *from = tensor_data(t);
    int64_t *to;

    if (!c->pointed_count || !dtype_is_int(t->dtype)
        || dtype_info(t->dtype)->bits != 64
        || !tensor_new_raw(tensor_heap(t), out, t->dtype, t->rank, t->shape))
        return false;
    to = tensor_data(out);
    for (int64_t i = 0; i < tensor_count(t); i++)
        to[i] = gpu_pointed_address(c, from[i]);
    return true;
}

bool gpu_pointed_get(GpuCase *c)
{
    for (int i = 0; i < c->pointed_count; i++) {
        GpuPointed *p = &c->pointed[i];

        if (!tensor_new_raw(tensor_heap(&p->here), &p->got, p->here.dtype, 1,
                            p->here.shape)
            || !gpu_get(c->gpu, tensor_data(&p->got), &p->there))
            return false;
    }
    return true;
}
