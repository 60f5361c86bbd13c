//! The source of the lists of index tables that a SPEC names and does not contain.

use crate::Error;

/// A source of the lists that a SPEC names.
///
/// Numbers below 0 are holes. `()` is a source without lists: each is an error that says so.
///
/// ```
/// use tilewright_notation::{Error, Lists, Spec};
/// struct Own;
/// impl Lists for Own {
///     fn file(&self, path: &str) -> Result<Vec<i64>, Error> {
///         Err(Error::unsupported(format!("{path}: no files here")))
///     }
///     fn tensor(&self, _: &str) -> Result<Vec<i64>, Error> {
///         Ok(vec![2, -1, 0, 1])
///     }
/// }
/// let spec = Spec::parse("f16[3,8] table(0; tensor order) row-major").unwrap();
/// let tabled = spec.array_layout(None, None, &Own).unwrap();
/// assert_eq!(tabled.to_spec(), "f16[3,8] table(0; 2,-,0,1) row-major");
/// assert!(spec.array_layout(None, None, &()).unwrap_err().is_unsupported());
/// ```
pub trait Lists {
    /// The numbers of a file.
    ///
    /// # Errors
    /// Why there are none.
    fn file(&self, path: &str) -> Result<Vec<i64>, Error>;
    /// The numbers of a tensor of the same file.
    ///
    /// # Errors
    /// Why there are none.
    fn tensor(&self, name: &str) -> Result<Vec<i64>, Error>;
}

impl Lists for () {
    fn file(&self, path: &str) -> Result<Vec<i64>, Error> {
        let said = format!(
            "the index table of the file {path:?} is not read here; write its entries, as `table(0; 2,0,1)`"
        );
        Err(Error::unsupported(said))
    }

    fn tensor(&self, name: &str) -> Result<Vec<i64>, Error> {
        let said = format!(
            "the index table of tensor {name:?} is known only where a file of tensors is read; write its entries, as `table(0; 2,0,1)`"
        );
        Err(Error::unsupported(said))
    }
}
