//! NVRTC itself, found and called as on a machine with a device: only the driver is emulated.

use std::{env, fs};

use tilewright_cuda::{Cuda, Move, Stream};

use crate::{
    emulated::Emulated,
    launches::{Case, cases},
};

/// Every structure of the cases compiles for every major architecture, and the code has both entries.
#[test]
#[ignore = "needs NVRTC: `cargo xtask oracles NVRTC`, or TILEWRIGHT_LIBNVRTC with the path of the library"]
fn nvrtc_compiles_what_is_moved() {
    let nvrtc = env::var_os("TILEWRIGHT_LIBNVRTC").expect("the path of libnvrtc");
    for (major, minor) in [(7, 5), (8, 0), (8, 9), (9, 0), (10, 0), (12, 0)] {
        let machine = Emulated::with(1, 13_000);
        machine.capability(0, major, minor);
        machine.takes_machine_code();
        let cuda = Cuda::open(&machine.settings().with_compiler(&nvrtc)).unwrap();
        for Case { name, program } in cases() {
            let moved = Move::new(program);
            let src = machine.memory(0, moved.src_bytes() as usize + 1);
            let dst = machine.memory(0, moved.dst_bytes() as usize + 1);
            for at in [0, 1] {
                let (from, to) = (moved.src_bytes() as usize, moved.dst_bytes() as usize);
                let launched =
                    cuda.launch(&moved, src.part(at, from), dst.part(0, to), Stream::LEGACY);
                launched.unwrap_or_else(|error| panic!("{name} for {major}.{minor}: {error}"));
            }
        }
        let counts = cuda.counts();
        assert!(counts.compiled > 5, "{counts:?}");
        for entry in fs::read_dir(machine.path().join("cache")).unwrap() {
            let code = fs::read(entry.unwrap().path()).unwrap();
            for name in ["tw_move\0", "tw_move_table\0"] {
                assert!(code.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "{name}");
            }
        }
        println!("    {major}.{minor}: {} texts compiled by NVRTC", counts.compiled);
    }
}
