//! Writes a result to an object store: each file is an upload that its sections fill in order, and nothing is on a local disk.
//!
//! Law: no object appears before all of them are written. Then the files of a set appear, the small files of a folder, and the index
//! last, so that a reader who begins with the index finds a whole set. After an error the uploads are aborted, objects that had
//! appeared are removed, and the message names what could be neither aborted nor removed.
//!
//! One object replaces another at once. A set does not replace another: readers of the old index would find new files.

use tilewright_transfer::Limits;

use crate::{Conversion, Error, container::Target, convert::output::Sink};

/// Writes the sections of a file to a sink.
pub(crate) type WriteTo<'w> = &'w dyn Fn(&Target, Box<dyn Sink + '_>) -> Result<(), Error>;

/// Writes the objects of a conversion by `write`, and makes them visible.
pub(crate) fn filled(
    conversion: &Conversion<'_>,
    limits: &Limits<'_>,
    write: WriteTo<'_>,
) -> Result<(), Error> {
    here::filled(conversion, limits, write)
}

#[cfg(feature = "remote")]
mod here {
    use std::io;

    use tilewright_remote::{Location, Upload};

    use super::*;
    use crate::{
        Watch,
        commit::upload,
        convert::checked::Checked,
        open::{remote::location, source::Source},
    };

    /// The number of bytes of a small file that are copied at once.
    const STEP: usize = 1 << 20;

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

    pub(crate) fn filled(
        conversion: &Conversion<'_>,
        limits: &Limits<'_>,
        write: WriteTo<'_>,
    ) -> Result<(), Error> {
        let mut uploads = Vec::new();
        let done = written(conversion, (write, limits), &mut uploads)
            .and_then(|()| companions(conversion, limits.watch(), &mut uploads))
            .and_then(|()| limits.watch().check_cancelled())
            .and_then(|()| conversion.source.check_unchanged());
        match done {
            Ok(()) => committed(uploads),
            Err(error) => Err(undone(error, uploads, &[])),
        }
    }

    /// Writes the files of a conversion to uploads. Those before the last are sent whole, so that one upload at a time has buffers.
    fn written(
        conversion: &Conversion<'_>,
        (write, limits): (WriteTo<'_>, &Limits<'_>),
        uploads: &mut Vec<Upload>,
    ) -> Result<(), Error> {
        let (force, memory) = (conversion.request.force, conversion.request.memory / 2);
        for target in &conversion.targets {
            if let Some(earlier) = uploads.last_mut() {
                earlier.finish()?;
            }
            let place = location(&target.path)?;
            let lengths = upload::lengths(target, &conversion.jobs);
            let mut upload = Upload::begin(&place, lengths, memory, force)?;
            let sent = Box::new(Sent(&mut upload));
            let done = match conversion.request.verify {
                true => {
                    let checked = Checked::new(sent, conversion, target, limits.watch());
                    write(target, Box::new(checked))
                }
                false => write(target, sent),
            };
            uploads.push(upload);
            done?;
        }
        Ok(())
    }

    /// Writes the files beside the tensors of a folder to uploads, which appear before the last one.
    fn companions(
        conversion: &Conversion<'_>,
        watch: &dyn Watch,
        uploads: &mut Vec<Upload>,
    ) -> Result<(), Error> {
        let Some(folder) = &conversion.folder else { return Ok(()) };
        let (at, last) = (location(&folder.out)?, uploads.pop());
        for (name, path, changed) in folder.companions.files() {
            let at = at.join(&name);
            let (upload, done) = match changed {
                Some(bytes) => {
                    let mut upload = Upload::begin(&at, (bytes.len() as u64, 0), 0, false)?;
                    let done = upload.write(bytes);
                    (upload, done)
                }
                None => {
                    let source = Source::open(path)?;
                    let mut upload = Upload::begin(&at, (source.len(), 0), 0, false)?;
                    let done = copied(&source, &mut upload, watch);
                    (upload, done)
                }
            };
            uploads.push(upload);
            done?;
            // A file of one part is held until it appears; others are sent whole.
            uploads.last_mut().map_or(Ok(()), Upload::finish)?;
        }
        uploads.extend(last);
        Ok(())
    }

    /// Copies a small file to an upload, in pieces.
    fn copied(source: &Source, upload: &mut Upload, watch: &dyn Watch) -> Result<(), Error> {
        let (mut piece, mut at) = (vec![0; STEP.min(source.len() as usize)], 0);
        while at < source.len() {
            watch.check_cancelled()?;
            let len = (source.len() - at).min(piece.len() as u64) as usize;
            let bytes = piece.get_mut(..len).unwrap_or_default();
            source.read(bytes, at)?;
            upload.write(bytes)?;
            at += len as u64;
        }
        source.check_unchanged()
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

    pub(crate) fn filled(
        conversion: &Conversion<'_>,
        _: &Limits<'_>,
        _: WriteTo<'_>,
    ) -> Result<(), Error> {
        Err(remote::left_out(&conversion.out))
    }
}
