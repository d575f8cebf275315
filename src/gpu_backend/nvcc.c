// nvcc.c - NVIDIA's compiler as a program, where there is no NVRTC.
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_backend/toolchain_int.h"

extern char **environ;

// Runs a program; both of its outputs go to `out`. Its exit status, or -1.
static int run_program(char *const *words, const char *log, TextBuf *out)
{
    posix_spawn_file_actions_t actions;
    const char *why;
    int status = -1;
    char *text;
    size_t len;
    pid_t pid;
    bool ok;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    ok = !posix_spawn(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    while (ok && waitpid(pid, &status, 0) < 0)
        ;
    if (ok && file_read(log, &text, &len, &why)) {
        buf_add(out, text, len);
        free(text);
    }
    return ok && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool runnable(char *path, size_t room, TextBuf *looked,
                     const char *folder, size_t len, const char *below)
{
    int n = snprintf(path, room, "%.*s%snvcc", (int)len, folder, below);

    if (n > 0 && (size_t)n < room && !access(path, X_OK))
        return true;
    if (looked)
        buf_printf(looked, "%s%s", looked->len ? ", " : "", path);
    path[0] = '\0';
    return false;
}

static bool on_path(char *path, size_t room)
{
    const char *p = getenv("PATH");

    while (p && *p) {
        size_t len = strcspn(p, ":");

        if (len && runnable(path, room, NULL, p, len, "/"))
            return true;
        p += len + (p[len] == ':');
    }
    return false;
}

static bool find(char *path, size_t room, TextBuf *looked)
{
    const char *home = getenv("CUDA_HOME");

    if (!home || !*home)
        home = getenv("CUDA_PATH");
    if (home && *home)
        return runnable(path, room, looked, home, strlen(home), "/bin/");
    if (on_path(path, room))
        return true;
    buf_printf(looked, "%snvcc on PATH", looked->len ? ", " : "");
    return runnable(path, room, looked, "/usr/local/cuda/bin", 19, "/");
}

// A directory of our own, below $TMPDIR.
static bool make_folder(TextBuf *folder)
{
    const char *base = getenv("TMPDIR");

    buf_printf(folder, "%s/tilesim-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder->at) != NULL;
}

static const char *below(Arena *a, const TextBuf *folder, const char *name)
{
    return text_cstr(a, text_format(a, "%s/%s", folder->at, name));
}

// "release 13.0, V13.0.88" of what `nvcc --version` prints.
bool nvcc_find(char *path, char *name, size_t path_room, size_t name_room,
               TextBuf *looked)
{
    TextBuf out = {0}, folder = {0};
    Arena *a = arena_create();
    const char *at = NULL, *log;

    if (find(path, path_room, looked) && make_folder(&folder)) {
        char *const words[] = {path, "--version", NULL};

        log = below(a, &folder, "log");
        if (!run_program(words, log, &out)) {
            buf_addc(&out, '\0');
            at = strstr(out.at, ", V");
        }
        unlink(log);
        rmdir(folder.at);
    }
    if (at)
        snprintf(name, name_room, "nvcc %.*s", (int)strcspn(at + 3, "\n"),
                 at + 3);
    buf_release(&out);
    buf_release(&folder);
    arena_destroy(a);
    return at != NULL;
}

static int command(Arena *a, const GpuSource *s, const char **words)
{
    const char *number = s->arch + 3;
    int n = 1;

    if (s->form == GPU_PTX) {
        words[n++] = "-ptx";
        words[n++] = text_cstr(a, text_format(a, "-arch=compute_%s", number));
    } else {
        words[n++] = "-cubin";
        words[n++] = text_cstr(
            a, text_format(a, "-gencode=arch=compute_%s,code=sm_%s", number,
                           number));
        words[n++] = "--ptxas-options=-v";
    }
    for (int i = 0; i < s->option_count; i++)
        words[n++] = s->options[i];
    words[n++] = "-o";
    return n;
}

bool nvcc_compile(const char *path, Arena *a, const GpuSource *s,
                  TextBuf *image, TextBuf *log)
{
    TextBuf folder = {0};
    const char **words = new_array(a, const char *, s->option_count + 10);
    const char *source, *output, *printed, *why = NULL;
    bool ok = false;
    char *bytes;
    size_t len;
    int n;

    if (!make_folder(&folder)) {
        buf_puts(log, "no temporary directory can be made");
        buf_release(&folder);
        return false;
    }
    source = below(a, &folder, s->name);
    output = below(a, &folder, "image");
    printed = below(a, &folder, "log");
    words[0] = path;
    n = command(a, s, words);
    words[n++] = output;
    words[n++] = source;
    if (file_write(source, s->source.at, s->source.len, &why)
        && !run_program((char *const *)words, printed, log)
        && file_read(output, &bytes, &len, &why)) {
        buf_add(image, bytes, len);
        free(bytes);
        ok = len > 0;
    }
    if (!ok && !log->len)
        buf_puts(log, why ? why : "it printed nothing");
    unlink(source);
    unlink(output);
    unlink(printed);
    rmdir(folder.at);
    buf_release(&folder);
    return ok;
}
