# tilelang.language.dtypes: the dtypes of T under a module of their own.
import tilelang.language as T
import torch

dtype = T.dtype
bool = T.bool
int8 = T.int8
int16 = T.int16
int32 = T.int32
int64 = T.int64
uint8 = T.uint8
uint16 = T.uint16
uint32 = T.uint32
uint64 = T.uint64
int4 = T.int4
uint4 = T.uint4
half = float16 = T.float16
float = float32 = T.float32
double = float64 = T.float64
bfloat16 = T.bfloat16
tfloat32 = T.tfloat32
float4_e2m1fn = T.float4_e2m1fn
float8_e4m3 = float8_e4m3fn = T.float8_e4m3fn
float8_e5m2 = T.float8_e5m2
float8_e4m3fnuz = T.float8_e4m3fnuz
float8_e5m2fnuz = T.float8_e5m2fnuz

_TORCH_DTYPE_TO_STR = {
    torch.bool: "bool", torch.int8: "int8", torch.int16: "int16",
    torch.int32: "int32", torch.int64: "int64", torch.uint8: "uint8",
    torch.uint16: "uint16", torch.uint32: "uint32", torch.uint64: "uint64",
    torch.float16: "float16", torch.float32: "float32",
    torch.float64: "float64", torch.bfloat16: "bfloat16",
    torch.float8_e4m3fn: "float8_e4m3fn", torch.float8_e5m2: "float8_e5m2",
    torch.float8_e4m3fnuz: "float8_e4m3fnuz",
    torch.float8_e5m2fnuz: "float8_e5m2fnuz",
}


def resolve_torch_storage_dtype(dtype):
    dtype = T.dtype(dtype)
    if dtype == "float4_e2m1fn":
        return T.float4_e2m1fnx2
    return T.int8 if dtype.bits < 8 else dtype


# The dtypes that are here, and their vectors.
_all_dtypes = [
    "bool", "short", "int", "uint", "long", "half", "float", "double", "int4",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "tfloat32", "float4_e2m1fn",
    "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "bfloat16x2",
]
for _lanes in (2, 4, 8, 16, 32, 64):
    for _name in ("int8", "int16", "int32", "int64", "uint8", "uint16",
                  "uint32", "uint64", "float16", "float32", "float64",
                  "tfloat32", "float4_e2m1fn", "float8_e4m3fn",
                  "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
                  "float8_e8m0fnu"):
        _all_dtypes.append(_name + "x" + str(_lanes))
