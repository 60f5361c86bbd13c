//! Results as a table: relayout, memcpy, and the rivals' ratios to the memcpy of their own run.

use std::fmt::Write as _;

use serde_json::Value;

/// Tilewright counts as slower than a rival if its ratio is below this share of the rival's.
const TIE: f64 = 0.97;

/// Returns the results as Markdown.
pub(super) fn markdown(result: &Value) -> String {
    let rivals = list(&result["rivals"]);
    let names = names(rivals);
    let mut text = head(result);
    let titles: String = names.iter().map(|name| format!(" {name} |")).collect();
    let _ = writeln!(text, "| case | threads | MB | GB/s | memcpy | copy | ratio | cpu |{titles}");
    let _ = writeln!(text, "|---|--:|--:|--:|--:|--:|--:|--:|{}", "--:|".repeat(names.len()));
    let (mut compared, mut behind) = (0, Vec::new());
    for case in list(&result["cases"]) {
        let _ = write!(
            text,
            "| {} | {} | {:.1} ",
            word(case, "name"),
            case["threads"],
            number(case, "bytes") / 1e6
        );
        for (column, digits) in [
            ("gb_per_s", 1),
            ("memcpy_gb_per_s", 1),
            ("copy_gb_per_s", 1),
            ("ratio", 2),
            ("cpu_per_wall", 2),
        ] {
            let _ = write!(text, "| {:.digits$} ", number(case, column));
        }
        for name in &names {
            let one = rivals.iter().find(|rival| is_of(rival, name, case));
            let Some(one) = one else {
                text += "| – ";
                continue;
            };
            let right = one["right"] == true;
            let _ =
                write!(text, "| {:.2}{} ", number(one, "ratio"), if right { "" } else { " wrong" });
            compared += usize::from(right);
            if right && number(case, "ratio") < TIE * number(one, "ratio") {
                behind.push(format!("{} with {} ({name})", word(case, "name"), case["threads"]));
            }
        }
        text += "|\n";
    }
    if !names.is_empty() {
        let _ = write!(text, "\nOf {compared} comparisons with rivals, behind in {}", behind.len());
        let _ =
            writeln!(text, "{}{}", if behind.is_empty() { "." } else { ": " }, behind.join("; "));
    }
    text
}

/// Returns the machine, and a summary.
fn head(result: &Value) -> String {
    let machine = &result["machine"];
    let vectors: Vec<&str> = list(&machine["vectors"]).iter().filter_map(Value::as_str).collect();
    let mut text = format!(
        "# {}, {} cores, {}\n\nCaches of {} KiB; {}. Single numbers are GB/s read and written; ratios are to memcpy of the same number of bytes in the same run, and cpu is processor time over time.\n\n",
        word(machine, "cpu"),
        machine["cores"],
        word(result, "date"),
        machine["caches_kib"],
        vectors.join(", "),
    );
    for one in list(&result["summary"]) {
        let (mean, least) = (number(one, "geometric_mean"), number(one, "least"));
        let (size, name) = (word(one, "size"), word(one, "least_name"));
        let _ = writeln!(
            text,
            "- {size}, threads {}: {mean:.2} in the geometric mean of {}, at least {least:.2} ({name})",
            one["threads"], one["cases"],
        );
    }
    text.push('\n');
    text
}

/// Returns the rivals, in the order in which they first appear.
fn names(rivals: &[Value]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for rival in rivals {
        let name = word(rival, "rival");
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn is_of(rival: &Value, name: &str, case: &Value) -> bool {
    rival["rival"] == *name && ["name", "threads"].iter().all(|key| rival[*key] == case[*key])
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rival_that_is_ahead_is_named() {
        let case = |ratio: f64| {
            json!({"name": "a/l2", "threads": 2, "bytes": 2_000_000, "gb_per_s": 10.0,
                "memcpy_gb_per_s": 20.0, "copy_gb_per_s": 25.0, "ratio": ratio, "cpu_per_wall": 1.9})
        };
        let rival = |name: &str, ratio: f64, right: bool| json!({"rival": name, "name": "a/l2", "threads": 2, "ratio": ratio, "right": right});
        let rivals =
            [rival("slow", 0.1, true), rival("even", 0.51, true), rival("wrong", 2.0, false)];
        let text = |ratio: f64| {
            markdown(
                &json!({"machine": {"cpu": "A", "cores": 2}, "cases": [case(ratio)], "rivals": rivals}),
            )
        };
        assert!(text(0.5).contains(
            "| case | threads | MB | GB/s | memcpy | copy | ratio | cpu | slow | even | wrong |\n"
        ));
        assert!(text(0.5).contains(
            "| a/l2 | 2 | 2.0 | 10.0 | 20.0 | 25.0 | 0.50 | 1.90 | 0.10 | 0.51 | 2.00 wrong |\n"
        ));
        assert!(
            text(0.5).ends_with("Of 2 comparisons with rivals, behind in 0.\n"),
            "{}",
            text(0.5)
        );
        assert!(text(0.4).contains("behind in 1: a/l2 with 2 (even)"));
    }
}
