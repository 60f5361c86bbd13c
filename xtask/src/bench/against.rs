//! `cargo xtask bench --against OLD`: compares two builds of the program, case by case, in alternation.
//!
//! Each turn starts one program and then the other, so that the two measure a case within seconds; which one is first
//! alternates from turn to turn. A turn's ratio is new time over old time, each the median of its process; a case's
//! ratio is the median over the turns. The times themselves are compared, not their ratios to memcpy, which would add
//! memcpy's noise: both programs are measured on the same machine at the same time. Cases that seem slower are measured
//! again, twice as often, and only the second result counts, because some of many cases seem slower by chance. The
//! output also has the ratio of the least times, which is more reliable if other work disturbs the machine.
//!
//! One process for both would be better still, because they would share buffers, and with them the pages that the
//! system happened to assign; but an earlier build is a program, not a library. The effect of pages is noise here, and
//! it averages out over the turns, which all start new processes.

use std::{collections::BTreeMap, env, fmt::Write as _, path::Path, process::ExitCode};

use serde_json::{Value, json};

use super::read;
use crate::shell::{Outcome, command, output};

/// Cases that are slower by more than this are reported.
const SLOWER: f64 = 1.03;

/// The builds to compare.
pub(super) struct Builds<'a> {
    pub(super) root: &'a Path,
    pub(super) old: &'a Path,
    pub(super) new: &'a Path,
    /// The number of times that both are started for a case.
    pub(super) times: usize,
    /// `--quick`, `--size` and `--threads`, as they were given.
    pub(super) options: Vec<&'a str>,
    pub(super) names: Vec<&'a str>,
}

/// A case with its size, and the threads.
type Key = (String, u64);

/// Seconds of the old build and the new in each turn.
type Turns = BTreeMap<Key, Vec<(f64, f64)>>;

impl Builds<'_> {
    /// Measures, prints, and reports the slower cases.
    pub(super) fn compare(&self, is_json: bool) -> Outcome<ExitCode> {
        let mut all = Turns::new();
        for case in self.cases()? {
            let mut turns = self.turns(&case, self.times)?;
            if turns.values().any(|pairs| ratio(pairs) > SLOWER) {
                eprintln!("    {case} again");
                turns = self.turns(&case, 2 * self.times)?;
            }
            if !is_json {
                turns.iter().for_each(|(key, pairs)| print!("{}", line(key, pairs)));
            }
            all.extend(turns);
        }
        match is_json {
            true => println!("{}", told(&all)),
            false => print!("{}", short(&all)),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the names of the cases that both builds have.
    fn cases(&self) -> Outcome<Vec<String>> {
        let listed = |program: &Path| -> Outcome<Vec<String>> {
            let mut list = command(self.root, &[&*program.to_string_lossy(), "bench", "--list"]);
            let quick = self.options.contains(&"--quick").then_some("--quick");
            list.arg("--json").args(quick).args(&self.names);
            Ok(definitions(&read(&output(&mut list)?)?))
        };
        let (old, new) = (listed(self.old)?, listed(self.new)?);
        Ok(new.into_iter().filter(|name| old.contains(name)).collect())
    }

    /// Measures both builds on one case, `times` times.
    fn turns(&self, case: &str, times: usize) -> Outcome<Turns> {
        let mut all = Turns::new();
        for turn in 0..times {
            let (old, new) = match turn % 2 == 0 {
                true => {
                    let old = self.once(self.old, case)?;
                    (old, self.once(self.new, case)?)
                }
                false => {
                    let new = self.once(self.new, case)?;
                    (self.once(self.old, case)?, new)
                }
            };
            for (key, seconds) in new {
                if let Some(old) = old.get(&key) {
                    all.entry(key).or_default().push((*old, seconds));
                }
            }
        }
        Ok(all)
    }

    /// Starts one program once.
    fn once(&self, program: &Path, case: &str) -> Outcome<BTreeMap<Key, f64>> {
        let mut bench = command(self.root, &[&*program.to_string_lossy(), "bench", case, "--json"]);
        let answer = read(&output(bench.args(&self.options))?)?;
        Ok(seconds(&answer, case))
    }
}

/// Returns the names in a list, without their sizes, each once.
fn definitions(listed: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for case in listed["cases"].as_array().into_iter().flatten() {
        let name = case["name"].as_str().and_then(|name| name.split('/').next());
        if let Some(name) = name.filter(|name| !names.iter().any(|known| known == name)) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns the seconds of one case by size and threads; the program also measured cases whose names contain this one.
fn seconds(answer: &Value, case: &str) -> BTreeMap<Key, f64> {
    let rows = answer["cases"].as_array().into_iter().flatten();
    let of = |row: &Value| {
        let name = row["name"].as_str().filter(|name| name.split('/').next() == Some(case))?;
        Some(((name.to_owned(), row["threads"].as_u64()?), row["seconds"].as_f64()?))
    };
    rows.filter_map(of).collect()
}

/// Returns new time over old: the median of the turns.
fn ratio(pairs: &[(f64, f64)]) -> f64 {
    let mut ratios: Vec<f64> = pairs.iter().map(|(old, new)| new / old).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    match ratios.len() % 2 {
        0 if middle > 0 => (ratios[middle - 1] * ratios[middle]).sqrt(),
        _ => ratios.get(middle).copied().unwrap_or(f64::NAN),
    }
}

fn line((name, threads): &Key, pairs: &[(f64, f64)]) -> String {
    let ratio = ratio(pairs);
    let slower = if ratio > SLOWER { "  SLOWER" } else { "" };
    format!(
        "{name:40} {threads:>3}  {ratio:.3} of {} turns  {:.3} of the least{slower}\n",
        pairs.len(),
        of_least(pairs)
    )
}

/// Returns the least new time over the least old one.
fn of_least(pairs: &[(f64, f64)]) -> f64 {
    let least = |time: fn(&(f64, f64)) -> f64| pairs.iter().map(time).fold(f64::NAN, f64::min);
    least(|pair| pair.1) / least(|pair| pair.0)
}

/// Returns the mean by size and threads, and the slower cases.
fn short(all: &Turns) -> String {
    let mut text = String::new();
    for ((size, threads), mean, count) in means(all) {
        let _ = writeln!(
            text,
            "{size}, threads {threads}: new time over old {mean:.3} in the geometric mean of {count}"
        );
    }
    let slower: Vec<String> = slower(all).iter().map(|(key, pairs)| line(key, pairs)).collect();
    let isa = env::var("TILEWRIGHT_ISA").map_or(String::new(), |isa| format!(", {isa}"));
    let percent = (SLOWER - 1.0) * 100.0;
    let _ = writeln!(
        text,
        "slower by more than {percent:.0} %{isa}: {} of {}",
        slower.len(),
        all.len()
    );
    text + &slower.concat()
}

fn slower(all: &Turns) -> Vec<(&Key, &Vec<(f64, f64)>)> {
    all.iter().filter(|(_, pairs)| ratio(pairs) > SLOWER).collect()
}

/// Returns the geometric mean of the ratios and their number, by size and threads.
fn means(all: &Turns) -> Vec<(Key, f64, usize)> {
    let mut groups: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
    for ((name, threads), pairs) in all {
        let size = name.split('/').nth(1).unwrap_or_default().split('-').next().unwrap_or_default();
        groups.entry((size.to_owned(), *threads)).or_default().push(ratio(pairs).ln());
    }
    let mean = |ratios: &[f64]| (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
    groups.into_iter().map(|(key, ratios)| (key, mean(&ratios), ratios.len())).collect()
}

fn told(all: &Turns) -> Value {
    let cases = all.iter().map(|((name, threads), pairs)| {
        let (old, new): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        json!({
            "name": name,
            "threads": threads,
            "ratio": ratio(pairs),
            "of_least": of_least(pairs),
            "old": old,
            "new": new,
        })
    });
    let means = means(all).into_iter().map(|((size, threads), mean, cases)| {
        json!({ "size": size, "threads": threads, "geometric_mean": mean, "cases": cases })
    });
    let slower = slower(all);
    let slower =
        slower.iter().map(|((name, threads), _)| json!({ "name": name, "threads": threads }));
    json!({
        "cases": cases.collect::<Vec<_>>(),
        "summary": means.collect::<Vec<_>>(),
        "slower": slower.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_case_is_named() {
        let key = |name: &str| (name.to_owned(), 1);
        let all = Turns::from([
            (key("a/l2"), vec![(1.0, 1.1), (1.0, 1.05), (2.0, 1.0)]),
            (key("b/l2"), vec![(1.0, 0.5), (1.0, 0.5)]),
            (key("c/memory"), vec![(1.0, 1.02)]),
        ]);
        assert!((ratio(&all[&key("a/l2")]) - 1.05).abs() < 1e-9);
        let text = short(&all);
        assert!(
            text.contains("slower by more than 3 %") && text.contains(": 1 of 3\na/l2"),
            "{text}"
        );
        assert!(text.starts_with("l2, threads 1: new time over old 0.725 in"), "{text}");
        assert!(
            text.contains("memory, threads 1: new time over old 1.020 in the geometric mean of 1")
        );
        assert_eq!(told(&all)["slower"], json!([{ "name": "a/l2", "threads": 1 }]));
        assert!(ratio(&[]).is_nan() && of_least(&[]).is_nan());
        assert_eq!(of_least(&all[&key("a/l2")]), 1.0);
    }

    #[test]
    fn only_the_case_itself_counts() {
        let row = |name: &str| json!({ "name": name, "threads": 2, "seconds": 0.5 });
        let answer = json!({ "cases": [row("zN/l2"), row("zN-ragged/l2"), row("zN/memory")] });
        let found = seconds(&answer, "zN");
        assert_eq!(found.len(), 2);
        assert_eq!(found[&("zN/l2".to_owned(), 2)], 0.5);
        assert_eq!(definitions(&answer), ["zN", "zN-ragged"]);
    }
}
