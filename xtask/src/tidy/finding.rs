//! A finding of a rule: its place, the rule, and what to do.

use std::fmt;

/// A finding; findings sort by file, then line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// The line from 1; 0 for the file as a whole.
    line: usize,
    rule: &'static str,
    sentence: String,
}

impl Finding {
    pub(crate) fn new(
        path: &str,
        line: usize,
        rule: &'static str,
        sentence: impl Into<String>,
    ) -> Finding {
        Finding { path: path.into(), line, rule, sentence: sentence.into() }
    }

    /// Returns the line, for the tests of the rules.
    #[cfg(test)]
    pub(crate) fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: [{}] {}", self.path, self.rule, self.sentence),
            line => write!(f, "{}:{line}: [{}] {}", self.path, self.rule, self.sentence),
        }
    }
}

/// An empty list of lines, for the tests of the rules.
#[cfg(test)]
pub(crate) const NONE: [usize; 0] = [];

/// Returns the lines of findings, for the tests of the rules.
#[cfg(test)]
pub(crate) fn lines(findings: &[Finding]) -> Vec<usize> {
    findings.iter().map(Finding::line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_file_line_and_rule() {
        let finding = Finding::new("a/b.rs", 7, "A5", "no catch-all arm");
        assert_eq!(finding.to_string(), "a/b.rs:7: [A5] no catch-all arm");
        assert_eq!(Finding::new("a/b.rs", 0, "A1", "x").to_string(), "a/b.rs: [A1] x");
    }
}
