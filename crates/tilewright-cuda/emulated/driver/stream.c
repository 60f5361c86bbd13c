// Streams and events. Queued work runs when a caller waits for it, and no earlier: so missing order is detected.
//
// All queued work is numbered. Work on a stream that waits for the default one runs after the work that was queued
// there before it, and vice versa; work that waits for an event runs after its record.
#include "driver.h"

#include <stdlib.h>
#include <time.h>

enum { MOST = 4096 };
static uint64_t numbers;

uint64_t next_number(void) { return ++numbers; }

Stream *new_stream(Context *context, int is_blocking) {
  Stream *own = calloc(1, sizeof *own);
  own->context = context;
  own->is_blocking = is_blocking;
  own->last = &own->first;
  own->captured_last = &own->captured;
  own->next = context->streams;
  return context->streams = own;
}
// Returns one of the default streams of the current context, made on first use.
static Stream *default_stream(int is_threads) {
  for (Stream *at = current()->streams; at; at = at->next)
    if (is_threads ? at->is_threads && pthread_equal(at->thread, pthread_self()) : at->is_legacy) return at;
  Stream *own = new_stream(current(), 1);
  own->is_legacy = !is_threads, own->is_threads = is_threads, own->thread = pthread_self();
  return own;
}
static Stream *known(void *handle) {
  for (int i = 0; i < 2 * DEVICES; i++)
    for (Stream *at = (i % 2 ? foreign : primary)[i / 2].streams; at; at = at->next)
      if (at == handle && !at->is_gone) return at;
  return 0;
}
// Returns the stream of a handle in the current context; `code` is set if there is none, or if its context has failed.
Stream *stream_of(void *handle, int *code) {
  if ((*code = usable())) return 0;
  Stream *own = (uintptr_t)handle <= 2 ? default_stream((uintptr_t)handle == 2) : known(handle);
  if (!own || own->context != current()) return *code = INVALID_HANDLE, NULL;
  if (own->is_legacy)
    for (Stream *at = own->context->streams; at; at = at->next)
      if (at->capturing && at->is_blocking && at != own) return at->capturing = 2, *code = CAPTURE_IMPLICIT, NULL;
  if (own->capturing == 2) return *code = CAPTURE_INVALIDATED, NULL;
  return own;
}

// Queues work, or adds it to the stream's capture.
void add(Stream *stream, Op op) {
  Op *own = malloc(sizeof *own);
  *own = op;
  own->next = 0;
  own->number = next_number();
  Op ***last = stream->capturing ? &stream->captured_last : &stream->last;
  **last = own;
  *last = &own->next;
  if (stream->capturing) return;
  uint64_t count = 0;
  for (Op *at = stream->first; at && count <= MOST; at = at->next) count++;
  if (count > MOST) step(stream);
}
static Op *pop(Stream *stream) {
  Op *own = stream->first;
  if (!(stream->first = own->next)) stream->last = &stream->first;
  return own;
}
// Runs the first work of a stream, after the work that it waits for.
int step(Stream *stream) {
  if (!stream->first) return 0;
  Op *op = pop(stream);
  Context *context = stream->context;
  for (Stream *at = context->streams; at && (stream->is_legacy || stream->is_blocking); at = at->next)
    if (at != stream && (stream->is_legacy ? at->is_blocking : at->is_legacy)) settle(at, op->number);
  if (op->event && op->upto) settle(op->event->stream, op->upto + 1);
  const int code = context->failed && op->run != record ? 0 : op->run ? op->run(op, context) : 0;
  if (code && !context->failed) context->failed = code;
  if (op->event && !--op->event->queued && op->event->is_gone) free(op->event);
  free(op->staged), free(op->arguments), free(op);
  return 1;
}
void settle(Stream *stream, uint64_t below) {
  while (stream->first && stream->first->number < below) step(stream);
}
// Runs all work of a stream, and of those that the default one waits for.
int settle_stream(Stream *stream) {
  for (Stream *at = stream->context->streams; at && stream->is_legacy; at = at->next)
    if (at->is_blocking) settle(at, UINT64_MAX);
  settle(stream, UINT64_MAX);
  return stream->context->failed;
}
void settle_context(Context *context) {
  for (Stream *at = context->streams; at; at = at->next) settle(at, UINT64_MAX);
}

API int cuStreamCreateWithPriority(void **to, unsigned flags, int priority) {
  CALL("cuStreamCreate %u %d", flags, priority);
  if (!code) code = flags > 1 ? INVALID_VALUE : usable();
  if (!code) *to = new_stream(current(), !(flags & 1));
  DONE;
}
API int cuStreamCreate(void **to, unsigned flags) { return cuStreamCreateWithPriority(to, flags, 0); }
API int cuStreamDestroy_v2(void *stream) {
  CALL("cuStreamDestroy");
  Stream *own = code ? 0 : known(stream);
  if (!code && !own) code = INVALID_HANDLE;
  // Work that is queued there still runs when a caller waits for all.
  if (!code) own->is_gone = 1, own->capturing = 0;
  DONE;
}
API int cuStreamSynchronize(void *stream) {
  CALL("cuStreamSynchronize");
  Stream *own = code ? 0 : stream_of(stream, &code);
  if (!code && own->capturing) own->capturing = 2, code = CAPTURE_UNSUPPORTED;
  if (!code) code = settle_stream(own);
  DONE;
}
API int cuStreamQuery(void *stream) {
  CALL("cuStreamQuery");
  Stream *own = code ? 0 : stream_of(stream, &code);
  if (!code && own->capturing) own->capturing = 2, code = CAPTURE_UNSUPPORTED;
  if (!code && step(own)) code = own->context->failed ? own->context->failed : NOT_READY;
  DONE;
}
API int cuStreamGetCtx(void *stream, void **to) {
  CALL("cuStreamGetCtx");
  Stream *own = (uintptr_t)stream <= 2 ? 0 : known(stream);
  if (!code && (uintptr_t)stream > 2 && !own) code = INVALID_HANDLE;
  if (!code && !own && !current()) code = INVALID_CONTEXT;
  if (!code) *to = own ? own->context : current();
  DONE;
}
API int cuStreamGetFlags(void *stream, unsigned *to) {
  CALL("cuStreamGetFlags");
  Stream *own = code ? 0 : stream_of(stream, &code);
  if (!code) *to = !own->is_blocking;
  DONE;
}
API int cuStreamIsCapturing(void *stream, int *to) {
  CALL("cuStreamIsCapturing");
  if (!code) code = usable();
  Stream *own = code ? 0 : (uintptr_t)stream <= 2 ? default_stream((uintptr_t)stream == 2) : known(stream);
  if (!code && !own) code = INVALID_HANDLE;
  for (Stream *at = code || !own->is_legacy ? 0 : own->context->streams; at; at = at->next)
    if (at->capturing && at->is_blocking && at != own) code = CAPTURE_IMPLICIT;
  if (!code) *to = own->capturing;
  DONE;
}
static int run_nothing(Op *op, Context *context) { return (void)op, (void)context, 0; }
API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  CALL("cuStreamWaitEvent %u", flags);
  Stream *own = code ? 0 : stream_of(stream, &code);
  Event *waited = event;
  if (!code && !waited) code = INVALID_HANDLE;
  if (!code && waited->stream) {
    waited->queued++;
    add(own, (Op){.run = run_nothing, .event = waited, .upto = waited->number});
  }
  DONE;
}
static int run_function(Op *op, Context *context) {
  (void)context;
  // The caller's function may take its own locks, and must not call the driver.
  ((void (*)(void *))op->function)((void *)op->to);
  return 0;
}
API int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
  CALL("cuLaunchHostFunc");
  Stream *own = code ? 0 : stream_of(stream, &code);
  if (!code) add(own, (Op){.run = run_function, .function = (void *)function, .to = (uint64_t)data});
  DONE;
}

API int cuEventCreate(void **to, unsigned flags) {
  CALL("cuEventCreate %u", flags);
  if (!code) code = usable();
  Event *own = code ? 0 : calloc(1, sizeof *own);
  if (own) own->is_done = 1, own->is_timed = !(flags & 2), *to = own;
  DONE;
}
API int cuEventDestroy_v2(void *event) {
  CALL("cuEventDestroy");
  Event *own = event;
  if (!code && !own) code = INVALID_HANDLE;
  if (!code) own->is_gone = 1;
  if (!code && !own->queued) free(own);
  DONE;
}
int record(Op *op, Context *context) {
  struct timespec now;
  (void)context;
  if (op->event->number != op->upto && op->event->number != op->number) return 0;
  clock_gettime(CLOCK_MONOTONIC, &now);
  op->event->time = now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
  op->event->is_done = 1;
  return 0;
}
API int cuEventRecord(void *event, void *stream) {
  CALL("cuEventRecord");
  Stream *own = code ? 0 : stream_of(stream, &code);
  Event *recorded = event;
  if (!code && !recorded) code = INVALID_HANDLE;
  if (!code && own->capturing) add(own, (Op){.run = run_nothing});
  else if (!code) {
    recorded->queued++;
    recorded->stream = own;
    recorded->is_done = 0;
    recorded->number = numbers + 1;
    add(own, (Op){.run = record, .event = recorded});
  }
  DONE;
}
API int cuEventQuery(void *event) {
  CALL("cuEventQuery");
  Event *own = event;
  if (!code && !own) code = INVALID_HANDLE;
  if (!code) code = end_captures();
  if (!code && !own->is_done) step(own->stream), code = NOT_READY;
  DONE;
}
API int cuEventSynchronize(void *event) {
  CALL("cuEventSynchronize");
  Event *own = event;
  if (!code && !own) code = INVALID_HANDLE;
  if (!code) code = end_captures();
  if (!code && own->stream) settle(own->stream, own->number + 1), code = own->stream->context->failed;
  DONE;
}
API int cuEventElapsedTime(float *to, void *from, void *until) {
  CALL("cuEventElapsedTime");
  Event *first = from, *last = until;
  if (!code && (!first || !last || !first->stream || !last->stream || !first->is_timed || !last->is_timed)) code = INVALID_HANDLE;
  if (!code && (!first->is_done || !last->is_done)) code = NOT_READY;
  if (!code) *to = (float)(last->time - first->time);
  DONE;
}

// Functions for tests: a stream of a device's primary context, or of another one.
API void *emulated_stream(int device, int is_foreign) {
  pthread_mutex_lock(&emulated_lock);
  Stream *own = new_stream(is_foreign ? &foreign[device] : &primary[device], 1);
  pthread_mutex_unlock(&emulated_lock);
  return own;
}
// Sets the capture of a stream, in mode "global", by this thread. 0: the capture ends, and the captured work is
// dropped; 1: captured; 2: a capture that an error has ended.
API void emulated_capture(void *stream, int status) {
  Stream *own = stream;
  own->capturing = status, own->mode = 0, own->capturing_thread = pthread_self();
  if (!status) own->captured = 0, own->captured_last = &own->captured;
}
