//! A1 and A2: the crate graph is the one of `ARCHITECTURE.md`, and core depends on nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::source::Finding;

/// The document whose table is the graph.
pub(crate) const MAP: &str = "ARCHITECTURE.md";

/// The crates of ours that each crate may depend on.
struct Graph(BTreeMap<String, Vec<String>>);

impl Graph {
    /// Reads the rows of the table: a crate in backticks, its description, and the crates it depends on, without the
    /// `tilewright-` before their names.
    fn of(map: &str) -> Graph {
        let rows = map.lines().filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [name, _, on] = cells[..] else { return None };
            let name = name.strip_prefix('`')?.strip_suffix('`')?;
            let is_crate = name == "xtask" || name.split('-').next() == Some("tilewright");
            is_crate.then(|| (name.to_owned(), on))
        });
        let rows: Vec<(String, &str)> = rows.collect();
        let full = |short: &str| {
            let long = format!("tilewright-{short}");
            if rows.iter().any(|(name, _)| *name == long) { long } else { short.to_owned() }
        };
        let list =
            |on: &str| on.split(',').map(str::trim).filter(|on| *on != "–").map(full).collect();
        Graph(rows.iter().map(|(name, on)| (name.clone(), list(on))).collect())
    }
}

/// Returns the text of a `Cargo.toml`, in which findings name a line.
type Manifest<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

/// Compares the output of `cargo metadata --no-deps` with the table in the document `map`.
pub(crate) fn findings<'a>(metadata: &Value, map: &str, manifest: &Manifest<'a>) -> Vec<Finding> {
    let graph = Graph::of(map);
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    packages.iter().flat_map(|package| graph.of_package(package, root, manifest)).collect()
}

impl Graph {
    fn of_package<'a>(&self, package: &Value, root: &str, manifest: &Manifest<'a>) -> Vec<Finding> {
        let name = package["name"].as_str().unwrap_or_default();
        let path = package["manifest_path"].as_str().unwrap_or_default();
        let path = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
        let text = manifest(path).unwrap_or_default();
        let Some(may) = self.0.get(name) else {
            return vec![Finding::new(path, line_of(text, name), "A2", unknown(name))];
        };
        let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
        let shipped = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
        let names = shipped.filter_map(|dependency| dependency["name"].as_str());
        let refused = names.filter_map(|on| Some((on, self.refusal(name, may, on)?)));
        refused
            .map(|(on, (rule, says))| Finding::new(path, line_of(text, on), rule, says))
            .collect()
    }

    /// Returns the reason why the crate `name` may not depend on the crate `on`.
    fn refusal(&self, name: &str, may: &[String], on: &str) -> Option<(&'static str, String)> {
        if name == "tilewright-core" {
            return Some(("A1", format!("core has no dependencies; `{on}` has to go")));
        }
        let allowed = if may.is_empty() { "none of our crates".into() } else { may.join(", ") };
        (self.0.contains_key(on) && !may.iter().any(|may| may == on))
            .then(|| ("A2", format!("{name} may depend on {allowed}; not on {on}")))
    }
}

fn unknown(name: &str) -> String {
    format!("the crate {name} is not in the crate graph; add a row to the table in {MAP}")
}

/// Returns the line that names a crate, from 1; 0 if there is none.
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

    const TABLE: &str = "| crate | what it is | depends on |\n|---|---|---|\n\
        | `tilewright-core` | values | – |\n| `tilewright-xla` | shapes | core |\n\
        | `tilewright-table` | tables | core |\n| `tilewright-relayout` | moves | core, table |\n\
        | `tilewright-files` | files | relayout |\n| `tilewright` | all | core |\n| `xtask` | commands | – |\n\
        | `tilewright-bench` | cases | tilewright |\n";

    fn found(name: &str, dependencies: Value) -> Vec<String> {
        let manifest_path = format!("/x/crates/{name}/Cargo.toml");
        let package =
            json!({"name": name, "manifest_path": manifest_path, "dependencies": dependencies});
        let metadata = json!({"workspace_root": "/x", "packages": [package]});
        let text = "[dependencies]\nrayon.workspace = true\ntilewright-xla = { path = \"../tilewright-xla\" }\n";
        findings(&metadata, TABLE, &|_| Some(text)).iter().map(Finding::to_string).collect()
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
    fn short_names_in_the_table_are_whole_crates() {
        let graph = Graph::of(TABLE);
        assert_eq!(graph.0["tilewright-relayout"], ["tilewright-core", "tilewright-table"]);
        assert_eq!(graph.0["tilewright-bench"], ["tilewright"]);
        assert!(graph.0["xtask"].is_empty());
    }

    #[test]
    fn a_new_crate_needs_its_row() {
        assert!(
            found("tilewright-new", json!([]))[0]
                .contains("tilewright-new is not in the crate graph")
        );
    }
}
