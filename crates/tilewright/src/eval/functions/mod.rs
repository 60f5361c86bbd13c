//! The functions of expressions: a table with name, arguments, description and code. Each file has one group.

mod algebra;
mod arguments;
mod compare;
mod coordinates;
mod linear;
mod observe;
mod structure;
mod tuples;

use std::fmt;

use tilewright_core::IntTuple;

use super::{basis, lexer::shortened, value::Form};
use crate::Error;
pub(super) use algebra::composition;
pub(super) use arguments::{Argument, Call, Refusal};

type Answer = Result<Form, Refusal>;

fn integer(value: i64) -> Answer {
    Ok(Form::Tuple(IntTuple::integer(value)))
}

/// A function of the expression language.
///
/// ```
/// use tilewright::eval::functions;
/// let divide = functions().find(|function| function.name() == "logical_divide").unwrap();
/// assert_eq!(divide.arguments(), "A, B or tiler");
/// assert!(divide.doc().starts_with("A by tiles"));
/// assert!(functions().count() > 50);
/// ```
pub struct Function {
    name: &'static str,
    arguments: &'static str,
    doc: &'static str,
    /// The parameters and the result in Python; empty if Python has a method instead.
    python: &'static str,
    /// The arguments of an example.
    example: &'static str,
    /// The smallest and the largest number of arguments.
    counts: (usize, usize),
    run: fn(&Call<'_>) -> Answer,
}

impl Function {
    /// Returns a function that is called as `call`, such as `complement(L[, n])`. The page prints no list of functions, so
    /// its module leaves out their other texts.
    const fn new(
        call: &'static str,
        doc: &'static str,
        python: &'static str,
        example: &'static str,
        run: fn(&Call<'_>) -> Answer,
    ) -> Function {
        let mut at = 0;
        while call.as_bytes()[at] != b'(' {
            at += 1;
        }
        let (name, rest) = call.split_at(at);
        let arguments = rest.split_at(rest.len() - 1).0.split_at(1).1;
        let [doc, python, example] =
            if cfg!(target_family = "wasm") { [""; 3] } else { [doc, python, example] };
        Function { name, arguments, doc, python, example, counts: counts(arguments), run }
    }

    /// Sets the numbers of arguments, where these have several forms.
    const fn taking(self, least: usize, most: usize) -> Function {
        Function { counts: (least, most), ..self }
    }

    /// The name, which is CuTe's if CuTe has the function.
    ///
    /// ```
    /// use tilewright::eval::functions;
    /// for name in ["coalesce", "composition", "complement", "logical_divide", "zipped_product"] {
    ///     assert!(functions().any(|function| function.name() == name), "{name}");
    /// }
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The arguments in their order; those in brackets are optional.
    ///
    /// ```
    /// use tilewright::eval::functions;
    /// let slice = functions().find(|function| function.name() == "slice").unwrap();
    /// assert_eq!(slice.arguments(), "coord, L");
    /// ```
    pub fn arguments(&self) -> &'static str {
        self.arguments
    }

    /// The description, in a sentence.
    ///
    /// ```
    /// use tilewright::eval::functions;
    /// // A line of help.
    /// let size = functions().find(|function| function.name() == "size").unwrap();
    /// println!("{}({})  {}", size.name(), size.arguments(), size.doc());
    /// assert!(functions().all(|function| !function.doc().is_empty()));
    /// ```
    pub fn doc(&self) -> &'static str {
        self.doc
    }

    /// The parameters and the result as Python declares them; `None` if Python's values have a method instead.
    ///
    /// ```
    /// use tilewright::eval::functions;
    /// let cosize = functions().find(|function| function.name() == "cosize").unwrap();
    /// assert_eq!(cosize.python(), Some("(layout: LayoutLike, /, *path: int) -> int"));
    /// ```
    pub fn python(&self) -> Option<&'static str> {
        Some(self.python).filter(|text| !text.is_empty())
    }

    /// Returns an example: a call that has a value.
    ///
    /// ```
    /// use tilewright::eval::{evaluate, functions};
    /// for function in functions() {
    ///     assert!(evaluate(&function.example()).is_ok(), "{}", function.example());
    /// }
    /// ```
    pub fn example(&self) -> String {
        format!("{}({})", self.name, self.example)
    }

    /// Evaluates a call.
    pub(super) fn call(&self, arguments: &[Argument], span: (usize, usize)) -> Result<Form, Error> {
        let (least, most) = self.counts;
        if arguments.len() < least || arguments.len() > most {
            let plural = if arguments.len() == 1 { "" } else { "s" };
            let (given, name, wanted) = (arguments.len(), self.name, self.arguments);
            let message = format!("{given} argument{plural} for {name}({wanted})");
            return Err(Error::new("arguments", message).at(span));
        }
        basis::by_parts(self.name, arguments, span, self.run)
            .unwrap_or_else(|| (self.run)(&Call::new(self.name, arguments, span)))
            .map_err(|refusal| refusal.at(self.name, span))
    }
}

/// Returns the smallest and the largest number of arguments of a text: `a, b` has two, `L[, n]` one or two, `x, i, …` two
/// or more, and the list `[a,…]` is one.
const fn counts(arguments: &str) -> (usize, usize) {
    let text = arguments.as_bytes();
    let (mut least, mut most) = (!text.is_empty() as usize, !text.is_empty() as usize);
    let (mut lists, mut optional, mut at) = (0, 0, 0);
    while at < text.len() {
        match text[at] {
            b'[' if lists == 0 && at + 1 < text.len() && text[at + 1] == b',' => optional += 1,
            b'[' | b'<' => lists += 1,
            b']' | b'>' if lists > 0 => lists -= 1,
            b']' => optional -= 1,
            b',' if lists == 0 => {
                least += (optional == 0) as usize;
                most += 1;
            }
            // The first byte of `…`.
            0xE2 if lists == 0 => {
                least -= (optional == 0) as usize;
                most = usize::MAX;
            }
            _ => {}
        }
        at += 1;
    }
    (least, most)
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.arguments)
    }
}

/// All functions, by group.
///
/// ```
/// use tilewright::eval::functions;
/// let mut names: Vec<&str> = functions().map(|function| function.name()).collect();
/// let all = names.len();
/// names.sort_unstable();
/// names.dedup();
/// // No name is given twice.
/// assert_eq!(names.len(), all);
/// ```
pub fn functions() -> impl Iterator<Item = &'static Function> {
    let groups: [&'static [Function]; 12] = [
        observe::FUNCTIONS,
        structure::FUNCTIONS,
        algebra::FUNCTIONS,
        algebra::DIVISIONS,
        algebra::PRODUCTS,
        structure::MAKERS,
        coordinates::FUNCTIONS,
        structure::CASTS,
        compare::FUNCTIONS,
        tuples::ORDERS,
        tuples::FUNCTIONS,
        linear::FUNCTIONS,
    ];
    groups.into_iter().flatten()
}

/// The names of Triton's `LinearLayout` for functions with other names here.
const TRITON: [(&str, &str); 23] = [
    ("concatIns", "concat_ins"),
    ("concatOuts", "concat_outs"),
    ("divideLeft", "divide_left"),
    ("divideRight", "divide_right"),
    ("flattenIns", "flatten_ins"),
    ("flattenOuts", "flatten_outs"),
    ("getFreeVariableMasks", "free_bits"),
    ("getNumConsecutiveInOut", "consecutive"),
    ("identity1D", "identity"),
    ("invert", "inverse"),
    ("invertAndCompose", "invert_and_compose"),
    ("isInvertible", "invertible"),
    ("isSurjective", "surjective"),
    ("isTrivialOver", "is_trivial_over"),
    ("pseudoinvert", "pseudo_inverse"),
    ("removeZeroBasesAlongDim", "remove_zeros"),
    ("reshapeIns", "reshape_ins"),
    ("reshapeOuts", "reshape_outs"),
    ("resizeInDim", "resize_in"),
    ("strided1D", "strided"),
    ("transposeIns", "transpose_ins"),
    ("transposeOuts", "transpose_outs"),
    ("zeros1D", "zeros"),
];

/// Names of CuTe that are refused, with the reason and what to write.
const REFUSED: [(&[&str], &str); 4] = [
    (
        &["make_fragment_like", "make_fragment"],
        "is a layout of registers, which the compiler chooses; write make_layout_like(L)",
    ),
    (
        &[
            "transform",
            "transform_leaf",
            "transform_apply",
            "fold",
            "for_each",
            "any_of",
            "all_of",
            "none_of",
            "find_if",
            "filter_tuple",
            "iscan",
        ],
        "takes a function of C++, which is not evaluated; write the tuple that it returns",
    ),
    (
        &["is_static", "is_constant", "is_integral", "is_tuple", "bool_constant", "decltype"],
        "asks for a type of C++; every integer here is a constant, so leave it out",
    ),
    (
        &["make_tensor", "make_counting_tensor", "make_identity_tensor"],
        "is memory with a layout; write its layout alone",
    ),
];

/// Returns why a name of CuTe is refused, and what to write instead.
pub(super) fn refused(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(names, _)| names.contains(&name)).map(|&(_, reason)| reason)
}

/// Finds the function of this name, or of this name in Triton.
pub(super) fn named(name: &str, span: (usize, usize)) -> Result<&'static Function, Error> {
    let own = TRITON.iter().find(|(other, _)| *other == name).map_or(name, |&(_, own)| own);
    functions().find(|function| function.name == own).ok_or_else(|| {
        if let Some(reason) = refused(name) {
            return Error::parse(span, format!("`{name}` {reason}"));
        }
        let hint = nearest(name).map(|near| format!("; did you mean `{near}`?"));
        let name = shortened(name);
        let message = format!("no function is called `{name}`{}", hint.unwrap_or_default());
        Error::parse(span, message)
    })
}

/// Returns the name with the fewest changed letters, if these are few.
fn nearest(name: &str) -> Option<&'static str> {
    let limit = (name.len() / 3).max(1);
    let lower = name.to_ascii_lowercase();
    functions()
        .map(|function| (strsim::osa_distance(&lower, function.name), function.name))
        .filter(|&(distance, _)| name.len() <= 32 && distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_documented() {
        let mut names: Vec<&str> = functions().map(Function::name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for function in functions() {
            assert!(
                function.doc().ends_with('.') && !function.arguments().is_empty(),
                "{function:?}"
            );
            assert!(function.counts.0 <= function.counts.1, "{function:?}");
        }
    }

    #[test]
    fn names_of_triton_are_names_of_functions() {
        for (other, own) in TRITON {
            assert!(functions().all(|function| function.name() != other), "{other}");
            assert_eq!(named(other, (0, 0)).unwrap().name(), own);
        }
    }

    #[test]
    fn the_nearest_name() {
        assert_eq!(nearest("colaesce"), Some("coalesce"));
        assert_eq!(nearest("Size"), Some("size"));
        assert_eq!(nearest("diagonal"), None);
        assert_eq!(
            (
                strsim::osa_distance("abc", "acb"),
                strsim::osa_distance("", "ab"),
                strsim::osa_distance("kitten", "sitting")
            ),
            (1, 2, 3)
        );
    }
}
