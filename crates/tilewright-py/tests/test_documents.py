"""Examples in docstrings and documents run; stubs say what is there."""

import ast
import doctest
import importlib
import inspect
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from tilewright import _tilewright

CRATE = Path(__file__).resolve().parents[1]
ROOT = CRATE.parents[1]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", ["tilewright", "tilewright.algebra", "tilewright._arrays", "tilewright._files", "tilewright._learn", "tilewright._open", "tilewright._sharded", "tilewright._reshard"])
def test_docstrings_of_modules(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0 and tried > 0


def test_what_an_example_raises_is_compared() -> None:
    """Messages as well as types, but where an example is marked."""
    raised = ">>> import tilewright\n>>> tilewright.parse('row-mayor'){}\nTraceback (most recent call last):\ntilewright.ParseError: {}\n"
    right = "no notation reads this as a layout; did you mean `row-major`?\n  row-mayor\n  ^^^^^^^^^"
    marked = "  # doctest: +IGNORE_EXCEPTION_DETAIL"
    for mark, says, failed in [("", right, 0), ("", "another", 1), (marked, "another", 0)]:
        test = doctest.DocTestParser().get_doctest(raised.format(mark, says), {}, "an example", None, None)
        assert doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=lambda _: None).failed == failed


def native() -> list[tuple[str, str]]:
    """The docstrings of the native functions, classes and their members."""
    found = []
    for name, value in vars(_tilewright).items():
        if callable(value):
            found.append((name, value.__doc__ or ""))
        if isinstance(value, type):
            found.extend((f"{name}.{member}", getattr(value, member).__doc__ or "") for member in vars(value))
    return [(name, text) for name, text in found if ">>>" in text]


@pytest.mark.parametrize(("name", "text"), native(), ids=lambda value: value if len(value) < 40 else "")
def test_native_docstrings(name: str, text: str) -> None:
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {}, name, None, None)
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0


def with_examples() -> list[str]:
    """README.md and the documents that have examples in Python, by their paths from the root."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path.relative_to(ROOT).as_posix() for path in every if "\n>>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", with_examples())
def test_examples_of_documents(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in a folder with the samples of the corpus, and `model.safetensors`, which is one of them."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / path).read_text(encoding="utf-8")
    shutil.copytree(ROOT / "corpus" / "data", tmp_path / "corpus" / "data")
    shutil.copy(ROOT / "corpus" / "data" / "tiny_llm_mixed.safetensors", tmp_path / "model.safetensors")
    examples = "\n".join(part.partition("```")[0] for part in text.split("```python\n")[1:] if part.startswith(">>> "))
    test = doctest.DocTestParser().get_doctest(examples, {}, path, None, None)
    ran = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
    assert ran.failed == 0 and ran.attempted > 0
    # Commands in the document are the program's.
    for part in text.split("```sh\n")[1:]:
        for line in part.partition("```")[0].splitlines():
            command = line.partition("#")[0].split()
            if command[:3] == ["python", "-m", "tilewright"]:
                subprocess.run([sys.executable, *command[1:]], check=True, stdout=subprocess.DEVNULL)


def test_documents_have_examples() -> None:
    assert {"README.md", "docs/tutorials/python.md", "docs/how-to/marlin.md"} <= set(with_examples())


def test_everything_public_is_documented() -> None:
    for name in tw.__all__:
        value = getattr(tw, name)
        assert name == "__version__" or inspect.getdoc(value), name
    for name, value in vars(_tilewright).items():
        if isinstance(value, type):
            members = [member for member in vars(value) if not member.startswith("_")]
            assert all(getattr(value, member).__doc__ for member in members), name


def test_types() -> None:
    """The package is typed, strictly, and the stubs say what the native module has."""
    environment = {**os.environ, "MYPY_CACHE_DIR": os.devnull}
    for command in [
        ["mypy", "--strict", "tilewright"],
        ["mypy.stubtest", "tilewright._tilewright", "--ignore-missing-stub"],
    ]:
        ran = subprocess.run(
            [sys.executable, "-m", *command],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            cwd=CRATE / "python" if command[0] == "mypy" else CRATE,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def declared(function: ast.FunctionDef) -> list[tuple[str, str, bool]]:
    """Names and kinds of a stub's parameters, and whether each has a default."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    kinds = ["positional-only"] * len(given.posonlyargs) + ["positional or keyword"] * len(given.args)
    defaults = [False] * (len(positional) - len(given.defaults)) + [True] * len(given.defaults)
    found = [(one.arg, kind, has) for one, kind, has in zip(positional, kinds, defaults, strict=True)]
    if given.vararg:
        found.append((given.vararg.arg, "variadic positional", False))
    found += [(one.arg, "keyword-only", has is not None) for one, has in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [one for one in found if one[0] not in ("self", "cls")]


def actual(value: Any) -> list[tuple[str, str, bool]]:
    """The same of what the native module has."""
    parameters = inspect.signature(value).parameters.values()
    return [
        (one.name, one.kind.description, one.default is not one.empty) for one in parameters if one.name not in ("self", "cls")
    ]


def test_the_stubs_say_what_is_there() -> None:
    """Every name of the module is in the stub and the other way round, with the same parameters."""
    stub = ast.parse((CRATE / "python" / "tilewright" / "_tilewright.pyi").read_text(encoding="utf-8"))
    public = lambda names: {name for name in names if not name.startswith("_")}  # noqa: E731
    said = {part.name: part for part in stub.body if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
    there = {name: value for name, value in vars(_tilewright).items() if not isinstance(value, types.ModuleType)}
    assert public(said) == public(there)
    for name, part in said.items():
        if isinstance(part, ast.FunctionDef):
            assert declared(part) == actual(there[name]), name
            continue
        members = {member.name: member for member in part.body if isinstance(member, ast.FunctionDef)}
        assert public(members) == public(vars(there[name])), name
        assert {one for one in members if one.startswith("_repr_")} == {one for one in vars(there[name]) if one.startswith("_repr_")}
        for of, member in members.items():
            if of == "__new__":
                assert declared(member) == actual(there[name]), name
            elif not of.startswith("__") and not member.decorator_list:
                assert declared(member) == actual(getattr(there[name], of)), f"{name}.{of}"
            elif member.decorator_list and isinstance(decorator := member.decorator_list[0], ast.Name) and decorator.id == "property":
                assert inspect.isgetsetdescriptor(vars(there[name])[of]), f"{name}.{of}"
