//! The value that every notation reads a SPEC into: the interface between dialects and consumers.
//!
//! [`ParsedSpec`] is a parsed SPEC, and `ResolvedLayout` its layout for an array. Words applied to a layout change its
//! capacity to whole words, and it has their shape.

use std::fmt;

use tilewright_core::{Dtype, Fill, LinearLayout, Pattern, TensorLayout};

use crate::{
    Error, ResolvedLayout,
    literal::{needs_dims, needs_dtype, tuple},
    words::{AskedArray, Ratio, Words, product, shape},
};

/// A SPEC as one dialect read it. Its `Display` is the canonical text in that dialect.
///
/// Law: the dialect reads the canonical text as the same layout, and prints it as the same text.
///
/// ```
/// use std::fmt;
/// use tilewright_core::TensorLayout;
/// use tilewright_notation::{Error, dialect::{Given, ParsedSpec, ResolvedLayout}};
///
/// /// The order in which Fortran keeps any array.
/// #[derive(Debug)]
/// struct Fortran;
///
/// impl fmt::Display for Fortran {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("F")
///     }
/// }
///
/// impl ParsedSpec for Fortran {
///     fn is_concrete(&self) -> bool {
///         false
///     }
///     fn fits(&self, _rank: usize) -> bool {
///         true
///     }
///     fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
///         let dims = given.need_dims(self)?;
///         Ok(ResolvedLayout::plain(TensorLayout::col_major(dims)?, given))
///     }
/// }
///
/// assert!(Fortran.resolve(&Given::new(Some(&[2, 3]), None)).is_ok());
/// assert!(Fortran.resolve(&Given::new(None, None)).unwrap_err().needs_dims());
/// ```
pub trait ParsedSpec: fmt::Debug + fmt::Display + Send + Sync {
    /// Returns whether the SPEC carries its extents.
    fn is_concrete(&self) -> bool;
    /// Returns whether others read this text as the same layout: a user's own names mean nothing to them.
    #[doc(hidden)]
    fn is_known_everywhere(&self) -> bool {
        true
    }
    /// Returns whether some array of this rank has this layout.
    fn fits(&self, rank: usize) -> bool;
    /// The layout of the given array, which has its dims.
    ///
    /// # Errors
    /// What is missing or does not agree; [`Given`] has these errors.
    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error>;
    /// The width below a byte in which this array's elements are stored by default.
    fn packs(&self, _given: &Given<'_>) -> Option<u32> {
        None
    }
    /// The width of the elements that it is for, where it is for some widths alone.
    #[doc(hidden)]
    fn width(&self, given: &Given<'_>) -> Option<u32> {
        self.packs(given)
    }
    /// Returns candidate dims of an array whose storage is words of this shape, `per` elements in each: the caller
    /// checks whether such an array has these words.
    #[doc(hidden)]
    fn dims_of_words(&self, _given: &Given<'_>, shape: &[u64], per: u64) -> Vec<Vec<u64>> {
        let mut dims = shape.to_vec();
        if let Some(last) = dims.last_mut() {
            *last = last.saturating_mul(per);
        }
        let turned = dims.iter().rev().copied().collect();
        vec![dims, turned]
    }
    /// Which element each register of each thread holds, where the text spreads an array over threads.
    ///
    /// # Errors
    /// As [`ParsedSpec::resolve`].
    fn distribution(&self, _given: &Given<'_>) -> Result<Option<LinearLayout>, Error> {
        Ok(None)
    }
}

impl dyn ParsedSpec {
    /// The layout of exactly the given array: a notation that a user added may answer for another.
    pub(crate) fn of_array(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let resolved = self.resolve(given)?;
        given.agree_dims(&self, resolved.layout.extents())?;
        Ok(resolved)
    }
}

/// The facts that the caller knows of the array.
///
/// ```
/// use tilewright_notation::dialect::Given;
/// let given = Given::new(Some(&[2, 3]), None);
/// assert_eq!((given.dims, given.dtype), (Some(&[2, 3][..]), None));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Given<'a> {
    /// The extents, where they are known.
    pub dims: Option<&'a [u64]>,
    /// The element type, where it is known.
    pub dtype: Option<Dtype>,
}

impl<'a> Given<'a> {
    /// An array of these dims and this dtype.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::dialect::Given;
    /// assert_eq!(Given::new(None, Some(Dtype::F16)).dtype, Some(Dtype::F16));
    /// ```
    pub const fn new(dims: Option<&'a [u64]>, dtype: Option<Dtype>) -> Given<'a> {
        Given { dims, dtype }
    }

    /// The dims, which this general SPEC cannot do without.
    ///
    /// # Errors
    /// [needs dims](Error::needs_dims).
    ///
    /// ```
    /// use tilewright_notation::dialect::Given;
    /// assert_eq!(Given::new(Some(&[2, 3]), None).need_dims(&"zN").unwrap(), [2, 3]);
    /// assert!(Given::new(None, None).need_dims(&"zN").unwrap_err().needs_dims());
    /// ```
    pub fn need_dims(&self, spec: &dyn fmt::Display) -> Result<&'a [u64], Error> {
        self.dims.ok_or_else(|| {
            needs_dims(format!(
                    "`{spec}` needs the array's dims; a concrete layout carries them, such as `[100,100] {spec}`"
                ),
            )
        })
    }

    /// Returns the dtype, or the error that this SPEC needs it for `what`.
    ///
    /// # Errors
    /// [needs dtype](Error::needs_dtype).
    ///
    /// ```
    /// use tilewright_notation::dialect::Given;
    /// let error = Given::new(None, None).need_dtype(&"zN", "C0").unwrap_err();
    /// assert_eq!(error.message(), "`zN` needs the array's dtype, for C0");
    /// ```
    pub fn need_dtype(&self, spec: &dyn fmt::Display, what: &str) -> Result<Dtype, Error> {
        self.dtype
            .ok_or_else(|| needs_dtype(format!("`{spec}` needs the array's dtype, for {what}")))
    }

    /// Checks that given dims, if any, are those of a concrete SPEC.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch).
    ///
    /// ```
    /// use tilewright_notation::dialect::Given;
    /// assert!(Given::new(None, None).agree_dims(&"(2,3):(3,1)", &[2, 3]).is_ok());
    /// let other = Given::new(Some(&[3, 2]), None);
    /// assert!(other.agree_dims(&"(2,3):(3,1)", &[2, 3]).unwrap_err().is_mismatch());
    /// ```
    pub fn agree_dims(&self, spec: &dyn fmt::Display, own: &[u64]) -> Result<(), Error> {
        match self.dims {
            Some(dims) if dims != own => Err(Error::mismatch(format!(
                "an array of dims {}, but `{spec}` is a layout of dims {}",
                tuple(dims),
                tuple(own)
            ))),
            _ => Ok(()),
        }
    }

    /// The dtype of a SPEC that may carry one, which a given one must then equal.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch).
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::dialect::Given;
    /// let halves = Given::new(None, Some(Dtype::F16));
    /// assert_eq!(halves.agree_dtype(&"zN", None).unwrap(), Some(Dtype::F16));
    /// assert!(halves.agree_dtype(&"f32[2,3]", Some(Dtype::F32)).unwrap_err().is_mismatch());
    /// ```
    pub fn agree_dtype(
        &self,
        spec: &dyn fmt::Display,
        own: Option<Dtype>,
    ) -> Result<Option<Dtype>, Error> {
        match (self.dtype, own) {
            (Some(given), Some(own)) if given != own => Err(Error::mismatch(format!(
                "an array of {given}, but `{spec}` is a layout of {own}"
            ))),
            (given, own) => Ok(own.or(given)),
        }
    }
}

impl ResolvedLayout {
    /// A layout of elements of the given dtype, without other facts.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_notation::dialect::{Given, ResolvedLayout};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let resolved = ResolvedLayout::plain(layout, &Given::new(None, None));
    /// # let _ = resolved;
    /// ```
    pub fn plain(layout: TensorLayout, given: &Given<'_>) -> ResolvedLayout {
        ResolvedLayout::new("", layout, given.dtype, None, Fill::Unspecified)
    }

    /// The layout that a pattern gives an array of these dims, stored under the pattern's digits.
    ///
    /// # Errors
    /// As [`Pattern::layout`].
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// use tilewright_notation::dialect::{Given, ResolvedLayout};
    /// let zn = Fractal::ZN.pattern(16, 16);
    /// assert!(ResolvedLayout::of_pattern(&zn, &[100, 30], &Given::new(None, None)).is_ok());
    /// let error = ResolvedLayout::of_pattern(&zn, &[100], &Given::new(None, None)).unwrap_err();
    /// assert!(error.is_mismatch());
    /// ```
    pub fn of_pattern(
        pattern: &Pattern,
        dims: &[u64],
        given: &Given<'_>,
    ) -> Result<ResolvedLayout, tilewright_core::Error> {
        let storage = pattern.storage(dims)?;
        let resolved = ResolvedLayout::plain(pattern.layout(dims)?, given);
        Ok(resolved.with_storage(storage.as_slice()))
    }
}

impl AskedArray {
    /// Spells the storage of an array so. The elements are packed where no other width is given.
    pub(crate) fn apply(
        &self,
        resolved: &mut ResolvedLayout,
        spec: &dyn fmt::Display,
    ) -> Result<(), Error> {
        let bits = self.width(resolved, spec)?;
        let ratio = self.ratio(bits, spec)?;
        let (capacity, overflow) = (resolved.layout.capacity(), || too_many(spec));
        let (padded, count) = match ratio {
            Ratio::Elements(per) => {
                let count = capacity.div_ceil(per);
                (count.checked_mul(per).ok_or_else(overflow)?, count)
            }
            Ratio::Words(each) => (capacity, capacity.checked_mul(each).ok_or_else(overflow)?),
        };
        let dims = resolved.words_dims.clone().unwrap_or_else(|| resolved.storage_shape());
        let own = shape(&dims, ratio, count);
        let shape = match &self.shape {
            Some(given) if product(given) != Some(count) => {
                let fits = Words { dtype: self.dtype, bits: self.bits, shape: own, capacity };
                return Err(self.misfit(spec, (capacity, bits, count), &fits));
            }
            Some(given) => given.clone(),
            None => own,
        };
        resolved.layout = resolved.layout.with_capacity(padded)?;
        let whole = resolved.dtype.and_then(Dtype::storage_bits);
        resolved.bits = resolved.bits.or_else(|| (whole != Some(bits)).then_some(bits));
        resolved.bare = false;
        resolved.words = Some(Words { dtype: self.dtype, bits: self.bits, shape, capacity });
        Ok(())
    }

    /// The width of an element.
    fn width(&self, resolved: &ResolvedLayout, spec: &dyn fmt::Display) -> Result<u32, Error> {
        if let Some(dtype) = resolved.dtype.filter(|dtype| dtype.block().is_some()) {
            let message =
                format!("`{spec}` is of blocks of {dtype}, but words hold elements without blocks");
            return Err(Error::unsupported(message));
        }
        let own = resolved.bits.or_else(|| resolved.dtype?.packed_bits());
        own.ok_or_else(|| {
            let message =
                format!("`{spec} as {self}` needs the array's dtype, for the width of an element");
            needs_dtype(message)
        })
    }
}

fn too_many(spec: &dyn fmt::Display) -> Error {
    Error::overflow(format!("the words of `{spec}` overflow 64 bits"))
}
