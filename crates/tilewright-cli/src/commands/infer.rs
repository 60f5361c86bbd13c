//! `infer`: finds the layout that maps one file's array to another file's bytes.

use tilewright::{
    Named, TensorLayout,
    ask::{Inferred, Known},
    files::{self, Input, Reading, Tensor},
    layouts::Counted,
};

use crate::{args::Infer, exit::ExitCode, failure::Failure, output::Output, streams};

/// The largest number of bytes of one array.
const MOST: u64 = 1 << 30;

pub(super) fn run(args: &Infer, out: &mut Output) -> Result<ExitCode, Failure> {
    let Original { bytes, dims, width, known } = original(args, out)?;
    let (dtype, bits) = (known.dtype(), known.explicit_bits());
    let known = Known { bytes: &bytes, dims: &dims, width, dtype, bits };
    Ok(out.say(&Inferred::of(&known, &packed(args)?))?)
}

/// The known array.
struct Original {
    bytes: Vec<u8>,
    dims: Vec<u64>,
    width: usize,
    known: Named,
}

fn original(args: &Infer, out: &Output) -> Result<Original, Failure> {
    let input = streams::open(&args.original, &args.array.reading()?)?;
    input.warnings().for_each(|warning| out.remark(&warning));
    let tensor = tensor(&input, args)?;
    let known = tensor.layout().clone();
    let width = match known.element_bits() {
        Some(bits) if bits % 8 == 0 && tensor.refusal().is_none() => bits as usize / 8,
        _ => return Err(Failure::usage(format!("--original: {}", why_not(tensor)))),
    };
    let stored = input.bytes(tensor, MOST)?;
    let dims = tensor.dims().to_vec();
    let bytes = row_major(stored, known.layout(), width)?;
    Ok(Original { bytes, dims, width, known })
}

/// Returns why single elements of a tensor cannot be searched for.
fn why_not(tensor: &Tensor) -> String {
    match (tensor.refusal(), tensor.layout().element_bits()) {
        (Some(refusal), _) => format!("its layout cannot be given: {refusal}"),
        (None, Some(bits)) => format!("its elements take {bits} bits, not whole bytes each"),
        (None, None) => {
            let dtype = tensor.dtype();
            format!(
                "elements of {dtype} are stored in blocks, but the search needs single elements"
            )
        }
    }
}

/// Returns the only tensor of a file, or the requested one.
fn tensor<'a>(input: &'a Input, args: &Infer) -> Result<&'a Tensor, Failure> {
    let path = input.path().display();
    match (&args.tensor, input.tensors()) {
        (None, [one]) => Ok(one),
        (None, many) => {
            let count = Counted(many.len() as u64, "tensor");
            Err(Failure::usage(format!("{path} holds {count}; choose one with --tensor NAME")))
        }
        (Some(name), many) => many.iter().find(|tensor| tensor.name() == name).ok_or_else(|| {
            let names: Vec<&str> = many.iter().map(Tensor::name).collect();
            let names = names.join(", ");
            Failure::usage(format!("{path} holds no tensor {name}; there are {names}"))
        }),
    }
}

/// Returns the elements in row-major order.
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

/// Returns the bytes in the unknown layout: those of a tensor if the file is a container, else all of the file.
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
