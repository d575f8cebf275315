// tilelang_int.h - private to tilelang*.c and autotuner.c.
#ifndef HOST_TILELANG_INT_H
#define HOST_TILELANG_INT_H

#include "host/host.h"

// Functions of the package; ctx is the Host.
typedef Value TilelangFn(Lang *l, void *ctx, const Args *args);

// tilelang.c
TilelangFn tilelang_jit, tilelang_autotune, tilelang_compile;
Value keyword(const Args *args, const char *name);      // UNBOUND: not given

// autotuner.c
Value autotuner_class(Host *h);                         // AutoTuner

// pytest.c: the module _pytest, what prelude/pytest.py is built on.
Value pytest_helpers(Host *h);
#endif
