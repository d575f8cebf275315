import math
from dataclasses import dataclass, field
@dataclass(frozen=True)
class Device:
    name: str
    sms: int
    shared: int = 228 * 1024
    regs: int = 65536
    warp: int = 32
    def occupancy(self, threads, shared, regs):
        by_shared = self.shared // shared if shared else 32
        by_regs = self.regs // (regs * threads)
        by_threads = 2048 // threads
        return min(by_shared, by_regs, by_threads, 32)
devices = {d.name: d for d in (Device("h100", 132), Device("mi300x", 304, shared=64 * 1024, warp=64))}
@dataclass
class Tile:
    m: int
    n: int
    k: int
    stages: int = 2
    dtype: str = "float16"
    notes: list = field(default_factory=list)
    SIZES = {"float16": 2, "float32": 4}
    @property
    def shared_bytes(self): return (self.m * self.k + self.k * self.n) * self.SIZES[self.dtype] * self.stages
    def fits(self, dev):
        ok = self.shared_bytes <= dev.shared
        self.notes.append((dev.name, ok))
        return ok
for t in (Tile(128, 128, 32), Tile(256, 256, 64, 3), Tile(64, 64, 64, dtype="float32")):
    for d in devices.values():
        occ = d.occupancy(256, t.shared_bytes, 64) if t.fits(d) else 0
        print(f"{t.m}x{t.n}x{t.k} s{t.stages} {d.name:>7}: {t.shared_bytes:>7,} B occ {occ}")
    print(t.notes, t == Tile(t.m, t.n, t.k, t.stages, t.dtype, t.notes))
def waves(M, N, tile, dev): return math.ceil(math.ceil(M / tile.m) * math.ceil(N / tile.n) / dev.sms)
print([(n, waves(4096, 4096, Tile(128, 128, 32), d)) for n, d in devices.items()])
print(devices["h100"], hash(devices["h100"]) == hash(Device("h100", 132)))
best = max(((m, n) for m in (64, 128, 256) for n in (64, 128, 256)), key=lambda mn: (Tile(*mn, 32).fits(devices["mi300x"]), mn[0] * mn[1] / (mn[0] + mn[1])))
print(best)
