//! Random jobs compared with a second implementation without plans: one element after the other, bit by bit, at the offsets of
//! `TensorLayout::offset`.
//!
//! `TILEWRIGHT_JOBS` and `TILEWRIGHT_SEED` set the number of jobs and the seed. A job depends only on the seed and its number,
//! and a failure names both. `cargo xtask oracles relayout` runs a million.

use std::{collections::BTreeMap, env, fs, path::Path};

use tilewright_core::{Dtype, Layout, Mode, Step, Swizzle, TensorLayout};
use tilewright_files::{Conversion, Reading, Request, open};
use tilewright_notation::{Spec, dtype};
use tilewright_relayout::{Elements, Extend, Plan, Program};

use crate::common::*;

/// The first seed.
const SEED: u64 = 18;

/// The largest number of bits of either side of a job: 4 kB.
const MOST: u64 = 4096 * 8;

/// One in this number of jobs also goes through files.
const FILES: u64 = 16;

/// Numbers that a seed determines.
struct Dice(u64);

impl Dice {
    fn new(seed: u64, job: u64) -> Dice {
        let mut dice = Dice(seed ^ job.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        dice.next();
        dice
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

fn bit(bytes: &[u8], at: u64) -> bool {
    bytes[(at / 8) as usize] >> (at % 8) & 1 == 1
}

fn put(bytes: &mut [u8], at: u64, value: bool) {
    let byte = &mut bytes[(at / 8) as usize];
    *byte = *byte & !(1 << (at % 8)) | u8::from(value) << (at % 8);
}

/// Moves the elements of a box, bit by bit.
fn move_naively(
    (src, from): (&TensorLayout, &[u64]),
    (dst, to): (&TensorLayout, &[u64]),
    extents: &[u64],
    elements: Elements,
    source: &[u8],
    out: &mut [u8],
) {
    let (from_bits, to_bits) = (u64::from(elements.src_bits), u64::from(elements.dst_bits));
    let origin = TensorLayout::row_major(extents).unwrap();
    for i in 0..origin.size() {
        let coord = origin.coord_of(i).unwrap();
        let at = |origin: &[u64]| -> Vec<u64> {
            coord.as_slice().iter().zip(origin).map(|(a, b)| a + b).collect()
        };
        let a = src.offset(&at(from)).unwrap() as u64 * from_bits;
        let b = dst.offset(&at(to)).unwrap() as u64 * to_bits;
        for i in 0..to_bits {
            let value = match elements.extend {
                _ if i < from_bits => bit(source, a + i),
                Extend::Zero => false,
                Extend::Sign => bit(source, a + from_bits - 1),
            };
            put(out, b + i, value);
        }
    }
}

fn storage(layout: &TensorLayout, bits: u32) -> usize {
    (layout.capacity() * u64::from(bits)).div_ceil(8) as usize
}

/// Returns the whole destination, padding first.
fn naive(
    src: &TensorLayout,
    dst: &TensorLayout,
    elements: Elements,
    fill: u128,
    source: &[u8],
) -> Vec<u8> {
    let mut out = vec![0; storage(dst, elements.dst_bits)];
    let bits = u64::from(elements.dst_bits);
    for cell in 0..dst.capacity() {
        (0..bits.min(128)).for_each(|i| put(&mut out, cell * bits + i, fill >> i & 1 == 1));
    }
    let origin = vec![0; src.rank()];
    move_naively((src, &origin), (dst, &origin), src.extents(), elements, source, &mut out);
    out
}

/// The numbers of jobs, by kind.
type Counts = BTreeMap<&'static str, u64>;

fn count(counts: &mut Counts, kind: &'static str, did: bool) {
    *counts.entry(kind).or_default() += u64::from(did);
}

/// Returns extents of rank 0 to 5 of at most `most` elements.
fn extents(dice: &mut Dice, most: u64) -> Vec<u64> {
    let mut extents = vec![];
    for _ in 0..dice.below(6) {
        let left = most / extents.iter().product::<u64>().max(1);
        let some = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 30, 32, 33, 64, 100];
        extents.push(dice.of(&some).min(left.max(1)));
    }
    if !extents.is_empty() && dice.one_in(200) {
        let dim = dice.below(extents.len() as u64) as usize;
        extents[dim] = 0;
    }
    dice.shuffle(&mut extents);
    extents
}

/// Returns merges and splits from dims to axes, and the extents of the axes.
fn steps(dice: &mut Dice, extents: &[u64]) -> (Vec<Step>, Vec<u64>) {
    let (mut steps, mut axes) = (vec![], extents.to_vec());
    for _ in 0..dice.below(3) {
        let (a, b) = (dice.below(axes.len() as u64) as u8, dice.below(axes.len() as u64) as u8);
        if a != b && axes.len() > 1 && dice.one_in(2) {
            axes[b as usize] *= axes[a as usize];
            axes.remove(a as usize);
            steps.push(Step::Merge { major: a, minor: b });
        } else if !axes.is_empty() {
            let by = dice.of(&[2, 3, 4, 5, 8]);
            axes[a as usize] = axes[a as usize].div_ceil(by);
            axes.push(by);
            steps.push(Step::Split { axis: a, by });
        }
    }
    (steps, axes)
}

/// Returns a layout of the extents: digits of any sizes in any order, with gaps, backwards, swizzled; if elements may share a
/// place, with strides of 0.
fn layout(dice: &mut Dice, extents: &[u64], shared: bool, counts: &mut Counts) -> TensorLayout {
    let (steps, axes) = match dice.one_in(6) {
        true => steps(dice, extents),
        false => (vec![], extents.to_vec()),
    };
    let tiled = dice.one_in(2);
    let digits: Vec<Vec<u64>> = axes.iter().map(|axis| digits(dice, *axis, tiled)).collect();
    let mut order: Vec<(usize, usize)> = vec![];
    for (axis, digits) in digits.iter().enumerate() {
        order.extend((0..digits.len()).map(|digit| (axis, digit)));
    }
    dice.shuffle(&mut order);
    let (mut span, mut base, mut strides) = (1i64, 0, BTreeMap::new());
    let (gaps, backwards) = (dice.one_in(4), dice.one_in(6));
    for at in order {
        let extent = digits[at.0][at.1].max(1) as i64;
        let gap = if gaps && dice.one_in(3) { dice.below(4) as i64 } else { 0 };
        let stride = if shared && dice.one_in(8) { 0 } else { span + gap };
        let far = stride * (extent - 1);
        if backwards && dice.one_in(3) {
            base += far;
            strides.insert(at, -stride);
        } else {
            strides.insert(at, stride);
        }
        span += far;
    }
    let modes: Vec<Mode> = digits
        .iter()
        .enumerate()
        .flat_map(|(axis, digits)| {
            digits.iter().enumerate().map(move |(i, extent)| (axis, i, *extent))
        })
        .map(|(axis, i, extent)| Mode::new(extent, strides[&(axis, i)]))
        .collect();
    let counted: Vec<usize> = digits.iter().map(Vec::len).collect();
    let mut layout = Layout::nested(&modes, &counted).unwrap().with_offset(base).unwrap();
    let swizzle =
        Swizzle::new(1 + dice.below(2) as u8, dice.below(3) as u8, 2 + dice.below(2) as i8);
    let swizzled = dice.one_in(8);
    if let (true, Ok(swizzle)) = (swizzled, swizzle) {
        layout = layout.with_swizzle(swizzle).unwrap_or(layout);
    } else if dice.one_in(8) {
        let bits = (u64::BITS - (layout.cosize() as u64).leading_zeros()) as usize;
        let matrix = Swizzle::of_images(&matrix(dice, bits.clamp(2, 14))).unwrap();
        layout = layout.with_swizzle(matrix).unwrap_or(layout);
        count(counts, "under a matrix", !layout.swizzle().is_field_xor());
    }
    let cosize = u64::try_from(layout.cosize()).unwrap();
    let capacity = cosize + if dice.one_in(5) { dice.below(9) } else { 0 };
    count(counts, "with steps", !steps.is_empty());
    count(counts, "tiled", tiled);
    count(counts, "with gaps", gaps);
    count(counts, "backwards", backwards);
    count(counts, "swizzled", !layout.swizzle().is_identity());
    TensorLayout::with_steps(extents, &steps, &layout, capacity).unwrap()
}

/// Returns the images of an invertible matrix of bits.
fn matrix(dice: &mut Dice, bits: usize) -> Vec<u64> {
    let mut images: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
    for _ in 0..2 * bits {
        let (a, b) = (dice.below(bits as u64) as usize, dice.below(bits as u64) as usize);
        if a < b {
            images.swap(a, b);
        } else if a > b {
            images[a] ^= images[b];
        }
    }
    images
}

/// Returns the digits of an axis, least significant first; their product is at least `extent`.
fn digits(dice: &mut Dice, extent: u64, tiled: bool) -> Vec<u64> {
    let (mut digits, mut left) = (vec![], extent);
    while tiled && left > 1 && digits.len() < 2 && !dice.one_in(3) {
        let digit = dice.of(&[2, 3, 4, 8, 16]);
        digits.push(digit);
        left = left.div_ceil(digit);
    }
    digits.push(left);
    digits
}

/// The arguments of one job.
struct Job {
    src: TensorLayout,
    dst: TensorLayout,
    elements: Elements,
    fill: u128,
    source: Vec<u8>,
    expected: Vec<u8>,
}

/// Returns the job of this number, if its arrays are within the limit.
fn job(dice: &mut Dice, counts: &mut Counts) -> Option<Job> {
    let widths = [1, 2, 4, 8, 8, 16, 16, 32, 32, 64, 128, 24, 48, 144, 272];
    let src_bits = dice.of(&widths);
    let packing = dice.one_in(6);
    let elements = match packing {
        true => {
            let extend = if dice.one_in(2) { Extend::Zero } else { Extend::Sign };
            let widths = [1, 2, 4, 8, 16, 32];
            Elements { src_bits: dice.of(&widths), dst_bits: dice.of(&widths), extend }
        }
        false => Elements::same(src_bits),
    };
    let widest = u64::from(elements.src_bits.max(elements.dst_bits));
    let extents = extents(dice, (MOST / widest / 4).clamp(1, 600));
    let src = layout(dice, &extents, true, counts);
    let dst = layout(dice, &extents, false, counts);
    let large = |layout: &TensorLayout| layout.capacity() * widest > MOST;
    if large(&src) || large(&dst) {
        return None;
    }
    let fill = u128::from(dice.next()) << 64 | u128::from(dice.next());
    let fill = if elements.dst_bits < 128 { fill & ((1 << elements.dst_bits) - 1) } else { fill };
    let source = dice.bytes(storage(&src, elements.src_bits));
    let expected = naive(&src, &dst, elements, fill, &source);
    count(counts, "packed", elements.src_bits < 8 || elements.dst_bits < 8);
    count(counts, "of two widths", elements.src_bits != elements.dst_bits);
    count(counts, "padded", dst.padding() > 0);
    count(counts, "empty", src.size() == 0);
    Some(Job { src, dst, elements, fill, source, expected })
}

/// Runs the job as a whole, in ranges, and in chunks that hold only the bytes that they need.
fn by_plan(dice: &mut Dice, job: &Job) {
    let plan = Plan::new(&job.src, &job.dst, job.elements, job.fill).unwrap().with_min_range(16);
    let threads = 1 + dice.below(2) as usize;
    let mut out = vec![0xA5; job.expected.len()];
    plan.run(&job.source, &mut out, threads).unwrap();
    assert_eq!(out, job.expected, "run with {threads} threads: {plan}");
    let bytes = dice.of(&[1, 16, 64, 200, 1000]);
    let mut chunked = vec![0x5A; job.expected.len()];
    for range in plan.ranges(bytes) {
        let at = range.start as usize..range.end as usize;
        let chunk = plan.chunk(range.clone()).unwrap();
        let mut buffer = vec![0xEE; chunk.buffer_len()];
        for read in chunk.reads() {
            let from = read.src as usize;
            buffer[read.at..read.at + read.len].copy_from_slice(&job.source[from..from + read.len]);
        }
        chunk.run(&buffer, &mut chunked[at.clone()], 1).unwrap();
        plan.run_range(range, &job.source, &mut out[at]).unwrap();
    }
    assert_eq!(chunked, job.expected, "by chunks of {bytes} bytes: {plan}");
    assert_eq!(out, job.expected, "by ranges of {bytes} bytes: {plan}");
}

/// Runs the job within one buffer, with a random amount of scratch memory; returns whether that is possible.
fn in_place(dice: &mut Dice, job: &Job) -> bool {
    if job.source.len() != job.expected.len() {
        return false;
    }
    let plan = Plan::new(&job.src, &job.dst, job.elements, job.fill).unwrap();
    let Ok(way) = plan.in_place_within(dice.of(&[16, 100, 1000, 10_000])) else { return false };
    let mut buffer = job.source.clone();
    way.run(&mut buffer, 1).unwrap();
    assert_eq!(buffer, job.expected, "in place: {plan}\n{way}");
    true
}

/// Moves a box of the source to a box of a destination that has other content.
fn by_part(dice: &mut Dice, job: &Job) {
    let all = job.src.extents();
    let extents: Vec<u64> = all.iter().map(|extent| dice.below(*extent + 1)).collect();
    let mut origin = || -> Vec<u64> {
        all.iter().zip(&extents).map(|(all, part)| dice.below(all - part + 1)).collect()
    };
    let (from, to) = (origin(), origin());
    let (src, dst) = ((&job.src, from.as_slice()), (&job.dst, to.as_slice()));
    let program = Program::of_part(src, dst, &extents, job.elements).unwrap();
    let mut out = dice.bytes(job.expected.len());
    let mut expected = out.clone();
    move_naively(src, dst, &extents, job.elements, &job.source, &mut expected);
    let plan = Plan::of(program);
    plan.run(&job.source, &mut out, 1).unwrap();
    assert_eq!(out, expected, "{extents:?} from {from:?} to {to:?}: {plan}");
}

/// The names of one element type.
struct Kind {
    dtype: Dtype,
    safetensors: &'static str,
    npy: &'static str,
    gguf: Option<u32>,
}

fn kind(dice: &mut Dice) -> Kind {
    let all = [
        ("u8", "U8", "|u1", None),
        ("s8", "I8", "|i1", Some(24)),
        ("s16", "I16", "<i2", Some(25)),
        ("f32", "F32", "<f4", Some(0)),
        ("f64", "F64", "<f8", Some(28)),
        ("f16", "F16", "<f2", Some(1)),
    ];
    let (name, safetensors, npy, gguf) = dice.of(&all);
    Kind { dtype: dtype(name).unwrap(), safetensors, npy, gguf }
}

/// Returns a pattern: each dim in digits, stored in any order.
fn pattern(dice: &mut Dice, rank: usize) -> String {
    let (mut axes, mut stored) = (String::new(), vec![]);
    for dim in 0..rank {
        let letter = char::from(b'a' + dim as u8);
        stored.push(letter.to_string());
        axes += &format!("({letter}");
        if dice.one_in(2) {
            axes += &format!(" {letter}0:{}", dice.of(&[2, 3, 4, 8]));
            stored.push(format!("{letter}0"));
        }
        axes += ") ";
    }
    dice.shuffle(&mut stored);
    format!("{axes}-> {}", stored.join(" "))
}

/// Writes a file whose one tensor has these bytes.
fn input(
    folder: &Path,
    container: &str,
    kind: &Kind,
    elements: u64,
    data: &[u8],
) -> std::path::PathBuf {
    let (path, bytes) = match container {
        "safetensors" => (folder.join("in.safetensors"), one(kind.safetensors, &[elements], data)),
        "npy" => (folder.join("in.npy"), npy(kind.npy, false, &format!("({elements},)"), data)),
        "gguf" => (folder.join("in.gguf"), gguf(kind.gguf.unwrap_or(0), elements, data)),
        _ => (folder.join("in.bin"), data.to_vec()),
    };
    fs::write(&path, bytes).unwrap();
    if container == "raw" { format!("raw:{}", path.display()).into() } else { path }
}

/// Returns a GGUF file of one tensor of one dim.
fn gguf(kind: u32, elements: u64, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    for number in [1, 0, 1u64] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.push(b't');
    bytes.extend_from_slice(&1u32.to_le_bytes());
    bytes.extend_from_slice(&elements.to_le_bytes());
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&0u64.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes
}

fn stored(path: &Path, reading: &Reading) -> Vec<u8> {
    let input = open(path, reading).unwrap();
    input.bytes(&input.tensors()[0], 1 << 20).unwrap()
}

/// Converts within little memory, verifies, and converts to row-major by the note of the result.
fn through_files(dice: &mut Dice, folder: &Path, counts: &mut Counts) {
    let kind = kind(dice);
    let containers = ["safetensors", "npy", "gguf", "raw"];
    let mut container = dice.of(&containers);
    if container == "gguf" && kind.gguf.is_none() {
        container = "safetensors";
    }
    let dims: Vec<u64> = (0..1 + dice.below(3)).map(|_| 1 + dice.below(11)).collect();
    let [from, to] = [pattern(dice, dims.len()), pattern(dice, dims.len())];
    let resolve = |text: &str| {
        let named = Spec::parse(text).unwrap().resolve(Some(&dims), Some(kind.dtype)).unwrap();
        named.layout().clone()
    };
    let (src, dst, rows) = (resolve(&from), resolve(&to), TensorLayout::row_major(&dims).unwrap());
    let elements = Elements::same(kind.dtype.storage_bits().unwrap());
    let source = dice.bytes(storage(&src, elements.src_bits));
    let path = input(folder, container, &kind, src.capacity(), &source);
    let out = folder.join(format!("out.{container}"));
    let memory = dice.of(&[4096, 10_000, 1 << 20]);
    let request = Request::new().memory(memory).verify(true).force(true);
    let read =
        |text: &str, request: Request| request.from(spec(text)).dims(&dims).dtype(kind.dtype);
    let named = |path: &Path| -> std::path::PathBuf {
        if container == "raw" { format!("raw:{}", path.display()).into() } else { path.into() }
    };
    let what = || format!("{container} {} {dims:?}: {from} to {to} in {memory}", kind.npy);
    let ran = |from: &Path, out: &Path, request: Request| {
        let input =
            open(from, request.reading()).unwrap_or_else(|error| panic!("{}: {error}", what()));
        let done = Conversion::prepare(&input, out, request).and_then(|it| it.run(&()));
        done.unwrap_or_else(|error| panic!("{}: {error}", what()))
    };
    let shown = named(&out);
    let report = ran(&path, &shown, read(&from, request.clone()).to(spec(&to)));
    assert!(report.peak_memory() <= memory, "{}", what());
    let own = Reading::default();
    let whole = match container {
        "raw" => own.from(spec(&to)).dims(&dims).dtype(kind.dtype),
        _ => own,
    };
    let expected = naive(&src, &dst, elements, 0, &source);
    assert_eq!(stored(&shown, &whole), expected, "{}", what());
    // Converts back by the facts that the result records, if it records any.
    let back = folder.join(format!("back.{container}"));
    let request = match container {
        "safetensors" | "gguf" => request,
        _ => read(&to, request),
    };
    let back = named(&back);
    ran(&shown, &back, request.to(spec("row-major")));
    let origin = vec![0; dims.len()];
    let mut expected = vec![0; storage(&rows, elements.src_bits)];
    move_naively((&src, &origin), (&rows, &origin), &dims, elements, &source, &mut expected);
    let whole = match container {
        "raw" => Reading::default().dims(&dims).dtype(kind.dtype),
        _ => Reading::default(),
    };
    assert_eq!(stored(&back, &whole), expected, "back: {}", what());
    for name in containers {
        count(counts, name, name == container);
    }
}

#[test]
fn random_jobs_are_what_a_naive_loop_makes() {
    let number = |name: &str, otherwise: u64| {
        env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let usual = tilewright_testing::cases(10_000, 800) as u64;
    let (jobs, seed) = (number("TILEWRIGHT_JOBS", usual), number("TILEWRIGHT_SEED", SEED));
    let first = number("TILEWRIGHT_JOB", 0);
    let (folder, mut counts) = (folder(), Counts::new());
    for number in first..first + jobs {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut dice = Dice::new(seed, number);
            if let Some(job) = job(&mut dice, &mut counts) {
                by_plan(&mut dice, &job);
                by_part(&mut dice, &job);
                count(&mut counts, "in place", in_place(&mut dice, &job));
                count(&mut counts, "jobs", true);
            }
            if number % FILES == 0 {
                through_files(&mut dice, folder.path(), &mut counts);
            }
        }));
        if let Err(panic) = done {
            eprintln!("again: TILEWRIGHT_SEED={seed} TILEWRIGHT_JOB={number} TILEWRIGHT_JOBS=1");
            std::panic::resume_unwind(panic);
        }
    }
    let all: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    println!("{jobs} random jobs of seed {seed}: {}", all.join(", "));
    assert!(jobs < usual || counts.values().all(|count| *count > 0), "{counts:?}");
}
