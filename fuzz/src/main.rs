//! One target of `targets.rs`, which `TILEWRIGHT_FUZZ` names, driven by libFuzzer.

#![no_main]

mod targets;

use std::sync::OnceLock;

static TARGET: OnceLock<targets::Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("TILEWRIGHT_FUZZ").unwrap_or_default();
        let found = targets::TARGETS.iter().find(|target| target.0 == name);
        found.unwrap_or_else(|| panic!("TILEWRIGHT_FUZZ names none of the targets: {name:?}")).1
    });
    target(data);
});
