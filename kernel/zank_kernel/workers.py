"""Threads that run device calls, the most urgent one first."""

import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

type Urgency = tuple[int, int]  # the lower, the earlier

LAST: Final = (1_000_000, 0)  # of the call that ends a thread: after all others


class Workers:
    """A fixed number of threads and the calls that wait for them.

    A call that runs cannot be interrupted, so an urgent one waits for one call at most. Of equally urgent calls the
    one queued first runs first.
    """

    def __init__(self, count: int, name: str) -> None:
        self._waiting: queue.PriorityQueue[tuple[Urgency, int, Callable[[int], None] | None]] = queue.PriorityQueue()
        self._order = itertools.count()
        self._threads = [
            threading.Thread(target=self._run, args=(number,), name=f"{name}-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit[Result](self, urgency: Urgency, work: Callable[[int], Result]) -> Future[Result]:
        """Queue `work`, which is given the number of the thread that runs it."""
        future: Future[Result] = Future()

        def call(number: int) -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = work(number)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self._waiting.put((urgency, next(self._order), call))
        return future

    def close(self) -> None:
        """Finish every call that waits, and end the threads."""
        for _ in self._threads:
            self._waiting.put((LAST, next(self._order), None))
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        while True:
            call: Any = self._waiting.get()[2]
            if call is None:
                return
            call(number)
