//! [`inverse_assembly`]: the checkpoint from the files of all ranks. Sources are made of the boxes that results hold.
//!
//! Law: each element of a source comes from one box. Every other box with that element is compared with it.

use std::collections::{BTreeMap, HashMap};

use tilewright_files::Input;
use tilewright_learn::{Error, Learned, MapDigit};
use tilewright_recipe::{Assembly, Digit, Equal, Made, Origin as From, Part};

use super::assembly::{MOST_PARTS, Moved, checked, digits, is_widened, moves, of_rank, ranks};

/// Returns what the checkpoint is made of: the tensors of the files of all ranks, whose names in `input` begin with `rank0/` and so on
/// if there are several. Copies must be equal; the conversion checks this. Sources that nothing holds are left out.
///
/// # Errors
/// Those of [`assemblies`](super::assemblies); [mismatch](Error::is_mismatch) for a source of which a part is lost.
///
/// ```
/// use tilewright::{files::{Reading, open}, learn::{Learned, inverse_assembly}};
/// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let nothing = Learned { sources: vec![], results: vec![] };
/// assert!(inverse_assembly(&nothing, &open(model, &Reading::default())?)?.made.is_empty());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn inverse_assembly(learned: &Learned, input: &Input) -> Result<Assembly, Error> {
    let names: HashMap<&str, usize> =
        input.tensors().iter().enumerate().map(|(place, it)| (it.name(), place)).collect();
    let count = ranks(learned);
    let tensors = input.tensors().iter().map(|tensor| tensor.name().to_owned()).collect();
    let mut back = Back::new(learned, tensors);
    let mut boxes: Vec<Vec<(usize, Moved)>> = vec![Vec::new(); learned.sources.len()];
    for rank in 0..count {
        for result in of_rank(learned, rank) {
            checked(learned, result.learnt)?;
            let name = match count {
                1 => result.name.to_owned(),
                _ => format!("rank{rank}/{}", result.name),
            };
            let found = names.get(&*name).map(|place| (*place, &input.tensors()[*place]));
            let (place, tensor) = found.ok_or_else(|| {
                Error::mismatch(format!("{} lacks {name}", input.path().display()))
            })?;
            if tensor.dims() != result.extents || tensor.dtype() != result.learnt.tensor.dtype {
                let (dims, own) = (tensor.dims(), result.extents);
                let said = format!("{name} is {}{dims:?}, and {own:?} was learned", tensor.dtype());
                return Err(Error::mismatch(said));
            }
            let widened = is_widened(result.learnt);
            for mut moved in moves(&result)? {
                if widened {
                    moved.halve();
                }
                boxes[moved.source].push((place, moved));
            }
        }
    }
    // Each source has its bits of held elements alone, so they are those of the largest one at most.
    for (source, boxes) in boxes.into_iter().enumerate() {
        back.held = vec![0; back.missing[source].div_ceil(64) as usize];
        boxes.into_iter().try_for_each(|(place, moved)| back.add(place, moved))?;
    }
    back.assembly(learned)
}

/// A box of one tensor of the source in one tensor of a result: the start, and the digits by their steps in the source.
type Seen = (usize, i64, Vec<(u64, i64)>);

/// The parts of the sources that results give back.
struct Back {
    /// The names of the tensors of the files.
    names: Vec<String>,
    parts: Vec<Vec<Part>>,
    /// The boxes of the parts, with the tensors that have them.
    holders: Vec<Vec<(usize, Moved)>>,
    /// A bit for each element of the source that is at work.
    held: Vec<u64>,
    missing: Vec<u64>,
    first: BTreeMap<Seen, (usize, Moved)>,
    equal: Vec<Equal>,
}

impl Back {
    fn new(learned: &Learned, names: Vec<String>) -> Back {
        let sizes: Vec<u64> =
            learned.sources.iter().map(|source| source.extents.iter().product()).collect();
        Back {
            names,
            parts: vec![Vec::new(); sizes.len()],
            holders: vec![Vec::new(); sizes.len()],
            held: Vec::new(),
            missing: sizes,
            first: BTreeMap::new(),
            equal: Vec::new(),
        }
    }

    /// Adds a box of the tensor at `place` of the files. Elements that another box gives are compared.
    fn add(&mut self, place: usize, moved: Moved) -> Result<(), Error> {
        let mut steps: Vec<(u64, i64)> =
            moved.digits.iter().map(|digit| (digit.extent, digit.source)).collect();
        steps.sort_unstable();
        let seen = (moved.source, moved.offset, steps);
        if let Some((of, first)) = self.first.get(&seen) {
            let (of, at, digits) = (*of, first.at, paired(first, &moved));
            return self.equal((of, at), (place, moved.at), digits);
        }
        self.first.insert(seen, (place, moved.clone()));
        self.take(place, moved)
    }

    /// Takes the elements of a box that no other gave, and compares the rest.
    fn take(&mut self, place: usize, mut moved: Moved) -> Result<(), Error> {
        moved.digits.retain(|digit| digit.extent > 1);
        if moved.digits.iter().any(|digit| digit.source == 0) {
            // One of equal elements is taken; then all are held.
            let mut once = moved.clone();
            once.digits.retain(|digit| digit.source != 0);
            self.take(place, once)?;
            return self.compare(place, moved);
        }
        let (mut new, mut old) = (0u64, 0u64);
        let held = &self.held;
        moved.each(&mut |element, _| {
            let element = element as usize;
            match held[element / 64] >> (element % 64) & 1 {
                0 => new += 1,
                _ => old += 1,
            }
        });
        match (new, old) {
            (0, _) => self.compare(place, moved),
            (_, 0) if moved.is_nested() => self.hold(place, moved),
            (_, _) => {
                let widest = (0..moved.digits.len()).max_by_key(|k| moved.digits[*k].source);
                let widest =
                    widest.ok_or_else(|| Error::new("internal", "a box of one element"))?;
                moved.split(widest).try_for_each(|one| self.take(place, one))
            }
        }
    }

    /// Makes a box a part: none of its elements is held.
    fn hold(&mut self, place: usize, moved: Moved) -> Result<(), Error> {
        let held = &mut self.held;
        moved.each(&mut |element, _| held[element as usize / 64] |= 1 << (element % 64));
        self.missing[moved.source] -= moved.elements() as u64;
        let origin = From::Source { tensor: place, offset: moved.at as u64 };
        let part = Part { origin, offset: moved.offset as u64, digits: digits(&moved, true) };
        self.parts[moved.source].push(part);
        self.holders[moved.source].push((place, moved.clone()));
        match self.parts[moved.source].len() > MOST_PARTS {
            true => Err(Error::unsupported(format!("a tensor of more than {MOST_PARTS} parts"))),
            false => Ok(()),
        }
    }

    /// Compares a box, all of whose elements are held, with the parts that hold them.
    fn compare(&mut self, place: usize, moved: Moved) -> Result<(), Error> {
        let holders = self.holders[moved.source].iter();
        let within = |(of, holder): &(usize, Moved)| {
            let coordinates = holder.coordinates(moved.offset)?;
            Some((*of, holder.clone(), coordinates))
        };
        let (of, holder, coordinates) = { holders }
            .find_map(within)
            .ok_or_else(|| Error::new("internal", "no part holds a held element"))?;
        let mut cut = moved;
        cut.digits = cut.digits.iter().flat_map(|digit| holder.cut(*digit, &coordinates)).collect();
        match holder.aligned(&cut, &coordinates) {
            Ok((at, digits)) => self.equal((of, at), (place, cut.at), digits),
            Err(digit) => cut.split(digit).try_for_each(|one| self.compare(place, one)),
        }
    }

    /// Adds a comparison of two boxes, each with its tensor and its first place.
    fn equal(
        &mut self,
        first: (usize, i64),
        second: (usize, i64),
        digits: Vec<Digit>,
    ) -> Result<(), Error> {
        if self.equal.len() >= MOST_PARTS {
            let [one, other] = [first.0, second.0].map(|tensor| &self.names[tensor]);
            let said = format!(
                "{one} and {other} have copies in more than {MOST_PARTS} boxes; they cannot be compared"
            );
            return Err(Error::unsupported(said));
        }
        let of = |(tensor, at): (usize, i64)| From::Source { tensor, offset: at as u64 };
        let (first, second) = (of(first), of(second));
        let why = "copies of one element of the checkpoint".into();
        self.equal.push(Equal { first, second, digits, why });
        Ok(())
    }

    fn assembly(self, learned: &Learned) -> Result<Assembly, Error> {
        let mut made = Vec::new();
        for ((source, mut parts), missing) in
            learned.sources.iter().zip(self.parts).zip(&self.missing)
        {
            let size: u64 = source.extents.iter().product();
            if *missing == size && size > 0 {
                continue;
            }
            if *missing > 0 {
                let name = &source.name;
                let said = format!("{missing} of {size} elements of {name} are in no file");
                return Err(Error::mismatch(said));
            }
            parts.sort_by_key(|part| part.offset);
            let (name, dtype, extents) =
                (source.name.clone(), source.dtype, source.extents.clone());
            made.push(Made { name, dtype, extents, layout: None, parts });
        }
        Ok(Assembly { made, equal: self.equal, ..Assembly::default() })
    }
}

/// A box as the holder of elements: its digits are nested, so an element has one place.
impl Moved {
    /// Returns whether each step in the source is larger than all smaller digits reach.
    fn is_nested(&self) -> bool {
        let mut reach = 0;
        self.by_step().into_iter().rev().all(|k| {
            let digit = &self.digits[k];
            let is_larger = digit.source > reach;
            reach += (digit.extent as i64 - 1) * digit.source;
            is_larger
        })
    }

    /// Returns the numbers of the digits, the largest step in the source first.
    fn by_step(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.digits.len()).collect();
        order.sort_by_key(|k| std::cmp::Reverse(self.digits[*k].source));
        order
    }

    /// Returns the values of the digits at an element; `None` if the box has it not.
    fn coordinates(&self, element: i64) -> Option<Vec<i64>> {
        let mut rest = element - self.offset;
        let mut found = vec![0; self.digits.len()];
        if rest < 0 {
            return None;
        }
        for k in self.by_step() {
            let digit = &self.digits[k];
            found[k] = rest / digit.source;
            rest -= found[k] * digit.source;
            if found[k] >= digit.extent as i64 {
                return None;
            }
        }
        (rest == 0).then_some(found)
    }

    /// Returns the digit whose step divides a step, and how many of its steps that is; the largest one first.
    fn steps(&self, step: i64) -> Option<(usize, i64)> {
        let divides = |k: &usize| step % self.digits[*k].source == 0;
        let found = self.by_step().into_iter().find(divides)?;
        let count = step / self.digits[found].source;
        (count < self.digits[found].extent as i64).then_some((found, count))
    }

    /// Returns a digit of another box in digits of which each stays within one digit of this box, where extents allow it.
    fn cut(&self, mut digit: MapDigit, coordinates: &[i64]) -> Vec<MapDigit> {
        let mut made = Vec::new();
        while digit.source > 0
            && let Some((k, count)) = self.steps(digit.source)
        {
            let (own, count) = (self.digits[k].extent, count as u64);
            let inner = own / count;
            let crosses = digit.extent * count > own && own % count == 0 && coordinates[k] == 0;
            if !crosses || inner < 2 || !digit.extent.is_multiple_of(inner) {
                break;
            }
            made.push(MapDigit { extent: inner, ..digit });
            digit.extent /= inner;
            digit.source *= inner as i64;
            digit.result *= inner as i64;
        }
        made.push(digit);
        made
    }

    /// Returns the first place in this box of another, and their digits; else a digit to split the other at.
    fn aligned(&self, other: &Moved, coordinates: &[i64]) -> Result<(i64, Vec<Digit>), usize> {
        let mut last = coordinates.to_vec();
        let mut digits = Vec::new();
        for (number, digit) in other.digits.iter().enumerate() {
            let (mut step, within) = (0, digit.source == 0 || digit.extent == 1);
            if !within {
                let (k, count) = self.steps(digit.source).ok_or(number)?;
                last[k] += count * (digit.extent as i64 - 1);
                if last[k] >= self.digits[k].extent as i64 {
                    return Err(number);
                }
                step = count * self.digits[k].result;
            }
            let (source, made) = (step as u64, digit.result as u64);
            digits.push(Digit { extent: digit.extent, source, made });
        }
        let steps = self.digits.iter().zip(coordinates).map(|(digit, x)| digit.result * x);
        Ok((self.at + steps.sum::<i64>(), digits))
    }
}

/// Returns the digits of two boxes with the same elements: the steps in the first and in the second result.
fn paired(first: &Moved, second: &Moved) -> Vec<Digit> {
    let sorted = |moved: &Moved| {
        let mut digits = moved.digits.clone();
        digits.sort_by_key(|digit| (digit.extent, digit.source));
        digits
    };
    let both = sorted(first).into_iter().zip(sorted(second));
    let pair = |(a, b): (MapDigit, MapDigit)| Digit {
        extent: a.extent,
        source: a.result as u64,
        made: b.result as u64,
    };
    both.map(pair).collect()
}
