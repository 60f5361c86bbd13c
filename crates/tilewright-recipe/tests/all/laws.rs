//! The law of a rule: an element of a source goes to the element of a destination with the same term at the same digits.
//!
//! The reference knows nothing of strides or solvers: a tree of axes lists the digits of its elements one by one.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tilewright_core::Dtype;
use tilewright_recipe::{Assembly, Errors, Recipe, Sizes, Tensor, kind};

use crate::{
    corpus::heads,
    interpreter::{Array, run, uses},
};

/// Products and sums of axes, by definition.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Axis(String),
    Product(Vec<Tree>),
    Sum(Vec<Tree>),
}

/// The digits of an element, by axis.
type Digits = BTreeMap<String, u64>;

fn base(axis: &str) -> String {
    axis.trim_end_matches('\'').to_owned()
}

impl Tree {
    /// The digits of its elements, in order.
    fn elements(&self, sizes: &Sizes) -> Vec<Digits> {
        match self {
            Tree::Axis(axis) => {
                (0..sizes[&base(axis)]).map(|at| Digits::from([(axis.clone(), at)])).collect()
            }
            Tree::Product(parts) => product(parts, sizes),
            Tree::Sum(parts) => parts.iter().flat_map(|part| part.elements(sizes)).collect(),
        }
    }

    /// The axes of its terms, with those that stand twice.
    fn terms(&self) -> Vec<Vec<String>> {
        match self {
            Tree::Axis(axis) => vec![vec![axis.clone()]],
            Tree::Product(parts) => parts.iter().fold(vec![Vec::new()], |all, part| {
                let terms = part.terms();
                all.iter()
                    .flat_map(|one| terms.iter().map(|more| [&one[..], more].concat()))
                    .collect()
            }),
            Tree::Sum(parts) => parts.iter().flat_map(Tree::terms).collect(),
        }
    }

    fn text(&self) -> String {
        let joined =
            |parts: &[Tree], by: &str| parts.iter().map(Tree::text).collect::<Vec<_>>().join(by);
        match self {
            Tree::Axis(axis) => axis.clone(),
            Tree::Product(parts) => format!("({})", joined(parts, " ")),
            Tree::Sum(parts) => format!("({})", joined(parts, " + ")),
        }
    }
}

/// The digits of the elements of a product: the last part fastest.
fn product(parts: &[Tree], sizes: &Sizes) -> Vec<Digits> {
    parts.iter().fold(vec![Digits::new()], |all, part| {
        let elements = part.elements(sizes);
        let with = |one: &Digits, more: &Digits| {
            one.iter().chain(more).map(|(axis, at)| (axis.clone(), *at)).collect()
        };
        all.iter()
            .flat_map(|one| elements.iter().map(move |more| with(one, more)))
            .collect::<Vec<Digits>>()
    })
}

/// A tensor of a rule: numbers in its name, and its dims.
#[derive(Clone, Debug)]
struct Shape {
    name: String,
    /// Each with what is added to it, and the figures it has at least.
    numbers: Vec<(Tree, u64, usize)>,
    dims: Vec<Tree>,
}

impl Shape {
    fn text(&self) -> String {
        let mut text = self.name.clone();
        for (tree, offset, width) in &self.numbers {
            let offset = if *offset > 0 { format!("+{offset}") } else { String::new() };
            let width = if *width > 0 { format!(":0{width}") } else { String::new() };
            text += &format!(".{{{}{offset}{width}}}", tree.text());
        }
        let dims: Vec<String> = self.dims.iter().map(Tree::text).collect();
        format!("{text} : {}", dims.join(" "))
    }

    /// Its tensors: names with the digits of their elements.
    fn tensors(&self, sizes: &Sizes) -> Vec<(Tensor, Vec<Digits>)> {
        let mut names = vec![(self.name.clone(), Digits::new())];
        for (tree, offset, width) in &self.numbers {
            let elements = tree.elements(sizes);
            let with = |(name, digits): &(String, Digits)| {
                let numbered = |(at, more): (usize, &Digits)| {
                    let number = at as u64 + offset;
                    (
                        format!("{name}.{number:0width$}"),
                        digits.iter().chain(more).map(|(a, b)| (a.clone(), *b)).collect(),
                    )
                };
                elements.iter().enumerate().map(numbered).collect::<Vec<(String, Digits)>>()
            };
            names = names.iter().flat_map(with).collect();
        }
        let extents: Vec<u64> =
            self.dims.iter().map(|dim| dim.elements(sizes).len() as u64).collect();
        let inside = product(&self.dims, sizes);
        let tensor = |(name, digits): (String, Digits)| {
            let all = inside
                .iter()
                .map(|more| digits.iter().chain(more).map(|(a, b)| (a.clone(), *b)).collect());
            (Tensor::new(name, Dtype::U32, extents.clone()), all.collect())
        };
        names.into_iter().map(tensor).collect()
    }
}

/// A rule with the sizes of all its axes.
#[derive(Clone, Debug)]
struct Case {
    from: Vec<Shape>,
    to: Vec<Shape>,
    sizes: Sizes,
    copies: Vec<String>,
}

impl Case {
    fn text(&self) -> String {
        let list = |shapes: &[Shape]| {
            shapes.iter().map(|shape| format!("{:?}", shape.text())).collect::<Vec<_>>().join(", ")
        };
        let copies =
            self.copies.iter().map(|axis| format!("{axis:?}")).collect::<Vec<_>>().join(", ");
        format!(
            "[[map]]\nfrom = [{}]\nto = [{}]\ncopies = [{copies}]",
            list(&self.from),
            list(&self.to)
        )
    }

    /// The value of an element: the same where the axes and the digits are, whatever the copy; 0 for padding.
    fn value(&self, digits: &Digits, values: &mut BTreeMap<Digits, u32>) -> u32 {
        if digits.keys().any(|axis| axis.starts_with('~')) {
            return 0;
        }
        let mut digits = digits.clone();
        digits.retain(|axis, _| !self.copies.contains(axis));
        let next = values.len() as u32 + 1;
        *values.entry(digits).or_insert(next)
    }

    /// The arrays of a side, by name.
    fn arrays(
        &self,
        shapes: &[Shape],
        values: &mut BTreeMap<Digits, u32>,
    ) -> BTreeMap<String, Array> {
        let mut arrays = BTreeMap::new();
        for (tensor, digits) in shapes.iter().flat_map(|shape| shape.tensors(&self.sizes)) {
            let bytes =
                digits.iter().flat_map(|digits| self.value(digits, values).to_le_bytes()).collect();
            assert!(arrays.insert(tensor.name.clone(), (tensor, bytes)).is_none());
        }
        arrays
    }

    /// Checks both directions, with all sizes given and with none.
    fn check(&self) {
        let mut values = BTreeMap::new();
        let (from, to) = (self.arrays(&self.from, &mut values), self.arrays(&self.to, &mut values));
        let recipe = Recipe::parse(&self.text())
            .unwrap_or_else(|errors| panic!("{}\n{errors}", self.text()));
        let back = recipe.inverse();
        assert_eq!(back.inverse(), recipe);
        for (recipe, sources, expected) in [(&recipe, &from, &to), (&back, &to, &from)] {
            let sources: Vec<Array> = sources.values().cloned().collect();
            let assembly = recipe.solve(&heads(&sources), None, &self.sizes);
            let assembly =
                assembly.unwrap_or_else(|errors| panic!("{recipe}\n{:?}\n{errors}", self.sizes));
            assert_eq!(&run(&assembly, &sources).unwrap(), expected, "{recipe}\n{:?}", self.sizes);
            every_element_counts(&assembly, &sources, expected);
            let pads = recipe.to_toml().contains('~');
            if self.copies.is_empty() && !pads {
                assert!(
                    uses(&assembly, &heads(&sources)).iter().flatten().all(|uses| *uses == 1),
                    "{recipe}"
                );
            }
            // What follows without sizes is the same.
            match recipe.solve(&heads(&sources), None, &Sizes::new()) {
                Ok(solved) => assert_eq!(
                    (solved.made, solved.equal),
                    (assembly.made.clone(), assembly.equal.clone())
                ),
                Err(errors) => assert!(
                    errors.iter().all(|error| error.kind() == kind::UNSOLVED),
                    "{recipe}\n{errors}"
                ),
            }
            // The recipe back that the metadata holds needs nothing.
            let recorded =
                Recipe::parse(&assembly.metadata[0].1).unwrap_or_else(|errors| panic!("{errors}"));
            let made: Vec<Array> = expected.values().cloned().collect();
            let again = recorded.solve(&heads(&made), None, &Sizes::new());
            let again = again.unwrap_or_else(|errors| panic!("{recorded}\n{errors}"));
            let again = run(&again, &made).unwrap();
            assert_eq!(again.into_values().collect::<Vec<_>>(), sources, "{recorded}");
        }
    }
}

/// Where an element of a source is another one, the result is, or what must be equal is not.
fn every_element_counts(
    assembly: &Assembly,
    sources: &[Array],
    expected: &BTreeMap<String, Array>,
) {
    let elements = sources
        .iter()
        .enumerate()
        .flat_map(|(at, (_, bytes))| (0..bytes.len() / 4).map(move |element| (at, element)));
    let elements: Vec<(usize, usize)> = elements.collect();
    for (tensor, element) in elements.iter().copied().step_by(1 + elements.len() / 16) {
        let mut changed = sources.to_vec();
        changed[tensor].1[element * 4] ^= 0x80;
        let result = run(assembly, &changed);
        assert!(
            result.as_ref() != Ok(expected),
            "element {element} of {}: {assembly:?}",
            sources[tensor].0.name
        );
    }
}

/// All trees that use exactly these axes from left to right, as products and sums.
fn trees(axes: &[&str]) -> Vec<Tree> {
    if let [axis] = axes {
        return vec![Tree::Axis((*axis).to_owned())];
    }
    let mut all = Vec::new();
    for parts in cuts(axes).into_iter().filter(|parts| parts.len() > 1) {
        for choice in choices(&parts) {
            all.push(Tree::Product(choice.clone()));
            all.push(Tree::Sum(choice));
        }
    }
    all
}

/// All ways to cut a list into parts.
fn cuts<'a, 'b>(axes: &'b [&'a str]) -> Vec<Vec<&'b [&'a str]>> {
    if axes.is_empty() {
        return vec![Vec::new()];
    }
    let with = |first: usize| {
        cuts(&axes[first..]).into_iter().map(move |rest| [vec![&axes[..first]], rest].concat())
    };
    (1..=axes.len()).flat_map(with).collect()
}

/// A tree for each part, in all ways.
fn choices(parts: &[&[&str]]) -> Vec<Vec<Tree>> {
    parts.iter().fold(vec![Vec::new()], |all, part| {
        let trees = trees(part);
        all.iter()
            .flat_map(|one: &Vec<Tree>| {
                trees.iter().map(|tree| [&one[..], std::slice::from_ref(tree)].concat())
            })
            .collect()
    })
}

/// The terms as sets; none if an axis stands twice in one, or one stands twice.
fn polynomial(dims: &[Tree]) -> Option<BTreeSet<BTreeSet<String>>> {
    let terms = Tree::Product(dims.to_vec()).terms();
    let sets: BTreeSet<BTreeSet<String>> =
        terms.iter().map(|term| term.iter().cloned().collect()).collect();
    let single = terms.iter().all(|term| term.iter().collect::<BTreeSet<_>>().len() == term.len());
    (single && sets.len() == terms.len()).then_some(sets)
}

#[test]
fn all_small_expressions_are_one_map_exactly_where_their_polynomials_are_equal() {
    let sizes = Sizes::from([("a".into(), 2), ("b".into(), 3), ("c".into(), 2), ("d".into(), 1)]);
    let mut all: Vec<Vec<Tree>> = Vec::new();
    let orders: [&[&str]; 13] = [
        &["a"],
        &["a", "b"],
        &["b", "a"],
        &["a", "b", "c"],
        &["a", "c", "b"],
        &["b", "a", "c"],
        &["b", "c", "a"],
        &["c", "a", "b"],
        &["c", "b", "a"],
        &["a", "a"],
        &["a", "b", "a", "c"],
        &["b", "a", "c", "a"],
        &["a", "d", "c"],
    ];
    for order in orders.into_iter().step_by(tilewright_testing::cases(1, 2)) {
        all.extend(cuts(order).iter().flat_map(|parts| choices(parts)));
    }
    let (mut legal, mut refused) = (0, 0);
    for from in &all {
        for to in &all {
            let shape = |name: &str, dims: &[Tree]| Shape {
                name: name.into(),
                numbers: Vec::new(),
                dims: dims.to_vec(),
            };
            let case = Case {
                from: vec![shape("from", from)],
                to: vec![shape("to", to)],
                sizes: sizes.clone(),
                copies: Vec::new(),
            };
            match (polynomial(from), polynomial(to)) {
                (Some(one), Some(two)) if one == two => {
                    let has = |axis: &String| one.iter().flatten().any(|other| other == axis);
                    let mut case = case;
                    case.sizes.retain(|axis, _| has(axis));
                    case.check();
                    legal += 1;
                }
                _ if refused % 7 != 0 => refused += 1,
                _ => {
                    let errors: Errors = Recipe::parse(&case.text()).unwrap_err();
                    assert_eq!(errors.first().kind(), kind::TERMS, "{}", case.text());
                    refused += 1;
                }
            }
        }
    }
    println!("{legal} legal, {refused} refused");
    let least = tilewright_testing::cases((500, 5000), (60, 1000));
    assert!(legal > least.0 && refused > least.1, "{legal} {refused}");
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at as u64 + 1) as usize);
        }
    }

    /// Factors put together in brackets here and there.
    fn bracketed(&mut self, factors: Vec<Tree>) -> Vec<Tree> {
        let mut all: Vec<Tree> = Vec::new();
        for factor in factors {
            match all.last_mut() {
                Some(Tree::Product(parts)) if self.below(3) == 0 => parts.push(factor),
                Some(last) if self.below(3) == 0 => {
                    *last = Tree::Product(vec![last.clone(), factor])
                }
                Some(_) | None => all.push(factor),
            }
        }
        all
    }

    /// A product that says the sum of some terms.
    fn factors(&mut self, terms: &[BTreeSet<String>]) -> Vec<Tree> {
        let common = terms
            .iter()
            .skip(1)
            .fold(terms[0].clone(), |all, term| all.intersection(term).cloned().collect());
        let alone = terms.len() == 1;
        let outside: BTreeSet<String> =
            common.into_iter().filter(|_| alone || self.below(3) > 0).collect();
        let mut factors: Vec<Tree> = outside.iter().cloned().map(Tree::Axis).collect();
        if !alone {
            let mut left: Vec<BTreeSet<String>> =
                terms.iter().map(|term| term.difference(&outside).cloned().collect()).collect();
            self.shuffle(&mut left);
            let mut parts = Vec::new();
            while !left.is_empty() {
                let most =
                    left.len().min(if parts.is_empty() { terms.len() - 1 } else { terms.len() });
                let rest = left.split_off(1 + self.below(most as u64) as usize);
                let mut inside = self.factors(&left);
                parts.push(if inside.len() == 1 {
                    inside.remove(0)
                } else {
                    Tree::Product(inside)
                });
                left = rest;
            }
            factors.push(Tree::Sum(parts));
        }
        self.shuffle(&mut factors);
        self.bracketed(factors)
    }

    /// Tensors that hold some terms together; of the terms of each, `named` may stand in names.
    fn shapes(
        &mut self,
        name: &str,
        terms: &[BTreeSet<String>],
        padding: &mut Option<String>,
    ) -> Vec<Shape> {
        let mut left = terms.to_vec();
        self.shuffle(&mut left);
        let mut shapes = Vec::new();
        while !left.is_empty() {
            let rest = left.split_off(1 + self.below(left.len() as u64) as usize);
            let mut factors = self.factors(&left);
            let mut numbers = Vec::new();
            for _ in 0..self.below(3).min(factors.len() as u64) {
                let at = self.below(factors.len() as u64) as usize;
                numbers.push((
                    factors.remove(at),
                    [0, 0, 3][self.below(3) as usize],
                    [0, 0, 2][self.below(3) as usize],
                ));
            }
            if let Some(axis) = padding.take_if(|_| !factors.is_empty()) {
                let at = self.below(factors.len() as u64) as usize;
                factors[at] = Tree::Sum(vec![factors[at].clone(), Tree::Axis(axis)]);
            }
            shapes.push(Shape { name: format!("{name}{}", shapes.len()), numbers, dims: factors });
            left = rest;
        }
        shapes
    }

    fn case(&mut self) -> Case {
        let names = ["a", "b", "c", "d", "d'", "e", "e'"];
        let mut sizes: Sizes = names.iter().map(|name| (base(name), 1 + self.below(3))).collect();
        let mut terms: BTreeSet<BTreeSet<String>> = BTreeSet::new();
        for _ in 0..=self.below(4) {
            let some = |name: &&&str| (**name).to_owned();
            let chosen: Vec<bool> = names.iter().map(|_| self.below(2) == 0).collect();
            terms.insert(
                names
                    .iter()
                    .zip(chosen)
                    .filter(|(_, chosen)| *chosen)
                    .map(|(name, _)| some(&name))
                    .collect(),
            );
        }
        let terms: Vec<BTreeSet<String>> = terms.into_iter().collect();
        let from = self.shapes("from", &terms, &mut None);
        let mut padding = (self.below(4) == 0).then(|| "~p".to_owned());
        let mut to = self.shapes("to", &terms, &mut padding);
        sizes.insert("~p".into(), self.below(3));
        let mut copies = Vec::new();
        if self.below(4) == 0 {
            let axis = Tree::Axis("k".into());
            let at = self.below(to.len() as u64) as usize;
            match self.below(2) {
                0 => to[at].numbers.push((axis, 0, 0)),
                _ => {
                    let place = self.below(to[at].dims.len() as u64 + 1) as usize;
                    to[at].dims.insert(place, axis);
                }
            }
            sizes.insert("k".into(), 1 + self.below(3));
            copies.push("k".into());
        }
        let has = |axis: &str| {
            from.iter().chain(&to).any(|shape| {
                let numbers = shape.numbers.iter().map(|(tree, ..)| tree);
                numbers
                    .chain(&shape.dims)
                    .any(|tree| tree.terms().iter().flatten().any(|one| base(one) == axis))
            })
        };
        sizes.retain(|axis, _| has(axis));
        Case { from, to, sizes, copies }
    }
}

/// Whether an axis that numbers instances lends its size to another axis, which has none then.
fn lends(case: &Case) -> bool {
    let alone = |shape: &Shape| -> BTreeSet<String> {
        let axis = |(tree, ..): &(Tree, u64, usize)| match tree {
            Tree::Axis(axis) => Some(axis.clone()),
            Tree::Product(_) | Tree::Sum(_) => None,
        };
        shape.numbers.iter().filter_map(axis).collect()
    };
    let shapes: Vec<&Shape> = case.from.iter().chain(&case.to).collect();
    let keys = shapes
        .iter()
        .map(|shape| alone(shape))
        .reduce(|one, two| one.intersection(&two).cloned().collect());
    let keys = keys.unwrap_or_default();
    let axes = shapes
        .iter()
        .flat_map(|shape| shape.numbers.iter().map(|(tree, ..)| tree).chain(&shape.dims));
    let axes: BTreeSet<String> = axes.flat_map(Tree::terms).flatten().collect();
    axes.iter().any(|axis| !keys.contains(axis) && keys.iter().any(|key| base(key) == base(axis)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tilewright_testing::cases(1500, 150), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_rules_move_every_element_where_its_digits_are(seed in 1u64..) {
        let case = Random(seed).case();
        // An axis that numbers instances has no size of its own.
        prop_assume!(!lends(&case));
        case.check();
    }
}
