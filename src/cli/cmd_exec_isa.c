// cmd_exec_isa.c - runs a kernel of a gfx942 code object on the CPU.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exec_isa.h"
#include "cli/isa_orders.h"
#include "cli/json_keys.h"
#include "support/json.h"
#include "support/parallel.h"

typedef struct {
    Cli *cli;
    const char *file;
    const GfxObject *object;
    GfxLaunch launch;
    IsaArg *args;
    int arg_count;
    GfxBuffer *buffers;
    IsaOrders done;
    double seconds;
} Job;

// ---- what to run ------------------------------------------------------------

static const GfxObject *read_object(Cli *c, const char *path)
{
    const char *why;
    char *at;
    size_t len;
    if (!file_read(path, &at, &len, &why))
        fatal(EXIT_ENVIRONMENT, "cannot read '%s': %s", path, why);
    GfxObject *o = gfx_object_read(c->arena, at, len, &why);
    if (!o)
        fatal(EXIT_ENVIRONMENT, "'%s' %s", path, why);
    free(at);
    return o;
}

static _Noreturn void list_kernels(const Cli *c, const GfxObject *o)
{
    TextBuf b = {0};
    for (int i = 0; i < o->kernel_count; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", o->kernels[i].name);
    cli_usage(c, "%s: --kernel NAME, one of: %.*s",
              cli_given(c, OPT_KERNEL) ? "there is no such kernel"
                                       : "the file has several kernels",
              (int)b.len, b.at);
}

static const GfxKernel *pick_kernel(const Cli *c, const GfxObject *o)
{
    const GfxKernel *k = o->kernel_count == 1 ? &o->kernels[0] : NULL;
    if (cli_given(c, OPT_KERNEL))
        k = gfx_kernel_find(o, cli_text(c, OPT_KERNEL, ""));
    if (!k)
        list_kernels(c, o);
    return k;
}

// "X", "X,Y" or "X,Y,Z".
static void read_sizes(const Cli *c, OptionId o, const char *name,
                       uint32_t out[3])
{
    Text rest = cli_text(c, o, "1");
    for (int d = 0; d < 3; d++) {
        const char *comma = memchr(rest.at, ',', rest.len);
        size_t len = comma ? (size_t)(comma - rest.at) : rest.len;
        int64_t n = 1;
        if (rest.len && (!text_to_i64(text_slice(rest, 0, len), &n) || n < 0
                         || n > INT32_MAX))
            break;
        out[d] = (uint32_t)n;
        rest = text_slice(rest, comma ? len + 1 : len, rest.len);
        if (d == 2 && !rest.len)
            return;
    }
    Text given = cli_text(c, o, "");
    cli_usage(c, "%s '%.*s': expected X, X,Y or X,Y,Z", name, TEXT_ARG(given));
}

// ---- buffers ----------------------------------------------------------------

static void make_buffers(Job *j)
{
    j->buffers = new_array(j->cli->arena, GfxBuffer, j->arg_count + 1);
    int n = 0;
    for (int i = 0; i < j->arg_count; i++)
        if (j->args[i].is_buffer)
            j->buffers[n++] = (GfxBuffer){
                .name = text_cstr(j->cli->arena, j->args[i].spec),
                .bytes = j->args[i].view.bytes,
                .at = xmalloc(j->args[i].view.bytes + 1), .writable = true};
    gfx_place(j->buffers, n);
    j->launch.buffers = j->buffers;
    j->launch.buffer_count = n;
}

static void fill_buffers(Job *j)
{
    int n = 0;
    for (int i = 0; i < j->arg_count; i++)
        if (j->args[i].is_buffer) {
            memcpy(j->buffers[n].at, j->args[i].view.data,
                   j->args[i].view.bytes);
            n++;
        }
}

static void make_kernarg(Job *j)
{
    const GfxKernel *k = j->launch.kernel;
    uint8_t *at = new_array(j->cli->arena, uint8_t, k->kernarg_size + 8);
    int n = 0, buffer = 0;
    Text unknown;
    for (int i = 0; i < k->arg_count; i++) {
        if (text_starts(k->args[i].kind, "hidden_"))
            continue;
        const IsaArg *arg = &j->args[n++];
        uint64_t bits = arg->is_buffer ? j->buffers[buffer++].address
                                       : arg->bits;
        memcpy(at + k->args[i].offset, &bits,
               k->args[i].size < 8 ? k->args[i].size : 8);
    }
    if (!gfx_fill_hidden(&j->launch, at, &unknown))
        fatal(EXIT_LIMIT, "the kernel wants '%.*s', which is not supported",
              TEXT_ARG(unknown));
    j->launch.kernarg = at;
}

static void run_orders(Job *j)
{
    int orders = (int)cli_int(j->cli, OPT_INTERLEAVE, 3, 1, 1000);
    uint64_t seed = (uint64_t)cli_int(j->cli, OPT_SEED, 0, 0, INT64_MAX);
    double from = time_now();
    const char *why;

    if (!isa_run(j->cli->arena, &j->launch, orders, seed, &j->done, &why))
        cli_usage(j->cli, "%s", why);
    j->seconds = time_now() - from;
}

static void write_outputs(Job *j)
{
    const char *why;
    int n = 0;
    for (int i = 0; i < j->arg_count; i++) {
        IsaArg *arg = &j->args[i];
        if (!arg->is_buffer)
            continue;
        ArrayView v = arg->view;
        v.data = j->buffers[n++].at;
        const char *path = text_cstr(j->cli->arena, arg->out);
        if (arg->out.len && !npy_write(path, &v, &why))
            fatal(EXIT_ENVIRONMENT, "cannot write '%s': %s", path, why);
    }
}

// ---- the report -------------------------------------------------------------

static int64_t blocks_of(const Job *j)
{
    return (int64_t)j->launch.grid[0] * j->launch.grid[1] * j->launch.grid[2];
}

static void put_head(TextBuf *b, const Job *j)
{
    const GfxKernel *k = j->launch.kernel;
    const GfxLaunch *l = &j->launch;
    buf_printf(b, "%s:%s on gfx942, executed on this CPU\n", j->file, k->name);
    buf_printf(b, "launch    %u x %u x %u workgroups of %u x %u x %u threads\n",
               l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
               l->block[2]);
    buf_printf(b, "kernel    %d VGPRs, %d AGPRs, %d SGPRs; %d + %d spilled; "
               "LDS %d bytes, private %d bytes a lane\n", k->vgprs, k->agprs,
               k->sgprs, k->vgpr_spills, k->sgpr_spills,
               k->lds_bytes + l->dynamic_lds, k->scratch_bytes);
    buf_printf(b, "orders    %d interleaving%s of the waves\n\n", j->done.count,
               j->done.count == 1 ? "" : "s");
}

static void put_last_line(TextBuf *b, const Job *j)
{
    if (j->done.result.stopped)
        buf_printf(b, "\nstopped %s: %lld of %lld workgroups were done\n",
                   parallel_cancelled() == SIGINT ? "by Ctrl-C"
                                                  : "by --timeout",
                   (long long)j->done.result.blocks_done,
                   (long long)blocks_of(j));
    else if (j->done.finding_count)
        buf_printf(b, "\n%d finding%s in %.2f s\n", j->done.finding_count,
                   j->done.finding_count == 1 ? "" : "s", j->seconds);
    else
        buf_printf(b, "\nclean, %lld workgroup%s in %.2f s\n",
                   (long long)blocks_of(j), blocks_of(j) == 1 ? "" : "s",
                   j->seconds);
}

static void report_text(Job *j)
{
    TextBuf b = {0};
    for (int i = 0; i < j->done.finding_count; i++)
        isa_put_finding(&b, j->file, j->object, &j->done.findings[i]);
    buf_write(&b, stderr);
    buf_clear(&b);
    put_head(&b, j);
    isa_put_counters(&b, &j->done.result);
    if (j->done.result.cycles.cycles) {
        buf_addc(&b, '\n');
        isa_put_cycles(&b, &j->done.result.cycles);
        isa_put_cycle_table(&b, &j->done.result.cycles);
    }
    put_last_line(&b, j);
    buf_write(&b, stdout);
    buf_release(&b);
}

// ---- for machines -----------------------------------------------------------

static void json_sizes(Json *j, const char *key, const uint32_t size[3])
{
    json_key(j, text_of(key));
    json_begin_array(j);
    for (int d = 0; d < 3; d++)
        json_int(j, size[d]);
    json_end_array(j);
}

static void json_finding(Json *out, const Job *j, const GfxFinding *f)
{
    const GfxKernel *k = gfx_kernel_at(j->object, f->pc);
    TextBuf b = {0};
    json_begin_object(out);
    key_text(out, "id", text_of(gfx_finding_id(f->kind)));
    gfx_finding_put(&b, j->object, f);
    key_text(out, "message", buf_view(&b));
    key_text(out, "function", text_of(k ? k->name : ""));
    key_int(out, "offset", (int64_t)(f->pc - (k ? k->entry : OBJECT_BASE)));
    buf_clear(&b);
    isa_print(&b, &j->object->code[(f->pc - OBJECT_BASE) / 4]);
    key_text(out, "instruction", buf_view(&b));
    key_int(out, "workgroup", f->block);
    key_int(out, "wave", f->wave);
    if (f->lane >= 0)
        key_int(out, "lane", f->lane);
    key_int(out, "count", f->count);
    json_end_object(out);
    buf_release(&b);
}

static void json_kernel(Json *out, const Job *j)
{
    const GfxKernel *k = j->launch.kernel;
    json_key(out, TEXT("registers"));
    json_begin_object(out);
    key_int(out, "vgprs", k->vgprs);
    key_int(out, "agprs", k->agprs);
    key_int(out, "sgprs", k->sgprs);
    key_int(out, "vgpr_spills", k->vgpr_spills);
    key_int(out, "sgpr_spills", k->sgpr_spills);
    json_end_object(out);
    key_int(out, "lds_bytes", k->lds_bytes + j->launch.dynamic_lds);
    key_int(out, "private_bytes", k->scratch_bytes);
}

static void report_json(Job *j)
{
    TextBuf b = {0};
    Json out = json_start(&b, true);
    json_begin_object(&out);
    key_text(&out, "schema", TEXT("tilesim/1"));
    key_text(&out, "command", TEXT("exec-isa"));
    key_text(&out, "file", text_of(j->file));
    key_text(&out, "kernel", text_of(j->launch.kernel->name));
    json_sizes(&out, "grid", j->launch.grid);
    json_sizes(&out, "block", j->launch.block);
    json_kernel(&out, j);
    key_int(&out, "interleavings", j->done.count);
    isa_json_counters(&out, &j->done.result);
    isa_json_cycles(&out, &j->done.result.cycles);
    json_key(&out, TEXT("findings"));
    json_begin_array(&out);
    for (int i = 0; i < j->done.finding_count; i++)
        json_finding(&out, j, &j->done.findings[i]);
    json_end_array(&out);
    key_int(&out, "workgroups_done", j->done.result.blocks_done);
    json_key(&out, TEXT("stopped"));
    json_bool(&out, j->done.result.stopped);
    key_int(&out, "exit", isa_exit(&j->done));
    json_end_object(&out);
    buf_addc(&b, '\n');
    buf_write(&b, stdout);
    buf_release(&b);
}

int cmd_exec_isa(Cli *c)
{
    if (!c->operands.len)
        cli_usage(c, "expected FILE.hsaco");
    Job j = {.cli = c, .file = text_cstr(c->arena, c->operands.at[0])};
    j.object = read_object(c, j.file);
    j.launch.object = j.object;
    j.launch.kernel = pick_kernel(c, j.object);
    if (cli_flag(c, OPT_DISASSEMBLE)) {
        TextBuf b = {0};
        isa_disassemble(&b, j.object, j.launch.kernel);
        buf_write(&b, stdout);
        buf_release(&b);
        return EXIT_CLEAN;
    }
    read_sizes(c, OPT_GRID, "--grid", j.launch.grid);
    read_sizes(c, OPT_BLOCK, "--block", j.launch.block);
    j.launch.dynamic_lds = (int)cli_int(c, OPT_LDS, 0, 0, 65536);
    j.args = exec_isa_args(c, j.launch.kernel, &j.arg_count);
    j.launch.resident = isa_resident(
        j.launch.kernel,
        (int)(j.launch.block[0] * j.launch.block[1] * j.launch.block[2]),
        j.launch.dynamic_lds);
    make_buffers(&j);
    make_kernarg(&j);
    fill_buffers(&j);
    run_orders(&j);
    if (!j.done.result.stopped)
        write_outputs(&j);
    if (c->json)
        report_json(&j);
    else
        report_text(&j);
    ExitCode code = isa_exit(&j.done);
    for (int i = 0; i < j.launch.buffer_count; i++)
        free(j.buffers[i].at);
    for (int i = 0; i < j.arg_count; i++)
        free((void *)j.args[i].view.data);
    free(j.done.findings);
    return code;
}
