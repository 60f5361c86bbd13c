//! What every notation reads a SPEC into: the seam between dialects and consumers.

use std::fmt;

use tilewright_core::{Dtype, Fill, LinearLayout, TensorLayout};

use crate::{
    error::{Error, Kind},
    scan::tuple,
};

/// A SPEC as one dialect read it. Its `Display` is the canonical text in that dialect.
pub(crate) trait Reading: fmt::Debug + fmt::Display + Send + Sync {
    /// Whether it carries its extents.
    fn is_concrete(&self) -> bool;
    /// Whether others read this text as the same layout: a user's own names mean nothing to them.
    fn is_known_everywhere(&self) -> bool {
        true
    }
    /// Whether some array of this rank has this layout.
    fn fits(&self, rank: usize) -> bool;
    /// The layout of the given array.
    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error>;
    /// The width below a byte in which this array's elements are stored where nothing else is said.
    fn packs(&self, _given: &Given<'_>) -> Option<u32> {
        None
    }
    /// Which element each register of each thread holds, where the text spreads an array over threads.
    fn distribution(&self, _given: &Given<'_>) -> Result<Option<LinearLayout>, Error> {
        Ok(None)
    }
}

/// What the caller knows of the array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    pub(crate) dims: Option<&'a [u64]>,
    pub(crate) dtype: Option<Dtype>,
}

impl<'a> Given<'a> {
    /// The dims, which this general SPEC cannot do without.
    pub(crate) fn need_dims(&self, spec: &dyn fmt::Display) -> Result<&'a [u64], Error> {
        self.dims.ok_or_else(|| {
            Error::new(
                Kind::NeedsDims,
                format!(
                    "`{spec}` needs the array's dims; a concrete layout carries them, such as `[100,100] {spec}`"
                ),
            )
        })
    }

    /// The dtype, without which this SPEC has no `what`.
    pub(crate) fn need_dtype(&self, spec: &dyn fmt::Display, what: &str) -> Result<Dtype, Error> {
        self.dtype.ok_or_else(|| {
            Error::new(Kind::NeedsDtype, format!("`{spec}` needs the array's dtype, for {what}"))
        })
    }

    /// Checks that given dims, if any, are those of a concrete SPEC.
    pub(crate) fn agree_dims(&self, spec: &dyn fmt::Display, own: &[u64]) -> Result<(), Error> {
        match self.dims {
            Some(dims) if dims != own => Err(Error::new(
                Kind::Mismatch,
                format!(
                    "an array of dims {}, but `{spec}` is a layout of dims {}",
                    tuple(dims),
                    tuple(own)
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The dtype of a SPEC that may carry one, which a given one must then equal.
    pub(crate) fn agree_dtype(
        &self,
        spec: &dyn fmt::Display,
        own: Option<Dtype>,
    ) -> Result<Option<Dtype>, Error> {
        match (self.dtype, own) {
            (Some(given), Some(own)) if given != own => Err(Error::new(
                Kind::Mismatch,
                format!("an array of {given}, but `{spec}` is a layout of {own}"),
            )),
            (given, own) => Ok(own.or(given)),
        }
    }
}

/// A layout with what was said about its elements.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) layout: TensorLayout,
    pub(crate) dtype: Option<Dtype>,
    pub(crate) bits: Option<u32>,
    pub(crate) fill: Fill,
    pub(crate) bare: bool,
}

impl Resolved {
    /// A layout of elements of the given dtype, of which nothing else was said.
    pub(crate) fn plain(layout: TensorLayout, given: &Given<'_>) -> Resolved {
        Resolved { layout, dtype: given.dtype, bits: None, fill: Fill::Unspecified, bare: false }
    }
}
