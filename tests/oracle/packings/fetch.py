"""The Python files of a package's wheel, without the rest of it and without what it requires.

    fetch.py REQUIREMENT FOLDER     FOLDER is made anew, unless it holds the files of the same requirement
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile


def main(requirement, folder):
    folder = pathlib.Path(folder)
    stamp = folder / "requirement.txt"
    if stamp.exists() and stamp.read_text() == requirement:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=folder) as room:
        words = ["download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        run = subprocess.run([sys.executable, "-m", "pip", *words, "--dest", room, requirement], capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr.strip().splitlines()[-1])
        for wheel in pathlib.Path(room).glob("*.whl"):
            with zipfile.ZipFile(wheel) as files:
                files.extractall(folder, [name for name in files.namelist() if name.endswith((".py", "/METADATA"))])
    stamp.write_text(requirement)


main(*sys.argv[1:])
