// matrix_bench.h - how fast one core computes matrix instructions.
#ifndef CLI_MATRIX_BENCH_H
#define CLI_MATRIX_BENCH_H

#include "cli/cli.h"

// Times a 1024 x 256 x 256 product of each arithmetic on one thread and prints
// the best rate of many short measurements.
int matrix_bench(const Cli *c, MmaPath path);
#endif
