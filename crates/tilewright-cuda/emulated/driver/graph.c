// Captured streams and the graphs made from them: the work of one stream, in order.
#include "driver.h"

#include <stdlib.h>
#include <string.h>

typedef struct { Op *first; int users; } Graph;

static Stream *captured_stream(void *handle) {
  for (int i = 0; i < 2 * DEVICES; i++)
    for (Stream *at = (i % 2 ? foreign : primary)[i / 2].streams; at; at = at->next)
      if (at == handle && !at->is_gone) return at;
  return 0;
}
API int cuStreamBeginCapture_v2(void *stream, int mode) {
  CALL("cuStreamBeginCapture %d", mode);
  Stream *own = code ? 0 : captured_stream(stream);
  if (!code && (mode < 0 || mode > 2)) code = INVALID_VALUE;
  else if (!code && (uintptr_t)stream <= 2) code = CAPTURE_UNSUPPORTED;
  else if (!code && (!own || own->capturing)) code = INVALID_VALUE;
  if (!code) own->capturing = 1, own->mode = mode, own->capturing_thread = pthread_self(), own->captured = 0, own->captured_last = &own->captured;
  DONE;
}
API int cuStreamEndCapture(void *stream, void **to) {
  CALL("cuStreamEndCapture");
  Stream *own = captured_stream(stream);
  const int before = own ? own->capturing : 0;
  if (!code && !before) code = CAPTURE_UNMATCHED;
  if (to) *to = 0;
  Graph *graph = code || before == 2 ? 0 : calloc(1, sizeof *graph);
  if (graph) graph->first = own->captured, graph->users = 1, *to = graph;
  // The capture is over, even if no graph is made.
  if (before) own->capturing = 0, own->captured = 0, own->captured_last = &own->captured;
  if (!code && before == 2) code = CAPTURE_INVALIDATED;
  DONE;
}
static void give_up(Graph *graph) {
  if (--graph->users) return;
  for (Op *at = graph->first, *next; at; at = next) {
    next = at->next;
    free(at->staged), free(at->arguments), free(at);
  }
  free(graph);
}
API int cuGraphInstantiateWithFlags(void **to, void *graph, unsigned long long flags) {
  CALL("cuGraphInstantiate %llu", flags);
  Graph *own = graph;
  if (!code && !own) code = INVALID_VALUE;
  if (!code) own->users++, *to = own;
  DONE;
}
API int cuGraphDestroy(void *graph) {
  CALL("cuGraphDestroy");
  if (!code) give_up(graph);
  DONE;
}
API int cuGraphExecDestroy(void *graph) {
  CALL("cuGraphExecDestroy");
  if (!code) give_up(graph);
  DONE;
}
API int cuGraphLaunch(void *graph, void *stream) {
  CALL("cuGraphLaunch");
  Stream *own = code ? 0 : stream_of(stream, &code);
  for (const Op *at = code ? 0 : ((Graph *)graph)->first; at; at = at->next) {
    Op op = *at;
    if (at->event) op.event = 0, op.upto = 0;
    if (at->arguments) {
      // The pointers to the arguments point into the copy.
      const size_t bytes = at->bytes;
      op.arguments = malloc(bytes);
      memcpy(op.arguments, at->arguments, bytes);
      for (int i = 0; i < 8 && ((void **)op.arguments)[i]; i++)
        ((void **)op.arguments)[i] = (char *)op.arguments + ((char *)((void **)at->arguments)[i] - (char *)at->arguments);
    }
    add(own, op);
  }
  DONE;
}
