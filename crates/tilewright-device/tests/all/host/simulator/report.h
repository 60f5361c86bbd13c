// Prints findings as lines of JSON on the standard output.
#pragma once
#include <cinttypes>
#include <cstdio>
#include <set>
#include <string>

#include "tilewright_device.h"

// The place of a finding: the launch, and the running thread.
struct Place {
    std::string plan;
    u32 launch = 0, block = 0, thread = 0;
};

struct Report {
    // Findings of a plan beyond this number are counted and not printed.
    static constexpr u64 PRINTED = 8;

    Place at;
    u64 findings = 0;
    std::set<std::pair<std::string, u32>> said;

    void begin(const std::string &plan) {
        at = Place{plan, 0, 0, 0};
        findings = 0;
        said.clear();
    }

    // Prints one line for each kind of finding and line of the text.
    void found(const char *what, u32 line, u64 where = 0) { found_at(at, what, line, where); }

    void found_at(const Place &place, const char *what, u32 line, u64 where) {
        findings++;
        if (said.size() >= PRINTED || !said.insert({what, line}).second) return;
        std::printf("{\"plan\":\"%s\",\"launch\":%u,\"block\":%u,\"thread\":%u,\"line\":%u,\"what\":\"%s\","
                    "\"at\":%" PRIu64 "}\n",
                    place.plan.c_str(), place.launch, place.block, place.thread, line, what, where);
    }
};
