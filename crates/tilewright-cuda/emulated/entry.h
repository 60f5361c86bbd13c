// The interface between compiled code and the emulated driver: an entry, and one launch of it.
#pragma once
#include <stdint.h>

// Bytes of a device, and the host's memory for them.
typedef struct {
  uint64_t from, bytes;
  uint8_t *host;
} emulated_span;

typedef struct emulated_launch {
  void **arguments;
  uint32_t blocks;
  // The number of a driver error, if there was one.
  int error;
  // Finds the allocation around an address that the launch may access; 0 if there is none.
  int (*find)(const struct emulated_launch *launch, uint64_t address, emulated_span *to);
  int device;
} emulated_launch;

typedef struct {
  // The threads and the bytes of shared memory of a block; the arguments with their sizes.
  uint32_t threads, shared, count, sizes[4];
  void (*run)(emulated_launch *launch);
} emulated_entry;

enum { EMULATED_ILLEGAL_ADDRESS = 700, EMULATED_MISALIGNED_ADDRESS = 716, EMULATED_LAUNCH_FAILED = 719 };
