// The state of the process, the log, calls that are made to fail, and the driver's properties.
#include "driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t emulated_lock = PTHREAD_MUTEX_INITIALIZER;
int device_count = 2, driver_version = 12040, needs_context, takes_machine_code;
int major[DEVICES] = {9, 9, 8, 8}, minor[DEVICES] = {0, 0, 6, 0};
uint64_t memory_bytes = 4ull << 30;
Context primary[DEVICES], foreign[DEVICES];

static int initialized, logging, countdown = -1, code_of_failure;
static char failing[64];
static char *text;
static size_t used, room;

static void say(const char *line) {
  const size_t length = strlen(line);
  if (!logging) return;
  if (used + length + 2 > room) text = realloc(text, room = 2 * (used + length + 2));
  memcpy(text + used, line, length);
  used += length;
  text[used++] = '\n';
  text[used] = 0;
}

// Returns whether this call must fail; a call is identified by the first word of its line.
static int fails(const char *line) {
  const size_t word = strcspn(line, " ");
  if (countdown < 0 || (failing[0] && (strlen(failing) != word || strncmp(failing, line, word)))) return 0;
  return countdown-- == 0;
}

static int begin(const char *format, va_list list, int may_fail) {
  char line[512];
  vsnprintf(line, sizeof line, format, list);
  pthread_mutex_lock(&emulated_lock);
  say(line);
  return may_fail && fails(line) ? code_of_failure : 0;
}
int enter(const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int code = begin(format, list, 1);
  va_end(list);
  return code ? code : initialized ? 0 : NOT_INITIALIZED;
}
// Enters a call that `emulated_fail` does not affect, because no caller can handle its failure.
int enter_unfailing(const char *format, ...) {
  va_list list;
  va_start(list, format);
  begin(format, list, 0);
  va_end(list);
  return 0;
}
int leave(int code) {
  pthread_mutex_unlock(&emulated_lock);
  return code;
}

API int cuInit(unsigned flags) {
  int code = enter("cuInit %u", flags);
  if (code == NOT_INITIALIZED) code = flags ? INVALID_VALUE : device_count < 0 ? NO_DEVICE : 0;
  if (!code && !initialized) {
    initialized = 1;
    for (int i = 0; i < DEVICES; i++) {
      primary[i].device = foreign[i].device = i;
      primary[i].is_primary = foreign[i].is_alive = 1;
    }
  }
  DONE;
}
API int cuDriverGetVersion(int *to) {
  CALL("cuDriverGetVersion");
  if (!code) *to = driver_version;
  DONE;
}
API int cuDeviceGetCount(int *to) {
  CALL("cuDeviceGetCount");
  if (!code) *to = device_count;
  DONE;
}
static int is_device(int device) { return device >= 0 && device < device_count; }
API int cuDeviceGet(int *to, int ordinal) {
  CALL("cuDeviceGet %d", ordinal);
  if (!code && !is_device(ordinal)) code = INVALID_DEVICE;
  if (!code) *to = ordinal;
  DONE;
}
API int cuDeviceGetName(char *to, int length, int device) {
  CALL("cuDeviceGetName %d", device);
  if (!code && !is_device(device)) code = INVALID_DEVICE;
  if (!code) snprintf(to, length > 0 ? length : 0, "emulated device %d on the host", device);
  DONE;
}
API int cuDeviceGetUuid_v2(unsigned char *to, int device) {
  CALL("cuDeviceGetUuid %d", device);
  if (!code && !is_device(device)) code = INVALID_DEVICE;
  if (!code) memset(to, 0, 16), to[15] = device;
  DONE;
}
API int cuDeviceTotalMem_v2(size_t *to, int device) {
  CALL("cuDeviceTotalMem %d", device);
  if (!code && !is_device(device)) code = INVALID_DEVICE;
  if (!code) *to = memory_bytes;
  DONE;
}
API int cuDeviceCanAccessPeer(int *to, int device, int peer) {
  CALL("cuDeviceCanAccessPeer %d %d", device, peer);
  if (!code && (!is_device(device) || !is_device(peer))) code = INVALID_DEVICE;
  if (!code) *to = 0;
  DONE;
}
// Numbers of no real device: they are plausible, but say nothing about speed.
static int attribute_of(int attribute, int device) {
  static const int known[][2] = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 0x7fffffff}, {6, 65535}, {7, 65535},
                                 {8, 49152}, {9, 65536}, {10, 32}, {12, 65536}, {13, 1000000}, {16, 4}, {36, 1000000},
                                 {37, 512}, {38, 1 << 22}, {39, 2048}, {41, 1}, {81, 102400}, {97, 101376}, {115, 1}};
  if (attribute == 75) return major[device];
  if (attribute == 76) return minor[device];
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i][0] == attribute) return known[i][1];
  return 0;
}
API int cuDeviceGetAttribute(int *to, int attribute, int device) {
  CALL("cuDeviceGetAttribute %d of %d", attribute, device);
  if (!code && !is_device(device)) code = INVALID_DEVICE;
  if (!code && (attribute < 1 || attribute > 200)) code = INVALID_VALUE;
  if (!code) *to = attribute_of(attribute, device);
  DONE;
}

static const struct { int code; const char *name, *says; } errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {PEER_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
    {UNSUPPORTED_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {EMULATED_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {EMULATED_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {EMULATED_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream"},
};
static int described(int number, const char **to, int is_name) {
  *to = 0;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == number) *to = is_name ? errors[i].name : errors[i].says;
  return *to ? 0 : INVALID_VALUE;
}
API int cuGetErrorName(int number, const char **to) { return described(number, to, 1); }
API int cuGetErrorString(int number, const char **to) { return described(number, to, 0); }

// Functions for tests.
//
// Sets the number of devices and the version of CUDA as `cuDriverGetVersion` returns it, and begins the log.
API void emulated_setup(int devices, int cuda) {
  device_count = devices > DEVICES ? DEVICES : devices;
  driver_version = cuda;
  logging = 1;
}
API void emulated_capability(int device, int high, int low) { major[device] = high, minor[device] = low; }
API void emulated_memory(unsigned long long bytes) { memory_bytes = bytes; }
// Sets whether machine code of a device is accepted, whose launches do nothing.
API void emulated_takes_machine_code(int whether) { takes_machine_code = whether; }
// Sets whether an address is only looked up if a context is current.
API void emulated_needs_context(int whether) { needs_context = whether; }
// Makes the call after `after` others of this name, or of any for an empty one, fail with this number.
API void emulated_fail(const char *name, int after, int number) {
  pthread_mutex_lock(&emulated_lock);
  snprintf(failing, sizeof failing, "%s", name);
  countdown = after;
  code_of_failure = number;
  pthread_mutex_unlock(&emulated_lock);
}
// Returns whether a requested failure is still to come.
API int emulated_pending(void) { return countdown >= 0; }
// Returns the log so far, and clears it; the text is valid until the next call.
API const char *emulated_log(void) {
  static char *taken;
  pthread_mutex_lock(&emulated_lock);
  free(taken);
  taken = text ? text : calloc(1, 1);
  text = 0;
  used = room = 0;
  pthread_mutex_unlock(&emulated_lock);
  return taken;
}
