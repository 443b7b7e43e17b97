"""Whose rollouts are played next: fair shares for classes of questions, and turns among the questions of a class.

Fair queueing (Golestani, "A self-clocked fair queueing scheme", 1994) on two levels: a class, and a question in it,
carries a tag that moves on by what was played for it, a class's by less the larger its share. The question goes first
whose tag is lowest, of the class whose tag would be lowest after a call, so that nobody waits for ever; one that comes
back after a pause starts where the others are.
"""

import dataclasses
from collections import deque
from collections.abc import Sequence
from typing import Final

from zank_kernel.batch import Batch

SHARES: Final = (32, 16, 8, 4, 2, 1)  # of the classes, by urgency: what they get of the time when all have work
PATIENCE: Final = 0.01  # seconds for which a class that is between two rounds is waited for


@dataclasses.dataclass(eq=False)
class Line:
    """The batches of one question that wait."""

    urgency: int
    tag: float = 0.0
    share: int = 0  # tasks of a call where nobody else's wait: so many that all calls are alike
    batches: deque[Batch] = dataclasses.field(default_factory=deque)

    @property
    def waiting(self) -> int:
        """Tasks not handed out yet."""
        return sum(batch.waiting for batch in self.batches)


@dataclasses.dataclass(eq=False)
class Class:
    """Questions of one urgency."""

    share: int
    tag: float = 0.0
    now: float = 0.0  # the tag of the question that was served last
    lines: list[Line] = dataclasses.field(default_factory=list)  # with work that waits
    open: int = 0  # questions that may have work again soon
    wants: int = 0  # calls that its last batch could be spread over
    running: int = 0  # calls
    since: float = 0.0  # when a call of it ended last


class Schedule:
    """Lines of batches, and which of them is due; not to be used by several threads at once."""

    def __init__(self, call: float, shares: Sequence[int] = SHARES) -> None:
        self._call = call  # what a whole call costs
        self._classes = [Class(share) for share in shares]
        self._now = 0.0  # the tag of the class that was served last

    def open(self, line: Line) -> None:
        """A question begins, for which batches will be added again and again."""
        self._classes[line.urgency].open += 1

    def close(self, line: Line) -> None:
        """A question that was opened is over."""
        self._classes[line.urgency].open -= 1

    def add(self, line: Line, batch: Batch, calls: int) -> None:
        """A batch waits, which can be spread over so many calls."""
        group = self._classes[line.urgency]
        group.wants = calls
        if not line.batches:
            if not group.lines:
                group.tag = max(group.tag, self._now)
            line.tag = max(line.tag, group.now)
            group.lines.append(line)
        line.batches.append(batch)

    def stopped(self) -> list[Batch]:
        """The batches that are given up, which wait no longer."""
        lines = [line for group in self._classes for line in group.lines]
        found = [batch for line in lines for batch in line.batches if batch.future.done() or batch.stop()]
        if found:
            for line in lines:
                line.batches = deque(batch for batch in line.batches if batch not in found)
                self._leave(line)
        return found

    def due(self) -> Line | None:
        """The line whose turn it is, if any waits."""
        groups = [group for group in self._classes if group.lines]
        return min(min(groups, key=self._after).lines, key=_tag) if groups else None

    def expected(self, line: Line, idle: int, time: float) -> float:
        """How long one of so many idle workers should wait before it serves this line, in seconds.

        A more urgent class that is further behind may be about to ask: it has a question, but no batch of it waits, for
        calls of it run, or the results of a round are being looked at. The next round will want as many workers as
        the last.
        """
        after = self._after(self._classes[line.urgency])
        return max(
            (
                PATIENCE if group.running else group.since + PATIENCE - time
                for group in self._classes[: line.urgency]
                if group.open
                and not group.lines
                and idle + group.running <= group.wants
                and self._after(group) <= after
            ),
            default=0.0,
        )

    def like(self, line: Line, family: str) -> list[Line]:
        """The other lines of the same urgency whose first batch is of this family, the one first that is due first."""
        lines = self._classes[line.urgency].lines
        return sorted((each for each in lines if each is not line and each.batches[0].family == family), key=_tag)

    def waiting(self, line: Line, family: str) -> int:
        """Tasks of the line's class and of this family that wait."""
        lines = self._classes[line.urgency].lines
        return sum(batch.waiting for each in lines for batch in each.batches if batch.family == family)

    def serve(self, line: Line, cost: float) -> None:
        """So much of the work of a line was handed out."""
        group = self._classes[line.urgency]
        self._now = max(self._now, group.tag)
        group.now = max(group.now, line.tag)
        group.tag += cost / group.share
        line.tag += cost
        while line.batches and not line.batches[0].waiting:
            line.batches.popleft()
        self._leave(line)

    def begin(self, urgency: int) -> None:
        """A call for lines of this urgency runs."""
        self._classes[urgency].running += 1

    def end(self, urgency: int, time: float) -> None:
        """It is over."""
        self._classes[urgency].running -= 1
        self._classes[urgency].since = time

    def _after(self, group: Class) -> float:
        """The tag of a class after one more call."""
        return group.tag + self._call / group.share

    def _leave(self, line: Line) -> None:
        group = self._classes[line.urgency]
        if not line.batches and line in group.lines:
            group.lines.remove(line)


def _tag(each: Line) -> float:
    return each.tag
