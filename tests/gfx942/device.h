// device.h - what the test kernels need of HIP, without its headers.
#define KERNEL(threads) \
    extern "C" __attribute__((global, \
        amdgpu_flat_work_group_size(1, threads))) void
#define DEVICE static inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))

typedef _Float16 half;
typedef half half4 __attribute__((ext_vector_type(4)));
typedef half half8 __attribute__((ext_vector_type(8)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef int int4 __attribute__((ext_vector_type(4)));

DEVICE int thread() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE int block() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE int block_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEVICE int lane() { return __builtin_amdgcn_mbcnt_hi(~0u,
    __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

// What __syncthreads() is.
DEVICE void sync()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
