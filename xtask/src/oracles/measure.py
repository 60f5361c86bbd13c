"""Runs programs for `cargo xtask oracles bounds` and says what each took.

A line of input is a list in JSON: the words of the command, its folder, the seconds after which it is ended. A line of
output is one as well: the seconds that it ran, the peak of its resident memory in KiB as the system counted it, and its
exit code, below 0 where a signal ended it.
"""

import json
import os
import signal
import subprocess
import sys
import time

# The BSDs count pages of memory in KiB as Linux does; macOS counts bytes.
UNIT = 1024 if sys.platform == "darwin" else 1


def run(words, folder, patience):
    nothing = subprocess.DEVNULL
    start = time.monotonic()
    child = subprocess.Popen(words, cwd=folder, stdin=nothing, stdout=nothing, stderr=nothing)
    signal.signal(signal.SIGALRM, lambda *_: child.kill())
    signal.setitimer(signal.ITIMER_REAL, patience)
    _, status, usage = os.wait4(child.pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - start, usage.ru_maxrss // UNIT, child.returncode


for line in sys.stdin:
    print(json.dumps(run(*json.loads(line))), flush=True)
