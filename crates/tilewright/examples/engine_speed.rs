//! Speed of uses of a plan on one thread: `engine_speed [N]`, with 10⁸ bf16 elements by default, in oneDNN's blocks of 64 × 2.
//!
//! - The floor of `scatter` of 3 % of the elements: 5 × faster than to convert the checkpoint and to copy the result.
//! - The floor of `check`: 0.7 of the speed of fingerprints of the same bytes, those of the file and those of memory.
//!
//! Every number is the mean of eight rounds, in seconds of processor time of the process, threads that ended included.

use std::{collections::HashMap, error::Error, fs, path::Path};

use tilewright::{
    Dtype, TensorLayout,
    files::{Reading, Request, Writer, open},
    fingerprint::{Array, Key},
    learn::{
        Constants, Description, Learned, LearnedResult, MapDigit, MapTerm, NamedArray, Origin,
        RankMemory, Sources, TermAxis, array_layout, check, pack, scatter,
    },
    notation::Spec,
};

const COLUMNS: u64 = 8192;

fn main() -> Result<(), Box<dyn Error>> {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000_000u64);
    let rows = n.div_ceil(COLUMNS).next_multiple_of(64);
    let folder = tempfile::tempdir()?;
    measure(folder.path(), &learned(rows)?, rows * COLUMNS)
}

/// Returns the plan of a loader that stores `w` in blocks of 64 rows and 2 columns.
fn learned(rows: u64) -> Result<Learned, Box<dyn Error>> {
    let digits = |list: &[(u64, i64, i64)]| TermAxis::Digits {
        first: 0,
        count: list.iter().map(|one| one.0).product(),
        digits: list
            .iter()
            .map(|&(extent, source, result)| MapDigit { extent, source, result })
            .collect(),
    };
    let c = COLUMNS as i64;
    let axes = vec![
        digits(&[(64, c, 2), (rows / 64, 64 * c, 64 * c)]),
        digits(&[(2, 1, 1), (COLUMNS / 2, 2, 128)]),
    ];
    let of = |name: &str, extents: &[u64]| NamedArray {
        name: name.into(),
        dtype: Dtype::Bf16,
        extents: extents.to_vec(),
    };
    let sources = Sources::numbered([("w".into(), vec![rows, COLUMNS])])?;
    let term = MapTerm { origin: Origin::Source(0), offset: 0, at: 0, axes, xor: vec![] };
    let result = LearnedResult {
        tensor: of("packed", &[rows / 64, COLUMNS / 2, 64, 2]),
        unit: Dtype::Bf16,
        description: Description::of(rows * COLUMNS, sources, vec![term], Origin::Zero)?,
        constants: Constants::default(),
        unexplained: None,
    };
    Ok(Learned { sources: vec![of("w", &[rows, COLUMNS])], results: vec![result] })
}

fn measure(folder: &Path, learned: &Learned, size: u64) -> Result<(), Box<dyn Error>> {
    let [model, packed] = ["model.safetensors", "packed.safetensors"].map(|name| folder.join(name));
    let data: Vec<u8> =
        (0..2 * size).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect();
    let spec = Spec::parse(&format!("bf16[{},{COLUMNS}] row-major", size / COLUMNS))?;
    let layout = spec.resolve(None, None)?;
    Writer::new(Request::new()).array("w", &layout, &data)?.write(&model, &())?;
    let input = open(&model, &Reading::default())?;
    let mut memory = HashMap::from([("packed".to_owned(), vec![0u8; data.len()])]);

    let convert = mean(|| {
        let _ = fs::remove_file(&packed);
        let _ = pack(learned, &input, &packed, Request::new().threads(1), &())?;
        Ok(())
    })?;
    let copy = mean(|| {
        let made = open(&packed, &Reading::default())?;
        let bytes = made.bytes(&made.tensors()[0], u64::MAX >> 1)?;
        memory.get_mut("packed").ok_or("packed")?.copy_from_slice(&bytes);
        Ok(())
    })?;
    println!("{size} elements: convert {convert:.3} s, copy {copy:.3} s");

    let layout =
        array_layout(&learned.results[0].description, Some(Dtype::Bf16)).ok_or("no layout")?;
    let rows = TensorLayout::row_major(&learned.sources[0].extents)?;
    let printed = mean(|| {
        let data = input.bytes(&input.tensors()[0], u64::MAX >> 1)?;
        let file = Array::new(&rows, Dtype::Bf16)?.fingerprint(&data, &Key::default())?;
        let blocks = Array::new(layout.stored().layout(), Dtype::Bf16)?;
        assert!(file == blocks.fingerprint(&memory["packed"], &Key::default())?);
        Ok(())
    })?;
    let live = [(0, RankMemory::from([("packed".to_owned(), &*memory["packed"])]))];
    let checked = mean(|| {
        assert!(check(learned, &input, &live)?.is_none());
        Ok(())
    })?;
    let ratio = printed / checked;
    println!(
        "fingerprints {printed:.3} s, check {checked:.3} s: {ratio:.2} of their speed, floor 0.7"
    );

    // Three per cent of the elements, in ascending order and in none.
    let sorted: Vec<u64> = (0..size / 100 * 3).map(|k| k * 100 / 3).collect();
    let count = sorted.len() as u64;
    let mixed: Vec<u64> = (0..count).map(|k| sorted[(k * 1_000_003 % count) as usize]).collect();
    let values = vec![7; 2 * sorted.len()];
    for (order, elements) in [("sorted", &sorted), ("mixed", &mixed)] {
        let seconds = mean(|| {
            let written = scatter(learned, "w", elements, &values, &mut [(0, &mut memory)])?;
            assert_eq!(written, count);
            Ok(())
        })?;
        let ratio = (convert + copy) / seconds;
        println!(
            "scatter of {count} {order} elements {seconds:.3} s: {ratio:.1} times faster, floor 5"
        );
    }
    Ok(())
}

/// Returns the mean processor time of eight rounds.
fn mean(mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    const ROUNDS: usize = 8;
    let before = seconds();
    (0..ROUNDS).try_for_each(|_| work())?;
    Ok((seconds() - before) / ROUNDS as f64)
}

/// Returns the processor time of this process, in the kernel's ticks of 10 ms.
fn seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks =
        stat.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
