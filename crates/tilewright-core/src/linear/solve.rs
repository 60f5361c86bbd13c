//! Equations between linear layouts, by elimination. `Solver` also serves swizzles and inverses.
//!
//! Law: `C = A.invert_and_compose(B)` is the C with `B(C(x)) = A(x)` in which every value, as an index, is the smallest
//! solution.
//!
//! Among the bases of B, take those that are not a xor of earlier ones: each point of the image has exactly one xor of
//! these. Two solutions differ by an element of the kernel, whose highest bit is one of the other bases. The solution
//! without the other bases is therefore the smallest.

use super::{Dims, LinearLayout, MAX_BITS, compose::carried};
use crate::{Error, macros::tri};

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
