"""Models that a recipe fills while transformers loads them: the same logits, in layouts that strides can say, within memory.

    python loads.py

Each family is published in three files, with tensors of its own published names. `tilewright.transformers.load` must give the
model that `from_pretrained` gives: bit by bit, and with the same logits. For one larger model, the peak of memory is measured.
"""

from __future__ import annotations

import gc
import json
import pathlib
import sys
import tempfile
import threading
import time
import warnings
from typing import Any

import torch
import transformers
from defects import published
from safetensors.torch import save_file

import tilewright as tw
import tilewright.transformers as tt
from tilewright._transformers.files import heads

TEXT = {"hidden_size": 60, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 10,
        "vocab_size": 83, "intermediate_size": 44}
EXPERTS = TEXT | {"moe_intermediate_size": 12, "num_experts_per_tok": 2, "tie_word_embeddings": False}
VISION = {"hidden_size": 32, "intermediate_size": 40, "image_size": 28, "patch_size": 14}
#: Sizes that other tests do not have: odd numbers of experts and heads, and experts of which two dims are equal.
FAMILIES: dict[str, dict[str, Any]] = {
    "LlamaForCausalLM": TEXT | {"tie_word_embeddings": True},
    "Qwen3MoeForCausalLM": EXPERTS | {"num_experts": 5},
    "MixtralForCausalLM": TEXT | {"num_local_experts": 5, "num_experts_per_tok": 2},
    "DeepseekV3ForCausalLM": EXPERTS | {"n_routed_experts": 6, "n_group": 3, "topk_group": 1, "first_k_dense_replace": 1,
                                        "q_lora_rank": 18, "kv_lora_rank": 11, "qk_rope_head_dim": 6, "qk_nope_head_dim": 7,
                                        "v_head_dim": 9, "num_key_value_heads": 6, "head_dim": 6},
    "GptOssForCausalLM": TEXT | {"num_local_experts": 5, "num_experts_per_tok": 2},
    "Gemma3ForConditionalGeneration": {"text_config": TEXT, "mm_tokens_per_image": 4,
                                       "vision_config": VISION | {"num_hidden_layers": 2, "num_attention_heads": 4}},
    "Qwen3VLMoeForConditionalGeneration": {"text_config": EXPERTS | {"num_experts": 5, "moe_intermediate_size": 30}, "vision_config": {
        "depth": 2, "hidden_size": 32, "intermediate_size": 40, "num_heads": 4, "out_hidden_size": 60, "deepstack_visual_indexes": [0]}},
    "NomicBertModel": TEXT | {"num_key_value_heads": 6},
}
#: A model whose tensors show in the memory of the process: 435 MiB, of which the largest has 64 MiB.
LARGE = {"hidden_size": 1024, "intermediate_size": 2048, "moe_intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
         "num_key_value_heads": 2, "head_dim": 128, "num_experts": 32, "num_experts_per_tok": 4, "vocab_size": 8000,
         "tie_word_embeddings": False}


def folder(cls: Any, config: Any, path: pathlib.Path) -> pathlib.Path:
    """A published checkpoint in three files."""
    config.architectures = [cls.__name__]
    path.mkdir()
    torch.manual_seed(0)
    model = cls(config).to(config.dtype or torch.float32).eval()
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    tensors = {name: tensor for name, tensor in published(model).items() if name not in tied}
    owners = {}
    for at in range(3):
        file = f"model-{at + 1:05d}-of-00003.safetensors"
        part = {name: tensors[name].contiguous().clone() for name in sorted(tensors)[at::3]}
        save_file(part, path / file, {"format": "pt"})
        owners |= dict.fromkeys(part, file)
    (path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": owners}))
    config.save_pretrained(path)
    return path


def answer(model: Any) -> Any:
    """What a model computes of a few tokens."""
    with torch.no_grad():
        return model.eval()(input_ids=torch.arange(1, 12).reshape(1, -1))[0]


def same(name: str, path: pathlib.Path) -> None:
    """A family: all tensors and the logits are those of transformers' own loading; saving writes the same names."""
    cls = getattr(transformers, name)
    folder(cls, cls.config_class(**FAMILIES[name]), path)
    want = cls.from_pretrained(path, dtype=torch.float32)
    got = tt.load(name, path, dtype=torch.float32)
    one, other = want.state_dict(), got.state_dict()
    # transformers does not transpose experts of which two dims are equal; the recipe does, as the published layout says.
    square = {item for finding in tt.audit(path).findings if finding.kind == "square" for item in finding.names}
    wrong = [item for item in one if item not in square and not torch.equal(one[item], other[item])]
    assert one.keys() == other.keys() and not wrong, f"{name}: {wrong[:3]}"
    if square:
        assert all(torch.equal(one[item].transpose(1, 2), other[item]) for item in square), name
    else:
        assert torch.equal(answer(want), answer(got)), f"{name}: the logits differ"
    got.save_pretrained(path / "saved")
    want.save_pretrained(path / "wanted")
    assert heads(path / "saved").keys() == heads(path / "wanted").keys(), f"{name}: saving writes other names"


def layouts(path: pathlib.Path) -> None:
    """Parameters in another layout have its strides and the same logits; other layouts are refused by name."""
    cls = transformers.Qwen3MoeForCausalLM
    folder(cls, cls.config_class(**FAMILIES["Qwen3MoeForCausalLM"]), path)
    plain = tt.load(cls, path, dtype=torch.float32)
    turned = tt.load(cls, path, dtype=torch.float32, layout={"*.q_proj.weight": "col-major"})
    weight = turned.model.layers[0].self_attn.q_proj.weight
    assert weight.stride() == (1, 60) and torch.equal(weight, plain.model.layers[0].self_attn.q_proj.weight)
    assert torch.allclose(answer(plain), answer(turned), atol=1e-6)
    for layout, message in (({"*.q_proj.weight": "zN"}, "strides only"), ({"nothing": "col-major"}, "no tensor")):
        try:
            tt.load(cls, path, layout=layout)
        except tw.Error as error:
            assert message in str(error), error
        else:
            raise AssertionError(f"{layout} was taken")


def anonymous() -> int:
    """The memory of the process that no file backs, in bytes."""
    text = pathlib.Path("/proc/self/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) * 1024


def memory(path: pathlib.Path) -> None:
    """The peak of memory is at most one tensor above the model."""
    cls = transformers.Qwen3MoeForCausalLM
    folder(cls, cls.config_class(**LARGE, dtype="bfloat16"), path)
    gc.collect()
    start, peak, done = anonymous(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    model = tt.load(cls, path)
    seconds = time.perf_counter() - began
    done.set()
    watcher.join()
    sizes = [tensor.numel() * tensor.element_size() for tensor in model.state_dict().values()]
    above = peak - start - sum(sizes)
    print(f"  model {sum(sizes) >> 20} MiB, largest tensor {max(sizes) >> 20} MiB, peak {above / 2**20:.0f} MiB above, {seconds:.1f} s")
    assert above <= max(sizes), "more than one tensor above the model"


def main() -> int:
    """Asks about all families; the exit code is 1 if one differs."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.filterwarnings("ignore")
    failed = 0
    checks = [*((name, lambda path, name=name: same(name, path)) for name in FAMILIES), ("layouts", layouts), ("memory", memory)]
    for name, act in checks:
        with tempfile.TemporaryDirectory() as work:
            print(f"load {name}", flush=True)
            try:
                act(pathlib.Path(work) / "published")
            except (AssertionError, tw.Error) as error:
                failed += 1
                print(f"  FAILED: {error}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
