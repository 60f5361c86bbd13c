//! [`Alike`]: a set of texts that differ only in their numbers, written as one.

use std::{collections::BTreeSet, fmt};

/// The most values of one number that are written out.
const WRITTEN: usize = 6;

/// The most digits of a number; a longer run of digits is part of the text.
const DIGITS: usize = 18;

/// A text with its numbers removed.
///
/// ```
/// use tilewright_scan::Pattern;
/// assert_eq!(Pattern::of("layers.7.q").0, Pattern::of("layers.12.q").0);
/// assert_ne!(Pattern::of("layers.7.q").0, Pattern::of("layers.7.k").0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pattern(Vec<String>);

/// A set of different texts with one pattern. `Display` writes `layers.{0..60}.experts.{0..255}.weight`;
/// [`Alike::is_all`] returns whether that text covers exactly the texts of the set.
///
/// ```
/// use tilewright_scan::Alike;
/// let mut alike = Alike::of("layers.0.q");
/// assert!(alike.add("layers.1.q") && alike.add("layers.2.q") && !alike.add("layers.2.k"));
/// assert_eq!((alike.to_string().as_str(), alike.count(), alike.is_all()), ("layers.{0..2}.q", 3, true));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    pattern: Pattern,
    /// The numbers of each text, one row per text.
    rows: BTreeSet<Vec<String>>,
}

impl Pattern {
    /// Splits a text into its pattern and its numbers, which keep their leading zeros.
    ///
    /// ```
    /// use tilewright_scan::Pattern;
    /// let [(a, numbers), (b, _)] = ["layers.7.q2", "layers.12.q2"].map(Pattern::of);
    /// assert_eq!((a == b, numbers), (true, vec!["7".to_owned(), "2".to_owned()]));
    /// ```
    pub fn of(text: &str) -> (Pattern, Vec<String>) {
        let (mut parts, mut numbers, mut rest) = (vec![String::new()], Vec::new(), text);
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
            let (before, number) = (&rest[..at], &rest[at..at + digits]);
            rest = &rest[at + digits..];
            let Some(part) = parts.last_mut() else { break };
            part.push_str(before);
            match digits > DIGITS {
                true => part.push_str(number),
                false => {
                    numbers.push(number.to_owned());
                    parts.push(String::new());
                }
            }
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(rest);
        }
        (Pattern(parts), numbers)
    }
}

impl Alike {
    /// A set of one text.
    ///
    /// ```
    /// assert_eq!(tilewright_scan::Alike::of("layers.0.q").to_string(), "layers.0.q");
    /// ```
    pub fn of(text: &str) -> Alike {
        let (pattern, numbers) = Pattern::of(text);
        Alike { pattern, rows: BTreeSet::from([numbers]) }
    }

    /// Adds a text and returns true, or returns false if the text has another pattern.
    ///
    /// ```
    /// let mut alike = tilewright_scan::Alike::of("layers.0.q");
    /// assert!(alike.add("layers.1.q") && !alike.add("layers.1.k"));
    /// ```
    pub fn add(&mut self, text: &str) -> bool {
        let (pattern, numbers) = Pattern::of(text);
        let same = pattern == self.pattern;
        if same {
            self.rows.insert(numbers);
        }
        same
    }

    /// Returns the number of different texts.
    ///
    /// ```
    /// let mut alike = tilewright_scan::Alike::of("layers.0.q");
    /// assert!(alike.add("layers.1.q") && alike.add("layers.1.q"));
    /// assert_eq!(alike.count(), 2);
    /// ```
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the set holds every text that `Display` describes: all combinations of the listed numbers, where
    /// two numbers of a text that are always equal count as one.
    ///
    /// ```
    /// let mut alike = tilewright_scan::Alike::of("layers.0.q0");
    /// assert!(alike.add("layers.1.q1") && alike.is_all());
    /// assert!(alike.add("layers.0.q1") && !alike.is_all());
    /// ```
    pub fn is_all(&self) -> bool {
        let columns: BTreeSet<Vec<&str>> = (0..self.places()).map(|at| self.column(at)).collect();
        let sizes = columns.iter().map(|column| column.iter().collect::<BTreeSet<_>>().len());
        sizes.fold(1, usize::saturating_mul) == self.count()
            && (0..self.places()).all(|at| self.list(at).is_some())
    }

    fn places(&self) -> usize {
        self.pattern.0.len() - 1
    }

    /// Returns the numbers at one position, one for each text.
    fn column(&self, at: usize) -> Vec<&str> {
        self.rows.iter().filter_map(|row| row.get(at)).map(String::as_str).collect()
    }

    /// Returns the numbers at one position as `{0..60}` or `{0,2,5}`; `None` if they are too many to write out.
    fn list(&self, at: usize) -> Option<String> {
        let numbers: BTreeSet<(u64, &str)> = self
            .column(at)
            .into_iter()
            .map(|text| (text.parse().unwrap_or(u64::MAX), text))
            .collect();
        let ((low, first), (high, last)) = (*numbers.first()?, *numbers.last()?);
        if numbers.len() == 1 {
            return Some(first.to_owned());
        }
        if high - low + 1 == numbers.len() as u64 {
            return Some(format!("{{{first}..{last}}}"));
        }
        let written: Vec<&str> = numbers.iter().map(|(_, text)| *text).collect();
        (written.len() <= WRITTEN).then(|| format!("{{{}}}", written.join(",")))
    }
}

impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.pattern.0.iter().enumerate() {
            f.write_str(part)?;
            if at < self.places() {
                match self.list(at) {
                    Some(list) => f.write_str(&list)?,
                    None => {
                        let column: BTreeSet<u64> =
                            self.column(at).iter().filter_map(|text| text.parse().ok()).collect();
                        let ends = (column.first(), column.last());
                        let (low, high) = (ends.0.unwrap_or(&0), ends.1.unwrap_or(&0));
                        write!(f, "{{{low},…,{high}}}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Writes a number with a comma between thousands.
///
/// ```
/// use tilewright_scan::thousands;
/// assert_eq!([7, 1000, 15_616, 1_000_000].map(thousands), ["7", "1,000", "15,616", "1,000,000"]);
/// ```
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(texts: impl IntoIterator<Item = String>) -> Alike {
        let mut texts = texts.into_iter();
        let mut alike = Alike::of(&texts.next().unwrap());
        texts.for_each(|text| assert!(alike.add(&text), "{text}"));
        alike
    }

    #[test]
    fn every_number_of_a_product_is_a_range() {
        let names =
            (0..61).flat_map(|l| (0..256).map(move |e| format!("layers.{l}.experts.{e}.w2: {l}")));
        let alike = all(names);
        assert_eq!(alike.to_string(), "layers.{0..60}.experts.{0..255}.w2: {0..60}");
        assert_eq!((alike.count(), alike.is_all()), (15_616, true));
    }

    #[test]
    fn what_is_no_product_is_said() {
        let some = all(["a.0.1", "a.1.0", "a.1.1"].map(String::from));
        assert_eq!((some.to_string().as_str(), some.is_all()), ("a.{0..1}.{0..1}", false));
        let apart = all(["a.0", "a.7", "a.30"].map(String::from));
        assert_eq!((apart.to_string().as_str(), apart.is_all()), ("a.{0,7,30}", true));
        let many = all((0..20).map(|i| format!("a.{}", i * i)));
        assert_eq!((many.to_string().as_str(), many.is_all()), ("a.{0,…,361}", false));
        let twice = all(["a.5", "a.5"].map(String::from));
        assert_eq!((twice.to_string().as_str(), twice.count()), ("a.5", 1));
        let long = "9".repeat(30);
        assert_eq!(Alike::of(&long).to_string(), long);
        // Zeros before a number are part of it.
        let padded = all(["x-01", "x-02"].map(String::from));
        assert_eq!(padded.to_string(), "x-{01..02}");
    }
}
