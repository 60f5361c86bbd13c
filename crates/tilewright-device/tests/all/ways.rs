//! The main way of each case of the benchmark, at the size of memory, without running it.

use std::collections::{BTreeMap, HashSet};

use tilewright_bench::{Size, definitions};
use tilewright_device::{Alignment, DevicePlan, Way};
use tilewright_relayout::Program;

#[test]
fn the_benchmark_is_moved_by_vectors() {
    let (mut ways, mut texts, mut kernels) = (BTreeMap::new(), HashSet::new(), 0);
    for definition in &definitions().unwrap() {
        let case = definition.case(Size::Memory).unwrap();
        let elements = case.elements();
        if elements.src_bits < 8 || elements.dst_bits < 8 {
            continue;
        }
        let program = Program::new(case.src(), case.dst(), elements, case.fill()).unwrap();
        let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
        let main = plan.kernels().iter().filter(|kernel| kernel.way() != Way::Fill);
        let main = main.max_by_key(|kernel| kernel.blocks() * u64::from(kernel.threads()));
        for kernel in plan.kernels() {
            assert!(kernel.shared() <= 48 << 10 && kernel.blocks() < 1 << 31, "{}", case.name());
            assert!(kernel.threads().is_multiple_of(32) && kernel.threads() <= 1024);
            assert!(8 * kernel.params().len() <= 3800, "parameters of a launch are at most 4 KiB");
            texts.insert(kernel.text().to_owned());
            kernels += 1;
        }
        let way = main.map_or("none", |kernel| kernel.way().name());
        println!("{way}: {} of {} kernels", case.name(), plan.kernels().len());
        *ways.entry(way).or_insert(0) += 1;
    }
    println!("{ways:?}, {kernels} kernels of {} texts", texts.len());
    assert!(ways["transpose"] >= 55 && ways["rows"] >= 7, "{ways:?}");
}
