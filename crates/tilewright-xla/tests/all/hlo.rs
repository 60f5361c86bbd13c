//! HLO modules: the corpus as text and as proto, then texts that could mislead the reader.

use std::path::PathBuf;

use proptest::prelude::*;
use tilewright_xla::{HloComputation, HloModule, ProgramShape, Shape};

const NAMES: [&str; 3] = ["cnn", "rng", "scan_fft"];

fn corpus(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/hlo").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(corpus(&format!("{name}.txt"))).unwrap()
}

fn both(name: &str) -> (HloModule, HloModule) {
    let bytes = std::fs::read(corpus(&format!("{name}.pb"))).unwrap();
    let read = HloModule::parse(&text(name)).unwrap_or_else(|error| panic!("{error}"));
    (read, HloModule::from_proto_bytes(&bytes).unwrap_or_else(|error| panic!("{error}")))
}

/// Returns the computations and instructions sorted by name: text and proto order them differently.
fn sorted(mut module: HloModule) -> HloModule {
    for computation in &mut module.computations {
        let root = computation.root.map(|at| computation.instructions[at].name.clone());
        computation.instructions.sort_by(|a, b| a.name.cmp(&b.name));
        computation.root =
            computation.instructions.iter().position(|one| Some(&one.name) == root.as_ref());
    }
    module.computations.sort_by(|a, b| a.name.cmp(&b.name));
    module
}

#[test]
fn hlo_text_and_proto_are_one_module() {
    for (name, computations, instructions) in [("cnn", 5, 22), ("rng", 3, 12), ("scan_fft", 10, 59)]
    {
        let (text, proto) = both(name);
        assert_eq!(text.computations.len(), computations, "{name}");
        let count = |module: &HloModule| -> usize {
            module.computations.iter().map(|one| one.instructions.len()).sum()
        };
        assert_eq!(count(&text), instructions, "{name}");
        assert_eq!(sorted(text), sorted(proto), "{name}");
    }
}

#[test]
fn hlo_dumps_are_modules_in_an_envelope() {
    for name in NAMES {
        let bytes = std::fs::read(corpus(&format!("{name}.pb"))).unwrap();
        let plain = HloModule::from_proto_bytes(&bytes).unwrap();
        // Field 1 of an HloProto, then a field 3, which in a plain module would be a computation.
        let mut dump = vec![0x0a];
        prost::encoding::encode_varint(bytes.len() as u64, &mut dump);
        dump.extend(&bytes);
        dump.extend([0x1a, 2, 0x0a, 0]);
        assert_eq!(HloModule::from_proto_bytes(&dump).unwrap(), plain, "{name}");
        assert_eq!(HloModule::from_bytes(&dump).unwrap(), plain, "{name}");
    }
}

#[test]
fn hlo_bytes_are_taken_for_what_they_are() {
    for name in NAMES {
        let (of_text, of_proto) = both(name);
        let bytes = text(name).into_bytes();
        assert!(HloModule::begins_as_text(&bytes[..16]));
        assert_eq!(HloModule::from_bytes(&bytes).unwrap(), of_text, "{name}");
        let bytes = std::fs::read(corpus(&format!("{name}.pb"))).unwrap();
        assert!(!HloModule::begins_as_text(&bytes));
        assert_eq!(HloModule::from_bytes(&bytes).unwrap(), of_proto, "{name}");
    }
    let latin = b"HloModule m\nENTRY e {\n  x = f32[] add(), metadata={op_name=\"\xe9\x01\"}\n}\n";
    assert_eq!(HloModule::from_bytes(latin).unwrap().computations[0].instructions.len(), 1);
    for bytes in [&b""[..], b"\n", b"# A document\n\twith tabs\r\n", "é".as_bytes()] {
        let error = HloModule::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains("expected `HloModule`"), "{error}");
    }
    assert!(
        HloModule::from_bytes(b"\x00\xff").unwrap_err().to_string().contains("an HloModuleProto")
    );
}

/// Returns everything that looks like `= shape opcode(` in a line, found without the reader.
fn written(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.split_once(" = "));
    let instruction = |(name, rest): (&str, &str)| {
        let shape = if rest.starts_with('(') {
            &rest[..rest.find(") ").unwrap() + 1]
        } else {
            rest.split(' ').next().unwrap()
        };
        let name = name.trim().trim_start_matches("ROOT ").trim_start_matches('%');
        (name.to_owned(), shape.to_owned())
    };
    lines.map(instruction).collect()
}

#[test]
fn hlo_shapes_print_as_they_are_written() {
    for name in NAMES {
        let (module, proto) = both(name);
        let shapes: Vec<_> = (module.computations.iter())
            .flat_map(|one| &one.instructions)
            .map(|one| (one.name.clone(), one.shape.as_ref().unwrap().to_string()))
            .collect();
        let written = written(&text(name));
        assert!(!written.is_empty());
        assert_eq!(shapes, written, "{name}");
        for (_, shape) in written {
            assert_eq!(Shape::parse(&shape).unwrap().to_string(), shape);
        }
        for one in proto.computations.iter().flat_map(|one| &one.instructions) {
            let shape = one.shape.as_ref().unwrap();
            assert_eq!(Shape::from_proto_bytes(&shape.to_proto_bytes().unwrap()).unwrap(), **shape);
            assert_eq!(shape.validate_with_layouts(), Ok(()));
        }
    }
}

#[test]
fn hlo_signatures_print_as_they_are_written() {
    let mut count = 0;
    for name in NAMES {
        let text = text(name);
        let module = HloModule::parse(&text).unwrap();
        for line in text.lines().filter(|line| line.ends_with('{')) {
            let (name, program) = line.split_once(" (").unwrap();
            let program = format!("({}", program.trim_end_matches(" {"));
            assert_eq!(ProgramShape::parse(&program).unwrap().to_string(), program);
            let name = name.trim_start_matches("ENTRY ").trim_start_matches('%');
            let of_instructions = module.computation(name).unwrap().program_shape().unwrap();
            assert_eq!(of_instructions.without_layouts().to_string(), program);
            count += 1;
        }
    }
    assert_eq!(count, 5 + 3 + 10);
}

#[test]
fn hlo_entries_have_parameters_and_a_result() {
    for (name, program) in [
        (
            "cnn",
            "(x.1: f32[2,3,16,16]{3,2,1,0}, w.1: f32[8,3,3,3]{3,2,1,0}, v.1: f32[2048,10]{1,0}) \
             -> f32[2,10]{1,0}",
        ),
        ("rng", "(key.1: f32[1]{0}) -> (f16[1,1]{1,0}, f32[3,1]{1,0})"),
        ("scan_fft", "(x.1: f32[5,8]{1,0}) -> (f32[8]{0}, f32[5,8]{1,0})"),
    ] {
        let (text, proto) = both(name);
        for module in [text, proto] {
            assert_eq!(module.entry().unwrap().program_shape().unwrap().to_string(), program);
        }
    }
}

#[test]
fn hlo_parameters_are_in_their_order() {
    let module = HloModule::parse(&text("scan_fft")).unwrap();
    let computation = module.computation("fused_computation").unwrap();
    let names: Vec<_> = computation.parameters().iter().map(|one| one.name.as_str()).collect();
    // In the text, the third parameter comes second.
    assert_eq!(names, ["param_0", "param_1.1", "param_2.2"]);
    assert_eq!(computation.instruction("real.2").unwrap().parameter, None);
    assert_eq!(computation.result().unwrap().to_string(), "f32[5,8]{1,0}");
}

fn names(computation: &HloComputation) -> Vec<String> {
    let one = |one: &tilewright_xla::HloInstruction| {
        format!("{} {} {}", one.name, one.opcode, one.shape.as_ref().unwrap())
    };
    computation.instructions.iter().map(one).collect()
}

/// Like XLA's parser: the last computation is the entry if none is marked, and shapes may be omitted.
#[test]
fn hlo_text_may_leave_out_shapes_and_the_entry() {
    let text = "HloModule m\nf {\n  ROOT x = f32[2]{0} parameter(0)\n}\n\
        %g (a: f32[2]) -> f32[2] {\n  %a = f32[2]{0} parameter(0)\n  ROOT %y = add(%a, %a)\n}\n";
    let module = HloModule::parse(text).unwrap();
    let entry = module.entry().unwrap();
    assert_eq!((entry.name.as_str(), entry.instructions.len()), ("g", 2));
    assert_eq!((entry.instructions[1].shape.clone(), entry.result()), (None, None));
    assert!(entry.program_shape().is_none());
    let arrays = entry.buffers(None);
    assert_eq!((arrays.buffers.len(), arrays.bytes()), (1, (8, 0)));
    assert_eq!(arrays.unsized_arrays[0].instruction.name, "y");
    assert!(arrays.unsized_arrays[0].error.to_string().contains("without a shape"));
    // A buffer and a tuple are shapes.
    let text =
        "HloModule m\nENTRY e {\n  a = b(f32[8]) parameter(0)\n  ROOT t = (f32[2]) tuple(a)\n}\n";
    let shapes = HloModule::parse(text).unwrap();
    assert!(shapes.entry().unwrap().instructions.iter().all(|one| one.shape.is_some()));
}

#[test]
fn hlo_text_may_lack_its_first_line() {
    for text in [
        "ENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n",
        "ENTRY %e (x: f32[2]) -> f32[2] {\n  ROOT x = f32[2] parameter(0)\n}\n",
        "// begins at once\ne {\n  ROOT x = f32[2] parameter(0)\n}\n",
        "f {\n  ROOT y = s8[] parameter(0)\n}\ne {\n  ROOT x = f32[2] parameter(0)\n}\n",
    ] {
        let module = HloModule::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((module.name.as_str(), module.entry().unwrap().name.as_str()), ("e", "e"));
        assert_eq!(HloModule::from_bytes(text.as_bytes()).unwrap(), module);
    }
    for text in ["", "e", "f32[2] x", "add(f32[2] x)", "e (x: f32[2]) -> f32[2] {\n}\n"] {
        assert!(HloModule::parse(text).unwrap_err().to_string().contains("`HloModule`"), "{text}");
    }
}

/// As in XLA: the operands are the parameters of an entry whose root is the instruction.
#[test]
fn hlo_text_may_be_a_single_instruction() {
    for (text, name, all) in [
        (
            "%m = f32[2,4]{1,0} multiply(f32[2,4]{1,0} %b, f32[2,4]{0,1} %x)",
            "m",
            &["b parameter f32[2,4]{1,0}", "x parameter f32[2,4]{0,1}", "m multiply f32[2,4]{1,0}"]
                [..],
        ),
        (
            "f32[10] fusion(s8[] p, /*index=1*/(f32[2], u8[]) %t), kind=kLoop, calls={\n  \
             %a = f32[10] parameter(0)\n  ROOT %b = f32[10] negate(%a)\n}\n",
            "_",
            &["p parameter s8[]", "t parameter (f32[2], u8[])", "_ fusion f32[10]"],
        ),
        (
            "ROOT %d = f32[3,3] dot(f32[3,3] %x, f32[3,3] %x), lhs_contracting_dims={1}",
            "d",
            &["x parameter f32[3,3]", "d dot f32[3,3]"],
        ),
        ("c = s32[2] constant({1, 2}) // two", "c", &["c constant s32[2]"]),
        ("x = f32[2] parameter(0)", "x", &["x parameter f32[2]"]),
        ("i = s32[8] iota(), iota_dimension=0", "i", &["i iota s32[8]"]),
        (
            "i = s32[8] iota(), iota_dimension=0,\n  metadata={op_name=\"a, {\"}, x=b01f_01io->b01f /* , */\n",
            "i",
            &["i iota s32[8]"],
        ),
    ] {
        let module = HloModule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let entry = module.entry().unwrap();
        assert_eq!((module.name.as_str(), entry.name.as_str()), (name, name));
        assert_eq!(names(entry), all, "{text}");
        assert_eq!(entry.root, Some(all.len() - 1));
        assert_eq!(HloModule::from_bytes(text.as_bytes()).unwrap(), module);
    }
    for (text, column, why) in [
        ("m = f32[2] add(%x, %x)", 16, "an operand without a shape"),
        ("m = f32[2] add(f32[2] %x f32[2] %y)", 26, "expected `,` or `)`"),
        ("m = f32[2] negate(f32[2] %x) n = f32[2] negate(f32[2] %x)", 30, "text after a single"),
        ("m = f32[2] negate(f32[2]", 25, "expected the name of the operand"),
        ("m = f32[2] add(f33[2] %x)", 16, "f33"),
        ("m = f32[2] add(f32[2] %x, f32[3] %x)", 36, "has another shape"),
        ("i = s32[8] iota(),", 19, "expected an attribute"),
        ("i = s32[8] iota(), iota_dim", 28, "expected `=` and the value"),
        ("i = s32[8] iota(), iota_dimension=", 35, "expected the value"),
        ("i = s32[8] iota(), iota_dimension=0,", 37, "expected an attribute"),
        ("i = s32[8] iota(), metadata={op_name=\"a", 29, "does not end"),
        ("i = s32[8] iota(), sharding={devices=[2]", 29, "does not end"),
        ("i = s32[8] iota(), a=\"b", 22, "does not end"),
        ("i = s32[8] iota(), a=\"b\\", 22, "does not end"),
    ] {
        let error = HloModule::parse(text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!(
            (error.line().unwrap(), error.column(text).unwrap()),
            (1, column),
            "{text}: {error}"
        );
    }
}

#[test]
fn hlo_errors_count_lines_of_any_end() {
    for end in ["\n", "\r\n", "\r"] {
        let text = format!("HloModule m{end}ENTRY e {{{end}  a = f33[2] parameter(0){end}}}{end}");
        let error = HloModule::parse(&text).unwrap_err();
        assert_eq!(
            (error.line().unwrap(), error.column(&text).unwrap()),
            (3, 7),
            "{end:?}: {error}"
        );
        assert!(error.to_string().contains("\n    a = f33[2] parameter(0)"), "{error}");
    }
}

#[test]
fn hlo_lines_end_with_any_white_space_of_theirs() {
    let text = "HloModule m, is_scheduled=true\n\nENTRY e {\n  a = f32[2] parameter(0), sharding={\n  replicated}\n  \
        ROOT x = f32[2] negate(a),\n    metadata={op_name=\"a\"}\n}\n";
    let module = HloModule::parse(text).unwrap();
    assert_eq!(module.entry().unwrap().instructions.len(), 2);
    for end in ["\r\n", "\r"] {
        assert_eq!(HloModule::parse(&text.replace('\n', end)).unwrap(), module, "{end:?}");
    }
}

#[test]
fn hlo_comments_end_with_their_line_whatever_ends_it() {
    for end in ["\n", "\r\n", "\r"] {
        let text = format!(
            "HloModule m // a{end}// }}{end}\nENTRY e {{ // b{end}  ROOT x = f32[2] parameter(0)\n}}\n"
        );
        let module = HloModule::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(module.entry().unwrap().instructions.len(), 1, "{text:?}");
    }
}

#[test]
fn hlo_entries_have_the_shapes_that_the_module_states() {
    let module = |attributes: &str| {
        HloModule::parse(&format!(
            "HloModule m{attributes}\n\
             f {{\n  ROOT x = f32[2,3]{{1,0}} parameter(0)\n}}\n\
             ENTRY e {{\n  b = s8[] parameter(1)\n  a = f32[2,3]{{1,0}} parameter(0)\n  ROOT t = f32[3,2] transpose(a)\n}}\n"
        ))
    };
    let shape = |attributes: &str| module(attributes).unwrap().entry().unwrap().program_shape();
    assert_eq!(shape("").unwrap().to_string(), "(a: f32[2,3]{1,0}, b: s8[]) -> f32[3,2]");
    let stated = ", entry_computation_layout={(f32[2,3]{0,1:T(2,2)}, /*index=1*/ s8[])->f32[3,2]{0,1}}, is_scheduled=true";
    assert_eq!(
        shape(stated).unwrap().to_string(),
        "(a: f32[2,3]{0,1:T(2,2)}, b: s8[]) -> f32[3,2]{0,1}"
    );
    let inner = |attributes: &str| module(attributes).unwrap().computations[0].program_shape();
    assert_eq!(inner(stated), inner(""));
    // What does not fit is passed over.
    for other in ["{(s8[2,3], f32[])->f32[2,3]}", "{()->f32[]}"] {
        assert_eq!(shape(&format!(", entry_computation_layout={other}")), shape(""), "{other}");
    }
    for (wrong, words) in [("{(f32[2,3], s8[])=f32[3,2]}", "`->`"), ("{f32[2,3]}", "`(`")] {
        let error = module(&format!(", entry_computation_layout={wrong}")).unwrap_err().to_string();
        assert!(error.starts_with("line 1, ") && error.contains(words), "{wrong}: {error}");
    }
}

#[test]
fn hlo_text_that_misleads_is_passed_over() {
    let text = r#"// a module
HloModule tricky, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, input_output_alias={ {0}: (0, {}, may-alias) },
  frontend_attributes={a="}\"} ENTRY x {"}

/* ENTRY not.this { x = f32[] parameter(0) } */
FileNames
1 "a { b.py"
FileLocations
1 {file_name_id=1 line=2}

helper {
  a = f32[2]{0} parameter(0)
  ROOT b = f32[2]{0} negate(a)
}, execution_thread="host { "

ENTRY %main.1 (p: f32[2], /* } */ q: (f32[], token[])) -> f32[2]{0} {
  %p = f32[2]{0} parameter(0), sharding={devices=[2,2]<=[4]T(1,0) metadata={op_name="}"}}
  %q = (f32[], token[]) parameter(1), metadata={op_name="say \"}\" // not a comment"}
  %c = f32[2,2]{1,0:T(8,128)S(1)} constant({ { 1, 2 }, /*i0=1*/
    { 3, 4 } })
  %big = (f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[2]{0}) custom-call(%p, /*index=1*/%q), custom_call_target="t",
    backend_config={"a":{"b":["c","}"]}}
  %s = f32[1]{0} slice(%p), slice={[0:1]}
    , dimensions={} // } the end
  %dyn = f32[<=8,?] custom-call-start(%p), calls={ inner { x = f32[] y() } }
  ROOT %r = f32[2]{0} call(%p), to_apply=%helper, backend_config="\\"
}
"#;
    let module = HloModule::parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(module.name, "tricky");
    assert_eq!(module.computations.len(), 2);
    assert_eq!(names(&module.computations[0]), ["a parameter f32[2]{0}", "b negate f32[2]{0}"]);
    assert_eq!(module.computations[0].root, Some(1));
    let entry = module.entry().unwrap();
    assert_eq!(entry.name, "main.1");
    assert_eq!(
        names(entry),
        [
            "p parameter f32[2]{0}",
            "q parameter (f32[], token[])",
            "c constant f32[2,2]{1,0:T(8,128)S(1)}",
            "big custom-call (f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[2]{0})",
            "s slice f32[1]{0}",
            "dyn custom-call-start f32[<=8,?]",
            "r call f32[2]{0}",
        ]
    );
    assert_eq!(entry.root, Some(6));
    assert_eq!(entry.instructions[1].parameter, Some(1));
}

#[test]
fn hlo_text_at_fault_is_told_with_its_line() {
    let module = |body: &str| format!("HloModule m\n\nENTRY e {{\n  {body}\n}}\n");
    for (text, place, why) in [
        (String::new(), (1, 1), "expected `HloModule`"),
        ("main ENTRY {}".into(), (1, 1), "expected `HloModule`"),
        ("HloModule".into(), (1, 10), "module's name"),
        (module("x = f32[2]{1} parameter(0)"), (4, 14), "out of range"),
        (module("x = F32[2] parameter(0)"), (4, 7), "did you mean `f32`"),
        (module("x = add a"), (4, 7), "expected an element type"),
        (module("x f32[2] add(a, b)"), (4, 5), "expected `=`"),
        (module("x = f32[2] (a, b)"), (4, 14), "expected an opcode"),
        (module("x = f32[2] add"), (5, 1), "expected `(` and the operands"),
        (module("x = f32[2] add(a, (b)"), (4, 17), "operands do not end"),
        (module("x = f32[2] parameter(-1)"), (4, 24), "negative"),
        (module("x = f32[2] parameter(x)"), (4, 24), "number of the parameter"),
        (module("x = f32[2] parameter(99999999999999999999)"), (4, 24), "2^63"),
        ("HloModule m\nENTRY a {}\nENTRY b {}".into(), (3, 1), "second ENTRY"),
        ("HloModule m\nENTRY a {".into(), (2, 10), "`}` at the end of the computation"),
        ("HloModule m\na (x: f32[2] {".into(), (2, 3), "parameters do not end"),
        ("HloModule m\na (x: f32[2]) {".into(), (2, 15), "expected `->`"),
        ("HloModule m\na (x: f32[2]) -> {".into(), (2, 18), "expected an element type"),
        ("HloModule m\n/* a {".into(), (2, 1), "expected a computation"),
        ("HloModule m\né {}".into(), (2, 1), "expected a computation"),
    ] {
        let error = HloModule::parse(&text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!((error.line().unwrap(), error.column(&text).unwrap()), place, "{text}: {error}");
    }
    let long = module(&format!("x = f32[{}", "9,".repeat(40_000)));
    assert!(HloModule::parse(&long).unwrap_err().to_string().len() < 500);
}

#[test]
fn hlo_hostile_texts_are_read_in_linear_time() {
    for part in [
        "(",
        "{",
        "[",
        "\"",
        "\\",
        "/*",
        "//",
        ",\n",
        "\n,",
        "\n \n",
        "\"\\é",
        "ENTRY a {}",
        "(a",
        "\r",
        "f32[] a,",
    ] {
        let many = part.repeat(400_000);
        for text in [
            format!("HloModule m{many}"),
            format!("HloModule m\n{many}"),
            format!("HloModule m\na {{ x = f32[] add({many}"),
            format!("HloModule m\na {{ x = f32[] add(), y={many}"),
            format!("HloModule m\na {{ x = {many}"),
            many.clone(),
            format!("x = f32[] add({many}"),
            format!("f32[] add({many}"),
        ] {
            if let Err(error) = HloModule::parse(&text) {
                assert!(error.to_string().len() < 500);
            }
        }
    }
}

#[test]
fn hlo_protos_of_too_many_messages_are_refused() {
    // Computations without content, two bytes each.
    let many = |count: usize| [0x1a, 0].repeat(count);
    let error = HloModule::from_proto_bytes(&many((1 << 22) + 1)).unwrap_err();
    assert!(error.is_limit(), "{error}");
    assert!(error.to_string().starts_with("a module has more than 4194304 messages"), "{error}");
    assert_eq!(HloModule::from_proto_bytes(&many(1000)).unwrap().computations.len(), 1000);
}

#[test]
fn hlo_protos_at_fault_name_their_field() {
    // A module's computation 0 with an instruction 0 of these fields.
    let module = |instruction: &[u8]| {
        let mut bytes = vec![0x12, instruction.len() as u8];
        bytes.extend(instruction);
        [&[0x1a, bytes.len() as u8], bytes.as_slice()].concat()
    };
    let parameter = |shape: &[u8], rest: &[u8]| {
        [b"\x12\x09parameter\x1a", [shape.len() as u8].as_slice(), shape, rest].concat()
    };
    let good = HloModule::from_proto_bytes(&module(&parameter(&[0x10, 11], &[0x48, 3]))).unwrap();
    assert_eq!(good.computations[0].instructions[0].parameter, Some(3));
    let minus = [0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    for (bytes, field) in [
        (module(b""), "computations[0].instructions[0].shape"),
        (
            module(&parameter(&[0x10, 99], &[])),
            "computations[0].instructions[0].shape.element_type",
        ),
        (
            module(&parameter(&[0x10, 11], &minus)),
            "computations[0].instructions[0].parameter_number",
        ),
    ] {
        let error = HloModule::from_proto_bytes(&bytes).unwrap_err();
        assert_eq!(error.name().unwrap_or_default(), field, "{error}");
    }
}

/// Pieces of HLO text, so that random texts get past the first token.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9_.{}()\\[\\]=,:%\"/*#\\\\\n <>é-]{0,6}",
        prop::sample::select(vec![
            "HloModule m\n",
            "ENTRY e {",
            "}\n",
            "ROOT ",
            "x = ",
            "f32[2]{0} ",
            "(f32[], token[]) ",
            "add(",
            "parameter(0)",
            ")",
            ", metadata={op_name=\"",
            "\"}",
            "(p: f32[2]) -> f32[2] ",
            "/*index=5*/",
            "FileNames\n1 \"a\"\n",
            "\n",
        ])
        .prop_map(String::from),
    ]
}

proptest! {
    #[test]
    fn hlo_no_text_is_a_panic(any in any::<String>(), pieces in prop::collection::vec(piece(), 0..30)) {
        let like = pieces.concat();
        for text in [any.clone(), like.clone(), format!("HloModule m\nENTRY e {{\n{like}"), format!("HloModule m {any}")] {
            if let Err(error) = HloModule::parse(&text) {
                let (from, to) = error.span().unwrap();
                prop_assert!(from <= to && to <= text.len() && text.get(from..to).is_some(), "{text}");
                prop_assert!(error.line() >= Some(1) && !error.to_string().is_empty());
            }
        }
    }

    #[test]
    fn hlo_no_bytes_are_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let _ = HloModule::from_proto_bytes(&bytes);
        let mut module = std::fs::read(corpus("rng.pb")).unwrap();
        for (at, byte) in changes {
            let at = at.index(module.len());
            module[at] = byte;
        }
        let _ = HloModule::from_proto_bytes(&module);
        module.truncate(cut.index(module.len()));
        let _ = HloModule::from_proto_bytes(&module);
    }
}
