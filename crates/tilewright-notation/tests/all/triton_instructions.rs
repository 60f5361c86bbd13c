//! Triton's encodings of instructions and of shared memory, against the bases that its own tests expect
//! (LinearLayoutConversionsTest.cpp), and padding against its formula.

use tilewright_core::{Layout, LinearLayout, Place, TensorLayout};
use tilewright_notation::Spec;

/// `0,1 8,0` as bases, empty for none.
fn bases(text: &str) -> String {
    let each: Vec<String> = text.split_whitespace().map(|basis| format!("[{basis}]")).collect();
    format!("[{}]", each.join(","))
}

/// The map of a row: registers, lanes, warps and blocks apart by `|`.
fn map(dims: &[u64], row: &str) -> LinearLayout {
    let names: &[&str] = match row.matches('|').count() {
        3 => &["register", "lane", "warp", "block"],
        _ => &["offset", "block"],
    };
    let ins: Vec<String> = names
        .iter()
        .zip(row.split('|'))
        .map(|(name, list)| format!("{name}={}", bases(list)))
        .collect();
    let outs: Vec<String> = dims.iter().enumerate().map(|(i, n)| format!("dim{i}:{n}")).collect();
    LinearLayout::parse(&format!("{{{}}} -> ({})", ins.join(","), outs.join(","))).unwrap()
}

fn check(encoding: &str, dims: &[u64], row: &str) {
    let spec = Spec::parse(encoding).unwrap_or_else(|error| panic!("{}", error.render()));
    let found = spec.distribution(Some(dims), None).unwrap().unwrap();
    assert_eq!(found, map(dims, row), "{encoding} {dims:?}\n{found}");
    // The canonical text says the same.
    let again = Spec::parse(&spec.to_string()).unwrap();
    assert_eq!(again.distribution(Some(dims), None).unwrap(), Some(found), "{spec}");
    assert_eq!(again.to_string(), spec.to_string());
}

/// A memory encoding is the inverse of the map from offsets.
fn check_memory(encoding: &str, dims: &[u64], row: &str) {
    let spec = Spec::parse(encoding).unwrap_or_else(|error| panic!("{}", error.render()));
    assert_eq!(Spec::parse(&spec.to_string()).unwrap().to_string(), spec.to_string());
    let layout = spec.resolve(Some(dims), None).unwrap().layout().clone();
    let expected = map(dims, row);
    for offset in 0..expected.ins()[0].size() {
        let coord = expected.apply(&[offset, 0]).unwrap();
        let place = layout.offset(coord.as_slice()).unwrap() as u64;
        // Offsets that stand for the same element: the first is its place.
        let first = (0..=offset).find(|&x| expected.apply(&[x, 0]).unwrap() == coord).unwrap();
        assert_eq!(place, first, "{encoding} {dims:?} {coord:?}");
    }
}

fn mma(version: u64, instr: &str, warps: &str, more: &str) -> String {
    format!(
        "#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = [{warps}]{more}, instrShape = [{instr}]}}>"
    )
}

fn mfma(size: u64, warps: &str, transposed: bool) -> String {
    format!(
        "#ttg.amd_mfma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [{warps}], instrShape = [{size}, {size}], isTransposed = {transposed}}}>"
    )
}

fn wmma(version: u64, warps: &str, transposed: bool) -> String {
    format!(
        "#ttg.amd_wmma<{{version = {version}, isTranspose = {transposed}, warpsPerCTA = [{warps}]}}>"
    )
}

fn dot(parent: &str, operand: u64, width: u64) -> String {
    match width {
        0 => format!("#ttg.dot_op<{{opIdx = {operand}, parent = {parent}}}>"),
        _ => format!("#ttg.dot_op<{{opIdx = {operand}, parent = {parent}, kWidth = {width}}}>"),
    }
}

fn slice(parent: &str, dim: u64) -> String {
    format!("#ttg.slice<{{dim = {dim}, parent = {parent}}}>")
}

const LANES: &str = "0,2 0,4 1,0 2,0 4,0";

#[test]
fn accumulators_of_nvidia() {
    let v2 = mma(2, "16, 8", "1, 1", "");
    check(&v2, &[16, 16], &format!("0,1 8,0 0,8|{LANES}||"));
    check(&v2, &[32, 32], &format!("0,1 8,0 0,8 0,16 16,0|{LANES}||"));
    check(&v2, &[16, 128], &format!("0,1 8,0 0,8 0,16 0,32 0,64|{LANES}||"));
    let blocks = ", CTAsPerCGA = [4, 2, 2], CTASplitNum = [4, 2, 1], CTAOrder = [2, 1, 0]";
    let cga = mma(2, "1, 16, 8", "16, 1, 1", blocks);
    let registers = "0,0,1 0,8,0 0,0,8 0,0,16 0,0,32 0,0,64 0,16,0 0,32,0";
    let lanes = "0,0,2 0,0,4 0,1,0 0,2,0 0,4,0";
    let row = format!("{registers}|{lanes}|1,0,0 2,0,0 4,0,0 8,0,0|0,0,0 0,64,0 16,0,0 32,0,0");
    check(&cga, &[64, 128, 128], &row);
    let zeros = "0,0,0 0,0,0 0,0,0 0,0,0|0,0,0 0,64,0 0,0,0 0,0,0";
    check(&cga, &[1, 128, 128], &format!("{registers}|{lanes}|{zeros}"));
    let v3 = mma(3, "16, 16, 8", "4, 1", "");
    for v3 in [&v3, &mma(3, "16, 8, 8", "4, 1", "")] {
        check(v3, &[64, 16], &format!("0,1 8,0 0,8|{LANES}|16,0 32,0|"));
    }
    check(&v3, &[128, 16], &format!("0,1 8,0 0,8 64,0|{LANES}|16,0 32,0|"));
    let all = "0,1 8,0 0,8 0,16 0,32 0,64 0,128 0,256 0,512 64,0 128,0 256,0 512,0";
    check(&v3, &[1024, 1024], &format!("{all}|{LANES}|16,0 32,0|"));
    let wide = mma(3, "16, 32, 16", "4, 2", "");
    check(&wide, &[64, 32], &format!("0,1 8,0 0,8 0,16|{LANES}|16,0 32,0 0,0|"));
    check(&wide, &[64, 64], &format!("0,1 8,0 0,8 0,16|{LANES}|16,0 32,0 0,32|"));
    check(&wide, &[256, 64], &format!("0,1 8,0 0,8 0,16 64,0 128,0|{LANES}|16,0 32,0 0,32|"));
    let four = mma(3, "16, 16, 8", "4, 4", "");
    check(&four, &[16, 16], &format!("0,1 8,0 0,8|{LANES}|0,0 0,0 0,0 0,0|"));
    check(&four, &[32, 16], &format!("0,1 8,0 0,8|{LANES}|16,0 0,0 0,0 0,0|"));
    check(&four, &[128, 16], &format!("0,1 8,0 0,8 64,0|{LANES}|16,0 32,0 0,0 0,0|"));
    check(&four, &[64, 32], &format!("0,1 8,0 0,8|{LANES}|16,0 32,0 0,16 0,0|"));
    let two = mma(2, "16, 8", "2, 2", "");
    check(&slice(&two, 0), &[16], "1|2 4 0 0 0|8 0|");
    check(&slice(&two, 0), &[128], "1 16 32 64|2 4 0 0 0|8 0|");
    check(&slice(&two, 1), &[128], "8 32 64|0 0 1 2 4|0 16|");
}

#[test]
fn operands_of_nvidia() {
    let v2 = mma(2, "16, 8", "1, 1", "");
    let a_lanes = "0,8 0,16 1,0 2,0 4,0";
    let b_lanes = "8,0 16,0 0,1 0,2 0,4";
    check(&dot(&v2, 0, 8), &[16, 64], &format!("0,1 0,2 0,4 8,0 0,32|{a_lanes}||"));
    check(&dot(&v2, 1, 8), &[64, 8], &format!("1,0 2,0 4,0 32,0|{b_lanes}||"));
    let four = mma(2, "16, 8", "4, 1", "");
    let row = format!("0,1 0,2 0,4 8,0 0,32 0,64 64,0|{a_lanes}|16,0 32,0|");
    check(&dot(&four, 0, 8), &[128, 128], &row);
    let row = format!("1,0 2,0 4,0 32,0 64,0 0,8 0,16 0,32|{b_lanes}|0,0 0,0|");
    check(&dot(&four, 1, 8), &[128, 64], &row);
    let cubes = mma(2, "1, 16, 8", "2, 4, 2", "");
    let registers = "0,0,1 0,0,2 0,0,4 0,8,0 0,0,32 0,0,64 0,64,0 2,0,0 4,0,0 8,0,0";
    let row = format!("{registers}|0,0,8 0,0,16 0,1,0 0,2,0 0,4,0|0,0,0 0,16,0 0,32,0 1,0,0|");
    check(&dot(&cubes, 0, 8), &[16, 128, 128], &row);
    let registers = "0,1,0 0,2,0 0,4,0 0,32,0 0,64,0 0,0,16 0,0,32 2,0,0 4,0,0";
    let row = format!("{registers}|0,8,0 0,16,0 0,0,1 0,0,2 0,0,4|0,0,8 0,0,0 0,0,0 1,0,0|");
    check(&dot(&cubes, 1, 8), &[8, 128, 64], &row);
    let v3 = dot(&mma(3, "16, 16, 8", "4, 1", ""), 0, 2);
    check(&v3, &[128, 32], &format!("0,1 8,0 0,8 0,16 64,0|{LANES}|16,0 32,0|"));
    let mixed = dot(&mma(3, "16, 16, 8", "4, 2", ""), 0, 4);
    let row = "0,1 0,2 8,0 0,16 0,32 64,0|0,4 0,8 1,0 2,0 4,0|16,0 32,0 0,0|";
    check(&mixed, &[128, 64], row);
    let split = mma(2, "16, 8", "2, 2", "");
    let row = format!("0,1 0,2 0,4 8,0 0,32 0,64 32,0|{a_lanes}|0,0 16,0|");
    check(&dot(&split, 0, 8), &[64, 128], &row);
    let row = format!("1,0 2,0 4,0 32,0 64,0 0,16|{b_lanes}|0,8 0,0|");
    check(&dot(&split, 1, 8), &[128, 32], &row);
    check(&slice(&dot(&v2, 0, 8), 1), &[16], "8|0 0 1 2 4||");
    check(&slice(&v3, 0), &[16], "1 8|2 4 0 0 0|0 0|");
    let error = Spec::parse(&dot(&mma(3, "16, 16, 8", "4, 1", ""), 1, 2)).unwrap();
    let error = error.distribution(Some(&[64, 64]), None).unwrap_err();
    assert!(error.to_string().contains("shared memory"), "{error}");
}

#[test]
fn operands_of_blocked_registers() {
    let parent = "#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 4], order = [1, 0]}>";
    let row = "0,1 0,2 0,4 0,8 1,0|0,0 0,0 2,0 4,0 8,0|0,0 0,0 16,0|";
    check(&dot(parent, 0, 0), &[32, 16], row);
    let row = "0,1 0,2 1,0 2,0 4,0 8,0|0,4 0,8 0,0 0,0 0,0|0,16 0,32 0,0|";
    check(&dot(parent, 1, 0), &[16, 64], row);
    let cubes = "#ttg.blocked<{sizePerThread = [2, 2, 4], threadsPerWarp = [2, 4, 4], warpsPerCTA = [2, 2, 2], order = [2, 1, 0]}>";
    let row =
        "0,0,1 0,0,2 0,1,0 1,0,0 0,16,0 8,0,0|0,0,0 0,0,0 0,2,0 0,4,0 2,0,0|0,0,0 0,8,0 4,0,0|";
    check(&dot(cubes, 0, 0), &[16, 32, 4], row);
    let row = "0,0,1 0,0,2 0,1,0 0,2,0 1,0,0 0,0,32 8,0,0|0,0,4 0,0,8 0,0,0 0,0,0 2,0,0|0,0,16 0,0,0 4,0,0|";
    check(&dot(cubes, 1, 0), &[16, 4, 64], row);
}

#[test]
fn instructions_of_amd() {
    let plain = mfma(32, "2, 4", false);
    let lanes = "0,1 0,2 0,4 0,8 0,16 4,0";
    check(&plain, &[32, 32], &format!("1,0 2,0 8,0 16,0|{lanes}|0,0 0,0 0,0|"));
    check(&plain, &[64, 32], &format!("1,0 2,0 8,0 16,0|{lanes}|0,0 0,0 32,0|"));
    check(&plain, &[128, 128], &format!("1,0 2,0 8,0 16,0 64,0|{lanes}|0,32 0,64 32,0|"));
    let turned = mfma(32, "2, 4", true);
    let row = "0,1 0,2 0,8 0,16 64,0|1,0 2,0 4,0 8,0 16,0 0,4|0,32 0,64 32,0|";
    check(&turned, &[128, 128], row);
    let row = "1,0 2,0|0,1 0,2 0,4 0,8 4,0 8,0|0,0 0,0 0,0|";
    check(&mfma(16, "2, 4", false), &[16, 16], row);
    let batches = mfma(32, "2, 4, 1", false);
    let lanes = "0,0,1 0,0,2 0,0,4 0,0,8 0,0,16 0,4,0";
    let row = format!("0,1,0 0,2,0 0,8,0 0,16,0 0,0,32 0,0,64|{lanes}|0,32,0 0,64,0 0,0,0|");
    check(&batches, &[1, 128, 128], &row);
    let row = format!("0,1,0 0,2,0 0,8,0 0,16,0|{lanes}|0,32,0 0,0,0 1,0,0|");
    check(&batches, &[2, 64, 32], &row);
    let row = "0,1 0,2 0,4 0,16 0,32 0,64 32,0 64,0|1,0 2,0 4,0 8,0 16,0 0,8|0,0 0,0 0,0|";
    check(&dot(&mfma(32, "1, 8", false), 0, 8), &[128, 128], row);
    let row = "0,1 0,2 0,4|1,0 2,0 4,0 8,0 0,0 0,8|0,0 0,0 0,0|";
    check(&dot(&mfma(32, "1, 8", false), 0, 8), &[16, 16], row);
    let row = "1,0 2,0 4,0 16,0 32,0 64,0 128,0 0,128|0,1 0,2 0,4 0,8 0,16 8,0|0,32 0,64|";
    check(&dot(&mfma(32, "1, 4", false), 1, 8), &[256, 256], row);
    let row = "0,0 0,0 0,0 16,0 32,0 64,0|1,0 2,0 4,0 8,0 0,0 0,0|0,0 0,0|";
    check(&dot(&mfma(16, "1, 4", false), 0, 8), &[128, 1], row);
    let row = "0,1,0 0,2,0 0,4,0 0,32,0 0,64,0 0,128,0 0,0,128|0,0,1 0,0,2 0,0,4 0,0,8 0,8,0 0,16,0|0,0,16 0,0,32 0,0,64|";
    check(&dot(&mfma(16, "1, 1, 8", false), 1, 8), &[1, 256, 256], row);
    for transposed in [false, true] {
        let row = "0,1 0,2 0,8 0,16 0,32 0,64 64,0|1,0 2,0 4,0 8,0 16,0 0,4|0,0 0,0 32,0|";
        check(&dot(&mfma(32, "2, 4", transposed), 0, 4), &[128, 128], row);
        let row = "1,0 2,0 16,0 32,0 64,0 0,64|0,1 0,2 0,4 0,8 4,0 8,0|0,16 0,32 0,0|";
        check(&dot(&mfma(16, "2, 4", transposed), 1, 4), &[128, 128], row);
    }
    let (v1, v2) = (wmma(1, "2, 4", false), wmma(2, "2, 4", false));
    let row = "2,0 4,0 8,0 0,64 32,0 64,0|0,1 0,2 0,4 0,8 1,0|0,16 0,32 16,0|";
    check(&v1, &[128, 128], row);
    check(&v1, &[16, 32], "2,0 4,0 8,0|0,1 0,2 0,4 0,8 1,0|0,16 0,0 0,0|");
    let row = "0,2,0 0,4,0 0,8,0 2,0,0 4,0,0|0,0,1 0,0,2 0,0,4 0,0,8 0,1,0|0,0,0 0,0,0 1,0,0|";
    check(&wmma(1, "2, 4, 1", false), &[8, 16, 16], row);
    let row = "0,1 0,2 0,4 0,8 0,16 0,32 0,64 32,0|1,0 2,0 4,0 8,0 0,0|0,0 0,0 16,0|";
    check(&dot(&v1, 0, 16), &[64, 128], row);
    let row = "1,0 2,0 4,0 8,0 16,0 32,0 0,64|0,1 0,2 0,4 0,8 0,0|0,16 0,32 0,0|";
    check(&dot(&v1, 1, 16), &[64, 128], row);
    check(&v2, &[64, 128], "1,0 2,0 4,0 0,64 32,0|0,1 0,2 0,4 0,8 8,0|0,16 0,32 16,0|");
    let row =
        "0,1,0 0,2,0 0,4,0 0,0,32 0,32,0 2,0,0|0,0,1 0,0,2 0,0,4 0,0,8 0,8,0|0,0,16 0,16,0 1,0,0|";
    check(&wmma(2, "2, 2, 2", false), &[4, 64, 64], row);
    let row = "0,1 0,2 0,4 0,64 32,0|1,0 2,0 4,0 8,0 0,8|0,16 0,32 16,0|";
    check(&wmma(2, "2, 4", true), &[64, 128], row);
    let row = "0,1 0,2 0,4 0,16 0,32 0,64 32,0|1,0 2,0 4,0 8,0 0,8|0,0 0,0 16,0|";
    check(&dot(&v2, 0, 8), &[64, 128], row);
    let row = "1,0 2,0 4,0 8,0 32,0 64,0 0,64|0,1 0,2 0,4 0,8 16,0|0,16 0,32 0,0|";
    check(&dot(&v2, 1, 16), &[128, 128], row);
}

#[test]
fn memory_of_tensor_cores() {
    let nvmma = |width: u64, bits: u64, more: &str| {
        format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = false, elementBitWidth = {bits}{more}}}>"
        )
    };
    check_memory(&nvmma(32, 16, ""), &[8, 16], "0,1 0,2 0,4 0,8 1,0 2,0 4,8|");
    let row = "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 64,0|";
    check_memory(&nvmma(32, 16, ""), &[128, 16], row);
    check_memory(&nvmma(64, 16, ""), &[8, 32], "0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16|");
    check_memory(&nvmma(128, 16, ""), &[8, 64], "0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32|");
    check_memory(&nvmma(128, 32, ""), &[8, 64], "0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 0,32|");
    let row = "0,1 0,2 0,4 0,0 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0|";
    check_memory(&nvmma(128, 8, ", fp4Padded = true"), &[32, 64], row);
    // The transpose of a matrix lies as the matrix does.
    let turned = nvmma(128, 16, "").replace("transposed = false", "transposed = true");
    check_memory(&turned, &[64, 8], "1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4|");
    let error =
        Spec::parse(&nvmma(128, 16, "")).unwrap().resolve(Some(&[4, 64]), None).unwrap_err();
    assert!(error.to_string().contains("8 rows of 64"), "{error}");
    let wide = tilewright_core::Dtype::F32;
    let error = Spec::parse(&nvmma(128, 16, "")).unwrap().resolve(Some(&[8, 64]), Some(wide));
    assert!(error.unwrap_err().is_mismatch());
}

/// The bases of batches and of many boxes, as Triton 3.9.0 says them.
#[test]
fn memory_of_batches_of_tensor_cores() {
    let cases: [(u64, u64, bool, &[u64], &str); 17] = [
        (32, 16, false, &[2, 4, 16], "0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,0 1,0,8|"),
        (
            128,
            16,
            false,
            &[2, 16, 64],
            "0,0,1 0,0,2 0,0,4 0,0,8 0,0,16 0,0,32 0,1,8 0,2,16 0,4,32 0,8,0 1,0,0|",
        ),
        (
            64,
            8,
            false,
            &[2, 1, 4, 64],
            "0,0,0,1 0,0,0,2 0,0,0,4 0,0,0,8 0,0,0,16 0,0,0,32 0,0,1,0 0,0,2,16 1,0,0,32|",
        ),
        (
            32,
            16,
            false,
            &[2, 512, 16],
            "0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,0 0,4,8 0,8,0 0,16,0 0,32,0 0,64,0 0,128,0 1,0,0 0,256,0|",
        ),
        (32, 16, false, &[4, 4, 32], "0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,0 1,0,8 2,0,0 0,0,16|"),
        (
            32,
            16,
            false,
            &[512, 512, 32],
            "0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,0 0,4,8 0,8,0 0,16,0 0,32,0 0,64,0 0,128,0 1,0,0 2,0,0 4,0,0 8,0,0 16,0,0 32,0,0 64,0,0 128,0,0 256,0,0 0,256,0 0,0,16|",
        ),
        (
            0,
            16,
            false,
            &[2, 512, 16],
            "0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,0 0,4,0 0,8,0 0,16,0 0,32,0 0,64,0 0,128,0 1,0,0 0,256,0|",
        ),
        (0, 16, false, &[512], "1 2 4 8 16 32 64 128 256|"),
        (
            128,
            16,
            true,
            &[64, 4, 16],
            "1,0,0 2,0,0 4,0,0 8,0,0 16,0,0 32,0,0 8,0,4 16,0,8 32,1,0 0,2,0 0,0,1 0,0,2|",
        ),
        (
            128,
            16,
            true,
            &[64, 2, 8],
            "1,0,0 2,0,0 4,0,0 8,0,0 16,0,0 32,0,0 8,0,2 16,0,4 32,1,0 0,0,1|",
        ),
        (
            128,
            16,
            true,
            &[128, 8, 8],
            "1,0,0 2,0,0 4,0,0 8,0,0 16,0,0 32,0,0 8,1,0 16,2,0 32,4,0 0,0,1 0,0,2 0,0,4 64,0,0|",
        ),
        (
            32,
            16,
            true,
            &[16, 2, 2, 8],
            "1,0,0,0 2,0,0,0 4,0,0,0 8,0,0,0 0,0,0,4 0,0,1,0 8,1,0,0 0,0,0,1 0,0,0,2|",
        ),
        (
            128,
            16,
            true,
            &[64, 2, 512],
            "1,0,0 2,0,0 4,0,0 8,0,0 16,0,0 32,0,0 8,0,2 16,0,4 32,0,8 0,0,16 0,0,32 0,0,64 0,0,128 0,1,0 0,0,1 0,0,256|",
        ),
        (
            32,
            16,
            true,
            &[32, 512, 16],
            "1,0,0 2,0,0 4,0,0 8,0,0 0,16,0 0,32,0 8,64,0 0,128,0 0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,0 0,4,0 0,8,0 16,0,0 0,256,0|",
        ),
        (
            0,
            16,
            false,
            &[512, 512],
            "0,1 0,2 0,4 0,8 0,16 0,32 0,64 0,128 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 0,256 256,0|",
        ),
        (
            0,
            16,
            true,
            &[512, 512],
            "1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 0,1 0,2 0,4 0,8 0,16 0,32 0,64 0,128 0,256 256,0|",
        ),
        (
            32,
            16,
            true,
            &[512, 512],
            "1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 0,16 0,32 0,64 0,128 16,0 32,0 64,0 128,0 256,0 0,256|",
        ),
    ];
    for (width, bits, turned, dims, row) in cases {
        let text = format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {turned}, elementBitWidth = {bits}, rank = {}}}>",
            dims.len()
        );
        let spec = Spec::parse(&text).unwrap();
        let layout = spec.resolve(Some(dims), None).unwrap().layout().clone();
        for (bit, image) in row.trim_end_matches('|').split(' ').enumerate() {
            let coord: Vec<u64> = image.split(',').map(|x| x.parse().unwrap()).collect();
            assert_eq!(layout.offset(&coord), Ok(1 << bit), "{text} {dims:?} {image}");
        }
    }
    for (text, dims, why) in [
        (
            "swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16",
            vec![16, 4, 2],
            "Triton gives several offsets to an element",
        ),
        (
            "swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16",
            vec![64, 16, 4],
            "4 rows of 64",
        ),
        (
            "swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16",
            vec![2, 2, 16],
            "4 rows of 16",
        ),
        (
            "swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16",
            vec![16],
            "it has 2 at least",
        ),
    ] {
        let spec = Spec::parse(&format!("#ttg.nvmma_shared<{{{text}}}>")).unwrap();
        let error = spec.resolve(Some(&dims), None).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

/// Rows of the offsets of `lane` and `column` of a matrix in tensor memory, as Triton 3.9.0 says them.
#[test]
fn tensor_memory() {
    let text = |rows: u64, columns: u64, stride: u64, more: &str| {
        format!(
            "#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = {stride}{more}>"
        )
    };
    let pair = ", CGALayout = [[1, 0]], twoCTAs = true";
    let scales = "#ttng.tensor_memory_scales_encoding<>".to_owned();
    for (text, dims, row) in [
        (text(128, 8, 1, ""), [128, 16], "0,1 0,2 0,4 0,8 1,0 2,0 4,0 8,0 16,0 32,0 64,0|"),
        (text(128, 8, 1, ""), [256, 16], "0,1 0,2 0,4 128,0 0,8 1,0 2,0 4,0 8,0 16,0 32,0 64,0|"),
        (text(128, 8, 2, ""), [128, 8], "0,0 0,1 0,2 0,4 1,0 2,0 4,0 8,0 16,0 32,0 64,0|"),
        (text(64, 8, 1, ""), [64, 8], "0,1 0,2 0,4 1,0 2,0 4,0 8,0 0,0 16,0 32,0|"),
        (text(64, 8, 1, ""), [64, 16], "0,1 0,2 0,4 1,0 2,0 4,0 8,0 0,8 16,0 32,0|"),
        (text(64, 8, 1, ""), [128, 16], "0,1 0,2 0,4 0,8 1,0 2,0 4,0 8,0 64,0 16,0 32,0|"),
        (text(64, 8, 1, pair), [128, 16], "0,1 0,2 0,8 1,0 2,0 4,0 8,0 16,0 32,0 0,4|64,0"),
        (
            text(128, 8, 1, ", fp4Padded = true"),
            [128, 8],
            "0,0 0,1 0,2 0,4 1,0 2,0 4,0 8,0 16,0 32,0 64,0|",
        ),
        (scales.clone(), [128, 4], "0,1 0,2 32,0 64,0 1,0 2,0 4,0 8,0 16,0 0,0 0,0|"),
        (scales, [64, 8], "0,1 0,2 32,0 0,4 1,0 2,0 4,0 8,0 16,0 0,0 0,0|"),
    ] {
        check_memory(&text, &dims, row);
    }
    let error =
        Spec::parse(&text(128, 8, 1, "")).unwrap().resolve(Some(&[64, 8]), None).unwrap_err();
    assert!(error.to_string().contains("blockM is 128"), "{error}");
}

/// Partitions follow one another; padding stays in the memory of its block.
#[test]
fn partitions_and_blocks_of_memory() {
    let inner = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>";
    let text = format!(
        "#ttg.partitioned_shared<{{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = {inner}}}>"
    );
    let spec = Spec::parse(&text).unwrap();
    assert_eq!(spec.to_string(), text);
    let layout = spec.resolve(Some(&[16, 16]), None).unwrap().layout().clone();
    // Rows 8 to 15 are the second group of a partition; rows 4 to 7 are in the second partition.
    for (coord, offset) in [([8, 0], 64), ([4, 0], 128), ([1, 0], 18), ([1, 2], 16), ([0, 8], 8)] {
        assert_eq!(layout.offset(&coord), Ok(offset), "{coord:?}");
    }
    for (text, dims, why) in [
        (text.replace("numGroups = 2", "numGroups = 32"), [16, 16], "an element at least"),
        (
            text.replace(inner, "#ttg.padded_shared<[4:+2] {order = [1, 0]}>"),
            [16, 16],
            "padding within",
        ),
    ] {
        let error = Spec::parse(&text).unwrap().resolve(Some(&dims), None).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let padded = "#ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0]], block = [[2, 0]]}>";
    let spec = Spec::parse(padded).unwrap();
    assert_eq!(spec.to_string(), padded);
    let layout = spec.resolve(Some(&[4, 4]), None).unwrap().layout().clone();
    assert_eq!(
        (layout.capacity(), layout.offset(&[2, 0]), layout.offset(&[3, 3])),
        (20, Ok(10), Ok(19))
    );
    // An order is read and not kept, as in Triton.
    let linear = "#ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [], block = []%s}>";
    let ordered = Spec::parse(&linear.replace("%s", ", order = [1, 0]")).unwrap();
    assert_eq!(ordered.to_string(), linear.replace("%s", ""));
}

#[test]
fn rows_that_rotate() {
    for (vec, per, max, rows, columns) in [
        (1, 1, 4, 32, 8),
        (4, 1, 16, 64, 64),
        (2, 2, 4, 32, 16),
        (8, 4, 2, 64, 16),
        (1, 1, 1, 4, 4),
    ] {
        let text = format!(
            "#ttg.amd_rotating_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {max}, order = [1, 0]}}>"
        );
        let layout = Spec::parse(&text).unwrap().resolve(Some(&[rows, columns]), None).unwrap();
        for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
            let (phase, block) = (r / per % max, r / per / max % max);
            let expected = r * columns + (c ^ ((vec * (phase ^ block)) % columns));
            assert_eq!(layout.layout().offset(&[r, c]), Ok(expected as i64), "{text} {r} {c}");
        }
    }
}

/// Every encoding of padding in memory, element by element.
#[test]
fn padding_behind_intervals() {
    let padded = |gaps: &[(u64, u64)], x: u64| x + gaps.iter().map(|(i, p)| x / i * p).sum::<u64>();
    for gaps in [vec![(4, 2)], vec![(8, 1)], vec![(16, 4), (64, 8)], vec![(1, 1)], vec![(256, 16)]]
    {
        let list: Vec<String> = gaps.iter().map(|(i, p)| format!("{i}:+{p}")).collect();
        let list = list.join(", ");
        for (order, fast) in [("[1, 0]", 1), ("[0, 1]", 0)] {
            let text = format!("#ttg.padded_shared<[{list}] {{order = {order}, shape = [8, 32]}}>");
            let spec = Spec::parse(&text).unwrap();
            assert_eq!(spec.to_string(), text);
            let named = spec.resolve(Some(&[8, 32]), None).unwrap();
            let layout = named.layout();
            let mut last = 0;
            for (r, c) in (0..8).flat_map(|r| (0..32).map(move |c| (r, c))) {
                let x = if fast == 1 { r * 32 + c } else { c * 8 + r };
                assert_eq!(layout.offset(&[r, c]), Ok(padded(&gaps, x) as i64), "{text} {r} {c}");
                last = last.max(padded(&gaps, x));
            }
            assert_eq!(layout.capacity(), last + 1, "{text}");
            assert!(spec.resolve(Some(&[16, 16]), None).unwrap_err().is_mismatch());
        }
    }
    let bases = "#ttg.padded_shared<[4:+2] {offset = [[0, 1], [1, 0], [0, 2]], block = []}>";
    let named = Spec::parse(bases).unwrap().resolve(Some(&[2, 4]), None).unwrap();
    assert_eq!(named.layout().layout(), &Layout::parse("(2,(2,2)):(2,(1,6))").unwrap());
    let xors = "#ttg.padded_shared<[4:+2] {offset = [[0, 1], [1, 1], [0, 2]], block = []}>";
    let error = Spec::parse(xors).unwrap().resolve(Some(&[2, 4]), None).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("after a swizzle"), "{error}");
    let three = Spec::parse("#ttg.padded_shared<[4:+2] {order = [1, 0]}>").unwrap();
    assert!(three.resolve(Some(&[3, 4]), None).unwrap_err().to_string().contains("powers of two"));
}

/// Random invertible encodings of memory: every element has its place, and the print reads back as the same map.
#[test]
fn every_invertible_shared_linear_is_a_layout() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) % n
    };
    let mut beyond = 0;
    for _ in 0..200 {
        let (rows, columns) = (below(7), below(6));
        let bits = (rows + columns) as usize;
        let mut offsets: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        for _ in 0..4 * bits * usize::from(bits > 1) {
            let (a, b) = (below(bits as u64) as usize, below(bits as u64) as usize);
            if a != b {
                let add = offsets[b];
                offsets[a] ^= add;
            }
        }
        let row = |x: &u64| format!("[{}, {}]", x >> columns, x & ((1 << columns) - 1));
        let list: Vec<String> = offsets.iter().map(row).collect();
        let text =
            format!("#ttg.shared_linear<{{offset = [{}]}}, alignment = 16>", list.join(", "));
        let dims = [1 << rows, 1 << columns];
        let Ok(spec) = Spec::parse(&text) else { panic!("{text}") };
        let named = spec.resolve(Some(&dims), None).unwrap();
        let layout: &TensorLayout = named.layout();
        beyond += u32::from(!layout.layout().swizzle().is_field_xor());
        for offset in 0..1u64 << bits {
            let index =
                (0..bits).filter(|bit| offset >> bit & 1 == 1).fold(0, |x, bit| x ^ offsets[bit]);
            let coord = [index >> columns, index & (dims[1] - 1)];
            assert_eq!(layout.offset(&coord), Ok(offset as i64), "{text}");
            let Ok(Place::Element(found)) = layout.locate(offset as i64) else { panic!("{text}") };
            assert_eq!(found.as_slice(), coord);
        }
        for notation in ["triton", "linear", "cute"] {
            let print = tilewright_notation::notation(notation).unwrap().print(&named).unwrap();
            let again = Spec::parse(&print).unwrap().resolve(Some(&dims), None).unwrap();
            assert_eq!(again.layout().same_function(layout), Ok(true), "{print}");
        }
        let cutlass = tilewright_notation::notation("cutlass").unwrap().print(&named);
        assert_eq!(cutlass.is_ok(), layout.layout().swizzle().is_field_xor());
    }
    assert!(beyond > 120, "{beyond}");
    let singular = "#ttg.shared_linear<{offset = [[0, 1], [1, 0], [1, 1]]}, alignment = 16>";
    let error = Spec::parse(singular).unwrap().resolve(Some(&[2, 2]), None).unwrap_err();
    assert!(error.to_string().contains("offset 3 and offset 4 are one element"), "{error}");
}

/// The maps that Triton 3.9 itself gives, by `GluonOpBuilder.to_linear_layout`.
#[test]
fn instructions_of_today_are_those_of_triton() {
    let wmma = |version: u64, transposed: bool, shares: &str, instr: &str| {
        let instr =
            if instr.is_empty() { String::new() } else { format!(", instrShape = [{instr}]") };
        format!(
            "#ttg.amd_wmma<{{version = {version}, isTranspose = {transposed}, ctaLayout = {{{shares}}}{instr}}}>"
        )
    };
    let mfma = |instr: &str, transposed: bool, more: &str| {
        format!(
            "#ttg.amd_mfma<{{version = 3, warpsPerCTA = [2, 2], instrShape = [{instr}], isTransposed = {transposed}{more}}}>"
        )
    };
    let dot = |operand: u64, parent: String, width: u64| {
        format!("#ttg.dot_op<{{opIdx = {operand}, parent = {parent}, kWidth = {width}}}>")
    };
    let (plain, apart) =
        ("warp = [[0, 1], [1, 0]]", "register = [[0, 1]], warp = [[0, 2], [1, 0]]");
    let held = "register = [[0, 2]], warp = [[0, 1], [1, 0]]";
    for (encoding, dims, row) in [
        (
            wmma(1, true, plain, ""),
            [64, 64],
            "0,2 0,4 0,8 0,32 32,0|1,0 2,0 4,0 8,0 0,1|0,16 16,0|",
        ),
        (
            wmma(2, true, plain, ""),
            [64, 64],
            "0,1 0,2 0,4 0,32 32,0|1,0 2,0 4,0 8,0 0,8|0,16 16,0|",
        ),
        (
            wmma(2, true, apart, ""),
            [64, 64],
            "0,1 0,2 0,4 0,16 32,0|1,0 2,0 4,0 8,0 0,8|0,32 16,0|",
        ),
        (
            wmma(3, true, plain, "16, 16, 32"),
            [64, 64],
            "0,1 0,2 0,4 0,32 32,0|1,0 2,0 4,0 8,0 0,8|0,16 16,0|",
        ),
        (
            wmma(3, false, plain, "32, 16, 128"),
            [128, 64],
            "1,0 2,0 4,0 16,0 0,32 64,0|0,1 0,2 0,4 0,8 8,0|0,16 32,0|",
        ),
        (
            wmma(3, true, plain, "32, 16, 128"),
            [128, 64],
            "0,1 0,2 0,4 0,16 32,0 64,0|1,0 2,0 4,0 8,0 0,8|0,32 16,0|",
        ),
        (
            dot(0, wmma(1, false, apart, ""), 8),
            [64, 64],
            "0,1 0,2 0,4 0,8 0,16 0,32 32,0|1,0 2,0 4,0 8,0 0,0|0,0 16,0|",
        ),
        (
            dot(1, wmma(1, false, apart, ""), 8),
            [64, 64],
            "1,0 2,0 4,0 0,16 8,0 16,0 32,0|0,1 0,2 0,4 0,8 0,0|0,32 0,0|",
        ),
        (
            dot(0, wmma(2, false, apart, ""), 8),
            [64, 64],
            "0,1 0,2 0,4 0,16 0,32 32,0|1,0 2,0 4,0 8,0 0,8|0,0 16,0|",
        ),
        (
            dot(1, wmma(2, false, apart, ""), 16),
            [64, 64],
            "1,0 2,0 4,0 8,0 0,16 32,0|0,1 0,2 0,4 0,8 16,0|0,32 0,0|",
        ),
        (
            dot(0, wmma(3, true, held, "16, 16, 32"), 8),
            [64, 64],
            "0,1 0,2 0,4 0,16 0,32 32,0|1,0 2,0 4,0 8,0 0,8|0,0 16,0|",
        ),
        (
            dot(1, wmma(3, true, held, "16, 16, 32"), 8),
            [64, 64],
            "1,0 2,0 4,0 16,0 0,32 32,0|0,1 0,2 0,4 0,8 8,0|0,16 0,0|",
        ),
        (
            dot(0, wmma(3, true, plain, "16, 16, 128"), 16),
            [64, 256],
            "0,1 0,2 0,4 0,8 0,32 0,64 0,128 32,0|1,0 2,0 4,0 8,0 0,16|0,0 16,0|",
        ),
        (
            dot(0, wmma(3, true, plain, "32, 16, 128"), 16),
            [128, 256],
            "0,1 0,2 0,4 0,8 0,32 0,64 0,128 32,0 64,0|1,0 2,0 4,0 8,0 0,16|0,0 16,0|",
        ),
        (
            dot(1, wmma(3, true, plain, "32, 16, 128"), 16),
            [256, 128],
            "1,0 2,0 4,0 8,0 32,0 64,0 0,16 128,0 0,64|0,1 0,2 0,4 0,8 16,0|0,32 0,0|",
        ),
        (
            dot(0, wmma(3, true, plain, "16, 16, 4"), 2),
            [64, 64],
            "0,1 0,4 0,8 0,16 0,32 32,0|1,0 2,0 4,0 8,0 0,2|0,0 16,0|",
        ),
        (
            mfma("64, 4, 16", true, ""),
            [256, 16],
            "0,1 0,2 0,8 128,0|1,0 2,0 4,0 8,0 16,0 32,0|0,4 64,0|",
        ),
        (
            mfma("4, 64, 16", false, ""),
            [16, 256],
            "1,0 2,0 0,128 8,0|0,1 0,2 0,4 0,8 0,16 0,32|0,64 4,0|",
        ),
        (
            dot(0, mfma("64, 4, 16", true, ""), 4),
            [256, 64],
            "0,1 0,2 0,4 0,8 0,16 0,32 128,0|1,0 2,0 4,0 8,0 16,0 32,0|0,0 64,0|",
        ),
        (
            dot(1, mfma("64, 4, 16", true, ""), 4),
            [64, 16],
            "1,0 2,0 0,8|0,1 0,2 4,0 8,0 16,0 32,0|0,4 0,0|",
        ),
        (
            mfma("32, 32, 8", false, ", tilesPerWarp = [2, 1]"),
            [256, 128],
            "1,0 2,0 8,0 16,0 0,64 32,0 128,0|0,1 0,2 0,4 0,8 0,16 4,0|0,32 64,0|",
        ),
        (
            mfma("16, 16, 16", true, ", tilesPerWarp = [2, 2]"),
            [256, 128],
            "0,1 0,2 0,16 0,64 16,0 64,0 128,0|1,0 2,0 4,0 8,0 0,4 0,8|0,32 32,0|",
        ),
        (
            dot(0, mfma("16, 16, 16", true, ", tilesPerWarp = [2, 4]"), 4),
            [128, 64],
            "0,1 0,2 0,16 0,32 16,0 64,0|1,0 2,0 4,0 8,0 0,4 0,8|0,0 32,0|",
        ),
        (
            dot(1, mfma("16, 16, 16", true, ", tilesPerWarp = [2, 4]"), 4),
            [64, 256],
            "1,0 2,0 16,0 32,0 0,16 0,32 0,128|0,1 0,2 0,4 0,8 4,0 8,0|0,64 0,0|",
        ),
        (
            mfma("16, 16, 16", false, ", elementBitWidth = 64"),
            [64, 64],
            "4,0 8,0 0,32 32,0|0,1 0,2 0,4 0,8 1,0 2,0|0,16 16,0|",
        ),
        (
            mfma("16, 16, 4", true, ", elementBitWidth = 64"),
            [64, 64],
            "0,4 0,8 0,32 32,0|1,0 2,0 4,0 8,0 0,1 0,2|0,16 16,0|",
        ),
    ] {
        check(&encoding, &dims, row);
    }
    let batched = "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 0, 1], [0, 1, 0]]}}>";
    check(
        batched,
        &[2, 64, 64],
        "0,0,1 0,0,2 0,0,4 0,0,32 0,32,0 1,0,0|0,1,0 0,2,0 0,4,0 0,8,0 0,0,8|0,0,16 0,16,0|",
    );
}

#[test]
fn fields_of_encodings_come_in_any_order() {
    let parent = "#ttg.amd_mfma<{isTransposed = true, instrShape = [16, 16], warpsPerCTA = [1, 1], version = 3}>";
    let (one, other) = (
        format!("#ttg.dot_op<{{opIdx = 0, parent = {parent}, kWidth = 4}}>"),
        format!("#ttg.dot_op<{{kWidth = 4, parent = {parent}, opIdx = 0}}>"),
    );
    let canonical = |text: &str| Spec::parse(text).unwrap().to_string();
    assert_eq!(canonical(&one), canonical(&other));
    for (text, why) in [
        ("#ttg.slice<{dim = 0}>".to_owned(), "expected `parent=` too"),
        (format!("#ttg.slice<{{dim = 0, dim = 1, parent = {parent}}}>"), "given twice"),
        (
            format!("#ttg.slice<{{dim = 0, parent = {parent}, kWidth = 2}}>"),
            "legal fields are dim, parent",
        ),
        (
            "#ttg.amd_wmma<{version = 4, isTranspose = true, ctaLayout = {}}>".into(),
            "versions 1, 2 and 3",
        ),
        (
            "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warps = [[0, 1]]}}>"
                .into(),
            "no `warps`",
        ),
        (
            "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = 3}>".into(),
            "fields in braces",
        ),
    ] {
        let error = Spec::parse(&text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
}
