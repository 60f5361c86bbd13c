//! [`Remedy`]: a change of a request that avoids an error.

use core::fmt;

/// A change of the request with which it succeeds.
///
/// The library returns the remedy as a value, and each program words it by its own options.
/// `Display` writes a generic clause. The enum is non-exhaustive: remedies may be added.
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
    /// Allow the output to replace an existing file.
    Overwrite,
    /// Allow more memory for buffers.
    MoreMemory {
        /// The least number of bytes that suffices, if it is known.
        least: Option<u64>,
    },
    /// Allow less memory for buffers, since the system does not have it.
    LessMemory,
    /// Give the dims of the array.
    Dims,
    /// Give the element type.
    Dtype,
    /// Give dims and element type.
    DimsAndDtype,
    /// Give the layout of the source.
    Source,
    /// Give the layout of the result.
    Target,
    /// Give a layout for some of the tensors.
    Rule,
    /// Give this tensor a different layout from the others.
    OtherLayout,
    /// Leave out this tensor.
    LeaveOut,
    /// Skip the tensors that the layout does not fit.
    SkipUnfit,
    /// Name a file for the output instead of a stream.
    File,
    /// Skip reading the result back.
    Unverified,
    /// Name the one tensor that is meant.
    Name,
    /// Allow copying what is converted already.
    Again,
    /// Name the file from which the result was made.
    Original,
    /// Give a file with the metadata of the result.
    Metadata,
    /// Write the metadata of another file unchanged.
    TrustMetadata,
    /// Apply the recipe in the other direction, which fits.
    OtherDirection,
    /// Apply the recipe whatever the configuration says.
    AnyConfig,
    /// Give sizes of axes.
    Sizes,
    /// Allow a condition of a recipe to fail, by the name in its message.
    Allow,
    /// Give the extents of whole tensors, or accept those that their shards imply.
    Extents,
    /// Accept the number of heads that a rule states.
    Heads,
    /// Give the mesh in which each position has a file.
    FromMesh,
    /// Reshard to whole tensors.
    Reshard,
}

impl Remedy {
    /// One remedy of each kind, with and without numbers.
    ///
    /// ```
    /// use tilewright_core::Remedy;
    /// // A client checks that it words every one of them.
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
        Remedy::Metadata,
        Remedy::TrustMetadata,
        Remedy::OtherDirection,
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
            Remedy::SkipUnfit => "skip tensors that do not fit",
            Remedy::File => "name a file",
            Remedy::Unverified => "turn off verification",
            Remedy::Name => "name one tensor",
            Remedy::Again => "allow a copy of it",
            Remedy::Original => "name the original file",
            Remedy::Metadata => "give a file with metadata",
            Remedy::OtherDirection => "apply the inverse of the recipe, which fits",
            Remedy::TrustMetadata => "allow metadata that contradict the tensors",
            Remedy::AnyConfig => "allow a configuration of another model",
            Remedy::Sizes => "give the sizes, or a config.json beside the input",
            Remedy::Allow => "allow the condition to fail, by its name",
            Remedy::Extents => "give the extents of whole tensors, or accept those of their shards",
            Remedy::Heads => "accept the heads of the rule",
            Remedy::FromMesh => "give the mesh with one file per position",
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
