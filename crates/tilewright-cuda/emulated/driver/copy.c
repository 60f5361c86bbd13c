// Copies and fills. A copy from or to host memory that is not pinned is complete when the call returns, as with a
// driver; all others are queued.
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static int run_copy(Op *op, Context *context) {
  (void)context;
  uint8_t *to = reach(op->to, op->bytes);
  const uint8_t *from = op->staged ? op->staged : reach(op->from, op->bytes);
  if (!to || !from) return EMULATED_ILLEGAL_ADDRESS;
  memmove(to, from, op->bytes);
  return 0;
}

enum { ANY, HOST, DEVICE };
// Returns whether bytes are in the kind of memory that a call requires: of a device, of the host, or either.
static int is_at(uint64_t address, uint64_t bytes, int place) {
  const Memory *own = memory_of(address);
  if (own ? own->bytes - (address - own->address) < bytes : address >> 48) return 0;
  return place == ANY || (place == DEVICE ? !!own : !own || own->is_pinned);
}
static int is_pageable(uint64_t address) { return !memory_of(address); }

// Queues a copy; waits for it if the call does, and if the host's memory is not pinned.
static int copied(uint64_t to, int to_place, uint64_t from, int from_place, uint64_t bytes, void *stream, int waits) {
  int code = 0;
  Stream *own = stream_of(stream, &code);
  if (code) return code;
  if (!bytes) return 0;
  if (!is_at(to, bytes, to_place) || !is_at(from, bytes, from_place)) return INVALID_VALUE;
  if (own->capturing && (waits || is_pageable(to) || is_pageable(from))) return own->capturing = 2, CAPTURE_UNSUPPORTED;
  Op op = {.run = run_copy, .to = to, .from = from, .bytes = bytes};
  if (is_pageable(from) && !(op.staged = malloc(bytes))) return OUT_OF_MEMORY;
  if (op.staged) memcpy(op.staged, (const void *)from, bytes);
  add(own, op);
  return waits || is_pageable(to) ? settle_stream(own) : 0;
}
#define COPY(name, to, to_place, from, from_place, stream, waits) \
  CALL(name " %zu", bytes); \
  if (!code && waits) code = end_captures(); \
  if (!code) code = copied((uint64_t)(to), to_place, (uint64_t)(from), from_place, bytes, stream, waits); \
  DONE

API int cuMemcpy(uint64_t to, uint64_t from, size_t bytes) { COPY("cuMemcpy", to, ANY, from, ANY, 0, 1); }
API int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream) { COPY("cuMemcpyAsync", to, ANY, from, ANY, stream, 0); }
API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) { COPY("cuMemcpyHtoD", to, DEVICE, from, HOST, 0, 1); }
API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  COPY("cuMemcpyHtoDAsync", to, DEVICE, from, HOST, stream, 0);
}
API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) { COPY("cuMemcpyDtoH", to, HOST, from, DEVICE, 0, 1); }
API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  COPY("cuMemcpyDtoHAsync", to, HOST, from, DEVICE, stream, 0);
}
// This call does not wait for the copy.
API int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) { COPY("cuMemcpyDtoD", to, DEVICE, from, DEVICE, 0, 0); }
API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  COPY("cuMemcpyDtoDAsync", to, DEVICE, from, DEVICE, stream, 0);
}
API int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes, void *stream) {
  (void)to_context, (void)from_context;
  COPY("cuMemcpyPeerAsync", to, DEVICE, from, DEVICE, stream, 0);
}

static int run_fill(Op *op, Context *context) {
  (void)context;
  uint8_t *to = reach(op->to, op->bytes);
  if (!to) return EMULATED_ILLEGAL_ADDRESS;
  for (uint64_t at = 0; at < op->bytes; at += op->width) memcpy(to + at, &op->value, op->width);
  return 0;
}
static int filled(uint64_t to, uint32_t value, uint32_t width, uint64_t count, void *stream) {
  int code = 0;
  Stream *own = stream_of(stream, &code);
  if (code || !count) return code;
  if (to % width || !is_at(to, count * width, DEVICE)) return INVALID_VALUE;
  add(own, (Op){.run = run_fill, .to = to, .bytes = count * width, .value = value, .width = width});
  return 0;
}
#define FILL(name, width, stream) \
  CALL(name " %zu", count); \
  if (!code) code = filled(to, value, width, count, stream); \
  DONE
API int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count) { FILL("cuMemsetD8", 1, 0); }
API int cuMemsetD16_v2(uint64_t to, unsigned short value, size_t count) { FILL("cuMemsetD16", 2, 0); }
API int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count) { FILL("cuMemsetD32", 4, 0); }
API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *stream) { FILL("cuMemsetD8Async", 1, stream); }
API int cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, void *stream) { FILL("cuMemsetD16Async", 2, stream); }
API int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream) { FILL("cuMemsetD32Async", 4, stream); }
