//! A case in one size: two layouts, the width of the elements, and the checksum of the result.
//!
//! The two buffers of a case begin at [`Offsets`] within a cache line. For measurements on devices, a case is made
//! larger: its first dim becomes longer, so that a launch takes long enough. For other libraries, a case is converted
//! to boxes of elements with strides on both sides ([`Boxed`]).

use std::{fmt, str::FromStr};

use tilewright::{
    Dtype, ResolvedLayout, Spec, TensorLayout,
    layouts::Refinement,
    notation,
    relayout::{Elements, Extend, Loop, Plan},
};

use crate::Error;

/// The sizes in which every case is defined.
///
/// ```
/// use tilewright_bench::Size;
/// assert_eq!("l2".parse::<Size>(), Ok(Size::L2));
/// assert_eq!(Size::ALL.map(|size| size.to_string()), ["memory", "l2", "tiny", "small"]);
/// assert!("l4".parse::<Size>().unwrap_err().to_string().contains("memory, l2, tiny, small"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// Larger than caches: the source or the result has at least 128 MB.
    Memory,
    /// Source and destination together fit a megabyte.
    L2,
    /// From 64 bytes to 64 kB, several shapes of each case: measures the cost of a call.
    Tiny,
    /// A few kilobytes, for tests.
    Small,
    /// As it was drawn or given; no definition has this size.
    Random,
}

impl Size {
    /// The sizes of definitions.
    pub const ALL: [Size; 4] = [Size::Memory, Size::L2, Size::Tiny, Size::Small];

    const fn name(self) -> &'static str {
        match self {
            Size::Memory => "memory",
            Size::L2 => "l2",
            Size::Tiny => "tiny",
            Size::Small => "small",
            Size::Random => "random",
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Size, Error> {
        let found = Size::ALL.into_iter().find(|size| size.name() == text);
        found.ok_or_else(|| {
            Error::definition(format!(
                "no size is called {text:?}; they are memory, l2, tiny, small"
            ))
        })
    }
}

/// A move, and the checksum of its result.
///
/// ```
/// use tilewright_bench::{Size, definitions};
/// let all = definitions()?;
/// let packed = all.iter().find(|case| case.name() == "s4-to-s8").unwrap().case(Size::Small)?;
/// assert_eq!((packed.elements().src_bits, packed.elements().dst_bits), (4, 8));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Case {
    name: String,
    size: Size,
    dtype: Dtype,
    from: String,
    to: String,
    src: TensorLayout,
    dst: TensorLayout,
    elements: Elements,
    fill: u128,
    src_bytes: u64,
    dst_bytes: u64,
    checksum: Option<u64>,
    offsets: Offsets,
}

impl Case {
    pub(crate) fn new(
        name: String,
        size: Size,
        dtype: &str,
        from: String,
        to: String,
        dims: &[u64],
        checksum: Option<u64>,
    ) -> Result<Case, Error> {
        let dtype = notation::dtype(dtype).map_err(|error| refused("dtype", &error))?;
        let src = layout("from", &from, dims, dtype)?;
        let dst = layout("to", &to, dims, dtype)?;
        let extend = if dtype.is_signed_integer() { Extend::Sign } else { Extend::Zero };
        let elements = Elements { src_bits: bits(&src)?, dst_bits: bits(&dst)?, extend };
        let fill = dtype.fill_bits(dst.fill()).map_err(|error| refused("fill", &error))?;
        let (src, dst) = (src.layout().clone(), dst.layout().clone());
        let mut case = Case {
            name,
            size,
            dtype,
            from,
            to,
            src,
            dst,
            elements,
            fill,
            src_bytes: 0,
            dst_bytes: 0,
            checksum,
            offsets: Offsets::default(),
        };
        let plan = case.plan()?;
        (case.src_bytes, case.dst_bytes) = (plan.src_bytes(), plan.dst_bytes());
        Ok(case)
    }

    /// Makes a case without a definition: it has no checksum, and its result is compared element by element. Its name
    /// is `given`.
    ///
    /// # Errors
    /// A [definition](Error::is_definition) whose layouts or dtype cannot be read, or whose layouts do not fit each
    /// other.
    ///
    /// ```
    /// use tilewright_bench::Case;
    /// let case = Case::given("bf16", "row-major", "zN", &[100, 100])?;
    /// assert_eq!((case.name(), case.src_bytes(), case.checksum()), ("given", 20_000, None));
    /// assert!(Case::given("bf16", "row-mayor", "zN", &[100, 100]).unwrap_err().is_definition());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn given(dtype: &str, from: &str, to: &str, dims: &[u64]) -> Result<Case, Error> {
        let (from, to) = (from.to_owned(), to.to_owned());
        Case::new("given".to_owned(), Size::Random, dtype, from, to, dims, None)
    }

    pub(crate) fn named(self, name: String, size: Size) -> Case {
        Case { name, size, ..self }
    }

    /// Returns the case in buffers that begin at these offsets.
    ///
    /// ```
    /// use tilewright_bench::{Offsets, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?.at(Offsets { src: 16, dst: 16 });
    /// assert_eq!(case.offsets().src, 16);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    #[must_use]
    pub fn at(self, offsets: Offsets) -> Case {
        Case { offsets, ..self }
    }

    /// Returns the offsets at which its buffers begin.
    ///
    /// ```
    /// use tilewright_bench::{Offsets, Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.offsets(), Offsets::default());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn offsets(&self) -> Offsets {
        self.offsets
    }

    /// Returns the definition's name and the size: `transpose-f32-odd/memory`.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::L2)?.name(), "transpose-u8-square/l2");
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its size.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::L2)?.size(), Size::L2);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the element type.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::L2)?.dtype().name(), "u8");
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Returns the text of the source's layout.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::L2)?.from(), "row-major");
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn from(&self) -> &str {
        &self.from
    }

    /// Returns the text of the destination's layout.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::L2)?.to(), "col-major");
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn to(&self) -> &str {
        &self.to
    }

    /// Returns the logical dims.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.dims(), [24, 24]);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn dims(&self) -> &[u64] {
        self.src.extents()
    }

    /// Returns the layout of the source.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.src().offset(&[1, 0]), Ok(24));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn src(&self) -> &TensorLayout {
        &self.src
    }

    /// Returns the layout of the destination.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.dst().offset(&[1, 0]), Ok(1));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn dst(&self) -> &TensorLayout {
        &self.dst
    }

    /// Returns the widths of the elements.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.elements().src_bits, 8);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn elements(&self) -> Elements {
        self.elements
    }

    /// Returns the value of padding in the destination.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.fill(), 0);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn fill(&self) -> u128 {
        self.fill
    }

    /// Returns the bytes of the source.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.src_bytes(), 576);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn src_bytes(&self) -> u64 {
        self.src_bytes
    }

    /// Returns the bytes of the destination.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.dst_bytes(), 576);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn dst_bytes(&self) -> u64 {
        self.dst_bytes
    }

    /// Returns the larger of both: the size of each buffer that a [`Bench`](crate::Bench) needs.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.bytes(), 576);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        self.src_bytes.max(self.dst_bytes)
    }

    /// Returns the checksum that the destination must have, if a definition states it.
    ///
    /// ```
    /// use tilewright_bench::{Size, data, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// assert_eq!(Some(data::checksum(&case.expected())), case.checksum());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn checksum(&self) -> Option<u64> {
        self.checksum
    }

    /// Returns the plan that is measured.
    ///
    /// # Errors
    /// A [definition](Error::is_definition) whose layouts do not fit each other.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// assert_eq!(definitions()?[0].case(Size::Small)?.plan()?.dst_bytes(), 576);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn plan(&self) -> Result<Plan, Error> {
        Plan::new(&self.src, &self.dst, self.elements, self.fill)
            .map_err(|error| refused("plan", &error))
    }
}

fn refused(what: &str, error: &dyn fmt::Display) -> Error {
    Error::definition(format!("{what}: {error}"))
}

fn layout(what: &str, text: &str, dims: &[u64], dtype: Dtype) -> Result<ResolvedLayout, Error> {
    let named = Spec::parse(text).and_then(|spec| spec.resolve(Some(dims), Some(dtype)));
    named.map_err(|error| refused(what, &error))
}

fn bits(named: &ResolvedLayout) -> Result<u32, Error> {
    named
        .element_bits()
        .ok_or_else(|| Error::definition(format!("the elements of {} have no width", named.name())))
}

/// The upper bound of an offset, exclusive; buffers are longer by this number of bytes.
pub(crate) const SPARE: usize = 4096;

/// The bytes past a cache line at which source and destination begin.
///
/// Large arrays of `malloc` and NumPy begin 16 bytes past a line. In text, one number applies to both sides.
///
/// ```
/// use tilewright_bench::Offsets;
/// assert_eq!("16".parse::<Offsets>(), Ok(Offsets { src: 16, dst: 16 }));
/// assert_eq!("4,48".parse::<Offsets>()?.to_string(), "4,48");
/// assert_eq!(Offsets::default(), Offsets { src: 0, dst: 0 });
/// assert!("4096".parse::<Offsets>().unwrap_err().to_string().contains("0 to 4095"));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Offsets {
    /// The offset of the source.
    pub src: usize,
    /// The offset of the destination.
    pub dst: usize,
}

impl fmt::Display for Offsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.src, self.dst)
    }
}

impl FromStr for Offsets {
    type Err = Error;

    fn from_str(text: &str) -> Result<Offsets, Error> {
        let one = |text: &str| {
            let digits = Some(text.trim()).filter(|text| !text.starts_with('+'));
            let offset = digits.and_then(|text| text.parse().ok()).filter(|bytes| *bytes < SPARE);
            offset.ok_or_else(|| {
                Error::definition(format!(
                    "the offset {text:?} is not a number of bytes from 0 to {}, as in 16 or 16,48",
                    SPARE - 1
                ))
            })
        };
        let (src, dst) = text.split_once(',').unwrap_or((text, text));
        Ok(Offsets { src: one(src)?, dst: one(dst)? })
    }
}

impl Case {
    /// Returns the case with a longer first dim, so that its larger side has at least `bytes`; `None` if its layouts
    /// only fit its own dims. The result is compared with the processor's, because no checksum is stated for it.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// let all = definitions()?;
    /// let large = all[0].case(Size::Small)?.of_bytes(5000).unwrap();
    /// assert_eq!((large.dims(), large.checksum()), (&[216, 24][..], None));
    /// // Large enough as it is.
    /// assert_eq!(all[0].case(Size::Small)?.of_bytes(5).unwrap().dims(), [24, 24]);
    /// let fixed = all.iter().find(|case| case.name().contains("strided")).unwrap();
    /// assert!(fixed.case(Size::Small)?.of_bytes(1 << 20).is_none());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn of_bytes(&self, bytes: u64) -> Option<Case> {
        let times = bytes.div_ceil(self.bytes().max(1));
        let mut dims = self.dims().to_vec();
        let first = dims.first_mut().filter(|_| times > 1);
        let Some(first) = first else { return Some(self.clone()) };
        *first = first.checked_mul(times)?;
        let larger = Case::given(self.dtype().name(), self.from(), self.to(), &dims).ok()?;
        (larger.bytes() >= bytes)
            .then(|| larger.named(self.name().to_owned(), self.size()).at(self.offsets()))
    }
}

/// The most boxes of a case; libraries of strided views cannot express cases with more.
const MOST: usize = 16;

/// A box: its offsets on both sides, and its loops, the largest stride in the destination first.
///
/// ```
/// use tilewright_bench::{Loop, Size, definitions};
/// let all = definitions()?;
/// let odd = all.iter().find(|case| case.name() == "transpose-f32-odd").unwrap();
/// let boxes = odd.case(Size::Small)?.boxes().unwrap();
/// let (rows, columns) = (Loop { extent: 37, src: 71, dst: 1 }, Loop { extent: 71, src: 1, dst: 37 });
/// assert_eq!((boxes[0].src, boxes[0].dst, &boxes[0].loops[..]), (0, 0, &[columns, rows][..]));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boxed {
    /// The offset of the first element in the source.
    pub src: i64,
    /// The offset of the first element in the destination.
    pub dst: i64,
    /// The loops; loops that are contiguous on both sides are merged.
    pub loops: Vec<Loop>,
}

impl Case {
    /// Returns the boxes of a case, if they are few; all other destination elements are padding.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// let all = definitions()?;
    /// let boxes = |name| {
    ///     let case = all.iter().find(|case| case.name() == name).unwrap().case(Size::L2);
    ///     case.unwrap().boxes().unwrap().len()
    /// };
    /// // Columns of whole blocks are one box, the ragged columns another.
    /// assert_eq!((boxes("row-to-zN-16bit"), boxes("row-to-zN-16bit-ragged")), (1, 2));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn boxes(&self) -> Option<Vec<Boxed>> {
        let refinement = Refinement::new(self.src(), self.dst()).ok()?;
        let blocks: Vec<_> = refinement.blocks().take(MOST + 1).collect();
        if blocks.len() > MOST {
            return None;
        }
        let boxed = |block: &tilewright::layouts::Block| {
            let loops = block.loops().iter();
            let loops = loops.map(|l| Loop { extent: l.extent, src: l.src, dst: l.dst });
            Boxed { src: block.src(), dst: block.dst(), loops: merged(loops.collect()) }
        };
        Some(blocks.iter().map(boxed).collect())
    }
}

/// Returns the loops in the order of the destination; adjacent loops that are contiguous on both sides are merged.
fn merged(mut loops: Vec<Loop>) -> Vec<Loop> {
    loops.sort_by_key(|level| (std::cmp::Reverse(level.dst.unsigned_abs()), level.extent));
    let mut merged: Vec<Loop> = Vec::new();
    for level in loops {
        let runs_on = |outer: &Loop| {
            let extent = i128::from(level.extent);
            i128::from(level.src) * extent == i128::from(outer.src)
                && i128::from(level.dst) * extent == i128::from(outer.dst)
        };
        match merged.last_mut() {
            Some(outer) if runs_on(outer) => {
                *outer = Loop { extent: outer.extent.saturating_mul(level.extent), ..level };
            }
            _ => merged.push(level),
        }
    }
    merged
}
