//! Answer with a layout in another notation.

use std::fmt;

use serde_json::{Value, json};
use tilewright_notation::{Named, Notation};

use super::Answer;
use crate::Error;

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
    pub fn of(named: &Named, to: &Notation) -> Result<Translation, Error> {
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
