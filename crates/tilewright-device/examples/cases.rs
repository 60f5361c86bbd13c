//! Writes the kernels of the benchmark's cases for compilers and devices.
//!
//! `cargo run -p tilewright-device --example cases -- SIZE FOLDER` writes `cases.jsonl`, a line a case; `NAME.N.cu` and
//! `NAME.N.cl` for its kernels; and for sizes other than `memory` the bytes of the source, `NAME.src`, and of the
//! destination behind it, `NAME.dst`.

use std::{error::Error, fs, path::Path};

use serde_json::{Value, json};
use tilewright_bench::{Case, Size, data, definitions};
use tilewright_device::{Alignment, DevicePlan, Kernel, Target};
use tilewright_relayout::Program;

type Answer<T> = Result<T, Box<dyn Error>>;

/// A kernel's numbers.
fn numbers(kernel: &Kernel) -> Value {
    json!({
        "way": kernel.way().name(),
        "entry": kernel.entry(),
        "threads": kernel.threads(),
        "blocks": kernel.blocks(),
        "shared": kernel.shared(),
        // As texts: the numbers of JSON end before those of 64 bits.
        "params": kernel.params().iter().map(u64::to_string).collect::<Vec<_>>(),
    })
}

/// The files of a case, and its line.
fn write(name: &str, case: &Case, plan: &DevicePlan, folder: &Path) -> Answer<Value> {
    for (number, kernel) in plan.kernels().iter().enumerate() {
        let file = |end: &str| folder.join(format!("{name}.{number}.{end}"));
        fs::write(file("cu"), kernel.source(Target::Cuda))?;
        fs::write(file("cl"), kernel.source(Target::OpenCl))?;
    }
    if case.size() != Size::Memory {
        let mut source = vec![0; usize::try_from(case.src_bytes())?];
        data::fill(&mut source);
        let mut wanted = vec![0; usize::try_from(case.dst_bytes())?];
        case.plan()?.run(&source, &mut wanted, 1)?;
        fs::write(folder.join(format!("{name}.src")), source)?;
        fs::write(folder.join(format!("{name}.dst")), wanted)?;
    }
    let kernels: Vec<Value> = plan.kernels().iter().map(numbers).collect();
    let (src, dst) = (case.src_bytes(), case.dst_bytes());
    Ok(json!({ "name": name, "src_bytes": src, "dst_bytes": dst, "kernels": kernels }))
}

fn main() -> Answer<()> {
    let mut words = std::env::args().skip(1);
    let size: Size = words.next().unwrap_or_else(|| "small".into()).parse()?;
    let folder = words.next().unwrap_or_else(|| "target/cases".into());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let mut lines = String::new();
    for definition in definitions()? {
        let case = definition.case(size)?;
        let program = Program::new(case.src(), case.dst(), case.elements(), case.fill())?;
        // A name is a part of a file's name.
        let name = definition.name().replace('/', "-");
        match DevicePlan::new(&program, Alignment::default()) {
            Ok(plan) => lines += &format!("{}\n", write(&name, &case, &plan, folder)?),
            Err(error) => println!("    {name}: {error}"),
        }
    }
    fs::write(folder.join("cases.jsonl"), lines)?;
    Ok(())
}
