//! Storage spelled as words: the SPEC of it in every notation, the shapes of the words, the dims that follow from them,
//! and what is refused.
//!
//! Added formats stay for the whole process, so this is a program of its own.

#![cfg(feature = "formats")]

use tilewright_core::Dtype;
use tilewright_notation::{ResolvedLayout, Spec, add_formats, catalogue, dtype, notations};

fn named(text: &str) -> ResolvedLayout {
    let spec = Spec::parse(text).unwrap_or_else(|error| panic!("{}", error.render()));
    spec.resolve(None, None).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn words(text: &str) -> String {
    named(text).stored_as().unwrap().to_string()
}

fn error(text: &str) -> String {
    match Spec::parse(text).and_then(|spec| spec.resolve(None, None)) {
        Ok(named) => panic!("{text} is {}", named.to_spec()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn makers_have_shapes_of_their_own() {
    for (text, shape) in [
        ("u4[4096,4096] MARLIN as s32", "s32[256,8192]"),
        ("u8[4096,4096] MARLIN as s32", "s32[256,16384]"),
        ("u4[64,64] MARLIN_A8 as s32", "s32[2,256]"),
        ("u4[4096,512] GPTQ as s32", "s32[512,512]"),
        ("u8[4096,512] GPTQ as s32", "s32[1024,512]"),
        ("u2[4096,512] GPTQ as s32", "s32[256,512]"),
        ("u4[32,512] GPTQ_ZEROS as s32", "s32[32,64]"),
        ("u4[4096,512] AWQ as s32", "s32[4096,64]"),
        ("u8[4096,512] AWQ as s32", "s32[4096,128]"),
        ("u4[5,44] CT_PACK_INT32 as s32", "s32[5,6]"),
        ("u8[5,42] CT_PACK_INT32 as s32", "s32[5,11]"),
        ("u4[32,64] BNB_4BIT as u8", "u8[1024,1]"),
        ("u4[7] BNB_4BIT as u8", "u8[4,1]"),
        ("u4[3,128] MARLIN_ZP as s32", "s32[3,16]"),
        // A pattern of one's own, with bars and without.
        ("u4[64,12] (k1 k0:8) n -> k1 | n k0 as s32", "s32[8,12]"),
        ("u4[64,12] (k1 k0:8) n -> k1 n k0 as s32", "s32[8,12,1]"),
        ("u4[2,3,8] … k -> … | k as s32", "s32[2,3,1]"),
        ("u4[2,3,8] … k -> … k | as s32", "s32[6,1]"),
        // No array of words by name: the storage with its last extents divided, or its length.
        ("u4[16,64] row-major as s32", "s32[16,8]"),
        ("u4[16,64] col-major as s32", "s32[64,2]"),
        ("u4[16,64] zN as s32", "s32[1,1,16,8]"),
        ("u4[16,6] row-major as s32", "s32[12]"),
        ("u4[3,5] row-major as s32", "s32[2]"),
        ("bf16[3,4] row-major as u8", "u8[3,8]"),
        ("f16[3,4] row-major as s16", "s16[3,4]"),
        ("f32[] row-major as u8", "u8[4]"),
        ("u4[0,8] row-major as s32", "s32[0,1]"),
    ] {
        assert_eq!(words(text), shape, "{text}");
    }
}

#[test]
fn canonical_text_says_the_width_and_the_words() {
    for (text, canonical) in [
        ("u4[4096,4096] MARLIN as s32[256,8192]", "u4[4096,4096]E(4) MARLIN as s32[256,8192]"),
        ("u4[64,12]  GPTQ   as  int32", "u4[64,12]E(4) GPTQ as s32[8,12]"),
        ("u4[16,64] row-major as u8", "u4[16,64]E(4) row-major as u8[16,32]"),
        ("u4[16,64]E(8) row-major as s32", "u4[16,64]E(8) row-major as s32[16,16]"),
        ("u4[16,64]{1,0:E(4)} as s32[128]", "u4[16,64]{1,0:E(4)} as s32[128]"),
        ("u4[16,64]{0,1} as s32", "u4[16,64]E(4) {0,1} as s32[64,2]"),
        ("bf16[3,5] row-major as u16", "bf16[3,5] row-major as u16[3,5]"),
    ] {
        assert_eq!(Spec::parse(text).unwrap().to_string(), canonical, "{text}");
        assert_eq!(named(text).to_spec(), canonical, "{text}");
        assert_eq!(Spec::parse(canonical).unwrap().to_string(), canonical);
        assert_eq!(named(canonical), named(text));
    }
    assert_eq!(Spec::parse("GPTQ as s32").unwrap().to_string(), "GPTQ as s32");
    let general = Spec::parse("MARLIN as s32[4,128]").unwrap();
    assert!(!general.is_concrete() && general.fits(2) && !general.fits(3));
    let of = general.resolve(Some(&[64, 64]), Some(Dtype::U4)).unwrap();
    assert_eq!(of.to_spec(), "u4[64,64]E(4) MARLIN as s32[4,128]");
}

/// Every notation that says a layout says the one with words, and reads it back.
#[test]
fn every_notation_keeps_the_words() {
    let mut said = 0;
    for text in [
        "u4[16,64]E(4) row-major as s32",
        "u4[32,128] MARLIN as s32",
        "bf16[3,5] zN as u32",
        "s8[4,6]{0,1} as s16",
    ] {
        let own = named(text);
        for notation in notations() {
            let Ok(printed) = notation.print(&own) else { continue };
            assert!(printed.ends_with(&format!(" as {}", own.stored_as().unwrap())), "{printed}");
            let spec = Spec::parse(&printed).unwrap_or_else(|error| panic!("{}", error.render()));
            let again = spec.resolve(Some(own.layout().extents()), own.dtype()).unwrap();
            assert_eq!(again.stored_as(), own.stored_as(), "{printed}");
            let same = again.layout().same_function(own.layout());
            assert_eq!(
                (same, again.layout().capacity()),
                (Ok(true), own.layout().capacity()),
                "{printed}"
            );
            said += 1;
        }
    }
    assert!(said > 30, "{said}");
}

/// Of every row of the catalogue that packs elements: the dims that follow from the words have just these words.
#[test]
fn dims_follow_from_words() {
    let mut found = 0;
    for format in catalogue().filter(|format| !format.widths.is_empty()) {
        for (width, word) in
            format.widths.iter().flat_map(|width| [(width, Dtype::S32), (width, Dtype::S64)])
        {
            let element = dtype(&format!("u{}", width.bits)).unwrap();
            // With the constants that have to be given.
            let text = format.example.rsplit(' ').next().unwrap();
            let spec = Spec::parse(text).unwrap();
            for (m, n) in (1..9).flat_map(|m| (1..9).map(move |n| [16 * m, 32 * n].into())) {
                let Ok(own) = spec.stored_as(word).unwrap().resolve(Some(&[m, n]), Some(element))
                else {
                    continue;
                };
                let shape = own.stored_as().unwrap().shape();
                let Ok(again) = spec.in_words((word, shape), None, Some(element)) else {
                    // Words of the flattened array do not say its rows; those that a word splits have no dims.
                    assert!(format.flat || shape.len() == 1, "{} {m} {n}", format.name);
                    continue;
                };
                let Some(again) = again else {
                    // Words as wide as the elements are the array as it is.
                    assert_eq!(Some(width.bits), word.storage_bits(), "{}", format.name);
                    continue;
                };
                assert_eq!(again.stored_as(), own.stored_as(), "{}", format.name);
                // Padding is no part of the words' shape.
                assert!(again.layout().extents()[0] >= m && again.layout().extents()[1] >= n);
                assert_eq!(again.layout().capacity(), own.layout().capacity());
                found += 1;
            }
        }
    }
    assert!(found > 1500, "{found}");
}

#[test]
fn dims_follow_from_words_of_other_layouts() {
    let dims = |text: &str, shape: &[u64]| {
        let spec = Spec::parse(text).unwrap();
        let named = spec.in_words((Dtype::S32, shape), None, Some(Dtype::U4)).unwrap().unwrap();
        named.layout().extents().to_vec()
    };
    assert_eq!(dims("row-major as s32", &[3, 4]), [3, 32]);
    assert_eq!(dims("col-major as s32", &[3, 4]), [32, 3]);
    assert_eq!(dims("GPTQ^T", &[8, 12]), [12, 64]);
    assert_eq!(dims("MARLIN as s32", &[4, 128]), [64, 64]);
    assert_eq!(dims("(k1 k0:8) n -> k1 n k0 as s32", &[8, 12]), [64, 12]);
    assert_eq!(dims("… n (k1 k0:8) -> … | n | k1 k0 as s32", &[2, 3, 4]), [2, 3, 32]);
    let refused = |text: &str, shape: &[u64]| {
        let spec = Spec::parse(text).unwrap();
        spec.in_words((Dtype::S32, shape), None, Some(Dtype::U4)).unwrap_err()
    };
    for (text, shape) in
        [("MARLIN", &[4, 100][..]), ("zN as s32", &[2, 3]), ("BNB_4BIT", &[8, 1]), ("GPTQ", &[4])]
    {
        let error = refused(text, shape);
        assert!(error.needs_dims() && error.to_string().contains("s32["), "{text}: {error}");
    }
    assert!(refused("GPTQ as s32[8,13]", &[8, 12]).is_mismatch());
    assert!(
        refused("GPTQ as u32", &[8, 12])
            .to_string()
            .contains("is stored as u32, and the array is s32[8,12]")
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    for (text, said) in [
        (
            "u4[64,64] MARLIN as s32[4,127]",
            "stores 4096 elements of 4 bits, which are 512 words of s32, and s32[4,127] has 508; s32[4,128] fits",
        ),
        ("u4[64,64] MARLIN as s33", "no element type is called `s33`"),
        ("u4[64,64] MARLIN as u4", "a word has whole bytes, and u4 has not"),
        ("u4[64,64] MARLIN as pred2", "no element type"),
        ("u4[64,64] MARLIN as q4_0", "a word has whole bytes, and q4_0 has not"),
        ("u4[64,64] MARLIN as s32[]", "s32[] has 1; s32[4,128] fits"),
        ("u4[64,64] MARLIN as s32[4,128", "expected"),
        ("u4[64,64] MARLIN as", "no notation reads"),
        ("as s32", "no notation reads"),
        ("u4[64,64] MARLIN as s32[-1]", "expected an integer"),
        ("u4[64,64] MARLIN as s32[99999999999999999999]", "does not fit 64 bits"),
        ("u4[64,64] MARLIN as s32[4294967296,4294967296]", "has more than 2^64"),
        ("u4[64,64] MARLIN as s32 as s32", "no notation reads"),
        ("(4,8):(8,1) as s32", "needs the array's dtype, for the width of an element"),
        ("q4_0[64] row-major as u8", "blocks of q4_0, but words hold elements without blocks"),
        ("f32[4]E(24) row-major as s32", "elements of 24 bits, and a word of s32 has 32"),
        (">u4[4,4] row-major as u8", "little-endian"),
        ("u4[4,4] row-major as >i4", "big-endian"),
    ] {
        assert!(error(text).contains(said), "{text}: {}", error(text));
    }
    let spec = Spec::parse("  u4[64,64] MARLIN as  s33[2]").unwrap_err();
    assert_eq!(spec.span(), Some((23, 26)), "{}", spec.render());
    let general = Spec::parse("MARLIN as s32").unwrap();
    assert!(general.resolve(Some(&[64, 64]), None).unwrap_err().needs_dtype());
    assert!(general.resolve(None, Some(Dtype::U4)).unwrap_err().needs_dims());
    assert!(general.resolve(Some(&[64]), Some(Dtype::U4)).unwrap_err().is_mismatch());
}

#[test]
fn a_digit_may_be_called_as() {
    for text in ["m as -> as m", "m as -> m as", "as s32 -> as s32", "as s32 -> s32 as"] {
        assert_eq!(Spec::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn digits_go_backwards_and_bars_cut() {
    for text in
        ["(k1 k0:2) -> k1 -k0", "… k -> … k |", "m (k1 k0:4) -> -k1 | m k0", "m n -> | -m n"]
    {
        assert_eq!(Spec::parse(text).unwrap().to_string(), text);
    }
    let turned = named("u8[2,3] m n -> -m n");
    let at: Vec<i64> = (0..6).map(|i| turned.layout().offset_of(i).unwrap()).collect();
    assert_eq!(at, [3, 4, 5, 0, 1, 2]);
    assert_eq!(named(&turned.to_spec()), turned);
    for (text, said) in [
        ("m n -> n --m", "expected the name"),
        ("m n -> n m -", "expected the name"),
        ("m | n -> m n", "expected an axis"),
    ] {
        let error = Spec::parse(text).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

#[test]
fn formats_of_ones_own_have_words() {
    add_formats("[[format]]\nname = 'panel4'\npattern = '(k1 k0:8) n -> k1 | n k0'").unwrap();
    assert_eq!(words("u4[64,12] panel4 as s32"), "s32[8,12]");
    let spec = Spec::parse("panel4 as s32").unwrap();
    let found = spec.in_words((Dtype::S32, &[8, 12]), None, Some(Dtype::U4)).unwrap().unwrap();
    assert_eq!(found.layout().extents(), [64, 12]);
    // Others do not know the name.
    assert!(!found.to_spec().contains("panel4") && found.to_spec().ends_with(" as s32[8,12]"));
    assert_eq!(named(&found.to_spec()).layout(), found.layout());
}

#[test]
fn neighbours_over_two_rows_are_no_pattern() {
    let error = Spec::parse("u4[2,3] BNB_4BIT").unwrap().resolve(None, None).unwrap_err();
    assert!(error.to_string().contains("splits 2 neighbours over two rows"), "{error}");
    assert!(Spec::parse("u4[1,3] BNB_4BIT").unwrap().resolve(None, None).is_ok());
}

/// Words are for storage: other elements of the same layout have none, and elements of the same width keep them.
#[test]
fn elements_of_another_width_have_no_words() {
    let own = named("u4[3,5] row-major as s32");
    assert_eq!(own.layout().capacity(), 16);
    let signed = own.clone().with_elements(Some(Dtype::S4), Some(4), own.fill());
    assert_eq!(signed.to_spec(), "s4[3,5]E(4) (3,5):(5,1) as s32[2]");
    let whole = own.clone().with_elements(Some(Dtype::U4), None, own.fill());
    assert_eq!((whole.to_spec().as_str(), whole.layout().capacity()), ("u4[3,5] (3,5):(5,1)", 15));
}
