//! The fields of a question in JSON.

use serde_json::Value;
use tilewright_notation::Named;

use crate::{
    Error,
    input::{self, Array},
};

/// The fields of a question: an object, whose members are read as what they are asked for.
///
/// ```
/// use tilewright::ask::Fields;
/// let question = serde_json::json!({ "spec": "zN", "dims": "32, 48", "dtype": "f16", "coord": [1, 2] });
/// let fields = Fields(&question);
/// assert_eq!(fields.layout("spec")?.to_spec(), "f16[32,48] zN");
/// assert_eq!((fields.integers("coord")?, fields.text("to")), (vec![1, 2], ""));
/// assert_eq!(fields.integer("spec").unwrap_err().field(), Some("spec"));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a Value);

impl<'a> Fields<'a> {
    /// A text; empty where there is none.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert_eq!(Fields(&serde_json::json!({ "to": "cute" })).text("to"), "cute");
    /// ```
    pub fn text(&self, field: &str) -> &'a str {
        self.0[field].as_str().unwrap_or_default()
    }

    /// The array of `dims`, a list or as typed, and `dtype`. An empty text is not given.
    ///
    /// # Errors
    /// As [`Array::read`].
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// let array = Fields(&serde_json::json!({ "dims": [2, 3], "dtype": "" })).array()?;
    /// assert_eq!((array.dims, array.dtype), (Some(vec![2, 3]), None));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn array(&self) -> Result<Array, Error> {
        let given = |field| Some(self.text(field)).filter(|text| !text.trim().is_empty());
        let array = Array::read(given("dims"), given("dtype").map(str::trim))?;
        match self.0["dims"].is_array() {
            true => Ok(Array { dims: Some(self.integers("dims")?), ..array }),
            false => Ok(array),
        }
    }

    /// The layout of that array in this field.
    ///
    /// # Errors
    /// As [`Array::layout`].
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// let error = Fields(&serde_json::json!({ "from": "(2" })).layout("from").unwrap_err();
    /// assert_eq!((error.field(), error.span()), (Some("from"), Some((2, 2))));
    /// ```
    pub fn layout(&self, field: &'static str) -> Result<Named, Error> {
        self.array()?.layout(field, self.text(field))
    }

    /// The layouts `a` and `b` of that array; what one lacks it takes from the other.
    ///
    /// # Errors
    /// As [`Array::layouts`].
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// let question = serde_json::json!({ "a": "(2,3):(3,1)", "b": "col-major" });
    /// assert_eq!(Fields(&question).layouts()?[1].layout().extents(), [2, 3]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn layouts(&self) -> Result<[Named; 2], Error> {
        self.array()?.layouts(self.text("a"), self.text("b"))
    }

    /// An integer.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert_eq!(Fields(&serde_json::json!({ "offset": -1 })).integer("offset")?, -1);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn integer(&self, field: &'static str) -> Result<i64, Error> {
        self.0[field].as_i64().ok_or_else(|| Error::usage(field, "expected an integer"))
    }

    /// Integers from 0 on: a list, or as a person types it.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert_eq!(Fields(&serde_json::json!({ "coord": "(1, 5)" })).integers("coord")?, [1, 5]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn integers(&self, field: &'static str) -> Result<Vec<u64>, Error> {
        let Some(list) = self.0[field].as_array() else {
            return input::integers(field, self.text(field));
        };
        let says = |one: &Value| Error::usage(field, format!("{one} is no integer from 0 on"));
        list.iter().map(|one| one.as_u64().ok_or_else(|| says(one))).collect()
    }

    /// A list of bytes.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert!(Fields(&serde_json::json!({ "packed": [256] })).bytes("packed").is_err());
    /// ```
    pub fn bytes(&self, field: &'static str) -> Result<Vec<u8>, Error> {
        let says = |one| Error::usage(field, format!("{one} is no byte"));
        let byte = |one: u64| u8::try_from(one).map_err(|_| says(one));
        self.integers(field)?.into_iter().map(byte).collect()
    }
}
