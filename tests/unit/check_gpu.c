// check_gpu.c - compilers and their cache; launches where there is a driver.
//
// What needs a compiler or a driver is skipped where there is none. gpu.tap
// runs this with a stand-in for the driver, a machine with a GPU with its own.
#define _GNU_SOURCE                             // memmem
#include "unit.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "gpu_backend/gpu_runtime.h"

static const char copy_source[] =
    "extern \"C\" __global__ void copy(const int *a, int *b, int n)\n"
    "{\n"
    "    int i = blockIdx.x * 256 + threadIdx.x;\n"
    "    if (i < n)\n"
    "        b[i] = a[i];\n"
    "}\n";

static Arena *arena;
static SourceSet *sources;
static FILE *printed;
static Diag *diag;
static char folder[64];

static void set_up(void)
{
    arena = arena_create();
    sources = sources_create();
    printed = unit_capture();
    diag = diag_create(sources, printed, false);
    strcpy(folder, "/tmp/tilesim-check-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void tear_down(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    diag_destroy(diag);
    fclose(printed);
    sources_destroy(sources);
    arena_destroy(arena);
}

static GpuSource source(const char *text)
{
    return (GpuSource){.source = text_of(text), .name = "copy.cu",
                       .arch = "sm_90a", .sources = sources};
}

// Skips the test where there is no compiler; where one is, building has to do.
static bool have_compiler(void)
{
    const char *home = getenv("CUDA_HOME");

    return !access("/usr/local/cuda/lib64/libnvrtc.so.13", R_OK)
           || !access("/usr/local/cuda/lib64/libnvrtc.so.12", R_OK)
           || !system("command -v nvcc >/dev/null 2>&1") || (home && *home);
}

static ExitCode last_exit(void)
{
    return diag_exit(diag);
}

// ---- building ---------------------------------------------------------------

START_TEST(test_build)
{
    GpuSource s = source(copy_source);
    GpuBuilt first, second;

    if (!have_compiler())
        return;
    ck_assert(gpu_build(arena, diag, &s, &first));
    ck_assert(!first.cached);
    ck_assert_uint_gt(first.image.len, 500);
    ck_assert_int_eq(first.usage_count, 1);
    ck_assert(text_is(first.usage[0].symbol, "copy"));
    ck_assert_int_gt(first.usage[0].registers, 3);
    ck_assert_int_eq(first.usage[0].spills, 0);
    ck_assert(gpu_build(arena, diag, &s, &second));
    ck_assert(second.cached);
    ck_assert(text_eq(first.image, second.image));
    ck_assert(text_eq(first.log, second.log));
    // another architecture, other options: other entries
    s.arch = "sm_80";
    ck_assert(gpu_build(arena, diag, &s, &second));
    ck_assert(!second.cached);
    s.options = (const char *[]){"--fmad=false"};
    s.option_count = 1;
    ck_assert(gpu_build(arena, diag, &s, &second));
    ck_assert(!second.cached);
}
END_TEST

START_TEST(test_ptx)
{
    GpuSource s = source(copy_source);
    GpuBuilt built;

    if (!have_compiler())
        return;
    s.form = GPU_PTX;
    ck_assert(gpu_build(arena, diag, &s, &built));
    ck_assert_ptr_nonnull(strstr(built.image.at, ".target sm_90a"));
}
END_TEST

// What a compiler refuses stands at the line of the program.
START_TEST(test_error)
{
    GpuSource s = source("extern \"C\" __global__ void copy(int *b)\n"
                         "{\n"
                         "    b[0] = 1;            // x.tile:2\n"
                         "    int i = threadIdx.x; // x.tile:3\n"
                         "    b[i] = missing\n"
                         "           + 1;          // x.tile:4\n"
                         "}\n");
    const DiagEntry *entries;
    GpuBuilt built;

    if (!have_compiler())
        return;
    s.file = sources_add(sources, "some/x.tile", TEXT("one\n  two\n three\n"));
    ck_assert(!gpu_build(arena, diag, &s, &built));
    ck_assert_int_eq(last_exit(), EXIT_ENVIRONMENT);
    ck_assert_int_gt(diag_entries(diag, &entries), 0);
    ck_assert(memmem(entries[0].message.at, entries[0].message.len, "missing",
                     7));
    Place p = sources_place(sources, s.file, entries[0].at.begin);
    ck_assert_int_eq(p.line, 3);
    ck_assert_int_eq(p.column, 2);
    ck_assert_uint_eq(entries[0].at.end - entries[0].at.begin, 5);
}
END_TEST

static const char *only_entry(void)
{
    const char *path = text_format(arena, "%s/tilesim", folder).at;
    DIR *d = opendir(path);
    const char *found = NULL;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            ck_assert_ptr_null(found);
            found = text_format(arena, "%s/%s", path, e->d_name).at;
        }
    closedir(d);
    ck_assert_ptr_nonnull(found);
    return found;
}

// A damaged entry is built again, and is whole afterwards.
START_TEST(test_damage)
{
    GpuSource s = source(copy_source);
    GpuBuilt built;
    const char *path, *why;
    char *at;
    size_t len;

    if (!have_compiler())
        return;
    ck_assert(gpu_build(arena, diag, &s, &built));
    path = only_entry();
    ck_assert(file_read(path, &at, &len, &why));
    for (int i = 0; i < 4; i++) {
        size_t cut = i == 0 ? len : i == 1 ? len / 2 : i == 2 ? 5 : 0;

        at[len / 2] ^= i == 0;
        ck_assert(file_write(path, at, cut, &why));
        at[len / 2] ^= i == 0;
        ck_assert(gpu_build(arena, diag, &s, &built));
        ck_assert(!built.cached);
        ck_assert(gpu_build(arena, diag, &s, &built));
        ck_assert(built.cached);
    }
    free(at);
}
END_TEST

START_TEST(test_no_compiler)
{
    GpuSource s = source(copy_source);
    const char *home = getenv("CUDA_HOME");
    char *kept = home ? strdup(home) : NULL;
    const DiagEntry *entries;
    GpuBuilt built;

    setenv("CUDA_HOME", "/nowhere", 1);
    ck_assert(!gpu_build(arena, diag, &s, &built));
    ck_assert_int_eq(last_exit(), EXIT_ENVIRONMENT);
    ck_assert_int_ge(diag_entries(diag, &entries), 2);
    ck_assert_ptr_nonnull(strstr(entries[1].message.at,
                                 "/nowhere/lib64/libnvrtc.so.13"));
    ck_assert_ptr_nonnull(strstr(entries[1].message.at, "/nowhere/bin/nvcc"));
    if (kept)
        setenv("CUDA_HOME", kept, 1);
    else
        unsetenv("CUDA_HOME");
    free(kept);
}
END_TEST

// Where CUDA_HOME has no library, the program makes the same kinds of things.
START_TEST(test_nvcc)
{
    GpuSource s = source(copy_source);
    GpuBuilt built;
    const char *home = text_format(arena, "%s/cuda", folder).at;
    const char *make = text_format(
        arena, "n=$(command -v nvcc) && mkdir -p %s/bin && "
        "printf '#!/bin/sh\\nexec %%s \"$@\"\\n' \"$n\" >%s/bin/nvcc && "
        "chmod +x %s/bin/nvcc", home, home, home).at;

    if (system(make))
        return;
    setenv("CUDA_HOME", home, 1);
    ck_assert(gpu_build(arena, diag, &s, &built));
    ck_assert(text_starts(built.toolchain, "nvcc "));
    ck_assert_int_eq(built.usage_count, 1);
    ck_assert(text_is(built.usage[0].symbol, "copy"));
    s.source = TEXT("extern \"C\" __global__ void copy() { missing(); }\n");
    ck_assert(!gpu_build(arena, diag, &s, &built));
    ck_assert_int_eq(last_exit(), EXIT_ENVIRONMENT);
    unsetenv("CUDA_HOME");
}
END_TEST

// ---- running ----------------------------------------------------------------

enum { COUNT = 1000 };

typedef struct {
    Gpu *gpu;
    GpuModule module;
    GpuBuffer a, b;
    int n;
    void *parameters[3];
    GpuCall call;
} Copying;

static bool start(Copying *c, int n)
{
    const GpuInfo *info;
    GpuBuilt built;

    *c = (Copying){.n = n};
    c->gpu = have_compiler() ? gpu_start(arena, diag) : NULL;
    if (!c->gpu)
        return false;
    if (!gpu_open(c->gpu) || !gpu_enter(c->gpu)) {
        gpu_close(c->gpu);
        return false;
    }
    info = gpu_info(c->gpu);
    GpuSource s = source(copy_source);
    s.arch = text_format(arena, "sm_%d%d%s", info->major, info->minor,
                         info->major == 9 ? "a" : "").at;
    ck_assert(gpu_build(arena, diag, &s, &built));
    ck_assert(gpu_load(c->gpu, &built, &c->module));
    ck_assert(gpu_alloc(c->gpu, COUNT * sizeof(int), TEXT("a"), &c->a));
    ck_assert(gpu_alloc(c->gpu, COUNT * sizeof(int), TEXT("b"), &c->b));
    c->parameters[0] = &c->a.at;
    c->parameters[1] = &c->b.at;
    c->parameters[2] = &c->n;
    c->call = (GpuCall){.grid = {(unsigned)(n + 255) / 256, 1, 1},
                        .threads = {256, 1, 1}, .symbol = "copy",
                        .parameters = c->parameters};
    ck_assert(gpu_prepare(c->gpu, &c->module, &c->call));
    return true;
}

static void finish(Copying *c)
{
    gpu_free(c->gpu, &c->a);
    gpu_free(c->gpu, &c->b);
    gpu_unload(c->gpu, &c->module);
    gpu_close(c->gpu);
}

START_TEST(test_run)
{
    int in[COUNT], out[COUNT];
    double ms[5] = {0};
    GpuTiming t = {.runs = 5, .ms = ms};
    GpuNeeds needs;
    bool intact;
    int64_t at;
    Copying c;

    if (!start(&c, COUNT))
        return;
    for (int i = 0; i < COUNT; i++)
        in[i] = i * 7 + 1;
    ck_assert(gpu_put(c.gpu, &c.a, in));
    ck_assert(gpu_fill(c.gpu, &c.b, 0xff));
    ck_assert(gpu_run(c.gpu, &c.call, 1));
    ck_assert(gpu_get(c.gpu, out, &c.b));
    ck_assert_mem_eq(in, out, sizeof in);
    ck_assert(gpu_guards(c.gpu, &c.b, &intact, &at));
    ck_assert(intact);
    ck_assert(gpu_needs(c.gpu, &c.call, &needs));
    ck_assert_int_gt(needs.registers, 3);
    ck_assert_int_gt(needs.blocks, 0);
    ck_assert(gpu_time(c.gpu, &c.call, 1, &t));
    for (int i = 0; i < 5; i++)
        ck_assert(ms[i] > 0);
    finish(&c);
}
END_TEST

// A guard zone that was written to tells where.
START_TEST(test_guards)
{
    bool intact;
    int64_t at;
    Copying c;

    if (!start(&c, COUNT))
        return;
    GpuBuffer after = {c.b.at + c.b.bytes + 9, 1}, before = {c.b.at - 3, 1};
    ck_assert(gpu_fill(c.gpu, &after, 0));
    ck_assert(gpu_guards(c.gpu, &c.b, &intact, &at));
    ck_assert(!intact);
    ck_assert_int_eq(at, COUNT * sizeof(int) + 9);
    ck_assert(gpu_fill(c.gpu, &before, 0));
    ck_assert(gpu_guards(c.gpu, &c.b, &intact, &at));
    ck_assert(!intact);
    ck_assert_int_eq(at, -3);
    ck_assert(gpu_guards(c.gpu, &c.a, &intact, &at));
    ck_assert(intact);
    finish(&c);
}
END_TEST

START_TEST(test_no_memory)
{
    GpuBuffer huge;
    Copying c;

    if (!start(&c, COUNT))
        return;
    ck_assert(!gpu_alloc(c.gpu, (size_t)1 << 45, TEXT("huge"), &huge));
    ck_assert_int_eq(last_exit(), EXIT_LIMIT);
    finish(&c);
}
END_TEST

START_TEST(test_no_fit)
{
    Copying c;

    if (!start(&c, COUNT))
        return;
    c.call.shared = 1 << 20;
    ck_assert(!gpu_prepare(c.gpu, &c.module, &c.call));
    ck_assert_int_eq(last_exit(), EXIT_NO_FIT);
    finish(&c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gpu");
    TCase *t = tcase_create("gpu");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_build);
    tcase_add_test(t, test_ptx);
    tcase_add_test(t, test_error);
    tcase_add_test(t, test_damage);
    tcase_add_test(t, test_no_compiler);
    tcase_add_test(t, test_nvcc);
    tcase_add_test(t, test_run);
    tcase_add_test(t, test_guards);
    tcase_add_test(t, test_no_memory);
    tcase_add_test(t, test_no_fit);
    suite_add_tcase(s, t);
    return unit_run(s);
}
