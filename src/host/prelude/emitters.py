# Upstream's classes for hand-written matrix code. Each thread of a warp holds
# its part of the operands in local arrays, as the instructions have them:
# TensorCoreIntrinEmitter those of mma.m16n8, two beside one another,
# MatrixCoreIntrinEmitter those of MFMA 16x16. A product is computed by what
# the warp's threads give one another: one fused chain in ascending k for each
# element, rounded to the accumulator's dtype once.
import tilelang.language as T


# Where a layout of 16-byte vectors, swizzled by rows, has an element.
def get_swizzle_layout(row_idx, col_idx, row_size, dtype, swizzle_bytes=None):
    bits = T.dtype(dtype).bits
    if row_size * bits % 256:
        raise AssertionError("a row has to be a multiple of 32 bytes")
    if swizzle_bytes is None:
        swizzle_bytes = min(128, row_size * bits // 8)
    inner, vectors = 128 // bits, swizzle_bytes // 16
    vector = col_idx // inner
    turned = (vector % vectors) ^ (row_idx % 8 // (8 // vectors))
    return vector // vectors, row_idx, turned * inner + col_idx % inner


def _is_int(dtype):
    return str(T.dtype(dtype)).split(".")[-1] in ("int8", "uint8", "int32")


class _Emitter:
    WARP_SIZE = 32
    M_DIM = 16
    is_m_first = False
    k_pack = 1

    def _sizes(self, a_dtype, b_dtype, accum_dtype, a_transposed, b_transposed,
               block_row_warps, block_col_warps, warp_row_tiles, warp_col_tiles,
               chunk, reduce_k, num_elems_per_byte, is_m_first, thread_var):
        self.a_dtype = a_dtype
        self.b_dtype = b_dtype
        self.accum_dtype = accum_dtype
        self.a_transposed = a_transposed
        self.b_transposed = b_transposed
        self.block_row_warps = block_row_warps
        self.block_col_warps = block_col_warps
        self.warp_row_tiles = warp_row_tiles
        self.warp_col_tiles = warp_col_tiles
        self.chunk = chunk
        self.reduce_k = reduce_k
        self.num_elems_per_byte = num_elems_per_byte
        self.thread_var = thread_var
        self.is_m_first = bool(is_m_first)
        self.threads = (self.WARP_SIZE * block_row_warps * block_col_warps
                        * reduce_k)
        self.micro_size_x = self.M_DIM
        self.micro_size_y = self.n_dim
        self.micro_size_k = self.k_dim
        self.local_size_a = self.M_DIM * self.k_dim // self.WARP_SIZE
        self.local_size_b = self.n_dim * self.k_dim // self.WARP_SIZE
        self.local_size_out = self.M_DIM * self.n_dim // self.WARP_SIZE
        self.warp_rows = warp_row_tiles // self.micro_size_x
        self.warp_cols = warp_col_tiles // self.micro_size_y
        self.wide = "int32" if _is_int(accum_dtype) else "float32"
        if self.warp_rows == 0 or self.warp_cols == 0:
            raise ValueError("a warp's tile of " + str(warp_row_tiles) + " x "
                             + str(warp_col_tiles) + " is smaller than the "
                             "instruction's " + str(self.micro_size_x) + " x "
                             + str(self.micro_size_y))
        if warp_row_tiles % self.micro_size_x or \
                warp_col_tiles % self.micro_size_y:
            raise ValueError("a warp's tile of " + str(warp_row_tiles) + " x "
                             + str(warp_col_tiles) + " is no multiple of the "
                             "instruction's " + str(self.micro_size_x) + " x "
                             + str(self.micro_size_y))

    def get_thread_binding(self):
        if self.thread_var is None:
            return T.get_thread_binding(0)
        return self.thread_var

    # lane, warp along N, warp along M
    def extract_thread_binding(self, thread_id, is_m_first=None):
        if is_m_first is None:
            is_m_first = self.is_m_first
        warp = thread_id // self.WARP_SIZE
        if is_m_first:
            n = warp % self.block_col_warps
            m = warp // self.block_col_warps % self.block_row_warps
        else:
            m = warp % self.block_row_warps
            n = warp // self.block_row_warps % self.block_col_warps
        return thread_id % self.WARP_SIZE, n, m

    # lane, first row, first column of this thread's warp in the block's tile
    def _warp_place(self):
        lane, n, m = self.extract_thread_binding(self.get_thread_binding())
        return lane, m * self.warp_row_tiles, n * self.warp_col_tiles

    def _fma(self, a, b, c):
        in_ieee()
        if self.wide == "int32":
            return c + T.Cast("int32", a) * T.Cast("int32", b)
        return T.ieee_fmaf(T.Cast("float32", a), T.Cast("float32", b), c)

    def _load(self, local, source, place, at, rk):
        tiles, size, packs, micro, depth, swapped, from_k = at

        @T.macro
        def load(local, source, first, lane, k):
            for i in T.serial(tiles):
                for p in T.serial(packs):
                    for e in T.serial(size):
                        row, col = place(lane, e, p)
                        r = first + i * micro + row
                        c = rk * from_k + k * (depth * packs) + col
                        if swapped:
                            local[(i * packs + p) * size + e] = source[c, r]
                        else:
                            local[(i * packs + p) * size + e] = source[r, c]
        return load

    def ldmatrix_a(self, A_local_buf, A_shared_buf, ki, rk=0,
                   thread_bindings=None):
        lane, m, n = self._warp_place()
        at = (self.warp_rows, self.local_size_a, self.k_pack,
              self.micro_size_x, self.micro_size_k, self.a_transposed,
              self.chunk)
        load = self._load(A_local_buf, A_shared_buf, self._place_a, at, rk)
        load(A_local_buf, A_shared_buf, m, lane, ki)

    def ldmatrix_b(self, B_local_buf, B_shared_buf, ki, rk=0,
                   thread_bindings=None):
        lane, m, n = self._warp_place()
        at = (self.warp_cols, self.local_size_b, self.k_pack,
              self.micro_size_y, self.micro_size_k, not self.b_transposed,
              self.chunk)
        load = self._load(B_local_buf, B_shared_buf, self._place_b, at, rk)
        load(B_local_buf, B_shared_buf, n, lane, ki)

    # C_buf is the tile, the tile as 16 x 16 blocks, or, with pid_m and pid_n,
    # all of C.
    def stmatrix(self, C_local_buf, C_buf, pid_m=None, pid_n=None,
                 thread_bindings=None):
        lane, m, n = self._warp_place()
        if pid_m is not None:
            m = m + pid_m * (self.block_row_warps * self.warp_row_tiles)
            n = n + pid_n * (self.block_col_warps * self.warp_col_tiles)
        rows, cols, size = self.warp_rows, self.warp_cols, self.local_size_out
        x, y = self.micro_size_x, self.micro_size_y
        blocks, place = len(C_buf.shape) == 4, self._place_c

        @T.macro
        def store(local, C, lane, m, n):
            for i, j, e in T.grid(rows, cols, size):
                row, col = place(lane, e)
                value = local[(i * cols + j) * size + e]
                if blocks:
                    C[m // x + i, n // y + j, row, col] = value
                else:
                    C[m + i * x + row, n + j * y + col] = value
        store(C_local_buf, C_buf, lane, m, n)

    # A fragment is addressed as the tile that it is.
    def _tile_of(self, C, m, n):
        cols, size, place = self.warp_cols, self.local_size_out, self._place_c
        x, y, tile = self.micro_size_x, self.micro_size_y, len(C.shape) == 2

        def at(lane, i, j, e):
            if not tile:
                return ((i * cols + j) * size + e,)
            row, col = place(lane, e)
            return m + i * x + row, n + j * y + col
        return at


class TensorCoreIntrinEmitter(_Emitter):
    def __init__(self, a_dtype="float16", b_dtype="float16",
                 accum_dtype="float16", a_transposed=False, b_transposed=False,
                 block_row_warps=2, block_col_warps=2, warp_row_tiles=8,
                 warp_col_tiles=8, chunk=16, reduce_k=1, num_elems_per_byte=1,
                 is_m_first=False, thread_var=None):
        bits = T.dtype(a_dtype).bits
        if bits not in (8, 16, 32):
            raise NotImplementedError("mma of elements of " + str(bits)
                                      + " bits")
        self.per_register = 32 // bits
        self.k_dim = min(256 // bits, chunk)
        self.n_dim = 8 if warp_col_tiles % 16 else 16
        self._sizes(a_dtype, b_dtype, accum_dtype, a_transposed, b_transposed,
                    block_row_warps, block_col_warps, warp_row_tiles,
                    warp_col_tiles, chunk, reduce_k, num_elems_per_byte,
                    is_m_first, thread_var)
        self.mma_prefix = "m16n8k" + str(self.k_dim)

    @property
    def mma_num_inst_m(self):
        return self.warp_rows

    @property
    def mma_num_inst_n(self):
        return self.warp_cols * (self.n_dim // 8)

    # row and k of element e of A's registers
    def _place_a(self, lane, e, pack):
        p = self.per_register
        register = e // p
        return (lane // 4 + register % 2 * 8,
                lane % 4 * p + e % p + register // 2 * (4 * p))

    # column and k of B's
    def _place_b(self, lane, e, pack):
        p, half = self.per_register, self.k_dim // 4
        return (lane // 4 + e // half * 8,
                lane % 4 * p + e % p + e % half // p * (4 * p))

    def _place_c(self, lane, e):
        return (lane // 4 + e // 2 % 2 * 8, lane % 4 * 2 + e % 2 + e // 4 * 8)

    # One m16n8: tile i of A by half tile j of B.
    def mma_atom(self, A_local_buf, B_local_buf, C_local_buf, inst_m, inst_n,
                 k_inner=0):
        halves, p, depth = self.n_dim // 8, self.per_register, self.k_dim
        a_size, b_size, wide = self.local_size_a, self.k_dim // 4, self.wide
        fma, accum, warp = self._fma, self.accum_dtype, self.WARP_SIZE
        lane, m, n = self._warp_place()
        tile = self._tile_of(C_local_buf, m, n)

        def at(lane, i, jn, e):
            return tile(lane, i, jn // halves, jn % halves * 4 + e)

        @T.macro
        def atom(A, B, C, lane, i, jn):
            sums = T.alloc_local((4,), wide)
            for e in T.serial(4):
                sums[e] = T.Cast(wide, C[at(lane, i, jn, e)])
            for k in T.serial(depth):
                quarter = k // p % 4
                register = k // (4 * p)
                low = i * a_size + register * (2 * p) + k % p
                x0 = T.shfl_sync(A[low], lane // 4 * 4 + quarter, warp)
                x1 = T.shfl_sync(A[low + p], lane // 4 * 4 + quarter, warp)
                b = B[jn * b_size + register * p + k % p]
                y0 = T.shfl_sync(b, lane % 4 * 8 + quarter, warp)
                y1 = T.shfl_sync(b, lane % 4 * 8 + quarter + 4, warp)
                sums[0] = fma(x0, y0, sums[0])
                sums[1] = fma(x0, y1, sums[1])
                sums[2] = fma(x1, y0, sums[2])
                sums[3] = fma(x1, y1, sums[3])
            for e in T.serial(4):
                C[at(lane, i, jn, e)] = T.Cast(accum, sums[e])
        atom(A_local_buf, B_local_buf, C_local_buf, lane, inst_m, inst_n)

    def mma(self, A_local_buf, B_local_buf, C_local_buf, k_inner=0):
        rows, cols, atom = self.warp_rows, self.mma_num_inst_n, self.mma_atom

        @T.macro
        def warp_mma(A, B, C):
            for i, j in T.grid(rows, cols):
                atom(A, B, C, i, j, k_inner)
        warp_mma(A_local_buf, B_local_buf, C_local_buf)


class MatrixCoreIntrinEmitter(_Emitter):
    WARP_SIZE = 64

    def __init__(self, a_dtype="float16", b_dtype="float16",
                 accum_dtype="float16", a_transposed=False, b_transposed=False,
                 block_row_warps=2, block_col_warps=2, warp_row_tiles=8,
                 warp_col_tiles=8, chunk=16, reduce_k=1, num_elems_per_byte=1,
                 k_pack=None, is_m_first=False, b_preshuffle=False,
                 thread_var=None, target=None, mfma_shape=None,
                 a_preshuffle=False):
        bits = T.dtype(a_dtype).bits
        if bits not in (8, 16, 32) or mfma_shape not in (
                None, (16, 16, 4), (16, 16, 16), (16, 16, 32), (16, 16, 64)):
            raise NotImplementedError("MFMA " + str(mfma_shape or "of elements "
                                      "of " + str(bits) + " bits"))
        self.n_dim = self.N_DIM = 16
        self.k_dim = {8: 32, 16: 16, 32: 4}[bits]
        if mfma_shape is not None:
            self.k_dim = mfma_shape[2]
        self.k_pack = 1 if k_pack is None else k_pack
        self.a_preshuffle = bool(a_preshuffle)
        self.b_preshuffle = bool(b_preshuffle)
        self._sizes(a_dtype, b_dtype, accum_dtype, a_transposed, b_transposed,
                    block_row_warps, block_col_warps, warp_row_tiles,
                    warp_col_tiles, chunk, reduce_k, num_elems_per_byte,
                    is_m_first, thread_var)

    # A thread has k_pack times local_size elements in a row of k.
    def _place_a(self, lane, e, pack):
        size = self.local_size_a
        return lane % 16, (lane // 16 * self.k_pack + pack) * size + e

    def _place_b(self, lane, e, pack):
        return self._place_a(lane, e, pack)

    # The instruction is issued with A and B swapped.
    def _place_c(self, lane, e):
        return lane % 16, lane // 16 * 4 + e

    def make_mfma_store_layout(self, local_buf):
        rows, cols, warps = self.warp_rows, self.warp_cols, self.block_row_warps

        def thread(i, j):
            return (i % 16 + j % 16 // 4 * 16 + i // (16 * rows) * 64
                    + j // (16 * cols) * (64 * warps))

        def index(i, j):
            return (i // 16 % rows * cols + j // 16 % cols) * 4 + j % 4
        return T.Fragment(local_buf.shape, forward_thread_fn=thread,
                          forward_index_fn=index)

    def mfma(self, A_local_buf, B_local_buf, C_local_buf, k_inner=0):
        rows, cols, packs = self.warp_rows, self.warp_cols, self.k_pack
        size, depth, wide = self.local_size_a, self.k_dim, self.wide
        fma, accum, warp = self._fma, self.accum_dtype, self.WARP_SIZE
        lane, m, n = self._warp_place()
        at = self._tile_of(C_local_buf, m, n)

        @T.macro
        def warp_mfma(A, B, C, lane):
            sums = T.alloc_local((4,), wide)
            for i, j, p in T.grid(rows, cols, packs):
                for e in T.serial(4):
                    sums[e] = T.Cast(wide, C[at(lane, i, j, e)])
                for k in T.serial(depth):
                    a = A[(i * packs + p) * size + k % size]
                    b = B[(j * packs + p) * size + k % size]
                    near = k // size * 16
                    x = T.shfl_sync(a, lane % 16 + near, warp)
                    for e in T.serial(4):
                        y = T.shfl_sync(b, lane // 16 * 4 + e + near, warp)
                        sums[e] = fma(x, y, sums[e])
                for e in T.serial(4):
                    C[at(lane, i, j, e)] = T.Cast(accum, sums[e])
        warp_mfma(A_local_buf, B_local_buf, C_local_buf, lane)


# Operands that lie in memory as blocks of 16 rows by k_pack instructions.
class MatrixCorePreshuffleIntrinEmitter(MatrixCoreIntrinEmitter):
    def _load_blocks(self, local, source, at, place, first, k):
        tiles, size, swapped = at
        packs = self.k_pack
        lane = self._warp_place()[0]

        @T.macro
        def load(local, source, lane, first, k):
            for i, p, e in T.grid(tiles, packs, size):
                row, col = place(lane, e, p)
                if swapped:
                    local[(i * packs + p) * size + e] = \
                        source[k, first + i, col, row]
                else:
                    local[(i * packs + p) * size + e] = \
                        source[first + i, k, row, col]
        load(local, source, lane, first, k)

    def ldmatrix_a(self, A_local_buf, A_buf, ki, rk=0, pid_m=None, pid_n=None):
        if not self.a_preshuffle:
            return super().ldmatrix_a(A_local_buf, A_buf, ki, rk)
        lane, n, m = self.extract_thread_binding(self.get_thread_binding())
        if pid_m is not None:
            m = m + pid_m * self.block_row_warps
        k = ki + rk * (self.chunk // (self.micro_size_k * self.k_pack))
        self._load_blocks(A_local_buf, A_buf, (self.warp_rows,
                          self.local_size_a, self.a_transposed),
                          self._place_a, m * self.warp_rows, k)

    def ldmatrix_b(self, B_local_buf, B_buf, ki, rk=0, pid_m=None, pid_n=None):
        if not self.b_preshuffle:
            return super().ldmatrix_b(B_local_buf, B_buf, ki, rk)
        lane, n, m = self.extract_thread_binding(self.get_thread_binding())
        if pid_n is not None:
            n = n + pid_n * self.block_col_warps
        k = ki + rk * (self.chunk // (self.micro_size_k * self.k_pack))
        self._load_blocks(B_local_buf, B_buf, (self.warp_cols,
                          self.local_size_b, not self.b_transposed),
                          self._place_b, n * self.warp_cols, k)
