// Contexts: the primary one of each device, others, and the stack of the thread.
#include "driver.h"

#include <stdlib.h>

__thread Context *stack[DEPTH];
__thread int depth, capture_mode;

Context *current(void) { return depth ? stack[depth - 1] : 0; }
int usable(void) {
  Context *own = current();
  return !own || !own->is_alive ? INVALID_CONTEXT : own->failed;
}
// The modes: 0 "global", 1 "of the thread", 2 "relaxed". A thread in mode 2 may make calls that wait. A thread in
// another mode may not while it captures in mode 0 or 1 itself; one in mode 0 may not while another thread captures in
// mode 0 either.
static int forbids(const Stream *stream) {
  if (!stream->capturing || stream->mode == 2 || capture_mode == 2) return 0;
  return pthread_equal(stream->capturing_thread, pthread_self()) || (stream->mode == 0 && capture_mode == 0);
}
int end_captures(void) {
  int code = 0;
  for (int i = 0; i < 2 * DEVICES; i++)
    for (Stream *at = (i % 2 ? foreign : primary)[i / 2].streams; at; at = at->next)
      if (forbids(at)) at->capturing = 2, code = CAPTURE_UNSUPPORTED;
  return code;
}
// Waiting for a whole context is forbidden in every mode while one of its streams is captured.
static int end_captures_of(Context *context) {
  int code = 0;
  for (Stream *at = context->streams; at; at = at->next)
    if (at->capturing) at->capturing = 2, code = CAPTURE_UNSUPPORTED;
  return code;
}
void end_context(Context *context) {
  settle_context(context);
  forget_modules(context);
  free_memory_of(context);
  context->failed = 0;
  context->is_alive = 0;
}

static Context *primary_of(int device) { return device >= 0 && device < device_count ? &primary[device] : 0; }
API int cuDevicePrimaryCtxRetain(void **to, int device) {
  CALL("cuDevicePrimaryCtxRetain %d", device);
  Context *own = primary_of(device);
  if (!code && !own) code = INVALID_DEVICE;
  if (!code) *to = own, own->retained++, own->is_alive = 1;
  DONE;
}
API int cuDevicePrimaryCtxRelease_v2(int device) {
  int code = enter_unfailing("cuDevicePrimaryCtxRelease %d", device);
  Context *own = primary_of(device);
  if (!own || !own->retained) code = INVALID_CONTEXT;
  if (!code && !--own->retained) end_context(own);
  DONE;
}
API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  CALL("cuDevicePrimaryCtxGetState %d", device);
  if (!code && !primary_of(device)) code = INVALID_DEVICE;
  if (!code) *flags = 0, *active = primary[device].is_alive;
  DONE;
}
API int cuCtxCreate_v2(void **to, unsigned flags, int device) {
  CALL("cuCtxCreate %u %d", flags, device);
  if (!code && !primary_of(device)) code = INVALID_DEVICE;
  if (!code && depth == DEPTH) code = OUT_OF_MEMORY;
  if (!code) foreign[device].is_alive = 1, *to = stack[depth++] = &foreign[device];
  DONE;
}
API int cuCtxDestroy_v2(void *context) {
  CALL("cuCtxDestroy");
  Context *own = context;
  if (!code && (!own || own->is_primary || !own->is_alive)) code = INVALID_CONTEXT;
  if (!code && current() == own) depth--;
  if (!code) end_context(own);
  DONE;
}
API int cuCtxPushCurrent_v2(void *context) {
  Context *own = context;
  CALL("cuCtxPushCurrent %d", own ? own->device : -1);
  if (!code && (!own || depth == DEPTH || !own->is_alive)) code = INVALID_CONTEXT;
  if (!code) stack[depth++] = own;
  DONE;
}
API int cuCtxPopCurrent_v2(void **to) {
  int code = enter_unfailing("cuCtxPopCurrent");
  if (!depth) code = INVALID_CONTEXT;
  if (!code && to) *to = stack[depth - 1];
  if (!code) depth--;
  DONE;
}
API int cuCtxSetCurrent(void *context) {
  CALL("cuCtxSetCurrent");
  Context *own = context;
  if (!code && own && !own->is_alive) code = INVALID_CONTEXT;
  if (!code && depth) depth--;
  if (!code && own) stack[depth++] = own;
  DONE;
}
API int cuCtxGetCurrent(void **to) {
  CALL("cuCtxGetCurrent");
  if (!code) *to = current();
  DONE;
}
API int cuCtxGetDevice(int *to) {
  CALL("cuCtxGetDevice");
  if (!code && !current()) code = INVALID_CONTEXT;
  if (!code) *to = current()->device;
  DONE;
}
API int cuCtxSynchronize(void) {
  CALL("cuCtxSynchronize");
  if (!code) code = usable();
  if (!code) code = end_captures_of(current());
  if (!code) code = end_captures();
  if (!code) settle_context(current()), code = current()->failed;
  DONE;
}
API int cuThreadExchangeStreamCaptureMode(int *mode) {
  CALL("cuThreadExchangeStreamCaptureMode %d", *mode);
  if (!code && (*mode < 0 || *mode > 2)) code = INVALID_VALUE;
  if (!code) {
    const int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
  }
  DONE;
}

// Functions for tests: the contexts of this thread.
API int emulated_depth(void) { return depth; }
API void emulated_push(int device) { stack[depth++] = &foreign[device]; }
API void emulated_push_primary(int device) { stack[depth++] = &primary[device]; }
API int emulated_top_is_foreign(void) { return current() && !current()->is_primary; }
API int emulated_retained(int device) { return primary[device].retained; }
