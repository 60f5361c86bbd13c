"""The published checkpoint from what transformers saved: names, layout, element types, and what the class dropped.

The recipe comes from the published checkpoint, and its inverse is run on what was saved. If that has the names that transformers
writes instead of the model's, it is converted to the names of the model first. Tensors that the class ignores are copied from the
published checkpoint. The result has the names, dims and element types of the published checkpoint, or there is none.

>>> restored(published_of(library(), "MiniMax-M2/", "MiniMax-M2/"), Way("tuned/", "again/", "MiniMax-M2/"))  # doctest: +SKIP
['carried model.mtp.fc.weight from MiniMax-M2']
"""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import tempfile
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright import _tilewright
from tilewright._errors import ArgumentError, FileExistsError, UnsupportedError  # noqa: A004
from tilewright._recast import convert_recipe
from tilewright._transformers.files import Head, Place, carry, heads, listed, replace, same_values
from tilewright._transformers.generating import generated
from tilewright._transformers.loader import Group, Loaded, targets
from tilewright._transformers.published import Published, Solved
from tilewright._transformers.streaming import safetensors_type

__all__ = ["SQUARES", "Way", "restored"]

#: What a caller may say about experts of which two dims are equal.
SQUARES = ("copied", "transposed")


@dataclass(frozen=True)
class Way:
    """The folders of the way back."""

    #: The folder that ``save_pretrained`` wrote.
    saved: pathlib.Path
    #: The folder that is made.
    output: pathlib.Path
    #: The folder of the published checkpoint.
    published: pathlib.Path


def restored(published: Published, way: Way, *, rounds: bool = False, squares: str | None = None) -> list[str]:
    """Makes the published checkpoint from what was saved. Gives sentences about tensors that come from the published one.

    :param rounds: rounds float32 to the published bfloat16 where a bit would be lost
    :param squares: ``copied`` or ``transposed``: how trained experts of which two dims are equal were loaded
    :raises FileExistsError: if the output exists
    :raises Error: if what was saved lacks tensors or has others, dims or element types differ, or a bit would be lost
    """
    if squares is not None and squares not in SQUARES:
        raise ArgumentError(f"squares={squares!r}: it is 'copied' or 'transposed'")
    if way.output.exists():
        raise FileExistsError(f"{way.output} exists; remove it, or name another output")
    way.output.parent.mkdir(parents=True, exist_ok=True)
    published = _apart(published, way.published)
    with tempfile.TemporaryDirectory(dir=way.output.parent, prefix=".tilewright-") as work:
        folder = pathlib.Path(work)
        native, own = _second_names(published, _native(published, way, folder), folder)
        run = _Run(published, Way(native, folder / "out", way.published), own, rounds=rounds, squares=squares)
        lines = run.lines()
        (folder / "out").rename(way.output)
    return lines


def _apart(published: Published, folder: pathlib.Path) -> Published:
    """The checkpoint, with tied tensors apart if their values differ, as transformers loads them."""
    places = {name: Place(folder, name, head) for name, head in published.heads.items()}
    pairs = published.loaded().tied
    return published.with_apart(second for first, second in pairs if not _same(places[first], places[second]))


def _same(one: Place, other: Place) -> bool:
    return one.head.dtype == other.head.dtype and same_values(one, other, one.head.dtype)


#: A folder and its tensors: headers are read once.
_Read = tuple[pathlib.Path, dict[str, Head]]


def _native(published: Published, way: Way, folder: pathlib.Path) -> _Read:
    """The saved tensors, in the names of the model."""
    tensors = heads(way.saved)
    model = published.model
    state = published.meta
    if set(tensors) <= set(state):
        return way.saved, tensors
    own = _apart(Published(published.lib, model, tensors, dict(model.config.to_dict())), way.saved)
    _refuse_more(published, way, [name for name in own.loaded().ignored if not _is_published(published, way, name, tensors)])
    # transformers does not transpose a tensor of which two dims are equal, neither when it loads nor when it saves.
    return _converted(way.saved, folder / "native", generated(own, lambda _, before: before, kept=state), ())


def _second_names(published: Published, native: _Read, folder: pathlib.Path) -> _Read:
    """What was saved, with second names of tied tensors where the published checkpoint has no first ones."""
    own = set(native[1])
    known = {name for group in published.loaded().groups for name in targets(group)}
    second = dict(getattr(published.model, "all_tied_weights_keys", None) or {})
    names = {first: name for name, first in second.items() if name in known - own and first in own - known}
    if not names:
        return native
    maps = [f"[[map]]\nfrom = {json.dumps(first)}\nto = {json.dumps(name)}" for first, name in names.items()]
    text = "\n".join([f"pass = {json.dumps(sorted(own - set(names)))}", *maps])
    return _converted(native[0], folder / "second", text, ())


def _is_published(published: Published, way: Way, name: str, tensors: Mapping[str, Head]) -> bool:
    """True for a tensor that the class ignores, and that is the published one."""
    if name not in published.heads:
        return False
    return _same(Place(way.saved, name, tensors[name]), Place(way.published, name, published.heads[name]))


def _refuse_more(published: Published, way: Way, names: Collection[str]) -> None:
    if names:
        raise UnsupportedError(
            f"{way.saved} has {len(names)} tensors that do not belong to the published checkpoint: {listed(tuple(sorted(names)))}; "
            f"{published.name} would lose them. Save the model without them, or keep {way.saved}"
        )


def _converted(source: pathlib.Path, out: pathlib.Path, text: str, allow: Sequence[str]) -> _Read:
    path = out.with_suffix(".toml")
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        # The sentences of the way back say what is carried and what is rounded, and config.json is the published one.
        warnings.simplefilter("ignore", UserWarning)
        convert_recipe(source, out, path, allow=allow)
    return out, heads(out)


class _Run:
    """The way back from tensors in the names of the model."""

    def __init__(self, published: Published, way: Way, own: dict[str, Head], *, rounds: bool, squares: str | None) -> None:
        self.published, self.way, self.own, self.rounds, self.squares = published, way, own, rounds, squares
        self.found = published.loaded()

    def lines(self) -> list[str]:
        """Makes the published checkpoint and gives sentences about it."""
        published, way = self.published, self.way
        self._refuse_missing()
        dropped = self._more()
        recipe = generated(published, self._after, rounds=self.rounds, kept=self._kept())
        solved = published.solve(recipe)
        back = _dropping(solved[1], dropped)
        expected = set(published.heads) - set(self.found.ignored)
        self._compare(expected, _solved_heads(back, self.own))
        _, made = _converted(way.saved, way.output, back, ["round"] if self.rounds and "round = true" in back else [])
        exact, trained = self._rounded(solved, made)
        shutil.copyfile(way.published / "config.json", way.output / "config.json")
        carried = {name: published.heads[name] for name in sorted(set(self.found.ignored) - set(made))}
        if carried:
            carry(way.published, carried, way.output, made)
        self._compare(published.heads, heads(way.output) if carried else made)
        return [
            *(f"carried {name} from {way.published}" for name in carried),
            *(f"carried {name} from {way.published}: transformers had rounded it" for name in exact),
            *_trained(trained),
            *(f"left {name} out: the published checkpoint does not have it, and transformers makes it" for name in dropped),
        ]

    def _after(self, target: str, before: str) -> str:
        return self.own[target].dtype if target in self.own else before

    def _refuse_missing(self) -> None:
        """Refuses what was saved if it lacks a tensor that the model has of the published checkpoint."""
        missing = [name for group in self.found.groups for name in targets(group) if name not in self.own]
        if missing:
            raise UnsupportedError(
                f"{self.way.saved} lacks {len(missing)} tensors of the model: {listed(tuple(sorted(missing)))}; save the whole model, "
                "with merged adapters, and restore again"
            )

    def _more(self) -> list[str]:
        """Tensors of the model that are left out: second names, and those that transformers makes itself. Others are refused."""
        model = self.published.model
        known = {name for group in self.found.groups for name in targets(group)}
        second = dict(getattr(model, "all_tied_weights_keys", None) or {})
        patterns = [re.compile(one) for one in getattr(model, "_keys_to_ignore_on_load_missing", None) or ()]
        out: list[str] = []
        refused: list[str] = []
        for name in sorted(set(self.own) - known):
            first = second.get(name)
            tied = first in self.own and _same(self._saved(name), self._saved(str(first)))
            made = any(pattern.search(name) for pattern in patterns)
            (out if tied or made else refused).append(name)
        _refuse_more(self.published, self.way, refused)
        return out

    def _saved(self, name: str) -> Place:
        return Place(self.way.saved, name, self.own[name])

    def _kept(self) -> set[str]:
        """Targets that are not transposed, of those with two equal dims: their values tell how they were loaded."""
        kept, open_ = set(), []
        for name, target, dims in _squares(self.published, self.found):
            place, saved = Place(self.way.published, name, self.published.heads[name]), self._saved(target)
            if same_values(place, saved, saved.head.dtype):
                kept.add(target)
            elif not same_values(place, saved, saved.head.dtype, dims):
                open_.append(target)
        if open_ and self.squares is None:
            raise UnsupportedError(
                f"two dims of {listed(tuple(sorted(open_)))} are equal and the values are trained, so nothing shows whether loading "
                "transposed them. Say squares='copied' (--squares copied) if from_pretrained loaded the model, and "
                "squares='transposed' if tilewright.transformers.load did"
            )
        return kept | set(open_ if self.squares == "copied" else ())

    def _compare(self, names: Iterable[str], made: Mapping[str, Head]) -> None:
        """Refuses a result that has other names, dims or element types than the published checkpoint."""
        faults = []
        for name in sorted(names):
            want, got = self.published.heads[name], made.get(name)
            if got is None or (got.dtype, got.shape) != (want.dtype, want.shape):
                have = "no such tensor" if got is None else f"{got.dtype}{list(got.shape)}"
                faults.append(f"{name!r} is {want.dtype}{list(want.shape)}, and what was saved gives {have}")
        faults += [f"{name!r} is not there, and what was saved gives it" for name in sorted(set(made) - set(self.published.heads))]
        if faults:
            more = f" ({len(faults)} tensors differ)" if len(faults) > 1 else ""
            message = f"of the published checkpoint {faults[0]}{more}"
            raise UnsupportedError(f"{message}; undo the change, such as resized embeddings or another element type, and save again")

    def _rounded(self, solved: Solved, made: Mapping[str, Head]) -> tuple[list[str], list[str]]:
        """Published names of float32 that were saved in fewer bits: those that only were rounded, and those that were trained.

        The first are overwritten by the published tensors.
        """
        names = list(self.published.heads)
        narrow = {names[number]: self.own[target].dtype for (target, _, _), parts in solved[0]
                  if self.own[target].dtype in ("BF16", "F16") for number, *_ in parts if number is not None}
        exact, trained = [], []
        for name, element in sorted(narrow.items()):
            wide = Place(self.way.published, name, self.published.heads[name])
            if wide.head.dtype != "F32":
                continue
            own = Place(self.way.output, name, made[name])
            if same_values(wide, own, element):
                replace(wide, own)
                exact.append(name)
            else:
                trained.append(name)
        return exact, trained


def _trained(names: list[str]) -> Iterator[str]:
    if names:
        yield (
            f"{len(names)} float32 tensors were trained in fewer bits, and have their precision: {listed(tuple(names))}; "
            "load the model with dtype=torch.float32 to keep theirs"
        )


def _squares(published: Published, found: Loaded) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Tensors that transformers should transpose and does not, as two dims are equal: name, target, and the dims."""
    for group in found.groups:
        for dims in _turns(group):
            shape = published.heads[group.names[0]].shape
            if shape[dims[0]] == shape[dims[1]]:
                yield group.names[0], targets(group)[0], dims


def _turns(group: Group) -> Iterator[tuple[int, int]]:
    for operation in group.converter.operations if group.converter is not None else ():
        if type(operation).__name__ == "Transpose" and operation.check_dims:
            yield operation.dim0, operation.dim1


def _dropping(recipe: str, names: list[str]) -> str:
    """A recipe that drops these names too."""
    if not names:
        return recipe
    text = json.dumps(names)
    if "\ndrop = [" in f"\n{recipe}":
        return f"\n{recipe}".replace("\ndrop = [", f"\ndrop = {text[:-1]}, ", 1)
    return f"drop = {text}\n{recipe}"


def _solved_heads(recipe: str, own: Mapping[str, Head]) -> dict[str, Head]:
    """The tensors that a recipe makes, without their data."""
    made, _ = _tilewright.solve_recipe(recipe, [(name, head.dtype, head.shape) for name, head in own.items()], None)
    return {name: Head(tuple(dims), safetensors_type(element)) for (name, element, dims), _ in made}
