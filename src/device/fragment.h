// fragment.h - which lane's register holds which element of a matrix operand.
//
// Registers are 32 bits; an element is a run of bits in one of them, or two
// registers (f64). Lanes of a wgmma count the 128 threads of a warpgroup.
//
//     operand A: row i of A, k        operand B: k, column j of B
//     operand C and D: row i, column j
#ifndef DEVICE_FRAGMENT_H
#define DEVICE_FRAGMENT_H

#include "device/device.h"

typedef enum { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C } FragmentOperand;

typedef struct {
    bool in_registers;          // false: wgmma reads B (and A) from memory
    int lanes;
    int elements;               // of a lane
    int bits;                   // of an element
    int registers;              // of a lane
    int rows, columns, blocks;  // A: m, k; B: k, n; C: m, n
} Fragment;

Fragment fragment_of(const DeviceMma *m, FragmentOperand operand);

// Element (row, column) of a block.
typedef struct {
    int row, column, block;
} FragmentCell;

// What element e of a lane is, and where in its registers.
FragmentCell fragment_cell(const DeviceMma *m, FragmentOperand operand,
                           int lane, int element);
// The lane and element that hold a cell: the inverse.
void fragment_find(const DeviceMma *m, FragmentOperand operand,
                   FragmentCell cell, int *lane, int *element);
// Register and lowest bit of element e.
void fragment_register(const Fragment *f, int element, int *number, int *bit);
#endif
