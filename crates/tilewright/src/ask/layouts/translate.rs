//! Answers about the texts of a layout: in another notation, its whole SPEC with the properties of its array, and its
//! names in the catalogue.

use std::{borrow::Cow, fmt};

use serde_json::{Value, json};
use tilewright_notation::{ArrayLayout, Notation, Recognised, ResolvedLayout, Words, recognise};

use crate::{
    Error,
    ask::{Answer, explain::words_json},
};

/// Layout in one notation.
///
/// ```
/// use tilewright::{Spec, ask::Translation, notation::notation};
/// let tiled = Spec::parse("f32[3,5]{1,0:T(2,2)}")?.resolve(None, None)?;
/// let text = Translation::of(&tiled, notation("cute")?)?.text;
/// assert_eq!(text, "((2,2),(2,3)):((2,12),(1,4)) valid (3,5)");
/// // NumPy has strides, and these are none.
/// assert!(Translation::of(&tiled, notation("numpy")?).unwrap_err().is_unsupported());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The name of the notation.
    pub notation: &'static str,
    /// The layout in that notation.
    pub text: String,
    /// The layout as one SPEC.
    pub layout: String,
    /// The logical extents.
    pub dims: Vec<u64>,
    /// The name of the element type, if known.
    pub dtype: Option<&'static str>,
}

impl Translation {
    /// Prints a layout in a notation.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) with the property that the notation cannot express.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Translation, notation::notation};
    /// let zn = Spec::parse("f16[32,32] zN")?.resolve(None, None)?;
    /// assert_eq!(Translation::of(&zn, notation("onednn")?)?.text, "BA16a16b");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(named: &ResolvedLayout, to: &Notation) -> Result<Translation, Error> {
        let refused = |error: Error| error.prefixed(&format!("{} cannot express it: ", to.name()));
        Ok(Translation {
            notation: to.name(),
            text: to.print(named).map_err(refused)?,
            layout: named.to_spec(),
            dims: named.layout().extents().to_vec(),
            dtype: named.dtype().map(|dtype| dtype.name()),
        })
    }
}

impl fmt::Display for Translation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)
    }
}

impl Answer for Translation {
    fn to_json(&self) -> Value {
        json!({
            "notation": self.notation,
            "text": self.text,
            "layout": self.layout,
            "dims": self.dims,
            "dtype": self.dtype,
        })
    }
}

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

/// Named formats that describe a layout.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Recognition}};
/// let blocks = Spec::parse("bf16[32,48] ((16,2),(16,3)):((16,256),(1,512))")?.resolve(None, None)?;
/// let names = Recognition::of(&blocks);
/// assert_eq!(names.formats[0].name, "zN");
/// assert!(names.to_string().starts_with("zN  = NZ, FRACTAL_NZ"));
/// let gaps = Recognition::of(&Spec::parse("(8,12):(1,9)")?.resolve(None, None)?);
/// assert!(gaps.is_no() && gaps.to_string() == "no named format");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recognition {
    /// The layout as one SPEC.
    pub layout: String,
    /// The names of the layout, in the order of the catalogue.
    pub formats: Vec<Recognised>,
}

impl Recognition {
    /// Finds all names of a layout.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Recognition};
    /// let channels = Spec::parse("f16[2,1,4,5] NHWC")?.resolve(None, None)?;
    /// let names: Vec<String> = Recognition::of(&channels).formats.into_iter().map(|one| one.name).collect();
    /// assert!(names.contains(&"NCHW".into()) && names.contains(&"NHWC".into()));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(named: &ResolvedLayout) -> Recognition {
        Recognition { layout: named.to_spec(), formats: recognise(named) }
    }

    /// Iterates over the names, one on a line.
    pub(in crate::ask) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.formats.iter().map(line)
    }

    /// Returns the names as JSON.
    pub(in crate::ask) fn values(&self) -> Vec<Value> {
        let one = |found: &Recognised| {
            json!({
                "name": found.name,
                "aliases": found.format.aliases,
                "bits": found.bits,
                "source": found.format.source,
            })
        };
        self.formats.iter().map(one).collect()
    }
}

/// Returns a name with its other names, and the width of elements if the layout does not give it.
fn line(found: &Recognised) -> String {
    let aliases = found.format.aliases;
    let others =
        if aliases.is_empty() { String::new() } else { format!("  = {}", aliases.join(", ")) };
    let bits = found.bits.map(|bits| format!("  of {bits}-bit elements")).unwrap_or_default();
    format!("{}{bits}{others}", found.name)
}

impl fmt::Display for Recognition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_no() {
            return f.write_str("no named format");
        }
        self.lines().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Answer for Recognition {
    fn to_json(&self) -> Value {
        json!({ "layout": self.layout, "formats": self.values() })
    }

    fn is_no(&self) -> bool {
        self.formats.is_empty()
    }
}
