//! A1 and A2: the crate graph is the one of `ARCHITECTURE.md`, and core depends on nothing.

use serde_json::Value;

use super::finding::Finding;

/// Each crate with what it may depend on of ours; it may do without.
const MAY: [(&str, &[&str]); 23] = [
    ("tilewright-scan", &[]),
    ("tilewright-core", &[]),
    ("tilewright-fixed", &["tilewright-core"]),
    ("tilewright-xla", &["tilewright-core"]),
    ("tilewright-table", &["tilewright-core"]),
    (
        "tilewright-notation",
        &["tilewright-core", "tilewright-scan", "tilewright-table", "tilewright-xla"],
    ),
    ("tilewright-relayout", &["tilewright-core", "tilewright-table"]),
    ("tilewright-fingerprint", &["tilewright-core", "tilewright-relayout"]),
    ("tilewright-device", &["tilewright-core", "tilewright-relayout"]),
    ("tilewright-cuda", &["tilewright-device", "tilewright-relayout"]),
    ("tilewright-draw", &["tilewright-core"]),
    ("tilewright-banks", &["tilewright-core"]),
    ("tilewright-emit", &["tilewright-core"]),
    ("tilewright-sharded", &["tilewright-core", "tilewright-scan"]),
    ("tilewright-recipe", &["tilewright-core", "tilewright-scan"]),
    (
        "tilewright-files",
        &[
            "tilewright-core",
            "tilewright-notation",
            "tilewright-relayout",
            "tilewright-fingerprint",
            "tilewright-recipe",
            "tilewright-table",
        ],
    ),
    (
        "tilewright-reshard",
        &[
            "tilewright-core",
            "tilewright-notation",
            "tilewright-relayout",
            "tilewright-fingerprint",
            "tilewright-sharded",
            "tilewright-files",
        ],
    ),
    (
        "tilewright",
        &[
            "tilewright-core",
            "tilewright-scan",
            "tilewright-fixed",
            "tilewright-xla",
            "tilewright-notation",
            "tilewright-relayout",
            "tilewright-device",
            "tilewright-cuda",
            "tilewright-fingerprint",
            "tilewright-files",
            "tilewright-draw",
            "tilewright-banks",
            "tilewright-emit",
            "tilewright-sharded",
            "tilewright-reshard",
            "tilewright-recipe",
        ],
    ),
    ("tilewright-bench", &["tilewright"]),
    ("tilewright-cli", &["tilewright", "tilewright-bench"]),
    ("tilewright-web", &["tilewright"]),
    ("tilewright-py", &["tilewright", "tilewright-cli"]),
    ("xtask", &[]),
];

/// Gives the text of a `Cargo.toml`, for the line to name.
type Manifest<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

/// Looks at what `cargo metadata --no-deps` printed.
pub(crate) fn findings<'a>(metadata: &Value, manifest: &Manifest<'a>) -> Vec<Finding> {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    packages.iter().flat_map(|package| of_package(package, root, manifest)).collect()
}

fn of_package<'a>(package: &Value, root: &str, manifest: &Manifest<'a>) -> Vec<Finding> {
    let name = package["name"].as_str().unwrap_or_default();
    let path = package["manifest_path"].as_str().unwrap_or_default();
    let path = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
    let text = manifest(path).unwrap_or_default();
    let Some((_, may)) = MAY.iter().find(|(known, _)| *known == name) else {
        return vec![Finding::new(path, line_of(text, name), "A2", unknown(name))];
    };
    let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    let shipped = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
    let names = shipped.filter_map(|dependency| dependency["name"].as_str());
    let refused = names.filter_map(|on| Some((on, refusal(name, may, on)?)));
    refused.map(|(on, (rule, says))| Finding::new(path, line_of(text, on), rule, says)).collect()
}

/// Why the crate `name` may not depend on the crate `on`.
fn refusal(name: &str, may: &[&str], on: &str) -> Option<(&'static str, String)> {
    let ours = MAY.iter().any(|(known, _)| *known == on);
    if name == "tilewright-core" {
        return Some(("A1", format!("core has no dependencies; `{on}` has to go")));
    }
    let allowed = if may.is_empty() { "none of our crates".into() } else { may.join(", ") };
    (ours && !may.contains(&on))
        .then(|| ("A2", format!("{name} may depend on {allowed}; not on {on}")))
}

fn unknown(name: &str) -> String {
    format!(
        "the crate {name} is not in the crate graph; add it to ARCHITECTURE.md and to xtask/src/tidy/graph.rs"
    )
}

/// The line that names a crate, from 1; 0 if none does.
fn line_of(manifest: &str, name: &str) -> usize {
    let names = |line: &str| {
        let key = line.split(['=', '.']).next().unwrap_or_default().trim();
        key == name || line.contains(&format!("\"{name}\""))
    };
    manifest.lines().position(names).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(name: &str, dependencies: Value) -> Vec<String> {
        let manifest_path = format!("/x/crates/{name}/Cargo.toml");
        let package =
            json!({"name": name, "manifest_path": manifest_path, "dependencies": dependencies});
        let metadata = json!({"workspace_root": "/x", "packages": [package]});
        let text = "[dependencies]\nrayon.workspace = true\ntilewright-xla = { path = \"../tilewright-xla\" }\n";
        findings(&metadata, &|_| Some(text)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn core_depends_on_nothing() {
        let found = found(
            "tilewright-core",
            json!([{"name": "rayon", "kind": null}, {"name": "proptest", "kind": "dev"}]),
        );
        assert_eq!(
            found,
            [
                "crates/tilewright-core/Cargo.toml:2: [A1] core has no dependencies; `rayon` has to go"
            ]
        );
    }

    #[test]
    fn an_edge_that_is_not_in_the_graph_is_named() {
        let found = found("tilewright-relayout", json!([{"name": "tilewright-xla", "kind": null}]));
        let says = "tilewright-relayout may depend on tilewright-core, tilewright-table; not on tilewright-xla";
        assert_eq!(found, [format!("crates/tilewright-relayout/Cargo.toml:3: [A2] {says}")]);
        assert_eq!(
            self::found("xtask", json!([{"name": "tilewright-core", "kind": "build"}])).len(),
            1
        );
    }

    #[test]
    fn edges_of_the_graph_and_edges_of_tests_are_fine() {
        assert!(
            found("tilewright-relayout", json!([{"name": "tilewright-core", "kind": null}]))
                .is_empty()
        );
        assert!(
            found("tilewright-relayout", json!([{"name": "tilewright-notation", "kind": "dev"}]))
                .is_empty()
        );
        assert!(found("tilewright-files", json!([])).is_empty());
    }

    #[test]
    fn a_new_crate_needs_its_row() {
        assert!(
            found("tilewright-new", json!([]))[0]
                .contains("tilewright-new is not in the crate graph")
        );
    }
}
