//! Composition of linear layouts, the product that combines two of them, and division, which recovers a factor of a product.
//!
//! Laws: `A.compose(B)(x) = B(A(x))`. In `A.product(B)` the low bits of every dim are A's and the high bits B's:
//! `(A·B)(x + |A|·y) = A(x) + |A|·B(y)`, dim by dim.
//!
//! Laws: `A.divide_left(B)` is the C with `A = B·C`, and `A.divide_right(B)` is the C with `A = C·B`, up to dims of size
//! 1, which C keeps.

use crate::{
    Error,
    linear::{Dims, LinearLayout},
    macros::tri,
};

impl LinearLayout {
    /// Returns this map followed by `outer`, whose input dims are this map's output dims in any order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the names differ, or if an output dim is larger than the corresponding input
    /// dim.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let first = parse("{in1=[[1,1],[0,1]],in2=[[1,0],[1,2]]} -> (out1:2,out2:4)");
    /// let then = parse("{out1=[[2,2],[1,0]],out2=[[1,1],[2,1]]} -> (out3:4,out4:4)");
    /// assert_eq!(
    ///     first.compose(&then).unwrap().to_string(),
    ///     "{in1=[[3,3],[1,1]],in2=[[2,2],[0,3]]} -> (out3:4,out4:4)",
    /// );
    /// assert!(then.compose(&first).unwrap_err().is_mismatch());
    /// ```
    pub const fn compose(&self, outer: &LinearLayout) -> Result<LinearLayout, Error> {
        tri!(self.check_meets(&outer.ins));
        let mut i = 0;
        while i < self.outs.len() {
            let (ours, theirs) = (&self.outs()[i], outer.ins.bits_of(self.outs()[i].name()));
            if ours.bits() > theirs {
                return Err(Error::mismatch(
                    "output dim {} of size {} goes into an input dim of size {}",
                    [i as i128, ours.size() as i128, 1 << theirs],
                    "the outer map must take all its coordinates",
                ));
            }
            i += 1;
        }
        let mut all = LinearLayout { ins: self.ins, outs: outer.outs, bases: [0; super::MAX_BITS] };
        let mut bit = 0;
        while bit < self.ins.bits() {
            all.bases[bit] =
                outer.image(carried(self.bases[bit], &self.outs, &outer.ins, &Dims::NONE));
            bit += 1;
        }
        Ok(all)
    }

    /// Refuses unless the output dims are `dims` in some order.
    pub(super) const fn check_meets(&self, dims: &Dims) -> Result<(), Error> {
        if self.outs.same_names(dims) {
            return Ok(());
        }
        Err(Error::mismatch(
            "{} output dims meet {} dims of other names",
            [self.outs.len() as i128, dims.len() as i128],
            "the names must be the same, in any order",
        ))
    }

    /// Combines both maps: in every dim, this map has the low bits and `outer` the high bits.
    ///
    /// Dims that both maps have must be in the same order in both; otherwise those of this map come first.
    /// [`LinearLayout::EMPTY`] is neutral.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if no order of the dims agrees with both; [overflow](Error::is_overflow) and
    /// [limit](Error::is_limit) beyond 62 bits or 16 dims.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let identity = |size, a, b| LinearLayout::identity(size, a, b).unwrap();
    /// let tile = identity(4, "lane", "column").product(&identity(2, "lane", "row")).unwrap();
    /// assert_eq!(tile.to_string(), "{lane=[[1,0],[2,0],[0,1]]} -> (column:4,row:2)");
    /// let other = identity(2, "lane", "row").product(&identity(2, "lane", "column")).unwrap();
    /// assert!(tile.product(&other).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "operator*")]
    #[doc(alias = "direct sum")]
    pub const fn product(&self, outer: &LinearLayout) -> Result<LinearLayout, Error> {
        let ins = tri!(self.ins.merged(&outer.ins));
        let outs = tri!(self.outs.merged(&outer.outs));
        let (mut all, mut dim, mut to) =
            (LinearLayout { ins, outs, bases: [0; super::MAX_BITS] }, 0, 0);
        while dim < ins.len() {
            let name = all.ins.as_slice()[dim].name();
            let (low, high) = (self.ins.bits_of(name), outer.ins.bits_of(name));
            let mut bit = 0;
            while bit < low {
                let basis = self.column(name, bit);
                all.bases[to] = carried(basis, &self.outs, &outs, &Dims::NONE);
                (bit, to) = (bit + 1, to + 1);
            }
            bit = 0;
            while bit < high {
                let basis = outer.column(name, bit);
                all.bases[to] = carried(basis, &outer.outs, &outs, &self.outs);
                (bit, to) = (bit + 1, to + 1);
            }
            dim += 1;
        }
        Ok(all)
    }

    /// Returns the basis of a bit of an existing dim.
    pub(super) const fn column(&self, name: &str, bit: usize) -> u64 {
        match self.ins.find(name) {
            Some(dim) => self.bases[self.ins.before(dim) + bit],
            None => 0,
        }
    }
}

/// Converts the coordinates of `from` to those of `to`, dim by dim by name, above the bits that `low` has of each
/// dim.
pub(super) const fn carried(value: u64, from: &Dims, to: &Dims, low: &Dims) -> u64 {
    let (mut all, mut i) = (0, 0);
    while i < from.len() {
        let name = from.as_slice()[i].name();
        if let Some(at) = to.find(name) {
            all |= from.cut(value, i) << (to.before(at) + low.bits_of(name));
        }
        i += 1;
    }
    all
}

impl LinearLayout {
    /// Returns the C with `self = divisor · C`. It exists iff this map acts on its low bits like `divisor` and its high
    /// bits do not reach the outputs of those.
    ///
    /// C has all dims of this map; those that `divisor` takes completely have size 1.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if a dim of `divisor` is missing in this map or larger; [no layout](Error::is_no_layout)
    /// with the first bit at which no such C exists.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let (all, low) = (parse("{a=[1,2,8,4]} -> (x:16)"), parse("{a=[1,2]} -> (x:4)"));
    /// assert_eq!(all.divide_left(&low).unwrap().to_string(), "{a=[2,1]} -> (x:4)");
    /// let error = all.divide_left(&parse("{a=[2,1]} -> (x:4)")).unwrap_err();
    /// assert!(error.is_no_layout());
    /// ```
    pub const fn divide_left(&self, divisor: &LinearLayout) -> Result<LinearLayout, Error> {
        let mut quotient = tri!(self.quotient_shape(divisor));
        let (mut dim, mut to) = (0, 0);
        while dim < self.ins.len() {
            let name = self.ins()[dim].name();
            let (low, mut bit) = (divisor.ins.bits_of(name), 0);
            while bit < self.ins()[dim].bits() {
                let basis = self.bases[self.ins.before(dim) + bit];
                if bit < low {
                    let wanted = divisor.column(name, bit);
                    if basis != carried(wanted, &divisor.outs, &self.outs, &Dims::NONE) {
                        return Err(differs(dim, bit));
                    }
                } else {
                    let high = shifted_down(basis, &self.outs, &quotient.outs, &divisor.outs);
                    if carried(high, &quotient.outs, &self.outs, &divisor.outs) != basis {
                        return Err(enters(dim, bit));
                    }
                    quotient.bases[to] = high;
                    to += 1;
                }
                bit += 1;
            }
            dim += 1;
        }
        Ok(quotient)
    }

    /// Returns the C with `self = C · divisor`: like [`LinearLayout::divide_left`], with `divisor` in the high bits.
    ///
    /// # Errors
    /// Those of [`LinearLayout::divide_left`].
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let (all, high) = (parse("{a=[1,2,8,4]} -> (x:16)"), parse("{a=[2,1]} -> (x:4)"));
    /// assert_eq!(all.divide_right(&high).unwrap().to_string(), "{a=[1,2]} -> (x:4)");
    /// assert!(all.divide_right(&parse("{a=[1,2]} -> (x:4)")).unwrap_err().is_no_layout());
    /// ```
    pub const fn divide_right(&self, divisor: &LinearLayout) -> Result<LinearLayout, Error> {
        let mut quotient = tri!(self.quotient_shape(divisor));
        let (mut dim, mut to) = (0, 0);
        while dim < self.ins.len() {
            let name = self.ins()[dim].name();
            let (low, mut bit) = (quotient.ins.bits_of(name), 0);
            while bit < self.ins()[dim].bits() {
                let basis = self.bases[self.ins.before(dim) + bit];
                if bit < low {
                    let lower = shifted_down(basis, &self.outs, &quotient.outs, &Dims::NONE);
                    if carried(lower, &quotient.outs, &self.outs, &Dims::NONE) != basis {
                        return Err(enters(dim, bit));
                    }
                    quotient.bases[to] = lower;
                    to += 1;
                } else {
                    let wanted = divisor.column(name, bit - low);
                    if basis != carried(wanted, &divisor.outs, &self.outs, &quotient.outs) {
                        return Err(differs(dim, bit));
                    }
                }
                bit += 1;
            }
            dim += 1;
        }
        Ok(quotient)
    }

    /// Returns a map with the dims of the quotient and all bases 0.
    const fn quotient_shape(&self, divisor: &LinearLayout) -> Result<LinearLayout, Error> {
        Ok(LinearLayout {
            ins: tri!(less(&self.ins, &divisor.ins)),
            outs: tri!(less(&self.outs, &divisor.outs)),
            bases: [0; crate::linear::MAX_BITS],
        })
    }
}

/// Returns the dims of `all` without the bits of `part`.
const fn less(all: &Dims, part: &Dims) -> Result<Dims, Error> {
    let (mut rest, mut i) = (Dims::NONE, 0);
    while i < part.len() {
        let dim = &part.as_slice()[i];
        if all.bits_of(dim.name()) < dim.bits() || all.find(dim.name()).is_none() {
            return Err(Error::mismatch(
                "dim {} of the divisor has size {}, that of the map {}",
                [i as i128, dim.size() as i128, 1 << all.bits_of(dim.name())],
                "a divisor's dims must be dims of the map, none larger",
            ));
        }
        i += 1;
    }
    i = 0;
    while i < all.len() {
        let dim = &all.as_slice()[i];
        tri!(rest.push(dim.name(), dim.bits() - part.bits_of(dim.name())));
        i += 1;
    }
    Ok(rest)
}

/// Returns the bits of each dim of `all` above those of `low`, cut to the dim's size in `to`: the inverse of
/// [`carried`].
const fn shifted_down(value: u64, all: &Dims, to: &Dims, low: &Dims) -> u64 {
    let (mut rest, mut i) = (0, 0);
    while i < all.len() {
        let high = all.cut(value, i) >> low.bits_of(all.as_slice()[i].name());
        rest |= (high & (to.as_slice()[i].size() - 1)) << to.before(i);
        i += 1;
    }
    rest
}

const fn differs(dim: usize, bit: usize) -> Error {
    Error::no_layout(
        "bit {} of input dim {} is not sent where the divisor sends it",
        [bit as i128, dim as i128],
        "",
    )
}

const fn enters(dim: usize, bit: usize) -> Error {
    Error::no_layout(
        "bit {} of input dim {} is sent into the bits of the divisor",
        [bit as i128, dim as i128],
        "",
    )
}
