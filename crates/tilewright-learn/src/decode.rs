//! [`Decoder`]: the numbers of the elements of one result, from the result of each load.

use tilewright_core::Dtype;

use crate::{COMPUTED, CONSTANT, Code, Error, Space, ZERO};

/// Set while an element has not coded a digit in a load.
const NO_CODE: u64 = 1 << 63;
/// Set if an element has had two different values.
const CHANGES: u64 = 1 << 62;

/// Reads one result load by load. It keeps 16 bytes for each element, twice the size of the map that it makes.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_learn::{COMPUTED, CONSTANT, Decoder, Sources, Space, ZERO};
/// let space = Space::new(Sources::numbered([("w".into(), vec![1])])?, 128)?;
/// let mut decoder = Decoder::new(&space, Dtype::U8, 4)?;
/// for load in 0..space.loads() {
///     let w = space.coded(0, load, Dtype::U8)?[0];
///     // The element, padding, a constant, and the load plus one.
///     decoder.add(&[w, 0, 7, load as u8 + 1])?;
/// }
/// assert_eq!(decoder.finish()?.ids, [1, ZERO, CONSTANT, COMPUTED]);
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoder<'a> {
    space: &'a Space,
    code: Code,
    load: u32,
    ids: Vec<u64>,
    first: Vec<u64>,
}

/// The numbers of the elements of a result, in storage order, and the bits of its constants.
///
/// ```
/// use tilewright_learn::{Constants, Decoded};
/// let decoded = Decoded { ids: vec![1, -3], constants: Constants::default() };
/// assert_eq!(decoded.unexplained(), Some(1));
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The number of each element: that of a source element, or [`ZERO`], [`CONSTANT`], [`COMPUTED`].
    pub ids: Vec<i64>,
    /// The bits of the constant elements.
    pub constants: Constants,
}

impl Decoded {
    /// Returns the place of the first unexplained element.
    ///
    /// ```
    /// use tilewright_learn::Decoded;
    /// assert_eq!(Decoded::default().unexplained(), None);
    /// ```
    pub fn unexplained(&self) -> Option<usize> {
        self.ids.iter().position(|id| *id == COMPUTED)
    }
}

/// The bits of the constant elements in storage order, as runs of equal ones.
///
/// ```
/// use tilewright_learn::Constants;
/// let mut constants = Constants::default();
/// [5, 5, 6].map(|bits| constants.push(bits));
/// assert_eq!(constants.runs(), [(5, 2), (6, 1)]);
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants(Vec<(u64, u64)>);

impl Constants {
    /// Adds the bits of the next constant element.
    ///
    /// ```
    /// let mut constants = tilewright_learn::Constants::default();
    /// constants.push(0x3F80);
    /// assert_eq!(constants.runs().len(), 1);
    /// ```
    pub fn push(&mut self, bits: u64) {
        self.extend(bits, 1);
    }

    /// Adds the bits of some constant elements in a row.
    ///
    /// ```
    /// let mut constants = tilewright_learn::Constants::default();
    /// constants.extend(0x3F80, 1000);
    /// assert_eq!(constants.runs(), [(0x3F80, 1000)]);
    /// ```
    pub fn extend(&mut self, bits: u64, more: u64) {
        match self.0.last_mut() {
            Some((last, count)) if *last == bits => *count = count.saturating_add(more),
            _ => self.0.push((bits, more)),
        }
    }

    /// Returns the runs: bits, and how many constant elements in a row have them.
    ///
    /// ```
    /// assert!(tilewright_learn::Constants::default().runs().is_empty());
    /// ```
    pub fn runs(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Iterates over the bits of all constant elements.
    ///
    /// ```
    /// let mut constants = tilewright_learn::Constants::default();
    /// constants.push(7);
    /// assert_eq!(constants.iter().collect::<Vec<u64>>(), [7]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|(bits, count)| std::iter::repeat_n(*bits, *count as usize))
    }
}

impl<'a> Decoder<'a> {
    /// Starts to read a result of `size` elements, which holds source elements of type `dtype`.
    ///
    /// # Errors
    /// Those of [`Code::of`].
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::{Decoder, Sources, Space};
    /// let space = Space::new(Sources::new(vec![])?, 128)?;
    /// assert!(Decoder::new(&space, Dtype::Pred, 8).unwrap_err().is_unsupported());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn new(space: &'a Space, dtype: Dtype, size: usize) -> Result<Decoder<'a>, Error> {
        let code = Code::of(dtype)?;
        Ok(Decoder { space, code, load: 0, ids: vec![0; size], first: Vec::new() })
    }

    /// Adds the bytes of the result of the next load, in storage order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the number of bytes is not that of the elements, or if all loads were added.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::{Decoder, Sources, Space};
    /// let space = Space::new(Sources::new(vec![])?, 128)?;
    /// let mut decoder = Decoder::new(&space, Dtype::F32, 2)?;
    /// assert!(decoder.add(&[0; 7]).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let want = (self.ids.len() * self.code.bits() as usize).div_ceil(8);
        if bytes.len() != want {
            return Err(Error::mismatch(format!(
                "load {} has {} bytes, and {} elements have {want}; all loads give arrays of one size",
                self.load,
                bytes.len(),
                self.ids.len()
            )));
        }
        if self.load >= self.space.loads() {
            return Err(Error::mismatch(format!("load {} of {}", self.load, self.space.loads())));
        }
        match self.code.bits() {
            bits @ (2 | 4) => self.take(crate::space::parts(bytes, bits)),
            8 => self.take(bytes.iter().map(|byte| u64::from(*byte))),
            16 => self.take(words::<2>(bytes)),
            32 => self.take(words::<4>(bytes)),
            _ => self.take(words::<8>(bytes)),
        }
        self.load += 1;
        Ok(())
    }

    /// Adds the elements of the next load.
    fn take(&mut self, elements: impl Iterator<Item = u64>) {
        let (space, code, load) = (self.space, self.code, self.load);
        let radix = space.radix();
        let digit = |pattern| code.digit(pattern).filter(|digit| *digit < radix);
        if load == 0 {
            self.first = Vec::with_capacity(self.ids.len());
            self.first.extend(elements.take(self.ids.len()));
            for (id, pattern) in self.ids.iter_mut().zip(&self.first) {
                *id = digit(*pattern).unwrap_or(NO_CODE);
            }
            return;
        }
        let shift = space.radix().trailing_zeros() * load;
        let last = load + 1 == space.loads();
        for ((id, first), pattern) in self.ids.iter_mut().zip(&self.first).zip(elements) {
            if pattern != *first {
                *id |= CHANGES;
            }
            let number = *id & !(NO_CODE | CHANGES);
            *id |= match digit(pattern) {
                Some(digit) if last => NO_CODE * u64::from(digit != space.check(number)),
                Some(digit) => digit << shift,
                None => NO_CODE,
            };
        }
    }

    /// Returns the numbers, after all loads were added.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if a load is missing.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::{Decoder, Sources, Space};
    /// let space = Space::new(Sources::new(vec![])?, 128)?;
    /// let missing = Decoder::new(&space, Dtype::F32, 2)?.finish().unwrap_err();
    /// assert_eq!(missing.to_string(), "0 of 2 loads were read; read all of them");
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn finish(self) -> Result<Decoded, Error> {
        let Decoder { space, load, ids, first, .. } = self;
        if load != space.loads() {
            let loads = space.loads();
            return Err(Error::mismatch(format!(
                "{load} of {loads} loads were read; read all of them"
            )));
        }
        let mut constants = Constants::default();
        let mut owned = space.sources().cursor();
        let numbers = ids.into_iter().zip(first).map(|(id, first)| {
            if id & NO_CODE == 0 && owned.moves((id & !CHANGES) as i64) {
                return (id & !CHANGES) as i64;
            }
            match (id & CHANGES, first) {
                (0, 0) => ZERO,
                (0, bits) => {
                    constants.push(bits);
                    CONSTANT
                }
                (_, _) => COMPUTED,
            }
        });
        Ok(Decoded { ids: numbers.collect(), constants })
    }
}

/// Iterates over little-endian words.
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<N>().0.iter().map(|word| {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(word);
        u64::from_le_bytes(wide)
    })
}
