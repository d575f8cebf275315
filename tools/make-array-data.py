#!/usr/bin/env python3
"""make-array-data.py - writes tests/data/array with NumPy and safetensors.

Usage: python3 tools/make-array-data.py (needs numpy, ml_dtypes, safetensors).
Each array holds 0, 1, 2, ... in its dtype; tests/unit/check_array.c knows that.
"""
import os
import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "array")


def count(dtype, *shape):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def main():
    os.makedirs(OUT, exist_ok=True)
    os.chdir(OUT)
    np.save("f4_2x3.npy", count("<f4", 2, 3))
    np.save("f2_5.npy", count("<f2", 5))
    np.save("i8_scalar.npy", np.array(7, "<i8"))
    np.save("u1_0x4.npy", count("u1", 0, 4))
    np.save("b1_3.npy", np.array([False, True, True]))
    np.save("bf16_2x2.npy", count(ml_dtypes.bfloat16, 2, 2))
    np.save("f4_fortran_2x3.npy", np.asfortranarray(count("<f4", 2, 3)))
    np.save("f4_big_3.npy", count(">f4", 3))
    np.save("struct.npy", np.zeros(2, [("a", "<f4"), ("b", "<i4")]))
    np.save("text.npy", np.array(["ab", "c"]))
    for version in (2, 3):
        with open(f"f8_v{version}_4.npy", "wb") as f:
            np.lib.format.write_array(f, count("<f8", 4), (version, 0))
    save_file({"q": count("<f4", 2, 3), "mask": np.array([True, False]),
               "k": count(ml_dtypes.bfloat16, 3),
               "none": count("<i4", 0)},
              "four.safetensors", {"made": "for the tests"})


main()
