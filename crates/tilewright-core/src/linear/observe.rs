//! Properties of a linear layout: rank, injective, surjective, and bits without effect.
//!
//! Law: the image has `2^rank` elements; a map is injective iff the rank is the number of its input bits, and surjective
//! iff it is the number of its output bits.

use super::{LinearLayout, Solver};
use crate::Coord;

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
