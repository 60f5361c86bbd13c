//! Moves 512 MiB of f32 with one call in Rust, for comparison with `crates/tilewright-py/benches/speed.py`. Prints the shortest
//! of seven rounds in milliseconds, with one thread and with two.

use std::time::Instant;

use tilewright::{
    Spec, TensorLayout,
    relayout::{Buffer, Elements, Plan},
};

const DIMS: [u64; 2] = [16384, 8192];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = TensorLayout::row_major(&DIMS)?;
    for threads in [1, 2] {
        for to in ["col-major", "(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0"] {
            let there = Spec::parse(to)?.resolve(Some(&DIMS), None)?;
            let plan = Plan::new(&rows, there.layout(), Elements::same(32), 0)?;
            // The buffers are on huge pages, as NumPy's arrays of this size are.
            let (mut source, mut out) = (Buffer::new(1 << 29)?, Buffer::new(1 << 29)?);
            // Pages that were never written all map to the same page.
            source.fill(1);
            plan.run(&source, &mut out, threads)?;
            let mut best = f64::INFINITY;
            for _ in 0..7 {
                let began = Instant::now();
                plan.run(&source, &mut out, threads)?;
                best = best.min(began.elapsed().as_secs_f64());
            }
            println!("512 MiB f32 {DIMS:?} to {to}, {threads} threads: {:.1} ms", best * 1e3);
        }
    }
    Ok(())
}
