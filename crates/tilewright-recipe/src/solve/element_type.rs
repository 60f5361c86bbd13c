//! The element type of a result: that of its sources, or one that holds the same values exactly.

use tilewright_core::Dtype;

use crate::{error::Error, kind, rule::Rule, tensor::Tensor};

/// The element type of what a rule makes of a tensor.
pub(crate) fn of(
    rule: &Rule,
    tensor: &Tensor,
    config: Option<&serde_json::Value>,
) -> Result<Dtype, Error> {
    let source = tensor.dtype;
    if let Some(from) = rule.from.dtype
        && from != source
    {
        let says =
            format!("{:?} is {}, but the rule says `{}`", tensor.name, source.name(), from.name());
        return Err(rule.error(kind::DTYPE, says));
    }
    match (rule.from.dtype, rule.to.dtype) {
        (None, None) => Ok(source),
        (_, Some(to)) => match (source, to) {
            (Dtype::F32 | Dtype::Bf16 | Dtype::F16, Dtype::F32) => Ok(to),
            (source, to) if source == to || rule.from.dtype.is_some() => Ok(to),
            (source, to) => {
                let says = format!(
                    "{:?} is {}, which cannot be widened exactly to {}; recipes move elements and never compute",
                    tensor.name,
                    source.name(),
                    to.name()
                );
                Err(rule.error(kind::DTYPE, says))
            }
        },
        (Some(_), None) => before(config).ok_or_else(|| {
            let says = format!(
                "the recipe narrows tensors that are {} here, but their original element type is unknown: state it as `dtype` in config.json, such as {{\"dtype\": \"bfloat16\"}}, or as `dtype` of the rules",
                source.name()
            );
            Error::new(kind::UNSOLVED, says)
        }),
    }
}

/// The element type that the configuration names.
fn before(config: Option<&serde_json::Value>) -> Option<Dtype> {
    let config = config?;
    let parts = [Some(config), config.get("text_config")];
    let named = parts
        .into_iter()
        .flatten()
        .find_map(|part| part.get("dtype").or_else(|| part.get("torch_dtype"))?.as_str());
    let dtype = Dtype::spelled(named?.trim_start_matches("torch."))?;
    matches!(dtype, Dtype::F32 | Dtype::Bf16 | Dtype::F16).then_some(dtype)
}
