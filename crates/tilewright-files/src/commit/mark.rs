//! Marks in the names of a set's files: 16 hexadecimal digits, new for each run, so that no existing index contains such a name.
//! Commits of several files create them; comparisons and messages use names without them.

use std::{borrow::Cow, collections::HashSet};

/// The beginning of a mark; 16 hexadecimal digits follow.
const MARK: &str = ".tilewright-";

/// The number of digits of a mark.
const DIGITS: usize = 16;

/// Returns a shard's name without a mark.
pub(crate) fn usual(name: &str) -> Cow<'_, str> {
    let Some(at) = name.rfind(MARK) else { return name.into() };
    let (head, tail) = (&name[..at], &name[at + MARK.len()..]);
    let hex = |digits: &str| digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match (tail.get(..DIGITS), tail.get(DIGITS..)) {
        (Some(digits), Some(rest)) if hex(digits) && (rest.is_empty() || rest.starts_with('.')) => {
            format!("{head}{rest}").into()
        }
        _ => name.into(),
    }
}

/// Returns a usual name with a mark before its extension.
pub(crate) fn marked(name: &str, mark: u64) -> String {
    let at = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
    format!("{}{MARK}{mark:016x}{}", &name[..at], &name[at..])
}

/// Returns the names of files without marks, in order; unchanged if two would be equal.
pub(crate) fn usual_names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let bare: Vec<String> = names.clone().map(|name| usual(name).into_owned()).collect();
    match bare.iter().collect::<HashSet<_>>().len() == bare.len() {
        true => bare,
        false => names.map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_put_on_and_taken_off() {
        for name in ["model-00001-of-00002.safetensors", "a", ".hidden", "ü.b.c"] {
            let marked = marked(name, 0xABC);
            assert!(marked.contains(".tilewright-0000000000000abc"), "{marked}");
            assert_eq!((usual(&marked), usual(name)), (name.into(), name.into()));
        }
        assert_eq!(marked("m.safetensors", 1), "m.tilewright-0000000000000001.safetensors");
        for name in
            ["m.tilewright-1.safetensors", "m.tilewright-000000000000000G.s", ".tilewright-"]
        {
            assert_eq!(usual(name), name);
        }
    }
}
