//! No operation of the algebra panics or overflows, whatever its arguments, and its results are legal.

use proptest::prelude::*;
use tilewright_core::{
    IntTuple, Layout, LayoutTv, LeftInverse, Mode, Profile, Slicer, Swizzle, Tiler,
};

/// Extreme numbers: mostly small ones, then powers of two and the ends of the range.
fn extent() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..7, 1 => any::<u64>(), 1 => (0u32..64).prop_map(|bit| 1 << bit), 1 => Just(i64::MAX as u64)]
}

fn stride() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -8i64..30, 1 => any::<i64>(), 1 => (0u32..63).prop_map(|bit| 1 << bit), 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

fn swizzle() -> impl Strategy<Value = Swizzle> {
    prop_oneof![
        3 => Just(Swizzle::IDENTITY),
        1 => (0u8..5, 0u8..6, -6i8..7).prop_map(|(a, b, c)| Swizzle::new(a, b, c).unwrap_or_default()),
    ]
}

/// Brackets around leaves: the numbers that open before and close after each, made to balance.
fn profile(brackets: &[(usize, usize)]) -> Option<Profile> {
    let (mut profile, mut open) = (Profile::EMPTY, 0);
    for (i, &(opened, closed)) in brackets.iter().enumerate() {
        let (first, last) = (i == 0, i + 1 == brackets.len());
        let opened = opened + usize::from(first && brackets.len() > 1);
        let closed = if last { open + opened } else { closed.min(open + opened - 1) };
        profile.push(opened, closed).ok()?;
        open = open + opened - closed;
    }
    Some(profile)
}

fn layout() -> impl Strategy<Value = Layout> {
    let modes = prop::collection::vec((extent(), stride(), (0usize..3, 0usize..3)), 0..7);
    let offset = prop_oneof![4 => Just(0i64), 2 => 0i64..100, 1 => any::<i64>()];
    (modes, offset, swizzle()).prop_map(|(mut all, offset, swizzle)| {
        loop {
            let modes: Vec<Mode> = all.iter().map(|&(e, d, _)| Mode::new(e, d)).collect();
            let brackets: Vec<(usize, usize)> = all.iter().map(|x| x.2).collect();
            let made = profile(&brackets)
                .and_then(|profile| Layout::new(&modes, &profile, offset, swizzle).ok());
            if let Some(layout) = made {
                return layout;
            }
            if all.pop().is_none() {
                return Layout::flat(&[]).unwrap();
            }
        }
    })
}

fn tuple() -> impl Strategy<Value = IntTuple> {
    prop::collection::vec((stride(), (0usize..3, 0usize..3)), 0..6).prop_map(|all| {
        let values: Vec<i64> = all.iter().map(|x| x.0).collect();
        let brackets: Vec<(usize, usize)> = all.iter().map(|x| x.1).collect();
        profile(&brackets)
            .and_then(|profile| IntTuple::new(&values, &profile).ok())
            .unwrap_or(IntTuple::integer(1))
    })
}

proptest! {
    #[test]
    fn one_layout(a in layout(), n in extent(), m in extent(), x in stride(), axes in prop::collection::vec(0usize..5, 0..4)) {
        let _ = (a.flatten(), a.get(&axes), a.select(&axes), a.take(1, 3), a.group(0, 2), a.compact_like());
        prop_assert_eq!(a.flatten().size(), a.size());
        prop_assert!(a.filter_zeros().is_ok() && a.filter().is_ok() && a.compact_like().is_ok());
        let _ = (a.complement(n), a.complement_within(), a.complement_gap(), a.nullspace());
        let _ = (a.upcast(n), a.downcast(n), a.recast(n, m), a.exact_cover(n));
        let _ = (a.tile(&[n, m]), a.tile_at(&[m], &[n]), a.tile_at(&[m, 1], &[n, 2]));
        if let Ok(inverse) = a.right_inverse() {
            for i in [0, inverse.size() - 1, inverse.size() / 2] {
                let index = inverse.offset_of(i).unwrap();
                prop_assert_eq!(a.offset_of(index as u64), Ok(i as i64));
            }
        }
        if let Ok(inverse) = LeftInverse::of(&a) {
            let _ = (inverse.index(x), inverse.index(i64::MIN), inverse.index(i64::MAX));
            let last = a.offset_of(a.size() - 1).unwrap();
            prop_assert_eq!(inverse.index(last).map(|i| a.offset_of(i)), Some(Ok(last)));
        }
        let _ = a.left_inverse();
    }

    #[test]
    fn two_layouts(a in layout(), b in layout(), n in extent()) {
        let _ = (a.append(&b), a.prepend(&b), a.replace(0, &b), a.replace(n as usize, &b));
        let _ = (Layout::from_layouts(&[&a, &b]), a.max_common_layout(&b), a.max_common_vector(&b));
        let _ = a.max_alignment();
        let _ = (a.logical_divide(&b), a.zipped_divide(&b), a.tiled_divide(&b), a.flat_divide(&b));
        let by = [Tiler::Layout(&b), Tiler::Extent(n), Tiler::Keep];
        for by in [&by[..1], &by[1..], &by[..]] {
            let _ = (a.logical_divide_tiler(by), a.zipped_divide_tiler(by));
            let _ = (a.tiled_divide_tiler(by), a.flat_divide_tiler(by));
        }
        let _ = (a.logical_product(&b), a.zipped_product(&b), a.tiled_product(&b), a.flat_product(&b));
        let _ = (a.blocked_product(&b), a.raked_product(&b), LayoutTv::new(&a, &b));
    }

    #[test]
    fn tuples(a in layout(), s in tuple(), t in tuple(), x in stride(), kept in prop::collection::vec(0usize..6, 0..4)) {
        prop_assert_eq!(IntTuple::parse(&s.to_string()), Ok(s.clone()));
        let _ = (s.product(), s.product_each(), s.get(&kept), s.congruent(&t), s.weakly_congruent(&t));
        let _ = (s.compatible(&t), s.shape_div(&t), s.ceil_div(&t), s.compact_col_major());
        let _ = (s.compact_row_major(), s.compact_order(&t), s.crd2idx(&t), s.idx2crd(x));
        let _ = (s.crd2crd(&t, &s), IntTuple::crd2offset(&t, &s, &s), a.crd2idx(&t));
        let _ = (Layout::from_shape_stride(&s, &s), Layout::ordered(&s, &t));
        let _ = (Layout::compact_col_major(&s), Layout::compact_row_major(&s));
        let _ = (a.tile_to_shape(&s), a.tile_to_shape_ordered(&s, &t), a.domain_offset(&t));
        if let Ok(slicer) = Slicer::new(&t, &kept) {
            prop_assert_eq!(Slicer::parse(&slicer.to_string()), Ok(slicer.clone()));
            let _ = (a.slice(&slicer), a.dice(&slicer), a.slice_and_offset(&slicer));
        }
    }

    #[test]
    fn texts(text in "[(),_0-9 -]{0,24}", any in ".{0,20}") {
        for text in [&text, &any] {
            if let Err(error) = IntTuple::parse(text) {
                let (from, to) = error.span();
                prop_assert!(from <= to && to <= text.len());
                prop_assert!(text.is_char_boundary(from) && text.is_char_boundary(to));
            }
            let _ = Slicer::parse(text);
        }
    }
}
