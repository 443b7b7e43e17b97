"""Threads that play rollouts, in calls that the rounds of several questions share."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final

from zank_kernel.batch import Batch, Part, Shared
from zank_kernel.rollout import Results
from zank_kernel.schedule import Line, Schedule
from zank_kernel.search import Stopped

LEAD: Final = 0.005  # seconds before a call is likely to be over in which the next one is taken and made ready


class Workers[Work]:
    """A fixed number of calls at a time, and the batches that wait for them.

    A call plays parts of batches, all of one family: `prepare(parts)` is what it needs, `play(slot, family, work,
    count)` returns the results of its so many tasks. There are as many slots as calls at a time, and one more thread,
    which makes the next call ready before one is over. A call that runs cannot be interrupted: `size(family)` says how
    many tasks one may have, `roots` and `worlds` say how many rows. A task costs `cost(family)` seconds, a call about
    `call`.
    """

    def __init__(
        self,
        slots: int,
        name: str,
        *,
        prepare: Callable[[Sequence[Part]], Work],
        play: Callable[[int, str, Work, int], Results],
        size: Callable[[str], int],
        cost: Callable[[str], float],
        call: float,
        lanes: int,
        roots: int,
        worlds: int,
    ) -> None:
        self._prepare, self._play, self._size, self._cost = prepare, play, size, cost
        self._lanes, self._roots, self._worlds = lanes, roots, worlds
        self._schedule = Schedule(call)
        self._changed = threading.Condition()
        self._slots = slots
        self._free = SimpleQueue[int]()
        for slot in range(slots):
            self._free.put(slot)
        self._ends: dict[int, float] = {}  # by thread, when its call is likely to be over
        self._closing = False
        self._threads = [
            threading.Thread(target=self._run, args=(number,), name=f"{name}-{number}", daemon=True)
            for number in range(slots + 1)
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

        So no slot waits for another that has more to play.
        """
        slots, size = self._slots, self._size(batches[0].family)
        with self._changed:
            waiting = [batch for batch in batches if batch.waiting]
            count = line.waiting + sum(batch.waiting for batch in waiting)
            for batch in waiting:
                self._schedule.add(line, batch, min(slots, -(-count // self._lanes)))
            calls = slots * -(-count // (slots * size))
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
        while (taken := self._next(number)) is not None:
            self._try(number, *taken)

    def _try(self, number: int, urgency: int, parts: Sequence[Part]) -> None:
        """Play parts together; if that fails, each by itself, so that none fails for another's sake."""
        try:
            results = self._called(number, urgency, parts)
        except BaseException as error:
            if len(parts) == 1:
                parts[0].batch.fail(error)
                return
            for part in parts:
                with self._changed:
                    self._begin(number, urgency, [part])
                self._try(number, urgency, [part])
            return
        begin = 0
        for part in parts:
            try:
                part.batch.put(part.first, results, begin, part.count)
            except BaseException as error:
                part.batch.fail(error)
            begin += part.count

    def _called(self, number: int, urgency: int, parts: Sequence[Part]) -> Results:
        """The results of a call, which is made as soon as it is ready and there is a slot."""
        try:
            work = self._prepare(parts)
            slot = self._free.get()
            try:
                if all(part.batch.stop() for part in parts):
                    raise Stopped
                family, count = parts[0].batch.family, sum(part.count for part in parts)
                with self._changed:
                    self._ends[number] = time.monotonic() + self._cost(family) * count
                    self._changed.notify_all()  # that may be earlier than was thought
                return self._play(slot, family, work, count)
            finally:
                self._free.put(slot)
        finally:
            with self._changed:
                self._schedule.end(urgency, time.monotonic())
                del self._ends[number]
                self._changed.notify_all()

    def _next(self, number: int) -> tuple[int, Sequence[Part]] | None:
        """What a thread should play, once there is something; None when all is done."""
        with self._changed:
            while True:
                for batch in self._schedule.stopped():
                    batch.fail(Stopped())
                line = self._schedule.due()
                if line is None and self._closing:
                    return None
                patience = None if line is None else self._patience(line, time.monotonic())
                if line is not None and (patience is None or patience <= 0):
                    parts = self._taken(line)
                    self._begin(number, line.urgency, parts)
                    return line.urgency, parts
                self._changed.wait(patience)

    @property
    def _idle(self) -> int:
        """Slots for which nothing has been taken."""
        return max(0, self._slots - len(self._ends))

    def _patience(self, line: Line, now: float) -> float:
        """How long to wait before serving a line: until a slot is about to be free, and more urgent work has come."""
        busy = min(self._ends.values()) - LEAD - now if len(self._ends) >= self._slots else 0.0
        return max(busy, self._schedule.expected(line, self._idle, now))

    def _begin(self, number: int, urgency: int, parts: Sequence[Part]) -> None:
        """A thread has taken parts for a call."""
        now = time.monotonic()
        begin = max(now, min(self._ends.values())) if len(self._ends) >= self._slots else now
        self._ends[number] = begin + self._cost(parts[0].batch.family) * sum(part.count for part in parts)
        self._schedule.begin(urgency)

    def _taken(self, line: Line) -> Sequence[Part]:
        """Tasks for one call, those of this line first: as many as fill it, or the share of one of the idle slots."""
        family = line.batches[0].family
        cost, waiting = self._cost(family), self._schedule.waiting(line, family)
        even = line.share if waiting == line.waiting else -(-waiting // max(1, self._idle))
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
        return call.parts
