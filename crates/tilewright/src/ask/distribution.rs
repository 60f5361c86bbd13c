//! Answer about an array that is spread over threads: which register of which thread holds which element.

use std::fmt;

use serde_json::{Value, json};
use tilewright_core::LinearLayout;

use super::Answer;
use crate::{
    Error,
    input::{self, Array},
};

/// Map from registers, lanes, warps and blocks to coordinates.
///
/// ```
/// use tilewright::{ask::{Answer, Distribution}, input::Array};
/// let of = |text| Distribution::of(text, &Array { dims: Some(vec![8]), dtype: None });
/// let text = "#ttg.blocked<{sizePerThread=[2], threadsPerWarp=[4], warpsPerCTA=[2], order=[0]}>";
/// assert_eq!(of(text)?.to_string(), "{register=[1],lane=[2,4],warp=[0],block=[]} -> (dim0:8)");
/// // An array in memory is held by no thread.
/// assert!(of("row-major")?.is_no());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// The map; `None` for an array in memory.
    pub map: Option<LinearLayout>,
}

impl Distribution {
    /// Returns the map that a text describes for an array.
    ///
    /// # Errors
    /// As [`input::read`] and [`Spec::distribution`](crate::Spec::distribution), in the field `spec`.
    ///
    /// ```
    /// use tilewright::{ask::Distribution, input::Array};
    /// let error = Distribution::of("#ttg.blocked<{sizePerThread=[1]}>", &Array::default()).unwrap_err();
    /// assert_eq!(error.field(), Some("spec"));
    /// ```
    pub fn of(spec: &str, array: &Array) -> Result<Distribution, Error> {
        let spec = input::read(spec).map_err(|error| error.in_field("spec"))?;
        let map = spec.distribution(array.dims.as_deref(), array.dtype);
        map.map(|map| Distribution { map }).map_err(|error| error.in_field("spec"))
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.map {
            Some(map) => write!(f, "{map}"),
            None => f.write_str("an array in memory"),
        }
    }
}

impl Answer for Distribution {
    fn to_json(&self) -> Value {
        json!({ "map": self.map.as_ref().map(ToString::to_string) })
    }

    fn is_no(&self) -> bool {
        self.map.is_none()
    }
}
