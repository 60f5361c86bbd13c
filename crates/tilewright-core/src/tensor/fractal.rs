//! The four fractal formats of TLA, as patterns.
//!
//! The small letter is the order inside a block, the capital letter the order of the blocks: z is row-major, n is
//! column-major. Source: CATLASS, `tla/layout.hpp`.

use crate::{Digit, Error, Pattern, TensorLayout};

/// The storage order of the digits `m1`, `m0`, `n1`, `n0` of a matrix in blocks of `m0 × n0`.
///
/// ```
/// use tilewright_core::Fractal;
/// // 16-bit elements: blocks of 16×16.
/// let layout = Fractal::ZN.pattern(16, 16).layout(&[32, 48]).unwrap();
/// assert_eq!(layout.layout().to_string(), "((16,2),(16,3)):((16,256),(1,512))");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fractal {
    /// Set if rows vary fastest inside a block (n), instead of columns (z).
    columns_inside: bool,
    /// Set if rows vary fastest between blocks (N), instead of columns (Z).
    columns_between: bool,
}

impl Fractal {
    /// Row-major blocks, stored column by column of blocks (Ascend's FRACTAL_NZ).
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::ZN.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by rows, then the block below it.
    /// assert_eq!(layout.offset(&[0, 1]), Ok(1));
    /// assert_eq!(layout.offset(&[2, 0]), Ok(4));
    /// ```
    pub const ZN: Fractal = Fractal { columns_inside: false, columns_between: true };
    /// Column-major blocks, stored row by row of blocks.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::NZ.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by columns, then the block to its right.
    /// assert_eq!(layout.offset(&[1, 0]), Ok(1));
    /// assert_eq!(layout.offset(&[0, 2]), Ok(4));
    /// ```
    pub const NZ: Fractal = Fractal { columns_inside: true, columns_between: false };
    /// Row-major blocks, stored row by row of blocks.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::ZZ.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by rows, then the block to its right.
    /// assert_eq!(layout.offset(&[0, 1]), Ok(1));
    /// assert_eq!(layout.offset(&[0, 2]), Ok(4));
    /// ```
    pub const ZZ: Fractal = Fractal { columns_inside: false, columns_between: false };
    /// Column-major blocks, stored column by column of blocks.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::NN.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by columns, then the block below it.
    /// assert_eq!(layout.offset(&[1, 0]), Ok(1));
    /// assert_eq!(layout.offset(&[2, 0]), Ok(4));
    /// ```
    pub const NN: Fractal = Fractal { columns_inside: true, columns_between: true };

    /// Returns the pattern with blocks of `m0` rows and `n0` columns; a size of 0 counts as 1.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// // The blocks of an 8-bit matrix on Ascend: 16 rows of 32 bytes.
    /// let zn = Fractal::ZN.pattern(16, 32);
    /// assert_eq!(zn.storage(&[20, 100]).unwrap().as_slice(), [4, 2, 16, 32]);
    /// assert_eq!(zn.layout(&[20, 100]).unwrap().capacity(), 4096);
    /// ```
    pub const fn pattern(self, m0: u64, n0: u64) -> Pattern {
        let m0 = Digit::fixed(0, 0, if m0 == 0 { 1 } else { m0 });
        let n0 = Digit::fixed(1, 0, if n0 == 0 { 1 } else { n0 });
        let (m1, n1) = (Digit::rest(0, 1), Digit::rest(1, 1));
        let (outer, next) = if self.columns_between { (n1, m1) } else { (m1, n1) };
        let (inner, last) = if self.columns_inside { (n0, m0) } else { (m0, n0) };
        match Pattern::new(2, &[outer, next, inner, last]) {
            Ok(pattern) => pattern,
            // Four digits of two axes, each level once, are always a pattern.
            Err(_) => panic!("a fractal is a pattern"),
        }
    }

    /// Returns the layout of a matrix of elements of this width, in elements: blocks of 32 bytes along the axis that
    /// varies fastest inside them, and 16 rows or columns along the other.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if 32 bytes are not a whole number of elements; [overflow](Error::is_overflow) beyond
    /// 2⁶³ − 1 elements.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::ZN.format(100, 100, 32).unwrap();
    /// assert_eq!(layout.layout().to_string(), "((16,7),(8,13)):((8,128),(1,896))");
    /// assert!(Fractal::ZN.format(100, 100, 24).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "MakeLayout")]
    pub const fn format(
        self,
        rows: u64,
        cols: u64,
        element_bits: u64,
    ) -> Result<TensorLayout, Error> {
        if element_bits == 0 || 256 % element_bits != 0 {
            return Err(Error::illegal(
                "blocks of 32 bytes of elements of {} bits",
                [element_bits as i128],
                "an element has 1, 2, 4, 8, 16, 32, 64, 128 or 256 bits",
            ));
        }
        let c0 = 256 / element_bits;
        let (m0, n0) = if self.columns_inside { (c0, 16) } else { (16, c0) };
        self.pattern(m0, n0).layout(&[rows, cols])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_formulas_of_tla() {
        let layout = |fractal: Fractal, m0, n0, r, c| {
            fractal.pattern(m0, n0).layout(&[r, c]).unwrap().layout().to_string()
        };
        assert_eq!(layout(Fractal::ZN, 16, 16, 100, 100), "((16,7),(16,7)):((16,256),(1,1792))");
        assert_eq!(layout(Fractal::NZ, 16, 16, 100, 100), "((16,7),(16,7)):((1,1792),(16,256))");
        assert_eq!(layout(Fractal::ZZ, 16, 16, 100, 100), "((16,7),(16,7)):((16,1792),(1,256))");
        assert_eq!(layout(Fractal::ZN, 16, 32, 100, 100), "((16,7),(32,4)):((32,512),(1,3584))");
        assert_eq!(layout(Fractal::ZN, 16, 8, 100, 100), "((16,7),(8,13)):((8,128),(1,896))");
        assert_eq!(layout(Fractal::NZ, 8, 16, 20, 33), "((8,3),(16,3)):((1,384),(8,128))");
        assert_eq!(layout(Fractal::ZN, 4, 4, 8, 12), "((4,2),(4,3)):((4,16),(1,32))");
        assert_eq!(layout(Fractal::NZ, 4, 4, 8, 12), "((4,2),(4,3)):((1,48),(4,16))");
        assert_eq!(layout(Fractal::ZZ, 4, 4, 8, 12), "((4,2),(4,3)):((4,48),(1,16))");
        assert_eq!(layout(Fractal::NN, 4, 4, 8, 12), "((4,2),(4,3)):((1,16),(4,32))");
    }
}
