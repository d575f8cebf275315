#!/bin/sh
# build.sh - a test source to a gfx942 code object.
#
# Usage: build.sh SOURCE.cpp|SOURCE.s OUT.hsaco [clang options]
source=$1 out=$2
shift 2
case $source in
*.cpp) exec clang-19 -x hip -std=c++17 -O3 --offload-arch=gfx942 \
    --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc \
    -ffp-contract=off -Wall "$@" -o "$out" "$source" ;;
*) exec clang-19 -x assembler --target=amdgcn-amd-amdhsa -mcpu=gfx942 \
    -fuse-ld=lld "$@" -o "$out" "$source" ;;
esac
