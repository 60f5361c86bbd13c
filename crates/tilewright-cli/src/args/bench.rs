//! The options of `bench`.

use clap::Args;

use super::Array;

/// What `--max-bytes` is unless said.
pub(crate) const MAX_BYTES: &str = "512M";

/// What the help says behind the options.
pub(super) const HELP: &str = "\
Every case moves one array, checks the checksum of what came out, and takes
turns with a memcpy that moves the same number of bytes, padding included, in
the same buffers with the same threads. All cases take minutes and two buffers
of 340 MB; --quick a part of them and seconds.

--size tiny says what a call costs: nanoseconds over memcpy up to 4096 bytes,
the ratio beyond. --offset puts the buffers past a cache line, as malloc and
NumPy do by 16 bytes; --paired says what that costs.

--random draws cases as people have them; seed and number say it all, on every
machine. --seed 7:12 goes on at case 12 of seed 7: --random 1 --seed 7:12
measures that case again. --from row-major --to zN --dims 4096,4096
--dtype bf16 measures any case.

--device measures on a CUDA device in place of the processor: our launch and the
device's own copy of the same number of bytes take turns, timed by events, and
what comes out is compared with what the processor makes, byte by byte. Cases of
size memory are made 1 GB large. --check compares and times nothing.

Examples:
  tilewright bench --quick
  tilewright bench transpose-f32 --size memory --offset 16 --paired
  tilewright bench --device --quick --size memory";

#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Only the cases that have one of these in their name
    #[arg(value_name = "NAME", conflicts_with_all = ["random", "from"])]
    pub(crate) names: Vec<String>,
    /// Fewer cases, unless some are named, and fewer repetitions
    #[arg(long)]
    pub(crate) quick: bool,
    /// Threads, 0 for all cores; one and all unless given
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Only this size: memory (beyond caches), l2 (within one), tiny (64 B to 64 kB), small; the first two
    /// unless given
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["random", "from"])]
    pub(crate) size: Option<String>,
    /// The bytes past a cache line at which the buffers begin: one number for both, or SRC,DST; 0 unless
    /// given, and of random cases what was drawn
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    pub(crate) offset: Option<String>,
    /// Measure each case in buffers on cache lines, too, in turns, and print what the offset costs
    #[arg(long)]
    pub(crate) paired: bool,
    /// Draw this many cases as people have them, instead of those that are defined
    #[arg(long, value_name = "N", conflicts_with = "from", allow_hyphen_values = true)]
    pub(crate) random: Option<String>,
    /// The seed of random cases, and which is the first: 7, or 7:12
    #[arg(
        long,
        value_name = "S",
        default_value = "1",
        requires = "random",
        allow_hyphen_values = true
    )]
    pub(crate) seed: String,
    /// The most bytes that a random case reads and writes, such as 512M; the least is a sixteenth of it
    #[arg(
        long,
        value_name = "SIZE",
        default_value = MAX_BYTES,
        requires = "random",
        allow_hyphen_values = true
    )]
    pub(crate) max_bytes: String,
    /// Measure this case: the layout of the source; needs --to and --dims, and --dtype
    #[arg(long, value_name = "SPEC", requires = "to", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// The layout of the destination
    #[arg(long, value_name = "SPEC", requires = "from", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) array: Array,
    #[command(flatten)]
    pub(crate) device: OnDevice,
    /// List the cases and measure nothing
    #[arg(long)]
    pub(crate) list: bool,
}

/// On a device, and how.
#[derive(Args, Debug)]
pub(crate) struct OnDevice {
    /// Measure on this CUDA device, 0 unless said, and compare with the processor
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        conflicts_with_all = ["threads", "paired", "list"]
    )]
    pub(crate) device: Option<String>,
    /// Compare the bytes and time nothing
    #[arg(long, requires = "device")]
    pub(crate) check: bool,
    /// The least bytes of the larger side of cases of size memory, 1G unless given: their first dim is made
    /// longer; as far as the device has them
    #[arg(long, value_name = "SIZE", requires = "device", allow_hyphen_values = true)]
    pub(crate) bytes: Option<String>,
    /// Move this many arrays of each case in one launch
    #[arg(long, value_name = "N", requires = "device", allow_hyphen_values = true)]
    pub(crate) many: Option<String>,
    /// Walk the destination in squares of N by N tiles; what the planner takes unless given
    #[arg(long, value_name = "N", requires = "device", allow_hyphen_values = true)]
    pub(crate) supertile: Option<String>,
}
