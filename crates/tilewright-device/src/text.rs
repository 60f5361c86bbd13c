//! A text that grows line by line, and the numbers that it reads. All ways write their kernels with it.

use crate::division::magic;

/// The lines of a kernel's body, indented by the braces they open.
#[derive(Clone, Debug)]
pub(crate) struct KernelText {
    text: String,
    depth: usize,
}

impl KernelText {
    pub(crate) fn new() -> KernelText {
        KernelText { text: String::new(), depth: 1 }
    }

    /// Adds a line. A line that ends in `{` or begins with `}` opens or closes a block, as the macros for threads do.
    pub(crate) fn line(&mut self, line: &str) {
        let closes = line.starts_with('}') || line == "THREADS_END";
        let opens = line.ends_with('{') || line == "THREADS_BEGIN";
        self.depth -= usize::from(closes && self.depth > 0);
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
        self.depth += usize::from(opens);
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

/// The numbers of 64 bits that a text reads as `P(0)`, `P(1)` …
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(Vec<u64>);

impl Parameters {
    /// Adds a number, and returns the expression that reads it: 64 bits, unsigned.
    pub(crate) fn add(&mut self, number: u64) -> String {
        self.0.push(number);
        format!("P({})", self.0.len() - 1)
    }

    /// Adds a signed number, and returns the expression that reads it.
    pub(crate) fn signed(&mut self, number: i64) -> String {
        format!("(i64){}", self.add(number as u64))
    }

    /// Adds a number below 2³², and returns the expression that reads it.
    pub(crate) fn short(&mut self, number: u32) -> String {
        format!("(u32){}", self.add(number.into()))
    }

    /// Adds the two numbers of a division by `by`, from 1 to 2³¹ − 1: `DIV(n, …)`, and `by` itself.
    pub(crate) fn divisor(&mut self, by: u32) -> (String, String) {
        (self.add(magic(by)), self.short(by))
    }

    /// Returns the numbers, at least one, because C does not allow empty arrays.
    pub(crate) fn into_params(mut self) -> Vec<u64> {
        if self.0.is_empty() {
            self.0.push(0);
        }
        self.0
    }
}
