//! Answer about the bank conflicts of an array in shared memory, and the least change that removes them.

mod text;

use std::fmt;

use serde_json::{Value, json};
use tilewright_banks::{
    Access, Banks, Change, Clash, Conflicts, Failed, Fix, Found, Search, conflicts, fix,
};
use tilewright_notation::{Named, notation};

use super::Answer;
use crate::{Error, banks};

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
    pub layout: Named,
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
        layout: &Named,
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
    pub fn fixed(&self) -> Option<Named> {
        Some(self.named(self.fix.as_ref()?.best()?))
    }

    /// Returns the layout after a change.
    fn named(&self, found: &Found) -> Named {
        let old = &self.layout;
        Named::new("", found.layout.clone(), old.dtype(), old.explicit_bits(), old.fill())
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
            "c": banks::index_code(&found.layout),
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
