//! The pattern of a layout: converts strides back to digits in storage order.
//!
//! Law: `Pattern::of(L).layout(extents)` is the same map with the same capacity as `L`.

use crate::{Digit, Error, MAX_MODES, Pattern, TensorLayout};

impl Pattern {
    /// Returns the pattern of a dense layout: its digits in storage order. The most significant digit of an axis has a
    /// size only if the padding goes beyond rounding up.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if the layout is not a box of digits: if it is not strided, has a swizzle or
    /// an offset, or has gaps, overlaps or further capacity.
    ///
    /// ```
    /// use tilewright_core::{Layout, Pattern, TensorLayout};
    /// let layout = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// let zn = TensorLayout::new(&[100, 100], &layout, 112 * 112).unwrap();
    /// let pattern = Pattern::of(&zn).unwrap();
    /// assert_eq!(pattern.storage(&[100, 100]).unwrap().as_slice(), [7, 7, 16, 16]);
    ///
    /// let gaps = TensorLayout::of(&Layout::parse("(4,4):(8,1)").unwrap());
    /// assert!(Pattern::of(&gaps).unwrap_err().is_unsupported());
    /// ```
    pub const fn of(tensor: &TensorLayout) -> Result<Pattern, Error> {
        let layout = tensor.layout();
        if !tensor.is_strided() {
            return Err(unsupported(
                "merged or unevenly tiled dims are not digits of one axis",
                [0, 0],
            ));
        }
        if !layout.swizzle().is_identity() {
            return Err(unsupported("a swizzle is not an order of digits", [0, 0]));
        }
        if layout.offset() != 0 {
            return Err(unsupported(
                "the layout starts at offset {}, a pattern at 0",
                [layout.offset() as i128, 0],
            ));
        }
        let (digits, strides, sizes, len) = sorted_digits(tensor);
        let (mut chain, mut capacity, mut i) = (1i128, 1i128, len);
        while i > 0 {
            i -= 1;
            if strides[i] as i128 != chain && sizes[i] > 1 {
                return Err(unsupported(
                    "a stride of {} where the digits within fill {} elements",
                    [strides[i] as i128, chain],
                ));
            }
            chain *= if sizes[i] == 0 { 1 } else { sizes[i] as i128 };
            capacity *= sizes[i] as i128;
        }
        if capacity != tensor.capacity() as i128 {
            return Err(unsupported(
                "a capacity of {} for digits that fill {} elements",
                [tensor.capacity() as i128, capacity],
            ));
        }
        match Pattern::new(tensor.rank(), digits.split_at(len).0) {
            Err(error) if error.is_illegal() => Err(unsupported(
                "an empty array of {} digits, of which more than one is empty",
                [len as i128, 0],
            )),
            pattern => pattern,
        }
    }
}

const fn unsupported(message: &'static str, numbers: [i128; 2]) -> Error {
    Error::unsupported(message, numbers, "a pattern is a dense box of digits")
}

/// Returns the digits of a layout, outermost (largest stride) first, with their strides and sizes.
const fn sorted_digits(
    tensor: &TensorLayout,
) -> ([Digit; MAX_MODES], [i64; MAX_MODES], [u64; MAX_MODES], usize) {
    let (mut digits, mut strides, mut sizes) =
        ([Digit::fixed(0, 0, 1); MAX_MODES], [0i64; MAX_MODES], [0u64; MAX_MODES]);
    let (mut len, mut axis) = (0, 0);
    while let Some(modes) = tensor.layout().axis(axis) {
        let (mut below, mut level) = (1u64, 0);
        while level < modes.len() {
            let (extent, stride) = (modes[level].extent(), modes[level].stride());
            let whole = tensor.extents()[axis];
            let rounded = whole.div_ceil(if below == 0 { 1 } else { below });
            let top = level + 1 == modes.len() && rounded == extent;
            let size = if top { 0 } else { extent };
            let mut at = len;
            // Among equal strides, digits of at most one coordinate go inside: they do not move the others.
            while at > 0
                && (strides[at - 1] < stride
                    || (strides[at - 1] == stride && sizes[at - 1] <= 1 && extent > 1))
            {
                digits[at] = digits[at - 1];
                strides[at] = strides[at - 1];
                sizes[at] = sizes[at - 1];
                at -= 1;
            }
            digits[at] = Digit::of(axis, level, size);
            strides[at] = stride;
            sizes[at] = extent;
            len += 1;
            below *= extent;
            level += 1;
        }
        axis += 1;
    }
    (digits, strides, sizes, len)
}
