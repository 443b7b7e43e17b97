"""Turns that have to be planned: the search finds what no move gains by itself, whatever the seed.

It values a move by the best outcome of the whole turn that it can lead to. What that is worth shows where three moves
or more are needed.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
import pytest

from tests.kernel import bank_positions as banks
from tests.kernel import planned_bank, planned_malice
from tests.kernel import positions as malices
from tests.kernel.planned import Planned
from tests.kernel.test_turns import bank_after, bank_key, malice_after, malice_key
from tests.oracle import bank as bank_oracle
from tests.oracle import malice as malice_oracle
from zank_kernel.bank.table import accepts
from zank_kernel.defaults import HINT_ROLLOUTS
from zank_kernel.engine import Engine, Question

SHORT: Final = 2  # moves that gain nothing, whichever they are
CLEAR: Final = 4  # standard errors

SEEDS: Final = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Player:
    """How the turns of a family are played in the oracle, and what the solver is shown."""

    moves: Callable[[Any], Iterable[Any]]
    parse: Callable[[str], Any]
    after: Callable[[Any, Any], tuple[Any, bool]]  # the position after a move, and whether its player can plan on
    key: Callable[[Any], Any]
    known: Callable[[Any], Any]  # the table
    notation: Callable[[Any, int], str]  # of an action in a turn that begins at a position


def after_malice(position: malices.Position, move: malice_oracle.Move) -> tuple[malices.Position, bool]:
    game, goes_on = malice_after(position.game, move)
    return malices.Position(position.rules, game), goes_on


def malice_notation(start: malices.Position, action: int) -> str:
    return str(malices.move_of(action, (*start.game.hand[start.game.mover], 0, 0, 0, 0)))


PLAYERS: Final = {
    "malice": Player(
        moves=lambda position: position.game.legal_moves(),
        parse=malice_oracle.parse,
        after=after_malice,
        key=lambda position: malice_key(position.game),
        known=lambda position: malices.masked(malices.table_of(position), recorded=False),
        notation=malice_notation,
    ),
    "bank": Player(
        moves=lambda position: position.game.legal_moves(),
        parse=bank_oracle.parse,
        after=bank_after,
        key=bank_key,
        known=lambda position: position.known(marked=False),
        notation=lambda start, action: str(banks.MOVES[action]),
    ),
}

PLANNED: Final[dict[str, Sequence[Planned[Any]]]] = {"malice": planned_malice.PLANNED, "bank": planned_bank.PLANNED}

every_position = pytest.mark.parametrize(
    ("family", "planned"),
    [pytest.param(family, each, id=f"{family}-{each.name}") for family in PLANNED for each in PLANNED[family]],
)


def played(family: str, start: Any, line: Iterable[str]) -> list[Any]:
    """The positions that a line of legal moves of one turn leads to, one after the other."""
    player = PLAYERS[family]
    positions: list[Any] = []
    now, goes_on = start, True
    for notation in line:
        move = player.parse(notation)
        assert goes_on
        assert now.game.explain(move) is None
        now, goes_on = player.after(now, move)
        positions.append(now)
    return positions


def question(family: str, start: Any, seed: int) -> Question:
    """What a hint asks."""
    known = PLAYERS[family].known(start)
    return Question(family=family, table=known, rollouts=HINT_ROLLOUTS, seed=seed, objective="points")


def named(family: str, start: Any, actions: Iterable[int]) -> list[str]:
    return [PLAYERS[family].notation(start, action) for action in actions]


def gains(family: str, planned: Planned[Any], line: Sequence[int]) -> bool:
    """Whether a line of actions has the gain in the end, or on the way."""
    positions = played(family, planned.start, named(family, planned.start, line))
    return any(planned.gain(planned.start, position) for position in positions)


def test_there_are_ten_positions_of_each_family() -> None:
    for planned in PLANNED.values():
        assert len({each.name for each in planned}) == len(planned) == 10


@pytest.mark.parametrize("planned", planned_malice.PLANNED, ids=lambda planned: planned.name)
def test_a_planned_position_is_one_of_a_game_of_spite_and_malice(planned: Planned[malices.Position]) -> None:
    game = planned.start.game
    assert {*game.cards().values()} == {8}
    assert len(game.cards()) == malice_oracle.KING
    assert all(1 <= len(pile) <= game.rules.payoff_cards for pile in game.payoff)
    assert 1 <= len(game.hand[0]) <= 5
    assert 0 <= len(game.hand[1]) <= 4  # one was discarded
    assert game.stock
    for center in game.centers:
        assert len(center) < malice_oracle.COMPLETE_HEIGHT
        assert all(card in (rank, malice_oracle.KING) for rank, card in enumerate(center, start=1))


@pytest.mark.parametrize("planned", planned_bank.PLANNED, ids=lambda planned: planned.name)
def test_a_planned_position_is_one_of_a_game_of_russian_bank(planned: Planned[banks.Position]) -> None:
    start, game = planned.start, planned.start.game
    assert {*game.cards().values()} == {1}
    assert len(game.cards()) == 104
    for player in (0, 1):
        own = [*game.reserve[player][: start.face_down[player]], *game.stock[player], *game.waste[player]]
        assert {card.deck for card in own} <= {player}
        assert len(game.reserve[player]) <= game.rules.reserve_cards
        assert len(game.stock[player]) + len(game.waste[player]) <= 35
    for pile in start.full().tableau:
        assert all(accepts((below,), card) for below, card in itertools.pairwise(pile))  # B3


@every_position
def test_the_line_gains_by_its_last_move(family: str, planned: Planned[Any]) -> None:
    line = planned.line.split()
    assert len(line) > SHORT
    assert line[0] in planned.first.split()
    gained = [planned.gain(planned.start, position) for position in played(family, planned.start, line)]
    assert gained == [False] * (len(line) - 1) + [True]


@every_position
def test_no_shorter_line_gains(family: str, planned: Planned[Any]) -> None:
    """By trying everything: not one move, and no two."""
    player = PLAYERS[family]
    known = {player.key(planned.start)}
    level = [planned.start]
    for _ in range(SHORT):
        following: list[Any] = []
        for position in level:
            for move in player.moves(position):
                now, goes_on = player.after(position, move)
                assert not planned.gain(planned.start, now)
                if goes_on and player.key(now) not in known:
                    known.add(player.key(now))
                    following.append(now)
        level = following
    assert level


@every_position
def test_the_rollouts_by_themselves_do_not_gain(
    engines: tuple[Engine, Engine], family: str, planned: Planned[Any]
) -> None:
    """Nor do they after any first move: what gains departs from what their policy would play twice at least."""
    turn = engines[1].turn(question(family, planned.start, seed=1))
    first = turn.reach.argmax(axis=0).tolist()
    for outcome in np.flatnonzero(turn.departures <= 1).tolist():
        assert not gains(family, planned, turn.line(first[outcome], outcome))


@every_position
@pytest.mark.parametrize("seed", SEEDS)
def test_the_hint_is_to_play_what_gains(
    engines: tuple[Engine, Engine], family: str, planned: Planned[Any], seed: int
) -> None:
    answer = engines[1].answer(question(family, planned.start, seed))
    assert gains(family, planned, answer.evaluations[0].line)
    behind = []
    for each in answer.evaluations:
        if gains(family, planned, each.line):
            assert {*named(family, planned.start, (each.action, *each.equivalents))} & {*planned.first.split()}
        else:
            behind.append(each.gap)
    assert behind
    assert all(gap is not None and gap.mean >= CLEAR * gap.standard_error for gap in behind)


@pytest.mark.parametrize("planned", planned_malice.WON_CARD_BY_CARD, ids=lambda planned: planned.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_hint_after_hint_plays_every_payoff_card_of_a_turn(
    engines: tuple[Engine, Engine], planned: Planned[malices.Position], seed: int
) -> None:
    now = planned.start
    while not planned_malice.won(planned.start, now):
        assert now.game.mover == planned.start.game.mover
        best = engines[1].answer(question("malice", now, seed)).evaluations[0]
        now = played("malice", now, named("malice", now, best.line))[-1]
