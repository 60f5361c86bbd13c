//! The languages, and the options of the printed text.

use std::{fmt, str::FromStr};

use crate::Error;

/// A language in which functions are printed.
///
/// ```
/// use tilewright_emit::Language;
/// assert_eq!("cuda".parse(), Ok(Language::Cuda));
/// assert_eq!(Language::ALL.len(), 6);
/// let error = "cobol".parse::<Language>().unwrap_err().to_string();
/// assert_eq!(error, "language \"cobol\": expected one of c, cuda, rust, python, triton, mlir");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// C99.
    C,
    /// CUDA C++, for the device and the host; needs no header.
    Cuda,
    /// Rust, as a `const fn`.
    Rust,
    /// Python.
    Python,
    /// Triton: a function of blocks of integers.
    Triton,
    /// MLIR: the dialects `func` and `arith`.
    Mlir,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 6] = [
        Language::C,
        Language::Cuda,
        Language::Rust,
        Language::Python,
        Language::Triton,
        Language::Mlir,
    ];

    /// Returns the name by which it is selected.
    ///
    /// ```
    /// assert_eq!(tilewright_emit::Language::Mlir.name(), "mlir");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cuda => "cuda",
            Language::Rust => "rust",
            Language::Python => "python",
            Language::Triton => "triton",
            Language::Mlir => "mlir",
        }
    }

    /// Returns an error if a word cannot be a name.
    pub(crate) fn check(self, word: &str) -> Result<(), Error> {
        let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && word.chars().any(|c| c.is_ascii_alphanumeric());
        if !is_word {
            let said = "expected a word of letters, digits and underscores that does not begin with a digit";
            return Err(Error::usage(format!("name {word:?}: {said}")));
        }
        // The functions' own names are reserved: i0, i1 … for coordinates, t0, t1 … for common subexpressions.
        let (language, words) = match self {
            Language::C => ("C", C),
            Language::Cuda => ("CUDA", C),
            Language::Rust => ("Rust", RUST),
            Language::Python | Language::Triton => ("Python", PYTHON),
            Language::Mlir => return Ok(()),
        };
        match words.split_whitespace().any(|own| own == word) {
            true => Err(Error::usage(format!(
                "name {word:?}: it is a word of {language}, or a name in the printed code"
            ))),
            false => Ok(()),
        }
    }
}

const C: &str = "auto break case char const continue default do double else enum extern float for goto if inline int long \
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool class \
template typename this new delete private public protected virtual operator namespace using try catch throw true false \
nullptr friend explicit export mutable alignas alignof and or not xor asm c main int8_t int16_t int32_t int64_t uint8_t \
uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t wchar_t NULL threadIdx blockIdx blockDim gridDim warpSize \
__host__ __device__ __forceinline__ __global__ __shared__";

const RUST: &str = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod \
move mut pub ref return self Self static struct super trait true type unsafe use where while abstract become box do final \
gen macro override priv try typeof unsized virtual yield i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 usize isize bool str char \
Some None Option Ok Err main _";

const PYTHON: &str = "False None True and as assert async await break class continue def del elif else except finally for from \
global if import in is lambda nonlocal not or pass raise return try while with yield triton";

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = Error;

    fn from_str(text: &str) -> Result<Language, Error> {
        let found = Language::ALL.into_iter().find(|language| language.name() == text);
        found.ok_or_else(|| {
            let names = Language::ALL.map(Language::name).join(", ");
            Error::usage(format!("language {text:?}: expected one of {names}"))
        })
    }
}

/// Options of the printed text.
///
/// ```
/// use tilewright_emit::{Style, Width};
/// assert_eq!(Style::default(), Style { name: None, bits: Width::Bits64 });
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The name of the function; `offset` or `coord` by default.
    pub name: Option<String>,
    /// The width of its integers, if the language has widths.
    pub bits: Width,
}

/// The width of integers.
///
/// ```
/// assert_eq!(tilewright_emit::Width::default(), tilewright_emit::Width::Bits64);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// 32 bits, for arrays of fewer than 2³¹ elements.
    Bits32,
    /// 64 bits.
    #[default]
    Bits64,
}
