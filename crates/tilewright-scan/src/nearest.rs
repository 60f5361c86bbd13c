//! The nearest legal spellings, by edit distance.

/// The most names of one suggestion.
const MOST: usize = 4;

/// The candidates nearest to `text`, the best first: another case of it alone, or one at most a third of its
/// letters away (one at least) and behind it those one worse, at most half of the letters away. Where there is
/// none, those that contain the text, of three letters or more.
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

/// The same, once for all kinds of lists.
fn among<'a>(text: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Vec<&'a str> {
    // No name is that long, and the distance costs a product of lengths.
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
    // The first of equals is taken first.
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

/// The place of the nearest name, by letters alone and then by their case.
fn least(near: &[(usize, usize, &str)]) -> Option<usize> {
    let each = near.iter().enumerate();
    each.min_by_key(|(_, (distance, cased, _))| (*distance, *cased)).map(|(at, _)| at)
}

/// What two spellings of one name have in common.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// How many letters of `text` differ from the nearest candidate; `None` if none is near.
///
/// ```
/// use tilewright_scan::distance;
/// assert_eq!((distance("NHVC", ["NHWC"]), distance("x", ["NHWC"])), (Some(1), None));
/// ```
pub fn distance<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<usize> {
    let first = nearest(text, candidates).first().copied()?;
    Some(strsim::osa_distance(&text.to_ascii_lowercase(), &first.to_ascii_lowercase()))
}

/// The second half of a message: the nearest name, those nearly as near, or nothing.
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

/// The second half of a message about a word that is none of these: the nearest of them, or all where none is near.
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
        // Other spellings of a name are no other names.
        assert_eq!(nearest("row-mayor", ["row-major", "row_major", "ROW-MAJOR"]), ["row-major"]);
        // Another case is no doubt.
        assert_eq!(nearest("Ndhwc", names), ["NDHWC"]);
        let said = did_you_mean("NHVC", names);
        assert_eq!(said, "; did you mean `NHWC`? Also near: `NDHWC`");
        assert_eq!((distance("NHVC", names), distance("x", ["abc"])), (Some(1), None));
    }
}
