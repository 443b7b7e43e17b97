"""Recorded games replayed by the referee's rulings, many at once, and what is wrong with them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.rpc.error_details_pb2 import BadRequest

from zank.errors import InvalidReveal, RecordFault
from zank.reveals import format_slot, parse_reveal
from zank.v1 import Ending, GameRecord, GameResult, Position, RecordEvent, Reveal, Slot, StopCall
from zank_kernel.engine import RULED, Engine
from zank_service.families import BY_PRESET
from zank_service.family import AnyFamily
from zank_service.plays import Plays
from zank_service.positions import checked_position, checked_rule_set
from zank_service.refusals import Illegal, Refusal, Violations


@dataclass(frozen=True, kw_only=True)
class Decision[Key]:
    """A move of a recorded game, before it is played."""

    key: Key
    event: int  # number of the event, from 0
    position: Position  # all that the record knows
    move: str  # in the record's notation


@dataclass(frozen=True, kw_only=True)
class Replayed[Key]:
    """What came of a record."""

    key: Key
    position: Position  # at the end; whatever it was when a fault was found
    events: int  # that could be replayed
    fault: RecordFault | None


@dataclass
class _Game[Key]:
    """A record that is being replayed."""

    key: Key
    record: GameRecord
    position: Position
    event: int = 0  # the next one
    over: bool = field(default=False)

    @property
    def next_event(self) -> RecordEvent:
        return self.record.events[self.event]

    def replayed(self, fault: RecordFault | None = None) -> Replayed[Key]:
        return Replayed(key=self.key, position=self.position, events=self.event, fault=fault)


def replay[Key](
    engine: Engine,
    records: Iterable[tuple[Key, GameRecord]],
    visit: Callable[[Decision[Key]], None] | None = None,
) -> Iterator[Replayed[Key]]:
    """Replays canonical records (`zank.records`), each with a key of the caller's; yields them as they come to an end.

    No more records are taken than are replayed at once. `visit` is given every move before it is played.
    """
    benches: dict[str, _Bench[Key]] = {}
    for key, record in records:
        family = BY_PRESET.get(record.rule_set.preset)
        if family is None:
            fault = RecordFault(field="rule_set.preset", text=f"expected one of {', '.join(BY_PRESET)}")
            yield Replayed(key=key, position=Position(), events=0, fault=fault)
            continue
        bench = benches.setdefault(family.name, _Bench(engine, family, visit))
        while bench.is_full:
            yield from bench.step()
        if (refused := bench.begin(key, record)) is not None:
            yield refused
    for bench in benches.values():
        while bench.is_busy:
            yield from bench.step()


def decisions(engine: Engine, record: GameRecord) -> tuple[list[Decision[None]], Replayed[None]]:
    """The moves of one record, and what came of it."""
    found: list[Decision[None]] = []
    (replayed,) = replay(engine, [(None, record)], found.append)
    return found, replayed


class _Bench[Key]:
    """Records of one family, replayed side by side."""

    def __init__(self, engine: Engine, family: AnyFamily, visit: Callable[[Decision[Key]], None] | None) -> None:
        self._family = family
        self._visit = visit
        self._plays = Plays(engine, family, RULED)
        self._games: dict[int, _Game[Key]] = {}
        self._free = list(range(RULED))

    @property
    def is_full(self) -> bool:
        return not self._free

    @property
    def is_busy(self) -> bool:
        return bool(self._games)

    def begin(self, key: Key, record: GameRecord) -> Replayed[Key] | None:
        """Takes a record; returns it where its game cannot begin."""
        try:
            position = _start(self._family, record)
        except Refusal as refusal:
            return Replayed(key=key, position=Position(), events=0, fault=_fault(refusal, ""))
        lane = self._free.pop()
        self._games[lane] = _Game(key=key, record=record, position=position)
        rules = self._family.rules(record.rule_set)
        self._plays.sit(lane, position, rules, all_seen=self._family.hands_known(position))
        return None

    def step(self) -> Iterator[Replayed[Key]]:
        """Goes on by one event in every game; yields those that are at an end."""
        for lane, game in list(self._games.items()):
            kind = game.next_event.WhichOneof("kind")
            if game.over and kind != "over":
                yield self._leave(lane, _expected_over(self._family, game))
            elif kind not in ("move", "stop"):
                yield self._leave(lane, self._check_closing(game))
        if not self._games:
            return
        stops: dict[int, str] = {}
        moves: dict[int, str] = {}
        reveals: dict[int, Sequence[Reveal]] = {}
        for lane, game in list(self._games.items()):
            event = game.next_event
            if event.HasField("stop"):
                if event.stop.player == game.position.player_to_move:
                    expected = 3 - event.stop.player
                    fault = _at(game, "stop.player", f"expected {expected}, who is not to move")
                    yield self._leave(lane, fault)
                else:
                    stops[lane] = event.stop.move
                continue
            try:
                reveals[lane] = [parse_reveal(text, game.position.player_to_move) for text in event.reveals]
            except InvalidReveal as error:
                yield self._leave(lane, _at(game, "reveals", str(error)))
                continue
            moves[lane] = event.move
            if self._visit is not None:
                self._show(game)
        yield from self._check_stops(stops)
        yield from self._move(moves, reveals)

    def _check_stops(self, stops: dict[int, str]) -> Iterator[Replayed[Key]]:
        if not stops:
            return
        for lane, outcome in self._plays.check(stops).items():
            game = self._games[lane]
            if (fault := _stop_fault(game, game.next_event.stop, outcome)) is not None:
                yield self._leave(lane, fault)
            else:
                game.event += 1

    def _move(self, moves: dict[int, str], reveals: dict[int, Sequence[Reveal]]) -> Iterator[Replayed[Key]]:
        if not moves:
            return
        movers = {lane: self._games[lane].position.player_to_move for lane in moves}
        for lane, outcome in self._plays.move(moves, reveals).items():
            game = self._games[lane]
            if isinstance(outcome, Refusal):
                yield self._leave(lane, _fault(outcome, f"events[{game.event}]."))
            elif outcome.response.needed:
                yield self._leave(lane, _needed(game, movers[lane], outcome.response.needed))
            else:
                game.event += 1
                game.over = game.position.HasField("result")

    def _show(self, game: _Game[Key]) -> None:
        assert self._visit is not None
        position = Position()
        position.CopyFrom(game.position)
        self._visit(Decision(key=game.key, event=game.event, position=position, move=game.next_event.move))

    def _check_closing(self, game: _Game[Key]) -> RecordFault | None:
        """What is wrong with the last event, and with the table at the end."""
        event = game.next_event
        if event.HasField("over"):
            if not game.over:
                player = game.position.player_to_move
                return _at(game, "over", f"expected a game that is over by the rules; player {player} is to move")
            for name in ("ending", "winner", "points"):
                expected, found = getattr(game.position.result, name), getattr(event.over, name)
                if expected != found:
                    named = (Ending.Name(value) if name == "ending" else value for value in (expected, found))
                    rule = _ended_by(self._family, game.position.result)
                    return _at(game, f"over.{name}", "expected {}, found {}".format(*named), rule)
        violations = Violations()
        rules = self._family.rules(game.record.rule_set)
        self._family.check_table(game.position, rules, "position", violations)
        try:
            violations.refuse_if_any("INVALID_POSITION")
        except Refusal as refusal:
            return _at(game, "", f"the table is not sound here: {refusal.message}")
        game.event += 1
        return None

    def _leave(self, lane: int, fault: RecordFault | None) -> Replayed[Key]:
        game = self._games.pop(lane)
        self._plays.leave(lane)
        self._free.append(lane)
        return game.replayed(fault)


def _start(family: AnyFamily, record: GameRecord) -> Position:
    """The position with which a record begins; raises Refusal."""
    checked_rule_set(record.rule_set, "rule_set", "INVALID_RULE_SET")
    if record.deal.HasField("seed"):
        return family.deal(record.rule_set, record.deal.seed)
    position = Position()
    position.CopyFrom(record.deal.position)
    position.rule_set.CopyFrom(record.rule_set)
    checked_position(record.deal, position, "deal.position", hand_known=False)
    return position


def _stop_fault(game: _Game[Any], stop: StopCall, outcome: object) -> RecordFault | None:
    """What is wrong with a call of stop, by what came of the move that it is about."""
    if isinstance(outcome, Illegal):
        if stop.rule == outcome.rule:
            return None
        return _at(
            game, "stop.rule", f"expected {outcome.rule}, found {stop.rule or 'none'}: {outcome.text}", outcome.rule
        )
    if isinstance(outcome, Refusal):
        return _fault(outcome, f"events[{game.event}].stop.")
    if stop.rule:
        return _at(game, "stop.rule", f"expected none, for {stop.move} is legal; found {stop.rule}")
    return None


def _expected_over(family: AnyFamily, game: _Game[Any]) -> RecordFault:
    result = game.position.result
    found = game.next_event.WhichOneof("kind")
    text = f"expected over, for the game has ended ({Ending.Name(result.ending)}); found {found}"
    return _at(game, "", text, _ended_by(family, result))


def _ended_by(family: AnyFamily, result: GameResult) -> str:
    return family.ended_by[result.ending]


def _needed(game: _Game[Any], mover: int, slots: Sequence[Slot]) -> RecordFault:
    """Cards that come to light by a move, and that neither the deal nor the event gives."""
    given = [parse_reveal(text, mover).slot for text in game.next_event.reveals]
    missing = [format_slot(slot, mover) for slot in slots if slot not in given]
    return _at(game, "reveals", f"expected the cards that come to light: {', '.join(missing)} missing")


def _at(game: _Game[Any], name: str, text: str, rule: str = "") -> RecordFault:
    """A fault of the next event."""
    return RecordFault(field=f"events[{game.event}].{name}".rstrip("."), text=text, rule=rule)


def _fault(refusal: Refusal, path: str) -> RecordFault:
    """What a refusal says, of an event at this path."""
    if isinstance(refusal, Illegal):
        return RecordFault(field=f"{path}move", text=refusal.text, rule=refusal.rule)
    for detail in refusal.details:
        if isinstance(detail, BadRequest):
            first = detail.field_violations[0]
            return RecordFault(field=f"{path}{first.field}", text=first.description)
    return RecordFault(field=f"{path}move" if path else "deal", text=refusal.message)


__all__ = ["Decision", "Replayed", "decisions", "replay"]
