"""Builds the site: stages the documents, adds the generated pages, and runs Zensical, which reads the configuration of MkDocs.

    python build.py --program tilewright --target target [--page web/dist]

The stage is a folder with the documents at the paths that they have in the repository, so their links need no change.
A page that is generated in part has the line `<!-- generated -->` where its table goes.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import commands  # noqa: E402
import formats  # noqa: E402
import functions  # noqa: E402
import notations  # noqa: E402
import packages  # noqa: E402
from program import Program  # noqa: E402

GENERATED = "<!-- generated -->"
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#\s])")

# What makes generated pages: by path from the root, with the text that replaces the line GENERATED of a document.
GENERATORS = [formats, notations, functions, commands, packages]


class Stage:
    """The folder that the generator reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def write(self, path: str, text: str) -> None:
        to = self.folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(with_bars(text), encoding="utf-8")

    def copy(self, path: str) -> None:
        """A document with all that it links to, or another file; texts that a browser would not show end with .txt."""
        to = self.folder / shown(path)
        if to.exists() or not (ROOT / path).is_file():
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        if not path.endswith(".md"):
            shutil.copy(ROOT / path, to)
            return
        text = (ROOT / path).read_text(encoding="utf-8")
        to.write_text(with_bars(document(text)), encoding="utf-8")
        for link in LINK.findall(prose(text)) + re.findall(r'(?:src|srcset)="([^":]+)"', text):
            self.copy((Path(path).parent / link).as_posix() if "/" not in path else resolved(path, link))


def resolved(path: str, link: str) -> str:
    """A link of the document at `path`, from the root."""
    return (ROOT / path).parent.joinpath(link).resolve().relative_to(ROOT).as_posix()


def shown(path: str) -> str:
    """The path of a file in the site."""
    return path if path.endswith((".md", ".svg", ".png", ".json")) else path + ".txt"


def prose(text: str) -> str:
    """The text without blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def document(text: str) -> str:
    """A document as the generator wants it."""
    # Lines of Rust that only the test needs, and the blank line that ends an example in Python.
    text = re.sub(r"^```rust(?:,\w+)?\n(.*?)^```", lambda block: "```rust\n" + visible(block[1]) + "```", text, flags=re.M | re.S)
    text = re.sub(r"^```python\n(>>> .*?)\n*^```", r"```pycon\n\1\n```", text, flags=re.M | re.S)
    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(lambda link: shown_link(link[1]), part) for part in parts)


def with_bars(text: str) -> str:
    """The text without backslashes before bars of code in tables: GitHub wants them, and Python's Markdown shows them."""
    row = re.compile(r"^\|.*`.*$", re.M)
    return row.sub(lambda line: re.sub(r"`[^`]+`", lambda span: span[0].replace("\\|", "|"), line[0]), text)


def visible(rust: str) -> str:
    return "".join(line for line in rust.splitlines(keepends=True) if not line.startswith("# ") and line.strip() != "#")


def shown_link(link: str) -> str:
    return link if link.endswith("/") or "." not in link.rsplit("/", 1)[-1] and "LICENSE" not in link else shown(link)


def navigation(nav: list[Any], made: dict[str, list[Any]]) -> list[Any]:
    """The navigation with the generated pages where their folder is named."""
    whole: list[Any] = []
    for entry in nav:
        if isinstance(entry, str) and entry.endswith("/"):
            whole += made[entry]
        elif isinstance(entry, dict):
            whole += [{name: navigation(to, made) if isinstance(to, list) else to} for name, to in entry.items()]
        else:
            whole.append(entry)
    return whole


def main() -> None:
    arguments = argparse.ArgumentParser()
    for name in ["--program", "--target"]:
        arguments.add_argument(name, type=Path, required=True)
    arguments.add_argument("--page", type=Path)
    given = arguments.parse_args()
    stage, program = Stage(given.target / "site-documents"), Program(given.program)
    for document_ in ["README.md", *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md")))]:
        stage.copy(document_)
    # The first page has no pages beside it in the navigation.
    stage.write("README.md", "---\nhide: [navigation]\n---\n\n" + (stage.folder / "README.md").read_text(encoding="utf-8"))
    made: dict[str, list[Any]] = {}
    for generator in GENERATORS:
        pages, tables, nav = generator.make(program, ROOT)
        for path, text in pages.items():
            stage.write(path, text)
        for path, text in tables.items():
            whole = (stage.folder / path).read_text(encoding="utf-8")
            if GENERATED not in whole:
                sys.exit(f"{path} has no line {GENERATED}")
            stage.write(path, whole.replace(GENERATED, text))
        made |= nav
    shutil.copy(HERE / "extra.css", stage.folder)
    shutil.copy(HERE / "favicon.svg", stage.folder)
    config = yaml.unsafe_load((HERE / "mkdocs.yml").read_text(encoding="utf-8"))
    config["nav"] = navigation(config["nav"], made)
    if given.page:
        shutil.copytree(given.page, stage.folder / "page", ignore=shutil.ignore_patterns("*.br", "*.gz"))
        config["nav"].append({"Try it": "page/index.html"})
    # Both are relative to the configuration, which is in the target folder.
    config |= {"docs_dir": "site-documents", "site_dir": "site"}
    handler = config["plugins"][1]["mkdocstrings"]["handlers"]["python"]
    handler["paths"] = [str(ROOT / "crates/tilewright-py/python")]
    handler["options"]["extensions"] = [str(HERE / "rust_docstrings.py")]
    file = given.target / "site.yml"
    file.write_text(yaml.dump(config, sort_keys=False), encoding="utf-8")
    shutil.rmtree(given.target / "site", ignore_errors=True)
    zensical = Path(sys.executable).with_name("zensical")
    subprocess.run([zensical, "build", "--clean", "--strict", "-f", file], check=True)


if __name__ == "__main__":
    main()
