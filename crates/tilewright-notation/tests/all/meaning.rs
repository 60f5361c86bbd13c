//! What texts mean, by the formulas of their makers' documents: every small array, and every order of its
//! digits. The formulas know coordinates and sizes, and no layouts.

use tilewright_core::TensorLayout;
use tilewright_notation::{Spec, dtype};

fn read(text: &str, dims: Option<&[u64]>) -> TensorLayout {
    let spec = Spec::parse(text).unwrap_or_else(|error| panic!("{}", error.render()));
    let named = spec.resolve(dims, dtype("f32").ok());
    named.unwrap_or_else(|error| panic!("{text} of {dims:?}: {error}")).layout().clone()
}

/// The place in a row-major array of these extents.
fn row_major(coord: &[u64], extents: &[u64]) -> u64 {
    coord.iter().zip(extents).fold(0, |at, (&x, &extent)| at * extent + x)
}

/// Every coordinate of an array.
fn coords(dims: &[u64]) -> Vec<Vec<u64>> {
    boxes(&dims.iter().map(|&dim| (0..dim).collect()).collect::<Vec<_>>())
}

/// One of each list, in every way.
fn boxes<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let Some((last, before)) = lists.split_last() else { return vec![Vec::new()] };
    let longer =
        |head: Vec<T>| last.iter().map(move |x| [&head[..], std::slice::from_ref(x)].concat());
    boxes(before).into_iter().flat_map(longer).collect()
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    let all = boxes(&vec![(0..count).collect::<Vec<_>>(); count]);
    all.into_iter().filter(|order| (0..count).all(|i| order.contains(&i))).collect()
}

/// Small arrays of this rank.
fn small(rank: usize, most: u64) -> Vec<Vec<u64>> {
    boxes(&vec![(1..=most).collect::<Vec<u64>>(); rank])
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// Every element is where the formula says.
fn check(text: &str, layout: &TensorLayout, place: impl Fn(&[u64]) -> i64) {
    for coord in coords(layout.extents()) {
        assert_eq!(layout.offset(&coord), Ok(place(&coord)), "{text} at {coord:?}");
    }
}

/// Reads a text, which has all it needs or is given dims, and checks it.
fn means(text: &str, dims: Option<&[u64]>, place: impl Fn(&[u64]) -> i64) {
    check(text, &read(text, dims), place);
}

/// Two dims as four digits: quotients and remainders by `a` and `b`.
fn digits(coord: &[u64], a: u64, b: u64) -> [u64; 4] {
    [coord[0] / a, coord[0] % a, coord[1] / b, coord[1] % b]
}

fn picked<T: Copy>(order: &[usize], values: &[T]) -> Vec<T> {
    order.iter().map(|&i| values[i]).collect()
}

/// Two dims in blocks, the digits stored in every order: einops where the blocks divide the dims, patterns
/// and affine maps for all dims.
#[test]
fn blocks_in_every_order() {
    let names = ["m1", "m0", "n1", "n0"];
    for order in orders(4) {
        let stored = picked(&order, &names).join(" ");
        for case in boxes(&[vec![1u64, 2, 3], vec![1, 2, 3], vec![2, 3], vec![2, 3, 5]]) {
            let [a, b, rows, cols] = case[..] else { continue };
            let extents = [rows.div_ceil(a), a, cols.div_ceil(b), b];
            let place = |coord: &[u64]| {
                row_major(&picked(&order, &digits(coord, a, b)), &picked(&order, &extents)) as i64
            };
            let dims = [rows, cols];
            means(&format!("(m1 m0:{a}) (n1 n0:{b}) -> {stored}"), Some(&dims), place);
            if rows % a == 0 && cols % b == 0 {
                let text = format!("rearrange('(m1 m0) (n1 n0) -> {stored}', m0={a}, n0={b})");
                means(&text, Some(&dims), place);
            }
            let results = ["i floordiv A", "i mod A", "j floordiv B", "j mod B"];
            let map = picked(&order, &results).join(", ");
            let map = map.replace('A', &a.to_string()).replace('B', &b.to_string());
            let text = format!("memref<{rows}x{cols}xf32, affine_map<(i, j) -> ({map})>>");
            means(&text, None, place);
        }
    }
}

/// `...` of einops, wherever it is: all dims that the left side does not name, in their order.
#[test]
fn rests_of_einops() {
    for rest in [vec![], vec![2u64], vec![2, 3]] {
        for place in 0..=2 {
            for stored in 0..=2 {
                let with = |words: [&str; 2], at: usize, open: &str, close: &str| {
                    let mut words = words.map(String::from).to_vec();
                    words.insert(at, "...".to_owned());
                    if at < 2 && !open.is_empty() {
                        words[at] = format!("{open}{}", words[at]);
                        words[at + 1] += close;
                    }
                    words.join(" ")
                };
                let (mut dims, mut extents) = (vec![4, 3], vec![3, 4]);
                dims.splice(place..place, rest.clone());
                extents.splice(stored..stored, rest.clone());
                let index = |coord: &[u64]| {
                    let mut coord = coord.to_vec();
                    let more: Vec<u64> = coord.drain(place..place + rest.len()).collect();
                    coord.reverse();
                    coord.splice(stored..stored, more);
                    row_major(&coord, &extents) as i64
                };
                let left = with(["größe", "w1"], place, "", "");
                for (open, close) in [("", ""), ("(", ")")] {
                    let right = with(["w1", "größe"], stored, open, close);
                    means(&format!("rearrange('{left} -> {right}', w1=3)"), Some(&dims), index);
                }
            }
        }
    }
}

/// `linalg.pack`: tile (i, j) at the permuted place, inside it the dims of `inner_dims_pos` in their order.
#[test]
fn packs() {
    for inner in [vec![], vec![0], vec![1], vec![0, 1], vec![1, 0]] {
        for outer in orders(2) {
            for case in boxes(&[vec![1u64, 2, 3], vec![2, 3], vec![1, 4, 5], vec![3, 6]]) {
                let [a, b, rows, cols] = case[..] else { continue };
                let tile = |dim: usize| if inner.contains(&dim) { [a, b][dim] } else { 1 };
                let dims = [rows, cols];
                let sizes: Vec<u64> = inner.iter().map(|&dim| tile(dim)).collect();
                let text = format!(
                    "linalg.pack outer_dims_perm = [{}] inner_dims_pos = [{}] inner_tiles = [{}]",
                    list(&outer),
                    list(&inner),
                    list(&sizes),
                );
                let outside = |dim: &usize| dims[*dim].div_ceil(tile(*dim));
                let extents: Vec<u64> = outer.iter().map(outside).chain(sizes).collect();
                means(&text, Some(&dims), |coord| {
                    let numbers = outer.iter().map(|&dim| coord[dim] / tile(dim));
                    let insides = inner.iter().map(|&dim| coord[dim] % tile(dim));
                    row_major(&numbers.chain(insides).collect::<Vec<_>>(), &extents) as i64
                });
            }
        }
    }
}

/// oneDNN's `memory_desc_wrapper::off_v`: the inner blocks from the last on, then what is left of the dims.
fn off_v(coord: &[u64], dims: &[u64], outer: &[usize], blocks: &[(u64, usize)]) -> i64 {
    let (mut position, mut stride, mut offset) = (coord.to_vec(), 1, 0);
    for &(size, dim) in blocks.iter().rev() {
        offset += position[dim] % size * stride;
        position[dim] /= size;
        stride *= size;
    }
    for &dim in outer.iter().rev() {
        let whole: u64 =
            blocks.iter().filter(|block| block.1 == dim).map(|block| block.0).product();
        offset += position[dim] * stride;
        stride *= dims[dim].div_ceil(whole);
    }
    offset as i64
}

#[test]
fn tags() {
    let blocks: [&[(u64, usize)]; 8] = [
        &[],
        &[(2, 0)],
        &[(3, 1)],
        &[(2, 0), (3, 2)],
        &[(3, 2), (2, 1)],
        &[(2, 1), (3, 0), (2, 1)],
        &[(2, 0), (2, 1), (2, 2)],
        &[(2, 2), (2, 2)],
    ];
    for blocks in blocks {
        for outer in orders(3) {
            let letter = |&dim: &usize| {
                let blocked = blocks.iter().any(|block| block.1 == dim);
                (if blocked { ["A", "B", "C"] } else { ["a", "b", "c"] })[dim]
            };
            let inner = blocks.iter().map(|(size, dim)| format!("{size}{}", ["a", "b", "c"][*dim]));
            let text: String = outer.iter().map(letter).map(String::from).chain(inner).collect();
            for dims in [[1, 1, 1], [2, 3, 4], [5, 4, 3], [4, 6, 6]] {
                let place = |coord: &[u64]| off_v(coord, &dims, &outer, blocks);
                means(&format!("onednn:{text}"), Some(&dims), place);
            }
        }
    }
}

/// C++'s \[mdspan.layout\]: the extents before, or behind, multiply; a padded layout rounds one of them up.
#[test]
fn mdspans() {
    let product = |extents: &[u64]| extents.iter().product::<u64>();
    for rank in 1..=3 {
        for dims in small(rank, 4) {
            let sum = |strides: Vec<u64>| {
                move |coord: &[u64]| {
                    coord.iter().zip(&strides).map(|(x, stride)| x * stride).sum::<u64>() as i64
                }
            };
            let mapping =
                |layout: &str| format!("{layout}::mapping(std::extents({}))", list(&dims));
            let left: Vec<u64> = (0..rank).map(|i| product(&dims[..i])).collect();
            let right: Vec<u64> = (0..rank).map(|i| product(&dims[i + 1..])).collect();
            means(&mapping("layout_left"), None, sum(left.clone()));
            means(&mapping("std::layout_right"), None, sum(right.clone()));
            let strides = |strides: &[u64]| {
                let (dims, strides) = (list(&dims), list(strides));
                format!("layout_stride::mapping(extents({dims}), array{{{strides}}})")
            };
            means(&strides(&left), None, sum(left.clone()));
            means(&strides(&right), None, sum(right));
            for padding in [1, 2, 3, 8] {
                let mut padded = dims.clone();
                padded[0] = if rank > 1 { dims[0].next_multiple_of(padding) } else { dims[0] };
                let left = (0..rank).map(|i| product(&padded[..i])).collect();
                means(&mapping(&format!("layout_left_padded<{padding}>")), None, sum(left));
                padded.clone_from(&dims);
                let last = &mut padded[rank - 1];
                *last = if rank > 1 { last.next_multiple_of(padding) } else { *last };
                let right = (0..rank).map(|i| product(&padded[i + 1..])).collect();
                means(&mapping(&format!("layout_right_padded<{padding}>")), None, sum(right));
            }
        }
    }
}

/// Strides in elements or in bytes, of either sign where the library has such, from the first element on.
#[test]
fn strides_of_arrays() {
    for strides in boxes(&[vec![-3, -1, 0, 2, 5], vec![-4, 0, 1, 3]]) {
        let (dims, [s, t]) = ([3, 2], [strides[0], strides[1]]);
        let first = (-s).max(0) * 2 + (-t).max(0);
        let place = |coord: &[u64]| first + coord[0] as i64 * s + coord[1] as i64 * t;
        let bytes = [4 * s, 4 * t, 4 * first];
        let shape = list(&dims);
        means(
            &format!(
                "numpy:shape=({shape}),strides=({},{}),offset={},dtype=f32",
                bytes[0], bytes[1], bytes[2]
            ),
            None,
            place,
        );
        means(
            &format!("dlpack:shape=({shape}),strides=({s},{t}),byte_offset={},dtype=f32", bytes[2]),
            None,
            place,
        );
        if s >= 0 && t >= 0 {
            means(
                &format!("torch:size=({shape}),stride=({s},{t}),storage_offset=7"),
                None,
                |coord| 7 + place(coord),
            );
            means(&format!("memref<3x2xf32, strided<[{s}, {t}], offset: 9>>"), None, |coord| {
                9 + place(coord)
            });
            means(&format!("halide:{{-5,3,{s}}},{{2,2,{t}}}"), None, place);
            let strides = list(&bytes[..2]);
            means(&format!("arrow:shape=({shape}),strides=({strides}),type=float32"), None, place);
        }
    }
}

/// Orders of three dims in every notation that has them, and XLA's tiles over them.
#[test]
fn orders_and_tiles() {
    let letters = ["A", "B", "C"];
    for order in orders(3) {
        let minor_to_major: Vec<usize> = order.iter().rev().copied().collect();
        for dims in [[2, 3, 4], [1, 5, 2], [3, 1, 6]] {
            let extents = picked(&order, &dims);
            let place = |coord: &[u64]| row_major(&picked(&order, coord), &extents) as i64;
            let stored = picked(&order, &letters).concat();
            means(&format!("order:ABC->{stored}"), Some(&dims), place);
            means(&format!("{{{}}}", list(&minor_to_major)), Some(&dims), place);
            means(&format!("Layout(major_to_minor=({}))", list(&order)), Some(&dims), place);
            // Dim i of the array is dim permutation[i] of the stored shape.
            let permutation: Vec<usize> =
                (0..3).filter_map(|dim| order.iter().position(|&at| at == dim)).collect();
            let (shape, permutation) = (list(&extents), list(&permutation));
            let text = format!("arrow:{{\"shape\":[{shape}],\"permutation\":[{permutation}]}}");
            means(&text, None, place);
            for (a, b) in [(2, 2), (1, 3), (4, 2)] {
                let tiles = [extents[0], extents[1].div_ceil(a), extents[2].div_ceil(b), a, b];
                let tiled = |coord: &[u64]| {
                    let x = picked(&order, coord);
                    row_major(&[x[0], x[1] / a, x[2] / b, x[1] % a, x[2] % b], &tiles) as i64
                };
                let hlo = format!("{{{}:T({a},{b})}}", list(&minor_to_major));
                means(&hlo, Some(&dims), tiled);
                let major = list(&order);
                let jax = format!("Layout(major_to_minor=({major}), tiling=(({a}, {b}),))");
                means(&jax, Some(&dims), tiled);
            }
        }
    }
    for dims in small(3, 3) {
        let reversed: Vec<u64> = dims.iter().rev().copied().collect();
        let text = format!("gguf:ne=[{}],type=F32", list(&reversed));
        means(&text, None, |coord| row_major(coord, &dims) as i64);
        let entry = format!("safetensors:dtype=F32,shape=({},)", list(&dims));
        means(&entry, None, |coord| row_major(coord, &dims) as i64);
        means("row-major", Some(&dims), |coord| row_major(coord, &dims) as i64);
        means("col-major", Some(&dims), |coord| {
            row_major(&coord.iter().rev().copied().collect::<Vec<_>>(), &reversed) as i64
        });
    }
}

/// An address as an affine expression: every digit times its factor, whatever the order of the terms.
#[test]
fn affine_addresses() {
    for factors in boxes(&vec![vec![1, 4, 7]; 4]) {
        for (a, b, first) in [(2, 3, 0), (3, 1, 5), (4, 2, 1)] {
            let f = &factors;
            let terms = [
                format!("(d0 floordiv {a}) * {}", f[0]),
                format!("(d0 mod {a}) * {}", f[1]),
                format!("{} * (d1 floordiv {b})", f[2]),
                format!("d1 mod {b} * {}", f[3]),
                first.to_string(),
            ];
            let place = |coord: &[u64]| {
                let digits = digits(coord, a, b);
                digits.iter().zip(f).map(|(x, f)| x * f).sum::<u64>() as i64 + first as i64
            };
            for turn in 0..terms.len() {
                let sum = [&terms[turn..], &terms[..turn]].concat().join(" + ");
                let text = format!("affine_map<(d0, d1) -> ({sum})>");
                means(&text, Some(&[7, 6]), place);
            }
        }
    }
}
