# arrays.py - tensors through files and back, every dtype, to the bit.
#
# A kernel that copies A to B runs with --in, --out and --expect on .npy and
# .safetensors files that NumPy wrote (a NaN may become another); load_file and
# save_file keep every bit.
import os
import subprocess
import sys
import tempfile

import numpy as np

import tensors

PROBE = os.environ.get("TORCH_PROBE", "./torch_probe")
TILESIM = os.environ.get("TILESIM", "tilesim")
WORDS = {"bool": "bool", "u8": "uint8", "i8": "int8", "i16": "int16",
         "i32": "int32", "i64": "int64", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "f16": "float16", "bf16": "bfloat16",
         "f32": "float32", "f64": "float64", "e4m3": "float8_e4m3fn",
         "e5m2": "float8_e5m2", "e4m3z": "float8_e4m3fnuz",
         "e5m2z": "float8_e5m2fnuz"}
PROGRAM = '''import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1])
def copy(M=5, N=24, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=32) as bx:
            s = T.alloc_shared((M, N), dtype)
            T.copy(A, s)
            T.copy(s, B)
    return main
'''
FAILED = []


def check(good, what):
    if not good:
        print("wrong:", what)
        FAILED.append(what)


def run(*args):
    done = subprocess.run([TILESIM, "run", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def every_code(dtype):
    """All bit patterns of 8 bits, many of more; bool stays 0 or 1."""
    kind = np.dtype(tensors.DTYPES[dtype][0])
    raw = np.arange(120, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    if dtype == "bool":
        return (raw >> np.uint64(63)).astype(np.bool_).reshape(5, 24)
    if kind.itemsize == 1:
        raw = np.arange(136, 256, dtype=np.uint64)
    else:
        raw = raw >> np.uint64(64 - 8 * kind.itemsize)
    return raw.astype(f"u{kind.itemsize}").view(kind).reshape(5, 24)


def through_kernel(folder, dtype, kinds):
    a = every_code(dtype).copy()
    if dtype in tensors.FP8:                # what a store makes of them is not
        a[np.isinf(a.astype(np.float32))] = 0   # a matter of files
    where = [f"{folder}/in.{kinds[0]}", f"{folder}/out.{kinds[1]}"]
    if kinds[0] == "npy":
        np.save(where[0], a)
    else:
        tensors.write_safetensors(where[0], {"other": a[:1], "A": a})
    code, text = run(f"{folder}/copy.tile", "-D", f"dtype={WORDS[dtype]}",
                     "--in", f"A={where[0]}", "--out", f"B={where[1]}",
                     "--no-ref")
    if code:
        check(False, f"{dtype} {kinds}: exit {code}\n{text}")
        return
    b = np.load(where[1]) if kinds[1] == "npy" \
        else tensors.read_safetensors(where[1])["B"]
    check(b.dtype == a.dtype and b.shape == a.shape
          and tensors.same_bits(a, b).all(), f"{dtype} {kinds}")


def through_probe(folder):
    arrays = {d: every_code(d) for d in WORDS}
    arrays["none"] = np.zeros((0, 3), np.float32)
    arrays["one"] = np.array(1.5)
    tensors.write_safetensors(f"{folder}/a.safetensors", arrays)
    with open(f"{folder}/x.py", "w") as f:
        f.write("from safetensors.torch import load_file, save_file\n"
                f"x = load_file('{folder}/a.safetensors')\n"
                f"save_file(x, '{folder}/b.safetensors')\n"
                "print(len(x))\n")
    subprocess.run([PROBE, f"{folder}/x.py"], check=True,
                   stdout=subprocess.DEVNULL)
    back = tensors.read_safetensors(f"{folder}/b.safetensors")
    check(set(back) == set(arrays), "the names of load_file and save_file")
    for name, a in arrays.items():
        b = back.get(name)
        check(b is not None and b.dtype == a.dtype and b.shape == a.shape
              and a.tobytes() == b.tobytes(), f"load_file, save_file: {name}")


def by_name_and_expect(folder):
    a = np.arange(120, dtype=np.float32).reshape(5, 24)
    file = f"{folder}/named.safetensors"
    tensors.write_safetensors(file, {"A": a, "B": a, "unused": a})
    tile, kind = f"{folder}/copy.tile", ["-D", "dtype=float32"]
    code, text = run(tile, *kind, "--in", file, "--expect", f"B={file}")
    check(code == 0, f"by name: exit {code}\n{text}")
    b = a.copy()
    b[3, 4] += 1000
    np.save(f"{folder}/off.npy", b)
    code, text = run(tile, *kind, "--in", file, "--expect",
                     f"B={folder}/off.npy")
    check(code == 1 and "3,4" in text, f"one element off: exit {code}\n{text}")
    np.save(f"{folder}/shape.npy", b[:4])
    code, text = run(tile, *kind, "--in", f"A={folder}/shape.npy")
    check(code == 2, f"wrong shape: exit {code}")
    np.save(f"{folder}/dtype.npy", b.astype(np.float64))
    code, text = run(tile, *kind, "--in", f"A={folder}/dtype.npy")
    check(code == 2, f"wrong dtype: exit {code}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/copy.tile", "w") as f:
            f.write(PROGRAM)
        for dtype, (kind, _) in tensors.DTYPES.items():
            plain = np.dtype(kind).kind in "biuf" and dtype != "bf16" \
                and dtype not in tensors.FP8
            if plain:
                through_kernel(folder, dtype, ("npy", "npy"))
            through_kernel(folder, dtype, ("safetensors", "safetensors"))
        through_probe(folder)
        by_name_and_expect(folder)
    print(f"arrays: {len(FAILED)} wrong")
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    main()
