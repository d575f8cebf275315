import functools, itertools, math
DTYPES = {"float16": 16, "bfloat16": 16, "float32": 32, "int8": 8}
def bits(dtype): return DTYPES[str(dtype)]
def next_power_of_2(n): return 1 << max(0, n - 1).bit_length()
def cdiv(a, b): return -(-a // b)
def flash_args(batch, heads, seq_len, dim, is_causal, groups=1, block_M=64, block_N=64, num_stages=1, threads=128, dtype="float16", accum_dtype="float32", **extra):
    assert heads % groups == 0, f"heads={heads} groups={groups}"
    if extra: raise TypeError(f"unknown arguments: {', '.join(sorted(extra))}")
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    q_shape, kv_shape = [batch, seq_len, heads, dim], [batch, seq_len, heads // groups, dim]
    shared = (block_M * dim + 2 * block_N * dim * num_stages) * bits(dtype) // 8
    flops = 4.0 * batch * heads * seq_len * seq_len * dim * (0.5 if is_causal else 1.0)
    grid = (cdiv(seq_len, block_M), heads, batch)
    return dict(scale=round(scale, 10), q=q_shape, kv=kv_shape, shared=shared, gflop=flops / 1e9, grid=grid, warps=threads // 32)
for causal in (False, True):
    for k, v in flash_args(1, 8, 4096, 128, causal, groups=4 if causal else 1).items(): print(f"{k:>7}: {v}")
for bad in (dict(groups=3), dict(block_K=3, foo=1)):
    try: flash_args(1, 8, 64, 64, False, **bad)
    except (AssertionError, TypeError) as e: print(type(e).__name__, e)
space = {"block_M": [64, 128], "block_N": [32, 64], "num_stages": [1, 2], "threads": [128, 256]}
configs = [dict(zip(space, p)) for p in itertools.product(*space.values())]
valid = [c for c in configs if flash_args(1, 8, 1024, 128, True, **c)["shared"] <= 64 * 1024]
print(len(configs), len(valid), valid[-1], min(valid, key=lambda c: (flash_args(1, 8, 1024, 128, True, **c)["shared"], c["threads"])))
@functools.lru_cache(maxsize=None)
def layout(rows, cols, elem_bits):
    per = 1024 // elem_bits
    phase = max(1, per // cols)
    return phase, min(16 // phase, cols // 8)
print([layout(64, c, 16) for c in (32, 64, 128)], layout(64, 64, 8), layout.cache_info().misses)
make = functools.partial(flash_args, 2, 16, is_causal=True)
print(make(512, 64)["grid"], make(seq_len=100, dim=32, block_M=32)["grid"], make.keywords)
loop_range = cdiv(1000, 64)
print([(k, k * 64, min((k + 1) * 64, 1000)) for k in range(loop_range)][-2:], next_power_of_2(100), math.ceil(1000 / 64) == loop_range, 1000 % 64)
swz = lambda i, pm, pn, gs=8: (i % (gs * pn) % gs + i // (gs * pn) * gs, i % (gs * pn) // gs)
print([swz(i, 16, 4) for i in (0, 1, 8, 31, 32, 40)])
