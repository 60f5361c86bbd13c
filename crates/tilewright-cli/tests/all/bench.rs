//! `bench`: its JSON, its table, its choice of cases. No test asserts a speed.

use std::process::{Command, Output};

use serde_json::Value;

fn bench(args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_tilewright");
    Command::new(program).arg("bench").args(args).output().unwrap()
}

fn out(args: &[&str]) -> String {
    let output = bench(args);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&out(args)).unwrap()
}

#[test]
fn the_json_is_the_contract_s() {
    let args = ["--quick", "--json", "--size", "small", "--threads", "2", "transpose-f32-odd"];
    let answer = json(&args);
    assert_eq!(answer["version"], 1);
    assert!(answer["machine"]["cpu"].is_string() && answer["machine"]["cores"].as_u64() > Some(0));
    let cases = answer["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 1);
    let case = &cases[0];
    assert_eq!(case["name"], "transpose-f32-odd/small");
    assert_eq!((&case["threads"], &case["bytes"]), (&2.into(), &(2 * 37 * 71 * 4).into()));
    assert_eq!((&case["size"], &case["right"]), (&"small".into(), &true.into()));
    let number = |name: &str| case[name].as_f64().unwrap();
    for name in ["gb_per_s", "memcpy_gb_per_s", "copy_gb_per_s", "ratio", "seconds", "plan_us"] {
        assert!(number(name) > 0.0, "{name}: {case}");
    }
    assert!((number("ratio") - number("gb_per_s") / number("memcpy_gb_per_s")).abs() < 1e-9);
    assert!((number("gb_per_s") * 1e9 * number("seconds") / number("bytes") - 1.0).abs() < 1e-9);
    assert!(case["kernel"].is_string() && case["pairs"].as_u64() >= Some(3));
    let short = &answer["summary"][0];
    assert_eq!((&short["cases"], &short["least_name"]), (&1.into(), &case["name"]));
    assert_eq!(short["least"], case["ratio"]);
}

#[test]
fn the_table_has_a_line_for_every_number_of_threads() {
    let text = out(&["--quick", "--size", "small", "nchw-to-nhwc-u8-3"]);
    let cores = std::thread::available_parallelism().unwrap().get();
    let rows = text.lines().filter(|line| line.starts_with("nchw-to-nhwc-u8-3/small "));
    assert_eq!(rows.count(), if cores > 1 { 2 } else { 1 }, "{text}");
    assert!(text.contains("GB/s  memcpy    copy  ratio   cpu"), "{text}");
    assert!(text.contains("small, 1 thread: ") && !text.contains("WRONG"), "{text}");
}

#[test]
fn cases_are_chosen_by_name_and_size() {
    let names = |args: &[&str]| -> Vec<String> {
        let listed = json(&[&["--list", "--json"], args].concat());
        let cases = listed["cases"].as_array().unwrap().iter();
        cases.map(|case| case["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = names(&[]);
    assert!(all.len() > 100 && all.iter().all(|name| !name.ends_with("/small")));
    let quick = names(&["--quick"]);
    assert!(quick.len() < all.len() / 2 && quick.iter().all(|name| all.contains(name)));
    assert_eq!(
        names(&["order-0213", "s4-to-s8", "--quick", "--size", "l2"]),
        ["order-0213-f32/l2", "order-0213-16bit/l2", "s4-to-s8/l2"]
    );
}

#[test]
fn a_name_that_no_case_has_is_refused_beside_others_too() {
    for (names, says) in [
        (&["transpose-f32-odd", "transpose-bf16"][..], "no case has transpose-bf16 in its name"),
        (&["nothing", "s4-to-s8", "nor-this"], "no case has nothing or nor-this in its name"),
        (&["nothing"], "no case has nothing in its name"),
    ] {
        let output = bench(&[&["--list", "--size", "small"], names].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{names:?}");
        assert!(error.contains(says) && error.contains("bench --list"), "{error}");
    }
}

#[test]
fn the_list_tells_other_libraries_what_to_move() {
    let listed = json(&["--list", "--json", "--size", "small", "transpose-f32-odd", "s4-to-s8"]);
    let turned = &listed["cases"][0];
    assert_eq!(turned["boxes"][0]["loops"], serde_json::json!([[71, 1, 37], [37, 71, 1]]));
    assert_eq!((&turned["src_bits"], &turned["src_bytes"]), (&32.into(), &(37 * 71 * 4).into()));
    assert_eq!((&turned["dtype"], &turned["dims"]), (&"f32".into(), &serde_json::json!([37, 71])));
    assert!(turned["checksum"].as_str().unwrap().starts_with("0x"));
    let packed = &listed["cases"][1];
    assert_eq!((&packed["src_bits"], &packed["dst_bits"]), (&4.into(), &8.into()));
    let text = out(&["--list", "--size", "small", "row-to-zN-16bit"]);
    assert!(
        text.starts_with("row-to-zN-16bit/small ")
            && text.contains("bf16[32,48]  row-major  ->  zN")
    );
}

#[test]
fn random_cases_are_drawn_again_by_their_number() {
    let args = ["--json", "--threads", "1", "--quick", "--max-bytes", "64K"];
    let run = |more: &[&str]| json(&[&args, more].concat())["cases"].as_array().unwrap().clone();
    let all = run(&["--random", "3", "--seed", "5"]);
    assert_eq!(all.len(), 3);
    let one = run(&["--random", "1", "--seed", "5:2"]);
    for field in ["name", "dtype", "dims", "from", "to", "offsets", "bytes", "boxes", "kernel"] {
        assert_eq!(one[0][field], all[2][field], "{field}");
        assert!(!one[0][field].is_null() || field == "boxes", "{field}");
    }
    assert!(all.iter().all(|case| case["right"] == true && case["size"] == "random"), "{all:?}");
    assert!(all.iter().all(|case| (4096..=65_536).contains(&case["bytes"].as_u64().unwrap())));
    let text =
        out(&["--random", "2", "--seed", "5", "--max-bytes", "64K", "--threads", "1", "--quick"]);
    assert!(text.contains("slowest with 1 thread:\n") && text.contains("  ->  "), "{text}");
    assert!(text.contains("--random 1 --seed 5:1 --max-bytes 64K"), "{text}");
}

#[test]
fn any_case_is_measured_at_any_offset() {
    let case = ["--from", "row-major", "--to", "zN", "--dims", "40,50", "--dtype", "bf16"];
    let args = ["--json", "--quick", "--threads", "1", "--offset", "16,34", "--paired"];
    let answer = json(&[&case[..], &args].concat());
    let row = &answer["cases"][0];
    assert_eq!((&row["name"], &row["right"]), (&"given".into(), &true.into()));
    assert_eq!(row["offsets"], serde_json::json!([16, 34]));
    let number = |name: &str| row[name].as_f64().unwrap();
    let cost = number("seconds") / number("on_lines_seconds");
    assert!((number("offset_cost") - cost).abs() < 1e-9 && cost > 0.0, "{row}");
    for name in ["cpu_per_wall", "cpu_seconds", "memcpy_cpu_seconds", "cpu_ratio"] {
        assert!(!cfg!(unix) || number(name) > 0.0, "{name}: {row}");
    }
    let args = ["--size", "small", "--quick", "--threads", "1", "--offset", "16", "--paired"];
    let text = out(&[&args, &["transpose-f32-odd"][..]].concat());
    assert!(text.contains("\noffsets, 1 thread: ") && !text.contains("WRONG"), "{text}");
}

#[test]
fn tiny_cases_tell_what_a_call_costs() {
    let answer = json(&["--size", "tiny", "--quick", "--json", "transpose-f32-odd"]);
    assert_eq!(answer["cases"].as_array().unwrap().len(), 3);
    let tiny = &answer["tiny"][0];
    assert_eq!((&tiny["threads"], &tiny["few"], &tiny["many"]), (&1.into(), &2.into(), &1.into()));
    assert!(tiny["most_ns_name"].as_str().unwrap().starts_with("transpose-f32-odd/tiny-"));
    assert!(tiny["most_times"].as_f64() > Some(0.0));
    let planning = &answer["planning"];
    assert_eq!((&planning["cases"], &planning["few_loops"]), (&3.into(), &3.into()));
    assert!(planning["most_us"].as_f64() >= planning["median_us"].as_f64());
    let text = out(&["--size", "tiny", "--quick", "transpose-f32-odd"]);
    assert!(text.contains(" ns\n") && text.contains("\nplanning: "), "{text}");
}

#[test]
fn what_cannot_be_measured_is_bad_usage() {
    for args in [
        &["--random", "0"][..],
        &["--random", "3", "--seed", "1:"],
        &["--random", "3", "--max-bytes", "3"],
        &["--random", "3", "zN"],
        &["--seed", "3"],
        &["--offset", "4096", "s4-to-s8"],
        &["--from", "zN", "--dims", "4,4"],
        &["--from", "zN", "--to", "row-major", "--dtype", "u8"],
        &["--from", "zN", "--to", "row-major", "--dims", "4,4"],
        &["--from", "zN", "--to", "row-mayor", "--dims", "4,4", "--dtype", "u8"],
        &["no-such-case"],
        &["--size", "l4"],
        &["--threads", "many", "s4-to-s8"],
        &["--threads", "-1", "s4-to-s8"],
    ] {
        let output = bench(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}
