//! The devices in use: their retained primary contexts and compute capabilities, and the device whose memory some jobs
//! use.
//!
//! Every launch begins here. Memory is checked before work is queued, and memory of several devices or of none is
//! refused.
//!
//! Laws: a list of jobs that passes writes no byte twice and reads no byte that it writes. Each address is looked up,
//! or is in an allocation of which another address was looked up in the same call; an allocation is on one device.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{
    Error, Job,
    compiler::Capability,
    error::of_device,
    modules::lock,
    raw::{Allocation, Context, Driver},
};

/// A device whose primary context is retained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    pub(crate) ordinal: i32,
    pub(crate) context: Context,
    pub(crate) capability: Capability,
}

/// The devices in use. Their contexts are released with this value, after all modules.
#[derive(Debug)]
pub(crate) struct Devices {
    driver: Arc<Driver>,
    met: Mutex<HashMap<i32, Device>>,
}

impl Devices {
    pub(crate) fn new(driver: &Arc<Driver>) -> Devices {
        Devices { driver: driver.clone(), met: Mutex::default() }
    }

    /// Returns the device of this ordinal.
    pub(crate) fn device(&self, ordinal: i32) -> Result<Device, Error> {
        let mut met = lock(&self.met);
        if let Some(device) = met.get(&ordinal) {
            return Ok(*device);
        }
        let (major, minor) = self.driver.capability(ordinal)?;
        let context = self.driver.retain(ordinal)?;
        let device = Device { ordinal, context, capability: Capability { major, minor } };
        met.insert(ordinal, device);
        Ok(device)
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        lock(&self.met).keys().for_each(|ordinal| self.driver.release(*ordinal));
    }
}

/// The number of allocations that may be asked for in vain. Where each array has its own, their bounds save no query.
const IN_VAIN: u32 = 8;

/// Returns the device that contains both sides of all jobs; `None` if nothing is written.
///
/// # Errors
/// `memory` for an address of no device, `devices` for those of several.
pub(crate) fn device(
    jobs: &[Job<'_>],
    sides: &[Side],
    driver: &Driver,
    devices: &Devices,
) -> Result<Option<i32>, Error> {
    if jobs.len() > 1
        && let Some(device) = device_of_all(jobs, sides, driver, devices)?
    {
        return Ok(Some(device));
    }
    device_in_order(jobs, driver, devices)
}

/// Returns the one device of all sides, which are in the order of their addresses; `None` if there is no such device.
fn device_of_all(
    jobs: &[Job<'_>],
    sides: &[Side],
    driver: &Driver,
    devices: &Devices,
) -> Result<Option<i32>, Error> {
    let is_moved = |side: &&Side| jobs.get(side.job).is_some_and(|job| job.moved.dst_bytes() > 0);
    let mut addresses = sides.iter().filter(is_moved).map(|side| side.begin);
    let Some(first) = addresses.next() else { return Ok(None) };
    let Some(device) = driver.device_of(first, || any_context(devices))? else { return Ok(None) };
    let is_same = driver.within(devices.device(device)?.context, || {
        let mut last = Last { allocation: driver.allocation_of(first), spare: IN_VAIN };
        for address in addresses {
            if last.contains(address) {
                continue;
            }
            if driver.ordinal_of(address)? != Some(device) {
                return Ok(false);
            }
            last.ask(address, driver);
        }
        Ok(true)
    })?;
    Ok(is_same.then_some(device))
}

/// The allocation of the address that was last looked up.
struct Last {
    allocation: Option<Allocation>,
    /// The number of allocations that may still be asked for.
    spare: u32,
}

impl Last {
    fn contains(&mut self, address: u64) -> bool {
        let contains = self.allocation.is_some_and(|allocation| allocation.contains(address));
        self.spare += u32::from(contains);
        contains
    }

    fn ask(&mut self, address: u64, driver: &Driver) {
        self.allocation = None;
        if let Some(spare) = self.spare.checked_sub(1) {
            (self.allocation, self.spare) = (driver.allocation_of(address), spare);
        }
    }
}

/// Looks up each side in the order of the jobs, so that an error names the first one at fault.
fn device_in_order(
    jobs: &[Job<'_>],
    driver: &Driver,
    devices: &Devices,
) -> Result<Option<i32>, Error> {
    let mut found: Option<(i32, String)> = None;
    for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.moved.dst_bytes() > 0) {
        let sides = [
            ("source", job.src, job.moved.src_bytes()),
            ("destination", job.dst, job.moved.dst_bytes()),
        ];
        for (side, memory, bytes) in sides.into_iter().filter(|side| side.2 > 0) {
            let address = memory.address();
            let name =
                || if jobs.len() > 1 { format!("{side} of job {at}") } else { side.to_owned() };
            let Some(own) = driver.device_of(address, || any_context(devices))? else {
                let says = format!(
                    "the {}, {bytes} bytes at address {address:#x}, is not in the memory of a CUDA device",
                    name()
                );
                return Err(of_device("memory", says));
            };
            match &found {
                Some((other, first)) if *other != own => {
                    let says = format!(
                        "the {first} is on device {other} and the {} on device {own}; a move takes place on one device, \
                         so copy one of them first",
                        name()
                    );
                    return Err(of_device("devices", says));
                }
                Some(_) => {}
                None => found = Some((own, name())),
            }
        }
    }
    Ok(found.map(|(ordinal, _)| ordinal))
}

/// Returns the context of a device that exists.
fn any_context(devices: &Devices) -> Result<Context, Error> {
    devices.device(0).map(|device| device.context)
}

/// One side of a job: its bytes, whether they are written, and the number of the job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) begin: u64,
    end: u64,
    written: bool,
    pub(crate) job: usize,
}

/// Returns the sides of all jobs in the order of their addresses, without empty ones; an error for memory that is too
/// short for its move, and for memory that overlaps. Empty sides overlap nothing.
pub(crate) fn memory(jobs: &[Job<'_>]) -> Result<Vec<Side>, Error> {
    for (at, job) in jobs.iter().enumerate() {
        let lengths = [
            ("source", job.src.bytes(), job.moved.src_bytes(), "reads"),
            ("destination", job.dst.bytes(), job.moved.dst_bytes(), "writes"),
        ];
        for (side, given, taken, does) in lengths {
            if given < taken {
                let says = format!(
                    "a {side} of {given} bytes{} is too short; the plan {does} {taken}",
                    of(at, jobs)
                );
                return Err(Error::buffer(says));
            }
        }
    }
    let sides = sides(jobs)?;
    apart(&sides, jobs)?;
    Ok(sides)
}

/// Returns the sides in the order of their addresses. All sources are listed before all destinations: both are often in
/// order already, and sorting two such runs is a merge.
fn sides(jobs: &[Job<'_>]) -> Result<Vec<Side>, Error> {
    let mut sides = Vec::with_capacity(2 * jobs.len());
    for written in [false, true] {
        for (at, job) in jobs.iter().enumerate() {
            let (begin, bytes) = match written {
                false => (job.src.address(), job.moved.src_bytes()),
                true => (job.dst.address(), job.moved.dst_bytes()),
            };
            let Some(end) = begin.checked_add(bytes) else {
                let says = format!("{bytes} bytes from address {begin:#x} leave the address space");
                return Err(Error::buffer(says));
            };
            sides.extend((bytes > 0).then_some(Side { begin, end, written, job: at }));
        }
    }
    sides.sort_by_key(|side| side.begin);
    Ok(sides)
}

/// Returns an error if two of these sides overlap, and one is written.
fn apart(sides: &[Side], jobs: &[Job<'_>]) -> Result<(), Error> {
    // The sides before this one with the largest ends: of all, and of those that are written.
    let (mut any, mut written): (Option<Side>, Option<Side>) = (None, None);
    for &side in sides {
        let before = if side.written { any } else { written };
        if let Some(before) = before.filter(|before| side.begin < before.end) {
            return Err(overlap(before, side, jobs));
        }
        let farther = |kept: Option<Side>| kept.filter(|kept| kept.end >= side.end).or(Some(side));
        any = farther(any);
        if side.written {
            written = farther(written);
        }
    }
    Ok(())
}

fn overlap(one: Side, other: Side, jobs: &[Job<'_>]) -> Error {
    let named = |side: Side| {
        let name = if side.written { "destination" } else { "source" };
        format!("the {name}{} at {:#x} to {:#x}", of(side.job, jobs), side.begin, side.end)
    };
    let says = format!("{} overlaps {}", named(one), named(other));
    Error::buffer(format!("{says}; no other move may read or write the destination of a move"))
}

/// Names the job, if there are several.
fn of(at: usize, jobs: &[Job<'_>]) -> String {
    if jobs.len() > 1 { format!(" of job {at}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use tilewright_core::TensorLayout;
    use tilewright_relayout::{Elements, Program};

    use super::*;
    use crate::{DeviceBytes, Move};

    fn copy(bytes: u64) -> Move {
        let rows = TensorLayout::row_major(&[bytes]).unwrap();
        Move::new(Program::new(&rows, &rows, Elements::same(8), 0).unwrap())
    }

    /// Returns whether some byte is written that is also written or read a second time, checked byte by byte.
    fn clashes(jobs: &[Job<'_>]) -> bool {
        let within = |memory: DeviceBytes, bytes, at: u64| {
            (memory.address()..memory.address() + bytes).contains(&at)
        };
        (0..32).any(|at| {
            let written =
                jobs.iter().filter(|job| within(job.dst, job.moved.dst_bytes(), at)).count();
            let read = jobs.iter().any(|job| within(job.src, job.moved.src_bytes(), at));
            written > 1 || written == 1 && read
        })
    }

    /// Over all pairs of copies of at most three bytes at nearby addresses.
    #[test]
    fn what_passes_writes_no_byte_twice_and_reads_none_that_it_writes() {
        let moves: Vec<Move> = (0..4).map(copy).collect();
        let mut found = [0, 0];
        for (one, other) in (0..16).map(|both| (both / 4, both % 4)) {
            for places in 0..6u64.pow(4) {
                let at = |digit: u32| 4 + places / 6u64.pow(digit) % 6;
                let job = |moved: usize, digit| Job {
                    moved: &moves[moved],
                    src: DeviceBytes::imagined(at(digit), moved as u64),
                    dst: DeviceBytes::imagined(at(digit + 1), moved as u64),
                };
                let jobs = [job(one, 0), job(other, 2)];
                let clash = clashes(&jobs);
                assert_eq!(memory(&jobs).is_err(), clash, "{jobs:?}");
                assert_eq!(memory(&jobs[..1]).is_err(), clashes(&jobs[..1]), "{jobs:?}");
                found[usize::from(clash)] += 1;
            }
        }
        assert!(found.iter().all(|count| *count > 1000), "{found:?}");
    }

    #[test]
    fn longer_memory_than_is_moved_is_fine() {
        let moved = copy(4);
        let job = |src, dst| Job { moved: &moved, src, dst };
        let long = job(DeviceBytes::imagined(16, 100), DeviceBytes::imagined(24, 100));
        assert!(memory(&[long]).is_ok());
        for (src, dst) in [(3, 4), (4, 3)] {
            let short = job(DeviceBytes::imagined(16, src), DeviceBytes::imagined(64, dst));
            assert_eq!(memory(&[short]).unwrap_err().kind(), "buffer");
        }
        let end = job(DeviceBytes::imagined(u64::MAX - 3, 4), DeviceBytes::imagined(64, 4));
        assert!(memory(&[end]).unwrap_err().to_string().contains("address space"));
    }
}
