"""What the example `cases` of tilewright-device wrote into a folder, and how checks of it end."""
import collections
import json
import pathlib
import sys

SHOWN = 20


def skip(why):
    print(f"    skipped: {why}")
    sys.exit(0)


def lines(folder):
    """The cases, each with its kernels; the files of kernel N of a case are `NAME.N.cu` and `NAME.N.cl`."""
    return [json.loads(line) for line in pathlib.Path(folder, "cases.jsonl").read_text().splitlines()]


def texts(folder, end):
    """Each text once: its file, the case whose launch of it is the largest, and that kernel."""
    found = {}
    for case in lines(folder):
        for number, kernel in enumerate(case["kernels"]):
            path = pathlib.Path(folder, f"{case['name']}.{number}.{end}")
            seen = found.setdefault(path.read_text(), (path, case, kernel))
            if kernel["blocks"] > seen[2]["blocks"]:
                found[path.read_text()] = (path, case, kernel)
    return list(found.values())


def finish(what, wrong, counts):
    """Ends with what is wrong, by kinds, and where nothing was checked."""
    wrong += [("nothing checked", f"no {name}") for name, count in counts.items() if not count]
    print("    " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    kinds = collections.Counter(kind for kind, _ in wrong)
    for kind, count in kinds.items():
        print(f"    {kind}: {count}")
        for _, one in [one for one in wrong if one[0] == kind][:SHOWN]:
            print(f"        {one}")
    if wrong:
        sys.exit(f"{len(wrong)} findings of {what}: {dict(kinds)}")
