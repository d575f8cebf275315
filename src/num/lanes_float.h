// lanes_float.h - simple float steps, lanes_float.inc for both widths.
#ifndef NUM_LANES_FLOAT_H
#define NUM_LANES_FLOAT_H

#include "num/lanes_int.h"

#define F float
#define FN(x) x##32
#define LIBM(x) __builtin_##x##f
#define BITS_OF bits_f32
#define OF_BITS f32_bits
#include "num/lanes_float.inc"

#define F double
#define FN(x) x##64
#define LIBM(x) __builtin_##x
#define BITS_OF bits_f64
#define OF_BITS f64_bits
#include "num/lanes_float.inc"
#endif
