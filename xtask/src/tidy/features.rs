//! A1: core is the same program for all users. Features are not allowed.

use super::{finding::Finding, source::Source};

const SAYS: &str = "core has no features; what is optional belongs to another crate";

/// Finds mentions of `feature` in a `cfg` of core.
pub(crate) fn findings(source: &Source) -> Vec<Finding> {
    if !source.is_in("tilewright-core") {
        return Vec::new();
    }
    let marks = ["cfg(feature", "cfg_attr(feature", "(feature =", " feature ="];
    let lines = source
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| marks.iter().any(|mark| line.bare.contains(mark)));
    lines.map(|(i, _)| Finding::new(&source.path, i + 1, "A1", SAYS)).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::finding::lines, *};

    #[test]
    fn a_feature_in_core_is_found() {
        let text = "#[cfg(feature = \"std\")]\nmod a;\n// cfg(feature = \"b\")\n#[cfg(all(test, feature = \"c\"))]\nmod d;";
        assert_eq!(
            lines(&findings(&Source::new("crates/tilewright-core/src/lib.rs", text))),
            [1, 4]
        );
        assert!(findings(&Source::new("crates/tilewright-files/src/lib.rs", text)).is_empty());
    }
}
