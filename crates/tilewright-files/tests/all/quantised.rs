//! Weights whose quantisation, by the files and tensors beside them, differs from what the format of `--from` presumes.

use std::{fs, path::Path};

use tilewright_core::{Dtype, Remedy};
use tilewright_files::{Action, Conversion, Error, Reading, Request, open};

use crate::common::{safetensors, spec};

/// Writes 128 × 64 weights of 4 bits in words, with a zero point for each column of four groups.
fn model(folder: &Path, zeros: &[u8; 128]) {
    let header = r#"{"l.qweight":{"dtype":"I32","shape":[16,64],"data_offsets":[0,4096]},"l.qzeros":{"dtype":"I32","shape":[4,8],"data_offsets":[4096,4224]}}"#;
    let words: Vec<u8> = (0..4096u32).map(|at| (at * 37 % 251) as u8).collect();
    fs::write(folder.join("model.safetensors"), safetensors(header, &[&words[..], zeros].concat()))
        .unwrap();
}

fn request(from: &str, to: &str, tensor: &str) -> Request {
    Request::new().from(spec(from)).to(spec(to)).dtype(Dtype::U4).only(tensor)
}

/// Prepares a conversion of the model; returns its warnings.
fn prepared(folder: &Path, request: Request) -> Result<Vec<String>, Error> {
    let input = open(folder.join("model.safetensors"), request.reading()).unwrap();
    let conversion = Conversion::prepare(&input, folder.join("out.safetensors"), request)?;
    Ok(conversion.warnings().collect())
}

fn refusal(folder: &Path, request: Request) -> String {
    let error = prepared(folder, request.clone()).unwrap_err();
    assert!(error.is_usage() && error.remedies() == [Remedy::AnyConfig], "{error}");
    assert_eq!(prepared(folder, request.any_config(true)).unwrap(), [""; 0]);
    error.to_string()
}

#[test]
fn a_configuration_of_another_quantisation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    model(at, &[0x77; 128]);
    let marlin = || request("GPTQ", "MARLIN", "*qweight").store(Dtype::S32);
    let config = |text: &str| {
        let text = format!("{{\"quantization_config\": {{{text}}}}}");
        fs::write(at.join("config.json"), text).unwrap();
    };
    for (stated, says) in [
        (r#""quant_method": "awq""#, "states quant_method awq, not gptq, which GPTQ presumes here"),
        (r#""quant_method": "gptq", "bits": 8"#, "config.json states bits 8, not 4"),
        (
            r#""quant_method": "gptq", "sym": false"#,
            "sym false, not true, and MARLIN needs symmetric",
        ),
        (
            r#""quant_method": "gptq", "checkpoint_format": "marlin""#,
            "checkpoint_format marlin, not gptq or",
        ),
    ] {
        config(stated);
        let said = refusal(at, marlin());
        assert!(
            said.contains("tensor \"l.qweight\": config.json states") && said.contains(says),
            "{said}"
        );
        // On request, the tensor is skipped and listed.
        let input = open(at.join("model.safetensors"), &Reading::default()).unwrap();
        let skipped = Conversion::prepare(&input, at.join("o"), marlin().skip_unfit(true)).unwrap();
        assert!(
            skipped
                .jobs()
                .iter()
                .any(|job| matches!(job.action(), Action::Skip(why) if why.contains(says)))
        );
    }
    // Rows that keep their order are also read by the format; their meaning is up to their reader.
    config(r#""quant_method": "awq""#);
    assert!(refusal(at, request("GPTQ", "row-major", "*qweight")).contains("quant_method awq"));
    config(r#""quant_method": "gptq", "sym": false"#);
    assert_eq!(prepared(at, request("GPTQ", "row-major", "*qweight")).unwrap(), [""; 0]);
    for right in [r#""quant_method": "GPTQ", "bits": 4, "sym": true"#, r#""bits": null"#, ""] {
        config(right);
        assert_eq!(prepared(at, marlin()).unwrap(), [""; 0], "{right}");
    }
    // Other layouts presume nothing.
    config(r#""quant_method": "awq""#);
    assert!(prepared(at, Request::new().to(spec("col-major"))).is_ok());
    // Older tools write a separate file.
    fs::write(at.join("config.json"), "{}").unwrap();
    fs::write(at.join("quantize_config.json"), r#"{"bits": 8}"#).unwrap();
    assert!(refusal(at, marlin()).contains("quantize_config.json states bits 8, not 4"));
}

#[test]
fn zero_points_beside_a_weight_are_the_middle_for_a_symmetric_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("config.json"), r#"{"quantization_config": {"quant_method": "gptq"}}"#)
        .unwrap();
    let marlin = || request("GPTQ", "MARLIN", "*qweight").store(Dtype::S32);
    for all in [0x77, 0x88] {
        model(at, &[all; 128]);
        assert_eq!(prepared(at, marlin()).unwrap(), [""; 0]);
        for (place, other) in [(0, 0x78), (64, 0xff ^ all), (127, 0x99)] {
            let mut zeros = [all; 128];
            zeros[place] = other;
            model(at, &zeros);
            let said = refusal(at, marlin());
            let says = "MARLIN needs symmetric weights, whose zero points are all stored as 0x77 or all as 0x88";
            assert!(said.contains(says) && said.contains("\"l.qzeros\" holds 0x"), "{said}");
            assert_eq!(prepared(at, request("GPTQ", "AWQ", "*qweight")).unwrap(), [""; 0]);
        }
    }
}

/// The first version of GPTQ's files stores zero points less 1: unchanged, they do not fit any other format.
#[test]
fn zero_points_that_are_stored_less_1_are_refused_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    model(at, &[0x77; 128]);
    let to = |to: &str| request("GPTQ_ZEROS", to, "*qzeros");
    for (file, is_right) in [("\"gptq_v2\"", true), ("\"gptq\"", false), ("null", false)] {
        let config = format!("{{\"quantization_config\": {{\"checkpoint_format\": {file}}}}}");
        fs::write(at.join("config.json"), config).unwrap();
        assert_eq!(prepared(at, to("row-major")).unwrap(), [""; 0]);
        match is_right {
            true => assert_eq!(prepared(at, to("MARLIN_ZP")).unwrap(), [""; 0]),
            false => {
                let said = refusal(at, to("MARLIN_ZP"));
                assert!(
                    said.contains("each zero point is stored minus 1, except in gptq_v2"),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn what_is_not_checked_and_what_a_copied_configuration_states_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    model(at, &[0x77; 128]);
    let marlin = || request("GPTQ", "MARLIN", "*qweight").store(Dtype::S32);
    let said =
        "no config.json states the quantisation of \"l.qweight\"; that it is GPTQ is not checked";
    assert_eq!(prepared(at, marlin()).unwrap(), [said]);
    fs::write(at.join("config.json"), "{").unwrap();
    assert_eq!(prepared(at, marlin()).unwrap(), [said]);
    fs::write(at.join("config.json"), r#"{"quantization_config": {"quant_method": "gptq"}}"#)
        .unwrap();
    let input = open(at, &Reading::default()).unwrap();
    let out = tempfile::tempdir().unwrap();
    let conversion = Conversion::prepare(&input, out.path().join("out"), marlin()).unwrap();
    let copied = "config.json is copied and still states the quantisation of GPTQ; \"l.qweight\" is MARLIN now";
    assert_eq!(conversion.warnings().collect::<Vec<_>>(), [copied]);
    // The check of a result reads the original again, without this check.
    conversion.run(&()).unwrap();
    fs::write(at.join("config.json"), r#"{"quantization_config": {"quant_method": "awq"}}"#)
        .unwrap();
    let verdict = tilewright_files::verify(
        out.path().join("out/model.safetensors"),
        at.join("model.safetensors"),
        &marlin(),
        &(),
    );
    assert!(format!("{verdict:?}").contains("Same"), "{verdict:?}");
}
