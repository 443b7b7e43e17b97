"""Threads that play rollouts, in calls that the rounds of several questions share."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from zank_kernel.batch import Batch, Part, Shared
from zank_kernel.schedule import Line, Schedule
from zank_kernel.search import Stopped


class Workers:
    """A fixed number of threads and the batches that wait for them.

    `play(thread, parts)` plays parts of batches, all of one family, in one call. A call that runs cannot be
    interrupted, so `size(family)` says how many tasks one may have; `roots` and `worlds` say how many rows. A task
    costs `cost(family)`, a whole call about `call`, in the same unit.
    """

    def __init__(
        self,
        count: int,
        name: str,
        *,
        play: Callable[[int, Sequence[Part]], None],
        size: Callable[[str], int],
        cost: Callable[[str], float],
        call: float,
        lanes: int,
        roots: int,
        worlds: int,
    ) -> None:
        self._play, self._size, self._cost = play, size, cost
        self._lanes, self._roots, self._worlds = lanes, roots, worlds
        self._schedule = Schedule(call)
        self._changed = threading.Condition()
        self._idle = 0
        self._closing = False
        self._threads = [
            threading.Thread(target=self._run, args=(number,), name=f"{name}-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    @contextmanager
    def line(self, urgency: int) -> Iterator[Line]:
        """The line of a question, for as long as it is under way."""
        line = Line(urgency)
        with self._changed:
            self._schedule.open(line)
        try:
            yield line
        finally:
            with self._changed:
                self._schedule.close(line)
                self._changed.notify_all()  # nobody waits for it any longer

    def submit(self, line: Line, *batches: Batch) -> None:
        """Queue batches of one family behind those of their line, to be played in as few calls as possible, all alike.

        So no thread waits for another that has more to play.
        """
        threads, size = len(self._threads), self._size(batches[0].family)
        with self._changed:
            count = line.waiting + sum(batch.waiting for batch in batches)
            for batch in batches:
                self._schedule.add(line, batch, min(threads, -(-count // self._lanes)))
            calls = threads * -(-count // (threads * size))
            line.share = -(-count // max(1, calls))
            self._changed.notify_all()

    def close(self) -> None:
        """Finish every batch that waits, and end the threads."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        while (taken := self._next()) is not None:
            urgency, parts = taken
            try:
                self._try(number, parts)
            finally:
                with self._changed:
                    self._schedule.end(urgency, time.monotonic())
                    self._changed.notify_all()

    def _try(self, number: int, parts: Sequence[Part]) -> None:
        """Play parts together; if that fails, each by itself, so that none fails for another's sake."""
        try:
            self._play(number, parts)
        except BaseException as error:
            if len(parts) == 1:
                parts[0].batch.fail(error)
            else:
                for part in parts:
                    self._try(number, [part])

    def _next(self) -> tuple[int, Sequence[Part]] | None:
        """What a thread should play, once there is something; None when all is done."""
        with self._changed:
            self._idle += 1
            try:
                while True:
                    for batch in self._schedule.stopped():
                        batch.fail(Stopped())
                    line = self._schedule.due()
                    if line is None and self._closing:
                        return None
                    patience = None if line is None else self._schedule.expected(line, self._idle, time.monotonic())
                    if line is not None and (patience is None or patience <= 0):
                        return line.urgency, self._taken(line)
                    self._changed.wait(patience)
            finally:
                self._idle -= 1

    def _taken(self, line: Line) -> Sequence[Part]:
        """Tasks for one call, those of this line first: as many as fill it, or the share of one of the idle threads."""
        family = line.batches[0].family
        cost, waiting = self._cost(family), self._schedule.waiting(line, family)
        even = line.share if waiting == line.waiting else -(-waiting // self._idle)
        size = min(self._size(family), max(self._lanes, even))
        others = self._schedule.like(line, family)
        call = Shared(line.batches[0].take(size), roots=self._roots, worlds=self._worlds)
        self._schedule.serve(line, cost * call.count)
        following = deque((line, *others))
        while following and call.count < size:
            other = following[0]
            if not other.batches:
                following.popleft()
            elif call.add(other.batches[0], size - call.count):
                self._schedule.serve(other, cost * call.parts[-1].count)
            else:
                break
        self._schedule.begin(line.urgency)
        return call.parts
