//! Patterns such as `*.weight`, which select tensors by their names. Requests, collections and verification use them.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{Error, error, layout::names};

/// A compiled pattern, and its text.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Pattern {
    text: String,
    matcher: GlobSet,
}

/// The longest pattern, in bytes.
const LONGEST: usize = 4096;

/// The deepest nesting of braces.
const DEEPEST: usize = 16;

impl Pattern {
    /// Compiles a pattern: `*` and `?`, `[…]`, `{a,b}`; a `*` also matches dots and slashes.
    #[doc(hidden)]
    pub fn new(text: &str) -> Result<Pattern, Error> {
        check(text)?;
        let wrong = |error: globset::Error| {
            error::usage(format!("the tensor pattern {text:?}: {}", error.kind()))
        };
        let glob = GlobBuilder::new(&condensed(text)).build().map_err(wrong)?;
        // A `GlobSet` returns an error in cases where a single matcher panics.
        let matcher = GlobSetBuilder::new().add(glob).build().map_err(wrong)?;
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

/// Returns the pattern with three or more `*` in a row replaced by one, which matches the same names: each `*` would be tried at
/// every character of a name. Two may match any number of folders, and are kept.
fn condensed(text: &str) -> String {
    let (mut short, mut stars, mut escaped) = (String::new(), 0, false);
    for c in text.chars().map(Some).chain([None]) {
        if c == Some('*') && !escaped {
            stars += 1;
            continue;
        }
        short.push_str(&"*".repeat(if stars < 3 { stars } else { 1 }));
        (stars, escaped) = (0, c == Some('\\') && !escaped);
        short.extend(c);
    }
    short
}

/// Returns an error for a pattern that is too long, or nested too deep, to be compiled.
fn check(text: &str) -> Result<(), Error> {
    let (shown, len) = (names::clipped(text), text.len());
    if len > LONGEST {
        let said =
            format!("the tensor pattern {shown:?} has {len} bytes; at most {LONGEST} are read");
        return Err(error::usage(said));
    }
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > DEEPEST {
        return Err(error::usage(format!(
            "the tensor pattern {shown:?} nests {deepest} braces; at most {DEEPEST} are read"
        )));
    }
    Ok(())
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

    /// Tests all patterns of up to two characters before and after a row of stars.
    #[test]
    fn a_row_of_stars_is_one() {
        let signs = ["", "*", "a", "/", "{", "}", ",", "?", "[", "]", "\\"];
        let ends = || signs.iter().flat_map(|a| signs.iter().map(move |b| format!("{a}{b}")));
        let names = ["", "a", "*", "b", "a/", "/a", "a/a", "ab", "*a", "a/b/a", "\\a", "a,*", "a]"];
        let compiled = |text: &str| GlobBuilder::new(text).build().map(|it| it.compile_matcher());
        let mut legal = 0;
        for (before, behind) in ends().flat_map(|a| ends().map(move |b| (a.clone(), b))) {
            for stars in ["***", "****"] {
                let text = format!("{before}{stars}{behind}");
                let short = condensed(&text);
                let (long, own) = (compiled(&text), compiled(&short));
                assert_eq!(long.is_ok(), own.is_ok(), "{text} {short}");
                let (Ok(long), Ok(own)) = (long, own) else { continue };
                for name in names {
                    assert_eq!(own.is_match(name), long.is_match(name), "{text} {short} {name}");
                }
                legal += 1;
            }
        }
        assert!(legal > 1000, "{legal}");
        let many = ["*".repeat(LONGEST), "a**".into(), "\\****".into(), "a***b****".into()];
        assert_eq!(many.map(|text| condensed(&text)), ["*", "a**", "\\**", "a*b*"]);
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
