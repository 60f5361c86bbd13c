//! One pass over the JSON of a header: refuses repeated keys, and returns the described tensors and the metadata. Headers and
//! indexes of sharded checkpoints are read by it.

use std::{collections::HashSet, fmt};

use safetensors::Dtype;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The key under which a header keeps its metadata.
pub(crate) const METADATA: &str = "__metadata__";

/// The largest number of extents of a shape that is read.
const MOST_DIMS: usize = 1024;

/// The content of a header in the order of its text.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The tensors by name, in the order of the header.
    pub(crate) tensors: Vec<(String, Info)>,
    /// The metadata in the order of the header; `None` if there is none.
    pub(crate) metadata: Option<Vec<(String, String)>>,
}

/// The description of one tensor in a header.
#[derive(Debug)]
pub(crate) struct Info {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    /// The positions of the first byte and of the end, counted from the end of the header.
    pub(crate) offsets: (u64, u64),
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
                return Err(A::Error::custom(format!("the name {name:?} occurs twice")));
            }
            let about = |error: A::Error| A::Error::custom(format!("{name:?}: {error}"));
            if name == METADATA {
                let pairs = map.next_value::<Option<Pairs<String>>>().map_err(about)?;
                scan.metadata = pairs.map(|pairs| pairs.0);
            } else {
                let info = map.next_value::<Info>().map_err(about)?;
                scan.tensors.push((name, info));
            }
        }
        Ok(scan)
    }
}

impl<'de> Deserialize<'de> for Info {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Info, D::Error> {
        deserializer.deserialize_map(InfoVisitor)
    }
}

struct InfoVisitor;

impl<'de> Visitor<'de> for InfoVisitor {
    type Value = Info;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of dtype, shape and data_offsets")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Info, A::Error> {
        let (mut dtype, mut shape, mut offsets) = (None, None, None);
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "dtype" => dtype = Some(map.next_value()?),
                "shape" => shape = Some(map.next_value::<Shape>()?.0),
                "data_offsets" => offsets = Some(map.next_value()?),
                _ => {
                    let Skipped = map.next_value()?;
                }
            }
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
            }
        }
        Ok(Info {
            dtype: dtype.ok_or_else(|| A::Error::missing_field("dtype"))?,
            shape: shape.ok_or_else(|| A::Error::missing_field("shape"))?,
            offsets: offsets.ok_or_else(|| A::Error::missing_field("data_offsets"))?,
        })
    }
}

/// A value that is skipped. The parser bounds the depth of values that a visitor visits, but not of values that it ignores by
/// itself.
struct Skipped;

impl<'de> Deserialize<'de> for Skipped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Skipped, D::Error> {
        deserializer.deserialize_any(Skipped)
    }
}

impl<'de> Visitor<'de> for Skipped {
    type Value = Skipped;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Skipped, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Skipped, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Skipped, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Skipped, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Skipped, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Skipped, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Skipped, A::Error> {
        while seq.next_element::<Skipped>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Skipped, A::Error> {
        while map.next_entry::<Skipped, Skipped>()?.is_some() {}
        Ok(self)
    }
}

/// Extents, of which there is a bounded number.
struct Shape(Vec<u64>);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_seq(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of extents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shape, A::Error> {
        let mut extents = Vec::new();
        while let Some(extent) = seq.next_element()? {
            if extents.len() == MOST_DIMS {
                return Err(A::Error::custom(format!("a shape of more than {MOST_DIMS} extents")));
            }
            extents.push(extent);
        }
        Ok(Shape(extents))
    }
}

/// An object in the order of its text, without repeated keys.
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
                return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
            }
            pairs.push((key, map.next_value()?));
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_read_over_to_a_bounded_depth() {
        let header = |extra: &str| {
            let text = format!(
                r#"{{"a":{{"dtype":"U8","shape":[4],"data_offsets":[0,4],"more":{extra}}}}}"#
            );
            serde_json::from_str::<Scan>(&text).map(|scan| scan.tensors.len())
        };
        for extra in ["1", "-1", "1.5", "true", "null", r#""x""#, r#"{"a":[1,{"b":[]}]}"#] {
            assert_eq!(header(extra).unwrap(), 1, "{extra}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(header(&nested(100)).is_ok());
        for depth in [200, 3_000_000] {
            let error = header(&nested(depth)).unwrap_err().to_string();
            assert!(error.contains("recursion limit"), "{error}");
            assert!(header(&"{\"a\":".repeat(depth)).is_err());
        }
    }
}
