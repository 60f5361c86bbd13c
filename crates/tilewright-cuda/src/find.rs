//! Finds the device whose memory some jobs use, and refuses memory of several devices or of none. Every launch asks it
//! after the checks of lengths and overlaps.
//!
//! Law: each address is looked up, or is in an allocation of which another address was looked up in the same call. An
//! allocation is on one device.

use crate::{
    Error, Job,
    check::Side,
    device::Devices,
    error::of_device,
    raw::{Allocation, Context, Driver},
};

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
