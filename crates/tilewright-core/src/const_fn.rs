//! Macros that `const fn` lacks: `?`, `Debug` for values whose text is complete, and layouts in constants (`layout!` and
//! `expect_const!`, whose panic is the compile error).

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

/// Returns the layout of a text in a constant; an illegal text is a compile error with this crate's message.
///
/// In a `const` or `static` item `cargo check` reports it; in a generic associated constant only a build does. For
/// run-time input use [`Layout::parse`](crate::Layout::parse), which returns the error.
///
/// ```
/// use tilewright_core::{Layout, layout};
/// const TILED: Layout = layout!("((4,2),(4,3)):((4,16),(1,32))");
/// assert_eq!(TILED.offset_at(&[1, 5]), Ok(37));
/// ```
/// ```compile_fail
/// use tilewright_core::{Layout, layout};
/// // error[E0080]: … the strides are bracketed unlike the extents: rank 1 against 2; byte 7 of …
/// const BAD: Layout = layout!("(8,32):(32)");
/// ```
#[macro_export]
macro_rules! layout {
    ($text:expr) => {
        const { $crate::Layout::parse_const($text) }
    };
}

/// Returns the value of a `Result` of this crate in a constant; an error is a compile error with its message.
///
/// Applies to every `const fn` of the crate that returns a `Result` with an [`Error`](crate::Error) or a
/// [`ParseError`](crate::ParseError).
///
/// ```
/// use tilewright_core::{Layout, expect_const, layout};
/// const A: Layout = layout!("(6,2):(8,2)");
/// const B: Layout = layout!("(4,3):(3,1)");
/// const AB: Layout = expect_const!(A.composition(&B));
/// assert_eq!(AB.to_string(), "((2,2),3):((24,2),8)");
/// ```
/// ```compile_fail
/// use tilewright_core::{Layout, expect_const, layout};
/// const A: Layout = layout!("(6,2):(1,7)");
/// const B: Layout = layout!("(3,2):(2,3)");
/// // error[E0080]: … at (2,1): …
/// const AB: Layout = expect_const!(A.composition(&B));
/// ```
///
/// # Panics
/// On an error, with its message. Outside of constants, match on the `Result`.
#[macro_export]
macro_rules! expect_const {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => error.panic_const(),
        }
    };
}
