"""What XLA's parser of shapes and Triton's linear layouts answer, as docs/explanation/comparison.md states it.

    python tests/oracle/others.py

Every question runs in a process of its own, because some of them end the process. The exit code is 1 if an answer is
not the one that the page states.
"""

import subprocess
import sys
from importlib.metadata import version

XLA = "from jaxlib._hlo import Shape\nprint(Shape({!r}))"
TRITON = "from triton._C.libtriton.linear_layout import LinearLayout as L\nmap = {}\nprint(map.bases, dict(map.out_dims))"

ENDS = "the process ends"

# A text, and what XLA reads it as.
SHAPES = [
    ("f32[2,2]{1,0:T(9223372036854775808,2)}", "f32[2,2]{1,0:T(*,2)}"),
    ("f32[<=-9223372036854775808]", "f32[?]{0}"),
    ("f32[2,2]{0,0}", "f32[2,2]{0,0}"),
    ("f32[2,2]{0,2}", "f32[2,2]{0,2}"),
    ("f32[2]{0:T(0)}", "f32[2]{0:T(0)}"),
    ("f32[2,2]{1,0:T(2,*)}", "f32[2,2]{1,0:T(2,*)}"),
    ("f32[-1]", "INVALID_ARGUMENT"),
    ("f32[2]{0:T(-5)}", ENDS),
    ("f32[2]{0:L(0)}", ENDS),
    ("token[2]", ENDS),
]

PAIR = "L.from_bases([('a',[[1,0]]),('b',[[0,1]])],['x','y'])"

# A map of Triton's, and its bases with the sizes of its output dims.
MAPS = [
    ("L.from_bases([('i',[[1],[4]])],['o'])", ENDS),
    ("L.from_bases([('i',[[1],[4]])],['o'],[8],False)", "[('i', [[1], [4]])] {'o': 8}"),
    ("L.from_bases([('i',[[1],[2]])],['o'],[3],False)", ENDS),
    ("L.from_bases([('i',[[9]])],['o'],[8],False)", ENDS),
    (f"{PAIR} * L.from_bases([('b',[[0,1]]),('a',[[1,0]])],['x','y'])", "[('a', [[1, 0], [2, 0]]), ('b', [[0, 1], [0, 2]])] {'x': 4, 'y': 4}"),
    (
        "L.from_bases([('j',[[1],[2]])],['o']).invert_and_compose(L.from_bases([('i',[[1],[1],[2]])],['o']))",
        "[('j', [[1], [4]])] {'i': 8}",
    ),
    (
        "L.from_bases([('i',[[1],[2]]),('w',[[0]])],['o']).invert_and_compose(L.from_bases([('i',[[1],[2]]),('w',[[0]])],['o']))",
        "[('i', [[1, 0], [2, 0]]), ('w', [[0, 1]])] {'i': 4, 'w': 2}",
    ),
    (
        "L.from_bases([('j',[[1]])],['o'],[4],False).invert_and_compose(L.from_bases([('i',[[1]])],['o'],[4],False))",
        "[('j', [[1]])] {'i': 2}",
    ),
    ("L.from_bases([('j',[[1],[2]])],['o']).invert_and_compose(L.from_bases([('i',[[1]])],['o'],[4],False))", ENDS),
]


def answer(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode < 0:
        return ENDS
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def main() -> None:
    wrong = 0
    for package, code, questions in [("jaxlib", XLA, SHAPES), ("triton", TRITON, MAPS)]:
        print(f"{package} {version(package)}: {len(questions)} answers")
        for question, stated in questions:
            said = answer(code.format(question))
            if not said == stated and not (stated == "INVALID_ARGUMENT" and stated in said):
                wrong += 1
                print(f"{question}\n  the page states: {stated}\n  {package} answers: {said}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
