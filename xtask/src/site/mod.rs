//! `cargo xtask site`: the documents and the page in the browser as one site of files, in the build folder's `site`.
//!
//! The site begins with `README.md` and holds every document that a link leads to, as a page of the same path. Other
//! files that links lead to are copied, pictures as they are and texts with `.txt` behind their names. A link to a
//! file or to a heading that is not there is an error. Nothing is fetched when the site is read.

mod document;
mod frame;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::SystemTime,
};

use self::{document::Document, frame::Frame};
use crate::{
    shell::{Outcome, target},
    tidy::links,
    web,
};

/// Where the reader begins.
const START: &str = "README.md";

/// Where the page in the browser stands within the site.
const PAGE: &str = "page";

/// Writes the site anew and says where. The page in the browser is built first where it is absent or older than its
/// sources, unless the site is asked for without it.
pub(crate) fn run(root: &Path, without_page: bool) -> Outcome {
    let site = Site::read(&|path| fs::read_to_string(root.join(path)).ok())?;
    let out = target(root)?.join("site");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let (web, has_page) = (root.join("web"), !without_page);
    if has_page && is_old(&web) {
        web::build(root)?;
    }
    if has_page {
        copy(&web.join("dist"), &out.join(PAGE))?;
    }
    for (path, document) in &site.pages {
        let page = Frame { site: &site, path, document, has_page }.html();
        write(&out.join(address(path)), page.as_bytes())?;
    }
    for path in &site.files {
        copy(&root.join(path), &out.join(address(path)))?;
    }
    write(&out.join("site.css"), include_bytes!("site.css"))?;
    println!("    {} pages in {}", site.pages.len(), out.display());
    Ok(())
}

/// Whether the page has to be built: there is none, or one of its sources is newer than all of it.
fn is_old(web: &Path) -> bool {
    !web.join("dist/index.html").is_file() || newest(&web.join("dist")) < newest(&web.join("src"))
}

/// When a file was written, or the newest of all that is in a folder.
fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_file() {
        return fs::metadata(path).ok()?.modified().ok();
    }
    let within = fs::read_dir(path).into_iter().flatten().flatten();
    within.filter_map(|entry| newest(&entry.path())).max()
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Outcome {
    let failed = |error| format!("{}: {error}", from.display());
    if from.is_file() {
        return write(to, &fs::read(from).map_err(failed)?);
    }
    for entry in fs::read_dir(from).map_err(failed)?.flatten() {
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The documents of the site and the other files that they link to, by their paths from the root.
#[derive(Debug)]
struct Site {
    pages: BTreeMap<String, Document>,
    files: BTreeSet<String>,
}

impl Site {
    /// Follows the links from the first document on; `text` gives a file's text.
    fn read(text: &dyn Fn(&str) -> Option<String>) -> Outcome<Site> {
        let mut site = Site { pages: BTreeMap::new(), files: BTreeSet::new() };
        let mut left = vec![START.to_owned()];
        while let Some(path) = left.pop() {
            if site.pages.contains_key(&path) || site.files.contains(&path) {
                continue;
            }
            let Some(text) = text(&path) else { return Err(format!("{path} cannot be read")) };
            if !path.ends_with(".md") {
                site.files.insert(path);
                continue;
            }
            let document = Document::read(&path, &text);
            left.extend(document.targets.iter().map(|target| target.path.clone()));
            site.pages.insert(path, document);
        }
        site.checked()
    }

    /// The site, if every heading that a link names is there.
    fn checked(self) -> Outcome<Site> {
        for (path, document) in &self.pages {
            for target in &document.targets {
                let Some(anchor) = &target.anchor else { continue };
                let known = self.pages.get(&target.path).is_some_and(|page| page.has(anchor));
                if !known {
                    return Err(format!("{path}: {} has no heading #{anchor}", target.path));
                }
            }
        }
        Ok(self)
    }
}

/// The path of a document or file within the site.
fn address(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let name = match name.rsplit_once('.') {
        Some(("README", "md")) => "index.html".to_owned(),
        Some((stem, "md")) => format!("{stem}.html"),
        Some((_, "svg" | "png")) => name.to_owned(),
        _ => format!("{name}.txt"),
    };
    if folder.is_empty() { name } else { format!("{folder}/{name}") }
}

/// How a page of the site names another of its files.
fn relative(from: &str, to: &str) -> String {
    "../".repeat(from.matches('/').count()) + to
}

/// A link of the document at `path`: what it leads to within the project, unless it leads elsewhere.
fn target_of(path: &str, link: &str) -> Option<Target> {
    if link.starts_with('#') {
        return Some(Target { path: path.to_owned(), anchor: link.get(1..).map(str::to_owned) });
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let anchor = link.split_once('#').map(|(_, anchor)| anchor.to_owned());
    links::is_relative(link).then(|| Target { path: links::resolved(folder, link), anchor })
}

/// A file of the project, or a heading in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    path: String,
    anchor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    fn site(files: &[(&str, &str)]) -> Outcome<Site> {
        Site::read(&|path| {
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn the_documents_of_this_project_make_a_site() {
        let root = shell::root();
        let site = Site::read(&|path| fs::read_to_string(root.join(path)).ok()).unwrap();
        for path in ["README.md", "docs/README.md", "docs/tutorials/algebra.md", "DESIGN.md"] {
            assert!(site.pages.contains_key(path), "{path}");
        }
        assert!(site.files.contains("docs/pictures/conversion.svg"));
        for (path, document) in &site.pages {
            let html = Frame { site: &site, path, document, has_page: true }.html();
            assert!(html.contains("<main"), "{path}");
        }
    }

    #[test]
    fn the_page_is_old_where_it_is_absent_or_a_source_is_newer() {
        let web = std::env::temp_dir().join(format!("tilewright-site-{}", std::process::id()));
        let second = |at| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(at);
        let put = |name: &str, at| {
            let path = web.join(name);
            write(&path, b"x").unwrap();
            fs::File::options().write(true).open(path).unwrap().set_modified(second(at)).unwrap();
        };
        put("src/page.ts", 5);
        assert!(is_old(&web));
        put("dist/style.css", 4);
        assert!(is_old(&web));
        put("dist/index.html", 6);
        assert!(!is_old(&web));
        put("src/parts/grid.ts", 7);
        assert!(is_old(&web));
        put("dist/assets/page.js", 8);
        assert!(!is_old(&web));
        fs::remove_dir_all(web).unwrap();
    }

    #[test]
    fn links_lead_to_pages_and_files_of_the_site() {
        let made = site(&[
            (
                "README.md",
                "# A\n[b](docs/b.md#c-d) [l](LICENSE) ![p](p.svg) [x](https://x.example)",
            ),
            ("docs/b.md", "# B\n\n## C `d`\n[a](../README.md) [c](#c-d)"),
            ("LICENSE", "free"),
            ("p.svg", "<svg/>"),
        ])
        .unwrap();
        let page = &made.pages["README.md"].html;
        for link in ["docs/b.html#c-d", "LICENSE.txt", "https://x.example"] {
            assert!(page.contains(&format!("href=\"{link}\"")), "{link}: {page}");
        }
        assert!(page.contains("src=\"p.svg\""));
        let other = &made.pages["docs/b.md"].html;
        assert!(other.contains("href=\"../index.html\"") && other.contains("<h2 id=\"c-d\">"));
        assert_eq!(made.files.iter().collect::<Vec<_>>(), ["LICENSE", "p.svg"]);
    }

    #[test]
    fn lost_files_and_headings_are_errors() {
        assert_eq!(site(&[("README.md", "[a](b.md)")]).unwrap_err(), "b.md cannot be read");
        let lost = site(&[("README.md", "# A\n[a](#b)")]).unwrap_err();
        assert_eq!(lost, "README.md: README.md has no heading #b");
    }
}
