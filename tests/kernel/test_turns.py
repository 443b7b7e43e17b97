"""Whole turns: the outcomes that are found are those that the oracle finds by trying everything."""

import dataclasses
import random
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from tests.kernel import bank_positions as banks
from tests.kernel import positions as malices
from tests.kernel.test_bank_search import completed, shifting
from tests.oracle import bank as bank_oracle
from tests.oracle import malice as malice_oracle
from zank_kernel import malice
from zank_kernel.engine import ROOTS, Engine, Question
from zank_kernel.turns import Turn, bits, rows

EVERYTHING = 1_000_000  # nodes
MOST = 700  # positions within a turn that the oracle looks at

type Outcomes = dict[int, set[Hashable]]  # by first move


def asked(family: str, table: Any, rollouts: int = 1_000_000, **options: Any) -> Question:
    question = Question(family=family, table=table, rollouts=rollouts, seed=1, objective="points")
    return dataclasses.replace(question, **options)


def ends_after[Position, Move](
    start: tuple[Position, bool],
    known: set[Hashable],
    moves: Callable[[Position], Iterable[Move]],
    after: Callable[[Position, Move], tuple[Position, bool]],
    key: Callable[[Position], Hashable],
) -> set[Hashable]:
    """Keys of the outcomes that can be reached from a start by trying everything, until MOST positions are known.

    Positions whose key is `known` are not entered; those found are added to it. A position goes with whether its player
    can plan on.
    """
    position, goes_on = start
    known.add(key(position))
    ends: set[Hashable] = set() if goes_on else {key(position)}
    waiting = [position] if goes_on else []
    while waiting and len(known) < MOST:
        each = waiting.pop()
        for move in moves(each):
            position, goes_on = after(each, move)
            if key(position) in known:
                continue
            known.add(key(position))
            if goes_on:
                waiting.append(position)
            else:
                ends.add(key(position))
    return ends


# Spite & Malice ----------------------------------------------------------------------------------------------------


class Drawn(Exception):
    """Cards would be drawn: what follows is not known."""


def no_draw(*_: object) -> list[int]:
    raise Drawn


def malice_after(game: malice_oracle.Game, move: malice_oracle.Move) -> tuple[malice_oracle.Game, bool]:
    """The game after a move, before anything is drawn, and whether its player can plan on."""
    after = malices.oracle_copy(game)
    try:
        after.play(move, no_draw)
    except Drawn:
        return after, False
    return after, after.result is None and after.mover == game.mover and move.source != "payoff"


def malice_key(game: malice_oracle.Game) -> Hashable:
    """A game but for the order of stacks and of cards in hand."""
    return (
        game.mover,
        game.result,
        tuple(map(len, game.payoff)),
        tuple(tuple(sorted(hand)) for hand in game.hand),
        tuple(tuple(sorted(map(tuple, sides))) for sides in game.sides),
        tuple(sorted(map(tuple, game.centers))),
        tuple(sorted(game.stock.items())),
    )


def malice_outcomes(game: malice_oracle.Game) -> Outcomes:
    """Every outcome of the turn, by the first move; empty where there are too many."""
    hand = (*game.hand[game.mover], 0, 0, 0, 0, 0)
    found: Outcomes = {}
    for first in game.legal_moves():
        known: set[Hashable] = set()
        ends = ends_after(malice_after(game, first), known, malice_oracle.Game.legal_moves, malice_after, malice_key)
        if len(known) >= MOST:
            return {}
        found[malices.action_of(str(first), hand)] = ends
    return found


def malice_end(game: malice_oracle.Game, line: Iterable[int]) -> Hashable:
    """What a line of legal moves leads to, where nothing more can be planned."""
    hand = (*game.hand[game.mover], 0, 0, 0, 0, 0)
    goes_on = True
    for action in line:
        assert goes_on
        move = malices.move_of(action, hand)
        assert move is not None
        assert game.explain(move) is None
        game, goes_on = malice_after(game, move)
    assert not goes_on
    return malice_key(game)


# Russian Bank ------------------------------------------------------------------------------------------------------


def bank_after(position: banks.Position, move: bank_oracle.Move) -> tuple[banks.Position, bool]:
    """The position after a move, and whether its player can plan on."""
    after = position.copy()
    unknown = after.play(move)
    return after, after.game.result is None and after.game.mover == position.game.mover and not unknown


def bank_key(position: banks.Position) -> Hashable:
    """A position but for the order of tableau piles and of a suit's foundations, and for decks."""
    game = position.game
    heights = [len(pile) for pile in game.foundations]
    return (
        game.mover,
        game.result,
        str(game.drawn),
        game.opening,
        tuple(game.quiet),
        tuple(tuple(sorted(heights[suit : suit + 2])) for suit in range(0, 8, 2)),
        tuple(sorted(tuple(map(str, pile)) for pile in game.tableau)),
        *(tuple(map(str, pile)) for piles in (game.reserve, game.stock, game.waste) for pile in piles),
    )


def bank_outcomes(position: banks.Position) -> Outcomes:
    """Every outcome of the turn, by the first move that is not pointless; empty where there are too many."""
    found: Outcomes = {}
    for first in position.game.legal_moves():
        if position.game.pointless(first):
            continue
        known = {bank_key(position)}  # B12
        ends = ends_after(
            bank_after(position, first), known, lambda each: each.game.legal_moves(), bank_after, bank_key
        )
        if len(known) >= MOST:
            return {}
        found[banks.ACTION_OF[first]] = ends
    return found


def bank_end(position: banks.Position, line: Iterable[int]) -> Hashable:
    """What a line of legal moves leads to, where nothing more can be planned."""
    goes_on = True
    for action in line:
        assert goes_on
        move = banks.MOVES[action]
        assert position.game.explain(move) is None
        position, goes_on = bank_after(position, move)
    assert not goes_on
    return bank_key(position)


# Both --------------------------------------------------------------------------------------------------------------


def compare(turn: Turn, expected: Outcomes, end: Callable[[tuple[int, ...]], Hashable]) -> int:
    """What a turn says of every move is what the oracle found; returns the number of outcomes."""
    if turn.reach.shape[1] == ROOTS:  # more than are kept
        return 0
    assert turn.complete
    assert {action for members in turn.moves for action in members} == {*expected}
    everything: set[Hashable] = set()
    for move, members in enumerate(turn.moves):
        outcomes = np.flatnonzero(turn.reach[move]).tolist()
        lines = [turn.line(move, outcome) for outcome in outcomes]
        assert all(line[0] == members[0] for line in lines)
        ends = [end(line) for line in lines]
        assert len({*ends}) == len(ends)
        for action in members:
            assert {*ends} == expected[action]
        everything |= {*ends}
    assert turn.outcomes.moves.shape == (len(everything),)
    assert turn.reach.shape == (len(turn.moves), len(everything))
    return len(everything)


def test_the_outcomes_of_a_turn_of_spite_and_malice_are_those_that_the_oracle_finds(
    engines: tuple[Engine, Engine],
) -> None:
    sizes = []
    for position in malices.played_positions(60, 7_300_000):
        game = position.game
        if expected := malice_outcomes(game):
            known = malices.masked(malices.table_of(position))
            turn = engines[0].turn(asked("malice", known), EVERYTHING)
            sizes.append(compare(turn, expected, partial(malice_end, game)))
    assert sum(size > 0 for size in sizes) > 30
    assert max(sizes) > 100


def test_side_stacks_of_spite_and_malice_that_differ_have_different_keys() -> None:
    chance = np.random.default_rng(8)
    stacks = {tuple(chance.integers(7, 14, size).tolist()) for size in chance.integers(1, 12, 4_000)}
    known = [
        dataclasses.replace(malices.table(), sides=((stack, (), (), ()), malices.table().sides[1]))
        for stack in [(9, 8, 8), (9, 9, 9), *sorted(stacks)]
    ]
    keys = np.asarray(jax.jit(malice.FAMILY.key)(malice.FAMILY.to_state(known))).T
    assert len({tuple(key) for key in keys.tolist()}) == len({table.sides for table in known})


def test_the_outcomes_of_a_turn_of_russian_bank_are_those_that_the_oracle_finds(
    engines: tuple[Engine, Engine],
) -> None:
    sizes = []
    for position in banks.played_positions(60):
        if position.shifts:
            continue
        if expected := bank_outcomes(position):
            turn = engines[0].turn(asked("bank", position.known(marked=False)), EVERYTHING)
            sizes.append(compare(turn, expected, partial(bank_end, position)))
    assert len(sizes) > 30
    assert max(sizes) > 20


def test_masks_are_read_lane_by_lane_and_words_bit_by_bit() -> None:
    mask = np.random.default_rng(1).random((112, 40)) < 0.1
    assert rows(mask) == [np.flatnonzero(mask[:, lane]).tolist() for lane in range(40)]
    words = [sum(1 << int(row) for row in np.flatnonzero(mask[:, lane])) for lane in range(40)]
    np.testing.assert_array_equal(bits(words, 112), mask)


def test_a_small_budget_looks_at_fewer_outcomes_but_at_one_of_every_move_at_least(
    engines: tuple[Engine, Engine],
) -> None:
    cut = 0
    for position in malices.played_positions(12, 7_400_000):
        known = malices.masked(malices.table_of(position))
        whole, part = (engines[0].turn(asked("malice", known, rollouts)) for rollouts in (1_000_000, 0))
        assert whole.moves == part.moves
        assert part.reach.any(axis=1).all()
        assert part.reach.shape[1] <= len(part.moves)
        assert part.departures[0] == whole.departures.min() == 0
        cut += part.reach.shape[1] < whole.reach.shape[1]
        assert part.complete == (part.reach.shape[1] == whole.reach.shape[1] and whole.complete)
    assert cut > 5


def test_a_turn_of_very_many_outcomes_is_cut_and_says_so(engines: tuple[Engine, Engine]) -> None:
    known = malices.masked(
        malices.table(
            payoff=("xxK", "xxT"),
            hand=("A2346", "xxxxx"),
            sides=("9876543", "8765432", "765432A", "KK5432A"),
            centers=("", "A", "A2"),
            stock="x" * 60,
        ),
        recorded=False,
    )
    turn = engines[0].turn(asked("malice", known))
    assert not turn.complete
    assert turn.reach.shape[1] == ROOTS
    assert turn.reach.any(axis=1).all()


def test_outcomes_are_kept_in_the_order_of_departures_from_the_policy(engines: tuple[Engine, Engine]) -> None:
    for position in malices.played_positions(6, 7_500_000):
        turn = engines[0].turn(asked("malice", malices.masked(malices.table_of(position))))
        assert (np.diff(turn.departures) >= 0).all()
        assert turn.departures[0] == 0


def test_a_move_that_leads_back_stands_for_what_it_leads_to(engines: tuple[Engine, Engine]) -> None:
    """B11: where such a move is asked about, it is looked at, and nothing behind it."""
    known = completed(shifting())
    action = banks.ACTION_OF[bank_oracle.parse("T2-T6")]
    turn = engines[0].turn(asked("bank", known, keep=frozenset({action})))
    move = next(index for index, members in enumerate(turn.moves) if action in members)
    assert turn.reach[move].sum() == 1
    assert turn.line(move, int(turn.reach[move].argmax())) == (action,)


def drawing(chance: random.Random) -> malice_oracle.DrawCards:
    """Draws at random."""
    return lambda player, count, stock: chance.sample(sorted(stock.elements()), count)


def malice_last_turns(count: int) -> list[Any]:
    """Where the last turn of won games begins, or its last unknown card has come to light."""
    tables: list[Any] = []
    seed = 0
    while len(tables) < count:
        seed += 1
        chance = random.Random(seed)
        rules = dataclasses.replace((malices.MATCH, malices.CLASSIC)[seed % 2], payoff_cards=3)
        position = malices.deal(rules, seed)
        game = position.game
        since = previous = malices.oracle_copy(game)
        while game.result is None:
            move = max(sorted(game.legal_moves()), key=partial(malices.keenness, chance=chance))
            mover, before = game.mover, game.stock.total()
            game.play(move, drawing(chance))
            if game.mover != mover or game.stock.total() < before or move.source == "payoff":
                since, previous = malices.oracle_copy(game), since
        if since.result is not None:  # the winning move was one of those
            since = previous
        if game.result.ending == "out":
            tables.append(malices.masked(malices.table_of(malices.Position(rules, since))))
    return tables


def bank_last_turns(count: int) -> list[Any]:
    """Where the last turn of won games begins, or its last unknown card has come to light."""
    tables: list[Any] = []
    seed = 0
    while len(tables) < count:
        seed += 1
        chance = random.Random(seed)
        position = banks.Position.deal(list(banks.ORDERS.values())[seed % len(banks.ORDERS)], seed)
        since = position.copy()
        while position.game.result is None:
            moves = sorted(move for move in position.game.legal_moves() if position.game.pointless(move) is None)
            move = max(moves, key=partial(banks.keenness, chance=chance))
            mover = position.game.mover
            if position.play(move) or (position.game.mover != mover and position.game.result is None):
                since = position.copy()
        if position.game.result.ending == "out":
            tables.append(since.known())
    return tables


@pytest.mark.parametrize("family", ["malice", "bank"])
def test_a_win_this_turn_is_found(engines: tuple[Engine, Engine], family: str) -> None:
    """Where the player of a won game began to win it."""
    for table in (malice_last_turns if family == "malice" else bank_last_turns)(12):
        question = asked(family, table, 16_384)
        turn = engines[1].turn(question)
        sign = 1 if table.mover == 0 else -1
        assert ((turn.outcomes.ending == 1) & (sign * turn.outcomes.points > 0)).any()
        for rollouts in (1, 600):  # however few outcomes these look at
            answer = engines[1].answer(dataclasses.replace(question, rollouts=rollouts))
            assert answer.evaluations[0].wins_this_turn
