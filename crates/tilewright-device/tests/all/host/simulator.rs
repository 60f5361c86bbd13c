//! Builds the simulator with the kernels of a test, and runs plans on it.

use std::{
    collections::hash_map::DefaultHasher,
    fmt::Write as _,
    fs,
    hash::{Hash, Hasher},
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, SystemTime},
};

use tempfile::TempDir;
use tilewright_device::Target;

use super::report::{Answer, answers};

/// The number of kernels in a file: the time of compilers grows faster than in proportion.
pub(crate) const IN_A_FILE: usize = 24;

/// The number of files that are compiled, and of simulators that run, at a time.
const AT_A_TIME: usize = 2;

/// The time for which an unused compiled object or linked program is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Compiler checks for shifts by the width and more, and for indices beyond the registers' arrays, if the compiler
/// supports them.
const CHECKS: [&str; 2] = [
    "-fsanitize=shift,bounds,signed-integer-overflow,integer-divide-by-zero",
    "-fsanitize-undefined-trap-on-error",
];

/// The files of the simulator, by name.
const FILES: [(&str, &str); 6] = [
    ("simulator.cpp", include_str!("simulator/simulator.cpp")),
    ("report.h", include_str!("simulator/report.h")),
    ("memory.h", include_str!("simulator/memory.h")),
    ("traffic.h", include_str!("simulator/traffic.h")),
    ("block.h", include_str!("simulator/block.h")),
    ("mutant.h", include_str!("simulator/mutant.h")),
];

/// The number that represents the address of an array, its bytes, and the seed of its previous contents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) seed: u64,
}

/// One launch: a kernel by its number in the simulator.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: usize,
    pub(crate) blocks: u64,
    pub(crate) params: Vec<u64>,
    /// The blocks that run; all if it is empty.
    pub(crate) only: Vec<u64>,
    /// True for the last of the launches that fill the destination, before others overwrite it.
    pub(crate) fills: bool,
}

/// The check after the last launch.
#[derive(Clone, Debug)]
pub(crate) enum After {
    /// All bytes of the destination, which are compared.
    Expect(Vec<u8>),
    /// The bytes that were written are stored in a file of this name.
    Runs(PathBuf),
}

/// The launches of one plan over two arrays.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) src: Array,
    pub(crate) dst: Array,
    /// True if kernels may read the destination.
    pub(crate) reads: bool,
    /// Bytes of the destination that must not change.
    pub(crate) keep: Vec<Range<u64>>,
    /// The active change of the text.
    pub(crate) mutant: Option<u32>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) after: After,
}

/// Returns bytes `from..from + count` of an array's noise, as the simulator makes them.
pub(crate) fn noise(seed: u64, from: u64, count: u64) -> Vec<u8> {
    let word = |word: u64| {
        let z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let z = z.wrapping_add((word + 1).wrapping_mul(0xD134_2543_DE82_EF95));
        let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ z >> 31).to_le_bytes()
    };
    let words = from / 8..(from + count).div_ceil(8);
    let skipped = (from % 8) as usize;
    words.flat_map(word).skip(skipped).take(count as usize).collect()
}

/// A simulator with some kernels.
#[derive(Debug)]
pub(crate) struct Simulator {
    folder: TempDir,
    /// The linked program.
    program: PathBuf,
}

/// Returns whether a C++ compiler is installed; in CI there is one.
pub(crate) fn has_compiler() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        let mut asked = Command::new("c++");
        let asked = asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success()) && cfg!(unix)
    });
    if !found {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "`c++` does not start; CI needs a compiler of C++");
        println!("skipped: `c++` does not start, so there is nothing to compile kernels with");
    }
    found
}

impl Simulator {
    /// Builds the simulator of these texts of the dialect, which are its kernels 0, 1 …; `None` without a compiler.
    pub(crate) fn build(texts: &[String]) -> Option<Simulator> {
        Simulator::with(texts, Target::Host.header())
    }

    /// Builds a simulator with another dialect.
    pub(crate) fn with(texts: &[String], header: &str) -> Option<Simulator> {
        if !has_compiler() {
            return None;
        }
        let mut simulator = Simulator { folder: TempDir::new().unwrap(), program: PathBuf::new() };
        for (name, text) in FILES {
            simulator.write(name, text);
        }
        simulator.write("tilewright_device.h", &format!("#pragma once\n{header}"));
        simulator.write("table.cpp", &table(texts.len()));
        let mut sources = vec!["table.cpp".to_owned()];
        for (number, texts) in texts.chunks(IN_A_FILE).enumerate() {
            sources.push(format!("kernels{number}.cpp"));
            simulator.write(&sources[number + 1], &kernels(number * IN_A_FILE, texts));
        }
        let checks = checks();
        let own = simulator.object("simulator.cpp", &["-O2"]);
        let kernels = in_turns(&sources, |source| simulator.object(source, checks));
        simulator.program = simulator.linked(&[vec![own], kernels].concat());
        Some(simulator)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Returns the object of a source: compiled, or kept from an earlier run with the same compiler, flags and texts.
    fn object(&self, source: &str, flags: &[&str]) -> PathBuf {
        let read = |name: &str| fs::read_to_string(self.path(name)).unwrap();
        let headers = FILES.map(|(name, _)| name).map(read);
        let texts = (read(source), headers, read("tilewright_device.h"));
        let mut hash = DefaultHasher::new();
        (texts, flags, compiler()).hash(&mut hash);
        self.kept(
            format!("{:016x}.o", hash.finish()),
            &[&["-std=c++17", "-c", source], flags].concat(),
        )
    }

    /// Returns the program of objects: linked, or kept from an earlier run with the same objects.
    fn linked(&self, objects: &[PathBuf]) -> PathBuf {
        let mut hash = DefaultHasher::new();
        objects.hash(&mut hash);
        let objects: Vec<&str> = objects.iter().map(|object| object.to_str().unwrap()).collect();
        self.kept(format!("{:016x}", hash.finish()), &objects)
    }

    /// Returns the kept file of this name. The compiler makes it from these words if there is none.
    fn kept(&self, name: String, words: &[&str]) -> PathBuf {
        let kept = kept_files().join(name);
        // A program that another test runs cannot be opened for writing.
        let used = fs::File::open(&kept);
        if used.and_then(|file| file.set_modified(SystemTime::now())).is_err() {
            // Another test may make the same at the same time; each renames its own file.
            let own = self.folder.path().file_name().unwrap().to_string_lossy();
            let made = format!("{}-{own}", kept.display());
            self.c(&[words, &["-o", &made]].concat());
            fs::rename(made, &kept).unwrap();
        }
        kept
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("c++");
        command.args(words).current_dir(self.folder.path());
        command
    }

    fn c(&self, words: &[&str]) {
        let output = self.command(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "c++ {}:\n{said}", words.join(" "));
    }

    /// Returns the answers, in the order of the runs.
    pub(crate) fn run<R: Orders>(&self, runs: &[R]) -> Vec<Answer> {
        let share = runs.len().div_ceil(AT_A_TIME).max(1);
        let shares: Vec<(usize, &[R])> = runs.chunks(share).enumerate().collect();
        let answers = in_turns(&shares, |(number, runs)| self.answers(*number, runs)).concat();
        assert_eq!(answers.len(), runs.len(), "a plan without an answer");
        answers
    }

    fn answers<R: Orders>(&self, number: usize, runs: &[R]) -> Vec<Answer> {
        let (mut orders, mut expected) = (String::new(), Vec::new());
        let bytes = format!("expected{number}");
        for run in runs {
            run.orders(&bytes, &mut orders, &mut expected);
        }
        let file = format!("orders{number}");
        self.write(&file, &orders);
        fs::write(self.path(&bytes), &expected).unwrap();
        let mut asked = Command::new(&self.program);
        let output = asked.arg(&file).current_dir(self.folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the simulator ends with {}: {said}", output.status);
        answers(&String::from_utf8_lossy(&output.stdout))
    }

    /// Returns the bytes that a plan wrote, as ascending offsets with the bytes from each on.
    pub(crate) fn runs(&self, file: &Path) -> Vec<(u64, Vec<u8>)> {
        let bytes = fs::read(self.path(&file.to_string_lossy())).unwrap();
        let (mut at, mut runs) = (0, Vec::new());
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        while at < bytes.len() {
            let (offset, count) = (number(at), number(at + 8) as usize);
            runs.push((offset, bytes[at + 16..at + 16 + count].to_vec()));
            at += 16 + count;
        }
        runs
    }
}

/// Returns the compiler's version text.
fn compiler() -> &'static str {
    static SAID: OnceLock<String> = OnceLock::new();
    SAID.get_or_init(|| {
        let said = Command::new("c++").args(["-v"]).output().unwrap();
        String::from_utf8_lossy(&said.stderr).into_owned()
    })
}

/// Returns the flags of the checks, or none if the compiler does not support them.
fn checks() -> &'static [&'static str] {
    static TAKEN: OnceLock<bool> = OnceLock::new();
    let taken = *TAKEN.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("empty.cpp"), "int main() { return 0; }\n").unwrap();
        let mut asked = Command::new("c++");
        asked.args(CHECKS).args(["empty.cpp", "-o", "empty"]).current_dir(folder.path());
        asked.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    });
    if taken { &CHECKS } else { &[] }
}

/// Returns the folder of compiled objects and linked programs. The first test of a process removes those that no run used for a week.
fn kept_files() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulator");
        fs::create_dir_all(&folder).unwrap();
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let used = entry.metadata().and_then(|metadata| metadata.modified());
            if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > KEPT)) {
                // Another process may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
        folder
    })
}

/// Applies a function to all items, some at a time, and returns the results in order.
fn in_turns<T: Sync, U: Send>(all: &[T], of: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let of = &of;
    let mut given: Vec<(usize, U)> = thread::scope(|scope| {
        let worker = |from: usize| {
            let own = all.iter().enumerate().skip(from).step_by(AT_A_TIME);
            scope.spawn(move || own.map(|(at, one)| (at, of(one))).collect::<Vec<_>>())
        };
        let workers: Vec<_> = (0..AT_A_TIME).map(worker).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    given.sort_by_key(|(at, _)| *at);
    given.into_iter().map(|(_, one)| one).collect()
}

/// Returns a file of kernels from this number on, each in its own namespace, with its own line numbers.
fn kernels(first: usize, texts: &[String]) -> String {
    let mut file = "#include \"tilewright_device.h\"\n#include \"mutant.h\"\n".to_owned();
    for (at, text) in texts.iter().enumerate() {
        let names: String = text.lines().filter_map(defined).map(undefined).collect();
        let _ = writeln!(file, "namespace k{} {{\n#line 1\n{text}\n}}\n{names}", first + at);
    }
    file
}

/// Returns the name that a line defines.
fn defined(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("#define ")?;
    name.split(|at: char| !at.is_alphanumeric() && at != '_').next()
}

fn undefined(name: &str) -> String {
    format!("#undef {name}\n")
}

/// Returns the table of kernels by their numbers.
fn table(count: usize) -> String {
    let mut file = "#include \"tilewright_device.h\"\n".to_owned();
    for number in 0..count {
        let _ = writeln!(file, "namespace k{number} {{ extern const tw_code tw_move; }}");
    }
    let codes: String = (0..count).map(|number| format!("&k{number}::tw_move, ")).collect();
    file + &format!(
        "extern const tw_code *const tw_codes[];\nextern const u32 tw_count;\n\
         const tw_code *const tw_codes[] = {{{codes}nullptr}};\nconst u32 tw_count = {count};\n"
    )
}

/// Input of a simulator for one plan, in its text form.
pub(crate) trait Orders: Sync {
    /// Adds the text; expected bytes are appended to the file `bytes`.
    fn orders(&self, bytes: &str, orders: &mut String, expected: &mut Vec<u8>);
}

impl Run {
    /// Writes the text before the launches.
    pub(super) fn arrays(&self, orders: &mut String) {
        for (word, Array { base, bytes, seed }) in [("source", self.src), ("destination", self.dst)]
        {
            let _ = writeln!(orders, "{word} {base} {bytes} {seed}");
        }
        if self.reads {
            orders.push_str("reads\n");
        }
        for range in &self.keep {
            let _ = writeln!(orders, "keep {} {}", range.start, range.end);
        }
    }

    /// Writes the text after the launches.
    pub(super) fn after(&self, bytes: &str, orders: &mut String, expected: &mut Vec<u8>) {
        match &self.after {
            After::Expect(wanted) => {
                let _ = writeln!(orders, "expect {bytes} {}", expected.len());
                expected.extend(wanted);
            }
            After::Runs(file) => {
                let _ = writeln!(orders, "runs {}", file.display());
            }
        }
    }
}

/// Writes the beginning of a plan.
pub(super) fn begin(name: &str, mutant: Option<u32>, orders: &mut String) {
    let _ = writeln!(orders, "plan {name}");
    if let Some(mutant) = mutant {
        let _ = writeln!(orders, "mutant {mutant} {MUTANT_SECONDS}");
    }
}

impl Orders for Run {
    fn orders(&self, bytes: &str, orders: &mut String, expected: &mut Vec<u8>) {
        begin(&self.name, self.mutant, orders);
        self.arrays(orders);
        for Launch { kernel, blocks, params, only, fills } in &self.launches {
            if !only.is_empty() {
                let _ = writeln!(orders, "only {}{}", only.len(), numbers(only));
            }
            let _ =
                writeln!(orders, "launch {kernel} {blocks} {}{}", params.len(), numbers(params));
            if *fills {
                orders.push_str("filled\n");
            }
        }
        self.after(bytes, orders, expected);
        orders.push_str("end\n");
    }
}

/// The processor time after which a changed kernel counts as endless.
const MUTANT_SECONDS: u32 = 10;

pub(super) fn numbers(all: &[u64]) -> String {
    all.iter().map(|number| format!(" {number}")).collect()
}
