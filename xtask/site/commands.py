"""A page for each command, from its help."""

import re
from pathlib import Path
from typing import Any

from program import Program, cell, code

FOLDER = "docs/reference/commands/"
LISTED = re.compile(r"^  (\w[\w-]*)  +(\S.*)$")
OPTION = re.compile(r"^ {2,6}((?:-|<|\[).*?)(?:  +(\S.*))?$")


def make(program: Program, root: Path) -> tuple[dict[str, str], dict[str, str], dict[str, list[Any]]]:
    pages, rows, nav = {}, [], []
    left = [[name] for name in listed(program.text("--help"))]
    while left:
        words = left.pop(0)
        text = program.text(*words, "--help")
        left = [[*words, inner] for inner in listed(text)] + left
        path = f"{FOLDER}{'-'.join(words)}.md"
        pages[path] = page(" ".join(words), text)
        nav.append({" ".join(words): path})
        rows.append(f"| [{' '.join(words)}](commands/{'-'.join(words)}.md) | {cell(text.splitlines()[0])} |")
    table = "\n".join(["| command | what it does |", "|---|---|", *rows])
    return pages, {"docs/reference/commands.md": table}, {FOLDER: nav}


def listed(text: str) -> list[str]:
    """The commands that a help lists."""
    section = text.partition("\nCommands:\n")[2].partition("\n\n")[0]
    found = [LISTED.match(line) for line in section.splitlines()]
    return [one[1] for one in found if one and one[1] != "help"]


def page(name: str, text: str) -> str:
    about, _, rest = text.partition("\n\nUsage:")
    usage, _, rest = rest.partition("\n\n")
    usage = "\n".join(line.strip() for line in usage.splitlines())
    lines = [f"# tilewright {name}", "", cell(" ".join(about.split())) + ".", "", "```text", usage.strip(), "```", ""]
    for block in rest.split("\n\n"):
        lines += section(block)
    return "\n".join(lines) + "\n"


def section(block: str) -> list[str]:
    """A block of a help: options as a table, examples as commands, all else as it is."""
    title, _, body = block.partition("\n")
    if title.startswith("Examples:"):
        return ["## Examples", "", "```sh", *(line.strip() for line in body.splitlines()), "```", ""]
    if title.endswith(":") and not title.startswith(" ") and (rows := options(body)):
        return [f"## {title[:-1]}", "", "| | |", "|---|---|", *rows, ""]
    return [cell(" ".join(line.strip() for line in block.splitlines())), ""]


def options(body: str) -> list[str]:
    """Rows of a table, from lines of options or commands with their continuation."""
    found: list[list[str]] = []
    for line in body.splitlines():
        start = OPTION.match(line) or LISTED.match(line)
        if start:
            found.append([start[1], start[2] or ""])
        elif found and line.startswith(" " * 8):
            found[-1][1] += " " + line.strip()
        else:
            return []
    return [f"| {code(name)} | {cell(text)} |" for name, text in found]
