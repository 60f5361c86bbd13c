//! Plans the archive that holds the results of a conversion's jobs: stored entries, followed by their list.
//!
//! Checksums are known when the data are written, so they follow the data, and are repeated in the list.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use super::{ENDING, NOTES, dtype_of};
use crate::{
    Error, Job, Tensor,
    container::{
        format::Opened,
        metadata_notes,
        npy::{self, Descr, header_bytes},
        target::{Section, Target},
        zip::{
            ALL_16, ALL_32, CENTRAL, DESCRIPTOR, END, END_64, END_64_LEN, EXTRA_64, FOLLOWS, LOCAL,
            LOCATOR_64, STORED, UTF_8,
        },
    },
    error,
    layout::record::Record,
    open::tensor::OTHER,
};

/// The versions of the format that are needed to read an entry.
const VERSION: u16 = 20;
const VERSION_64: u16 = 45;

/// The first of January 1980, at midnight, so that equal arrays give equal files.
const TIME_AND_DATE: u32 = 0x0021 << 16;

/// The permissions in the list: those of a file that its owner can read and write.
const OWN: u32 = 0o600 << 16;

/// A planned entry.
struct PlannedEntry {
    name: String,
    at: u64,
    len: u64,
}

/// The sections of an archive that are planned so far.
#[derive(Default)]
struct Archive {
    sections: Vec<Section>,
    entries: Vec<PlannedEntry>,
    at: u64,
}

/// Plans the one file that holds the results of all jobs. Its entry of notes has the texts `noted`, which do not describe arrays,
/// and the notes of the results.
pub(super) fn target(
    input: &Opened,
    mut noted: BTreeMap<String, String>,
    path: &Path,
    jobs: &[Job],
) -> Result<Target, Error> {
    let large =
        || error::usage(format!("{}: the arrays fill more than 2^63 bytes", path.display()));
    let (mut archive, mut summed) = (Archive::default(), Vec::new());
    for (number, job) in jobs.iter().enumerate() {
        let Some(tensor) = input.tensors.get(job.tensor) else { continue };
        let header = match tensor.refusal {
            Some(_) => Vec::new(),
            None => header(tensor, (number, job), &mut noted, &mut summed),
        };
        let ending = if tensor.file_dtype == OTHER { "" } else { ENDING };
        let name = format!("{}{ending}", job.name);
        let header = vec![Section::Bytes(header)];
        archive.entry(name, header, Some((number, job.bytes_out))).ok_or_else(large)?;
    }
    if !noted.is_empty() {
        let text = serde_json::Value::from_iter(noted).to_string();
        let places = metadata_notes::places(&text, summed.into_iter());
        let text = metadata_notes::sections(text.as_bytes(), &places);
        archive.entry(NOTES.into(), text, None).ok_or_else(large)?;
    }
    if let Some(entry) = archive.entries.iter().find(|entry| entry.name.len() as u64 > ALL_16) {
        let len = entry.name.len();
        return Err(error::usage(format!("{}: a name of {len} bytes", path.display())));
    }
    if let Some(entry) = archive.entries.iter().find(|entry| leaves_folder(&entry.name)) {
        let (path, name) = (path.display(), &entry.name);
        return Err(error::usage(format!(
            "{path}: an entry {name:?} would be unpacked outside of its folder; rename the tensor by a recipe"
        )));
    }
    Ok(Target { path: path.into(), sections: archive.finished() })
}

/// Returns whether programs that unpack an archive may write an entry of this name elsewhere, or under another name.
fn leaves_folder(name: &str) -> bool {
    let mut parts = name.split(['/', '\\']);
    let first = parts.clone().next().unwrap_or_default();
    let is_drive = first.len() == 2 && first.ends_with(':');
    first.is_empty() || is_drive || parts.any(|part| part == "..") || name.contains('\0')
}

/// Returns the header of the `.npy` file of a result; a layout or type that it cannot record is noted.
fn header<'a>(
    tensor: &Tensor,
    (number, job): (usize, &'a Job),
    noted: &mut BTreeMap<String, String>,
    summed: &mut Vec<(&'a str, usize)>,
) -> Vec<u8> {
    let (descr, fortran, shape) = npy::facts(&tensor.file_dtype, &job.to, job.bytes_out);
    let typed = Descr::parse(&descr).is_ok_and(|descr| dtype_of(&descr) == Some(job.to.dtype));
    if !(npy::says_order(&job.to) && typed) {
        noted.extend(metadata_notes::of_job(job));
        summed.extend((job.record == Record::Summed).then_some((job.name.as_str(), number)));
    }
    header_bytes(&descr, fortran, &shape)
}

impl Archive {
    /// Appends an entry of these bytes, followed by the result of a job.
    fn entry(
        &mut self,
        name: String,
        before: Vec<Section>,
        job: Option<(usize, u64)>,
    ) -> Option<()> {
        let own: u64 = before.iter().map(Section::len).sum();
        let len = job.map_or(0, |(_, len)| len).checked_add(own)?;
        let at = self.at;
        let head = local(&name, len);
        let tail = descriptor(len, 0).len() as u64;
        self.at = at.checked_add(head.len() as u64)?.checked_add(len)?.checked_add(tail)?;
        let number = self.entries.len();
        let follows = move |sums: &[u32]| descriptor(len, sums.get(number).copied().unwrap_or(0));
        self.sections.extend([Section::Bytes(head), Section::Begin]);
        self.sections.extend(before);
        self.sections.extend(job.map(|(number, _)| Section::Tensor(number)));
        self.sections.extend([Section::End, Section::Late(tail, Arc::new(follows))]);
        self.entries.push(PlannedEntry { name, at, len });
        (self.at <= i64::MAX as u64).then_some(())
    }

    /// Returns the sections with the list of entries.
    fn finished(self) -> Vec<Section> {
        let Archive { mut sections, entries, at } = self;
        let list = move |sums: &[u32]| list(&entries, at, sums);
        let len = list(&[]).len() as u64;
        sections.push(Section::Late(len, Arc::new(list)));
        sections
    }
}

/// Returns whether an entry of this length has the fields of ZIP64.
fn is_large(len: u64) -> bool {
    len >= ALL_32
}

/// Appends numbers of these lengths in bytes, little-endian.
fn put(bytes: &mut Vec<u8>, numbers: &[(u64, usize)]) {
    for (number, len) in numbers {
        bytes.extend(number.to_le_bytes().iter().take(*len));
    }
}

/// Appends the common beginning of both headers of an entry: version, flags, method, time.
fn begin(bytes: &mut Vec<u8>, large: bool) {
    let version = if large { VERSION_64 } else { VERSION };
    let (flags, method) = (FOLLOWS | UTF_8, STORED);
    put(bytes, &[(version.into(), 2), (flags.into(), 2), (method.into(), 2)]);
    put(bytes, &[(TIME_AND_DATE.into(), 4)]);
}

/// Returns the header before the data of an entry, which has neither sizes nor checksum yet.
fn local(name: &str, len: u64) -> Vec<u8> {
    let large = is_large(len);
    let mut bytes = LOCAL.to_vec();
    begin(&mut bytes, large);
    let size = if large { ALL_32 } else { 0 };
    let extra = if large { 20 } else { 0 };
    put(&mut bytes, &[(0, 4), (size, 4), (size, 4), (name.len() as u64, 2), (extra, 2)]);
    bytes.extend_from_slice(name.as_bytes());
    if large {
        put(&mut bytes, &[(EXTRA_64.into(), 2), (16, 2), (0, 8), (0, 8)]);
    }
    bytes
}

/// Returns the record after the data of an entry.
fn descriptor(len: u64, sum: u32) -> Vec<u8> {
    let width = if is_large(len) { 8 } else { 4 };
    let mut bytes = DESCRIPTOR.to_vec();
    put(&mut bytes, &[(sum.into(), 4), (len, width), (len, width)]);
    bytes
}

/// Returns the list of entries, which begins at byte `at`, and the records of the end.
fn list(entries: &[PlannedEntry], at: u64, sums: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        central(&mut bytes, entry, sums.get(number).copied().unwrap_or(0));
    }
    let (len, count) = (bytes.len() as u64, entries.len() as u64);
    let end = at + len;
    if count >= ALL_16 || len >= ALL_32 || at >= ALL_32 {
        bytes.extend_from_slice(END_64);
        let version = u64::from(VERSION_64);
        put(&mut bytes, &[(END_64_LEN - 12, 8), (version, 2), (version, 2), (0, 4), (0, 4)]);
        put(&mut bytes, &[(count, 8), (count, 8), (len, 8), (at, 8)]);
        bytes.extend_from_slice(LOCATOR_64);
        put(&mut bytes, &[(0, 4), (end, 8), (1, 4)]);
    }
    bytes.extend_from_slice(END);
    let count = count.min(ALL_16);
    put(&mut bytes, &[(0, 2), (0, 2), (count, 2), (count, 2)]);
    put(&mut bytes, &[(len.min(ALL_32), 4), (at.min(ALL_32), 4), (0, 2)]);
    bytes
}

/// Appends an entry of the list.
fn central(bytes: &mut Vec<u8>, entry: &PlannedEntry, sum: u32) {
    let PlannedEntry { name, at, len } = entry;
    let mut large = Vec::new();
    if is_large(*len) {
        put(&mut large, &[(*len, 8), (*len, 8)]);
    }
    if *at >= ALL_32 {
        put(&mut large, &[(*at, 8)]);
    }
    let extra = if large.is_empty() { 0 } else { large.len() as u64 + 4 };
    bytes.extend_from_slice(CENTRAL);
    // The system of the writer: its permissions are those of Unix.
    put(bytes, &[(u64::from(3 << 8 | VERSION_64), 2)]);
    begin(bytes, extra > 0);
    let size = (*len).min(ALL_32);
    put(bytes, &[(sum.into(), 4), (size, 4), (size, 4), (name.len() as u64, 2), (extra, 2)]);
    put(bytes, &[(0, 2), (0, 2), (0, 2), (OWN.into(), 4), ((*at).min(ALL_32), 4)]);
    bytes.extend_from_slice(name.as_bytes());
    if extra > 0 {
        put(bytes, &[(EXTRA_64.into(), 2), (large.len() as u64, 2)]);
        bytes.extend_from_slice(&large);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;
    use crate::{container::zip::Archive as Read, open::source::Source};

    /// Plans entries with results of these lengths, and reads the archive back; its results are holes.
    fn read_back(lens: &[u64]) -> Vec<(String, u64, u32)> {
        let mut archive = Archive::default();
        for (number, len) in lens.iter().enumerate() {
            let header = vec![Section::Bytes(vec![7; 10])];
            archive.entry(format!("{number}.npy"), header, Some((number, *len))).unwrap();
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let sums: Vec<u32> = (0..lens.len() as u32).collect();
        for section in archive.finished() {
            match &section {
                Section::Bytes(bytes) => file.write_all(bytes).unwrap(),
                Section::Late(len, make) => {
                    assert_eq!(make(&sums).len() as u64, *len);
                    file.write_all(&make(&sums)).unwrap();
                }
                Section::Tensor(number) => {
                    file.seek(SeekFrom::Current(lens[*number] as i64)).unwrap();
                }
                Section::Begin | Section::End | Section::Zeros(_) | Section::Data(_) => {}
            }
        }
        let source = Source::open(file.path()).unwrap();
        let entries = Read::read(&source).unwrap().entries;
        for entry in &entries {
            let mut first = [0; 10];
            source.read(&mut first, entry.at).unwrap();
            assert_eq!(first, [7; 10]);
        }
        entries.into_iter().map(|entry| (entry.name, entry.size, entry.sum)).collect()
    }

    #[test]
    fn what_is_planned_is_read_back_beyond_the_fields_of_32_bits() {
        let large = 1u64 << 32;
        for lens in [
            &[][..],
            &[0],
            &[5, 0, 1000],
            &[large, 3],
            &[large - 11, large - 10, 7],
            &[1, 5 * large, 2],
        ] {
            let expected: Vec<_> =
                (0..).zip(lens).map(|(i, len)| (format!("{i}.npy"), len + 10, i)).collect();
            assert_eq!(read_back(lens), expected);
        }
        assert_eq!(read_back(&vec![1; 65_535]).len(), 65_535);
    }
}
