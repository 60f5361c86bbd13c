"""Element types that a model keeps its parameters in, as the loader of transformers chooses them."""

from __future__ import annotations

from typing import Any

from tilewright._transformers.library import Library

__all__ = ["EXPRESSIBLE", "Types", "change", "fits"]

#: Changes of element types that a recipe can say.
EXPRESSIBLE = {("F32", "BF16"), ("BF16", "F32"), ("F32", "F16"), ("F16", "F32")}

_NAMES = {"float32": "F32", "bfloat16": "BF16", "float16": "F16", "float64": "F64"}


class Types:
    """The element type of each parameter after loading."""

    def __init__(self, lib: Library, model: Any) -> None:
        self.meta = model.state_dict()
        self.dtype = model.dtype
        plan = model._get_dtype_plan(model.dtype) if hasattr(model, "_get_dtype_plan") else {}
        self.plan = plan
        self.search: Any = None
        if plan:
            self.search, self.groups = lib.loading.build_glob_alternation(list(plan))[:2]

    def of(self, target: str) -> str:
        """The element type of a parameter as safetensors spells it; empty for one that is not a float."""
        match = self.search.search(target) if self.search is not None else None
        if match is not None:
            dtype = self.plan[self.groups[match.lastgroup]]
        else:
            found = self.meta.get(target)
            dtype = self.dtype if found is None else found.dtype
        return _NAMES.get(str(dtype).removeprefix("torch."), "")


#: The bits of exponents and of fractions.
_FLOATS = {"F64": (11, 52), "F32": (8, 23), "BF16": (8, 7), "F16": (5, 10), "F8_E4M3": (4, 3), "F8_E5M2": (5, 2)}


def fits(before: str, after: str) -> bool:
    """True if every value of an element type is one of another type."""
    if before == after:
        return True
    return all(own <= other for own, other in zip(_FLOATS.get(before, (99,)), _FLOATS.get(after, (0,))))


def change(before: str, after: str) -> str | None:
    """Kind of a change of element types: ``widened``, ``rounded``, or None if nothing changes."""
    sizes = {"F64": 3, "F32": 2, "BF16": 1, "F16": 1}
    if before not in sizes or after not in sizes or before == after:
        return None
    return "widened" if sizes[before] < sizes[after] else "rounded"
