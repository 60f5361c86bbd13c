//! Accesses as people write them agree with their definitions, and code for a layout computes its offsets.

use std::{fs, process::Command};

use tilewright::{
    Error, Spec, TensorLayout,
    ask::{Answer as _, BankConflicts},
    banks::{Banks, Spread, access, index_code},
    input::Array,
};

fn spread(layout: &str, text: &str) -> Result<Spread, Error> {
    let tile = Array::default().layout("spec", layout)?;
    Ok(access(text, &tile, &Banks::NVIDIA, None)?.spread().clone())
}

#[test]
fn one_map_in_several_notations() {
    // PTX, m16n8: c0 and c1 of lane t are at row t / 4, columns 2 (t mod 4) and the next; c2 and c3 eight rows below.
    let ptx =
        |thread: u64, value: u64| vec![thread / 4 + 8 * (value / 2), thread % 4 * 2 + value % 2];
    for text in [
        "MMA_M16N8_C",
        "((4,8),(2,2)):((32,1),(16,8))",
        "#ttg.linear<{register=[[0,1],[8,0]],lane=[[0,2],[0,4],[1,0],[2,0],[4,0]],warp=[],block=[]}>",
        "((8,2),(2,4)):((16,2),(1,4)) threads 32",
    ] {
        let found = spread("f32[16,8] row-major", text).unwrap();
        assert_eq!((found.threads(), found.values()), (32, 4), "{text}");
        for (thread, value) in (0..32).flat_map(|t| (0..4).map(move |v| (t, v))) {
            assert_eq!(found.coord(thread, value), Some(ptx(thread, value)), "{text}");
        }
    }
}

#[test]
fn ldmatrix_reads_what_the_operand_holds() {
    // The 16 bytes of row i of matrix m go to lanes 4 i … 4 i + 3: the registers of operand A.
    let [rows, held] = ["ldmatrix.x4", "MMA_M16N8K16_16BIT_A"]
        .map(|text| spread("f16[16,16] row-major", text).unwrap());
    for (matrix, row, at) in
        (0..4).flat_map(|m| (0..8).flat_map(move |r| (0..8).map(move |c| (m, r, c))))
    {
        let from = rows.coord(matrix * 8 + row, at);
        assert_eq!(held.coord(row * 4 + at / 2, matrix * 2 + at % 2), from);
    }
    // The transposed array with .trans has the same addresses.
    let turned = spread("f16[16,16] col-major", "ldmatrix.x4.trans").unwrap();
    let swapped = rows.coord(9, 3).map(|at| vec![at[1], at[0]]);
    assert_eq!(turned.coord(9, 3), swapped);
}

#[test]
fn well_known_fixes() {
    let fixed = |layout: &str, accesses: &[&str], vector: Option<u64>, banks: &Banks| {
        let tile = Array::default().layout("spec", layout).unwrap();
        let report = BankConflicts::of(&tile, accesses, vector, banks, true).unwrap();
        let fixed = report.fixed().unwrap();
        let again = BankConflicts::of(&fixed, accesses, vector, banks, false).unwrap();
        assert!(!again.is_no());
        fixed.to_spec()
    };
    let nvidia = &Banks::NVIDIA;
    // CUTLASS's atoms of 128, 64 and 32 bytes.
    let both = ["write row", "ldmatrix.x4"];
    assert_eq!(
        fixed("f16[64,64] row-major", &both, Some(16), nvidia),
        "f16[64,64] Sw<3,3,3> o (64,64):(64,1)"
    );
    assert_eq!(
        fixed("u8[64,128] row-major", &both, Some(16), nvidia),
        "u8[64,128] Sw<3,4,3> o (64,128):(128,1)"
    );
    assert_eq!(
        fixed("f16[64,32] row-major", &both, Some(16), nvidia),
        "f16[64,32] Sw<2,3,3> o (64,32):(32,1)"
    );
    assert_eq!(
        fixed("f16[64,16] row-major", &both, Some(16), nvidia),
        "f16[64,16] Sw<1,3,3> o (64,16):(16,1)"
    );
    assert_eq!(
        fixed("f32[32,32] row-major", &["row", "column"], None, nvidia),
        "f32[32,32] Sw<5,0,5> o (32,32):(32,1)"
    );
    // The swizzle of 8 elements by 2 rows in 8 phases, as in Gluon's kernels on CDNA4.
    assert_eq!(
        fixed("f16[64,64] row-major", &["column"], Some(16), &Banks::CDNA4),
        "f16[64,64] Sw<3,3,4> o (64,64):(64,1)"
    );
}

#[test]
fn code_computes_the_offsets() {
    let specs = [
        "f32[32,32] Sw<5,0,5> o (32,32):(32,1)",
        "f16[8,64] Sw<3,3,3> o (8,64):(64,1)",
        "f32[8,64] Sw<2,0,-4> o (8,64):(64,1)",
        "f16[8,12] zN[M0=4,C0=4]",
        "f32[5,7]{1,0:T(2,4)}",
        "f32[2,3,4,5] row-major",
        "f32[4,4] (4,4):(5,1)",
        "((2,3),(2,2),3):((6,1),(18,3),36)",
        "(4,1):(1,0)",
    ];
    let layouts: Vec<TensorLayout> = specs
        .iter()
        .map(|text| Spec::parse(text).unwrap().resolve(None, None).unwrap().layout().clone())
        .collect();
    let mut program = String::from("#include <stdio.h>\n");
    let mut main = String::new();
    let mut expected = Vec::new();
    for (number, layout) in layouts.iter().enumerate() {
        let code = index_code(layout).unwrap();
        program += &format!("static {}\n", code.replacen(" at(", &format!(" at{number}("), 1));
        for index in 0..layout.size() {
            let coord = layout.coord_of(index).unwrap();
            let arguments: Vec<String> = coord.as_slice().iter().map(u64::to_string).collect();
            main += &format!("  printf(\"%u\\n\", at{number}({}));\n", arguments.join(", "));
            expected.push(layout.offset_of(index).unwrap().to_string());
        }
    }
    program += &format!("int main(void) {{\n{main}  return 0;\n}}\n");
    let folder = tempfile::tempdir().unwrap();
    let [source, binary] = ["code.c", "code"].map(|name| folder.path().join(name));
    fs::write(&source, program).unwrap();
    let built =
        Command::new("cc").arg("-Wall").arg("-Werror").arg("-o").args([&binary, &source]).status();
    assert!(built.unwrap().success());
    let printed = String::from_utf8(Command::new(&binary).output().unwrap().stdout).unwrap();
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    // Mixed dims, and more dims than there are letters.
    assert!(index_code(&TensorLayout::row_major(&[2; 7]).unwrap()).is_none());
}
