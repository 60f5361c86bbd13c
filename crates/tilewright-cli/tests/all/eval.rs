//! `eval`: one expression, one on each line, and expressions in place of a SPEC.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

fn ask(args: &[&str], stdin: &[u8]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read stdin may already have ended.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn answer(args: &[&str]) -> String {
    let (code, out, err) = ask(args, b"");
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

#[test]
fn one_expression() {
    assert_eq!(answer(&["eval", "(6,2):(8,2) o (4,3):(3,1)"]), "((2,2),3):((24,2),8)\n");
    assert_eq!(answer(&["eval", "-4"]), "-4\n");
}

#[test]
fn an_expression_that_is_illegal_or_inadmissible_exits_2() {
    let (code, out, err) = ask(&["eval", "(8,32"], b"");
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(err, "error: expected `,` or `)`, found the end of the text\n  (8,32\n       ^\n");
    let (code, out, err) = ask(&["eval", "composition((6,2):(1,7), (3,2):(2,3))"], b"");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.starts_with("error: composition: at (2,1): A(B) is 8"), "{err}");
    let (code, _, err) = ask(&["eval"], b"");
    assert!(code == 2 && err.contains("EXPR"), "{err}");
}

#[test]
fn same_prints_true_or_false_and_is_no_failure() {
    for (expression, expected) in [
        ("same((4,8), (4,8):(1,4))", "true\n"),
        ("same(4:1, 4:2)", "false\n"),
        ("same(\"f32[2,3]{0,1}\", (2,3):(1,2))", "true\n"),
        ("same(\"f32[2,3]{0,1}\", 6:1)", "false\n"),
    ] {
        assert_eq!(answer(&["eval", expression]), expected, "{expression}");
    }
}

#[test]
fn a_batch_answers_every_line_and_goes_on_behind_an_error() {
    let lines = b"size((4,8))\r\n\n(4:1\n4:1x\nsame(4:1,4:2)\n\xff\nget((1,(2,3)),1)";
    let (code, out, err) = ask(&["eval", "-"], lines);
    let out: Vec<&str> = out.lines().collect();
    assert_eq!((code, err.as_str()), (1, ""));
    assert_eq!(
        out,
        [
            "32",
            "",
            "error: column 5: expected `,` or `)`, found the end of the text",
            "error: column 4: text after the expression",
            "false",
            "error: byte 0 of the line is not UTF-8",
            "(2,3)",
        ]
    );
    assert_eq!(ask(&["eval", "-"], b"4:1\n"), (0, "4:1\n".into(), String::new()));
    assert_eq!(ask(&["eval", "-"], b""), (0, String::new(), String::new()));
}

#[test]
fn answers_for_machines() {
    let object = |expression| -> Value {
        serde_json::from_str(&answer(&["eval", expression, "--json"])).unwrap()
    };
    for (expression, expected) in [
        ("size((4,8))", json!({ "version": 1, "kind": "integer", "text": "32", "value": 32 })),
        (
            "(1,(2,3))",
            json!({ "version": 1, "kind": "tuple", "text": "(1,(2,3))", "value": [1, [2, 3]] }),
        ),
        (
            "same(4:1,4:1)",
            json!({ "version": 1, "kind": "boolean", "text": "true", "value": true }),
        ),
        (
            "offsets(3:2)",
            json!({ "version": 1, "kind": "list", "text": "[0,2,4]", "value": [0, 2, 4] }),
        ),
        (
            "Sw<1,0,1> o (2,2):(1,2)",
            json!({
                "version": 1, "kind": "layout", "text": "Sw<1,0,1> o (2,2):(1,2)",
                "shape": [2, 2], "stride": [1, 2], "offset": 0, "swizzle": [1, 0, 1],
            }),
        ),
        (
            "slice_and_offset((_,1), (4,8):(8,1))",
            json!({
                "version": 1, "kind": "layout", "text": "(4):(8)+1",
                "shape": [4], "stride": [8], "offset": 1,
            }),
        ),
        (
            "tile((8,12):(12,1), (16,5))",
            json!({
                "version": 1, "kind": "layout", "text": "(16,5):(12,1) valid (8,5)",
                "shape": [16, 5], "stride": [12, 1], "offset": 0, "valid": [8, 5],
            }),
        ),
    ] {
        assert_eq!(object(expression), expected, "{expression}");
    }
    let (code, out, err) = ask(&["eval", "4:1x", "--json"], b"");
    assert_eq!((code, out.as_str()), (2, ""));
    let error: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(error["error"]["span"], json!([3, 4]));

    let (code, out, err) = ask(&["eval", "-", "--json"], b"4:1\n\n4:\n");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, err.as_str(), lines.len()), (1, "", 3));
    assert_eq!(lines[1]["kind"], "nothing");
    assert_eq!(lines[2]["error"]["kind"], "parse");
    assert_eq!(lines[2]["error"]["span"], json!([2, 2]));
}

#[test]
fn the_table_of_functions() {
    let text = answer(&["eval", "--functions"]);
    assert!(text.contains("complement(L[, n])\n    The layout that fills"), "{text}");
    let table: Value = serde_json::from_str(&answer(&["eval", "--functions", "--json"])).unwrap();
    assert_eq!(table["functions"][0]["name"], "size");
}

#[test]
fn an_expression_stands_wherever_a_spec_does() {
    let shown = answer(&["show", "eval:logical_divide((4,2):(2,1), <2>)"]);
    assert!(shown.starts_with("((2,2),2):((2,4),1)\n"), "{shown}");
    let explained = answer(&["explain", "eval:tile((8,12):(12,1), (3,5))"]);
    assert!(explained.contains("size             15 elements"), "{explained}");
    assert_eq!(answer(&["same", "eval:coalesce((2,3):(1,2))", "6:1"]), "same\n");
    assert_eq!(answer(&["index", "eval:(4,8) o <2,4>", "--coord", "1,3"]), "13\n");
    // The form of a call or a composition marks an expression.
    assert_eq!(answer(&["same", "coalesce((2,3):(1,2))", "12:1 o 6:1"]), "same\n");
    let (code, _, err) = ask(&["show", "(6,2):(1,7) o (3,2):(2,3)"], b"");
    assert!(code == 2 && err.contains("A(B) is 8, the only candidate gives 7"), "{err}");
    let (code, _, err) = ask(&["show", "Sw<3,0,2> o 8:1"], b"");
    assert!(code == 2 && err.contains("the bit fields overlap"), "{err}");

    let (code, _, err) = ask(&["show", "eval:(4,8"], b"");
    assert_eq!(
        (code, err.as_str()),
        (2, "error: SPEC: expected `,` or `)`, found the end of the text\n  (4,8\n      ^\n")
    );
    let (code, _, err) = ask(&["show", "eval:size(4:1)"], b"");
    assert!(code == 2 && err.contains("the expression is an integer, not a layout"), "{err}");
    let (_, _, err) = ask(&["show", "eval:(4,8", "--json"], b"");
    let error: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(error["error"]["span"], json!([9, 9]));
}
