//! Measures conversions from a store to a store beside a copy by the same client, in turns; the store is a server of this process.
//!
//! `cargo run --release -p tilewright-files --features remote --example remote_speed [-- MiB]`, by default with 512 MiB. It prints
//! the layouts and the recipe of the result, seconds of wall time (and of CPU time of this process, the server included, if the system reports it), and the median of the
//! ratios of the rounds: the time of the copy divided by that of the conversion.

use std::{error::Error, fs, sync::mpsc::sync_channel, thread, time::Instant};

use tilewright_files::{Assembling, Conversion, Packaging, Reading, Request, Writer, open};
use tilewright_notation::Spec;
use tilewright_recipe::{Recipe, Sizes};
use tilewright_remote::{Location, Object, Upload, set_variable};
use tilewright_testing::Objects;

const ROUNDS: usize = 5;

/// The number of bytes that the copy reads at once, by several requests.
const WINDOW: usize = 64 << 20;

const SOURCE: &str = "s3://bucket/in.safetensors";
const RESULT: &str = "s3://bucket/out.safetensors";

/// Two matrices of each layer become one.
const RECIPE: &str = r#"
[[map]]
from = ["layers.{n}.gate : i h", "layers.{n}.up : i' h"]
to = "layers.{n}.gate_up : (i + i') h"
"#;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mib: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(512);
    let server = Objects::start();
    server.variables().iter().for_each(|(name, value)| set_variable(name, value));
    server.put("bucket/in.safetensors", &model(mib)?);
    println!("{mib} MiB, {} cores, {ROUNDS} rounds", thread::available_parallelism()?);
    for name in ["zN", "{1,0:T(8,128)(2,1)}", "col-major", "fused"] {
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let copied = timed(&copy)?;
            let converted = timed(&|| if name == "fused" { fuse() } else { convert(name) })?;
            println!(
                "{name:10} copy {:.2} s ({:.2} s CPU), convert {:.2} s ({:.2} s CPU)",
                copied.0, copied.1, converted.0, converted.1
            );
            ratios.push(copied.0 / converted.0);
        }
        ratios.sort_by(f64::total_cmp);
        println!("{name:10} {:.2} of a copy", ratios[ROUNDS / 2]);
    }
    Ok(())
}

/// Returns the bytes of a checkpoint of matrices of 32 MiB and vectors.
fn model(mib: u64) -> Outcome<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("in.safetensors");
    let matrix = Spec::parse("bf16[4096,4096] row-major")?.resolve(None, None)?;
    let data: Vec<u8> =
        (0..32u64 << 20).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
    let mut own: Vec<Vec<u8>> = Vec::new();
    for number in 0..mib / 32 {
        let mut rotated = data.clone();
        rotated.rotate_left(number as usize);
        own.push(rotated);
    }
    let mut writer = Writer::new(Request::new());
    for (number, bytes) in own.iter().enumerate() {
        let of = ["gate", "up"][number % 2];
        writer = writer.array(format!("layers.{}.{of}", number / 2), &matrix, bytes)?;
    }
    writer.write(&path, &())?;
    Ok(fs::read(path)?)
}

/// Returns the seconds of wall and CPU time that a function takes.
fn timed(run: &dyn Fn() -> Outcome<()>) -> Outcome<(f64, f64)> {
    let (begun, before) = (Instant::now(), cpu());
    run()?;
    Ok((begun.elapsed().as_secs_f64(), cpu() - before))
}

/// Returns the seconds of CPU time of this process so far; 0 if the system does not report it.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.
}

/// Copies the object: a thread reads while this one writes.
fn copy() -> Outcome<()> {
    let object = Object::open(&Location::parse(SOURCE)?)?;
    let len = object.len();
    let mut upload = Upload::begin(&Location::parse(RESULT)?, (len, 0), 128 << 20, true)?;
    let (send, pieces) = sync_channel(1);
    thread::scope(|scope| -> Outcome<()> {
        scope.spawn(move || {
            let mut at = 0;
            while at < len {
                let mut bytes = vec![0; WINDOW.min((len - at) as usize)];
                let read = object.read_at(&mut bytes, at);
                at += bytes.len() as u64;
                if send.send(read.map(|()| bytes)).is_err() {
                    return;
                }
            }
        });
        for piece in pieces {
            upload.write(&piece?)?;
        }
        Ok(())
    })?;
    Ok(upload.commit()?)
}

fn convert(spec: &str) -> Outcome<()> {
    let input = open(SOURCE, &Reading::default())?;
    let request = Request::new().to(Spec::parse(spec)?).force(true);
    Conversion::prepare(&input, RESULT, request)?.run(&())?;
    Ok(())
}

fn fuse() -> Outcome<()> {
    let input = open(SOURCE, &Reading::default())?;
    let assembly = Recipe::parse(RECIPE)?.solve(&input.recipe_tensors(), None, &Sizes::new())?;
    let (request, packaging) = (Request::new().force(true), Packaging::default());
    Assembling::prepare(&input, &assembly, RESULT, request, &packaging)?.run(&())?;
    Ok(())
}
