"""Files of recorded games: streams of lines, and what is wrong with each."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Final, Protocol

from zank.errors import InvalidRecord, RecordFault
from zank.records import ReadRecord, read_record
from zank.v1 import GameRecord

LONGEST_LINE: Final = 1 << 22  # bytes; a game of some thousand moves takes a fortieth
_MOST_NOTES: Final = 20  # different ones
_DIGEST_BYTES: Final = 10  # of a record, kept to know it again


class Replayed(Protocol):
    """What came of a record that was replayed."""

    @property
    def key(self) -> "Line":
        """Where it was read."""
        ...

    @property
    def fault(self) -> RecordFault | None:
        """What is wrong with it."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Where a record was read; the same place read twice is two of them."""

    file: str
    number: int  # from 1

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass
class Validation:
    """The records of files, validated in one pass: every bad one is reported, in order."""

    report: Callable[[Line, str], None]
    done: Callable[[], None]  # is called for every record that has been seen to, good or bad
    games: int = 0
    bad: int = 0
    notes: Counter[str] = field(default_factory=Counter)  # what reading passed over, without numbers of events
    _seen: dict[bytes, tuple[str, int]] = field(default_factory=dict)  # where, by digest
    _waiting: deque[Line] = field(default_factory=deque)  # in the order read
    _settled: dict[Line, str] = field(default_factory=dict)  # waiting for earlier lines; empty: nothing is wrong

    def run(
        self,
        files: Iterable[tuple[str, IO[bytes]]],
        replay: Callable[[Iterable[tuple[Line, GameRecord]]], Iterator[Replayed]],
    ) -> None:
        """Reads, replays and reports."""
        for replayed in replay(self._sound(files)):
            self._settle(replayed.key, "" if replayed.fault is None else str(replayed.fault))

    def _sound(self, files: Iterable[tuple[str, IO[bytes]]]) -> Iterator[tuple[Line, GameRecord]]:
        """The records that are worth replaying."""
        for name, file in files:
            for number, line in lines(file):
                if line.isspace():
                    continue
                here = Line(name, number)
                self.games += 1
                self._waiting.append(here)
                try:
                    read = read_line(line)
                except InvalidRecord as error:
                    self._settle(here, str(error))
                    continue
                self._note(read)
                digest = bytes.fromhex(read.digest)[:_DIGEST_BYTES]
                if (first := self._seen.get(digest)) is not None:
                    self._settle(here, f"the same record as {Line(*first)}")
                    continue
                self._seen[digest] = (name, number)
                yield here, read.record

    def _settle(self, line: Line, fault: str) -> None:
        """Notes what came of a line, and reports what no earlier line holds up."""
        self._settled[line] = fault
        while self._waiting and self._waiting[0] in self._settled:
            first = self._waiting.popleft()
            text = self._settled.pop(first)
            if text:
                self.bad += 1
                self.report(first, text)
            self.done()

    def _note(self, read: ReadRecord) -> None:
        for note in {re.sub(r"\[[0-9]+\]", "[]", note) for note in read.notes}:
            if note in self.notes or len(self.notes) < _MOST_NOTES:
                self.notes[note] += 1


def lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a file, one in memory at a time; of a longer one than LONGEST_LINE only the beginning."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        yield number, line
        rest = line
        while not rest.endswith(b"\n") and len(rest) > LONGEST_LINE:
            rest = file.readline(LONGEST_LINE + 1)


def read_line(line: bytes) -> ReadRecord:
    """The record in a line of a file; raises InvalidRecord."""
    if len(line) > LONGEST_LINE:
        raise InvalidRecord("", f"expected at most {LONGEST_LINE} bytes in a line")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRecord("", f"expected UTF-8; byte {error.start + 1} of the line is none") from None
    try:
        return read_record(text)
    except InvalidRecord as error:
        if not line.endswith(b"\n") and error.fault.text.startswith("expected JSON:"):
            raise InvalidRecord("", f"the file breaks off within this line; {error}") from None
        raise
