//! What the simulator says: findings, and what the accesses of a plan came to.

use serde::Deserialize;

/// Something wrong, and where.
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
    /// The offset in bytes that it is about, or the number.
    pub(crate) at: u64,
}

/// What all instructions of warps of one kind needed: sectors of 32 bytes, or turns of the banks.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Count {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) units: u64,
    /// The least for the bytes that each instruction moves.
    pub(crate) ideal: u64,
    /// Accesses of which it is unknown which of them are one instruction.
    pub(crate) uneven: u64,
    /// The sectors that a block touched, each once, summed over blocks.
    pub(crate) distinct: u64,
}

impl Count {
    /// How often the least it was; 1 where there is nothing.
    pub(crate) fn ratio(&self) -> f64 {
        if self.ideal == 0 { 1.0 } else { self.units as f64 / self.ideal as f64 }
    }
}

/// What a plan came to.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Answer {
    pub(crate) plan: String,
    /// How many findings there are; those of one kind on one line are listed once.
    #[serde(rename = "findings")]
    pub(crate) count: u64,
    #[serde(skip)]
    pub(crate) findings: Vec<Finding>,
    /// What all blocks did, in any order: equal where threads touch the same bytes with the same values.
    pub(crate) trace: u64,
    /// The same without the values.
    pub(crate) places: u64,
    /// The bytes that threads store to the destination, in their order.
    pub(crate) stores: u64,
    pub(crate) load: Count,
    pub(crate) store: Count,
    pub(crate) read: Count,
    pub(crate) write: Count,
}

/// Why a change is none, for a launch in which nothing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rule {
    /// Each thread touches the same bytes on the same lines in the same order, with the same values.
    Same,
    /// The same but for values in shared memory that reach no byte of the destination.
    Unread,
    /// Each thread stores the same bytes in the same order; what it loads besides is within bounds, in no race, and
    /// hardly more traffic.
    Unneeded,
}

/// More traffic than this share of what a kernel needs without a change is found, too.
const SLOWER: f64 = 1.02;

impl Answer {
    /// Whether a changed kernel is found out, by findings or by traffic.
    pub(crate) fn is_caught(&self, plain: &Answer) -> bool {
        let counts = |answer: &Answer| [answer.load, answer.store, answer.read, answer.write];
        let slower = |(own, plain): (Count, Count)| own.units as f64 > plain.units as f64 * SLOWER;
        self.count > 0 || counts(self).into_iter().zip(counts(plain)).any(slower)
    }

    /// Which rule says that a changed kernel without findings is as good as the plain one; `None` where none does.
    pub(crate) fn rule(&self, plain: &Answer) -> Option<Rule> {
        match self {
            own if own.trace == plain.trace => Some(Rule::Same),
            own if own.places == plain.places && own.stores == plain.stores => Some(Rule::Unread),
            own if own.stores == plain.stores => Some(Rule::Unneeded),
            _ => None,
        }
    }

    /// The kinds of findings, each once, in the order in which they came.
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

/// The answers in a text of JSON lines, each behind its findings.
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
