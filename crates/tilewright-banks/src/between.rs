//! Finds the swizzle that turns one layout into another.
//!
//! Law: `Sw` is returned iff `Sw(A(c)) = B(c)` for every coordinate `c`, and it is the first such swizzle in the order
//! of [`fix`](crate::fix()). If there is none, coordinates are returned that rule out every swizzle.
//!
//! The search keeps a list of known coordinates. It takes the first swizzle that agrees with all of them and compares
//! it on the whole layout; if it fails, the coordinate of the difference joins the list. The search therefore looks at
//! few coordinates, whatever the size.
//!
//! # Matrices
//!
//! Finds the invertible matrix of bits that turns one layout into another, where CuTe's family of swizzles has none.
//!
//! Law: `M` is returned iff `M(A(c)) = B(c)` for every coordinate `c`. No such matrix exists iff for some coordinates
//! the xor of A's offsets is 0 and the xor of B's is not, or the other way. These coordinates are the witness.
//!
//! Each coordinate is an equation over bits. The search solves the equations that it has and compares the solution on
//! the whole layout; if that fails, the coordinate of the difference adds an equation. At most 62 are independent.

use tilewright_core::{Error, LinearLayout, Swizzle, TensorLayout};

use crate::{Change, fix::in_order, spread::row_major};

/// The most elements that are compared one by one, where no faster comparison exists.
const ONE_BY_ONE: u64 = 1 << 16;

/// A coordinate and its offsets by both layouts.
///
/// ```
/// use tilewright_banks::Sample;
/// let sample = Sample { coord: vec![1, 0], from: 64, to: 72 };
/// assert_eq!(sample.from ^ sample.to, 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The coordinate.
    pub coord: Vec<u64>,
    /// The offset by the first layout.
    pub from: u64,
    /// The offset by the second layout.
    pub to: u64,
}

/// The result of [`swizzle_between`] and [`matrix_between`](crate::matrix_between()).
///
/// ```
/// use tilewright_banks::{Between, swizzle_between};
/// use tilewright_core::{TensorLayout, layout};
/// let of = |layout| TensorLayout::of(&layout);
/// let (rows, turned) = (of(layout!("(2,2):(2,1)")), of(layout!("(2,2):(1,2)")));
/// let Between::None(samples) = swizzle_between(&rows, &turned)? else { panic!("none does") };
/// assert_eq!((samples[0].coord.as_slice(), samples[0].from, samples[0].to), (&[1, 0][..], 2, 1));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// The swizzle that turns the first layout into the second.
    Swizzle(Swizzle),
    /// No swizzle of the searched family agrees with all of these coordinates.
    None(Vec<Sample>),
}

/// Finds the swizzle that turns the offsets of one layout into those of another, or coordinates that rule out every one.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the extents differ, [illegal](Error::is_illegal) for negative offsets,
/// [undecided](Error::is_undecided) if the first layout has a swizzle, the two are not both linear over bits, and there
/// are more than 65,536 elements.
///
/// ```
/// use tilewright_banks::{Between, swizzle_between};
/// use tilewright_core::{Swizzle, TensorLayout, layout};
/// let of = |layout| TensorLayout::of(&layout);
/// let (rows, atom) = (of(layout!("(8,64):(64,1)")), of(layout!("Sw<3,3,3> o (8,64):(64,1)")));
/// assert_eq!(swizzle_between(&rows, &atom)?, Between::Swizzle(Swizzle::new(3, 3, 3)?));
/// assert_eq!(swizzle_between(&atom, &atom)?, Between::Swizzle(Swizzle::IDENTITY));
/// assert!(swizzle_between(&rows, &of(layout!("(8,8):(8,1)"))).unwrap_err().is_mismatch());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn swizzle_between(from: &TensorLayout, to: &TensorLayout) -> Result<Between, Error> {
    let both = Both::new(from, to)?;
    let mut samples = Vec::new();
    for coord in both.corners() {
        samples.push(both.sample(coord)?);
    }
    for swizzle in in_order(0, both.top()) {
        if !samples.iter().all(|sample| swizzle.apply(sample.from) == sample.to) {
            continue;
        }
        match both.differs(swizzle)? {
            None => return Ok(Between::Swizzle(swizzle)),
            Some(coord) => samples.push(both.sample(coord)?),
        }
    }
    Ok(Between::None(fewest(samples, both.top())))
}

fn is_linear(tensor: &TensorLayout) -> bool {
    let layout = tensor.layout();
    let whole = (0..tensor.rank()).all(|dim| layout.axis_size(dim) == Some(tensor.extents()[dim]));
    tensor.is_strided() && whole && LinearLayout::of_layout(layout).is_ok()
}

/// Both layouts, with the comparisons that the searches need.
pub(crate) struct Both<'a> {
    from: &'a TensorLayout,
    to: &'a TensorLayout,
    /// Set if both are linear over bits: then they agree everywhere iff they agree at single bits.
    linear: bool,
}

impl<'a> Both<'a> {
    pub(crate) fn new(from: &'a TensorLayout, to: &'a TensorLayout) -> Result<Both<'a>, Error> {
        if from.extents() != to.extents() {
            let numbers = [from.size().into(), to.size().into()];
            let legal = "a swizzle moves elements and keeps the extents";
            return Err(Error::mismatch("arrays of {} and {} elements", numbers, legal));
        }
        Ok(Both { from, to, linear: is_linear(from) && is_linear(to) })
    }

    /// Returns the coordinates with one bit set, and the last coordinate of each dim.
    pub(crate) fn corners(&self) -> Vec<Vec<u64>> {
        let extents = self.from.extents();
        let zero = vec![0; extents.len()];
        if extents.contains(&0) {
            return Vec::new();
        }
        let mut all = vec![zero.clone()];
        for (dim, &extent) in extents.iter().enumerate() {
            let bits = (0..u64::BITS).map(|bit| 1u64 << bit).take_while(|&x| x < extent);
            for x in bits.chain([extent - 1]) {
                let mut coord = zero.clone();
                coord[dim] = x;
                all.push(coord);
            }
        }
        all
    }

    pub(crate) fn sample(&self, coord: Vec<u64>) -> Result<Sample, Error> {
        let offset = |layout: &TensorLayout| {
            let offset = layout.offset(&coord)?;
            u64::try_from(offset).map_err(|_| {
                Error::illegal(
                    "an offset of {}",
                    [offset.into()],
                    "a swizzle needs offsets of 0 or more",
                )
            })
        };
        let (from, to) = (offset(self.from)?, offset(self.to)?);
        Ok(Sample { coord, from, to })
    }

    /// Returns the number of bits of the largest offset, which bounds the possible swizzles.
    pub(crate) fn top(&self) -> u32 {
        let last = |layout: &TensorLayout| layout.layout().bounds().map_or(0, |(_, last)| last);
        let last = last(self.from).max(last(self.to));
        (u64::BITS - u64::try_from(last).unwrap_or(0).leading_zeros()).min(62)
    }

    /// Returns a coordinate at which the first layout under `swizzle` differs from the second.
    pub(crate) fn differs(&self, swizzle: Swizzle) -> Result<Option<Vec<u64>>, Error> {
        if self.linear || self.from.extents().contains(&0) {
            return Ok(None);
        }
        if self.from.layout().swizzle().is_identity() {
            let swizzled = Change::Swizzle(swizzle).layout(self.from)?;
            let difference = swizzled.any_difference(self.to)?;
            return Ok(difference.map(|difference| difference.coord.as_slice().to_vec()));
        }
        if self.from.size() > ONE_BY_ONE {
            let numbers = [self.from.size().into(), ONE_BY_ONE.into()];
            let legal = "take a tile of it";
            return Err(Error::undecided("{} elements; at most {} are compared", numbers, legal));
        }
        for index in 0..self.from.size() {
            let sample = self.sample(row_major(self.from.extents(), index))?;
            if swizzle.apply(sample.from) != sample.to {
                return Ok(Some(sample.coord));
            }
        }
        Ok(None)
    }
}

/// Picks few samples that rule out every swizzle: one, two, or a set from which none can be removed.
fn fewest(samples: Vec<Sample>, top: u32) -> Vec<Sample> {
    let sets: Vec<Vec<u64>> = samples.iter().map(|sample| explaining(sample, top)).collect();
    let all = |kept: &[usize]| {
        let words = sets.first().map_or(0, Vec::len);
        (0..words).all(|word| kept.iter().fold(u64::MAX, |set, &at| set & sets[at][word]) == 0)
    };
    let places = 0..samples.len();
    let alone = places.clone().find(|&at| all(&[at])).map(|at| vec![at]);
    let two = || {
        let mut pairs = places.clone().flat_map(|a| (0..a).map(move |b| [b, a]));
        pairs.find(|pair| all(pair)).map(Vec::from)
    };
    let kept = alone.or_else(two).unwrap_or_else(|| {
        let mut kept: Vec<usize> = places.clone().collect();
        for at in places.clone().rev() {
            let without: Vec<usize> = kept.iter().copied().filter(|&other| other != at).collect();
            if all(&without) {
                kept = without;
            }
        }
        kept
    });
    kept.into_iter().map(|at| samples[at].clone()).collect()
}

/// Returns the swizzles that agree with a sample, as a set of bits in the order of the search.
fn explaining(sample: &Sample, top: u32) -> Vec<u64> {
    let mut set = Vec::new();
    for (at, swizzle) in in_order(0, top).enumerate() {
        if at % 64 == 0 {
            set.push(0);
        }
        if let Some(word) = set.last_mut()
            && swizzle.apply(sample.from) == sample.to
        {
            *word |= 1 << (at % 64);
        }
    }
    set
}

/// The most bits of an offset that a swizzle changes.
const BITS: u32 = 62;

/// Finds the invertible matrix of bits that turns the offsets of one layout into those of another, as a [`Swizzle`]
/// that may be outside of CuTe's family, or coordinates that rule out every matrix. Offset bits that no equation determines
/// stay where they are if they can.
///
/// # Errors
/// Those of [`swizzle_between`](crate::swizzle_between()), and [limit](Error::is_limit) for offsets of more than 62
/// bits.
///
/// ```
/// use tilewright_banks::{Between, matrix_between};
/// use tilewright_core::{Swizzle, TensorLayout, layout};
/// let of = |layout| TensorLayout::of(&layout);
/// let (rows, turned) = (of(layout!("(2,2):(2,1)")), of(layout!("(2,2):(1,2)")));
/// assert_eq!(matrix_between(&rows, &turned)?, Between::Swizzle(Swizzle::of_images(&[2, 1])?));
/// // Offsets 1, 2 and 3 have the xor 0; three times as much, 3, 6 and 9, have not.
/// let (line, thrice) = (of(layout!("(4):(1)")), of(layout!("(4):(3)")));
/// let Between::None(samples) = matrix_between(&line, &thrice)? else { panic!("none does") };
/// assert_eq!(samples.iter().fold(0, |all, sample| all ^ sample.from), 0);
/// assert_ne!(samples.iter().fold(0, |all, sample| all ^ sample.to), 0);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn matrix_between(from: &TensorLayout, to: &TensorLayout) -> Result<Between, Error> {
    let both = Both::new(from, to)?;
    let mut equations = Equations::default();
    for coord in both.corners() {
        if let Err(witness) = equations.learn(both.sample(coord)?)? {
            return Ok(Between::None(witness));
        }
    }
    loop {
        let matrix = equations.solution(both.top())?;
        let Some(coord) = both.differs(matrix)? else { return Ok(Between::Swizzle(matrix)) };
        let numbers = [from.size().into(), to.size().into()];
        match equations.learn(both.sample(coord)?)? {
            Err(witness) => return Ok(Between::None(witness)),
            Ok(true) => {}
            Ok(false) => {
                let legal = "take a tile of them";
                return Err(Error::undecided("arrays of {} and {} elements", numbers, legal));
            }
        }
    }
}

/// The known equations of a matrix: independent samples of an offset and its image.
#[derive(Default)]
struct Equations {
    /// Indexed by the offsets that the matrix takes.
    froms: Elimination,
    /// Indexed by the offsets that it returns: an invertible matrix sends no two offsets to one.
    tos: Elimination,
    samples: Vec<Sample>,
}

impl Equations {
    /// Adds a sample; returns whether it was independent, or the samples that contradict each other.
    fn learn(&mut self, sample: Sample) -> Result<Result<bool, Vec<Sample>>, Error> {
        if (sample.from | sample.to) >> BITS != 0 {
            let numbers = [sample.from.max(sample.to).into(), BITS.into()];
            let legal = "a swizzle moves at most the lowest 62 bits of an offset";
            return Err(Error::limit("offset {} has more than {} bits", numbers, legal));
        }
        let of = 1 << self.samples.len();
        match self.add(sample.from, sample.to, of) {
            Ok(false) => Ok(Ok(false)),
            Ok(true) => {
                self.samples.push(sample);
                Ok(Ok(true))
            }
            Err(of) => {
                let all = self.samples.drain(..).chain([sample]).enumerate();
                Ok(Err(all.filter(|(at, _)| of >> at & 1 != 0).map(|(_, sample)| sample).collect()))
            }
        }
    }

    /// Adds an equation if it is independent of the others; the error is the set of samples that contradict it.
    fn add(&mut self, from: u64, to: u64, of: u64) -> Result<bool, u64> {
        let by_from = self.froms.rest(Equation { key: from, value: to, of });
        let by_to = self.tos.rest(Equation { key: to, value: from, of });
        match (by_from.key, by_to.key) {
            (0, _) if by_from.value == 0 => Ok(false),
            (0, _) => Err(by_from.of),
            (_, 0) => Err(by_to.of),
            _ => {
                self.froms.put(by_from);
                self.tos.put(by_to);
                Ok(true)
            }
        }
    }

    /// Returns a matrix of `bits` bits that satisfies the known equations and maps undetermined bits to single bits.
    fn solution(&self, bits: u32) -> Result<Swizzle, Error> {
        let mut all =
            Equations { froms: self.froms.clone(), tos: self.tos.clone(), samples: Vec::new() };
        let one = |bit: u32| 1u64 << bit;
        for bit in 0..bits {
            // An undetermined bit stays in place if both sides leave it free.
            let _ = all.add(one(bit), one(bit), 0);
        }
        for bit in 0..bits {
            let place = (0..bits).find(|&place| all.tos.is_free_of(one(place)));
            if let Some(place) = place.filter(|_| all.froms.is_free_of(one(bit))) {
                let _ = all.add(one(bit), one(place), 0);
            }
        }
        let image = |bit| all.froms.rest(Equation { key: one(bit), value: 0, of: 0 }).value;
        Swizzle::of_images(&(0..bits).map(image).collect::<Vec<_>>())
    }
}

/// An equation: the image of a key, and the set of samples whose xor it is.
#[derive(Clone, Copy)]
struct Equation {
    key: u64,
    value: u64,
    of: u64,
}

/// Equations in echelon form: their keys have different highest bits.
#[derive(Clone, Default)]
struct Elimination(Vec<Equation>);

impl Elimination {
    /// Reduces a row by the others; its key becomes 0 iff the key is a xor of their keys.
    fn rest(&self, row: Equation) -> Equation {
        self.0.iter().fold(row, |row, other| match row.key >> other.key.ilog2() & 1 {
            0 => row,
            _ => Equation {
                key: row.key ^ other.key,
                value: row.value ^ other.value,
                of: row.of ^ other.of,
            },
        })
    }

    fn is_free_of(&self, key: u64) -> bool {
        self.rest(Equation { key, value: 0, of: 0 }).key != 0
    }

    /// Inserts a row whose key is not 0, after those with higher bits.
    fn put(&mut self, row: Equation) {
        let at = self.0.partition_point(|other| other.key.ilog2() > row.key.ilog2());
        self.0.insert(at, row);
    }
}
