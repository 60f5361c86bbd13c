//! A layout behind the swizzle of a pointer, whose elements may have a width that is not known yet.

use std::fmt;

use tilewright_core::{Dtype, IntTuple, Layout, Swizzle, TensorLayout};

use crate::{
    Error,
    reading::{Given, Reading, Resolved},
};

/// A swizzle of byte addresses or of offsets, and the layout behind it.
#[derive(Debug)]
pub(super) struct Pointed {
    pub(super) swizzle: Swizzle,
    pub(super) over: Over,
    pub(super) layout: Layout,
}

/// The values that a swizzle permutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// Offsets of elements.
    Offsets,
    /// Byte addresses, of elements of this width in bits if it is known.
    Bytes(Option<u64>),
}

impl Pointed {
    pub(super) fn plain(layout: Layout) -> Pointed {
        Pointed { swizzle: layout.swizzle(), over: Over::Offsets, layout }
    }

    /// Makes the target of a pointer to elements of `bits` bits.
    pub(super) fn at(bits: Option<u64>, layout: Layout) -> Result<Pointed, Error> {
        match layout.swizzle().is_identity() {
            true => Pointed::of(Swizzle::IDENTITY, bits, layout),
            false => Ok(Pointed::plain(layout)),
        }
    }

    /// The swizzle of addresses before a layout, which has none of its own.
    pub(super) fn of(
        swizzle: Swizzle,
        bits: Option<u64>,
        layout: Layout,
    ) -> Result<Pointed, Error> {
        let pointed = Pointed { swizzle, over: Over::Bytes(bits), layout };
        pointed.alone()
    }

    pub(super) fn alone(self) -> Result<Pointed, Error> {
        match self.layout.swizzle().is_identity() {
            true => Ok(self),
            false => Err(Error::unsupported("a layout has one swizzle, but two are given")),
        }
    }

    /// The layout of elements of `bits` bits.
    pub(super) fn layout(&self, bits: Option<u64>) -> Result<Layout, Error> {
        let swizzle = match self.over {
            Over::Offsets => self.swizzle,
            Over::Bytes(_) => self.of_elements(bits)?,
        };
        Ok(self.layout.with_swizzle(swizzle)?)
    }

    /// The swizzle of offsets that a swizzle of byte addresses is.
    fn of_elements(&self, bits: Option<u64>) -> Result<Swizzle, Error> {
        if self.swizzle.is_identity() {
            return Ok(Swizzle::IDENTITY);
        }
        let bits = bits.filter(|bits| bits.is_power_of_two()).ok_or_else(|| {
            let said =
                format!("`{self}` needs elements whose bits are a power of two, for its swizzle");
            Error::unsupported(said)
        })?;
        let base = i32::from(self.swizzle.base()) + 3 - bits.trailing_zeros() as i32;
        let base = u8::try_from(base).map_err(|_| {
            let said = format!(
                "`{self}`: the swizzle permutes bytes within an element of {bits} bits; its base is at least {}",
                bits.trailing_zeros() - 3
            );
            Error::unsupported(said)
        })?;
        Ok(Swizzle::new(self.swizzle.bits(), base, self.swizzle.shift())?)
    }

    /// Refuses a swizzle that is none of this layout, where the width of elements is known.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.over {
            Over::Bytes(None) => Ok(()),
            Over::Bytes(bits) => self.layout(bits).map(drop),
            Over::Offsets => self.layout(None).map(drop),
        }
    }
}

impl fmt::Display for Pointed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (b, m, s) = (self.swizzle.bits(), self.swizzle.base(), self.swizzle.shift());
        match self.over {
            Over::Offsets => f.write_str(&spell(&self.layout)),
            Over::Bytes(None) => write!(f, "Sw<{b},{m},{s}> o smem_ptr o {}", self.layout),
            Over::Bytes(Some(bits)) => {
                write!(f, "Sw<{b},{m},{s}> o smem_ptr[{bits}b](unset) o {}", self.layout)
            }
        }
    }
}

impl Reading for Pointed {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.layout.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        let stored = given.dtype.and_then(|dtype| dtype.bits()).map(u64::from);
        let bits = match self.over {
            Over::Bytes(Some(own)) if stored.is_some_and(|bits| bits != own) => {
                let bits = stored.unwrap_or_default();
                let said = format!("elements of {bits} bits, but `{self}` points at {own} bits");
                return Err(Error::mismatch(said));
            }
            Over::Bytes(_) if self.swizzle.is_identity() => None,
            Over::Bytes(own) => match own.or(stored) {
                None => Some(bits_of(given.need_dtype(self, "the base of its swizzle")?)?),
                bits => bits,
            },
            Over::Offsets => None,
        };
        let layout = TensorLayout::of(&self.layout(bits)?);
        given.agree_dims(self, layout.extents())?;
        let bare = given.dims.is_none() && given.dtype.is_none();
        Ok(Resolved { bare, ..Resolved::plain(layout, given) })
    }
}

/// `make_layout`, behind the swizzle if there is one.
pub(super) fn spell(layout: &Layout) -> String {
    let swizzle = layout.swizzle();
    let made = |name, tuple: &IntTuple| match tuple.as_integer() {
        Some(_) => tuple.to_string(),
        None => tuple.to_string().replace('(', &format!("{name}(")),
    };
    let shape = made("make_shape", &layout.shape());
    let text = format!("make_layout({shape},{})", made("make_stride", &layout.stride()));
    match swizzle.is_identity() {
        true => text,
        false => {
            let (b, m, s) = (swizzle.bits(), swizzle.base(), swizzle.shift());
            format!("composition(Swizzle<{b},{m},{s}>{{}},{text})")
        }
    }
}

/// The width of an element, which has one.
fn bits_of(dtype: Dtype) -> Result<u64, Error> {
    let said = || Error::unsupported(format!("{dtype} has an unknown width"));
    dtype.bits().map(u64::from).ok_or_else(said)
}
