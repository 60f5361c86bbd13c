// The text before every text that the emulated compiler compiles, in place of the dialect for CUDA: the dialect for the
// host, with accesses that only reach memory that the emulated driver allocated.
//
// Threads are loops between barriers, forwards in one and backwards in the next; blocks run in order, each with
// uninitialised shared memory. Alignment and allocation of each access are checked. Races and traffic are not: the
// simulator in the tests of tilewright-device checks them.
#pragma once
#include "../../tilewright-device/src/dialect/host.h"
#include "entry.h"

#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

static emulated_launch *tw_launch;
static emulated_span tw_loaded, tw_stored;
static struct { u32 x; } blockIdx;
alignas(128) static u8 tw_array[49152];
static u32 tw_taken, tw_thread, tw_phase;

static void tw_fail(int error) {
    if (!tw_launch->error) tw_launch->error = error;
}

// Returns the host's memory for an access, or null.
static inline u8 *tw_host(const u8 *at, u32 bytes, emulated_span &last) {
    const u64 address = (u64)at;
    if (address % bytes) return tw_fail(EMULATED_MISALIGNED_ADDRESS), nullptr;
    if (address - last.from >= last.bytes && !tw_launch->find(tw_launch, address, &last)) last.bytes = 0;
    const u64 from = address - last.from;
    if (from >= last.bytes || last.bytes - from < bytes) return tw_fail(EMULATED_ILLEGAL_ADDRESS), nullptr;
    return last.host + from;
}
static inline void tw_move_bytes(void *to, const void *from, u32 bytes) { __builtin_memcpy(to, from, bytes); }
void tw_load(void *to, const u8 *from, u32 bytes, u32) {
    if (const u8 *host = tw_host(from, bytes, tw_loaded)) tw_move_bytes(to, host, bytes);
    else __builtin_memset(to, 0, bytes);
}
void tw_store(u8 *to, const void *from, u32 bytes, u32) {
    if (u8 *host = tw_host(to, bytes, tw_stored)) tw_move_bytes(host, from, bytes);
}
// Returns whether an access to shared memory is within that of the block.
static inline bool tw_within(const u8 *array, u64 at, u32 bytes) {
    const u64 from = (u64)(array - tw_array) + at;
    if (at % bytes == 0 && from < tw_taken && tw_taken - from >= bytes) return true;
    tw_fail(at % bytes ? EMULATED_MISALIGNED_ADDRESS : EMULATED_ILLEGAL_ADDRESS);
    return false;
}
void tw_read(void *to, const u8 *array, u64 at, u32 bytes, u32) {
    if (tw_within(array, at, bytes)) tw_move_bytes(to, array + at, bytes);
    else __builtin_memset(to, 0, bytes);
}
void tw_write(u8 *array, u64 at, const void *from, u32 bytes, u32) {
    if (tw_within(array, at, bytes)) tw_move_bytes(array + at, from, bytes);
}
void tw_copy(u8 *array, u64 at, const u8 *from, u32 line) {
    u8 vector[16];
    tw_load(vector, from, 16, line);
    tw_write(array, at, vector, 16, line);
}
void tw_wait(u32) {}
void tw_barrier(u32) {}
void tw_round(u32) {}
u64 tw_param(const u64 *params, u64 number, u32 count, u32) {
    if (number < count) return params[number];
    return tw_fail(EMULATED_LAUNCH_FAILED), 0;
}
u8 *tw_shared(u64 bytes, u32) {
    u8 *const own = tw_array + tw_taken;
    if (bytes > sizeof tw_array - tw_taken) return tw_fail(EMULATED_LAUNCH_FAILED), tw_array;
    tw_taken += (u32)(bytes + 15) / 16 * 16;
    __builtin_memset(own, 0xA5, bytes);
    return own;
}
u32 tw_next(u32 threads, u32) {
    if (tw_thread == threads) return tw_thread = 0, tw_phase++, threads;
    const u32 next = tw_thread++;
    return tw_phase % 2 ? threads - 1 - next : next;
}

// An entry, by its arguments: the driver copies these by their sizes, and runs the blocks one after another.
template <auto F> struct tw_entry_of;
template <class A, class B, void (*F)(A, B)> struct tw_entry_of<F> {
    static constexpr u32 count = 2, sizes[4] = {sizeof(A), sizeof(B)};
    static void call(void **a) { F(*(A *)a[0], *(B *)a[1]); }
};
template <class A, class B, class C, void (*F)(A, B, C)> struct tw_entry_of<F> {
    static constexpr u32 count = 3, sizes[4] = {sizeof(A), sizeof(B), sizeof(C)};
    static void call(void **a) { F(*(A *)a[0], *(B *)a[1], *(C *)a[2]); }
};
template <auto F> static void tw_run(emulated_launch *launch) {
    tw_launch = launch;
    tw_loaded = tw_stored = {};
    for (blockIdx.x = 0; blockIdx.x < launch->blocks && !launch->error; blockIdx.x++) {
        tw_taken = tw_thread = tw_phase = 0;
        tw_entry_of<F>::call(launch->arguments);
    }
}
#define TW_ENTRY(name)                                                                                               \
    extern "C" __attribute__((visibility("default"))) const emulated_entry emulated_##name = {                       \
        NT, SHAREDBYTES, tw_entry_of<name>::count,                                                                   \
        {tw_entry_of<name>::sizes[0], tw_entry_of<name>::sizes[1], tw_entry_of<name>::sizes[2]}, tw_run<name>};

#if defined(TW_NO_MANY)
#define TW_MANY(name)
#else
#define TW_MANY(name)                                                                                                \
    static void name##_many(const name##_job *jobs, u32 count) {                                                     \
        emulated_span all = {};                                                                                      \
        jobs = (const name##_job *)tw_host((const u8 *)jobs, 1, all);                                                \
        const u64 given = jobs ? (u64)((const u8 *)jobs - all.host) : 0;                                             \
        if (jobs && (all.bytes - given) / sizeof *jobs < count) tw_fail(EMULATED_ILLEGAL_ADDRESS), jobs = nullptr;   \
        if (!jobs) return;                                                                                           \
        u32 at = 0;                                                                                                  \
        while (at + 1 < count && jobs[at + 1].first <= blockIdx.x) at++;                                             \
        name##_body(jobs[at].src, jobs[at].dst, jobs[at].params, (u32)(blockIdx.x - jobs[at].first));                \
    }                                                            \
    TW_ENTRY(name##_many)
#endif

#undef KERNEL
#define KERNEL(name)                                                                                                 \
    struct name##_params { u64 p[PARAMS]; };                                                                         \
    struct name##_job { const u8 *src; u8 *dst; u64 first; name##_params params; };                                  \
    static void name##_block(GSRC src, GDST dst, const u64 *tw_params, u32 tw_block);                                \
    static void name##_body(GSRC src, GDST dst, const name##_params &params, u32 block) {                            \
        name##_block(src, dst, params.p, block);                                                                     \
    }                                                                                                                \
    static void name(const u8 *src, u8 *dst, const name##_params params) {                                           \
        name##_body(src, dst, params, blockIdx.x);                                                                   \
    }                                                                                                                \
    TW_ENTRY(name) TW_MANY(name)                                                                                     \
    static void name##_block(GSRC src, GDST dst, const u64 *tw_params, u32 tw_block) {                               \
        (void)src, (void)dst, (void)tw_params, (void)tw_block;
