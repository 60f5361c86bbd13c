//! Answer about a layout that was read: its whole SPEC, and the properties of its array.

use std::{borrow::Cow, fmt};

use serde_json::{Value, json};
use tilewright_notation::{ArrayLayout, Words};

use super::{Answer, explain::words_json};

/// Layout that was read.
///
/// ```
/// use tilewright::{Spec, ask::Parsed};
/// let zn = Spec::parse("zN")?.resolve(Some(&[20, 40]), tilewright::notation::dtype("f16").ok())?;
/// let parsed = Parsed::of(&zn);
/// assert_eq!((parsed.spec.as_str(), parsed.capacity, parsed.bits), ("f16[20,40] zN", 1536, Some(16)));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// One SPEC with all properties.
    pub spec: String,
    /// The logical extents.
    pub dims: Vec<u64>,
    /// The length of the storage, in elements.
    pub capacity: u64,
    /// The name of the element type, if known.
    pub dtype: Option<&'static str>,
    /// The width of a stored element in bits, if known.
    pub bits: Option<u32>,
    /// The type and shape under which other programs store the elements, if it differs from the element type.
    pub stored_as: Option<Words>,
}

impl Parsed {
    /// Returns the properties of a layout, which may have index tables.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Parsed};
    /// let parsed = Parsed::of(&Spec::parse("6:2")?.resolve(None, None)?);
    /// assert_eq!((parsed.dims, parsed.capacity, parsed.dtype), (vec![6], 11, None));
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// let spec = Spec::parse("f16[2,8] table(0; 1, -, 0) row-major")?;
    /// let parsed = Parsed::of(&spec.array_layout(None, None, &())?);
    /// assert_eq!((parsed.spec.as_str(), parsed.capacity), ("f16[2,8] table(0; 1,-,0) row-major", 24));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of<'a>(array: impl Into<Cow<'a, ArrayLayout>>) -> Parsed {
        let array = array.into();
        let stored = array.stored();
        Parsed {
            spec: array.to_spec(),
            dims: array.layout().extents().to_vec(),
            capacity: stored.layout().capacity(),
            dtype: stored.dtype().map(|dtype| dtype.name()),
            bits: stored.element_bits(),
            stored_as: stored.stored_as().cloned(),
        }
    }
}

impl fmt::Display for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.spec)
    }
}

impl Answer for Parsed {
    fn to_json(&self) -> Value {
        let mut json = json!({
            "spec": self.spec,
            "dims": self.dims,
            "capacity": self.capacity,
            "dtype": self.dtype,
            "bits": self.bits,
        });
        if let Some(words) = &self.stored_as {
            json["stored_as"] = words_json(words);
        }
        json
    }
}
