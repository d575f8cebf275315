// count_op.c - which instruction a move is, by its kind, width and device.
#include "sim_lds/count_int.h"

// Whether interp tells when a statement begins.
static bool count_has_event(const IrStmt *s)
{
    return s->kind == STMT_TILE || s->kind == STMT_STORE ||
           s->kind == STMT_EVAL ||
           (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL);
}

static int width_of(int bytes)
{
    return bytes <= 1 ? 0 : bytes <= 2 ? 1 : bytes <= 4 ? 2 : bytes <= 8 ? 3 : 4;
}

BankOp count_bank_op(const Device *d, const PlanMove *v)
{
    static const BankOp nvidia[2][5] = {
        {BANK_LD8, BANK_LD16, BANK_LD32, BANK_LD64, BANK_LD128},
        {BANK_ST8, BANK_ST16, BANK_ST32, BANK_ST64, BANK_ST128},
    };
    static const BankOp amd[2][5] = {
        {BANK_READ_U8, BANK_READ_U16, BANK_READ_B32, BANK_READ_B64,
         BANK_READ_B128},
        {BANK_WRITE_B8, BANK_WRITE_B16, BANK_WRITE_B32, BANK_WRITE_B64,
         BANK_WRITE_B128},
    };
    bool is_amd = d->vendor == VENDOR_AMD;

    if (v->kind == MOVE_ATOMIC)
        return !is_amd ? BANK_ATOMADD
               : dtype_is_float(v->buffer->dtype) ? BANK_ADD_F32
                                                  : BANK_ADD_U32;
    return (is_amd ? amd : nvidia)[v->way != MOVE_LOAD][width_of(v->bytes)];
}

BankOp count_matrix_op(const PlanMove *v, int tiles)
{
    static const BankOp ops[3][3] = {
        {BANK_LDSM1, BANK_LDSM2, BANK_LDSM4},
        {BANK_LDSMT1, BANK_LDSMT2, BANK_LDSMT4},
        {BANK_STSM1, BANK_STSM2, BANK_STSM4},
    };
    int kind = v->kind == MOVE_STMATRIX ? 2 : v->transposed;

    return ops[kind][tiles >= 4 ? 2 : tiles >= 2];
}

GlobalKind count_global_kind(const PlanMove *v)
{
    if (v->kind == MOVE_CP_ASYNC)
        return v->bytes == 16 ? GLOBAL_BYPASS : GLOBAL_COPY;
    if (v->kind == MOVE_ATOMIC)
        return GLOBAL_REDUCE;
    return v->way == MOVE_LOAD ? GLOBAL_LOAD : GLOBAL_STORE;
}

static const char *plain_name(const Device *d, const PlanMove *v, bool shared)
{
    static const char *const nv[2][2][5] = {
        {{"ld.global.u8", "ld.global.u16", "ld.global.b32", "ld.global.v2",
          "ld.global.v4"},
         {"st.global.u8", "st.global.u16", "st.global.b32", "st.global.v2",
          "st.global.v4"}},
        {{"ld.shared.u8", "ld.shared.u16", "ld.shared.b32", "ld.shared.v2",
          "ld.shared.v4"},
         {"st.shared.u8", "st.shared.u16", "st.shared.b32", "st.shared.v2",
          "st.shared.v4"}},
    };
    static const char *const amd[2][5] = {
        {"global_load_ubyte", "global_load_ushort", "global_load_dword",
         "global_load_dwordx2", "global_load_dwordx4"},
        {"global_store_byte", "global_store_short", "global_store_dword",
         "global_store_dwordx2", "global_store_dwordx4"},
    };
    bool store = v->way != MOVE_LOAD;

    if (d->vendor == VENDOR_AMD && shared)
        return bank_op_info(count_bank_op(d, v))->name;
    if (d->vendor == VENDOR_AMD)
        return amd[store][width_of(v->bytes)];
    return nv[shared][store][width_of(v->bytes)];
}

static const char *name_of(const Device *d, const PlanMove *v, bool shared)
{
    switch (v->kind) {
    case MOVE_PLAIN:
    case MOVE_SCAN:
        return plain_name(d, v, shared);
    case MOVE_CP_ASYNC:
        if (d->vendor == VENDOR_AMD)    // upstream's cp_async_gs
            return v->bytes == 4 ? "buffer_load_dword lds"
                                 : plain_name(d, v, shared);
        return v->bytes == 16 ? "cp.async.cg 16"
               : v->bytes == 8 ? "cp.async.ca 8" : "cp.async.ca 4";
    case MOVE_TMA:
        return "TMA";
    case MOVE_BULK:
        return "bulk copy";
    case MOVE_LDMATRIX:
        return v->tiles == 4 ? v->transposed ? "ldmatrix.x4.trans"
                                             : "ldmatrix.x4"
               : v->transposed ? "ldmatrix.x2.trans" : "ldmatrix.x2";
    case MOVE_STMATRIX:
        return "stmatrix.x4";
    case MOVE_WGMMA:
        return "wgmma";
    case MOVE_ATOMIC:
        return d->vendor == VENDOR_AMD
                   ? shared ? "ds_add" : "global_atomic_add"
                   : shared ? "atom.shared.add" : "red.global.add";
    case MOVE_CALL:
        return "a call";
    }
    return "";
}

// Additions that are loops of other atomics, and their likes.
static const char *unknown_of(const Device *d, const PlanMove *v, bool shared,
                              bool by_events)
{
    const char *why = plan_unknown(v);

    if (why || !v->buffer)
        return why;
    if (v->stmt->kind == STMT_LAUNCH || (by_events && !count_has_event(v->stmt)))
        return "one word for all lanes: no conflicts, number unknown";
    if (shared && v->kind == MOVE_ATOMIC &&
        (dtype_info(v->buffer->dtype)->bits != 32 || v->lanes > 1 ||
         (d->vendor == VENDOR_NVIDIA && dtype_is_float(v->buffer->dtype))))
        return "an atomic that is a loop of others";
    return NULL;
}

CountAccess count_access_of(const Device *d, const PlanMove *v, bool by_events)
{
    bool shared = !v->buffer || v->buffer->scope != SCOPE_GLOBAL;

    return (CountAccess){
        .move = v, .is_shared = shared,
        .passes_by = v->kind == MOVE_TMA || v->kind == MOVE_BULK ||
                     v->kind == MOVE_WGMMA,
        .instruction = name_of(d, v, shared),
        .unknown = unknown_of(d, v, shared, by_events),
    };
}
