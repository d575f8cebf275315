// launch_int.h - private to host: what launch.c and case.c share.
#ifndef HOST_LAUNCH_INT_H
#define HOST_LAUNCH_INT_H

#include "host/launch.h"

// launch.c
bool launch_takes(const Function *fn, Text name);       // as a parameter

// arrays.c
// Reports that a file cannot be read; false.
bool array_bad_file(Host *h, Text name, Text file, const char *why);
// The tensor of that name, or the only one of an .npy.
const ArrayView *array_named(const ArrayFile *file, Text name);
#endif
