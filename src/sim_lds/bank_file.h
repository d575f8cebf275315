// bank_file.h - tables of single accesses, one a line.
//
//     op    mask    address of each lane    [cycles    conflicts]
//
// Columns are separated by tabs, addresses by blanks. op is a name of
// bank_op.def, with AMD's offset:N or offset0:N offset1:N behind it; mask is
// hexadecimal; addresses are bytes, decimal or 0x. The address of an inactive
// lane may be '-', and so may a result that nobody knows. Lines that are blank
// or start with '#', and a first line that starts with "op", are no rows.
#ifndef SIM_LDS_BANK_FILE_H
#define SIM_LDS_BANK_FILE_H

#include "sim_lds/bank.h"

typedef struct {
    BankAccess access;
    int line;
    Text op;                                    // as written
    bool has_cycles, has_conflicts;             // results in the file
    int64_t cycles, conflicts;
} BankRow;

typedef struct {
    BankRow *at;
    int len, room;
} BankRows;

// Reads the rows for a device and reports every malformed one to `d`. The
// rows that are sound come out either way.
BankRows bank_file_read(Arena *a, Diag *d, const SourceSet *s, uint32_t file,
                        const Device *device);

// bank_draw.c - lanes over banks, pass by pass.
void bank_draw(TextBuf *out, const Device *d, const BankRow *row, bool color);
#endif
