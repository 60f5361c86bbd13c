// One block: its threads in an order that changes with every phase, its shared memory, and the asynchronous copies.
//
// Two threads race if both access a byte of shared memory between two barriers and one of them writes it. A copy that
// was begun may complete at any time until its thread waits for it, so no thread may access its bytes in between; here
// it completes at the wait.
#pragma once
#include <setjmp.h>
#include <numeric>
#include <random>

#include "memory.h"
#include "traffic.h"

struct Block {
    static constexpr u32 MOST_SHARED = 48 << 10, MOST_THREADS = 1024, NOBODY = 0xFFFF, MANY = 0xFFFE;
    // A thread with more accesses in a phase counts as endless.
    static constexpr u64 MOST_ACCESSES = 1 << 20;

    // The thread that accessed a byte in a phase, and the thread with a copy to it.
    struct Cell {
        u32 phase = 0;
        u16 writer = NOBODY, reader = NOBODY, copier = NOBODY;
    };
    struct Copy {
        u32 at, thread, line;
        u64 from;
    };

    Report &report;
    // The two arrays of the block's job.
    Memory *memory = nullptr;
    Traffic &traffic;
    std::mt19937_64 dice{1};
    std::vector<u8> bytes = std::vector<u8>(MOST_SHARED);
    std::vector<Cell> cells = std::vector<Cell>(MOST_SHARED);
    std::vector<std::pair<u32, u32>> arrays;
    std::vector<Copy> copies;
    std::vector<u32> order;
    u32 phase = 0, run = 0;
    u64 accesses = 0;
    // Hashes of the accesses of each thread of the block, in order: complete, addresses alone, stored bytes; and those
    // of all blocks, in any order.
    enum { ALL, PLACES, STORES, TRACES };
    std::vector<u64> traces[TRACES];
    u64 sums[TRACES] = {0};
    bool inside = false;
    // The place after the launch at which an abandoned kernel continues.
    sigjmp_buf abandoned;
    // Set by a timer if the plan has run for too long.
    volatile bool late = false;

    Block(Report &report, Traffic &traffic) : report(report), traffic(traffic) {}

    void begin(u32 number) {
        report.at.block = number, report.at.thread = 0;
        phase++, inside = false;
        arrays.clear(), copies.clear();
        for (auto &trace : traces) trace.assign(MOST_THREADS, 0);
        for (Cell &cell : cells) cell.copier = NOBODY;
        for (u64 i = 0; i < MOST_SHARED; i += 8) {
            u64 poison = noise(phase * 2ULL + 1, i);
            std::memcpy(&bytes[i], &poison, 8);
        }
    }

    void end() {
        if (inside) report.found("return inside a phase", 0);
        for (const Copy &copy : copies) report.found("copy not waited for", copy.line, copy.at);
        traffic.end_block();
        for (int which = ALL; which < TRACES; which++) {
            u64 all = noise(0, report.at.launch);
            for (u32 thread = 0; thread < MOST_THREADS; thread++) all += noise(traces[which][thread], thread);
            sums[which] += noise(all, 0);
        }
    }

    // Adds an access to the hashes of its thread.
    void follow(u32 kind, u64 at, u32 count, u32 line, const u8 *bytes = nullptr) {
        for (int which = ALL; which < TRACES; which++) {
            u64 &one = traces[which][report.at.thread];
            if (which != STORES) one = noise(one, at << 16 ^ (u64)line << 4 ^ kind);
            if (which == PLACES || !bytes || (which == STORES && kind != STORE)) continue;
            // Stores are hashed by bytes, however wide they are.
            for (u32 i = 0; i < count; i++) one = noise(one, at + i) + bytes[i];
        }
    }

    // Warps in random order, and the lanes of each.
    u32 next(u32 threads, u32 line) {
        if (!inside) {
            u32 warps = (threads + 31) / 32;
            std::vector<u32> shuffled(warps);
            std::iota(shuffled.begin(), shuffled.end(), 0);
            std::shuffle(shuffled.begin(), shuffled.end(), dice);
            order.clear();
            u32 turn = (u32)dice() % 32;
            for (u32 warp : shuffled)
                for (u32 lane = 0; lane < 32; lane++)
                    if (warp * 32 + (lane ^ turn) < threads) order.push_back(warp * 32 + (lane ^ turn));
            run = 0, inside = true;
        }
        (void)line;
        traffic.next_thread();
        accesses = 0;
        if (run == order.size()) {
            inside = false;
            traffic.end_section();
            return threads;
        }
        return report.at.thread = order[run++];
    }

    void barrier(u32 line) {
        if (inside) report.found("barrier inside a phase", line);
        phase++;
    }

    u8 *shared(u64 count, u32 line) {
        u32 from = arrays.empty() ? 0 : arrays.back().second;
        if (inside || count > MOST_SHARED - from) {
            report.found(inside ? "shared memory inside a phase" : "too much shared memory", line, count);
            abandon();
        }
        arrays.push_back({from, (u32)(from + (count + 15) / 16 * 16)});
        // A number that only this simulator dereferences.
        return (u8 *)(u64)(0x5348000000000000 + from);
    }

    [[noreturn]] void abandon() { siglongjmp(abandoned, 1); }

    // Returns the position of bytes, or `MOST_SHARED` with a finding.
    u32 place(const u8 *array, u64 at, u32 count, u32 line) {
        step(line);
        u32 from = (u32)((u64)array - 0x5348000000000000);
        auto own = std::find_if(arrays.begin(), arrays.end(), [=](auto &one) { return one.first == from; });
        if (own == arrays.end() || at > own->second - from || count > own->second - from - at) {
            report.found("shared outside", line, at);
            return MOST_SHARED;
        }
        if (at % count) report.found("shared misaligned", line, at);
        return (u32)(from + at);
    }

    // Counts an access of a thread in a phase; endless threads are abandoned.
    void step(u32 line) {
        if (!inside) report.found("access outside a phase", line);
        if (++accesses > MOST_ACCESSES || late) {
            report.found("without end", line);
            abandon();
        }
    }

    Cell &cell(u32 at) {
        Cell &one = cells[at];
        if (one.phase != phase) one.phase = phase, one.writer = one.reader = NOBODY;
        return one;
    }

    void touch(u32 at, bool writes, u32 line) {
        Cell &one = cell(at);
        u16 me = (u16)report.at.thread;
        if (one.copier != NOBODY) report.found("copy in flight", line, at);
        if (one.writer != NOBODY && one.writer != me) report.found("race", line, at);
        if (writes && one.reader != NOBODY && one.reader != me) report.found("race", line, at);
        if (writes) one.writer = me;
        else one.reader = one.reader == NOBODY || one.reader == me ? me : (u16)MANY;
    }

    void read(u8 *to, const u8 *array, u64 offset, u32 count, u32 line) {
        u32 at = place(array, offset, count, line);
        if (at == MOST_SHARED) return (void)std::memset(to, 0x5A, count);
        for (u32 i = 0; i < count; i++) touch(at + i, false, line);
        follow(READ, at, count, line);
        traffic.note(READ, report.at.thread, at, count, line);
        std::memcpy(to, &bytes[at], count);
    }

    void write(u8 *array, u64 offset, const u8 *from, u32 count, u32 line) {
        u32 at = place(array, offset, count, line);
        if (at == MOST_SHARED) return;
        for (u32 i = 0; i < count; i++) touch(at + i, true, line);
        follow(WRITE, at, count, line, from);
        traffic.note(WRITE, report.at.thread, at, count, line);
        std::memcpy(&bytes[at], from, count);
    }

    void copy(u8 *array, u64 offset, u64 from, u32 line) {
        u32 at = place(array, offset, 16, line);
        follow(LOAD, from, at, line);
        traffic.note(LOAD, report.at.thread, from, 16, line);
        if (at == MOST_SHARED) return;
        for (u32 i = 0; i < 16; i++) touch(at + i, true, line), cell(at + i).copier = (u16)report.at.thread;
        copies.push_back({at, report.at.thread, line, from});
    }

    void wait(u32 line) {
        step(line);
        follow(KINDS, 0, 0, line);
        auto own = [this](const Copy &copy) { return copy.thread == report.at.thread; };
        for (const Copy &copy : copies) {
            if (!own(copy)) continue;
            for (u32 i = 0; i < 16; i++) cell(copy.at + i).copier = NOBODY, touch(copy.at + i, true, copy.line);
            memory->load(&bytes[copy.at], copy.from, 16, copy.line);
        }
        copies.erase(std::remove_if(copies.begin(), copies.end(), own), copies.end());
    }
};
