// Runs kernels of the dialect as an adversarial device would, and reports its findings.
//
//     simulator ORDERS      lines of JSON: findings, and what each plan came to
//
// ORDERS are words. A plan consists of everything from one `plan` to its `end`:
//
//     plan NAME
//     of NUMBER                        of several pairs of arrays, the one that the next words are about; else 0
//     source BASE BYTES SEED           the number that stands for its address; the bytes are noise of the seed
//     destination BASE BYTES SEED      what it holds before
//     reads                            kernels may read the destination
//     keep FROM TO                     bytes that nobody may write, ascending
//     mutant NUMBER SECONDS            the change of the text that is on, and the time that it has
//     only COUNT BLOCK …               the blocks of the next launch that run
//     launch KERNEL BLOCKS COUNT PARAM …
//     jobs KERNEL COUNT                one launch over COUNT pairs of arrays, and of each job:
//         PAIR BLOCKS COUNT PARAM …
//     filled                           the launches so far fill the destination, and others write over that
//     expect FILE OFFSET               all bytes that the destination must hold
//     runs FILE                        or a file for the bytes that were written
//     end
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include <deque>
#include <fstream>
#include <iostream>

#include "block.h"
#include "mutant.h"

extern const tw_code *const tw_codes[];
extern const u32 tw_count;

u32 tw_mutant = ~0u;

static Report report;
// The arrays of a plan, in pairs, and the pair that the current words of its orders are about.
static std::deque<Memory> memories;
static Memory *memory;
static Traffic traffic;
static Block block(report, traffic);
// True while a function of the simulator runs, which a signal must not interrupt.
static volatile bool busy = false;

struct Busy {
    Busy() { busy = true; }
    ~Busy() { busy = false; }
};

void tw_load(void *to, const u8 *from, u32 bytes, u32 line) {
    Busy now;
    block.step(line);
    block.follow(LOAD, (u64)from, bytes, line);
    block.memory->load((u8 *)to, (u64)from, bytes, line);
    traffic.note(LOAD, report.at.thread, (u64)from, bytes, line);
}
void tw_store(u8 *to, const void *from, u32 bytes, u32 line) {
    Busy now;
    block.step(line);
    block.follow(STORE, (u64)to, bytes, line, (const u8 *)from);
    block.memory->store((u64)to, (const u8 *)from, bytes, line);
    traffic.note(STORE, report.at.thread, (u64)to, bytes, line);
}
void tw_read(void *to, const u8 *array, u64 at, u32 bytes, u32 line) {
    Busy now;
    block.read((u8 *)to, array, at, bytes, line);
}
void tw_write(u8 *array, u64 at, const void *from, u32 bytes, u32 line) {
    Busy now;
    block.write(array, at, (const u8 *)from, bytes, line);
}
void tw_copy(u8 *array, u64 at, const u8 *from, u32 line) {
    Busy now;
    block.copy(array, at, (u64)from, line);
}
void tw_wait(u32 line) {
    Busy now;
    block.wait(line);
}
void tw_round(u32 number) { traffic.next_round(number); }
void tw_barrier(u32 line) {
    Busy now;
    block.barrier(line);
}
u8 *tw_shared(u64 bytes, u32 line) {
    Busy now;
    return block.shared(bytes, line);
}
u32 tw_next(u32 threads, u32 line) {
    Busy now;
    return block.next(threads, line);
}
u64 tw_param(const u64 *params, u64 number, u32 count, u32 line) {
    Busy now;
    if (number < count) return params[number];
    report.found("parameter outside", line, number);
    return 0;
}

// Handles failures of the compiler's checks or the processor, and the end of a plan's time.
static void stopped(int number) {
    const char *what = number == SIGVTALRM ? "without end" : "undefined";
    if (number == SIGVTALRM && busy) return (void)(block.late = true);
    report.found(what, 0, (u64)number);
    siglongjmp(block.abandoned, 1);
}

static void within(u64 seconds) {
    itimerval time = {{0, 0}, {(time_t)seconds, 0}};
    setitimer(ITIMER_VIRTUAL, &time, nullptr);
}

// The jobs of a launch over many arrays, the pair of arrays of each, and the number of times that a block has looked
// for its own.
struct Jobs {
    std::vector<tw_job> all;
    std::vector<Memory *> memories;
    std::vector<std::vector<u64>> params;
    u32 looks = 0;
};
static Jobs jobs;

const tw_job &tw_job_of(u32 number) {
    static const tw_job none = {nullptr, nullptr, 0, nullptr};
    Busy now;
    // A search halves the remaining part of 32 bits.
    if (++jobs.looks > 64) report.found("without end", 0, number), block.abandon();
    if (number < jobs.all.size()) return jobs.all[number];
    report.found("job outside", 0, number);
    return none;
}
void tw_begin(u32 job) {
    if (job >= jobs.all.size()) report.found("no such job", 0, job), block.abandon();
    block.memory = jobs.memories[job];
}

// Runs some blocks of a launch in random order.
template <class Run> static void run(const tw_code &code, std::vector<u32> blocks, Run one) {
    if (code.threads == 0 || code.threads > Block::MOST_THREADS) return report.found("threads", 0, code.threads);
    std::shuffle(blocks.begin(), blocks.end(), block.dice);
    // The loop's state must survive a jump.
    static size_t next;
    for (next = 0; next < blocks.size(); next++) {
        block.begin(blocks[next]);
        if (sigsetjmp(block.abandoned, 1)) {
            busy = false, traffic.drop();
            break;
        }
        one(blocks[next]);
        block.end();
    }
}

static std::vector<u64> params_of(std::istream &orders, const tw_code &code) {
    u64 count;
    orders >> count;
    std::vector<u64> params(count);
    for (u64 &param : params) orders >> param;
    if (code.params != count) report.found("another number of parameters", 0, count);
    return params;
}

static std::vector<u32> all_of(u64 count) {
    std::vector<u32> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

static void launch(std::istream &orders, const tw_code &code, const std::vector<u32> &only) {
    u64 blocks;
    orders >> blocks;
    const std::vector<u64> params = params_of(orders, code);
    block.memory = memory;
    run(code, only.empty() ? all_of(blocks) : only, [&](u32 number) {
        code.block((const u8 *)memory->src.base, (u8 *)memory->dst.base, params.data(), number);
    });
}

static void launch_many(std::istream &orders, const tw_code &code) {
    u64 count, blocks, first = 0;
    orders >> count;
    jobs = Jobs();
    jobs.params.resize(count);
    for (std::vector<u64> &params : jobs.params) {
        size_t pair;
        orders >> pair >> blocks;
        params = params_of(orders, code);
        Memory &own = memories.at(pair);
        jobs.memories.push_back(&own);
        jobs.all.push_back({(const u8 *)own.src.base, (u8 *)own.dst.base, first, params.data()});
        first += blocks;
    }
    run(code, all_of(first), [&](u32 number) {
        jobs.looks = 0, block.memory = memory;
        code.many(tw_jobs(), (u32)count, number);
    });
}

static void print(const std::string &name) {
    static const char *const KIND[KINDS] = {"load", "store", "read", "write"};
    std::printf("{\"plan\":\"%s\",\"findings\":%" PRIu64 ",\"trace\":%" PRIu64 ",\"places\":%" PRIu64 ",\"stores\":%" PRIu64,
                name.c_str(), report.findings, block.sums[0], block.sums[1], block.sums[2]);
    for (int kind = LOAD; kind < KINDS; kind++) {
        const Count &one = traffic.counts[kind];
        std::printf(",\"%s\":{\"requests\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"units\":%" PRIu64 ",\"ideal\":%" PRIu64
                    ",\"uneven\":%" PRIu64 ",\"distinct\":%" PRIu64 "}",
                    KIND[kind], one.requests, one.bytes, one.units, one.ideal, one.uneven, one.distinct);
    }
    std::printf("}\n");
}

static std::vector<u8> bytes_of(const std::string &path, u64 from, u64 count) {
    std::vector<u8> bytes(count);
    std::ifstream file(path, std::ios::binary);
    file.seekg((std::streamoff)from);
    if (!file.read((char *)bytes.data(), (std::streamsize)count)) report.found("no expected bytes", 0, from);
    return bytes;
}

static void plan(std::istream &orders) {
    std::string name, word, path;
    orders >> name;
    report.begin(name);
    traffic.begin();
    std::fill(block.sums, block.sums + Block::TRACES, 0);
    tw_mutant = ~0u, block.late = false;
    Array src, dst;
    std::vector<u32> only;
    u64 seconds = 300, count, from, to;
    within(seconds);
    memories.clear(), memory = &memories.emplace_back(report);
    while (orders >> word && word != "end") {
        if (word == "source") orders >> src.base >> src.bytes >> src.seed;
        if (word == "destination") orders >> dst.base >> dst.bytes >> dst.seed, memory->begin(src, dst);
        if (word == "of") {
            orders >> count;
            while (memories.size() <= count) memories.emplace_back(report);
            memory = &memories[count];
        }
        if (word == "reads") memory->reads_destination = true;
        if (word == "keep") orders >> from >> to, memory->kept.push_back({from, to});
        if (word == "mutant") orders >> tw_mutant >> seconds, within(seconds);
        if (word == "only") {
            orders >> count;
            only.resize(count);
            for (u32 &number : only) orders >> number;
        }
        if (word == "launch" || word == "jobs") {
            u64 kernel;
            orders >> kernel;
            if (kernel >= tw_count) std::fprintf(stderr, "no kernel %" PRIu64 "\n", kernel), std::exit(2);
            if (word == "launch") launch(orders, *tw_codes[kernel], only);
            else launch_many(orders, *tw_codes[kernel]);
            only.clear(), report.at.launch++;
        }
        if (word == "filled") memory->fill();
        if (word == "expect") orders >> path >> from, memory->compare(bytes_of(path, from, memory->dst.bytes));
        if (word == "runs") {
            orders >> path;
            FILE *file = std::fopen(path.c_str(), "wb");
            if (file) memory->write_runs(file), std::fclose(file);
            else report.found("no file to write", 0);
        }
    }
    print(name);
}

int main(int count, char **words) {
    std::ifstream orders(count > 1 ? words[1] : "");
    for (int number : {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGVTALRM}) signal(number, stopped);
    std::string word;
    while (orders >> word) {
        if (word != "plan") return std::fprintf(stderr, "no plan but %s\n", word.c_str()), 2;
        plan(orders);
    }
    return 0;
}
