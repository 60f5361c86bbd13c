//! Running a conversion: temporaries, headers, tensors, the rename.

use std::path::Path;

use crate::{
    Conversion, Error, Report, Watch,
    budget::Budget,
    destination::STANDARD,
    output::Output,
    pipeline,
    pool::Pool,
    sink::{self, Sink, Wrap},
    space,
    target::Target,
    temporary::{self, Temporary},
    verify,
    watch::go_on,
};

/// Runs a conversion, writing through `wrap`.
pub(crate) fn run(
    conversion: &Conversion<'_>,
    watch: &dyn Watch,
    wrap: Wrap<'_>,
) -> Result<Report, Error> {
    let outputs = conversion.jobs.iter().map(|job| job.bytes_out);
    let payload = outputs.fold(0, u64::saturating_add);
    let headers: u64 = conversion.targets.iter().map(|target| target.header.len() as u64).sum();
    let times = if conversion.request.verify { 2 } else { 1 };
    watch.total(headers.saturating_add(payload.saturating_mul(times)));
    let means = Means {
        watch,
        budget: Budget::new(conversion.request.memory),
        pool: Pool::new(conversion.request.threads),
    };
    let bytes_written = payload.saturating_add(headers);
    let verified = match conversion.streamed {
        true => stream(conversion, &means).map(|()| None),
        false => files(conversion, bytes_written, wrap, &means),
    }?;
    let bytes_read = conversion.jobs.iter().map(|job| job.bytes_in).sum();
    Ok(Report { bytes_read, bytes_written, verified, peak: means.budget.peak() })
}

/// What the whole run has to work with.
struct Means<'a> {
    watch: &'a dyn Watch,
    budget: Budget,
    pool: Pool,
}

/// Writes the result to standard output.
fn stream(conversion: &Conversion<'_>, means: &Means<'_>) -> Result<(), Error> {
    let path = Path::new(STANDARD);
    for target in &conversion.targets {
        write_to(conversion, target, path, Box::new(sink::Standard::new()), means)?;
    }
    Ok(())
}

/// Writes the result to files, `bytes` in all; how many bytes were compared where that is asked.
fn files(
    conversion: &Conversion<'_>,
    bytes: u64,
    wrap: Wrap<'_>,
    means: &Means<'_>,
) -> Result<Option<u64>, Error> {
    for target in &conversion.targets {
        temporary::sweep(&target.path);
    }
    space::check(&conversion.out, bytes)?;
    let mut done = Vec::new();
    for target in &conversion.targets {
        let temporary = Temporary::create(&target.path)?;
        write_to(conversion, target, &target.path, wrap(temporary.writer()?), means)?;
        done.push(temporary);
    }
    let verified = match conversion.request.verify {
        true => Some(verify::written(conversion, &done, means.watch, &means.budget)?),
        false => None,
    };
    go_on(means.watch)?;
    persist(conversion, done)?;
    Ok(verified)
}

/// Renames every temporary, the file that the user named last. If one cannot be, those renamed before
/// it go again, unless they replaced something.
fn persist(conversion: &Conversion<'_>, done: Vec<Temporary>) -> Result<(), Error> {
    let force = conversion.request.force;
    for (number, temporary) in done.into_iter().enumerate() {
        if let Err(error) = temporary.persist(force) {
            let renamed = conversion.targets.iter().take(number).filter(|_| !force);
            for target in renamed {
                let _ = std::fs::remove_file(&target.path);
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Writes header and tensors of a target, and brings them to the disk.
fn write_to(
    conversion: &Conversion<'_>,
    target: &Target,
    path: &Path,
    sink: Box<dyn Sink>,
    means: &Means<'_>,
) -> Result<(), Error> {
    let mut output = Output::new(sink, path, means.watch, &means.budget);
    output.write(&target.header)?;
    pipeline::write(conversion, &target.jobs, &mut output, &means.budget, &means.pool)?;
    output.sync()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reading, Request, open};
    use std::{fs, fs::File, io};
    use tilewright_notation::Spec;

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

        fn sync(&mut self) -> io::Result<()> {
            if self.left == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn a_full_disk_is_an_error_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, out) = (folder.path().join("in.npy"), folder.path().join("out.npy"));
        let mut bytes = crate::npy::header_bytes("<f4", false, &[64, 64]);
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
        let mut bytes = crate::npy::header_bytes("<f4", false, &[6, 5]);
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
