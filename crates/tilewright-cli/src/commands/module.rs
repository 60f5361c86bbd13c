//! `info` of an HLO module: what its entry takes and gives, and which arrays waste most by padding.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tilewright::{
    json::{least_padding, padding_cause},
    module,
    xla::{Buffer, Buffers, HloComputation, HloModule, ShapeIndex, Tiling, Unsized},
};

use crate::{args::Info, exit::ExitCode, failure::Failure, output::Output, size};

/// How many arrays the text lists.
const LISTED: usize = 20;

/// How many arrays the JSON gives reasons for; the search for a better layout takes its time.
const EXPLAINED: usize = 200;

/// The entry's arrays.
struct Entry<'a> {
    entry: &'a HloComputation,
    parameters: Vec<(u64, Buffers<'a>)>,
    results: Buffers<'a>,
    ranked: Buffers<'a>,
}

pub(super) fn run(args: &Info, out: &mut Output) -> Result<ExitCode, Failure> {
    if args.array.dims.is_some() || args.array.dtype.is_some() {
        return Err(Failure::usage(format!(
            "{}: a module says the dims and types of its arrays; --dims and --dtype are for raw files",
            args.file.display()
        )));
    }
    let tiling = args.layout.as_deref().map(tiling).transpose()?;
    let module = module::read(&args.file)?;
    let entry = module.entry().ok_or_else(|| {
        let (file, module) = (args.file.display(), &module.name);
        Failure::module(format!("{file}: module {module} has no entry computation"))
    })?;
    let parameters = entry.parameters().into_iter();
    let entry = Entry {
        entry,
        parameters: parameters
            .map(|one| (one.parameter.unwrap_or(0), one.buffers(tiling.as_ref())))
            .collect(),
        results: entry
            .root_instruction()
            .map_or_else(Buffers::default, |root| root.buffers(tiling.as_ref())),
        ranked: entry.buffers(tiling.as_ref()),
    };
    // A proto's names are any text, also such as a terminal would obey.
    let hidden = |c: char| c.is_control() && c != '\n';
    if out.is_json() {
        let arrays = entry.ranked.buffers.iter().enumerate().map(ranked);
        out.listing(entry.value(args, &module), "arrays", arrays)?;
    } else {
        out.text(&entry.text(args, &module).replace(hidden, "\u{fffd}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tiling(text: &str) -> Result<Tiling, Failure> {
    Tiling::parse(text).map_err(|error| {
        Failure::of(tilewright::Error::from(error).in_text(text)).about("--layout")
    })
}

impl Entry<'_> {
    fn text(&self, args: &Info, module: &HloModule) -> String {
        let mut text = format!("module {}, entry {}", module.name, self.entry.name);
        if let Some(layout) = &args.layout {
            let _ = write!(text, ", as if laid out by {layout}");
            if !self.ranked.not_applied.is_empty() {
                let _ = write!(text, " (not applied: {})", count(self.ranked.not_applied.len()));
            }
        }
        text.push('\n');
        for (number, buffers) in &self.parameters {
            list(&mut text, &format!("parameter {number}"), buffers, true);
        }
        list(&mut text, "result", &self.results, false);
        self.waste(&mut text);
        text
    }

    /// The arrays, those that waste most first, then the sums.
    fn waste(&self, text: &mut String) {
        let all = &self.ranked.buffers;
        for buffer in all.iter().take(LISTED) {
            let _ = match buffer.padding_bytes() {
                0 => writeln!(text, "{}, no padding: {}", size::words(buffer.bytes), name(buffer)),
                _ => padded(text, buffer),
            };
        }
        more(text, all.len());
        for buffer in self.ranked.not_applied.iter().take(LISTED) {
            let _ = writeln!(text, "{}: {}", not_applied(buffer), name(buffer));
        }
        more(text, self.ranked.not_applied.len());
        for one in &self.ranked.unsized_arrays {
            let (name, path) = (&one.instruction.name, path(&one.index));
            let _ = writeln!(text, "no size: {name}{path}: {}", one.error);
        }
        let (bytes, padding) = self.ranked.bytes();
        let (bytes, padding) = (words(bytes), words(padding));
        let _ = writeln!(text, "{}, {bytes}, {padding} of padding", count(all.len()));
    }

    /// All but the arrays.
    fn value(&self, args: &Info, module: &HloModule) -> Value {
        let (bytes, padding) = self.ranked.bytes();
        let parameters: Vec<Value> = (self.parameters.iter())
            .flat_map(|(number, buffers)| {
                values(buffers).map(move |mut value| {
                    value["parameter"] = json!(number);
                    value
                })
            })
            .collect();
        json!({
            "file": args.file.to_string_lossy(),
            "format": "hlo",
            "module": module.name,
            "entry": self.entry.name,
            "as_layout": args.layout,
            "parameters": parameters,
            "results": values(&self.results).collect::<Vec<_>>(),
            "not_applied": self.ranked.not_applied.iter().map(left).collect::<Vec<_>>(),
            "unsized": self.ranked.unsized_arrays.iter().map(unsized_array).collect::<Vec<_>>(),
            "bytes": u64::try_from(bytes).ok(),
            "padding_bytes": u64::try_from(padding).ok(),
        })
    }
}

fn words(bytes: u128) -> String {
    size::words(u64::try_from(bytes).unwrap_or(u64::MAX))
}

fn count(arrays: usize) -> String {
    if arrays == 1 { "1 array".into() } else { format!("{arrays} arrays") }
}

/// Says how many of a list are not shown.
fn more(text: &mut String, arrays: usize) {
    if let Some(more) = arrays.checked_sub(LISTED).filter(|more| *more > 0) {
        let _ = writeln!(
            text,
            "… {more} more {}; --json lists all",
            if more == 1 { "array" } else { "arrays" }
        );
    }
}

/// The path of a tuple's member, after a space; of anything else nothing.
fn path(index: &ShapeIndex) -> String {
    if index.is_empty() { String::new() } else { format!(" {index}") }
}

/// Why a layout is not applied to an array.
fn not_applied(buffer: &Buffer<'_>) -> String {
    format!("not applied: rank {}", buffer.array.dims.len())
}

/// A line for each array of one value.
fn list(text: &mut String, title: &str, buffers: &Buffers<'_>, named: bool) {
    let applied = buffers.buffers.iter().map(|one| (one, String::new()));
    let left = buffers.not_applied.iter().map(|one| (one, format!(", {}", not_applied(one))));
    for (buffer, note) in applied.chain(left) {
        let path = path(&buffer.index);
        let name = if named { format!(" {}", buffer.instruction.name) } else { String::new() };
        let (array, bytes) = (&buffer.array, size::words(buffer.bytes));
        let _ = writeln!(text, "{title}{path}:{name} {array}, {bytes}{note}");
    }
    for one in &buffers.unsized_arrays {
        let _ = writeln!(text, "{title}{}: {}", path(&one.index), one.error);
    }
}

/// `v.1 = parameter f32[2048,10]{1,0:T(8,128)}`, with the path of a tuple's member.
fn name(buffer: &Buffer<'_>) -> String {
    let one = buffer.instruction;
    format!("{}{} = {} {}", one.name, path(&buffer.index), one.opcode, buffer.array)
}

/// An array with padding: why, and what would pad less.
fn padded(text: &mut String, buffer: &Buffer<'_>) -> std::fmt::Result {
    let (padding, bytes) = (size::words(buffer.padding_bytes()), size::words(buffer.bytes));
    writeln!(text, "{bytes}, {padding} of padding, {}: {}", buffer.factor(), name(buffer))?;
    match buffer.advice() {
        Err(error) => writeln!(text, "    {error}"),
        Ok(advice) => {
            advice.causes.iter().try_for_each(|cause| writeln!(text, "    {cause}"))?;
            writeln!(text, "    {}", advice.suggestion())
        }
    }
}

fn array(buffer: &Buffer<'_>) -> Value {
    json!({
        "instruction": buffer.instruction.name,
        "opcode": buffer.instruction.opcode,
        "index": buffer.index.as_slice(),
        "shape": buffer.array.to_string(),
        "bytes": buffer.bytes,
        "padding_bytes": buffer.padding_bytes(),
    })
}

/// One that the layout is not applied to, with why.
fn left(buffer: &Buffer<'_>) -> Value {
    let mut value = array(buffer);
    value["not_applied"] = json!(format!("rank {}", buffer.array.dims.len()));
    value
}

/// The arrays of one value.
fn values<'a>(buffers: &'a Buffers<'_>) -> impl Iterator<Item = Value> + 'a {
    buffers.buffers.iter().map(array).chain(buffers.not_applied.iter().map(left))
}

/// The same with the factor and, of those that waste most, the causes and the better layout.
fn ranked((rank, buffer): (usize, &Buffer<'_>)) -> Value {
    let mut value = array(buffer);
    value["factor"] = json!(buffer.factor().ratio());
    if rank < EXPLAINED
        && let Ok(advice) = buffer.advice()
    {
        value["causes"] = advice.causes.iter().map(padding_cause).collect();
        value["better"] = least_padding(&advice);
    }
    value
}

fn unsized_array(one: &Unsized<'_>) -> Value {
    json!({
        "instruction": one.instruction.name,
        "index": one.index.as_slice(),
        "reason": one.error.to_string(),
    })
}
