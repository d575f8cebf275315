// gpu.c - a kernel object as a plan, as source, as machine code.
#include <string.h>

#include "host/gpu.h"

const Device *gpu_target(const GpuInfo *info)
{
    if (info->arch)
        return device_find(info->memory > 200LL << 30 ? TEXT("mi325x")
                                                      : TEXT("mi300x"));
    if (info->major < 8)
        return NULL;
    if (info->major != 9)               // the plain path is right everywhere
        return device_find(TEXT("a100"));
    return device_find(info->memory > 100LL << 30 ? TEXT("h200")
                                                  : TEXT("h100"));
}

const char *gpu_arch(Arena *a, const GpuInfo *info)
{
    if (info->arch)
        return info->arch;
    return text_cstr(a, text_format(a, "sm_%d%d%s", info->major, info->minor,
                                    info->major == 9 ? "a" : ""));
}

// "programs/fa.tile" -> "fa.cu", "fa.hip"
static const char *source_name(Host *h, uint32_t file, const Device *target)
{
    const char *path = file ? sources_get(h->options.sources, file)->path
                            : "kernel";
    const char *slash = strrchr(path, '/');
    Text name = text_of(slash ? slash + 1 : path);
    const char *dot = memchr(name.at, '.', name.len);

    if (dot && dot > name.at)
        name = text_slice(name, 0, (size_t)(dot - name.at));
    return text_cstr(h->options.arena,
                     text_format(h->options.arena, "%.*s.%s",
                                 TEXT_ARG(name),
                                 target->vendor == VENDOR_AMD ? "hip" : "cu"));
}

bool gpu_kernel_make(Host *h, KernelObject *k, const Device *target,
                     PlanRules rules, GpuKernel *out)
{
    Arena *a = h->options.arena;

    *out = (GpuKernel){.host = h, .kernel = k, .target = target,
                       .file = k->ir->at.file};
    out->name = source_name(h, out->file, target);
    out->plan = plan_build(a, k->ir, target, rules);
    if (!out->plan || !kernel_follow(k, out->plan))
        return false;
    out->program = gpu_emit(a, out->plan, gpu_dialect_of(target),
                            h->options.sources);
    return out->program != NULL;
}

bool gpu_kernel_build(GpuKernel *k, const char *arch, GpuForm form)
{
    // Every step rounds, as in `run`: the source says where it may not.
    static const char *const nvidia[] = {"--std=c++17", "--fmad=false",
                                         "-lineinfo"};
    static const char *const amd[] = {"-std=c++17", "-ffp-contract=off", "-w",
                                      "-fno-strict-aliasing",
                                      "-fno-math-errno",
                                      "-munsafe-fp-atomics", "-mllvm",
                                      "-disable-promote-alloca-to-lds"};
    bool is_amd = form == GPU_HSACO;
    GpuSource s = {.source = k->program->source, .name = k->name,
                   .arch = arch, .options = is_amd ? amd : nvidia,
                   .option_count = is_amd ? countof(amd) : countof(nvidia),
                   .form = form,
                   .sources = k->host->options.sources, .file = k->file};

    return gpu_build(k->host->options.arena, k->host->options.diag, &s,
                     &k->built);
}
