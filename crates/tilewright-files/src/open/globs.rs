//! Patterns such as `*.weight`, which select tensors by their names. Requests, collections and verification use them.

use std::{iter::Peekable, str::Chars};

use regex_lite::Regex;

use crate::{Error, error, layout::names};

/// A compiled pattern, and its text.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Pattern {
    text: String,
    matcher: Regex,
}

/// The longest pattern, in bytes.
const LONGEST: usize = 4096;

/// The deepest nesting of braces.
const DEEPEST: usize = 16;

impl Pattern {
    /// Compiles a pattern: `*` and `?`, `[…]`, `{a,b}`; a `*` also matches dots and slashes. A `\` before a character takes it
    /// as it is. `**/` at the start or after a slash matches any number of folders.
    #[doc(hidden)]
    pub fn new(text: &str) -> Result<Pattern, Error> {
        let wrong = |why: &str| {
            error::usage(format!("the tensor pattern {:?}: {why}", names::clipped(text)))
        };
        if text.len() > LONGEST {
            let len = text.len();
            return Err(wrong(&format!("it has {len} bytes; at most {LONGEST} are read")));
        }
        let regex = Translation::of(text).map_err(|why| wrong(&why))?;
        let matcher = Regex::new(&regex).map_err(|error| wrong(&error.to_string()))?;
        Ok(Pattern { text: text.into(), matcher })
    }

    /// Compiles a pattern that must match one of `names`.
    pub(crate) fn matching<'a>(
        text: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Pattern, Error> {
        let pattern = Pattern::new(text)?;
        pattern.check(names)?;
        Ok(pattern)
    }

    /// Returns whether a tensor's name matches; a name always matches itself, with brackets or without.
    #[doc(hidden)]
    pub fn matches(&self, name: &str) -> bool {
        self.text == name || self.matcher.is_match(name)
    }

    /// Returns an error if none of `names` matches.
    #[doc(hidden)]
    pub fn check<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<(), Error> {
        if names.clone().any(|name| self.matches(name)) {
            return Ok(());
        }
        let near = names::near(&self.text, names);
        Err(error::usage(format!("no tensor matches {:?}{near}", self.text)))
    }
}

/// A pattern that is translated into a regular expression, which matches in linear time.
struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    regex: String,
    /// For each open brace: whether a name or a folder starts at it.
    open: Vec<bool>,
    /// The largest number of braces that were open.
    deepest: usize,
    /// True where a name or a folder starts.
    start: bool,
}

impl<'a> Translation<'a> {
    fn of(text: &'a str) -> Result<String, String> {
        let (rest, regex) = (text.chars().peekable(), String::from("(?s)^"));
        let mut to = Translation { rest, regex, open: Vec::new(), deepest: 0, start: true };
        while let Some(c) = to.rest.next() {
            let start = std::mem::replace(&mut to.start, c == '/');
            to.next(c, start)?;
        }
        let deepest = to.deepest;
        if deepest > DEEPEST {
            return Err(format!("it nests {deepest} braces; at most {DEEPEST} are read"));
        }
        if to.open.is_empty() { Ok(to.regex + "$") } else { Err("a brace { is not closed".into()) }
    }

    fn next(&mut self, c: char, start: bool) -> Result<(), &'static str> {
        match c {
            '*' => self.stars(start),
            '?' => self.regex.push('.'),
            '[' => self.class()?,
            '\\' => {
                let quoted = self.rest.next().ok_or("nothing follows the \\ at its end")?;
                self.one(quoted);
            }
            '{' => {
                self.open.push(start);
                self.deepest = self.deepest.max(self.open.len());
                self.start = start;
                self.regex.push_str("(?:");
            }
            '}' => {
                self.open.pop().ok_or("a brace } was not opened")?;
                self.regex.push(')');
            }
            ',' if !self.open.is_empty() => {
                self.start = self.open.last() == Some(&true);
                self.regex.push('|');
            }
            c => self.one(c),
        }
        Ok(())
    }

    /// Translates a row of stars, whose first one has been read: it matches what one star does, unless it stands for folders.
    fn stars(&mut self, start: bool) {
        let mut count = 1;
        while self.rest.next_if_eq(&'*').is_some() {
            count += 1;
        }
        if count == 2 && start && self.rest.next_if_eq(&'/').is_some() {
            self.start = true;
            self.regex.push_str("(?:.*/)?");
        } else {
            self.regex.push_str(".*");
        }
    }

    /// Translates a class such as `[0-9]` or `[!ab]`, whose bracket has been read. A `]` that comes first is one of its characters.
    fn class(&mut self) -> Result<(), &'static str> {
        const OPEN: &str = "a bracket [ is not closed";
        self.regex.push('[');
        if self.rest.next_if(|&c| matches!(c, '!' | '^')).is_some() {
            self.regex.push('^');
        }
        let mut c = self.rest.next().ok_or(OPEN)?;
        loop {
            self.one(c);
            if self.rest.next_if_eq(&'-').is_some() {
                let last = self.rest.next().ok_or(OPEN)?;
                if last == ']' {
                    self.one('-');
                    break;
                }
                if last < c {
                    return Err("a range in brackets ends before it starts");
                }
                self.regex.push('-');
                self.one(last);
            }
            c = self.rest.next().ok_or(OPEN)?;
            if c == ']' {
                break;
            }
        }
        self.regex.push(']');
        Ok(())
    }

    /// Adds a character that stands for itself.
    fn one(&mut self, c: char) {
        self.regex.push_str(&format!("\\x{{{:x}}}", u32::from(c)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_pattern_or_by_themselves() {
        let all = Pattern::new("model.*.weight").unwrap();
        assert!(all.matches("model.layers.0.mlp.weight") && !all.matches("model.bias"));
        assert!(Pattern::new("a[0]").unwrap().matches("a[0]"));
        assert!(Pattern::new("a/*").unwrap().matches("a/b/c"));
        let error = Pattern::new("a[").unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("\"a[\""));
    }

    #[test]
    fn patterns_are_bounded() {
        let nested = |depth: usize| "{a,".repeat(depth) + &"}".repeat(depth);
        assert!(Pattern::new(&nested(DEEPEST)).unwrap().matches("a"));
        // Braces that stand for themselves are not nested.
        assert!(
            Pattern::new(&r"\{".repeat(DEEPEST + 1)).unwrap().matches(&"{".repeat(DEEPEST + 1))
        );
        assert!(Pattern::new(&"[{]".repeat(DEEPEST + 1)).is_ok());
        for (text, part) in [
            (nested(DEEPEST + 1), "nests 17 braces; at most 16"),
            (nested(200), "nests 200 braces"),
            ("a".repeat(LONGEST + 1), "has 4097 bytes; at most 4096"),
            ("{".repeat(4000), "nests 4000 braces"),
        ] {
            let error = Pattern::new(&text).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(part), "{error}");
            assert!(error.to_string().len() < 300, "{error}");
        }
        // Every pattern within the bounds is compiled or refused.
        for text in ["a".repeat(LONGEST), "*".repeat(LONGEST), "{*,".repeat(16) + &"?".repeat(4000)]
        {
            let _ = Pattern::new(&text);
        }
        for text in ["{*,".repeat(16) + &"}".repeat(16), "[a-z]".repeat(800), "{a,b}".repeat(800)] {
            assert!(Pattern::new(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn patterns_match_what_those_of_a_shell_match() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("*", &["", "a", "a/b", "a.b", "\n"], &[]),
            ("**", &["", "a", "a/b"], &[]),
            ("a*c", &["ac", "abc", "a/b/c"], &["ab", "bac"]),
            ("a?c", &["abc", "a/c", "aéc"], &["ac", "abbc"]),
            ("**/a", &["a", "b/a", "b/c/a"], &["ba"]),
            ("**/**/a", &["a", "b/a"], &["ba"]),
            ("a/**/b", &["a/b", "a/c/b", "a/c/d/b"], &["ab", "a/cb"]),
            ("a**/b", &["a/b", "ac/b", "a/c/b"], &["ab"]),
            ("a/***/b", &["a//b", "a/c/b"], &["a/b"]),
            ("{**/a,**/b}", &["a", "x/a", "b", "x/b"], &["xb"]),
            ("[a-c]", &["a", "b", "c"], &["d", "-", ""]),
            ("[!a-c]", &["d", "-", "/"], &["a", "b", "dd"]),
            ("[^a]", &["b", "^"], &["a"]),
            ("[]-]", &["]", "-"], &["a"]),
            ("[a-]", &["a", "-"], &["b"]),
            (r"[a^&&\.|]", &["a", "^", "&", "\\", ".", "|"], &["b"]),
            ("[é-ü]", &["é", "ö"], &["e"]),
            ("{a,b{c,d}}e", &["ae", "bce", "bde"], &["be", "a"]),
            ("a{,.b}", &["a", "a.b"], &["a."]),
            ("a,b", &["a,b"], &["a", "b"]),
            (r"\*\{a", &["*{a"], &["b{a", r"\*\{a."]),
            ("a+(b)$^|", &["a+(b)$^|"], &["aab", "a"]),
        ];
        for (text, matched, others) in cases {
            let pattern = Pattern::new(text).unwrap();
            assert!(matched.iter().all(|name| pattern.matches(name)), "{text}");
            assert!(!others.iter().any(|name| pattern.matches(name)), "{text}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_an_error_that_says_why() {
        for (text, why) in [
            ("a[", "a bracket [ is not closed"),
            ("[]", "a bracket [ is not closed"),
            ("[!]", "a bracket [ is not closed"),
            ("[a-", "a bracket [ is not closed"),
            ("[b-a]", "a range in brackets ends before it starts"),
            ("{a", "a brace { is not closed"),
            ("a}", "a brace } was not opened"),
            ("a\\", "nothing follows the \\ at its end"),
        ] {
            let error = Pattern::new(text).unwrap_err();
            assert!(error.is_usage());
            assert_eq!(error.to_string(), format!("the tensor pattern {text:?}: {why}"));
        }
    }

    #[test]
    fn a_pattern_without_a_match_names_near_ones() {
        let error = Pattern::new("conv9.*").unwrap().check(["conv1.bias"].into_iter()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no tensor matches \"conv9.*\"; similar names: \"conv1.bias\""
        );
    }
}
