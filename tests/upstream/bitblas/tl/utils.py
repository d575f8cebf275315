from tilelang.cuda.intrinsics import get_swizzle_layout as swizzle


# Of rows of 128 bytes at most.
def get_swizzle_layout(row, column, row_size, dtype):
    return swizzle(row, column, row_size, dtype)[1:]
