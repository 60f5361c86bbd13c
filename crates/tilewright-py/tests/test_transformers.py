"""Recipes and audits of transformers, with a library of the test's own: transformers itself is asked by an oracle."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import json
import pathlib
import re
import struct
import subprocess
import sys
import types
from typing import Any

import pytest

import tilewright as tw
import tilewright.transformers as tt
from tilewright import _tilewright
from tilewright._transformers import auditing, files, generating, loader, program, rules, text
from tilewright._transformers.axes import Axis, Product, Space, Sum
from tilewright._transformers.files import Head, heads, indexed
from tilewright._transformers.library import Library
from tilewright._transformers.prefixes import Leaf, few
from tilewright._transformers.published import Published

HAS_TRANSFORMERS = importlib.util.find_spec("transformers") is not None


def names_of(recipe: str, names: list[str]) -> dict[str, str]:
    """The new names that a recipe gives, by the old ones."""
    made, _ = _tilewright.solve_recipe(recipe, [(name, "f32", [2]) for name in names])
    return {names[number]: head[0] for head, parts in made for number, *_ in parts if number is not None}


# Names.


def test_one_rule_changes_a_prefix_and_exceptions_come_first() -> None:
    pairs = {f"vision.{part}": f"model.vision.{part}" for part in ("a.w", "b.w", "c.w")}
    pairs |= {"vision.d.w": "model.seen.d", "head": "head"}
    found = few(Leaf(old, new) for old, new in pairs.items())
    assert found.rest == [("vision.{r:*}", "model.vision.{r:*}")]
    assert found.single == [("vision.d.w", "model.seen.d")]
    assert found.stay == ["head"]


@pytest.mark.parametrize("way", ["few", "pattern", "all"])
def test_all_small_changes_of_names_are_what_their_recipes_do(way: str) -> None:
    olds = ["a.0.x", "a.1.x", "a.0.y", "a.1.y", "b.x"]
    maps = [lambda n: n, lambda n: f"m.{n}", lambda n: n.replace("a.", "c."), lambda n: n.replace("x", "z"),
            lambda n: n.replace("a.0", "e").replace("a.1", "o"), lambda n: re.sub(r"\d", lambda m: str(int(m[0]) + 1), n)]
    for first, second in itertools.product(maps, repeat=2):
        pairs = {old: second(first(old)) for old in olds}
        made = [rules.Rule([rules.Piece(old, None)], [rules.Piece(new, None)]) for old, new in pairs.items()]
        recipe = text.recipe(text.Preamble("t", "s"), made, olds, way=way)
        assert names_of(recipe, olds) == pairs, recipe


def test_even_and_odd_numbers_are_told_apart() -> None:
    pairs = [(f"h.{at}.w", f"l.{at // 2}.{'mlp' if at % 2 else 'attention'}.w") for at in range(6)]
    made = [rules.Rule([rules.Piece(old, None)], [rules.Piece(new, None)]) for old, new in pairs]
    recipe = text.recipe(text.Preamble("t", "s"), made, [old for old, _ in pairs], way="pattern")
    assert "{2L0}" in recipe and "{2L0+1}" in recipe and recipe.count("[[map]]") == 2
    assert names_of(recipe, [old for old, _ in pairs]) == dict(pairs)


def test_patterns_match_ignored_names_and_no_others() -> None:
    assert text.patterns_of(["mtp.a.w", "mtp.b.w"], ["model.a.w"]) == ["mtp.*"]
    assert text.patterns_of(["l.2.a", "l.2.b", "l.1.z"], ["l.1.a"]) == ["l.1.z", "l.2.*"]


# Axes.


def test_axes_are_refined_everywhere_at_once() -> None:
    space = Space()
    whole = space.new(12)
    first, second = space.split(whole, [6, 6])
    space.digits(first, [2, 3])
    walked = space.walk(whole)
    assert isinstance(walked, Sum) and isinstance(walked.parts[0], Product) and isinstance(walked.parts[1], Axis)
    assert space.extent(whole) == 12
    other = space.new(6)
    space.unify(second, other)
    assert space.walk(second) == space.walk(other)
    for bad in (lambda: space.split(whole, [5, 7]), lambda: space.unify(whole, space.new(5)), lambda: space.digits(whole, [4, 3])):
        with pytest.raises(tw.UnsupportedError):
            bad()


def test_numbers_with_holes_are_found() -> None:
    assert rules.holes([0, 1, 3, 5]) == "2, 4"
    assert rules.holes([2, 3]) == "0 to 1"
    assert rules.holes([4, 5], 4) == ""
    assert rules.holes([0, 10**15]) == f"1 to {10**15 - 1}"


def test_numbers_of_any_length_are_read() -> None:
    long = "9" * 5000
    model, published = moe([0, 1])
    odd = {name.replace("experts.1.", f"experts.{long}."): head for name, head in published.items()}
    audit = audited(lib_of(MOE), model, odd | {f"other.{long}": Head((1,), "F32"), "other.1": Head((1,), "F32")})
    assert audit.loses
    with pytest.raises(tw.UnsupportedError, match="without numbers of up to 18 digits"):
        generated(lib_of(MOE), model, odd)
    plain = Model({"new.a": Tensor(2), f"new.{long}": Tensor(2)})
    with pytest.raises(tw.UnsupportedError, match="a reference has more than 4096 bytes"):
        generated(lib_of([Renaming("^old", "new")]), plain, {"old.a": Head((2,), "F32"), f"old.{long}": Head((2,), "F32")})


# Headers.


def write(path: pathlib.Path, tensors: dict[str, tuple[str, list[int]]]) -> None:
    """A safetensors file of zeros."""
    sizes = {"F32": 4, "BF16": 2}
    header, at = {}, 0
    for name, (dtype, shape) in tensors.items():
        size = sizes[dtype]
        for extent in shape:
            size *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    data = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(data)) + data + bytes(at))


def test_heads_are_read_from_folders_indexes_and_mappings(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "a.safetensors", {"x": ("BF16", [2, 3])})
    write(tmp_path / "b.safetensors", {"y": ("F32", [])})
    assert heads(tmp_path) == {"x": Head((2, 3), "BF16", "a.safetensors"), "y": Head((), "F32", "b.safetensors")}
    index = {"weight_map": {"x": "a.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert list(heads(tmp_path)) == ["x"]
    assert heads({"x": (2, 3)})["x"].elements == 6


def test_heads_of_many_experts_share_dims(tmp_path: pathlib.Path) -> None:
    for name in "ab":
        write(tmp_path / f"{name}.safetensors", {f"{name}{at}": ("F32", [300, 2]) for at in range(2)})
    found = list(heads(tmp_path).values())
    assert len(found) == 4 and len({id(head.shape) for head in found}) == len({id(head.size) for head in found}) == 1
    assert not hasattr(found[0], "__dict__")


@pytest.mark.parametrize("data", [b"", b"123", struct.pack("<Q", 1 << 60), struct.pack("<Q", 2) + b"[]", struct.pack("<Q", 9) + b'{"x": {}}'])
def test_broken_headers_are_refused(tmp_path: pathlib.Path, data: bytes) -> None:
    (tmp_path / "a.safetensors").write_bytes(data)
    with pytest.raises(tw.FileError):
        heads(tmp_path)


def test_tensors_that_are_there_twice_or_cut_off_are_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.safetensors"
    write(path, {"x": ("F32", [2])})
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(tw.FileError, match="cut off: its tensors need 8 bytes, and 7 are there"):
        heads(tmp_path)
    header = b'{"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "x": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(tw.FileError, match="'x' is there twice"):
        heads(tmp_path)


@pytest.mark.parametrize("entry", [
    7, [], {"dtype": 3, "shape": [1], "data_offsets": [0, 4]}, {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]},
    {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}, {"dtype": "F32", "shape": 1, "data_offsets": [0, 4]},
    {"dtype": "F32", "shape": [1], "data_offsets": ["0", 4]}, {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]},
    {"dtype": "F32", "shape": [1], "data_offsets": [0]}, {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
    {"dtype": "F32", "shape": [1], "data_offsets": None},
])
def test_tensors_without_a_right_head_are_refused(tmp_path: pathlib.Path, entry: Any) -> None:
    header = json.dumps({"x": entry}).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(tw.FileError, match="a tensor without a right `shape`"):
        heads(tmp_path)


def test_headers_that_are_nested_deeply_are_refused(tmp_path: pathlib.Path) -> None:
    header = b'{"x":' + b"[" * 200_000
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(tw.FileError, match="nested too deeply"):
        heads(tmp_path)


def test_a_folder_is_read_in_the_order_of_transformers(tmp_path: pathlib.Path) -> None:
    for name in "abc":
        write(tmp_path / f"{name}.safetensors", {name: ("F32", [1])})
    assert list(heads(tmp_path)) == ["a", "b", "c"]
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "a.safetensors", "b": "b.safetensors", "z": "b.safetensors"}}))
    assert list(heads(tmp_path)) == ["a", "b"]
    assert indexed(tmp_path) == indexed(index) == ["a", "b", "z"]
    write(tmp_path / "model.safetensors", {"single": ("F32", [1])})
    assert list(heads(tmp_path)) == ["single"] and indexed(tmp_path) == []
    model, published = moe([0, 1])
    gone = audited(lib_of(MOE, {name: Tensor(*head.shape) for name, head in published.items()}), model, published, ("z",))
    assert kinds(gone) == {"index": True} and "'z'" in str(gone)


def test_pickles_and_paths_out_of_the_folder_are_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04N.")
    with pytest.raises(tw.FileError, match="pickled files .* are not read"):
        heads(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": "../a.safetensors"}}))
    with pytest.raises(tw.FileError, match="names of files beside it"):
        heads(tmp_path)
    write(tmp_path / "a.safetensors", {"x": ("F32", [1])})
    write(tmp_path / "b.safetensors", {"x": ("F32", [1])})
    (tmp_path / "model.safetensors.index.json").unlink()
    with pytest.raises(tw.FileError, match="'x' is in a.safetensors and in b.safetensors"):
        heads(tmp_path)


def test_values_are_compared_as_an_element_type_and_in_exchanged_dims(tmp_path: pathlib.Path) -> None:
    def place(name: str, dtype: str, shape: tuple[int, ...], words: list[int]) -> files.Place:
        size = 4 if dtype == "F32" else 2
        data = b"".join(word.to_bytes(size, "little") for word in words)
        header = json.dumps({"x": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}).encode()
        (tmp_path / name).write_bytes(struct.pack("<Q", len(header)) + header + data)
        return files.Place(tmp_path / name, "x", heads(tmp_path / name)["x"])

    wide = place("wide", "F32", (3,), [0x3F808001, 0x7F800001, 0x3F808000])
    assert files.same_values(wide, place("narrow", "BF16", (3,), [0x3F81, 0x7FC0, 0x3F80]), "BF16")
    assert not files.same_values(wide, place("other", "BF16", (3,), [0x3F81, 0x7FC0, 0x3F81]), "BF16")
    assert files.same_values(wide, place("half", "F16", (3,), [0x3C04, 0x7E00, 0x3C04]), "F16")
    assert not files.same_values(wide, wide, "F64")
    one = place("one", "BF16", (2, 2, 2), [*range(8)])
    assert files.same_values(one, place("turned", "BF16", (2, 2, 2), [0, 2, 1, 3, 4, 6, 5, 7]), "BF16", (1, 2))
    assert files.same_values(one, place("first", "BF16", (2, 2, 2), [0, 1, 4, 5, 2, 3, 6, 7]), "BF16", (0, 1))
    assert not files.same_values(one, one, "BF16", (1, 2))


# A library of the test's own.


class Tensor:
    """A tensor without data."""

    def __init__(self, *shape: int, dtype: str = "float32") -> None:
        self.shape, self.dtype = shape, dtype


class Renaming:
    """A change of names."""

    _original_source_patterns: list[str] = []

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new, self.source_patterns = old, new, [old]

    def was_used(self) -> bool:
        return True


class MergeModulelist:
    """Stacks a list."""

    def __init__(self, dim: int = 0) -> None:
        self.dim = dim

    def get_target_pattern(self, count: int, source: str, targets: list[str]) -> str:
        return targets[0] if count == 1 else source


class Concatenate:
    """Joins tensors."""

    def __init__(self, dim: int = 0) -> None:
        self.dim = dim

    def get_target_pattern(self, targets: list[str]) -> str:
        return targets[0]


class Softmax:
    """An operation that computes."""


class Converter:
    """A change of tensors: patterns with ``*`` for a number."""

    _original_source_patterns: list[str] = []

    def __init__(self, sources: list[str], targets: list[str], operations: list[Any]) -> None:
        self.source_patterns, self.target_patterns, self.operations = sources, targets, operations

    def was_used(self) -> bool:
        return True


def rename_source_key(name: str, renamings: Any, converters: Any, prefix: str, meta: Any) -> tuple[str, str | None]:
    """As the loader of transformers: all renamings, then one converter."""
    for one in renamings:
        name = re.sub(one.old, one.new, name)
    for one in converters:
        for pattern in one.source_patterns:
            found = re.search(pattern.replace(".", r"\.").replace("*", r"\d+"), name)
            if found:
                return name[: found.start()] + one.target_patterns[0] + name[found.end() :], pattern
    return name, None


class Model:
    """A model without data."""

    base_model_prefix = ""
    dtype = "bfloat16"
    all_tied_weights_keys: dict[str, str] = {}

    def __init__(self, state: dict[str, Tensor], **config: Any) -> None:
        self.state = state
        self.config = types.SimpleNamespace(to_dict=lambda: config, **config)

    def state_dict(self) -> dict[str, Tensor]:
        return self.state

    def children(self) -> list[Any]:
        return []


def lib_of(transforms: list[Any], saved: Any = None) -> Library:
    """A library with this mapping; ``saved`` gives the names that it writes."""
    loading = types.SimpleNamespace(
        WeightRenaming=Renaming, WeightConverter=Converter, dot_natural_key=str, rename_source_key=rename_source_key,
        MergeModulelist=MergeModulelist, Concatenate=Concatenate,
        revert_weight_conversion=lambda model, state: saved if saved is not None else state,
    )
    lib = Library.__new__(Library)
    lib.loading = loading
    lib.mapping = types.SimpleNamespace(get_model_conversion_mapping=lambda model: list(transforms))
    lib.transformers = types.SimpleNamespace(__version__="5.0")
    lib.torch = types.SimpleNamespace()
    return lib


MOE = [
    Renaming("^blocks", "layers"),
    Converter(["experts.*.gate", "experts.*.up"], ["experts.gate_up"], [MergeModulelist(), Concatenate(1)]),
    Converter(["experts.*.down"], ["experts.down"], [MergeModulelist()]),
]


def moe(numbers: list[int], layers: int = 2) -> tuple[Model, dict[str, Head]]:
    """A model with experts, and its published names."""
    state = {"norm": Tensor(4, dtype="float32")}
    published = {"norm": Head((4,), "F32")}
    for layer in range(layers):
        state[f"layers.{layer}.experts.gate_up"] = Tensor(len(numbers), 6, 4)
        state[f"layers.{layer}.experts.down"] = Tensor(len(numbers), 4, 3)
        for number in numbers:
            for name, shape in (("gate", (3, 4)), ("up", (3, 4)), ("down", (4, 3))):
                published[f"blocks.{layer}.experts.{number}.{name}"] = Head(shape, "F32")
    return Model(state), published


def generated(lib: Library, model: Model, published: dict[str, Head]) -> str:
    """The recipe of a model."""
    return generating.generated(published_by(lib, model, published), lambda _, before: before)


def published_by(lib: Library, model: Model, heads: dict[str, Head]) -> Published:
    """A checkpoint with a model."""
    return Published(lib, model, heads, dict(model.config.to_dict()))


def audited(lib: Library, model: Model, heads: dict[str, Head], unfiled: tuple[str, ...] = ()) -> auditing.Audit:
    """The audit of a checkpoint."""
    return auditing.audited(dataclasses.replace(published_by(lib, model, heads), unfiled=unfiled))


def test_a_recipe_stacks_and_joins_as_the_library_does() -> None:
    model, published = moe([0, 1, 2])
    recipe = generated(lib_of(MOE), model, published)
    assert recipe.count("[[map]]") == 2 and 'pass = ["norm"]' in recipe
    assert 'to = "layers.{L0}.experts.gate_up : e (a + a\') b"' in recipe
    made, _ = _tilewright.solve_recipe(recipe, [(name, "f32", head.shape) for name, head in published.items()])
    assert {head[0]: tuple(head[2]) for head, _ in made} == {name: one.shape for name, one in model.state.items()}


def test_recipes_refuse_what_computes_holes_and_collisions() -> None:
    model, published = moe([0, 1, 2])
    computes = [*MOE[:2], Converter(["experts.*.down"], ["experts.down"], [MergeModulelist(), Softmax()])]
    with pytest.raises(tw.UnsupportedError, match="Softmax: a recipe cannot express this operation"):
        generated(lib_of(computes), model, published)
    hole = {name.replace("experts.2", "experts.3"): head for name, head in published.items()}
    with pytest.raises(tw.UnsupportedError, match=r"the numbers \[2\] are missing"):
        generated(lib_of(MOE), model, hole)
    both = published | {"layers.0.experts.down": Head((3, 4, 3), "F32")}
    with pytest.raises(tw.UnsupportedError, match="beside the list that it is made of"):
        generated(lib_of(MOE), model, both)
    twice = published | {"other_norm": Head((4,), "F32")}
    with pytest.raises(tw.UnsupportedError, match="would both become 'norm'"):
        generated(lib_of([*MOE, Renaming("^other_", "")]), model, twice)


def kinds(audit: auditing.Audit) -> dict[str, bool]:
    """The kinds of findings, with whether something is lost."""
    return {one.kind: one.loses for one in audit.findings}


def test_the_audit_names_what_would_be_lost() -> None:
    model, published = moe([0, 1, 2])
    same = {name: Tensor(*head.shape) for name, head in published.items()}
    sound = audited(lib_of(MOE, same), model, published)
    assert kinds(sound) == {} and not sound.loses
    assert str(sound).endswith("nothing would be lost")
    hole = {name.replace("experts.2", "experts.3"): head for name, head in published.items()}
    assert kinds(audited(lib_of(MOE, same), model, hole))["hole"]
    more = published | {"mtp.0.w": Head((1,), "F32"), "mtp.1.w": Head((1,), "F32")}
    audit = audited(lib_of(MOE, same), model, more)
    assert kinds(audit) == {"ignored": True} and "mtp.*" in str(audit)
    assert audit.to_json()["findings"][0]["names"] == ["mtp.0.w", "mtp.1.w"]
    both = published | {"layers.0.experts.down": Head((3, 4, 3), "F32")}
    assert kinds(audited(lib_of(MOE, same), model, both))["collision"]
    fewer = {name: head for name, head in published.items() if name != "norm"}
    assert kinds(audited(lib_of(MOE, same), model, fewer))["random"]
    last = {name: head for name, head in published.items() if "experts.2" not in name}
    found = audited(lib_of(MOE, same), model, last).findings[0]
    assert found.kind == "shape" and found.loses and len(found.names) == 4 and "(2, 4, 3) instead of (3, 4, 3)" in found.message
    one = published | {"norm": Head((5,), "F32")}
    assert kinds(audited(lib_of(MOE, same), model, one))["shape"]
    renamed = {f"model.{name}": tensor for name, tensor in same.items()}
    assert kinds(audited(lib_of(MOE, renamed), model, published))["renamed"]
    turned = same | {"norm": Tensor(2, 2)}
    assert kinds(audited(lib_of(MOE, turned), model, published)) == {"reshaped": True}
    model.state["norm"] = Tensor(4, dtype="bfloat16")
    assert kinds(audited(lib_of(MOE, same), model, published)) == {"rounded": True}
    wide = {name: Head(head.shape, "BF16") for name, head in published.items()}
    model.state["norm"] = Tensor(4, dtype="float32")
    assert kinds(audited(lib_of(MOE, same), model, wide)) == {"widened": False}


def test_a_list_that_starts_late_is_named_and_refused() -> None:
    for numbers, missing in (([1, 2, 3], "0"), ([2], "0 to 1")):
        model, published = moe(numbers)
        audit = audited(lib_of(MOE), model, published)
        assert kinds(audit)["hole"] is True
        assert f"the numbers [{missing}] are missing" in str(audit)
        with pytest.raises(tw.UnsupportedError, match="are missing; transformers would close the gap"):
            generated(lib_of(MOE), model, published)


def test_a_list_of_one_is_a_list() -> None:
    own = [Converter(["experts.*.w1"], ["experts.w1"], [MergeModulelist()])]
    model = Model({f"layers.{layer}.experts.w1": Tensor(1, 3, 4) for layer in range(2)})
    published = {f"layers.{layer}.experts.0.w1": Head((3, 4), "F32") for layer in range(2)}
    recipe = generated(lib_of(own), model, published)
    assert '"layers.{L0}.experts.{e}.w{L1} : a b"' in recipe
    made, _ = _tilewright.solve_recipe(recipe, [(name, "f32", head.shape) for name, head in published.items()])
    assert {head[0]: tuple(head[2]) for head, _ in made} == {name: one.shape for name, one in model.state.items()}
    assert "hole" not in kinds(audited(lib_of(own), model, published))


def test_a_list_of_two_may_be_cut_into_lists_of_one() -> None:
    split = type("ErnieFuseAndSplitTextVisionExperts", (), {"stack_dim": 0, "concat_dim": 1})()
    own = [Converter(["experts.*.w1"], ["text.w1", "vision.w1"], [split])]
    model = Model({"layers.0.text.w1": Tensor(1, 3, 4), "layers.0.vision.w1": Tensor(1, 2, 4)})
    published = {"layers.0.experts.0.w1": Head((3, 4), "F32"), "layers.0.experts.1.w1": Head((2, 4), "F32")}
    recipe = generated(lib_of(own), model, published)
    made, _ = _tilewright.solve_recipe(recipe, [(name, "f32", head.shape) for name, head in published.items()])
    assert {head[0]: tuple(head[2]) for head, _ in made} == {name: one.shape for name, one in model.state.items()}


def test_a_recipe_that_makes_a_tensor_of_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a", "b"]
    model = Model({f"m.{name}": Tensor(2) for name in names})
    published = {name: Head((2,), "F32") for name in names}
    lib = lib_of([Renaming("^", "m.")])
    assert "[[map]]" in generated(lib, model, published)
    swapped = '[[map]]\nfrom = "a"\nto = "m.b"\n[[map]]\nfrom = "b"\nto = "m.a"\n'
    monkeypatch.setattr(generating, "recipe", lambda *_, **__: swapped)
    with pytest.raises(tw.UnsupportedError, match="the recipe makes 'm.a' of 'b', and transformers of 'a'"):
        generated(lib, model, published)


@pytest.mark.parametrize("name", ["*", "extra.*", "a{b}", "a b", "w : i", "\0", ""])
def test_names_that_a_recipe_would_read_as_patterns_are_refused(name: str) -> None:
    model, published = moe([0, 1])
    with pytest.raises(tw.UnsupportedError, match=re.escape(f"cannot name the tensor {name!r}")):
        generated(lib_of(MOE), model, published | {name: Head((1,), "F32")})
    assert kinds(audited(lib_of(MOE), model, published | {name: Head((1,), "F32")}))["ignored"]


def test_tensors_of_a_quantiser_are_named_and_not_judged() -> None:
    model, published = moe([0, 1])
    same = {name: Tensor(*head.shape) for name, head in published.items()}
    scaled = published | {"norm_scale": Head((1,), "F32"), "blocks.0.experts.1.down_scale_inv": Head((1,), "F32")}
    model.config.quantization_config = {"quant_method": "fp8"}
    audit = audited(lib_of(MOE, same), model, scaled | {"mtp.w": Head((1,), "F32")})
    assert kinds(audit) == {"operation": False, "ignored": True} and "the quantiser `fp8` reads 2 tensors" in str(audit)
    with pytest.raises(tw.UnsupportedError, match=r"`quantization_config` \(fp8\)"):
        generated(lib_of(MOE), model, scaled)


def test_integers_pass() -> None:
    model, published = moe([0, 1])
    recipe = generated(lib_of(MOE), model, published | {"norm": Head((4,), "I64")})
    assert 'pass = ["norm"]' in recipe


def test_a_changed_mapping_is_noted_only_where_saving_differs() -> None:
    model, published = moe([0, 1])
    renaming = Renaming("^blocks", "layers")
    renaming._original_source_patterns = ["old"]
    lib = lib_of([renaming, *MOE[1:]])

    def save(model: Model, state: dict[str, Tensor]) -> dict[str, Tensor]:
        model._weight_conversions[0]._original_source_patterns = ["new"]
        return {name: Tensor(*head.shape) for name, head in published.items()}

    lib.loading.revert_weight_conversion = save
    assert kinds(audited(lib, model, published)) == {}
    lib.loading.revert_weight_conversion = lambda model, state: {f"m.{name}": one for name, one in save(model, state).items()}
    assert kinds(audited(lib, model, published))["mapping"] is False


def test_groups_are_the_loaders() -> None:
    model, published = moe([0, 1])
    found = loader.loaded(lib_of(MOE), model, [*published, "other"])
    assert found.ignored == {"other": "other"} and found.missing == []
    assert len(found.groups) == 5


# The program.


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the program in another process."""
    return subprocess.run([sys.executable, "-m", "tilewright", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.skipif(HAS_TRANSFORMERS, reason="transformers is installed")
def test_the_program_says_how_to_install_what_is_missing(tmp_path: pathlib.Path) -> None:
    for arguments in (["recipe", "transformers", "x"], ["recipe", "audit", "x"], ["convert", "x", "y", "--recipe", "transformers"]):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (3, "")
        assert "pip install transformers torch" in done.stderr
    with pytest.raises(ImportError, match="pip install transformers torch"):
        tt.audit(tmp_path)


def test_the_way_back_asks_for_the_published_checkpoint() -> None:
    done = run("convert", "saved", "out", "--recipe", "transformers", "--inverse")
    assert done.returncode == 2
    assert "--inverse --carry PUBLISHED/" in done.stderr


def test_options_of_the_program_are_told_from_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    said = run("convert", "--help").stdout
    own = {"--recipe", "--carry", "--class", "--squares", "--output", "-o"}
    assert program.VALUES - own == set(re.findall(r"^ +(?:-\w, )?(--[\w-]+) <", said, re.M)) - own
    asked: list[Any] = []
    text = "round = true\n"
    monkeypatch.setattr(tt, "recipe", lambda *paths, **options: asked.append((paths, options)) or text)

    def done(arguments: list[str]) -> int:
        asked.append(arguments[:-1])
        return 0

    for more, keys, options in (
        ([], {"keep": False, "round": False}, []), (["--round"], {"keep": False, "round": True}, ["--allow", "round"]),
        (["--keep", "--verify"], {"keep": True, "round": False}, ["--verify"]),
    ):
        line = ["-q", "convert", "--memory", "4GiB", "IN", "--size", "n=3", "OUT", *more, "--recipe", "transformers", "--class", "C"]
        assert program.command(line, done) == 0
        kept = [one for one in options if one == "--verify"]
        assert asked[0] == (("IN", "IN"), {"cls": "C"} | keys)
        rest = [one for one in options if one != "--verify"]
        assert asked[1] == ["convert", "-q", "--memory", "4GiB", "IN", "--size", "n=3", "OUT", *kept, *rest, "--recipe"]
        asked.clear()
    assert program.command(["convert", "IN", "--recipe", "transformers", "--to", "OUT"], done) == 2
    assert program.command(["convert", "--to", "recipe", "a", "audit"], done) is None


def test_the_way_back_names_options_that_it_does_not_take() -> None:
    done = run("convert", "a", "b", "--recipe", "transformers", "--inverse", "--carry", "c", "--memory", "4GiB")
    assert done.returncode == 2 and "--memory: the way back takes" in done.stderr
