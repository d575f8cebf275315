// bank.h - what one access of a warp costs in shared memory, bank by bank.
//
// An instruction splits its warp into passes. A pass costs its degree: the
// largest number of different 4-byte words that its lanes touch in one bank
// (lanes on one word share it). docs/devices.md has the rules and what each
// is known from.
#ifndef SIM_LDS_BANK_H
#define SIM_LDS_BANK_H

#include "device/device.h"

typedef enum {
#define BANK_NV(id, ...) BANK_##id,
#define BANK_AMD(id, ...) BANK_##id,
#include "sim_lds/bank_op.def"
    BANK_OP_COUNT
} BankOp;

typedef enum { BANK_LOAD, BANK_STORE, BANK_MATRIX, BANK_ATOMIC } BankKind;

typedef struct {
    const char *name;                           // "ld128", "ds_read2_b64"
    DeviceVendor vendor;
    BankKind kind;
    int bits;                                   // per lane and part
    int parts;                                  // accesses, matrices, operands
} BankOpInfo;

const BankOpInfo *bank_op_info(BankOp op);
bool bank_op_find(DeviceVendor vendor, Text name, BankOp *out);
// The nearest spelling among the vendor's, for "did you mean".
const char *bank_op_nearest(DeviceVendor vendor, Text name);
bool bank_has_op(const Device *d, BankOp op);

enum { BANK_LANES = 64, BANK_PASSES = 8, BANK_WORDS = 64, BANK_MOST = 64 };

// One instruction: byte address per lane plus `offset` of each part (only
// read2 and write2 have a second). Addresses of inactive lanes are not read.
typedef struct {
    BankOp op;
    uint64_t active;
    int64_t offset[2];
    int64_t address[BANK_LANES];
} BankAccess;

typedef struct {
    int passes;                 // after merging; AMD's count empty ones too
    int cycles;                 // NVIDIA: wavefronts; AMD: SQ_LDS_IDX_ACTIVE
    int conflicts;              // NVIDIA: conflicts; AMD: SQ_LDS_BANK_CONFLICT
    Basis cycles_basis, conflicts_basis;
} BankCount;

// Whether the instruction may be issued at all: every active address aligned
// and inside shared memory. False with the lane (or -1) and a sentence.
bool bank_check(const Device *d, const BankAccess *a, int *lane,
                const char **why);

// The cost of an access that bank_check() accepts.
BankCount bank_count(const Device *d, const BankAccess *a);

// bank_pass.c - the same, pass by pass.
typedef struct {
    uint64_t lanes;                             // active lanes it serves
    int part;                                   // matrix, or half of a read2
    int banks;
    int ways;                                   // its degree, 0 when empty
} BankPass;

int bank_passes(const Device *d, const BankAccess *a,
                BankPass out[BANK_PASSES]);

// One word that a pass touches. Words of a bank are numbered by `way` in the
// order of their lowest lane; an atomic has an entry for each lane.
typedef struct {
    int64_t word;                               // byte address / 4
    uint64_t lanes;
    int bank, way;
} BankWord;

int bank_words(const Device *d, const BankAccess *a, const BankPass *pass,
               BankWord out[BANK_WORDS]);
#endif
