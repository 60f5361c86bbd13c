// A driver without a device: the functions of libcuda that are called, over memory of the host.
//
// Every call is written into a log, may be told to fail, and checks what it is given as far as a driver does: contexts,
// streams, modules. "Code" is a shared library behind a short header; a launch calls into it. Machine code of a device is
// taken as well, and its launches do nothing. The functions named fake_ are those of the test.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 3, DEPTH = 32, RANGES = 512, STREAMS = 16 };
enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
       INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_HANDLE = 400, NOT_FOUND = 500, CAPTURE_UNSUPPORTED = 900,
       CAPTURE_IMPLICIT = 906 };

typedef struct { int device, retained, foreign, legacy; } Context;
typedef struct { char *from, *to; int device; } Range;
typedef struct { Context *context; int capturing; } Stream;
typedef struct { Context *context; void *library; int opaque; } Module;
typedef struct { Module *module; int (*run)(void **, unsigned); unsigned threads; } Function;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Context primary[DEVICES], foreign[DEVICES];
static Range ranges[RANGES];
static int range_count, stream_count, device_count = 2, version = 12040, initialized;
static int major[DEVICES] = {9, 9, 8}, minor[DEVICES] = {0, 0, 6};
static Stream streams[STREAMS];
static char *text;
static size_t used, room;
static char folder[512] = "/nowhere";
static char failing[64];
static int countdown = -1, code_of_failure, calls;
static __thread Context *stack[DEPTH];
static __thread int depth;

static void say(const char *format, ...) {
  char line[512];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  size_t length = strlen(line);
  if (used + length + 2 > room) text = realloc(text, room = 2 * (used + length + 2));
  memcpy(text + used, line, length);
  used += length;
  text[used++] = '\n';
  text[used] = 0;
}

// Whether this call is the one that fails.
static int fails(const char *name) {
  calls++;
  if (countdown < 0 || (failing[0] && strcmp(failing, name))) return 0;
  return countdown-- == 0;
}

#define CALL(...) \
  pthread_mutex_lock(&lock); \
  say(__VA_ARGS__); \
  int code = fails(__func__) ? code_of_failure : 0; \
  if (!code) code = initialized ? 0 : NOT_INITIALIZED
#define DONE \
  pthread_mutex_unlock(&lock); \
  return code

static Context *current(void) { return depth ? stack[depth - 1] : 0; }
static Context *context_of(int device) { return device >= 0 && device < device_count ? &primary[device] : 0; }

// The capture of a stream; the default ones belong to the current context.
static int *capture(void *stream) {
  uintptr_t handle = (uintptr_t)stream;
  if (handle <= 2) return current() ? &current()->legacy : 0;
  return &((Stream *)stream)->capturing;
}

int cuInit(unsigned flags) {
  pthread_mutex_lock(&lock);
  say("cuInit %u", flags);
  int code = fails(__func__) ? code_of_failure : device_count < 0 ? NO_DEVICE : 0;
  if (!code) {
    initialized = 1;
    for (int i = 0; i < DEVICES; i++) primary[i].device = foreign[i].device = i, foreign[i].foreign = 1;
  }
  DONE;
}
int cuDriverGetVersion(int *to) {
  CALL("cuDriverGetVersion");
  if (!code) *to = version;
  DONE;
}
int cuDeviceGetCount(int *to) {
  CALL("cuDeviceGetCount");
  if (!code) *to = device_count;
  DONE;
}
int cuDeviceGetAttribute(int *to, int attribute, int device) {
  CALL("cuDeviceGetAttribute %d of %d", attribute, device);
  if (!code && !context_of(device)) code = INVALID_DEVICE;
  if (!code && attribute != 75 && attribute != 76) code = INVALID_VALUE;
  if (!code) *to = attribute == 75 ? major[device] : minor[device];
  DONE;
}
int cuDevicePrimaryCtxRetain(void **to, int device) {
  CALL("cuDevicePrimaryCtxRetain %d", device);
  if (!code && !context_of(device)) code = INVALID_DEVICE;
  if (!code) *to = context_of(device), context_of(device)->retained++;
  DONE;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  pthread_mutex_lock(&lock);
  say("cuDevicePrimaryCtxRelease %d", device);
  // It never fails, as popping: a test that makes it fail would say nothing of the caller.
  int code = !context_of(device) || !context_of(device)->retained ? INVALID_CONTEXT : 0;
  if (!code) context_of(device)->retained--;
  DONE;
}
int cuCtxPushCurrent_v2(void *context) {
  CALL("cuCtxPushCurrent %d", context ? ((Context *)context)->device : -1);
  Context *own = context;
  if (!code && (!own || depth == DEPTH || (!own->foreign && !own->retained))) code = INVALID_CONTEXT;
  if (!code) stack[depth++] = own;
  DONE;
}
int cuCtxPopCurrent_v2(void **to) {
  pthread_mutex_lock(&lock);
  say("cuCtxPopCurrent");
  // It never fails: a test that makes it fail would say nothing of the caller.
  int code = depth ? 0 : INVALID_CONTEXT;
  if (!code) *to = stack[--depth];
  DONE;
}
int cuPointerGetAttribute(void *to, int attribute, unsigned long long address) {
  CALL("cuPointerGetAttribute %d", attribute);
  if (!code && attribute != 9) code = INVALID_VALUE;
  int found = -1;
  for (int i = 0; i < range_count; i++)
    if ((char *)address >= ranges[i].from && (char *)address < ranges[i].to) found = ranges[i].device;
  if (!code && found < 0) code = INVALID_VALUE;
  if (!code) *(int *)to = found;
  DONE;
}
int cuStreamIsCapturing(void *stream, int *to) {
  CALL("cuStreamIsCapturing");
  int *own = capture(stream);
  if (!code && !own) code = INVALID_CONTEXT;
  if (!code && *own == 3) code = CAPTURE_IMPLICIT;
  if (!code) *to = *own;
  DONE;
}
int cuStreamGetCtx(void *stream, void **to) {
  CALL("cuStreamGetCtx");
  if (!code) *to = (uintptr_t)stream <= 2 ? current() : ((Stream *)stream)->context;
  DONE;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  static __thread int own;
  CALL("cuThreadExchangeStreamCaptureMode %d", *mode);
  if (!code) {
    int before = own;
    own = *mode;
    *mode = before;
  }
  DONE;
}
int cuModuleLoadData(void **to, const void *image) {
  CALL("cuModuleLoadData");
  const char *bytes = image;
  char path[600];
  Module *module = 0;
  int own = 0;
  unsigned long long length = 0;
  if (!code && !current()) code = INVALID_CONTEXT;
  int opaque = !code && !memcmp(bytes, "\177ELF", 4);
  if (!code && !opaque && memcmp(bytes, "FAKECODE", 8)) code = INVALID_IMAGE;
  if (!code && opaque) {
    module = calloc(1, sizeof *module);
    *module = (Module){current(), &primary, 1};
    *to = module;
  }
  if (!code && !opaque) {
    memcpy(&own, bytes + 8, 4);
    memcpy(&length, bytes + 16, 8);
    // Negative: of a text that the driver compiles, for this architecture and newer ones.
    int device = major[current()->device] * 10 + minor[current()->device];
    if (own >= 0 ? own / 10 != device / 10 || own > device : -own > device) code = NO_BINARY;
  }
  if (!code && !opaque) {
    snprintf(path, sizeof path, "%s/module.XXXXXX", folder);
    int file = mkstemp(path);
    if (file < 0 || write(file, bytes + 24, length) != (ssize_t)length) code = INVALID_IMAGE;
    if (file >= 0) close(file);
    void *library = code ? 0 : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (file >= 0) unlink(path);
    if (!code && !library) code = INVALID_IMAGE;
    if (!code) {
      module = calloc(1, sizeof *module);
      module->context = current();
      module->library = library;
      *to = module;
    }
  }
  DONE;
}
int cuModuleUnload(void *module) {
  CALL("cuModuleUnload");
  Module *own = module;
  if (!code && current() != own->context) code = INVALID_CONTEXT;
  if (!code && !own->opaque) dlclose(own->library);
  if (!code) own->library = 0;
  DONE;
}
int cuModuleGetFunction(void **to, void *module, const char *name) {
  CALL("cuModuleGetFunction %s", name);
  Module *own = module;
  char symbol[128];
  snprintf(symbol, sizeof symbol, "fake_%s", name);
  int real = !code && !own->opaque;
  void *run = real ? dlsym(own->library, symbol) : 0;
  unsigned *threads = real ? dlsym(own->library, "fake_threads") : 0;
  if (real && (!run || !threads)) code = NOT_FOUND;
  if (!code) {
    Function *function = calloc(1, sizeof *function);
    function->module = own;
    function->threads = threads ? *threads : 0;
    *(void **)&function->run = run;
    *to = function;
  }
  DONE;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **arguments, void **extra) {
  CALL("cuLaunchKernel %u x %u%s", x, tx, *(capture(stream) ? capture(stream) : &(int){0}) ? " captured" : "");
  Function *own = function;
  int *capturing = capture(stream);
  if (!code && (!own->module->library || !capturing)) code = INVALID_HANDLE;
  if (!code && own->module->context != current()) code = INVALID_CONTEXT;
  if (!code && (uintptr_t)stream > 2 && ((Stream *)stream)->context != current()) code = INVALID_HANDLE;
  if (!code && (!x || x > 0x7fffffff || y != 1 || z != 1 || (own->threads && tx != own->threads) || ty != 1 || tz != 1)) code = INVALID_VALUE;
  if (!code && (shared || extra || !arguments)) code = INVALID_VALUE;
  if (!code && !*capturing && own->run) code = own->run(arguments, x);
  DONE;
}
int cuGetErrorName(int number, const char **to) {
  *to = number == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : number == 719 ? "CUDA_ERROR_LAUNCH_FAILED" :
        number == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : number == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU" : 0;
  return *to ? 0 : INVALID_VALUE;
}
int cuGetErrorString(int number, const char **to) {
  *to = number == 719 ? "unspecified launch failure" : number == NO_DEVICE ? "no CUDA-capable device is detected" : 0;
  return *to ? 0 : INVALID_VALUE;
}

// What the test calls.
void fake_setup(const char *path, int devices, int cuda) {
  snprintf(folder, sizeof folder, "%s", path);
  device_count = devices;
  version = cuda;
}
void fake_capability(int device, int high, int low) { major[device] = high, minor[device] = low; }
char *fake_alloc(int device, unsigned long long bytes) {
  char *memory = 0;
  if (posix_memalign((void **)&memory, 256, bytes ? bytes : 1)) return 0;
  pthread_mutex_lock(&lock);
  ranges[range_count++ % RANGES] = (Range){memory, memory + (bytes ? bytes : 1), device};
  if (range_count > RANGES) range_count = RANGES;
  pthread_mutex_unlock(&lock);
  return memory;
}
void *fake_stream(int device, int is_foreign) {
  Stream *stream = &streams[stream_count++];
  stream->context = is_foreign ? &foreign[device] : &primary[device];
  return stream;
}
// 0 not, 1 captured, 2 broken; of a null stream the default one of a device, where 3 is "another one is captured".
void fake_capture(void *stream, int device, int status) {
  *(stream ? &((Stream *)stream)->capturing : &primary[device].legacy) = status;
}
// The call after `after` others of this name, or of any for an empty one, fails with this number.
void fake_fail(const char *name, int after, int number) {
  pthread_mutex_lock(&lock);
  snprintf(failing, sizeof failing, "%s", name);
  countdown = after;
  code_of_failure = number;
  pthread_mutex_unlock(&lock);
}
// Whether a failure that was asked for is still to come.
int fake_pending(void) { return countdown >= 0; }
// The log so far, which begins anew.
const char *fake_log(void) {
  static char *taken;
  pthread_mutex_lock(&lock);
  free(taken);
  taken = text ? text : calloc(1, 1);
  text = 0;
  used = room = 0;
  pthread_mutex_unlock(&lock);
  return taken;
}
// What the contexts of this thread are.
int fake_depth(void) { return depth; }
void fake_push(int device) { stack[depth++] = &foreign[device]; }
int fake_top_is_foreign(void) { return current() && current()->foreign; }
int fake_retained(int device) { return primary[device].retained; }
