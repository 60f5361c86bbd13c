// What kernels of the dialect use of OpenCL C and of HIP, by the compiler's own functions, in place of ROCm's library.
#if defined(__OPENCL_VERSION__)
#define get_local_id(dim) __builtin_amdgcn_workitem_id_x()
#define get_group_id(dim) __builtin_amdgcn_workgroup_id_x()
#define TW_FENCE "workgroup"
#define barrier(flags) do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, TW_FENCE); __builtin_amdgcn_s_barrier(); \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, TW_FENCE); } while (0)
static inline __attribute__((overloadable)) uint tw_mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
static inline __attribute__((overloadable)) ulong tw_mul_hi(ulong a, ulong b) {
  return (ulong)((unsigned __int128)a * b >> 64);
}
#define mul_hi tw_mul_hi
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __align__(bytes) __attribute__((aligned(bytes)))
struct __attribute__((aligned(16))) uint4 {
  unsigned x, y, z, w;
};
struct tw_thread {
  unsigned x;
};
#define threadIdx (tw_thread{__builtin_amdgcn_workitem_id_x()})
#define blockIdx (tw_thread{__builtin_amdgcn_workgroup_id_x()})
#define __syncthreads() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
static __device__ __forceinline__ unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
static __device__ __forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned __int128)a * b >> 64;
}
#endif
