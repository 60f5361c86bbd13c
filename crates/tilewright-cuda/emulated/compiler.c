// NVRTC without CUDA: compiles a text of the dialect to a shared library of the host, with the machine's `c++`.
//
// The dialect for CUDA in the text is replaced by device.h of this folder. The result counts as code of the requested
// architecture, and the emulated driver refuses it for another device as a driver does. The functions named emulated_
// are for tests.
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
enum { OUT_OF_MEMORY = 1, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6, INTERNAL = 11 };
enum { AHEAD = 24, OPTIONS = 16 };

extern char **environ;
static const int architectures[] = {75, 80, 86, 89, 90, 100};
static int major = 12, minor = 4, failure, compiled;
static char options_given[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char BEGINS[] = "// The dialect for CUDA and HIP.", ENDS[] = "// The end of the dialect for CUDA and HIP.";

typedef struct { char *text, *log, *code; size_t log_size, code_size; int is_text; } Program;

static int refuse(Program *program, const char *why) {
  free(program->log);
  program->log = strdup(why);
  program->log_size = strlen(why) + 1;
  return COMPILATION;
}

// Returns a file's bytes after `ahead` others, followed by a 0.
static char *whole(const char *path, size_t ahead, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  fseek(file, 0, SEEK_END);
  const long length = ftell(file);
  rewind(file);
  char *bytes = length < 0 ? 0 : calloc(1, ahead + length + 1);
  if (bytes) *size = ahead + fread(bytes + ahead, 1, length, file);
  fclose(file);
  return bytes;
}

// Copies the name of a global function: the word before its arguments, after its bounds.
static int name_of(const char *at, char *to, size_t room) {
  const char *bounds = strstr(at, "__launch_bounds__"), *open = strchr(at, '(');
  if (bounds && open && bounds < open) {
    const char *end = strchr(open, ')');
    open = end ? strchr(end, '(') : 0;
  }
  if (!open) return 0;
  const char *from = open;
  while (from > at && (from[-1] == '_' || isalnum((unsigned char)from[-1]))) from--;
  if (from == open || (size_t)(open - from) >= room) return 0;
  memcpy(to, from, open - from);
  to[open - from] = 0;
  return 1;
}

// Writes the text for the host: without the dialect for CUDA, and with an entry for every global function that `KERNEL`
// does not make.
static int write_text(const Program *program, FILE *file) {
  const char *from = strstr(program->text, BEGINS), *to = from ? strstr(from, ENDS) : 0;
  if (!to) return 0;
  fwrite(program->text, 1, from - program->text, file);
  fputs(to, file);
  char name[128];
  for (const char *at = to; (at = strstr(at, "__global__")); at++)
    if (name_of(at, name, sizeof name)) fprintf(file, "\nTW_ENTRY(%s)\n", name);
  return 1;
}

static int run(char **arguments, const char *errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child;
  int status = -1;
  const int failed = posix_spawnp(&child, arguments[0], &files, 0, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return -1;
  while (waitpid(child, &status, 0) < 0) continue;
  return status;
}

static int build(Program *program, int architecture, char **defines) {
  char folder[600], text[640], library[640], said[640], header[1024], own[] = __FILE__;
  snprintf(folder, sizeof folder, "%s/tilewright-emulated.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  if (!mkdtemp(folder)) return refuse(program, "no folder for temporary files"), INTERNAL;
  snprintf(text, sizeof text, "%s/text.cc", folder), snprintf(library, sizeof library, "%s/code.so", folder);
  snprintf(said, sizeof said, "%s/log", folder), snprintf(header, sizeof header, "%s/device.h", dirname(own));
  FILE *file = fopen(text, "w");
  const int known = file && write_text(program, file);
  if (file) fclose(file);
  char *command[16 + OPTIONS] = {"c++", "-std=c++17", "-w", "-O1", "-shared", "-fPIC", "-fvisibility=hidden",
                                 "-Wl,--no-undefined", "-include", header, "-o", library, text};
  for (int i = 0; defines[i]; i++) command[13 + i] = defines[i];
  int code = known ? run(command, said) ? COMPILATION : 0 : refuse(program, "error: a text without the dialect for CUDA");
  if (known && code) {
    free(program->log);
    program->log = whole(said, 0, &program->log_size);
    if (!program->log_size) refuse(program, "error: `c++` does not run");
  }
  size_t size = 0;
  if (!code && !(program->code = whole(library, AHEAD, &size))) code = INTERNAL;
  if (!code) {
    const uint64_t length = size - AHEAD;
    const int32_t version = major * 1000 + minor * 10;
    memcpy(program->code, "EMULATED", 8), memcpy(program->code + 8, &architecture, 4);
    memcpy(program->code + 12, &version, 4), memcpy(program->code + 16, &length, 8);
    program->code_size = size;
  }
  unlink(text), unlink(library), unlink(said), rmdir(folder);
  return code;
}

API int nvrtcVersion(int *high, int *low) { return *high = major, *low = minor, 0; }
#ifndef EMULATED_WITHOUT_ARCHITECTURES
API int nvrtcGetNumSupportedArchs(int *count) { return *count = sizeof architectures / sizeof *architectures, 0; }
API int nvrtcGetSupportedArchs(int *list) { return memcpy(list, architectures, sizeof architectures), 0; }
#endif
API const char *nvrtcGetErrorString(int code) {
  return code == COMPILATION ? "NVRTC_ERROR_COMPILATION" : code ? "NVRTC_ERROR" : "NVRTC_SUCCESS";
}
API int nvrtcCreateProgram(void **to, const char *text, const char *name, int count, const char *const *headers,
                           const char *const *names) {
  if (!text || !name || count || headers || names) return INVALID_INPUT;
  Program *program = calloc(1, sizeof *program);
  if (!program) return OUT_OF_MEMORY;
  program->text = strdup(text);
  *to = program;
  return 0;
}
API int nvrtcDestroyProgram(void **program) {
  Program *own = program ? *program : 0;
  if (!own) return INVALID_PROGRAM;
  free(own->text), free(own->log), free(own->code), free(own);
  *program = 0;
  return 0;
}
// Handles an option: an architecture, a definition to pass on, or an option without a meaning here. Returns 0 if it is
// unknown.
static int take(const char *option, int *architecture, char **define) {
  int given = 0;
  static const char *const ignored[] = {"--std=c++17", "-std=c++17", "--device-as-default-execution-space", "-default-device",
                                        "-lineinfo", "--generate-line-info", "--restrict", "-restrict"};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    if (!strcmp(option, ignored[i])) return 1;
  const char *name = strchr(option, '=') ? strchr(option, '=') + 1 : "";
  if (sscanf(name, "sm_%d", &given) == 1) return *architecture = given, 1;
  if (sscanf(name, "compute_%d", &given) == 1) return *architecture = -given, 1;
  if (strncmp(option, "-D", 2)) return 0;
  return *define = (char *)option, 1;
}
static int is_known(int architecture) {
  for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
    if (architectures[i] == abs(architecture)) return 1;
  return 0;
}
API int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  pthread_mutex_lock(&lock);
  Program *own = program;
  char *defines[OPTIONS + 1] = {0};
  int architecture = 0, kept = 0, code = count > OPTIONS ? INVALID_OPTION : 0;
  options_given[0] = 0;
  for (int i = 0; i < count && !code; i++) {
    strncat(options_given, options[i], sizeof options_given - strlen(options_given) - 2), strcat(options_given, " ");
    if (!take(options[i], &architecture, &defines[kept])) code = INVALID_OPTION;
    kept += !!defines[kept];
  }
  if (!code && !is_known(architecture)) code = INVALID_OPTION;
  compiled++;
  if (failure) refuse(own, "tilewright.cu(7): error: told to fail\n"), code = failure;
  if (!code) code = build(own, architecture, defines);
  own->is_text = architecture < 0;
  pthread_mutex_unlock(&lock);
  return code;
}
API int nvrtcGetProgramLogSize(void *program, size_t *size) { return *size = ((Program *)program)->log_size, 0; }
API int nvrtcGetProgramLog(void *program, char *to) {
  Program *own = program;
  if (own->log) memcpy(to, own->log, own->log_size);
  return 0;
}
static int size_of(const Program *program, size_t *size, int is_text) {
  return !program->code || program->is_text != is_text ? INVALID_PROGRAM : (*size = program->code_size, 0);
}
static int code_of(const Program *program, char *to) {
  return program->code ? memcpy(to, program->code, program->code_size), 0 : INVALID_PROGRAM;
}
API int nvrtcGetCUBINSize(void *program, size_t *size) { return size_of(program, size, 0); }
API int nvrtcGetCUBIN(void *program, char *to) { return code_of(program, to); }
API int nvrtcGetPTXSize(void *program, size_t *size) { return size_of(program, size, 1); }
API int nvrtcGetPTX(void *program, char *to) { return code_of(program, to); }

// Functions for tests.
API void emulated_compiler_version(int high, int low) { major = high, minor = low; }
API void emulated_compiler_fails(int code) { failure = code; }
API int emulated_compiled(void) { return compiled; }
API const char *emulated_options(void) { return options_given; }
