//! Suggests the legal spelling nearest to a word, by edit distance.

/// The most names in one suggestion.
const MOST: usize = 4;

/// Returns the at most four candidates nearest to `text`, best first; none if `text` is longer than 64 bytes. The
/// distance counts edits and ignores case.
///
/// - If the nearest candidate differs in case alone, only such candidates are returned.
/// - Otherwise the nearest may be a third of the letters of `text` away, at least one. Candidates up to one edit
///   further follow, within half of the letters.
/// - If no candidate is near, those that contain `text` are returned, if it has three letters or more.
///
/// ```
/// use tilewright_scan::nearest;
/// assert_eq!(nearest("row-mayor", ["row-major", "NHWC"]), ["row-major"]);
/// assert!(nearest("diagonal", ["row-major", "NHWC"]).is_empty());
/// assert_eq!(nearest("major", ["row-major-order", "NHWC"]), ["row-major-order"]);
/// ```
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    among(text, &mut candidates.into_iter())
}

/// Implements [`nearest`] for a trait object, so that it is compiled once.
fn among<'a>(text: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Vec<&'a str> {
    // No name is this long, and the cost of a distance is the product of both lengths.
    if text.len() > 64 {
        return Vec::new();
    }
    let lower = text.to_ascii_lowercase();
    let letters = text.chars().count();
    let (limit, further) = ((letters / 3).max(1), (letters / 2).max(1));
    let candidates: Vec<&str> = candidates.collect();
    let mut near: Vec<(usize, usize, &str)> = candidates
        .iter()
        .copied()
        .map(|name| {
            let distance = strsim::osa_distance(&lower, &name.to_ascii_lowercase());
            (distance, strsim::osa_distance(text, name), name)
        })
        .filter(|(distance, ..)| *distance <= further)
        .collect();
    let mut names: Vec<&str> = Vec::new();
    let mut worst = None;
    // Among equals, the first is taken first.
    while names.len() < MOST
        && let Some(at) = least(&near)
    {
        let (distance, _, name) = near.remove(at);
        let worst = match worst {
            Some(worst) => worst,
            None if distance > limit => break,
            None => *worst.insert(if distance == 0 { 0 } else { distance + 1 }),
        };
        if distance > worst {
            break;
        }
        if !names.iter().any(|other| plain(other) == plain(name)) {
            names.push(name);
        }
    }
    if names.is_empty() && letters >= 3 {
        let contain = candidates.iter().filter(|name| name.to_ascii_lowercase().contains(&lower));
        names.extend(contain.take(MOST));
    }
    names
}

/// Returns the index of the nearest name: by letters first, then by case.
fn least(near: &[(usize, usize, &str)]) -> Option<usize> {
    let each = near.iter().enumerate();
    each.min_by_key(|(_, (distance, cased, _))| (*distance, *cased)).map(|(at, _)| at)
}

/// Normalizes case and `_`/`-`, so that spellings of one name become equal.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// Returns the number of letters in which `text` differs from the nearest candidate; `None` if none is near.
///
/// ```
/// use tilewright_scan::distance;
/// assert_eq!((distance("NHVC", ["NHWC"]), distance("x", ["NHWC"])), (Some(1), None));
/// ```
pub fn distance<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<usize> {
    let first = nearest(text, candidates).first().copied()?;
    Some(strsim::osa_distance(&text.to_ascii_lowercase(), &first.to_ascii_lowercase()))
}

/// Returns the second half of a message: the nearest name and those almost as near, or an empty text.
///
/// ```
/// use tilewright_scan::did_you_mean;
/// assert_eq!(did_you_mean("NHVC", ["NHWC", "OIHW"]), "; did you mean `NHWC`?");
/// assert_eq!(did_you_mean("x", ["NHWC"]), "");
/// ```
pub fn did_you_mean<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> =
        nearest(text, candidates).iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [one, others @ ..] => format!("; did you mean {one}? Also near: {}", others.join(", ")),
    }
}

/// Returns alternatives as a part of a sentence.
///
/// ```
/// use tilewright_scan::alternatives;
/// assert_eq!(alternatives(&["2", "4", "8"]), "2, 4 or 8");
/// assert_eq!((alternatives(&["2", "4"]), alternatives(&["2"])), ("2 or 4".into(), "2".into()));
/// ```
pub fn alternatives<T: AsRef<str>>(texts: &[T]) -> String {
    let mut said = String::new();
    for (at, text) in texts.iter().enumerate() {
        said += match texts.len() - at {
            _ if at == 0 => "",
            1 => " or ",
            _ => ", ",
        };
        said += text.as_ref();
    }
    said
}

/// Returns the second half of a message about an unknown word: the nearest known words, or all if none is near.
///
/// ```
/// use tilewright_scan::or_one_of;
/// assert_eq!(or_one_of("pyton", &["c", "python"]), "; did you mean `python`?");
/// assert_eq!(or_one_of("ada", &["c", "python"]), "; expected one of c, python");
/// ```
pub fn or_one_of(word: &str, known: &[&str]) -> String {
    match did_you_mean(word, known.iter().copied()) {
        none if none.is_empty() => format!("; expected one of {}", known.join(", ")),
        near => near,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_first_then_letters() {
        let names = ["NC1HWC0", "NHWC", "row-major"];
        assert_eq!(nearest("nc1hwc0", names), ["NC1HWC0"]);
        assert_eq!(nearest("rowmajor", names), ["row-major"]);
        assert_eq!(nearest("NHCW", names), ["NHWC"]);
        assert!(nearest("diagonal", names).is_empty());
        assert!(nearest(&"N".repeat(1000), names).is_empty());
    }

    #[test]
    fn several_are_named_the_best_first() {
        let names = ["NHWC", "NCHW", "HWCN", "nhwc", "NDHWC"];
        assert_eq!(nearest("NHVC", names), ["NHWC", "NDHWC"]);
        // Another spelling of a name is not another name.
        assert_eq!(nearest("row-mayor", ["row-major", "row_major", "ROW-MAJOR"]), ["row-major"]);
        // A difference in case alone leaves no doubt.
        assert_eq!(nearest("Ndhwc", names), ["NDHWC"]);
        let said = did_you_mean("NHVC", names);
        assert_eq!(said, "; did you mean `NHWC`? Also near: `NDHWC`");
        assert_eq!((distance("NHVC", names), distance("x", ["abc"])), (Some(1), None));
    }
}
