//! Measures, in seconds of processor time, decoding and describing of a map of n elements (10⁸ without an argument), and writing to the places of 3 % of them beside a copy of all: `learn_speed [N] [FORM]`.
//!
//! FORM is `packed` (oneDNN's blocks), `rows` (a transposed tensor), `ragged` (padded blocks) or `experts` (many small tensors).

use tilewright_core::Dtype;
use tilewright_learn::{Chosen, Decoder, Error, Origin, Sources, Space, ZERO, describe};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let n = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(100_000_000usize);
    let form = arguments.next().unwrap_or_else(|| "packed".into());
    let columns = 8192i64;
    let rows = n as i64 / columns / 64 * 64 + if form == "ragged" { 36 } else { 0 };
    let sources = match form.as_str() {
        "experts" => Sources::numbered(
            (0..64).map(|e| (format!("e.{e}.w"), vec![rows as u64 / 64, columns as u64])),
        )?,
        _ => Sources::numbered([("w".into(), vec![rows as u64, columns as u64])])?,
    };
    let space = Space::new(sources, 128)?;
    let ids = map(&form, rows, columns);
    let loads: Vec<Vec<u8>> = (0..space.loads()).map(|load| values(&space, &ids, load)).collect();
    let start = seconds();
    let mut decoder = Decoder::new(&space, Dtype::Bf16, ids.len())?;
    loads.iter().try_for_each(|load| decoder.add(load))?;
    let decoded = decoder.finish()?;
    let decode = seconds() - start;
    let start = seconds();
    let learned = describe(&decoded.ids, space.sources())?;
    let describe = seconds() - start;
    let last = learned.sources().list()[0].size() as u64;
    let chosen = (0..ids.len() as u64 / 100 * 3).map(|k| k * 33 % ids.len() as u64);
    let chosen: Vec<u64> = chosen.filter(|element| *element < last).collect();
    let values = vec![7; 2 * chosen.len()];
    let mut memory = loads[0].clone();
    let start = seconds();
    let (chosen, mut found) = (Chosen::new(&chosen, learned.terms().len()), 0);
    learned.parts(&mut |part| {
        if part.origin == Origin::Source(0) {
            found += chosen.write(part, &values, 2, &mut memory);
        }
    })?;
    let scatter = seconds() - start;
    let start = seconds();
    memory.copy_from_slice(&loads[1]);
    let copy = seconds() - start;
    let (n, terms, integers) = (ids.len(), learned.terms().len(), learned.integers());
    println!(
        "{form}: {n} elements, {} loads, decode {decode:.2} s, describe {describe:.2} s, {terms} terms, {integers} integers; {found} places written in {scatter:.2} s, a copy {copy:.2} s",
        space.loads()
    );
    Ok(())
}

/// Returns the numbers of a result.
fn map(form: &str, rows: i64, columns: i64) -> Vec<i64> {
    let at = |row: i64, column: i64| 1 + row * columns + column;
    let size = rows * columns;
    match form {
        "rows" => (0..size).map(|p| at(p % rows, p / rows)).collect(),
        "experts" => {
            (0..64).flat_map(|e| (0..size / 64).map(move |p| 1 + e * (size / 64 + 1) + p)).collect()
        }
        _ => {
            let blocks = if form == "ragged" { (rows + 63) / 64 } else { rows / 64 };
            let of = |p: i64| {
                let (k0, n0, k, n) = (p % 2, p / 2 % 64, p / 128 % (columns / 2), p / 64 / columns);
                if n * 64 + n0 < rows { at(n * 64 + n0, 2 * k + k0) } else { ZERO }
            };
            (0..blocks * 64 * columns).map(of).collect()
        }
    }
}

/// Returns the values of a load.
fn values(space: &Space, ids: &[i64], load: u32) -> Vec<u8> {
    let value = |id: &i64| if *id < 0 { 0 } else { 0x3F80 + space.digit(*id, load) as u16 };
    ids.iter().flat_map(|id| value(id).to_le_bytes()).collect()
}

/// Returns the processor time of this process, in the kernel's ticks of 10 ms.
fn seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks =
        stat.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
