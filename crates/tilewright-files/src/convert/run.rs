//! Runs a conversion: temporary files, headers, tensors, the rename, and the report.

use std::{borrow::Cow, collections::BTreeMap, io::Write, path::Path};

use tilewright_fingerprint::Fingerprint;
use tilewright_transfer::Limits;

use crate::{
    Conversion, Error, Watch,
    commit::{
        access::Access,
        destination::STREAM,
        set, space,
        temporary::{self, Temporary},
    },
    container::{self, Section, Target},
    convert::{
        budget::LEAST,
        job::total_bytes,
        output::{self, Output, Sink, Stream, Wrap},
        pipeline, uploads,
        work::Pass,
    },
    error,
    layout::{note_file, record::Record},
    open::source::Source,
    verify,
};

impl Conversion<'_> {
    /// Writes the result: to temporary files beside `out`, which are synced, verified on request, then renamed; the index of a
    /// checkpoint last. After an error before that rename nothing of the result remains; if the folder cannot be synced
    /// afterwards, or old files cannot be removed, the result remains.
    ///
    /// # Errors
    /// [i/o](Error::is_io) if reading or writing fails, or if verification finds a difference; [cancelled](Error::is_cancelled)
    /// if `watch` cancels.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// conversion.run(&()).unwrap();
    /// assert!(out.exists());
    ///
    /// // A file that was created meanwhile is not replaced.
    /// assert_eq!(conversion.run(&()).unwrap_err().kind(), "exists");
    /// ```
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, Error> {
        run(self, watch, &output::plain)
    }

    /// Writes the result of [`prepare_stream`](Conversion::prepare_stream), in order. After an error a part of it is written.
    ///
    /// # Errors
    /// As [`run`](Conversion::run); [usage](Error::is_usage) if the result goes to files.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// let conversion = Conversion::prepare_stream(&input, "-", request).unwrap();
    /// let mut out = Vec::new();
    /// let report = conversion.run_to(&mut out, &()).unwrap();
    /// assert_eq!(report.bytes_written(), out.len() as u64);
    /// ```
    pub fn run_to(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<Report, Error> {
        run_to(self, out, watch)
    }
}

/// Runs a conversion to files, written through `wrap`.
pub(crate) fn run(
    conversion: &Conversion<'_>,
    watch: &dyn Watch,
    wrap: Wrap<'_>,
) -> Result<Report, Error> {
    if conversion.streamed {
        return Err(error::usage("the result goes to a stream; call run_to"));
    }
    conversion.input.check_sums(watch)?;
    let limits = limits(conversion, watch);
    let check =
        |done: &[Temporary], data: &Fingerprints| verify::written(conversion, done, data, &limits);
    let verified = written(conversion, &limits, wrap, &check)?;
    Ok(report(conversion, &limits, verified))
}

/// Runs a conversion to a stream.
pub(crate) fn run_to(
    conversion: &Conversion<'_>,
    out: &mut dyn Write,
    watch: &dyn Watch,
) -> Result<Report, Error> {
    if !conversion.streamed {
        return Err(error::usage("the result goes to a file; call run"));
    }
    conversion.input.check_sums(watch)?;
    let limits = limits(conversion, watch);
    streamed(conversion, out, &limits)?;
    conversion.source.check_unchanged()?;
    Ok(report(conversion, &limits, None))
}

/// Returns the limits of a run, and tells the watcher how many bytes it writes and compares.
pub(crate) fn limits<'w>(conversion: &Conversion<'_>, watch: &'w dyn Watch) -> Limits<'w> {
    let payload = total_bytes(&conversion.jobs);
    let compared = if conversion.request.verify { payload } else { 0 };
    watch.total(bytes_written(conversion).saturating_add(compared));
    // It was checked when the conversion was prepared.
    Limits::new(watch, conversion.left().unwrap_or(LEAST), conversion.request.threads)
}

/// Returns the number of bytes of a result.
pub(crate) fn bytes_written(conversion: &Conversion<'_>) -> u64 {
    let headers: u64 = conversion.targets.iter().map(Target::overhead).sum();
    total_bytes(&conversion.jobs).saturating_add(headers)
}

fn report(conversion: &Conversion<'_>, limits: &Limits<'_>, verified: Option<u64>) -> Report {
    let bytes_read = conversion.jobs.iter().map(|job| job.bytes_in).sum();
    let (bytes_written, peak) = (bytes_written(conversion), limits.budget().peak());
    Report { bytes_read, bytes_written, verified, peak }
}

/// The fingerprints of the summed data, by the numbers of their jobs.
pub(crate) type Fingerprints = BTreeMap<usize, Fingerprint>;

/// Compares the files of a result before they get their names, and returns the number of compared bytes.
pub(crate) type Check<'c> = &'c dyn Fn(&[Temporary], &Fingerprints) -> Result<u64, Error>;

/// Writes the files of a result through `wrap`, compares them on request, and gives them their names. Returns the number of compared
/// bytes.
pub(crate) fn written(
    conversion: &Conversion<'_>,
    limits: &Limits<'_>,
    wrap: Wrap<'_>,
    check: Check<'_>,
) -> Result<Option<u64>, Error> {
    if conversion.is_upload() {
        let write = |target: &Target, sink: Box<dyn Sink + '_>| {
            write_to(conversion, (target, &target.path), sink, limits).map(drop)
        };
        uploads::filled(conversion, limits, &write)?;
        return Ok(conversion.request.verify.then(|| total_bytes(&conversion.jobs)));
    }
    let write = || files(conversion, limits, wrap, check);
    match &conversion.folder {
        Some(folder) => folder.filled(limits.watch(), write),
        None => write(),
    }
}

/// Writes the files of a result to a stream, in order.
pub(crate) fn streamed(
    conversion: &Conversion<'_>,
    out: &mut dyn Write,
    limits: &Limits<'_>,
) -> Result<(), Error> {
    conversion.targets.iter().try_for_each(|target| {
        let sink = Box::new(Stream(&mut *out));
        write_to(conversion, (target, Path::new(STREAM)), sink, limits).map(drop)
    })
}

/// Writes the result to files; returns the number of compared bytes if verification is requested.
fn files(
    conversion: &Conversion<'_>,
    limits: &Limits<'_>,
    wrap: Wrap<'_>,
    check: Check<'_>,
) -> Result<Option<u64>, Error> {
    for target in &conversion.targets {
        temporary::sweep(&set::usual_path(&target.path))?;
    }
    if conversion.format.array.is_some() {
        note_file::sweep(&conversion.out)?;
    }
    space::check(&conversion.out, bytes_written(conversion))?;
    let (mut done, mut sum, mut data) = (Vec::new(), None, Fingerprints::new());
    for (number, target) in set::targets(conversion)?.iter().enumerate() {
        let usual = set::usual_path(&target.path);
        let temporary =
            Temporary::create(&target.path, &usual, &access(conversion, number, &usual))?;
        let sink = wrap(temporary.writer()?);
        let written = write_to(conversion, (target, &target.path), sink, limits)?;
        sum = written.sum;
        data.extend(written.data);
        done.push(temporary);
    }
    let verified = conversion.request.verify.then(|| check(&done, &data)).transpose()?;
    limits.watch().check_cancelled()?;
    conversion.source.check_unchanged()?;
    commit(conversion, done, (sum, &data), limits.watch())?;
    Ok(verified)
}

/// Gives the finished files their names; `sum` is the checksum of one that is noted, `data` are the fingerprints.
fn commit(
    conversion: &Conversion<'_>,
    mut done: Vec<Temporary>,
    (sum, data): (Option<u32>, &Fingerprints),
    watch: &dyn Watch,
) -> Result<(), Error> {
    let force = conversion.request.force;
    let array = conversion.format.array.is_some().then(|| done.pop()).flatten();
    match (array, conversion.note.as_ref().zip(sum)) {
        (None, _) => set::commit(conversion, done, watch),
        (Some(file), None) => note_file::persist_plain(file, force, watch),
        (Some(file), Some(noted)) => {
            let access = access(conversion, 0, &conversion.out);
            let (texts, sum) = noted;
            let texts = container::noted_with(texts, data.get(&0));
            note_file::persist(file, (&texts, sum), &access, force, watch)
        }
    }
}

/// Returns the access rights of a target: those of its predecessor, else of the file of its number in the input.
fn access(conversion: &Conversion<'_>, number: usize, usual: &Path) -> Access {
    let opened = &conversion.input.opened;
    let file = opened.files.get(number).map(|file| &file.source);
    let old = match conversion.format.several && number < opened.files.len() {
        true => set::predecessor(&conversion.out, usual),
        false => conversion.out.clone(),
    };
    Access::of(&old, file.or(opened.index.as_ref()).and_then(Source::facts))
}

/// The checksum and the fingerprints of a written file.
struct Written {
    /// The last checksum of the written bytes.
    sum: Option<u32>,
    data: Fingerprints,
}

/// Writes header and tensors of a target in order, and syncs them to the disk.
fn write_to(
    conversion: &Conversion<'_>,
    (target, path): (&Target, &Path),
    sink: Box<dyn Sink + '_>,
    limits: &Limits<'_>,
) -> Result<Written, Error> {
    let mut output = Output::new(sink, path, limits.watch(), limits.budget());
    let mut sections = Cow::from(&target.sections);
    if conversion.keeps_note() {
        // The note identifies the file by a checksum of all its bytes.
        sections.to_mut().insert(0, Section::Begin);
        sections.to_mut().push(Section::End);
    }
    // The header of a stream is written before the pass over the data, so these are read twice.
    let passes: &[Pass] = match conversion.streamed {
        true if conversion.jobs.iter().any(|job| job.record.is_read()) => &[Pass::Sum, Pass::Write],
        true => &[Pass::Write],
        false => &[Pass::Both],
    };
    for pass in passes {
        pipeline::write(conversion, (&sections, *pass), &mut output, limits)?;
        if *pass != Pass::Write {
            check_data(conversion, target, output.fingerprints())?;
        }
    }
    output.complete()?;
    output.sync()?;
    Ok(Written { sum: output.last_sum(), data: output.fingerprints().clone() })
}

/// Returns an error if the data of a source differ from their recorded fingerprints.
fn check_data(
    conversion: &Conversion<'_>,
    target: &Target,
    data: &Fingerprints,
) -> Result<(), Error> {
    let numbers = target.sections.iter().filter_map(|section| match section {
        Section::Tensor(number) => Some(*number),
        _ => None,
    });
    for number in numbers {
        let Some(job) = conversion.jobs.get(number) else { continue };
        let is = data.get(&number).copied().unwrap_or_default();
        if let Record::Checked(own) = job.record
            && own != is
        {
            let said = format!(
                "tensor {:?} has data with fingerprint {is}, and {own} is recorded: the data was changed since it was written; convert the original again, or remove the note",
                job.name
            );
            return Err(error::corrupt(&conversion.input.path, said));
        }
    }
    Ok(())
}

/// The work that a run did.
///
/// ```
/// # use tilewright_files::{Conversion, Reading, Request, open};
/// # use tilewright_notation::Spec;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// # let input = open(path, &Reading::default()).unwrap();
/// # let folder = tempfile::tempdir().unwrap();
/// # let out = folder.path().join("zn.safetensors");
/// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
/// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
/// let report = conversion.run(&()).unwrap();
/// assert!(report.bytes_written() > report.bytes_read() && report.verified().is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
    pub(crate) verified: Option<u64>,
    pub(crate) peak: u64,
}

impl Report {
    /// Returns the number of bytes of tensors read, without those read again for verification.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let read: u64 = conversion.jobs().iter().map(|job| job.bytes_in()).sum();
    /// assert_eq!(conversion.run(&()).unwrap().bytes_read(), read);
    /// ```
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Returns the number of bytes written, including headers.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let report = conversion.run(&()).unwrap();
    /// assert_eq!(report.bytes_written(), std::fs::metadata(&out).unwrap().len());
    /// ```
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Returns the number of bytes compared, if verification was requested.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let written: u64 = conversion.jobs().iter().map(|job| job.bytes_out()).sum();
    /// assert_eq!(conversion.run(&()).unwrap().verified(), Some(written));
    /// ```
    pub fn verified(&self) -> Option<u64> {
        self.verified
    }

    /// Returns the largest number of bytes of buffers that were in use at once.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let peak = conversion.run(&()).unwrap().peak_memory();
    /// assert!(peak > 0 && peak <= tilewright_files::DEFAULT_MEMORY);
    /// ```
    pub fn peak_memory(&self) -> u64 {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, fs::File, io};

    use tilewright_notation::Spec;

    use super::*;
    use crate::{Reading, Request, open};

    /// A disk that is full at byte `left`.
    struct Full {
        file: File,
        left: usize,
    }

    impl Sink for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
            let fits = bytes.len().min(self.left);
            self.left -= fits;
            Sink::write(&mut self.file, &bytes[..fits])?;
            if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn is_placed(&self) -> bool {
            true
        }

        fn extend(&mut self, len: u64) -> io::Result<()> {
            Sink::extend(&mut self.file, len)
        }

        fn place(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
            let fits = bytes.len().min(self.left);
            self.left -= fits;
            Sink::place(&mut self.file, &bytes[..fits], at)?;
            if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn read_back(&mut self, bytes: &mut [u8], at: u64) -> io::Result<()> {
            Sink::read_back(&mut self.file, bytes, at)
        }

        fn sync(&mut self) -> io::Result<()> {
            if self.left == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn a_full_disk_is_an_error_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, out) = (folder.path().join("in.npy"), folder.path().join("out.npy"));
        let mut bytes = container::npy::header_bytes("<f4", false, &[64, 64]);
        let whole = bytes.len() + 64 * 64 * 4;
        bytes.resize(whole, 7);
        fs::write(&path, &bytes).unwrap();
        let input = open(&path, &Reading::default()).unwrap();
        for memory in [4096, 1 << 20, 1 << 24] {
            for left in [0, 1, 127, 128, 5000, whole - 1, whole] {
                let request = Request::new().to(Spec::parse("col-major").unwrap()).memory(memory);
                let conversion = Conversion::prepare(&input, &out, request).unwrap();
                let error =
                    run(&conversion, &(), &|file| Box::new(Full { file, left })).unwrap_err();
                assert!(error.is_io() && error.kind() == "io", "{error}");
                assert!(error.to_string().contains("out.npy"), "{error}");
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            }
            let request = Request::new().to(Spec::parse("col-major").unwrap()).memory(memory);
            let conversion = Conversion::prepare(&input, &out, request).unwrap();
            run(&conversion, &(), &|file| Box::new(Full { file, left: whole + 1 })).unwrap();
            fs::remove_file(&out).unwrap();
        }
    }

    /// A sink that writes one byte wrong.
    struct Wrong {
        file: File,
        at: usize,
    }

    impl Sink for Wrong {
        fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
            let mut bytes = bytes.to_vec();
            if let Some(byte) = bytes.get_mut(self.at) {
                *byte ^= 1;
            }
            self.at = self.at.wrapping_sub(bytes.len());
            Sink::write(&mut self.file, &bytes)
        }

        fn sync(&mut self) -> io::Result<()> {
            self.file.sync_all()
        }
    }

    #[test]
    fn verification_looks_at_what_was_written_before_it_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (path, out) = (folder.path().join("in.npy"), folder.path().join("out.npy"));
        let mut bytes = container::npy::header_bytes("<f4", false, &[6, 5]);
        bytes.resize(bytes.len() + 120, 7);
        fs::write(&path, &bytes).unwrap();
        let input = open(&path, &Reading::default()).unwrap();
        for at in [128, 200, 247] {
            let request = Request::new().to(Spec::parse("col-major").unwrap()).verify(true);
            let conversion = Conversion::prepare(&input, &out, request).unwrap();
            let error = run(&conversion, &(), &|file| Box::new(Wrong { file, at })).unwrap_err();
            assert!(error.is_io() && error.to_string().contains("verification failed"), "{error}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
