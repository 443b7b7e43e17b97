"""Rollouts: each task is one game, played by a policy that sees what its player sees, whatever the lanes."""

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable

import jax
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernel.lockstep import (
    LANES,
    actions_between,
    all_at_once,
    cards_of,
    census,
    counts_of,
    host,
    policy_step,
    words_of,
)
from tests.kernel.positions import Position, in_lanes, masked, played_positions, table_of
from zank_kernel import malice, rollout
from zank_kernel.host import leaf
from zank_kernel.malice import play
from zank_kernel.malice.state import HAND, OUT, PILES, RANKS, RUNNING, STOCK_OUT

ROOTS = 24
EACH = 8  # worlds of each root
WORLDS = ROOTS * EACH
SLOTS = 256

type Call = Callable[[rollout.Tasks[malice.State, malice.World]], tuple[rollout.Results, rollout.Usage]]


@functools.cache
def program(lanes: int) -> Call:
    """Rollouts in so many lanes, compiled once."""
    return compiled_for(lanes)


def compiled_for(lanes: int) -> Call:
    """Rollouts in so many lanes, compiled anew."""
    compiled = jax.jit(lambda tasks: rollout.run(malice.FAMILY, malice.FAMILY.empty(lanes), tasks)[1:])

    def call(tasks: rollout.Tasks[malice.State, malice.World]) -> tuple[rollout.Results, rollout.Usage]:
        results, usage = host(compiled(tasks))
        return results, usage

    return call


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    return played_positions(ROOTS, 8_000_000)


@pytest.fixture(scope="module")
def tables(positions: list[Position]) -> tuple[malice.State, malice.World]:
    """Positions as their movers know them, and EACH worlds for each of them, one root after the other."""
    known = [masked(table_of(position)) for position in positions]
    knowledge = malice.FAMILY.knowledge(known, range(ROOTS))
    entry = np.repeat(np.arange(ROOTS, dtype=np.int32), EACH)
    number = np.tile(np.arange(EACH, dtype=np.uint32), ROOTS)
    worlds: malice.World = jax.jit(malice.FAMILY.sample)(knowledge, leaf(entry), leaf(number))
    return malice.FAMILY.to_state(known), host(worlds)


def tasks_of(
    tables: tuple[malice.State, malice.World], world: npt.NDArray[np.int32]
) -> rollout.Tasks[malice.State, malice.World]:
    """A rollout for each of these worlds with the root that it belongs to."""
    roots, worlds = tables
    filled = np.zeros(SLOTS, np.int32)
    filled[: len(world)] = world
    return rollout.Tasks(
        roots=roots,
        worlds=worlds,
        root=leaf(filled // EACH),
        world=leaf(filled),
        count=leaf(np.asarray(len(world), np.int32)),
    )


def first(results: rollout.Results, count: int) -> list[tuple[int, int, int]]:
    """Points, ending and moves of the first slots."""
    parts = (results.points, results.ending, results.moves)
    return list(zip(*(np.asarray(part)[:count].tolist() for part in parts), strict=True))


@pytest.fixture(scope="module")
def order() -> npt.NDArray[np.int32]:
    """Every world once and some twice, in some order."""
    chance = np.random.default_rng(1)
    twice = chance.integers(0, WORLDS, 40)
    return chance.permutation(np.concatenate([np.arange(WORLDS), twice])).astype(np.int32)


@pytest.fixture(scope="module")
def outcome(tables: tuple[malice.State, malice.World], order: npt.NDArray[np.int32]) -> list[tuple[int, int, int]]:
    """What becomes of those tasks in 32 lanes."""
    results, _ = program(32)(tasks_of(tables, order))
    return first(results, len(order))


# The policy --------------------------------------------------------------------------------------------------------


def lanes_of(positions: list[Position]) -> malice.State:
    """All LANES lanes with positions, every card known."""
    return in_lanes([table_of(positions[lane % len(positions)]) for lane in range(LANES)], LANES)


def chosen(state: malice.State) -> npt.NDArray[np.int32]:
    """The rollout policy's action in every lane."""
    return actions_between(state, host(policy_step(state)))


def test_the_policy_chooses_a_legal_action(positions: list[Position]) -> None:
    state = lanes_of(positions)
    legal = np.asarray(jax.jit(play.legal)(state))
    actions = chosen(state)
    assert (actions != play.NO_ACTION).all()
    assert legal[actions, np.arange(LANES)].all()


def test_the_policy_decides_on_what_its_player_can_see() -> None:
    """Other hidden cards, stocks, keys, counters and leftovers in unused places do not change its choice."""
    chance = np.random.default_rng(2)
    positions = played_positions(LANES, 8_100_000)
    state = lanes_of(positions)
    expected = chosen(state)
    assert len(set(expected.tolist())) > 20
    for _ in range(4):
        permuted = hidden_permuted(state, chance)
        np.testing.assert_array_equal(census(permuted), census(state))
        np.testing.assert_array_equal(chosen(permuted), expected)


def hidden_permuted(state: malice.State, chance: np.random.Generator) -> malice.State:
    """The same to the eyes of the movers, everything else different."""
    cards, count, mover = cards_of(state), counts_of(state), np.asarray(state.mover, np.int64)
    payoff, hand = cards.payoff.copy(), cards.hand.copy()
    pile, stock = np.array(state.pile), np.zeros_like(cards.stock)
    for lane in range(LANES):
        other = 1 - mover[lane]
        below = [payoff[: count[player, 0, lane] - 1, player, lane] for player in (0, 1)]
        held = hand[other, :, lane]
        pool = np.concatenate([*below, held[held > 0], np.repeat(np.arange(1, RANKS + 1), cards.stock[:, lane])])
        pool = chance.permutation(pool)
        sizes = np.cumsum([len(below[0]), len(below[1]), (held > 0).sum()])
        below[0][:], below[1][:], dealt, rest = np.split(pool, sizes)
        slots = chance.permutation(HAND)[: len(dealt)]
        hand[other, :, lane] = 0
        hand[other, slots, lane] = dealt
        stock[:, lane] = np.bincount(rest, minlength=RANKS + 1)[1:]
        for player, column in itertools.product((0, 1), range(PILES)):
            unused = slice(1 + count[player, column, lane], None)
            pile[unused, player * PILES + column, lane] = chance.integers(0, 2**16)
            if column == 0:
                pile[1 : unused.start, player * PILES, lane] = words_of(payoff[: unused.start - 1, player, lane])
    return dataclasses.replace(
        state,
        pile=leaf(pile),
        hand=leaf(words_of(hand).reshape(2 * HAND, LANES)),
        stock=leaf(np.cumsum(stock, axis=0).astype(np.uint16)),
        key=leaf(chance.integers(0, 2**32, (2, LANES), dtype=np.uint32)),
        drawn=leaf(chance.integers(0, 500, (2, LANES)).astype(np.uint16)),
        moves=leaf(chance.integers(0, 500, LANES).astype(np.int16)),
    )


def test_the_policy_plays_the_payoff_card_when_it_can(positions: list[Position]) -> None:
    state = lanes_of(positions)
    legal = np.asarray(jax.jit(play.legal)(state))
    can = legal[:4].any(axis=0)
    assert can.any()
    assert (chosen(state)[can] < 4).all()


def test_a_step_first_draws_what_is_due(positions: list[Position]) -> None:
    state = lanes_of(positions)
    waiting = host(jax.jit(play.play)(state, leaf(chosen(state))))
    due = np.asarray(waiting.due)
    assert due.any()
    stepped, drawn = host(policy_step(waiting)), host(jax.jit(play.draw)(waiting))
    expected = host(policy_step(drawn))
    jax.tree.map(np.testing.assert_array_equal, stepped, expected)


# Tasks and lanes ---------------------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_lanes(
    tables: tuple[malice.State, malice.World],
    order: npt.NDArray[np.int32],
    outcome: list[tuple[int, int, int]],
) -> None:
    results, _ = program(128)(tasks_of(tables, order))
    assert first(results, len(order)) == outcome


def test_results_do_not_depend_on_the_order_of_tasks(
    tables: tuple[malice.State, malice.World],
    order: npt.NDArray[np.int32],
    outcome: list[tuple[int, int, int]],
) -> None:
    permuted = np.random.default_rng(3).permutation(len(order))
    results, _ = program(32)(tasks_of(tables, order[permuted]))
    assert first(results, len(order)) == [outcome[slot] for slot in permuted]


def test_results_do_not_depend_on_how_a_device_prefers_to_write_and_refill_lanes(
    tables: tuple[malice.State, malice.World],
    order: npt.NDArray[np.int32],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One lane after the other, as on a CPU, or all at once."""
    tasks = [tasks_of(tables, order[:count]) for count in (len(order), 7)]
    expected = [program(32)(each) for each in tasks]
    chosen = all_at_once(monkeypatch)
    elsewhere = compiled_for(32)
    for each, usual in zip(tasks, expected, strict=True):
        jax.tree.map(np.testing.assert_array_equal, elsewhere(each), usual)
    assert {*chosen} == {"run", "put"}


@pytest.mark.parametrize("parts", [2, 5])
def test_results_do_not_depend_on_how_tasks_are_split_over_calls(
    tables: tuple[malice.State, malice.World],
    order: npt.NDArray[np.int32],
    outcome: list[tuple[int, int, int]],
    parts: int,
) -> None:
    joined: list[tuple[int, int, int]] = []
    for part in np.array_split(order, parts):
        results, _ = program(128)(tasks_of(tables, part))
        joined += first(results, len(part))
    assert joined == outcome


def test_results_do_not_depend_on_what_was_in_the_lanes_before(
    tables: tuple[malice.State, malice.World],
    order: npt.NDArray[np.int32],
    outcome: list[tuple[int, int, int]],
    positions: list[Position],
) -> None:
    """Lanes are buffers: whatever a call finds in lanes whose games are over does not show."""
    compiled = jax.jit(lambda lanes, tasks: rollout.run(malice.FAMILY, lanes, tasks)[:2])
    lanes = malice.FAMILY.to_state([table_of(positions[lane % ROOTS]) for lane in range(32)])
    lanes = dataclasses.replace(lanes, ending=leaf(np.full(32, OUT, np.int8)), moves=leaf(np.full(32, 77, np.int16)))
    tasks = tasks_of(tables, order)
    for _ in range(2):
        lanes, results = compiled(lanes, tasks)
        assert first(results, len(order)) == outcome


def test_every_task_is_the_game_that_the_policy_plays_alone_in_a_lane(
    tables: tuple[malice.State, malice.World],
    order: npt.NDArray[np.int32],
    outcome: list[tuple[int, int, int]],
) -> None:
    """No refill, no other task: each slot holds its own task's result, written once."""
    roots, worlds = tables
    world = leaf(np.arange(WORLDS, dtype=np.int32))
    load = jax.jit(malice.FAMILY.load)
    state: malice.State = load(malice.FAMILY.empty(WORLDS), world, roots, world // EACH, worlds, world)
    steps = jax.jit(lambda lanes: jax.lax.fori_loop(0, 25, lambda _, now: malice.FAMILY.step(now), lanes))
    while (np.asarray(state.ending) == RUNNING).any():
        state = steps(state)
    parts = (state.points, state.ending, state.moves)
    alone = list(zip(*(np.asarray(part).tolist() for part in parts), strict=True))
    assert [alone[number] for number in order] == outcome


def test_slots_without_a_task_stay_empty_and_usage_counts_the_moves(
    tables: tuple[malice.State, malice.World], order: npt.NDArray[np.int32]
) -> None:
    for count in (0, 1, 7, 100):
        results, usage = program(32)(tasks_of(tables, order[:count]))
        moves = np.asarray(results.moves)
        assert (moves[:count] > 0).all()
        assert (np.asarray(results.ending)[:count] != RUNNING).all()
        for part in (results.points, results.ending, results.moves):
            assert not np.asarray(part)[count:].any()
        assert int(usage.moves) == moves.sum()
        assert int(usage.steps) % 32 == 0
        assert int(usage.steps) >= moves.sum()


def test_a_root_that_is_over_is_its_own_result(tables: tuple[malice.State, malice.World]) -> None:
    roots, worlds = tables
    over = dataclasses.replace(
        roots,
        ending=leaf(np.full(ROOTS, OUT, np.int8)),
        points=leaf(np.arange(-12, 12).astype(np.int16)),
        moves=leaf(np.ones(ROOTS, np.int16)),
    )
    order = np.arange(WORLDS, dtype=np.int32)
    results, _ = program(32)(tasks_of((over, worlds), order))
    assert first(results, WORLDS) == [(number // EACH - 12, OUT, 1) for number in range(WORLDS)]


def test_points_are_what_the_rules_give(
    positions: list[Position], order: npt.NDArray[np.int32], outcome: list[tuple[int, int, int]]
) -> None:
    """M10, M11, M12."""
    endings: Counter[tuple[str, int]] = Counter()
    for number, (points, ending, moves) in zip(order, outcome, strict=True):
        rules, game = positions[number // EACH]
        lengths = [len(pile) for pile in game.payoff]
        endings[rules.preset, ending] += 1
        assert moves > 0
        if ending == OUT:
            assert -lengths[0] <= points <= lengths[1]
            assert points != 0
        else:
            assert ending == STOCK_OUT
            lead = abs(points) < max(lengths)  # neither pile is empty
            assert lead if rules.shorter_payoff_wins else points == 0
    assert set(endings) >= {("malice-match", OUT), ("malice-classic", OUT)}
    assert any(ending == STOCK_OUT for _, ending in endings)
