//! The storage of a module's arrays, in their layouts and under other tilings.

use std::path::PathBuf;

use tilewright_xla::{ArrayShape, HloModule, PrimitiveType, Tiling};

fn module(name: &str) -> HloModule {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/hlo").join(name);
    HloModule::from_bytes(&std::fs::read(path).unwrap()).unwrap()
}

fn tiled(tiling: &str, array: &str) -> String {
    let array = ArrayShape::parse(array).unwrap();
    Tiling::parse(tiling).unwrap().apply(&array).unwrap().to_string()
}

#[test]
fn the_inner_tile_is_that_of_the_width() {
    for (array, wanted) in [
        ("f32[20,200]{0,1}", "f32[20,200]{0,1:T(8,128)}"),
        ("c128[20,200]", "c128[20,200]{1,0:T(8,128)}"),
        ("f16[20,200]{1,0}", "f16[20,200]{1,0:T(8,128)(2,1)}"),
        ("u8[20,200]{1,0}", "u8[20,200]{1,0:T(8,128)(4,1)}"),
        ("f8e4m3fn[20,200]{1,0}", "f8e4m3fn[20,200]{1,0:T(8,128)(4,1)}"),
        ("pred[20,200]{1,0}", "pred[20,200]{1,0:T(8,128)(4,1)}"),
        ("s4[20,200]{1,0}", "s4[20,200]{1,0:T(8,128)(8,1)E(4)}"),
        ("f4e2m1fn[20,200]{1,0}", "f4e2m1fn[20,200]{1,0:T(8,128)(8,1)E(4)}"),
        ("u2[20,200]{1,0}", "u2[20,200]{1,0:T(8,128)(8,1)E(2)}"),
        ("f32[300]{0}", "f32[300]{0:T(1024)}"),
        ("s8[300]{0}", "s8[300]{0:T(1024)(128)(4,1)}"),
        ("f32[]", "f32[]"),
        // The array's former properties are gone.
        ("f32[20,200]{1,0:T(2,128)L(64)S(1)}", "f32[20,200]{1,0:T(8,128)}"),
    ] {
        assert_eq!(tiled("T(8,128)", array), wanted, "{array}");
    }
    assert_eq!(tiled(" T(32, 128)", "u2[20,200]"), "u2[20,200]{1,0:T(32,128)(16,1)E(2)}");
    assert_eq!(tiled("T(1,128)", "bf16[20,200]"), "bf16[20,200]{1,0:T(1,128)}");
}

#[test]
fn any_other_tiling_is_applied_as_it_is_written() {
    for (tiling, array, wanted) in [
        ("T(8,128)(2,1)", "f32[20,200]{0,1}", "f32[20,200]{0,1:T(8,128)(2,1)}"),
        ("T(256)", "bf16[20,200]", "bf16[20,200]{1,0:T(256)}"),
        ("T(256)", "f32[]", "f32[]{:T(256)}"),
        ("T(8,128)L(64)", "bf16[20,200]", "bf16[20,200]{1,0:T(8,128)L(64)}"),
        ("T(2,*,128)", "bf16[2,20,200]", "bf16[2,20,200]{2,1,0:T(2,*,128)}"),
        ("{0,1:T(8,128)}", "bf16[20,200]", "bf16[20,200]{0,1:T(8,128)}"),
        ("{0,1:T(8,128)}", "bf16[2,20,200]", "bf16[2,20,200]"),
        ("{}", "f32[2]{0:T(8)}", "f32[2]{0:T(8)}"),
    ] {
        assert_eq!(tiled(tiling, array), wanted, "{tiling} {array}");
    }
}

#[test]
fn a_tiling_at_fault_is_told_with_its_place() {
    for (text, span, why) in [
        ("", (0, 0), "expected tiles such as `T(8,128)`"),
        ("T(8,0)", (4, 5), "extent 0 of dim 1 of a tile"),
        ("T(8,*)", (4, 5), "`*` is the last"),
        ("8,128", (0, 1), "expected the end"),
        ("T(8,128))", (8, 9), "expected the end"),
        ("E(4)T(8)", (4, 5), "out of order"),
        ("{0,0:T(8)}", (3, 4), "named twice"),
    ] {
        let error = Tiling::parse(text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!(error.span(), span, "{text}: {error}");
    }
}

/// Every element type with values, laid out by hand.
#[test]
fn a_tpu_tile_pads_as_its_tiles_alone_do() {
    let tiling = Tiling::parse("T(8,128)").unwrap();
    let mut widths = 0;
    for number in 1..=34 {
        let Some(of) = PrimitiveType::from_number(number).filter(|of| of.storage_bits().is_some())
        else {
            continue;
        };
        let tiled = tiling.apply(&ArrayShape::new(of, &[3, 20, 200])).unwrap();
        let packed = of.bits().filter(|&bits| bits < 8 && of != PrimitiveType::Pred);
        let bits = u64::from(packed.or(of.storage_bits()).unwrap());
        assert_eq!(tiled.bytes(), Ok(3 * 24 * 256 * bits / 8), "{of}");
        assert_eq!(tiled.unpadded_bytes(), Ok(3 * 20 * 200 * bits / 8), "{of}");
        widths += 1;
    }
    assert_eq!(widths, 30);
}

#[test]
fn buffers_are_ranked_by_what_they_waste() {
    let tiling = Tiling::parse("T(8,128)").unwrap();
    for (name, own) in [("cnn", 8), ("rng", 3), ("scan_fft", 6)] {
        let of_text = module(&format!("{name}.txt"));
        let of_proto = module(&format!("{name}.pb"));
        for tiling in [None, Some(&tiling)] {
            let all = of_text.entry().unwrap().buffers(tiling);
            assert!(all.unsized_arrays.is_empty());
            assert_eq!(all.buffers.len(), own, "{name}: {all:#?}");
            let waste: Vec<u64> =
                all.buffers.iter().map(|one| one.bytes - one.data_bytes).collect();
            assert!(waste.is_sorted_by(|a, b| a >= b), "{name}: {waste:?}");
            for one in &all.buffers {
                assert_eq!(one.bytes, one.array.bytes().unwrap());
                let factor = one.advice().unwrap().factor.ratio();
                assert!((factor - one.factor().ratio()).abs() < 1e-9, "{}", one.array);
            }
            let sums = (
                all.buffers.iter().map(|one| u128::from(one.bytes)).sum::<u128>(),
                waste.iter().map(|&one| u128::from(one)).sum::<u128>(),
            );
            assert_eq!(all.bytes(), sums);
            assert_eq!(sums, of_proto.entry().unwrap().buffers(tiling).bytes(), "{name}");
            assert_eq!(tiling.is_none(), sums.1 == 0, "{name}");
        }
    }
    // f32[2048,10]: 10 columns in 128; f32[3,3,3,8]: 3·8 in 8·128.
    let cnn = module("cnn.txt");
    let ranked = cnn.entry().unwrap().buffers(Some(&tiling)).buffers;
    let names: Vec<_> = ranked.iter().map(|one| one.instruction.name.as_str()).take(2).collect();
    assert_eq!(names, ["v.1", "transpose_copy_fusion.1"], "{ranked:#?}");
    assert_eq!((ranked[0].bytes, ranked[0].data_bytes), (4 * 2048 * 128, 4 * 2048 * 10));
}

#[test]
fn arrays_without_a_size_are_listed_apart() {
    let text = "HloModule m\nENTRY e {\n\
        a = f32[?,2] parameter(0)\n\
        b = (b(f32[3]{0:T(8)}), token[], opaque[], f32[4611686018427387904,8]{1,0}) custom-call()\n\
        c = f32[2]{0} get-tuple-element(b)\n}\n";
    let module = HloModule::parse(text).unwrap();
    let entry = module.entry().unwrap();
    let all = entry.buffers(None);
    let apart: Vec<String> = (all.unsized_arrays.iter())
        .map(|one| format!("{}{}: {}", one.instruction.name, one.index, one.error))
        .collect();
    assert!(apart[0].starts_with("a{}: dim 0 has no bound"), "{apart:?}");
    assert!(apart[1].starts_with("b{3}: "), "{apart:?}");
    assert_eq!(all.buffers.len(), 1);
    assert_eq!((all.buffers[0].index.to_string().as_str(), all.buffers[0].bytes), ("{0}", 32));
    assert_eq!(entry.root_instruction().unwrap().buffers(None).buffers.len(), 1);
}

#[test]
fn a_layout_leaves_arrays_of_other_ranks_apart() {
    let text = "HloModule m\nENTRY e {\n\
        a = f32[9,100]{1,0} parameter(0)\n\
        b = (f32[9,100]{1,0}, f32[3]{0:T(8)}, f32[]) custom-call(a)\n\
        ROOT c = f32[9,100]{1,0} copy(a)\n}\n";
    let module = HloModule::parse(text).unwrap();
    let entry = module.entry().unwrap();
    let names = |list: &[tilewright_xla::Buffer<'_>]| -> Vec<String> {
        list.iter()
            .map(|one| format!("{}{} {}", one.instruction.name, one.index, one.array))
            .collect()
    };
    let layout = Tiling::parse("{0,1:T(8,128)}").unwrap();
    let all = entry.buffers(Some(&layout));
    let tiled = "f32[9,100]{0,1:T(8,128)}";
    assert_eq!(
        names(&all.buffers),
        [format!("a{{}} {tiled}"), format!("b{{0}} {tiled}"), format!("c{{}} {tiled}")]
    );
    assert_eq!(names(&all.not_applied), ["b{1} f32[3]{0:T(8)}", "b{2} f32[]"]);
    // 13·8 columns in rows of 128, for 9 rows.
    assert_eq!(all.bytes(), (3 * 4 * 104 * 128, 3 * 4 * (104 * 128 - 900)));
    for tiling in [None, Some(Tiling::parse("T(8,128)").unwrap())] {
        let all = entry.buffers(tiling.as_ref());
        assert_eq!((all.buffers.len(), all.not_applied.len()), (5, 0));
    }
}
