"""Functions for CUDA, compiled by NVRTC: the offset function and the inverse of every named format, at numbers and at names.

    nvrtc.py PROGRAM        PROGRAM is `tilewright`; the interpreter has the package nvidia-cuda-nvrtc

No GPU is needed: NVRTC compiles to PTX. What the functions say is tested by a compiler of C, which takes the same text.
"""
import ctypes
import json
import pathlib
import subprocess
import sys


def library():
    import nvidia

    for folder in nvidia.__path__:
        for path in sorted(pathlib.Path(folder).rglob("libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    sys.exit("no libnvrtc beside the package nvidia")


def compiled(nvrtc, text):
    """The length of the PTX of a text; ends with the log of the compiler where it refuses."""
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"functions.cu", 0, None, None):
        sys.exit("no program of NVRTC")
    flags = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_90", b"--std=c++17")
    failed = nvrtc.nvrtcCompileProgram(program, 2, flags)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if failed or b"error" in log.value:
        sys.exit(log.value.decode())
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    return size.value


def main(program):
    nvrtc = library()

    def said(*words):
        run = subprocess.run([program, *words], capture_output=True, text=True)
        return json.loads(run.stdout) if run.returncode == 0 else None

    formats = [row for group in said("formats", "--json")["formats"] for row in group.get("formats", [group])]
    text, calls, counts = [], [], {"numbers": 0, "names": 0, "without": 0}
    for number, row in enumerate(formats):
        names = ["--dims", ",".join(f"N{dim}" for dim in range(len(row.get("dims") or "ab")))]
        asked = [("numbers", [row["example"]]), ("names", [row["name"], *names, "--dtype", "bf16"])]
        for kind, words in asked:
            found = False
            for inverse in ([], ["--inverse"]):
                name = f"{kind}_{number}" + ("_inverse" if inverse else "")
                answer = said("emit", *words, "--to", "cuda", "--name", name, "--json", *inverse)
                if not answer:
                    continue
                found = True
                text.append(answer["code"])
                arguments = [f"x[{at}]" for at in range(len(answer["arguments"]))] + (["y"] if inverse else [])
                type_ = "unsigned long long" if "unsigned long long" in answer["code"] else "long long"
                # A kernel of its own, so that nothing of it is left out.
                call = f"{name}({', '.join(arguments)})"
                result = "y[63] = " + call
                calls.append(f'extern "C" __global__ void k_{name}({type_} *x, {type_} *y) {{ {result}; }}')
            counts[kind if found else "without"] += 1
    size = compiled(nvrtc, "\n".join(text + calls))
    print(f"    {len(text)} functions, {size} bytes of PTX: {counts}")
    if counts["numbers"] < 150 or counts["names"] < 50:
        sys.exit("fewer formats than are named have functions")


main(sys.argv[1])
