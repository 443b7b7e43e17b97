"""Threads for work that blocks, behind a bounded queue."""

import asyncio
import dataclasses
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from zank_service.refusals import overloaded

FIRST_SECONDS: Final = 0.5  # what a piece of work is taken to last until some has
MEMORY: Final = 0.1  # weight of the latest piece of work in how long one lasts
RETRY_SECONDS: Final = (0.2, 60.0)  # what a refused client is told to wait, at least and at most


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timing:
    """How long one piece of work took, in seconds."""

    queued: float
    worked: float


class Gate:
    """Runs blocking work in `threads` threads, off the event loop; at most `waiting` pieces of work queue for them."""

    def __init__(self, name: str, *, threads: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._free = asyncio.Semaphore(threads)
        self._waiting = 0
        self._limit = waiting
        self._threads = threads
        self._lasting = FIRST_SECONDS  # seconds that a piece of work lasts, of late

    @property
    def wait(self) -> float:
        """How long new work would wait for its turn, in seconds, by the length of the queue and the rate of late."""
        least, most = RETRY_SECONDS
        return min(most, max(least, (self._waiting + 1) * self._lasting / self._threads))

    def refuse_if_full(self) -> None:
        """Raise Refusal when the queue is full."""
        if self._free.locked() and self._waiting >= self._limit:
            raise overloaded(self.wait)

    async def run[Result](self, work: Callable[[], Result]) -> tuple[Result, Timing]:
        """What `work` returns, and how long it took; raises what `work` raises.

        Raises Refusal when the queue is full. Cancelled while it waits, the work never starts; cancelled later, its
        place is free when the work has ended, and what it returns or raises is dropped.
        """
        self.refuse_if_full()
        begin = time.perf_counter()
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        start = time.perf_counter()
        running = asyncio.get_running_loop().run_in_executor(self._pool, work)
        running.add_done_callback(self._finished)
        # A cancelled call must not free its place while its thread still works.
        result = await asyncio.shield(running)
        worked = time.perf_counter() - start
        self._lasting += MEMORY * (worked - self._lasting)
        return result, Timing(queued=start - begin, worked=worked)

    def close(self) -> None:
        """Wait for the work under way and end the threads; nothing may be waiting."""
        self._pool.shutdown(wait=True)

    def _finished(self, future: "asyncio.Future[Any]") -> None:
        self._free.release()
        future.exception()  # looked at, so that a failure after a cancelled call is not reported as forgotten
