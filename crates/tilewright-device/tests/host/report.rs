//! What the simulator says: findings, and what the accesses of a plan came to.

use serde::Deserialize;

/// Something wrong, and where.
#[derive(Clone, Debug, Deserialize)]
#[allow(dead_code, reason = "its fields are for those who read a failure")]
pub struct Finding {
    pub plan: String,
    /// The number of the kernel within its plan.
    pub launch: u32,
    pub block: u32,
    pub thread: u32,
    /// The line of the kernel's text, or 0.
    pub line: u32,
    pub what: String,
    /// The offset in bytes that it is about, or the number.
    pub at: u64,
}

/// What all instructions of warps of one kind needed: sectors of 32 bytes, or turns of the banks.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Count {
    pub requests: u64,
    pub bytes: u64,
    pub units: u64,
    /// The least for the bytes that each instruction moves.
    pub ideal: u64,
    /// Accesses of which it is unknown which of them are one instruction.
    pub uneven: u64,
    /// The sectors that a block touched, each once, summed over blocks.
    pub distinct: u64,
}

impl Count {
    /// How often the least it was; 1 where there is nothing.
    pub fn ratio(&self) -> f64 {
        if self.ideal == 0 { 1.0 } else { self.units as f64 / self.ideal as f64 }
    }
}

/// What a plan came to.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Answer {
    pub plan: String,
    /// How many findings there are; those of one kind on one line are listed once.
    #[serde(rename = "findings")]
    pub count: u64,
    #[serde(skip)]
    pub findings: Vec<Finding>,
    /// Whether the change that was on gave another value somewhere.
    pub infected: bool,
    pub load: Count,
    pub store: Count,
    pub read: Count,
    pub write: Count,
}

impl Answer {
    /// The kinds of findings, each once, in the order in which they came.
    pub fn kinds(&self) -> Vec<&str> {
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
pub fn answers(text: &str) -> Vec<Answer> {
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
