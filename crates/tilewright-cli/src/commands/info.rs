//! `info`: the tensors of a file.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tilewright::files::{Error, Input, Reading, Tensor, has_prefix};

use crate::{
    args::Info,
    exit::ExitCode,
    failure::Failure,
    output::{Output, printable},
    size, streams,
};

pub(super) fn run(args: &Info, out: &mut Output) -> Result<ExitCode, Failure> {
    if !has_prefix(&args.file) && tilewright::module::is_module(&args.file) {
        return super::module::run(args, out);
    }
    if args.layout.is_some() {
        return Err(Failure::usage(format!(
            "{}: --layout is for HLO modules",
            args.file.display()
        )));
    }
    let mut reading = Reading::default();
    if let Some(dims) = args.array.dims()? {
        reading = reading.dims(&dims);
    }
    if let Some((dtype, order)) = args.array.dtype_in_order()? {
        reading = reading.dtype(dtype);
        reading = order.map_or(reading.clone(), |order| reading.order(order));
    }
    let input = streams::open(&args.file, &reading).map_err(refused)?;
    out.answer(&table(&input), value(args, &input))?;
    Ok(ExitCode::SUCCESS)
}

/// Only `info` reads modules too: a file that is nothing at all might have been meant as one.
fn refused(error: Error) -> Failure {
    let hint = "; an HLO module's text begins with `HloModule`, or the file's name ends with .txt, .hlo or .pb";
    let hint = if error.is_unrecognised() { hint } else { "" };
    Failure::from(error).with_hint(hint)
}

/// No column is wider than this many characters: what is longer pushes its own row to the right.
const WIDEST: usize = 60;

/// A longer name is cut; `--json` has it whole.
const LONGEST: usize = 240;

/// A row for each tensor, then the sums.
fn table(input: &Input) -> String {
    let rows: Vec<[String; 5]> = input.tensors().iter().map(row).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let mut text = String::new();
    for [name, dtype, dims, bytes, layout] in &rows {
        let _ = writeln!(
            text,
            "{name:a$}  {dtype:b$}  {dims:c$}  {bytes:>d$}  {layout}",
            a = widths[0],
            b = widths[1],
            c = widths[2],
            d = widths[3],
        );
    }
    let sum = |of: fn(&Tensor) -> u64| input.tensors().iter().map(of).fold(0, u64::saturating_add);
    let (bytes, padding) = (sum(Tensor::bytes), sum(Tensor::padding));
    let _ = writeln!(
        text,
        "{}, {}, {} of padding",
        match input.tensors().len() {
            1 => "1 tensor".into(),
            count => format!("{count} tensors"),
        },
        size::words(bytes),
        size::words(padding)
    );
    text
}

fn row(tensor: &Tensor) -> [String; 5] {
    let (dtype, layout) = match tensor.refusal() {
        Some(refusal) => (tensor.file_dtype().to_owned(), format!("no layout: {refusal}")),
        None => (tensor.dtype().to_string(), layout(tensor)),
    };
    let bytes = tensor.bytes().to_string();
    [name(tensor.name()), dtype, dims(tensor), bytes, printable(&layout).into_owned()]
}

/// The logical dims; beside them those of the file, where it has them in another order.
fn dims(tensor: &Tensor) -> String {
    match tensor.file_dims() {
        Some(own) => format!("{:?} (file: {own:?})", tensor.dims()),
        None => format!("{:?}", tensor.dims()),
    }
}

/// The name as it can be shown.
fn name(name: &str) -> String {
    let shown = printable(name);
    match shown.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown.into_owned(),
    }
}

/// The layout, and how much of it is padding.
fn layout(tensor: &Tensor) -> String {
    let share = match (tensor.padding(), tensor.bytes()) {
        (0, _) | (_, 0) => String::new(),
        (padding, bytes) => format!(", {:.1} % padding", 100.0 * padding as f64 / bytes as f64),
    };
    format!("{}{share}", tensor.layout().name())
}

fn value(args: &Info, input: &Input) -> Value {
    let tensors: Vec<Value> = input
        .tensors()
        .iter()
        .map(|tensor| {
            json!({
                "name": tensor.name(),
                "dtype": tensor.dtype().name(),
                "file_dtype": tensor.file_dtype(),
                "dims": tensor.dims(),
                "layout": tensor.refusal().is_none().then(|| tensor.layout().to_spec()),
                "refusal": tensor.refusal(),
                "shape": tensor.storage(),
                "file_dims": tensor.file_dims(),
                "bytes": tensor.bytes(),
                "padding_bytes": tensor.padding(),
            })
        })
        .collect();
    let metadata: serde_json::Map<String, Value> =
        input.metadata().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let file = args.file.to_string_lossy();
    json!({ "file": file, "format": input.format(), "tensors": tensors, "metadata": metadata })
}
