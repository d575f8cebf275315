// library.h - private to gpu_backend: libraries that are found at run time.
#ifndef GPU_BACKEND_LIBRARY_H
#define GPU_BACKEND_LIBRARY_H

#include "support/support.h"

// NULL: not there; its path is added to `looked`. `folder` ends with a slash or
// is empty.
void *library_open(TextBuf *looked, const char *folder, const char *name);
// A library of ROCm's, the first of its names: where the system looks, then
// below $ROCM_PATH and $HIP_PATH, or /opt/rocm where neither is set.
void *library_open_rocm(TextBuf *looked, const char *const *names, size_t n);
#endif
