"""Whether a call lets go of the interpreter."""

import sys
import threading
import time
from collections.abc import Callable


def others_run(work: Callable[[], object]) -> bool:
    """Whether another thread of Python runs while this works. Nobody is made to let go of the interpreter meanwhile."""
    counted, ends, interval = [0], threading.Event(), sys.getswitchinterval()

    def count() -> None:
        while not ends.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    sys.setswitchinterval(1000)
    try:
        for _ in range(1000):
            before = counted[0]
            work()
            if counted[0] > before:
                return True
        return False
    finally:
        sys.setswitchinterval(interval)
        ends.set()
        thread.join()
