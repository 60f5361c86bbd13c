//! Index tables in SPECs: read, printed, resolved; what they mean by the definition; and what is refused, where.

use proptest::prelude::*;
use tilewright_core::{Dtype, Place};
use tilewright_notation::{ArrayLayout, Error, Lists, MAX_TEXT, Spec, formats_with_tables};

/// One tensor and one file of numbers.
struct Numbers(Vec<i64>);

impl Lists for Numbers {
    fn file(&self, path: &str) -> Result<Vec<i64>, Error> {
        self.tensor(path)
    }

    fn tensor(&self, name: &str) -> Result<Vec<i64>, Error> {
        match name {
            "model.g_idx" | "a (b).npy" => Ok(self.0.clone()),
            other => Err(Error::unsupported(format!("nothing is called {other}"))),
        }
    }
}

fn layout(text: &str) -> ArrayLayout {
    let spec = Spec::parse(text).unwrap_or_else(|error| panic!("{}", error.render()));
    spec.array_layout(None, None, &()).unwrap_or_else(|error| panic!("{}", error.render()))
}

/// Stored index i of the dim holds index `list[i]` of the array.
#[test]
fn the_definition_holds_over_every_layout_behind() {
    let list = [5usize, 0, 7, 2, 1, 4, 3, 6];
    for (rest, dtype) in [
        ("row-major", "f16"),
        ("col-major", "f32"),
        ("zN", "f16"),
        ("{0,1:T(2,4)}", "bf16"),
        ("BA4a8b", "f32"),
        ("(m1 m0:4) n -> m1 n m0", "f16"),
        ("numpy:order=F", "f16"),
    ] {
        let array = format!("{dtype}[8,16]");
        let Ok(plain) = Spec::parse(&format!("{array} {rest}")) else { continue };
        let plain = plain.resolve(None, None).unwrap();
        let text = list.map(|index| index.to_string()).join(",");
        let tabled = layout(&format!("{array} table(0; {text}) {rest}"));
        assert!(tabled.has_tables());
        for (place, index) in list.iter().enumerate() {
            for column in 0..16 {
                let stored = plain.layout().offset(&[place as u64, column]).unwrap();
                let coord = [*index as u64, column];
                assert_eq!(tabled.layout().offset(&coord), Ok(stored), "{rest}");
                let Ok(Place::Element(found)) = tabled.layout().locate(stored) else {
                    panic!("{rest}")
                };
                assert_eq!(found.as_slice(), coord);
            }
        }
    }
}

#[test]
fn texts_are_read_and_printed() {
    for (text, canonical) in [
        ("f16[4,8] table(0; 0,2,3,1) row-major", None),
        (
            " f16[4,8]   table ( 0 ;0 , 2,3..4, 1 )   row-major ",
            Some("f16[4,8] table(0; 0,2,3,1) row-major"),
        ),
        ("f16[8,4] table(0; 4..8,1,0,2..4) table(1; 2,0,3,1) zN", None),
        ("f16[3,8] table(0; 2,-,0,1) zN", None),
        (
            "u4[64,16]E(4) table(0; 32..64,1,0,2..32) AWQ as s32",
            Some("u4[64,16]E(4) table(0; 32..64,1,0,2..32) AWQ as s32"),
        ),
        (">f4[4,8] table(0; 0,2,3,1) col-major", None),
        ("f16[16,32] table(0/8,1/16; 3,0..3) (3,8,4):(1,2,3)", Some("refused")),
        ("[4,8] table(0; 0,2,3,1) (4,8):(8,1)", None),
        ("f16[4]fill(0) table(0; 3,-,0..3) row-major", None),
        ("table(0; 0,2,3,1) zN", None),
        ("table(1; tensor model.g_idx) MARLIN", None),
        ("table(0; @'a (b).npy') zN", Some("table(0; @\"a (b).npy\") zN")),
        ("table(0; @order.npy) zN", None),
        ("f16[8,4] table(0/2%2; 1,0) row-major", None),
        ("u1[64,5,3]E(1) table(0%32,2; ..) (p1 p0:32) k n -> k p1 n p0", None),
        ("f16[2,4] table ( 0 , 1 ;.. ) row-major", Some("f16[2,4] table(0,1; ..) row-major")),
        ("table(0/4; parts 3, 1,1) zN", Some("table(0/4; parts 3,1,1) zN")),
        ("u1[64,5,3] GPTQ_3BIT_BITS as s32", Some("u1[64,5,3] GPTQ_3BIT as s32")),
        ("u1[64,5,3]fill(0) format:GPTQ_3BIT", Some("u1[64,5,3]fill(0) GPTQ_3BIT")),
        ("MEGATRON_QKV_GQA[ HEAD=4, Q = 3 ]", Some("MEGATRON_QKV[Q=3,HEAD=4]")),
    ] {
        let read = Spec::parse(text);
        if canonical == Some("refused") {
            assert!(read.is_err(), "{text}");
            continue;
        }
        let spec = read.unwrap_or_else(|error| panic!("{text}: {}", error.render()));
        assert_eq!(spec.to_string(), canonical.unwrap_or(text));
        assert_eq!(Spec::parse(&spec.to_string()).unwrap().to_string(), spec.to_string());
        assert!(spec.has_tables());
        if spec.is_concrete() {
            let tabled = spec.array_layout(None, None, &()).unwrap();
            let again = layout(&tabled.to_spec());
            assert_eq!(again.layout(), tabled.layout(), "{text}");
            assert_eq!(again.to_spec(), tabled.to_spec());
            let facts = |it: &ArrayLayout| {
                let stored = it.stored();
                (
                    stored.dtype(),
                    stored.element_bits(),
                    stored.fill(),
                    stored.byte_order(),
                    stored.stored_as().cloned(),
                )
            };
            assert_eq!(facts(&again), facts(&tabled), "{text}");
        }
    }
}

/// `..` makes one dim of several, `parts` takes a group of each part in turn, and `%` permutes within groups.
#[test]
fn lists_by_a_word() {
    let merged = layout("f16[2,3] table(0,1; ..) (p1 p0:4) -> p0 p1");
    let offsets = |of: &ArrayLayout, columns: u64| {
        let at = |index| of.layout().offset(&[index / columns, index % columns]).unwrap();
        let size = of.layout().size();
        (0..size).map(at).collect::<Vec<_>>()
    };
    assert_eq!(offsets(&merged, 3), [0, 2, 4, 6, 1, 3]);
    // Two groups: of 2, 1 and 1 of the parts 0..4, 4..6 and 6..8.
    let parts = layout("f16[8,1] table(0; parts 2,1,1) row-major");
    assert_eq!(offsets(&parts, 1), [0, 1, 4, 5, 2, 6, 3, 7]);
    let groups = layout("f16[8,1] table(0/2%2,1; 1,0) row-major");
    // Stored dims: the block of the pair, and the pair with the position in the block.
    assert_eq!(offsets(&groups, 1), [4, 5, 0, 1, 6, 7, 2, 3]);
    let error = |text: &str| {
        let spec = Spec::parse(text)?;
        spec.array_layout(None, None, &()).map(|array| array.to_spec())
    };
    let said = |text| error(text).unwrap_err().to_string();
    assert_eq!(
        said("f16[8] table(0; parts 2,1) row-major"),
        "parts 2,1 need a multiple of 3 indices, and there are 8"
    );
    assert!(said("f16[8] table(0; parts 0) row-major").starts_with("a table has at most 32 parts"));
    assert!(
        said("f16[8] table(0%3; 0,1,2) row-major")
            .starts_with("groups of 3 blocks of 1 do not divide")
    );
    let large = format!("f16[{}] table(0; ..) row-major", 1u64 << 40);
    assert!(error(&large).unwrap_err().is_limit());
}

/// Each name stands for its table and its layout, and reads back as itself.
#[test]
fn names_stand_for_tables() {
    for format in formats_with_tables() {
        let spec = Spec::parse(format.example).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(spec.to_string(), format.example);
        let named = spec.array_layout(None, None, &()).unwrap();
        assert_eq!(layout(&named.to_spec()).layout(), named.layout(), "{}", format.name);
        let (array, name) = format.example.split_once(' ').unwrap();
        let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        let values: Vec<u64> = match format.parameters.len() {
            0 => Vec::new(),
            _ => numbers.map(|part| part.parse().unwrap()).collect(),
        };
        let width =
            format.bits.filter(|bits| *bits < 8).map_or(String::new(), |bits| format!("E({bits})"));
        let written = layout(&format!("{array}{width} {}", format.text(&values).unwrap()));
        assert_eq!(written.layout(), named.layout(), "{}", format.name);
        assert_eq!(written.stored().element_bits(), named.stored().element_bits());
        let general = Spec::parse(name).unwrap();
        let (dims, dtype) = (named.layout().extents(), named.stored().dtype());
        let again = general.array_layout(Some(dims), dtype, &()).unwrap();
        assert_eq!((again.layout(), again.to_spec()), (named.layout(), named.to_spec()));
        for alias in format.aliases {
            let alias = name.replacen(format.name, alias, 1);
            assert_eq!(Spec::parse(&alias).unwrap().to_string(), name);
        }
        for by in [&dims[..1], &[dims, &[2, 2, 2]].concat()[..]] {
            if format.dims.last() != Some(&"…") {
                assert!(!general.fits(by.len()));
                assert!(general.array_layout(Some(by), dtype, &()).unwrap_err().is_mismatch());
            }
        }
    }
    for (text, said) in [
        ("u1[64,5] GPTQ_3BIT", "GPTQ_3BIT is for arrays of [K, N, 3], not of [64, 5]"),
        ("u1[64,5,2] GPTQ_3BIT", "GPTQ_3BIT is for arrays of [K, N, 3], not of [64, 5, 2]"),
        (
            "u8[16,4,99] Q8_0_4x4",
            "Q8_0_4x4 is for arrays of [rows, blocks, 34], not of [16, 4, 99]",
        ),
        ("u4[64,5,3] GPTQ_3BIT", "GPTQ_3BIT needs elements of 1 bit, such as u1, and they are u4"),
        ("u1[64,5,3]E(8) GPTQ_3BIT", "GPTQ_3BIT stores elements in 1 bit, and E(8) in 8"),
        ("u8[64]E(16) Q8_0_4x4", "Q8_0_4x4 is for arrays of [rows, blocks, 34], not of [64]"),
        ("u8[16,4,34]E(16) Q8_0_4x4", "Q8_0_4x4 stores elements in 8 bits, and E(16) in 16"),
        ("u1[60,5,3] GPTQ_3BIT", "groups of 32 blocks of 1 do not divide the 60 indices of dim 0"),
        (
            "f32[24,8] MEGATRON_QKV[Q=4,HEAD=3]",
            "parts 4,1,1 in blocks of 3 need a multiple of 18 indices, and dim 0 has 24",
        ),
        ("MEGATRON_QKV", "MEGATRON_QKV needs Q and HEAD, as in `MEGATRON_QKV[Q=4,HEAD=4]`"),
        ("MEGATRON_QKV[R=2]", "MEGATRON_QKV does not take the parameter `R`; legal are Q, HEAD"),
        ("MEGATRON_QKV[Q=2,Q=2]", "Q is set once, to 1 or more"),
        ("SM90_MIXED_FP4^T", "SM90_MIXED_FP4 has no transposed form"),
        ("GPTQ_3BITS", "did you mean `GPTQ_3BIT`"),
    ] {
        let error = Spec::parse(text).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

/// What names dims and type nowhere takes them from the caller.
#[test]
fn a_general_text_is_of_any_array_that_fits() {
    let spec = Spec::parse("table(0; 0,2,3,1) zN").unwrap();
    assert!(!spec.is_concrete() && spec.fits(2) && !spec.fits(1));
    assert!(spec.array_layout(None, None, &()).unwrap_err().needs_dims());
    assert!(spec.array_layout(Some(&[4, 8]), None, &()).unwrap_err().needs_dtype());
    let tabled = spec.array_layout(Some(&[4, 8]), Some(Dtype::F16), &()).unwrap();
    assert_eq!(tabled.to_spec(), "f16[4,8] table(0; 0,2,3,1) zN");
    // Two dims become one.
    let blocks = Spec::parse("table(0,1; 5..10,0..5) row-major").unwrap();
    let tabled = blocks.array_layout(Some(&[2, 5]), Some(Dtype::F16), &()).unwrap();
    assert!(!tabled.has_tables(), "halves that change places are digits");
    let error = spec.array_layout(Some(&[5, 8]), Some(Dtype::F16), &()).unwrap_err();
    assert!(error.to_string().starts_with("index 4 of the array is stored nowhere"), "{error}");
}

/// The definition of blocks: what is stored at place i of the merged dim is block `list[i]`, row-major.
#[test]
fn blocks_of_several_dims() {
    let tabled = layout("f16[16,32] table(0/8,1/16; 3,0,2,1) row-major");
    let list = [3u64, 0, 2, 1];
    for (m, n) in (0..16u64).flat_map(|m| (0..32u64).map(move |n| (m, n))) {
        let block = m / 8 * 2 + n / 16;
        let place = list.iter().position(|entry| *entry == block).unwrap() as u64;
        let offset = (place * 8 + m % 8) * 16 + n % 16;
        assert_eq!(tabled.layout().offset(&[m, n]), Ok(offset as i64));
    }
    assert_eq!(tabled.to_spec(), "f16[16,32] table(0/8,1/16; 3,0,2,1) row-major");
}

#[test]
fn tables_that_are_digits_are_layouts_like_any_other() {
    for (text, modes) in [
        ("f16[4,8] table(0; 0,2,1,3) row-major", "((2,2),8):((16,8),1)"),
        ("f16[4,8] table(0; 0..4) row-major", "(4,8):(8,1)"),
        ("f16[4,8] table(1; 4..8,0..4) row-major", "(4,(4,2)):(8,(1,-4))+4"),
        ("f16[4,8] table(0; 3,2,1,0) row-major", "(4,8):(-8,1)+24"),
    ] {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        assert_eq!(named.layout().layout().to_string(), modes, "{text}");
        assert_eq!(named.to_spec(), text);
        assert!(!layout(text).has_tables());
    }
    let swapped = Spec::parse("u4[64,16]E(4) table(0; 32..64,0..32) AWQ as s32").unwrap();
    let named = swapped.resolve(None, None).unwrap();
    assert!(named.stored_as().is_some());
    let plain = Spec::parse("u4[64,16]E(4) AWQ").unwrap().resolve(None, None).unwrap();
    for (row, column) in (0..64).flat_map(|row| (0..16).map(move |column| (row, column))) {
        let there = plain.layout().offset(&[(row + 32) % 64, column]);
        assert_eq!(named.layout().offset(&[row, column]), there);
    }
    let again = Spec::parse(&named.to_spec()).unwrap().resolve(None, None).unwrap();
    assert_eq!(again.layout(), named.layout());
}

/// Tensors: a list, a list with holes, and groups as GPTQ's `g_idx`.
#[test]
fn lists_come_from_a_file_or_a_tensor() {
    let spec = Spec::parse("f16[4,2] table(0; tensor model.g_idx) row-major").unwrap();
    let of = |numbers: &[i64]| {
        spec.array_layout(None, None, &Numbers(numbers.to_vec())).map(|tabled| tabled.to_spec())
    };
    assert_eq!(of(&[3, 0, 2, 1]).unwrap(), "f16[4,2] table(0; 3,0,2,1) row-major");
    assert_eq!(of(&[3, -1, 0, 2, 1]).unwrap(), "f16[4,2] table(0; 3,-,0,2,1) row-major");
    assert_eq!(of(&[1, 0, 0, 1]).unwrap(), "f16[4,2] table(0; 1,2,0,3) row-major");
    // A list with an index twice is no list of groups: these have two indices and more each.
    assert!(
        of(&[3, 0, 2, 2])
            .unwrap_err()
            .to_string()
            .contains("index 2 of the array is stored at 2 and at 3")
    );
    assert!(of(&[0, 0, 0, 1, 1]).is_err());
    let file = Spec::parse("f16[4,2] table(0; @\"a (b).npy\") row-major").unwrap();
    let listed = file.array_layout(None, None, &Numbers(vec![3, 0, 2, 1])).unwrap();
    assert_eq!(listed.to_spec(), "f16[4,2] table(0; 3,0,2,1) row-major");
    // The same number of indices in each group, and fewer in the last, of up to four groups of up to three.
    for (each, groups) in (2..4u64).flat_map(|each| (1..5u64).map(move |groups| (each, groups))) {
        for last in 1..=each {
            let mut numbers: Vec<i64> =
                (0..groups - 1).flat_map(|g| (0..each).map(move |_| g as i64)).collect();
            numbers.extend((0..last).map(|_| groups as i64 - 1));
            numbers.reverse();
            if groups == 1 && last < 2 {
                continue;
            }
            let count = numbers.len();
            let spec = Spec::parse(&format!("f16[{count}] table(0; tensor model.g_idx) row-major"))
                .unwrap();
            let found = spec.array_layout(None, None, &Numbers(numbers.clone())).unwrap();
            let mut order: Vec<u64> = (0..count as u64).collect();
            order.sort_by_key(|index| numbers[*index as usize]);
            for (place, index) in order.into_iter().enumerate() {
                assert_eq!(found.layout().offset(&[index]), Ok(place as i64), "{numbers:?}");
            }
        }
    }
    assert!(
        spec.array_layout(None, None, &())
            .unwrap_err()
            .to_string()
            .contains("a file of tensors is read")
    );
    assert!(file.array_layout(None, None, &()).unwrap_err().is_unsupported());
}

#[test]
fn what_is_refused_says_where() {
    for (text, at, said) in [
        (
            "f16[4] table(0; 0,2,2,1) row-major",
            "table(0; 0,2,2,1)",
            "index 2 of the array is stored at 1 and at 2; a layout gives each element one place",
        ),
        (
            "f16[4] table(0; 0,2,1) row-major",
            "table(0; 0,2,1)",
            "index 3 of the array is stored nowhere: the list has 3 entries, and the dim 4 indices; list every index once",
        ),
        (
            "f16[4] table(0; 0,2,1,4) row-major",
            "table(0; 0,2,1,4)",
            "entry 3 of an index table is 4, but the dim has 4 indices; entries count from 0; a hole is written -",
        ),
        (
            "f16[4] table(1; 0,2,1,3) row-major",
            "table(1; 0,2,1,3)",
            "an index table names dim 1 of an array of 1 dims; dims count from 0",
        ),
        (
            "f16[4,4] table(1,0; 0) row-major",
            "table(1,0; 0)",
            "an index table names dim 1 and then 0; name each dim once, in ascending order",
        ),
        (
            "f16[5] table(0/2; 0) row-major",
            "table(0/2; 0)",
            "blocks of 2 do not divide the 5 indices of dim 0; an index table needs whole blocks",
        ),
        (
            "f16[5] table(0/0; 0) row-major",
            "table(0/0; 0)",
            "blocks of length 0 of dim 0; a block has at least 1 index",
        ),
        (
            "f16[4] table(0; 0,x) row-major",
            "x",
            "expected an index, a range such as `0..8`, `-` for a hole, or `..` for all in order, found `x`",
        ),
        (
            "f16[4] table(0; 3..1) row-major",
            "3..1",
            "the range 3..1 is empty; a range excludes its end, so the end must be larger than the start",
        ),
        (
            "f16[4] table(0) row-major",
            ")",
            "expected `,` and another dim, or `;` and the list, found `)`",
        ),
        ("f16[4] table(0; 0,1 row-major", "r", "expected `)`, found `r`"),
        ("f16[4] table(0; @) row-major", ")", "expected the path of a list of numbers, found `)`"),
        ("f16[4] table(0; tensor ) row-major", ")", "expected the name of a tensor, found `)`"),
        (
            "f16[2] table(0; 1,0)",
            "table(0; 1,0)",
            "the layout after the index table is missing; write it, as in `table(0; 1,0) row-major`",
        ),
        (
            "f16 table(0; 1,0) row-major",
            "f16",
            "expected an array before the index table, such as `f16[4,8]`",
        ),
        (
            "f16[2]{0} table(0; 1,0) row-major",
            "{0}",
            "a layout comes before the index table; put it after the table",
        ),
        (
            "f16[2] table(0; 1,0) f16[2] table(0; 1,0) row-major",
            "f16[2] table(0; 1,0) row-major",
            "an index table comes after a layout; put tables between the array and the layout",
        ),
        ("f16[2] table(0; 1,0) row-mayor", "row-mayor", "did you mean `row-major`?"),
    ] {
        let error = Spec::parse(text).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
        let (from, to) = error.span().unwrap_or_else(|| panic!("{text}: {error} is nowhere"));
        assert_eq!(&text[from..to], at, "{text}: {error}");
    }
    let long = format!("f16[2] table(0; 0..{}) row-major", u64::MAX);
    assert!(Spec::parse(&long).unwrap_err().is_limit());
    let error =
        Spec::parse("f16[4] table(0; 0,2,3,1) row-major").unwrap().resolve(None, None).unwrap_err();
    assert!(
        error.is_unsupported()
            && error
                .to_string()
                .contains("index, same, explain, relayout, convert and TabledLayout")
    );
}

/// A list is longer than other texts may be; beyond its own bound it is refused.
#[test]
fn long_lists_are_read() {
    let list = |count: usize| {
        let entries: Vec<String> = (0..count).map(|i| (i * 7 % count).to_string()).collect();
        format!("f16[{count},2] table(0; {}) row-major", entries.join(","))
    };
    let text = list(100_000);
    assert!(text.len() > MAX_TEXT);
    let read = layout(&text);
    assert_eq!(read.layout().offset(&[7, 1]), Ok(3));
    assert_eq!(layout(&read.to_spec()).layout(), read.layout());
    assert!(Spec::parse(&list(1_000_000)).unwrap_err().is_limit());
    // A text without tables stays within the bound of others.
    assert!(Spec::parse(&format!("row-major{}", " ".repeat(MAX_TEXT))).unwrap_err().is_limit());
}

/// No text of brackets, tables and nonsense takes long, or runs out of stack.
#[test]
fn deep_and_long_texts_end() {
    for part in [
        "table(0; 0) ",
        "f16[1] table(0; 0) ",
        "table(",
        "(",
        "table(0;",
        "table(0; -,",
        "table(0; 0..9,",
    ] {
        let text = part.repeat(MAX_TEXT / part.len());
        assert!(Spec::parse(&text).is_err());
        assert!(Spec::parse(&format!("f16[1] {text}")).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tilewright_testing::cases(3000, 600), ..ProptestConfig::default() })]

    #[test]
    fn any_text_ends(text in "(f16\\[[0-9,]{0,4}\\]|table\\(|[0-9]{1,2}|[-,;./@()]|tensor|\\.\\.| |zN|row-major){0,14}") {
        if let Ok(spec) = Spec::parse(&text) {
            let again = Spec::parse(&spec.to_string());
            prop_assert!(again.is_ok(), "{text}: {spec}");
            prop_assert_eq!(again.unwrap().to_string(), spec.to_string());
            let _ = spec.array_layout(Some(&[4, 8]), Some(Dtype::F16), &());
        }
    }

    /// A shuffled list with holes is printed and read as itself, with any layout behind.
    #[test]
    fn lists_are_printed_and_read(list in proptest::collection::vec(0u64..3, 1..40).prop_map(|steps| {
        // Runs that begin somewhere: each step begins a run at the end or at the front, or makes a hole.
        let (mut list, mut next) = (Vec::new(), 0u64);
        for step in steps {
            match step {
                0 => { list.push(Some(next)); next += 1; }
                1 => { list.insert(0, Some(next)); next += 1; }
                _ => list.push(None),
            }
        }
        if next == 0 { list.push(Some(0)); next = 1; }
        (list, next)
    })) {
        let (list, extent) = list;
        let entries: Vec<String> =
            list.iter().map(|entry| entry.map_or("-".to_owned(), |index| index.to_string())).collect();
        let text = format!("f16[{extent},3] table(0; {}) col-major", entries.join(","));
        let read = layout(&text);
        for (place, index) in list.iter().enumerate() {
            if let Some(index) = index {
                let offset = 2 * list.len() as i64 + place as i64;
                prop_assert_eq!(read.layout().offset(&[*index, 2]), Ok(offset));
            }
        }
        if read.has_tables() {
            let again = layout(&read.to_spec());
            prop_assert_eq!(again.layout(), read.layout());
        }
    }
}
