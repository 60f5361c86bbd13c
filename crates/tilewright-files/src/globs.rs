//! Which tensors a request means.

use globset::{Glob, GlobMatcher};

use crate::{Error, names};

/// A compiled pattern, and its text.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Compiles a pattern: `*` and `?`, `[…]`, `{a,b}`; a `*` also matches dots and slashes.
    pub(crate) fn new(text: &str) -> Result<Pattern, Error> {
        let glob = Glob::new(text).map_err(|error| {
            Error::usage(format!("the tensor pattern {text:?}: {}", error.kind()))
        })?;
        Ok(Pattern { text: text.into(), matcher: glob.compile_matcher() })
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

    /// Whether a tensor's name matches; a name always matches itself, brackets or not.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.text == name || self.matcher.is_match(name)
    }

    /// An error if none of `names` matches.
    pub(crate) fn check<'a>(
        &self,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), Error> {
        if names.clone().any(|name| self.matches(name)) {
            return Ok(());
        }
        let near = names::near(&self.text, names);
        Err(Error::usage(format!("no tensor matches {:?}{near}", self.text)))
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
    fn a_pattern_without_a_match_names_near_ones() {
        let error = Pattern::new("conv9.*").unwrap().check(["conv1.bias"].into_iter()).unwrap_err();
        assert_eq!(error.to_string(), "no tensor matches \"conv9.*\"; near are \"conv1.bias\"");
    }
}
