//! The report on bank conflicts as text.

use std::fmt::Write as _;

use tilewright_banks::{Access, Change, Clash, Conflicts, Fix, Found, Search};
use tilewright_notation::notation;

use super::BankConflicts;
use crate::{ask::words::counted, banks::index_code};

/// The largest number of lines of a list in the short report.
const LINES: usize = 6;

impl BankConflicts {
    /// Returns the report. With `all`, lists are complete.
    ///
    /// ```
    /// use tilewright::{ask::BankConflicts, banks::Banks, input::Array};
    /// let tile = Array::default().layout("spec", "f32[32,32] row-major")?;
    /// let report = BankConflicts::of(&tile, &["column"], None, &Banks::NVIDIA, false)?;
    /// assert!(report.report(false).contains("… 26 more"));
    /// assert!(report.report(true).contains("word 992: thread 31 at (31,0)"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn report(&self, all: bool) -> String {
        let most = if all { usize::MAX } else { LINES };
        let mut text = format!("{}\n{}\n", self.layout.to_spec(), self.banks);
        for (access, count) in &self.accesses {
            text += "\n";
            text += &counts(access, count);
            if let Some(clash) = &count.worst {
                text += &clashes(clash, most);
            }
        }
        if let Some(fix) = &self.fix {
            text += "\n";
            text += &self.mended(fix, most);
        }
        text
    }

    fn mended(&self, fix: &Fix, most: usize) -> String {
        let mut text = String::new();
        match &fix.swizzles.found {
            Some(found) if is_nothing(&found.change) && self.has_no_swizzle() => {
                return "nothing to fix\n".into();
            }
            Some(found) => {
                let what = match is_nothing(&found.change) {
                    true => "remove the swizzle".into(),
                    false => format!("{}, the least swizzle", found.change),
                };
                text += &format!("fix: {what}\n");
                text += &self.said(found);
            }
            None => text += "no swizzle removes the conflicts\n",
        }
        text += &self.proof(&fix.swizzles, "in order of bits, span, lowest bit", most);
        let Some(search) = &fix.paddings else {
            return text + "no padding: the rows of the layout differ in length\n";
        };
        let title = if fix.swizzles.found.is_some() { "or" } else { "fix:" };
        match &search.found {
            Some(found) => {
                text += &format!("{title} {}, the least padding\n", found.change);
                text += &self.said(found);
            }
            None => text += "no padding of rows removes the conflicts\n",
        }
        text + &self.proof(search, "in order of size", most)
    }

    fn has_no_swizzle(&self) -> bool {
        self.layout.layout().layout().swizzle().is_identity()
    }

    /// Returns a layout as a SPEC, as Triton's attribute, and as C code.
    fn said(&self, found: &Found) -> String {
        let named = self.named(found);
        let mut text = format!("  layout  {}\n", named.to_spec());
        let triton = notation("triton").map(|to| to.print(&named));
        if let Ok(said) = triton {
            let said = said.unwrap_or_else(|error| format!("no words: {}", error.message()));
            text += &format!("  Triton  {said}\n");
        }
        if let Some(code) = index_code(&found.layout) {
            text += &format!("  C       {code}\n");
        }
        text
    }

    /// Returns the candidates that were refused, each with two threads that conflict.
    fn proof(&self, search: &Search, order: &str, most: usize) -> String {
        if search.failed.is_empty() {
            return String::new();
        }
        let tried = counted(search.failed.len() as u128, "candidate");
        let before = if search.found.is_some() { " before it" } else { "" };
        let mut text = format!("  {tried}{before}, {order}, each with two threads that wait:\n");
        for failed in search.failed.iter().take(most) {
            let pair = &failed.pair;
            let [a, b] = [0, 1].map(|side: usize| {
                format!("thread {} at {}", pair.threads[side], coord(&pair.coords[side]))
            });
            let name = self.name(pair.access);
            let _ = writeln!(
                text,
                "    {}: {name}, {a} and {b} want words {} and {} of bank {}",
                failed.change, pair.words[0], pair.words[1], pair.bank
            );
        }
        text + &more(search.failed.len(), most, "    ")
    }
}

fn is_nothing(change: &Change) -> bool {
    matches!(change, Change::Swizzle(swizzle) if swizzle.is_identity())
}

fn counts(access: &Access, count: &Conflicts) -> String {
    let does = if access.is_write() { "write" } else { "read" };
    let threads = counted(access.spread().threads().into(), "thread");
    let mut text = format!(
        "{}: {threads} {does} {} each, {}\n",
        access.name(),
        counted(count.bytes.into(), "byte"),
        counted(count.instructions.into(), "instruction"),
    );
    if count.outside > 0 {
        let (tiles, values) =
            (counted(count.tiles.into(), "tile"), counted(count.values.into(), "value"));
        let tile = coord(access.spread().tile());
        let _ = writeln!(
            text,
            "  note: {tiles} of {tile} extend beyond the array: {values} counted, {} outside",
            count.outside
        );
    }
    for (at, phase) in count.phases.iter().enumerate().filter(|(_, phase)| phase.degree > 0) {
        let cycles = counted(phase.degree.into(), "cycle");
        let of = count.phases.len();
        let threads = ranges(&phase.threads);
        let _ = writeln!(text, "  turn {} of {of}, threads {threads}: {cycles}", at + 1);
    }
    let all = counted(count.cycles.into(), "cycle");
    let turns = counted(count.turns.into(), "turn");
    text += &match count.conflicts() {
        0 => format!("  {all} for {turns}: no conflicts\n"),
        conflicts => {
            let conflicts = counted(conflicts.into(), "conflict");
            format!("  {all} for {turns}: {conflicts}, {}-way at worst\n", count.degree)
        }
    };
    text
}

/// Returns the words that threads access in the busiest bank, with the threads.
fn clashes(clash: &Clash, most: usize) -> String {
    let wanted = clash.words.len();
    let mut text = format!("  bank {} serves {wanted} words in one turn\n", clash.bank);
    for word in clash.words.iter().take(most) {
        let at = |(thread, at): (&u64, &Vec<u64>)| format!("thread {thread} at {}", coord(at));
        let threads: Vec<String> = word.threads.iter().zip(&word.coords).map(at).take(4).collect();
        let rest = word.threads.len() - threads.len();
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let _ = writeln!(text, "    word {}: {}{rest}", word.word, threads.join(", "));
    }
    text + &more(wanted, most, "    ")
}

fn more(all: usize, most: usize, indent: &str) -> String {
    match all.saturating_sub(most) {
        0 => String::new(),
        rest => format!("{indent}… {rest} more\n"),
    }
}

fn coord(coord: &[u64]) -> String {
    let numbers: Vec<String> = coord.iter().map(u64::to_string).collect();
    format!("({})", numbers.join(","))
}

/// Returns ranges such as `0–3, 20–23`.
fn ranges(threads: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &thread in threads {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == thread => *to = thread,
            Some(_) | None => ranges.push((thread, thread)),
        }
    }
    let range = |&(from, to): &(usize, usize)| match from == to {
        true => from.to_string(),
        false => format!("{from}–{to}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}
