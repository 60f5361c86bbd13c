"""``convert``, ``verify`` and ``info`` on files, and the program as ``python -m tilewright``."""

import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw

DATA = Path(__file__).resolve().parents[3] / "corpus" / "data"
MODEL = DATA / "tiny_llm_mixed.safetensors"


def test_a_checkpoint_there_and_back(tmp_path: Path) -> None:
    there, back = tmp_path / "there.safetensors", tmp_path / "back.safetensors"
    seen: list[tuple[int, int]] = []
    report = tw.convert(
        MODEL,
        there,
        rules={"*_proj.weight": "zN"},
        verify=True,
        progress=lambda done, total: seen.append((done, total)),
    )
    actions = {tensor.action for tensor in report.tensors}
    assert actions == {"convert", "copy"} and report.verified and report.bytes_written == there.stat().st_size
    assert seen and seen[-1][0] == seen[-1][1] > 0 and seen == sorted(seen)
    layouts = tw.info(there)
    assert "zN" in next(layout for name, layout in layouts.items() if "k_proj" in name).spec
    assert tw.verify(there, MODEL) is None
    assert tw.verify(there, MODEL, threads=2) is None
    tw.convert(there, back, to="row-major")
    assert back.read_bytes() == MODEL.read_bytes()
    spoilt = bytearray(there.read_bytes())
    spoilt[-1] ^= 1
    there.write_bytes(spoilt)
    assert "expected 0x" in (tw.verify(there, MODEL) or "")


def test_what_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out.safetensors"
    with pytest.raises(tw.Error, match="rank 1"):
        tw.convert(MODEL, out, to="zN")
    assert {tensor.action for tensor in tw.convert(MODEL, out, to="zN", skip_unfit=True).tensors} >= {"skip"}
    with pytest.raises(tw.FileExistsError, match="force=True"):
        tw.convert(MODEL, out, to="zN", skip_unfit=True)
    tw.convert(MODEL, out, to="zN", skip_unfit=True, force=True)
    with pytest.raises(tw.FileError) as missing:
        tw.convert(tmp_path / "none.safetensors", tmp_path / "b.safetensors", to="zN")
    assert isinstance(missing.value, FileNotFoundError) and isinstance(missing.value, tw.FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        tw.parse("(2,2):(1,2)").draw().save(tmp_path / "none" / "a.svg")
    # What is advised is said in Python's words.
    for advised, asked in [("tensors=, .* rules=, .* skip_unfit=True", {}), ("; memory= takes 4096 at least", {"memory": 1})]:
        with pytest.raises(tw.ArgumentError, match=advised) as raised:
            tw.convert(MODEL, tmp_path / "b.safetensors", to="zN", **asked)
        assert "--" not in str(raised.value)
    with pytest.raises(tw.ParseError):
        tw.convert(MODEL, tmp_path / "b.safetensors", to="zM")
    with pytest.raises(TypeError, match="mapping"):
        tw.convert(MODEL, tmp_path / "b.safetensors", rules=["*=zN"])  # type: ignore[arg-type]
    with pytest.raises(tw.Error):
        tw.convert(MODEL, MODEL, to="zN", skip_unfit=True, force=True)
    with pytest.raises(Stop):
        tw.convert(MODEL, tmp_path / "b.safetensors", to="zN", skip_unfit=True, dry_run=Neither())  # type: ignore[arg-type]
    dry = tw.convert(MODEL, tmp_path / "b.safetensors", to="zN", skip_unfit=True, dry_run=True)
    assert dry.dry_run and dry.bytes_written is None and not (tmp_path / "b.safetensors").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.safetensors"]


def test_paths_may_be_bytes(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    there = os.fsencode(tmp_path / "b.npy")
    tw.convert(os.fsencode(tmp_path / "a.npy"), there, to="col-major", verify=True)
    assert tw.info(there)["array"].dims == (2, 3) and tw.verify(there, os.fsencode(tmp_path / "a.npy")) is None


def test_raw_bytes_and_npy(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    np.save(tmp_path / "a.npy", array)
    tw.convert(tmp_path / "a.npy", f"raw:{tmp_path / 'a.bin'}", to="{1,0:T(2,4)}", fill="one")
    stored = np.frombuffer((tmp_path / "a.bin").read_bytes(), np.float32)
    assert (stored == tw.relayout(array, to="{1,0:T(2,4)}", fill="one").reshape(-1)).all()
    tw.convert(f"raw:{tmp_path / 'a.bin'}", tmp_path / "b.npy", from_="f32[4,6]{1,0:T(2,4)}", to="row-major")
    assert (np.load(tmp_path / "b.npy") == array).all()


def test_warnings(tmp_path: Path) -> None:
    """What the program prints as a note is a warning at the caller's line, and in what comes back."""
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tw.info(tmp_path / "a.npy").warnings == ()
        assert tw.convert(tmp_path / "a.npy", tmp_path / "b.npy", to="zN").warnings == ()
        # The note beside the result is of other bytes now.
        np.save(tmp_path / "b.npy", np.zeros((4, 5), np.float32))
    with (tmp_path / "a.npy").open("ab") as file:
        file.write(b"1234567")
    behind = "7 bytes after the array are not part of it and skipped"
    with pytest.warns(UserWarning, match=f"a.npy: {behind}") as issued:
        found = tw.info(tmp_path / "a.npy")
    assert found.warnings == (behind,) and set(found) == {"array"} and issued[0].filename == __file__
    for dry_run in (True, False):
        with pytest.warns(UserWarning, match=f"a.npy: {behind}") as issued:
            report = tw.convert(tmp_path / "a.npy", tmp_path / "c.npy", to="col-major", dry_run=dry_run)
        assert report.warnings == (behind,) and issued[0].filename == __file__
    with pytest.warns(UserWarning, match="b.npy: .*note") as issued:
        assert len(tw.info(tmp_path / "b.npy").warnings) == len(issued) == 1
    # Where warnings are errors, nothing is written.
    with warnings.catch_warnings(), pytest.raises(UserWarning):
        warnings.simplefilter("error")
        tw.convert(tmp_path / "a.npy", tmp_path / "d.npy", to="col-major")
    assert not (tmp_path / "d.npy").exists()


class Stop(Exception):
    """What a callback raises."""


class Neither:
    """Neither true nor false."""

    def __bool__(self) -> bool:
        raise Stop


def test_a_callback_ends_the_run(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise Stop(done)

    with pytest.raises(Stop):
        tw.convert(MODEL, tmp_path / "out.safetensors", rules={"*_proj.weight": "zN"}, progress=stop)
    assert not list(tmp_path.iterdir())


def interruptible() -> None:
    """In a child: the interrupt key is heard, also where whoever runs the tests, in the background, ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_the_interrupt_key_leaves_nothing(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.zeros((1024, 2048), np.float32))
    code = """
import signal, sys, tilewright
def interrupt(done, total):
    if done > 0: signal.raise_signal(signal.SIGINT)
try:
    tilewright.convert(sys.argv[1], sys.argv[2], to="col-major", memory=1 << 22, progress=interrupt)
except KeyboardInterrupt:
    sys.exit(42)
"""
    command = [sys.executable, "-c", code, tmp_path / "in.npy", tmp_path / "out.npy"]
    ran = subprocess.run(command, check=False, preexec_fn=interruptible)
    assert ran.returncode == 42
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npy"]


def program(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tilewright", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_the_program() -> None:
    ran = program("show", "(2,3):(3,1)", "--memory", "--numbers")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0 1 2 3 4 5\n", "")
    assert program("same", "(2,3):(3,1)", "(2,3):(1,2)").returncode == 1
    ran = program("explain", "zM", "--json")
    assert ran.returncode == 2 and json.loads(ran.stderr)["error"]["kind"] == "parse"
    assert program("info", "no-such-file.npy").returncode == 3
    ran = program("--help")
    assert ran.returncode == 0 and "Usage: tilewright" in ran.stdout
    assert program("--version").stdout == f"tilewright {tw.__version__}\n"
    assert program().returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_the_program_is_interrupted_as_ever(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tilewright", "eval", "-"]
    running = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=interruptible
    )
    assert running.stdin is not None and running.stdout is not None
    running.stdin.write("1\n")
    running.stdin.flush()
    assert running.stdout.readline() == "1\n"
    # It waits for more, which never comes: only the signal ends it.
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) == -signal.SIGINT
    running.stdin.close()
    running.stdout.close()


@pytest.mark.skipif(not Path("/proc/self/task").exists() or (os.cpu_count() or 1) < 2, reason="no list of threads")
def test_all_cores_work_unless_threads_are_given(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024))

    def tasks() -> int:
        return len(os.listdir("/proc/self/task"))

    begin = tasks()

    def running(**asked: int) -> int:
        # Threads of the run before end a moment after it.
        while tasks() > begin:
            os.sched_yield()
        most = 0

        def look(_done: int, _total: int) -> None:
            nonlocal most
            most = max(most, tasks())

        tw.convert(tmp_path / "a.npy", tmp_path / "b.npy", to="col-major", force=True, progress=look, **asked)
        return most

    assert running() > running(threads=1)


def test_a_fill_that_a_type_lacks_matters_in_padding_only(tmp_path: Path) -> None:
    given, out = tmp_path / "a.npy", tmp_path / "b.npy"
    np.save(given, np.arange(6, dtype=np.complex64).reshape(2, 3))
    tw.convert(given, out, to="col-major", fill="highest", verify=True)
    assert tw.verify(out, against=given, fill="highest") is None


def test_a_folder_goes_with_its_small_files(tmp_path: Path) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    (model / "onnx").mkdir(parents=True)
    w = np.arange(24 * 20, dtype=np.float16).reshape(24, 20)
    tw.save({"w": w}, model / "model.safetensors", metadata={"format": "pt"})
    (model / "config.json").write_text("{}")
    with pytest.warns(UserWarning, match=r"not taken along: onnx \(a folder\)"):
        report = tw.convert(model, out, to="zN", verify=True)
    assert report.files == ("config.json",) and report.tensors[0].action == "convert"
    assert sorted(path.name for path in out.iterdir()) == ["config.json", "model.safetensors"]
    with tw.open(out) as m:
        assert (m["w"] == w).all() and m.layout("w").spec == "f16[24,20] zN" and m.path == out / "model.safetensors"
    assert tw.verify(out, model) is None and set(tw.info(out)) == {"w"}
    with pytest.raises(tw.FileExistsError, match="the folder is not empty"):
        tw.convert(model, out, to="zN", force=True)
    with pytest.raises(tw.FileError, match="holds no checkpoint"):
        tw.convert(model / "onnx", tmp_path / "b", to="zN")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out"]
