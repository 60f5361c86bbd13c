//! `tilewright-bindgen IN.wasm FOLDER`: from the compiler's WebAssembly to the one a browser loads, with the
//! JavaScript that calls it and its types.

#![forbid(unsafe_code)]

use std::{env, process::ExitCode};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [input, folder] = &arguments[..] else {
        eprintln!("usage: tilewright-bindgen IN.wasm FOLDER");
        return ExitCode::FAILURE;
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).typescript(true).remove_name_section(true);
    bindgen.remove_producers_section(true);
    match bindgen.web(true).and_then(|bindgen| bindgen.generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{input}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
