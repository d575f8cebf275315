// policy.c - T.GemmWarpPolicy.Square and the others: what a script asks them.
#include <math.h>

#include "lang/eval_int.h"
#include "lang/trace_int.h"

static int64_t least_one(int64_t n)
{
    return n > 1 ? n : 1;
}

// How far a warp's share, in parts of 16 x 8, is from the tile's own shape.
static double imbalance(int64_t m, int64_t n, int64_t rows, int64_t columns)
{
    double height = (double)m / (double)(16 * rows);
    double width = (double)n / (double)(8 * columns);

    return fabs(height / width - (double)m / (double)n);
}

static int64_t square_rows(int64_t m, int64_t n, int64_t warps)
{
    int64_t best = 0;

    for (int64_t rows = 1; rows <= warps && rows <= m / 16; rows++) {
        if (warps % rows || warps / rows > n / 8)
            continue;
        if (!best || imbalance(m, n, rows, warps / rows)
                         < imbalance(m, n, best, warps / best))
            best = rows;
    }
    return best;
}

// policy.compute_warp_partition(M, N, num_warps): warps along M and N.
static Value partition(Lang *l, void *ctx, const Args *args)
{
    Text policy = ((Held *)ctx)->value.s;
    static const char *const names[] = {"M", "N", "num_warps"};
    int64_t n[3], rows = 1, columns = 1;
    Value v[3];

    args_bind(l, "compute_warp_partition", args, names, 3, v);
    for (int i = 0; i < 3; i++) {
        n[i] = value_to_int(l, v[i], names[i], args->at_span);
        if (n[i] < 1 || n[i] > INT32_MAX)
            lang_raise(l, "ValueError", args->at_span,
                       "compute_warp_partition(): %s is %lld", names[i],
                       (long long)n[i]);
    }
    if (text_is(policy, "FullRow")) {
        rows = n[0] % (16 * n[2]) ? least_one(n[0] / 16) : n[2];
        columns = rows == n[2] ? 1 : least_one(n[2] / rows);
    } else if (text_is(policy, "FullCol")) {
        columns = n[1] % (8 * n[2]) ? least_one(n[1] / 8) : n[2];
        rows = columns == n[2] ? 1 : least_one(n[2] / columns);
    } else if (square_rows(n[0], n[1], n[2])) {
        rows = square_rows(n[0], n[1], n[2]);
        columns = n[2] / rows;
    }
    Value pair[] = {v_int(rows), v_int(columns)};
    return v_tuple(l, pair, 2);
}

static Value is_policy(Lang *l, void *ctx, const Args *args)
{
    args_count(l, "GemmWarpPolicy", args, 0, 0);
    return ((Held *)ctx)->value;
}

bool policy_getattr(Lang *l, Value policy, Text name, Value *out)
{
    static const char *const kinds[][2] = {
        {"is_square", "Square"}, {"is_full_row", "FullRow"},
        {"is_full_col", "FullCol"},
    };

    if (text_is(name, "compute_warp_partition")) {
        *out = v_keeper(l, "compute_warp_partition", partition, policy);
        return true;
    }
    for (size_t i = 0; i < countof(kinds); i++)
        if (text_is(name, kinds[i][0])) {
            *out = v_keeper(l, kinds[i][0], is_policy,
                            v_bool(text_is(policy.s, kinds[i][1])));
            return true;
        }
    return false;
}
