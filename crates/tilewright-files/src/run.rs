//! Running a conversion: temporaries, headers, tensors, the rename.

use crate::{
    Conversion, Error, Report, Watch,
    budget::Budget,
    output::Output,
    pipeline,
    pool::Pool,
    sink::Wrap,
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
    let budget = Budget::new(conversion.request.memory);
    let pool = Pool::new(conversion.request.threads);
    let mut done = Vec::new();
    for target in &conversion.targets {
        temporary::sweep(&target.path);
    }
    space::check(&conversion.out, payload.saturating_add(headers))?;
    for target in &conversion.targets {
        done.push(write_target(conversion, target, watch, wrap, &budget, &pool)?);
    }
    let verified = match conversion.request.verify {
        true => Some(verify::written(conversion, &done, watch, &budget)?),
        false => None,
    };
    go_on(watch)?;
    persist(conversion, done)?;
    Ok(Report {
        bytes_read: conversion.jobs.iter().map(|job| job.bytes_in).sum(),
        bytes_written: payload.saturating_add(headers),
        verified,
        peak: budget.peak(),
    })
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

fn write_target(
    conversion: &Conversion<'_>,
    target: &Target,
    watch: &dyn Watch,
    wrap: Wrap<'_>,
    budget: &Budget,
    pool: &Pool,
) -> Result<Temporary, Error> {
    let temporary = Temporary::create(&target.path)?;
    let sink = wrap(temporary.writer()?);
    let mut output = Output::new(sink, &target.path, watch, budget);
    output.write(&target.header)?;
    pipeline::write(conversion, &target.jobs, &mut output, budget, pool)?;
    output.sync()?;
    Ok(temporary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reading, Request, open, sink::Sink};
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
