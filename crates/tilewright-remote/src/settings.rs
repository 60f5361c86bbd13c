//! Settings of stores and hubs: the variables of the environment, and what a program sets in their place.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

static SET: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Sets a variable such as `AWS_ENDPOINT_URL` for this crate alone, in place of that of the environment. Objects that are opened
/// afterwards use it.
///
/// ```
/// tilewright_remote::set_variable("AWS_REGION", "eu-central-1");
/// ```
pub fn set_variable(name: &str, value: &str) {
    SET.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), value.into());
}

/// Returns the variables whose names have this beginning, sorted.
pub(crate) fn variables(beginning: &str) -> BTreeMap<String, String> {
    let own = std::env::vars_os();
    let own =
        own.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let set = SET.lock().unwrap_or_else(PoisonError::into_inner);
    let all = own.chain(set.iter().map(|(name, value)| (name.clone(), value.clone())));
    all.filter(|(name, _)| name.starts_with(beginning)).collect()
}

/// Returns a variable that is not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = variables(name).remove(name)?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}
