//! What an [`Assembly`] says, element by element; and the laws of its parts.

use std::collections::BTreeMap;

use tilewright_core::Dtype;
use tilewright_recipe::{Assembly, Digit, Origin, Part, Tensor};

/// A tensor with its bytes, in row-major order.
pub(crate) type Array = (Tensor, Vec<u8>);

/// Bytes of an element of the types that the tests use.
pub(crate) fn width(dtype: Dtype) -> usize {
    dtype.storage_bits().unwrap() as usize / 8
}

/// The places of all elements that digits count, in the source and in the result.
pub(crate) fn places(digits: &[Digit]) -> Vec<(u64, u64)> {
    digits.iter().fold(vec![(0, 0)], |all, digit| {
        let next = |&(source, made): &(u64, u64)| {
            (0..digit.extent).map(move |at| (source + at * digit.source, made + at * digit.made))
        };
        all.iter().flat_map(next).collect()
    })
}

/// How many times each element of a tensor of the result is written.
pub(crate) fn counts(extents: &[u64], parts: &[Part]) -> Vec<u32> {
    let mut counts = vec![0; extents.iter().product::<u64>() as usize];
    for part in parts {
        for (_, made) in places(&part.digits) {
            counts[(part.offset + made) as usize] += 1;
        }
    }
    counts
}

fn element(sources: &[Array], tensor: usize, at: u64) -> &[u8] {
    let (head, bytes) = &sources[tensor];
    let width = width(head.dtype);
    &bytes[at as usize * width..][..width]
}

/// An element in another element type that holds the same value.
fn exactly(element: &[u8], from: Dtype, to: Dtype) -> Result<Vec<u8>, String> {
    match (from, to) {
        (Dtype::Bf16, Dtype::F32) => Ok([&[0, 0], element].concat()),
        (Dtype::F32, Dtype::Bf16) if element[..2] == [0, 0] => Ok(element[2..].to_vec()),
        (Dtype::F32, Dtype::Bf16) => Err("bits would be lost".into()),
        _ => panic!("no test widens {from} to {to}"),
    }
}

/// Carries an assembly out. Every element of every result is written once, and what must be equal is.
pub(crate) fn run(
    assembly: &Assembly,
    sources: &[Array],
) -> Result<BTreeMap<String, Array>, String> {
    for equal in &assembly.equal {
        for (first, second) in places(&equal.digits) {
            let at = |origin: Origin, place: u64| match origin {
                Origin::Source { tensor, offset } => Ok(element(sources, tensor, offset + place)),
                Origin::Fill(bits) => Err(bits),
            };
            let first = at(equal.first, first).expect("the first side is a tensor");
            let holds = match at(equal.second, second) {
                Ok(second) => first == second,
                Err(bits) => first == &bits.to_le_bytes()[..first.len()],
            };
            if !holds {
                return Err(equal.why.clone());
            }
        }
    }
    let mut results = BTreeMap::new();
    for made in &assembly.made {
        let counts = counts(&made.extents, &made.parts);
        assert!(counts.iter().all(|count| *count == 1), "{}: {counts:?}", made.name);
        let width = width(made.dtype);
        let mut bytes = vec![0; counts.len() * width];
        for part in &made.parts {
            for (source, at) in places(&part.digits) {
                let to = &mut bytes[(part.offset + at) as usize * width..][..width];
                match part.origin {
                    Origin::Source { tensor, offset } => {
                        let (from, own) =
                            (element(sources, tensor, offset + source), sources[tensor].0.dtype);
                        match own == made.dtype {
                            true => to.copy_from_slice(from),
                            false => to.copy_from_slice(&exactly(from, own, made.dtype)?),
                        }
                    }
                    Origin::Fill(bits) => to.copy_from_slice(&bits.to_le_bytes()[..width]),
                }
            }
        }
        let head = Tensor::new(made.name.clone(), made.dtype, made.extents.clone());
        assert!(
            results.insert(made.name.clone(), (head, bytes)).is_none(),
            "{} is made twice",
            made.name
        );
    }
    Ok(results)
}

/// How often each element of each source is read for a result.
pub(crate) fn uses(assembly: &Assembly, tensors: &[Tensor]) -> Vec<Vec<u32>> {
    let mut uses: Vec<Vec<u32>> =
        tensors.iter().map(|tensor| vec![0; tensor.elements().unwrap() as usize]).collect();
    for part in assembly.made.iter().flat_map(|made| &made.parts) {
        if let Origin::Source { tensor, offset } = part.origin {
            for (source, _) in places(&part.digits) {
                uses[tensor][(offset + source) as usize] += 1;
            }
        }
    }
    uses
}
