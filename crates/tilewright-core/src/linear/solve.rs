//! Equations between linear layouts, by elimination, and the properties that it decides: rank, injective, surjective, and bits
//! without effect. `Solver` also serves swizzles and inverses.
//!
//! Law: `C = A.invert_and_compose(B)` is the C with `B(C(x)) = A(x)` in which every value, as an index, is the smallest
//! solution.
//!
//! Among the bases of B, take those that are not a xor of earlier ones: each point of the image has exactly one xor of
//! these. Two solutions differ by an element of the kernel, whose highest bit is one of the other bases. The solution
//! without the other bases is therefore the smallest.
//!
//! Law: the image has `2^rank` elements; a map is injective iff the rank is the number of its input bits, and surjective
//! iff it is the number of its output bits.

use crate::{
    Coord, Error,
    const_fn::tri,
    linear::{Dims, LinearLayout, MAX_BITS, parts::carried},
};

impl LinearLayout {
    /// Returns the C with `outer(C(x)) = self(x)`: it maps this map's coordinates to those of `outer` with the same image,
    /// the smallest if there are several.
    ///
    /// `outer` has the output dims of this map, in any order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the names of the output dims differ; [no layout](Error::is_no_layout) with the
    /// first bit whose image `outer` does not reach.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let (from, to) = (parse("{in1=[2,1,4]} -> (out:8)"), parse("{in2=[4,1,2]} -> (out:8)"));
    /// let between = from.invert_and_compose(&to).unwrap();
    /// assert_eq!(between.to_string(), "{in1=[4,2,1]} -> (in2:8)");
    /// assert_eq!(between.compose(&to).unwrap(), from);
    ///
    /// let even = parse("{in3=[2,4]} -> (out:8)");
    /// let error = from.invert_and_compose(&even).unwrap_err();
    /// assert!(error.is_no_layout());
    /// assert!(error.to_string().starts_with("bit 1 of input dim 0"));
    /// ```
    #[doc(alias = "invertAndCompose")]
    #[doc(alias = "lstsq")]
    pub const fn invert_and_compose(&self, outer: &LinearLayout) -> Result<LinearLayout, Error> {
        tri!(self.check_meets(&outer.outs));
        let solver = Solver::new(outer.columns());
        let (mut all, mut bit) =
            (LinearLayout { ins: self.ins, outs: outer.ins, bases: [0; MAX_BITS] }, 0);
        while bit < self.ins.bits() {
            let place = self.ins.place(bit);
            match solver.solve(tri!(moved(self.bases[bit], &self.outs, &outer.outs, place))) {
                Some(solution) => all.bases[bit] = solution,
                None => return Err(unreached(place)),
            }
            bit += 1;
        }
        Ok(all)
    }

    /// Returns the inverse of a map that reaches every coordinate of its output from exactly one coordinate.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) for other maps, with the bit that is lost or never reached.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let shuffle = parse("{a=[[1,1],[0,1]]} -> (x:2,y:2)");
    /// assert_eq!(shuffle.inverse().unwrap().to_string(), "{x=[3],y=[2]} -> (a:4)");
    /// assert!(parse("{a=[1,1]} -> (x:2)").inverse().unwrap_err().is_no_layout());
    /// assert!(parse("{a=[1]} -> (x:4)").inverse().unwrap_err().is_no_layout());
    /// ```
    #[doc(alias = "invert")]
    pub const fn inverse(&self) -> Result<LinearLayout, Error> {
        let mut dim = 0;
        while dim < self.ins.len() {
            if let Some(free) = self.free_bits(self.ins()[dim].name())
                && free != 0
            {
                return Err(Error::no_layout(
                    "bit {} of input dim {} is sent into the image of lower bits",
                    [free.trailing_zeros() as i128, dim as i128],
                    "only a map that is injective and surjective has an inverse",
                ));
            }
            dim += 1;
        }
        self.pseudo_inverse()
    }

    /// For a map that reaches every coordinate of its output, returns the B with `self(B(x)) = x`, the smallest if several
    /// coordinates are sent to x.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) with a bit of the output that is never reached.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let copies = parse("{lane=[0,1,2,2]} -> (x:4)");
    /// assert_eq!(copies.pseudo_inverse().unwrap().to_string(), "{x=[2,4]} -> (lane:16)");
    /// assert!(parse("{a=[1]} -> (x:4)").pseudo_inverse().unwrap_err().is_no_layout());
    /// ```
    #[doc(alias = "pseudoinvert")]
    #[doc(alias = "right inverse")]
    pub const fn pseudo_inverse(&self) -> Result<LinearLayout, Error> {
        let solver = Solver::new(self.columns());
        let (mut all, mut bit) =
            (LinearLayout { ins: self.outs, outs: self.ins, bases: [0; MAX_BITS] }, 0);
        while bit < self.outs.bits() {
            match solver.solve(1 << bit) {
                Some(solution) => all.bases[bit] = solution,
                None => {
                    let (dim, at) = self.outs.place(bit);
                    return Err(Error::no_layout(
                        "bit {} of output dim {} cannot be reached alone",
                        [at as i128, dim as i128],
                        "only a surjective map has a right inverse",
                    ));
                }
            }
            bit += 1;
        }
        Ok(all)
    }
}

/// Converts a value from the dims `from` to the dims `to`, if it fits there.
const fn moved(value: u64, from: &Dims, to: &Dims, place: (usize, usize)) -> Result<u64, Error> {
    let mut i = 0;
    while i < from.len() {
        let bits = to.bits_of(from.as_slice()[i].name());
        if from.cut(value, i) >> bits != 0 {
            return Err(unreached(place));
        }
        i += 1;
    }
    Ok(carried(value, from, to, &Dims::NONE))
}

const fn unreached((dim, bit): (usize, usize)) -> Error {
    Error::no_layout(
        "bit {} of input dim {} is sent outside the image of the outer map",
        [bit as i128, dim as i128],
        "the outer map must reach all of the image",
    )
}

/// Bases in echelon form: for each highest bit, the reduced basis and the set of columns whose xor it is.
pub(crate) struct Solver {
    reduced: [u64; 64],
    columns: [u64; 64],
    collision: Option<(u64, u64)>,
}

impl Solver {
    pub(crate) const fn new(columns: &[u64]) -> Solver {
        let none = Solver { reduced: [0; 64], columns: [0; 64], collision: None };
        let (mut solver, mut i) = (none, 0);
        while i < columns.len() {
            solver.add(columns[i], 1 << i);
            i += 1;
        }
        solver
    }

    /// Adds a column with the bit set `name`; returns its pivot bit, or `None` if it is the xor of earlier columns.
    pub(crate) const fn add(&mut self, column: u64, name: u64) -> Option<usize> {
        let (rest, xor) = self.reduce(column);
        if rest == 0 {
            if self.collision.is_none() {
                self.collision = Some((name, xor));
            }
            return None;
        }
        let top = 63 - rest.leading_zeros() as usize;
        self.reduced[top] = rest;
        self.columns[top] = xor | name;
        Some(top)
    }

    /// Returns whether no column has this pivot bit.
    pub(crate) const fn is_free(&self, bit: usize) -> bool {
        self.reduced[bit] == 0
    }

    /// Returns the largest xor of a value and some columns.
    pub(crate) const fn largest(&self, mut value: u64) -> u64 {
        let mut top = 64;
        while top > 0 {
            top -= 1;
            if value >> top & 1 == 0 && self.reduced[top] != 0 {
                value ^= self.reduced[top];
            }
        }
        value
    }

    /// Reduces a value by the columns; returns the rest, and the set of columns used.
    const fn reduce(&self, value: u64) -> (u64, u64) {
        let (mut rest, mut xor) = (value, 0);
        while rest != 0 {
            let top = 63 - rest.leading_zeros() as usize;
            if self.reduced[top] == 0 {
                break;
            }
            rest ^= self.reduced[top];
            xor ^= self.columns[top];
        }
        (rest, xor)
    }

    /// Returns two sets of columns with the same xor, if columns are dependent: the first column that is the xor of earlier
    /// ones, and these.
    pub(crate) const fn collision(&self) -> Option<(u64, u64)> {
        self.collision
    }

    /// Returns the set of columns whose xor is `value`, if there is one.
    pub(crate) const fn solve(&self, value: u64) -> Option<u64> {
        match self.reduce(value) {
            (0, xor) => Some(xor),
            (_, _) => None,
        }
    }
}

impl LinearLayout {
    /// Returns the number of independent bases: `2^rank` coordinates are reached.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// // 3 = 1 ⊕ 2.
    /// assert_eq!(LinearLayout::parse("{a=[1,2,3]} -> (x:4)").unwrap().rank(), 2);
    /// ```
    pub const fn rank(&self) -> usize {
        self.rank_of_first(self.ins.bits())
    }

    /// Returns the rank of the first `bits` bases.
    const fn rank_of_first(&self, bits: usize) -> usize {
        let (mut solver, mut rank, mut i) = (Solver::new(&[]), 0, 0);
        while i < bits {
            rank += solver.add(self.bases[i], 0).is_some() as usize;
            i += 1;
        }
        rank
    }

    /// Returns whether no two coordinates have the same image.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert!(LinearLayout::parse("{a=[3,1]} -> (x:8)").unwrap().is_injective());
    /// assert!(!LinearLayout::parse("{a=[1,0]} -> (x:2)").unwrap().is_injective());
    /// ```
    pub const fn is_injective(&self) -> bool {
        self.rank() == self.ins.bits()
    }

    /// Returns two coordinates with the same image, if there are such: the first basis that is the xor of earlier ones,
    /// and these.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let copies = LinearLayout::parse("{a=[1,2],b=[3]} -> (x:4)").unwrap();
    /// let (one, other) = copies.collision().unwrap();
    /// // Coordinates (0,1) and (3,0) have the same image.
    /// assert_eq!((one.as_slice(), other.as_slice()), (&[0, 1][..], &[3, 0][..]));
    /// assert_eq!(copies.apply(one.as_slice()), copies.apply(other.as_slice()));
    /// assert!(LinearLayout::parse("{a=[3,1]} -> (x:8)").unwrap().collision().is_none());
    /// ```
    pub const fn collision(&self) -> Option<(Coord, Coord)> {
        match Solver::new(self.columns()).collision() {
            Some((one, other)) => Some((self.ins.split(one), self.ins.split(other))),
            None => None,
        }
    }

    /// Returns whether every coordinate of the output is reached.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert!(LinearLayout::parse("{a=[1,0]} -> (x:2)").unwrap().is_surjective());
    /// assert!(!LinearLayout::parse("{a=[3,1]} -> (x:8)").unwrap().is_surjective());
    /// ```
    pub const fn is_surjective(&self) -> bool {
        self.rank() == self.outs.bits()
    }

    /// Returns whether every coordinate of the output is reached from exactly one coordinate.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert!(LinearLayout::parse("{a=[3,1]} -> (x:4)").unwrap().is_invertible());
    /// assert!(!LinearLayout::parse("{a=[3,1]} -> (x:8)").unwrap().is_invertible());
    /// ```
    pub const fn is_invertible(&self) -> bool {
        self.is_injective() && self.is_surjective()
    }

    /// Returns whether two maps are equal except for the sizes of their output dims.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let (a, b) = (parse("{a=[1,2]} -> (x:4)"), parse("{a=[1,2]} -> (x:16)"));
    /// assert!(a != b && a.equal_ignoring_sizes(&b));
    /// assert!(!a.equal_ignoring_sizes(&parse("{a=[1,2]} -> (y:4)")));
    /// ```
    #[doc(alias = "equalIgnoringOutDimSizes")]
    pub fn equal_ignoring_sizes(&self, other: &LinearLayout) -> bool {
        let names = |layout: &LinearLayout| layout.outs.len();
        self.ins == other.ins
            && names(self) == names(other)
            && self.outs().iter().zip(other.outs()).all(|(a, b)| a.name() == b.name())
            && (0..self.ins.bits())
                .all(|i| self.outs.split(self.bases[i]) == other.outs.split(other.bases[i]))
    }

    /// Returns a mask of the redundant bits of an input dim: those whose basis is the xor of bases before it. `None` if
    /// there is no such dim.
    ///
    /// Two coordinates that differ in such a bit and in some lower ones have the same image, so the bit can stay 0.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{lane=[1,2,0],warp=[4,3]} -> (x:8)").unwrap();
    /// assert_eq!(layout.free_bits("lane"), Some(0b100));
    /// // 3 is lane 1 ⊕ lane 2.
    /// assert_eq!(layout.free_bits("warp"), Some(0b10));
    /// assert_eq!(layout.free_bits("x"), None);
    /// ```
    #[doc(alias = "getFreeVariableMasks")]
    pub const fn free_bits(&self, input: &str) -> Option<u64> {
        let Some(dim) = self.ins.find(input) else { return None };
        let (first, mut bit, mut mask) = (self.ins.before(dim), 0, 0);
        while bit < self.ins()[dim].bits() {
            if self.rank_of_first(first + bit) == self.rank_of_first(first + bit + 1) {
                mask |= 1 << bit;
            }
            bit += 1;
        }
        Some(mask)
    }

    /// Returns the largest power of two n for which the map sends each aligned block of n coordinates of the first
    /// input dim to n successive coordinates of the first output dim, and changes no other output coordinate within a block.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert_eq!(LinearLayout::parse("{a=[1,2,8]} -> (x:16)").unwrap().consecutive(), 4);
    /// assert_eq!(LinearLayout::parse("{a=[2,1]} -> (x:4)").unwrap().consecutive(), 1);
    /// assert_eq!(LinearLayout::parse("{a=[1,2],b=[4]} -> (x:8)").unwrap().consecutive(), 4);
    /// ```
    #[doc(alias = "getNumConsecutiveInOut")]
    pub const fn consecutive(&self) -> u64 {
        let (ins, outs) = (self.ins(), self.outs());
        if ins.is_empty() || outs.is_empty() {
            return 1;
        }
        let (within, places, mut bits) = (ins[0].bits(), 1 << outs[0].bits(), 0);
        while bits < within && self.bases[bits] == 1 << bits && self.bases[bits] < places {
            bits += 1;
        }
        // The bases above must not change the coordinates below.
        let (mut above, mut i) = (0, bits);
        while i < self.ins.bits() {
            above |= self.bases[i];
            i += 1;
        }
        let kept = (above & (places - 1)).trailing_zeros() as usize;
        1 << if kept < bits { kept } else { bits }
    }
}
