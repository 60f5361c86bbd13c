//! `infer`: the layout that maps one file's array to another file's bytes.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tilewright::{
    Fill, Named, TensorLayout,
    files::{self, Input, Reading, Tensor},
    infer::{Found, Inference, infer},
    notation::notation,
    recognise,
};

use super::{NO, recognise as names};
use crate::{args::Infer, exit::ExitCode, failure::Failure, output::Output, streams};

/// The most bytes of one array.
const MOST: u64 = 1 << 30;

pub(super) fn run(args: &Infer, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let original = original(args)?;
    let packed = packed(args)?;
    let (answer, reversed) = inferred(&original, &packed);
    let (mut text, mut value, code) = match &answer {
        Inference::Found(found) => found_words(&original, found, quiet),
        Inference::Ambiguous { layouts, why } => {
            let layouts: Vec<Named> = layouts.iter().map(|one| original.named(one)).collect();
            let mut text = format!("ambiguous: {why}\n");
            layouts.iter().for_each(|one| text += &format!("{}\n", pattern(one)));
            let patterns: Vec<String> = layouts.iter().map(pattern).collect();
            let value = json!({ "answer": "ambiguous", "why": why, "patterns": patterns });
            (text, value, ExitCode::from(NO))
        }
        Inference::None { why } => {
            let value = json!({ "answer": "none", "why": why });
            (format!("none: {why}\n"), value, ExitCode::from(NO))
        }
        Inference::Undecided { why } => {
            let value = json!({ "answer": "undecided", "why": why });
            (format!("undecided: {why}\n"), value, ExitCode::from(NO))
        }
        // open set
        _ => return Err(Failure::usage("no answer")),
    };
    if reversed {
        text += "  the bytes of each number are in the other order\n";
    }
    if let Inference::Found(_) = answer {
        value["reversed"] = json!(reversed);
    }
    out.answer(&text, value)?;
    Ok(code)
}

/// What was found, and whether it was with the bytes of each number in the other order.
fn inferred(original: &Original, packed: &[u8]) -> (Inference, bool) {
    let Original { dims, width, .. } = original;
    let answer = infer(&original.bytes, dims, packed, *width);
    if let Inference::None { .. } = answer
        && let Inference::Found(found) = infer(&original.reversed(), dims, packed, *width)
    {
        return (Inference::Found(found), true);
    }
    (answer, false)
}

/// The array as it is known.
struct Original {
    bytes: Vec<u8>,
    dims: Vec<u64>,
    width: usize,
    known: Named,
}

impl Original {
    /// A layout of this array.
    fn named(&self, layout: &TensorLayout) -> Named {
        let known = &self.known;
        let bits = known.explicit_bits();
        Named::new("", layout.clone(), known.dtype(), bits, Fill::Unspecified)
    }

    /// The elements with the bytes of each number in the other order.
    fn reversed(&self) -> Vec<u8> {
        let complex = self.known.dtype().is_some_and(|dtype| dtype.name().starts_with('c'));
        let number = if complex { self.width / 2 } else { self.width };
        let mut bytes = self.bytes.clone();
        bytes.chunks_exact_mut(number.max(1)).for_each(<[u8]>::reverse);
        bytes
    }
}

fn original(args: &Infer) -> Result<Original, Failure> {
    let mut reading = Reading::default();
    if let Some(dims) = args.array.dims()? {
        reading = reading.dims(&dims);
    }
    if let Some((dtype, order)) = args.array.dtype_in_order()? {
        reading = reading.dtype(dtype);
        reading = order.map_or(reading.clone(), |order| reading.order(order));
    }
    let input = streams::open(&args.original, &reading)?;
    let tensor = tensor(&input, args)?;
    let known = tensor.layout().clone();
    let width = match known.element_bits() {
        Some(bits) if bits % 8 == 0 && tensor.refusal().is_none() => bits as usize / 8,
        _ => return Err(Failure::usage("--original: its elements are no whole bytes each")),
    };
    let stored = input.bytes(tensor, MOST)?;
    let dims = tensor.dims().to_vec();
    let bytes = row_major(stored, known.layout(), width)?;
    Ok(Original { bytes, dims, width, known })
}

/// The only tensor of a file, or the one that is asked for.
fn tensor<'a>(input: &'a Input, args: &Infer) -> Result<&'a Tensor, Failure> {
    let path = input.path().display();
    match (&args.tensor, input.tensors()) {
        (None, [one]) => Ok(one),
        (None, many) => {
            let count = many.len();
            Err(Failure::usage(format!("{path} holds {count} tensors; --tensor NAME says which")))
        }
        (Some(name), many) => many.iter().find(|tensor| tensor.name() == name).ok_or_else(|| {
            let names: Vec<&str> = many.iter().map(Tensor::name).collect();
            let names = names.join(", ");
            Failure::usage(format!("{path} holds no tensor {name}; there are {names}"))
        }),
    }
}

/// The elements in row-major order.
fn row_major(stored: Vec<u8>, layout: &TensorLayout, width: usize) -> Result<Vec<u8>, Failure> {
    if TensorLayout::row_major(layout.extents()).is_ok_and(|rows| rows == *layout) {
        return Ok(stored);
    }
    let mut bytes = Vec::with_capacity(stored.len());
    for index in 0..layout.size() {
        let at = usize::try_from(layout.offset_of(index)?).unwrap_or(usize::MAX);
        let cell = at.checked_mul(width).and_then(|at| stored.get(at..at + width));
        bytes.extend_from_slice(cell.unwrap_or_default());
    }
    Ok(bytes)
}

/// The bytes in the layout that is wanted: of a file that says where they are, or all.
fn packed(args: &Infer) -> Result<Vec<u8>, Failure> {
    let path = args.packed.as_path();
    let extension = path.extension().and_then(|end| end.to_str());
    let is_raw = path.as_os_str().as_encoded_bytes().starts_with(b"raw:");
    let says = || files::has_ending(path) || extension == Some("json");
    if !is_raw && (files::has_prefix(path) || says()) {
        let input = files::open(path, &Reading::default())?;
        return Ok(input.bytes(tensor(&input, args)?, MOST)?);
    }
    Ok(files::bytes(path, MOST)?)
}

fn found_words(original: &Original, found: &Found, quiet: bool) -> (String, Value, ExitCode) {
    let named = original.named(&found.layout);
    let mut text = format!("{}\n", pattern(&named));
    let formats = recognise(&named);
    for one in &formats {
        let _ = writeln!(text, "  {}", names::line(one));
    }
    let cells = found.layout.padding();
    let hex = found.padding.as_ref().map(|bytes| {
        bytes.iter().rev().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
    });
    if cells > 0 {
        let holds =
            hex.as_deref().map_or("holds various values".into(), |hex| format!("holds {hex}"));
        let _ = writeln!(text, "  {cells} elements of padding: it {holds}");
    }
    if !found.only && !quiet {
        text += "  other layouts were not excluded: the values repeat often\n";
    }
    let value = json!({
        "answer": "found",
        "pattern": pattern(&named),
        "layout": named.to_spec(),
        "formats": names::values(&named),
        "padding": cells,
        "fill": hex,
        "only": found.only,
    });
    (text, value, ExitCode::SUCCESS)
}

/// The layout as a pattern, which it has by the way it was found.
fn pattern(named: &Named) -> String {
    let printed = notation("pattern").and_then(|pattern| pattern.print(named));
    printed.unwrap_or_else(|_| named.to_spec())
}
