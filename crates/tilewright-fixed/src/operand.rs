//! Operands and results of the algebra: static layouts, and the operations as types.
//!
//! Law: the [`LAYOUT`](StaticLayout::LAYOUT) of a result is the result of the run-time operation of that name on the
//! `LAYOUT`s of the operands.

use core::marker::PhantomData;

use tilewright_core::{Error, Layout};

/// Defines the run-time operations of the same names as provided methods.
macro_rules! methods {
    ($($method:ident $name:ident $(($b:ident))?;)*) => { $(
        #[doc = concat!("[`Layout::", stringify!($method), "`](tilewright_core::Layout::", stringify!($method), ").")]
        #[inline]
        fn $method$(<$b: StaticLayout>)?(self $(, _: $b)?) -> Derived<algebra::$name, Self $(, $b)?> {
            Derived::default()
        }
    )* };
}

/// A layout that its type determines: it takes no memory, and its run-time layout is a constant.
///
/// ```
/// use tilewright_fixed::{StaticLayout, _1, _2, _4, make_layout};
/// fn cosize<L: StaticLayout>(_: L) -> i64 {
///     const { L::LAYOUT.cosize() }
/// }
/// let layout = make_layout((_2, _4), (_4, _1));
/// assert_eq!((cosize(layout), cosize(layout.coalesce())), (8, 8));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a static layout",
    label = "expected a layout of static integers, or an operation on one"
)]
pub trait StaticLayout: Copy + Default {
    /// The run-time layout. If the operation fails, evaluating it is a compile error.
    const LAYOUT: Layout;

    methods! {
        flatten Flatten;
        coalesce Coalesce;
        filter Filter;
        right_inverse RightInverse;
        left_inverse LeftInverse;
        nullspace Nullspace;
        composition Composition (B);
        complement Complement (B);
        logical_divide LogicalDivide (B);
        zipped_divide ZippedDivide (B);
        tiled_divide TiledDivide (B);
        flat_divide FlatDivide (B);
        logical_product LogicalProduct (B);
        zipped_product ZippedProduct (B);
        tiled_product TiledProduct (B);
        flat_product FlatProduct (B);
        blocked_product BlockedProduct (B);
        raked_product RakedProduct (B);
    }
}

/// The result of the operation `O` on the static layouts `A` and `B`. Takes no memory.
///
/// ```
/// use tilewright_fixed::{_1, _2, _3, _4, _6, _8, StaticLayout, make_layout};
/// let (a, b) = (make_layout((_6, _2), (_8, _2)), make_layout((_4, _3), (_3, _1)));
/// let ab = a.composition(b);
/// assert_eq!((size_of_val(&ab), ab.to_string().as_str()), (0, "((_2,_2),_3):((_24,_2),_8)"));
/// assert_eq!((ab.offset((3, 2)), ab.offset(((1, 1), 2))), (42, 42));
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_1, _2, _3, _6, _7, StaticLayout, make_layout};
/// let (a, b) = (make_layout((_6, _2), (_1, _7)), make_layout((_3, _2), (_2, _3)));
/// // error[E0080]: … at (2,1): A(B) is 8, the only candidate gives 7 …
/// a.composition(b).offset(0);
/// ```
#[must_use]
pub struct Derived<O, A, B = ()>(PhantomData<(O, A, B)>);

impl<O, A, B> Clone for Derived<O, A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, A, B> Copy for Derived<O, A, B> {}

impl<O, A, B> Default for Derived<O, A, B> {
    fn default() -> Self {
        Derived(PhantomData)
    }
}

/// An operation on layouts: one of the types of [`algebra`].
///
/// ```
/// use tilewright_fixed::{Derived, StaticLayout, _4, _8, algebra};
/// use tilewright_core::Layout;
/// type Tiled = Derived<algebra::LogicalDivide, tilewright_fixed::C<8>, tilewright_fixed::C<4>>;
/// const TILED: Layout = Tiled::LAYOUT;
/// assert_eq!(TILED.to_string(), "(4,2):(1,4)");
/// ```
pub trait LayoutOperation: Copy {
    /// The operation as a value.
    #[doc(hidden)]
    const CODE: LayoutCode;
}

macro_rules! operations {
    ($a:ident, $b:ident; $($(#[$doc:meta])* $name:ident $result:expr;)*) => {
        /// The operations on layouts as types, for the first parameter of [`Derived`].
        pub mod algebra {
            $(
                $(#[$doc])*
                #[derive(Clone, Copy, Debug)]
                pub enum $name {}
            )*
        }

        $(impl LayoutOperation for algebra::$name {
            const CODE: LayoutCode = LayoutCode::$name;
        })*

        /// The operations on layouts as values.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub enum LayoutCode { $($name),* }

        impl LayoutCode {
            pub(crate) const fn apply(
                self,
                $a: &Layout,
                $b: &Layout,
            ) -> Result<Layout, Error> {
                match self { $(LayoutCode::$name => $result),* }
            }
        }
    };
}

operations! { a, b;
    /// [`Layout::flatten`](tilewright_core::Layout::flatten).
    Flatten Ok(a.flatten());
    /// [`Layout::coalesce`](tilewright_core::Layout::coalesce).
    Coalesce Ok(a.coalesce());
    /// [`Layout::filter`](tilewright_core::Layout::filter).
    Filter a.filter();
    /// [`Layout::right_inverse`](tilewright_core::Layout::right_inverse).
    RightInverse a.right_inverse();
    /// [`Layout::left_inverse`](tilewright_core::Layout::left_inverse).
    LeftInverse a.left_inverse();
    /// [`Layout::nullspace`](tilewright_core::Layout::nullspace).
    Nullspace a.nullspace();
    /// [`Layout::composition`](tilewright_core::Layout::composition).
    Composition a.composition(b);
    /// [`Layout::complement`](tilewright_core::Layout::complement).
    Complement a.complement(b.size());
    /// [`Layout::logical_divide`](tilewright_core::Layout::logical_divide).
    LogicalDivide a.logical_divide(b);
    /// [`Layout::zipped_divide`](tilewright_core::Layout::zipped_divide).
    ZippedDivide a.zipped_divide(b);
    /// [`Layout::tiled_divide`](tilewright_core::Layout::tiled_divide).
    TiledDivide a.tiled_divide(b);
    /// [`Layout::flat_divide`](tilewright_core::Layout::flat_divide).
    FlatDivide a.flat_divide(b);
    /// [`Layout::logical_product`](tilewright_core::Layout::logical_product).
    LogicalProduct a.logical_product(b);
    /// [`Layout::zipped_product`](tilewright_core::Layout::zipped_product).
    ZippedProduct a.zipped_product(b);
    /// [`Layout::tiled_product`](tilewright_core::Layout::tiled_product).
    TiledProduct a.tiled_product(b);
    /// [`Layout::flat_product`](tilewright_core::Layout::flat_product).
    FlatProduct a.flat_product(b);
    /// [`Layout::blocked_product`](tilewright_core::Layout::blocked_product).
    BlockedProduct a.blocked_product(b);
    /// [`Layout::raked_product`](tilewright_core::Layout::raked_product).
    RakedProduct a.raked_product(b);
}
