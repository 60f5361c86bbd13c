"""Measures the rewriting of a mixture of experts by a recipe, against copying it and the reference library.

    python bench/recipes.py PROGRAM                 2 GB in bf16: from one tensor per expert to stacked and fused experts, and back
    python bench/recipes.py PROGRAM --rivals        also transformers' load and save of the same checkpoint
    python bench/recipes.py PROGRAM --old OLD       also another build of the program, in the same turns

Commands run one after another, in turns; each line is the median of the rounds. CPU time is that of the command with its
children, wall time includes the sync of the output, memory is the peak of the anonymous memory of the process (RssAnon).
Files are written under TMPDIR, at most 8 GB, and are removed at the end. PROGRAM is `tilewright`, a release build.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile

from reshard import build, copied, of_builds, table, turns, write

LAYERS, EXPERTS, HIDDEN, WIDTH, HEADS, GROUPS, HEAD, WORDS = 13, 64, 1024, 384, 16, 4, 64, 32000
SHARDS = 10
CONFIG = {
    "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "dtype": "bfloat16", "hidden_size": HIDDEN,
    "moe_intermediate_size": WIDTH, "intermediate_size": 4 * HIDDEN, "num_experts": EXPERTS, "num_experts_per_tok": 8,
    "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": GROUPS, "head_dim": HEAD,
    "vocab_size": WORDS, "decoder_sparse_step": 1, "mlp_only_layers": [], "tie_word_embeddings": False,
}
RECIPE = """
pass = ["*"]
[[map]]
from = ["{p:*}.experts.{e}.gate_proj.weight : i h", "{p:*}.experts.{e}.up_proj.weight : i' h"]
to = "{p:*}.experts.gate_up_proj : e (i + i') h"
[[map]]
from = "{p:*}.experts.{e}.down_proj.weight : h i"
to = "{p:*}.experts.down_proj : e h i"
"""
# The same with transposed experts, whose elements do not lie side by side on both sides.
TURNED = RECIPE.replace(": e (i + i') h", ": e h (i + i')").replace(": e h i", ": e i h")
# No change but that of the layout, which a conversion without a recipe makes too.
STORED = """
pass = ["*"]
[[map]]
from = "{p:*}_proj.weight : o i"
to = "{p:*}_proj.weight : o i"
layout = "LAYOUT"
"""
LAYOUTS = ["zN", "col-major"]


def model():
    shapes = {"model.embed_tokens.weight": [WORDS, HIDDEN], "lm_head.weight": [WORDS, HIDDEN], "model.norm.weight": [HIDDEN]}
    for n in range(LAYERS):
        layer = f"model.layers.{n}"
        for name, rows in [("q", HEADS * HEAD), ("k", GROUPS * HEAD), ("v", GROUPS * HEAD)]:
            shapes[f"{layer}.self_attn.{name}_proj.weight"] = [rows, HIDDEN]
        shapes[f"{layer}.self_attn.o_proj.weight"] = [HIDDEN, HEADS * HEAD]
        for name, extent in [("self_attn.q_norm", HEAD), ("self_attn.k_norm", HEAD), ("input_layernorm", HIDDEN)]:
            shapes[f"{layer}.{name}.weight"] = [extent]
        shapes[f"{layer}.post_attention_layernorm.weight"] = [HIDDEN]
        shapes[f"{layer}.mlp.gate.weight"] = [EXPERTS, HIDDEN]
        for e in range(EXPERTS):
            for name in ["gate", "up"]:
                shapes[f"{layer}.mlp.experts.{e}.{name}_proj.weight"] = [WIDTH, HIDDEN]
            shapes[f"{layer}.mlp.experts.{e}.down_proj.weight"] = [HIDDEN, WIDTH]
    return shapes


def checkpoint(folder):
    folder.mkdir()
    names, places = list(model().items()), {}
    for number in range(SHARDS):
        file = f"model-{number + 1:05}-of-{SHARDS:05}.safetensors"
        part = dict(names[len(names) * number // SHARDS:len(names) * (number + 1) // SHARDS])
        write(folder / file, part)
        places |= dict.fromkeys(part, file)
    size = sum(file.stat().st_size for file in folder.iterdir())
    index = {"metadata": {"total_size": size}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return size


RIVAL = """
import os, sys, torch, transformers
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.bfloat16)
model.save_pretrained(sys.argv[2], save_original_format=sys.argv[3] == "original")
for name in os.listdir(sys.argv[2]):
    with open(os.path.join(sys.argv[2], name), "rb") as file:
        os.fsync(file.fileno())
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--old", help="another build of the program, measured in the same turns")
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="512M")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        source, fused, recipe, turned = (folder / name for name in ["in", "fused", "r.toml", "turned.toml"])
        size = checkpoint(source)
        recipe.write_text(RECIPE)
        turned.write_text(TURNED)
        for layout in LAYOUTS:
            (folder / layout).write_text(STORED.replace("LAYOUT", layout))
        convert = lambda program, source, *more: lambda out: [program, "convert", "-q", source, out, *more, "--memory", args.memory]
        first = convert(build(args.program), source, "--recipe", recipe)
        turns({"": first}, 1, folder)
        os.system(" ".join(map(str, first(fused))) + " > /dev/null")
        stored = lambda program, layout: {
            f"to {layout}": convert(program, source, "--rule", f"*_proj.weight={layout}"),
            f"recipe to {layout}": convert(program, source, "--recipe", folder / layout),
        }
        commands = {"cp, sync": copied(source)} | of_builds(args, lambda program: {
            f"fused, {args.memory}": convert(program, source, "--recipe", recipe),
            "fused, one thread": convert(program, source, "--recipe", recipe, "--threads", "1"),
            "and back": convert(program, fused, "--inverse"),
            "fused and transposed": convert(program, source, "--recipe", turned),
            "fused, verified": convert(program, source, "--recipe", recipe, "--verify"),
        } | {name: command for layout in LAYOUTS for name, command in stored(program, layout).items()})
        if args.rivals:
            commands["transformers, load and save"] = lambda out: [sys.executable, "-c", RIVAL, source, out, "new"]
        table("a mixture of experts", turns(commands, args.rounds, folder), size, "cp, sync")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
