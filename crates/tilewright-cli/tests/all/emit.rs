//! `emit` as a program.

use std::process::{Command, Output};

fn tilewright(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).output().unwrap()
}

#[test]
fn code_goes_to_stdout() {
    let out = tilewright(&["emit", "bf16[64,64] zN", "--to", "python"]);
    let code = "def offset(i0, i1):\n    return i0 * 16 + (i1 & 15) + (i1 >> 4) * 1024\n";
    assert_eq!(
        (out.status.code(), String::from_utf8(out.stdout).unwrap().as_str()),
        (Some(0), code)
    );

    let asked = ["emit", "zN", "--dims", "M,N", "--dtype", "f16", "--assume", "M % 16 == 0"];
    let out = tilewright(
        &[&asked[..], &["--to", "cuda", "--bits", "32", "--name", "at", "--json"]].concat(),
    );
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["arguments"], serde_json::json!(["i0", "i1", "M", "N"]));
    assert_eq!((&answer["language"], &answer["inverse"]), (&"cuda".into(), &false.into()));
    let code = answer["code"].as_str().unwrap();
    assert!(
        code.starts_with("__host__ __device__ __forceinline__ unsigned int at(unsigned int i0"),
        "{code}"
    );
    assert!(
        code.ends_with("    return i0 * 16 + (i1 & 15) + (i1 >> 4) * (M * 16);\n}\n"),
        "{code}"
    );
}

#[test]
fn mistakes_say_what_is_legal() {
    for (args, says) in [
        (
            &["emit", "(2,3):(3,1)", "--to", "cobol"][..],
            "expected one of c, cuda, rust, python, triton, mlir",
        ),
        (&["emit", "zN", "--to", "c"], "--dims"),
        (
            &["emit", "zN", "--to", "c", "--dims", "M,N", "--dtype", "f16", "--assume", "K"],
            "expected 'N % 16 == 0'",
        ),
        (
            &["emit", "zN", "--to", "c", "--dims", "M,N"],
            "`zN` needs the array's dtype, for C0; named extents stand for any value",
        ),
        (
            &["emit", "SWAP_W13_W31", "--to", "c", "--dims", "G,M,N", "--dtype", "bf16"],
            "the layout starts at offset 80, a pattern at 0; a pattern is a dense box of digits, at G = 2, M = 5, N = 16;",
        ),
        (
            &["emit", "SCALE_128x4", "--to", "c", "--dims", "M", "--dtype", "u8"],
            "K/block (in) is missing; named extents",
        ),
        (
            &["emit", "{1,0:T(3,5)(2,1)}", "--to", "c", "--dims", "M,N", "--dtype", "f16"],
            "at named extents: ",
        ),
        (&["emit", "row-major", "--to", "c", "--dims", "for,N"], "a word of C"),
        (&["emit", "row-major", "--to", "c", "--dims", "i1,N"], "it has two meanings"),
        (&["emit", "(2,3):(0,1)", "--to", "c", "--inverse"], "several coordinates share an offset"),
        (&["emit", "[0,3] row-major", "--to", "c"], "is empty, without offsets"),
        (&["emit", "(2,3):(3,1)"], "--to"),
    ] {
        let out = tilewright(args);
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(
            out.status.code() == Some(2)
                && out.stdout.is_empty()
                && said.contains(says)
                && !said.contains("100003"),
            "{args:?}: {said}"
        );
    }
}

/// The part of CUDA's runtime that a printed function calls, over host memory: a launch runs its blocks.
const RUNTIME: &str = "#pragma once
#include <cstdint>
#include <cstddef>
enum cudaError_t { cudaSuccess = 0, cudaErrorMisalignedAddress = 716, cudaErrorInvalidConfiguration = 9 };
typedef struct Stream* cudaStream_t;
struct dim3 { unsigned x, y, z; dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
static cudaError_t cudaLaunchKernel(const void* f, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t) {
  typedef void (*Kernel)(const uint8_t*, uint8_t*, const uint64_t*, uint32_t);
  if (shared || !grid.x || grid.y != 1 || block.x % 32) return cudaErrorInvalidConfiguration;
  for (unsigned b = 0; b < grid.x; b++)
    ((Kernel)f)(*(const uint8_t**)arguments[0], *(uint8_t**)arguments[1], (const uint64_t*)arguments[2], b);
  return cudaSuccess;
}
";

/// The functions that the dialect for the host calls, with plain memory, threads in order, and kernels as functions.
const HOST: &str = "
#include <cstring>
alignas(16) static u8 shared_bytes[49152];
static u32 thread, used;
void tw_load(void* to, const u8* from, u32 bytes, u32) { memcpy(to, from, bytes); }
void tw_store(u8* to, const void* from, u32 bytes, u32) { memcpy(to, from, bytes); }
void tw_read(void* to, const u8* array, u64 at, u32 bytes, u32) { memcpy(to, array + at, bytes); }
void tw_write(u8* array, u64 at, const void* from, u32 bytes, u32) { memcpy(array + at, from, bytes); }
void tw_copy(u8* array, u64 at, const u8* from, u32) { memcpy(array + at, from, 16); }
void tw_wait(u32) {}
void tw_barrier(u32) {}
void tw_round(u32) {}
u64 tw_param(const u64* params, u64 number, u32, u32) { return params[number]; }
u8* tw_shared(u64 bytes, u32) { u8* own = shared_bytes + used; used += (bytes + 15) / 16 * 16; return own; }
u32 tw_next(u32 threads, u32) { return thread < threads ? thread++ : (thread = 0, threads); }
#undef KERNEL
#define KERNEL(name) struct name##_params { u64 p[PARAMS]; }; \\
  static void name(GSRC src, GDST dst, const u64* tw_params, u32 tw_block) { used = 0;
#define PARTS(name, all, parts) static void all(GSRC src, GDST dst, const u64* count, u32 block) { \\
  u32 part = *count; while (parts[--part].first > block) {} \\
  name(src, dst, parts[part].params.p, block - parts[part].first); }
";

/// Printed kernels are compiled with the dialect for the host in place of CUDA's, and run. Each case moves bytes, and the result
/// equals that of the library.
#[test]
fn kernels_move_what_plans_move() {
    use tilewright::{device::Target, input::Array, relayout::Plan};
    let cases: [&[&str]; 9] = [
        &["row-major", "col-major", "--dims", "70,33", "--dtype", "f32"],
        &["row-major", "zN", "--dims", "100,50", "--dtype", "bf16"],
        &["zN", "row-major", "--dims", "100,50", "--dtype", "bf16"],
        &["u8[6,7] row-major", "(6,7):(-7,1)+35"],
        &["f16[4,64] table(0; 2,0,3,1) row-major", "row-major"],
        &["row-major", "{0,1}pad(3,5)fill(one)", "--dims", "2,3", "--dtype", "f32"],
        // One kernel with a swizzle; edges of tiles; many parts of few texts.
        &["f16[100,64] row-major", "Sw<3,3,3> o (100,64):(64,1)"],
        &["Sw<2,0,3> o (64,32):(1,64)", "Sw<3,2,3> o (64,32):(32,1)", "--dtype", "u8"],
        &["{1,0:T(3,4)(2,1)}", "{0,1:T(5,3)}", "--dims", "31,46", "--dtype", "f32"],
    ];
    let folder = tilewright_testing::folder();
    std::fs::write(folder.path().join("cuda_runtime.h"), RUNTIME).unwrap();
    let mut main = String::from("#include <cstdio>\n#include <vector>\n");
    main += &(Target::Host.header().to_owned() + HOST);
    let mut calls = String::new();
    let mut expected = Vec::new();
    for (at, words) in cases.iter().enumerate() {
        let name = format!("case_{at}");
        let out = tilewright(&[&["emit"], *words, &["--to", "cuda", "--name", &name]].concat());
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8(out.stdout).unwrap();
        let header = Target::Cuda.header();
        assert!(text.contains(header), "{words:?}");
        // The dialect for the host is included once, before all kernels, and its macros stay.
        let (kernels, rest) = text.split_once("}  // namespace").unwrap();
        let rest = rest.lines().filter(|line| !line.starts_with("#undef "));
        let rest: Vec<&str> = rest.collect();
        main += &kernels.replacen(header, "", 1);
        main += &format!("}}  // namespace{}\n", rest.join("\n"));

        let option =
            |name: &str| words.iter().position(|word| *word == name).map(|at| words[at + 1]);
        let array = Array::read(option("--dims"), option("--dtype")).unwrap();
        let [from, to] = array.array_layouts(words[0], words[1], &()).unwrap();
        let bits = from.stored().element_bits().unwrap();
        let one = if words[1].contains("one") { 0x3F80_0000 } else { 0 };
        let elements = tilewright::Elements::same(bits);
        let program =
            tilewright::relayout::Program::of_arrays(from.layout(), to.layout(), elements, one)
                .unwrap();
        let plan = Plan::of(program);
        let source: Vec<u8> =
            (0..plan.src_bytes()).map(|at| (at * 7 + at / 256 + 1) as u8).collect();
        let mut moved = vec![0; plan.dst_bytes() as usize];
        plan.run(&source, &mut moved, 1).unwrap();
        calls += &format!("  one({name}, {}, {});\n", source.len(), moved.len());
        expected.extend(moved);
    }
    main += "typedef cudaError_t (*Launch)(const void*, void*, cudaStream_t);
static void one(Launch launch, size_t from, size_t to) {
  u128* memory = new u128[from / 16 + to / 16 + 2];
  uint8_t *src = (uint8_t*)memory, *dst = (uint8_t*)(memory + from / 16 + 1);
  for (size_t at = 0; at < from; at++) src[at] = at * 7 + at / 256 + 1;
  if (launch(src, dst + 1, 0) != cudaErrorMisalignedAddress || launch(src, dst, 0) != cudaSuccess) throw 1;
  fwrite(dst, 1, to, stdout);
  delete[] memory;
}
int main() {
";
    main += &calls;
    main += "}\n";
    std::fs::write(folder.path().join("main.cpp"), main).unwrap();
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-O1", "-w", "-I.", "-o", "run", "main.cpp"]);
    let run = compiler.current_dir(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let run = Command::new(folder.path().join("run")).output().unwrap();
    assert!(run.status.success());
    assert!(run.stdout == expected, "{} and {} bytes", run.stdout.len(), expected.len());
}

/// The definitions of the runtimes' headers, as a compiler of C++ needs them to read a printed text.
const DEVICE: &str = "#pragma once
#include <cstddef>
#include <cstdint>
#define __global__
#define __device__
#define __shared__
#define __align__(n)
#define __forceinline__ inline
#define __launch_bounds__(...)
struct uint4 { unsigned x, y, z, w; };
struct dim3 { unsigned x; dim3(unsigned x) : x(x) {} };
static const dim3 threadIdx(0), blockIdx(0);
static inline void __syncthreads() {}
static inline void __stcs(uint4* p, uint4 v) { *p = v; }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned) { return a ^ b; }
static inline unsigned __builtin_amdgcn_perm(unsigned a, unsigned b, unsigned) { return a ^ b; }
static inline unsigned __funnelshift_r(unsigned a, unsigned, unsigned) { return a; }
static inline unsigned __umulhi(unsigned a, unsigned) { return a; }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long) { return a; }
enum cudaError_t { cudaSuccess, cudaErrorMisalignedAddress };
typedef struct Stream* cudaStream_t;
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
";

/// Texts with different names fit in one file, one after the other, and leave no macros.
#[test]
fn texts_stand_in_one_file() {
    let all: [&[&str]; 4] = [
        &["f32[64,48] row-major", "col-major"],
        &["bf16[100,50] row-major", "zN"],
        &["f16[100,64] row-major", "Sw<3,3,3> o (100,64):(64,1)"],
        &["f32[31,46] {1,0:T(3,4)(2,1)}", "{0,1:T(5,3)}"],
    ];
    let folder = tilewright_testing::folder();
    std::fs::write(folder.path().join("cuda_runtime.h"), DEVICE).unwrap();
    let print = |words: &[&str], name: &str, to: &str| {
        let out = tilewright(&[&["emit"], words, &["--to", to, "--name", name]].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    // Words of the prelude that it does not define, and parameters of the function.
    let names = ["a", "at", "src", "stream"];
    for count in [2, 3, 4] {
        let texts = all[..count].iter().enumerate();
        let mut main: String = texts.map(|(at, words)| print(words, names[at], "cuda")).collect();
        for text in main.clone().lines() {
            let defined =
                text.strip_prefix("#define ").and_then(|rest| rest.split([' ', '(']).next());
            if let Some(name) = defined {
                main += &format!("#ifdef {name}\n#error {name}\n#endif\n");
            }
        }
        let path = folder.path().join(format!("texts_{count}.cpp"));
        std::fs::write(&path, main).unwrap();
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-fsyntax-only", "-w", "-I."]).arg(&path);
        let run = compiler.current_dir(folder.path()).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let hip = print(all[3], "moved", "hip");
    assert!(hip.contains("#include <hip/hip_runtime.h>") && hip.contains("hipLaunchKernel("));
    let own = hip.rsplit_once("#if !defined(__HIPCC_RTC__)").unwrap().1;
    assert!(!own.contains("cuda"), "{own}");
}

/// Tiles whose edges do not coincide have many parts, and few launches.
#[test]
fn parts_of_one_text_are_one_launch() {
    let out = tilewright(&["emit", "f32[31,46] {1,0:T(3,4)(2,1)}", "{0,1:T(5,3)}", "--to", "cuda"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let texts = text.lines().filter(|line| line.starts_with("KERNEL(")).count();
    let launches = text.matches("cudaLaunchKernel(").count();
    assert_eq!(texts, launches, "{text}");
    assert!(text.contains("#define TW_NO_MANY\n"), "entries for many arrays are not launched");
    let table = [
        "f32[4096,8] table(0; 3,1,2,0,{})"
            .replace("{}", &(4..4096).map(|at| at.to_string()).collect::<Vec<_>>().join(","))
            + " row-major",
        "row-major".to_owned(),
    ];
    let out = tilewright(&["emit", &table[0], &table[1], "--to", "cuda"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && text.lines().next().unwrap().len() < 600, "{text}");
}

#[test]
fn kernels_that_are_not_printed_say_why() {
    for (args, says) in [
        (
            &["emit", "row-major", "zN", "--dims", "8,8", "--dtype", "f16", "--to", "c"][..],
            "expected one of cuda, hip",
        ),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--bits", "32"], "--bits are about"),
        (
            &["emit", "row-major", "zN", "--dims", "M,N", "--dtype", "f16", "--to", "cuda"],
            "kernels need numbers, such as 4096,4096, not \"M\"",
        ),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "hip", "--name", "class"], "a word of C++"),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--name", "tw_load"], "legal are"),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--name", "u8"], "legal are"),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--name", "_Of"], "legal are"),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--name", "P"], "legal are"),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--name", "uint8_t"], "no _t last"),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--name", "ushort3"], "legal are"),
        (&["emit", "f32[2,3] row-major", "zN", "--to", "hip", "--name", "hipMemcpy"], "legal are"),
        (
            &["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--inverse"],
            "functions of one SPEC",
        ),
        (
            &["emit", "f32[2,3] row-major", "zN", "--to", "cuda", "--name", "a b"],
            "is not a name in C",
        ),
        (&["emit", "f32[2,2] row-major", "(2,2):(0,1)", "--to", "cuda"], "share"),
        (&["emit", "(2,3):(3,1)", "(2,3):(1,2)", "--to", "cuda"], "width of an element"),
    ] {
        let out = tilewright(args);
        let message = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(says), "{args:?}: {message}");
    }
    let args = ["emit", "f32[64,64] row-major", "col-major", "--to", "cuda", "--json"];
    let answer: serde_json::Value = serde_json::from_slice(&tilewright(&args).stdout).unwrap();
    assert_eq!((&answer["src_bytes"], &answer["dst_bytes"]), (&16_384.into(), &16_384.into()));
    assert!(answer["kernels"][0]["blocks"].as_u64().unwrap() > 0, "{answer}");
}
