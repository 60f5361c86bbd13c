//! Elements of a part of a file that are looked up by the offsets of both layouts, while the part is made again. Verification of
//! results in stores uses it: both makings of a part have one plan, and [`TensorLayout::locate`] and `offset` have none.
//!
//! Law: an element that is looked up was read from the place that the layout of the source has for it, and the part has its bytes
//! at the place that the layout of the result has for it. The first, the last and some other elements of each array in a part are
//! looked up; all of them if they are few. A part has at most 16,384 lookups. If that is less than two for each of its arrays, some
//! arrays are skipped.
//!
//! An element that is not looked up is compared with the other making of the part only. So a mistake of the plan that misplaces a
//! few elements of a large array, the same ones in both makings, may go unnoticed.
//!
//! ```text
//! byte 12 of the part  =  element 3 of w in rank_1  =  (0, 7) of w  =  element 7 of w in the source, at byte 108 of its file
//! ```
//!
//! [`TensorLayout::locate`]: tilewright_core::TensorLayout::locate

use std::ops::Range;

use tilewright_core::Place;
use tilewright_sharded::Piece;

use crate::{
    Error, Job,
    plan::array::{LocalArrays, ReshardedArray},
    run::absent,
};

/// The most elements of an array in a part that are looked up.
const ELEMENTS: u64 = 1024;

/// The most elements of a part that are looked up.
const LOOKUPS: usize = 1 << 14;

/// 2⁶⁴ divided by the golden ratio: its multiples are spread evenly.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// An element: its file and its first byte there, its first byte in the part, and its width in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lookup {
    file: usize,
    at: u64,
    to: usize,
    width: usize,
    /// The bytes of a number whose order is reversed.
    unit: usize,
    array: usize,
    /// True if the part has the bytes that were read; `None` before.
    same: Option<bool>,
}

/// The elements of a part that are looked up.
pub(crate) struct Lookups<'p> {
    part: &'p [u8],
    /// By file and position.
    each: Vec<Lookup>,
}

impl<'p> Lookups<'p> {
    /// Returns at most `most` elements in a range of a file of the result, which has these bytes.
    pub(crate) fn of(
        job: &Job,
        (file, range): (usize, &Range<u64>),
        part: &'p [u8],
        most: usize,
    ) -> Result<Lookups<'p>, Error> {
        let arrays = job.output.locals_in(file, range);
        // Arrays that are skipped are spread evenly.
        let count = arrays.len().min(most / 2);
        let taken = (0..count).filter_map(|number| arrays.get(number * arrays.len() / count));
        let mut each = Vec::with_capacity(most);
        for (number, (array, _)) in taken.enumerate() {
            // Arrays that need fewer lookups leave them to later ones.
            let share = ((most - each.len()) / (count - number)) as u64;
            of_array(job, (file, *array), (range, share.min(ELEMENTS)), &mut each)?;
        }
        each.sort_unstable();
        Ok(Lookups { part, each })
    }

    /// Compares the elements in bytes that were read from a file of the source at a position.
    pub(crate) fn see(&mut self, file: usize, at: u64, read: &[u8]) {
        let first = self.each.partition_point(|it| (it.file, it.at) < (file, at));
        for lookup in self.each.iter_mut().skip(first) {
            let from = lookup.at.wrapping_sub(at) as usize;
            if lookup.file != file || from >= read.len() {
                break;
            }
            let Some(read) = read.get(from..from + lookup.width) else { continue };
            let own = self.part.get(lookup.to..lookup.to + lookup.width).unwrap_or_default();
            let reversed = || read.chunks(lookup.unit).flat_map(|number| number.iter().rev());
            let same = if lookup.unit == 1 { own == read } else { own.iter().eq(reversed()) };
            lookup.same = Some(same && lookup.same != Some(false));
        }
    }

    /// Returns an error unless the part has the bytes of all elements.
    pub(crate) fn check(&self, job: &Job) -> Result<(), Error> {
        let Some(wrong) = self.each.iter().find(|lookup| lookup.same != Some(true)) else {
            return Ok(());
        };
        let name = job.output.arrays.get(wrong.array).map_or("", |array| &*array.name);
        let path = job.source.files.get(wrong.file).map(|file| file.path.display().to_string());
        let (path, at, to) = (path.unwrap_or_default(), wrong.at, wrong.to);
        let said = match wrong.same {
            None => "was not read",
            Some(_) => "differs",
        };
        let said = format!("tensor {name:?}: the element at byte {at} of {path} {said}");
        Err(Error::new("corrupt", format!("{said}, and byte {to} of a part is that element")))
    }
}

/// Returns the bytes of a list of this many lookups.
pub(crate) fn bytes(count: usize) -> u64 {
    (count * size_of::<Lookup>()) as u64
}

/// Returns the number of lookups of a part whose list fits in these bytes.
pub(crate) fn fitting(bytes: u64) -> usize {
    usize::try_from(bytes).map_or(LOOKUPS, |bytes| LOOKUPS.min(bytes / size_of::<Lookup>()))
}

/// Appends at most `most` elements of a local array in a range of its file.
fn of_array(
    job: &Job,
    (file, array): (usize, usize),
    (range, most): (&Range<u64>, u64),
    each: &mut Vec<Lookup>,
) -> Result<(), Error> {
    let (from, to) = (job.source.arrays.get(array), job.output.arrays.get(array));
    let (from, to) = from.zip(to).ok_or_else(|| absent("an array"))?;
    let nth = to.held.nth(file).ok_or_else(|| absent(&to.name))?;
    let stored = to.held.stored.get(nth).ok_or_else(|| absent(&to.name))?;
    let begin = job.output.places.at(file, array).ok_or_else(|| absent(&to.name))?;
    let (width, len) = (u64::from(to.bits / 8).max(1), stored.laid.bytes().unwrap_or(0));
    let low = range.start.max(begin).saturating_sub(begin).div_ceil(width);
    let high = range.end.min(begin + len).saturating_sub(begin) / width;
    for element in chosen(low..high, most) {
        let Ok(Place::Element(local)) = stored.laid.layout.locate(element as i64) else { continue };
        let Some(at) = global(&to.held, nth as u64, local.as_slice()) else { continue };
        let (source, at) = stored_at(job, (from, array), &at)?;
        let unit = from.held.stored.first().map_or(1, |stored| stored.laid.reversed());
        let (own, width) = ((begin + element * width - range.start) as usize, width as usize);
        each.push(Lookup { file: source, at, to: own, width, unit, array, same: None });
    }
    Ok(())
}

/// Iterates over at most `most` numbers of a range: the first, the last and others, or all if they are few.
fn chosen(range: Range<u64>, most: u64) -> impl Iterator<Item = u64> {
    let count = range.end.saturating_sub(range.start);
    let of = move |number: u64| match number {
        _ if count <= most => number,
        0 => 0,
        1 => count - 1,
        _ => number.wrapping_mul(SPREAD) % count,
    };
    (0..count.min(most)).map(move |number| range.start + of(number))
}

/// Returns the index in the whole array of an element of the local array of this number.
fn global(held: &LocalArrays, nth: u64, local: &[u64]) -> Option<Vec<u64>> {
    let own = held.pieces.iter().filter(|piece| piece.source == nth);
    own.filter_map(|piece| moved(local, (&piece.local, &piece.start), &piece.extents)).next()
}

/// Returns the file of the source that has an element of the whole array, and the position of its first byte there.
fn stored_at(
    job: &Job,
    (from, array): (&ReshardedArray, usize),
    at: &[u64],
) -> Result<(usize, u64), Error> {
    let within = |piece: &Piece| {
        Some((piece.source, moved(at, (&piece.start, &piece.local), &piece.extents)?))
    };
    let found = from.held.pieces.iter().find_map(within);
    let found = found.and_then(|(nth, local)| {
        let stored = from.held.stored.get(usize::try_from(nth).ok()?)?;
        let offset = u64::try_from(stored.laid.layout.offset(&local).ok()?).ok()?;
        let begin = job.source.places.at(stored.file, array)?;
        Some((stored.file, begin + offset * u64::from(from.bits / 8)))
    });
    found.ok_or_else(|| absent(&from.name))
}

/// Returns an index of a box that begins at `from` as an index of the same box at `to`; `None` if it is not in the box.
fn moved(at: &[u64], (from, to): (&[u64], &[u64]), extents: &[u64]) -> Option<Vec<u64>> {
    let dims = at.iter().zip(from).zip(to.iter().zip(extents));
    let each = dims.map(|((at, from), (to, extent))| {
        let behind = at.checked_sub(*from).filter(|behind| behind < extent)?;
        Some(to + behind)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Request, Rules};

    /// Every element of a small result is found at its place, and a byte of it that changes is noticed.
    #[test]
    fn each_byte_of_an_element_is_looked_up() {
        let folder = tilewright_testing::folder();
        let header = r#"{"w":{"dtype":"I16","shape":[6,8],"data_offsets":[0,96]},"b":{"dtype":"U8","shape":[5],"data_offsets":[96,101]}}"#;
        let data: Vec<u8> = (0..101).collect();
        let length = (header.len() as u64).to_le_bytes();
        let input = folder.path().join("in.safetensors");
        let source = [&length[..], header.as_bytes(), &data].concat();
        fs::write(&input, &source).unwrap();
        let sides = [
            ("[Shard(1)]", None),
            ("[Shard(0)]", Some("col-major")),
            ("[_StridedShard(1, sf=2)]", Some("zN[C0=2]")),
        ];
        for (number, (rule, layout)) in sides.into_iter().enumerate() {
            let rules = Rules::new("tp=2").unwrap().rule("w", rule).unwrap();
            let rules = rules.rule("*", "[Replicate()]").unwrap();
            let out = folder.path().join(number.to_string());
            let request = Request::new(&input, &out).to(rules);
            let request = match layout {
                Some(spec) => request.layout(spec),
                None => request,
            };
            let job = Job::prepare(request).unwrap();
            job.run_all(&()).unwrap();
            let mut found = 0;
            for (file, one) in job.output.files.iter().enumerate() {
                let own = fs::read(out.join(&one.name)).unwrap();
                for cut in [0, own.len() / 2, own.len() - 7, own.len()] {
                    for range in [0..cut, cut..own.len()] {
                        found += looked_up(&job, file, &own, range, &source);
                    }
                }
            }
            // Four times the elements of w, and those of b in two files.
            assert!(found >= 4 * (48 + 10) - 8, "{rule}: {found}");
        }
    }

    /// Looks up the elements of a range, whole and with each byte changed; returns their number.
    fn looked_up(job: &Job, file: usize, own: &[u8], part: Range<usize>, source: &[u8]) -> usize {
        let range = part.start as u64..part.end as u64;
        let mut bytes = own[part].to_vec();
        let is_right = |bytes: &[u8]| {
            let mut lookups = Lookups::of(job, (file, &range), bytes, LOOKUPS).unwrap();
            assert!(lookups.each.is_empty() || lookups.check(job).is_err(), "not read");
            // In two readings.
            lookups.see(0, 0, &source[..200]);
            lookups.see(0, 198, &source[198..]);
            lookups.check(job).is_ok()
        };
        assert!(is_right(&bytes));
        let each = Lookups::of(job, (file, &range), &bytes, LOOKUPS).unwrap().each;
        for Lookup { to, width, .. } in &each {
            for byte in *to..to + width {
                bytes[byte] ^= 1;
                assert!(!is_right(&bytes), "byte {byte} of {range:?}");
                bytes[byte] ^= 1;
            }
        }
        each.len()
    }

    /// A part with many small arrays has a bounded number of lookups: each array has its ends, if the limit allows.
    #[test]
    fn lookups_of_a_part_are_bounded() {
        let folder = tilewright_testing::folder();
        let (count, each) = (300u64, 10u64);
        let entry = |array: u64| {
            let at = array * each;
            format!(
                r#""t{array:03}":{{"dtype":"U8","shape":[{each}],"data_offsets":[{at},{}]}}"#,
                at + each
            )
        };
        let header = format!("{{{}}}", (0..count).map(entry).collect::<Vec<_>>().join(","));
        let length = (header.len() as u64).to_le_bytes();
        let data = vec![1; (count * each) as usize];
        let input = folder.path().join("in.safetensors");
        fs::write(&input, [&length[..], header.as_bytes(), &data].concat()).unwrap();
        let out = folder.path().join("out.safetensors");
        let job = Job::prepare(Request::new(&input, &out)).unwrap();
        let end = job.output.files[0].bytes;
        let (all, begin) = (0..end, end - count * each);
        let found = |range: &Range<u64>, most: usize| {
            let lookups = Lookups::of(&job, (0, range), &[], most).unwrap();
            assert!(lookups.each.len() <= most && lookups.each.capacity() == most);
            let arrays: std::collections::BTreeSet<_> =
                lookups.each.iter().map(|lookup| lookup.array).collect();
            (lookups.each.len(), arrays.len())
        };
        assert_eq!(found(&all, LOOKUPS), (3000, 300));
        assert_eq!(found(&all, 600), (600, 300));
        assert_eq!(found(&all, 100), (100, 50));
        assert_eq!(found(&all, 0), (0, 0));
        // Only the arrays of the range share the limit.
        assert_eq!(found(&(begin + 15..begin + 45), 100), (30, 4));
        assert_eq!(job.output.locals_in(0, &(begin + 15..begin + 45)).len(), 4);
        assert!(job.output.locals_in(0, &(0..begin)).is_empty());
        assert_eq!(fitting(u64::MAX), LOOKUPS);
        assert!(bytes(fitting(1 << 11)) <= 1 << 11);
    }

    #[test]
    fn chosen_numbers_are_all_or_some_with_both_ends() {
        for count in [0, 1, 2, ELEMENTS - 1, ELEMENTS, ELEMENTS + 1, 1 << 40] {
            let mut all: Vec<u64> = chosen(7..7 + count, ELEMENTS).collect();
            assert_eq!(all.len() as u64, count.min(ELEMENTS));
            all.sort_unstable();
            all.dedup();
            let last = count.checked_sub(1).map(|last| last + 7);
            assert!(all.last().copied() == last && all.first().copied() == last.map(|_| 7));
            assert!(count > ELEMENTS || all.len() as u64 == count);
        }
    }
}
