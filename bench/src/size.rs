//! The size of a case: beyond every cache, within that of one core, a few cache lines, or a test.

use std::{fmt, str::FromStr};

use crate::Error;

/// The sizes in which every case is defined.
///
/// ```
/// use tilewright_bench::Size;
/// assert_eq!("l2".parse::<Size>(), Ok(Size::L2));
/// assert_eq!(Size::ALL.map(|size| size.to_string()), ["memory", "l2", "tiny", "small"]);
/// assert!("l4".parse::<Size>().unwrap_err().to_string().contains("memory, l2, tiny, small"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// Larger than caches: the source or the result has at least 128 MB.
    Memory,
    /// Source and destination together fit a megabyte.
    L2,
    /// From 64 bytes to 64 kB, several shapes of each case: measures the cost of a call.
    Tiny,
    /// A few kilobytes, for tests.
    Small,
    /// As it was drawn or given; no definition has this size.
    Random,
}

impl Size {
    /// The sizes of definitions.
    pub const ALL: [Size; 4] = [Size::Memory, Size::L2, Size::Tiny, Size::Small];

    const fn name(self) -> &'static str {
        match self {
            Size::Memory => "memory",
            Size::L2 => "l2",
            Size::Tiny => "tiny",
            Size::Small => "small",
            Size::Random => "random",
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Size, Error> {
        let found = Size::ALL.into_iter().find(|size| size.name() == text);
        found.ok_or_else(|| {
            Error::definition(format!(
                "no size is called {text:?}; they are memory, l2, tiny, small"
            ))
        })
    }
}
