// Memory of devices and pinned memory of the host.
//
// The address of a device's memory is not an address of the host: bits 48 and above are the device's number plus one,
// so an access on the host fails at once. New memory has 0xA5 in every byte.
#include "driver.h"

#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5, ALIGNED = 512 };
static Memory *all;
static uint64_t taken[DEVICES];

static uint64_t shift(int device) { return (uint64_t)(device + 1) << 48; }

Memory *memory_of(uint64_t address) {
  for (Memory **at = &all; *at; at = &(*at)->next) {
    Memory *own = *at;
    if (address - own->address >= own->bytes) continue;
    // Allocations that are looked up often move to the front.
    *at = own->next, own->next = all, all = own;
    return own;
  }
  return 0;
}
Memory *take_memory(Context *context, int device, uint64_t bytes, int is_pinned) {
  Memory *own = calloc(1, sizeof *own);
  void *host = 0;
  const int is_full = !is_pinned && bytes > memory_bytes - taken[device];
  if (!own || is_full || posix_memalign(&host, ALIGNED, bytes)) return free(own), NULL;
  memset(host, POISON, bytes);
  *own = (Memory){all, (uint64_t)host + (is_pinned ? 0 : shift(device)), bytes, host, device, is_pinned, 0, context};
  if (!is_pinned) taken[device] += bytes;
  return all = own;
}
void free_memory(Memory *memory) {
  Memory **at = &all;
  while (*at != memory) at = &(*at)->next;
  *at = memory->next;
  if (!memory->is_pinned) taken[memory->device] -= memory->bytes;
  if (!memory->is_foreign) memset(memory->host, POISON, memory->bytes), free(memory->host);
  free(memory);
}
void free_memory_of(Context *context) {
  for (Memory *at = all, *next; at; at = next) {
    next = at->next;
    if (at->context == context) free_memory(at);
  }
}
uint8_t *reach(uint64_t address, uint64_t bytes) {
  const Memory *own = memory_of(address);
  if (!own) return address >> 48 ? 0 : (uint8_t *)address;
  return own->bytes - (address - own->address) < bytes ? 0 : own->host + (address - own->address);
}

static int allocate(uint64_t *to, uint64_t bytes, int is_pinned) {
  const int code = usable();
  if (code) return code;
  if (!bytes) return INVALID_VALUE;
  Memory *own = take_memory(current(), current()->device, bytes, is_pinned);
  return own ? (*to = own->address, 0) : OUT_OF_MEMORY;
}
API int cuMemAlloc_v2(uint64_t *to, size_t bytes) {
  CALL("cuMemAlloc %zu", bytes);
  if (!code) code = end_captures();
  if (!code) code = allocate(to, bytes, 0);
  DONE;
}
API int cuMemAllocAsync(uint64_t *to, size_t bytes, void *stream) {
  CALL("cuMemAllocAsync %zu", bytes);
  Stream *own = code ? 0 : stream_of(stream, &code);
  if (!code && own->capturing) code = CAPTURE_UNSUPPORTED, own->capturing = 2;
  if (!code) code = allocate(to, bytes, 0);
  DONE;
}
static int free_of(uint64_t address, int is_pinned, int is_foreign) {
  if (!address) return 0;
  int code = usable();
  Memory *own = memory_of(address);
  if (!code && (!own || own->address != address || own->is_pinned != is_pinned || own->is_foreign != is_foreign)) code = INVALID_VALUE;
  if (code) return code;
  for (int i = 0; i < DEVICES; i++) settle_context(&primary[i]), settle_context(&foreign[i]);
  free_memory(own);
  return current()->failed;
}
API int cuMemFree_v2(uint64_t address) {
  CALL("cuMemFree");
  if (!code) code = end_captures();
  if (!code) code = free_of(address, 0, 0);
  DONE;
}
static int run_free(Op *op, Context *context) {
  (void)context;
  Memory *own = memory_of(op->to);
  if (own) free_memory(own);
  return own ? 0 : INVALID_VALUE;
}
API int cuMemFreeAsync(uint64_t address, void *stream) {
  CALL("cuMemFreeAsync");
  Stream *own = code ? 0 : stream_of(stream, &code);
  Memory *memory = memory_of(address);
  if (!code && (!memory || memory->address != address || memory->is_pinned)) code = INVALID_VALUE;
  if (!code) add(own, (Op){.run = run_free, .to = address});
  DONE;
}
API int cuMemHostAlloc(void **to, size_t bytes, unsigned flags) {
  CALL("cuMemHostAlloc %zu %u", bytes, flags);
  if (!code) code = end_captures();
  uint64_t address = 0;
  if (!code) code = allocate(&address, bytes, 1);
  if (!code) *to = (void *)address;
  DONE;
}
API int cuMemAllocHost_v2(void **to, size_t bytes) { return cuMemHostAlloc(to, bytes, 0); }
API int cuMemFreeHost(void *address) {
  CALL("cuMemFreeHost");
  if (!code) code = end_captures();
  if (!code) code = free_of((uint64_t)address, 1, 0);
  DONE;
}
API int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  CALL("cuMemHostRegister %zu %u", bytes, flags);
  if (!code) code = usable();
  if (!code && !bytes) code = INVALID_VALUE;
  if (!code && memory_of((uint64_t)address)) code = ALREADY_REGISTERED;
  Memory *own = code ? 0 : calloc(1, sizeof *own);
  if (own) *own = (Memory){all, (uint64_t)address, bytes, address, current()->device, 1, 1, current()}, all = own;
  DONE;
}
API int cuMemHostUnregister(void *address) {
  CALL("cuMemHostUnregister");
  if (!code && free_of((uint64_t)address, 1, 1)) code = NOT_REGISTERED;
  DONE;
}
API int cuMemHostGetDevicePointer_v2(uint64_t *to, void *address, unsigned flags) {
  CALL("cuMemHostGetDevicePointer %u", flags);
  Memory *own = memory_of((uint64_t)address);
  if (!code && (!own || !own->is_pinned)) code = INVALID_VALUE;
  if (!code) *to = (uint64_t)address;
  DONE;
}
API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  CALL("cuMemGetInfo");
  if (!code) code = usable();
  if (!code) *total = memory_bytes, *free_bytes = memory_bytes - taken[current()->device];
  DONE;
}
API int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address) {
  CALL("cuMemGetAddressRange");
  Memory *own = memory_of(address);
  if (!code && !current()) code = INVALID_CONTEXT;
  if (!code && !own) code = NOT_FOUND;
  if (!code && base) *base = own->address;
  if (!code && bytes) *bytes = own->bytes;
  DONE;
}
static int attribute_of(void *to, int attribute, const Memory *own, uint64_t address) {
  switch (attribute) {
    case 1: return *(void **)to = own->context, 0;
    case 2: return *(int *)to = own->is_pinned ? 1 : 2, 0;
    case 3: return *(uint64_t *)to = address, 0;
    case 4: return own->is_pinned ? *(uint64_t *)to = address, 0 : INVALID_VALUE;
    case 8: return *(int *)to = 0, 0;
    case 9: return *(int *)to = own->device, 0;
    case 11: return *(uint64_t *)to = own->address, 0;
    case 12: return *(uint64_t *)to = own->bytes, 0;
    default: return INVALID_VALUE;
  }
}
API int cuPointerGetAttribute(void *to, int attribute, uint64_t address) {
  CALL("cuPointerGetAttribute %d", attribute);
  const Memory *own = memory_of(address);
  if (!code && needs_context && !current()) code = INVALID_CONTEXT;
  if (!code) code = own ? attribute_of(to, attribute, own, address) : INVALID_VALUE;
  DONE;
}

// Functions for tests: memory of a device that belongs to no context, and its bytes after all queued work there.
API uint64_t emulated_alloc(int device, unsigned long long bytes) {
  pthread_mutex_lock(&emulated_lock);
  const Memory *own = take_memory(0, device, bytes ? bytes : 1, 0);
  pthread_mutex_unlock(&emulated_lock);
  return own ? own->address : 0;
}
static int moved(uint64_t address, void *bytes, unsigned long long count, int is_get) {
  pthread_mutex_lock(&emulated_lock);
  for (int i = 0; i < DEVICES; i++) settle_context(&primary[i]), settle_context(&foreign[i]);
  uint8_t *host = memory_of(address) ? reach(address, count) : 0;
  if (host) memcpy(is_get ? bytes : host, is_get ? host : bytes, count);
  pthread_mutex_unlock(&emulated_lock);
  return host ? 0 : INVALID_VALUE;
}
API int emulated_get(uint64_t address, void *to, unsigned long long bytes) { return moved(address, to, bytes, 1); }
API int emulated_put(uint64_t address, const void *from, unsigned long long bytes) {
  return moved(address, (void *)from, bytes, 0);
}
