//! Every law over every map of few bits, by brute force over all coordinates.

use std::{collections::BTreeSet, format, string::ToString, vec, vec::Vec};

use super::*;
use crate::{Layout, Mode, Swizzle};

fn parse(text: &str) -> LinearLayout {
    LinearLayout::parse(text).unwrap()
}

/// Ways to cut `bits` bits into one or two dims, with names.
fn cuts(bits: usize, letter: &str) -> Vec<Vec<(std::string::String, usize)>> {
    let two =
        (0..=bits).map(|low| vec![(format!("{letter}0"), low), (format!("{letter}1"), bits - low)]);
    two.chain([vec![(format!("{letter}0"), bits)]]).collect()
}

/// Calls `f` with every map of up to `most` bits on both sides, in one or two dims.
fn for_each(most: usize, (input, output): (&str, &str), mut f: impl FnMut(&LinearLayout)) {
    for (ins, outs) in (0..=most).flat_map(|a| (0..=most).map(move |b| (a, b))) {
        for (from, to) in cuts(ins, input)
            .iter()
            .flat_map(|from| cuts(outs, output).into_iter().map(move |to| (from.clone(), to)))
        {
            for matrix in 0..1u64 << (ins * outs) {
                let mut map = LinearLayout::EMPTY;
                from.iter().for_each(|(name, bits)| map.ins.push(name, *bits).unwrap());
                to.iter().for_each(|(name, bits)| map.outs.push(name, *bits).unwrap());
                for bit in 0..ins {
                    map.bases[bit] = (matrix >> (bit * outs)) & ((1 << outs) - 1);
                }
                f(&map);
            }
        }
    }
}

/// All values, by index; the map is applied coordinate by coordinate.
fn values(map: &LinearLayout) -> Vec<u64> {
    (0..map.in_size())
        .map(|index| {
            let image = map.apply(map.ins.split(index).as_slice()).unwrap();
            map.outs.join(image.as_slice()).unwrap()
        })
        .collect()
}

#[test]
fn a_map_is_linear_and_said_by_its_bases() {
    let mut maps = 0;
    for_each(3, ("a", "x"), |map| {
        let all = values(map);
        for x in 0..all.len() {
            for y in 0..all.len() {
                assert_eq!(all[x ^ y], all[x] ^ all[y]);
            }
            assert_eq!(map.apply_index(x as u64), Ok(all[x]));
        }
        for (i, dim) in map.ins().iter().enumerate() {
            for bit in 0..dim.bits() {
                let mut coord = vec![0; map.ins().len()];
                coord[i] = 1 << bit;
                assert_eq!(map.basis(dim.name(), bit), map.apply(&coord).ok());
            }
        }
        maps += 1;
    });
    assert!(maps > 10_000, "{maps}");
}

#[test]
fn observers_count_the_image() {
    for_each(3, ("a", "x"), |map| {
        let all = values(map);
        let image: BTreeSet<u64> = all.iter().copied().collect();
        assert_eq!(image.len(), 1 << map.rank());
        assert_eq!(map.is_injective(), image.len() == all.len());
        assert_eq!(map.is_surjective(), image.len() as u64 == map.out_size());
        assert_eq!(map.is_invertible(), map.is_injective() && map.is_surjective());
        assert_eq!(map.is_zero(), image.len() == 1);
        let first = map.outs().first().map_or(0, |dim| dim.bits());
        let run = (0..=map.ins().first().map_or(0, |dim| dim.bits())).rev().find(|&bits| {
            // Every block of 2^bits coordinates goes to places in a row of the first output dim.
            (0..all.len()).all(|x| {
                let (place, from) = (all[x], all[x >> bits << bits]);
                let row = place == from + (x as u64 & ((1 << bits) - 1));
                row && place >> first == from >> first
            })
        });
        assert_eq!(map.consecutive(), 1 << run.unwrap(), "{map}");
        // What free bits are set to changes nothing that the others cannot make good.
        let mut free = 0;
        for (i, dim) in map.ins().iter().enumerate() {
            free |= map.free_bits(dim.name()).unwrap() << map.ins.before(i);
        }
        let bound: BTreeSet<u64> =
            (0..all.len()).filter(|x| *x as u64 & free == 0).map(|x| all[x]).collect();
        assert_eq!(bound, image);
        assert_eq!(free.count_ones() as usize + map.rank(), map.ins.bits());
    });
}

#[test]
fn composition_is_one_after_the_other() {
    let mut pairs = 0;
    for_each(2, ("a", "x"), |first| {
        for_each(2, ("x", "p"), |then| {
            let names: Vec<&str> = first.outs().iter().map(|dim| dim.name()).collect();
            let Ok(both) = first.compose(then) else {
                let fits = first.outs().iter().all(|dim| {
                    then.ins.find(dim.name()).is_some_and(|at| then.ins()[at].bits() >= dim.bits())
                });
                assert!(!fits || names.len() != then.ins().len());
                return;
            };
            pairs += 1;
            for index in 0..first.in_size() {
                let coord = first.ins.split(index);
                let middle = first.apply(coord.as_slice()).unwrap();
                assert_eq!(both.apply(coord.as_slice()), then.apply(middle.as_slice()));
            }
            // The order of the names in between does not matter.
            let reversed: Vec<&str> = names.iter().rev().copied().collect();
            assert_eq!(first.transpose_outs(&reversed).unwrap().compose(then).unwrap(), both);
        });
    });
    assert!(pairs > 10_000, "{pairs}");
}

#[test]
fn the_solution_is_the_smallest_there_is() {
    let (mut solved, mut refused) = (0, 0);
    for_each(2, ("a", "x"), |from| {
        for_each(tilewright_testing::cases(3, 2), ("p", "x"), |outer| {
            if outer.ins().len() > 1 || from.outs().len() != outer.outs().len() {
                return;
            }
            let place = |index| outer.outs.split(index);
            let (wanted, there) = (values(from), values(outer));
            let smallest: Option<Vec<u64>> = wanted
                .iter()
                .map(|&w| {
                    let w = from.outs.split(w);
                    let at = there.iter().position(|&t| place(t) == w);
                    at.map(|at| at as u64)
                })
                .collect();
            match (from.invert_and_compose(outer), smallest) {
                (Ok(between), Some(smallest)) => {
                    assert_eq!(values(&between), smallest, "{from} {outer}");
                    solved += 1;
                }
                (Err(error), None) => {
                    assert!(error.is_no_layout());
                    refused += 1;
                }
                (answer, _) => panic!("{from} {outer}: {answer:?}"),
            }
        });
    });
    let least = tilewright_testing::cases(10_000, 1_000);
    assert!(solved > least && refused > least, "{solved} {refused}");
}

#[test]
fn inverses_exist_exactly_where_they_should() {
    for_each(3, ("a", "x"), |map| {
        let all = values(map);
        match map.pseudo_inverse() {
            Ok(right) => {
                for (y, x) in values(&right).into_iter().enumerate() {
                    assert_eq!(all[x as usize], y as u64);
                    assert!(all[..x as usize].iter().all(|&other| other != y as u64));
                }
            }
            Err(_) => assert!(!map.is_surjective()),
        }
        match map.inverse() {
            Ok(inverse) => {
                assert!(map.is_invertible());
                assert_eq!(inverse.inverse().as_ref(), Ok(map));
            }
            Err(error) => assert!(!map.is_invertible() && error.is_no_layout()),
        }
    });
}

#[test]
fn a_product_stands_side_by_side_and_divides_again() {
    let mut pairs = 0;
    for_each(2, ("a", "x"), |low| {
        assert_eq!(LinearLayout::EMPTY.product(low).as_ref(), Ok(low));
        assert_eq!(low.product(&LinearLayout::EMPTY).as_ref(), Ok(low));
        for_each(1, ("a", "x"), |high| {
            let both = low.product(high).unwrap();
            let bits = |dims: &Dims, i: usize| dims.as_slice().get(i).map_or(0, LinearDim::bits);
            for x in 0..low.in_size() {
                for y in 0..high.in_size() {
                    let (a, b) = (low.ins.split(x), high.ins.split(y));
                    let at = |part: &[u64], i: usize| part.get(i).copied().unwrap_or(0);
                    let join = |p: &Coord, q: &Coord, dims: &Dims, len: usize| -> Vec<u64> {
                        (0..len)
                            .map(|i| at(p.as_slice(), i) + (at(q.as_slice(), i) << bits(dims, i)))
                            .collect()
                    };
                    let coord = join(&a, &b, &low.ins, both.ins().len());
                    let (fa, fb) = (low.apply(a.as_slice()), high.apply(b.as_slice()));
                    let image = join(&fa.unwrap(), &fb.unwrap(), &low.outs, both.outs().len());
                    assert_eq!(both.apply(&coord).unwrap().as_slice(), image);
                }
            }
            let (right, left) = (both.divide_left(low).unwrap(), both.divide_right(high).unwrap());
            assert_eq!(low.product(&right).unwrap(), both);
            assert_eq!(left.product(high).unwrap(), both);
            pairs += 1;
        });
    });
    assert!(pairs > 1000, "{pairs}");
}

#[test]
fn a_quotient_is_found_iff_there_is_one() {
    let mut found = 0;
    let mut all = Vec::new();
    for_each(2, ("a", "x"), |map| {
        if map.ins().len() == 1 && map.outs().len() == 1 {
            all.push(map.copied());
        }
    });
    for whole in &all {
        for part in &all {
            let by_search = |product: &dyn Fn(&LinearLayout) -> LinearLayout| {
                all.iter().find(|rest| product(rest) == *whole).cloned()
            };
            let right = by_search(&|rest| part.product(rest).unwrap());
            let left = by_search(&|rest| rest.product(part).unwrap());
            assert_eq!(whole.divide_left(part).ok(), right, "{whole} / {part}");
            assert_eq!(whole.divide_right(part).ok(), left, "{whole} / {part}");
            found += usize::from(right.is_some());
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn the_same_bits_under_other_dims() {
    for_each(3, ("a", "x"), |map| {
        let all = values(map);
        let size = |dims: &Dims| dims.as_slice().iter().map(LinearDim::size).product::<u64>();
        for split in 0..=map.ins.bits() {
            let dims = [("p", 1 << split), ("q", 1 << (map.ins.bits() - split))];
            assert_eq!(values(&map.reshape_ins(&dims).unwrap()), all);
        }
        for split in 0..=map.outs.bits() {
            let dims = [("p", 1 << split), ("q", 1 << (map.outs.bits() - split))];
            let reshaped = map.reshape_outs(&dims).unwrap();
            assert_eq!(values(&reshaped), all);
            assert_eq!(size(&reshaped.outs), map.out_size());
        }
        assert_eq!(values(&map.flatten_ins().flatten_outs()), all);
        let backwards = |dims: &[LinearDim]| -> Vec<std::string::String> {
            dims.iter().rev().map(|dim| dim.name().to_string()).collect()
        };
        let (ins, outs) = (backwards(map.ins()), backwards(map.outs()));
        let ins: Vec<&str> = ins.iter().map(|name| name.as_str()).collect();
        let outs: Vec<&str> = outs.iter().map(|name| name.as_str()).collect();
        let turned = map.transpose_ins(&ins).unwrap().transpose_outs(&outs).unwrap();
        for index in 0..map.in_size() {
            let mut coord = map.ins.split(index).as_slice().to_vec();
            let image = map.apply(&coord).unwrap();
            coord.reverse();
            let mut turned = turned.apply(&coord).unwrap().as_slice().to_vec();
            turned.reverse();
            assert_eq!(turned, image.as_slice());
        }
        // The parts of a map, joined, are the map.
        let parts = |outs: &[&str]| {
            let part = |dim: &LinearDim| map.sublayout(&[dim.name()], outs).unwrap();
            let parts = map.ins().iter().map(part);
            parts.reduce(|all, part| all.concat_ins(&part).unwrap()).unwrap()
        };
        let columns = map.outs().iter().map(|dim| parts(&[dim.name()]));
        assert_eq!(columns.reduce(|all, more| all.concat_outs(&more).unwrap()).as_ref(), Some(map));
        for dim in map.ins() {
            let less = map.remove_zeros(dim.name()).unwrap();
            assert_eq!((less.rank(), less.outs), (map.rank(), map.outs));
            let bits = map.sublayout(&[dim.name()], &outs).unwrap();
            let kept = bits.columns().iter().filter(|&&basis| basis != 0).count();
            assert_eq!(less.ins.bits_of(dim.name()), kept);
        }
    });
}

#[test]
fn dims_that_go_to_themselves_can_be_left_out() {
    let block = LinearLayout::identity(4, "b", "b").unwrap();
    for_each(2, ("a", "x"), |map| {
        let both = map.product(&block).unwrap();
        assert_eq!(both.quotient(&["b"]).as_ref(), Ok(map));
        assert_eq!(both.quotient(&[]), Ok(both.copied()));
    });
    let crossed = parse("{a=[[1,1]],b=[[0,1]]} -> (a:2,b:2)");
    assert!(crossed.quotient(&["a"]).is_err() && crossed.quotient(&["b"]).is_err());
    assert!(parse("{a=[1]} -> (a:4)").quotient(&["a"]).unwrap_err().is_mismatch());
}

#[test]
fn text_reads_back() {
    for_each(3, ("a", "x"), |map| {
        assert_eq!(LinearLayout::parse(&map.to_string()).as_ref(), Ok(map), "{map}");
    });
    for text in ["{}", "{} -> ()", "{a=[]}->(x:1)", " { a = [ [ 1 , ] , ] , } -> ( x , ) "] {
        let map = parse(text);
        assert_eq!(parse(&map.to_string()), map, "{text}");
    }
    assert_eq!(parse("{a=[[0,0]]}").to_string(), "{a=[[0,0]]} -> (dim0:1,dim1:1)");
    assert_eq!(parse("{a=[5]} -> (x)").to_string(), "{a=[5]} -> (x:8)");
}

#[test]
fn bad_text_is_pointed_at() {
    for (text, span, part) in [
        ("", (0, 0), "expected a linear layout"),
        ("{a", (2, 2), "expected `=`"),
        ("{a=[1,2}", (7, 8), "expected `,` or `]`"),
        ("{a=[[1,0],[2]]}", (10, 13), "a basis of 1 integers after one of 2"),
        ("{a=[1]} -> (x:3)", (14, 15), "powers of two"),
        ("{a=[1]} -> (x:2,y:2)", (8, 20), "2 output dims for bases of 1"),
        ("{a=[4]} -> (x:4)", (4, 5), "not below 4"),
        ("{a=[1],a=[1]}", (7, 8), "one name"),
        ("{a=[1]} é", (8, 10), "text after"),
        ("{é=[1]}", (1, 3), "name of an input dim"),
        ("{a=[é]}", (4, 6), "expected an integer"),
        ("{a=[99999999999999999999]}", (4, 24), "63 bits"),
        ("{a=[9223372036854775807]}", (0, 25), "at most 62"),
        ("{abcdefghijklmnop=[]}", (1, 17), "at most 15"),
        ("{a=[1]} -> (x:9223372036854775807)", (14, 33), "powers of two"),
    ] {
        let error = LinearLayout::parse(text).unwrap_err();
        assert_eq!(error.span(), span, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
        assert!(text.get(span.0..span.1).is_some());
    }
    let bases = |n: usize| vec!["0"; n].join(",");
    assert!(LinearLayout::parse(&format!("{{a=[{}]}}", bases(62))).is_ok());
    assert!(LinearLayout::parse(&format!("{{a=[{}]}}", bases(63))).is_err());
    assert!(LinearLayout::parse(&format!("{{a=[[{}]]}}", bases(17))).is_err());
    assert!(LinearLayout::parse(&"{".repeat(20_000)).is_err());
}

/// The offsets of every index, first axis fastest.
fn offsets(layout: &Layout) -> Vec<u64> {
    (0..layout.size()).map(|index| layout.offset_of(index).unwrap() as u64).collect()
}

#[test]
fn a_layout_is_linear_iff_its_map_is() {
    let (mut yes, mut no) = (0, 0);
    let swizzles =
        [Swizzle::IDENTITY, Swizzle::new(1, 0, 1).unwrap(), Swizzle::new(2, 0, -2).unwrap()];
    crate::small::for_each_layout(2, 1..=4, 0..=6, |plain| {
        for swizzle in swizzles {
            let layout = plain.with_swizzle(swizzle).unwrap();
            let all = offsets(&layout);
            let powers = layout.modes().iter().all(|mode| mode.extent().is_power_of_two());
            let linear = powers
                && (0..all.len()).all(|x| (0..all.len()).all(|y| all[x ^ y] == all[x] ^ all[y]));
            let answer = LinearLayout::of_layout(&layout);
            assert_eq!(answer.is_ok(), linear, "{layout}: {answer:?}");
            match answer {
                Ok(map) => {
                    yes += 1;
                    assert_eq!(values(&map), all);
                    assert_eq!(offsets(&map.to_swizzled_layout().unwrap()), all, "{layout} {map}");
                }
                Err(error) => {
                    no += 1;
                    assert!(error.is_unsupported());
                    if let Some(at) = error.witness() {
                        // The sum of the two steps is no xor there.
                        let index: u64 = (0..layout.rank())
                            .rev()
                            .fold(0, |i, a| i * layout.axis_size(a).unwrap() + at.as_slice()[a]);
                        let (high, low) = (1 << index.ilog2(), index & !(1 << index.ilog2()));
                        assert_ne!(all[index as usize], all[high as usize] ^ all[low as usize]);
                    }
                }
            }
        }
    });
    assert!(yes > 500 && no > 500, "{yes} {no}");
}

#[test]
fn a_map_is_a_layout_iff_it_is_injective_or_some_swizzle_of_cute_sets_its_bases_apart() {
    let (mut yes, mut no) = (0, 0);
    let swizzles: Vec<Swizzle> = (0..=1u8)
        .flat_map(|bits| (0..3u8).flat_map(move |base| (-3..=3i8).map(move |by| (bits, base, by))))
        .filter_map(|(bits, base, by)| Swizzle::new(bits, base, by).ok())
        .collect();
    for_each(3, ("a", "x"), |map| {
        let all = values(map);
        // Within three bits no swizzle has two.
        let adds_up = |swizzle: Swizzle| {
            let plain: Vec<u64> = all.iter().map(|&value| swizzle.apply(value)).collect();
            let sum = |x: usize| {
                (0..map.ins.bits()).filter(|bit| x >> bit & 1 == 1).map(|bit| plain[1 << bit]).sum()
            };
            (0..all.len()).all(|x| plain[x] == sum(x))
        };
        let strided = swizzles.iter().any(|&swizzle| adds_up(swizzle));
        // Without a swizzle: iff the values add up as they are.
        let plain = map.to_layout();
        assert_eq!(plain.is_ok(), adds_up(Swizzle::IDENTITY), "{map}");
        assert!(plain.is_ok_and(|plain| offsets(&plain) == all) || !adds_up(Swizzle::IDENTITY));
        match map.to_swizzled_layout() {
            Ok(layout) => {
                yes += 1;
                let nonzero = (0..map.ins.bits()).filter(|bit| all[1 << bit] != 0).count();
                assert_eq!(map.rank(), nonzero, "{map}");
                assert_eq!(strided, layout.swizzle().is_field_xor(), "{map}");
                assert_eq!(offsets(&layout), all, "{map}: {layout}");
                assert!(map.ins().len() < 2 || layout.rank() == map.ins().len());
                let again = LinearLayout::of_layout(&layout).unwrap();
                assert_eq!(values(&again), all);
            }
            Err(error) => {
                no += 1;
                assert!(!strided && error.is_no_layout(), "{map}: {error}");
                // Two coordinates of one value, the one with a single bit.
                let one = map.ins.join(error.witness().unwrap().as_slice()).unwrap() as usize;
                assert!(one.is_power_of_two() && all[one] != 0 && all[..one].contains(&all[one]));
            }
        }
    });
    assert!(yes > 1000 && no > 1000, "{yes} {no}");
}

#[test]
fn every_swizzle_of_a_tile_is_found_again() {
    for (bits, base, shift) in
        [(3u8, 3u8, 3i8), (2, 3, 3), (1, 4, 3), (3, 4, 3), (2, 0, -2), (3, 0, 5)]
    {
        let swizzle = Swizzle::new(bits, base, shift).unwrap();
        for modes in [vec![(64, 1), (8, 64)], vec![(8, 64), (64, 1)], vec![(16, 64), (64, 1)]] {
            let modes: Vec<Mode> = modes.iter().map(|&(n, d)| Mode::new(n, d)).collect();
            let layout = Layout::flat(&modes).unwrap().with_swizzle(swizzle).unwrap();
            let map = LinearLayout::of_layout(&layout).unwrap();
            assert!(map.is_invertible());
            // A swizzle's sources beyond the last offset are left out.
            let again = map.to_swizzled_layout().unwrap();
            assert_eq!(again.modes(), layout.modes());
            assert_eq!(offsets(&again), offsets(&layout), "{again} {layout}");
            assert!(again.swizzle().bits() <= bits);
        }
    }
}

#[test]
fn the_bounds_are_errors() {
    let layout = |text| Layout::parse(text).unwrap();
    let of = |text| LinearLayout::of_layout(&layout(text)).unwrap_err();
    assert!(of("(2,2):(1,2)+1").is_unsupported());
    assert!(of("2:-1").is_unsupported());
    assert!(of("0:1").is_unsupported() && of("6:1").is_unsupported());
    assert!(of("(2,2):(4611686018427387904,1)").is_overflow());
    assert!(LinearLayout::of_layout(&layout("2:2305843009213693952")).is_ok());
    assert!(LinearLayout::of_layout(&layout("1:-7")).is_ok());
    let text = format!("({}):({})", vec!["1"; 17].join(","), vec!["0"; 17].join(","));
    assert!(of(&text).is_limit());
    let many = format!("({0}):({0})", vec!["1"; 16].join(","));
    assert!(LinearLayout::of_layout(&layout(&many)).is_ok());
    // 40 modes of one bit, of strides 4^i, would need 62 bits and more modes than a layout has.
    let bases: Vec<std::string::String> = (0..31).map(|i| (1u64 << (61 - i)).to_string()).collect();
    let reversed = parse(&format!("{{a=[{}],b=[0],c=[1]}}", bases.join(",")));
    assert!(reversed.to_layout().unwrap_err().is_limit());
    assert!(LinearLayout::identity(1 << 62, "a", "x").unwrap().is_invertible());
    assert!(LinearLayout::identity(1 << 63, "a", "x").unwrap_err().is_illegal());
    assert!(LinearLayout::strided(2, 1 << 62, "a", "x").unwrap_err().is_overflow());
    let half = LinearLayout::identity(1 << 32, "a", "x").unwrap();
    assert!(half.product(&half).unwrap_err().is_overflow());
    assert!(LinearLayout::new(&[("a", &[])], &[("", 2)]).unwrap_err().is_limit());
    let vast = LinearLayout::identity(1 << 62, "a", "x").unwrap();
    assert_eq!(vast.apply_index((1 << 62) - 1), Ok((1 << 62) - 1));
    assert_eq!(vast.to_layout().unwrap().to_string(), "4611686018427387904:1");
}
