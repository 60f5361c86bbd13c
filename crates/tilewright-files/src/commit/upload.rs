//! Results in object stores: each file is an upload that its sections fill in order, and nothing is on a local disk.
//!
//! Law: no object appears before all of them are written. Then the files of a set appear, the small files of a folder, and the index
//! last, so that a reader who begins with the index finds a whole set. After an error the uploads are aborted, objects that had
//! appeared are removed, and the message names what could be neither aborted nor removed.
//!
//! One object replaces another at once. A set does not replace another: readers of the old index would find new files.

use std::path::Path;

use tilewright_core::Remedy;

use crate::{
    Conversion, Error, Request,
    container::{Format, Section, Target},
    error,
    transfer::{budget::LEAST, run::Means},
};

/// Checks that a result in an object store can be made as the request says.
pub(crate) fn check_request(out: &Path, request: &Request) -> Result<(), Error> {
    if request.verify {
        let out = out.display();
        let said = format!(
            "{out} is visible once it is written, and cannot be read back before; verify it afterwards"
        );
        return Err(error::usage(said).with(&[Remedy::Unverified]));
    }
    Ok(())
}

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

/// Returns the number of bytes of a file of a result, and of those before its first tensor.
fn lengths(conversion: &Conversion<'_>, target: &Target) -> (u64, u64) {
    let len = |section: &Section| match section {
        Section::Tensor(number) => conversion.jobs.get(*number).map_or(0, |job| job.bytes_out),
        other => other.len(),
    };
    let is_header = |section: &&Section| !matches!(section, Section::Tensor(_));
    let all = target.sections.iter().map(len).fold(0, u64::saturating_add);
    let late = target.sections.iter().any(|section| matches!(section, Section::Data(_)));
    let head = target.sections.iter().take_while(is_header).map(len).sum();
    (all, if late { head } else { 0 })
}

/// Returns the memory that uploads leave for moving data, of the memory of a request.
pub(crate) fn left(conversion: &Conversion<'_>) -> Result<u64, Error> {
    let memory = conversion.request.memory;
    let of = |target: &Target| here::buffers(lengths(conversion, target), memory / 2);
    let held = conversion.targets.iter().map(of).max().unwrap_or(0);
    memory.checked_sub(held).filter(|left| *left >= LEAST).ok_or_else(|| {
        let least = Some(held.saturating_mul(2));
        let said = format!("the parts of uploads have {held} bytes, {memory} are allowed");
        error::usage(said).with(&[Remedy::MoreMemory { least }])
    })
}

/// Returns whether an object or a folder with objects has this path.
pub(crate) fn exists(path: &Path) -> Result<bool, Error> {
    here::exists(path)
}

/// Returns an error for a path of a result that exists, or cannot be written.
pub(crate) fn check_folder(path: &Path) -> Result<(), Error> {
    here::check_folder(path)
}

/// Writes the objects of a conversion, and makes them visible.
pub(crate) fn filled(conversion: &Conversion<'_>, means: &Means<'_>) -> Result<(), Error> {
    here::filled(conversion, means)
}

#[cfg(feature = "remote")]
mod here {
    use std::io;

    use tilewright_remote::{Location, Upload};

    use super::*;
    use crate::{
        open::{remote::location, source::Source},
        transfer::{output::Sink, run},
        verify::workers::go_on,
    };

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

    /// An upload as the destination of a file's bytes.
    struct Sent<'a>(&'a mut Upload);

    impl Sink for Sent<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.write(bytes).map_err(io::Error::other)
        }

        fn place(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
            self.0.place(bytes, at).map_err(io::Error::other)
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn filled(conversion: &Conversion<'_>, means: &Means<'_>) -> Result<(), Error> {
        let mut uploads = Vec::new();
        let done = written(conversion, means, &mut uploads)
            .and_then(|()| companions(conversion, &mut uploads))
            .and_then(|()| go_on(means.watch))
            .and_then(|()| conversion.input.check_unchanged());
        match done {
            Ok(()) => committed(uploads),
            Err(error) => Err(undone(error, uploads, &[])),
        }
    }

    /// Writes the files of a conversion to uploads. Those before the last are sent whole, so that one upload at a time has buffers.
    fn written(
        conversion: &Conversion<'_>,
        means: &Means<'_>,
        uploads: &mut Vec<Upload>,
    ) -> Result<(), Error> {
        let (force, memory) = (conversion.request.force, conversion.request.memory / 2);
        for target in &conversion.targets {
            if let Some(earlier) = uploads.last_mut() {
                earlier.finish()?;
            }
            let place = location(&target.path)?;
            let mut upload = Upload::begin(&place, lengths(conversion, target), memory, force)?;
            let sink = Box::new(Sent(&mut upload));
            let done = run::write_to(conversion, target, &target.path, sink, means);
            uploads.push(upload);
            done?;
        }
        Ok(())
    }

    /// Writes the files beside the tensors of a folder to uploads, which appear before the last one.
    fn companions(conversion: &Conversion<'_>, uploads: &mut Vec<Upload>) -> Result<(), Error> {
        let Some(stage) = &conversion.stage else { return Ok(()) };
        let (folder, last) = (location(&stage.out)?, uploads.pop());
        for (name, path, changed) in stage.companions.files() {
            let bytes = match changed {
                Some(bytes) => bytes.to_vec(),
                None => {
                    let source = Source::open(path)?;
                    let bytes = source.head(source.len())?;
                    source.check_unchanged()?;
                    bytes
                }
            };
            let len = bytes.len() as u64;
            let mut upload = Upload::begin(&folder.join(&name), (len, 0), 0, false)?;
            let done = upload.write(&bytes).and_then(|()| upload.finish());
            uploads.push(upload);
            done?;
        }
        uploads.extend(last);
        Ok(())
    }

    /// Makes the objects visible, the last one last.
    fn committed(uploads: Vec<Upload>) -> Result<(), Error> {
        let mut seen: Vec<Location> = Vec::new();
        let mut uploads = uploads.into_iter();
        while let Some(upload) = uploads.next() {
            let location = upload.location().clone();
            match upload.commit() {
                Ok(()) => seen.push(location),
                Err(error) => return Err(undone(error, uploads.collect(), &seen)),
            }
        }
        Ok(())
    }

    /// Aborts uploads and removes objects that had appeared; returns the error with what failed.
    fn undone(mut error: Error, uploads: Vec<Upload>, seen: &[Location]) -> Error {
        let aborted = uploads.into_iter().map(Upload::abort);
        let removed = seen.iter().map(tilewright_remote::remove);
        for left in aborted.chain(removed).filter_map(Result::err) {
            error = error.and(left.message());
        }
        error
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

    pub(crate) fn filled(conversion: &Conversion<'_>, _: &Means<'_>) -> Result<(), Error> {
        Err(remote::left_out(&conversion.out))
    }
}
