//! Decides whether parts of a tensor overlap. Makers of tensors and comparisons by recipes use it: parts that together have
//! as many elements as the tensor cover all of it only if no element is in two of them.
//!
//! Law: the answer is exact, for parts whose digits step over everything inside them. The effort is bounded; parts beyond the bound
//! are refused.
//!
//! ```text
//! 2 rows of 4:  digits 2·4, 2·1 from 0 on  and  digits 2·4, 2·1 from 2 on    apart
//!               digits 2·4, 2·1 from 0 on  and  digits 2·4, 2·1 from 1 on    both have element 1
//! ```

use tilewright_recipe::{Digit, Part};

/// The largest number of pairs of boxes that are compared for one tensor.
const MOST: u64 = 1 << 24;

/// A digit: its extent, and the distance of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stride {
    extent: i128,
    step: i128,
}

/// Elements of a tensor: the first, and the digits with the largest step first.
#[derive(Clone, Debug)]
struct Elements {
    first: i128,
    digits: Vec<Stride>,
}

/// The bound on effort is reached.
#[derive(Debug)]
struct Undecided;

/// Checks that no element of a tensor is in two of its parts. The digits of each part must step over everything inside them.
pub(crate) fn check(parts: &[Part]) -> Result<(), String> {
    let some = parts.iter().filter(|part| part.digits.iter().all(|digit| digit.extent > 0));
    let all = some.map(|part| Elements::of(part.offset, &part.digits)).collect();
    match (Search { left: MOST }).overlap(all) {
        Ok(false) => Ok(()),
        Ok(true) => Err("has parts that overlap: two of them give the same element".into()),
        Err(Undecided) => Err(format!(
            "has {} parts, and {MOST} comparisons do not tell whether they overlap; make it of fewer parts, in two steps",
            parts.len()
        )),
    }
}

impl Elements {
    fn of(first: u64, digits: &[Digit]) -> Elements {
        let digits = digits.iter().filter(|digit| digit.extent > 1);
        let stride = |it: &Digit| Stride { extent: it.extent.into(), step: it.made.into() };
        let mut digits: Vec<Stride> = digits.map(stride).collect();
        digits.sort_by_key(|digit| std::cmp::Reverse(digit.step));
        Elements { first: first.into(), digits }
    }

    fn last(&self) -> i128 {
        self.first + reach(&self.digits)
    }

    /// Returns the elements at 0 of the outermost digit.
    fn inner(&self) -> Elements {
        Elements { first: self.first, digits: self.digits.iter().skip(1).copied().collect() }
    }
}

/// Returns the distance of the last element from the first.
fn reach(digits: &[Stride]) -> i128 {
    digits.iter().map(|digit| digit.step * (digit.extent - 1)).sum()
}

/// A search for an element of two parts.
struct Search {
    /// The number of comparisons that are left.
    left: u64,
}

impl Search {
    /// Returns whether two of these parts have an element in common.
    fn overlap(&mut self, mut parts: Vec<Elements>) -> Result<bool, Undecided> {
        parts.sort_by_key(|part| part.first);
        let mut rest = parts.as_slice();
        // Parts whose ranges are apart are apart.
        while let Some((one, others)) = rest.split_first() {
            let mut last = one.last();
            let more = others.iter().take_while(|part| {
                let within = part.first <= last;
                last = last.max(part.last());
                within
            });
            let (group, left) = rest.split_at(1 + more.count());
            if self.group(group)? {
                return Ok(true);
            }
            rest = left;
        }
        Ok(false)
    }

    /// Returns the same for parts that are sorted by their first elements.
    fn group(&mut self, parts: &[Elements]) -> Result<bool, Undecided> {
        let (Some(one), Some(last)) = (parts.first(), parts.iter().map(Elements::last).max())
        else {
            return Ok(false);
        };
        if let Some(outer) = one.digits.first()
            && parts.len() > 1
            && parts.iter().all(|part| part.digits.first() == Some(outer))
            && last - one.first - outer.step * (outer.extent - 1) < outer.step
        {
            return self.overlap(parts.iter().map(Elements::inner).collect());
        }
        for (number, a) in parts.iter().enumerate() {
            let last = a.last();
            for b in parts.iter().skip(number + 1).take_while(|b| b.first <= last) {
                if self.meet(&a.digits, &b.digits, b.first - a.first)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns whether elements from 0 on and elements from `by` on have one in common.
    fn meet(&mut self, a: &[Stride], b: &[Stride], by: i128) -> Result<bool, Undecided> {
        self.left = self.left.checked_sub(1).ok_or(Undecided)?;
        let (far, other) = (reach(a), reach(b));
        if by > far || by + other < 0 {
            return Ok(false);
        }
        let step = |digits: &[Stride]| digits.first().map_or(0, |digit| digit.step);
        if step(a) < step(b) {
            return self.meet(b, a, -by);
        }
        // Elements without digits are one element each, and it is the same.
        let Some((x, inner)) = a.split_first() else { return Ok(true) };
        let (far, step) = (reach(inner), x.step);
        let Some((y, within)) = b.split_first() else {
            return self.each(-by, far - by, (step, [1 - x.extent, 0]), |own, at| {
                own.meet(inner, b, by + at)
            });
        };
        if y.step == step {
            let range = [1 - x.extent, y.extent - 1];
            return self.each(-reach(within) - by, far - by, (step, range), |own, at| {
                own.meet(inner, within, by + at)
            });
        }
        let values = step / y.step;
        if step % y.step == 0 && y.extent > values {
            // The digit as two, one of which has the same step, and the rest.
            let (whole, rest) = (y.extent / values, y.extent % values);
            let digits = |some: &[Stride]| [some, within].concat();
            let outer = Stride { extent: whole, step };
            let both = digits(&[outer, Stride { extent: values, ..*y }]);
            if self.meet(a, &both, by)? {
                return Ok(true);
            }
            let end = digits(&[Stride { extent: rest, ..*y }]);
            return Ok(rest > 0 && self.meet(a, &end, by + whole * step)?);
        }
        self.each(-other - by, far - by, (step, [1 - x.extent, 0]), |own, at| {
            own.meet(inner, b, by + at)
        })
    }

    /// Asks for each multiple of `step` from `least` to `most`, with a factor in this range, until the answer is yes.
    fn each(
        &mut self,
        least: i128,
        most: i128,
        (step, [first, last]): (i128, [i128; 2]),
        mut ask: impl FnMut(&mut Search, i128) -> Result<bool, Undecided>,
    ) -> Result<bool, Undecided> {
        let first = first.max(-(-least).div_euclid(step));
        for factor in first..=last.min(most.div_euclid(step)) {
            if ask(self, factor * step)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tilewright_recipe::Origin;

    use super::*;

    fn part(offset: u64, digits: &[(u64, u64)]) -> Part {
        let digit = |&(extent, made): &(u64, u64)| Digit { extent, source: 0, made };
        Part { origin: Origin::Fill(0), offset, digits: digits.iter().map(digit).collect() }
    }

    /// Returns all elements of a part.
    fn elements(part: &Part) -> Vec<u64> {
        part.digits.iter().fold(vec![part.offset], |all, digit| {
            let steps =
                |at: &u64| (0..digit.extent).map(|x| at + x * digit.made).collect::<Vec<_>>();
            all.iter().flat_map(steps).collect()
        })
    }

    /// Returns whether some element comes twice, by listing all.
    fn twice(parts: &[Part]) -> bool {
        let mut seen = HashSet::new();
        !parts.iter().flat_map(elements).all(|element| seen.insert(element))
    }

    #[test]
    fn all_pairs_of_two_digits_are_decided() {
        let mut shapes = vec![];
        for (inner, gap) in (1..5).flat_map(|inner| (1..5).map(move |gap| (inner, gap))) {
            let far = gap * (inner - 1);
            let outer = (1..5).flat_map(|outer| [1, 2, 4].map(|more| (outer, far + more)));
            shapes.extend(outer.map(|outer| [outer, (inner, gap)]));
        }
        let (mut counts, mut threes) = ([0; 2], 0);
        for (number, a) in shapes.iter().enumerate() {
            for b in shapes.iter().skip(number % 3).step_by(3) {
                for by in 0..9 {
                    let mut parts = vec![part(by, b), part(3, a)];
                    assert_eq!(check(&parts).is_err(), twice(&parts), "{parts:?}");
                    counts[usize::from(twice(&parts))] += 1;
                    parts.push(part(by + a[0].1, b));
                    assert_eq!(check(&parts).is_err(), twice(&parts), "{parts:?}");
                    threes += u32::from(!twice(&parts));
                }
            }
        }
        assert!(counts[0] > 10_000 && counts[1] > 10_000 && threes > 1000, "{counts:?} {threes}");
    }

    #[test]
    fn large_parts_are_decided_with_few_comparisons() {
        let rows = 1 << 40;
        let column = |at| part(at, &[(rows, 4096), (16, 1)]);
        let many: Vec<Part> = (0..256).map(|number| column(16 * number)).collect();
        assert_eq!(check(&many), Ok(()));
        let again = [&many[..], &[part(4096 * 17 + 100, &[(rows - 20, 8192)])]].concat();
        assert!(check(&again).unwrap_err().contains("overlap"));
        // The rows of the second part are two digits, and there are fewer.
        let halves = [column(0), part(16, &[(rows / 2, 8192), (2, 4096), (4080, 1)])];
        assert_eq!(check(&halves), Ok(()));
        let fewer = [column(0), part(4096 + 16, &[(rows - 1, 4096), (4080, 1)])];
        assert_eq!(check(&fewer), Ok(()));
        // More comparisons than the bound allows are refused.
        let odd = [part(0, &[(rows, 9)]), part(1, &[(rows, 12)])];
        assert!(check(&odd).unwrap_err().contains("do not tell"));
    }

    #[test]
    fn parts_without_elements_and_single_elements_are_apart() {
        let parts = [part(0, &[(4, 2), (0, 1)]), part(0, &[(4, 2)]), part(1, &[]), part(3, &[])];
        assert_eq!(check(&parts), Ok(()));
        assert!(check(&[part(2, &[(4, 2)]), part(8, &[])]).is_err());
        assert!(check(&[part(5, &[]), part(5, &[])]).is_err());
    }
}
