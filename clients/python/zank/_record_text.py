"""The text form of recorded games for people: headers, then the moves turn by turn (proto/records.md)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.descriptor import FieldDescriptor

from zank.errors import InvalidInput, InvalidRecord
from zank.presets import Options, options_of, preset
from zank.records import canonical_record
from zank.text import format_position, parse_position
from zank.v1 import Ending, GameRecord, GameResult, RecordEvent, RuleSet

_FIRST: Final = "Zank"  # the header with which a game begins
_HEADER: Final = re.compile(r'\[(\w+)((?: +"(?:[^"\\]|\\.)*")+) *\]')
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_TOKEN: Final = re.compile(r"\{[^{}]*\}|[^\s{}]+|\S")
_NUMBER: Final = re.compile(r"[0-9]+\.")
_TIME: Final = re.compile(r"@([0-9]{1,7})\.([0-9]{3})")
_COMMENT: Final = ";"
_PLAYER_EVENTS: Final = ("resigned", "abandoned", "timed_out")
_ENDING: Final = "ENDING_"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextGame:
    """A game of a file in the text form."""

    line: int  # where it starts, from 1
    record: GameRecord | InvalidRecord  # canonical; or why it is none


def format_text(record: GameRecord, comments: Mapping[int, Sequence[str]] | None = None) -> str:
    """A record for people, lines with an empty one after them; raises InvalidRecord.

    Comments on events, by their number, follow the turn.
    """
    record = canonical_record(record)
    return "\n".join([*_headers(record), "", *_turns(record, comments or {}), "", ""])


def parse_texts(lines: Iterable[str]) -> Iterator[TextGame]:
    """The games in the lines of a text, one by one; a game that cannot be read does not end it."""
    game: _Lines | None = None
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if not line or line.startswith(_COMMENT):
            continue
        header = _HEADER.fullmatch(line)
        if game is None or (header is not None and header[1] == _FIRST):
            if game is not None:
                yield game.read()
            game = _Lines(number)
        game.lines.append((number, line))
    if game is not None:
        yield game.read()


def _headers(record: GameRecord) -> Iterator[str]:
    family = preset(record.rule_set.preset).family
    yield _header(_FIRST, str(record.format_version))
    yield _header("Preset", record.rule_set.preset)
    for option, value in options_of(record.rule_set, family).ListFields():
        yield _header(option.name, _option_text(option, value))
    for number, name in enumerate(record.players, start=1):
        yield _header(f"Player{number}", name)
    if record.HasField("match_score"):
        yield _header("Score", str(record.match_score.player1), str(record.match_score.player2))
    if record.deal.HasField("seed"):
        yield _header("Seed", str(record.deal.seed))
    else:
        position = record.deal.position
        position.rule_set.CopyFrom(record.rule_set)
        yield _header("Position", format_position(position))
        position.ClearField("rule_set")
    for key, value in sorted(record.tags.items()):
        yield _header("Tag", key, value)


def _header(name: str, *values: str) -> str:
    return f"[{name} {' '.join(json.dumps(value, ensure_ascii=False) for value in values)}]"


def _turns(record: GameRecord, comments: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The moves, a turn a line, numbered from 1; what ended the game has a line of its own. Comments follow a line."""
    side_play_ends_turn = record.rule_set.malice.side_play_ends_turn
    turn, words, notes = 1, list[str](), list[str]()
    for number, event in enumerate(record.events):
        last = not event.HasField("move") and not event.HasField("stop")
        if last and words:
            yield f"{turn}. {' '.join(words)}"
            yield from notes
            words, notes = [], []
        words += _words(event)
        notes += (f"{_COMMENT} {comment}" for comment in comments.get(number, ()))
        if last:
            yield " ".join(words)
        elif event.HasField("move") and _ends_turn(event.move, side_play_ends_turn):
            yield f"{turn}. {' '.join(words)}"
            yield from notes
            turn, words, notes = turn + 1, [], []


def _ends_turn(move: str, side_play_ends_turn: bool) -> bool:
    """Whether a turn is over after a move; only where lines break depends on it."""
    source, _, target = move.partition("-")
    return move == "END" or target.startswith("S") or (side_play_ends_turn and source.startswith("S"))


def _words(event: RecordEvent) -> Iterator[str]:
    """An event: a move, with what is to be said of it in braces, or braces alone."""
    notes = [f"@{event.time_ms // 1000}.{event.time_ms % 1000:03}"] if event.HasField("time_ms") else []
    kind = event.WhichOneof("kind")
    if kind == "move":
        yield event.move
        if event.reveals or notes:
            yield f"{{{' '.join([*event.reveals, *notes])}}}"
        return
    if kind == "stop":
        words = ["stop", str(event.stop.player), event.stop.move, event.stop.rule]
    elif kind == "over":
        result = event.over
        ending = Ending.Name(result.ending).removeprefix(_ENDING).lower()
        words = ["over", ending, str(result.winner), str(result.points)]
    else:
        assert kind is not None
        words = [kind, str(getattr(event, kind))]
    yield f"{{{' '.join([*filter(None, words), *notes])}}}"


@dataclass
class _Lines:
    """The lines of a game."""

    start: int
    lines: list[tuple[int, str]] = field(default_factory=list)

    def read(self) -> TextGame:
        record = GameRecord()
        here = self.start
        try:
            for here, line in self.lines:  # noqa: B007 - where an error is
                header = _HEADER.fullmatch(line)
                if header is not None:
                    _read_header(header[1], [json.loads(text) for text in _STRING.findall(header[2])], record)
                elif line.startswith("["):
                    raise InvalidRecord("", f'expected a header, for example [Preset "malice-match"]; found {line!r}')
                else:
                    _read_moves(line, record)
            return TextGame(line=self.start, record=canonical_record(record))
        except InvalidRecord as error:
            if error.fault.field:  # of the record
                return TextGame(line=self.start, record=error)
            return TextGame(line=self.start, record=InvalidRecord("", f"line {here}: {error}"))
        except (ValueError, InvalidInput) as error:  # numbers that no field holds, text that is no Unicode
            return TextGame(line=self.start, record=InvalidRecord("", f"line {here}: {error}"))


def _read_header(name: str, values: list[str], record: GameRecord) -> None:
    """Fills in what a header says."""
    if name in ("Score", "Tag"):
        _expect(name, values, 2)
    else:
        _expect(name, values, 1)
    if name == _FIRST:
        record.format_version = _natural(values[0])
    elif name == "Preset":
        record.rule_set.preset = values[0]
    elif name in ("Player1", "Player2"):
        number = int(name[-1])
        if len(record.players) != number - 1:
            raise InvalidRecord("", "expected Player1, then Player2, each once")
        record.players.append(values[0])
    elif name == "Score":
        record.match_score.player1, record.match_score.player2 = map(_natural, values)
    elif name == "Seed":
        record.deal.seed = _natural(values[0])
    elif name == "Position":
        record.deal.position.CopyFrom(parse_position(values[0]))
    elif name == "Tag":
        record.tags[values[0]] = values[1]
    else:
        _read_option(name, values[0], record.rule_set)


def _expect(name: str, values: list[str], count: int) -> None:
    if len(values) != count:
        raise InvalidRecord("", f"expected {count} after {name}, found {len(values)}")


def _read_option(name: str, text: str, rule_set: RuleSet) -> None:
    options = options_of(rule_set, preset(rule_set.preset).family)
    option = options.DESCRIPTOR.fields_by_name.get(name)
    if option is None:
        known = ", ".join(["Preset", "Player1", "Player2", "Score", "Seed", "Position", "Tag"])
        raise InvalidRecord("", f"expected one of the headers {known}, or an option after its preset; found {name}")
    _set_option(options, option, text)


def _set_option(options: Options, option: FieldDescriptor, text: str) -> None:
    if option.enum_type is not None:
        names = {_enum_text(option, name): value.number for name, value in option.enum_type.values_by_name.items()}
    elif option.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        names = {"false": False, "true": True}
    else:
        setattr(options, option.name, _natural(text))
        return
    if text not in names:
        raise InvalidRecord("", f"expected {' or '.join(names)} for {option.name}, found {text!r}")
    setattr(options, option.name, names[text])


def _option_text(option: FieldDescriptor, value: int) -> str:
    if option.enum_type is not None:
        return _enum_text(option, option.enum_type.values_by_number[value].name)
    return str(value).lower()


def _enum_text(option: FieldDescriptor, name: str) -> str:
    """A value of an option as it is written, for example "emptied" for STOCK_OUT_WHEN_EMPTIED."""
    return name.removeprefix(f"{option.name.upper()}_").lower()


def _read_moves(line: str, record: GameRecord) -> None:
    """Adds the events of a line."""
    for token in _TOKEN.findall(line):
        if _NUMBER.fullmatch(token):
            continue
        if not token.startswith("{"):
            record.events.add(move=token)
            continue
        words = token[1:-1].split()
        if words and words[0] in ("stop", "over", *_PLAYER_EVENTS):
            _read_event(words, record.events.add())
        elif not record.events or not record.events[-1].HasField("move"):
            raise InvalidRecord("", f"expected a move before {token}")
        else:
            _read_notes(words, record.events[-1])


def _read_event(words: list[str], event: RecordEvent) -> None:
    """Reads an event in braces that is no move."""
    kind, *rest = words
    if rest and rest[-1].startswith("@"):
        _read_notes([rest.pop()], event)
    if kind == "stop" and len(rest) in (2, 3):
        event.stop.player, event.stop.move = _natural(rest[0]), rest[1]
        event.stop.rule = rest[2] if len(rest) > 2 else ""
    elif kind == "over" and len(rest) == 3:
        name = _ENDING + rest[0].upper()
        ending = dict(Ending.items()).get(name, Ending.Value(f"{_ENDING}UNSPECIFIED"))
        event.over.CopyFrom(GameResult(ending=ending, winner=_natural(rest[1]), points=_natural(rest[2])))
    elif kind in _PLAYER_EVENTS and len(rest) == 1:
        setattr(event, kind, _natural(rest[0]))
    else:
        raise InvalidRecord(
            "",
            "expected {stop PLAYER MOVE RULE}, {over ENDING WINNER POINTS}, {resigned PLAYER}, {abandoned PLAYER} or"
            f" {{timed_out PLAYER}}; found {' '.join(words)!r}",
        )


def _read_notes(words: list[str], event: RecordEvent) -> None:
    """Reads what braces say of an event: the cards that it reveals, and its time."""
    for word in words:
        time = _TIME.fullmatch(word)
        if time is not None:
            event.time_ms = int(time[1]) * 1000 + int(time[2])
        elif word.startswith("@"):
            raise InvalidRecord("", f"expected a time in seconds with three decimals, @12.345; found {word!r}")
        else:
            event.reveals.append(word)


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20):
        raise InvalidRecord("", f"expected a whole number, found {text!r}")
    return int(text)
