"""Who goes first where the threads of a server compete: those that talk to clients, before those that play."""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

NICE: Final = 10  # of the threads that play: a thread of clients that wakes up is put in before them
SWITCH_SECONDS: Final = 0.0005  # that the event loop waits for a thread that is in the middle of Python, at most


def put_clients_first[Made](make: Callable[[], Made]) -> Made:
    """What `make` returns, whose threads, and those of devices that it is the first to use, yield to all others.

    gRPC takes one call of a method at a time from those that have come, and each goes through two threads and the event
    loop: where these wait for a core, or for the interpreter, calls pile up, and even a refusal comes late.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    with ThreadPoolExecutor(1, initializer=_yield) as short_lived:
        return short_lived.submit(make).result()


def _yield() -> None:
    if sys.platform == "linux":  # where a thread has a niceness of its own, and those that it starts inherit it
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
