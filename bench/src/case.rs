//! A case in one size: two layouts, the width of the elements, and the checksum of the result.

use tilewright::{
    Dtype, Named, Spec, TensorLayout, notation,
    relayout::{Elements, Extend, Plan},
};

use crate::{Error, Offsets, Size};

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

fn refused(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::definition(format!("{what}: {error}"))
}

fn layout(what: &str, text: &str, dims: &[u64], dtype: Dtype) -> Result<Named, Error> {
    let named = Spec::parse(text).and_then(|spec| spec.resolve(Some(dims), Some(dtype)));
    named.map_err(|error| refused(what, &error))
}

fn bits(named: &Named) -> Result<u32, Error> {
    named
        .element_bits()
        .ok_or_else(|| Error::definition(format!("the elements of {} have no width", named.name())))
}
