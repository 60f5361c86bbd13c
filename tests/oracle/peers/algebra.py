"""Questions of the layout algebra, which adapters of `conformance/` ask of a library; the laws are those of its runner."""

import math
import pathlib
import random
import sys
from collections.abc import Iterator

sys.path[:0] = [str(pathlib.Path(__file__).parents[3] / "conformance")]

import run  # noqa: E402
from ask import Case  # noqa: E402

# The most coordinates of all layouts of a question, one times the other: the laws go through those of an answer.
MOST = 1 << 14

# What each operation is asked with, and its law where another name has it.
OPERATIONS = {
    "size": ("L", "value"),
    "cosize": ("P", "value"),
    "offsets": ("L", "value"),
    "coalesce": ("L", "coalesce"),
    "filter": ("L", "filter"),
    "right_inverse": ("L", "right_inverse"),
    "left_inverse": ("L", "left_inverse"),
    "nullspace": ("L", "nullspace"),
    "complement": ("Ln", "complement"),
    "composition": ("LL", "composition"),
    "composition by axis": ("LT", "composition_by_axis"),
    "logical_divide": ("LC", "divide"),
    "logical_divide by axis": ("LT", "logical_divide_by_axis"),
    "zipped_divide": ("LT", "zipped_divide"),
    "tiled_divide": ("LT", "zipped_divide"),
    "logical_product": ("CL", "product"),
    "zipped_product": ("CL", "product"),
    "tiled_product": ("CL", "product"),
    "blocked_product": ("22", "blocked_product"),
    "raked_product": ("22", "raked_product"),
    "upcast": ("Ck", "upcast"),
    "downcast": ("Ck", "downcast"),
    "crd2idx": ("cL", "value"),
    "idx2crd": ("iS", "value"),
}


def shape(source: random.Random, depth: int = 0):
    """Nested extents."""
    if depth == 2 or source.random() < 0.55:
        return source.randint(1, 6)
    return tuple(shape(source, depth + 1) for _ in range(source.randint(1, 3)))


def strides(source: random.Random, extents, compact: bool, step: list[int]):
    """Strides for extents: those of a compact layout, or any."""
    if isinstance(extents, tuple):
        return tuple(strides(source, extent, compact, step) for extent in extents)
    if not compact:
        return source.choice([0, 1, 1, 2, 3, 4, 6, 8, 12])
    stride, step[0] = step[0], step[0] * extents * source.choice([1, 1, 1, 2])
    return stride


def text(value) -> str:
    return str(value).replace(" ", "")


def layout(source: random.Random, kind: str) -> str:
    extents = tuple(source.randint(1, 4) for _ in range(2)) if kind == "2" else shape(source)
    compact = kind in "C2" or source.random() < 0.6
    steps = strides(source, extents, compact, [1])
    if kind == "P" and not compact:
        steps = strides(source, extents, True, [1])
    return f"{text(extents)}:{text(steps)}"


def arguments(source: random.Random, kinds: str) -> list[str]:
    found = []
    for kind in kinds:
        if kind in "LPC2":
            found.append(layout(source, kind))
        elif kind == "n":
            found.append(str(run.layout(found[0]).size * source.choice([1, 2, 3, 4, 6])))
        elif kind == "k":
            found.append(str(source.choice([1, 2, 4])))
        elif kind == "T":
            axes = len(run.layout(found[0]).axes())
            tiles = [source.choice([f"{e}:1", f"{e}:{source.choice([1, 2, 3])}"]) for e in
                     (source.choice([1, 2, 3, 4]) for _ in range(axes))]
            found.append(f"<{','.join(tiles)}>")
        elif kind == "S":
            found.append(text(shape(source)))
        elif kind in "ci":
            found.append(kind)
    for at, kind in enumerate(kinds):
        if kind == "i":
            found[at] = str(source.randrange(run.size(run.read(found[1]))))
        elif kind == "c":
            extents = run.layout(found[1]).shape
            found[at] = text(run.unpack(source.randrange(run.size(extents)), extents))
    return found


def reaches_beyond(source: str, by: str) -> bool:
    """Whether a tile has coordinates behind the end of its axis, of which no library says what they are."""
    axes = run.layout(source).axes() if by.startswith("<") else [run.layout(source)]
    tiles = run.tiler(by) if by.startswith("<") else [run.layout(by)]
    return any(max(tile.table()) >= axis.size for axis, tile in zip(axes, tiles))


def case(asked: run.Asked, name: str, args: list[str], law: str) -> Case | None:
    """The question, or None where the library does not offer it."""
    op = name.removesuffix(" by axis")
    question = {"op": op, "args": args, "law": law}
    reply = asked.say(question)
    if "not offered" in reply:
        return None
    if law == "right_inverse":
        question["longest"] = 1

    def holds(answer: str) -> bool | None:
        try:
            run.LAWS[law][1](answer, question)
            return True
        except run.Broken:
            return False
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError):
            return None

    return Case(name, f"{op}({', '.join(args)})", reply.get("answer"), holds, same_map)


def same_map(one: str, other: str) -> bool:
    """Whether two layouts have the same offsets and shape."""
    try:
        one, other = run.as_layout(one), run.as_layout(other)
        return run.flat(one.shape) == run.flat(other.shape) and one.table() == other.table()
    except (run.Broken, ValueError, TypeError):
        return False


def cases(adapter: str, source: random.Random, count: int) -> Iterator[Case]:
    asked = run.Asked(adapter)
    if "name" not in asked.hello:
        sys.exit(f"{adapter}: not here: {asked.hello}")
    for name, (kinds, law) in OPERATIONS.items():
        made = 0
        for _ in range(count * 20):
            args = arguments(source, kinds)
            sizes = [run.layout(arg).size for arg, kind in zip(args, kinds) if kind in "LPC2"]
            if math.prod(sizes) > MOST or "divide" in name and reaches_beyond(*args):
                continue
            found = case(asked, name, args, law)
            if found is None:
                break
            made += 1
            yield found
            if made == count:
                break
    asked.end()
