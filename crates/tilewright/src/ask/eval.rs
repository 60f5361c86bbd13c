//! The value of an expression.

use serde_json::{Value as Json, json};

use super::Answer;
use crate::eval::Value;

/// ```
/// use tilewright::{ask::Answer, eval::evaluate};
/// let answer = evaluate("logical_divide((4,8):(8,1), <2,4>)")?.to_json();
/// assert_eq!((&answer["kind"], &answer["shape"]), (&"layout".into(), &serde_json::json!([[2, 2], [4, 2]])));
/// assert_eq!(evaluate("size(4:1)")?.to_json()["value"], 4);
/// # Ok::<(), tilewright::Error>(())
/// ```
impl Answer for Value {
    fn to_json(&self) -> Json {
        let mut answer = json!({ "kind": self.kind(), "text": self.to_string() });
        if let Some(truth) = self.as_bool() {
            answer["value"] = json!(truth);
        }
        if let Some(list) = self.as_list() {
            answer["value"] = json!(list);
        }
        if let Some(tuple) = self.as_tuple() {
            answer["value"] = nested(&tuple.to_string());
        }
        if let Some(layout) = self.as_layout() {
            answer["shape"] = nested(&layout.shape().to_string());
            answer["stride"] = nested(&layout.stride().to_string());
            answer["offset"] = json!(layout.offset());
            let axes = (0..layout.rank()).map_while(|axis| layout.axis_size(axis));
            if let Some(named) = self.to_named()
                && !axes.eq(named.layout().extents().iter().copied())
            {
                answer["valid"] = json!(named.layout().extents());
            }
            let swizzle = layout.swizzle();
            if !swizzle.is_identity() {
                answer["swizzle"] = json!([swizzle.bits(), swizzle.base(), swizzle.shift()]);
            }
        }
        answer
    }
}

/// A tuple as nested arrays: its text with other brackets.
fn nested(tuple: &str) -> Json {
    serde_json::from_str(&tuple.replace('(', "[").replace(')', "]")).unwrap_or(Json::Null)
}
