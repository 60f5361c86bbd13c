"""Arrays on CUDA devices. There is none where this runs: the driver and the compiler are emulated on the host, in processes
of their own, with stand-ins for torch and cupy whose streams are known."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
EMULATED = TESTS.parent.parent / "tilewright-cuda" / "emulated"


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None or shutil.which("c++") is None or not sys.platform.startswith("linux"):
        pytest.skip("the emulated driver is built by cc, and its kernels by c++, on Linux")
    folder = tmp_path_factory.mktemp("cuda")
    subprocess.run(["sh", str(EMULATED / "build.sh"), str(folder)], check=True)
    return folder


def run(libraries: Path, *words: str, **settings: str) -> str:
    """What Python says of these words, with CUDA emulated unless the settings say otherwise."""
    emulated = {
        "TILEWRIGHT_LIBCUDA": str(libraries / "libcuda.so"),
        "TILEWRIGHT_LIBNVRTC": str(libraries / "libnvrtc.so"),
        "TILEWRIGHT_CUDA_CACHE": str(libraries / "cache"),
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **emulated, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_moves_on_an_emulated_device(libraries: Path) -> None:
    said = run(libraries, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS / "on_cuda.py"))
    assert " passed" in said and "skipped" not in said, said


REFUSED = """
import emulated_cuda as cuda, numpy as np, tilewright as tw
cuda.install_torch()
{before}
source = cuda.Tensor.of(np.arange(12, dtype=np.float32).reshape(3, 4))
out = cuda.Tensor(cuda.Memory(48), np.float32, (4, 3))
before = cuda.driver.get(out.memory.address, 48)
try:
    tw.relayout(source, to="col-major", out=out)
except tw.DeviceError as error:
    print(error.kind, error)
assert cuda.driver.get(out.memory.address, 48) == before
"""


@pytest.mark.parametrize(
    ("kind", "says", "setting", "before"),
    [
        ("no-driver", "TILEWRIGHT_LIBCUDA", {}, "import os; os.environ['TILEWRIGHT_LIBCUDA'] = 'no/such/libcuda.so'"),
        ("no-compiler", "pip install nvidia-cuda-nvrtc", {"TILEWRIGHT_LIBNVRTC": "no/such/libnvrtc.so"}, ""),
        ("architecture", "3.5", {}, "cuda.driver.library.emulated_capability(0, 3, 5)"),
        ("no-device", "no device", {}, "cuda.driver.library.emulated_setup(0, 12040)"),
        ("compile", "told to fail", {"TILEWRIGHT_CUDA_CACHE": "off"}, "import ctypes, os; ctypes.CDLL(os.environ['TILEWRIGHT_LIBNVRTC']).emulated_compiler_fails(6)"),
    ],
)
def test_what_is_missing_is_named(libraries: Path, kind: str, says: str, setting: dict[str, str], before: str) -> None:
    said = run(libraries, "-c", textwrap.dedent(REFUSED.format(before=before)), **setting)
    assert said.startswith(f"{kind} ") and says in said, said


FORKED = """
import os, emulated_cuda as cuda, numpy as np, tilewright as tw
cuda.install_torch()
source = cuda.Tensor.of(np.arange(12, dtype=np.float32).reshape(3, 4))
tw.relayout(source, to="col-major")
child = os.fork()
if child == 0:
    try:
        tw.relayout(source, to="col-major")
    except tw.DeviceError as error:
        os._exit(0 if "forked" in str(error) else 2)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_child_that_was_forked_is_told_so(libraries: Path) -> None:
    run(libraries, "-c", FORKED)


def test_arrays_of_the_cpu_need_no_driver(libraries: Path) -> None:
    code = "import numpy as np, tilewright as tw; print(tw.relayout(np.arange(6).reshape(2, 3), to='col-major').tolist())"
    said = run(libraries, "-c", code, TILEWRIGHT_LIBCUDA="no/such/libcuda.so")
    assert said.strip() == "[[0, 3], [1, 4], [2, 5]]"


WAITED_FOR = """
import ctypes, faulthandler, threading
import emulated_cuda as cuda, numpy as np, tilewright as tw
# Without the interpreter: where both threads wait, the process ends.
faulthandler.dump_traceback_later(120, exit=True)
libc = ctypes.CDLL(None)
gate = ctypes.create_string_buffer(64)
libc.sem_init(gate, 0, 0)
array, other = (tw.relayout(cuda.Array.of(np.arange(12, dtype=np.float32).reshape(3, 4)), to="row-major") for _ in "ab")
# Nothing of it is queued any more.
array.numpy(), tw.copy_(other, cuda.Array.of(np.zeros((3, 4), np.float32)))
launch = cuda.driver.library.cuLaunchHostFunc
launch.argtypes = [ctypes.c_void_p] * 3
with cuda.driver.within(0):
    cuda.driver.check(launch(cuda.driver.stream(0), ctypes.cast(libc.sem_wait, ctypes.c_void_p), ctypes.addressof(gate)))
started = threading.Event()
def post():
    started.wait()
    libc.sem_post(gate)
thread = threading.Thread(target=post)
thread.start()
started.set()
{ends}
thread.join()
print("ended")
"""


@pytest.mark.parametrize("ends", ["del array", "array.numpy()"])
def test_work_that_needs_the_interpreter_ends_before_memory_is_freed(libraries: Path, ends: str) -> None:
    # Threads change hands seldom: the one that frees is not interrupted.
    code = "import sys; sys.setswitchinterval(100)\n" + WAITED_FOR.format(ends=ends)
    assert run(libraries, "-c", code).strip() == "ended"


BEYOND = """
import ctypes
import emulated_cuda as cuda, numpy as np, tilewright as tw
array = tw.relayout(cuda.Array.of(np.arange(12, dtype=np.float32).reshape(3, 4)), to="row-major")
capsule = array.__dlpack__(stream=-1, max_version=(1, 0))
pythonapi = ctypes.pythonapi
pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
tensor = pythonapi.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
used = ctypes.create_string_buffer(b"used_dltensor_versioned")
pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
pythonapi.PyCapsule_SetName(capsule, ctypes.cast(used, ctypes.c_char_p))
deleter = cuda._Versioned.from_address(tensor).deleter
# A library gives it back when the process ends, and the interpreter is gone.
libc = ctypes.CDLL(None)
libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
assert libc.__cxa_atexit(deleter, tensor, None) == 0
del array, capsule
print("ended")
"""


def test_a_tensor_may_be_given_back_when_the_interpreter_is_gone(libraries: Path) -> None:
    assert run(libraries, "-c", BEYOND).strip() == "ended"
