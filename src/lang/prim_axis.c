// prim_axis.c - T.thread_binding and T.launch_thread: an axis of the launch by
// its name.
#include "lang/trace_int.h"

// The axes of a launch: block indices, then thread indices.
static int axis_named(Lang *l, Value v, const Bound *b)
{
    static const char *const names[] = {
        "blockIdx.x", "blockIdx.y", "blockIdx.z",
        "threadIdx.x", "threadIdx.y", "threadIdx.z",
    };

    for (int d = 0; d < (int)countof(names); d++)
        if (v.kind == VAL_STR && text_is(v.s, names[d]))
            return d;
    lang_unsupported(l, b->call, "%s of something other than blockIdx and "
                     "threadIdx", b->info->surface);
}

// Within a T.Kernel: the index itself. Loops over the axes that are no T.Kernel
// make a launch, each its own part of it: see launch_axis.
static Value axis_index(Lang *l, const Bound *b, int axis, Value extent)
{
    const Trace *t = trace_need(l, b->info->surface, b->call);
    int dim = axis % 3;

    if (!t->launch || (t->by_axes && axis != 3 + dim)
        || (t->by_axes && t->launch->threads[dim] == 1)) {
        LoopFrame *f = new (lang_arena(l), LoopFrame);

        f->at = b->call;
        f->axis = axis + 1;
        f->extent[0] = to_expr(l, extent, b->call);
        return (Value){.kind = VAL_LOOPFRAME, .loop = f};
    }
    if (axis < 3)
        lang_unsupported(l, b->call, "a blockIdx within a T.Kernel");
    if (extent.kind != VAL_INT || extent.i != t->launch->threads[dim])
        lang_raise(l, "ValueError", b->call,
                   "%s goes over all %lld threads of threadIdx.%c, from 0",
                   b->info->surface, (long long)t->launch->threads[dim],
                   'x' + dim);
    return v_expr(thread_dim(l, b, dim));
}

// One more axis of a launch that loops make: v is its index.
Value launch_axis(Lang *l, const LoopFrame *f, Span at)
{
    IrStmt *launch = l->trace->launch;
    int axis = f->axis - 1, dim = axis % 3;
    int64_t n;

    if (axis < 3) {
        launch->extent[dim] = f->extent[0];
        return v_expr(ir_use(l->trace->k, launch->vars[dim], at));
    }
    if (!ir_is_int(f->extent[0], &n) || n < 1 || n > 1024)
        lang_raise(l, "ValueError", f->at, "a block has 1 to 1,024 threads");
    launch->threads[dim] = n;
    return v_expr(ir_op1(l->trace->k, OP_GET_THREAD_BINDING,
                         ir_int(l->trace->k, DT_I32, dim, at), at));
}

// T.thread_binding(start, stop, thread="threadIdx.x"): the index itself; as
// what a for loop iterates it is one turn for each thread.
static Value thread_binding(Lang *l, const Bound *b)
{
    Value thread = b->at[2], stop = b->at[1], start = v_int(0);

    if (thread.kind == VAL_UNBOUND && stop.kind == VAL_STR) {
        thread = stop;
        stop = b->at[0];
    } else if (stop.kind == VAL_UNBOUND) {
        stop = b->at[0];
    } else {
        start = b->at[0];
    }
    if (start.kind != VAL_INT || start.i)
        lang_raise(l, "ValueError", b->call, "T.thread_binding starts at 0");
    return axis_index(l, b, axis_named(l, thread, b), stop);
}

Value axis_call(Lang *l, const Bound *b)
{
    if (b->op == OP_THREAD_BINDING)
        return thread_binding(l, b);
    launch_around(l, b);
    return axis_index(l, b, axis_named(l, b->at[0], b), b->at[1]);
}
