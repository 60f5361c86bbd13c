//! The nearest legal spelling, by edit distance.

/// The candidate nearest to `text`: another case of it, or at most a third of its letters (one at
/// least) away.
pub(crate) fn nearest<'a>(
    text: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // No name is that long, and the distance costs a product of lengths.
    if text.len() > 64 {
        return None;
    }
    let lower = text.to_lowercase();
    let limit = (text.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|name| {
            let distance = strsim::osa_distance(&lower, &name.to_lowercase());
            (distance, strsim::osa_distance(text, name), name)
        })
        .filter(|(distance, ..)| *distance <= limit)
        // The first of equals.
        .min_by_key(|(distance, cased, _)| (*distance, *cased))
        .map(|(.., name)| name)
}

/// The second half of a message: a suggestion, or nothing.
pub(crate) fn did_you_mean<'a>(
    text: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    nearest(text, candidates).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_first_then_letters() {
        let names = ["NC1HWC0", "NHWC", "row-major"];
        assert_eq!(nearest("nc1hwc0", names), Some("NC1HWC0"));
        assert_eq!(nearest("rowmajor", names), Some("row-major"));
        assert_eq!(nearest("NHCW", names), Some("NHWC"));
        assert_eq!(nearest("diagonal", names), None);
        assert_eq!(nearest(&"N".repeat(1000), names), None);
    }
}
