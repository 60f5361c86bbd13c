//! Every definition can be parsed and planned, and in its small size the plan and the naive move both give the checksum
//! that it states.

use std::collections::BTreeSet;

use tilewright_bench::{Bench, Effort, Offsets, Size, data, definitions, parse};

#[test]
fn names_are_unique_and_words() {
    let all = definitions().unwrap();
    let names: BTreeSet<&str> = all.iter().map(|case| case.name()).collect();
    assert_eq!(names.len(), all.len());
    let word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    assert!(names.iter().all(|name| name.chars().all(word)));
}

#[test]
fn sizes_are_what_they_are_called() {
    for definition in definitions().unwrap() {
        let case = |size| definition.case(size).unwrap();
        let (memory, l2, small) = (case(Size::Memory), case(Size::L2), case(Size::Small));
        assert!(memory.bytes() >= 128_000_000, "{}: {}", memory.name(), memory.bytes());
        assert!(memory.bytes() <= 512 << 20, "{}: {}", memory.name(), memory.bytes());
        let both = l2.src_bytes() + l2.dst_bytes();
        assert!((100 << 10..=1 << 20).contains(&both), "{}: {both}", l2.name());
        assert!(small.bytes() <= 1 << 18, "{}: {}", small.name(), small.bytes());
    }
}

#[test]
fn tiny_cases_are_64_bytes_to_64_kilobytes_and_right() {
    let once = Effort { least: 1, most: 1, time: Default::default() };
    let mut bench = Bench::new(1 << 17).unwrap();
    for definition in definitions().unwrap() {
        let cases = definition.cases(Size::Tiny).unwrap();
        assert_eq!(cases.len(), 3, "{}", definition.name());
        let mut before = 64;
        for case in cases {
            let mean = (case.src_bytes() + case.dst_bytes()) / 2;
            assert!((before..=65_536).contains(&mean), "{}: {mean}", case.name());
            before = mean + 1;
            assert_eq!(Some(data::checksum(&case.expected())), case.checksum(), "{}", case.name());
            // The offsets of the buffers do not change the result.
            let at = Offsets { src: 16, dst: 40 };
            let row = bench.relayout(&case.at(at), 1, once).unwrap();
            assert!(row.is_right(), "{row}");
        }
        assert!(before > 40_000, "{}: {before}", definition.name());
    }
}

#[test]
fn small_cases_give_their_checksums() {
    for definition in definitions().unwrap() {
        let case = definition.case(Size::Small).unwrap();
        let expected = case.expected();
        let sum = data::checksum(&expected);
        assert!(Some(sum) == case.checksum(), "{}: {sum:#018x}", case.name());
        let mut source = vec![0; case.src_bytes() as usize];
        data::fill(&mut source);
        for threads in [1, 2] {
            let mut out = vec![0x5A; expected.len()];
            case.plan().unwrap().run(&source, &mut out, threads).unwrap();
            assert!(out == expected, "{} with {threads} threads", case.name());
        }
    }
}

#[test]
fn cases_in_l2_give_their_checksums() {
    let mut bench = Bench::new(1 << 20).unwrap();
    let once = Effort { least: 1, most: 1, ..Effort::quick() };
    for definition in definitions().unwrap() {
        let row = bench.relayout(&definition.case(Size::L2).unwrap(), 1, once).unwrap();
        assert!(row.is_right(), "{row}");
    }
}

#[test]
fn boxes_say_the_same() {
    for definition in definitions().unwrap() {
        let case = definition.case(Size::Small).unwrap();
        let boxes = case.boxes().unwrap();
        let size = |boxed: &tilewright_bench::Boxed| -> u64 {
            boxed.loops.iter().map(|t| t.extent).product()
        };
        assert_eq!(boxes.iter().map(size).sum::<u64>(), case.src().size(), "{}", case.name());
    }
}

#[test]
fn what_is_wrong_is_said() {
    let text = |case: &str| {
        let sizes = ["memory", "l2", "small"]
            .map(|size| format!("{size} = {{ dims = [2, 3], checksum = \"0x0\" }}\n"));
        format!("[[case]]\nname = \"a\"\n{case}\n{}", sizes.concat())
    };
    let refusal = |case: &str| {
        let definition = parse("mine", &text(case)).unwrap().remove(0);
        let error = definition.case(Size::Small).unwrap_err();
        assert!(error.is_definition());
        error.to_string()
    };
    assert_eq!(refusal("dtype = \"u8\"\nto = \"zN\""), "a/small: `from` is not said");
    let error = refusal("dtype = \"u8\"\nfrom = \"row-mayor\"\nto = \"zN\"");
    assert!(error.starts_with("a/small: from: ") && error.contains("row-major"), "{error}");
    let error = refusal("dtype = \"u8\"\nfrom = \"NHWC\"\nto = \"zN\"");
    assert!(error.starts_with("a/small: from: "), "{error}");
    let error = refusal("dtype = \"f33\"\nfrom = \"row-major\"\nto = \"zN\"");
    assert!(error.starts_with("a/small: dtype: "), "{error}");
    let error = refusal("dtype = \"f32\"\nfrom = \"row-major\"\nto = \"(2,3):(0,1)\"");
    assert!(error.starts_with("a/small: plan: "), "{error}");
    let error = parse("mine", &text("dtype = 3")).unwrap_err();
    assert!(error.to_string().starts_with("mine.toml: "), "{error}");
}

/// A plan prints the ways that run: those of its regions, and no other.
#[test]
fn every_case_runs_the_ways_that_its_plan_prints() {
    let mut names = BTreeSet::new();
    for definition in definitions().unwrap() {
        for size in [Size::Small, Size::L2] {
            let case = definition.case(size).unwrap();
            let plan = case.plan().unwrap();
            let source = vec![7; plan.src_bytes() as usize];
            for threads in [1, 2] {
                plan.run(&source, &mut vec![0; plan.dst_bytes() as usize], threads).unwrap();
            }
            let (text, ran) = (plan.to_string(), plan.ways_run());
            for (way, _) in &ran {
                let says = |end: &str| text.contains(&format!("\n  {way}{end}"));
                let printed = says(", ") || says(" in ") || way == "tables";
                assert!(printed, "{}: ran {way}\n{text}", case.name());
            }
            assert!(ran.iter().any(|(way, _)| *way == plan.kernel_name()), "{}", case.name());
            names.insert(plan.kernel_name());
        }
    }
    assert!(names.len() > 10, "{names:?}");
}
