//! 1,000 random compositions: always exact, and nearly always as short as what made them.

use tilewright_learn::{MapTerm, describe};

use crate::random::{Random, compose};

#[test]
fn compositions_are_exact_and_short() {
    let (mut long, mut shown) = (0, Vec::new());
    for seed in 0..1000 {
        let made = compose(&mut Random(seed), 5);
        let learned = describe(&made.array.ids, &made.sources).unwrap();
        assert_eq!(learned.expand().unwrap(), made.array.ids, "{:?}", made.steps);
        let moved = |term: &&MapTerm| matches!(term.origin, tilewright_learn::Origin::Source(_));
        let terms = learned.terms().iter().filter(moved).count();
        if terms > made.parts {
            long += 1;
            shown.push(format!(
                "{seed}: {terms} terms, {} integers: {:?}",
                learned.integers(),
                made.steps
            ));
        }
    }
    println!("{}", shown.join("\n"));
    println!("{long} of 1000");
    assert!(long <= 50, "{long} of 1000 descriptions are longer than what made them");
}
