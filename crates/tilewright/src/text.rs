//! Serde adapters that write and read values as their text: `#[serde(with = "tilewright::text")]`.
//!
//! The module serves every type that implements `Display` and `FromStr`: [`Layout`](crate::Layout), [`Spec`](crate::Spec),
//! [`Dtype`](crate::Dtype), [`Fill`](crate::Fill), tuples, XLA's shapes and layouts, and types of other crates.
//!
//! [`Text`] serves a value inside another one, as in an `Option`, a list or a map.
//!
//! Law: reading returns the value that was written.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use tilewright::{Dtype, Layout};
//!
//! #[derive(Debug, Deserialize, PartialEq, Serialize)]
//! struct Weight {
//!     #[serde(with = "tilewright::text")]
//!     layout: Layout,
//!     #[serde(with = "tilewright::text")]
//!     dtype: Dtype,
//! }
//!
//! let json = r#"{"layout":"((16,7),(16,2)):((16,256),(1,1792))","dtype":"bf16"}"#;
//! let weight: Weight = serde_json::from_str(json)?;
//! assert_eq!(weight.layout.size(), 112 * 32);
//! assert_eq!(serde_json::to_string(&weight)?, json);
//! // The message of a text that is not read is that of the parser.
//! let error = serde_json::from_str::<Weight>(r#"{"layout":"(4,","dtype":"bf16"}"#).unwrap_err();
//! assert!(error.to_string().starts_with("expected an integer"), "{error}");
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::{borrow::Cow, fmt::Display, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Writes the text of a value.
///
/// # Errors
/// The errors of the format.
///
/// ```
/// use tilewright::Layout;
/// let layout = Layout::parse("(4,2):(2,1)").unwrap();
/// let json = tilewright::text::serialize(&layout, serde_json::value::Serializer).unwrap();
/// assert_eq!(json, "(4,2):(2,1)");
/// ```
pub fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// Reads a value from its text.
///
/// # Errors
/// The errors of the format, and the message of the value's parser.
///
/// ```
/// use tilewright::Layout;
/// let json = serde_json::json!("(4,2):(2,1)");
/// let layout: Layout = tilewright::text::deserialize(json).unwrap();
/// assert_eq!(layout.size(), 8);
/// ```
pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    Cow::<'_, str>::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// A value that is written and read by its text.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tilewright::{Layout, text::Text};
/// #[derive(Debug, Deserialize, PartialEq, Serialize)]
/// struct Job {
///     from: Option<Text<Layout>>,
///     to: Vec<Text<Layout>>,
/// }
///
/// let json = r#"{"from":null,"to":["(4,2):(2,1)","8:1"]}"#;
/// let job: Job = serde_json::from_str(json)?;
/// assert_eq!(job.to[1].0.size(), 8);
/// assert_eq!(serde_json::to_string(&job)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<T>(pub T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, to)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text<T>, D::Error> {
        deserialize(from).map(Text)
    }
}
