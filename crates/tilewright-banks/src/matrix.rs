//! Finds the invertible matrix of bits that turns one layout into another, where CuTe's family of swizzles has none.
//!
//! Law: `M` is returned iff `M(A(c)) = B(c)` for every coordinate `c`. No such matrix exists iff for some coordinates
//! the xor of A's offsets is 0 and the xor of B's is not, or the other way. These coordinates are the witness.
//!
//! Each coordinate is an equation over bits. The search solves the equations that it has and compares the solution on
//! the whole layout; if that fails, the coordinate of the difference adds an equation. At most 62 are independent.

use tilewright_core::{Error, Swizzle, TensorLayout};

use crate::between::{Between, Both, Sample};

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
