"""The published checkpoint from what transformers saved: names, layout, element types, and what the class dropped.

The recipe comes from the published checkpoint, and its inverse is run on what was saved. If that has the names that transformers
writes instead of the model's, it is converted to the names of the model first. Tensors that no rule makes are copied from the
published checkpoint.

>>> restored(published_of(library(), "MiniMax-M2/", "MiniMax-M2/"), "tuned/", "again/")  # doctest: +SKIP
['carried model.mtp.fc.weight from MiniMax-M2']
"""

from __future__ import annotations

import pathlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright._errors import FileExistsError  # noqa: A004
from tilewright._recast import convert_recipe
from tilewright._transformers.copies import Place, carry, replace, same_when_rounded
from tilewright._transformers.generating import generated
from tilewright._transformers.heads import heads
from tilewright._transformers.published import Published, Solved

__all__ = ["Way", "restored"]


@dataclass(frozen=True)
class Way:
    """The folders of the way back."""

    #: The folder that ``save_pretrained`` wrote.
    saved: pathlib.Path
    #: The folder that is made.
    output: pathlib.Path
    #: The folder of the published checkpoint.
    published: pathlib.Path


def restored(published: Published, way: Way, *, rounds: bool = False) -> list[str]:
    """Makes the published checkpoint from what was saved. Gives sentences about tensors that come from the published one.

    :param rounds: rounds float32 to the published bfloat16 where a bit would be lost
    :raises FileExistsError: if the output exists
    """
    if way.output.exists():
        raise FileExistsError(f"{way.output} exists; remove it, or name another output")
    way.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=way.output.parent, prefix=".tilewright-") as work:
        folder = pathlib.Path(work)
        native = _native(published, way.saved, folder)
        lines = _restored(published, Way(native, folder / "out", way.published), rounds)
        (folder / "out").rename(way.output)
    return lines


def _native(published: Published, saved: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The saved tensors, in the names of the model."""
    tensors = heads(saved)
    model = published.model
    if set(tensors) <= set(model.state_dict()):
        return saved
    own = Published(published.lib, model, tensors, dict(model.config.to_dict()))
    return _converted(saved, folder / "native", generated(own, lambda _, before: before), ())


def _converted(source: pathlib.Path, out: pathlib.Path, text: str, allow: Sequence[str]) -> pathlib.Path:
    path = out.with_suffix(".toml")
    path.write_text(text, encoding="utf-8")
    convert_recipe(source, out, path, allow=allow)
    return out


def _restored(published: Published, way: Way, rounds: bool) -> list[str]:
    own = heads(way.saved)
    recipe = generated(published, lambda target, before: own[target].dtype if target in own else before, rounds=rounds)
    solved = published.solve(recipe)
    _, back = solved
    _converted(way.saved, way.output, back, ["round"] if rounds and "round = true" in back else [])
    rounded = _rounded(published, way, solved)
    for name in rounded:
        replace(way.published, way.output, name)
    shutil.copyfile(way.published / "config.json", way.output / "config.json")
    carried = sorted(set(published.heads) - set(heads(way.output)))
    if carried:
        carry(way.published, way.output, carried)
    return [
        *(f"carried {name} from {way.published}" for name in carried),
        *(f"carried {name} from {way.published}: transformers had rounded it" for name in rounded),
    ]


def _rounded(published: Published, way: Way, solved: Solved) -> list[str]:
    """Published names of float32 that were saved as the bfloat16 that they round to."""
    own, names = heads(way.saved), list(published.heads)
    found = []
    for (target, _, _), parts in solved[0]:
        sources = {names[number] for number, *_ in parts if number is not None}
        for name in sources if len(parts) == 1 else ():
            wide, narrow = published.heads[name], own.get(target)
            if narrow is None or (wide.dtype, narrow.dtype) != ("F32", "BF16"):
                continue
            if same_when_rounded(Place(way.published, name, wide), Place(way.saved, target, narrow)):
                found.append(name)
    return sorted(found)
