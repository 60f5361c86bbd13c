//! The options of `bench`.

use clap::Args;

use super::ArrayArgs;

/// The default of `--max-bytes`.
pub(crate) const MAX_BYTES: &str = "512M";

/// The text after the options in the help.
pub(super) const HELP: &str = "\
Every case moves one array, checks the result's checksum, and takes turns with a
memcpy of the same number of bytes, padding included, in the same buffers with
the same threads. All cases take minutes and two buffers of 340 MB; --quick runs
some of them in seconds.

--size tiny measures the cost of a call: nanoseconds over memcpy up to 4096
bytes, the ratio beyond. --offset starts the buffers past a cache line, as
malloc and NumPy do by 16 bytes; --paired measures what that costs.

--random draws realistic cases, which seed and number determine on every
machine. --seed 7:12 continues at case 12 of seed 7, so --random 1 --seed 7:12
measures that case again. --from row-major --to zN --dims 4096,4096
--dtype bf16 measures any case.

--device measures on a CUDA device instead of the CPU: the kernel and the
device's own copy of the same bytes take turns, timed by events. The result is
compared with the CPU's, byte by byte. Cases of size memory have 1 GB. --check
compares and times nothing.

Examples:
  tilewright bench --quick
  tilewright bench transpose-f32 --size memory --offset 16 --paired
  tilewright bench --device --quick --size memory";

#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Run only cases with one of these in their name
    #[arg(value_name = "NAME", conflicts_with_all = ["random", "from"])]
    pub(crate) names: Vec<String>,
    /// Run a selection of the cases, or those that are named, with fewer repetitions
    #[arg(long)]
    pub(crate) quick: bool,
    /// Threads, 0 for all cores [default: one, then all]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Run only this size: memory (beyond the caches), l2 (within one), tiny (64 B to 64 kB), small
    /// (a few kB, for tests; its times say little) [default: memory and l2]
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["random", "from"])]
    pub(crate) size: Option<String>,
    /// Bytes past a cache line at which buffers begin: one number, or SRC,DST [default: 0; as drawn
    /// for random cases]
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    pub(crate) offset: Option<String>,
    /// Also measure in buffers on cache lines, in turns, and print the cost of the offset
    #[arg(long)]
    pub(crate) paired: bool,
    /// Pages of the buffers: huge (2 MiB, where the system has them) or small, as malloc gives them
    #[arg(long, value_name = "PAGES", default_value = "huge")]
    pub(crate) pages: String,
    /// Draw this many realistic cases instead of the defined ones
    #[arg(long, value_name = "N", conflicts_with = "from", allow_hyphen_values = true)]
    pub(crate) random: Option<String>,
    /// The seed of random cases, and the first case: 7, or 7:12
    #[arg(
        long,
        value_name = "S",
        default_value = "1",
        requires = "random",
        allow_hyphen_values = true
    )]
    pub(crate) seed: String,
    /// Most bytes that a random case reads and writes, such as 512M; the fewest are a sixteenth
    #[arg(
        long,
        value_name = "SIZE",
        default_value = MAX_BYTES,
        requires = "random",
        allow_hyphen_values = true
    )]
    pub(crate) max_bytes: String,
    /// Measure one case: the layout of the source; needs --to, --dims and --dtype
    #[arg(long, value_name = "SPEC", requires = "to", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// The layout of the destination
    #[arg(long, value_name = "SPEC", requires = "from", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
    #[command(flatten)]
    pub(crate) device: OnDevice,
    /// List the cases and measure nothing
    #[arg(long)]
    pub(crate) list: bool,
}

/// Options of measurements on the CPU. An option that needs a device conflicts with them, too: clap does not ask for the device
/// where one of them rules it out.
const ON_CPU: [&str; 4] = ["threads", "paired", "list", "pages"];

/// On a device, and how.
#[derive(Args, Debug)]
pub(crate) struct OnDevice {
    /// Measure on this CUDA device [default: 0] and compare with the CPU
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        conflicts_with_all = ON_CPU
    )]
    pub(crate) device: Option<String>,
    /// Compare the bytes and time nothing
    #[arg(long, requires = "device", conflicts_with_all = ON_CPU)]
    pub(crate) check: bool,
    /// Fewest bytes of the larger side of cases of size memory, by a longer first dim, as far as
    /// the device has memory [default: 1G]
    #[arg(long, value_name = "SIZE", requires = "device", conflicts_with_all = ON_CPU, allow_hyphen_values = true)]
    pub(crate) bytes: Option<String>,
    /// Move this many arrays of each case in one launch
    #[arg(long, value_name = "N", requires = "device", conflicts_with_all = ON_CPU, allow_hyphen_values = true)]
    pub(crate) many: Option<String>,
    /// Walk the destination in squares of N by N tiles [default: the planner's]
    #[arg(long, value_name = "N", requires = "device", conflicts_with_all = ON_CPU, allow_hyphen_values = true)]
    pub(crate) supertile: Option<String>,
}
