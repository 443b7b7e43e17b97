"""The analysis of whole files of recorded games: what is done already is not done again."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from google.protobuf import json_format

from zank._journal import Journal
from zank._record_files import Line, lines, read_line
from zank._terminal import written_whole
from zank.client import Client
from zank.errors import InvalidRecord
from zank.v1 import AnalysisSettings, AnalyzeGamesRequest, GameFault, GameRecord, GameReport

REPORTS: Final = "reports.jsonl"
FAULTS: Final = "faults.jsonl"
_JOURNAL: Final = "journal"
_DUPLICATE: Final = "DUPLICATE"


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


@dataclass
class Bulk:
    """An analysis of files with the same settings, in a folder that is its own."""

    client: Client
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
        """Reads the files once, for what there is to do."""
        server = self.client.info()
        version, most = server.engine_version, server.limits.max_message_bytes
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
        responses = self.client.analyze_games(self._requests({game.line: game for game in left}))
        for response in responses:
            game = left[response.index]
            if response.HasField("report"):
                journal.add(game.key, response.report.SerializeToString(deterministic=True))
                done(None)
            else:
                self.faults.append(Fault(line=game.line, fault=response.fault))
                done(self.faults[-1])

    def seconds_a_move(self) -> float:
        """How long a move takes, by the analysis of one game; 0 where there is none that can be analysed."""
        for request in self._requests({game.line: game for game in self.games}):
            begin = time.monotonic()
            (response,) = self.client.analyze_games([request])
            if response.HasField("report"):
                moves = sum(event.HasField("move") for event in request.record.events)
                return (time.monotonic() - begin) / max(1, moves)
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

    def _requests(self, games: dict[Line, Game]) -> Iterator[AnalyzeGamesRequest]:
        """What to ask for these games, in order."""
        wanted = {(line.file, line.number) for line in games}
        for line, found in self._records():
            here = line.file, line.number
            if here in wanted and not isinstance(found, InvalidRecord):
                wanted.remove(here)  # a file may be named twice
                record, _ = found
                yield self._request(record, self.whose.players(record))

    def _request(self, record: GameRecord, players: Sequence[int]) -> AnalyzeGamesRequest:
        return AnalyzeGamesRequest(record=record, settings=self._settings(players))

    def _settings(self, players: Sequence[int]) -> AnalysisSettings:
        settings = AnalysisSettings(players=players)
        settings.MergeFrom(self.settings)
        return settings


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
