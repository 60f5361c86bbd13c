//! Measures conversions from a store to a store beside a copy by the same client, in turns. The store is a server in a process of
//! its own on this machine, without encryption.
//!
//! `cargo run --release -p tilewright-files --features remote --example remote_speed [-- MiB [NAME…]]`, by default with 512 MiB and
//! all results: three layouts, and a recipe that fuses matrices. Each round prints the seconds of wall time, and those of CPU time
//! of the client and of the server, if the system reports them. Then follow the medians of the ratios of the rounds: the time of
//! the copy divided by that of the conversion, by wall time and by the client's CPU time.

use std::{
    error::Error,
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::sync_channel,
    thread,
    time::Instant,
};

use tilewright_files::{Assembling, Conversion, Packaging, Reading, Request, Writer, open};
use tilewright_notation::Spec;
use tilewright_recipe::{Recipe, Sizes};
use tilewright_remote::{Location, Object, Upload, set_variable};
use tilewright_testing::Objects;

const ROUNDS: usize = 5;

/// The results that are measured: layouts, and the recipe.
const RESULTS: [&str; 4] = ["zN", "{1,0:T(8,128)(2,1)}", "col-major", FUSED];
const FUSED: &str = "fused";

/// The word that makes this program the server.
const SERVE: &str = "serve";

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
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mib = words.first().and_then(|word| word.parse().ok()).unwrap_or(512);
    if words.get(1).is_some_and(|word| word == SERVE) {
        return serve(mib);
    }
    let server = Server::start(mib)?;
    println!("{mib} MiB, {} cores, {ROUNDS} rounds", thread::available_parallelism()?);
    let is_wanted = |name: &&str| words.len() < 2 || words.iter().any(|word| word == *name);
    for name in RESULTS.into_iter().filter(is_wanted) {
        let mut ratios = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            let copied = server.timed(&copy)?;
            let made = server.timed(&|| if name == FUSED { fuse() } else { convert(name) })?;
            println!("{name:10} copy {}, convert {}", said(copied), said(made));
            ratios[0].push(copied[0] / made[0]);
            ratios[1].push(copied[1] / made[1]);
        }
        let [wall, cpu] = ratios.map(|mut all| {
            all.sort_by(f64::total_cmp);
            all[ROUNDS / 2]
        });
        println!("{name:10} {wall:.2} of a copy, {cpu:.2} by the client's CPU time");
    }
    Ok(())
}

fn said([wall, client, server]: [f64; 3]) -> String {
    format!("{wall:.2} s (CPU {client:.2} + {server:.2} s)")
}

/// Serves a checkpoint until standard input ends.
fn serve(mib: u64) -> Outcome<()> {
    let server = Objects::start();
    server.put("bucket/in.safetensors", &model(mib)?);
    server.variables().iter().for_each(|(name, value)| println!("{name}={value}"));
    println!();
    let _ = std::io::stdin().lines().next();
    Ok(())
}

/// The process of the server.
struct Server(Child);

impl Server {
    /// Starts this program as the server, and uses its variables.
    fn start(mib: u64) -> Outcome<Server> {
        let mut command = Command::new(std::env::current_exe()?);
        let command = command.args([&mib.to_string(), SERVE]);
        let mut server = Server(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        for line in BufReader::new(server.0.stdout.take().ok_or("no output")?).lines() {
            let line = line?;
            let Some((name, value)) = line.split_once('=') else { break };
            set_variable(name, value);
        }
        Ok(server)
    }

    /// Returns the seconds that a function takes: wall time, CPU time of this process, and of the server.
    fn timed(&self, run: &dyn Fn() -> Outcome<()>) -> Outcome<[f64; 3]> {
        let cpu = || [cpu("self"), cpu(&self.0.id().to_string())];
        let (begun, before) = (Instant::now(), cpu());
        run()?;
        let (wall, after) = (begun.elapsed().as_secs_f64(), cpu());
        Ok([wall, after[0] - before[0], after[1] - before[1]])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Returns the seconds of CPU time of a process so far; 0 if the system does not report it.
fn cpu(process: &str) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.
}

/// Returns the bytes of a checkpoint of matrices of 32 MiB.
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
