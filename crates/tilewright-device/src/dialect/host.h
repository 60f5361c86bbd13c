// The dialect in C++17, for a host without a device: a block's threads are loops between barriers, and every access
// goes to a simulator, which chooses the order of the threads and checks their accesses.
//
// A text of the dialect compiles to one `tw_code`, named as its entry. Texts of one program are in separate namespaces
// and share this header. The functions below are the simulator's; pointers to arrays are numbers that only it may
// dereference.
#pragma once
#include <cstdint>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
struct alignas(16) u128 {
    u32 x, y, z, w;
};

// A job of a launch over many arrays, and the table of them.
struct tw_job {
    const u8 *src;
    u8 *dst;
    u64 first;
    const u64 *params;
};
const tw_job &tw_job_of(u32 number);
struct tw_jobs {
    const tw_job &operator[](u32 number) const { return tw_job_of(number); }
};

// One text: the body of a block in its entries for one array and for many, and the numbers that the text states.
struct tw_code {
    void (*block)(const u8 *src, u8 *dst, const u64 *params, u32 block);
    void (*many)(tw_jobs jobs, u32 count, u32 block);
    u32 threads, params, shared;
};
// Marks that the next block of an entry for many belongs to this job.
void tw_begin(u32 job);

// Each takes the line of the text, for findings.
void tw_load(void *to, const u8 *from, u32 bytes, u32 line);
void tw_store(u8 *to, const void *from, u32 bytes, u32 line);
void tw_read(void *to, const u8 *array, u64 at, u32 bytes, u32 line);
void tw_write(u8 *array, u64 at, const void *from, u32 bytes, u32 line);
void tw_copy(u8 *array, u64 at, const u8 *from, u32 line);
void tw_wait(u32 line);
void tw_barrier(u32 line);
// Marks the iteration of the loop that the thread is in: accesses of a warp's lanes in one iteration go together.
void tw_round(u32 number);
u64 tw_param(const u64 *params, u64 number, u32 count, u32 line);
u8 *tw_shared(u64 bytes, u32 line);
// Returns the next thread of a phase, in a varying order; a number from `threads` on ends the phase's loop.
u32 tw_next(u32 threads, u32 line);

template <class T> static inline T tw_global(const u8 *from, u32 line) {
    T value;
    tw_load(&value, from, sizeof value, line);
    return value;
}
template <class T> static inline void tw_global(u8 *to, T value, u32 line) {
    tw_store(to, &value, sizeof value, line);
}
template <class T> static inline T tw_local(const u8 *array, u64 at, u32 line) {
    T value;
    tw_read(&value, array, at, sizeof value, line);
    return value;
}
template <class T> static inline void tw_local(u8 *array, u64 at, T value, u32 line) {
    tw_write(array, at, &value, sizeof value, line);
}
static inline u32 tw_permuted(u32 a, u32 b, u32 selector) {
    u64 both = (u64)b << 32 | a;
    u32 value = 0;
    for (int i = 0; i < 4; i++) value |= (u32)(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return value;
}
static inline u64 tw_high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

#define GSRC const u8 *
#define GDST u8 *
#define KERNEL(name)                                                                              \
    static void name##_block(GSRC src, GDST dst, const u64 *tw_params, u32 tw_block);             \
    static void name##_many(tw_jobs jobs, u32 count, u32 block) {                                 \
        u32 job, own;                                                                             \
        FIND_JOB(job, own, jobs, count, block);                                                   \
        tw_begin(job);                                                                            \
        name##_block(jobs[job].src, jobs[job].dst, jobs[job].params, own);                        \
    }                                                                                             \
    extern const tw_code name;                                                                    \
    const tw_code name = {name##_block, name##_many, NT, PARAMS, SHAREDBYTES};                    \
    static void name##_block(GSRC src, GDST dst, const u64 *tw_params, u32 tw_block) {            \
        (void)src, (void)dst, (void)tw_params, (void)tw_block;
#define KERNEL_END }
#define BLOCK tw_block
#define P(i) tw_param(tw_params, i, PARAMS, __LINE__)
#define SHARED(name, bytes) u8 *const name = tw_shared(bytes, __LINE__)
#define THREADS_BEGIN for (u32 tid; (tid = tw_next(NT, __LINE__)) < NT;) {
#define THREADS_END }
#define BARRIER tw_barrier(__LINE__)
#define ROUND(number) tw_round(number)
#define UNROLL
#define TABLE static const
#define DEVICE static inline
#define PHASE(p) ((u32)(u64)(p))
#define FLOOR16(p) ((p) - (PHASE(p) & 15u))
#define LDG16(p) tw_global<u128>(p, __LINE__)
#define LDG16K(p) tw_global<u128>(p, __LINE__)
#define LDG8(p) tw_global<u64>(p, __LINE__)
#define LDG4(p) tw_global<u32>(p, __LINE__)
#define LDG2(p) tw_global<u16>(p, __LINE__)
#define LDG1(p) tw_global<u8>(p, __LINE__)
#define STG16(p, v) tw_global<u128>(p, v, __LINE__)
// A load if `c` is not 0; else the result has any value.
#define LDG16IF(c, p) ((c) ? LDG16(p) : u128{0xA5A5A5A5u, 0x5A5A5A5Au, 0xC3C3C3C3u, 0x3C3C3C3Cu})
#define LDG16KIF(c, p) LDG16IF(c, p)
#define STG16IF(c, p, v) do { if (c) STG16(p, v); } while (0)
#define STG8(p, v) tw_global<u64>(p, v, __LINE__)
#define STG4(p, v) tw_global<u32>(p, v, __LINE__)
#define STG2(p, v) tw_global<u16>(p, v, __LINE__)
#define STG1(p, v) tw_global<u8>(p, v, __LINE__)
#define LDS16(sm, i) tw_local<u128>(sm, (u64)(i) * 16, __LINE__)
#define LDS8(sm, at) tw_local<u64>(sm, at, __LINE__)
#define LDS4(sm, at) tw_local<u32>(sm, at, __LINE__)
#define LDS2(sm, at) tw_local<u16>(sm, at, __LINE__)
#define LDS1(sm, at) tw_local<u8>(sm, at, __LINE__)
#define STS16(sm, i, v) tw_local<u128>(sm, (u64)(i) * 16, v, __LINE__)
#define STS8(sm, at, v) tw_local<u64>(sm, at, v, __LINE__)
#define STS4(sm, at, v) tw_local<u32>(sm, at, v, __LINE__)
#define STS2(sm, at, v) tw_local<u16>(sm, at, v, __LINE__)
#define STS1(sm, at, v) tw_local<u8>(sm, at, v, __LINE__)
#define CPASYNC16(sm, at, p) tw_copy(sm, at, p, __LINE__)
#define CPWAIT tw_wait(__LINE__)
#define PRMT(a, b, selector) tw_permuted(a, b, selector)
#define FUNNEL(lo, hi, shift) ((u32)(((u64)(u32)(hi) << 32 | (u32)(lo)) >> ((shift) & 31)))
// The high word of both after a left shift.
#define FUNNELUP(lo, hi, shift) ((u32)(((u64)(u32)(hi) << 32 | (u32)(lo)) << ((shift) & 31) >> 32))
#define MULHI32(a, b) ((u32)((u64)(u32)(a) * (u32)(b) >> 32))
#define MULHI64(a, b) tw_high(a, b)
