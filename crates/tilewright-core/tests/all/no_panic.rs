//! No public function panics or overflows, whatever its arguments: it returns an answer or an error.

use proptest::prelude::*;
use tilewright_core::{
    Coord, Digit, Fractal, Layout, Mode, Pattern, Profile, Refinement, Step, Swizzle, TensorLayout,
    View, ViewMut,
};

/// Extreme numbers: mostly small ones, then powers of two and the ends of the range.
fn extent() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..8, 1 => any::<u64>(), 1 => (0u32..64).prop_map(|bit| 1 << bit), 1 => Just(u64::MAX)]
}

fn stride() -> impl Strategy<Value = i64> {
    prop_oneof![6 => -40i64..200, 1 => any::<i64>(), 1 => (0u32..63).prop_map(|bit| 1 << bit), 1 => Just(i64::MIN)]
}

fn swizzle() -> impl Strategy<Value = Swizzle> {
    prop_oneof![
        3 => Just(Swizzle::IDENTITY),
        1 => (0u8..5, 0u8..6, -6i8..7).prop_map(|(a, b, c)| Swizzle::new(a, b, c).unwrap_or_default()),
        1 => any::<(u8, u8, i8)>().prop_map(|(a, b, c)| Swizzle::new(a, b, c).unwrap_or_default()),
    ]
}

/// A legal layout of any profile; `None` if the pieces do not fit.
fn layout() -> impl Strategy<Value = Layout> {
    let modes = prop::collection::vec((extent(), stride(), 0usize..4, 0usize..4), 0..9);
    let offset = prop_oneof![4 => Just(0i64), 2 => 0i64..100, 1 => any::<i64>()];
    (modes, offset, swizzle()).prop_map(|(mut modes, offset, swizzle)| {
        loop {
            if let Some(layout) = bracketed(&modes, offset, swizzle) {
                return layout;
            }
            if modes.pop().is_none() {
                return Layout::flat(&[]).unwrap();
            }
        }
    })
}

fn bracketed(modes: &[(u64, i64, usize, usize)], offset: i64, swizzle: Swizzle) -> Option<Layout> {
    let mut profile = Profile::EMPTY;
    let mut open = 0;
    for (i, &(_, _, opened, closed)) in modes.iter().enumerate() {
        let (first, last) = (i == 0, i + 1 == modes.len());
        let opened = opened + usize::from(first && modes.len() > 1);
        let closed = if last { open + opened } else { closed.min(open + opened - 1) };
        profile.push(opened, closed).ok()?;
        open = open + opened - closed;
    }
    let pairs: Vec<Mode> =
        modes.iter().map(|&(extent, stride, ..)| Mode::new(extent, stride)).collect();
    Layout::new(&pairs, &profile, offset, swizzle).ok()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let merge =
        (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Step::Merge { major: a % 5, minor: b % 5 });
    let split = (any::<u8>(), extent()).prop_map(|(axis, by)| Step::Split { axis: axis % 5, by });
    prop::collection::vec(prop_oneof![merge, split], 0..4)
}

/// Calls every method of a tensor layout.
fn interrogate(tensor: &TensorLayout, coord: &[u64], offset: i64) {
    let _ = (
        tensor.size(),
        tensor.padding(),
        tensor.true_rank(),
        tensor.injective(),
        tensor.contiguous_run(),
    );
    let _ = (tensor.offset(coord), tensor.offset_of(coord.first().copied().unwrap_or(0)));
    let _ = (tensor.locate(offset), tensor.locate(0), Pattern::of(tensor), format!("{tensor:?}"));
    for dim in 0..=tensor.rank() {
        let inside: Vec<u64> =
            tensor.extents().iter().zip(coord).map(|(e, c)| c % (*e).max(1)).collect();
        let _ = (tensor.run(&inside, dim), tensor.run(coord, dim));
    }
    for (coord, offset) in tensor.in_order().take(10) {
        assert_eq!(tensor.offset(coord.as_slice()), Ok(offset));
    }
    assert!(tensor.in_memory().take(10).count() <= 10);
    let data = [0u8; 64];
    if let Ok(view) = View::new(&data, tensor) {
        assert!(view.iter().take(100).count() <= 100);
        let _ = (view.get(coord), view.tile(coord, coord), view.slice(0, 0), view.permute(&[0]));
    }
    let mut data = data;
    if let Ok(mut view) = ViewMut::new(&mut data, tensor) {
        let _ = view.get_mut(coord).is_some();
        let _ = view.tile(coord, coord).map(|tile| tile.size());
    }
}

proptest! {
    #[test]
    fn layouts(layout in layout(), coord in prop::collection::vec(extent(), 0..4), offset in stride()) {
        let _ = (layout.size(), layout.cosize(), layout.span(), layout.bounds(), layout.injective());
        let _ = (layout.exhaustive(), layout.contiguous_run(), layout.padding_count(), layout.depth());
        let _ = (layout.offset_at(&coord), layout.locate(offset), layout.with_offset(offset));
        if let Ok(found) = layout.offset_of(coord.first().copied().unwrap_or(0)) {
            prop_assert!(layout.bounds().is_some_and(|(low, high)| low <= found && found <= high));
        }
        prop_assert_eq!(Layout::parse(&layout.to_string()), Ok(layout.clone()));
        interrogate(&TensorLayout::of(&layout), &coord, offset);
        if let Ok(line) = TensorLayout::linear(&layout) {
            interrogate(&line, &coord, offset);
        }
    }

    #[test]
    fn tensor_layouts(
        layout in layout(),
        other in layout(),
        extents in prop::collection::vec(extent(), 0..4),
        steps in steps(),
        capacity in extent(),
        offset in stride(),
    ) {
        let all = [
            TensorLayout::new(&extents, &layout, capacity),
            TensorLayout::with_steps(&extents, &steps, &layout, capacity),
            TensorLayout::with_steps(&extents, &steps, &layout, i64::MAX as u64),
            TensorLayout::row_major(&extents),
            TensorLayout::ordered(&extents, &extents),
            Ok(TensorLayout::of(&layout)),
            Ok(TensorLayout::of(&other)),
        ];
        let tensors: Vec<&TensorLayout> = all.iter().flatten().collect();
        for tensor in &tensors {
            interrogate(tensor, &extents, offset);
            for other in &tensors {
                if let Ok(refinement) = Refinement::new(tensor, other) {
                    prop_assert!(refinement.blocks().take(20).count() <= 20);
                }
                if tensor.size() < 1 << 12 {
                    let _ = tensor.first_difference(other);
                    let _ = tensor.any_difference(other);
                }
            }
        }
    }

    #[test]
    fn patterns(
        rank in 0usize..4,
        digits in prop::collection::vec((0u8..4, 0u8..3, extent()), 0..8),
        extents in prop::collection::vec(extent(), 0..5),
        m in extent(),
        n in extent(),
    ) {
        let digits: Vec<Digit> = digits.iter().map(|&(axis, level, size)| Digit::fixed(axis, level, size)).collect();
        let fractal = Fractal::ZN.pattern(m, n).batched();
        for pattern in [Pattern::new(rank, &digits), Ok(fractal)].into_iter().flatten() {
            let _ = pattern.storage(&extents);
            if let Ok(tensor) = pattern.layout(&extents) {
                interrogate(&tensor, &extents, 3);
                let back = Pattern::of(&tensor).and_then(|back| back.layout(&extents));
                prop_assert!(back.is_ok_and(|back| back.same_function(&tensor) == Ok(true)), "{:?}", tensor);
            }
        }
        let _ = (Coord::new(&extents), Profile::nested(&[rank, digits.len()]));
    }
}
