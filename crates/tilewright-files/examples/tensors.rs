//! Prints the tensors of many files, a line of JSON for each file: `cargo run -p tilewright-files --example tensors -- FOLDER`
//! reads all files of a folder, in the order of their names. `tests/oracle/readers.py` compares the output with that of other
//! readers.

use std::{error::Error, path::PathBuf};

use serde_json::{Map, Value, json};
use tilewright_files::{Input, Reading, open};

/// The largest number of bytes of a tensor that is read.
const MOST: u64 = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let said = match open(&path, &Reading::default()).and_then(|input| tensors(&input)) {
            Ok(tensors) => json!({ "tensors": tensors }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        println!("{said}");
    }
    Ok(())
}

/// Returns element type, dims and checksum of every tensor, by name.
fn tensors(input: &Input) -> Result<Map<String, Value>, tilewright_files::Error> {
    let mut all = Map::new();
    for tensor in input.tensors() {
        let mut sum = flate2::Crc::new();
        sum.update(&input.bytes(tensor, MOST)?);
        let facts = json!([tensor.file_dtype(), tensor.storage(), sum.sum()]);
        all.insert(tensor.name().to_owned(), facts);
    }
    Ok(all)
}
