// A compiler without CUDA: the functions of libnvrtc that are called. A text becomes a shared library of the host, by the
// dialect for the host in place of that for CUDA, and entries that take the arguments of a launch.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FAKE_WITHOUT_ARCHITECTURES
static int architectures[32] = {75, 80, 86, 89, 90, 100};
static int architecture_count = 6;
#endif
static int major = 12, minor = 4, failure, compiled;
static char *cuda = "", *host = "", folder[512] = "/nowhere";
static char options_given[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct { char *text, *log, *code; size_t log_size, code_size; } Program;

// What the dialect for the host calls: memory as it is, threads in order.
static const char *HOST =
    "#include <cstring>\n"
    "static thread_local u32 fake_thread;\n"
    "alignas(16) static thread_local u8 fake_shared[49152];\n"
    "static thread_local u64 fake_used;\n"
    "void tw_load(void* to, const u8* from, u32 bytes, u32) { memcpy(to, from, bytes); }\n"
    "void tw_store(u8* to, const void* from, u32 bytes, u32) { memcpy(to, from, bytes); }\n"
    "void tw_read(void* to, const u8* array, u64 at, u32 bytes, u32) { memcpy(to, array + at, bytes); }\n"
    "void tw_write(u8* array, u64 at, const void* from, u32 bytes, u32) { memcpy(array + at, from, bytes); }\n"
    "void tw_copy(u8* array, u64 at, const u8* from, u32) { memcpy(array + at, from, 16); }\n"
    "void tw_wait(u32) {}\nvoid tw_barrier(u32) {}\n"
    "u64 tw_param(const u64* params, u64 number, u32, u32) { return params[number]; }\n"
    "u8* tw_shared(u64 bytes, u32) { u8* own = fake_shared + fake_used; fake_used += (bytes + 15) / 16 * 16; return own; }\n"
    "u32 tw_next(u32 threads, u32) { return fake_thread < threads ? fake_thread++ : (fake_thread = 0, threads); }\n";
static const char *SHIM =
    "struct tw_move_params { u64 p[PARAMS]; };\n"
    "struct tw_move_job { const u8* src; u8* dst; u64 first; tw_move_params params; };\n"
    "static void tw_move_body(const u8* s, u8* d, const tw_move_params& p, u32 b) {\n"
    "  fake_thread = 0; fake_used = 0;\n  tw_move.block(s, d, p.p, b);\n}\n"
    "static thread_local struct { u32 x; } blockIdx;\n"
    "#define __global__\n#define __grid_constant__\n#define __launch_bounds__(...)\n";
static const char *ENTRIES =
    "extern \"C\" unsigned fake_threads = NT;\n"
    "extern \"C\" int fake_tw_move(void** a, unsigned blocks) {\n"
    "  tw_move_params params; memcpy(&params, a[2], sizeof params);\n"
    "  for (u32 b = 0; b < blocks; b++) tw_move_body(*(const u8**)a[0], *(u8**)a[1], params, b);\n  return 0;\n}\n"
    "extern \"C\" int fake_tw_move_table(void** a, unsigned blocks) {\n"
    "  tw_move_jobs jobs; memcpy(&jobs, a[0], sizeof jobs);\n"
    "  for (u32 b = 0; b < blocks; b++) { blockIdx.x = b; tw_move_table(jobs, *(u32*)a[1]); }\n  return 0;\n}\n";

int nvrtcVersion(int *high, int *low) { return *high = major, *low = minor, 0; }
#ifndef FAKE_WITHOUT_ARCHITECTURES
int nvrtcGetNumSupportedArchs(int *count) { return *count = architecture_count, 0; }
int nvrtcGetSupportedArchs(int *list) {
  for (int i = 0; i < architecture_count; i++) list[i] = architectures[architecture_count - 1 - i];
  return 0;
}
#endif
int nvrtcCreateProgram(void **to, const char *text, const char *name, int count, const char *const *h, const char *const *n) {
  if (!name || count || h || n) return 3;
  Program *program = calloc(1, sizeof *program);
  program->text = strdup(text);
  *to = program;
  return 0;
}
int nvrtcDestroyProgram(void **program) {
  Program *own = *program;
  free(own->text), free(own->log), free(own->code), free(own);
  *program = 0;
  return 0;
}

static char *read_whole(const char *path, size_t ahead, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  fseek(file, 0, SEEK_END);
  *size = ftell(file) + ahead;
  rewind(file);
  char *bytes = calloc(1, *size + 1);
  if (fread(bytes + ahead, 1, *size - ahead, file) != *size - ahead) *size = ahead;
  fclose(file);
  return bytes;
}

// The text for the host, compiled; 6 with a log where it is refused.
static int build(Program *program, int architecture) {
  char path[600], library[620], said[620], command[2048];
  snprintf(path, sizeof path, "%s/text.XXXXXX", folder);
  int made = mkstemp(path);
  if (made < 0) return 1;
  close(made);
  snprintf(library, sizeof library, "%s.so", path), snprintf(said, sizeof said, "%s.log", path);
  char *header = strstr(program->text, cuda), *table = strstr(program->text, "// Many arrays of one structure");
  if (!*cuda || !header || !table) return program->log = strdup("error: a text of no known form"), program->log_size = 30, 6;
  FILE *file = fopen(path, "w");
  fwrite(program->text, 1, header - program->text, file);
  fputs(host, file), fputs(HOST, file);
  fwrite(header + strlen(cuda), 1, table - header - strlen(cuda), file);
  fputs(SHIM, file), fputs(table, file), fputs(ENTRIES, file);
  fclose(file);
  snprintf(command, sizeof command, "c++ -x c++ -std=c++17 -w -O1 -shared -fPIC -o '%s' '%s' 2>'%s'", library, path, said);
  int failed = system(command);
  if (failed) {
    program->log = read_whole(said, 0, &program->log_size);
  } else {
    size_t size = 0;
    program->code = read_whole(library, 24, &size);
    program->code_size = size;
    unsigned long long length = size - 24;
    memcpy(program->code, "FAKECODE", 8), memcpy(program->code + 8, &architecture, 4), memcpy(program->code + 16, &length, 8);
  }
  unlink(path), unlink(library), unlink(said);
  return failed ? 6 : 0;
}

int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  pthread_mutex_lock(&lock);
  int architecture = 0, given = 0;
  options_given[0] = 0;
  for (int i = 0; i < count; i++) {
    strncat(options_given, options[i], sizeof options_given - strlen(options_given) - 2), strcat(options_given, " ");
    if (sscanf(options[i], "--gpu-architecture=sm_%d", &given) == 1) architecture = given;
    if (sscanf(options[i], "--gpu-architecture=compute_%d", &given) == 1) architecture = -given;
  }
  compiled++;
  int code = failure;
  Program *own = program;
  if (code) own->log = strdup("tilewright.cu(7): error: told to fail\n"), own->log_size = strlen(own->log) + 1;
  else code = architecture ? build(own, architecture) : 5;
  pthread_mutex_unlock(&lock);
  return code;
}
int nvrtcGetProgramLogSize(void *program, size_t *size) { return *size = ((Program *)program)->log_size, 0; }
int nvrtcGetProgramLog(void *program, char *to) {
  Program *own = program;
  return memcpy(to, own->log ? own->log : "", own->log_size), 0;
}
static int size_of(void *program, size_t *size, int text) {
  Program *own = program;
  if (!own->code || (*(int *)(own->code + 8) < 0) != text) return 3;
  return *size = own->code_size, 0;
}
static int code_of(void *program, char *to) { return memcpy(to, ((Program *)program)->code, ((Program *)program)->code_size), 0; }
int nvrtcGetCUBINSize(void *program, size_t *size) { return size_of(program, size, 0); }
int nvrtcGetCUBIN(void *program, char *to) { return code_of(program, to); }
int nvrtcGetPTXSize(void *program, size_t *size) { return size_of(program, size, 1); }
int nvrtcGetPTX(void *program, char *to) { return code_of(program, to); }

// What the test calls.
void fake_compiler(const char *path, const char *cuda_header, const char *host_header) {
  snprintf(folder, sizeof folder, "%s", path);
  cuda = strdup(cuda_header), host = strdup(host_header);
}
void fake_compiler_version(int high, int low) { major = high, minor = low; }
void fake_compiler_fails(int code) { failure = code; }
int fake_compiled(void) { return compiled; }
const char *fake_options(void) { return options_given; }
