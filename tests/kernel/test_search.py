"""Search: how a budget is spread, how moves are ranked, what errors say, and what an answer depends on."""

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence

import jax
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.positions import (
    CLASSIC,
    MATCH,
    action_of,
    masked,
    move_of,
    oracle_copy,
    played_positions,
    table,
    table_of,
)
from tests.oracle import malice as oracle
from zank_kernel import equity, malice, search
from zank_kernel.engine import ROOTS, TASKS, WORLDS, Control, Engine, Question
from zank_kernel.family import FORBIDDEN
from zank_kernel.malice.play import ACTIONS
from zank_kernel.search import CHOOSING, REPORTING_WORLDS, Answer, Evaluation, Objective, Race, Results

type Points = npt.NDArray[np.int64]

OBJECTIVES: tuple[Objective, ...] = ("points", "win", "match")
SCORE = (38, 45)  # of a match, where it is the objective
objectives = pytest.mark.parametrize("objective", OBJECTIVES)


# The schedule ------------------------------------------------------------------------------------------------------


@given(candidates=st.integers(1, ROOTS), rollouts=st.integers(0, 100_000))
def test_a_schedule_stays_within_its_share_of_the_budget_unless_that_is_less_than_one_world(
    candidates: int, rollouts: int
) -> None:
    rounds = search.schedule(candidates, rollouts)
    cost = sum(step.candidates * (step.last - step.first) for step in rounds)
    if CHOOSING * rollouts < candidates:
        assert [(step.candidates, step.first, step.last) for step in rounds] == [(candidates, 0, 1)]
    else:
        assert cost <= CHOOSING * rollouts
    assert cost >= candidates


@given(candidates=st.integers(1, ROOTS), rollouts=st.integers(0, 100_000))
def test_a_schedule_has_few_rounds_of_ever_fewer_candidates_and_at_least_two_finalists(
    candidates: int, rollouts: int
) -> None:
    rounds = search.schedule(candidates, rollouts)
    sizes = [step.candidates for step in rounds]
    assert 1 <= len(rounds) <= search.ROUNDS
    assert sizes[0] == candidates
    assert all(earlier > later for earlier, later in itertools.pairwise(sizes))
    assert sizes[-1] >= min(2, candidates)
    assert rounds[0].first == 0
    assert all(step.first < step.last for step in rounds)
    assert all(earlier.last == later.first for earlier, later in itertools.pairwise(rounds))


@given(candidates=st.integers(2, 64), rollouts=st.integers(5_000, 100_000))
def test_the_rounds_of_a_schedule_cost_about_the_same(candidates: int, rollouts: int) -> None:
    rounds = search.schedule(candidates, rollouts)
    for step in rounds:
        share = CHOOSING * rollouts / len(rounds)
        assert abs(step.candidates * (step.last - step.first) - share) <= 2 * candidates


@pytest.mark.parametrize(
    ("candidates", "sizes"),
    [
        (1, [1]),
        (2, [2]),
        (3, [3, 2]),
        (8, [8, 3]),
        (27, [27, 9, 3]),
        (64, [64, 23, 8, 3]),
        (512, [512, 148, 43, 13, 4]),
    ],
)
def test_each_round_keeps_about_the_same_share(candidates: int, sizes: list[int]) -> None:
    assert [step.candidates for step in search.schedule(candidates, 100_000)] == sizes


# Ranking made-up outcomes ------------------------------------------------------------------------------------------


@dataclasses.dataclass
class MadeUp:
    """A turn of made-up outcomes: results in numbered worlds are written down, and which were asked for is kept."""

    points: Points  # [outcomes, worlds]: in the worlds that choose
    reported: Points | None = None  # [outcomes, worlds]: in those that report; unless given, the same
    lengths: Points | None = None  # [outcomes, worlds]: moves of the games
    reach: npt.NDArray[np.bool_] | None = None  # bool [moves, outcomes]; unless given, every outcome has its own move
    made: Sequence[int] | None = None  # moves made on the way to each outcome
    stop_after: int | None = None  # parts
    first_round: int = 0  # worlds
    asked: list[tuple[tuple[int, ...], int, int]] = dataclasses.field(default_factory=list)
    begun: dict[tuple[tuple[int, ...], int, int], int] = dataclasses.field(default_factory=dict)  # after so many parts

    def begin(self, asked: Sequence[search.Part], required: bool) -> None:
        for outcomes, first, last in asked:
            self.begun.setdefault((tuple(outcomes), first, last), len(self.asked))

    def play(self, outcomes: Sequence[int], first: int, last: int, required: bool) -> Results:
        if self.stop_after is not None and len(self.asked) >= self.stop_after and not required:
            raise search.Stopped
        if self.stop_after == 0:
            raise search.Stopped
        self.asked.append((tuple(outcomes), first, last))
        reports = first >= REPORTING_WORLDS
        assert required == (reports or first < self.first_round)
        table = self.points if self.reported is None or not reports else self.reported
        if reports:
            first, last = first - REPORTING_WORLDS, last - REPORTING_WORLDS
        assert last <= table.shape[1]
        rows = np.asarray(outcomes)
        points = table[rows, first:last]
        lengths = np.full_like(points, 50) if self.lengths is None else self.lengths[rows, first:last]
        return Results(points=points, score=1 + np.sign(points), moves=lengths)

    def answer(
        self,
        rollouts: int,
        objective: Objective = "points",
        keep: frozenset[int] = frozenset(),
        progress: Callable[[Answer], None] | None = None,
        score: tuple[int, int] = SCORE,
    ) -> Answer:
        count = len(self.points)
        reach = np.eye(count, dtype=np.bool_) if self.reach is None else self.reach
        turn = MadeUpTurn(moves=[(10 + move,) for move in range(len(reach))], reach=reach)
        made = np.ones((count,), np.int64) if self.made is None else np.asarray(self.made, np.int64)
        rounds = search.schedule(count, rollouts, len(keep))
        self.first_round = rounds[0].last
        stakes = equity.stakes(MATCH, score, 0) if objective == "match" else None
        race = Race(turn, made, objective, 20, stakes)
        return search.search(race, rounds, self.play, begin=self.begin, keep=keep, progress=progress)

    @property
    def chose(self) -> list[tuple[tuple[int, ...], int, int]]:
        """What was asked for in order to choose."""
        return [each for each in self.asked if each[1] < REPORTING_WORLDS]

    @property
    def cost(self) -> int:
        """Rollouts asked for."""
        return sum(len(outcomes) * (last - first) for outcomes, first, last in self.asked)


@dataclasses.dataclass(frozen=True)
class MadeUpTurn:
    """Moves 10, 11, … and what they can lead to; a line names its outcome."""

    moves: list[tuple[int, ...]]
    reach: npt.NDArray[np.bool_]
    complete: bool = True

    def line(self, move: int, outcome: int) -> tuple[int, ...]:
        assert self.reach[move, outcome]
        return (10 + move, outcome)


def ranking(answer: Answer) -> list[int]:
    """Moves by their index, best first."""
    return [evaluation.action - 10 for evaluation in answer.evaluations]


def by_move(answer: Answer) -> dict[int, Evaluation]:
    """What is said of each move."""
    return {evaluation.action - 10: evaluation for evaluation in answer.evaluations}


def normal(outcomes: int, worlds: int, seed: int, spread: float = 6, step: float = 1) -> Points:
    """Points of outcomes that get better with their index, in worlds that they share."""
    chance = np.random.default_rng(seed)
    world = chance.normal(0, spread, worlds)
    own = chance.normal(0, 2, (outcomes, worlds))
    values = np.clip(np.rint(world + own + step * np.arange(outcomes)[:, None]), -20, 20)
    return values.astype(np.int64)


def test_all_candidates_of_a_round_play_the_same_worlds_and_the_best_go_on() -> None:
    made_up = MadeUp(normal(17, 9_000, 1))
    answer = made_up.answer(18_000)
    for (before, _, last), (after, first, _) in itertools.pairwise(made_up.chose):
        assert first == last
        assert {0, *after} <= {*before}
        means = {index: made_up.points[index, :last].mean() for index in before}
        gone = {*before} - {*after}
        assert min(means[index] for index in after if index) >= max(means[index] for index in gone)
    assert answer.rollouts == made_up.cost <= 18_000
    assert answer.rounds_done == len(made_up.chose)
    assert (answer.outcomes, answer.complete) == (17, True)
    assert ranking(answer)[0] == 16


def test_a_third_of_the_rollouts_reports_of_every_move_and_more_of_the_best() -> None:
    made_up = MadeUp(normal(17, 9_000, 1))
    answer = made_up.answer(18_000)
    chosen = sum(len(outcomes) * (last - first) for outcomes, first, last in made_up.chose)
    assert made_up.cost - chosen == pytest.approx(chosen / 2, rel=0.01)
    (everyone, first, last), (finalists, after, end) = made_up.asked[-2:]
    assert (everyone, first, after) == (tuple(range(17)), REPORTING_WORLDS, last)
    assert {*ranking(answer)[:1]} < {*finalists}
    assert len(finalists) == search.FINALISTS
    counts = {move: e.value.rollouts for move, e in by_move(answer).items() if e.value}
    assert all(counts[move] == (end if move in finalists else last) - first for move in range(17))


@pytest.mark.parametrize("progress", [None, lambda answer: None])
def test_what_is_asked_for_was_begun_before_and_all_reports_at_once(progress: Callable[[Answer], None] | None) -> None:
    made_up = MadeUp(normal(17, 40_000, 1))
    made_up.answer(100_000, progress=progress)
    assert {*made_up.begun} == {*made_up.asked}
    assert made_up.begun[made_up.asked[-1]] == made_up.begun[made_up.asked[-2]] == len(made_up.asked) - 2


def duel(
    first: Sequence[int], second: Sequence[int], objective: Objective = "points", lengths: Sequence[int] = (60, 60)
) -> list[int]:
    """Two outcomes in the order of their places, with the lengths of their games; the policy's own is far worse."""
    points = np.asarray([[-9] * len(first), first, second], np.int64)
    moves = np.repeat(np.asarray([60, *lengths], np.int64)[:, None], len(first), axis=1)
    stakes = equity.stakes(MATCH, SCORE, 0)
    race = Race(MadeUpTurn([(10,)], np.ones((1, 3), np.bool_)), np.ones((3,), np.int64), objective, 20, stakes)
    race.choosing.add(range(3), Results(points=points, score=1 + np.sign(points), moves=moves))
    places = race.places().tolist()
    return sorted(range(2), key=lambda outcome: places[1 + outcome])


def test_ties_go_to_the_other_measure_then_to_the_shorter_games_then_to_the_order_of_outcomes() -> None:
    for objective in OBJECTIVES:
        assert duel([2, 2, 0, 0], [2, 2, 0, 0], objective) == [0, 1]
        assert duel([2, 2, 0, 0], [2, 2, 0, 0], objective, (60, 59)) == [1, 0]
    assert duel([-1, -1, -1, 3], [1, 1, 1, -3], "points", (60, 90)) == [1, 0]  # more wins
    assert duel([1, -1, 1, -1], [5, -1, 1, -1], "win", (60, 90)) == [1, 0]  # more points


@objectives
def test_a_lead_over_what_the_policy_would_play_has_to_be_more_than_luck(objective: Objective) -> None:
    def chosen(*leads: Sequence[int]) -> int:
        made_up = MadeUp(np.asarray([[0] * 144, *leads], np.int64))
        return ranking(made_up.answer(3 * 144, objective))[0]

    assert chosen([1, *[2, -2] * 8, *[0] * 127]) == 0  # 1 in 144, give or take 8
    assert chosen([*[1] * 9, *[2, -2] * 8, *[0] * 119]) == 1


def test_of_equal_leads_the_one_that_is_less_certain_is_worth_less() -> None:
    assert duel([2, 2, 2, 2], [9, -5, 2, 2]) == [0, 1]
    assert duel([9, -5, 2, 2], [2, 2, 2, 2]) == [1, 0]
    assert duel([9, -5, 2, 2], [2, 2, 2, 1]) == [1, 0]
    assert duel([9, 2, 2, 2], [2, 2, 1, 1]) == [0, 1]


def test_the_objective_says_what_counts_first() -> None:
    few_but_high, many_but_low = [20, -1] * 90, [1, 1] * 90
    assert duel(few_but_high, many_but_low, "points") == [0, 1]
    assert duel(few_but_high, many_but_low, "win") == [1, 0]


def test_in_a_match_the_score_says_what_counts() -> None:
    few_but_high, many_but_low = [20, -1] * 90, [1, 1] * 90
    made_up = MadeUp(np.asarray([few_but_high, many_but_low], np.int64))
    assert ranking(made_up.answer(540, "match", score=(49, 49))) == [1, 0]  # any win will do
    assert ranking(made_up.answer(540, "match", score=(30, 49))) == [0, 1]  # it takes twenty points, or more wins
    assert ranking(made_up.answer(540, "match", score=(49, 30))) == [1, 0]
    both = made_up.answer(540, "match", score=(30, 49)).evaluations
    assert both[0].value is not None
    assert both[0].value.match is not None
    assert both[0].value.match.mean == pytest.approx(1 / 2)  # won with the match, lost with it


def test_a_match_needs_a_score() -> None:
    with pytest.raises(ValueError, match="no score of a match"):
        Race(MadeUpTurn([(10,)], np.ones((1, 1), np.bool_)), np.ones((1,), np.int64), "match", 20)


def test_the_policy_s_own_outcome_plays_in_every_round_however_it_does() -> None:
    points = normal(40, 60_000, 7)  # outcome 0 is the worst
    made_up = MadeUp(points)
    assert ranking(made_up.answer(60_000))[0] != 0
    assert all(0 in outcomes for outcomes, *_ in made_up.chose)
    assert len(made_up.chose[-1][0]) < 5


@objectives
def test_an_outcome_that_wins_for_certain_is_first_whatever_the_others_score(objective: Objective) -> None:
    points = normal(17, 3_000, 3)
    points[3] = 1  # a small win, but a sure one
    lengths = np.full_like(points, 50)
    lengths[3] = 4
    answer = MadeUp(points, lengths=lengths, made=[4] * 17).answer(6_000, objective)
    assert ranking(answer)[0] == 3
    assert answer.evaluations[0].wins_this_turn
    assert not answer.evaluations[0].wins_at_once  # the line has two moves
    assert not any(evaluation.wins_this_turn for evaluation in answer.evaluations[1:])
    lengths[3] = 5  # one more move was made: the win was not certain
    answer = MadeUp(points, lengths=lengths, made=[4] * 17).answer(6_000, objective)
    assert not any(evaluation.wins_this_turn for evaluation in answer.evaluations)


def test_a_move_is_worth_its_best_outcome_and_leads_there() -> None:
    points = normal(6, 30_000, 8)
    reach = np.asarray([[1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]], np.bool_)
    answer = MadeUp(points, reach=reach).answer(60_000)
    assert ranking(answer) == [0, 2, 1]
    said = by_move(answer)
    assert [said[move].line for move in range(3)] == [(10, 5), (11, 3), (12, 5)]
    # Moves 0 and 2 can be played in either order: that costs nothing, and needs no estimate.
    assert said[2].gap == search.Estimate(mean=0.0, standard_error=0.0)
    assert said[2].tied_with_best
    assert said[2].value == said[0].value
    assert said[1].gap is not None
    assert said[1].gap.mean == pytest.approx(2, abs=0.2)


# Errors ------------------------------------------------------------------------------------------------------------


def test_values_are_those_of_the_rollouts_that_report() -> None:
    points, reported = normal(2, 1_500, 4), normal(2, 1_500, 5)
    answer = MadeUp(points, reported).answer(3_000)
    for move, evaluation in by_move(answer).items():
        value = evaluation.value
        assert value is not None
        assert value.rollouts == 500
        mine = reported[move, :500]
        assert value.points.mean == pytest.approx(mine.mean())
        assert value.points.standard_error == pytest.approx(mine.std(ddof=1) / math.sqrt(500))
        for chance, hits in ((value.win, mine > 0), (value.tie, mine == 0), (value.loss, mine < 0)):
            share = hits.mean()
            assert chance.mean == pytest.approx(share)
            assert chance.standard_error == pytest.approx(math.sqrt(share * (1 - share) / 500))
        assert value.moves == 50


def test_what_is_reported_changes_no_choice() -> None:
    points = normal(17, 9_000, 5)
    first, second = MadeUp(points), MadeUp(points, points[::-1])
    answers = [made_up.answer(18_000) for made_up in (first, second)]
    assert first.asked == second.asked
    assert ranking(answers[0])[0] == ranking(answers[1])[0]
    assert [by_move(answer)[3].line for answer in answers] == [(13, 3)] * 2


@pytest.mark.parametrize("outcomes", [2, 20, 200])
def test_equal_outcomes_are_not_flattered(outcomes: int) -> None:
    """Stated errors cover at their nominal rate, of the best move, of one chosen beforehand, and of its gap."""
    chance = np.random.default_rng(outcomes)
    scores: list[list[float]] = []
    for _ in range(300):
        points, reported = (
            np.rint(chance.normal(0, 5, 2_000) + chance.normal(0, 5, (outcomes, 2_000))).astype(np.int64)
            for _ in range(2)
        )
        answer = MadeUp(points, reported, reach=np.arange(outcomes) % 2 == np.arange(2)[:, None]).answer(60 * outcomes)
        best, other = answer.evaluations[0], by_move(answer)[1]
        estimates = [best.value and best.value.points, other.value and other.value.points, other.gap]
        scores.append([e.mean / e.standard_error if e and e.standard_error else 0.0 for e in estimates])
    for values in np.asarray(scores).T:
        assert abs(values.mean()) < 4 / math.sqrt(300)
        assert (abs(values) < 1.96).mean() > 0.88


@pytest.mark.parametrize("rollouts", [2, 7, 60, 1_000])
@pytest.mark.parametrize("points", [0, 7, -20])
@objectives
def test_errors_are_never_zero_also_where_all_results_are_equal(
    points: int, rollouts: int, objective: Objective
) -> None:
    answer = MadeUp(np.full((2, 1_000), points)).answer(rollouts, objective)
    best, other = answer.evaluations
    assert best.value is not None
    count = best.value.rollouts
    estimates = [best.value.win, best.value.tie, best.value.loss]
    assert sorted(estimate.mean for estimate in estimates) == [0, 0, 1]
    for estimate in estimates:
        share = (count * estimate.mean + 1) / (count + 2)
        assert estimate.standard_error == pytest.approx(math.sqrt(share * (1 - share) / count))
    assert best.value.points.mean == points
    assert best.value.points.standard_error > 0
    assert best.gap is None
    assert other.gap is not None
    assert other.gap.mean == 0
    assert other.gap.standard_error > 0
    assert other.tied_with_best


@given(
    points=st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=3, max_size=60),
    objective=st.sampled_from(OBJECTIVES),
)
def test_no_error_is_ever_zero(points: list[tuple[int, int]], objective: Objective) -> None:
    answer = MadeUp(np.asarray(points, np.int64).T).answer(2 * len(points), objective)
    for evaluation in answer.evaluations:
        value = evaluation.value
        assert value is not None
        assert (value.match is not None) == (objective == "match")
        for estimate in (value.win, value.tie, value.loss, value.points, value.match, evaluation.gap):
            assert estimate is None or estimate.standard_error > 0
        assert value.win.mean + value.tie.mean + value.loss.mean == pytest.approx(1)


@objectives
def test_the_gap_to_the_best_is_measured_in_pairs_on_the_worlds_that_both_played(objective: Objective) -> None:
    points = normal(17, 9_000, 5)
    answer = MadeUp(points).answer(12_000, objective)
    chances = equity.stakes(MATCH, SCORE, 0).after(points) / equity.SCALE
    measure = {"points": points, "win": (1 + np.sign(points)) / 2, "match": chances}[objective]
    best = measure[ranking(answer)[0]]
    assert answer.evaluations[0].gap is None
    assert answer.evaluations[0].tied_with_best
    for evaluation in answer.evaluations[1:]:
        value, gap = evaluation.value, evaluation.gap
        assert value is not None
        assert gap is not None
        mine = measure[evaluation.action - 10]
        leader = answer.evaluations[0].value
        assert leader is not None
        worlds = min(value.rollouts, leader.rollouts)
        difference = (best - mine)[:worlds]
        assert gap.mean == pytest.approx(difference.mean())
        assert gap.standard_error == pytest.approx(difference.std(ddof=1) / math.sqrt(worlds))
        assert evaluation.tied_with_best == (gap.mean <= 2 * gap.standard_error)
        separate = math.hypot(best.std(), mine.std()) / math.sqrt(worlds)
        assert objective == "win" or gap.standard_error < separate  # what common worlds are for
    gaps = [evaluation.gap.mean for evaluation in answer.evaluations[1:] if evaluation.gap]
    assert gaps == sorted(gaps)


def test_tied_with_best_separates_close_from_clear() -> None:
    points = np.stack([np.tile([3, -3], 600), np.tile([3, -3], 600), np.tile([-1, -7], 600)])
    points[1, 0] = 2  # a difference in one world of many
    answer = MadeUp(points).answer(1_800)
    assert ranking(answer) == [0, 1, 2]
    assert [evaluation.tied_with_best for evaluation in answer.evaluations] == [True, True, False]


# Whole questions ---------------------------------------------------------------------------------------------------


def ask(
    engine: Engine, known: malice.Table, rollouts: int = 1_000, seed: int = 1, objective: Objective = "points"
) -> Answer:
    score = SCORE if objective == "match" else None
    return engine.answer(
        Question(family="malice", table=known, rollouts=rollouts, seed=seed, objective=objective, score=score)
    )


def named(known: malice.Table, answer: Answer) -> list[tuple[str, ...]]:
    """Moves in public notation, best first, each with those that it stands for."""
    hand = (*known.hand[known.mover], 0, 0, 0, 0, 0)
    return [
        tuple(str(move_of(action, hand)) for action in (evaluation.action, *evaluation.equivalents))
        for evaluation in answer.evaluations
    ]


def masked_of(full: malice.Table) -> malice.Table:
    """A position of few cards as the mover knows it, its stock made up of all cards that lie nowhere else."""
    known = masked(full, recorded=False)
    stock = 104 - sum(len(pile) for pile in (*full.payoff, *full.hand, *full.sides[0], *full.sides[1], *full.centers))
    return dataclasses.replace(known, stock=(0,) * stock)


@objectives
@pytest.mark.parametrize("move", ["P-C1", "P-C2"])
def test_the_winning_move_is_first(engines: tuple[Engine, Engine], objective: Objective, move: str) -> None:
    centers = ("A23456", "AA", "") if move == "P-C1" else ("A2345", "A23456", "")
    for mover in (0, 1):
        payoff = ("7", "2349") if mover == 0 else ("2349", "7")
        known = masked_of(table(mover=mover, payoff=payoff, hand=("K8945", "K8945"), centers=("A", "", "")))
        known = dataclasses.replace(known, centers=tuple(tuple(range(1, len(pile) + 1)) for pile in centers))
        known = dataclasses.replace(known, stock=(0,) * (104 - 5 - 10 - sum(map(len, centers))))
        for seed in range(3):
            answer = ask(engines[0], known, 200, seed, objective)
            assert named(known, answer)[0] == (move,)
            best = answer.evaluations[0]
            assert best.wins_at_once
            assert best.value is not None
            assert best.value.win.mean == 1
            assert best.value.points.mean == 4
            assert best.value.points.standard_error > 0
            assert best.value.moves == 1


def test_a_single_move_is_forced_and_costs_nothing(engines: tuple[Engine, Engine]) -> None:
    known = masked_of(table(rules=CLASSIC, payoff=("99", "99"), hand=("55", "5678")))
    answer = ask(engines[0], known)
    assert answer.forced
    assert (answer.rollouts, answer.rounds_done) == (0, 0)
    assert named(known, answer) == [("5-S1", "5-S2", "5-S3", "5-S4")]
    assert answer.evaluations[0].value is None
    assert answer.evaluations[0].gap is None
    assert answer.evaluations[0].tied_with_best


def test_two_moves_are_not_forced(engines: tuple[Engine, Engine]) -> None:
    known = masked_of(table(rules=CLASSIC, payoff=("99", "99"), hand=("55", "5678"), sides=("", "8", "", "")))
    answer = ask(engines[0], known)
    assert not answer.forced
    assert sorted(named(known, answer)) == [("5-S1", "5-S3", "5-S4"), ("5-S2",)]


def test_interchangeable_moves_are_merged_and_named(engines: tuple[Engine, Engine]) -> None:
    known = masked_of(
        table(payoff=("93", "99"), hand=("36", "5678"), sides=("47", "3", "47", "3"), centers=("A2", "A2345", "A2"))
    )
    answer = ask(engines[0], known)
    assert sorted(named(known, answer)) == sorted(
        [
            ("P-C1", "P-C3"),
            ("3-C1", "3-C3"),
            ("6-C2",),
            ("S2-C1", "S2-C3", "S4-C1", "S4-C3"),
            ("3-S1", "3-S3"),
            ("3-S2", "3-S4"),
            ("6-S1", "6-S3"),
            ("6-S2", "6-S4"),
        ]
    )


def test_a_side_stack_like_the_opponent_s_is_not_interchangeable_with_it(engines: tuple[Engine, Engine]) -> None:
    known = masked_of(
        table(rules=CLASSIC, hand=("5", "5678"), sides=("47", "74", "", "4"), other_sides=("47", "", "", ""))
    )
    assert sorted(named(known, ask(engines[0], known))) == [("5-S1",), ("5-S2",), ("5-S3",), ("5-S4",)]


def test_every_legal_move_is_in_the_answer_once(engines: tuple[Engine, Engine]) -> None:
    for position in played_positions(10, 9_000_000):
        known = masked(table_of(position))
        answer = ask(engines[1], known, 300)
        moves = [move for group in named(known, answer) for move in group]
        assert len(set(moves)) == len(moves)
        assert set(moves) == {str(move) for move in position.game.legal_moves()}
        assert answer.forced or answer.rollouts <= max(300, 3 * answer.outcomes)


@objectives
def test_answers_are_the_same_with_one_and_two_workers_and_other_lanes(
    engines: tuple[Engine, Engine], objective: Objective
) -> None:
    small, large = engines
    for number, position in enumerate(played_positions(6, 9_100_000)):
        known = masked(table_of(position))
        known = dataclasses.replace(known, rules=MATCH) if objective == "match" else known
        answers = [ask(engine, known, 1_500, number, objective) for engine in (small, large, small)]
        assert answers[0] == answers[1] == answers[2]


def test_answers_are_the_same_where_worlds_fill_several_tables(engines: tuple[Engine, Engine]) -> None:
    known = masked_of(table(rules=CLASSIC, payoff=("99", "99"), hand=("5", "5678"), sides=("", "8", "", "")))
    rollouts = 5 * WORLDS
    first, second = (ask(engine, known, rollouts) for engine in engines)
    assert first == second
    counts = [evaluation.value and evaluation.value.rollouts for evaluation in first.evaluations]
    assert counts == [pytest.approx(rollouts / 6, abs=2)] * 2
    assert counts[0] == counts[1]


def test_another_seed_makes_other_rollouts(engines: tuple[Engine, Engine]) -> None:
    known = masked_of(table(payoff=("xx9", "xxT"), hand=("5678J", "xxxx")))
    first, second, again = (ask(engines[1], known, 600, seed) for seed in (1, 2**63 + 1, 1))
    assert first != second
    assert first == again


def test_the_view_of_player_2_mirrors_that_of_player_1(engines: tuple[Engine, Engine]) -> None:
    """Draws are keyed by player, so the values agree within their errors only."""
    mine = table(payoff=("xxx9", "xxxxxT"), hand=("5678J", "xxxx"), sides=("9", "Q8", "", "3"), centers=("A2", "A", ""))
    first = masked_of(mine)
    second = dataclasses.replace(
        first, mover=1, payoff=first.payoff[::-1], hand=first.hand[::-1], sides=first.sides[::-1]
    )
    values = []
    for known in (first, second):
        answer = ask(engines[1], known, 3_000)
        moves = [group[0] for group in named(known, answer)]
        values.append(dict(zip(moves, [evaluation.value for evaluation in answer.evaluations], strict=True)))
    assert set(values[0]) == set(values[1])
    for move, value in values[0].items():
        other = values[1][move]
        assert value is not None
        assert other is not None
        error = math.hypot(value.points.standard_error, other.points.standard_error)
        assert abs(value.points.mean - other.points.mean) <= 5 * error


def test_a_draw_that_does_not_empty_the_stock_does_not_end_the_game(engines: tuple[Engine, Engine]) -> None:
    """M11: the other player holds four cards and draws one of three; then one remains for each of two more turns."""
    seen = table(rules=MATCH, payoff=("9", "T"), hand=("5", "xxxx"), stock="xxx")
    pile = tuple(sorted([rank for rank in range(1, 14) for _ in range(8)]))
    rest = list(pile)
    for rank in (9, 10, 5, *range(1, 8)):
        rest.remove(rank)
    known = dataclasses.replace(seen, sides=((tuple(rest), (), (), ()), ((), (), (), ())))
    answer = ask(engines[0], known, 100)
    for evaluation in answer.evaluations:
        assert evaluation.value is not None
        assert evaluation.value.moves > 1


def test_a_position_without_moves_is_refused(engines: tuple[Engine, Engine]) -> None:
    known = masked_of(table(payoff=("99", "99"), hand=("", "5678")))
    with pytest.raises(ValueError, match="0 moves to consider"):
        ask(engines[0], known)


def test_lanes_asked_about_one_by_one_or_together_are_the_same(engines: tuple[Engine, Engine]) -> None:
    positions = played_positions(12, 9_200_000)
    state = malice.FAMILY.to_state([table_of(position) for position in positions])
    together = engines[0].legal("malice", state)
    assert together.shape == (ACTIONS, 12)
    rulings = engines[0].rulings("malice", state)
    np.testing.assert_array_equal(rulings.barred, np.where(together, 0, FORBIDDEN))
    assert not np.asarray(rulings.compelled).any()  # this family compels nothing
    actions = together.argmax(axis=0).astype(np.int32)
    played = engines[0].play("malice", state, actions)
    assert played.moves.tolist() == [1] * 12
    for lane, position in enumerate(positions):
        alone = malice.FAMILY.to_state([table_of(position)])
        np.testing.assert_array_equal(engines[0].legal("malice", alone)[:, 0], together[:, lane])
        after = engines[0].play("malice", alone, actions[[lane]])
        jax.tree.map(lambda one, all: np.testing.assert_array_equal(one[..., 0], all[..., lane]), after, played)  # noqa: B023
        hand = (*position.game.hand[position.game.mover], 0, 0, 0, 0, 0)
        assert action_of(str(move_of(int(actions[lane]), hand)), hand) == actions[lane]


def test_an_engine_reports_its_programs_and_its_work(engines: tuple[Engine, Engine]) -> None:
    for engine in engines:
        names = {program.name for program in engine.programs.values()}
        kinds = ("sample", "rulings", "expand", "expand/32", "play", "take", "win", "rollout")
        assert names == {f"{family}/{kind}" for family in ("malice", "bank") for kind in kinds}
        before = engine.meter.rollouts
        known = masked_of(table(payoff=("xx9", "xxT"), hand=("5678J", "xxxx")))
        answer = ask(engine, known, 600)
        assert engine.meter.rollouts - before == answer.rollouts
        assert engine.meter.moves <= engine.meter.steps
        assert 0 < engine.meter.playing_seconds <= engine.meter.busy_seconds + 1e-6
        assert engine.meter.busy_seconds <= engine.workers * engine.meter.playing_seconds + 1e-6


def test_a_position_in_which_play_gets_stuck_is_cut_off_and_leaves_nothing_behind(
    engines: tuple[Engine, Engine],
) -> None:
    # A mover without a hand card cannot come about in play: once nothing fits, no move is left and no turn ends.
    stuck = table(
        payoff=("xx3", "x9"),
        hand=("", "xxxx"),
        sides=("2", "2", "", ""),
        centers=("A2", "A", "A"),
        stock="x" * 89,
    )
    sound = masked(table_of(played_positions(1, 9_200_000)[0]))
    for engine in engines:
        before = ask(engine, sound, rollouts=300)
        ask(engine, stuck, rollouts=300)
        assert ask(engine, sound, rollouts=300) == before


def test_a_move_that_ends_the_game_by_a_dry_stock_wins_at_once(engines: tuple[Engine, Engine]) -> None:
    # The other player holds 3 cards and must draw 2, which are the last: the shorter payoff pile wins (M11).
    dry = table(
        rules=CLASSIC,
        payoff=("xx9", "xxxx9"),
        hand=("5678", "xxx"),
        sides=("QJT98765432Q", "QJT98765432J", "QJT98765432T", "QJT98765432K"),
        other_sides=("KKKJ4455", "QJT98765432A", "AJT987643A", "QQKKAAAAA"),
        stock="xx",
    )
    answer = ask(engines[0], dry, rollouts=200)
    assert all(evaluation.wins_at_once for evaluation in answer.evaluations)
    tie = ask(engines[0], dataclasses.replace(dry, rules=MATCH), rollouts=200)
    assert not any(evaluation.wins_at_once for evaluation in tie.evaluations)


def test_the_best_outcomes_of_kept_moves_play_in_every_round() -> None:
    made_up = MadeUp(normal(17, 9_000, 2))
    worst = frozenset({1, 2})
    answer = made_up.answer(18_000, keep=worst)
    assert all(worst <= {*outcomes} for outcomes, _, _ in made_up.asked)
    assert answer.rollouts == made_up.cost
    counts = {move: e.value.rollouts for move, e in by_move(answer).items() if e.value is not None}
    assert counts[1] == counts[2] == max(counts.values())
    assert ranking(answer)[0] not in worst


def test_work_that_stops_gives_the_last_complete_round() -> None:
    points = normal(17, 9_000, 3)
    whole = MadeUp(points)
    whole.answer(18_000)
    for rounds in (1, 2):
        stopped = MadeUp(points, stop_after=rounds)
        answer = stopped.answer(18_000)
        assert answer.rounds_done == rounds
        assert stopped.chose == whole.chose[:rounds]
        assert answer.rollouts == stopped.cost
    with pytest.raises(search.Stopped):
        MadeUp(points, stop_after=0).answer(18_000)


def test_progress_is_told_in_parts_and_changes_nothing() -> None:
    points = normal(5, 120_000, 4)
    told: list[Answer] = []
    answer = MadeUp(points).answer(150_000, progress=told.append)
    assert answer == MadeUp(points).answer(150_000)
    rollouts = [part.rollouts for part in told]
    assert rollouts == sorted(set(rollouts))
    steps = np.diff([0, *rollouts])
    assert len(told) > 3
    assert steps.max() <= search.SLICE
    assert rollouts[-1] < answer.rollouts
    assert [part.rounds_done for part in told] == sorted(part.rounds_done for part in told)
    assert told[-1].rounds_done == answer.rounds_done


def test_a_stop_within_a_round_gives_the_round_before() -> None:
    points = normal(5, 120_000, 5)
    whole = MadeUp(points)
    whole.answer(150_000, progress=lambda _: None)
    first_round = search.schedule(5, 150_000)[0].last
    parts = sum(last <= first_round for _, _, last in whole.chose)
    answer = MadeUp(points, stop_after=parts + 1).answer(150_000, progress=lambda _: None)
    assert answer.rounds_done == 1
    assert answer.rollouts == pytest.approx(1.5 * 5 * first_round, rel=0.01)


def question(known: malice.Table, rollouts: int = 500) -> Question:
    return Question(family="malice", table=known, rollouts=rollouts, seed=7, objective="points")


def known_position() -> malice.Table:
    return masked_of(
        table(payoff=("93", "99"), hand=("346", "5678"), sides=("47", "3", "", ""), centers=("A2", "A", ""))
    )


def test_only_the_moves_asked_for_are_considered(engines: tuple[Engine, Engine]) -> None:
    known = known_position()
    everything = engines[0].answer(question(known))
    actions = [action for e in everything.evaluations for action in (e.action, *e.equivalents)]
    some = frozenset(actions[:3])
    only = engines[0].answer(dataclasses.replace(question(known), only=some))
    assert {a for e in only.evaluations for a in (e.action, *e.equivalents)} == some
    rest = engines[0].answer(dataclasses.replace(question(known), avoid=some))
    assert {a for e in rest.evaluations for a in (e.action, *e.equivalents)} == {*actions} - some
    forced = engines[0].answer(dataclasses.replace(question(known), only=frozenset(actions[:1])))
    assert forced.forced
    assert forced.rollouts == 0
    with pytest.raises(ValueError, match="0 moves to consider"):
        engines[0].answer(dataclasses.replace(question(known), only=some, avoid=some))


def test_a_kept_move_is_known_as_well_as_the_best(engines: tuple[Engine, Engine]) -> None:
    last = engines[0].answer(question(known_position(), 2_000)).evaluations[-1]
    answer = engines[0].answer(dataclasses.replace(question(known_position(), 2_000), keep=frozenset({last.action})))
    counts = {e.action: e.value.rollouts for e in answer.evaluations if e.value is not None}
    assert counts[last.action] == max(counts.values())


def test_the_first_rounds_of_a_schedule_can_be_asked_for(engines: tuple[Engine, Engine]) -> None:
    for rounds in (1, 2, 3):
        asked = dataclasses.replace(question(known_position(), 3_000), rounds=rounds)
        answers = [engine.answer(asked) for engine in engines]
        assert answers[0] == answers[1]
        assert answers[0].rounds_done == rounds


def test_time_that_expires_gives_the_answer_of_the_rounds_done(engines: tuple[Engine, Engine]) -> None:
    engine = engines[0]
    for done in (1, 2):
        told: list[Answer] = []

        def over(told: list[Answer] = told, done: int = done) -> bool:
            return any(part.rounds_done >= done for part in told)

        asked = question(known_position(), 3_000)
        answer = engine.answer(asked, Control(expired=over, progress=told.append))
        assert answer == engine.answer(dataclasses.replace(asked, rounds=done))


def test_a_question_that_is_given_up_has_no_answer(engines: tuple[Engine, Engine]) -> None:
    with pytest.raises(search.Stopped):
        engines[0].answer(question(known_position()), Control(stopped=lambda: True))
    assert engines[0].answer(question(known_position())) == engines[1].answer(question(known_position()))


def test_urgency_changes_no_answer(engines: tuple[Engine, Engine]) -> None:
    asked = question(known_position())
    assert engines[0].answer(dataclasses.replace(asked, urgency=2)) == engines[0].answer(asked)


def test_a_time_budget_plans_rollouts_by_the_speed_of_late(engines: tuple[Engine, Engine]) -> None:
    for engine in engines:
        planned = engine.planned_rollouts("malice", 1.0)
        assert planned == pytest.approx(10 * engine.planned_rollouts("malice", 0.1), rel=0.01)
        assert 1 <= engine.planned_rollouts("malice", 0.0) < planned
        engine.meter.recent_rate["malice"] *= 2
        assert engine.planned_rollouts("malice", 1.0) == pytest.approx(2 * planned, rel=0.01)
        rate = engine.meter.recent_rate["malice"]
        engine.answer(question(known_position(), 2 * TASKS * engine.workers))
        assert engine.meter.recent_rate["malice"] != rate


def test_a_line_is_a_turn_up_to_the_next_unknown_card_or_its_end(engines: tuple[Engine, Engine]) -> None:
    # 3 from hand, 4 from S1 and the king as 5 free the 6, the last payoff card.
    known = masked_of(
        table(payoff=("6", "9999"), hand=("3K9", "5678"), sides=("94", "", "", ""), centers=("A2", "", ""))
    )
    answer = ask(engines[0], known)
    hand = (*known.hand[0], 0, 0)
    best = answer.evaluations[0]
    assert [str(move_of(action, hand)) for action in best.line] == ["3-C1", "S1-C1", "K-C1", "P-C1"]
    assert (best.wins_this_turn, best.wins_at_once) == (True, False)
    assert not any(evaluation.wins_this_turn for evaluation in answer.evaluations[1:])
    for number, position in enumerate(played_positions(20, 9_300_000)):
        known = masked(table_of(position))
        answer = engines[0].answer(Question(family="malice", table=known, rollouts=60, seed=number, objective="points"))
        for evaluation in answer.evaluations:
            check_line(position.game, known, evaluation.line)


def check_line(game: oracle.Game, known: malice.Table, line: tuple[int, ...]) -> None:
    """Every move of a line is legal in its turn, and the line ends where the turn or what is known does."""
    game = oracle_copy(game)
    hand = (*known.hand[known.mover], 0, 0, 0, 0, 0)
    over = False
    for action in line:
        assert not over
        mover = game.mover
        drawn: list[int] = []

        def draw(player: int, count: int, stock: Counter[int], drawn: list[int] = drawn) -> list[int]:
            cards = sorted(stock.elements())[: min(count, stock.total())]
            drawn.extend(cards)
            return cards

        move = move_of(action, hand)
        assert move is not None
        assert game.explain(move) is None
        game.play(move, draw)
        over = game.mover != mover or bool(drawn) or game.result is not None or move.source == "payoff"
    assert over
