//! Triton's encodings: against its own tests' maps, and against formulas that enumerate threads and memory
//! with plain divisions.

use proptest::prelude::*;
use tilewright_core::{LinearLayout, Place};
use tilewright_notation::{Spec, notations};

fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap_or_else(|error| panic!("{}", error.render()))
}

fn list<T: std::fmt::Display>(values: &[T]) -> String {
    format!("[{}]", values.iter().map(T::to_string).collect::<Vec<_>>().join(", "))
}

/// A blocked encoding and how its blocks share the tensor.
fn blocked(size: &[u64], threads: &[u64], warps: &[u64], order: &[u64], blocks: &str) -> String {
    let comma = if blocks.is_empty() { "" } else { ", " };
    format!(
        "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}{comma}{blocks}}}>",
        list(size),
        list(threads),
        list(warps),
        list(order),
    )
}

fn ctas(count: &[u64], parts: &[u64], order: &[u64]) -> String {
    let (count, parts, order) = (list(count), list(parts), list(order));
    format!("CTAsPerCGA = {count}, CTASplitNum = {parts}, CTAOrder = {order}")
}

/// What Triton's own tests of these conversions expect (LinearLayoutConversionsTest.cpp).
#[test]
fn the_maps_of_tritons_own_tests() {
    let one = "";
    let four = blocked(&[1], &[4], &[4], &[0], one);
    let parent = blocked(&[2, 4], &[4, 2], &[2, 2], &[1, 0], &ctas(&[2, 2], &[2, 2], &[1, 0]));
    let shared = |vec: u64, per: u64, max: u64, order: &str| {
        format!(
            "#triton_gpu.shared<{{vec = {vec}, perPhase = {per}, maxPhase = {max}, order = {order}, hasLeadingOffset = false}}>"
        )
    };
    let cases: Vec<(String, Vec<u64>, &str)> = vec![
        (four.clone(), vec![16], "{register=[],lane=[1,2],warp=[4,8],block=[]} -> (dim0:16)"),
        (
            blocked(&[1], &[4], &[4], &[0], &ctas(&[4], &[2], &[0])),
            vec![32],
            "{register=[],lane=[1,2],warp=[4,8],block=[16,0]} -> (dim0:32)",
        ),
        (
            blocked(&[8, 1], &[8, 4], &[1, 4], &[0, 1], &ctas(&[1, 2], &[1, 2], &[1, 0])),
            vec![64, 128],
            "{register=[[1,0],[2,0],[4,0],[0,16],[0,32]],lane=[[8,0],[16,0],[32,0],[0,1],[0,2]],warp=[[0,4],[0,8]],block=[[0,64]]} -> (dim0:64,dim1:128)",
        ),
        (four, vec![128], "{register=[16,32,64],lane=[1,2],warp=[4,8],block=[]} -> (dim0:128)"),
        (
            blocked(&[1, 1], &[4, 1], &[4, 1], &[0, 1], one),
            vec![128, 1],
            "{register=[[16,0],[32,0],[64,0]],lane=[[1,0],[2,0]],warp=[[4,0],[8,0]],block=[]} -> (dim0:128,dim1:1)",
        ),
        (
            blocked(&[4], &[4], &[4], &[0], one),
            vec![8],
            "{register=[1,2],lane=[4,0],warp=[0,0],block=[]} -> (dim0:8)",
        ),
        (
            blocked(&[1, 1], &[32, 1], &[1, 8], &[0, 1], one),
            vec![1, 64],
            "{register=[[0,8],[0,16],[0,32]],lane=[[0,0],[0,0],[0,0],[0,0],[0,0]],warp=[[0,1],[0,2],[0,4]],block=[]} -> (dim0:1,dim1:64)",
        ),
        (
            blocked(&[2], &[4], &[1], &[0], one),
            vec![32],
            "{register=[1,8,16],lane=[2,4],warp=[],block=[]} -> (dim0:32)",
        ),
        (
            blocked(&[1, 4], &[8, 4], &[4, 1], &[1, 0], &ctas(&[2, 2], &[2, 1], &[1, 0])),
            vec![128, 16],
            "{register=[[0,1],[0,2],[32,0]],lane=[[0,4],[0,8],[1,0],[2,0],[4,0]],warp=[[8,0],[16,0]],block=[[0,0],[64,0]]} -> (dim0:128,dim1:16)",
        ),
        (
            blocked(&[1], &[1], &[4], &[0], &ctas(&[2], &[2], &[0])),
            vec![4],
            "{register=[],lane=[],warp=[1,0],block=[2]} -> (dim0:4)",
        ),
        (
            blocked(&[1], &[1], &[1], &[0], &ctas(&[4], &[4], &[0])),
            vec![2],
            "{register=[],lane=[],warp=[],block=[1,0]} -> (dim0:2)",
        ),
        (
            blocked(&[8, 1], &[8, 4], &[1, 4], &[0, 1], "CGALayout = [[0, 1]]"),
            vec![64, 1],
            "{register=[[1,0],[2,0],[4,0]],lane=[[8,0],[16,0],[32,0],[0,0],[0,0]],warp=[[0,0],[0,0]],block=[[0,0]]} -> (dim0:64,dim1:1)",
        ),
        (
            blocked(&[2, 2], &[4, 8], &[2, 2], &[1, 0], &ctas(&[2, 2], &[2, 2], &[1, 0])),
            vec![1024, 128],
            "{register=[[0,1],[1,0],[0,32],[16,0],[32,0],[64,0],[128,0],[256,0]],lane=[[0,2],[0,4],[0,8],[2,0],[4,0]],warp=[[0,16],[8,0]],block=[[0,64],[512,0]]} -> (dim0:1024,dim1:128)",
        ),
        (
            format!("#ttg.slice<{{dim = 0, parent = {parent}}}>"),
            vec![128],
            "{register=[1,2,16,32],lane=[4,0,0],warp=[8,0],block=[64,0]} -> (dim0:128)",
        ),
        (
            format!("#ttg.slice<{{dim = 1, parent = {parent}}}>"),
            vec![128],
            "{register=[1,16,32],lane=[0,2,4],warp=[0,8],block=[0,64]} -> (dim0:128)",
        ),
    ];
    for (text, dims, expected) in &cases {
        let map = spec(text).distribution(Some(dims), None).unwrap().unwrap();
        assert_eq!(map.to_string(), *expected, "{text}");
    }
    for (text, rows) in [
        (shared(1, 1, 4, "[1, 0]"), "[1,1],[2,2],[4,0],[8,0],[16,0]"),
        (shared(1, 2, 4, "[1, 0]"), "[1,0],[2,1],[4,2],[8,0],[16,0]"),
        (shared(4, 1, 4, "[1, 0]"), "[1,4],[2,8],[4,0],[8,0],[16,0]"),
        (shared(2, 2, 4, "[1, 0]"), "[1,0],[2,2],[4,4],[8,0],[16,0]"),
    ] {
        let columns = "[0,1],[0,2],[0,4],[0,8],[0,16]";
        let bases = format!("{{offset=[{columns},{rows}]}} -> (dim0:32,dim1:32)");
        let expected = LinearLayout::parse(&bases).unwrap();
        let layout = spec(&text).resolve(Some(&[32, 32]), None).unwrap();
        for offset in 0..1024 {
            let coord = expected.apply(&[offset]).unwrap();
            assert_eq!(layout.layout().locate(offset as i64), Ok(Place::Element(coord)), "{text}");
        }
    }
}

fn power(most: u32) -> impl Strategy<Value = u64> {
    (0..=most).prop_map(|bits| 1 << bits)
}

/// An index as one coordinate per dim of these extents, the first of `order` fastest.
fn unravel(mut index: u64, extents: &[u64], order: &[u64]) -> Vec<u64> {
    let mut coord = vec![0; extents.len()];
    for &dim in order {
        coord[dim as usize] = index % extents[dim as usize];
        index /= extents[dim as usize];
    }
    coord
}

fn two() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(power(2), 2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Registers, lanes and warps each walk their part of the tile; tiles follow one another; what is
    /// beyond the tensor comes round again.
    #[test]
    fn a_blocked_encoding_is_tiles_of_threads(
        (size, threads, warps) in (two(), two(), two()),
        order in prop::sample::select(vec![[1u64, 0], [0, 1]]),
        dims in prop::collection::vec(power(5), 2),
    ) {
        let encoding = blocked(&size, &threads, &warps, &order, "");
        let map = spec(&encoding).distribution(Some(&dims), None).unwrap().unwrap();
        let tile: Vec<u64> = (0..2).map(|d| size[d] * threads[d] * warps[d]).collect();
        let repeats: Vec<u64> = (0..2).map(|d| (dims[d] / tile[d]).max(1)).collect();
        let inside: u64 = size.iter().product();
        prop_assert_eq!(map.ins()[0].size(), inside * repeats.iter().product::<u64>());
        for register in 0..map.ins()[0].size() {
            let own = unravel(register % inside, &size, &order);
            let repeat = unravel(register / inside, &repeats, &order);
            for lane in 0..map.ins()[1].size() {
                let thread = unravel(lane, &threads, &order);
                for warp in 0..map.ins()[2].size() {
                    let of_warp = unravel(warp, &warps, &order);
                    let expected: Vec<u64> = (0..2)
                        .map(|d| {
                            let x = (of_warp[d] * threads[d] + thread[d]) * size[d] + own[d];
                            (x + repeat[d] * tile[d]) % dims[d]
                        })
                        .collect();
                    let image = map.apply(&[register, lane, warp, 0]).unwrap();
                    prop_assert_eq!(image.as_slice(), expected);
                }
            }
        }
        // Where every element has one holder, it is stored there.
        match spec(&encoding).resolve(Some(&dims), None) {
            Ok(named) => {
                prop_assert!(map.is_invertible());
                for place in 0..map.in_size() {
                    let coord = map.flatten_ins().apply(&[place]).unwrap();
                    prop_assert_eq!(named.layout().offset(coord.as_slice()), Ok(place as i64));
                }
                let again = spec(&named.to_spec()).resolve(None, None).unwrap();
                prop_assert_eq!(again.layout(), named.layout());
            }
            Err(error) => prop_assert!(!map.is_invertible() && error.is_unsupported()),
        }
    }

    /// Vectors of `vec` elements are xored with the row's phase.
    #[test]
    fn a_swizzled_encoding_is_a_xor_of_vectors(
        (vec, per, max) in (power(3), power(3), power(3)),
        row_first in any::<bool>(),
        (outer, rows, columns) in (power(2), power(5), power(6)),
    ) {
        let order = if row_first { "[1, 2, 0]" } else { "[2, 1, 0]" };
        let encoding = format!(
            "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {max}, order = {order}}}>"
        );
        let dims = if row_first { [outer, columns, rows] } else { [outer, rows, columns] };
        let named = spec(&encoding).resolve(Some(&dims), None).unwrap();
        prop_assert_eq!(named.layout().capacity(), outer * rows * columns);
        for batch in 0..outer {
            for row in 0..rows {
                for column in 0..columns {
                    let phase = row / per % max;
                    let moved = column ^ (phase * vec % columns);
                    let coord = if row_first { [batch, column, row] } else { [batch, row, column] };
                    let offset = (batch * rows + row) * columns + moved;
                    prop_assert_eq!(named.layout().offset(&coord), Ok(offset as i64));
                }
            }
        }
        let triton = notations().iter().find(|notation| notation.name() == "triton").unwrap();
        let again = spec(&triton.print(&named).unwrap()).resolve(Some(&dims), None).unwrap();
        prop_assert_eq!(again.layout().same_function(named.layout()), Ok(true));
    }

    /// Invertible bases of any kind, or a refusal that names what no strides say.
    #[test]
    fn a_linear_encoding_is_its_bases(bases in prop::collection::vec((0u64..4, 0u64..8), 5)) {
        let all = bases.iter().map(|(x, y)| format!("[{x}, {y}]")).collect::<Vec<_>>();
        let encoding = format!(
            "#ttg.linear<{{register = [{}], lane = [{}], warp = [{}], block = []}}>",
            all[0], all[1..3].join(", "), all[3..].join(", ")
        );
        let text = format!(
            "{{register=[{}],lane=[{}],warp=[{}],block=[]}} -> (dim0:4,dim1:8)",
            all[0], all[1..3].join(","), all[3..].join(",")
        );
        let expected = LinearLayout::parse(&text).unwrap();
        let found = spec(&encoding).distribution(Some(&[4, 8]), None);
        if expected.is_invertible() {
            prop_assert_eq!(found.unwrap(), Some(expected.clone()));
            match spec(&encoding).resolve(Some(&[4, 8]), None) {
                Ok(named) => for place in 0..32 {
                    let coord = expected.flatten_ins().apply(&[place]).unwrap();
                    prop_assert_eq!(named.layout().offset(coord.as_slice()), Ok(place as i64));
                },
                Err(error) => prop_assert!(error.to_string().contains("no strides"), "{}", error),
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(
        kind in prop::sample::select(vec!["blocked", "linear", "slice", "swizzled_shared", "shared_linear", "mma"]),
        body in "[{}\\[\\]<>#=,0-9 a-zA-Z]{0,40}",
        dims in prop::collection::vec(any::<u64>(), 0..4),
    ) {
        for text in [format!("#ttg.{kind}<{{{body}}}>"), format!("tensor<{body}>"), format!("#{body}")] {
            if let Ok(spec) = Spec::parse(&text) {
                let _ = spec.resolve(Some(&dims), None);
                let _ = spec.distribution(Some(&dims), None);
                prop_assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec);
            }
        }
    }
}

#[test]
fn extents_of_any_size_and_empty_lists() {
    let vast = blocked(&[1], &[32], &[4], &[0], "");
    let map = spec(&vast).distribution(Some(&[1 << 62]), None).unwrap().unwrap();
    assert_eq!(map.in_size(), 1 << 62);
    assert!(spec(&vast).distribution(Some(&[1 << 63]), None).is_err());
    assert!(spec(&vast).distribution(Some(&[0]), None).unwrap_err().is_unsupported());
    assert!(spec(&vast).distribution(Some(&[4, 4]), None).unwrap_err().is_mismatch());
    assert!(spec(&vast).distribution(None, None).unwrap_err().needs_dims());
    let scalar = spec("#ttg.linear<{register = [], lane = [], warp = [], block = []}>");
    assert_eq!(scalar.distribution(Some(&[]), None).unwrap().unwrap().in_size(), 1);
    assert!(scalar.distribution(Some(&[1, 1]), None).unwrap().is_some());
    // Bases that say their own tensor need no dims.
    let own =
        spec("#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [3, 2]], warp = [], block = []}>");
    assert_eq!(
        own.distribution(None, None).unwrap().unwrap().to_string(),
        "{register=[[0,1]],lane=[[1,0],[3,2]],warp=[],block=[]} -> (dim0:4,dim1:4)"
    );
    assert!(scalar.distribution(None, None).unwrap_err().needs_dims());
    // A tensor larger than the bases: registers repeat them, last dims first.
    let repeated = scalar.distribution(Some(&[2, 4]), None).unwrap().unwrap();
    assert_eq!(
        repeated.to_string(),
        "{register=[[0,1],[0,2],[1,0]],lane=[],warp=[],block=[]} -> (dim0:2,dim1:4)"
    );
    // A smaller one: registers that would hold the same are left out, threads are not.
    let smaller =
        spec("#ttg.linear<{register = [[1], [8]], lane = [[2], [4]], warp = [[16]], block = []}>");
    assert_eq!(
        smaller.distribution(Some(&[4]), None).unwrap().unwrap().to_string(),
        "{register=[1],lane=[2,0],warp=[0],block=[]} -> (dim0:4)"
    );
}

#[test]
fn faults_are_pointed_at() {
    let at = |text: &str, words: &str| {
        let error = Spec::parse(text).unwrap_err();
        assert!(error.to_string().contains(words), "{text}: {error}");
        let (from, to) = error.span().unwrap_or_else(|| panic!("{text}: {error}"));
        text.get(from..to).unwrap_or_else(|| panic!("{text}: {from}..{to}")).to_owned()
    };
    assert_eq!(at("#ttg.blokced<{}>", "did you mean `blocked`?"), "blokced");
    assert_eq!(at("#tt.blocked<{}>", "no encoding of `ttg`"), "tt");
    let text = "#ttg.blocked<{sizePerThread=[1], threadsPerWarp=[33], warpsPerCTA=[1], order=[0]}>";
    assert_eq!(at(text, "powers of two"), "[33]");
    let text =
        "#ttg.blocked<{sizePerThread=[1,1], threadsPerWarp=[1,1], warpsPerCTA=[1,1], order=[1,1]}>";
    assert_eq!(at(text, "each dim once"), "[1,1]");
    let text = "#ttg.swizzled_shared<{vec=1, perPhase=3, maxPhase=1, order=[0]}>";
    assert_eq!(at(text, "power of two"), "3");
    let text = "#ttg.linear<{register=[[1,0],[2]], lane=[], warp=[], block=[]}>";
    assert!(at(text, "bases of 2 and of 1").starts_with("{register"));
    let text = "#ttg.slice<{dim = 2, parent = #ttg.blocked<{sizePerThread=[1], threadsPerWarp=[1], warpsPerCTA=[1], order=[0]}>}>";
    assert_eq!(at(text, "the parent has 1 dims"), "2");
    assert_eq!(
        at(
            "#ttg.shared<{vec=1, perPhase=1, maxPhase=1, order=[0], hasLeadingOffset=true}>",
            "leading"
        ),
        "true"
    );
    assert_eq!(
        at("tensor<4x5xf17, #ttg.linear<{register=[], lane=[], warp=[], block=[]}>>", ""),
        "f17"
    );
    let deep = format!("{}#x{}", "#ttg.slice<{dim = 0, parent = ".repeat(2000), "}>".repeat(2000));
    assert!(at(&deep, "nested deeper").starts_with("#ttg"));
}

/// What has no words in Triton is refused with the feature that has none.
#[test]
fn printing_refuses_what_is_not_linear_over_bits() {
    let triton = notations().iter().find(|notation| notation.name() == "triton").unwrap();
    let print = |text: &str| triton.print(&spec(text).resolve(None, None).unwrap());
    for (text, expected) in [
        (
            "f16[4,8] row-major",
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
        ),
        (
            "f16[4,8] col-major",
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>",
        ),
        (
            "Sw<3,3,3> o (8,64):(64,1)",
            "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        ),
        (
            "f16[32,32] zN",
            "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 16]]}, alignment = 16>",
        ),
        // Dims that tiles merge are bits too, where all of them are powers of two.
        (
            "f32[4,2,4]{2,1,0:T(2,*,4)}",
            "#ttg.shared_linear<{offset = [[0, 0, 1], [0, 0, 2], [1, 0, 0], [0, 1, 0], [2, 0, 0]]}, alignment = 16>",
        ),
    ] {
        assert_eq!(print(text).unwrap(), expected, "{text}");
    }
    for (text, words) in [
        ("f16[100,100] zN", "padding"),
        ("[3,4] row-major", "extent 3"),
        ("4:2", "padding"),
        ("4:-1+3", "linear over bits"),
        ("f32[3,2,5]{2,1,0:T(2,*,4)}", "padding"),
    ] {
        let error = print(text).unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains(words), "{text}: {error}");
    }
}
