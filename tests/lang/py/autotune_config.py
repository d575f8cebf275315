import itertools
def get_configs():
    block_M = [64, 128, 256]
    block_N = [64, 128]
    num_stages = [0, 1, 2, 3]
    threads = [128, 256]
    _configs = list(itertools.product(block_M, block_N, num_stages, threads))
    return [{"block_M": c[0], "block_N": c[1], "num_stages": c[2], "threads": c[3]} for c in _configs if c[0] * c[1] <= 128 * 128]
configs = get_configs()
print(len(configs), configs[0], configs[-1])
def heuristic(M, N, K, arch="sm90"):
    if arch in {"sm80"}:
        return {"block_M": 128, "block_N": 256, "block_K": 32, "num_stages": 2, "thread_num": 128, "enable_rasteration": True}
    elif arch in {"sm90", "sm90a"}:
        return dict(block_M=128, block_N=256, block_K=64, num_stages=3, thread_num=256)
    else:
        raise ValueError(f"Unsupported architecture: {arch}")
print(heuristic(1, 2, 3), heuristic(1, 2, 3, "sm80")["num_stages"])
try:
    heuristic(1, 1, 1, arch="gfx")
except ValueError as e:
    print(e)
best, best_cfg = float("inf"), None
for i, cfg in enumerate(configs):
    score = abs(cfg["block_M"] - cfg["block_N"]) + cfg["num_stages"] * 0.5 - i * 1e-3
    if score < best:
        best, best_cfg = score, cfg
print(f"{best:.4f}", best_cfg)
def ceildiv(a, b): return (a + b - 1) // b
batch, heads, seq_len, dim = 8, 32, 4096, 128
flops = 4.0 * batch * heads * seq_len * seq_len * dim
for is_causal in (True, False):
    f = flops * (0.5 if is_causal else 1)
    print(f"{f / 1e12:.2f} TFlops", f"{f * 1e-9 / 3.7:.3f}", ceildiv(seq_len, 128), "Latency: {:.2f} ms".format(3.14159))
scale = (1.0 / dim) ** 0.5 * 1.44269504
shape = [batch, seq_len, heads, dim]
print(scale, shape, tuple(shape), [batch, *shape[1:3]], shape[-1] // 16, "x".join(map(str, shape)))
assert heads % 4 == 0, f"{heads} heads"
assert all(isinstance(v, int) for v in shape)
dtype_bytes = {"float16": 2, "float32": 4, "int8": 1}
total = sum(dtype_bytes[d] * n for d, n in (("float16", 10), ("int8", 3)))
print(total, max(dtype_bytes, key=dtype_bytes.get), {v: k for k, v in dtype_bytes.items()})
num_sm = 132
tiles = ceildiv(seq_len, 128) * heads
waves = [min(num_sm, tiles - w * num_sm) for w in range(ceildiv(tiles, num_sm))]
print(len(waves), waves[-1], sum(waves) == tiles)
