//! An access of shared memory: the elements that each thread reads or writes, and how many at once.

use tilewright_core::Error;

use crate::Spread;

/// An access of an array by the threads of a [`Spread`]. Each instruction moves `vector` consecutive values of each
/// thread. The tile of the spread is repeated over the array from its origin on; a thread whose element is outside the
/// array does nothing.
///
/// ```
/// use tilewright_banks::{Access, Spread};
/// let access = Access::read("row", Spread::rows(&[4, 64], 1, 2, 32)?, 2)?;
/// assert_eq!((access.name(), access.vector(), access.is_write()), ("row", 2, false));
/// assert_eq!(access.spread().values(), 8);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    name: String,
    spread: Spread,
    vector: u64,
    write: bool,
}

impl Access {
    /// Creates a read of `vector` elements at once by each thread.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless `vector` divides the number of values of a thread.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// let spread = Spread::rows(&[4, 64], 1, 2, 32)?;
    /// assert!(Access::read("row", spread, 3).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn read(name: &str, spread: Spread, vector: u64) -> Result<Access, Error> {
        if vector == 0 || !spread.values().is_multiple_of(vector) {
            let numbers = [spread.values().into(), vector.into()];
            let legal = "choose a vector size that divides them";
            return Err(Error::mismatch(
                "{} values per thread do not divide into vectors of {}",
                numbers,
                legal,
            ));
        }
        Ok(Access { name: name.into(), spread, vector, write: false })
    }

    /// Creates a write of `vector` elements at once by each thread.
    ///
    /// # Errors
    /// Those of [`Access::read`].
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert!(Access::write("row", Spread::rows(&[4, 64], 1, 1, 32)?, 1)?.is_write());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn write(name: &str, spread: Spread, vector: u64) -> Result<Access, Error> {
        Ok(Access { write: true, ..Access::read(name, spread, vector)? })
    }

    /// Returns the name under which results mention the access.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert_eq!(Access::read("column", Spread::columns(&[8, 8], 1, 1, 32)?, 1)?.name(), "column");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the map from (thread, value) to elements.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert_eq!(Access::read("row", Spread::rows(&[8, 8], 1, 1, 32)?, 1)?.spread().threads(), 32);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn spread(&self) -> &Spread {
        &self.spread
    }

    /// Returns the number of elements that a thread accesses at once.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert_eq!(Access::read("row", Spread::rows(&[8, 8], 1, 4, 32)?, 4)?.vector(), 4);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn vector(&self) -> u64 {
        self.vector
    }

    /// Returns whether the access is a write.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert!(!Access::read("row", Spread::rows(&[8, 8], 1, 1, 32)?, 1)?.is_write());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn is_write(&self) -> bool {
        self.write
    }
}
