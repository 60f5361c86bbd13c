//! The definitions: TOML files of cases, which are part of the program.
//!
//! A case states an array, the layout from which it is moved, and the layout to which it is moved, as SPECs in any
//! notation:
//!
//! ```toml
//! [[case]]
//! name = "transpose-f32-odd"
//! dtype = "f32"
//! from = "row-major"
//! to = "col-major"
//! quick = true                # measured by `--quick`; false unless said
//! memory = { dims = [8191, 8189], checksum = "0x…" }
//! l2 = { dims = [251, 257], checksum = "0x…" }
//! tiny = [                    # none, unless said
//!     { dims = [7, 9], checksum = "0x…" },
//!     { dims = [31, 33], checksum = "0x…" },
//! ]
//! small = { dims = [37, 71], checksum = "0x…" }
//! ```
//!
//! A size may state its own `from` or `to`, if their text contains numbers that depend on the dims. The checksum is
//! that of the destination's bytes, [`checksum`](crate::data::checksum), if the source contains
//! [`fill`](crate::data::fill) and padding contains its fill.

use std::slice;

use serde::Deserialize;

use crate::{Case, Error, Size};

/// Every file, by its name.
const FILES: [(&str, &str); 8] = [
    ("transpose", include_str!("../definitions/transpose.toml")),
    ("images", include_str!("../definitions/images.toml")),
    ("orders", include_str!("../definitions/orders.toml")),
    ("fractals", include_str!("../definitions/fractals.toml")),
    ("tiles", include_str!("../definitions/tiles.toml")),
    ("vendors", include_str!("../definitions/vendors.toml")),
    ("strided", include_str!("../definitions/strided.toml")),
    ("packed", include_str!("../definitions/packed.toml")),
];

/// A case as it is written.
///
/// ```
/// use tilewright_bench::{Size, definitions};
/// let all = definitions()?;
/// let odd = all.iter().find(|case| case.name() == "transpose-f32-odd").unwrap();
/// assert_eq!(odd.dtype(), "f32");
/// assert_eq!(odd.case(Size::Memory)?.dims(), [8191, 8189]);
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    name: String,
    dtype: String,
    from: Option<String>,
    to: Option<String>,
    #[serde(default)]
    quick: bool,
    memory: Sized,
    l2: Sized,
    #[serde(default)]
    tiny: Vec<Sized>,
    small: Sized,
}

/// The values that depend on the size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sized {
    pub(crate) dims: Vec<u64>,
    from: Option<String>,
    to: Option<String>,
    checksum: String,
}

/// The contents of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefinitionFile {
    case: Vec<Definition>,
}

/// Returns every case, file by file.
///
/// # Errors
/// A [definition](Error::is_definition) that cannot be parsed; the tests ensure that there is none.
///
/// ```
/// let all = tilewright_bench::definitions()?;
/// assert!(all.len() > 50 && all.iter().any(|case| case.name() == "row-to-zN-16bit"));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
pub fn definitions() -> Result<Vec<Definition>, Error> {
    let mut all = Vec::new();
    for (file, text) in FILES {
        all.extend(parse(file, text)?);
    }
    Ok(all)
}

/// Parses the cases of one file.
///
/// # Errors
/// A [definition](Error::is_definition) that is not TOML or not of this form, with line and column.
///
/// ```
/// let text = r#"
/// [[case]]
/// name = "bytes-turned"
/// dtype = "u8"
/// from = "row-major"
/// to = "col-major"
/// memory = { dims = [16384, 16384], checksum = "0x0" }
/// l2 = { dims = [512, 512], checksum = "0x0" }
/// small = { dims = [2, 3], checksum = "0x0" }
/// "#;
/// assert_eq!(tilewright_bench::parse("mine", text)?[0].name(), "bytes-turned");
/// let error = tilewright_bench::parse("mine", "[[case]]\nnom = 'a'").unwrap_err();
/// assert!(error.to_string().contains("unknown field `nom`"));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
pub fn parse(file: &str, text: &str) -> Result<Vec<Definition>, Error> {
    let read: Result<DefinitionFile, _> = toml::from_str(text);
    read.map(|file| file.case).map_err(|error| {
        Error::definition(format!("{file}.toml: {}", error.to_string().trim_end()))
    })
}

impl Definition {
    /// Returns the name, unique among all cases.
    ///
    /// ```
    /// let all = tilewright_bench::definitions()?;
    /// assert!(all.iter().all(|case| !case.name().contains('/')));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the element type, as it is written.
    ///
    /// ```
    /// let all = tilewright_bench::definitions()?;
    /// assert!(all.iter().any(|case| case.dtype() == "s4"));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    /// Returns whether a quick run measures it.
    ///
    /// ```
    /// let all = tilewright_bench::definitions()?;
    /// assert!(all.iter().any(|case| case.is_quick()) && !all.iter().all(|case| case.is_quick()));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn is_quick(&self) -> bool {
        self.quick
    }

    /// Returns the case in this size; the smallest of several tiny ones.
    ///
    /// # Errors
    /// A [definition](Error::is_definition) whose layouts, dtype or checksum cannot be read, whose layouts do not fit
    /// each other, or that does not have the size.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// assert_eq!((case.name(), case.from(), case.to()), ("transpose-u8-square/small", "row-major", "col-major"));
    /// assert!(definitions()?[0].case(Size::Random).is_err());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn case(&self, size: Size) -> Result<Case, Error> {
        let first = self.sized(size).first();
        let first = first
            .ok_or_else(|| Error::definition(format!("it states no size {size}")).of(&self.name))?;
        self.of(size, first)
    }

    /// Returns all cases of this size: one, or several tiny ones, named by their dims.
    ///
    /// # Errors
    /// As [`case`](Definition::case).
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// let tiny = definitions()?[0].cases(Size::Tiny)?;
    /// let names: Vec<&str> = tiny.iter().map(|case| case.name()).collect();
    /// assert_eq!(names[..2], ["transpose-u8-square/tiny-15x15", "transpose-u8-square/tiny-62x62"]);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn cases(&self, size: Size) -> Result<Vec<Case>, Error> {
        self.sized(size).iter().map(|sized| self.of(size, sized)).collect()
    }

    fn of(&self, size: Size, sized: &Sized) -> Result<Case, Error> {
        let mut name = format!("{}/{size}", self.name);
        if size == Size::Tiny {
            let dims: Vec<String> = sized.dims.iter().map(u64::to_string).collect();
            name = format!("{name}-{}", dims.join("x"));
        }
        let spec = |own: &Option<String>, all: &Option<String>, what: &str| {
            let text = own.as_ref().or(all.as_ref()).cloned();
            text.ok_or_else(|| Error::definition(format!("`{what}` is not said")).of(&name))
        };
        let from = spec(&sized.from, &self.from, "from")?;
        let to = spec(&sized.to, &self.to, "to")?;
        let checksum = checksum(&sized.checksum).map_err(|error| error.of(&name))?;
        Case::new(name.clone(), size, &self.dtype, from, to, &sized.dims, Some(checksum))
            .map_err(|error| error.of(&name))
    }

    fn sized(&self, size: Size) -> &[Sized] {
        match size {
            Size::Memory => slice::from_ref(&self.memory),
            Size::L2 => slice::from_ref(&self.l2),
            Size::Tiny => &self.tiny,
            Size::Small => slice::from_ref(&self.small),
            Size::Random => &[],
        }
    }
}

/// Reads `0x…`.
fn checksum(text: &str) -> Result<u64, Error> {
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(|| {
        Error::definition(format!(
            "the checksum {text:?} is not 0x and up to 16 hexadecimal digits"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_part_of_the_program() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("definitions");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let mut known: Vec<String> = FILES.iter().map(|(name, _)| format!("{name}.toml")).collect();
        known.sort();
        assert_eq!(names, known);
    }

    #[test]
    fn checksums_are_hexadecimal() {
        assert_eq!(checksum("0x00ff"), Ok(255));
        for text in ["", "12", "0x", "0x+1", "0xg", "0x11112222333344445"] {
            assert!(checksum(text).unwrap_err().is_definition(), "{text}");
        }
    }
}
