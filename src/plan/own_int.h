// own_int.h - private to own_move.c and own_tile.c.
#ifndef PLAN_OWN_INT_H
#define PLAN_OWN_INT_H

#include "plan/plan_int.h"

typedef struct {
    PlanState *p;
    const IrStmt *stmt;             // the one that is looked at
    const PlanRing *ring;           // of the loop around it, or NULL
    bool by_thread;                 // the launch names its threads
    bool once;                      // the statement is thread 0's alone
    struct {
        PlanMove *at;
        int len, room;
    } moves;
} OwnMoves;

int own_bytes(const IrBuffer *b, int elements);
// What touches registers alone is no move.
void own_add(OwnMoves *m, PlanMove v);
// One element at a time by the one access of the loop.
PlanMove own_plain(const PlanLoop *l, const PlanWork *w);
// own_tile.c
void own_gemm(OwnMoves *m, const PlanGemm *g);
void own_reduce(OwnMoves *m, const IrStmt *s);
void own_scan(OwnMoves *m, IrStmt *s);
#endif
