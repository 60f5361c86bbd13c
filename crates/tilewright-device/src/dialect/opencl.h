// The dialect for OpenCL C. A text defines NT, MINBLOCKS, PARAMS and SHAREDBYTES before this point.
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef int i32;
typedef long i64;
typedef uint4 u128;

#define GSRC __global const u8*
#define GDST __global u8*
// Shared memory is declared in the entries, because the language allows it nowhere else. A job's addresses are numbers.
#define TW_SHARED __local u128 tw_shared[SHAREDBYTES > 0 ? SHAREDBYTES / 16 : 1];
#define KERNEL(name) \
  typedef struct { u64 p[PARAMS]; } name##_params; \
  typedef struct { u64 src; u64 dst; u64 first; name##_params params; } name##_job; \
  void name##_body(GSRC src, GDST dst, const name##_params tw_params, u32 tw_block, __local u128* tw_shared); \
  __kernel __attribute__((reqd_work_group_size(NT, 1, 1))) \
  void name(GSRC src, GDST dst, const name##_params params) { \
    TW_SHARED \
    name##_body(src, dst, params, (u32)get_group_id(0), tw_shared); \
  } \
  __kernel __attribute__((reqd_work_group_size(NT, 1, 1))) \
  void name##_many(__global const name##_job* jobs, u32 count) { \
    TW_SHARED \
    u32 job, own; \
    FIND_JOB(job, own, jobs, count, (u32)get_group_id(0)); \
    name##_body((GSRC)jobs[job].src, (GDST)jobs[job].dst, jobs[job].params, own, tw_shared); \
  } \
  void name##_body(GSRC src, GDST dst, const name##_params tw_params, u32 tw_block, __local u128* tw_shared) {
#define KERNEL_END }
#define P(i) (tw_params.p[i])
#define BLOCK tw_block
#define SHARED(name, bytes) __local u128* const name = tw_shared
#define THREADS_BEGIN { const u32 tid = (u32)get_local_id(0);
#define THREADS_END }
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define ROUND(number)
#define UNROLL __attribute__((opencl_unroll_hint))
// Constant memory is small: 64 KiB on every device. Global memory can have tables from OpenCL C 2.0 on.
#if __OPENCL_C_VERSION__ >= 200 && (__OPENCL_C_VERSION__ < 300 || defined(__opencl_c_program_scope_global_variables))
#define TABLE __global const
#else
#define TABLE __constant const
#define MOSTTABLES 65536
#endif
#define DEVICE static inline

#define LDG16(p) (*(__global const u128*)(p))
#define LDG16K(p) LDG16(p)
#define LDG8(p) (*(__global const u64*)(p))
#define LDG4(p) (*(__global const u32*)(p))
#define LDG2(p) (*(__global const u16*)(p))
#define LDG1(p) (*(__global const u8*)(p))
#define STG16(p, v) (*(__global u128*)(p) = (v))
#define LDG16IF(c, p) ((c) ? LDG16(p) : (u128)(0))
#define LDG16KIF(c, p) LDG16IF(c, p)
#define STG16IF(c, p, v) do { if (c) STG16(p, v); } while (0)
#define STG8(p, v) (*(__global u64*)(p) = (v))
#define STG4(p, v) (*(__global u32*)(p) = (v))
#define STG2(p, v) (*(__global u16*)(p) = (u16)(v))
#define STG1(p, v) (*(__global u8*)(p) = (u8)(v))
#define LDS16(s, i) ((s)[i])
#define STS16(s, i, v) ((s)[i] = (v))
#define LDS8(s, b) (*(__local const u64*)((__local const u8*)(s) + (b)))
#define LDS4(s, b) (*(__local const u32*)((__local const u8*)(s) + (b)))
#define LDS2(s, b) (*(__local const u16*)((__local const u8*)(s) + (b)))
#define LDS1(s, b) (*((__local const u8*)(s) + (b)))
#define STS8(s, b, v) (*(__local u64*)((__local u8*)(s) + (b)) = (v))
#define STS4(s, b, v) (*(__local u32*)((__local u8*)(s) + (b)) = (v))
#define STS2(s, b, v) (*(__local u16*)((__local u8*)(s) + (b)) = (u16)(v))
#define STS1(s, b, v) (*((__local u8*)(s) + (b)) = (u8)(v))
#define CPASYNC16(s, b, p) (*(__local u128*)((__local u8*)(s) + (b)) = LDG16(p))
#define CPWAIT
DEVICE u32 tw_prmt(u32 a, u32 b, u32 sel) {
  const u64 both = (u64)b << 32 | a;
  u32 r = 0;
  for (u32 i = 0; i < 4u; i++) r |= (u32)(both >> (8u * (sel >> 4u * i & 7u)) & 0xffu) << 8u * i;
  return r;
}
#define PRMT(a, b, sel) tw_prmt(a, b, sel)
#define FUNNEL(lo, hi, shift) ((u32)(((u64)(hi) << 32 | (lo)) >> ((shift) & 31u)))
// The high word of both after a left shift.
#define FUNNELUP(lo, hi, shift) ((u32)(((u64)(hi) << 32 | (lo)) << ((shift) & 31u) >> 32))
#define MULHI32(a, b) mul_hi((u32)(a), (u32)(b))
#define MULHI64(a, b) mul_hi((u64)(a), (u64)(b))
#define PHASE(p) ((u32)(ulong)(p))
#define FLOOR16(p) ((__global u8*)((ulong)(p) & ~(ulong)15))
