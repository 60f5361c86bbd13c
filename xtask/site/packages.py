"""The Python package, from its stub and docstrings, and the list of the crates of Rust."""

import ast
import re
from pathlib import Path
from typing import Any

from program import Program, cell

FOLDER = "docs/reference/python/"
PACKAGE = "crates/tilewright-py/python/tilewright"
MODULES = ["algebra", "torch", "ray", "dask", "orbax"]


def make(program: Program, root: Path) -> tuple[dict[str, str], dict[str, str], dict[str, list[Any]]]:
    names = public(root / PACKAGE / "__init__.py")
    errors = public(root / PACKAGE / "_errors.py")
    classes = [name for name in names if name[0].isupper() and name not in errors]
    functions = [name for name in names if name[0].islower()]
    pages = {f"{FOLDER}functions.md": listing("Functions", functions)}
    for name in classes:
        pages[f"{FOLDER}{name}.md"] = f"# {name}\n\n::: tilewright.{name}\n    options:\n      show_root_heading: false\n"
    pages[f"{FOLDER}errors.md"] = listing("Errors", errors)
    for name in MODULES:
        pages[f"{FOLDER}{name}.md"] = f"# tilewright.{name}\n\n::: tilewright.{name}\n    options:\n      show_root_heading: false\n"
    nav = [{title_of(text): path} for path, text in pages.items()]
    table = "\n".join(f"- [{title_of(text)}](python/{Path(path).name})" for path, text in pages.items())
    return pages, {"docs/reference/python.md": table, "docs/reference/rust.md": crates(root)}, {FOLDER: nav}


def title_of(page: str) -> str:
    return page.partition("\n")[0].removeprefix("# ")


def listing(title: str, names: list[str]) -> str:
    return f"# {title}\n\n" + "\n".join(f"::: tilewright.{name}\n" for name in names)


def public(path: Path) -> list[str]:
    """The names of `__all__`."""
    for part in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(part, ast.Assign) and getattr(part.targets[0], "id", "") == "__all__":
            values = getattr(part.value, "elts", [])
            return [one.value for one in values if isinstance(one, ast.Constant) and one.value != "__version__"]
    return []


def crates(root: Path) -> str:
    rows = []
    for path in sorted(root.glob("crates/*/Cargo.toml")):
        text = path.read_text(encoding="utf-8")
        name = re.search(r'^name = "(.+)"', text, re.M)
        about = re.search(r'^description = "(.+)"', text, re.M)
        is_documented = (path.parent / "src" / "lib.rs").exists() and "\ndoc = false" not in text
        if name and about and is_documented:
            link = f'<a href="../../rust/{name[1].replace("-", "_")}/index.html">{name[1]}</a>'
            rows.append(f"| {link} | {cell(about[1])} |")
    return "\n".join(["| crate | what it is |", "|---|---|", *rows])
