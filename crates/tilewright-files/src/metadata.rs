//! Compares what two files hold beside their tensors: metadata, and notes about tensors.

use std::collections::BTreeMap;

use crate::{Input, container::Fact};

/// The first difference in what a conversion passes through beside tensors.
pub(crate) fn difference(out: &Input, against: &Input) -> Option<String> {
    if out.is_array() {
        // A file of one array says nothing else.
        return None;
    }
    let said = |input: &Input| -> BTreeMap<String, Fact> {
        input.facts().into_iter().map(|fact| (fact.about.clone(), fact)).collect()
    };
    let (written, original) = (said(out), said(against));
    let spec = |input: &Input, name: &str| {
        let mut tensors = input.tensors().iter();
        Some(tensors.find(|tensor| tensor.name == name)?.layout().to_spec())
    };
    let moved = |name: &str| spec(out, name) != spec(against, name);
    let words = |fact: Option<&Fact>| fact.map_or("not there".into(), |fact| fact.said.clone());
    written.keys().chain(original.keys()).find_map(|about| {
        let (is, was) = (written.get(about), original.get(about));
        let differ = is.map(|fact| &fact.exact) != was.map(|fact| &fact.exact);
        let goes = || was.and_then(|was| was.goes_with.as_deref()).is_some_and(&moved);
        let gone = is.is_none() && goes();
        (differ && !gone).then(|| format!("{about} is {}, was {}", words(is), words(was)))
    })
}
