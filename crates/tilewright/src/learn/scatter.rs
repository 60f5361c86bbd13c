//! [`scatter`]: sparse changes of a checkpoint's tensor, written straight to every place of an engine's memory that holds them.
//!
//! Only the changed elements are touched. Law: memory is that of an engine which loads the changed checkpoint.

use std::collections::HashMap;

use tilewright_learn::{Chosen, Code, Error, Learned};

use super::{
    assembly::{OfRank, all_moves, of_rank},
    check::{explained, known_ranks},
};

/// Arrays of a rank that are changed in place: the bytes of each in storage order.
///
/// ```
/// use std::collections::HashMap;
/// use tilewright::learn::LiveArrays;
/// let mut rank = HashMap::from([("norm".to_owned(), vec![0u8; 4])]);
/// assert_eq!(rank.array("norm").unwrap().len(), 4);
/// assert!(rank.array("embed").is_none());
/// ```
pub trait LiveArrays {
    /// Returns the bytes of the array of this name. Two names may have the same bytes.
    ///
    /// ```
    /// use tilewright::learn::LiveArrays;
    /// let mut rank = std::collections::HashMap::from([("norm".to_owned(), vec![1u8])]);
    /// rank.array("norm").unwrap()[0] = 7;
    /// assert_eq!(rank["norm"], [7]);
    /// ```
    fn array(&mut self, name: &str) -> Option<&mut [u8]>;
}

impl LiveArrays for HashMap<String, Vec<u8>> {
    fn array(&mut self, name: &str) -> Option<&mut [u8]> {
        self.get_mut(name).map(Vec::as_mut_slice)
    }
}

/// Writes new values of elements of a checkpoint's tensor to all places of memory that hold them, and returns their number.
///
/// `elements` are row-major indices. `values` are their new bytes, of the tensor's element type. Of two values of one element
/// the last counts. Nothing is written before all memory was checked.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the plan lacks the tensor or a rank, memory an array or a byte of one, or if there are more
/// elements than values; [out-of-range](Error::is_out_of_range) for an element beyond the tensor; [unsupported](Error::is_unsupported)
/// for elements below a byte, and for a plan with elements that are not explained: they may be computed from the tensor.
///
/// ```
/// use std::collections::HashMap;
/// use tilewright::{Dtype, learn::*};
/// let space = Space::new(Sources::numbered([("w".into(), vec![2, 3])])?, 128)?;
/// let w = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![2, 3] };
/// // The loader transposes.
/// let packed = NamedArray { name: "packed".into(), dtype: Dtype::U8, extents: vec![3, 2] };
/// let learnt = learn_result(&space, &[Dtype::U8], packed, &mut |load| {
///     let bytes = space.coded(0, load, Dtype::U8)?;
///     Ok([0, 3, 1, 4, 2, 5].map(|i| bytes[i]).to_vec())
/// })?;
/// let learned = Learned { sources: vec![w], results: vec![learnt] };
/// let mut memory = HashMap::from([("packed".to_owned(), vec![0u8; 6])]);
/// assert_eq!(scatter(&learned, "w", &[1, 5], &[7, 8], &mut [(0, &mut memory)])?, 2);
/// assert_eq!(memory["packed"], [0, 0, 7, 0, 0, 8]);
/// assert!(scatter(&learned, "w", &[6], &[1], &mut [(0, &mut memory)]).unwrap_err().is_out_of_range());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn scatter(
    learned: &Learned,
    tensor: &str,
    elements: &[u64],
    values: &[u8],
    memory: &mut [(usize, &mut dyn LiveArrays)],
) -> Result<u64, Error> {
    let source = learned.sources.iter().position(|source| source.name == tensor);
    let source =
        source.ok_or_else(|| Error::mismatch(format!("the plan lacks the tensor {tensor}")))?;
    let width = checked(learned, source, elements, values)?;
    explained(learned, "written")?;
    known_ranks(learned, memory.iter().map(|(rank, _)| *rank))?;
    let (mut held, mut boxes) = (Vec::new(), 0);
    for (place, (rank, arrays)) in memory.iter_mut().enumerate() {
        for result in of_rank(learned, *rank) {
            let mut moves = all_moves(&result)?;
            moves.retain(|moved| moved.source == source);
            if !moves.is_empty() {
                fits(&result, *rank, arrays.array(result.name))?;
                boxes += moves.len();
                held.push((place, result.name, moves));
            }
        }
    }
    let (chosen, mut written) = (Chosen::new(elements, boxes), 0);
    for (place, name, moves) in held {
        let (rank, arrays) = &mut memory[place];
        let bytes = arrays.array(name).ok_or_else(|| lacks(*rank, name))?;
        for moved in &moves {
            written += chosen.write(moved.part(), values, width, bytes);
        }
    }
    Ok(written)
}

/// Returns the bytes of an element, after elements and values were checked.
fn checked(
    learned: &Learned,
    source: usize,
    elements: &[u64],
    values: &[u8],
) -> Result<usize, Error> {
    let tensor = &learned.sources[source];
    let (name, bits) = (&tensor.name, Code::of(tensor.dtype)?.bits() as usize);
    if !bits.is_multiple_of(8) {
        let said = format!("{name} has elements of {bits} bits; only whole bytes are written");
        return Err(Error::unsupported(said));
    }
    let size: u64 = tensor.extents.iter().product();
    if let Some(outside) = elements.iter().find(|element| **element >= size) {
        let said = format!("element {outside} of {name}, which has {size}; count them row-major");
        return Err(Error::out_of_range(said));
    }
    if values.len() != elements.len() * bits / 8 {
        let (have, want) = (values.len(), elements.len());
        let said = format!("{want} indices for {have} bytes of values of {} bytes", bits / 8);
        return Err(Error::mismatch(said));
    }
    Ok(bits / 8)
}

/// Checks that memory has all bytes of a result.
fn fits(result: &OfRank<'_>, rank: usize, array: Option<&mut [u8]>) -> Result<(), Error> {
    let have = array.ok_or_else(|| lacks(rank, result.name))?.len() as u64;
    let bits = result.size as u64 * u64::from(Code::of(result.learnt.unit)?.bits());
    let (want, name) = (bits.div_ceil(8), result.name);
    if have == want {
        return Ok(());
    }
    let said = format!("{name} of rank {rank} has {have} bytes, and {want} were learned");
    Err(Error::mismatch(said))
}

fn lacks(rank: usize, name: &str) -> Error {
    Error::mismatch(format!("the memory of rank {rank} lacks {name}"))
}

#[cfg(test)]
mod tests {
    use tilewright_core::Dtype;
    use tilewright_learn::{Constants, LearnedResult, NamedArray, Sources, Unexplained, describe};

    use super::*;

    /// The plan of a loader that reverses `size` bytes, half of them at each of two ranks.
    fn reversed(size: u64) -> Learned {
        let tensor = |name: &str, extents: &[u64]| NamedArray {
            name: name.into(),
            dtype: Dtype::U8,
            extents: extents.to_vec(),
        };
        let sources = Sources::numbered([("w".into(), vec![size])]).unwrap();
        let ids: Vec<i64> = (1..=size as i64).rev().collect();
        let result = LearnedResult {
            tensor: tensor("rank{T}/r", &[2, size / 2]),
            unit: Dtype::U8,
            description: describe(&ids, &sources).unwrap(),
            constants: Constants::default(),
            unexplained: None,
        };
        Learned { sources: vec![tensor("w", &[size])], results: vec![result] }
    }

    #[test]
    fn reversed_maps_are_few_boxes_and_written_exactly() {
        let learned = reversed(2000);
        for rank in 0..2 {
            let boxes: usize =
                of_rank(&learned, rank).iter().map(|one| all_moves(one).unwrap().len()).sum();
            assert!(boxes <= 16, "{boxes} boxes");
        }
        let mut ranks = [0, 1].map(|_| HashMap::from([("r".to_owned(), vec![0u8; 1000])]));
        let elements = [0, 7, 999, 1000, 1999];
        let [first, second] = &mut ranks;
        let memory: &mut [(usize, &mut dyn LiveArrays)] = &mut [(0, first), (1, second)];
        assert_eq!(scatter(&learned, "w", &elements, &[1, 2, 3, 4, 5], memory).unwrap(), 5);
        let mut want = vec![0; 2000];
        elements
            .iter()
            .zip(1..)
            .for_each(|(element, value)| want[1999 - *element as usize] = value);
        assert_eq!([&ranks[0]["r"][..], &ranks[1]["r"]].concat(), want);
    }

    #[test]
    fn plans_with_unexplained_elements_are_refused() {
        let mut learned = reversed(4);
        learned.results[0].unexplained = Some(Unexplained { place: 0, count: 1, seen: vec![] });
        let mut rank = HashMap::from([("r".to_owned(), vec![9u8; 2])]);
        let error = scatter(&learned, "w", &[0], &[1], &mut [(1, &mut rank)]).unwrap_err();
        assert!(error.is_unsupported() && rank["r"] == [9, 9], "{error}");
        let said = "rank{T}/r has elements that are not explained, so memory cannot be written";
        assert!(error.to_string().starts_with(said), "{error}");
    }
}
