// The two arrays of a plan: their addresses, the contents of the source, and, for bytes of the destination, the number
// of writes and the writer. The source is a function of the offset, and the destination only has the pages that are
// touched, so both may be larger than any memory.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "report.h"

// Eight pseudorandom bytes (SplitMix64).
static inline u64 noise(u64 seed, u64 word) {
    u64 z = seed * 0x9E3779B97F4A7C15 + (word + 1) * 0xD1342543DE82EF95;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}
static inline u8 noise_byte(u64 seed, u64 at) { return (u8)(noise(seed, at / 8) >> at % 8 * 8); }

// An array from `base` on, a number that represents its address.
struct Array {
    u64 base = 0, bytes = 0, seed = 0;
    bool has(u64 at, u64 count) const { return at - base <= bytes && count <= bytes - (at - base); }
};

struct Memory {
    static constexpr u64 PAGE = 1 << 12;

    struct Page {
        u8 bytes[PAGE];
        // The number of the store that wrote a byte, from 1 on.
        u32 writer[PAGE];
    };
    struct Store {
        u32 launch, block, thread, line;
    };

    Report &report;
    Array src, dst;
    std::map<u64, std::unique_ptr<Page>> pages;
    u64 last_number = ~0ULL;
    Page *last = nullptr;
    std::vector<Store> stores;
    // True if kernels may read the destination, because elements share bytes with data that must not change.
    bool reads_destination = false;
    // True if all bytes were filled before, so that each may be written once more.
    bool filled = false;
    // Ranges of bytes that must not be written, ascending.
    std::vector<std::pair<u64, u64>> kept;

    explicit Memory(Report &report) : report(report) {}

    void begin(const Array &from, const Array &to) {
        src = from, dst = to;
        pages.clear(), stores.clear(), kept.clear();
        last_number = ~0ULL, last = nullptr, reads_destination = filled = false;
    }

    Page &page(u64 at) {
        u64 number = at / PAGE;
        if (number == last_number) return *last;
        auto &page = pages[number];
        if (!page) {
            page.reset(new Page);
            std::memset(page->writer, 0, sizeof page->writer);
            for (u64 i = 0; i < PAGE; i += 8) {
                u64 word = noise(dst.seed, (number * PAGE + i) / 8);
                std::memcpy(page->bytes + i, &word, 8);
            }
        }
        last_number = number, last = page.get();
        return *last;
    }

    void load(u8 *to, u64 at, u32 count, u32 line) {
        if (at % count) report.found("load misaligned", line, at);
        if (src.has(at, count)) {
            for (u32 i = 0; i < count; i++) to[i] = noise_byte(src.seed, at - src.base + i);
            return;
        }
        bool own = dst.has(at, count);
        if (!own) report.found("load outside", line, at - src.base);
        if (own && !reads_destination) report.found("load of the destination", line, at - dst.base);
        for (u32 i = 0; i < count; i++) {
            u64 offset = at - dst.base + i;
            to[i] = own ? page(offset).bytes[offset % PAGE] : (u8)noise(at, i);
        }
    }

    void store(u64 at, const u8 *from, u32 count, u32 line) {
        if (at % count) report.found("store misaligned", line, at);
        if (!dst.has(at, count)) return report.found("store outside", line, at - dst.base);
        stores.push_back({report.at.launch, report.at.block, report.at.thread, line});
        for (u32 i = 0; i < count; i++) {
            u64 offset = at - dst.base + i;
            Page &one = page(offset);
            if (one.writer[offset % PAGE]) report.found("written twice", line, offset);
            one.writer[offset % PAGE] = (u32)stores.size();
            one.bytes[offset % PAGE] = from[i];
        }
    }

    // Returns the store that wrote a byte, or none.
    const Store *wrote(u64 offset) {
        u32 number = page(offset).writer[offset % PAGE];
        return number ? &stores[number - 1] : nullptr;
    }

    Place place(const Store *store) const {
        return store ? Place{report.at.plan, store->launch, store->block, store->thread} : Place{report.at.plan, 0, 0, 0};
    }

    // Marks all writes so far as a fill, so later writes count anew.
    void fill() {
        for (u64 offset = 0; offset < dst.bytes; offset++)
            if (!wrote(offset)) report.found_at(place(nullptr), "never filled", 0, offset);
        for (auto &[number, page] : pages) std::memset(page->writer, 0, sizeof page->writer);
        filled = true;
    }

    // Compares with the expected bytes.
    void compare(const std::vector<u8> &expected) {
        auto range = kept.begin();
        for (u64 offset = 0; offset < dst.bytes; offset++) {
            while (range != kept.end() && range->second <= offset) range++;
            bool keeps = range != kept.end() && range->first <= offset;
            const Store *store = wrote(offset);
            u32 line = store ? store->line : 0;
            if (!store && !keeps && !filled) report.found_at(place(store), "never written", 0, offset);
            if (store && keeps) report.found_at(place(store), "written though it stays", line, offset);
            if ((store || filled) && page(offset).bytes[offset % PAGE] != expected[offset])
                report.found_at(place(store), "wrong byte", line, offset);
        }
    }

    // Writes all written bytes in ascending order, as runs: offset, length, bytes.
    void write_runs(FILE *file) {
        for (auto &[number, page] : pages)
            for (u64 i = 0, end; i < PAGE; i = end + 1) {
                for (end = i; end < PAGE && page->writer[end];) end++;
                u64 head[2] = {number * PAGE + i, end - i};
                if (end == i) continue;
                std::fwrite(head, 8, 2, file);
                std::fwrite(page->bytes + i, 1, end - i, file);
            }
    }
};
