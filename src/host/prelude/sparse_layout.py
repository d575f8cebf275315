# How T.gemm_sp keeps a dtype: elements kept of each group, four bits of
# metadata a group.
import tilelang.language as T

GROUP_CONFIG = {
    T.float32: (1, 2), T.float16: (2, 4), T.bfloat16: (2, 4), T.int8: (2, 4),
    T.uint8: (2, 4), T.float8_e4m3fn: (2, 4), T.float8_e5m2: (2, 4),
}


def get_e_factor(a_dtype, meta_dtype):
    group = GROUP_CONFIG[T.dtype(a_dtype)][1]
    return T.dtype(meta_dtype).bits // 4 * group


def get_e_replicate_factor(a_dtype):
    return 1 if T.dtype(a_dtype).bits <= 8 else 2
