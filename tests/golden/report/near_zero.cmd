# f32 rounding of terms of size 1, kept as float16: a few of its last steps
run near_zero.tile
# the same size of error as float32 has all its digits, and may not be there
run -D dtype=float32 near_zero.tile
# planted: a hundredth of a step, which the program in f64 still tells
run -D fault=1e-8 near_zero.tile
# planted: 170 last steps
run -D fault=1e-5 near_zero.tile
