//! Results in object stores: what is checked before they are written, and the memory that their uploads need.

use std::path::Path;

use tilewright_core::Remedy;

use crate::{
    Error, Job,
    container::{Format, Section, Target},
    convert::budget::LEAST,
    error,
};

/// Checks that a set is not to replace another.
pub(crate) fn check_set(format: &Format, path: &Path) -> Result<(), Error> {
    if !format.several {
        return Ok(());
    }
    let path = path.display();
    let said = format!(
        "{path} exists; a checkpoint of several objects is not replaced, name another folder"
    );
    Err(error::usage(said).of_kind("exists"))
}

/// Returns the number of bytes of a file of a result, and of those before its first tensor if they are completed at the end.
pub(crate) fn lengths(target: &Target, jobs: &[Job]) -> (u64, u64) {
    let len = |section: &Section| match section {
        Section::Tensor(number) => jobs.get(*number).map_or(0, |job| job.bytes_out),
        other => other.len(),
    };
    let is_header = |section: &&Section| !matches!(section, Section::Tensor(_));
    let all = target.sections.iter().map(len).fold(0, u64::saturating_add);
    let late = target.sections.iter().any(|section| matches!(section, Section::Data(_)));
    let head = target.sections.iter().take_while(is_header).map(len).sum();
    (all, if late { head } else { 0 })
}

/// Returns the memory that uploads leave for moving data, of the memory of a request.
pub(crate) fn left(
    targets: &[Target],
    jobs: &[Job],
    (memory, verified): (u64, bool),
) -> Result<u64, Error> {
    let of = |target: &Target| here::buffers(lengths(target, jobs), memory / 2);
    let checked = if verified { longest(jobs).saturating_add(COMPARISONS) } else { 0 };
    let held = targets.iter().map(of).max().unwrap_or(0).saturating_add(checked);
    memory.checked_sub(held).filter(|left| *left >= LEAST).ok_or_else(|| {
        let least = Some(held.saturating_mul(2));
        let what = if verified { "uploads, and a tensor that is compared," } else { "uploads" };
        let said = format!("the parts of {what} have {held} bytes, {memory} are allowed");
        error::usage(said).with(&[Remedy::MoreMemory { least }])
    })
}

/// The memory of comparisons beside the longest tensor.
pub(crate) const COMPARISONS: u64 = 8 << 20;

/// Returns the length of the longest tensor, which is held while it is compared.
fn longest(jobs: &[Job]) -> u64 {
    jobs.iter().map(|job| job.bytes_out).max().unwrap_or(0)
}

/// Returns whether an object or a folder with objects has this path.
pub(crate) fn exists(path: &Path) -> Result<bool, Error> {
    here::exists(path)
}

/// Returns an error for a path of a result that exists, or cannot be written.
pub(crate) fn check_folder(path: &Path) -> Result<(), Error> {
    here::check_folder(path)
}

#[cfg(feature = "remote")]
mod here {
    use tilewright_remote::Upload;

    use super::*;
    use crate::open::remote::location;

    pub(crate) fn buffers(lengths: (u64, u64), memory: u64) -> u64 {
        Upload::buffers(lengths, memory)
    }

    pub(crate) fn exists(path: &Path) -> Result<bool, Error> {
        tilewright_remote::exists(&location(path)?)
    }

    pub(crate) fn check_folder(path: &Path) -> Result<(), Error> {
        let at = location(path)?;
        // Reports a place that is only read.
        tilewright_remote::exists(&at.join("config.json"))?;
        match tilewright_remote::list(&at)?.1.is_empty() {
            true => Ok(()),
            false => {
                Err(error::usage(format!("{at}: it has objects in it; choose another folder"))
                    .of_kind("exists"))
            }
        }
    }
}

#[cfg(not(feature = "remote"))]
mod here {
    use super::*;
    use crate::open::remote;

    pub(crate) fn buffers(_: (u64, u64), _: u64) -> u64 {
        0
    }

    pub(crate) fn exists(path: &Path) -> Result<bool, Error> {
        Err(remote::left_out(path))
    }

    pub(crate) fn check_folder(path: &Path) -> Result<(), Error> {
        Err(remote::left_out(path))
    }
}
