"""Recorded games: one a line in JSON, read leniently and written in one canonical form (proto/records.md)."""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import json_format

from zank._json_messages import parse_object, read_into, shown
from zank.errors import InvalidInput, InvalidPosition, InvalidRecord, InvalidRuleSet
from zank.notation import Move, parse_bank_move, parse_malice_move
from zank.presets import FAMILY_NAMES, Family, complete_rule_set, options_of, preset
from zank.reveals import written_reveal
from zank.text import format_position, parse_position
from zank.v1 import Ending, GameRecord, RecordEvent

FORMAT_VERSION: Final = 1

_PARSE_MOVE: Final[Mapping[Family, Callable[[str], Move]]] = {"malice": parse_malice_move, "bank": parse_bank_move}
_CLOSING: Final[Mapping[str, range]] = {  # the kinds of event that end a game, and the players that they may name
    "resigned": range(1, 3),
    "abandoned": range(3),
    "timed_out": range(1, 3),
    "over": range(0),
}
_PLAIN: Final = {"move"}  # the fields of most events
_KINDS: Final = ("move", "stop", *_CLOSING)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRecord:
    """A record in canonical form, and what reading it passed over."""

    record: GameRecord
    notes: tuple[str, ...]  # for people, each about a field

    @property
    def digest(self) -> str:
        """What `record_digest` says."""
        return _digest(self.record)


def parse_record(text: str) -> GameRecord:
    """The record whose JSON is `text`, in canonical form; raises InvalidRecord, which names the field."""
    return read_record(text).record


def read_record(text: str) -> ReadRecord:
    """As `parse_record`, with notes on fields that were ignored."""
    record = GameRecord()
    value = parse_object(text)
    events = value.pop("events", None) or []
    unknown = read_into(record, value)
    if not isinstance(events, list):
        raise InvalidRecord("events", f"expected an array, found {shown(events)}")
    for index, event in enumerate(events):
        added = record.events.add()
        move = event["move"] if isinstance(event, dict) and event.keys() == _PLAIN else None
        if isinstance(move, str) and move.isascii():
            added.move = move
        else:
            unknown += read_into(added, event, f"events[{index}]")
    notes = tuple(f"{path}: no field of this format, ignored" for path in unknown)
    return ReadRecord(record=canonical_record(record), notes=notes)


def format_record(record: GameRecord) -> str:
    """The canonical JSON of a record, one line without its end; raises InvalidRecord."""
    return _written(canonical_record(record))


def record_digest(record: GameRecord) -> str:
    """The SHA-256 of the canonical JSON in UTF-8, in hexadecimal; raises InvalidRecord."""
    return _digest(canonical_record(record))


def canonical_record(record: GameRecord) -> GameRecord:
    """The same record with every option, in one notation; raises InvalidRecord where the format is not kept.

    Nothing is said of the rules of the game: whether a move is legal, and what it brings to light.
    """
    canonical = GameRecord()
    canonical.CopyFrom(record)
    canonical.format_version = record.format_version or FORMAT_VERSION
    if canonical.format_version != FORMAT_VERSION:
        raise InvalidRecord("format_version", f"expected {FORMAT_VERSION}, found {record.format_version}")
    try:
        canonical.rule_set.CopyFrom(complete_rule_set(record.rule_set))
    except InvalidRuleSet as error:
        raise InvalidRecord("rule_set", str(error)) from None
    family = preset(record.rule_set.preset).family
    if len(record.players) not in (0, 2):
        raise InvalidRecord("players", f"expected two names or none, found {len(record.players)}")
    _check_score(canonical, family)
    _make_deal_canonical(canonical)
    _make_events_canonical(canonical, family)
    return canonical


def moves_of(family: Family) -> Callable[[str], Move]:
    """What parses the moves of a family."""
    return _PARSE_MOVE[family]


def _digest(canonical: GameRecord) -> str:
    return hashlib.sha256(_written(canonical).encode()).hexdigest()


def _written(record: GameRecord) -> str:
    value = _as_dict(record)
    if "tags" in value:
        value["tags"] = dict(sorted(value["tags"].items()))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _as_dict(record: GameRecord) -> dict[str, Any]:
    """The JSON of a record, its fields in the order of their numbers; most events are plain moves."""
    shell = GameRecord()
    shell.CopyFrom(record)
    del shell.events[:]
    value = json_format.MessageToDict(shell)
    tags = value.pop("tags", None)
    value["events"] = [
        {"move": event.move} if _is_plain(event) else json_format.MessageToDict(event) for event in record.events
    ]
    if tags is not None:
        value["tags"] = tags
    return value


def _is_plain(event: RecordEvent) -> bool:
    """Whether an event is a move and nothing else."""
    return event.HasField("move") and not event.reveals and not event.HasField("time_ms")


def _check_score(record: GameRecord, family: Family) -> None:
    if not record.HasField("match_score"):
        return
    target = options_of(record.rule_set, family).match_target
    for name in ("player1", "player2"):
        points = getattr(record.match_score, name)
        if not target:
            raise InvalidRecord("match_score", "expected none: without a match_target these are single games")
        if points >= target:
            raise InvalidRecord(f"match_score.{name}", f"expected 0 to {target - 1}, found {points}")


def _make_deal_canonical(record: GameRecord) -> None:
    kind = record.deal.WhichOneof("kind")
    if kind is None:
        raise InvalidRecord("deal", "expected a seed or a position, found neither")
    if kind == "seed":
        return
    position = record.deal.position
    try:
        if position.HasField("rule_set") and complete_rule_set(position.rule_set) != record.rule_set:
            raise InvalidRecord("deal.position.rule_set", "expected none, or that of the record")
        position.rule_set.CopyFrom(record.rule_set)
        position.CopyFrom(parse_position(format_position(position)))
    except (InvalidPosition, InvalidRuleSet) as error:
        raise InvalidRecord("deal.position", str(error)) from None
    position.ClearField("rule_set")
    if position.HasField("result"):
        raise InvalidRecord("deal.position.result", "expected none: a record begins with a game that is not over")


def _make_events_canonical(record: GameRecord, family: Family) -> None:
    time_ms = 0
    for index, event in enumerate(record.events):
        path = f"events[{index}]"
        kind = event.WhichOneof("kind")
        if kind == "move":
            event.move = _canonical_move(event.move, family, f"{path}.move")
        elif event.reveals:
            raise InvalidRecord(f"{path}.reveals", "expected none: only a move brings cards to light")
        if event.reveals:
            event.reveals[:] = [
                _canonical_reveal(reveal, f"{path}.reveals[{number}]") for number, reveal in enumerate(event.reveals)
            ]
        if event.HasField("time_ms"):
            if event.time_ms < time_ms:
                raise InvalidRecord(f"{path}.time_ms", f"expected {time_ms} or more, found {event.time_ms}")
            time_ms = event.time_ms
        if kind == "move":
            continue
        if kind is None:
            raise InvalidRecord(path, f"expected one of {', '.join(_KINDS)}; found none")
        if kind == "stop":
            _make_stop_canonical(event, family, path)
        elif kind == "over":
            if event.over.ending not in Ending.values()[1:]:
                raise InvalidRecord(f"{path}.over.ending", f"expected one of {', '.join(Ending.keys()[1:])}")
        elif getattr(event, kind) not in _CLOSING[kind]:
            allowed = " or ".join(map(str, _CLOSING[kind]))
            raise InvalidRecord(f"{path}.{kind}", f"expected {allowed}, found {getattr(event, kind)}")
        if kind in _CLOSING and index < len(record.events) - 1:
            raise InvalidRecord(f"events[{index + 1}]", f"expected nothing after {kind}, which ends the game")
    if not record.events or record.events[-1].WhichOneof("kind") not in _CLOSING:
        raise InvalidRecord(
            f"events[{len(record.events)}]", f"expected one of {', '.join(_CLOSING)}: how the game ended; found nothing"
        )


def _make_stop_canonical(event: RecordEvent, family: Family, path: str) -> None:
    if family != "bank":
        raise InvalidRecord(f"{path}.stop", f"expected none: nobody calls stop in {FAMILY_NAMES[family]}")
    if event.stop.player not in (1, 2):
        raise InvalidRecord(f"{path}.stop.player", f"expected 1 or 2, found {event.stop.player}")
    event.stop.move = _canonical_move(event.stop.move, family, f"{path}.stop.move")


def _canonical_move(text: str, family: Family, path: str) -> str:
    try:
        return _notation(text, family)
    except InvalidInput as error:
        raise InvalidRecord(path, str(error)) from None


@functools.lru_cache(maxsize=4_096)
def _notation(text: str, family: Family) -> str:
    return str(_PARSE_MOVE[family](text))


def _canonical_reveal(text: str, path: str) -> str:
    try:
        return written_reveal(text)
    except InvalidInput as error:
        raise InvalidRecord(path, str(error)) from None


__all__ = [
    "FORMAT_VERSION",
    "ReadRecord",
    "canonical_record",
    "format_record",
    "moves_of",
    "parse_record",
    "read_record",
    "record_digest",
]
