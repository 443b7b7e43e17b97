"""Moves that were played are judged by what could be reached before and after each, on the same worlds."""

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pytest

from tests.kernel import bank_positions as banks
from tests.kernel import positions as malices
from tests.kernel.planned import Planned
from tests.kernel.test_bank_search import completed, shifting
from tests.kernel.test_planned_turns import PLANNED, PLAYERS, gains
from tests.kernel.test_search import MadeUp, MadeUpTurn, Points
from zank_kernel import search, turns
from zank_kernel.defaults import HINT_ROLLOUTS
from zank_kernel.engine import FAMILIES, PACKINGS, Control, Engine, Judgement, Question
from zank_kernel.search import Race

FAMILY_NAMES: Final = tuple(PLAYERS)
LONGEST: Final = 8  # moves of a walk
CLEAR: Final = 3  # standard errors
SEEDS: Final = 200
NOTHING: Final = search.Estimate(mean=0.0, standard_error=0.0)

every_family = pytest.mark.parametrize("family", FAMILY_NAMES)


# Turns played at random ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class Walk:
    """Moves of one turn, as far as it can be planned, and the positions that they went through."""

    family: str
    moves: list[Any]
    positions: list[Any]  # one more
    ended: bool  # the turn, or what can be planned of it

    @property
    def actions(self) -> list[int]:
        """The moves as actions of the kernel, where a card keeps its place in hand until it is played."""
        if self.family == "bank":
            return [banks.ACTION_OF[move] for move in self.moves]
        game = self.positions[0].game
        hand = [*game.hand[game.mover], 0, 0, 0, 0, 0]
        actions = []
        for move in self.moves:
            actions.append(malices.action_of(str(move), hand))
            if move.source == "hand":
                hand[hand.index(move.which)] = 0
        return actions


def walk(family: str, start: Any, choose: Callable[[Any, Sequence[Any]], Any], most: int = LONGEST) -> Walk:
    """A turn in which `choose` chooses, with the moves that it has."""
    player = PLAYERS[family]
    moves: list[Any] = []
    positions, goes_on = [start], True
    while goes_on and len(moves) < most:
        moves.append(choose(positions[-1], sorted(player.moves(positions[-1]))))
        now, goes_on = player.after(positions[-1], moves[-1])
        positions.append(now)
    return Walk(family=family, moves=moves, positions=positions, ended=not goes_on)


def parsed(family: str, start: Any, line: str) -> Walk:
    """A turn as it is written."""
    moves = iter(map(PLAYERS[family].parse, line.split()))

    def named(now: Any, legal: Sequence[Any]) -> Any:
        move = next(moves)
        assert move in legal
        return move

    return walk(family, start, named, len(line.split()))


def restless(seed: int) -> Callable[[Any, Sequence[Any]], Any]:
    """Chooses moves after which the turn may go on: to the center, or within the tableau, pointless ones too."""
    chance = random.Random(seed)

    def choose(now: Any, legal: Sequence[Any]) -> Any:
        lively = [move for move in legal if getattr(move, "within_tableau", False) or move.target == "center"]
        return chance.choice(lively if lively and chance.random() < 0.85 else legal)

    return choose


def starts(family: str, count: int) -> list[Any]:
    """Positions of games; of Russian Bank also such as come after moves within the tableau."""
    return malices.played_positions(count, 8_100_000) if family == "malice" else banks.played_positions(count)


def asked(family: str, start: Any, rollouts: int = 64, seed: int = 1) -> Question:
    known = PLAYERS[family].known(start)
    return Question(family=family, table=known, rollouts=rollouts, seed=seed, objective="points")


def judged(
    engine: Engine, played: Walk, rollouts: int = 64, seed: int = 1, control: Control | None = None
) -> Judgement:
    def named(action: int) -> Callable[[Any, int], int]:
        return lambda state, lane: action

    question = asked(played.family, played.positions[0], rollouts, seed)
    moves = list(map(named, played.actions))
    return engine.judge(question, moves) if control is None else engine.judge(question, moves, control)


@pytest.fixture(scope="module", params=FAMILY_NAMES)
def walks(request: pytest.FixtureRequest, engines: tuple[Engine, Engine]) -> list[tuple[Walk, Judgement]]:
    """Turns played at random, judged."""
    family = request.param
    played = [walk(family, start, restless(number)) for number, start in enumerate(starts(family, 20))]
    return [(each, judged(engines[1], each)) for each in played]


def test_every_move_is_judged_up_to_where_the_turn_cannot_be_planned(walks: list[tuple[Walk, Judgement]]) -> None:
    for played, judgement in walks:
        assert list(judgement.actions) == played.actions
        assert len(judgement.choices) == len(judgement.said.losses) == len(played.actions)
        assert len(judgement.said.passed) == len(played.positions)
    assert max(len(played.moves) for played, _ in walks) > 4
    assert sum(played.ended for played, _ in walks) > 3


def facts(engine: Engine, question: Question, state: Any) -> tuple[bytes, bytes]:
    """The key and the arrangement of the first lane."""
    expand, *_ = engine._exploring(question)
    reached = expand(PACKINGS[question.family].pack(state)[:, :1], np.asarray([-1], np.int32))
    return reached.key[:, 0].tobytes(), reached.arrangement[:, 0].tobytes()


def ends_as_played(engine: Engine, question: Question, played: Walk, judgement: Judgement) -> bool:
    """Whether the last position is what the rules make of the moves, like piles in their order where it matters."""
    state = FAMILIES[played.family].to_state([question.table])
    for action in played.actions:
        state = engine.play(played.family, state, np.asarray([action], np.int32))
    ours, expected = facts(engine, question, judgement.end), facts(engine, question, state)
    return ours[0] == expected[0] and (played.ended or ours[1] == expected[1])


def test_the_position_after_the_last_move_is_what_the_rules_make_of_it(
    engines: tuple[Engine, Engine], walks: list[tuple[Walk, Judgement]]
) -> None:
    for played, judgement in walks:
        assert ends_as_played(engines[1], asked(played.family, played.positions[0]), played, judgement)


def test_a_best_line_is_legal_where_it_begins(walks: list[tuple[Walk, Judgement]]) -> None:
    """Wherever the moves had left the piles by then."""
    lines = 0
    for played, judgement in walks:
        player = PLAYERS[played.family]
        slots = played.positions[0]
        for now, passed in zip(played.positions, judgement.said.passed, strict=True):
            goes_on = True
            for action in passed.line:
                move = player.parse(player.notation(slots, action))
                assert goes_on
                assert now.game.explain(move) is None
                now, goes_on = player.after(now, move)
            assert not (passed.line and goes_on)
            lines += bool(passed.line)
    assert lines > 25


def test_the_choices_are_the_moves_that_lead_to_different_positions(walks: list[tuple[Walk, Judgement]]) -> None:
    """At the start those that have a point (B11, B12); one that changes nothing (B11) counts where it was played."""
    forced = 0
    for played, judgement in walks:
        player = PLAYERS[played.family]
        if getattr(played.positions[0], "shifts", []):  # what was seen before must not come back
            continue
        for number, (now, after) in enumerate(itertools.pairwise(played.positions)):
            legal = [
                move
                for move in player.moves(now)
                if number > 0 or played.family == "malice" or now.game.pointless(move) is None
            ]
            reached = {player.key(player.after(now, move)[0]) for move in legal} - {player.key(now)}
            assert judgement.choices[number] == len(reached | {player.key(after)})
            forced += judgement.choices[number] == 1
    assert forced > 0 or walks[0][0].family == "malice"


def test_losses_add_up(walks: list[tuple[Walk, Judgement]]) -> None:
    for _, judgement in walks:
        said = judgement.said
        assert math.fsum(loss.points.mean for loss in said.losses) == pytest.approx(said.loss.points.mean, abs=1e-9)
        assert math.fsum(loss.win.mean for loss in said.losses) == pytest.approx(said.loss.win.mean, abs=1e-9)


def test_what_a_move_loses_is_what_the_best_ways_before_and_after_it_differ_by(
    walks: list[tuple[Walk, Judgement]],
) -> None:
    for _, judgement in walks:
        said = judgement.said
        assert len({passed.value.rollouts for passed in said.passed}) == 1
        for (before, after), loss in zip(itertools.pairwise(said.passed), said.losses, strict=True):
            assert loss.points.mean == pytest.approx(before.value.points.mean - after.value.points.mean, abs=1e-9)
            assert loss.win.mean == pytest.approx(before.win.mean - after.win.mean, abs=1e-9)
            assert before.win.mean == pytest.approx(before.value.win.mean + before.value.tie.mean / 2)


def test_a_forced_move_costs_nothing(walks: list[tuple[Walk, Judgement]]) -> None:
    for _, judgement in walks:
        for choices, loss in zip(judgement.choices, judgement.said.losses, strict=True):
            assert choices > 1 or loss == search.Loss(points=NOTHING, win=NOTHING, match=None)


def test_the_policy_s_own_way_is_the_first_outcome(
    engines: tuple[Engine, Engine], walks: list[tuple[Walk, Judgement]]
) -> None:
    """Leads are measured from it: whatever was played, it is that of a hint in the same position."""
    for played, _ in walks[::2]:
        question = asked(played.family, played.positions[0], 1_000_000)
        moves = [lambda state, lane, action=action: action for action in played.actions]
        found = turns.retrace(*engines[1]._exploring(question), moves)
        expected = engines[1].turn(question)
        ours, theirs = (facts(engines[1], question, each.outcomes)[0] for each in (found, expected))
        assert found.departures[0] == expected.departures[0]
        assert ours == theirs


@every_family
def test_the_best_line_costs_nothing(engines: tuple[Engine, Engine], family: str) -> None:
    """Played to its end it is judged the best again, by the same worlds."""
    for start in starts(family, 6):
        first = judged(engines[1], walk(family, start, lambda now, legal: legal[0], 1), 256)
        line = " ".join(PLAYERS[family].notation(start, action) for action in first.said.passed[0].line)
        again = judged(engines[1], parsed(family, start, line), 256)
        assert again.said.losses[0].points.mean <= 4 * again.said.losses[0].points.standard_error
        assert again.said.loss.points.mean <= 4 * again.said.loss.points.standard_error + 1e-9


@every_family
def test_moves_in_another_order_that_come_to_the_same_cost_the_same(
    engines: tuple[Engine, Engine], family: str
) -> None:
    player = PLAYERS[family]
    compared = 0
    for number, start in enumerate(starts(family, 60)):
        played = walk(family, start, restless(number))
        for at in range(len(played.moves) - 1):
            moves = [*played.moves[:at], *played.moves[at : at + 2][::-1], *played.moves[at + 2 :]]
            now, goes_on = start, True
            for move in moves:
                if not goes_on or now.game.explain(move) is not None or played.moves[at] == played.moves[at + 1]:
                    goes_on = False
                    break
                now, goes_on = player.after(now, move)
            else:
                if player.key(now) == player.key(played.positions[-1]):
                    other = parsed(family, start, " ".join(map(str, moves)))
                    costs = [judged(engines[1], each, 256).said.loss for each in (played, other)]
                    error = math.hypot(*(cost.points.standard_error for cost in costs))
                    assert abs(costs[0].points.mean - costs[1].points.mean) <= 4 * error + 1e-9
                    compared += 1
                    break
        if compared == 5:
            return
    assert compared > 2


# Round in circles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "T2-T6",  # B11
        "T2-T6 T3-T2 TURN",
        "T1-T8 T8-T1 T1-T8 TURN",  # B12: back to the start, and on
        "T1-T8 T8-T4 T4-T8 TURN",
        "T1-T8 T8-T1 T1-T4 T2-T6 TURN",
        "T2-T6 T6-T2 T1-T8 TURN",
        "T4-T6 T1-T6 T6-T1 T1-T8 TURN",
        "T1-T8 T8-T1 T1-T4 T4-T1 T1-T8 T8-T4 TURN",
    ],
)
def test_a_way_round_in_circles_is_followed(engines: tuple[Engine, Engine], line: str) -> None:
    start = shifting()
    played = parsed("bank", start, line)
    question = dataclasses.replace(asked("bank", start), table=completed(start.copy()))
    moves = [lambda state, lane, action=action: action for action in played.actions]
    judgement = engines[1].judge(question, moves)
    assert list(judgement.actions) == played.actions
    assert ends_as_played(engines[1], question, played, judgement)
    positions = played.positions
    for now, passed in zip(positions, judgement.said.passed, strict=True):
        goes_on = True
        for action in passed.line:
            assert goes_on
            assert now.game.explain(banks.MOVES[action]) is None
            now, goes_on = PLAYERS["bank"].after(now, banks.MOVES[action])


# Turns that have to be planned ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "planned"),
    [
        pytest.param(
            family,
            each,
            id=f"{family}-{each.name}",
            marks=[pytest.mark.slow] if number % 5 else [],  # of each family two
        )
        for family in FAMILY_NAMES
        for number, each in enumerate(PLANNED[family])
    ],
)
def test_to_play_as_planned_costs_nothing_and_to_give_the_plan_up_costs_much(
    engines: tuple[Engine, Engine], family: str, planned: Planned[Any]
) -> None:
    best = judged(engines[1], parsed(family, planned.start, planned.line), HINT_ROLLOUTS).said.passed[0].line
    line = " ".join(PLAYERS[family].notation(planned.start, action) for action in best)
    as_planned = judged(engines[1], parsed(family, planned.start, line), HINT_ROLLOUTS).said
    assert gains(family, planned, as_planned.passed[0].line)
    for loss in (*as_planned.losses, as_planned.loss):
        assert loss.points.mean <= CLEAR * loss.points.standard_error + 1e-9
    worst = engines[1].answer(asked(family, planned.start, HINT_ROLLOUTS)).evaluations[-1]
    assert not gains(family, planned, worst.line)
    line = " ".join(PLAYERS[family].notation(planned.start, action) for action in worst.line)
    given_up = judged(engines[1], parsed(family, planned.start, line), HINT_ROLLOUTS).said
    assert gains(family, planned, given_up.passed[0].line)
    assert given_up.loss.points.mean > CLEAR * given_up.loss.points.standard_error


@every_family
def test_a_judgement_is_the_same_on_other_lanes_and_workers(engines: tuple[Engine, Engine], family: str) -> None:
    others = 0
    for number, start in enumerate(starts(family, 4)):
        played = walk(family, start, restless(number))
        first, second = (judged(engine, played, 2_000) for engine in engines)
        assert (first.actions, first.choices, first.said) == (second.actions, second.choices, second.said)
        others += judged(engines[0], played, 2_000, seed=2).said != first.said
    assert others > 0


@every_family
def test_work_that_is_given_up_says_nothing(engines: tuple[Engine, Engine], family: str) -> None:
    played = walk(family, starts(family, 1)[0], restless(1))
    question, stopped = asked(family, played.positions[0]), Control(stopped=lambda: True)
    with pytest.raises(search.Stopped):
        judged(engines[0], played, control=stopped)
    with pytest.raises(search.Stopped):
        engines[0].results(question, FAMILIES[family].to_state([question.table]), 0, 64, stopped)


@every_family
def test_results_of_a_position_are_those_of_its_rollouts_in_these_worlds(
    engines: tuple[Engine, Engine], family: str
) -> None:
    """World by world, whatever worlds are asked for with them."""
    question = asked(family, starts(family, 1)[0])
    state = FAMILIES[family].to_state([question.table])
    whole = engines[0].results(question, state, 1_000, 1_100)
    parts = [engines[1].results(question, state, first, first + 50) for first in (1_000, 1_050)]
    for name in ("points", "score", "moves"):
        np.testing.assert_array_equal(
            getattr(whole, name), np.concatenate([getattr(part, name) for part in parts]), name
        )
    assert whole.count == 100


# Made up -------------------------------------------------------------------------------------------------------------


def judgement_of(points: Points, reported: Points, reach: Any, rollouts: int) -> search.Judgement:
    """Of moves after each of which some of the outcomes can be reached still."""
    made_up = MadeUp(points, reported)
    turn = MadeUpTurn(moves=[(10 + move,) for move in range(len(reach) - 1)], reach=reach)
    race = Race(turn, np.ones((len(points),), np.int64), "points", 20)
    rounds = search.schedule(len(points), rollouts, len(reach))
    made_up.first_round = rounds[0].last
    return search.judge(race, rounds, made_up.play)


@pytest.mark.parametrize("outcomes", [2, 20, 60])
def test_moves_among_equals_cost_nothing_on_average(outcomes: int) -> None:
    """What chose the best way does not say what it is worth, so the mean loss has no bias, and the errors cover."""
    chance = np.random.default_rng(outcomes)
    reach = np.arange(outcomes) < np.asarray([outcomes, max(1, outcomes // 2), 1])[:, None]
    losses: list[tuple[search.Estimate, ...]] = []
    for _ in range(SEEDS):
        points, reported = (
            np.rint(chance.normal(0, 5, 4_000) + chance.normal(0, 5, (outcomes, 4_000))).astype(np.int64)
            for _ in range(2)
        )
        said = judgement_of(points, reported, reach, 60 * outcomes)
        losses.append((*(loss.points for loss in said.losses), said.loss.points))
    for estimates in zip(*losses, strict=True):
        means = np.asarray([each.mean for each in estimates])
        assert abs(means.mean()) <= 3 * means.std() / math.sqrt(SEEDS)
        scaled = [each.mean / each.standard_error for each in estimates if each.standard_error]
        assert not scaled or np.mean(np.abs(scaled) < 1.96) > 0.85
        assert all(each == NOTHING for each in estimates if not each.standard_error)


def test_what_a_move_gives_away_is_found() -> None:
    """Outcome 0 is worth 4 more than outcome 1, that 3 more than outcome 2: the moves give up one after the other."""
    chance = np.random.default_rng(1)
    worth = np.asarray([[7], [3], [0]])
    points, reported = (
        np.rint(worth + chance.normal(0, 5, 3_000) + chance.normal(0, 2, (3, 3_000))).astype(np.int64) for _ in range(2)
    )
    reach = np.asarray([[1, 1, 1], [0, 1, 1], [0, 0, 1]], np.bool_)
    said = judgement_of(points, reported, reach, 3_000)
    assert [passed.line[-1:] for passed in said.passed] == [(0,), (1,), (2,)]
    for loss, expected in zip((*said.losses, said.loss), (4, 3, 7), strict=True):
        assert abs(loss.points.mean - expected) < 4 * loss.points.standard_error < 2
