"""The parts of ``tilewright.vllm`` that need no vLLM; `cargo xtask oracles learn` tests the rest."""

import logging
import sys
import types
from pathlib import Path

import pytest
import tilewright as tw
import tilewright.vllm


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    vllm = types.ModuleType("vllm")
    vllm.__version__ = "9.9.9"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", vllm)


def test_unknown_versions_are_refused_by_name(unknown: None, tmp_path: Path) -> None:
    with pytest.raises(tw.ArgumentError, match="learn make"):
        tilewright.vllm.dump(tmp_path, tmp_path / "dumps")
    (tmp_path / "probe.json").write_text("{}")
    (tmp_path / "load0").mkdir()
    with pytest.raises(tw.ArgumentError, match="config.json"):
        tilewright.vllm.dump(tmp_path, tmp_path / "dumps")
    (tmp_path / "load0" / "config.json").write_text("{}")
    with pytest.raises(tw.UnsupportedError, match="vLLM 9.9.9 is installed, and tilewright.vllm knows 0.32.0"):
        tilewright.vllm.dump(tmp_path, tmp_path / "dumps")
    with pytest.raises(tw.ArgumentError, match="there are ranks 0 to 1"):
        tilewright.vllm.dump(tmp_path, tmp_path / "dumps", tensor_parallel_size=2, ranks=[2])


def test_the_plugin_leaves_unknown_versions_alone(unknown: None, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="vllm.tilewright"):
        tilewright.vllm.register()
    assert "not registered: vLLM 9.9.9" in caplog.text


def test_memory_is_by_storage_and_in_order() -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Module()
    module.turned = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t(), requires_grad=False)
    module.alias = module.turned
    module.register_buffer("kept", torch.zeros(4))
    module.register_buffer("table", torch.zeros(4), persistent=False)
    whole = torch.arange(10.0)
    module.part = torch.nn.Parameter(whole[2:5], requires_grad=False)
    found = tilewright.vllm.memories(module)
    assert {name: tuple(tensor.shape) for name, tensor in found.items()} == {"turned": (2, 3), "kept": (4,), "part": (10,)}
    assert found["turned"].flatten().tolist() == list(range(6))
    found["turned"].fill_(7)
    assert module.turned.unique().tolist() == [7]


def test_what_attention_packed_is_found_beside_the_parameters() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Module()
    model.mla, model.plain, model.reference = torch.nn.Module(), torch.nn.Module(), torch.nn.Module()
    half = torch.arange(24.0).reshape(2, 3, 4)
    model.mla.impl = types.SimpleNamespace(_w_uk_packed=half.transpose(1, 2), _w_uv_packed=half + 24, _w_scale=None)
    model.reference.impl = types.SimpleNamespace(_w_uk_packed=None)
    found = tilewright.vllm._attention(model)
    assert {name: tuple(tensor.shape) for name, tensor in found.items()} == {
        "mla.impl._w_uk_packed": (2, 3, 4),
        "mla.impl._w_uv_packed": (2, 3, 4),
    }
    half.zero_()
    assert found["mla.impl._w_uk_packed"].flatten().tolist() == list(range(24))
