"""The built program, asked."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


class Program:
    def __init__(self, path: Path) -> None:
        self.path = path

    def text(self, *words: str) -> str:
        """What a command prints, or says of its failure."""
        ran = subprocess.run([self.path, *words], check=False, capture_output=True, text=True, encoding="utf-8")
        return ran.stdout or ran.stderr

    def json(self, *words: str) -> Any:
        return json.loads(self.text(*words, "--json"))

    def texts(self, commands: list[list[str]]) -> list[str]:
        """What several commands print, in order."""
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda words: self.text(*words), commands))

    def evaluate(self, lines: list[str]) -> list[str]:
        """The answers to expressions, one a line."""
        given = "\n".join(lines) + "\n"
        ran = subprocess.run([self.path, "eval", "-", "--json"], check=False, input=given, capture_output=True, text=True)
        return ran.stdout.splitlines()


def cell(text: str) -> str:
    """A text as a cell of a table; outside of code, signs of Markdown stand for themselves."""
    parts = text.replace("\n", " ").split("`")
    parts[::2] = [re.sub(r"([\[*|])", r"\\\1", part).replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def code(text: str) -> str:
    """A text as code in a cell of a table."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def slug(text: str) -> str:
    """The anchor of a heading."""
    kept = "".join(one for one in text.lower() if one.isalnum() or one in " -_")
    return kept.replace(" ", "-")
