//! Numbers and names as text in answers.

use std::borrow::Cow;

use tilewright_core::Counted;

/// Returns a number of any size with its noun, as [`Counted`] writes them.
///
/// ```
/// use tilewright::ask::words::counted;
/// assert_eq!((counted(1, "byte"), counted(0, "byte")), ("1 byte".into(), "0 bytes".into()));
/// assert_eq!(counted(u128::MAX, "index"), format!("{} indices", u128::MAX));
/// ```
pub fn counted(count: u128, noun: &str) -> String {
    let one_or_two = Counted(if count == 1 { 1 } else { 2 }, noun).to_string();
    format!("{count}{}", one_or_two.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Shortens a text to `width` characters: its beginning, and the number of characters that are omitted.
///
/// ```
/// use tilewright::ask::words::shortened;
/// assert_eq!(shortened("0123456789", 10), "0123456789");
/// let short = shortened(&"0123456789".repeat(5), 40);
/// assert_eq!(short, "01234567890123456789… 30 characters more");
/// // There is always a word of what is missing.
/// assert_eq!(shortened("0123456789", 3), "… 10 characters more");
/// ```
pub fn shortened(text: &str, width: usize) -> String {
    let whole = text.chars().count();
    if whole <= width {
        return text.to_owned();
    }
    let said = |kept: usize| format!("… {} characters more", whole - kept);
    let kept = (0..width).rev().find(|&kept| kept + said(kept).chars().count() <= width);
    let kept = kept.unwrap_or(0);
    text.chars().take(kept).collect::<String>() + &said(kept)
}

/// [Shortens](shortened) the lines of a text to `width` characters.
///
/// ```
/// use tilewright::ask::words::fitted;
/// let text = format!("short\n{}\n", "0123456789".repeat(5));
/// assert_eq!(fitted(&text, 40), "short\n01234567890123456789… 30 characters more\n");
/// ```
pub fn fitted(text: &str, width: usize) -> String {
    text.lines().map(|line| shortened(line, width) + "\n").collect()
}

/// Breaks a text between words into lines of at most `width` characters; a longer word has its own line.
///
/// ```
/// use tilewright::ask::words::lines;
/// assert_eq!(lines("a bc def ghijklmn", 8), ["a bc def", "ghijklmn"]);
/// assert_eq!(lines("", 8), [""]);
/// ```
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.pop().unwrap_or_default();
        match line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width {
            true if line.is_empty() => lines.push(word.to_owned()),
            true => lines.push(format!("{line} {word}")),
            false => lines.extend([line, word.to_owned()]),
        }
    }
    lines
}

/// Returns a row of a table of two columns, the first `head` characters wide. A long text continues on the next lines of its
/// column.
///
/// ```
/// use tilewright::ask::words::row;
/// assert_eq!(row("  size", 8, "1 element or many", 18), "  size  1 element\n        or many\n");
/// ```
pub fn row(title: &str, head: usize, text: &str, width: usize) -> String {
    let lines = lines(text, width.saturating_sub(head).max(8));
    let row = |(at, line): (usize, &String)| {
        let title = if at == 0 { title } else { "" };
        format!("{title:<head$}{line}\n")
    };
    lines.iter().enumerate().map(row).collect()
}

/// Returns the size of storage divided by the size of its contents; 1 if both are 0.
///
/// ```
/// use tilewright::ask::words::ratio;
/// assert_eq!((ratio(96, 60), ratio(0, 0)), (1.6, 1.0));
/// ```
pub fn ratio(padded: u64, of: u64) -> f64 {
    if of == 0 { 1.0 } else { padded as f64 / of as f64 }
}

/// Returns the ratio as text, with three digits after the point if it is close to 1.
///
/// ```
/// use tilewright::ask::words::factor;
/// assert_eq!([factor(8, 4), factor(104, 100), factor(128, 3)], ["×2", "×1.040", "×42.7"]);
/// ```
pub fn factor(padded: u64, of: u64) -> String {
    let (padded, of) = if of == 0 { (1, 1) } else { (u128::from(padded), u128::from(of)) };
    let digits = match padded.is_multiple_of(of) {
        true => 0,
        false if padded * 100 < of * 105 => 3,
        false => 1,
    };
    format!("×{}", decimal(padded, of, digits))
}

/// Returns a quotient with this many digits after the point, rounded half to even. Zero divided by zero is 0.
///
/// ```
/// use tilewright::ask::words::decimal;
/// assert_eq!([decimal(2, 3, 2), decimal(7, 1, 0), decimal(999, 1000, 1)], ["0.67", "7", "1.0"]);
/// assert_eq!([decimal(1, 4, 1), decimal(3, 4, 1), decimal(0, 0, 1)], ["0.2", "0.8", "0.0"]);
/// ```
pub fn decimal(number: u128, by: u128, digits: u32) -> String {
    let (by, unit) = (by.max(1), 10u128.saturating_pow(digits));
    let scaled = (number % by).saturating_mul(unit);
    let (part, twice) = (scaled / by, (scaled % by).saturating_mul(2));
    let whole = number / by;
    let odd = if digits == 0 { whole % 2 == 1 } else { part % 2 == 1 };
    let part = part + u128::from(twice > by || (twice == by && odd));
    let (whole, part) = (whole.saturating_add(part / unit), part % unit);
    match usize::try_from(digits) {
        Ok(0) | Err(_) => whole.to_string(),
        Ok(width) => format!("{whole}.{part:0width$}"),
    }
}

/// Returns a number of bytes for people, in units of powers of 1024.
///
/// ```
/// use tilewright::ask::words::bytes;
/// assert_eq!([bytes(0), bytes(1023), bytes(1536)], ["0 B", "1023 B", "1.50 KiB"]);
/// assert_eq!(bytes(u64::MAX), "16.00 EiB");
/// ```
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut size, mut unit) = (bytes as f64, None);
    for next in UNITS.iter().take_while(|_| bytes >= 1024) {
        if unit.is_some() && size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, Some(next));
    }
    unit.map_or_else(|| format!("{bytes} B"), |unit| format!("{size:.2} {unit}"))
}

/// Returns a text of a file or a user as one printable line: control characters, line ends and marks that reorder a line are
/// escaped.
///
/// ```
/// use tilewright::ask::words::printable;
/// assert_eq!(printable("model.é.\"w\"\\"), "model.é.\"w\"\\");
/// assert_eq!(printable("a\nb\tc\r\0"), "a\\nb\\tc\\r\\0");
/// assert_eq!(printable("\u{1b}[31m\u{202e}x\u{9b}"), "\\u{1b}[31m\\u{202e}x\\u{9b}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
    };
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hidden(c) { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}
