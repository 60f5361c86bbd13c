// The common declarations of the emulated driver's files: its values, and the frame of every call.
//
// One lock guards all state. Each call of the driver is logged, may be made to fail, and reports misuse as a driver
// does. Queued work does not run before a caller waits for it.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "../entry.h"

#define API __attribute__((visibility("default")))

enum {
  INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201, NO_BINARY = 209, PEER_UNSUPPORTED = 217, UNSUPPORTED_PTX = 222, INVALID_HANDLE = 400,
  NOT_FOUND = 500, NOT_READY = 600, ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901, CAPTURE_UNMATCHED = 903, CAPTURE_IMPLICIT = 906
};
enum { DEVICES = 4, DEPTH = 32 };

typedef struct Context Context;
typedef struct Stream Stream;
typedef struct Event Event;
typedef struct Op Op;

// A piece of work on a stream. `number` orders all work that is queued in the process.
struct Op {
  Op *next;
  uint64_t number;
  int (*run)(Op *op, Context *context);
  // The event to record or to wait for, and the number of the record to wait for.
  Event *event;
  uint64_t upto;
  // A copy, a fill, or memory to free.
  uint64_t to, from, bytes;
  uint32_t value, width;
  void *staged;
  // A launch with `bytes` bytes of arguments, or a function of the caller.
  void *function;
  void *arguments;
  uint32_t blocks;
};

struct Stream {
  Stream *next;
  Context *context;
  Op *first, **last;
  int is_legacy, is_blocking, is_gone, capturing, mode;
  // The thread of a thread's default stream, and the thread that captures.
  pthread_t thread, capturing_thread;
  int is_threads;
  // The work that was captured so far.
  Op *captured, **captured_last;
};

struct Event {
  Stream *stream;
  uint64_t number;
  int is_done, is_timed, is_gone, queued;
  double time;
};

struct Context {
  int device, retained, is_primary, is_alive, failed;
  Stream *streams;
};

// An allocation: of a device, or pinned memory of the host. Addresses of a device are `shift` above those of the host.
typedef struct Memory {
  struct Memory *next;
  uint64_t address, bytes;
  uint8_t *host;
  int device, is_pinned, is_foreign;
  Context *context;
} Memory;

// process.c: the state of the process and the frame of a call.
extern pthread_mutex_t emulated_lock;
extern int device_count, driver_version, major[DEVICES], minor[DEVICES], needs_context, takes_machine_code;
extern uint64_t memory_bytes;
extern Context primary[DEVICES], foreign[DEVICES];
int enter(const char *format, ...) __attribute__((format(printf, 1, 2)));
int enter_unfailing(const char *format, ...) __attribute__((format(printf, 1, 2)));
int leave(int code);
#define CALL(...) int code = enter(__VA_ARGS__)
#define DONE return leave(code)

// context.c
extern __thread Context *stack[DEPTH];
extern __thread int depth, capture_mode;
Context *current(void);
void end_context(Context *context);
// Returns the result of a call that needs a current context.
int usable(void);
// Ends every capture that forbids this thread to wait, and returns CAPTURE_UNSUPPORTED if there was one.
int end_captures(void);

// memory.c
Memory *memory_of(uint64_t address);
Memory *take_memory(Context *context, int device, uint64_t bytes, int is_pinned);
void free_memory(Memory *memory);
void free_memory_of(Context *context);
// Returns the host's memory for bytes: of a device or pinned if `device` is at least 0, else also of the host.
uint8_t *reach(uint64_t address, uint64_t bytes);

// stream.c
Stream *stream_of(void *handle, int *code);
Stream *new_stream(Context *context, int is_blocking);
void add(Stream *stream, Op op);
void settle(Stream *stream, uint64_t below);
int settle_stream(Stream *stream);
void settle_context(Context *context);
int step(Stream *stream);
uint64_t next_number(void);
int record(Op *op, Context *context);

// module.c
void forget_modules(Context *context);
