//! A list of extents as text: JSON or TOML. A request reads it.
//!
//! ```text
//! {"model.embed.weight": [50257, 64]}        JSON
//! "model.embed.weight" = [50257, 64]         TOML; tables are parts of names: [model] embed.weight = [50257, 64]
//! ```

use serde_json::Value;

use crate::{Error, known_extents::Named};

/// Reads the extents that a text lists.
pub(crate) fn read(text: &str) -> Result<Named, Error> {
    let value: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| {
            Error::usage(format!("cannot read the JSON list of extents: {error}"))
        })?,
        false => toml::from_str(text).map_err(|error| {
            let said = error.message().lines().next().unwrap_or_default().to_owned();
            Error::usage(format!("cannot read the TOML list of extents: {said}"))
        })?,
    };
    let mut named = Named::new();
    collect(String::new(), &value, &mut named)?;
    Ok(named)
}

/// Collects the extents of a table, whose name is a prefix of the names in it.
fn collect(name: String, value: &Value, named: &mut Named) -> Result<(), Error> {
    if let Value::Object(table) = value {
        return table.iter().try_for_each(|(key, value)| {
            let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            collect(name, value, named)
        });
    }
    let list = value.as_array().and_then(|list| list.iter().map(Value::as_u64).collect());
    let extents: Vec<u64> = list.ok_or_else(|| {
        let legal = "expected a list of extents such as [50257, 64]";
        Error::usage(format!("tensor {name:?}: {legal}"))
    })?;
    match named.insert(name.clone(), extents) {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!("tensor {name:?} is listed twice"))),
    }
}
