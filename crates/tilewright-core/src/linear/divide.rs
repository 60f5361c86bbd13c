//! Division of linear layouts: recovers a factor of a product.
//!
//! Laws: `A.divide_left(B)` is the C with `A = B·C`, and `A.divide_right(B)` is the C with `A = C·B`, up to dims of size
//! 1, which C keeps.

use super::{Dims, LinearLayout, compose::carried};
use crate::{Error, macros::tri};

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
            bases: [0; super::MAX_BITS],
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
