//! [`joined`]: several opened files as one input, such as the files of all ranks. Conversions by plans read them together.

use crate::{Error, Input, error, layout::names};

/// Joins inputs to one: the name of each tensor begins with the prefix of its input. The metadata are those of the first input.
///
/// # Errors
/// [usage](Error::is_usage) for an empty list, and for two tensors of one name.
///
/// ```
/// use tilewright_files::{Reading, inner::joined, open};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = || open(path, &Reading::default()).unwrap();
/// let both = joined(vec![("a.".into(), input()), ("b.".into(), input())]).unwrap();
/// assert_eq!(both.tensors().len(), 2 * input().tensors().len());
/// assert!(joined(vec![("a.".into(), input()), ("a.".into(), input())]).unwrap_err().is_usage());
/// ```
pub fn joined(inputs: Vec<(String, Input)>) -> Result<Input, Error> {
    let mut all: Option<Input> = None;
    for (prefix, mut input) in inputs {
        for tensor in &mut input.opened.tensors {
            tensor.name.insert_str(0, &prefix);
        }
        let Some(first) = &mut all else {
            all = Some(input);
            continue;
        };
        let before = first.opened.files.len();
        for mut tensor in input.opened.tensors {
            tensor.pieces.iter_mut().for_each(|piece| piece.file += before);
            first.opened.tensors.push(tensor);
        }
        first.opened.files.extend(input.opened.files);
    }
    let all = all.ok_or_else(|| error::usage("name at least one file to read"))?;
    match names::twice(all.opened.tensors.iter().map(|tensor| tensor.name.as_str())) {
        Some(name) => Err(error::usage(format!("two of the files have the tensor {name:?}"))),
        None => Ok(all),
    }
}
