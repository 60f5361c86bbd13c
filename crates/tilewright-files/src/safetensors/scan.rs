//! One pass over a header's JSON: no key twice, the order of the tensors, the metadata.

use std::{collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// The key under which a header keeps its metadata.
pub(crate) const METADATA: &str = "__metadata__";

/// What one pass sees.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The tensors' names, as they stand in the header.
    pub(crate) names: Vec<String>,
    /// The metadata, as it stands in the header; `None` where there is none.
    pub(crate) metadata: Option<Vec<(String, String)>>,
}

impl<'de> Deserialize<'de> for Scan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scan, D::Error> {
        deserializer.deserialize_map(Top)
    }
}

struct Top;

impl<'de> Visitor<'de> for Top {
    type Value = Scan;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scan, A::Error> {
        let (mut scan, mut seen) = (Scan::default(), HashSet::new());
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(format!("the name {name:?} stands there twice")));
            }
            if name == METADATA {
                scan.metadata = map.next_value::<Option<Pairs<String>>>()?.map(|pairs| pairs.0);
            } else {
                map.next_value::<Pairs<IgnoredAny>>()?;
                scan.names.push(name);
            }
        }
        Ok(scan)
    }
}

/// An object in the order of its text, no key twice.
#[derive(Debug)]
pub(crate) struct Pairs<T>(pub(crate) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<T>, D::Error> {
        deserializer.deserialize_map(PairsVisitor(std::marker::PhantomData))
    }
}

struct PairsVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
        let (mut pairs, mut seen) = (Vec::new(), HashSet::new());
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key:?} stands there twice")));
            }
            pairs.push((key, map.next_value()?));
        }
        Ok(Pairs(pairs))
    }
}
