//! Why a question has no answer, as the page shows it: its kind, a sentence, and the bytes of which field.

use serde_json::{Value, json};
use tilewright::{core, eval, notation};

/// What was refused, and where.
#[derive(Debug)]
pub(crate) struct Refusal {
    kind: &'static str,
    message: String,
    /// The field of the question whose text is at fault.
    field: &'static str,
    span: Option<(usize, usize)>,
}

impl Refusal {
    /// A question nobody understands.
    pub(crate) fn usage(field: &'static str, message: impl Into<String>) -> Refusal {
        Refusal::of("usage", field, message)
    }

    /// A refusal of any kind.
    pub(crate) fn of(
        kind: &'static str,
        field: &'static str,
        message: impl Into<String>,
    ) -> Refusal {
        Refusal { kind, message: message.into(), field, span: None }
    }

    /// A layout that does not parse, or does not fit its array.
    pub(crate) fn layout(field: &'static str, error: &notation::Error) -> Refusal {
        let (kind, span) = (error.kind(), error.span());
        Refusal { kind, message: error.to_string(), field, span }
    }

    /// An expression that begins at byte `at` of its field.
    pub(crate) fn expression(field: &'static str, at: usize, error: &eval::Error) -> Refusal {
        let (from, to) = error.span();
        let span = Some((at + from, at + to));
        Refusal { kind: error.kind(), message: error.to_string(), field, span }
    }

    /// What the core refused.
    pub(crate) fn core(field: &'static str, error: &core::Error) -> Refusal {
        Refusal { kind: error.kind(), message: error.to_string(), field, span: None }
    }

    /// As the program prints errors with `--json`, and the field.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "error": {
            "kind": self.kind,
            "message": self.message,
            "field": self.field,
            "span": self.span,
        }})
    }
}
