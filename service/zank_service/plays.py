"""Moves played in many games of a family at once: the kernel rules and moves lanes on, named cards follow."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import numpy.typing as npt

from zank.v1 import ApplyMoveResponse, CheckMoveResponse, GameResult, Position, Reveal
from zank_kernel.engine import FAMILIES, Engine
from zank_kernel.family import Rulings
from zank_service.family import AnyFamily
from zank_service.positions import Checked
from zank_service.refusals import Illegal, Refusal


class Seat(NamedTuple):
    """A game in a lane."""

    position: Position  # changed in place
    rules: Any
    all_seen: bool


class Played(NamedTuple):
    """A move that was played, or lacks reveals."""

    move: str  # in canonical notation
    response: ApplyMoveResponse


class Plays:
    """Games of one family, each with its position in a lane of its own.

    The kernel's state goes on from move to move where it holds every card that matters; else it is made anew of the
    position.
    """

    def __init__(self, engine: Engine, family: AnyFamily, lanes: int) -> None:
        self._engine = engine
        self._family = family
        self._kernel = FAMILIES[family.name]
        self._seats: list[Seat | None] = [None] * lanes
        self._stale: set[int] = set()  # lanes whose state is not that of their position
        self._inexact: set[int] = set()  # lanes whose state cannot go on from move to move
        self._state = self._kernel.empty(lanes)
        self._rulings: Rulings | None = None

    def sit(self, lane: int, position: Position, rules: Any, *, all_seen: bool = False) -> None:
        """Begin a game in a lane, with a position that is not over and becomes the lane's own.

        `all_seen`: its host sees every card that comes to light.
        """
        self._seats[lane] = Seat(position, rules, all_seen)
        self._stale.add(lane)
        self._note_exactness(lane, position)

    def leave(self, lane: int) -> None:
        """Free a lane; what its state says does not matter any more."""
        self._seats[lane] = None
        self._stale.discard(lane)
        self._inexact.discard(lane)

    def state(self) -> Any:
        """The kernel's state of all lanes; those without a game hold anything."""
        if self._stale:
            self._refresh(sorted(self._stale))
        return self._state

    def rulings(self) -> Rulings:
        """What the rules say of every action in all lanes. NumPy arrays."""
        state = self.state()
        if self._rulings is None:
            self._rulings = self._engine.rulings(self._family.name, state)
        return self._rulings

    def name(self, lane: int, action: int) -> str:
        """An action of a lane in public notation."""
        return self._family.name_in(action, self.state(), lane)

    def check(self, moves: Mapping[int, str]) -> dict[int, Any]:
        """By lane, the choice that a move written there is, or the Refusal of one that is not legal."""
        chosen = {lane: self._chosen(lane, text) for lane, text in moves.items()}
        self._stale |= self._inexact & moves.keys()  # a move names a card of a hidden hand
        rulings = self.rulings()
        for lane, choice in chosen.items():
            if not isinstance(choice, Refusal):
                seat = self._seat(lane)
                action = self._family.action_in(choice, self._state, lane)
                broken = self._family.broken(seat.position, seat.rules, choice, action, rulings, lane)
                chosen[lane] = broken or choice
        return chosen

    def move(self, moves: Mapping[int, str], reveals: Mapping[int, Sequence[Reveal]]) -> dict[int, Played | Refusal]:
        """Play a move in each of some lanes, with the cards revealed there; by lane, what came of it.

        The game of a lane whose move is refused, or lacks a reveal, cannot go on.
        """
        games = {lane: self._game(lane, reveals.get(lane, ())) for lane in moves}
        outcomes: dict[int, Played | Refusal] = self.check(moves)
        chosen: dict[int, Any] = {lane: each for lane, each in outcomes.items() if not isinstance(each, Refusal)}
        if not chosen:
            return outcomes
        actions = np.full((len(self._seats),), -1, np.int32)
        actions[list(chosen)] = [self._family.action_in(choice, self._state, lane) for lane, choice in chosen.items()]
        state = self._engine.play(self._family.name, self._state, actions)
        drawn = np.zeros((self._kernel.draws, len(self._seats)), np.int8)
        for lane, choice in chosen.items():
            try:
                cards = self._family.carry_out(games[lane], choice, state, lane)
                drawn[: len(cards), lane] = cards
            except Refusal as refusal:
                outcomes[lane] = refusal
        if self._kernel.draws:
            state = self._engine.take(self._family.name, state, drawn)
        self._state, self._rulings = state, None
        for lane, choice in chosen.items():
            if isinstance(outcomes[lane], Refusal):
                continue
            game = games[lane]
            if (result := self._result(state, lane)) is not None:
                game.finish(result)
            try:
                outcomes[lane] = Played(str(choice.canonical), game.response())
            except Refusal as refusal:
                outcomes[lane] = refusal
            self._note_exactness(lane, game.position)
        return outcomes

    def _result(self, state: Any, lane: int) -> GameResult | None:
        """How the game in a lane ended; None while it goes on."""
        ending, points = int(state.ending[lane]), int(state.points[lane])
        if not ending:
            return None
        winner = 0 if points == 0 else 1 if points > 0 else 2
        return GameResult(ending=self._family.endings[ending], winner=winner, points=abs(points))

    def _game(self, lane: int, reveals: Sequence[Reveal]) -> Any:
        seat = self._seat(lane)
        return self._family.game(seat.position, reveals, seat.all_seen)

    def _note_exactness(self, lane: int, position: Position) -> None:
        if self._family.exact(position):
            if lane in self._inexact:
                self._inexact.discard(lane)
                self._stale.add(lane)
        else:
            self._inexact.add(lane)
            self._stale.add(lane)

    def _chosen(self, lane: int, text: str) -> Any:
        """The choice written `text`, or the Refusal of what is none."""
        position = self._seat(lane).position
        try:
            return self._family.choice(position, text)
        except Refusal as refusal:
            return refusal

    def _seat(self, lane: int) -> Seat:
        seat = self._seats[lane]
        assert seat is not None, f"no game in lane {lane}"
        return seat

    def _refresh(self, lanes: Sequence[int]) -> None:
        """Make the state of some lanes anew of their positions."""
        seats = [self._seat(lane) for lane in lanes]
        fresh = self._kernel.to_state([self._family.lane(seat.position, seat.rules) for seat in seats])
        self._state = _with_lanes(self._state, lanes, fresh)
        self._stale.clear()
        self._rulings = None


def check_move(engine: Engine, asked: Checked, text: str) -> CheckMoveResponse:
    """Whether the move written `text` is legal in a position that is not over; raises Refusal where it is no move."""
    (outcome,) = _single(engine, asked).check({0: text}).values()
    if isinstance(outcome, Illegal):
        return CheckMoveResponse(rule=outcome.rule, text=outcome.text, obligatory=outcome.obligatory)
    if isinstance(outcome, Refusal):
        raise outcome
    return CheckMoveResponse(legal=True, canonical=str(outcome.canonical))


def apply_move(engine: Engine, asked: Checked, text: str, reveals: Sequence[Reveal]) -> ApplyMoveResponse:
    """What becomes of a position that is not over when the move written `text` is played; raises Refusal."""
    (outcome,) = _single(engine, asked).move({0: text}, {0: reveals}).values()
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome.response


def _single(engine: Engine, asked: Checked) -> Plays:
    """The game of a request, on a copy of its position."""
    plays = Plays(engine, asked.family, 1)
    position = Position()
    position.CopyFrom(asked.position)
    plays.sit(0, position, asked.rules)
    return plays


def _with_lanes(state: Any, lanes: Sequence[int], fresh: Any) -> Any:
    """A state with other lanes in some places."""

    def written(part: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
        copy = np.array(part)
        copy[..., lanes] = other
        return copy

    return jax.tree.map(written, state, fresh)
