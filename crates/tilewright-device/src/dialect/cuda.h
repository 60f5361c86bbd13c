// The dialect for CUDA and HIP. A text defines NT, MINBLOCKS, PARAMS and SHAREDBYTES before this point.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef uint4 u128;

#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP__) || defined(__HIPCC_RTC__)
#define TW_HIP 1
// HIP defines the second number of the bounds differently.
#define TW_BOUNDS __launch_bounds__(NT)
#else
#define TW_BOUNDS __launch_bounds__(NT, MINBLOCKS)
#endif

#define GSRC const u8*
#define GDST u8*
// The entry for many arrays of one structure in one launch, unless TW_NO_MANY is defined: the job of a block is the
// last one whose first block is at most the block.
#if defined(TW_NO_MANY)
#define TW_MANY(name)
#else
#define TW_MANY(name) \
  extern "C" __global__ void TW_BOUNDS \
  name##_many(const name##_job* __restrict__ jobs, u32 count) { \
    u32 job, own; \
    FIND_JOB(job, own, jobs, count, blockIdx.x); \
    name##_body(jobs[job].src, jobs[job].dst, jobs[job].params, own); \
  }
#endif
// The body, the entry for one array, and that for many.
#define KERNEL(name) \
  struct name##_params { u64 p[PARAMS]; }; \
  struct name##_job { const u8* src; u8* dst; u64 first; name##_params params; }; \
  static __device__ __forceinline__ void name##_body(GSRC __restrict__ src, GDST __restrict__ dst, \
                                                     const name##_params& tw_params, u32 tw_block); \
  extern "C" __global__ void TW_BOUNDS \
  name(const u8* src, u8* dst, const name##_params params) { \
    name##_body(src, dst, params, blockIdx.x); \
  } \
  TW_MANY(name) \
  static __device__ __forceinline__ void name##_body(GSRC __restrict__ src, GDST __restrict__ dst, \
                                                     const name##_params& tw_params, u32 tw_block) {
#define KERNEL_END }
// An entry for several parts of one array, in a table of count rows: the part of a block is the last one whose first
// block is at most the block.
#define PARTS(name, all, parts) \
  extern "C" __global__ void TW_BOUNDS \
  all(const u8* src, u8* dst, u64 count) { \
    u32 part, own; \
    FIND_JOB(part, own, parts, (u32)count, blockIdx.x); \
    name##_body(src, dst, parts[part].params, own); \
  }
#define P(i) (tw_params.p[i])
#define BLOCK tw_block
#define SHARED(name, bytes) __shared__ __align__(128) u128 name[(bytes) / 16]
#define THREADS_BEGIN { const u32 tid = threadIdx.x;
#define THREADS_END }
#define BARRIER __syncthreads()
// The iteration of the loop that a thread is in, for the simulator's counts.
#define ROUND(number)
#define UNROLL _Pragma("unroll")
#define TABLE static __device__ const
#define DEVICE static __device__ __forceinline__

#if defined(TW_HIP)
typedef u32 tw_vector __attribute__((ext_vector_type(4)));
DEVICE u128 tw_load(const u8* p) {
  const tw_vector v = __builtin_nontemporal_load((const tw_vector*)p);
  u128 r;
  r.x = v.x; r.y = v.y; r.z = v.z; r.w = v.w;
  return r;
}
#define tw_load_kept(p) (*(const u128*)(p))
DEVICE u128 tw_load_kept_if(u32 c, const u8* p) {
  u128 r;
  r.x = r.y = r.z = r.w = 0;
  if (c) r = tw_load_kept(p);
  return r;
}
DEVICE u128 tw_load_if(u32 c, const u8* p) {
  u128 r;
  r.x = r.y = r.z = r.w = 0;
  if (c) r = tw_load(p);
  return r;
}
DEVICE void tw_store(u8* p, u128 v) {
  tw_vector r = {v.x, v.y, v.z, v.w};
  __builtin_nontemporal_store(r, (tw_vector*)p);
}
DEVICE void tw_store_if(u32 c, u8* p, u128 v) {
  if (c) tw_store(p, v);
}
DEVICE u32 tw_prmt(u32 a, u32 b, u32 sel) {
  return __builtin_amdgcn_perm(b, a, (sel & 7u) | (sel & 0x70u) << 4 | (sel & 0x700u) << 8 | (sel & 0x7000u) << 12);
}
#define tw_async(s, b, p) (*(u128*)((u8*)(s) + (b)) = tw_load(p))
#define CPWAIT
#define tw_funnel(lo, hi, shift) __builtin_amdgcn_alignbit(hi, lo, shift)
#define tw_funnel_up(lo, hi, shift) ((u32)(((u64)(hi) << 32 | (lo)) << ((shift) & 31u) >> 32))
#else
DEVICE u128 tw_load(const u8* p) {
  u128 v;
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
#else
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
#endif
  return v;
}
// Loads nothing if `c` is 0; the bytes then have any value. A predicate takes one instruction, a branch several.
DEVICE u128 tw_load_if(u32 c, const u8* p) {
  u128 v;
#if __CUDA_ARCH__ >= 800
  asm volatile("{ .reg .pred c; setp.ne.u32 c, %5, 0; @c ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "r"(c));
#else
  asm volatile("{ .reg .pred c; setp.ne.u32 c, %5, 0; @c ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "r"(c));
#endif
  return v;
}
DEVICE u128 tw_load_kept(const u8* p) {
  u128 v;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
DEVICE u128 tw_load_kept_if(u32 c, const u8* p) {
  u128 v;
  asm volatile("{ .reg .pred c; setp.ne.u32 c, %5, 0; @c ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "r"(c));
  return v;
}
DEVICE void tw_store(u8* p, u128 v) { __stcs((u128*)p, v); }
DEVICE void tw_store_if(u32 c, u8* p, u128 v) {
  asm volatile("{ .reg .pred c; setp.ne.u32 c, %5, 0; @c st.global.cs.v4.u32 [%0], {%1, %2, %3, %4}; }"
               :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(c));
}
#define tw_prmt(a, b, sel) __byte_perm(a, b, sel)
#define tw_funnel(lo, hi, shift) __funnelshift_r(lo, hi, shift)
#define tw_funnel_up(lo, hi, shift) __funnelshift_l(lo, hi, shift)
#if __CUDA_ARCH__ >= 800
#define tw_async(s, b, p) \
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" \
               :: "r"((u32)__cvta_generic_to_shared((u8*)(s) + (b))), "l"(p) : "memory")
#define CPWAIT asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define tw_async(s, b, p) (*(u128*)((u8*)(s) + (b)) = tw_load(p))
#define CPWAIT
#endif
#endif

#define LDG16(p) tw_load(p)
// A load of data that adjacent threads read too: it stays in the L1 cache.
#define LDG16K(p) tw_load_kept(p)
#define LDG8(p) (*(const u64*)(p))
#define LDG4(p) (*(const u32*)(p))
#define LDG2(p) (*(const u16*)(p))
#define LDG1(p) (*(const u8*)(p))
#define STG16(p, v) tw_store(p, v)
// A load if `c` is not 0; else the result has any value.
#define LDG16IF(c, p) tw_load_if(c, p)
#define LDG16KIF(c, p) tw_load_kept_if(c, p)
#define STG16IF(c, p, v) tw_store_if(c, p, v)
#define STG8(p, v) (*(u64*)(p) = (v))
#define STG4(p, v) (*(u32*)(p) = (v))
#define STG2(p, v) (*(u16*)(p) = (u16)(v))
#define STG1(p, v) (*(u8*)(p) = (u8)(v))
#define LDS16(s, i) ((s)[i])
#define STS16(s, i, v) ((s)[i] = (v))
#define LDS8(s, b) (*(const u64*)((const u8*)(s) + (b)))
#define LDS4(s, b) (*(const u32*)((const u8*)(s) + (b)))
#define LDS2(s, b) (*(const u16*)((const u8*)(s) + (b)))
#define LDS1(s, b) (*((const u8*)(s) + (b)))
#define STS8(s, b, v) (*(u64*)((u8*)(s) + (b)) = (v))
#define STS4(s, b, v) (*(u32*)((u8*)(s) + (b)) = (v))
#define STS2(s, b, v) (*(u16*)((u8*)(s) + (b)) = (u16)(v))
#define STS1(s, b, v) (*((u8*)(s) + (b)) = (u8)(v))
#define CPASYNC16(s, b, p) tw_async(s, b, p)
#define PRMT(a, b, sel) tw_prmt(a, b, sel)
#define FUNNEL(lo, hi, shift) tw_funnel(lo, hi, shift)
// The high word of both after a left shift.
#define FUNNELUP(lo, hi, shift) tw_funnel_up(lo, hi, shift)
#define MULHI32(a, b) __umulhi(a, b)
#define MULHI64(a, b) __umul64hi(a, b)
#define PHASE(p) ((u32)(u64)(p))
// The last multiple of 16 that is at most p.
#if defined(TW_HIP)
#define FLOOR16(p) ((p) - (PHASE(p) & 15u))
#else
// One instruction instead of two for a difference; loads and stores mark the memory as global themselves.
#define FLOOR16(p) ((u8*)((u64)(p) & ~(u64)15))
#endif
// The end of the dialect for CUDA and HIP.
