//! Across the notations: 10,000 random layouts in every one, and from each into each other. What is said
//! reads back as the same map; what is refused names the feature.

use std::collections::BTreeMap;

use tilewright_core::{Fill, Layout, Mode, Profile, Swizzle, TensorLayout};
use tilewright_notation::{Error, Notation, ResolvedLayout, Spec, dtype, notations};

const LAYOUTS: u64 = 10_000;

/// A generator of the same numbers on every machine (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn shuffled(&mut self, count: u64) -> Vec<u64> {
        let mut order: Vec<u64> = (0..count).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.below(at as u64 + 1) as usize);
        }
        order
    }

    fn dims(&mut self, most: u64) -> Vec<u64> {
        let rank = self.below(most + 1);
        (0..rank).map(|_| if self.one_in(20) { 0 } else { self.below(9) + 1 }).collect()
    }
}

/// Dense, in any order.
fn dense(random: &mut Random) -> TensorLayout {
    let dims = random.dims(5);
    let order = match random.below(3) {
        0 => (0..dims.len() as u64).rev().collect(),
        1 => (0..dims.len() as u64).collect(),
        _ => random.shuffled(dims.len() as u64),
    };
    TensorLayout::ordered(&dims, &order).unwrap()
}

/// One stride a dim: gaps, broadcasts, turns, an offset.
fn strided(random: &mut Random) -> TensorLayout {
    let dims = random.dims(4);
    let mut stride = 1;
    let mut modes = Vec::new();
    for extent in dims.iter().rev() {
        let sign = if random.one_in(8) { -1 } else { 1 };
        modes.insert(0, Mode::new(*extent, if random.one_in(10) { 0 } else { sign * stride }));
        stride *=
            (*extent).max(1) as i64 + if random.one_in(3) { random.below(4) as i64 } else { 0 };
    }
    let layout = Layout::flat(&modes).unwrap();
    let offset = if random.one_in(3) { random.below(9) as i64 } else { 0 };
    TensorLayout::of(&layout.with_offset(offset).unwrap())
}

/// Any digits in any order, padded to whole digits: a pattern, some of them with tiles in tiles.
fn tiled(random: &mut Random) -> TensorLayout {
    let dims = random.dims(3);
    let mut text = String::new();
    let mut digits = Vec::new();
    for axis in 0..dims.len() {
        let count = random.below(3) + u64::from(random.one_in(2)) + u64::from(axis == 0);
        let names: Vec<String> = (0..=count.min(3))
            .rev()
            .map(|level| format!("{}{level}", ["a", "b", "c"][axis]))
            .collect();
        let sized: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(at, name)| match at {
                0 => name.clone(),
                _ => format!("{name}:{}", random.below(4) + 1),
            })
            .collect();
        text += &format!("({}) ", sized.join(" "));
        digits.extend(names);
    }
    let order: Vec<&str> = random
        .shuffled(digits.len() as u64)
        .iter()
        .map(|&at| digits[at as usize].as_str())
        .collect();
    let spec = Spec::parse(&format!("pattern:{text}-> {}", order.join(" "))).unwrap();
    spec.resolve(Some(&dims), None).unwrap().layout().clone()
}

/// The tilings people use: one tile a dim, its inside stored last.
fn blocked(random: &mut Random) -> TensorLayout {
    let rank = random.below(4) + 1;
    let dims: Vec<u64> = (0..rank).map(|_| random.below(20) + 1).collect();
    let outer: Vec<String> = random.shuffled(rank).iter().map(u64::to_string).collect();
    let inner = random.shuffled(rank);
    let inner = &inner[..random.below(rank + 1) as usize];
    let tiles: Vec<String> = inner.iter().map(|_| (1 << random.below(4)).to_string()).collect();
    let inner: Vec<String> = inner.iter().map(u64::to_string).collect();
    let (outer, inner, tiles) = (outer.join(","), inner.join(","), tiles.join(","));
    let text = format!(
        "linalg.pack outer_dims_perm = [{outer}] inner_dims_pos = [{inner}] inner_tiles = [{tiles}]"
    );
    Spec::parse(&text).unwrap().resolve(Some(&dims), None).unwrap().layout().clone()
}

/// Tiles of XLA's, which may merge dims or not divide one another.
fn stepped(random: &mut Random) -> TensorLayout {
    let dims = [random.below(5) + 1, random.below(6) + 1, random.below(9) + 1];
    let order: Vec<String> = random.shuffled(3).iter().map(u64::to_string).collect();
    let tile = ["T(2,*,4)", "T(3,4)(2,1)", "T(2,2)", "T(4)", "T(2,4)(2,1)", "T(*,3)"]
        [random.below(6) as usize];
    let text = format!("{{{}:{tile}}}", order.join(","));
    Spec::parse(&text).unwrap().resolve(Some(&dims), None).unwrap().layout().clone()
}

/// Any modes, a swizzle now and then, logical dims and a capacity of their own.
fn nested(random: &mut Random) -> TensorLayout {
    let rank = random.below(3) + 1;
    let (mut modes, mut counts) = (Vec::new(), Vec::new());
    for _ in 0..rank {
        let count = random.below(3) + 1;
        counts.push(count as usize);
        modes.extend((0..count).map(|_| Mode::new(random.below(4) + 1, random.below(24) as i64)));
    }
    let profile = Profile::nested(&counts).unwrap();
    let swizzle = match random.one_in(4) {
        true => Swizzle::new(2, random.below(3) as u8, 2).unwrap(),
        false => Swizzle::IDENTITY,
    };
    let layout = Layout::new(&modes, &profile, random.below(3) as i64, swizzle).unwrap();
    let bare = TensorLayout::of(&layout);
    let extents: Vec<u64> = bare.extents().iter().map(|e| e - random.below(2).min(e - 1)).collect();
    let more = if random.one_in(3) { random.below(5) } else { 0 };
    TensorLayout::new(&extents, &layout, bare.capacity() + more).unwrap()
}

fn layout(random: &mut Random) -> TensorLayout {
    match random.below(6) {
        0 => dense(random),
        1 => strided(random),
        2 => tiled(random),
        3 => blocked(random),
        4 => stepped(random),
        _ => nested(random),
    }
}

fn named(random: &mut Random) -> ResolvedLayout {
    let elements =
        ["pred", "s4", "u8", "bf16", "f32", "c128", "f8e4m3fn", "f4e2m1fn", "s64", "f8e3m4"];
    let element = elements.get(random.below(14) as usize).map(|name| dtype(name).unwrap());
    let bits = random.one_in(12).then_some(4);
    ResolvedLayout::new("", layout(random), element, bits, Fill::Unspecified)
}

/// What every refusal names one of.
const FEATURES: &[&str] = &[
    "padding",
    "pads",
    "padded",
    "swizzle",
    "offset",
    "storage",
    "stride",
    "dtype",
    "merge",
    "tile",
    "digits",
    "row-major",
    "capacity",
    "width",
    "dims",
    "no name",
    "cannot name",
    "cannot store",
    "negative",
    "share a place",
    "packed",
    "empty",
    "dense",
    "powers of two",
    "linear over bits",
    "tag has",
    "elements",
    "blocks",
    "remainder",
    "broadcast",
    "strides do not determine a name",
];

fn check_refusal(notation: &Notation, named: &ResolvedLayout, error: &Error) {
    let text = error.to_string();
    assert!(
        error.is_unsupported() || error.is_overflow() || error.is_limit(),
        "{}: {} of {}: {text}",
        error.kind(),
        notation.name(),
        named.to_spec()
    );
    assert!(FEATURES.iter().any(|feature| text.contains(feature)), "{}: {text}", notation.name());
}

/// Whether two layouts of the same array are one map: element by element where these are few, which is
/// quicker than a proof.
fn is_same(one: &TensorLayout, other: &TensorLayout) -> bool {
    let places = |index| one.offset_of(index) == other.offset_of(index);
    one == other
        || match one.size() {
            size @ 0..=1024 => one.extents() == other.extents() && (0..size).all(places),
            _ => one.same_function(other) == Ok(true),
        }
}

/// What the text of a notation means for this array; it must be the same map of the same array.
fn read_back(notation: &Notation, named: &ResolvedLayout, text: &str) -> ResolvedLayout {
    let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}: {}", notation.name(), e.render()));
    let dims = named.layout().extents();
    assert!(spec.fits(dims.len()), "{text}");
    let again = spec.resolve(Some(dims), named.dtype()).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(
        again.layout().capacity(),
        named.layout().capacity(),
        "{text} for {}",
        named.to_spec()
    );
    assert_eq!(again.dtype(), named.dtype(), "{text}");
    assert!(is_same(again.layout(), named.layout()), "{text} for {}", named.to_spec());
    // The canonical text is a fixed point.
    let canonical = spec.to_string();
    assert_eq!(Spec::parse(&canonical).unwrap().to_string(), canonical);
    again
}

#[test]
fn what_translates_translates_back_and_what_does_not_says_why() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut pairs: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for round in 0..tilewright_testing::cases(LAYOUTS, LAYOUTS / 8) {
        let named = named(&mut random);
        let mut said = Vec::new();
        for notation in notations() {
            match notation.print(&named) {
                Ok(text) => said.push((notation.name(), read_back(notation, &named, &text))),
                Err(error) => check_refusal(notation, &named, &error),
            }
        }
        // From one of the notations that said it into every other.
        let (from, middle) = &said[round as usize % said.len()];
        for notation in notations() {
            let direct = said.iter().any(|(name, _)| *name == notation.name());
            match notation.print(middle) {
                Ok(text) => {
                    let _ = read_back(notation, middle, &text);
                    *pairs.entry((from, notation.name())).or_default() += 1;
                }
                Err(error) => {
                    check_refusal(notation, middle, &error);
                    // The text of the first may say less than the layout it was made from: a stored width.
                    let less = middle.element_bits() != named.element_bits();
                    // Tiles for padded storage are searched among the digits as they are spelled.
                    let searched = ["hlo", "jax"].contains(&notation.name());
                    assert!(
                        !direct || less || searched,
                        "{} from {from}: {error}; {}, {}",
                        notation.name(),
                        named.to_spec(),
                        middle.to_spec()
                    );
                }
            }
        }
    }
    let own: Vec<&str> = notations().iter().map(|notation| notation.name()).collect();
    for from in own.iter().filter(|name| **name != "format") {
        for to in own.iter().filter(|name| **name != "format") {
            assert!(pairs.contains_key(&(from, to)), "no layout went from {from} to {to}");
        }
    }
}
