//! Element types as text: the spellings that core lists, codes with a byte order, and names with the module
//! that they come from.

use tilewright_core::{ByteOrder, Dtype};

use crate::{
    Error,
    literal::{did_you_mean, nearest},
};

/// The element type with this name: the standard one (`bf16`), that of safetensors (`BF16`, `F8_E4M3`, `BOOL`),
/// NumPy's (`float32`, `<f4`), torch's (`torch.bfloat16`, `float8_e4m3fn`), GGUF's (`Q4_K`), or another of the
/// [spellings](Dtype::spellings) (`fp16`, `e5m2`, `nf4`).
///
/// `fp8`, `e4m3` and safetensors' `F8_E4M3` are the finite `f8e4m3fn`.
///
/// # Errors
/// [parse](Error::is_parse) with the nearest names of the same kind; big-endian codes (`>f4`) are refused,
/// because an element type does not have a byte order.
///
/// ```
/// use tilewright_notation::dtype;
/// assert_eq!(dtype("BOOL").unwrap().name(), "pred");
/// assert_eq!(dtype("<u4").unwrap().name(), "u32");
/// assert_eq!(dtype("u4").unwrap().name(), "u4");
/// assert_eq!(dtype("fp8").unwrap().name(), "f8e4m3fn");
/// let error = dtype("bfloat61").unwrap_err();
/// assert!(error.to_string().contains("did you mean `bfloat16`?"));
/// ```
pub fn dtype(text: &str) -> Result<Dtype, Error> {
    let name = text.trim();
    let refused = |message| Err(Error::parse((0, text.len()), message).in_text(text));
    match marked(name) {
        Some((ByteOrder::Little, dtype)) => return Ok(dtype),
        Some((ByteOrder::Big, _)) => {
            let code = &name[1..];
            return refused(format!(
                "`{name}` is big-endian, but an element type has no byte order; `<{code}` has the same layout with swapped bytes"
            ));
        }
        None => {}
    }
    let plain = ["torch.", "np.", "numpy."].iter().find_map(|module| name.strip_prefix(module));
    if let Some(dtype) = Dtype::spelled(plain.unwrap_or(name)) {
        return Ok(dtype);
    }
    let spellings = candidates(name).into_iter().flat_map(Dtype::spellings);
    refused(match code_name(name) {
        // Only what differs in case may be meant instead.
        Some(code) => {
            let same = |other: &&str| other.eq_ignore_ascii_case(name);
            let other = did_you_mean(name, spellings.filter(same));
            format!(
                "no element type is called `{name}`; NumPy's code of {code} is `<{name}` here{other}"
            )
        }
        None => format!("no element type is called `{name}`{}", did_you_mean(name, spellings)),
    })
}

/// The element type with this name, and the order of an element's bytes, where the name is a NumPy code that
/// gives it (`>f4`).
///
/// # Errors
/// As [`dtype`].
///
/// ```
/// use tilewright_core::ByteOrder;
/// use tilewright_notation::dtype_in_order;
/// let named = |text| dtype_in_order(text).map(|(dtype, order)| (dtype.name(), order)).unwrap();
/// assert_eq!(named(">f4"), ("f32", Some(ByteOrder::Big)));
/// assert_eq!(named("<f4"), ("f32", Some(ByteOrder::Little)));
/// assert_eq!(named("f32"), ("f32", None));
/// ```
pub fn dtype_in_order(text: &str) -> Result<(Dtype, Option<ByteOrder>), Error> {
    match marked(text.trim()) {
        Some((order, dtype)) => Ok((dtype, Some(order))),
        None => dtype(text).map(|found| (found, None)),
    }
}

/// The types that a misspelled name may mean, all of one kind if one is near: what its letters say, or what
/// the nearest spelling is.
fn candidates(name: &str) -> Vec<Dtype> {
    let like: Vec<Dtype> = Dtype::like(name).collect();
    let best = nearest(name, like.iter().flat_map(|dtype| dtype.spellings()));
    let kind = best.first().and_then(|best| Dtype::spelled(best)).map(Dtype::kind);
    like.into_iter().filter(|dtype| kind.is_none_or(|kind| dtype.kind() == kind)).collect()
}

/// A code of the array interface behind a mark of byte order. Without the mark it is none: `<u4` has 4 bytes,
/// `u4` has 4 bits.
fn marked(text: &str) -> Option<(ByteOrder, Dtype)> {
    let dtype = code_name(text.strip_prefix(['<', '=', '|', '>'])?)?;
    // Of a single byte there is one order.
    let big = text.starts_with('>') && is_wide(dtype);
    Some((if big { ByteOrder::Big } else { ByteOrder::Little }, dtype))
}

/// The parts of a SPEC that gives an order of bytes before its dims, `>f4[3,5]{0,1}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) order: ByteOrder,
    /// The text without the order, `f32[3,5]{0,1}`.
    pub(crate) plain: String,
    /// The length of the code with its mark, and of the name in its place.
    lengths: (usize, usize),
}

impl Marked {
    /// The bytes of the text as written that a span of the plain text is about: of a part of the name, the whole code.
    pub(crate) fn as_written(&self, (from, to): (usize, usize)) -> (usize, usize) {
        let (code, name) = self.lengths;
        let behind =
            |place: usize| place.checked_sub(name).map(|behind| code.saturating_add(behind));
        (behind(from).unwrap_or(0), behind(to).unwrap_or(if to == 0 { 0 } else { code }))
    }
}

/// A text taken apart, if it begins with an element type in an order of bytes, and dims.
pub(crate) fn ordered_dims(text: &str) -> Option<Marked> {
    let code = text.get(..text.find('[')?)?.trim_end();
    let name = code.strip_prefix(['<', '>'])?;
    // A type without a code is called by its name.
    let own =
        || Dtype::spelled(name).filter(|own| own.array_code().is_none() && own.block().is_none());
    let dtype = code_name(name).or_else(own)?;
    let order = if code.starts_with('>') { ByteOrder::Big } else { ByteOrder::Little };
    let plain = format!("{dtype}{}", text.get(code.len()..)?);
    Some(Marked { order, plain, lengths: (code.len(), dtype.name().len()) })
}

/// A SPEC that begins with element type and dims, with the order of bytes: [`ordered_dims`] the other way. `None` for a
/// SPEC that does not, and for elements in blocks.
pub(crate) fn in_order(text: &str, order: ByteOrder) -> Option<String> {
    let (name, behind) = text.split_once('[')?;
    let dtype = Dtype::spelled(name).filter(|dtype| dtype.block().is_none())?;
    let mark = if order.is_big() { '>' } else { '<' };
    let code = match dtype.array_code() {
        Some((letter, bytes)) => format!("{letter}{bytes}"),
        // One of the names that is not a code: `u4` behind a mark has 4 bytes.
        None => dtype.spellings().find(|name| code_name(name).is_none())?.to_owned(),
    };
    Some(format!("{mark}{code}[{behind}"))
}

/// The order of the bytes of elements that take this many bits: of a single byte there is one order.
pub(crate) fn stored_order(order: ByteOrder, bits: Option<u32>) -> ByteOrder {
    if bits.is_some_and(|bits| bits <= 8) { ByteOrder::Little } else { order }
}

/// Returns whether elements have more than one byte, so that these have an order.
fn is_wide(dtype: Dtype) -> bool {
    dtype.storage_bits() > Some(8)
}

/// The element type of a code of the array interface without a mark of byte order.
pub(crate) fn code_name(code: &str) -> Option<Dtype> {
    let letter = code.chars().next()?;
    let digits = code.strip_prefix(letter).filter(|digits| !digits.starts_with(['+', '0']))?;
    Dtype::of_array_code(letter, digits.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read_also_behind_its_module() {
        for expected in Dtype::all() {
            for spelling in expected.spellings() {
                assert_eq!(dtype(spelling), Ok(expected), "{spelling}");
                assert_eq!(dtype(&format!(" torch.{spelling}\n")), Ok(expected), "{spelling}");
            }
        }
    }

    #[test]
    fn codes_say_their_bytes_behind_a_mark() {
        for expected in Dtype::all() {
            let Some((letter, bytes)) = expected.array_code() else { continue };
            let code = format!("{letter}{bytes}");
            assert_eq!(code_name(&code), Some(expected));
            for mark in ["<", "=", "|"] {
                assert_eq!(dtype(&format!("{mark}{code}")), Ok(expected));
            }
            match dtype(&format!(">{code}")) {
                Ok(one_byte) => assert_eq!((one_byte, bytes), (expected, 1)),
                Err(error) => assert!(error.to_string().contains("big-endian") && bytes > 1),
            }
        }
        for wrong in ["<bf16", "<f04", "<f+4", "<", "<f", "<V2", "|S4", "<f3"] {
            assert!(dtype(wrong).is_err(), "{wrong}");
        }
    }

    /// Every type with an order of bytes is read back from its text, before the dims of any layout.
    #[test]
    fn an_order_of_bytes_before_dims_reads_back() {
        let wide = || Dtype::all().filter(|dtype| is_wide(*dtype));
        for (dtype, order) in wide().flat_map(|it| [(it, ByteOrder::Big), (it, ByteOrder::Little)])
        {
            for layout in
                ["{0,1}", " zN[C0=2]", " col-major", " (6,4):(1,6)", "{0,1}pad(6,5)fill(0)"]
            {
                let plain = format!("{dtype}[6,4]{layout}");
                let text = in_order(&plain, order).unwrap();
                let taken = ordered_dims(&text).map(|it| (it.order, it.plain));
                assert_eq!(taken, Some((order, plain.clone())), "{text}");
                let spec = crate::Spec::parse(&text).unwrap();
                let named = spec.resolve(None, None).unwrap();
                let bare = crate::Spec::parse(&plain).unwrap().resolve(None, None).unwrap();
                assert_eq!((named.byte_order(), named.dtype()), (Some(order), Some(dtype)));
                assert_eq!(named.layout(), bare.layout());
                for said in [named.to_spec(), spec.to_string()] {
                    let again = crate::Spec::parse(&said).unwrap().resolve(None, None).unwrap();
                    assert_eq!(again, named, "{text}: {said}");
                }
                let turned = bare.with_byte_order(Some(order));
                let again = crate::Spec::parse(&turned.to_spec()).unwrap();
                assert_eq!(again.resolve(None, None).unwrap().byte_order(), Some(order));
            }
        }
        assert!(wide().count() > 10);
        // One byte has one order.
        let order =
            |text| crate::Spec::parse(text).unwrap().resolve(None, None).unwrap().byte_order();
        for one in [">u1[4]{0}", ">s4[4]{0}", ">s4[4]{0:E(4)}", ">b1[4]E(8) row-major"] {
            assert_eq!(order(one), Some(ByteOrder::Little), "{one}");
        }
        for wrong in [">[4]{0}", ">f4", ">f4[", ">", ">q4_0[32]{0}"] {
            assert!(crate::Spec::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// A text with an order gives the error of the text without, at the place of that text.
    #[test]
    fn a_span_lies_in_the_text_as_written() {
        let span = |text: &str| crate::Spec::parse(text).unwrap_err().span();
        assert_eq!(span("  >f4[3,5]{0,x}"), span("f32[3,5]{0,x}").map(|(a, b)| (a + 2, b + 2)));
        assert_eq!(span("<b1[2]qq"), Some((6, 8)));
        let mut wrong = 0;
        for start in ["", " ", "\u{3000}"] {
            for (code, name) in
                [(">f4", "f32"), ("<b1", "pred"), (">c16 ", "c128"), (">bf16", "bf16")]
            {
                for behind in ["[3,5]{0,1}", "[6,4] zN[C0=2]", "[2,3]E(64) (2,3):(1,2)"] {
                    for (at, c) in behind.char_indices().step_by(tilewright_testing::cases(1, 8)) {
                        for put in ["", "x", "é", " ", "[", "-", "99999999999999999999"] {
                            let rest = &behind[at + c.len_utf8()..];
                            let behind = format!("{}{put}{rest} ", &behind[..at]);
                            let text = format!("{start}{code}{behind}");
                            let Err(error) = crate::Spec::parse(&text) else { continue };
                            wrong += 1;
                            let (from, to) = error.span().unwrap_or((0, 0));
                            assert!(from <= to && to <= text.len(), "{text:?}: {error:?}");
                            assert!(text.get(from..to).is_some(), "{text:?}: {error:?}");
                            let plain = format!("{name}{behind}");
                            let Err(other) = crate::Spec::parse(&plain) else { continue };
                            let part = other.span().and_then(|(from, to)| plain.get(from..to));
                            let begins = other.span().is_some_and(|(from, _)| from >= name.len());
                            if begins && text.contains('[') {
                                assert_eq!(text.get(from..to), part, "{text:?}: {error:?}");
                            }
                        }
                    }
                }
            }
        }
        assert!(wrong > tilewright_testing::cases(1000, 300), "{wrong}");
    }

    #[test]
    fn what_is_no_type_gets_the_nearest() {
        for (wrong, right) in [
            ("Bf16", "bf16"),
            ("float33", "float32"),
            ("f4", "F4"),
            ("I33", "I32"),
            ("uint12", "uint1"),
            ("E5M2", "e5m2"),
            ("q4_9", "q4_0"),
        ] {
            let error = dtype(wrong).unwrap_err();
            assert!(error.is_parse());
            assert!(error.to_string().contains(&format!("`{right}`")), "{error}");
        }
        assert!(
            dtype("f4")
                .unwrap_err()
                .to_string()
                .contains("NumPy's code of f32 is `<f4` here; did you mean `F4`?")
        );
        let error = dtype("f2").unwrap_err().to_string();
        assert_eq!(
            error.lines().next(),
            Some("no element type is called `f2`; NumPy's code of f16 is `<f2` here")
        );
        for wrong in ["", "tuple", "token", "i4", "primitive_type_invalid"] {
            assert!(dtype(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_hint_is_of_the_kind_that_the_letters_say() {
        for expected in Dtype::all() {
            for spelling in expected.spellings() {
                for wrong in
                    [format!("{spelling}x"), spelling.to_uppercase(), format!("{spelling}9")]
                {
                    let Err(error) = dtype(&wrong) else { continue };
                    let text = error.to_string();
                    let names = text.split('`').skip(3).step_by(2);
                    for name in names.filter(|name| !name.starts_with('<')) {
                        assert_eq!(dtype(name).unwrap().kind(), expected.kind(), "{text}");
                    }
                }
            }
        }
    }
}
