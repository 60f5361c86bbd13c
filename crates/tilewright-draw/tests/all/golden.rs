//! Compares pictures with recorded ones, which were inspected. `TILEWRIGHT_GOLDEN=write` records them again; inspect
//! them afterwards.

use std::{fs, path::Path};

use tilewright_core::{BasisLayout, Layout};
use tilewright_draw::{
    Access, Device, Limits, Relation, Scene, Subject, Waiting, bank_conflicts, banks, conversion,
    coordinates, devices, distribution, fragment, grid, memory, owners, step,
};
use tilewright_notation::{ResolvedLayout, Spec};

fn named(spec: &str) -> ResolvedLayout {
    Spec::parse(spec).unwrap().resolve(None, None).unwrap()
}

fn subject(named: &ResolvedLayout) -> Subject<'_> {
    Subject::new(named.layout()).named(named.name()).filled(named.fill())
}

/// Checks that the text equals the recorded one.
fn keeps(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("TILEWRIGHT_GOLDEN").is_some_and(|what| what == "write") {
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == kept,
        "{name} is drawn otherwise; TILEWRIGHT_GOLDEN=write keeps it, look at it"
    );
    assert!(text.len() < 64 << 10, "{name} has {} bytes", text.len());
}

fn check(name: &str, scene: &Scene) {
    keeps(name, &scene.to_svg());
}

fn kept_grid(name: &str, spec: &str, limits: &Limits) {
    check(name, &grid(&subject(&named(spec)), limits).unwrap());
}

#[test]
fn the_grid_of_the_tla_document() {
    kept_grid("tla.svg", "((4,2),(4,3)):((4,16),(1,32))", &Limits::default());
}

#[test]
fn padding() {
    kept_grid("padding.svg", "f32[3,5]{1,0:T(2,2)}", &Limits::default());
}

#[test]
fn tiles_of_tiles() {
    let limits = Limits { rows: 16, ..Limits::default() };
    kept_grid("col4_4r2_8c.svg", "s8[16,64] COL4_4R2_8C", &limits);
}

#[test]
fn memory_of_tiles() {
    check(
        "memory.svg",
        &memory(&subject(&named("f32[3,5]{1,0:T(2,2)}")), &Limits::default()).unwrap(),
    );
}

#[test]
fn panels_of_outer_dims() {
    kept_grid("panels.svg", "f32[2,3,3,4] row-major", &Limits::default());
}

#[test]
fn a_conversion() {
    let (zn, rows) = (named("f16[7,12] zN[M0=4,C0=4]"), named("f16[7,12] row-major"));
    check(
        "conversion.svg",
        &conversion(&subject(&zn), &subject(&rows), &Limits::default()).unwrap(),
    );
}

#[test]
fn a_swizzle_without_conflicts() {
    let swizzled = named("Sw<3,3,3> o (8,64):(64,1)");
    let access = Access { element_bytes: 2, vector: 8 };
    check("banks.svg", &banks(&subject(&swizzled), &access, &Limits::default()).unwrap());
}

#[test]
fn threads_that_wait_and_the_fix() {
    let (rows, swizzled) = (named("f32[8,8] row-major"), named("f32[8,8] Sw<3,0,3> o (8,8):(8,1)"));
    let threads = (0..8).map(|row| (vec![row, 0], row)).collect();
    let waiting = Waiting { banks: 8, width: 4, element_bits: 32, threads };
    let scene =
        bank_conflicts(&subject(&rows), Some(&subject(&swizzled)), &waiting, &Limits::default());
    check("conflicts.svg", &scene);
}

#[test]
fn the_accumulator_of_a_matrix_unit() {
    let fragment_of = named("f32[16,8] MMA_M16N8_C");
    check("mma.svg", &fragment(&subject(&fragment_of), 32, 4, &Limits::default()).unwrap());
}

#[test]
fn threads_and_values() {
    let tv = Layout::parse("((3,2),(2,2)):((8,2),(4,1))").unwrap();
    check("owners.svg", &owners(&tv, &[4, 6], &Limits::default()).unwrap());
}

#[test]
fn a_distribution_over_threads() {
    let text =
        "#ttg.blocked<{sizePerThread=[1,2], threadsPerWarp=[4,2], warpsPerCTA=[2,1], order=[1,0]}>";
    let map = Spec::parse(text).unwrap().distribution(Some(&[8, 8]), None).unwrap().unwrap();
    check("distribution.svg", &distribution(&map, &Limits::default()).unwrap());
}

#[test]
fn coordinates_for_values() {
    let map = BasisLayout::parse("((2,2),6):((2@0,1@0),1@1)").unwrap();
    check("coordinates.svg", &coordinates(&map, &Limits::default()).unwrap());
}

#[test]
fn steps_of_the_algebra() {
    let parse = |text| Layout::parse(text).unwrap();
    let (a, b) = (parse("(6,2):(8,2)"), parse("(4,3):(3,1)"));
    let result = a.composition(&b).unwrap();
    let drawn = step("∘", &a, &b, &result, Relation::Through, &Limits::default()).unwrap();
    check("composition.svg", &drawn);
    let (a, b) = (parse("(4,8):(8,1)"), parse("(2,4):(1,4)"));
    let result = a.logical_divide(&b).unwrap();
    let drawn = step("⊘", &a, &b, &result, Relation::Through, &Limits::default()).unwrap();
    check("division.svg", &drawn);
    let (a, b) = (parse("(2,2):(4,1)"), parse("6:1"));
    let result = a.logical_product(&b).unwrap();
    check(
        "product.svg",
        &step("⊗", &a, &b, &result, Relation::Copies, &Limits::default()).unwrap(),
    );
}

#[test]
fn padding_in_every_language() {
    let padded = named("f32[3,5]{1,0:T(2,2)}");
    let scene = grid(&subject(&padded), &Limits::default()).unwrap();
    keeps("padding.html", &scene.to_html());
    keeps("padding.tex", &scene.to_tikz());
    keeps("padding.txt", &scene.to_terminal(false));
    keeps("padding.ansi", &scene.to_terminal(true));
}

/// Rows split three ways and columns two ways, unevenly, with copies and storage for rows that do not exist.
#[test]
fn devices_of_an_array() {
    let [rows, columns] = [[[0, 3], [3, 3], [6, 1]], [[0, 4], [4, 3], [0, 0]]];
    let place = |n: usize| (n / 4, n / 2 % 2, n % 2);
    let device = |n: usize| {
        let (row, column, copy) = place(n);
        let lacks = 3 - rows[row][1];
        Device {
            name: n.to_string(),
            place: format!("(row={row},column={column},copy={copy})"),
            holds: vec![vec![rows[row]], vec![columns[column]]],
            padding: vec![[7, lacks], [7, 0]],
        }
    };
    let all: Vec<Device> = (0..12).map(device).collect();
    check("devices.svg", &devices("f32[7,7] on 12 devices", &[7, 7], &all, &Limits::default()));
}
