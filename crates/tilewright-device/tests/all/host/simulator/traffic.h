// Counts the 32-byte sectors and the bank cycles that the instructions of warps need, and the minimum for the bytes
// that they move.
//
// An instruction of a warp is the n-th time that its lanes reach a line within one round of the phase: a text marks the
// iteration of its loop that a thread is in, and a text without marks is always in one round. If lanes reach a line
// with different frequencies, it is unknown which accesses form an instruction: the line is then counted by the
// minimum, and as `uneven`.
#pragma once
#include <algorithm>
#include <vector>

#include "report.h"

enum Kind { LOAD, STORE, READ, WRITE, KINDS };

struct Count {
    u64 requests = 0, bytes = 0, units = 0, ideal = 0, uneven = 0, distinct = 0;
};

struct Traffic {
    static constexpr u32 LANES = 32, SECTOR = 32, BANKS = 32, MAX_LINES = 1 << 16;

    struct Access {
        u64 at;
        u32 line;
        u32 round, turn;
        u8 kind, bytes, lane;
        u64 key() const { return (u64)line << 8 | (u64)kind << 5 | bytes; }
    };

    Count counts[KINDS];
    std::vector<Access> warps[LANES];
    std::vector<u32> iterations = std::vector<u32>(MAX_LINES * KINDS, 0);
    std::vector<u32> used;
    u32 round = 0;
    std::vector<u64> sectors[2];

    void begin() {
        for (Count &count : counts) count = Count();
        drop();
    }

    // Drops the state of a block that was abandoned.
    void drop() {
        next_thread();
        for (auto &warp : warps) warp.clear();
        for (auto &list : sectors) list.clear();
    }

    void next_thread() {
        next_round(0);
    }

    void next_round(u32 number) {
        for (u32 slot : used) iterations[slot] = 0;
        used.clear();
        round = number;
    }

    void note(Kind kind, u32 thread, u64 at, u32 bytes, u32 line) {
        u32 slot = line % MAX_LINES * KINDS + kind;
        if (!iterations[slot]) used.push_back(slot);
        warps[thread / LANES % LANES].push_back({at, line, round, iterations[slot]++, (u8)kind, (u8)bytes, (u8)(thread % LANES)});
    }

    // Counts the lines of all warps since the last call.
    void end_section() {
        next_thread();
        for (auto &warp : warps) {
            auto before = [](const Access &a, const Access &b) {
                if (a.key() != b.key()) return a.key() < b.key();
                if (a.round != b.round) return a.round < b.round;
                return a.turn != b.turn ? a.turn < b.turn : a.lane < b.lane;
            };
            std::sort(warp.begin(), warp.end(), before);
            for (size_t from = 0, to; from < warp.size(); from = to) {
                auto same = [&](const Access &a) { return a.key() == warp[from].key() && a.round == warp[from].round; };
                for (to = from; to < warp.size() && same(warp[to]);) to++;
                line(&warp[from], &warp[0] + to);
            }
            warp.clear();
        }
    }

    // Counts the sectors that a block touched, each once.
    void end_block() {
        end_section();
        for (int kind = LOAD; kind <= STORE; kind++) counts[kind].distinct += distinct(sectors[kind]);
    }

    static u64 distinct(std::vector<u64> &all) {
        std::sort(all.begin(), all.end());
        u64 count = (u64)(std::unique(all.begin(), all.end()) - all.begin());
        all.clear();
        return count;
    }

    // Counts all accesses of a warp on one line in one round, in order of iterations.
    void line(const Access *from, const Access *to) {
        u32 lanes[LANES] = {0};
        u32 most = 0;
        for (const Access *one = from; one != to; one++) most = std::max(most, ++lanes[one->lane]);
        bool even = std::all_of(lanes, lanes + LANES, [=](u32 count) { return count == 0 || count == most; });
        Count &count = counts[from->kind];
        bool global = from->kind <= STORE;
        for (const Access *one = from; global && one != to; one++)
            for (u64 sector = one->at / SECTOR; sector <= (one->at + one->bytes - 1) / SECTOR; sector++)
                sectors[from->kind].push_back(sector);
        if (!even) {
            count.uneven += (u64)(to - from);
            if (global) at_best(from, to, count);
            return;
        }
        for (const Access *next; from != to; from = next) {
            for (next = from; next != to && next->turn == from->turn;) next++;
            u64 bytes = (u64)(next - from) * from->bytes;
            count.requests++, count.bytes += bytes;
            count.units += global ? sectors_of(from, next) : turns_of(from, next);
            count.ideal += global ? (bytes + SECTOR - 1) / SECTOR : groups_of(from, next);
        }
    }

    // Counts accesses that cannot be assigned to instructions: their distinct sectors.
    static void at_best(const Access *from, const Access *to, Count &count) {
        u64 bytes = (u64)(to - from) * from->bytes;
        count.requests++, count.bytes += bytes;
        count.units += sectors_of(from, to), count.ideal += (bytes + SECTOR - 1) / SECTOR;
    }

    static u64 sectors_of(const Access *from, const Access *to) {
        std::vector<u64> all;
        for (; from != to; from++)
            for (u64 sector = from->at / SECTOR; sector <= (from->at + from->bytes - 1) / SECTOR; sector++)
                all.push_back(sector);
        return distinct(all);
    }

    // The number of lanes that go together: a quarter of a warp for 16 bytes, half for 8.
    static u32 together(const Access *one) { return one->bytes == 16 ? 8 : one->bytes == 8 ? 16 : 32; }

    static u64 groups_of(const Access *from, const Access *to) {
        u64 groups = 0;
        u32 lanes = together(from);
        for (const Access *one = from; one != to; one++)
            groups += one == from || one->lane / lanes != one[-1].lane / lanes;
        return groups;
    }

    // Returns, for each group of lanes, the largest number of different words of one bank.
    static u64 turns_of(const Access *from, const Access *to) {
        u64 iterations = 0;
        u32 lanes = together(from);
        for (const Access *next; from != to; from = next) {
            std::vector<u64> words;
            for (next = from; next != to && next->lane / lanes == from->lane / lanes; next++)
                for (u64 word = next->at / 4; word <= (next->at + next->bytes - 1) / 4; word++) words.push_back(word);
            std::sort(words.begin(), words.end());
            words.erase(std::unique(words.begin(), words.end()), words.end());
            u64 of_bank[BANKS] = {0};
            for (u64 word : words) of_bank[word % BANKS]++;
            iterations += *std::max_element(of_bank, of_bank + BANKS);
        }
        return iterations;
    }
};
