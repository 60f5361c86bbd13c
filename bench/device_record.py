"""The record of a run of device.py: a Markdown and a JSON file."""

import json
import pathlib
import re

from device_run import HERE

# States of steps that were asked for and not run, or not to their end.
MISSING = ("out of time", "not there")


def missing(run):
    """Returns the names of selected steps that did not finish, or whose tools are missing."""
    return [step["name"] for step in run.steps if step["state"] in MISSING]


def not_run(run):
    """Returns the line that names the steps without a result."""
    names = missing(run)
    others = [step["name"] for step in run.steps if step["state"] == "left out"]
    said = f"**Not run, or not to the end**: {', '.join(names)}." if names else "Every selected step was run to its end."
    return said + (f" Left out: {', '.join(others)}." if others else "") + "\n"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows])


def markdown(run, when):
    device = run.device
    name = device.get("name", "no device")
    parts_ = [f"# {name}, {when:%Y-%m-%d}\n"]
    if not device:
        parts_.append("No device was available, so nothing was measured or compared. Run `python bench/device.py` where there is one.\n")
    elif run.emulated:
        parts_.append("The device is **emulated** on the host: bytes were compared, but no speed was measured.\n")
    if device:
        keys = [key for key in device if key not in ("packages", "nvidia_smi")]
        parts_.append(table(["fact", "value"], [[key, device[key]] for key in keys]))
        for key in ("nvidia_smi", "packages"):
            if key in device:
                parts_.append(table([key, "value"], sorted((k, v or "not there") for k, v in device[key].items())))
    if device:
        parts_.append(not_run(run))
    rows = [[step["name"], step["state"], step["seconds"], step["says"]] for step in run.steps]
    parts_ += ["## What was run\n", table(["step", "state", "seconds", "what it says"], rows)]
    if run.bounds:
        word = {True: "pass", False: "**fail**", None: "not measured"}
        least = {}
        for bound in run.bounds:
            key = (bound["name"], bound["bound"])
            all_of = least.setdefault(key, [])
            all_of.append(bound)
        rows = []
        for (name_, limit), all_of in least.items():
            failed = [one for one in all_of if one["passed"] is False]
            state = None if all_of[0]["passed"] is None else not failed
            values = [one["value"] for one in all_of if one["value"] is not None]
            worst = "" if not values else f"{(min if limit.startswith('>=') else max)(values):.3f}"
            rows.append([name_, limit, len(all_of), worst, word[state], ", ".join(one["where"] for one in failed[:12])])
        parts_ += ["## Bounds\n", table(["bound", "limit", "cases", "worst", "state", "cases that fail"], rows)]
    for title, (head, rows) in run.tables.items():
        parts_ += [f"## {title}\n", table(head, rows)]
    return "\n\n".join(part.strip() for part in parts_) + "\n"


def written(run, when):
    folder = pathlib.Path(run.asked.out) if run.asked.out else HERE / "record" if (HERE / "record").is_dir() else HERE
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", run.device.get("name", "no-device").lower()).strip("-")
    path = folder / f"{name}-{when:%Y-%m-%d}"
    whole = {
        "date": f"{when:%Y-%m-%d}",
        "emulated": run.emulated,
        "device": run.device,
        "complete": not missing(run),
        "steps": run.steps,
        "bounds": run.bounds,
        "cases": [] if run.emulated else run.rows,
        "rivals": [] if run.emulated else getattr(run, "rivals", []),
        "tables": {title: {"head": head, "rows": rows} for title, (head, rows) in run.tables.items()},
    }
    path.with_name(path.name + ".json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    path.with_name(path.name + ".md").write_text(markdown(run, when), encoding="utf-8")
    return path
