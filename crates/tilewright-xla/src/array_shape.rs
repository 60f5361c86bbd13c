//! Methods of [`ArrayShape`], and its text.

use std::fmt;

use tilewright_core::{Error, TensorLayout};

use crate::{
    ArrayShape, Dim, Layout, PrimitiveType, layout::write_list, shape_util::dimension_number,
};

impl ArrayShape {
    /// The largest number of dims of an array in texts and protos; more are refused.
    pub const MAX_RANK: usize = 1 << 16;

    /// Creates an array of static dims in the default layout. Nothing is checked; [`ArrayShape::try_new`] checks.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType};
    /// let image = ArrayShape::new(PrimitiveType::F32, &[1, 3, 224, 224]);
    /// assert_eq!(image.to_string(), "f32[1,3,224,224]{3,2,1,0}");
    /// ```
    pub fn new(element_type: PrimitiveType, dims: &[u64]) -> ArrayShape {
        let dims: Vec<Dim> = dims.iter().map(|&extent| Dim::Static(extent)).collect();
        let layout = Some(Layout::descending(dims.len()));
        ArrayShape { element_type, dims, layout }
    }

    /// Creates an array of static dims in the default layout, and checks it.
    ///
    /// # Errors
    /// Those of [`ArrayShape::validated`]: [unsupported](Error::is_unsupported) for a type without values;
    /// [overflow](Error::is_overflow) for dims whose elements take 2⁶³ bytes or more.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType};
    /// let image = ArrayShape::try_new(PrimitiveType::F32, &[1, 3, 224, 224]).unwrap();
    /// assert_eq!(image.to_string(), "f32[1,3,224,224]{3,2,1,0}");
    /// assert!(ArrayShape::try_new(PrimitiveType::Token, &[2]).unwrap_err().is_unsupported());
    /// assert!(ArrayShape::try_new(PrimitiveType::F32, &[u64::MAX, 4]).unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "MakeShape")]
    pub fn try_new(element_type: PrimitiveType, dims: &[u64]) -> Result<ArrayShape, Error> {
        let dims: Vec<Dim> = dims.iter().map(|&extent| Dim::Static(extent)).collect();
        ArrayShape::validated(element_type, &dims)
    }

    /// Creates an array of any dims, with or without a layout. Nothing is checked; [`ArrayShape::validate`],
    /// [`ArrayShape::validated`] and [`ArrayShape::with_layout`] check.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Dim, PrimitiveType};
    /// let batch = ArrayShape::from_parts(PrimitiveType::F32, vec![Dim::Bounded(8), Dim::Static(128)], None);
    /// assert_eq!(batch.to_string(), "f32[<=8,128]");
    /// ```
    pub fn from_parts(
        element_type: PrimitiveType,
        dims: Vec<Dim>,
        layout: Option<Layout>,
    ) -> ArrayShape {
        ArrayShape { element_type, dims, layout }
    }

    /// Returns the type of an element.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType};
    /// assert_eq!(ArrayShape::parse("bf16[2]").unwrap().element_type(), PrimitiveType::Bf16);
    /// ```
    pub fn element_type(&self) -> PrimitiveType {
        self.element_type
    }

    /// Returns the logical dims.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Dim};
    /// assert_eq!(ArrayShape::parse("bf16[2,?]").unwrap().dims(), [Dim::Static(2), Dim::Unbounded]);
    /// ```
    #[doc(alias = "dimensions")]
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// Replaces one dim; a negative number counts from the end. The layout is unchanged.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Dim};
    /// let mut shape = ArrayShape::parse("f32[2,?]").unwrap();
    /// shape.set_dim(-1, Dim::Static(5)).unwrap();
    /// assert_eq!(shape.to_string(), "f32[2,5]");
    /// assert!(shape.set_dim(2, Dim::Unbounded).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "set_dimensions")]
    pub fn set_dim(&mut self, dim: i64, to: Dim) -> Result<(), Error> {
        let at = dimension_number(dim, self.dims.len())?;
        self.dims.get_mut(at).map(|dim| *dim = to).ok_or_else(|| unbounded(at))
    }

    /// Returns the layout, if there is one.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let layout = |text| ArrayShape::parse(text).unwrap().layout().map(ToString::to_string);
    /// assert_eq!((layout("f32[2,3]"), layout("f32[2,3]{0,1}")), (None, Some("{0,1}".into())));
    /// ```
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// Replaces the layout. Nothing is checked; [`ArrayShape::validate`] checks.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Layout};
    /// let mut shape = ArrayShape::parse("f32[2,3]").unwrap();
    /// shape.set_layout(Some(Layout::ascending(2)));
    /// assert_eq!(shape.to_string(), "f32[2,3]{0,1}");
    /// ```
    #[doc(alias = "mutable_layout")]
    pub fn set_layout(&mut self, layout: Option<Layout>) {
        self.layout = layout;
    }

    /// Returns the extent of a dim in storage; for a bounded dim, its bound. A negative number counts from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [unsupported](Error::is_unsupported) for an
    /// unbounded dim.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[<=8,128,?]").unwrap();
    /// assert_eq!((shape.extent(0), shape.extent(-2)), (Ok(8), Ok(128)));
    /// assert!(shape.extent(-1).unwrap_err().is_unsupported());
    /// assert!(shape.extent(3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "GetDimension")]
    pub fn extent(&self, dim: i64) -> Result<u64, Error> {
        let at = dimension_number(dim, self.dims.len())?;
        self.dims
            .get(at)
            .map_or(Err(unbounded(at)), |dim| dim.extent().ok_or_else(|| unbounded(at)))
    }

    /// Returns the extents of the dims in storage; for a bounded dim, its bound.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if a dim is unbounded.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let extents = |text| ArrayShape::parse(text).unwrap().extents();
    /// assert_eq!(extents("f32[<=8,128]"), Ok(vec![8, 128]));
    /// assert!(extents("f32[?,128]").unwrap_err().is_unsupported());
    /// ```
    pub fn extents(&self) -> Result<Vec<u64>, Error> {
        let extent = |(at, dim): (usize, &Dim)| dim.extent().ok_or_else(|| unbounded(at));
        self.dims.iter().enumerate().map(extent).collect()
    }

    /// Returns the layout, or the row-major layout if there is none.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let layout = |text| ArrayShape::parse(text).unwrap().layout_or_default().to_string();
    /// assert_eq!((layout("f32[2,3]"), layout("f32[2,3]{0,1}")), ("{1,0}".into(), "{0,1}".into()));
    /// ```
    pub fn layout_or_default(&self) -> Layout {
        self.layout.clone().unwrap_or_else(|| Layout::descending(self.dims.len()))
    }

    /// Returns the layout.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if there is none.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let strict = ArrayShape::parse("f32[2,3]").unwrap();
    /// assert!(strict.require_layout().unwrap_err().to_string().contains("does not have a layout"));
    /// ```
    pub fn require_layout(&self) -> Result<&Layout, Error> {
        self.layout.as_ref().ok_or_else(|| {
            Error::mismatch(
                "a shape of {} dims does not have a layout",
                [self.dims.len() as i128],
                "write one, or use the default",
            )
        })
    }

    /// Lowers the layout, row-major if there is none, to a map from coordinates to offsets. Lower once and index often:
    /// `bf16[20,200]{1,0:T(8,128)(2,1)}` takes 1.6 µs, an element's offset afterwards 10 ns (bench `shapes`, medians on an
    /// x86-64 machine).
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`] and [`Layout::lower`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let tensor = ArrayShape::parse("f32[2,3]{0,1}").unwrap().lower().unwrap();
    /// assert_eq!(tensor.offset(&[1, 2]), Ok(5));
    /// assert!(ArrayShape::parse("f32[?]").unwrap().lower().unwrap_err().is_unsupported());
    /// ```
    pub fn lower(&self) -> Result<TensorLayout, Error> {
        self.layout_or_default().lower(&self.extents()?)
    }

    /// Returns the size of the storage in bytes: padded elements at their stored width, rounded up to a byte.
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`] and [`Layout::bytes`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let bytes = |text| ArrayShape::parse(text).unwrap().bytes();
    /// // 24 cells of 4 bytes; 300 elements in three tiles of 8×128, of 2 bytes.
    /// assert_eq!((bytes("f32[3,5]{1,0:T(2,2)}"), bytes("bf16[300]{0:T(8,128)}")), (Ok(96), Ok(6144)));
    /// // Nine packed elements of 4 bits.
    /// assert_eq!(bytes("s4[9]{0:E(4)}"), Ok(5));
    /// assert!(bytes("f64[2305843009213693952]").unwrap_err().is_overflow());
    /// ```
    pub fn bytes(&self) -> Result<u64, Error> {
        self.layout_or_default().bytes(&self.extents()?, self.element_type)
    }

    /// Displays the array without its layout, as XLA's `ToString` does.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[2,3]{0,1}").unwrap();
    /// assert_eq!(shape.without_layout().to_string(), "f32[2,3]");
    /// ```
    pub fn without_layout(&self) -> impl fmt::Display + '_ {
        WithoutLayout(self)
    }

    /// Writes the type and the dims.
    pub(crate) fn write_dims(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element_type)?;
        write_list(f, &self.dims)?;
        f.write_str("]")
    }
}

impl Dim {
    /// Returns the extent in storage, if there is one.
    const fn extent(self) -> Option<u64> {
        match self {
            Dim::Static(extent) | Dim::Bounded(extent) => Some(extent),
            Dim::Unbounded => None,
        }
    }
}

fn unbounded(at: usize) -> Error {
    Error::unsupported(
        "dim {} has no bound",
        [at as i128],
        "only arrays of static or bounded dims have storage",
    )
}

struct WithoutLayout<'a>(&'a ArrayShape);

impl fmt::Display for WithoutLayout<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write_dims(f)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Static(extent) => write!(f, "{extent}"),
            Dim::Bounded(bound) => write!(f, "<={bound}"),
            Dim::Unbounded => f.write_str("?"),
        }
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_dims(f)?;
        match &self.layout {
            // A scalar's plain layout is not written.
            Some(layout) if self.dims.is_empty() && *layout == Layout::descending(0) => Ok(()),
            Some(layout) => layout.fmt(f),
            None => Ok(()),
        }
    }
}
