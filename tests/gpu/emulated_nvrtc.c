// emulated_nvrtc.c - NVRTC's interface to g++: the text of "instructions" gives
// way to emulated_instructions.h, and every kernel gets a function that takes
// its parameters as the driver has them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char *source, *image, log[65536];
    size_t bytes;
} Program;

#define EXPORT __attribute__((visibility("default")))

EXPORT int nvrtcVersion(int *major, int *minor)
{
    *major = 13, *minor = 0;
    return 0;
}

EXPORT const char *nvrtcGetErrorString(int error)
{
    return error ? "g++ failed" : "fine";
}

EXPORT int nvrtcCreateProgram(void **out, const char *source, const char *name,
                              int headers, const char *const *texts,
                              const char *const *names)
{
    Program *p = calloc(1, sizeof *p);

    (void)name, (void)headers, (void)texts, (void)names;
    p->source = strdup(source);
    *out = p;
    return 0;
}

// `type name` of each parameter from `at`, up to `)`: the call's arguments.
static void write_call(FILE *f, const char *at)
{
    const char *open = strchr(at, '('), *end = strchr(open, ')');
    const char *name = open;
    int n = 0;

    while (name > at && (name[-1] == '_' || (name[-1] | 32) - 'a' < 26u ||
                         name[-1] - '0' < 10u))
        name--;
    fprintf(f, "extern \"C\" void %.*s_call(void **p)\n{\n    %.*s(",
            (int)(open - name), name, (int)(open - name), name);
    for (const char *p = open + 1; p < end;) {
        const char *stop = p + strcspn(p, ",)"), *word = stop;
        while (word[-1] == ' ' || word[-1] == '\n')
            word--;
        while (word[-1] == '_' || (word[-1] | 32) - 'a' < 26u ||
               word[-1] - '0' < 10u)
            word--;
        while (*p == ' ' || *p == '\n')
            p++;
        if (word > p && !strncmp(p, "const __grid_constant__", 23))
            fprintf(f, "%s*(TensorMap *)p[%d]", n ? ", " : "", n);
        else if (word > p)
            fprintf(f, "%s*(decltype(static_cast<%.*s>(0)) *)p[%d]",
                    n ? ", " : "", (int)(word - p), p, n);
        n++;
        p = stop + 1;
    }
    fprintf(f, ");\n}\n");
}

// "wgmma_m64n128k16_f16_registers_at_bt": the same by the emulator's templates.
// True if the function that begins here is one; then *end is behind it.
static int write_wgmma(FILE *f, const char *line, const char **end)
{
    const char *name = line + strlen("DEVICE void "), *open;
    int n, k, used = 0, registers;
    char word[8] = "";

    if (strncmp(line, "DEVICE void wgmma_m64n", 22) ||
        sscanf(name, "wgmma_m64n%dk%d_%7[a-z0-9]%n", &n, &k, word, &used) < 3)
        return 0;
    open = strchr(name, '(');
    registers = strstr(name, "_registers") && strstr(name, "_registers") < open;
    int at = strstr(name, "_at") && strstr(name, "_at") < open;
    int bt = strstr(name, "_bt") && strstr(name, "_bt") < open;
    fprintf(f, "static inline void %.*s(float *d, %s a, u64 b, int add)\n{\n"
            "    wgmma_%s<%d, %d, %d, ", (int)(open - name), name,
            registers ? "const u32 *" : "u64",
            registers ? "registers" : "shared", n, k, 32 / k);
    if (!registers)
        fprintf(f, "%d, ", at);
    fprintf(f, "%d>(d, a, b, add, of_%s);\n}\n", !bt, word);
    *end = strstr(line, "\n}\n") + 3;
    return 1;
}

// Shared memory that a launch gives is the emulator's, and it hears of moves.
static void write_line(FILE *f, const char *line, const char *end)
{
    const char *word = strstr(line, "extern __shared__ "), *name;

    if (!word || word > end) {
        if (!strncmp(line, "    *(Bytes<n> *)to = x", 23))
            fprintf(f, "    note_move(to, there ? from : to, n);\n");
        else if (!strncmp(line, "    *(Bytes<n> *)to = ", 22))
            fprintf(f, "    note_move(to, from, n);\n");
        fwrite(line, 1, (size_t)(end - line), f);
        return;
    }
    word += strlen("extern __shared__ ");
    if (!strncmp(word, "__align__", 9))
        word = strchr(word, ')') + 1;
    for (name = strchr(word, '['); name[-1] != ' '; name--)
        ;
    fprintf(f, "    %.*s*%.*s = (%.*s*)*emulator.arena;\n",
            (int)(name - word), word, (int)(strchr(name, '[') - name), name,
            (int)(name - word), word);
}

static void write_source(FILE *f, const Program *p, const char *here)
{
    const char *s = p->source, *from = strstr(s, "// ---- instructions");
    const char *to = strstr(s, "// ---- functions");

    fprintf(f, "#include \"%s/emulated_device.h\"\nextern \"C\" Emulator "
            "emulator = {};\n", here);
    for (const char *c = s; from && c < from;) {
        const char *end = strchr(c, '\n') + 1;
        if (strncmp(c, "#define DEVICE", 14))
            fwrite(c, 1, (size_t)(end - c), f);
        c = end;
    }
    if (strstr(s, "struct f16"))
        fprintf(f, "#define HAS_F16\n");
    if (from)
        fprintf(f, "#include \"%s/emulated_instructions.h\"\n", here);
    for (const char *c = from ? to : s; *c;) {
        const char *end = strchr(c, '\n');
        end = end ? end + 1 : c + strlen(c);
        if (!write_wgmma(f, c, &end))
            write_line(f, c, end);
        c = end;
    }
    fputc('\n', f);
    for (const char *k = s; (k = strstr(k, "extern \"C\" __global__")); k++) {
        const char *at = strchr(strstr(k, "void"), ' ');
        if (!strncmp(at + 1, "__launch_bounds__", 17))
            at = strchr(at, ')') + 1;
        write_call(f, at);
    }
}

EXPORT int nvrtcCompileProgram(void *program, int count,
                               const char *const *options)
{
    Program *p = program;
    const char *here = getenv("EMULATED_HERE"), *keep = getenv("EMULATED_KEEP");
    char folder[] = "/tmp/emulated-XXXXXX", path[512], command[2048];
    int error;

    (void)count, (void)options;
    if (!here || !mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/kernel.cc", folder);
    FILE *f = fopen(path, "w");
    write_source(f, p, here);
    fclose(f);
    snprintf(command, sizeof command,
             "%s -std=gnu++17 -O1 -fno-strict-aliasing -ffp-contract=off -w "
             "-msse2 -fPIC -shared -o %s/kernel.so %s 2>&1",
             getenv("EMULATED_CXX") ? getenv("EMULATED_CXX") : "g++", folder,
             path);
    f = popen(command, "r");
    size_t n = fread(p->log, 1, sizeof p->log - 1, f);
    p->log[n] = '\0';
    error = pclose(f);
    snprintf(path, sizeof path, "%s/kernel.so", folder);
    f = error ? NULL : fopen(path, "r");
    if (f) {
        fseek(f, 0, SEEK_END);
        size_t size = (size_t)ftell(f);
        rewind(f);
        p->bytes = size + 33;
        p->image = calloc(1, p->bytes);
        snprintf(p->image, 32, "%zu", size);
        error = fread(p->image + 32, 1, size, f) != size;
        fclose(f);
    }
    if (!keep) {
        snprintf(command, sizeof command, "rm -r %s", folder);
        if (system(command))
            return 1;
    }
    return error != 0;
}

EXPORT int nvrtcDestroyProgram(void **program)
{
    Program *p = *program;

    free(p->source);
    free(p->image);
    free(p);
    *program = NULL;
    return 0;
}

EXPORT int nvrtcGetProgramLogSize(void *program, size_t *size)
{
    *size = strlen(((Program *)program)->log) + 1;
    return 0;
}

EXPORT int nvrtcGetProgramLog(void *program, char *log)
{
    strcpy(log, ((Program *)program)->log);
    return 0;
}

EXPORT int nvrtcGetCUBINSize(void *program, size_t *size)
{
    *size = ((Program *)program)->bytes;
    return 0;
}

EXPORT int nvrtcGetCUBIN(void *program, char *image)
{
    memcpy(image, ((Program *)program)->image, ((Program *)program)->bytes);
    return 0;
}

EXPORT int nvrtcGetPTXSize(void *program, size_t *size)
{
    return nvrtcGetCUBINSize(program, size);
}

EXPORT int nvrtcGetPTX(void *program, char *image)
{
    return nvrtcGetCUBIN(program, image);
}
