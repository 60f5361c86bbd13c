//! Patterns of whole names, in which `*` is any text and everything else itself.

/// Returns whether one of the patterns matches the name.
pub(crate) fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Returns whether the pattern matches the name: its parts occur in their order, the first and the last one at the ends.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(name) = name.strip_prefix(first).and_then(|name| name.strip_suffix(last)) else {
        return false;
    };
    let mut left = name;
    middle.split('*').all(|part| match left.find(part) {
        Some(at) => {
            left = &left[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: a star takes nothing, or one character and goes on.
    fn naive(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                naive(rest, name) || (!name.is_empty() && naive(pattern, &name[1..]))
            }
            (Some((a, rest)), Some((b, name))) => a == b && naive(rest, name),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    fn texts(letters: &[u8], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            last = last
                .iter()
                .flat_map(|text| letters.iter().map(move |c| format!("{text}{}", *c as char)))
                .collect();
            all.extend(last.clone());
        }
        all
    }

    #[test]
    fn all_short_patterns_match_as_defined() {
        let names = texts(b"ab", 5);
        for pattern in texts(b"ab*", 5) {
            for name in &names {
                assert_eq!(
                    matches(&pattern, name),
                    naive(pattern.as_bytes(), name.as_bytes()),
                    "{pattern} {name}"
                );
            }
        }
    }
}
