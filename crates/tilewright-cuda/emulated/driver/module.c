// Modules of code, libraries, and launches.
//
// Code is a shared library of the host after a short header, made by compiler.c of this folder. A launch copies its
// arguments and is queued. Unloading code while a launch of it is queued ends the context, because no driver promises
// that unloading waits.
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AHEAD = 24, MAGIC = 0x4b465754 };
typedef struct Module {
  struct Module *next;
  Context *context;
  void *library;
  int is_loaded, is_opaque;
} Module;
typedef struct { int magic; Module *module; const emulated_entry *entry; } Function;
typedef struct { char *code; Module *modules[DEVICES]; } Library;
typedef struct { int magic; Library *library; char name[128]; } Kernel;
static Module *modules;

// Opens the library in some code; `code` is the reason of a failure.
static void *opened(const char *bytes, const Context *context, int *code) {
  int architecture = 0, version = 0;
  uint64_t length = 0;
  memcpy(&architecture, bytes + 8, 4), memcpy(&version, bytes + 12, 4), memcpy(&length, bytes + 16, 8);
  const int device = major[context->device] * 10 + minor[context->device];
  // Negative for a text that the driver compiles, for this architecture and newer ones.
  const int runs = architecture < 0 ? -architecture <= device : architecture / 10 == device / 10 && architecture <= device;
  *code = architecture < 0 && version > driver_version ? UNSUPPORTED_PTX : runs ? 0 : NO_BINARY;
  if (*code) return 0;
  char path[600];
  snprintf(path, sizeof path, "%s/tilewright-emulated-code.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  const int file = mkstemp(path);
  if (file < 0) return *code = OUT_OF_MEMORY, NULL;
  const int is_written = write(file, bytes + AHEAD, length) == (ssize_t)length;
  close(file);
  void *library = is_written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : 0;
  unlink(path);
  if (!library) *code = INVALID_IMAGE;
  return library;
}
static Module *loaded(const char *bytes, Context *context, int *code) {
  const int is_opaque = takes_machine_code && !memcmp(bytes, "\177ELF", 4);
  void *library = 0;
  *code = is_opaque || !memcmp(bytes, "EMULATED", 8) ? 0 : INVALID_IMAGE;
  if (!*code && !is_opaque) library = opened(bytes, context, code);
  if (*code) return 0;
  Module *own = calloc(1, sizeof *own);
  *own = (Module){modules, context, library, 1, is_opaque};
  return modules = own;
}
static int run_launch(Op *op, Context *context);
// Returns whether a launch of a module is still queued.
static int is_queued(const Module *module) {
  for (Stream *stream = module->context->streams; stream; stream = stream->next)
    for (const Op *op = stream->first; op; op = op->next)
      if (op->run == run_launch && ((const Function *)op->function)->module == module) return 1;
  return 0;
}
static void unload(Module *module) {
  if (!module->is_loaded) return;
  if (is_queued(module)) module->context->failed = EMULATED_LAUNCH_FAILED;
  if (module->library) dlclose(module->library);
  module->is_loaded = 0;
}
void forget_modules(Context *context) {
  for (Module *at = modules; at; at = at->next)
    if (at->context == context) unload(at);
}

API int cuModuleLoadData(void **to, const void *image) {
  CALL("cuModuleLoadData");
  if (!code) code = usable();
  if (!code) code = end_captures();
  if (!code) *to = loaded(image, current(), &code);
  DONE;
}
API int cuModuleLoadDataEx(void **to, const void *image, unsigned count, int *options, void **values) {
  (void)options, (void)values;
  return count ? INVALID_VALUE : cuModuleLoadData(to, image);
}
API int cuModuleUnload(void *module) {
  CALL("cuModuleUnload");
  Module *own = module;
  if (!code) code = usable();
  if (!code && (own->context != current() || !own->is_loaded)) code = INVALID_HANDLE;
  if (!code) unload(own);
  DONE;
}
static Function *function_of(Module *module, const char *name, int *code) {
  char symbol[160];
  snprintf(symbol, sizeof symbol, "emulated_%s", name);
  const emulated_entry *entry = module->library ? dlsym(module->library, symbol) : 0;
  if (!entry && !module->is_opaque) return *code = NOT_FOUND, NULL;
  Function *own = calloc(1, sizeof *own);
  *own = (Function){MAGIC, module, entry};
  return own;
}
API int cuModuleGetFunction(void **to, void *module, const char *name) {
  CALL("cuModuleGetFunction %s", name);
  Module *own = module;
  if (!code && !own->is_loaded) code = INVALID_HANDLE;
  if (!code) *to = function_of(own, name, &code);
  DONE;
}
API int cuFuncGetAttribute(int *to, int attribute, void *function) {
  CALL("cuFuncGetAttribute %d", attribute);
  const Function *own = function;
  if (!code && own->magic != MAGIC) code = INVALID_HANDLE;
  if (!code) *to = attribute == 0 ? 1024 : attribute == 1 && own->entry ? (int)own->entry->shared : 0;
  DONE;
}

// Libraries: code without a context, loaded in each context in which it is launched.
API int cuLibraryLoadData(void **to, const void *image, void *a, void *b, unsigned jit, void *c, void *d, unsigned count) {
  (void)a, (void)b, (void)c, (void)d;
  CALL("cuLibraryLoadData");
  const char *bytes = image;
  uint64_t length = 0;
  if (!code && (jit || count)) code = INVALID_VALUE;
  if (!code && memcmp(bytes, "EMULATED", 8)) code = INVALID_IMAGE;
  if (!code) memcpy(&length, bytes + 16, 8);
  Library *own = code ? 0 : calloc(1, sizeof *own);
  if (own) own->code = malloc(AHEAD + length), memcpy(own->code, bytes, AHEAD + length), *to = own;
  DONE;
}
API int cuLibraryUnload(void *library) {
  CALL("cuLibraryUnload");
  Library *own = library;
  if (!code && !own->code) code = INVALID_HANDLE;
  for (int i = 0; i < DEVICES && !code; i++)
    if (own->modules[i]) unload(own->modules[i]);
  if (!code) free(own->code), own->code = 0;
  DONE;
}
API int cuLibraryGetKernel(void **to, void *library, const char *name) {
  CALL("cuLibraryGetKernel %s", name);
  Kernel *own = code ? 0 : calloc(1, sizeof *own);
  if (own) own->magic = ~MAGIC, own->library = library, snprintf(own->name, sizeof own->name, "%s", name), *to = own;
  DONE;
}
// Returns a kernel of a library in the current context, or a function unchanged.
static Function *resolved(void *handle, int *code) {
  Kernel *kernel = handle;
  if (!handle || kernel->magic == MAGIC) return handle;
  if (kernel->magic != ~MAGIC || !kernel->library->code) return *code = INVALID_HANDLE, NULL;
  Module **module = &kernel->library->modules[current()->device];
  if (!*module || !(*module)->is_loaded) *module = loaded(kernel->library->code, current(), code);
  return *code ? 0 : function_of(*module, kernel->name, code);
}
API int cuKernelGetFunction(void **to, void *kernel) {
  CALL("cuKernelGetFunction");
  if (!code) code = usable();
  if (!code) *to = resolved(kernel, &code);
  DONE;
}

// Finds memory that a launch may access: memory of its device, and pinned memory.
static int find(const emulated_launch *launch, uint64_t address, emulated_span *to) {
  const Memory *own = memory_of(address);
  if (!own || (!own->is_pinned && own->device != launch->device)) return 0;
  *to = (emulated_span){own->address, own->bytes, own->host};
  return 1;
}
static int run_launch(Op *op, Context *context) {
  const Function *own = op->function;
  if (!own->module->is_loaded) return EMULATED_LAUNCH_FAILED;
  if (own->module->is_opaque) return 0;
  emulated_launch launch = {op->arguments, op->blocks, 0, find, context->device};
  own->entry->run(&launch);
  return launch.error;
}
// Copies the arguments of a launch: pointers to each, and the bytes after them.
static void *kept(const emulated_entry *entry, void **arguments, uint64_t *bytes_to) {
  size_t bytes = 64;
  for (unsigned i = 0; i < entry->count; i++) bytes += (entry->sizes[i] + 15) / 16 * 16;
  char *own = calloc(1, bytes), *to = own + 64;
  *bytes_to = bytes;
  for (unsigned i = 0; i < entry->count; to += (entry->sizes[i] + 15) / 16 * 16, i++)
    memcpy(to, arguments[i], entry->sizes[i]), ((void **)own)[i] = to;
  return own;
}
static int launched(void *handle, const unsigned *grid, unsigned shared, void *stream, void **arguments, void **extra) {
  int code = 0;
  Stream *own = stream_of(stream, &code);
  Function *function = code ? 0 : resolved(handle, &code);
  if (code) return code;
  if (!function || function->magic != MAGIC || !function->module->is_loaded || function->module->context != current()) return INVALID_HANDLE;
  const emulated_entry *entry = function->entry;
  if (!grid[0] || grid[0] > 0x7fffffff || grid[1] != 1 || grid[2] != 1) return INVALID_VALUE;
  if ((entry && grid[3] != entry->threads) || grid[4] != 1 || grid[5] != 1) return INVALID_VALUE;
  if (shared || extra || !arguments) return INVALID_VALUE;
  Op op = {.run = run_launch, .function = function, .blocks = grid[0]};
  if (entry) op.arguments = kept(entry, arguments, &op.bytes);
  add(own, op);
  return 0;
}
static int is_captured(void *stream) {
  if (!current() || (uintptr_t)stream <= 2) return 0;
  return ((Stream *)stream)->capturing;
}
API int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                       unsigned shared, void *stream, void **arguments, void **extra) {
  CALL("cuLaunchKernel %u x %u%s", x, tx, is_captured(stream) ? " captured" : "");
  const unsigned grid[] = {x, y, z, tx, ty, tz};
  if (!code) code = launched(function, grid, shared, stream, arguments, extra);
  DONE;
}
