"""Examples in docstrings and documents run; stubs say what is there."""

import doctest
import importlib
import inspect
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import tilewright as tw
from tilewright import _tilewright

CRATE = Path(__file__).resolve().parents[1]
ROOT = CRATE.parents[1]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", ["tilewright", "tilewright.algebra", "tilewright._arrays", "tilewright._files"])
def test_docstrings_of_modules(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0 and tried > 0


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


def test_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    model = ROOT / "corpus" / "data" / "tiny_llm_mixed.safetensors"
    (tmp_path / "model.safetensors").write_bytes(model.read_bytes())
    examples = "\n".join(part.partition("```")[0] for part in text.split("```python\n")[1:])
    test = doctest.DocTestParser().get_doctest(examples, {}, "docs/python.md", None, None)
    ran = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
    assert ran.failed == 0 and ran.attempted > 10
    # Commands in the document are the program's.
    for part in text.split("```sh\n")[1:]:
        for line in part.partition("```")[0].splitlines():
            command = line.partition("#")[0].split()
            if command[:1] == ["python"]:
                subprocess.run([sys.executable, *command[1:]], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("path", ["README.md", "docs/recipes.md"])
def test_other_documents(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    examples = "\n".join(part.partition("```")[0] for part in text.split("```python\n")[1:])
    test = doctest.DocTestParser().get_doctest(examples, {}, path, None, None)
    ran = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
    assert ran.failed == 0 and ran.attempted > 3


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


def test_the_stubs_name_everything() -> None:
    stub = (CRATE / "python" / "tilewright" / "_tilewright.pyi").read_text(encoding="utf-8")
    for name, value in vars(_tilewright).items():
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        assert f"class {name}:" in stub or f"def {name}(" in stub, name
        if isinstance(value, type):
            body = stub.split(f"class {name}:")[1].split("\n@final")[0].split("\ndef ")[0]
            for member in vars(value):
                assert member.startswith("_") or f"def {member}(" in body, f"{name}.{member}"
