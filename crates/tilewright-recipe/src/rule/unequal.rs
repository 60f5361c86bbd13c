//! Pieces of unequal extents: an axis whose size differs with a number in names.
//!
//! `t.{s} : n d` becomes `t : (s n) d` with `unequal = { n = "s" }`: the pieces come one after the other, the piece `s` with
//! `n_s` rows. When the recipe is solved, the rule is written out, with an axis `n_0`, `n_1`, … for each piece.
//!
//! Law: the rule written out is the rule that a person would write by hand, piece by piece.

use std::collections::BTreeSet;

use crate::{
    error::Error,
    kind,
    rule::{
        Reference, Rule, SideTerms,
        expression::{Axis, MOST_TERMS, Node, Sizes},
        name::{NamePiece, Offset},
    },
    tensor::Tensor,
    value::quantity::Quantity,
};

/// The sizes of an axis that differ with a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unequal {
    /// The axis that numbers the pieces.
    pub(crate) by: String,
    /// The sizes, where they are stated; those of separate pieces follow from the shapes.
    pub(crate) sizes: Vec<u64>,
}

/// The name of the axis of one piece.
pub(crate) fn of_piece(axis: &str, number: usize) -> String {
    format!("{axis}_{number}")
}

/// Returns what is wrong with the unequal axes of a rule.
pub(crate) fn fault(rule: &Rule) -> Option<Error> {
    let axes: BTreeSet<String> =
        rule.references().flat_map(Reference::axes).map(ToString::to_string).collect();
    for (axis, unequal) in &rule.unequal {
        let by = &unequal.by;
        let says = if unequal.sizes.len() > MOST_TERMS {
            format!("`unequal` lists more than {MOST_TERMS} pieces")
        } else if !axes.contains(axis) || !axes.contains(by) || axis == by {
            format!("`unequal` names `{axis}` and `{by}`, which must be two axes of the rule")
        } else if rule.unequal.values().any(|other| other.by == *axis) {
            format!("`{axis}` is unequal and numbers pieces; one axis cannot do both")
        } else if rule.keys().contains(&Axis::new(by)) {
            format!(
                "`{by}` numbers the instances of the rule, where sizes may differ without `unequal`"
            )
        } else if let Some(other) = axes.iter().find(|other| is_taken(axis, by, other)) {
            format!("the axis `{other}` cannot be in a rule with the unequal axis `{axis}`")
        } else if let Some(reference) = rule.references().find(|it| !reads(it, axis, by)) {
            let says = format!(
                "`{axis}` is unequal by `{by}`: each name has `{{{by}}}` and `{axis}` is a separate dim, or the dims have `({by} {axis})`"
            );
            return Some(reference.error(kind::TERMS, says));
        } else {
            continue;
        };
        return Some(rule.error(kind::TERMS, says));
    }
    None
}

/// Returns true if an axis is another form of an unequal one, or has the name of a piece.
fn is_taken(axis: &str, by: &str, other: &str) -> bool {
    let base = other.trim_end_matches('\'');
    let piece = other.strip_prefix(axis).and_then(|rest| rest.strip_prefix('_'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    (other != base && (base == axis || base == by)) || piece.is_some_and(is_number)
}

/// Returns true if a reference has neither axis, or the number in its name and the axis once in its dims, or `(s n)` in its
/// dims.
fn reads(reference: &Reference, axis: &str, by: &str) -> bool {
    let count = |nodes: &mut dyn Iterator<Item = &Node>, one: &str| {
        nodes.flat_map(Node::axes).filter(|it| it.to_string() == one).count()
    };
    let names = || reference.numbers().map(|number| &number.node);
    let named = names().filter(|node| is(node, by)).count();
    let in_dims = |one: &str| count(&mut reference.dims.iter(), one);
    let pairs: usize = reference.dims.iter().map(|dim| runs(dim, by, axis)).sum();
    match (count(&mut names(), by), count(&mut names(), axis), in_dims(by), in_dims(axis)) {
        (0, 0, 0, 0) => true,
        (1, 0, 0, 1) => named == 1,
        (0, 0, 1, 1) => pairs == 1,
        _ => false,
    }
}

fn is(node: &Node, axis: &str) -> bool {
    matches!(node, Node::Axis(own) if own.to_string() == axis)
}

/// The number of products in a node with one axis right before another.
fn runs(node: &Node, first: &str, second: &str) -> usize {
    match node {
        Node::Axis(_) | Node::Rest => 0,
        Node::Sum(parts) => parts.iter().map(|part| runs(part, first, second)).sum(),
        Node::Product(parts) => {
            let here = parts.windows(2).filter(|pair| is(&pair[0], first) && is(&pair[1], second));
            here.count() + parts.iter().map(|part| runs(part, first, second)).sum::<usize>()
        }
    }
}

/// Returns the rule with the pieces of its unequal axes written out, for these tensors.
///
/// # Errors
/// Sizes that neither the names nor the rule state, and more pieces than a rule may have.
pub(crate) fn written_out(rule: &Rule, tensors: &[Tensor], sizes: &Sizes) -> Result<Rule, Error> {
    let mut rule = rule.clone();
    for (axis, unequal) in rule.unequal.clone() {
        let stated = unequal.sizes.len();
        let count = match stated {
            0 => counted(&rule, &unequal.by, tensors, sizes),
            _ => Some(stated),
        };
        let Some(count) = count else {
            let says = format!(
                "the sizes of the pieces of `{axis}` cannot be derived; state them: unequal = {{ {axis} = {{ by = \"{}\", sizes = [...] }} }}",
                unequal.by
            );
            return Err(rule.error(kind::UNSOLVED, says));
        };
        if count > MOST_TERMS {
            let says = format!("`{axis}` has more than {MOST_TERMS} pieces");
            return Err(rule.error(kind::LIMIT, says));
        }
        let pieces = Pieces { axis: &axis, by: &unequal.by, count };
        (rule.from, rule.to) = (pieces.side(&rule.from)?, pieces.side(&rule.to)?);
        rule.varying.remove(&unequal.by);
        let numbered = unequal.sizes.iter().enumerate();
        let stated = numbered.map(|(at, size)| (of_piece(&axis, at), Quantity::Number(*size)));
        rule.sizes.extend(stated);
    }
    Ok(rule)
}

/// The number of pieces by the names of the tensors; none if the source does not have the pieces apart.
fn counted(rule: &Rule, by: &str, tensors: &[Tensor], sizes: &Sizes) -> Option<usize> {
    let mut last = None;
    for reference in &rule.from.references {
        let Some(at) = reference.numbers().position(|number| is(&number.node, by)) else {
            continue;
        };
        last = last.or(Some(0));
        for tensor in tensors {
            if let Ok(Some(read)) = reference.name.read(&tensor.name, sizes) {
                last = last.max(read.numbers.get(at).copied());
            }
        }
    }
    usize::try_from(last?).ok()?.checked_add(1)
}

/// Pieces that are written out.
struct Pieces<'a> {
    axis: &'a str,
    by: &'a str,
    count: usize,
}

impl Pieces<'_> {
    fn side(&self, side: &SideTerms) -> Result<SideTerms, Error> {
        let mut references = Vec::new();
        let mut layout = Vec::new();
        for (at, reference) in side.references.iter().enumerate() {
            let named = reference.numbers().any(|number| is(&number.node, self.by));
            let out = if named { self.named(reference) } else { vec![self.joined(reference)] };
            if side.layout.len() > 1 {
                layout.extend(std::iter::repeat_n(&side.layout[at], out.len()).cloned());
            }
            references.extend(out);
        }
        let layout = if side.layout.len() > 1 { layout } else { side.layout.clone() };
        let terms = |it: &Reference| it.dims.iter().map(Node::count).fold(1, usize::saturating_mul);
        if let Some(many) = references.iter().find(|it| terms(it) > MOST_TERMS) {
            let says = format!("more than {MOST_TERMS} terms when its pieces are written out");
            return Err(many.error(kind::LIMIT, says));
        }
        Ok(SideTerms { references, layout, ..side.clone() })
    }

    /// A reference to each piece.
    fn named(&self, reference: &Reference) -> Vec<Reference> {
        let one = |at: usize| {
            let mut own = reference.clone();
            for piece in &mut own.name.pieces {
                if let NamePiece::Number(number) = piece
                    && is(&number.node, self.by)
                    && let Offset::By(_) = number.offset
                {
                    let text = number.written(at as u64, &Sizes::new()).unwrap_or_default();
                    *piece = NamePiece::Literal(text);
                }
            }
            let replaced = |node: &mut Node| *node = Node::Axis(self.piece(at));
            own.dims.iter_mut().for_each(|dim| visit(dim, &|node| is(node, self.axis), &replaced));
            own
        };
        (0..self.count).map(one).collect()
    }

    /// The reference to the tensor that has all pieces.
    fn joined(&self, reference: &Reference) -> Reference {
        let mut own = reference.clone();
        let is_pair = |node: &Node| match node {
            Node::Product(parts) => {
                parts.windows(2).any(|pair| is(&pair[0], self.by) && is(&pair[1], self.axis))
            }
            Node::Axis(_) | Node::Rest | Node::Sum(_) => false,
        };
        let join = |node: &mut Node| {
            let Node::Product(parts) = node else { return };
            let pieces = (0..self.count).map(|at| Node::Axis(self.piece(at)));
            let Some(at) = parts.iter().position(|part| is(part, self.by)) else { return };
            parts.splice(at..at + 2, [Node::Sum(pieces.collect())]);
            if let [one] = &mut parts[..] {
                *node = one.clone();
            }
        };
        own.dims.iter_mut().for_each(|dim| visit(dim, &is_pair, &join));
        own
    }

    fn piece(&self, number: usize) -> Axis {
        Axis::new(&of_piece(self.axis, number))
    }
}

/// Changes the nodes that are meant; the depth of a node is bounded.
fn visit(node: &mut Node, meant: &dyn Fn(&Node) -> bool, change: &dyn Fn(&mut Node)) {
    if meant(node) {
        return change(node);
    }
    if let Node::Product(parts) | Node::Sum(parts) = node {
        parts.iter_mut().for_each(|part| visit(part, meant, change));
    }
}
