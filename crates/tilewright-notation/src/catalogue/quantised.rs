//! [`Quantised`]: what a format of quantised weights presumes of the model that holds them.

/// A key of `quantization_config` in `config.json`, and the values that it may have, in lower case.
pub type Allowed = (&'static str, &'static [&'static str]);

/// The quantisation that a format of quantised weights presumes. A key that the configuration lacks contradicts nothing.
///
/// ```
/// use tilewright_notation::Spec;
/// let of = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().quantised();
/// assert_eq!(of("u4[64,64] GPTQ").unwrap().config[0], ("quant_method", &["gptq"][..]));
/// assert!(of("u4[64,64] MARLIN").unwrap().is_symmetric && of("u4[64,64] row-major").is_none());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Quantised {
    /// The values of the configuration that fit weights in this format.
    pub config: &'static [Allowed],
    /// The last part of the name of a tensor beside one in this format that lists the group of each row. Rows whose
    /// groups are not in order need an index table.
    pub row_table: Option<&'static str>,
    /// The last part of the name of a tensor beside one in this format that holds the zero points, in words.
    pub zeros: Option<&'static str>,
    /// True if the kernel of this format takes the middle of the values as the zero point of all weights.
    pub is_symmetric: bool,
    /// The values that the configuration must state before another format may store the values unchanged, and the reason.
    pub unchanged: Option<(Allowed, &'static str)>,
}

impl Quantised {
    const NOTHING: Quantised = Quantised {
        config: &[],
        row_table: None,
        zeros: None,
        is_symmetric: false,
        unchanged: None,
    };

    /// A model of one method.
    const fn of(config: &'static [Allowed]) -> Quantised {
        Quantised { config, ..Quantised::NOTHING }
    }
}

/// The first version of GPTQ's files, and the second.
const GPTQ_FILES: Allowed = ("checkpoint_format", &["gptq", "gptq_v2"]);

pub(super) static GPTQ: Quantised = Quantised {
    row_table: Some("g_idx"),
    zeros: Some("qzeros"),
    ..Quantised::of(&[("quant_method", &["gptq"]), GPTQ_FILES])
};
pub(super) static GPTQ_ZEROS: Quantised = Quantised {
    unchanged: Some((
        ("checkpoint_format", &["gptq_v2"]),
        "each zero point is stored minus 1, except in gptq_v2",
    )),
    ..Quantised::of(&[("quant_method", &["gptq"]), GPTQ_FILES])
};
pub(super) static AWQ: Quantised =
    Quantised::of(&[("quant_method", &["awq"]), ("version", &["gemm"])]);
pub(super) static AWQ_GEMV_FAST: Quantised =
    Quantised::of(&[("quant_method", &["awq"]), ("version", &["gemv_fast"])]);
pub(super) static CT: Quantised =
    Quantised::of(&[("quant_method", &["compressed-tensors"]), ("format", &["pack-quantized"])]);
pub(super) static BNB: Quantised = Quantised::of(&[("quant_method", &["bitsandbytes"])]);
pub(super) static BITNET: Quantised = Quantised::of(&[("quant_method", &["bitnet"])]);
pub(super) static MARLIN: Quantised = Quantised { is_symmetric: true, ..Quantised::NOTHING };
