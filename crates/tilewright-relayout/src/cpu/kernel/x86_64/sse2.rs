//! Square transposes in 16-byte registers. SSE2 is part of x86-64, so nothing is detected.
//!
//! One algorithm for every element width: with `T` registers of `T` elements, interleaving register `i`
//! with register `i + T/2`, log₂ T times over, is the transpose.

use core::arch::x86_64::{
    __m128i, _mm_loadu_si128, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi8,
    _mm_unpackhi_epi16, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi8,
    _mm_unpacklo_epi16, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
};

/// The bytes of a register: the side of a square, in bytes.
const REGISTER: usize = 16;

/// The elements of `a` and `b` alternating: the low halves, then the high halves.
#[inline(always)]
fn interleave<const W: usize>(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
    // SAFETY: these intrinsics need SSE2, which every x86-64 processor has.
    unsafe {
        match W {
            1 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
            2 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
            4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
            _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
        }
    }
}

/// Transposes the whole squares of a block: element `(i, j)` of `rows × columns`, with rows `pitch`
/// bytes apart in `from`, goes to row `j`, element `i`, with rows `stride` bytes apart in `to`. Returns
/// how many rows and columns were moved; the rest is left alone.
///
/// `W` is 1, 2, 4 or 8 bytes; `T` is `16 / W`.
pub(in super::super) fn squares<const W: usize, const T: usize>(
    (from, pitch): (&[u8], usize),
    (to, stride): (&mut [u8], usize),
    (rows, columns): (usize, usize),
) -> (usize, usize) {
    assert!(W * T == REGISTER && T.is_power_of_two());
    let (rows, columns) = (rows / T * T, columns / T * T);
    if rows == 0 || columns == 0 {
        return (0, 0);
    }
    let ends = |last: usize, step: usize, row: usize| {
        last.checked_mul(step).and_then(|at| at.checked_add(row))
    };
    assert!(ends(rows - 1, pitch, columns * W).is_some_and(|end| end <= from.len()));
    assert!(ends(columns - 1, stride, rows * W).is_some_and(|end| end <= to.len()));
    for j in (0..columns).step_by(T) {
        for i in (0..rows).step_by(T) {
            // SAFETY: the assertions above bound every row of the block in `from` and of its transpose
            // in `to`; a square begins at a multiple of `T` below `rows` and `columns`, themselves
            // multiples of `T`, so its 16-byte rows lie within them.
            unsafe {
                let from = from.as_ptr().add(i * pitch + j * W);
                square::<W, T>(from, pitch, to.as_mut_ptr().add(j * stride + i * W), stride);
            }
        }
    }
    (rows, columns)
}

/// Transposes one square.
///
/// # Safety
/// For every `k < T`, 16 bytes at `from + k·pitch` are readable and 16 bytes at `to + k·stride` are
/// writable.
#[inline(always)]
unsafe fn square<const W: usize, const T: usize>(
    from: *const u8,
    pitch: usize,
    to: *mut u8,
    stride: usize,
) {
    // SAFETY: SSE2 is part of x86-64.
    let mut lines = [unsafe { _mm_setzero_si128() }; T];
    for (k, line) in lines.iter_mut().enumerate() {
        // SAFETY: the caller's promise for row `k`; the load needs no alignment.
        *line = unsafe { _mm_loadu_si128(from.add(k * pitch).cast()) };
    }
    let mut round = 1;
    while round < T {
        let old = lines;
        for k in 0..T / 2 {
            (lines[2 * k], lines[2 * k + 1]) = interleave::<W>(old[k], old[k + T / 2]);
        }
        round *= 2;
    }
    for (k, line) in lines.iter().enumerate() {
        // SAFETY: the caller's promise for row `k`; the store needs no alignment.
        unsafe { _mm_storeu_si128(to.add(k * stride).cast(), *line) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const W: usize, const T: usize>() {
        for rows in [0, 1, T - 1, T, T + 1, 3 * T + 2] {
            for columns in [0, 1, T, 2 * T + 1] {
                let (pitch, stride) = (columns * W + 3, rows * W + 5);
                let from: Vec<u8> = (0..rows * pitch).map(|i| ((i * 37) >> 2) as u8).collect();
                let mut to = vec![0xA5; columns * stride];
                let done = squares::<W, T>((&from, pitch), (&mut to, stride), (rows, columns));
                let whole = (rows / T * T, columns / T * T);
                assert!(done == whole || done == (0, 0) && (whole.0 == 0 || whole.1 == 0));
                for j in 0..columns {
                    for i in 0..stride {
                        let inside = i < done.0 * W && j < done.1;
                        let expected =
                            if inside { from[i / W * pitch + j * W + i % W] } else { 0xA5 };
                        assert_eq!(to[j * stride + i], expected, "{rows}x{columns} at {i},{j}");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_squares_are_transposed_and_nothing_else_is_touched() {
        check::<1, 16>();
        check::<2, 8>();
        check::<4, 4>();
        check::<8, 2>();
    }

    #[test]
    #[should_panic]
    fn a_short_destination_is_caught_before_it_is_written() {
        squares::<4, 4>((&[0; 64], 16), (&mut [0; 63], 16), (4, 4));
    }
}
