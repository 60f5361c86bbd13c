//! Computes the checksum of every case in every size by moving one element after another, without a plan, as the
//! definitions require. It prints the checksums that differ, and their right values. With `--plan` the plan moves the
//! elements, which is faster for a first draft.
//!
//! `cargo run --release -p tilewright-bench --example checksums [-- [--plan] NAME…]`

use std::{env, error::Error, process::ExitCode};

use tilewright_bench::{Case, Definition, Size, data, definitions};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (options, names): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let by_plan = options.iter().any(|option| option == "--plan");
    let mut wrong = 0;
    for definition in definitions()? {
        for case in cases(&definition)? {
            if !names.is_empty() && !names.iter().any(|name| case.name().contains(name.as_str())) {
                continue;
            }
            let out = if by_plan { planned(&case)? } else { case.expected() };
            let found = data::checksum(&out);
            let says = if Some(found) == case.checksum() { "ok" } else { "DIFFERS" };
            wrong += usize::from(Some(found) != case.checksum());
            println!("{:40} {found:#018x} {says}", case.name());
        }
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cases(definition: &Definition) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for size in Size::ALL {
        cases.extend(definition.cases(size)?);
    }
    Ok(cases)
}

fn planned(case: &Case) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut source = vec![0; case.src_bytes() as usize];
    data::fill(&mut source);
    let mut out = vec![0xFF; case.dst_bytes() as usize];
    case.plan()?.run(&source, &mut out, 0)?;
    Ok(out)
}
