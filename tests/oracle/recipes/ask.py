"""Every shipped recipe, converted by the program and read by the consumer that the recipe is for.

    python tests/oracle/recipes/ask.py TILEWRIGHT [RECIPE…]

Tiny models are made from configurations. The table has a row for each recipe and family, and a column for each size: the
consumers that agree. Exit code 1 with any disagreement, and for a shipped recipe that no case asks about.
"""

import importlib.util
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback
import warnings


def main(program, wanted):
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    import cases

    listed = json.loads(subprocess.run([program, "recipe", "list", "--json"], check=True, capture_output=True, text=True).stdout)
    shipped = [one["name"] for one in listed["recipes"]]
    wrong = [f"{name}: no consumer is asked" for name in shipped if name not in {case.recipe for case in cases.CASES}]
    print(f"| recipe | family | {' | '.join(cases.SIZES)} | refused |\n|---|---|{'---|' * (len(cases.SIZES) + 1)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases.CASES:
            if wanted and not any(word in case.recipe for word in wanted):
                continue
            wrong += row(case, cases, program, pathlib.Path(folder))
    print("\n".join(["", *(f"DIFFERENT {line}" for line in wrong)]))
    return 1 if wrong else 0


def row(case, cases, program, folder):
    """Prints the row of a case, and returns its differences."""
    wrong, cells = [], []
    for size in cases.SIZES:
        said = {}
        if size in case.sizes:
            run = cases.Run(program, case.recipe, folder / "run")
            for consumer, differences in asked(lambda: case.ask(run, size)):
                said[consumer] = said.get(consumer, True) and not differences
                wrong += [f"{case.recipe}, {case.family}, {size}, {consumer}: {one}" for one in differences[:4]]
        cells.append(", ".join(f"{consumer}{'' if fine else ' NO'}" for consumer, fine in said.items()) or "–")
    refusals = "–"
    if case.refused:
        run = cases.Run(program, case.recipe, folder / "run")
        found = [one for _, one in asked(lambda: ((None, [one]) for one in case.wrong(run)))]
        wrong += [f"{case.recipe}, {case.family}: {one[0]}" for one in found]
        refusals = f"{len(case.refused) - len(found)} of {len(case.refused)}"
    print(f"| {case.recipe} | {case.family} | {' | '.join(cells)} | {refusals} |", flush=True)
    return wrong


def asked(answers):
    """The answers, and an exception as one more."""
    try:
        yield from answers()
    except Exception as error:
        if "RECIPES_TRACE" in os.environ:
            traceback.print_exc()
        yield "conversion", [f"{type(error).__name__}: {str(error)[:400]}"]


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
