//! Functions for the tests of several crates.
//!
//! `cargo test` checks each law on its smallest complete cases and on some of the larger ones. `cargo xtask oracles
//! laws` runs the same tests with every case.

#![forbid(unsafe_code)]

mod objects;

pub use objects::{Came, Objects, Planted};

/// The variable by which `cargo xtask oracles laws` requests every case.
const ALL: &str = "TILEWRIGHT_LAWS";

/// Returns a new folder for small files, in memory where the system has such a place: to sync them to a disk takes most of
/// the time of many tests.
///
/// ```
/// let folder = tilewright_testing::folder();
/// std::fs::write(folder.path().join("a"), "b").unwrap();
/// ```
///
/// # Panics
///
/// Panics if the system makes no folder.
pub fn folder() -> tempfile::TempDir {
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    made.unwrap_or_else(|error| panic!("no folder for temporary files: {error}"))
}

/// Returns the number of cases of a test, or the distance between them: `all` if every case is requested, or else `few`.
///
/// ```
/// let cases = tilewright_testing::cases(10_000, 500);
/// assert!(cases == 500 || std::env::var_os("TILEWRIGHT_LAWS").is_some());
/// ```
pub fn cases<N>(all: N, few: N) -> N {
    if std::env::var_os(ALL).is_some() { all } else { few }
}

/// Returns bytes that a seed determines and that do not repeat soon.
///
/// ```
/// assert_eq!(tilewright_testing::noise(3, 7), tilewright_testing::noise(5, 7)[..3]);
/// ```
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(step).collect()
}

/// Returns a bit, the lowest bit of a byte first.
///
/// ```
/// assert!(tilewright_testing::bit(&[0, 4], 10));
/// ```
pub fn bit(bytes: &[u8], at: u64) -> bool {
    bytes[(at / 8) as usize] >> (at % 8) & 1 == 1
}

/// Sets a bit, the lowest bit of a byte first.
///
/// ```
/// let mut bytes = [0, 0];
/// tilewright_testing::set_bit(&mut bytes, 10, true);
/// assert_eq!(bytes, [0, 4]);
/// ```
pub fn set_bit(bytes: &mut [u8], at: u64, value: bool) {
    let byte = &mut bytes[(at / 8) as usize];
    *byte = *byte & !(1 << (at % 8)) | u8::from(value) << (at % 8);
}

/// A stream of pseudorandom numbers that a seed determines (SplitMix64).
///
/// ```
/// let mut random = tilewright_testing::Random(0);
/// assert_eq!(random.next(), 0xE220_A839_7B1D_CDAF);
/// assert!(random.below(10) < 10);
/// ```
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    #[expect(clippy::should_implement_trait, reason = "the stream has no end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
