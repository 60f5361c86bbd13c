//! Named matrix formats as fixed layouts: `zN::layout(rows, cols, element_bits)`.
//!
//! Law: the layout equals that of the run-time [`Fractal::format`](tilewright_core::Fractal::format), and is static if
//! rows, columns and element width are. Its valid extents are (rows, columns).
//!
//! A format is a padded shape and an order. The rows split into ⌈r/m0⌉ blocks of m0, the columns into ⌈c/n0⌉ blocks of
//! n0. The small letter of a name is the order inside a block, the capital letter the order of the blocks: z and Z are
//! row by row, n and N are column by column. C0 is the number of elements in 32 bytes, 256 / element bits.
//!
//! Source: CATLASS `include/tla/layout.hpp` (`MakeLayout<Element, LayoutTag>`), `catlass/layout/matrix.hpp`.

use tilewright_core::Error;

use super::{
    Calc, Congruent, FixedLayoutTile, FixedTuple, Int, Integer, integer::calc, make_layout, op,
};

/// A named matrix format: [`RowMajor`], [`ColumnMajor`], [`zN`], [`nZ`], [`zZ`], [`nN`], [`L0C`], [`Weight4BitnZ`].
///
/// ```
/// use tilewright_fixed::{Format, FixedTuple, RowMajor, zN};
/// let (rows, cols, bits) = (20, 20, 8);
/// assert_eq!(zN::shape(rows, cols, bits).display().to_string(), "((_16,2),(32,1))");
/// assert_eq!(RowMajor::stride(rows, cols, bits).display().to_string(), "(20,_1)");
/// ```
pub trait Format: Sized {
    /// The type of the extents of `R` rows and `C` columns of elements of `E` bits.
    type Shape<R: Integer, C: Integer, E: Integer>: Congruent<Self::Stride<R, C, E>>;

    /// The type of the strides, in elements.
    type Stride<R: Integer, C: Integer, E: Integer>: FixedTuple;

    /// Returns the extents of the padded matrix, in elements.
    fn shape<R: Integer, C: Integer, E: Integer>(
        rows: R,
        cols: C,
        element_bits: E,
    ) -> Self::Shape<R, C, E>;

    /// Returns the strides, in elements.
    fn stride<R: Integer, C: Integer, E: Integer>(
        rows: R,
        cols: C,
        element_bits: E,
    ) -> Self::Stride<R, C, E>;

    /// Returns the layout of a matrix in this format. `element_bits` divides 256.
    ///
    /// A computation that fails is a compile error for static integers. For dynamic integers it returns
    /// [`NO_INTEGER`](super::NO_INTEGER) and the offsets are meaningless; [`Format::try_layout`] returns an error instead.
    ///
    /// ```
    /// use tilewright_fixed::{Format, _8, _16, _32, _48, nZ, zN};
    /// let zn = zN::layout(_32, _48, _16);
    /// assert_eq!(zn.to_string(), "((_16,_2),(_16,_3)):((_16,_256),(_1,_512))");
    /// assert_eq!((size_of_val(&zn), zn.layout().offset((17, 33))), (0, 1297));
    /// // Columns known at run time, 8-bit elements: C0 is 32.
    /// let nz = nZ::layout(_48, 20u32, _8);
    /// assert_eq!(format!("{nz:?}"), "((_32,_2),(_16,2)):((_1,1024),(_32,_512)) valid (_48,20)");
    /// ```
    /// ```compile_fail
    /// use tilewright_fixed::{Format, _24, _32, zN};
    /// // error[E0080]: … the whole number 256 / 24 …
    /// zN::layout(_32, _32, _24).to_string();
    /// ```
    #[doc(alias = "MakeLayout")]
    #[inline]
    fn layout<R: Integer, C: Integer, E: Integer>(
        rows: R,
        cols: C,
        element_bits: E,
    ) -> Formatted<Self, R, C, E> {
        let shape = Self::shape(rows, cols, element_bits);
        let stride = Self::stride(rows, cols, element_bits);
        FixedLayoutTile { layout: make_layout(shape, stride), valid: (rows, cols) }
    }

    /// Returns the layout of a matrix in this format, like [`Format::layout`], and checks dynamic integers.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if blocks have 32 bytes and `element_bits` does not divide 256; those of
    /// [`FixedLayout::lower`](super::FixedLayout::lower).
    ///
    /// ```
    /// use tilewright_fixed::{Format, zN};
    /// assert_eq!(zN::try_layout(20, 20, 16).unwrap().layout().offset((17, 17)), 785);
    /// let error = zN::try_layout(20, 20, 24).unwrap_err();
    /// assert!(error.is_illegal() && error.to_string().contains("24 bits"));
    /// assert!(zN::try_layout(-1, 20, 16).is_err());
    /// ```
    fn try_layout<R: Integer, C: Integer, E: Integer>(
        rows: R,
        cols: C,
        element_bits: E,
    ) -> Result<Formatted<Self, R, C, E>, Error> {
        let layout = Self::layout(rows, cols, element_bits);
        let shape = layout.layout().shape().lower()?;
        if shape.values().contains(&super::NO_INTEGER) {
            return Err(Error::illegal(
                "elements of {} bits in blocks of 32 bytes",
                [element_bits.value()],
                "the bits of an element divide 256",
            ));
        }
        let _ = layout.lower_valid(&layout.layout().lower()?)?;
        Ok(layout)
    }
}

/// The layout of `R` rows and `C` columns of elements of `E` bits in the format `F`.
pub type Formatted<F, R, C, E> =
    FixedLayoutTile<<F as Format>::Shape<R, C, E>, <F as Format>::Stride<R, C, E>, (R, C)>;

/// The row-major format without padding; it does not depend on the element width.
///
/// ```
/// use tilewright_fixed::{Format, RowMajor, _2, _3, _8};
/// assert_eq!(RowMajor::layout(_2, _3, _8).to_string(), "(_2,_3):(_3,_1)");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum RowMajor {}

impl Format for RowMajor {
    type Shape<R: Integer, C: Integer, E: Integer> = (R, C);
    type Stride<R: Integer, C: Integer, E: Integer> = (C, Int<1>);

    #[inline]
    fn shape<R: Integer, C: Integer, E: Integer>(rows: R, cols: C, _: E) -> (R, C) {
        (rows, cols)
    }

    #[inline]
    fn stride<R: Integer, C: Integer, E: Integer>(_: R, cols: C, _: E) -> (C, Int<1>) {
        (cols, Int)
    }
}

/// The column-major format without padding; it does not depend on the element width.
///
/// ```
/// use tilewright_fixed::{ColumnMajor, Format, _2, _3, _8};
/// assert_eq!(ColumnMajor::layout(_2, _3, _8).to_string(), "(_2,_3):(_1,_2)");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum ColumnMajor {}

impl Format for ColumnMajor {
    type Shape<R: Integer, C: Integer, E: Integer> = (R, C);
    type Stride<R: Integer, C: Integer, E: Integer> = (Int<1>, R);

    #[inline]
    fn shape<R: Integer, C: Integer, E: Integer>(rows: R, cols: C, _: E) -> (R, C) {
        (rows, cols)
    }

    #[inline]
    fn stride<R: Integer, C: Integer, E: Integer>(rows: R, _: C, _: E) -> (Int<1>, R) {
        (Int, rows)
    }
}

/// The extent of a block along one axis, as a function of the element width.
///
/// ```
/// use tilewright_fixed::{Int, format::{C0, Extent}};
/// assert_eq!((C0::of(8), Int::<16>::of(8).to_string().as_str()), (32_i64, "_16"));
/// ```
pub trait Extent {
    /// The extent for elements of `E` bits.
    type Of<E: Integer>: Integer;

    /// Returns the extent for elements of `element_bits` bits.
    fn of<E: Integer>(element_bits: E) -> Self::Of<E>;
}

/// The number of elements in 32 bytes.
///
/// ```
/// use tilewright_fixed::{_16, format::{C0, Extent}};
/// assert_eq!(C0::of(_16).to_string(), "_16");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum C0 {}

impl Extent for C0 {
    type Of<E: Integer> = Calc<op::ExactDiv, Int<256>, E>;

    #[inline]
    fn of<E: Integer>(element_bits: E) -> Self::Of<E> {
        calc::<op::ExactDiv, _, _>(Int::<256>, element_bits)
    }
}

impl<const N: i64> Extent for Int<N> {
    type Of<E: Integer> = Int<N>;

    #[inline]
    fn of<E: Integer>(_: E) -> Int<N> {
        Int
    }
}

/// An order of the elements of a matrix of `R` rows and `C` columns in blocks of `M` by `N`.
///
/// ```
/// use tilewright_fixed::{FixedTuple, _4, _8, format::{ByColumns, ByRows, Order}};
/// // Blocks of 4 rows and 8 columns, in 20 rows and 20 columns.
/// assert_eq!(ByRows::inside(_4, _8).display().to_string(), "(_8,_1)");
/// assert_eq!(ByColumns::between(20, 20, _4, _8).display().to_string(), "(_32,160)");
/// ```
pub trait Order {
    /// The strides inside a block, of rows and of columns.
    type Inside<M: Integer, N: Integer>: Strides;

    /// The strides between blocks, of rows and of columns.
    type Between<R: Integer, C: Integer, M: Integer, N: Integer>: Strides;

    /// Returns the strides inside a block, in elements.
    fn inside<M: Integer, N: Integer>(m: M, n: N) -> Self::Inside<M, N>;

    /// Returns the strides between blocks, in elements.
    fn between<R: Integer, C: Integer, M: Integer, N: Integer>(
        rows: R,
        cols: C,
        m: M,
        n: N,
    ) -> Self::Between<R, C, M, N>;
}

/// The strides of rows and columns.
///
/// ```
/// use tilewright_fixed::{_1, _8, format::Strides};
/// assert!((_8, _1).both() == (_8, _1));
/// ```
pub trait Strides: FixedTuple {
    /// The stride from a row to the next.
    type Row: Integer;
    /// The stride from a column to the next.
    type Col: Integer;

    /// Returns the strides of rows and columns.
    fn both(self) -> (Self::Row, Self::Col);
}

impl<R: Integer, C: Integer> Strides for (R, C) {
    type Row = R;
    type Col = C;

    #[inline]
    fn both(self) -> (R, C) {
        self
    }
}

/// The order row by row: z inside a block, Z between blocks.
///
/// ```
/// use tilewright_fixed::{_4, _8, format::{ByRows, Order}};
/// assert!(ByRows::inside(_4, _8).0 == _8);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum ByRows {}

/// The order column by column: n inside a block, N between blocks.
///
/// ```
/// use tilewright_fixed::{_4, _8, format::{ByColumns, Order}};
/// assert!(ByColumns::inside(_4, _8).1 == _4);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum ByColumns {}

/// The number of elements of a block.
type FormatBlock<M, N> = Calc<op::Mul, M, N>;

/// The number of elements in a row of blocks (`X` columns in blocks of `N` by `M`), or in a column of blocks.
type LineLength<X, N, M> = Calc<op::Mul, Calc<op::RoundUp, X, N>, M>;

#[inline]
fn line<X: Integer, N: Integer, M: Integer>(x: X, n: N, m: M) -> LineLength<X, N, M> {
    calc::<op::Mul, _, _>(calc::<op::RoundUp, _, _>(x, n), m)
}

impl Order for ByRows {
    type Inside<M: Integer, N: Integer> = (N, Int<1>);
    type Between<R: Integer, C: Integer, M: Integer, N: Integer> =
        (LineLength<C, N, M>, FormatBlock<M, N>);

    #[inline]
    fn inside<M: Integer, N: Integer>(_: M, n: N) -> (N, Int<1>) {
        (n, Int)
    }

    #[inline]
    fn between<R: Integer, C: Integer, M: Integer, N: Integer>(
        _: R,
        cols: C,
        m: M,
        n: N,
    ) -> Self::Between<R, C, M, N> {
        (line(cols, n, m), calc::<op::Mul, _, _>(m, n))
    }
}

impl Order for ByColumns {
    type Inside<M: Integer, N: Integer> = (Int<1>, M);
    type Between<R: Integer, C: Integer, M: Integer, N: Integer> =
        (FormatBlock<M, N>, LineLength<R, M, N>);

    #[inline]
    fn inside<M: Integer, N: Integer>(m: M, _: N) -> (Int<1>, M) {
        (Int, m)
    }

    #[inline]
    fn between<R: Integer, C: Integer, M: Integer, N: Integer>(
        rows: R,
        _: C,
        m: M,
        n: N,
    ) -> Self::Between<R, C, M, N> {
        (calc::<op::Mul, _, _>(m, n), line(rows, m, n))
    }
}

/// A blocked format: the extents of a block, and the orders inside and between blocks.
///
/// ```
/// use tilewright_fixed::{Format, Int, _8, _12, _16, format::{ByColumns, ByRows, Fractal}};
/// /// Blocks of 4×4, row-major, stored column by column of blocks.
/// enum Small {}
///
/// impl Fractal for Small {
///     type M = Int<4>;
///     type N = Int<4>;
///     type Inside = ByRows;
///     type Between = ByColumns;
/// }
///
/// let small = Small::layout(_8, _12, _16);
/// assert_eq!(small.to_string(), "((_4,_2),(_4,_3)):((_4,_16),(_1,_32))");
/// ```
pub trait Fractal {
    /// The number of rows of a block.
    type M: Extent;
    /// The number of columns of a block.
    type N: Extent;
    /// The order of the elements inside a block.
    type Inside: Order;
    /// The order of the blocks.
    type Between: Order;
}

type FormatRows<F, E> = <<F as Fractal>::M as Extent>::Of<E>;
type Columns<F, E> = <<F as Fractal>::N as Extent>::Of<E>;
type Inside<F, E> = <<F as Fractal>::Inside as Order>::Inside<FormatRows<F, E>, Columns<F, E>>;
type Between<F, R, C, E> =
    <<F as Fractal>::Between as Order>::Between<R, C, FormatRows<F, E>, Columns<F, E>>;

impl<F: Fractal> Format for F {
    type Shape<R: Integer, C: Integer, E: Integer> = (
        (FormatRows<F, E>, Calc<op::CeilDiv, R, FormatRows<F, E>>),
        (Columns<F, E>, Calc<op::CeilDiv, C, Columns<F, E>>),
    );
    type Stride<R: Integer, C: Integer, E: Integer> = (
        (<Inside<F, E> as Strides>::Row, <Between<F, R, C, E> as Strides>::Row),
        (<Inside<F, E> as Strides>::Col, <Between<F, R, C, E> as Strides>::Col),
    );

    #[inline]
    fn shape<R: Integer, C: Integer, E: Integer>(
        rows: R,
        cols: C,
        element_bits: E,
    ) -> Self::Shape<R, C, E> {
        let (m, n) = (F::M::of(element_bits), F::N::of(element_bits));
        ((m, calc::<op::CeilDiv, _, _>(rows, m)), (n, calc::<op::CeilDiv, _, _>(cols, n)))
    }

    #[inline]
    fn stride<R: Integer, C: Integer, E: Integer>(
        rows: R,
        cols: C,
        element_bits: E,
    ) -> Self::Stride<R, C, E> {
        let (m, n) = (F::M::of(element_bits), F::N::of(element_bits));
        let (row, col) = F::Inside::inside(m, n).both();
        let (block_row, block_col) = F::Between::between(rows, cols, m, n).both();
        ((row, block_row), (col, block_col))
    }
}

macro_rules! fractals {
    ($($(#[$doc:meta])* $name:ident $m:ty, $n:ty, $inside:ident, $between:ident;)*) => { $(
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Fractal for $name {
            type M = $m;
            type N = $n;
            type Inside = $inside;
            type Between = $between;
        }
    )* };
}

fractals! {
    /// Blocks of 16 rows and C0 columns, row-major, stored column by column of blocks: FRACTAL_NZ.
    zN Int<16>, C0, ByRows, ByColumns;
    /// Blocks of C0 rows and 16 columns, column-major, stored row by row of blocks.
    nZ C0, Int<16>, ByColumns, ByRows;
    /// Blocks of 16 rows and C0 columns, row-major, stored row by row of blocks.
    zZ Int<16>, C0, ByRows, ByRows;
    /// Blocks of C0 rows and 16 columns, column-major, stored column by column of blocks.
    nN C0, Int<16>, ByColumns, ByColumns;
    /// The accumulator: blocks of 16×16, row-major, stored column by column of blocks, whatever the
    /// element width.
    L0C Int<16>, Int<16>, ByRows, ByColumns;
    /// nZ with blocks of 32 rows, for packed 4-bit weights.
    Weight4BitnZ Int<32>, Int<16>, ByColumns, ByRows;
}
