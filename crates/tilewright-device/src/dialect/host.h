// The dialect for C++ on the host: the threads of a block are loops between barriers, in order.
#include <cstdint>
#include <cstring>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
struct alignas(16) u128 { u32 x, y, z, w; };

#define GSRC const u8*
#define GDST u8*
#define KERNEL(name) static inline void name(GSRC src, GDST dst, const u64* tw_params, u32 tw_block) {
#define KERNEL_END }
#define P(i) (tw_params[i])
#define BLOCK tw_block
#define SHARED(name, bytes) u128 name[(bytes) / 16]
#define THREADS_BEGIN for (u32 tid = 0; tid < NT; tid++) {
#define THREADS_END }
#define BARRIER
#define UNROLL
#define TABLE static const
#define DEVICE static inline

template <class T, class P> static inline T tw_get(P p) { T v; memcpy(&v, (const void*)p, sizeof v); return v; }
template <class T, class P> static inline void tw_put(P p, T v) { memcpy((void*)p, &v, sizeof v); }
#define LDG16(p) tw_get<u128>(p)
#define LDG8(p) tw_get<u64>(p)
#define LDG4(p) tw_get<u32>(p)
#define LDG2(p) tw_get<u16>(p)
#define LDG1(p) tw_get<u8>(p)
#define STG16(p, v) tw_put<u128>(p, v)
#define STG8(p, v) tw_put<u64>(p, v)
#define STG4(p, v) tw_put<u32>(p, v)
#define STG2(p, v) tw_put<u16>(p, v)
#define STG1(p, v) tw_put<u8>(p, v)
#define LDS16(s, i) ((s)[i])
#define STS16(s, i, v) ((s)[i] = (v))
#define LDS8(s, b) tw_get<u64>((u8*)(s) + (b))
#define LDS4(s, b) tw_get<u32>((u8*)(s) + (b))
#define LDS2(s, b) tw_get<u16>((u8*)(s) + (b))
#define LDS1(s, b) tw_get<u8>((u8*)(s) + (b))
#define STS8(s, b, v) tw_put<u64>((u8*)(s) + (b), v)
#define STS4(s, b, v) tw_put<u32>((u8*)(s) + (b), v)
#define STS2(s, b, v) tw_put<u16>((u8*)(s) + (b), v)
#define STS1(s, b, v) tw_put<u8>((u8*)(s) + (b), v)
#define CPASYNC16(s, b, p) tw_put<u128>((u8*)(s) + (b), LDG16(p))
#define CPWAIT
static inline u32 tw_prmt(u32 a, u32 b, u32 sel) {
  const u64 both = (u64)b << 32 | a;
  u32 r = 0;
  for (u32 i = 0; i < 4u; i++) r |= (u32)(both >> (8u * (sel >> 4u * i & 7u)) & 0xffu) << 8u * i;
  return r;
}
#define PRMT(a, b, sel) tw_prmt(a, b, sel)
#define FUNNEL(lo, hi, shift) ((u32)(((u64)(hi) << 32 | (lo)) >> ((shift) & 31u)))
#define MULHI32(a, b) ((u32)((u64)(a) * (b) >> 32))
#define MULHI64(a, b) ((u64)((unsigned __int128)(a) * (b) >> 64))
#define PHASE(p) ((u32)(u64)(p))
