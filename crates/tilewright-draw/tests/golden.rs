//! Pictures that were looked at, kept as they were. `TILEWRIGHT_GOLDEN=write` writes them anew: look at
//! them again then.

use std::{fs, path::Path};

use tilewright_draw::{Limits, Scene, Subject, conversion, grid, memory};
use tilewright_notation::{Named, Spec};

fn named(spec: &str) -> Named {
    Spec::parse(spec).unwrap().resolve(None, None).unwrap()
}

fn subject(named: &Named) -> Subject<'_> {
    Subject::new(named.layout()).named(named.name()).filled(named.fill())
}

/// The drawing is the one that is kept.
fn check(name: &str, scene: &Scene) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let svg = scene.to_svg();
    roxmltree::Document::parse(&svg).unwrap();
    if std::env::var_os("TILEWRIGHT_GOLDEN").is_some_and(|what| what == "write") {
        fs::write(&path, &svg).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(svg == kept, "{name} is drawn otherwise; TILEWRIGHT_GOLDEN=write keeps it, look at it");
    assert!(svg.len() < 64 << 10, "{name} has {} bytes", svg.len());
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
