"""The shipped recipes: for each one a tiny checkpoint as published, and who reads the result.

A case makes the source in a folder, runs the program, and asks its consumers. A consumer answers with differences in words.
"""

import json
import pathlib
import shutil
import subprocess

import torch
from safetensors.torch import load_file, save_file

import by_llama_cpp as llama_cpp
import by_megatron as megatron
import by_mlx as mlx
import models
import by_rows as splits
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText
from transformers.monkey_patching import clear_patch_mapping
from transformers.models.step3p7.modeling_step3p7 import Step3p7VisionModel

SIZES = ("apart", "square", "grouped")


class Run:
    """One conversion: the program, its folders, and what it said."""

    def __init__(self, program, recipe, folder):
        self.program, self.recipe = program, recipe
        self.source, self.folder = folder / "source", folder

    def convert(self, out, *options, inverse=False):
        words = [self.program, "convert", str(self.source), str(out), "--recipe", self.recipe, "--verify", "-q", *options]
        return subprocess.run(words, capture_output=True, text=True)

    def converted(self, out, *options):
        done = self.convert(out, *options)
        if done.returncode:
            raise AssertionError(f"exit {done.returncode}: {done.stderr.strip()[:300]}")
        return out


class Case:
    """A recipe on a family in some sizes."""

    def __init__(self, recipe, family, sizes=SIZES, refused=(), **more):
        self.recipe, self.family, self.sizes, self.refused, self.more = recipe, family, sizes, refused, more

    def made(self, size, dtype):
        return models.model(self.family, size, dtype, **self.more)

    def published(self, made, folder):
        made.save_pretrained(folder)

    def ask(self, run, size):
        """Pairs of a consumer and its differences."""
        raise NotImplementedError

    def source(self, run, size, dtype):
        shutil.rmtree(run.folder, ignore_errors=True)
        run.folder.mkdir(parents=True)
        made = self.made(size, dtype)
        self.published(made, run.source)
        return made

    def wrong(self, run):
        """What has to be refused and was not: changes of the configuration or of the options."""
        self.source(run, self.sizes[0], torch.bfloat16)
        config = json.loads((run.source / "config.json").read_text())
        for change in self.refused:
            changed = config | {name: value for name, value in change.items() if not name.startswith("--")}
            (run.source / "config.json").write_text(json.dumps(changed))
            options = [word for name, value in change.items() if name.startswith("--") for word in (name, value)]
            out = run.folder / "refused"
            done = run.convert(out, *options, *self.besides(run))
            if done.returncode != 2 or out.exists():
                shutil.rmtree(out, ignore_errors=True)
                yield f"{change}: exit {done.returncode}, which must be 2"

    def besides(self, run):
        return []


class Gguf(Case):
    """To GGUF: the same file as llama.cpp's converter makes, and the same logits in llama.cpp itself."""

    library = None
    # Keys of published configurations that transformers does not write any more, and llama.cpp's converter reads.
    older = {"gpt_neox": {"rotary_pct": 0.5}}

    def published(self, made, folder):
        super().published(made, folder)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | self.older.get(self.family, {})))

    def ask(self, run, size):
        for dtype in (torch.bfloat16, torch.float32):
            made = self.source(run, size, dtype)
            theirs, ours = run.folder / "theirs.gguf", run.folder / "ours.gguf"
            llama_cpp.converted(run.source, theirs)
            run.converted(ours, "--metadata", str(theirs))
            yield "gguf", llama_cpp.compared(ours, theirs)
            yield "back", self.back(run, ours)
        if llama_cpp.LIBRARY:
            Gguf.library = Gguf.library or llama_cpp.Library()
            words = made.config.vocab_size
            theirs = Gguf.library.logits(ours, models.TOKENS, words)
            yield "llama.cpp", near(models.logits(made), torch.from_numpy(theirs))

    def back(self, run, ours):
        """What the inverse that the file records gives, beside the source."""
        out = run.folder / "back.safetensors"
        words = [run.program, "convert", str(ours), str(out), "--inverse", "--verify", "-q"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return [f"exit {done.returncode}: {done.stderr.strip()[:300]}"]
        found, before = load_file(out), load_file(run.source / "model.safetensors")
        same = lambda name: name in found and name in before and torch.equal(found[name], before[name])  # noqa: E731
        return [f"{name} differs" for name in sorted(found.keys() | before.keys()) if not same(name)]

    def besides(self, run):
        out = run.folder / "theirs.gguf"
        if not out.exists():
            config = json.loads((run.source / "config.json").read_text())
            self.source(run, self.sizes[0], torch.bfloat16)
            llama_cpp.converted(run.source, out)
            (run.source / "config.json").write_text(json.dumps(config))
        return ["--metadata", str(out)]


def near(ours, theirs):
    """Logits of other kernels: half-precision caches differ in the third digit."""
    away, most = float((ours - theirs).abs().max()), float(ours.abs().max())
    return [] if away <= 0.01 * most else [f"logits differ by {away:.2g} of {most:.2g}"]


class Transformers(Case):
    """To a class of transformers: every tensor bit for bit, none missing or left, and the same logits."""

    auto = AutoModelForCausalLM
    after = None
    fusion = None

    def ask(self, run, size):
        made = self.source(run, size, torch.bfloat16)
        out = run.converted(run.folder / "out")
        yield "transformers", self.loaded(made, out)

    def loaded(self, made, out):
        more = {"fusion_config": self.fusion} if self.fusion else {}
        held, told = self.auto.from_pretrained(out, output_loading_info=True, dtype=torch.bfloat16, **more)
        # A fusion stays for all models that are made afterwards.
        clear_patch_mapping()
        if self.after and type(held).__name__ not in self.after:
            return [f"the configuration makes a {type(held).__name__}, none of {self.after}"]
        wrong = [f"{name}: {', '.join(map(str, list(keys)[:2]))}" for name, keys in told.items() if keys]
        return wrong + (self.state(made, held) or self.same(made, held))

    def state(self, made, held):
        theirs = {name: tensor for name, tensor in made.state_dict().items()}
        ours = held.state_dict()
        if theirs.keys() != ours.keys():
            return [f"other names: {', '.join(sorted(theirs.keys() ^ ours.keys())[:3])}"]
        return [f"{name} differs" for name, tensor in theirs.items() if not torch.equal(tensor, ours[name].to(tensor.dtype))]

    def same(self, made, held):
        tokens = [token % made.config.get_text_config().vocab_size for token in models.TOKENS]
        return [] if torch.equal(models.logits(made, tokens), models.logits(held.to(torch.bfloat16), tokens)) else ["other logits"]


class Split(Case):
    """A fused projection in pieces: the rows that the model's own code takes for query, key and value."""

    def __init__(self, recipe, family, layer, rows, fused, pieces, **more):
        super().__init__(recipe, family, **more)
        self.layer, self.rows, self.fused, self.pieces = layer, rows, fused, pieces

    def ask(self, run, size):
        made = self.source(run, size, torch.bfloat16)
        out = run.converted(run.folder / "out")
        found, before = load_file(out / "model.safetensors"), load_file(run.source / "model.safetensors")
        rows = self.rows(made)
        yield "transformers' code", [wrong for layer in range(2) for wrong in self.layer_of(found, before, self.layer.format(layer), rows)]

    def layer_of(self, found, before, layer, rows):
        for kind in ("weight", "bias"):
            whole = before.get(f"{layer}{self.fused}.{kind}")
            if whole is None:
                continue
            for name, taken in zip(self.pieces, rows):
                piece = found.get(f"{layer}{name}.{kind}")
                expected = self.taken(whole, taken)
                if piece is None or piece.shape != expected.shape or not torch.equal(piece, expected):
                    yield f"{layer}{name}.{kind} is {'missing' if piece is None else 'other rows'}"

    @staticmethod
    def taken(whole, rows):
        return whole[rows]


class Transposed(Split):
    """GPT-2: layers are stored inputs first, and become outputs first."""

    @staticmethod
    def taken(whole, rows):
        return whole[..., rows].T.contiguous() if whole.dim() == 2 else whole[rows]

    def ask(self, run, size):
        yield from super().ask(run, size)
        found, before = load_file(run.folder / "out/model.safetensors"), load_file(run.source / "model.safetensors")
        turned = [name for name in before if name.endswith(("c_proj.weight", "c_fc.weight"))]
        yield "transformers' code", [f"{name} is not transposed" for name in turned if not torch.equal(found[name], before[name].T)]


class Phi3(Transformers):
    """Phi-3 in Llama's class: the logits are the same, and the rows are those that Phi-3's own code takes."""

    # A model with a sliding window needs Mistral's class, whose tensors are the same.
    after = ("LlamaForCausalLM", "MistralForCausalLM")

    def state(self, made, held):
        theirs, rows = made.state_dict(), splits.phi3(made)
        made.config._attn_implementation = "eager"
        for layer in made.model.layers:
            layer.self_attn.config._attn_implementation = "eager"
        for layer in range(2):
            at = f"model.layers.{layer}"
            qkv, gate_up = theirs.pop(f"{at}.self_attn.qkv_proj.weight"), theirs.pop(f"{at}.mlp.gate_up_proj.weight")
            for name, taken in zip("qkv", rows):
                theirs[f"{at}.self_attn.{name}_proj.weight"] = qkv[taken]
            theirs[f"{at}.mlp.gate_proj.weight"], theirs[f"{at}.mlp.up_proj.weight"] = gate_up.chunk(2)
        ours = held.state_dict()
        if theirs.keys() != ours.keys():
            return [f"other names: {', '.join(sorted(theirs.keys() ^ ours.keys())[:3])}"]
        return [f"{name} differs" for name in theirs if not torch.equal(theirs[name], ours[name])]

    def same(self, made, held):
        ours, theirs = models.logits(made.float()), models.logits(held.float())
        return near(ours, theirs)


class Published(Transformers):
    """A source that no class of transformers writes: `before` names and cuts the tensors of its class."""

    def __init__(self, recipe, family, before, **more):
        super().__init__(recipe, family, **more)
        self.before = before

    def published(self, made, folder):
        made.save_pretrained(folder)
        tensors, config = self.before(made, load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text()))
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
        (folder / "config.json").write_text(json.dumps(config))


def renamed(tensors, *pairs):
    out = {}
    for name, tensor in tensors.items():
        for old, new in pairs:
            name = name.replace(old, new)
        out[name] = tensor
    return out


def llama_original(made, tensors, config):
    """Meta's names, and rotary pairs side by side: the inverse of transformers' own permutation."""
    out = renamed(
        tensors, ("model.", ""), ("self_attn.q_proj", "attention.wq"), ("self_attn.k_proj", "attention.wk"), ("self_attn.v_proj", "attention.wv"),
        ("self_attn.o_proj", "attention.wo"), ("mlp.gate_proj", "feed_forward.w1"), ("mlp.down_proj", "feed_forward.w2"),
        ("mlp.up_proj", "feed_forward.w3"), ("input_layernorm", "attention_norm"), ("post_attention_layernorm", "ffn_norm"),
        ("embed_tokens", "tok_embeddings"), ("lm_head", "output"),
    )  # fmt: skip
    for name, tensor in out.items():
        heads = {"wq": made.config.num_attention_heads, "wk": made.config.num_key_value_heads}.get(name.split(".")[-2])
        if heads:
            rows, columns = tensor.shape
            out[name] = tensor.view(heads, 2, rows // heads // 2, columns).transpose(1, 2).reshape(rows, columns)
    out["rope.freqs"] = torch.ones(4, dtype=torch.bfloat16)
    return out, config


def internlm2(made, tensors, config):
    """InternLM2's names; a group is its query heads, its key, its value."""
    groups, rows = made.config.num_key_value_heads, made.config.head_dim
    for layer in range(2):
        at = f"model.layers.{layer}.self_attn"
        q, k, v = (tensors.pop(f"{at}.{one}_proj.weight") for one in "qkv")
        per = q.shape[0] // groups
        pieces = [piece for g in range(groups) for piece in (q[g * per : (g + 1) * per], k[g * rows : (g + 1) * rows], v[g * rows : (g + 1) * rows])]
        tensors[f"{at}.wqkv.weight"] = torch.cat(pieces)
    out = renamed(
        tensors, ("self_attn", "attention"), ("o_proj", "wo"), ("mlp.gate_proj", "feed_forward.w1"), ("mlp.up_proj", "feed_forward.w3"),
        ("mlp.down_proj", "feed_forward.w2"), ("input_layernorm", "attention_norm"), ("post_attention_layernorm", "ffn_norm"),
        ("model.embed_tokens", "model.tok_embeddings"), ("lm_head", "output"),
    )  # fmt: skip
    return out, config | {"model_type": "internlm2", "architectures": ["InternLM2ForCausalLM"], "bias": False}


def olmo_hybrid(made, tensors, config):
    """transformers cuts the convolutions into equal parts when it saves; here their widths are those of the model."""
    widths = [made.config.linear_num_key_heads * made.config.linear_key_head_dim] * 2
    widths.append(made.config.linear_num_value_heads * made.config.linear_value_head_dim)
    for name, whole in made.state_dict().items():
        if name.endswith(".conv1d.weight"):
            for one, piece in zip("qkv", whole.split(widths)):
                tensors[name.replace(".conv1d", f".{one}_conv1d")] = piece
    return tensors, config


class Megatron(Case):
    """To Megatron-Core: each number of ranks that divides, and exit code 2 for those that do not."""

    #: For each size, numbers of ranks that divide, and some that do not.
    RANKS = {"apart": ((1, 3), (2, 4, 6)), "square": ((1, 2, 4), (3, 8)), "grouped": ((1, 3), (2, 9))}

    def ask(self, run, size):
        made = self.source(run, size, torch.float32)
        fitting, others = self.RANKS[size]
        for ranks in fitting:
            out = run.converted(run.folder / f"out{ranks}", "--size", f"T={ranks}", "--size", "m=16")
            padded = -(-made.config.vocab_size // (16 * ranks)) * 16 * ranks
            found = load_file(out / "model.safetensors")
            yield "formulas", [f"T={ranks}: {wrong}" for wrong in megatron.differences(found, made.state_dict(), made.config, ranks, padded)]
        if megatron.HERE:
            tokens = models.TOKENS
            theirs = megatron.logits(out / "model.safetensors", made.config, ranks, padded, tokens)
            yield "Megatron-Core", near(models.logits(made), theirs)
        for ranks in others:
            done = run.convert(run.folder / "refused", "--size", f"T={ranks}", "--size", "m=16")
            yield "refused", [] if done.returncode == 2 else [f"T={ranks} ends with {done.returncode}, which must be 2"]


class Mlx(Case):
    """To the names of MLX: what mlx-lm makes of the published tensors, and the same logits in mlx-lm."""

    def ask(self, run, size):
        made = self.source(run, size, torch.float32)
        out = run.converted(run.folder / "out")
        if mlx.HERE:
            yield "mlx-lm", mlx.differences(run.source, out)
            yield "logits", near(models.logits(made), mlx.logits(out, models.TOKENS))


class Encoder(Transformers):
    """A model without a head for words: its tensors alone."""

    auto = AutoModel

    def made(self, size, dtype):
        return models.model(self.family, size, dtype, auto=self.auto, **self.more)

    def same(self, made, held):
        return []


class Eyes(Encoder):
    """A part that has no class of its own to load it by: its class is named."""

    class auto:
        from_pretrained = Step3p7VisionModel.from_pretrained
        from_config = Step3p7VisionModel._from_config


class Seeing(Transformers):
    """A model of text and images."""

    auto = AutoModelForImageTextToText

    def made(self, size, dtype):
        return models.seeing(self.family, size, dtype)


class Patches(Seeing):
    """transformers' fused patches: a linear layer for the convolution, loaded without a conversion."""

    fusion = {"patch_embeddings": True}

    def state(self, made, held):
        theirs, at = made.state_dict(), "model.visual.patch_embed"
        whole = theirs.pop(f"{at}.proj.weight")
        theirs[f"{at}.linear_proj.weight"] = whole.flatten(1)
        return [f"{name} differs" for name, tensor in held.state_dict().items() if not torch.equal(tensor, theirs.pop(name))] + list(theirs)


class Experts(Case):
    """gpt-oss, experts apart: linear layers with the formula of its experts give what transformers' own experts give."""

    def ask(self, run, size):
        made = self.source(run, size, torch.float32)
        found = load_file(run.converted(run.folder / "out") / "model.safetensors")
        yield "transformers' code", [f"expert {e} of layer {layer} gives another result" for layer in range(2) for e in range(made.config.num_local_experts) if not self.same(made, found, layer, e)]

    @staticmethod
    def same(made, found, layer, e):
        experts = made.model.layers[layer].mlp.experts
        hidden = torch.randn(3, made.config.hidden_size, generator=torch.Generator().manual_seed(e))
        chosen, weight = torch.full((3, 1), e), torch.ones(3, 1)
        with torch.no_grad():
            theirs = experts(hidden, chosen, weight)
        at = f"model.layers.{layer}.mlp.experts.{e}"
        linear = lambda name, x: x @ found[f"{at}.{name}_proj.weight"].T + found[f"{at}.{name}_proj.bias"]  # noqa: E731
        gate, up = linear("gate", hidden).clamp(max=experts.limit), linear("up", hidden).clamp(-experts.limit, experts.limit)
        ours = linear("down", (up + 1) * gate * torch.sigmoid(gate * experts.alpha))
        return torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4)


class ChatGlm(Case):
    """ChatGLM: no library has its class any more, so its published code is written out: blocks of query, key, value; gate, up."""

    def ask(self, run, size):
        hidden, rows, heads, groups, inner, _, _, words = models.SIZES[size]
        shutil.rmtree(run.folder, ignore_errors=True)
        run.source.mkdir(parents=True)
        draw = torch.Generator().manual_seed(0)
        wide = lambda *shape: torch.randn(shape, generator=draw).to(torch.bfloat16)  # noqa: E731
        config = {"model_type": "chatglm", "architectures": ["ChatGLMModel"], "num_attention_heads": heads, "multi_query_attention": True, "multi_query_group_num": groups, "kv_channels": rows, "hidden_size": hidden}
        (run.source / "config.json").write_text(json.dumps(config))
        before = {"transformer.embedding.word_embeddings.weight": wide(words, hidden), "transformer.output_layer.weight": wide(words, hidden)}
        for layer in range(2):
            at = f"transformer.encoder.layers.{layer}"
            before |= {f"{at}.self_attention.query_key_value.weight": wide((heads + 2 * groups) * rows, hidden), f"{at}.self_attention.query_key_value.bias": wide((heads + 2 * groups) * rows)}
            before |= {f"{at}.mlp.dense_h_to_4h.weight": wide(2 * inner, hidden), f"{at}.mlp.dense_4h_to_h.weight": wide(hidden, inner), f"{at}.self_attention.dense.weight": wide(hidden, heads * rows)}
            before |= {f"{at}.input_layernorm.weight": wide(hidden), f"{at}.post_attention_layernorm.weight": wide(hidden)}
        save_file(before, run.source / "model.safetensors", {"format": "pt"})
        found, expected = load_file(run.converted(run.folder / "out") / "model.safetensors"), {}
        for name, tensor in before.items():
            if "query_key_value" in name:
                for one, piece in zip("qkv", tensor.split([heads * rows, groups * rows, groups * rows])):
                    expected[name.replace("query_key_value", f"{one}_proj")] = piece
            elif "dense_h_to_4h" in name:
                for one, piece in zip(("gate", "up"), tensor.chunk(2)):
                    expected[name.replace("dense_h_to_4h", f"{one}_proj")] = piece
            else:
                expected[name] = tensor
        yield "formulas", [f"{name} differs" for name in found.keys() | expected.keys() if name not in found or name not in expected or not torch.equal(found[name], expected[name])]


HEADS = [{"num_attention_heads": 7}, {"num_key_value_heads": 5}]

QKV = ("q_proj", "k_proj", "v_proj")
NEOX, BLOOM = "gpt_neox.layers.{}.attention.", "transformer.h.{}.self_attention."
FUSED = "query_key_value"


def seven(name):
    """A number of heads that divides none of the sizes."""
    return [{name: 7}]


CASES = [
    Gguf("llama-hf-to-gguf", "llama", refused=HEADS),
    Gguf("llama-hf-to-gguf", "mistral"),
    Gguf("llama-hf-to-gguf", "granite"),
    Gguf("llama-hf-to-gguf", "smollm3"),
    Gguf("mixtral-hf-to-gguf", "mixtral", refused=HEADS),
    Gguf("qwen-hf-to-gguf", "qwen2"),
    Gguf("qwen-hf-to-gguf", "qwen3"),
    Gguf("qwen2-moe-hf-to-gguf", "qwen2_moe", refused=seven("num_experts")),
    Gguf("qwen3-moe-hf-to-gguf", "qwen3_moe", refused=seven("num_experts")),
    Gguf("deepseek-hf-to-gguf", "deepseek_v2", refused=seven("num_attention_heads")),
    Gguf("deepseek-hf-to-gguf", "deepseek_v3", refused=seven("qk_nope_head_dim")),
    Gguf("gpt-oss-hf-to-gguf", "gpt_oss", refused=seven("num_local_experts")),
    Gguf("glm4-hf-to-gguf", "glm4"),
    Gguf("glm4-moe-hf-to-gguf", "glm4_moe", refused=seven("n_routed_experts")),
    Gguf("granite-moe-hf-to-gguf", "granitemoe", refused=HEADS),
    Gguf("ernie4.5-hf-to-gguf", "ernie4_5"),
    Gguf("ernie4.5-moe-hf-to-gguf", "ernie4_5_moe", refused=seven("moe_num_experts")),
    Gguf("hunyuan-hf-to-gguf", "hunyuan_v1_dense"),
    Gguf("starcoder2-hf-to-gguf", "starcoder2"),
    Gguf("olmo2-hf-to-gguf", "olmo2"),
    Gguf("olmo2-hf-to-gguf", "olmo3"),
    Gguf("olmo-hf-to-gguf", "olmo", refused=HEADS),
    Gguf("olmoe-hf-to-gguf", "olmoe", refused=seven("num_experts")),
    Gguf("gpt-neox-hf-to-gguf", "gpt_neox", refused=seven("num_attention_heads")),
    Gguf("bloom-hf-to-gguf", "bloom", refused=seven("n_head")),
    Gguf("falcon-hf-to-gguf", "falcon", new_decoder_architecture=True, refused=seven("num_attention_heads")),
    Gguf("gpt2-hf-to-gguf", "gpt2", refused=seven("n_layer")),
    Gguf("starcoder-hf-to-gguf", "gpt_bigcode", refused=[{"multi_query": False}]),
    Gguf("phi-hf-to-gguf", "phi", refused=[{"qk_layernorm": True}]),
    Gguf("phi3-hf-to-gguf", "phi3", refused=HEADS),
    Gguf("cohere-hf-to-gguf", "cohere", refused=HEADS),
    # llama.cpp looks for norms of queries and keys in models of 64 layers.
    Gguf("cohere-hf-to-gguf", "cohere", ("apart",), use_qk_norm=True, num_hidden_layers=64),
    Gguf("cohere-hf-to-gguf", "cohere2"),
    Gguf("stablelm-hf-to-gguf", "stablelm", refused=[*HEADS, {"qk_layernorm": True}]),
    Gguf("stablelm-hf-to-gguf", "stablelm", use_parallel_residual=True),
    Gguf("exaone4-hf-to-gguf", "exaone4", refused=HEADS),
    Gguf("seed-oss-hf-to-gguf", "seed_oss", refused=[{"attention_out_bias": True}]),
    Gguf("lfm2-hf-to-gguf", "lfm2", refused=seven("conv_L_cache")),
    Gguf("dots1-hf-to-gguf", "dots1", refused=seven("n_routed_experts")),
    Megatron("llama-hf-to-megatron", "llama"),
    Megatron("qwen-hf-to-megatron", "qwen2"),
    Megatron("qwen-hf-to-megatron", "qwen3"),
    Mlx("moe-experts-to-mlx", "qwen3_moe", refused=seven("num_experts")),
    Mlx("moe-experts-to-mlx", "qwen2_moe"),
    Mlx("moe-experts-to-mlx", "olmoe"),
    Mlx("moe-experts-to-mlx", "glm4_moe"),
    Published("llama-original-to-hf", "llama", llama_original, refused=HEADS),
    Published("internlm2-to-llama", "llama", internlm2, refused=HEADS),
    Published("olmo-hybrid-to-hf", "olmo_hybrid", olmo_hybrid, refused=seven("linear_num_key_heads")),
    Transformers("mixtral-experts-to-fused", "mixtral", refused=seven("num_local_experts")),
    Transformers("moe-experts-to-fused", "qwen3_moe", refused=seven("num_experts")),
    Transformers("moe-experts-to-fused", "qwen2_moe"),
    Transformers("moe-experts-to-fused", "deepseek_v3"),
    Transformers("moe-experts-to-fused", "olmoe"),
    Transformers("moe-experts-to-fused", "glm4_moe"),
    Seeing("ernie4.5-vl-moe-to-hf", "ernie4_5_vl_moe"),
    Patches("qwen2-vl-patch-to-linear", "qwen2_vl"),
    Encoder("nomic-bert-to-hf", "nomic_bert"),
    Eyes("step3p7-vision-to-hf", "step3p5_vision", refused=seven("num_attention_heads")),
    Phi3("phi3-to-split", "phi3", refused=HEADS),
    Split("gpt-neox-qkv-to-split", "gpt_neox", NEOX, splits.gpt_neox, FUSED, QKV, refused=seven("num_attention_heads")),
    Split("bloom-qkv-to-split", "bloom", BLOOM, splits.bloom, FUSED, QKV, refused=[{"n_head": 7, "num_attention_heads": 7}]),
    Split("falcon-qkv-to-split", "falcon", BLOOM, splits.falcon, FUSED, QKV, new_decoder_architecture=True, refused=seven("num_attention_heads")),
    Split("falcon-7b-qkv-to-split", "falcon", BLOOM, splits.falcon, FUSED, QKV, new_decoder_architecture=False, multi_query=True, refused=seven("num_attention_heads")),
    Transposed("gpt2-conv1d-to-linear", "gpt2", "transformer.h.{}.attn.", splits.gpt2, "c_attn", ("q", "k", "v")),
    Experts("gpt-oss-to-split", "gpt_oss", refused=seven("num_local_experts")),
    ChatGlm("chatglm-to-split", "chatglm"),
]
