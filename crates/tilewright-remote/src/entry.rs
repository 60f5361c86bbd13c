//! A name in a listed folder.

/// A file or folder in a listed folder.
///
/// ```
/// use tilewright_remote::Entry;
/// let entry = Entry { name: "config.json".into(), len: 2, is_folder: false };
/// assert!(!entry.is_folder);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in the folder, without a slash.
    pub name: String,
    /// The length in bytes; 0 for a folder.
    pub len: u64,
    /// True for a folder.
    pub is_folder: bool,
}
