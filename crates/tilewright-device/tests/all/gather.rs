//! Few channels, odd inner dims, reversed and sparse dims by the gather, on the host.

use crate::host::dice::Dice;
use crate::host::{Case, check, check_some};
use tilewright_core::{Layout, TensorLayout};
use tilewright_device::Way;
use tilewright_relayout::{Elements, Program};

fn of(extents: &[u64], text: &str) -> TensorLayout {
    let layout = Layout::parse(text).unwrap();
    TensorLayout::new(extents, &layout, layout.cosize() as u64).unwrap()
}

/// Returns the layout that stores dims in an order, the last one innermost.
fn ordered(extents: &[u64], order: &[usize]) -> TensorLayout {
    let mut strides = vec![0; extents.len()];
    let mut all = 1;
    for &dim in order.iter().rev() {
        strides[dim] = all;
        all *= extents[dim];
    }
    let list = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    of(extents, &format!("({}):({})", list(extents), list(&strides)))
}

fn moved(src: &TensorLayout, dst: &TensorLayout, bits: u32) -> Program {
    Program::new(src, dst, Elements::same(bits), 0).unwrap()
}

fn gathered(name: String, program: Program, src: u8, dst: u8) -> Case {
    Case::new(name, program).at(src, dst).by(Way::Gather)
}

#[test]
fn few_channels_on_either_side() {
    let mut cases = Vec::new();
    for (at, bits) in [8, 16, 32, 64].into_iter().enumerate() {
        for (number, channels) in [2, 3, 4, 5, 7, 14].into_iter().enumerate() {
            // Both sizes, or one of them in turn.
            let step = tilewright_testing::cases(1, 2);
            for size in [33, 1031].into_iter().skip((at + number) % step).step_by(step) {
                let extents = [2, channels, size];
                let (planes, pixels) =
                    (ordered(&extents, &[0, 1, 2]), ordered(&extents, &[0, 2, 1]));
                for (at, to) in [(0, 0), (3, 0), (0, 5), (9, 14)] {
                    let name = format!("{channels} channels of {size}, {bits} bits at {at}, {to}");
                    cases.push(gathered(
                        format!("{name} apart"),
                        moved(&pixels, &planes, bits),
                        at,
                        to,
                    ));
                    cases.push(gathered(
                        format!("{name} together"),
                        moved(&planes, &pixels, bits),
                        at,
                        to,
                    ));
                }
            }
        }
    }
    check_some(cases);
}

#[test]
fn orders_of_odd_dims() {
    let mut cases = Vec::new();
    let orders = [[3, 2, 1, 0], [0, 2, 1, 3], [1, 3, 0, 2], [2, 0, 3, 1], [3, 0, 2, 1]];
    for bits in [8, 16, 24, 32, 48, 64, 128] {
        for extents in [[3, 5, 7, 14], [14, 3, 2, 33], [2, 70, 3, 9]] {
            for order in orders {
                let program =
                    moved(&ordered(&extents, &[0, 1, 2, 3]), &ordered(&extents, &order), bits);
                cases.push(gathered(
                    format!("{extents:?} as {order:?}, {bits} bits"),
                    program,
                    0,
                    0,
                ));
            }
        }
    }
    check_some(cases);
}

#[test]
fn reversed_broadcast_sparse_and_padded() {
    let mut cases = Vec::new();
    for bits in [8, 16, 32] {
        let mut add = |extents: &[u64], src: &str, dst: &str| {
            for (at, to) in [(0, 0), (1, 2), (4, 12)] {
                let (from, into) = (of(extents, src), of(extents, dst));
                let origin = vec![0; extents.len()];
                let part = Program::of_part(
                    (&from, &origin),
                    (&into, &origin),
                    extents,
                    Elements::same(bits),
                );
                cases.push(gathered(
                    format!("{src} to {dst}, {bits} bits at {at}"),
                    part.unwrap(),
                    at,
                    to,
                ));
            }
        };
        add(&[1000], "(1000):(-1)+999", "(1000):(1)");
        add(&[17, 301], "(17,301):(301,-1)+300", "(17,301):(301,1)");
        add(&[17, 301], "(17,301):(-301,-1)+5116", "(17,301):(1,17)");
        add(&[40, 50], "(40,50):(0,1)", "(40,50):(50,1)");
        add(&[40, 50], "(40,50):(1,0)", "(40,50):(50,1)");
        add(&[1500], "(1500):(2)", "(1500):(1)");
        add(&[9, 500], "(9,500):(1500,3)", "(9,500):(1,9)");
        add(&[19, 83], "(19,83):(91,1)", "(19,83):(1,23)");
        add(&[3, 9, 41], "(3,9,41):(1,123,3)", "(3,9,41):(400,43,1)");
        add(&[1, 1], "(1,1):(1,1)", "(1,1):(1,1)");
    }
    check(&cases);
}

/// Tiles of 16 by 32 elements from rows of an odd length: blocks walk in strips along the destination.
#[test]
fn strips_of_tiles_of_ragged_rows() {
    let mut strips = 0;
    let mut cases = Vec::new();
    for (m, n) in [(4160, 609), (9600, 1057)].into_iter().take(tilewright_testing::cases(2, 1)) {
        let text = format!("((16,{}),(32,{})):((32,512),(1,{}))", m / 16, n / 32, 32 * m);
        let (whole, n) = (n / 32 * 32, n);
        let rows = of(&[m, whole], &format!("({m},{whole}):({n},1)"));
        let tiles = of(&[m, whole], &text);
        cases.push(Case::new(format!("{m} by {whole}"), moved(&rows, &tiles, 8)));
        cases.push(Case::new(format!("{m} by {whole}, back"), moved(&tiles, &rows, 8)));
    }
    for plan in check(&cases) {
        strips += usize::from(plan.kernels().iter().any(|one| one.text().contains("Strips of 64")));
    }
    assert!(strips > 0);
}

/// All alignments of elements of three widths, or of bytes and some of the others.
#[test]
fn all_alignments() {
    let mut cases = Vec::new();
    for (bits, step) in [(8, 1), (16, 5), (32, 7)] {
        let extents = [3, 97];
        let (planes, pixels) = (ordered(&extents, &[0, 1]), ordered(&extents, &[1, 0]));
        let step = tilewright_testing::cases(1, step);
        for src in 0..16 {
            for dst in (src % step..16).step_by(step.into()) {
                let name = format!("{bits} bits at {src}, {dst}");
                cases.push(gathered(name, moved(&pixels, &planes, bits), src, dst));
            }
        }
    }
    check(&cases);
}

#[test]
fn all_small_transposes() {
    let mut cases = Vec::new();
    for m in 1..=13 {
        for n in 1..=13 {
            let program = moved(&ordered(&[m, n], &[0, 1]), &ordered(&[m, n], &[1, 0]), 8);
            cases.push(gathered(
                format!("{m} by {n}"),
                program,
                (m % 16) as u8,
                (n * 3 % 16) as u8,
            ));
        }
    }
    check(&cases);
}

#[test]
fn random_orders() {
    let mut dice = Dice::new(7);
    let mut cases = Vec::new();
    for i in 0..tilewright_testing::cases(150, 40) {
        let bits = [8, 16, 24, 32, 64, 128][dice.below(5 + 1) as usize];
        let rank = (2 + dice.below(4)) as usize;
        let extents: Vec<u64> = (0..rank).map(|_| 1 + dice.below(14)).collect();
        let order = |dice: &mut Dice| {
            let mut order: Vec<usize> = (0..rank).collect();
            (1..rank).for_each(|at| order.swap(at, dice.below(at as u64 + 1) as usize));
            order
        };
        let (from, to) = (order(&mut dice), order(&mut dice));
        let at = (dice.below(16) as u8, dice.below(16) as u8);
        let name = format!("{i}: {extents:?} from {from:?} to {to:?}, {bits} bits at {at:?}");
        let program = moved(&ordered(&extents, &from), &ordered(&extents, &to), bits);
        cases.push(gathered(name, program, at.0, at.1));
    }
    check_some(cases);
}

#[test]
fn images_are_gathered() {
    let extents = [3, 224 * 31];
    let (planes, pixels) = (ordered(&extents, &[0, 1]), ordered(&extents, &[1, 0]));
    for program in [moved(&planes, &pixels, 8), moved(&pixels, &planes, 16)] {
        let plans = check(&[Case::new("an image", program)]);
        assert_eq!(plans[0].kernels()[0].way(), Way::Gather);
    }
}
