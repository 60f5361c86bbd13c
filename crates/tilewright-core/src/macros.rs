//! `?` for `const fn`, which lacks it, and `Debug` for values whose text is complete.

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

/// Implements `Debug` as `Display`: for errors, whose message `unwrap` shows, and for values with a text.
///
/// ```
/// struct Refused(u64);
///
/// impl std::fmt::Display for Refused {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "{} elements; at most 8", self.0)
///     }
/// }
///
/// tilewright_core::debug_as_display!(Refused);
/// assert_eq!(format!("{:?}", Refused(9)), "9 elements; at most 8");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($($type:ty),+) => { $(
        impl ::core::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }
    )+ };
}
pub(crate) use debug_as_display;
