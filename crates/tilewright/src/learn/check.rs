//! [`check`]: whether memory holds a checkpoint, by a plan and fingerprints.
//!
//! Each box of the plan has a fingerprint in the file and one in memory, of the same elements in the same order. So nothing is
//! converted, and a rank is compared alone. Padding and constants are not in the file and are not compared.

use std::collections::{BTreeSet, HashMap};

use tilewright_core::{Dtype, Layout, Mode, TensorLayout};
use tilewright_files::Input;
use tilewright_fingerprint::{Array, Key};
use tilewright_learn::{Code, Error, Learned, MapDigit};

use super::assembly::{Moved, moves, of_rank, ranks, sources};

/// The first tensor of a checkpoint that memory does not hold.
///
/// ```
/// use tilewright::learn::Unlike;
/// let found = Unlike { tensor: "up".into(), result: "gate_up".into(), rank: 1, coordinate: vec![5, 7], differing: 1 };
/// assert_eq!(found.to_string(), "up differs in gate_up of rank 1: 1 elements, the first is [5, 7]");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// The tensor of the checkpoint.
    pub tensor: String,
    /// The array in memory.
    pub result: String,
    /// The rank that has it.
    pub rank: usize,
    /// The coordinate of the first element of the tensor that differs in this box.
    pub coordinate: Vec<u64>,
    /// The number of elements of the box that differ.
    pub differing: u64,
}

impl std::fmt::Display for Unlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unlike { tensor, result, rank, coordinate, differing } = self;
        let [tensor, result] = [tensor, result].map(|name| crate::ask::words::printable(name));
        write!(
            f,
            "{tensor} differs in {result} of rank {rank}: {differing} elements, the first is {coordinate:?}"
        )
    }
}

/// The arrays of one rank in memory, by their names: the bytes of each in storage order.
pub type RankMemory<'a> = HashMap<String, &'a [u8]>;

/// Returns the first tensor of a checkpoint that differs from memory; `None` if memory holds what the plan makes of the checkpoint.
///
/// `memory` has the ranks that are compared, with their numbers. One tensor of the file is read at a time.
///
/// # Errors
/// Those of reading; [mismatch](Error::is_mismatch) if the file lacks a source, memory an array of its rank or a byte of one, or the
/// plan a rank of memory; [unsupported](Error::is_unsupported) for a plan with elements that are not explained.
///
/// ```
/// use tilewright::{files::{Reading, open}, learn::{Learned, check}};
/// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let nothing = Learned { sources: vec![], results: vec![] };
/// assert_eq!(check(&nothing, &open(model, &Reading::default())?, &[])?, None);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn check(
    learned: &Learned,
    input: &Input,
    memory: &[(usize, RankMemory<'_>)],
) -> Result<Option<Unlike>, Error> {
    let places = sources(learned, input)?;
    explained(learned, "compared")?;
    known_ranks(learned, memory.iter().map(|(rank, _)| *rank))?;
    let held = held(learned, memory)?;
    let tensors: Vec<_> = input.tensors().iter().chain(input.tied().map(|tied| tied.1)).collect();
    for ((source, place), boxes) in learned.sources.iter().zip(places).zip(&held) {
        if boxes.is_empty() {
            continue;
        }
        let tensor = tensors[place];
        if *tensor.layout().layout() != TensorLayout::row_major(tensor.dims())? {
            let said = format!("{} is not stored row-major; convert it", source.name);
            return Err(Error::unsupported(said));
        }
        let data = input.bytes(tensor, u64::MAX >> 1)?;
        for one in boxes {
            let bits = Code::of(source.dtype)?.bits();
            if one.bits != bits {
                let said = format!("{} has elements of {bits} bits, not {}", source.name, one.bits);
                return Err(Error::mismatch(said));
            }
            if !one.agrees(&data)? {
                return Ok(Some(one.unlike(&data, &source.name, &source.extents)));
            }
        }
    }
    Ok(None)
}

/// Refuses plans that do not say what all of memory is, so it cannot be `used`: compared, or written.
pub(super) fn explained(learned: &Learned, used: &str) -> Result<(), Error> {
    let Some(partial) = learned.results.iter().find(|learnt| learnt.unexplained.is_some()) else {
        return Ok(());
    };
    let name = &partial.tensor.name;
    Err(Error::unsupported(format!(
        "{name} has elements that are not explained, so memory cannot be {used}; learn it whole"
    )))
}

/// Refuses ranks that the plan has not, or that are given twice.
pub(super) fn known_ranks(
    learned: &Learned,
    ranks_of_memory: impl Iterator<Item = usize>,
) -> Result<(), Error> {
    let (count, mut seen) = (ranks(learned), BTreeSet::new());
    for rank in ranks_of_memory {
        if rank >= count {
            let said = format!("memory of rank {rank}, and the plan has {count} ranks, from 0");
            return Err(Error::mismatch(said));
        }
        if !seen.insert(rank) {
            return Err(Error::mismatch(format!("memory of rank {rank} is given twice")));
        }
    }
    Ok(())
}

/// A box of a tensor in an array of a rank.
struct HeldBox<'a> {
    rank: usize,
    result: &'a str,
    bits: u32,
    memory: &'a [u8],
    moved: Moved,
}

/// Returns the boxes that hold each source.
fn held<'a>(
    learned: &'a Learned,
    memory: &'a [(usize, RankMemory<'a>)],
) -> Result<Vec<Vec<HeldBox<'a>>>, Error> {
    let mut held: Vec<Vec<HeldBox<'_>>> = learned.sources.iter().map(|_| Vec::new()).collect();
    for (rank, arrays) in memory {
        for result in of_rank(learned, *rank) {
            let bits = Code::of(result.learnt.unit)?.bits();
            let name = result.name;
            let memory = *arrays.get(name).ok_or_else(|| {
                Error::mismatch(format!("the memory of rank {rank} lacks {name}"))
            })?;
            let want = (result.size as u64 * u64::from(bits)).div_ceil(8);
            if memory.len() as u64 != want {
                let have = memory.len();
                let said =
                    format!("{name} of rank {rank} has {have} bytes, and {want} were learned");
                return Err(Error::mismatch(said));
            }
            for moved in moves(&result)? {
                let source = moved.source;
                held[source].push(HeldBox { rank: *rank, result: name, bits, memory, moved });
            }
        }
    }
    Ok(held)
}

impl HeldBox<'_> {
    /// Returns whether the fingerprints of the box in the file and in memory are equal.
    fn agrees(&self, data: &[u8]) -> Result<bool, Error> {
        let dtype = Dtype::named(&format!("u{}", self.bits)).ok_or_else(|| {
            Error::unsupported(format!(
                "fingerprints of {}-bit elements are not defined",
                self.bits
            ))
        })?;
        let [file, memory] = self.layouts(data.len())?;
        let of = |layout: &TensorLayout, bytes: &[u8]| {
            Array::new(layout, dtype)?.fingerprint(bytes, &Key::default())
        };
        Ok(of(&file, data)? == of(&memory, self.memory)?)
    }

    /// Returns the layouts of the box in the file and in memory: digits that are one dim of the file are one dim of both.
    fn layouts(&self, bytes: usize) -> Result<[TensorLayout; 2], Error> {
        let mut digits = self.moved.digits.clone();
        digits.sort_by_key(|digit| digit.source);
        let mut dims: Vec<Vec<MapDigit>> = Vec::new();
        for digit in digits {
            let follows = |dim: &Vec<MapDigit>| {
                let last = dim[dim.len() - 1];
                digit.source == last.source * last.extent as i64
            };
            match dims.last_mut().filter(|dim| follows(dim)) {
                Some(dim) => dim.push(digit),
                None => dims.push(vec![digit]),
            }
        }
        dims.reverse();
        let extents: Vec<u64> =
            dims.iter().map(|dim| dim.iter().map(|digit| digit.extent).product()).collect();
        let counts: Vec<usize> = dims.iter().map(Vec::len).collect();
        let side = |step: fn(&MapDigit) -> i64, offset: i64, bytes: usize| {
            let modes = dims.iter().flatten().map(|digit| Mode::new(digit.extent, step(digit)));
            let layout =
                Layout::nested(&modes.collect::<Vec<Mode>>(), &counts)?.with_offset(offset)?;
            TensorLayout::new(&extents, &layout, bytes as u64 * 8 / u64::from(self.bits))
        };
        let file = side(|digit| digit.source, self.moved.offset, bytes)?;
        let memory = side(|digit| digit.result, self.moved.at, self.memory.len())?;
        Ok([file, memory])
    }

    /// Returns the first element that differs.
    fn unlike(&self, data: &[u8], tensor: &str, extents: &[u64]) -> Unlike {
        let bits = self.bits as usize;
        let unit = |bytes: &[u8], place: i64| {
            let at = place as usize * bits;
            let bytes = bytes.get(at / 8..(at + bits).div_ceil(8)).unwrap_or(&[]);
            let word = bytes.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
            word >> (at % 8) & (u64::MAX >> (64 - bits))
        };
        let (mut first, mut differing) = (i64::MAX, 0);
        self.moved.each(&mut |element, place| {
            if unit(data, element) != unit(self.memory, place) {
                (first, differing) = (first.min(element), differing + 1);
            }
        });
        let coordinate = super::report::coordinate(first as u64, extents);
        let (tensor, result, rank) = (tensor.to_owned(), self.result.to_owned(), self.rank);
        Unlike { tensor, result, rank, coordinate, differing }
    }
}
