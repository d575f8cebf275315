// host.c - one run of one program file: its evaluator and what it may import.
#include <stdlib.h>

#include "host/host.h"

static bool import(Lang *l, Text name, Value *out)
{
    Host *h = lang_options(l)->ctx;
    return tilelang_import(h, name, out) || torch_import(h, name, out)
           || script_import(h, name, out);
}

// What only records kernels may end with the first thing that needs results.
static bool may_stop(Lang *l)
{
    const Host *h = lang_options(l)->ctx;

    return h->options.record_only && h->kernels.len > 0;
}

Host *host_create(const HostOptions *options)
{
    Host *h = xcalloc(1, sizeof *h);
    h->options = *options;
    h->heap.limit = options->memory_limit;
    LangOptions lang = {
        .arena = options->arena,
        .diag = options->diag,
        .sources = options->sources,
        .ops = options->ops,
        .device = options->device,
        .out = options->out,
        .ctx = h,
        .import = import,
        .may_stop = may_stop,
        .argv = options->script_args,
        .argc = options->script_arg_count,
    };
    h->lang = lang_create(&lang);
    h->kept = v_list(h->lang, NULL, 0);
    return h;
}

void host_destroy(Host *h)
{
    lang_destroy(h->lang);
    for (int i = 0; i < h->pointed.len; i++)
        tensor_release(&h->pointed.at[i]);
    tensor_heap_release(&h->heap);
    free(h);
}
