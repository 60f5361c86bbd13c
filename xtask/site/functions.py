"""The functions of `eval`, from `tilewright eval --functions --json`."""

from pathlib import Path
from typing import Any

from program import Program, slug


def make(program: Program, root: Path) -> tuple[dict[str, str], dict[str, str], dict[str, list[Any]]]:
    all_ = program.json("eval", "--functions")["functions"]
    lines = [" · ".join(f"[{one['name']}](#{slug(one['name'])})" for one in all_), ""]
    for one in all_:
        lines += [f"## {one['name']}", "", f"`{one['name']}({one['arguments']})`", "", one["doc"], ""]
        lines += ["```console", f"$ tilewright eval '{one['example']}'", one["answer"]["text"], "```", ""]
        if one["python"]:
            lines += ["```python", f"tilewright.algebra.{python_name(one['name'])}{one['python']}", "```", ""]
    return {}, {"docs/reference/functions.md": "\n".join(lines)}, {}


def python_name(name: str) -> str:
    return name
