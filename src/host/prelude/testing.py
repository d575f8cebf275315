# tilelang.testing: which tests the target can run, and running them.
import pytest
from _pytest import arch, main, nvidia, regression

version = (int(arch[3]), int(arch[4])) if nvidia else (0, 0)
cdna = arch.startswith("gfx9")


def only_if(ok, reason):
    return pytest.mark.skipif(not ok, reason=reason)


requires_cuda = only_if(nvidia, "needs CUDA")
requires_rocm = only_if(not nvidia, "needs ROCm")
requires_cdna = only_if(cdna, "needs a CDNA device")
requires_cuda_or_cdna = only_if(nvidia or cdna, "needs CUDA or CDNA")
requires_gfx950 = only_if(arch == "gfx950", "needs gfx950")
requires_llvm = only_if(False, "needs LLVM")
requires_metal = only_if(False, "needs Metal")


def requires_package(*names):
    known = all(pytest.find_module(n) is not None for n in names)
    return only_if(known, "needs " + ", ".join(names))


def requires_cuda_compute_version(major, minor=0, mode="ge"):
    wanted = (major, minor)
    ok = {"ge": version >= wanted, "gt": version > wanted,
          "le": version <= wanted, "lt": version < wanted,
          "eq": version == wanted}[mode]
    return only_if(nvidia and ok, "needs another compute version")


def requires_cuda_compute_version_ge(major, minor=0):
    return requires_cuda_compute_version(major, minor, "ge")


def requires_cuda_compute_version_gt(major, minor=0):
    return requires_cuda_compute_version(major, minor, "gt")


def requires_cuda_compute_version_le(major, minor=0):
    return requires_cuda_compute_version(major, minor, "le")


def requires_cuda_compute_version_lt(major, minor=0):
    return requires_cuda_compute_version(major, minor, "lt")


def requires_cuda_compute_version_eq(major, minor=0):
    return requires_cuda_compute_version(major, minor, "eq")


def process_func(func, name=None, **kwargs):
    latency = func(**kwargs)
    print("%s: %s" % (name or func.__name__, latency))
