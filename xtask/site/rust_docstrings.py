"""Docstrings of the Python package's native half, read from its Rust sources.

The stub `_tilewright.pyi` has the signatures. PyO3 makes docstrings of the comments in Rust, so they are read there: no
package has to be built.
"""

import re
from pathlib import Path

import griffe

SOURCES = Path(__file__).resolve().parents[2] / "crates" / "tilewright-py" / "src"
CLASS = re.compile(r"(?:pub(?:\(\w+\))? )?(?:struct|enum) (\w+)")
FUNCTION = re.compile(r"(?:pub(?:\(\w+\))? )?fn (\w+)")
NAMED = re.compile(r'name = "(\w+)"')
IMPL = re.compile(r"impl (\w+) \{")


def documents() -> dict[str, str]:
    """Docstrings by the Python name: `parse`, `TensorLayout`, `TensorLayout.dims`."""
    found: dict[str, str] = {}
    classes: dict[str, str] = {}
    texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*.rs"))]
    for collect in (True, False):
        for text in texts:
            read(text, found, classes, collect)
    return found


def read(text: str, found: dict[str, str], classes: dict[str, str], only_classes: bool) -> None:
    """Adds what a file documents; the names of classes in Python are gathered first."""
    comment: list[str] = []
    attributes = ""
    of = None
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("///"):
            comment.append(bare[3:].removeprefix(" "))
        elif bare.startswith("#["):
            attributes += bare
        elif bare == "}" and not line.startswith(" "):
            of = None
        else:
            if (start := IMPL.match(bare)) and "pymethods" in attributes:
                of = classes.get(start[1])
            elif only_classes and (start := CLASS.match(bare)) and "pyclass" in attributes:
                classes[start[1]] = named(attributes, start[1].removeprefix("Py"))
                found[classes[start[1]]] = "\n".join(comment)
            elif not only_classes and (start := FUNCTION.match(bare)):
                name = named(attributes, start[1])
                if of or "pyfunction" in attributes:
                    found[f"{of}.{name}" if of else name] = "\n".join(comment)
            if not bare.startswith(("//", ")]")):
                comment, attributes = [], ""


def named(attributes: str, otherwise: str) -> str:
    """The name that an attribute gives in Python."""
    given = NAMED.search(attributes)
    return given[1] if given else otherwise


def fenced(text: str) -> str:
    """Examples of a docstring as blocks of code."""
    made: list[str] = []
    inside = False
    for line in text.splitlines():
        begins = line.startswith(">>> ")
        if begins and not inside:
            made += ["", "```pycon"]
        if inside and not line.strip():
            made += ["```", ""]
        inside = begins or (inside and bool(line.strip()))
        made.append(line)
    return "\n".join(made + (["```"] if inside else []))


class RustDocstrings(griffe.Extension):
    """Fills in the docstrings that the stub does not have, and fences examples."""

    def __init__(self) -> None:
        self.documents = documents()

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        path = obj.path.split("._tilewright.")
        if obj.docstring is None and len(path) == 2 and self.documents.get(path[1]):
            obj.docstring = griffe.Docstring(self.documents[path[1]], parent=obj)
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
