"""What transformers writes when it saves a model: its own reverse conversion, on tensors without memory."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any

from tilewright._transformers.findings import Finding, finding
from tilewright._transformers.loader import Loaded, loaded
from tilewright._transformers.published import Published

__all__ = ["saved"]


def saved(published: Published, found: Loaded) -> Iterator[Finding]:
    """Gives the findings about the names, dims and parameters of what is saved."""
    model, loading = published.model, published.lib.loading
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    state = {name: tensor for name, tensor in model.state_dict().items() if name not in tied}
    with _conversions(model, [copy.deepcopy(one) for one in found.used]) as used:
        patterns = [list(one._original_source_patterns) for one in used]
        try:
            first = loading.revert_weight_conversion(model, dict(state))
            changed = [one for one, own in zip(used, patterns) if list(one._original_source_patterns) != own]
            second = loading.revert_weight_conversion(model, dict(state)) if changed else first
        except Exception as error:  # noqa: BLE001  (any error of the library is the answer)
            yield Finding("operation", f"saving fails: {type(error).__name__}: {error}", (), True)
            return
    names = list(_names(published, found, first))
    yield from names
    if names or _shapes(first) != _shapes(second):
        message = "saving changes the mapping of the loaded model, so that a second save may differ: {names}"
        yield from finding("mapping", message, sorted({type(one).__name__ for one in changed}), loses=False)
    yield from _again(published, found, first)
    if published.quantiser is None:
        yield from _base(published, first)


@contextlib.contextmanager
def _conversions(model: Any, used: list[Any]) -> Iterator[list[Any]]:
    """Gives the model these conversions for a while."""
    before = getattr(model, "_weight_conversions", None)
    model._weight_conversions = used
    try:
        yield used
    finally:
        if before is None:
            del model._weight_conversions
        else:
            model._weight_conversions = before


def _shapes(state: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def _names(published: Published, found: Loaded, state: Mapping[str, Any]) -> Iterator[Finding]:
    """Published names that are not written again, and tensors with other dims."""
    excused = {*found.ignored, *found.quantised, *(second for _, second in found.tied)}
    gone = [name for name in published.heads if name not in state and name not in excused]
    new = [name for name in state if name not in published.heads and name not in excused]
    if gone and new:
        message = f"{len(gone)} published names are not written again, {{names}}; {len(new)} others are, such as {new[0]!r}"
        yield from finding("renamed", message, gone, loses=True)
    else:
        yield from finding("absent", f"{len(gone)} tensors are not written again: {{names}}", gone, loses=True)
    same = [name for name in published.heads if name in state and name not in excused]
    other = [name for name in same if tuple(state[name].shape) != published.heads[name].shape]
    message = f"{len(other)} tensors are written with other dims than the published ones: {{names}}"
    yield from finding("reshaped", message, other, loses=True)


def _again(published: Published, found: Loaded, state: Mapping[str, Any]) -> Iterator[Finding]:
    """Parameters that get no tensor when what was saved is read again."""
    try:
        again = loaded(published.lib, published.model, state)
    except Exception as error:  # noqa: BLE001
        yield Finding("operation", f"the saved files cannot be read again: {type(error).__name__}: {error}", (), True)
        return
    message = "the saved files have no tensor for these parameters when it is read again: {names}"
    yield from finding("random", message, again.missing, loses=True)


def _base(published: Published, state: Mapping[str, Any]) -> Iterator[Finding]:
    """Parameters of the base class that the checkpoint, or what was saved of it, does not fill."""
    for part in _parts(published.model):
        before, after = (loaded(published.lib, part, names).missing for names in (published.heads, state))
        end = f" ({type(part).__name__}, {len(before or after)} of {len(part.state_dict())} parameters)"
        yield from finding("base", f"the base class would start with random {{names}}{end}", before, loses=False)
        more = [name for name in after if name not in set(before)]
        message = f"from the saved files, the base class would start with random {{names}}{end}"
        yield from finding("base", message, more, loses=True)


def _parts(model: Any) -> Iterator[Any]:
    """The model without its head: the module of the base prefix, or the only one that is a model by itself."""
    base = getattr(model, model.base_model_prefix, None) if model.base_model_prefix else None
    if base is not None and base is not model and hasattr(base, "base_model_prefix"):
        yield base
        return
    models = [child for child in model.children() if hasattr(child, "base_model_prefix")]
    if len(models) == 1:
        yield models[0]
