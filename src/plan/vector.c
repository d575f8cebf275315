// vector.c - how many elements one thread moves at a time.
//
// 16 bytes of the widest dtype of a loop, less where an access is not
// contiguous in the innermost variable or does not start at a multiple.
#include "plan/plan_int.h"

static int gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return (int)(a < 0 ? -a : a);
}

// The largest power of two up to `width` at which the access is contiguous
// and aligned: rows of the buffer are multiples of it, and so is the start.
static int contiguous(const PlanLoop *l, const PlanAccess *a, int width)
{
    const IrBuffer *b = a->buffer;
    int64_t point[IR_MAX_RANK] = {0}, row;
    int64_t first = plan_element(l, a, point);

    if (!ir_is_int(b->shape[b->rank - 1], &row))
        row = 1;
    if (b->rank > 1)
        width = gcd(width, row);
    for (int n = 1; n < width; n++) {
        point[l->rank - 1] = n;
        if (plan_element(l, a, point) != first + n)
            return 1;
    }
    return width;
}

static bool in_memory(const IrBuffer *b)
{
    return b->scope == SCOPE_GLOBAL || b->scope == SCOPE_SHARED ||
           b->scope == SCOPE_SHARED_STATIC;
}

// A move between memory and registers is as wide as memory allows; registers
// count where a loop does more, or nothing else is there.
static bool constrains(const PlanLoop *l, const IrBuffer *b)
{
    bool memory = false;
    int stores = 0;

    for (int i = 0; i < l->access.len; i++) {
        memory |= in_memory(l->access.at[i].buffer);
        stores += l->access.at[i].is_store;
    }
    return in_memory(b) || !memory || stores > 1;
}

int plan_vector(const PlanLoop *l)
{
    int64_t width = l->rank ? l->extent[l->rank - 1] : 1;
    int64_t wanted = ir_attr_int(l->stmt, ATTR_COALESCED_WIDTH, 0);

    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        int bits = dtype_info(a->buffer->dtype)->bits;
        if (constrains(l, a->buffer))
            width = gcd(width, 128 / bits);
        if (in_memory(a->buffer))
            width = contiguous(l, a, (int)width);
    }
    if (wanted > 0 && width % wanted == 0)
        width = wanted;
    return width < 1 ? 1 : (int)width;
}
