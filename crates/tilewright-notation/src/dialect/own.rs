//! The notations of this process: the built-in ones, and those that users added.
//!
//! Texts of layouts are read in many places: arguments, expressions, metadata of files, answers. So what is added is
//! added for the whole process, as formats are, and stays as long as it.

use std::sync::{PoisonError, RwLock};

use super::DIALECTS;
use crate::{Error, catalogue, notation::Notation};

/// The most notations of users in one process.
const MOST: usize = 100;

/// Every notation, the built-in ones first.
static ALL: RwLock<&[Notation]> = RwLock::new(DIALECTS);

/// Every notation that is read and printed, those that were [added](add_notation) last.
///
/// ```
/// use tilewright_notation::{Spec, notations};
/// let named = Spec::parse("f32[3,5]{1,0:T(2,2)}").unwrap().resolve(None, None).unwrap();
/// let said = |name| {
///     let notation = notations().iter().find(|notation| notation.name() == name).unwrap();
///     notation.print(&named).unwrap_or_else(|_| "cannot express it".to_owned())
/// };
/// assert_eq!(said("cute"), "((2,2),(2,3)):((2,12),(1,4)) valid (3,5)");
/// assert_eq!(said("hlo"), "f32[3,5]{1,0:T(2,2)}");
/// assert_eq!(said("pattern"), "(m1 m0:2) (n1 n0:2) -> m1 n1 m0 n0");
/// assert_eq!(said("numpy"), "cannot express it");
/// assert_eq!(said("onednn"), "AB2a2b");
/// ```
pub fn notations() -> &'static [Notation] {
    *ALL.read().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a notation to those of this process: every text of a layout that is read from then on may be written in it,
/// and every layout is printed in it where all notations are listed.
///
/// Its texts mean nothing elsewhere: [`Named::to_spec`](crate::Named::to_spec) expresses such a layout in another notation.
///
/// # Errors
/// [parse](Error::is_parse) for a name that is none, or is taken; [limit](Error::is_limit) beyond 100 notations.
///
/// ```
/// use std::{fmt, sync::Arc};
/// use tilewright_core::TensorLayout;
/// use tilewright_notation::dialect::{Given, Reading, Resolved};
/// use tilewright_notation::{Error, Notation, Spec, add_notation};
///
/// /// `fortran:(2,3)`, the first dim fastest.
/// #[derive(Debug)]
/// struct Dims(Vec<u64>);
///
/// impl fmt::Display for Dims {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         let dims: Vec<String> = self.0.iter().map(u64::to_string).collect();
///         write!(f, "({})", dims.join(","))
///     }
/// }
///
/// impl Reading for Dims {
///     fn is_concrete(&self) -> bool {
///         true
///     }
///     fn fits(&self, rank: usize) -> bool {
///         rank == self.0.len()
///     }
///     fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
///         given.agree_dims(self, &self.0)?;
///         Ok(Resolved::plain(TensorLayout::col_major(&self.0)?, given))
///     }
/// }
///
/// fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
///     let wrong = || Error::parse((0, text.len()), "expected dims in parentheses");
///     let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
///     let dims = inside.ok_or_else(wrong)?.split(',').map(|dim| dim.parse().map_err(|_| wrong()));
///     Ok(Arc::new(Dims(dims.collect::<Result<_, _>>()?)))
/// }
///
/// let about = "Fortran: dims, the first one fastest";
/// add_notation(Notation::new("fortran", about, read, |_| Err(Error::unsupported("no words")))).unwrap();
///
/// let named = Spec::parse("fortran:(2,3)").unwrap().resolve(None, None).unwrap();
/// assert_eq!(named.layout().layout().to_string(), "(2,3):(1,2)");
/// assert_eq!((named.name(), named.to_spec().as_str()), ("fortran:(2,3)", "[2,3] (2,3):(1,2)"));
/// // The prefix is taken now.
/// let again = Notation::new("fortran", about, read, |_| Err(Error::unsupported("no words")));
/// assert!(add_notation(again).unwrap_err().to_string().contains("`fortran` is a notation already"));
/// ```
pub fn add_notation(notation: Notation) -> Result<&'static Notation, Error> {
    let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
    if all.len() - DIALECTS.len() >= MOST {
        let message = format!("another notation; at most {MOST} are kept");
        return Err(Error::limit(message));
    }
    for name in std::iter::once(&notation.name).chain(notation.aliases) {
        check_name(name, &all).map_err(|said| Error::parse((0, name.len()), said).in_text(name))?;
    }
    let longer = [*all, &[Notation { own: true, ..notation }]].concat();
    *all = Box::leak(longer.into_boxed_slice());
    all.last().ok_or_else(|| Error::limit("no notation is kept"))
}

/// A prefix that no text begins with yet.
fn check_name(name: &str, all: &[Notation]) -> Result<(), String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(legal) {
        return Err(format!(
            "`{name}` is not a name: a letter, then letters, digits, `_`, `-` and `.`"
        ));
    }
    if all.iter().any(|other| other.is_called(name)) {
        return Err(format!("`{name}` is a notation already"));
    }
    let numbers = |format: &str| format.split_once(':').is_some_and(|(vendor, _)| vendor == name);
    let mut formats = catalogue().flat_map(|format| format.aliases.iter().chain([&format.name]));
    match formats.find(|format| numbers(format)) {
        Some(format) => Err(format!("`{name}` begins the name of the format `{format}`")),
        None => Ok(()),
    }
}
