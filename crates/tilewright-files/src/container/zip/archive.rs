//! Reads an archive's list of entries: bounded, checked against the file and against each other. Opening an archive uses it.

use std::io;

use flate2::Crc;

use super::records::{
    ALL_16, ALL_32, CENTRAL, CENTRAL_LEN, DEFLATED, ENCRYPTED, END, END_64, END_64_LEN, END_LEN,
    FOLLOWS, LOCAL, LOCAL_LEN, LOCATOR_64, LOCATOR_64_LEN, STORED, field_64, number,
};
use crate::{Error, Watch, convert::budget::zeros, error, layout::names, open::source::Source};

/// The longest list of entries that is read, in bytes.
const LONGEST: u64 = 1 << 26;

/// The largest ratio of unpacked to deflated bytes.
const MOST_TIMES: u64 = 1032;

/// One entry.
#[derive(Clone, Debug)]
pub(in crate::container) struct ArchiveEntry {
    pub(in crate::container) name: String,
    pub(in crate::container) is_deflated: bool,
    /// The position of the first byte of its data in the file, and their number.
    pub(in crate::container) at: u64,
    pub(in crate::container) len: u64,
    /// The length of the unpacked data.
    pub(in crate::container) size: u64,
    pub(in crate::container) sum: u32,
    /// The first byte of the entry, where its header begins.
    from: u64,
}

/// The entries of a file, in the order of their bytes.
#[derive(Debug)]
pub(in crate::container) struct Archive {
    pub(in crate::container) entries: Vec<ArchiveEntry>,
}

/// The position of the list of entries, its length, and the number of entries.
struct List {
    at: u64,
    len: u64,
    count: u64,
}

impl Archive {
    pub(in crate::container) fn read(source: &Source) -> Result<Archive, Error> {
        let wrong = |said: String| error::corrupt(source.path(), format!("ZIP: {said}"));
        let list = list(source)?.map_err(wrong)?;
        let mut bytes = zeros(list.len)?;
        source.read(&mut bytes, list.at)?;
        let mut rest = bytes.as_slice();
        let mut entries = Vec::new();
        for _ in 0..list.count {
            entries.push(entry(source, &mut rest, list.at)?.map_err(wrong)?);
        }
        if !rest.is_empty() {
            return Err(wrong(format!("{} bytes follow the last entry of the list", rest.len())));
        }
        if let Some(entry) = entries.iter().find(|entry| entry.name.contains('\0')) {
            let name = &entry.name;
            return Err(wrong(format!(
                "the name of the entry {name:?} has a byte 0, where other readers end it"
            )));
        }
        if let Some(name) = names::twice(entries.iter().map(|entry| entry.name.as_str())) {
            return Err(wrong(format!("the entry {name:?} occurs twice")));
        }
        entries.sort_by_key(|entry| entry.from);
        for (before, after) in entries.iter().zip(entries.iter().skip(1)) {
            if before.at + before.len > after.from {
                let (a, b, at) = (&before.name, &after.name, after.from);
                return Err(wrong(format!("the entry {b:?} begins at byte {at}, within {a:?}")));
            }
        }
        Ok(Archive { entries })
    }
}

/// Finds the list of entries by the record at the end of the file.
fn list(source: &Source) -> Result<Result<List, String>, Error> {
    let len = source.len();
    let tail_len = len.min(END_LEN + ALL_16);
    let mut tail = zeros(tail_len)?;
    source.read(&mut tail, len - tail_len)?;
    // The record is followed by a comment of the length in the record, which ends the file.
    let ends = |at: &usize| {
        let record = tail.get(*at..).unwrap_or_default();
        record.starts_with(END) && END_LEN + number(record, 20, 2) == record.len() as u64
    };
    let Some(at) = (0..tail.len()).rev().find(ends) else {
        return Ok(Err(
            "no end-of-archive record; the file is not an archive, or was cut off".into()
        ));
    };
    let record = tail.get(at..).unwrap_or_default();
    let end = len - tail_len + at as u64;
    let (count, size, first) =
        (number(record, 10, 2), number(record, 12, 4), number(record, 16, 4));
    if number(record, 4, 4) != 0 && number(record, 4, 4) != ALL_32 {
        return Ok(Err("an archive split into several files is not read".into()));
    }
    // Some writers, torch among them, add the records of ZIP64 to every archive.
    let large = count == ALL_16 || size == ALL_32 || first.saturating_add(size) != end;
    let (list, end) = match large.then(|| list_64(source, end)).transpose()?.flatten() {
        Some(found) => found,
        None => (List { at: first, len: size, count }, end),
    };
    let fits = list.at.checked_add(list.len) == Some(end);
    let has = list.count.checked_mul(CENTRAL_LEN).is_some_and(|least| least <= list.len);
    if !fits || !has || list.len > LONGEST {
        let List { at, len, count } = list;
        return Ok(Err(format!(
            "a list of {count} entries in {len} bytes from byte {at} on; it ends at byte {end}, and at most {LONGEST} bytes are read"
        )));
    }
    Ok(Ok(list))
}

/// Finds the list by the records of ZIP64 before the record at `end`, and returns it with its end.
fn list_64(source: &Source, end: u64) -> Result<Option<(List, u64)>, Error> {
    let Some(before) = end.checked_sub(LOCATOR_64_LEN) else { return Ok(None) };
    let mut locator = [0; LOCATOR_64_LEN as usize];
    source.read(&mut locator, before)?;
    let at = number(&locator, 8, 8);
    if !locator.starts_with(LOCATOR_64) || at.checked_add(END_64_LEN).is_none_or(|to| to > before) {
        return Ok(None);
    }
    let mut record = [0; END_64_LEN as usize];
    source.read(&mut record, at)?;
    if !record.starts_with(END_64) {
        return Ok(None);
    }
    let list = List {
        at: number(&record, 48, 8),
        len: number(&record, 40, 8),
        count: number(&record, 32, 8),
    };
    Ok(Some((list, at)))
}

/// Removes the first entry of a list and returns it; its data are before byte `end`.
fn entry(
    source: &Source,
    list: &mut &[u8],
    end: u64,
) -> Result<Result<ArchiveEntry, String>, Error> {
    let record = *list;
    let field = |at| number(record, at, 2) as usize;
    let (name_len, extra_len, comment_len) = (field(28), field(30), field(32));
    let from = CENTRAL_LEN as usize;
    let parts = record.get(from..).and_then(|rest| {
        let (name, rest) = rest.split_at_checked(name_len)?;
        let (extra, rest) = rest.split_at_checked(extra_len)?;
        Some((name, extra, rest.get(comment_len..)?))
    });
    let (true, Some((name, extra, rest))) = (record.starts_with(CENTRAL), parts) else {
        return Ok(Err("the list of entries is cut off, or holds something else".into()));
    };
    *list = rest;
    let Ok(name) = std::str::from_utf8(name) else {
        return Ok(Err(format!("an entry whose name is not UTF-8: {}", name.escape_ascii())));
    };
    let mut large = field_64(extra);
    let mut wide = |at: usize| match number(record, at, 4) {
        ALL_32 if large.len() >= 8 => {
            let (value, left) = large.split_at(8);
            large = left;
            number(value, 0, 8)
        }
        small => small,
    };
    let (size, len, from) = (wide(24), wide(20), wide(42));
    let entry = ArchiveEntry {
        name: name.into(),
        is_deflated: field(10) == usize::from(DEFLATED),
        at: 0,
        len,
        size,
        sum: number(record, 16, 4) as u32,
        from,
    };
    let (flags, method) = (field(8) as u16, field(10) as u16);
    if flags & ENCRYPTED != 0 || !matches!(method, STORED | DEFLATED) {
        let said = format!(
            "ZIP: the entry {name:?} is encrypted, or of method {method}; read are stored and deflated ones"
        );
        return Err(error::unsupported(source.path(), said));
    }
    let about = |said: String| format!("the entry {name:?} {said}");
    if let Err(said) = entry.check_size() {
        return Ok(Err(about(said)));
    }
    Ok(entry.located(source, record, end)?.map_err(about))
}

impl ArchiveEntry {
    /// Checks that the length of the data is possible for the size of the unpacked data.
    fn check_size(&self) -> Result<(), String> {
        let (len, size) = (self.len, self.size);
        match self.is_deflated {
            false if len != size => Err(format!("is stored in {len} bytes, but declares {size}")),
            true if size > len.saturating_mul(MOST_TIMES) => Err(format!(
                "is said to have {size} bytes, deflated to {len}; deflated bytes give at most {MOST_TIMES} times their number"
            )),
            _ => Ok(()),
        }
    }

    /// Returns the entry with the position of its data, whose header must agree with the list.
    fn located(
        mut self,
        source: &Source,
        record: &[u8],
        end: u64,
    ) -> Result<Result<ArchiveEntry, String>, Error> {
        let from = self.from;
        let outside = || Ok(Err(format!("is at byte {from}, and the entries end at byte {end}")));
        let Some(name_at) = from.checked_add(LOCAL_LEN).filter(|at| *at <= end) else {
            return outside();
        };
        let mut local = [0; LOCAL_LEN as usize];
        source.read(&mut local, from)?;
        let (name_len, extra_len) = (number(&local, 26, 2), number(&local, 28, 2));
        let data = name_at + name_len + extra_len;
        if data.checked_add(self.len).is_none_or(|to| to > end) {
            return outside();
        }
        let mut name = zeros(name_len)?;
        source.read(&mut name, name_at)?;
        let follows = number(&local, 6, 2) & u64::from(FOLLOWS) != 0;
        let same = |at: usize, len: usize, own: u64| {
            let said = number(&local, at, len);
            said == own || len == 4 && said == ALL_32
        };
        let agrees = follows
            || same(14, 4, u64::from(self.sum)) && same(18, 4, self.len) && same(22, 4, self.size);
        let method = same(8, 2, number(record, 10, 2));
        if !local.starts_with(LOCAL) || name != self.name.as_bytes() || !agrees || !method {
            return Ok(Err(format!(
                "has a header at byte {from} that contradicts the list of entries"
            )));
        }
        self.at = data;
        Ok(Ok(self))
    }

    /// Checks the checksum of the data of a stored entry.
    pub(in crate::container) fn check_sum(
        &self,
        source: &Source,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let mut sum = Crc::new();
        let mut buffer = zeros(self.len.min(1 << 16))?;
        let mut at = self.at;
        let end = at.saturating_add(self.len);
        while at < end {
            let step = (end - at).min(buffer.len() as u64) as usize;
            let Some(bytes) = buffer.get_mut(..step) else { break };
            watch.check_cancelled()?;
            source.read(bytes, at)?;
            sum.update(bytes);
            at += step as u64;
        }
        self.agrees(source, sum.sum())
    }

    /// Checks that this is the checksum of the entry.
    pub(in crate::container) fn agrees(&self, source: &Source, sum: u32) -> Result<(), Error> {
        if sum == self.sum {
            return Ok(());
        }
        let (name, own) = (&self.name, self.sum);
        let said = format!(
            "ZIP: the entry {name:?} has the checksum {sum:#010x}, and should have {own:#010x}"
        );
        Err(error::corrupt(source.path(), said))
    }

    /// Reads the data as stored in the file.
    pub(in crate::container) fn reader<'a>(&self, source: &'a Source) -> impl io::Read + use<'a> {
        Data { source, at: self.at, end: self.at.saturating_add(self.len) }
    }
}

/// Reads bytes of a file in order.
struct Data<'a> {
    source: &'a Source,
    at: u64,
    end: u64,
}

impl io::Read for Data<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let step = (self.end - self.at).min(buffer.len() as u64) as usize;
        let Some(bytes) = buffer.get_mut(..step) else { return Ok(0) };
        self.source.read(bytes, self.at).map_err(io::Error::other)?;
        self.at += step as u64;
        Ok(step)
    }
}
