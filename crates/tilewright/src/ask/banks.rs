//! Answer about the bank conflicts of an array in shared memory, and the least change that removes them.

use std::fmt::{self, Write as _};

use serde_json::{Value, json};
use tilewright_banks::{
    Access, Banks, Change, Clash, Conflicts, Failed, Fix, Found, Search, conflicts, fix,
};
use tilewright_notation::{ResolvedLayout, notation};

use super::Answer;
use crate::{
    Error,
    ask::words::counted,
    banks::{self, index_code},
};

/// Conflicts of every access, and the fix if it was requested. Prints as a report.
///
/// ```
/// use tilewright::{ask::{Answer, BankConflicts}, banks::Banks, input::Array};
/// let tile = Array::default().layout("spec", "f32[32,32] row-major")?;
/// let report = BankConflicts::of(&tile, &["write row", "column"], None, &Banks::NVIDIA, true)?;
/// assert!(report.is_no() && report.to_string().contains("Sw<5,0,5> o (32,32):(32,1)"));
/// assert_eq!(report.to_json()["accesses"][1]["degree"], 32);
/// let padded = Array::default().layout("spec", "f32[32,32] (32,32):(33,1)")?;
/// assert!(!BankConflicts::of(&padded, &["column"], None, &Banks::NVIDIA, false)?.is_no());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BankConflicts {
    /// The layout.
    pub layout: ResolvedLayout,
    /// The machine.
    pub banks: Banks,
    /// Every access with its conflicts.
    pub accesses: Vec<(Access, Conflicts)>,
    /// The search for the least change, if it was requested.
    pub fix: Option<Fix>,
}

impl BankConflicts {
    /// Counts the conflicts of accesses, which are texts as [`banks::access`] reads them. With `wants_fix`, searches for the
    /// least change that removes all of them.
    ///
    /// # Errors
    /// As [`banks::access`], [`conflicts`] and [`fix`].
    ///
    /// ```
    /// use tilewright::{ask::BankConflicts, banks::Banks, input::Array};
    /// let tile = Array::default().layout("spec", "f32[32,32] row-major")?;
    /// let error = BankConflicts::of(&tile, &["row"], Some(3), &Banks::NVIDIA, false).unwrap_err();
    /// assert_eq!(error.field(), Some("vector"));
    /// let error = BankConflicts::of(&tile, &[], None, &Banks::NVIDIA, false).unwrap_err();
    /// assert_eq!(error.field(), Some("access"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(
        layout: &ResolvedLayout,
        accesses: &[&str],
        vector: Option<u64>,
        machine: &Banks,
        wants_fix: bool,
    ) -> Result<BankConflicts, Error> {
        if accesses.is_empty() {
            return Err(Error::usage("no access is given; write for example `row` or `column`")
                .in_field("access"));
        }
        let bits = layout.element_bits().unwrap_or(0);
        let refused = |error| Error::from(error).in_field("access");
        let count = |(at, text): (usize, &&str)| {
            let counted = banks::access(text, layout, machine, vector).and_then(|access| {
                let count = conflicts(layout.layout(), bits, machine, &access).map_err(refused)?;
                Ok((access, count))
            });
            counted.map_err(|error| match accesses.len() {
                1 => error,
                of => error.prefixed(&format!("access {} of {of}, `{}`: ", at + 1, text.trim())),
            })
        };
        let accesses = accesses.iter().enumerate().map(count);
        let accesses: Vec<(Access, Conflicts)> = accesses.collect::<Result<_, Error>>()?;
        let all = || accesses.iter().map(|(access, _)| access.clone()).collect::<Vec<_>>();
        let fix = wants_fix.then(|| fix(layout.layout(), bits, machine, &all()).map_err(refused));
        let fix = fix.transpose()?;
        Ok(BankConflicts { layout: layout.clone(), banks: *machine, accesses, fix })
    }

    /// Returns the cycles of all accesses in excess of one for each turn.
    ///
    /// ```
    /// use tilewright::{ask::BankConflicts, banks::Banks, input::Array};
    /// let tile = Array::default().layout("spec", "f32[32,32] row-major")?;
    /// let report = BankConflicts::of(&tile, &["column"], None, &Banks::NVIDIA, false)?;
    /// assert_eq!(report.conflicts(), 32 * 31);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn conflicts(&self) -> u64 {
        self.accesses.iter().map(|(_, count)| count.conflicts()).sum()
    }

    /// Returns the first access with conflicts, and its turn with the most.
    ///
    /// ```
    /// use tilewright::{ask::BankConflicts, banks::Banks, input::Array};
    /// let tile = Array::default().layout("spec", "f32[32,32] row-major")?;
    /// let report = BankConflicts::of(&tile, &["row", "column"], None, &Banks::NVIDIA, false)?;
    /// let (count, clash) = report.worst().unwrap();
    /// assert_eq!((count.degree, clash.words.len()), (32, 32));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn worst(&self) -> Option<(&Conflicts, &Clash)> {
        self.accesses.iter().find_map(|(_, count)| Some((count, count.worst.as_ref()?)))
    }

    /// Returns the layout after the least change that removes all conflicts, if the search was requested and found one.
    ///
    /// ```
    /// use tilewright::{ask::BankConflicts, banks::Banks, input::Array};
    /// let tile = Array::default().layout("spec", "f32[32,32] row-major")?;
    /// let report = BankConflicts::of(&tile, &["column"], None, &Banks::NVIDIA, true)?;
    /// assert_eq!(report.fixed().unwrap().to_spec(), "f32[32,32] Sw<5,0,5> o (32,32):(32,1)");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn fixed(&self) -> Option<ResolvedLayout> {
        Some(self.named(self.fix.as_ref()?.best()?))
    }

    /// Returns the layout after a change.
    fn named(&self, found: &Found) -> ResolvedLayout {
        let old = &self.layout;
        ResolvedLayout::new("", found.layout.clone(), old.dtype(), old.explicit_bits(), old.fill())
    }

    fn found_json(&self, found: &Found) -> Value {
        let named = self.named(found);
        let said = |name: &str| notation(name).ok().and_then(|to| to.print(&named).ok());
        json!({
            "change": change(&found.change),
            "layout": named.to_spec(),
            "capacity": found.layout.capacity(),
            "cute": said("cute"),
            "triton": said("triton"),
            "c": index_code(&found.layout),
        })
    }

    fn search_json(&self, search: &Search) -> Value {
        json!({
            "found": search.found.as_ref().map(|found| self.found_json(found)),
            "failed": search.failed.iter().map(|failed| self.failed_json(failed)).collect::<Vec<_>>(),
        })
    }

    fn failed_json(&self, failed: &Failed) -> Value {
        let pair = &failed.pair;
        json!({
            "change": change(&failed.change),
            "access": self.name(pair.access),
            "tile": pair.moment.tile,
            "step": pair.moment.step,
            "phase": pair.phase,
            "threads": pair.threads,
            "coords": pair.coords,
            "words": pair.words,
            "bank": pair.bank,
        })
    }

    /// Returns the name of an access by its position.
    fn name(&self, access: usize) -> &str {
        self.accesses.get(access).map_or("", |(access, _)| access.name())
    }
}

/// Returns a change as its numbers.
fn change(change: &Change) -> Value {
    match change {
        Change::Swizzle(sw) => json!({ "swizzle": [sw.bits(), sw.base(), sw.shift()] }),
        Change::Padding { row, by } => json!({ "row": row, "padding": by }),
    }
}

fn access_json((access, count): &(Access, Conflicts)) -> Value {
    let phase = |phase: &tilewright_banks::Phase| json!({ "threads": phase.threads, "degree": phase.degree, "conflicts": phase.conflicts });
    let worst = count.worst.as_ref().map(|clash| {
        let word = |word: &tilewright_banks::Word| {
            json!({ "word": word.word, "threads": word.threads, "coords": word.coords })
        };
        json!({
            "tile": clash.moment.tile,
            "warp": clash.moment.warp,
            "step": clash.moment.step,
            "phase": clash.phase,
            "bank": clash.bank,
            "words": clash.words.iter().map(word).collect::<Vec<_>>(),
        })
    });
    json!({
        "access": access.name(),
        "write": access.is_write(),
        "threads": access.spread().threads(),
        "bytes": count.bytes,
        "banks": count.banks,
        "tiles": count.tiles,
        "values": count.values,
        "outside": count.outside,
        "instructions": count.instructions,
        "turns": count.turns,
        "cycles": count.cycles,
        "conflicts": count.conflicts(),
        "degree": count.degree,
        "phases": count.phases.iter().map(phase).collect::<Vec<_>>(),
        "worst": worst,
    })
}

impl fmt::Display for BankConflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report(false))
    }
}

impl Answer for BankConflicts {
    fn to_json(&self) -> Value {
        let fix = self.fix.as_ref().map(|fix| {
            json!({
                "swizzle": self.search_json(&fix.swizzles),
                "padding": fix.paddings.as_ref().map(|search| self.search_json(search)),
            })
        });
        json!({
            "layout": self.layout.to_spec(),
            "element_bits": self.layout.element_bits(),
            "banks": {
                "count": self.banks.count(),
                "width": self.banks.width(),
                "warp": self.banks.lanes(),
                "source": self.banks.source(),
            },
            "conflicts": self.conflicts(),
            "accesses": self.accesses.iter().map(access_json).collect::<Vec<_>>(),
            "fix": fix,
        })
    }

    fn is_no(&self) -> bool {
        self.conflicts() > 0
    }
}

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
