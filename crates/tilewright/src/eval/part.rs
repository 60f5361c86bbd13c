//! One axis of a tiler.

use tilewright_core::Layout;

/// What a tiler says of one axis.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Layout(Box<Layout>),
    Extent(u64),
    Keep,
}
