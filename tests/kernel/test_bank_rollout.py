"""Rollouts of Russian Bank: each task is one game, played by a policy that sees what both players see."""

import dataclasses
import functools
import itertools
from collections import Counter
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernel.bank_lockstep import (
    EVERY_ORDER_OF_PLAY,
    LANES,
    Lockstep,
    advance,
    host,
    idle,
    policy_choice,
)
from tests.kernel.bank_positions import (
    ACTION_OF,
    CRAPETTE,
    MOVES,
    Position,
    actions,
    game_of,
    in_lanes,
    masked,
    played_positions,
    position,
)
from tests.kernel.bank_worlds import ENTRIES, WORLDS, in_world, worlds_of
from tests.kernel.lockstep import all_at_once
from tests.oracle import bank as oracle
from zank_kernel import bank, rollout
from zank_kernel.bank import play
from zank_kernel.bank.state import COUNTED, DEPTH, OUT, RUNNING, STALEMATE, TABLEAU
from zank_kernel.bank.table import Cards, Table, representatives, spread
from zank_kernel.engine import CPU_OPTIONS
from zank_kernel.family import ADJUDICATED
from zank_kernel.host import leaf

EACH: Final = 8  # worlds of each root
TASKS: Final = ENTRIES * EACH
SLOTS: Final = 300

type Outcome = tuple[int, int, int]  # points, ending, moves
type Numbers = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Roots:
    """Positions as both players know them, and EACH worlds of each of them, one root after the other."""

    positions: list[Position]
    known: list[Table]
    worlds: bank.World

    def tasks(self, numbers: Numbers, state: bank.State | None = None) -> rollout.Tasks[bank.State, bank.World]:
        """A rollout for each of these worlds with the root that it belongs to."""
        filled = np.zeros(SLOTS, np.int32)
        filled[: len(numbers)] = numbers
        return rollout.Tasks(
            roots=state or bank.FAMILY.to_state(self.known),
            worlds=self.worlds,
            root=leaf(filled // EACH),
            world=leaf(filled),
            count=leaf(np.asarray(len(numbers), np.int32)),
        )


def laid_out(table: Table) -> Position:
    """A position with all its cards face up."""
    return Position(table.rules, game_of(table), [0, 0], [False, False])


@pytest.fixture(scope="module")
def roots() -> Roots:
    positions = played_positions(ENTRIES)
    known = [position.known(marked=number % 3 > 0) for number, position in enumerate(positions)]
    worlds = worlds_of(known, range(ENTRIES), np.arange(WORLDS) // EACH % ENTRIES, np.arange(WORLDS) % EACH)
    return Roots(positions, known, worlds)


def compiled() -> Any:
    """The program that runs rollouts, compiled anew."""
    return jax.jit(functools.partial(rollout.run, bank.FAMILY), compiler_options=CPU_OPTIONS)


run = compiled()


def outcomes(
    tasks: rollout.Tasks[bank.State, bank.World], lanes: bank.State, run: Any = run
) -> tuple[list[Outcome], rollout.Usage, bank.State]:
    """What becomes of the tasks in these lanes, slot by slot, and the lanes afterwards."""
    after, results, usage = host(run(lanes, tasks))
    parts = (results.points, results.ending, results.moves)
    return list(zip(*(part.tolist() for part in parts), strict=True)), usage, after


FEW: Final = 32  # lanes


def in_few_lanes(tasks: rollout.Tasks[bank.State, bank.World], count: int) -> list[Outcome]:
    """The first so many results in fresh lanes."""
    return outcomes(tasks, bank.FAMILY.empty(FEW))[0][:count]


@pytest.fixture(scope="module")
def order() -> Numbers:
    """Every world once and some twice, in some order."""
    chance = np.random.default_rng(1)
    return chance.permutation(np.concatenate([np.arange(TASKS), chance.integers(0, TASKS, 40)]))


def test_b12_the_policy_leaves_a_card_where_a_tableau_move_has_just_brought_it() -> None:
    """To move it back from the space that it took would restore the tableau; any other move ends that."""
    moved = forgotten = 0
    for start in played_positions(80):
        state = in_lanes([start.full()] * LANES, LANES)
        legal = np.asarray(advance(state, idle()).legal)[:, 0]
        spaces = {f"T{pile}" for pile, cards in enumerate(start.game.tableau, start=1) if not cards}
        into = [action for action, move in enumerate(MOVES) if move.within_tableau and move.target in spaces]
        actions = np.where(np.isin(np.arange(LANES), into) & legal, np.arange(LANES), play.NO_ACTION).astype(np.int32)
        step = advance(state, actions)
        known = advance(dataclasses.replace(step.state, begun=leaf(np.zeros_like(step.state.begun))), idle())
        for action in np.flatnonzero(actions >= 0).tolist():
            move = MOVES[action]
            back = ACTION_OF[oracle.parse(f"{move.target}-{move.source}")]
            moved += 1
            assert step.choice[action] != back, f"{start}: {move}"
            forgotten += int(known.choice[action] == back)
            reached = start.copy()
            reached.play(move)
            assert in_lanes([reached.full()], 1).begun[0] == step.state.begun[action]
    assert moved > 20
    assert forgotten  # so it would play, did the state not tell


@pytest.fixture(scope="module")
def outcome(roots: Roots, order: Numbers) -> list[Outcome]:
    """What becomes of those tasks in FEW lanes."""
    return in_few_lanes(roots.tasks(order), len(order))


# The policy --------------------------------------------------------------------------------------------------------


def hidden_permuted(positions: list[Position], state: bank.State, chance: np.random.Generator) -> bank.State:
    """The same to the eyes of both players, everything else different."""
    pile = np.array(state.pile)
    for lane, each in enumerate(positions):
        places = [(place, TABLEAU + player) for player in (0, 1) for place in range(each.face_down[player])]
        lengths = [len(cards) for cards in (*each.game.tableau, *each.game.reserve)]
        for player in (0, 1):
            stock = len(each.game.stock[player])
            if each.unturned[player]:
                places += [(place, COUNTED + player) for place in range(stock)]
            lengths.append(stock + len(each.game.waste[player]))
        for index, length in enumerate(lengths):
            pile[length:, index, lane] = chance.integers(0, 62, DEPTH - length)
        hidden = chance.permutation([int(pile[place, index, lane]) for place, index in places])
        for card, (place, index) in zip(hidden, places, strict=True):
            pile[place, index, lane] = card
    return dataclasses.replace(
        state,
        pile=leaf(pile),
        moves=leaf(chance.integers(0, 500, LANES).astype(np.int16)),
    )


def test_the_policy_decides_on_what_both_players_can_see() -> None:
    """Other hidden cards, counters and leftovers in unused places do not change its choice."""
    chance = np.random.default_rng(2)
    positions = played_positions(LANES)
    state = in_lanes([each.full() for each in positions], LANES)
    expected = np.asarray(advance(state, idle()).choice)
    assert (expected != play.NO_ACTION).all()
    assert len({*expected.tolist()}) > 15
    for _ in range(4):
        seen = advance(hidden_permuted(positions, state, chance), idle())
        np.testing.assert_array_equal(seen.choice, expected)
        np.testing.assert_array_equal(seen.legal, advance(state, idle()).legal)
    known = advance(in_lanes([each.known() for each in positions], LANES), idle())
    np.testing.assert_array_equal(known.choice, expected)


def test_the_policy_prefers_foundations_then_the_reserve_and_shifts_within_the_tableau_only_to_make_a_space() -> None:
    positions = played_positions(LANES)
    step = advance(in_lanes([each.full() for each in positions], LANES), idle())
    kinds: Counter[str] = Counter()
    for lane, each in enumerate(positions):
        legal = {MOVES[action] for action in np.flatnonzero(np.asarray(step.legal)[:, lane]).tolist()}
        move = MOVES[int(step.choice[lane])]
        if any(other.target == "F" for other in legal):
            assert move.target == "F"
            kinds["F"] += 1
        elif any(other.source == "R" for other in legal):
            assert move.source == "R"
            kinds["R"] += 1
        if move.within_tableau:
            assert len(each.game.tableau[int(move.source[1]) - 1]) == 1
            assert each.game.tableau[int(move.target[1]) - 1]
            assert each.game.reserve[each.game.mover]
        assert each.game.pointless(move) is None
    assert min(kinds["F"], kinds["R"]) > 0


@EVERY_ORDER_OF_PLAY
def test_the_policy_is_never_stuck_in_a_position_entered_by_hand(rules: bank.Rules) -> None:
    """Any arrangement of two decks, with a drawn card up or not, has a legal move, and the policy finds one."""
    chance = np.random.default_rng(4)
    for _ in range(5):
        state = in_lanes([entered(rules, chance) for _ in range(LANES)], LANES)
        for _ in range(3):
            step = advance(state, idle())
            going_on = np.asarray(state.ending) == RUNNING
            assert (np.asarray(step.choice) >= 0)[going_on].all()
            assert np.asarray(step.legal)[np.asarray(step.choice), np.arange(LANES)][going_on].all()
            state = advance(state, np.asarray(step.choice)).state


def entered(rules: bank.Rules, chance: np.random.Generator) -> Table:
    """Two decks, thrown on the table; no tableau pile is longer than a run."""
    deck = chance.permutation([16 * suit + rank for suit in range(4) for rank in range(1, 14)] * 2).tolist()
    foundations: list[Cards] = [
        tuple(16 * (index // 2) + rank for rank in range(1, height + 1))
        for index, height in enumerate(chance.integers(0, 5, 8).tolist())
    ]
    for card in itertools.chain(*foundations):
        deck.remove(card)
    drawn = deck.pop() if chance.random() < 0.5 else 0
    tableau = [tuple(deck.pop() for _ in range(chance.integers(0, 4))) for _ in range(8)]
    bounds = np.sort(chance.integers(0, len(deck) + 1, 5)).tolist()
    zones = [tuple(deck[start:end]) for start, end in zip([0, *bounds], [*bounds, len(deck)], strict=True)]
    if chance.random() < 0.3:
        zones[0], zones[5] = (), zones[0] + zones[5]
    if not (drawn or zones[0] or zones[2] or zones[4]):
        zones[0], zones[5] = zones[5], ()
    return Table(
        rules=rules,
        mover=0,
        foundations=tuple(foundations),
        tableau=tuple(tableau),
        reserve=(zones[0], zones[1]),
        stock=(zones[2], zones[3]),
        waste=(zones[4], zones[5]),
        drawn=drawn,
    )


# Tasks and lanes ---------------------------------------------------------------------------------------------------


def test_results_depend_neither_on_the_number_of_lanes_nor_on_what_was_in_them(
    roots: Roots, order: Numbers, outcome: list[Outcome]
) -> None:
    lanes = in_lanes([each.full() for each in played_positions(LANES)], LANES)
    lanes = dataclasses.replace(
        lanes, ending=leaf(np.full(LANES, OUT, np.int8)), moves=leaf(np.full(LANES, 77, np.int16))
    )
    for _ in range(2):
        found, _, lanes = outcomes(roots.tasks(order), lanes)
        assert found[: len(order)] == outcome


def test_results_do_not_depend_on_how_a_device_prefers_to_refill_lanes(
    roots: Roots, order: Numbers, outcome: list[Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lane after the other, as on a CPU, or all at once."""
    tasks = [roots.tasks(numbers) for numbers in (order, order[:7])]
    expected = [outcomes(each, bank.FAMILY.empty(FEW)) for each in tasks]
    assert expected[0][0][: len(order)] == outcome
    chosen = all_at_once(monkeypatch)
    elsewhere = compiled()
    for each, (found, usage, _) in zip(tasks, expected, strict=True):
        other, other_usage, _ = outcomes(each, bank.FAMILY.empty(FEW), elsewhere)
        assert other == found
        assert other_usage == usage
    assert "run" in chosen


def test_results_do_not_depend_on_the_order_of_tasks(roots: Roots, order: Numbers, outcome: list[Outcome]) -> None:
    permuted = np.random.default_rng(3).permutation(len(order))
    assert in_few_lanes(roots.tasks(order[permuted]), len(order)) == [outcome[slot] for slot in permuted]


@pytest.mark.parametrize("parts", [2, 5])
def test_results_do_not_depend_on_how_tasks_are_split_over_calls(
    roots: Roots, order: Numbers, outcome: list[Outcome], parts: int
) -> None:
    joined: list[Outcome] = []
    for part in np.array_split(order, parts):
        joined += in_few_lanes(roots.tasks(part), len(part))
    assert joined == outcome


def test_every_task_is_the_game_that_the_policy_plays_in_the_oracle(
    roots: Roots, order: Numbers, outcome: list[Outcome]
) -> None:
    """The same world, loaded by the rollouts and laid out card by card, without refills and other tasks."""
    by_task = dict(zip(order.tolist(), outcome, strict=True))
    tasks = np.random.default_rng(5).permutation(TASKS)[:40].tolist()
    positions = [laid_out(in_world(roots.known[task // EACH], roots.worlds, task)) for task in tasks]
    games = Lockstep(positions, tasks)
    games.play(policy_choice, 5_000)
    assert not games.playing
    ended = zip(*(part.tolist() for part in (games.state.points, games.state.ending, games.state.moves)), strict=True)
    assert dict(zip(tasks, ended, strict=False)) == {task: by_task[task] for task in tasks}


def test_slots_without_a_task_stay_empty_and_usage_counts_the_moves(roots: Roots, order: Numbers) -> None:
    for count in (0, 1, 7, 100):
        found, usage, _ = outcomes(roots.tasks(order[:count]), bank.FAMILY.empty(FEW))
        moves = sum(moves for _, _, moves in found)
        assert all(moves > 0 and ending != RUNNING for _, ending, moves in found[:count])
        assert {*found[count:]} <= {(0, 0, 0)}
        assert int(usage.moves) == moves
        assert int(usage.steps) % FEW == 0
        assert int(usage.steps) >= moves


def test_a_root_that_is_over_is_its_own_result(roots: Roots) -> None:
    over = dataclasses.replace(
        bank.FAMILY.to_state(roots.known),
        ending=leaf(np.full(ENTRIES, OUT, np.int8)),
        points=leaf(np.arange(ENTRIES).astype(np.int16)),
        moves=leaf(np.ones(ENTRIES, np.int16)),
    )
    found = in_few_lanes(roots.tasks(np.arange(TASKS), over), TASKS)
    assert found == [(task // EACH, OUT, 1) for task in range(TASKS)]


def test_points_are_what_the_rules_give(roots: Roots, order: Numbers, outcome: list[Outcome]) -> None:
    """B9, B10, S8, R6: a win is worth 30 and two points a card at most, whatever is loaded."""
    endings: Counter[int] = Counter()
    for task, (points, ending, _) in zip(order.tolist(), outcome, strict=True):
        endings[ending] += 1
        rules = roots.known[task // EACH].rules
        if ending == OUT:
            assert 30 < abs(points) <= 30 + 2 * 104
        else:
            assert ending in (STALEMATE, ADJUDICATED)
            assert abs(points) <= (2 * 104 if rules.stalemate_scores else 0)
    assert endings[OUT] > len(order) // 2


def test_the_spread_at_the_deal_is_that_of_both_players_wins() -> None:
    """B9."""
    assert spread(Position.deal(CRAPETTE, 3).full()) == 2 * (30 + 35 + 2 * 13)


# What is interchangeable -------------------------------------------------------------------------------------------


def order_free(position: Position) -> Table:
    """A position without the order of its tableau piles and the decks of its cards."""
    table = laid_out(position.full()).known(marked=False)
    return dataclasses.replace(table, tableau=tuple(sorted(table.tableau)))


ALIKE: Final = [
    position(CRAPETTE, reserve=("9c8h", "7h"), tableau="9c 9c - 8h Qs - 9c 8h"),
    position(CRAPETTE, reserve=("-", "7h"), tableau="9c8h 9c8h - - 9s 9s KdQs KdQs", drawn="8d"),
    position(CRAPETTE, reserve=("9c8h", "7h"), tableau="9c 9s 9c8h 8h9c 9c8h - - 9c"),
]


def test_actions_with_one_representative_lead_to_the_same_game() -> None:
    """B11: but for the order of the tableau piles."""
    merged = 0
    for each in [*ALIKE, *played_positions(60)]:
        first = representatives(each.known())
        assert (first[first] == first).all()
        assert (first <= np.arange(play.ACTIONS)).all()
        ends: dict[int, list[Table]] = {}
        legal = {action for action, move in enumerate(MOVES) if each.game.explain(move) is None}
        for action in sorted(legal):
            assert int(first[action]) in legal
            moved = each.copy()
            moved.play(MOVES[action])
            ends.setdefault(int(first[action]), []).append(order_free(moved))
        for same in ends.values():
            assert all(end == same[0] for end in same)
            merged += len(same) - 1
    assert merged > 30


def test_equal_piles_are_merged_as_sources_and_as_targets() -> None:
    first = representatives(ALIKE[0].full())

    def merged(notations: str) -> bool:
        return len({int(first[action]) for action in actions(notations)}) == 1

    assert merged("R-T1 R-T2 R-T7")
    assert merged("R-T3 R-T6")
    assert merged("T4-OR T8-OR")
    assert merged("T4-T1 T8-T7 T4-T2")
    assert not merged("R-T1 R-T3")
    assert not merged("T1-F T4-F")
    assert (representatives(masked(Position.deal(CRAPETTE, 1).full()))[[play.TURN, play.END]] == [110, 111]).all()
