//! Test of the environment variable `TILEWRIGHT_ISA`: the test starts itself again with the variable set.

use std::process::Command;
use tilewright_core::TensorLayout;
use tilewright_relayout::{Elements, Plan};

fn plan() -> Plan {
    let src = TensorLayout::row_major(&[256, 256]).unwrap();
    let dst = TensorLayout::col_major(&[256, 256]).unwrap();
    Plan::new(&src, &dst, Elements::same(32), 0).unwrap()
}

/// Run by the other test: prints the instruction set that its plan names, after using it.
#[test]
fn says_its_own() {
    let plan = plan();
    let source: Vec<u8> = (0..4 * 65_536_u32).map(|i| ((i * 7) >> 3) as u8).collect();
    let mut out = vec![0; source.len()];
    plan.run(&source, &mut out, 1).unwrap();
    for at in [0, 1, 257, 65_535] {
        let (from, to) = (4 * at, 4 * (at % 256 * 256 + at / 256));
        assert_eq!(source[from..from + 4], out[to..to + 4]);
    }
    println!("{plan}");
}

#[test]
fn the_environment_names_the_instruction_set_and_is_ignored_where_it_cannot() {
    let says = |isa: &str| {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["forced::says_its_own", "--exact", "--nocapture"]).env("TILEWRIGHT_ISA", isa);
        let output = again.output().unwrap();
        assert!(output.status.success(), "{isa}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(says("generic").contains(" in generic,"));
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        assert!(says("avx2").contains(" in avx2,"));
    }
    // For names that no machine has, or not this one, the best instruction set is used, as without a name.
    let best = says("");
    for isa in
        ["AVX2", "sse9", "generic ", if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" }]
    {
        let found = says(isa);
        let named = |text: &str| {
            text.split(" in ").nth(1).map(|rest| rest.split(',').next().unwrap().to_string())
        };
        assert_eq!(named(&found), named(&best), "{isa}");
    }
}
