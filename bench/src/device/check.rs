//! Compares the bytes of a result with those of the processor.

use tilewright::{cuda::Memory, relayout::Buffer};

use super::Laid;
use crate::{Case, Error, data};

/// The value of the destination's bytes before the run that is checked.
pub(super) const STALE: u8 = 0xA5;

/// The bytes on each side of an array that must not change.
const BESIDE: u64 = 64;

/// Buffers of the host: the bytes of every source, the processor's result, and the bytes that were read back.
#[derive(Debug)]
pub(super) struct Host {
    data: Buffer,
    made: Buffer,
    back: Buffer,
}

impl Host {
    /// Makes buffers for arrays of at most `bytes` bytes.
    pub(super) fn new(bytes: u64) -> Result<Host, Error> {
        let buffer = |bytes| Buffer::new(bytes).map_err(|error| Error::machine(error.to_string()));
        let mut data = buffer(bytes)?;
        data::fill(&mut data);
        Ok(Host { data, made: buffer(bytes)?, back: buffer(bytes)? })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.data.len() as u64
    }

    /// Returns the first bytes of every source.
    pub(super) fn data(&self, bytes: u64) -> &[u8] {
        &self.data[..bytes as usize]
    }

    /// Returns the checksum of the first array, and the first fault of any, if there is one.
    pub(super) fn fault(
        &mut self,
        case: &Case,
        dst: &Memory,
        laid: Laid,
    ) -> Result<(u64, Option<String>), Error> {
        let made = &mut self.made[..case.dst_bytes() as usize];
        let done = case.plan()?.run(&self.data[..case.src_bytes() as usize], made, 0);
        done.map_err(|error| Error::machine(error.to_string()))?;
        let expected = data::checksum(made);
        let stated = case.checksum().filter(|stated| *stated != expected);
        let mut wrong = stated.map(|stated| {
            format!("the processor makes {expected:#018x}, not the {stated:#018x} that is stated")
        });
        let mut first = None;
        for array in 0..laid.arrays {
            let at = laid.first + array * laid.apart;
            let back = &mut self.back[..case.dst_bytes() as usize];
            dst.read(at, back)?;
            let found = data::checksum(back);
            first = first.or(Some(found));
            let differs = (found != expected).then(|| difference(back, made));
            let beside = beside(dst, at, laid)?;
            wrong = wrong.or(differs.or(beside).map(|says| match laid.arrays {
                1 => says,
                arrays => format!("array {array} of {arrays}: {says}"),
            }));
        }
        Ok((first.unwrap_or(expected), wrong))
    }
}

/// Describes the first byte that differs.
fn difference(found: &[u8], expected: &[u8]) -> String {
    let at = found.iter().zip(expected).position(|(a, b)| a != b);
    let count = found.iter().zip(expected).filter(|(a, b)| a != b).count();
    match at {
        Some(at) => format!(
            "byte {at} is {:#04x}, not the {:#04x} that the processor makes; {count} of {} differ",
            found[at],
            expected[at],
            expected.len()
        ),
        None => "the checksum differs, and no byte does".to_owned(),
    }
}

/// Describes bytes before or after an array that changed, if any.
fn beside(dst: &Memory, at: u64, laid: Laid) -> Result<Option<String>, Error> {
    // Of several arrays, the gap between two is checked: the next one begins after it.
    let room = if laid.arrays == 1 { BESIDE } else { BESIDE.min(laid.apart - laid.bytes) };
    for (side, from) in [("before", at - room), ("behind", at + laid.bytes)] {
        let mut bytes = [0; BESIDE as usize];
        let bytes = &mut bytes[..room as usize];
        dst.read(from, bytes)?;
        if bytes.iter().any(|byte| *byte != STALE) {
            return Ok(Some(format!("bytes {side} the destination changed")));
        }
    }
    Ok(None)
}
