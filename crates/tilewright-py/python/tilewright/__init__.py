"""Tensor layouts as values: parse one from any notation, ask it anything, prove two equal, move real data.

>>> import numpy as np
>>> import tilewright as tw
>>> zn = tw.parse("f16[100,30] zN")
>>> zn.storage_shape
(2, 7, 16, 16)
>>> zn.translate("pattern")
'(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0'
>>> weights = np.arange(3000, dtype=np.float16).reshape(100, 30)
>>> packed = tw.relayout(weights, "zN")
>>> bool((tw.relayout(packed, from_=zn, to="row-major") == weights).all())
True

| want | name |
|---|---|
| a layout of an array, in any notation | ``parse``, ``TensorLayout`` |
| one whose storage order is a list of numbers | ``TabledLayout`` |
| CuTe's layouts and their algebra | ``Layout``, ``Swizzle``, ``tilewright.algebra``, ``evaluate`` |
| whether two are one map; which name one has; what lies between two buffers | ``same``, ``recognise``, ``infer`` |
| bank conflicts of shared memory, and the least fix | ``bank_conflicts``, ``algebra.swizzle_between`` |
| the elements of an array somewhere else | ``relayout``, ``Plan`` |
| strided arrays copied at the speed of memory | ``contiguous``, ``copy_``, ``empty_like`` |
| a file of weights in another layout | ``convert``, ``verify``, ``info`` |
| whether data are the same, in any layout and file | ``fingerprint``, ``fingerprints``, ``same_data`` |
| tensors of a file as arrays, in the layout that is asked for | ``open``, ``Checkpoint`` |
| arrays in a file, in the layouts that are asked for | ``save`` |
| an array cut over a mesh of devices: who holds what | ``sharded``, ``Sharded`` |
| a checkpoint in other shards, in one process or many | ``reshard``, ``tilewright.ray``, ``tilewright.dask`` |
| what a loader does with each element of a checkpoint; maps as terms | ``learn``, ``Learned``, ``describe_map`` |
| whether an engine's memory holds a checkpoint, and sparse updates of it | ``check``, ``LoaderPlan``, ``tilewright.vllm`` |
| the catalogue | ``formats``, ``notations``, ``add_formats`` |
| checkpoints of transformers: recipes, audits, loading, and the published layout back | ``tilewright.transformers`` |
| the same in compiled torch programs; torch's own copies made faster | ``tilewright.torch`` |
"""

from __future__ import annotations

from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from tilewright import _errors, algebra
from tilewright._arrays import (
    PlanCacheInfo,
    contiguous,
    copy_,
    empty_like,
    plan_cache_clear,
    plan_cache_info,
    relayout,
)
from tilewright._errors import *  # noqa: F403
from tilewright._errors import FileExistsError as FileExistsError  # noqa: A004
from tilewright._errors import FileNotFoundError as FileNotFoundError  # noqa: A004
from tilewright._errors import OverflowError as OverflowError  # noqa: A004
from tilewright._errors import PermissionError as PermissionError  # noqa: A004
from tilewright._fingerprints import Fingerprint, Fingerprints, SameData, fingerprint, fingerprints, same_data
from tilewright._files import Contents, Report, TensorReport, convert, info, verify
from tilewright._learn import Learned, LoaderPlan, PredictedPlan, Unlike, check, learn
from tilewright._open import open as open  # noqa: A004
from tilewright._open import save
from tilewright._recast import RecastReport, RecastTensor, convert_recipe, guess_recipe
from tilewright._reshard import ReshardPlan, reshard
from tilewright._sharded import Shard, Sharded, sharded
from tilewright._tilewright import (
    BankConflicts,
    Checkpoint,
    Comparison,
    DeviceArray,
    Drawing,
    Explanation,
    Format,
    Inference,
    Layout,
    MapDescription,
    MapTerm,
    Memory,
    Plan,
    Swizzle,
    TabledLayout,
    TensorLayout,
    Value,
    __version__,
    add_formats,
    bank_conflicts,
    describe_map,
    distribution,
    emit,
    draw_step,
    evaluate,
    evaluate_text,
    formats,
    functions,
    infer,
    notations,
    same,
)

__all__ = [
    *_errors.__all__,
    "BankConflicts",
    "Checkpoint",
    "Comparison",
    "Contents",
    "DeviceArray",
    "Drawing",
    "Explanation",
    "Fingerprint",
    "Fingerprints",
    "Format",
    "Inference",
    "Layout",
    "Learned",
    "LoaderPlan",
    "MapDescription",
    "MapTerm",
    "Memory",
    "Plan",
    "PlanCacheInfo",
    "PredictedPlan",
    "RecastReport",
    "RecastTensor",
    "Report",
    "ReshardPlan",
    "SameData",
    "Shard",
    "Sharded",
    "Swizzle",
    "TabledLayout",
    "TensorLayout",
    "TensorReport",
    "Unlike",
    "Value",
    "__version__",
    "add_formats",
    "algebra",
    "bank_conflicts",
    "check",
    "contiguous",
    "convert",
    "copy_",
    "describe_map",
    "distribution",
    "emit",
    "draw_step",
    "empty_like",
    "evaluate",
    "evaluate_text",
    "explain",
    "fingerprint",
    "fingerprints",
    "formats",
    "functions",
    "infer",
    "info",
    "learn",
    "notations",
    "parse",
    "plan_cache_clear",
    "plan_cache_info",
    "convert_recipe",
    "guess_recipe",
    "recognise",
    "relayout",
    "reshard",
    "same",
    "same_data",
    "save",
    "sharded",
    "show",
    "verify",
]


def parse(
    spec: str | Layout | TensorLayout,
    /,
    dims: _Sequence[int] | None = None,
    dtype: _Any = None,
) -> TensorLayout:
    """The layout that a text in any notation says.

    A text with index tables that shape and strides do not say is an ``UnsupportedError``; ``TabledLayout`` holds it.

    A text that carries its extents needs nothing else; ``zN``, ``NHWC``, ``{0,1:T(8,128)}`` and the like need the
    array's ``dims``, and where they depend on the element its ``dtype``, by any library's name or object.

    :raises ParseError: no layout; ``span`` has the bytes at fault, and the message a caret
    :raises AmbiguousError: several readings
    :raises NeedsDimsError, NeedsDtypeError, MismatchError: for the array that is given

    >>> parse("((4,2),(4,3)):((4,16),(1,32))").dims
    (8, 12)
    >>> parse("NC1HWC0", dims=(1, 20, 2, 2), dtype="f16").storage_shape
    (1, 2, 2, 2, 16)
    >>> parse("row-mayor")
    Traceback (most recent call last):
        ...
    tilewright.ParseError: no notation reads this as a layout; did you mean `row-major`?
      row-mayor
      ^^^^^^^^^
    """
    return TensorLayout(spec, dims, dtype)


def explain(
    spec: str | Layout | TensorLayout,
    /,
    dims: _Sequence[int] | None = None,
    dtype: _Any = None,
) -> Explanation:
    """What a layout means, in words and numbers; ``print`` it for the page of text.

    >>> explain("f32[3,5]{1,0:T(2,2)}").padding
    9
    """
    return parse(spec, dims, dtype).explain()


def recognise(
    spec: str | Layout | TensorLayout,
    /,
    dims: _Sequence[int] | None = None,
    dtype: _Any = None,
) -> list[str]:
    """The names of the catalogue that a layout has: those that give the same map with the same padding.

    >>> "zN" in recognise("f16[20,40] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0")
    True
    """
    return parse(spec, dims, dtype).recognise()


def show(
    spec: str | Layout | TensorLayout,
    /,
    dims: _Sequence[int] | None = None,
    dtype: _Any = None,
    *,
    names: bool = False,
    numbers: bool = False,
    memory: bool = False,
    tiles: bool = False,
    width: int | None = None,
    rows: int | None = None,
) -> str:
    """A layout as text, as ``tilewright show`` prints it: where each element is stored.

    ``names`` draws the elements as a, b, c … instead, ``numbers`` their row-major numbers; ``tiles`` has borders round
    tiles instead of cells; ``memory`` is memory in a line instead of a grid. What goes beyond ``width`` characters and
    ``rows`` rows is left out, and said.

    >>> print(show("(2,3):(1,2)", tiles=True), end="")
    (2,3):(1,2)
          0 1 2
        +-------+
     0  | 0 2 4 |
     1  | 1 3 5 |
        +-------+
    """
    layout = parse(spec, dims, dtype)
    return layout.show(names=names, numbers=numbers, memory=memory, tiles=tiles, width=width, rows=rows)
