//! Notations that a crate outside adds: read and printed as the built-in ones, and refused where they are none.
//!
//! Added notations stay for the whole process, so this is a program of its own.

use std::{fmt, sync::Arc};

use tilewright_core::{Fill, TensorLayout};
use tilewright_notation::{
    Error, Notation, ResolvedLayout, Spec, add_notation,
    dialect::{Given, ParsedSpec},
    notation, notations,
};

/// Fortran's bounds of one dim, `2:5`: four elements. CuTe reads the same text as two elements, five apart.
#[derive(Debug)]
struct Bounds(u64, u64);

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0, self.1)
    }
}

impl ParsedSpec for Bounds {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == 1
    }

    /// Ignores the array, which it must not.
    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = [(self.1 + 1).saturating_sub(self.0)];
        Ok(ResolvedLayout::plain(TensorLayout::row_major(&dims)?, given))
    }
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let wrong = |message: &str| Error::parse((0, text.len()), message);
    let (from, to) = text.split_once(':').ok_or_else(|| wrong("expected bounds, `1:10`"))?;
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) => Ok(Arc::new(Bounds(from, to))),
        _ => Err(wrong("expected two numbers")),
    }
}

fn print(named: &ResolvedLayout) -> Result<String, Error> {
    match named.layout().extents() {
        [one] if *named.layout() == TensorLayout::row_major(&[*one])? => Ok(format!("1:{one}")),
        _ => Err(Error::unsupported("bounds are of one dense dim")),
    }
}

fn bounds(name: &'static str) -> Notation {
    Notation::new(name, "Fortran: the bounds of one dim", read, print)
}

fn resolve(text: &str) -> Result<ResolvedLayout, Error> {
    Spec::parse(text)?.resolve(None, None)
}

/// Whatever other notations read a text, what is said of a layout reads back as this layout.
#[test]
fn a_form_that_others_have_makes_a_text_ambiguous_and_breaks_no_other() {
    let lines: Vec<ResolvedLayout> = (1..9)
        .flat_map(|n| (1..4).map(move |d| resolve(&format!("cute:{n}:{d}")).unwrap()))
        .collect();
    let form = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b':');
    let added = add_notation(bounds("fortran").with_aliases(&["f90"]).with_form(form)).unwrap();
    assert_eq!((added.name(), notations().last().unwrap().name()), ("fortran", "fortran"));

    let error = Spec::parse("2:5").unwrap_err();
    assert!(error.is_ambiguous(), "{error}");
    assert!(error.to_string().contains("`cute:2:5`, `fortran:2:5`"), "{error}");
    // In a file the text is what it was before, and the new prefix is none.
    assert_eq!(Spec::parse_built_in("2:5").unwrap().to_string(), "2:5");
    assert_eq!(Spec::parse_built_in("[2] 2:5").unwrap().to_string(), "[2] 2:5");
    assert!(Spec::parse_built_in("[4] fortran:2:5").is_err());
    let error = Spec::parse("fortran").unwrap_err();
    assert!(error.to_string().contains("`fortran` is a notation"), "{error}");
    assert_eq!(resolve("f90:2:5").unwrap().layout().extents(), [4]);
    assert_eq!(resolve("cute:2:5").unwrap().layout().layout().to_string(), "2:5");
    let nameless = |line: &ResolvedLayout| {
        ResolvedLayout::new("", line.layout().clone(), None, None, Fill::Unspecified)
    };
    let nameless: Vec<ResolvedLayout> = lines.iter().map(nameless).collect();
    assert_eq!(nameless[0].to_spec(), "[1] cute:1:1");
    for line in lines.iter().chain(&nameless) {
        let spec = line.to_spec();
        let again = resolve(&spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert_eq!(again.layout(), line.layout(), "{spec}");
    }
    // The user's own text is said in words that everybody reads.
    let own = resolve("f32[4] fortran:2:5").unwrap();
    assert_eq!((own.name(), own.to_spec().as_str()), ("f32[4] fortran:2:5", "f32[4] (4):(1)"));
    assert_eq!(notation("fortran").unwrap().print(&own).unwrap(), "1:4");
    let error = resolve("[5] fortran:2:5").unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    let error = Spec::parse("[4] fortran:2:x").unwrap_err();
    assert_eq!(error.span(), Some((12, 15)), "{error}");
}

#[test]
fn names_that_are_none_or_taken_are_refused_and_add_nothing() {
    for (name, says) in [
        ("", "is not a name"),
        ("9x", "is not a name"),
        ("a b", "is not a name"),
        ("a:b", "is not a name"),
        ("cute", "is a notation already"),
        ("tla", "is a notation already"),
        ("acl", "begins the name of the format `acl:"),
    ] {
        let error = add_notation(bounds(name)).unwrap_err();
        assert!(error.is_parse() && error.to_string().contains(says), "{name}: {error}");
        let error =
            add_notation(bounds("good").with_aliases(Box::leak(Box::new([name])))).unwrap_err();
        assert!(error.to_string().contains(says), "{name}: {error}");
    }
    assert!(notation("good").is_err());
}
