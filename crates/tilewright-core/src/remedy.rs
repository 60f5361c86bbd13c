//! [`Remedy`]: what a caller can do about an error.

use core::fmt;

/// What a caller can do so that the same request succeeds.
///
/// A library has no options: it says the remedy as a value, and each program spells it in its own words.
/// `Display` is a clause for those who have none. Remedies may be added.
///
/// ```
/// use tilewright_core::Remedy;
/// let spelled = |remedy: Remedy| match remedy {
///     Remedy::Overwrite => "press O to overwrite it".to_string(),
///     other => other.to_string(),
/// };
/// assert_eq!(spelled(Remedy::Overwrite), "press O to overwrite it");
/// assert_eq!(spelled(Remedy::MoreMemory { least: Some(4096) }), "allow at least 4096 bytes of memory");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Let the output replace what exists.
    Overwrite,
    /// Allow more memory for buffers.
    MoreMemory {
        /// The least bytes that suffice, where they are known.
        least: Option<u64>,
    },
    /// Allow less memory for buffers, for the system does not have it.
    LessMemory,
    /// Give the dims of the array.
    Dims,
    /// Give the element type.
    Dtype,
    /// Give dims and element type.
    DimsAndDtype,
    /// Give the layout that the source has.
    Source,
    /// Give the layout that the result is to have, or has.
    Target,
    /// Give a layout for some of the tensors.
    Rule,
    /// Give this tensor another layout than the others.
    OtherLayout,
    /// Leave this tensor out.
    LeaveOut,
    /// Pass over the tensors that the layout does not fit.
    SkipUnfit,
    /// Name a file for the output, not a stream.
    File,
    /// Do without reading the result back.
    Unverified,
    /// Name the one tensor that is meant.
    Name,
    /// Allow that what is converted already is copied.
    Again,
    /// Name the file that the result was made from.
    Original,
    /// Write the metadata of another file as they are.
    TrustMetadata,
    /// Apply the recipe whatever the configuration says.
    AnyConfig,
    /// Give sizes of axes.
    Sizes,
    /// Allow that a condition of a recipe does not hold, by the name that its message has.
    Allow,
    /// Give the extents of whole tensors, or accept those that their shards imply.
    Extents,
    /// Accept the heads that a rule states.
    Heads,
    /// Give the mesh whose positions have a file each.
    FromMesh,
    /// Make whole tensors of the shards.
    Reshard,
}

impl Remedy {
    /// One of each kind, with numbers and without.
    ///
    /// ```
    /// use tilewright_core::Remedy;
    /// // A client checks that it spells every one of them.
    /// assert!(Remedy::ALL.iter().all(|remedy| !remedy.to_string().is_empty()));
    /// ```
    pub const ALL: &[Remedy] = &[
        Remedy::Overwrite,
        Remedy::MoreMemory { least: None },
        Remedy::MoreMemory { least: Some(4096) },
        Remedy::LessMemory,
        Remedy::Dims,
        Remedy::Dtype,
        Remedy::DimsAndDtype,
        Remedy::Source,
        Remedy::Target,
        Remedy::Rule,
        Remedy::OtherLayout,
        Remedy::LeaveOut,
        Remedy::SkipUnfit,
        Remedy::File,
        Remedy::Unverified,
        Remedy::Name,
        Remedy::Again,
        Remedy::Original,
        Remedy::TrustMetadata,
        Remedy::AnyConfig,
        Remedy::Sizes,
        Remedy::Allow,
        Remedy::Extents,
        Remedy::Heads,
        Remedy::FromMesh,
        Remedy::Reshard,
    ];
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Remedy::Overwrite => "allow it to be overwritten",
            Remedy::MoreMemory { least: None } => "allow more memory",
            Remedy::MoreMemory { least: Some(least) } => {
                return write!(f, "allow at least {least} bytes of memory");
            }
            Remedy::LessMemory => "allow less memory",
            Remedy::Dims => "give the dims of the array",
            Remedy::Dtype => "give the element type",
            Remedy::DimsAndDtype => "give dims and element type",
            Remedy::Source => "give the layout of the source",
            Remedy::Target => "give the layout of the result",
            Remedy::Rule => "give a layout for some of the tensors",
            Remedy::OtherLayout => "give it another layout",
            Remedy::LeaveOut => "leave it out",
            Remedy::SkipUnfit => "pass over tensors that do not fit",
            Remedy::File => "name a file",
            Remedy::Unverified => "do without verification",
            Remedy::Name => "name the tensor that is meant",
            Remedy::Again => "allow a copy of it",
            Remedy::Original => "name the file that it was made from",
            Remedy::TrustMetadata => "allow metadata that contradict the tensors",
            Remedy::AnyConfig => "allow a configuration of another model",
            Remedy::Sizes => "give the sizes, or a config.json beside the input",
            Remedy::Allow => "allow the condition to fail, by its name",
            Remedy::Extents => "give the extents of whole tensors, or accept those of their shards",
            Remedy::Heads => "accept the heads of the rule",
            Remedy::FromMesh => "give the mesh whose positions have a file each",
            Remedy::Reshard => "reshard it to whole tensors",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn each_remedy_says_something_else() {
        for (i, remedy) in Remedy::ALL.iter().enumerate() {
            let text = remedy.to_string();
            assert!(text.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
            assert!(Remedy::ALL[..i].iter().all(|other| other.to_string() != text), "{text}");
        }
    }
}
