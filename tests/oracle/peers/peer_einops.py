"""einops: where `rearrange` puts each element of an array."""

import random
import warnings
from collections.abc import Iterator
from importlib import metadata

import einops
import numpy as np
from ask import Case

NAME = "einops"
NAMES = ["a", "b", "c", "h1", "h_2", "batch", "größe", "高さ", "αβ", "é", "_a", "a_", "a²", "१a", "if", "x́y", "٣", "10"]


def version() -> str:
    return metadata.version("einops")


def grouped(source: random.Random, words: list[str], share: float) -> str:
    """The words in their order, some of them in brackets together."""
    sides, at = [], 0
    while at < len(words):
        many = source.randint(1, 3) if source.random() < share else 1
        taken, at = words[at : at + many], at + many
        sides.append("(" + source.choice(["", " "]) + " ".join(taken) + ")" if many > 1 or source.random() < 0.1 else taken[0])
    return " ".join(sides)


def draw(source: random.Random) -> tuple[str, list[int], dict[str, int]]:
    """A pattern, mostly a right one, the dims of an array, and sizes."""
    plain = source.random() < 0.8
    names = source.sample(NAMES[:10] if plain else NAMES, source.randint(1, 4))
    sizes = {name: source.choice([1, 2, 2, 3]) for name in names}
    words = list(names) + ["1"] * source.choice([0, 0, 0, 1])
    source.shuffle(words)
    axes, dims, given, at = [], [], {}, 0
    while at < len(words):
        many = source.choice([1, 1, 1, 2, 2, 3])
        taken, at = words[at : at + many], at + many
        known = [name for name in taken if name != "1"]
        free = source.choice(known) if known and source.random() < 0.8 else None
        given.update({name: sizes[name] for name in known if name != free and (len(taken) > 1 or source.random() < 0.2)})
        extent = 1
        for name in taken:
            extent *= sizes.get(name, 1)
        dims.append(extent if source.random() < 0.97 else extent + source.randint(0, 2))
        axes.append(f"({' '.join(taken)})" if len(taken) > 1 else taken[0])
    right = [name for name in words if name != "1"] + ["1"] * source.choice([0, 0, 1])
    source.shuffle(right)
    if source.random() < 0.35:
        rest = [source.choice([1, 2, 3]) for _ in range(source.choice([0, 1, 2]))]
        place = source.randint(0, len(axes))
        dims[place:place] = rest
        axes.insert(place, "...")
        right.insert(source.randint(0, len(right)), "...")
    if not plain and source.random() < 0.3:
        source.choice([axes, right]).append(source.choice(["...", "b", "(", ")", "2", "1"]))
    return f"{' '.join(axes)} -> {grouped(source, right, 0.3)}", dims, given


def case(pattern: str, dims: list[int], given: dict[str, int]) -> Case:
    size = int(np.prod(dims, dtype=int))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stored = einops.rearrange(np.arange(size).reshape(dims), pattern, **given).ravel()
        offsets = np.empty(size, dtype=int)
        offsets[stored] = np.arange(size)
        theirs = str(offsets.reshape(dims).ravel(order="F").tolist())
    except einops.EinopsError:
        theirs = None
    sizes = "".join(f", {name}={extent}" for name, extent in given.items())
    extents = ",".join(map(str, dims))
    kind = "rest" if "..." in pattern else "names" if not pattern.isascii() else "plain"
    return Case(kind, f"offsets(\"[{extents}] rearrange('{pattern}'{sizes})\")", theirs)


def cases(source: random.Random, count: int) -> Iterator[Case]:
    for _ in range(6 * count):
        yield case(*draw(source))
