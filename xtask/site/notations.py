"""A page for each notation, from the headers of the dialects and from what the program prints and refuses."""

import json
import re
from pathlib import Path
from typing import Any

from program import Program, cell, code

FOLDER = "docs/reference/notations/"
LAYOUTS = "crates/tilewright-notation/src/dialect"
SHARDINGS = "crates/tilewright-sharded/src/dialect"
DECLARED = re.compile(r'^ *(?:pub\([\w: ]+\) const \w+: Notation =\s+)?Notation::new\(\s*"(\w+)",\s*"([^"]+)"', re.M)
ALIASES = re.compile(r"with_aliases\(&\[([^\]]*)\]")


def make(program: Program, root: Path) -> tuple[dict[str, str], dict[str, str], dict[str, list[Any]]]:
    said = in_all_notations(program)
    pages, rows, layouts = {}, [], []
    for source in sorted((root / LAYOUTS).rglob("*.rs"), key=lambda source: source.stem):
        text = source.read_text(encoding="utf-8")
        found = DECLARED.search(text)
        if not found or source.name in ("mod.rs", "tests.rs"):
            continue
        name, about = found[1], found[2]
        aliases = re.findall(r'"(\w+)"', (ALIASES.search(text) or ["", ""])[1])
        pages[f"{FOLDER}{name}.md"] = page(name, about, aliases, header(text), said.get(name) or in_one_notation(program, name))
        layouts.append({name: f"{FOLDER}{name}.md"})
        rows.append(f"| [{name}](notations/{name}.md) | {', '.join(code(one) for one in aliases)} | {cell(about)} |")
    shardings, cuts = [], []
    for source in sorted((root / SHARDINGS).glob("*.rs")) + [root / SHARDINGS / "hlo" / "mod.rs"]:
        name = source.stem if source.stem != "mod" else source.parent.name
        if name in ("axes", "dialect"):
            continue
        head = header(source.read_text(encoding="utf-8"))
        pages[f"{FOLDER}sharding-{name}.md"] = f"# Sharding: {name}\n\n{head}\n"
        shardings.append({f"{name}, of shards": f"{FOLDER}sharding-{name}.md"})
        cuts.append(f"| [{name}](notations/sharding-{name}.md) | {cell(head.splitlines()[0])} |")
    table = "\n".join(
        ["## Layouts", "", "| notation | also | for |", "|---|---|---|", *rows]
        + ["", "## Arrays in shards", "", "| notation | for |", "|---|---|", *cuts]
    )
    return pages, {"docs/reference/notations.md": table}, {FOLDER: layouts + shardings}


def header(text: str) -> str:
    """The comment at the top of a file, as Markdown."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line[3:].removeprefix(" "))
    text = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", "\n".join(lines))
    return re.sub(r"^```\n(.*?)^```\n?", "", text, flags=re.M | re.S).strip()


def samples(program: Program) -> list[str]:
    specs = [one["example"] for one in program.json("formats")["formats"][::4]]
    specs += ["f32[3,5] row-major", "f32[3,5]{0,1:T(2,2)}", "f32[2,3]{0,1}pad(3,5)fill(0)", "f32[8,4,6,6] NHWC"]
    return specs + ["f16[8,64] Sw<3,3,3> o (8,64):(64,1)", "u4[4,8]{1,0:E(4)}", "f32[4,4] (4,4):(0,1)"]


def in_one_notation(program: Program, name: str) -> dict[str, list[tuple[str, str]]]:
    """The same for a notation that `explain` leaves out."""
    specs, found = samples(program), {"text": [], "refused": []}
    texts = program.texts([["translate", spec, "--to", name, "--json"] for spec in specs])
    for spec, text in zip(specs, texts, strict=True):
        answer = json.loads(text)
        if "text" in answer:
            found["text"].append((spec, answer["text"]))
        else:
            found["refused"].append((spec, answer["error"]["message"].removeprefix(f"{name} cannot express it: ")))
    return found


def in_all_notations(program: Program) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """The texts of some layouts in each notation, and its refusals with their reasons."""
    specs = samples(program)
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for spec, text in zip(specs, program.texts([["explain", spec, "--json"] for spec in specs]), strict=True):
        for name, answer in json.loads(text).get("notations", {}).items():
            kinds = found.setdefault(name, {"text": [], "refused": []})
            kind = "text" if "text" in answer else "refused"
            kinds[kind].append((spec, answer[kind]))
    return found


def page(name: str, about: str, aliases: list[str], head: str, said: dict[str, list[tuple[str, str]]]) -> str:
    also = " Its prefix is " + " or ".join(f"`{one}:`" for one in [name, *aliases]) + "."
    lines = [f"# {name}", "", f"{about[0].upper()}{about[1:]}.{also}", "", head, "", "## Layouts in this notation", ""]
    printed = [f"| {code(spec)} | {code(text)} |" for spec, text in said["text"] if len(text) < 200][:12]
    if printed:
        lines += ["| layout | in this notation |", "|---|---|", *printed]
    else:
        lines.append("It cannot express any of the sample layouts.")
    lines += ["", "## Limits", ""]
    reasons: dict[str, tuple[str, str]] = {}
    for spec, why in said["refused"]:
        # One line for each reason: numbers and names within it may differ.
        reasons.setdefault(re.sub(r"[`(\[].*?[`)\]]|\d+", "", why)[:40], (spec, why))
    refused = [f"| {code(spec)} | {cell(why)} |" for spec, why in list(reasons.values())[:14]]
    if refused:
        lines += ["| layout | the program's answer |", "|---|---|", *refused]
    else:
        lines.append("It can express all sample layouts.")
    return "\n".join(lines) + "\n"
