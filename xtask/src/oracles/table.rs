//! The table of oracles: name, what it checks, and the check.

use super::{
    Run, Sanitizer, arrays, banks, bounds, devices, faults, fingerprint, fuzz, handed_out, laws,
    miri, neon, onednn, package, packings, placements, proofs, read_back, readers, relayout,
    sanitized_package, sanitizer, torch,
};

pub(super) const TABLE: [(&str, &str, Run); 43] = [
    (
        "laws",
        "all tests, with every case of the laws of which `cargo test` checks a part",
        |root, _| laws(root),
    ),
    (
        "safetensors and torch",
        "converted files, read back by safetensors, NumPy and torch",
        |root, _| torch(root),
    ),
    (
        "arrays of numpy, torch and jax",
        "where these libraries put the elements of strided arrays",
        |root, _| arrays(root),
    ),
    (
        "the package with torch and jax",
        "the Python package on torch tensors, jax arrays and files that other libraries write",
        |root, _| package(root),
    ),
    ("GGUF files", "GGUF files converted there and back, each step read by gguf", |root, _| {
        read_back::gguf(root)
    }),
    (
        "pt files",
        "checkpoints of torch converted to safetensors, compared with what torch loads",
        |root, _| read_back::pt(root),
    ),
    ("npz files", "NumPy archives converted there and back, each step read by NumPy", |root, _| {
        read_back::npz(root)
    }),
    (
        "sharded checkpoints",
        "FSDP2 over tensor parallelism on 8 processes, resharded, loaded by torch; Megatron's rules",
        |root, _| read_back::sharded(root),
    ),
    (
        "shards of torch and jax",
        "which elements each device of torch and JAX holds, beside `tilewright shards`",
        |root, _| read_back::shards(root),
    ),
    (
        "clusters",
        "plans run by ranks, Ray and Dask while 100 processes are killed (TILEWRIGHT_KILLS)",
        |root, _| read_back::clusters(root),
    ),
    (
        "recipes",
        "every shipped recipe on tiny models, read by its consumer (RECIPES names some)",
        |root, _| read_back::recipes(root),
    ),
    (
        "transformers",
        "recipes generated for every type of transformers, exact both ways; its defects, found by audits (TYPES names some)",
        |root, _| read_back::transformers(root),
    ),
    (
        "remote",
        "checkpoints in S3 as moto serves it and in a hub: read back by s3fs, safetensors and huggingface_hub",
        |root, _| read_back::remote(root),
    ),
    (
        "readers",
        "files with changed headers: the reference readers and ours accept the same ones",
        |root, _| readers(root),
    ),
    ("oneDNN", "where oneDNN puts the elements of an array, for every tag", |root, _| onednn(root)),
    ("NEON, emulated", "the kernel suite with ARM's registers, under QEMU", |root, _| neon(root)),
    ("miri", "all kernels and the structs of other libraries, interpreted by Miri", |root, _| {
        miri(root)
    }),
    (
        "sanitizers: address",
        "tests of relayout and files under the address sanitizer",
        |root, _| sanitizer(root, Sanitizer::Address),
    ),
    ("sanitizers: thread", "tests of relayout and files under the thread sanitizer", |root, _| {
        sanitizer(root, Sanitizer::Thread)
    }),
    ("sanitizers: python", "tests of the Python package under the address sanitizer", |root, _| {
        sanitized_package(root)
    }),
    ("faults", "the program killed, and its calls failed, at every system call", |root, _| {
        faults(root)
    }),
    (
        "relayout",
        "a million random jobs against a naive loop (TILEWRIGHT_SEED, _JOB, _JOBS)",
        |root, _| relayout(root),
    ),
    (
        "fingerprint",
        "a million mutations, all found, and a million relayouts, none reported",
        |root, _| fingerprint(root),
    ),
    (
        "placements",
        "ten thousand random pairs of placements, compared with a gather (TILEWRIGHT_PAIRS)",
        |root, _| placements(root),
    ),
    (
        "banks",
        "conflicts and smallest swizzles of all small matrices, against brute force",
        |root, _| banks(root),
    ),
    ("functions for CUDA", "offset functions of every format, compiled by NVRTC", |root, _| {
        read_back::nvrtc(root)
    }),
    (
        "devices",
        "kernels compiled by NVRTC, clang and OpenCL, run on the CPU, and on the simulated device",
        |root, _| devices::devices(root),
    ),
    (
        "device code by NVRTC",
        "kernels that move arrays, compiled for architectures 7.5 to 12.0",
        |root, _| read_back::device_code(root),
    ),
    (
        "packings of kernels",
        "packing functions of vLLM, torchao, bitsandbytes and others beside the named formats",
        |root, _| packings::packings(root),
    ),
    (
        "XLA and Triton",
        "what XLA's parser and Triton's linear layouts answer, as the page of comparisons states",
        |root, _| read_back::others(root),
    ),
    (
        "Axe",
        "layouts that TVM prints, and where it puts each element, beside the recorded rows",
        |root, _| read_back::axe(root),
    ),
    (
        "peers",
        "questions that pycute, tensor-layouts, einops, Triton and the program answer: who differs, who is right",
        |root, _| packings::peers(root),
    ),
    (
        "proofs",
        "the theorems of proofs/, compiled by Coq, with their assumptions; Coq and the program beside each other",
        |root, _| proofs::proofs(root),
    ),
    ("fuzz", "texts and files searched by coverage, a minute a target (--seconds N)", fuzz),
    (
        "bounds",
        "the worst kilobyte of hostile text for every command: time and memory",
        |root, _| bounds(root),
    ),
    ("licences", "licences, versions and sources of all dependencies", |root, _| {
        handed_out::licences(root)
    }),
    ("advisories", "security advisories against dependencies", |root, _| {
        handed_out::advisories(root)
    }),
    ("packages", "every crate built from its package alone, as `cargo publish` does", |root, _| {
        handed_out::packages(root)
    }),
    (
        "api",
        "public items that changed since the last release need its next version (TILEWRIGHT_BASE names another commit)",
        |root, _| handed_out::api(root),
    ),
    ("msrv", "every crate checked by the oldest compiler that Cargo.toml promises", |root, _| {
        handed_out::msrv(root)
    }),
    ("platforms", "`cargo check` for ARM Linux, macOS and Windows", |root, _| {
        handed_out::platforms(root)
    }),
    (
        "released",
        "program and wheel built as published: the checks and tests that `ci` runs on its own build",
        |root, _| handed_out::released(root),
    ),
    ("wheels", "all wheels and the source distribution built, installed and used", |root, _| {
        handed_out::wheels(root)
    }),
];
