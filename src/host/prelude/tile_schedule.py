# tilelang.language.tile_schedule: tiles of a grid, dealt in turn to blocks that
# stay. The order: along the inner axis, over panels of swizzle_size tiles of the
# outer one, the last of which may be narrower.
import tilelang.language as T
from tilelang.carver.arch import driver


class PersistentTileScheduler:
    def __init__(self, num_m_tiles, num_n_tiles, num_workers=None,
                 swizzle_size=1, column_major=True, cluster_size=1,
                 stateful=True, name=None):
        rows = T.ceildiv(num_m_tiles, cluster_size)
        if num_workers is None:
            num_workers = driver.get_num_sms() // cluster_size
        self.num_workers = num_workers
        self.swizzle_size = swizzle_size
        self.cluster_size = cluster_size
        self._column_major = column_major
        self._tiles = rows * num_n_tiles
        self._inner = rows if column_major else num_n_tiles
        self._outer = num_n_tiles if column_major else rows
        if stateful:
            self._m, self._n = T.alloc_var(T.int32), T.alloc_var(T.int32)
            self._at, self._turn = T.alloc_var(T.int32), T.alloc_var(T.int32)

    def coord(self, tile):
        panel = self._inner * self.swizzle_size
        first = tile // panel * self.swizzle_size
        width = T.max(1, T.min(self.swizzle_size, self._outer - first))
        inner = tile % panel // width
        outer = first + tile % panel % width
        return (inner, outer) if self._column_major else (outer, inner)

    def _go_to(self, tile, turn):
        self._at[0] = tile
        self._turn[0] = turn
        self._m[0], self._n[0] = self.coord(self._at[0])

    def init(self, worker):
        self._go_to(worker, 0)

    def next_tile(self):
        self._go_to(self._at[0] + self.num_workers, self._turn[0] + 1)

    def valid(self):
        return self._at[0] < self._tiles

    @property
    def m_idx(self):
        return self._m[0]

    @property
    def n_idx(self):
        return self._n[0]

    @property
    def linear_idx(self):
        return self._at[0]

    @property
    def current_iter(self):
        return self._turn[0]
