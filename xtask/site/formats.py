"""A page for each named format, and the list of all, from `tilewright formats --json`."""

from pathlib import Path
from typing import Any

from program import Program, cell, code

FOLDER = "docs/reference/formats/"
# An element type of each width.
TYPES = {2: "u2", 4: "u4", 8: "u8", 16: "f16", 32: "f32", 64: "f64", 128: "c128"}


def make(program: Program, root: Path) -> tuple[dict[str, str], dict[str, str], dict[str, list[Any]]]:
    all_ = program.json("formats")["formats"]
    explained = program.texts([["explain", one["example"]] for one in all_])
    drawn = program.texts([["show", one["example"], "--svg", "-"] for one in all_])
    widths = element_widths(program, all_)
    pages, nav = {}, {}
    for one, text, picture, bits in zip(all_, explained, drawn, widths, strict=True):
        pages[f"{FOLDER}{one['name']}.md"] = page(one, text, bits)
        pages[f"{FOLDER}{one['name']}.svg"] = picture
        nav.setdefault(one["maker"], []).append({one["name"]: f"{FOLDER}{one['name']}.md"})
    return pages, {"docs/reference/formats.md": table(all_)}, {FOLDER: [{maker: names} for maker, names in nav.items()]}


def element_widths(program: Program, all_: list[Any]) -> list[list[int]]:
    """The widths of elements that each format takes, at the dims of its example."""
    lines = []
    for one in all_:
        array, _, name = one["example"].partition(" ")
        dims = array[array.index("[") : array.index("]") + 1]
        zero = ",".join("0" for _ in dims.split(","))
        lines += [f'offset("{of}{dims} {name}", ({zero},))' for of in TYPES.values()]
    answers = iter(program.evaluate(lines))
    return [[bits for bits in TYPES if '"error"' not in next(answers)] for _ in all_]


def table(all_: list[Any]) -> str:
    lines: list[str] = []
    group = None
    makers = list(dict.fromkeys(one["maker"] for one in all_))
    for one in sorted(all_, key=lambda one: makers.index(one["maker"])):
        if one["maker"] != group:
            group = one["maker"]
            lines += ["", f"## {group}", "", "| name | also called | pattern | what for |", "|---|---|---|---|"]
        also = ", ".join(code(alias) for alias in one["aliases"])
        name = f"[{one['name']}](formats/{one['name']}.md)"
        lines.append(f"| {name} | {also} | {code(one['pattern'])} | {cell(one['purpose'])} |")
    return "\n".join(lines)


def page(one: dict[str, Any], explained: str, bits: list[int]) -> str:
    name = one["name"]
    rows = [
        ("Maker", cell(one["maker"])),
        ("For", cell(one["purpose"])),
        ("Also called", ", ".join(code(alias) for alias in one["aliases"]) or "–"),
        ("Dims", code(", ".join(one["dims"])) + (f", a weight stored `[{one['order']}]`" if one["order"] else "")),
        ("Pattern", code(one["pattern"])),
        *((f"of {width['bits']} bits", code(width["pattern"])) for width in one["widths"]),
        ("Elements", "of " + ", ".join(str(width) for width in bits) + " bits" if bits else "as in the example"),
        *((f"Constant {code(constant['name'])}", constant_text(constant)) for constant in one["constants"]),
        *([("Leading dimension", f"`{name}[LD=…]` sets the stride of the outermost tile level")] if one["leading"] else []),
        ("Source", cell(one["source"])),
    ]
    body = "\n".join(f"| {what} | {text} |" for what, text in rows)
    convert = f"tilewright convert model.safetensors packed.safetensors --to {name} --tensor 'NAME'"
    return f"""# {name}

| | |
|---|---|
{body}

## Picture

[![The array {one['example']}: each cell shows the offset of its element]({name}.svg)]({name}.svg)

The cells show offsets. Select the picture to see it in full size.

## Example

```console
$ tilewright explain '{one['example']}'
{explained.rstrip()}
```

## Use it

```sh
{convert}
```

```python
packed = tw.relayout(array, to="{name}")
```

A whole layout is written `{one['example']}`. All names are in the [list of formats](../formats.md).
"""


def constant_text(constant: dict[str, Any]) -> str:
    by_bits = [f"{value} for {bits} bits" for bits, value in constant["by_bits"].items()]
    text = ", ".join(by_bits) or "must be given"
    presets = ", ".join(code(preset) for preset in constant["presets"])
    return text + (f"; presets {presets}" if presets else "")
