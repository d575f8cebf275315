"""tensors.py - arrays to and from .safetensors, 8-bit floats too."""
import json
import struct

import numpy as np

from dtypes import ALL

WORDS = {"float16": "F16", "bfloat16": "BF16", "float32": "F32",
         "float64": "F64", "float8_e4m3fn": "F8_E4M3",
         "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
         "float8_e5m2fnuz": "F8_E5M2FNUZ", "int8": "I8", "int16": "I16",
         "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
         "uint32": "U32", "uint64": "U64", "bool": "BOOL"}


def word_of(array):
    return WORDS[np.dtype(array.dtype).name]


def write(path, arrays):
    head, at = {}, 0
    for name, array in arrays.items():
        head[name] = {"dtype": word_of(array), "shape": array.shape,
                      "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            out.write(np.ascontiguousarray(array).tobytes())


def read(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(size))
        data = file.read()
    dtypes = {word: ALL[name] for name, word in WORDS.items()}
    out = {}
    for name, entry in head.items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        flat = np.frombuffer(data[first:last], dtypes[entry["dtype"]])
        out[name] = flat.reshape(entry["shape"])
    return out
