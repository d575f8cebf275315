// atomic.c - what atomic instructions leave in memory.
#include "gfx942/wave_int.h"

#include "gfx942/valu_math.h"

static uint64_t minmax(AtomicOp op, int bytes, uint64_t a, uint64_t b)
{
    int64_t x = bytes == 8 ? (int64_t)a : (int32_t)a;
    int64_t y = bytes == 8 ? (int64_t)b : (int32_t)b;
    switch (op) {
    case ATOMIC_SMIN: return x < y ? a : b;
    case ATOMIC_SMAX: return x > y ? a : b;
    case ATOMIC_UMIN: return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

static uint64_t float_result(AtomicOp op, int bytes, uint64_t old,
                             uint64_t data)
{
    if (bytes == 8) {
        double a = f64_bits(old), b = f64_bits(data);
        return bits_f64(op == ATOMIC_ADD_F   ? a + b
                        : op == ATOMIC_MIN_F ? min64(a, b) : max64(a, b));
    }
    float a = f32_bits((uint32_t)old), b = f32_bits((uint32_t)data);
    return bits_f32(op == ATOMIC_ADD_F   ? a + b
                    : op == ATOMIC_MIN_F ? min32(a, b) : max32(a, b));
}

static uint64_t packed_result(AtomicOp op, uint32_t old, uint32_t data)
{
    uint32_t out = 0;
    for (int at = 0; at < 32; at += 16) {
        uint32_t a = old >> at & 0xffff, b = data >> at & 0xffff;
        uint32_t sum = op == ATOMIC_PK_ADD_F16
            ? half_code(half_value(a) + half_value(b))
            : bf16_word(f32_bits(a << 16) + f32_bits(b << 16)) >> 16;
        out |= sum << at;
    }
    return out;
}

uint64_t atomic_result(AtomicOp op, int bytes, uint64_t old, uint64_t data,
                       uint64_t compare)
{
    switch (op) {
    case ATOMIC_SWAP: return data;
    case ATOMIC_CMPSWAP: return old == compare ? data : old;
    case ATOMIC_ADD: return old + data;
    case ATOMIC_SUB: return old - data;
    case ATOMIC_RSUB: return data - old;
    case ATOMIC_AND: return old & data;
    case ATOMIC_OR: return old | data;
    case ATOMIC_XOR: return old ^ data;
    case ATOMIC_INC: return old >= data ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > data ? data : old - 1;
    case ATOMIC_SMIN: case ATOMIC_UMIN: case ATOMIC_SMAX: case ATOMIC_UMAX:
        return minmax(op, bytes, old, data);
    case ATOMIC_ADD_F: case ATOMIC_MIN_F: case ATOMIC_MAX_F:
        return float_result(op, bytes, old, data);
    case ATOMIC_PK_ADD_F16: case ATOMIC_PK_ADD_BF16:
        return packed_result(op, (uint32_t)old, (uint32_t)data);
    case ATOMIC_NONE: break;
    }
    return old;
}

AtomicOp atomic_of_vmem(int number)
{
    static const uint8_t ops[] = {
        ATOMIC_SWAP, ATOMIC_CMPSWAP, ATOMIC_ADD, ATOMIC_SUB, ATOMIC_SMIN,
        ATOMIC_UMIN, ATOMIC_SMAX, ATOMIC_UMAX, ATOMIC_AND, ATOMIC_OR,
        ATOMIC_XOR, ATOMIC_INC, ATOMIC_DEC, ATOMIC_ADD_F, ATOMIC_PK_ADD_F16,
        ATOMIC_ADD_F, ATOMIC_MIN_F, ATOMIC_MAX_F, ATOMIC_PK_ADD_BF16,
    };
    if (number >= 96)
        number -= 32;
    return number >= 64 && number < 64 + (int)countof(ops)
               ? ops[number - 64] : ATOMIC_NONE;
}

// Numbers of DS: results return from 32 on, 64 bits from 64 on.
AtomicOp atomic_of_ds(IsaOp op)
{
    static const uint8_t ops[32] = {
        ATOMIC_ADD, ATOMIC_SUB, ATOMIC_RSUB, ATOMIC_INC, ATOMIC_DEC,
        ATOMIC_SMIN, ATOMIC_SMAX, ATOMIC_UMIN, ATOMIC_UMAX, ATOMIC_AND,
        ATOMIC_OR, ATOMIC_XOR, ATOMIC_NONE, ATOMIC_SWAP, ATOMIC_NONE,
        ATOMIC_NONE, ATOMIC_CMPSWAP, ATOMIC_NONE, ATOMIC_MIN_F, ATOMIC_MAX_F,
        ATOMIC_NONE, ATOMIC_ADD_F,
        [22 ... 31] = ATOMIC_NONE,
    };
    int number = isa_info(op)->number;
    switch (op) {
    case OP_DS_PK_ADD_F16: case OP_DS_PK_ADD_RTN_F16:
        return ATOMIC_PK_ADD_F16;
    case OP_DS_PK_ADD_BF16: case OP_DS_PK_ADD_RTN_BF16:
        return ATOMIC_PK_ADD_BF16;
    case OP_DS_ADD_F64: case OP_DS_ADD_RTN_F64:
        return ATOMIC_ADD_F;
    case OP_DS_WRITE_B32: case OP_DS_WRITE_B64:
        return ATOMIC_NONE;
    default:
        return number < 128 ? (AtomicOp)ops[number % 32] : ATOMIC_NONE;
    }
}
