// fake_hiprtc.c - stands in for AMD's hiprtc in tests: as much of it as tilesim
// calls, with $FAKE_CLANG for the compiler. $FAKE_HIPRTC is one more option.
//
// As the library does, it puts a header of its own before the source, in which
// there are functions and types of names that kernels may print, too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID_INPUT = 3, COMPILATION = 6 };

typedef struct {
    char folder[64], name[64];
    char *log, *code;
    size_t log_size, code_size;
} Program;

static const char header[] =
    "typedef struct { int x; } u32;\n"
    "__attribute__((device)) inline double exp(double x) { return x; }\n"
    "__attribute__((device)) inline float tanhf(float x) { return x; }\n";

static void put(const Program *p, const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f))
        abort();
}

static char *get(const Program *p, const char *name, size_t *size)
{
    char path[160], *at = calloc(1, 1 << 22);

    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    FILE *f = fopen(path, "r");
    *size = f ? fread(at, 1, (1 << 22) - 1, f) : 0;
    if (f)
        fclose(f);
    return at;
}

EXPORT const char *hiprtcGetErrorString(int error)
{
    return error == COMPILATION ? "HIPRTC_ERROR_COMPILATION" : NULL;
}

EXPORT int hiprtcVersion(int *major, int *minor)
{
    *major = 9;
    *minor = 0;
    return OK;
}

EXPORT int hiprtcCreateProgram(Program **program, const char *source,
                               const char *name, int headers,
                               const char *const *texts,
                               const char *const *names)
{
    Program *p = calloc(1, sizeof *p);

    (void)texts, (void)names;
    if (headers)
        return INVALID_INPUT;
    strcpy(p->folder, "/tmp/fake-hiprtc-XXXXXX");
    if (!mkdtemp(p->folder))
        abort();
    snprintf(p->name, sizeof p->name, "%s", name);
    put(p, "hiprtc_runtime.h", header);
    put(p, p->name, source);
    *program = p;
    return OK;
}

EXPORT int hiprtcCompileProgram(Program *p, int count,
                                const char *const *options)
{
    char command[4096];
    const char *extra = getenv("FAKE_HIPRTC");
    int n = snprintf(command, sizeof command,
                     "cd %s && %s -x hip --cuda-device-only "
                     "--no-gpu-bundle-output -nogpulib -nogpuinc -O3 "
                     "-D__HIPCC_RTC__ -include hiprtc_runtime.h -std=c++14 %s",
                     p->folder, getenv("FAKE_CLANG"), extra ? extra : "");

    for (int i = 0; i < count; i++)
        n += snprintf(command + n, sizeof command - (size_t)n, " '%s'",
                      options[i]);
    snprintf(command + n, sizeof command - (size_t)n,
             " -o image $PWD/%s >log 2>&1", p->name);
    int status = system(command);
    p->log = get(p, "log", &p->log_size);
    p->code = get(p, "image", &p->code_size);
    return status ? COMPILATION : OK;
}

EXPORT int hiprtcGetProgramLogSize(Program *p, size_t *size)
{
    *size = p->log_size + 1;
    return OK;
}

EXPORT int hiprtcGetProgramLog(Program *p, char *log)
{
    memcpy(log, p->log, p->log_size + 1);
    return OK;
}

EXPORT int hiprtcGetCodeSize(Program *p, size_t *size)
{
    *size = p->code_size;
    return OK;
}

EXPORT int hiprtcGetCode(Program *p, char *code)
{
    memcpy(code, p->code, p->code_size);
    return OK;
}

EXPORT int hiprtcDestroyProgram(Program **program)
{
    char command[128];

    snprintf(command, sizeof command, "/bin/rm -rf %s", (*program)->folder);
    if (system(command))
        abort();
    free((*program)->log);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return OK;
}
