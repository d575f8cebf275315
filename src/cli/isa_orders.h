// isa_orders.h - a kernel's machine code, run in several orders of its waves.
#ifndef CLI_ISA_ORDERS_H
#define CLI_ISA_ORDERS_H

#include "gfx942/gfx942.h"
#include "support/json.h"

typedef struct {
    GfxResult result;                           // of the first order
    GfxFinding *findings;                       // of all; to be freed
    int finding_count;
    int count;                                  // orders that ran
} IsaOrders;

// Runs wave by wave first, then with waves that take turns; each order starts
// with the buffers as they are now, and they end as the first one leaves them.
// False with a sentence when the launch itself is impossible.
bool isa_run(Arena *a, const GfxLaunch *l, int orders, uint64_t seed,
             IsaOrders *out, const char **why);
ExitCode isa_exit(const IsaOrders *o);

// "k.hsaco:gemm+0x40: error: ...", the instruction, and who ran it.
void isa_put_finding(TextBuf *b, const char *file, const GfxObject *o,
                     const GfxFinding *f);
void isa_put_counters(TextBuf *b, const GfxResult *r);
void isa_json_counters(Json *out, const GfxResult *r);
// isa_cycles.c - the time of those workgroups that a compute unit holds.
int isa_resident(const GfxKernel *k, int threads, int dynamic_lds);
void isa_put_cycles(TextBuf *b, const GfxCycles *c);        // a line
void isa_put_cycle_table(TextBuf *b, const GfxCycles *c);
void isa_json_cycles(Json *out, const GfxCycles *c);
void isa_disassemble(TextBuf *b, const GfxObject *o, const GfxKernel *k);
#endif
