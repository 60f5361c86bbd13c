//! Unpacks deflated entries to a temporary file without a name. Arrays are read at positions, and deflated data can only be read
//! from their start.

use std::{
    fs::File,
    io::{self, Read, Write},
};

use flate2::{Crc, read::DeflateDecoder};

use crate::{
    Error, Watch, commit::space, container::zip::ArchiveEntry, error, open::source::Source,
};

/// Unpacks the deflated entries, one after the other, to a file, and returns it with the position of each; `None` if there are
/// none.
pub(super) fn all(
    source: &Source,
    entries: &[ArchiveEntry],
    watch: &dyn Watch,
) -> Result<Option<(Source, Vec<u64>)>, Error> {
    let deflated = || entries.iter().filter(|entry| entry.is_deflated);
    if deflated().next().is_none() {
        return Ok(None);
    }
    let total = deflated().map(|entry| entry.size).fold(0, u64::saturating_add);
    space::check(&std::env::temp_dir().join("unpacked"), total)?;
    let failed = |cause| error::io(source.path(), "unpack it to a temporary file", cause);
    let mut file = tempfile::tempfile().map_err(failed)?;
    let (mut places, mut at) = (Vec::new(), 0);
    for entry in deflated() {
        places.push(at);
        one(source, entry, &mut file, watch)?;
        at += entry.size;
    }
    Ok(Some((Source::unpacked(file, source.path())?, places)))
}

/// Appends the unpacked bytes of an entry. Their number and their checksum must be those in the archive.
fn one(
    source: &Source,
    entry: &ArchiveEntry,
    file: &mut File,
    watch: &dyn Watch,
) -> Result<(), Error> {
    let failed = |cause| error::io(source.path(), "unpack it to a temporary file", cause);
    let mut sum = Crc::new();
    let mut decoder = DeflateDecoder::new(entry.reader(source));
    let (mut buffer, mut written) = (vec![0; 1 << 16], 0u64);
    loop {
        watch.check_cancelled()?;
        let step = match decoder.read(&mut buffer) {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            step => step.map_err(|cause| {
                let name = &entry.name;
                error::corrupt(source.path(), format!("ZIP: the entry {name:?}: {cause}"))
            })?,
        };
        let bytes = buffer.get(..step).unwrap_or_default();
        written += step as u64;
        if step == 0 || written > entry.size {
            break;
        }
        sum.update(bytes);
        file.write_all(bytes).map_err(failed)?;
    }
    if written != entry.size {
        let (name, size) = (&entry.name, entry.size);
        let said = format!("ZIP: the entry {name:?} does not unpack to the {size} bytes it says");
        return Err(error::corrupt(source.path(), said));
    }
    entry.agrees(source, sum.sum())
}
