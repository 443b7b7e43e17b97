"""The analysis of whole files of recorded games: what is done already is not done again."""

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Self

from google.protobuf import json_format

from zank._journal import Journal
from zank._record_files import Line, lines, read_line
from zank._terminal import written_whole
from zank.client import Client
from zank.errors import InvalidInput, InvalidRecord
from zank.v1 import AnalysisSettings, AnalyzeGamesRequest, AnalyzeGamesResponse, GameFault, GameRecord, GameReport

REPORTS: Final = "reports.jsonl"
FAULTS: Final = "faults.jsonl"
_JOURNAL: Final = "journal"
_DUPLICATE: Final = "DUPLICATE"
_AT_ONCE: Final = 5  # games that a server is asked about at a time: one more than it works on, so that none waits


@dataclass(frozen=True, kw_only=True, slots=True)
class Game:
    """A record to be analysed, by where it stands."""

    line: Line
    key: bytes  # of its report: the record, the settings and the engine
    preset: str
    players: tuple[str, ...]
    moves: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A line that has no report."""

    line: Line
    fault: GameFault

    def __str__(self) -> str:
        parts = (self.fault.field.removeprefix("record.").removeprefix("record"), self.fault.rule, self.fault.text)
        return f"{self.line}: " + ": ".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Whose moves are judged: of player 1 or 2, or of whoever has a name."""

    player: int | None = None
    name: str | None = None

    def players(self, record: GameRecord) -> Sequence[int]:
        """The players of a record whose moves are judged."""
        return [
            number
            for number in (1, 2)
            if self.player in (None, number)
            and (self.name is None or (record.players and record.players[number - 1] == self.name))
        ]


type _Asked = tuple[Game, AnalyzeGamesRequest]
type _Answered = tuple[Game, AnalyzeGamesResponse]


@dataclass
class Bulk:
    """An analysis of files with the same settings, in a folder that is its own; the games are shared out to servers."""

    clients: Sequence[Client]
    files: Sequence[Path]
    settings: AnalysisSettings  # but for the players
    whose: Filter
    games: list[Game] = field(default_factory=list)  # every different one, in order
    faults: list[Fault] = field(default_factory=list)
    left_out: int = 0  # records in which nobody's moves are to be judged

    @property
    def bad(self) -> Sequence[Fault]:
        """The records that cannot be analysed."""
        return [each for each in self.faults if each.fault.reason != _DUPLICATE]

    def read(self) -> None:
        """Reads the files once, for what there is to do; raises InvalidInput where versions of servers differ."""
        servers = [client.info() for client in self.clients]
        version, *others = sorted({server.engine_version for server in servers})
        if others:
            raise InvalidInput(f"--server: expected servers of one version, found {', '.join([version, *others])}")
        most = min(server.limits.max_message_bytes for server in servers)
        seen: dict[bytes, Line] = {}
        for line, found in self._records():
            if isinstance(found, InvalidRecord):
                fault = GameFault(
                    reason="INVALID_RECORD", field=found.fault.field, text=found.fault.text, rule=found.fault.rule
                )
                self.faults.append(Fault(line=line, fault=fault))
                continue
            record, digest = found
            if not (players := self.whose.players(record)):
                self.left_out += 1
                continue
            key = _key(digest, self._settings(players), version)
            if (first := seen.get(key)) is not None:
                fault = GameFault(reason=_DUPLICATE, text=f"the same record as {first}")
                self.faults.append(Fault(line=line, fault=fault))
                continue
            seen[key] = line
            size = self._request(record, players).ByteSize()
            if size > most:
                fault = GameFault(reason="INVALID_RECORD", text=f"expected at most {most:,} bytes, found {size:,}")
                self.faults.append(Fault(line=line, fault=fault))
                continue
            moves = sum(event.HasField("move") for event in record.events)
            self.games.append(
                Game(line=line, key=key, preset=record.rule_set.preset, players=tuple(record.players), moves=moves)
            )

    def run(self, journal: Journal, done: Callable[[Fault | None], None]) -> None:
        """Analyses what the journal does not have; `done` is told of every game, with its fault if it has one."""
        left = [game for game in self.games if game.key not in journal]
        for game, response in self._answers(self._requests(left), -(-len(left) // len(self.clients))):
            if response.HasField("report"):
                journal.add(game.key, response.report.SerializeToString(deterministic=True))
                done(None)
            else:
                self.faults.append(Fault(line=game.line, fault=response.fault))
                done(self.faults[-1])

    def seconds_a_move(self) -> float:
        """How long a move takes, by one game that all servers analyse at once; 0 where none can be analysed."""
        for game, request in self._requests(self.games):
            begin = time.monotonic()
            (_, response), *_ = self._answers(itertools.repeat((game, request), len(self.clients)), 1)
            if response.HasField("report"):
                return (time.monotonic() - begin) / max(1, game.moves) / len(self.clients)
        return 0.0

    def reports(self, journal: Journal) -> Iterator[tuple[Game, GameReport]]:
        """The reports that there are, in the order of the records."""
        for game in self.games:
            if game.key in journal:
                yield game, GameReport.FromString(journal[game.key])

    def write(self, journal: Journal, folder: Path) -> None:
        """Writes what came of all records: REPORTS and FAULTS."""
        with written_whole(folder / REPORTS) as file:
            for game, report in self.reports(journal):
                value = {"file": game.line.file, "line": game.line.number, **json_format.MessageToDict(report)}
                file.write(_json(value))
        places = {str(path): number for number, path in enumerate(self.files)}
        with written_whole(folder / FAULTS) as file:
            for each in sorted(self.faults, key=lambda each: (places[each.line.file], each.line.number)):
                value = {"file": each.line.file, "line": each.line.number, **json_format.MessageToDict(each.fault)}
                file.write(_json(value))

    def _records(self) -> Iterator[tuple[Line, tuple[GameRecord, str] | InvalidRecord]]:
        """The records of all files, with their digests."""
        for path in self.files:
            with path.open("rb") as file:
                for number, text in lines(file):
                    if text.isspace():
                        continue
                    line = Line(str(path), number)
                    try:
                        read = read_line(text)
                        yield line, (read.record, read.digest)
                    except InvalidRecord as error:
                        yield line, error

    def _requests(self, games: Iterable[Game]) -> Iterator[_Asked]:
        """What to ask for these games, in order."""
        wanted = {(game.line.file, game.line.number): game for game in games}
        for line, found in self._records():
            here = line.file, line.number
            if here in wanted and not isinstance(found, InvalidRecord):
                record, _ = found
                yield wanted.pop(here), self._request(record, self.whose.players(record))  # a file may be named twice

    def _answers(self, asked: Iterator[_Asked], each: int) -> Iterator[_Answered]:
        """What the servers say of games, as they are done; none is asked about more than `each` at a time."""
        waiting, answers = _Shared(asked), SimpleQueue[_Answered | BaseException | None]()
        at_once = max(1, min(_AT_ONCE, each))
        for client in self.clients:
            threading.Thread(target=_ask, args=(client, waiting, at_once, answers), daemon=True).start()
        asking = len(self.clients)
        while asking:
            answer = answers.get()
            if answer is None:
                asking -= 1
            elif isinstance(answer, BaseException):
                raise answer
            else:
                yield answer

    def _request(self, record: GameRecord, players: Sequence[int]) -> AnalyzeGamesRequest:
        return AnalyzeGamesRequest(record=record, settings=self._settings(players))

    def _settings(self, players: Sequence[int]) -> AnalysisSettings:
        settings = AnalysisSettings(players=players)
        settings.MergeFrom(self.settings)
        return settings


class _Shared[Item]:
    """An iterator that several threads take from."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._lock = threading.Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        with self._lock:
            return next(self._items)


def _ask(
    client: Client,
    waiting: Iterator[_Asked],
    at_once: int,
    answers: SimpleQueue[_Answered | BaseException | None],
) -> None:
    """Has a server analyse what waits, until nothing does; the last of its answers is None, or what went wrong."""
    asked: list[Game] = []
    room = threading.Semaphore(at_once)

    def requests() -> Iterator[AnalyzeGamesRequest]:
        while room.acquire():
            taken = next(waiting, None)
            if taken is None:
                return
            game, request = taken
            asked.append(game)
            yield request

    try:
        for response in client.analyze_games(requests()):
            room.release()
            answers.put((asked[response.index], response))
    except BaseException as error:  # for who waits
        answers.put(error)
    else:
        answers.put(None)


def journal_in(folder: Path) -> Journal:
    """The journal of a folder, which is made if it is not there; raises InvalidInput."""
    folder.mkdir(parents=True, exist_ok=True)
    return Journal(folder / _JOURNAL)


def _key(digest: str, settings: AnalysisSettings, version: str) -> bytes:
    """What a report depends on."""
    told = hashlib.sha256()
    for part in (digest.encode(), settings.SerializeToString(deterministic=True), version.encode()):
        told.update(len(part).to_bytes(8, "little") + part)
    return told.digest()


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
