"""Asks transformers what it makes of a checkpoint of every type, and compares that with a generated recipe, both ways.

    python ask.py [--write TABLE.md] [TYPE ...]

For each type a tiny model is made. Its checkpoint as published comes from transformers' own reverse mapping, and each element has a
number of its own. transformers loads it; the recipe must make the same tensors, and its inverse the published ones, bit by bit.
Ends with exit code 1 if a type that transformers can load is not exact and not refused for an operation that computes.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile
import warnings
from typing import Any

import tiny
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import PrefixChange, WeightConverter, revert_weight_conversion

import tilewright as tw
import tilewright.transformers as tt
from tilewright._transformers.library import library
from tilewright._transformers.loader import loaded

#: The most seconds for a type.
MOST_SECONDS = 900


def bits(tensor: Any) -> Any:
    """The bits of a tensor as numbers."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    whole = tensor.detach().contiguous()
    return whole if whole.dtype == torch.bool or whole.is_complex() else whole.view(kinds[whole.element_size()])


def differing(made: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """The names of tensors that are not the same bit by bit."""
    same = lambda a, b: a.shape == b.shape and a.dtype == b.dtype and torch.equal(bits(a), bits(b))  # noqa: E731
    names = set(made) ^ set(expected)
    return sorted(names | {name for name in set(made) & set(expected) if not same(made[name], expected[name])})


def untied(model: Any) -> dict[str, Any]:
    """The tensors of a model without second names."""
    tied, seen, out = set(getattr(model, "all_tied_weights_keys", None) or {}), set(), {}
    for name, tensor in model.state_dict().items():
        place = (tensor.data_ptr(), tensor.shape, tensor.stride())
        if name in tied or (tensor.numel() and place in seen):
            continue
        seen.add(place)
        out[name] = tensor
    return out


def coded(tensors: dict[str, Any]) -> dict[str, Any]:
    """Tensors of these shapes, in which each element of float32 has bits of its own."""
    out, first = {}, 1
    for name, tensor in tensors.items():
        if tensor.dtype == torch.float32:
            numbers = torch.arange(first, first + tensor.numel(), dtype=torch.int32)
            out[name], first = numbers.view(torch.float32).reshape(tensor.shape).clone(), first + tensor.numel()
        else:
            out[name] = tensor.contiguous().clone()
    return out


def write(tensors: dict[str, Any], folder: pathlib.Path, config: Any) -> pathlib.Path:
    """A checkpoint in a folder."""
    folder.mkdir(parents=True)
    whole = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    save_file(whole, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config.to_dict(), default=str))
    return folder


def published(model: Any) -> list[dict[str, Any]]:
    """What a checkpoint of the model may have been: with and without the changes of prefixes."""
    every = get_model_conversion_mapping(model, add_legacy=False)
    lists = [every, [one for one in every if not isinstance(one, PrefixChange)]]
    found = []
    for transforms in lists if len(lists[0]) != len(lists[1]) else lists[:1]:
        model._weight_conversions = transforms
        try:
            found.append(revert_weight_conversion(model, untied(model)))
        except Exception:  # noqa: BLE001  (the other list may do)
            continue
        finally:
            del model._weight_conversions
    return found


def without_padding(model: Any, tensors: dict[str, Any]) -> None:
    """Zeros in rows beyond the vocabulary, as published."""
    for group in loaded(library(), model, tensors).groups:
        for operation in group.converter.operations if group.converter is not None else ():
            if type(operation).__name__ == "Inkling2UnpadVocab":
                for name in group.names:
                    tensors[name][model.config.get_text_config().unpadded_vocab_size :] = 0


def load(cls: Any, folder: pathlib.Path, config: Any) -> tuple[Any, bool]:
    """The model that transformers loads, and whether it took all tensors."""
    model, said = cls.from_pretrained(folder, config=config, dtype=torch.float32, output_loading_info=True)
    keys = ("missing_keys", "unexpected_keys", "mismatched_keys", "conversion_errors", "error_msgs")
    return model, not any(said.get(key) for key in keys)


def meta(cls: Any, config: Any) -> Any:
    """The model without memory."""
    with torch.device("meta"):
        return cls(config)


def asked(name: str, work: pathlib.Path) -> dict[str, Any]:
    """The row of a type."""
    row: dict[str, Any] = {"type": name}
    try:
        cls, config = tiny.build(name)
    except ValueError as error:
        return row | {"state": "not built", "why": str(error)}
    torch.manual_seed(0)
    model = cls(config).float().eval()
    row["class"], row["ops"] = cls.__name__, operations(model)
    for at, tensors in enumerate(published(model)):
        before = coded(tensors)
        without_padding(meta(cls, config), before)
        folder = write(before, work / f"published{at}", config)
        try:
            got, whole = load(cls, folder, config)
        except Exception as error:  # noqa: BLE001  (the next form may load)
            row["why"] = f"{type(error).__name__}: {str(error)[:200]}"
            continue
        if whole:
            break
    else:
        return row | {"state": "not loaded"}
    after = untied(got)
    row |= {"before": len(before), "after": len(after), "pure": pure(before, after)}
    row |= compared(meta(cls, config), (folder, before), (write(after, work / "after", config), after), work)
    row["load"] = loaded_by_recipe(cls, folder, config, got) if row["state"] == "exact" else ""
    row["shipped"] = shipped((folder, before), (work / "after", after), work)
    row["audit"] = sorted({one.kind for one in tt.audit(meta(cls, config), folder).findings})
    return row


def shapes(model: Any) -> dict[str, Any]:
    """The dims of all tensors of a model."""
    return {name: tensor.shape for name, tensor in model.state_dict().items()}


def is_read_again(cls: Any, folder: pathlib.Path, got: Any) -> bool:
    """True if config.json gives the configuration that was written: that of a part of a model may name the whole."""
    try:
        return shapes(meta(cls, transformers.AutoConfig.from_pretrained(folder))) == shapes(got)
    except Exception:  # noqa: BLE001  (a small configuration may not be one that can be read again)
        return False


def loaded_by_recipe(cls: Any, folder: pathlib.Path, config: Any, got: Any) -> str:
    """Whether a model that the recipe fills is the one that transformers loads: `same`, or the reason of the refusal."""
    own = None if is_read_again(cls, folder, got) else config
    try:
        model = tt.load(cls, folder, config=own, dtype=torch.float32)
    except tw.Error as error:
        return str(error)
    wrong = differing(model.state_dict(), got.state_dict())
    if wrong:
        raise AssertionError(f"loading by the recipe differs in {len(wrong)} tensors: {wrong[:3]}")
    return "same"


def operations(model: Any) -> list[str]:
    """The names of the operations on data."""
    transforms = get_model_conversion_mapping(model, add_legacy=False)
    return sorted({type(one).__name__ for own in transforms if isinstance(own, WeightConverter) for one in own.operations})


def pure(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """True if transformers only moves elements."""
    flat = lambda of: torch.cat([bits(one).reshape(-1).long() for one in of.values() if one.dtype == torch.float32] or [torch.zeros(0)])  # noqa: E731
    return torch.equal(flat(before).sort().values, flat(after).sort().values)


def compared(model: Any, one: tuple[Any, Any], other: tuple[Any, Any], work: pathlib.Path) -> dict[str, Any]:
    """What the recipe makes of both sides."""
    (folder, before), (turned, after) = one, other
    try:
        text = tt.recipe(model, folder)
    except tw.UnsupportedError as error:
        return {"state": "refused", "why": str(error)}
    path = work / "recipe.toml"
    path.write_text(text)
    found = {"rules": text.count("[[map]]"), "state": "exact"}
    for inverse, (source, expected) in ((False, (folder, after)), (True, (turned, before))):
        out = work / f"made{inverse}"
        try:
            tw.convert_recipe(source, out, path, inverse=inverse, verify=True)
        except tw.Error as error:
            return found | {"state": "fails", "why": f"{'inverse: ' if inverse else ''}{str(error)[:300]}"}
        wrong = differing(load_file(out / "model.safetensors"), expected)
        if wrong:
            return found | {"state": "differs", "why": f"{'inverse: ' if inverse else ''}{len(wrong)} tensors: {wrong[:3]}"}
    back = work / "back"
    tw.convert_recipe(work / "madeFalse", back)
    wrong = differing(load_file(back / "model.safetensors"), before)
    return found | ({"state": "differs", "why": f"recorded inverse: {wrong[:3]}"} if wrong else {})


def shipped(one: tuple[Any, Any], other: tuple[Any, Any], work: pathlib.Path) -> list[str]:
    """The shipped recipes that are offered for the checkpoint and give what transformers makes of it, both ways."""
    found = []
    for name in [fit["name"] for fit in tw.guess_recipe(one[0])["recipes"] if not fit["inverse"]]:
        sides = [(one[0], other[1]), (other[0], one[1])]
        if not any(differs(name, bool(inverse), side, work / f"{name}{inverse}") for inverse, side in enumerate(sides)):
            found.append(name)
    return found


def differs(name: str, inverse: bool, side: tuple[Any, Any], out: pathlib.Path) -> bool:
    """True if a shipped recipe makes other tensors than expected, or does not fit."""
    try:
        tw.convert_recipe(side[0], out, name, inverse=inverse)
    except tw.Error:
        return True
    made = load_file(out / "model.safetensors") if out.is_dir() else {}
    return bool(differing(made, side[1]))


def table(rows: list[dict[str, Any]]) -> str:
    """All rows as a table, with their counts."""
    count = lambda state: sum(row["state"] == state for row in rows)  # noqa: E731
    built = [row for row in rows if row["state"] not in ("not built", "not loaded")]
    names = sorted(row["rules"] for row in built if not row["ops"] and row.get("rules") is not None)
    middle = names[len(names) // 2] if names else 0
    loads = sum(row.get("load") == "same" for row in rows)
    unloaded = [f"- `{row['type']}`: {row['load']}" for row in rows if row.get("load") not in ("same", "", None)]
    lines = [
        "# Types of transformers",
        "",
        f"Look up which types of transformers {transformers.__version__} have an exact recipe. `cargo xtask oracles transformers`",
        "makes this page: it builds a tiny model of each type, loads its checkpoint by transformers, and compares every bit with",
        "the [generated recipe](../how-to/transformers.md) and with its inverse.",
        "",
        f"Of {len(rows)} types and classes of the mapping, {len(built)} were built and loaded. The recipe of {count('exact')} is exact",
        f"both ways, {count('refused')} are refused with the reason, {count('fails') + count('differs')} are not exact. Recipes of types",
        f"that only rename have {middle} rules at the median. `load` fills {loads} of the exact ones with the tensors",
        f"that `from_pretrained` gives{', and refuses the others with the reason' if unloaded else ''}. A shipped recipe, without Python, is",
        f"exact both ways for {sum(bool(row.get('shipped')) for row in rows)} of them.",
        "",
        "*Pure* types only move elements. The audit finds what transformers would write differently or lose of this checkpoint,",
        "in which nothing was trained or left out.",
        "",
        "*Shipped* names the [shipped recipe](recipes.md#shipped-recipes) that gives the same tensors without Python, both ways.",
        "",
        "| type | class | tensors | operations | pure | recipe | rules | shipped | audit |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["state"] in ("not built", "not loaded"):
            continue
        cells = [f"`{row['type']}`", f"`{row['class']}`", f"{row['before']} → {row['after']}", ", ".join(row["ops"]) or "names",
                 "yes" if row["pure"] else "no", row["state"], str(row.get("rules", "")), ", ".join(f"`{one}`" for one in row.get("shipped", [])), ", ".join(row["audit"])]
        lines.append("| " + " | ".join(cells) + " |")
    gone = [f"`{row['type']}`" for row in rows if row["state"] in ("not built", "not loaded")]
    lines += ["", f"Not built from a small configuration: {', '.join(gone)}." if gone else ""]
    refused = [f"- `{row['type']}`: {row['why']}" for row in rows if row["state"] == "refused"]
    lines += ["", "Refused:", "", *refused] if refused else []
    lines += ["", "Refused by `load`:", "", *unloaded] if unloaded else []
    return "\n".join(lines).rstrip() + "\n"


def late(*_: object) -> None:
    """Ends a type that takes too long."""
    raise TimeoutError(f"more than {MOST_SECONDS} seconds")


def main() -> int:
    """Asks about all types, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=pathlib.Path, help="the file of the table")
    rows_file = os.environ.get("ROWS")
    parser.add_argument("--rows", type=pathlib.Path, default=rows_file and pathlib.Path(rows_file),
                        help="the file of the rows, which are kept and not asked again; default: the variable ROWS")
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, late)
    kept = options.rows.read_text().splitlines() if options.rows and options.rows.exists() else []
    rows = {row["type"]: row for row in map(json.loads, kept)}
    for name in options.types or tiny.types():
        if name in rows:
            continue
        with tempfile.TemporaryDirectory() as work:
            signal.alarm(MOST_SECONDS)
            try:
                row = asked(name, pathlib.Path(work))
            except Exception as error:  # noqa: BLE001  (a fault of one type does not end the others)
                row = {"type": name, "state": "fails", "why": f"{type(error).__name__}: {str(error)[:300]}", "class": "", "ops": [],
                       "before": 0, "after": 0, "pure": False, "audit": []}
            signal.alarm(0)
        rows[name] = row
        print(f"{name}: {row['state']}" + (f", {row['rules']} rules" if "rules" in row else "") + (f" ({row['why']})" if "why" in row else ""), flush=True)
        if options.rows:
            with options.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
    found = [rows[name] for name in sorted(rows)]
    if options.write:
        options.write.write_text(table(found))
    return int(any(row["state"] in ("fails", "differs") for row in found))


if __name__ == "__main__":
    sys.exit(main())
