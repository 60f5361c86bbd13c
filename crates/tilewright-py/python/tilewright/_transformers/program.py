"""``python -m tilewright recipe transformers`` and ``recipe audit``: the commands that need transformers, and thus Python."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import tempfile
from collections.abc import Callable, Sequence

from tilewright._errors import Error, FileError

__all__ = ["command"]

#: Options that a value follows.
VALUES = {
    *("--to", "--from", "--tensor", "--rule", "--fill", "--store", "--memory", "--threads", "--dims", "--dtype", "--recipe", "--size"),
    *("--allow", "--metadata", "--max-shard-size", "--formats", "--plan", "--retries", "--carry", "--class", "--squares", "--output", "-o"),
}

#: The name that stands for a generated recipe.
NAME = "transformers"


def command(arguments: Sequence[str], program: Callable[[list[str]], int]) -> int | None:
    """Runs a command that needs transformers and gives its exit code; None for all other commands.

    :param program: the program itself, which runs conversions
    """
    words = _words(arguments)
    try:
        if words[:2] == ["recipe", NAME]:
            return _recipe(_without(arguments, words[:2]))
        if words[:2] == ["recipe", "audit"]:
            return _audit(_without(arguments, words[:2]))
        if words[:1] == ["convert"] and _named(arguments):
            return _convert(_without(arguments, words[:1]), program)
    except ImportError as error:
        return _failed(str(error), 3)
    except (FileError, OSError) as error:
        return _failed(str(error), 3)
    except Error as error:
        return _failed(str(error), 2)
    return None


def _words(arguments: Sequence[str]) -> list[str]:
    """The words of a command line without options and their values."""
    found, value = [], False
    for word in arguments:
        if value:
            value = False
        elif word.startswith("-") and word != "-":
            value = word in VALUES
        else:
            found.append(word)
    return found


def _without(arguments: Sequence[str], words: Sequence[str]) -> list[str]:
    """A command line without the words of the command."""
    rest = list(arguments)
    for word in words:
        rest.remove(word)
    return rest


def _failed(says: str, code: int) -> int:
    print(f"error: {says}", file=sys.stderr)
    return code


def _named(arguments: Sequence[str]) -> bool:
    """True if ``--recipe transformers`` is requested."""
    pairs = zip(arguments, [*arguments[1:], ""])
    return f"--recipe={NAME}" in arguments or ("--recipe", NAME) in pairs


def _parser(name: str, says: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"tilewright recipe {name}", description=says)
    parser.add_argument("folder", help="a folder with config.json and safetensors files")
    parser.add_argument("--class", dest="cls", metavar="NAME", help="the class of transformers; default: config.json's")
    return parser


def _recipe(arguments: list[str]) -> int:
    from tilewright import transformers

    parser = _parser(NAME, "Write the recipe that makes transformers' tensors of a published checkpoint.")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the recipe to a file")
    parser.add_argument("--keep", action="store_true", help="pass tensors that the class ignores; default: drop them")
    parser.add_argument("--round", action="store_true", help="round where transformers rounds; default: keep float32")
    asked = parser.parse_args(arguments)
    text = transformers.recipe(asked.folder, asked.folder, cls=asked.cls, keep=asked.keep, round=asked.round)
    if asked.output:
        pathlib.Path(asked.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def _audit(arguments: list[str]) -> int:
    from tilewright import transformers

    parser = _parser("audit", "Find what transformers would lose of a checkpoint. Exit code 1 if something would be lost.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args(arguments)
    found = transformers.audit(asked.folder, cls=asked.cls)
    print(json.dumps(found.to_json(), indent=1) if asked.json else found)
    return 1 if found.loses else 0


def _convert(arguments: list[str], program: Callable[[list[str]], int]) -> int:
    """Generates the recipe of the input, or of ``--carry``, and converts by it. The program gets all other options."""
    from tilewright import transformers

    parser = argparse.ArgumentParser(prog="tilewright convert", add_help=False, allow_abbrev=False)
    parser.add_argument("--recipe")
    parser.add_argument("--carry", metavar="PUBLISHED")
    parser.add_argument("--class", dest="cls")
    parser.add_argument("--inverse", action="store_true")
    parser.add_argument("--round", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--squares", choices=("copied", "transposed"))
    asked, rest = parser.parse_known_args(arguments)
    paths = _words(rest)
    if asked.carry or asked.inverse:
        more = [word for word in rest if word.startswith("-")]
        if asked.keep or more:
            return _failed(f"{(more or ['--keep'])[0]}: the way back takes --carry, --class, --round and --squares only", 2)
        if not (asked.carry and asked.inverse and len(paths) == 2):
            message = "the way back is `convert SAVED/ OUT/ --recipe transformers --inverse --carry PUBLISHED/`"
            return _failed(f"{message}: the published checkpoint has the names, the layout and the dropped tensors", 2)
        for says in transformers.restore(paths[0], paths[1], asked.carry, cls=asked.cls, round=asked.round, squares=asked.squares):
            print(says)
        return 0
    if len(paths) != 2:
        return _failed("convert --recipe transformers needs an input and an output", 2)
    text = transformers.recipe(paths[0], paths[0], cls=asked.cls, keep=asked.keep, round=asked.round)
    allow = ["--allow", "round"] if asked.round and "round = true" in text else []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "transformers.toml"
        path.write_text(text, encoding="utf-8")
        return program(["convert", *rest, *allow, "--recipe", str(path)])
