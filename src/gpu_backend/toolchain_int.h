// toolchain_int.h - private to gpu_backend: the compilers and their cache.
#ifndef GPU_BACKEND_TOOLCHAIN_INT_H
#define GPU_BACKEND_TOOLCHAIN_INT_H

#include "gpu_backend/gpu_runtime.h"

// A compiler as a library.
typedef struct {
    void *library;
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *source, const char *name,
                  int headers, const char *const *texts,
                  const char *const *names);
    int (*compile)(void *program, int count, const char *const *options);
    int (*destroy)(void **program);
    int (*log_size)(void *program, size_t *bytes);
    int (*log)(void *program, char *text);
    int (*code_size)(void *program, size_t *bytes);
    int (*code)(void *program, char *image);
    int (*ptx_size)(void *program, size_t *bytes);      // NVIDIA's alone
    int (*ptx)(void *program, char *image);
    const char *(*error_string)(int error);
} Rtc;

typedef struct {
    Rtc nvrtc;                      // library NULL: not found
    char nvcc[512];                 // used when it is; empty: not found
    char clang[512];                // for AMD
    Rtc hiprtc;                     // used when there is none
    char name[64];                  // "NVRTC 13.0", "nvcc 13.0.88"
    char file[640];                 // more of which one it is, or empty
} Toolchain;

// rtc.c
typedef struct {
    const char *name;               // without the prefix
    void **slot;
} RtcNeed;

// Finds functions in r->library, those of all and `own`. False: there is no
// library, or it lacks one; then it is closed, and `looked` says which.
bool rtc_find(Rtc *r, const char *prefix, const RtcNeed *own, size_t own_count,
              TextBuf *looked);
// `image` and `log` are appended to. False: the log says why.
bool rtc_compile(const Rtc *r, const char *source, const GpuSource *s,
                 const char *const *options, int count, TextBuf *image,
                 TextBuf *log);

// nvrtc.c, hiprtc.c. False: not there; what was looked for is added to
// `looked`.
bool nvrtc_find(Rtc *r, char *name, size_t room, TextBuf *looked);
bool nvrtc_compile(const Rtc *r, Arena *a, const GpuSource *s, TextBuf *image,
                   TextBuf *log);
bool hiprtc_find(Rtc *r, char *name, size_t name_room, char *file,
                 size_t file_room, TextBuf *looked);
bool hiprtc_compile(const Rtc *r, Arena *a, const GpuSource *s, TextBuf *image,
                    TextBuf *log);

// nvcc.c
bool nvcc_find(char *path, char *name, size_t path_room, size_t name_room,
               TextBuf *looked);
bool nvcc_compile(const char *path, Arena *a, const GpuSource *s,
                  TextBuf *image, TextBuf *log);

// clang.c
// $TILESIM_CLANG, which stands alone; NULL: not set
const char *clang_given(void);
bool clang_find(char *path, char *name, size_t path_room, size_t name_room,
                TextBuf *looked);
bool clang_compile(const char *path, Arena *a, const GpuSource *s,
                   TextBuf *image, TextBuf *log);

// program.c: compilers that are programs.
// Sets `path` where `folder`, of `len` bytes, has the program.
bool program_at(char *path, size_t room, const char *folder, size_t len,
                const char *name);
bool program_on_path(char *path, size_t room, const char *name);
// What it prints when it is given one option.
bool program_says(const char *path, const char *option, TextBuf *out);
// Runs `words`, of which there are n and room for 4 more: the output and the
// source are added.
bool program_compile(Arena *a, const char **words, int n, const GpuSource *s,
                     TextBuf *image, TextBuf *log);

// build_cache.c: one file an entry, checked when it is read; an entry that is
// damaged counts as absent. Without a home directory there is no cache.
bool cache_read(Text key, TextBuf *image, TextBuf *log);
void cache_write(Text key, Text image, Text log);

// build_log.c
void build_report(Diag *d, const GpuSource *s, const char *toolchain,
                  Text log);
void build_usage(Arena *a, Text log, GpuBuilt *out);
#endif
