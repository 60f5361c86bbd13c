//! The simulator's answers: findings, and counts of the accesses of a plan.

use serde::Deserialize;

/// A finding, and its place.
#[derive(Clone, Debug, Deserialize)]
#[allow(dead_code, reason = "its fields are for those who read a failure")]
pub(crate) struct Finding {
    pub(crate) plan: String,
    /// The number of the kernel within its plan.
    pub(crate) launch: u32,
    pub(crate) block: u32,
    pub(crate) thread: u32,
    /// The line of the kernel's text, or 0.
    pub(crate) line: u32,
    pub(crate) what: String,
    /// The offset in bytes, or the number, that the finding is about.
    pub(crate) at: u64,
}

/// The counts of all warp instructions of one kind: sectors of 32 bytes, or bank cycles.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Count {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) units: u64,
    /// The minimum for the bytes that each instruction moves.
    pub(crate) ideal: u64,
    /// Accesses that cannot be assigned to instructions.
    pub(crate) uneven: u64,
    /// The sectors that a block touched, each counted once, summed over blocks.
    pub(crate) distinct: u64,
}

impl Count {
    /// Returns the ratio to the minimum; 1 without accesses.
    pub(crate) fn ratio(&self) -> f64 {
        if self.ideal == 0 { 1.0 } else { self.units as f64 / self.ideal as f64 }
    }
}

/// The answer about a plan.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Answer {
    pub(crate) plan: String,
    /// The number of findings; those of one kind on one line are listed once.
    #[serde(rename = "findings")]
    pub(crate) count: u64,
    #[serde(skip)]
    pub(crate) findings: Vec<Finding>,
    /// A hash of the accesses of all blocks, in any order: equal if threads access the same bytes with the same values.
    pub(crate) trace: u64,
    /// The hash of accesses without their values.
    pub(crate) places: u64,
    /// A hash of the bytes that threads store to the destination, in their order.
    pub(crate) stores: u64,
    pub(crate) load: Count,
    pub(crate) store: Count,
    pub(crate) read: Count,
    pub(crate) write: Count,
}

/// The rule by which a change is equivalent, for a launch without findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rule {
    /// Each thread accesses the same bytes on the same lines in the same order, with the same values.
    Same,
    /// The accesses are equal except for values in shared memory that reach no byte of the destination.
    Unread,
    /// Each thread stores the same bytes in the same order; its other loads are within bounds, in no race, and cause
    /// hardly more traffic.
    Unneeded,
}

/// Traffic above this multiple of the unchanged kernel's counts as detected.
const SLOWER: f64 = 1.02;

impl Answer {
    /// Returns whether a changed kernel is detected, by findings or by traffic.
    pub(crate) fn is_caught(&self, plain: &Answer) -> bool {
        let counts = |answer: &Answer| [answer.load, answer.store, answer.read, answer.write];
        let slower = |(own, plain): (Count, Count)| own.units as f64 > plain.units as f64 * SLOWER;
        self.count > 0 || counts(self).into_iter().zip(counts(plain)).any(slower)
    }

    /// Returns the rule by which a changed kernel without findings is equivalent; `None` if there is none.
    pub(crate) fn rule(&self, plain: &Answer) -> Option<Rule> {
        match self {
            own if own.trace == plain.trace => Some(Rule::Same),
            own if own.places == plain.places && own.stores == plain.stores => Some(Rule::Unread),
            own if own.stores == plain.stores => Some(Rule::Unneeded),
            _ => None,
        }
    }

    /// Returns the kinds of findings, each once, in the order in which they came.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for finding in &self.findings {
            if !kinds.contains(&&*finding.what) {
                kinds.push(&finding.what);
            }
        }
        kinds
    }
}

/// Returns the answers in a text of JSON lines, each after its findings.
pub(crate) fn answers(text: &str) -> Vec<Answer> {
    let mut all = Vec::new();
    let mut findings = Vec::new();
    for line in text.lines() {
        match line.contains("\"what\":") {
            true => findings.push(serde_json::from_str(line).expect("a finding")),
            false => {
                let mut answer: Answer = serde_json::from_str(line).expect("an answer");
                answer.findings = std::mem::take(&mut findings);
                all.push(answer);
            }
        }
    }
    all
}
