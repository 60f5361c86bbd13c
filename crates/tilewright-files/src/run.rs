//! Running a conversion: temporaries, headers, tensors, the rename.

use std::path::Path;

use tilewright_relayout::{Chunk, Plan};

use crate::{
    Action, Conversion, Error, Job, Report, Watch,
    budget::Budget,
    sink::{Sink, Wrap},
    source::Source,
    target::Target,
    temporary::{self, Temporary},
    verify,
    watch::go_on,
};

/// The most bytes read or written between two looks at the watch.
const STEP: u64 = 8 << 20;

/// Runs a conversion, writing through `wrap`.
pub(crate) fn run(
    conversion: &Conversion<'_>,
    watch: &dyn Watch,
    wrap: Wrap<'_>,
) -> Result<Report, Error> {
    let payload: u64 = conversion.jobs.iter().map(|job| job.bytes_out).sum();
    let headers: u64 = conversion.targets.iter().map(|target| target.header.len() as u64).sum();
    watch.total(headers + payload * if conversion.request.verify { 2 } else { 1 });
    let budget = Budget::new(conversion.request.memory);
    let mut done = Vec::new();
    for target in &conversion.targets {
        temporary::sweep(&target.path);
    }
    for target in &conversion.targets {
        done.push(write_target(conversion, target, watch, wrap, &budget)?);
    }
    let verified = match conversion.request.verify {
        true => Some(verify::written(conversion, &done, watch, &budget)?),
        false => None,
    };
    go_on(watch)?;
    persist(conversion, done)?;
    Ok(Report {
        bytes_read: conversion.jobs.iter().map(|job| job.bytes_in).sum(),
        bytes_written: payload + headers,
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
) -> Result<Temporary, Error> {
    let temporary = Temporary::create(&target.path)?;
    let sink = wrap(temporary.writer()?);
    let mut output = Output { sink, path: &target.path, watch };
    output.write(&target.header)?;
    for job in target.jobs.iter().filter_map(|&number| conversion.jobs.get(number)) {
        let Some(tensor) = conversion.input.tensors.get(job.tensor) else { continue };
        let read = Piece { source: conversion.input.source(tensor)?, at: tensor.at, watch };
        match job.action {
            Action::Copy | Action::Skip(_) => copy(&read, job.bytes_in, &mut output, budget)?,
            Action::Convert => convert(&read, job, &mut output, conversion, budget)?,
        }
    }
    output.sync()?;
    Ok(temporary)
}

/// Bytes going out, reported and stoppable.
struct Output<'a> {
    sink: Box<dyn Sink>,
    path: &'a Path,
    watch: &'a dyn Watch,
}

impl Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for step in bytes.chunks(STEP as usize) {
            go_on(self.watch)?;
            self.sink.write(step).map_err(|cause| Error::io(self.path, "write", cause))?;
            self.watch.advance(step.len() as u64);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.sink.sync().map_err(|cause| Error::io(self.path, "bring it to the disk", cause))
    }
}

/// A tensor's bytes in the input.
struct Piece<'a> {
    source: &'a Source,
    at: u64,
    watch: &'a dyn Watch,
}

impl Piece<'_> {
    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), Error> {
        let mut at = self.at + offset;
        for step in bytes.chunks_mut(STEP as usize) {
            go_on(self.watch)?;
            self.source.read(step, at)?;
            at += step.len() as u64;
        }
        Ok(())
    }
}

fn copy(read: &Piece<'_>, len: u64, output: &mut Output<'_>, budget: &Budget) -> Result<(), Error> {
    let mut buffer = budget.buffer(len.min(STEP).min(budget.limit()))?;
    let mut at = 0;
    while at < len {
        let step = (len - at).min(buffer.len() as u64) as usize;
        let bytes = &mut buffer[..step];
        read.read(bytes, at)?;
        output.write(bytes)?;
        at += step as u64;
    }
    Ok(())
}

fn convert(
    read: &Piece<'_>,
    job: &Job,
    output: &mut Output<'_>,
    conversion: &Conversion<'_>,
    budget: &Budget,
) -> Result<(), Error> {
    let (plan, threads) = (job.plan()?, conversion.request.threads);
    if plan.src_bytes().saturating_add(plan.dst_bytes()) > budget.limit() {
        return convert_in_chunks(read, job, &plan, output, threads, budget);
    }
    let mut src = budget.buffer(plan.src_bytes())?;
    let mut dst = budget.buffer(plan.dst_bytes())?;
    read.read(&mut src, 0)?;
    plan.run(&src, &mut dst, threads).map_err(|error| moved(job, &error))?;
    output.write(&dst)
}

fn moved(job: &Job, error: &tilewright_relayout::Error) -> Error {
    Error::usage(format!("tensor {:?}: {error}", job.name))
}

/// Consecutive ranges of the destination, each with what it needs of the source.
fn convert_in_chunks(
    read: &Piece<'_>,
    job: &Job,
    plan: &Plan,
    output: &mut Output<'_>,
    threads: usize,
    budget: &Budget,
) -> Result<(), Error> {
    let mut pending = Vec::new();
    for range in plan.ranges(chunk_len(job, plan, budget)?) {
        pending.push(range);
        while let Some(range) = pending.pop() {
            let chunk = plan.chunk(range.clone()).map_err(|error| moved(job, &error))?;
            let len = range.end - range.start;
            if len > 1 && needed(&chunk) > budget.limit() {
                let middle = range.start + len / 2;
                pending.extend([middle..range.end, range.start..middle]);
                continue;
            }
            let _list = budget.held(chunk.overhead_bytes())?;
            let mut src = budget.buffer(chunk.buffer_len() as u64)?;
            let mut dst = budget.buffer(len)?;
            for part in chunk.reads() {
                read.read(within(job, &mut src, part.at, part.len)?, part.src)?;
            }
            chunk.run(&src, &mut dst, threads).map_err(|error| moved(job, &error))?;
            output.write(&dst)?;
        }
    }
    Ok(())
}

/// The bytes that a chunk holds: its list of reads, and what it reads and writes.
fn needed(chunk: &Chunk) -> u64 {
    let range = chunk.range();
    let buffers = (range.end - range.start).saturating_add(chunk.buffer_len() as u64);
    buffers.saturating_add(chunk.overhead_bytes())
}

/// The length of destination ranges that fit into the bound, judged by the first of them.
fn chunk_len(job: &Job, plan: &Plan, budget: &Budget) -> Result<u64, Error> {
    let mut len = budget.limit() / 2;
    // The list of reads is made before its length is known.
    while len > 64 && len.saturating_add(plan.list_bytes(len)) > budget.limit() {
        len /= 2;
    }
    while let Some(range) = plan.ranges(len).next() {
        let chunk = plan.chunk(range).map_err(|error| moved(job, &error))?;
        if len <= 64 || needed(&chunk) <= budget.limit() {
            break;
        }
        len /= 2;
    }
    Ok(len)
}

/// A part of a buffer.
fn within<'b>(
    job: &Job,
    bytes: &'b mut [u8],
    at: usize,
    len: usize,
) -> Result<&'b mut [u8], Error> {
    let held = bytes.len();
    let part = at.checked_add(len).and_then(|end| bytes.get_mut(at..end));
    part.ok_or_else(|| {
        Error::usage(format!(
            "tensor {:?}: a read of {len} bytes at {at} of a buffer of {held}",
            job.name
        ))
    })
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
        for memory in [4096, 1 << 20] {
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
