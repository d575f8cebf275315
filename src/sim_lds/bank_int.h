// bank_int.h - how an architecture splits a wave; private to the bank rule.
#ifndef SIM_LDS_BANK_INT_H
#define SIM_LDS_BANK_INT_H

#include "sim_lds/bank.h"

typedef enum {
    GROUPS_NONE, GROUPS_HALF, GROUPS_BY16, GROUPS_BY8, GROUPS_MIX8,
    GROUPS_MIX16,
} BankGroups;

typedef struct {
    BankGroups groups;                          // AMD only
    int banks;
    Basis basis;                                // NONE: no such instruction
} BankRule;

const BankRule *bank_rule(const Device *d, BankOp op);
#endif
