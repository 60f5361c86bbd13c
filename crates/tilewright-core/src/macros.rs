//! The one private macro: `?` for `const fn`, which has none.

/// Unwraps a `Result` or returns its error, in a `const fn`.
macro_rules! tri {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
pub(crate) use tri;
