"""Match equity: the dynamic programme against a brute-force solution, its properties, and the data shipped with it."""

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import equity as measurement
from tests.kernel.chi_square import assert_fits
from zank_kernel import bank, equity, malice
from zank_kernel.engine import Engine
from zank_kernel.equity import SCALE

MATCH = malice.PRESETS["malice-match"]
SPITEFUL = dataclasses.replace(bank.PRESETS["bank-spiteful"], match_target=300)
RUSSIAN = bank.PRESETS["bank-russian"]
RULES = pytest.mark.parametrize("rules", [MATCH, SPITEFUL, RUSSIAN], ids=lambda rules: rules.preset)

distributions = st.lists(st.integers(0, 50), min_size=2, max_size=9).filter(lambda won: any(won[1:])).map(tuple)


def brute_force(won: Sequence[int], size: int) -> Any:
    """The chance to win by the points needed, [size, size] from 1 on: the equations of all scores solved at once."""
    games = sum(won)
    scores = list(itertools.product(range(1, size + 1), repeat=2))
    equations, constants = np.eye(len(scores)), np.zeros(len(scores))
    for row, (own, other) in enumerate(scores):
        for points, count in enumerate(won):
            for own_after, other_after in ((own - points, other), (own, other - points)):
                if own_after <= 0:
                    constants[row] += count / games / 2
                elif other_after > 0:
                    equations[row, scores.index((own_after, other_after))] -= count / games / 2
    return np.linalg.solve(equations, constants).reshape(size, size)


@given(won=distributions, size=st.integers(1, 9))
@settings(max_examples=50)
def test_the_table_solves_the_equations_of_all_scores(won: Sequence[int], size: int) -> None:
    np.testing.assert_allclose(equity.table(won, size)[1:, 1:], brute_force(won, size), atol=1e-12)


def test_where_every_decided_game_is_worth_a_point_the_table_is_pascal_s() -> None:
    table = equity.table((7, 3), 3)
    np.testing.assert_allclose(table[1:, 1:], [[1 / 2, 3 / 4, 7 / 8], [1 / 4, 1 / 2, 11 / 16], [1 / 8, 5 / 16, 1 / 2]])


@given(won=distributions, size=st.integers(1, 40))
def test_one_of_the_players_wins_and_points_never_harm(won: Sequence[int], size: int) -> None:
    table = equity.table(won, size)
    within = table[1:, 1:]
    np.testing.assert_allclose(within + within.T, 1, atol=1e-12)
    np.testing.assert_allclose(within.diagonal(), 1 / 2, atol=1e-12)
    assert (table[0, 1:] == 1).all()
    assert (table[1:, 0] == 0).all()
    assert (np.diff(table[:, 1:], axis=0) <= 1e-12).all()
    assert (np.diff(table[1:], axis=1) >= -1e-12).all()


@RULES
def test_a_table_does_not_depend_on_its_size(rules: equity.Rules) -> None:
    won = equity.games_won(rules)
    np.testing.assert_allclose(equity.table(won, 64), equity.table(won, 128)[:65, :65], atol=1e-12)


# The stakes of a game ----------------------------------------------------------------------------------------------


@RULES
@pytest.mark.parametrize("score", [(0, 0), (38, 45), (49, 0), (1, 49)])
@pytest.mark.parametrize("player", [0, 1])
def test_the_stakes_are_the_chances_at_the_scores_that_results_lead_to(
    rules: equity.Rules, score: tuple[int, int], player: int
) -> None:
    table = equity.table(equity.games_won(rules), 512)
    own, other = rules.match_target - score[player], rules.match_target - score[1 - player]
    stakes = equity.stakes(rules, score, player)
    for points in range(-400, 401):
        needed = max(0, own - max(0, points)), max(0, other - max(0, -points))
        chance = stakes.after(np.asarray([points], np.int64))[0] / SCALE
        assert chance == pytest.approx(table[needed], abs=0.6 / SCALE)
    most = len(equity.games_won(rules)) - 1
    best, worst = stakes.after(np.asarray([most, -most], np.int64))
    assert stakes.spread == best - worst > 0


@RULES
def test_one_player_s_stakes_are_the_other_s(rules: equity.Rules) -> None:
    points = np.arange(-400, 401, dtype=np.int64)
    first, second = (equity.stakes(rules, (37, 12), player).after(points) for player in (0, 1))
    assert abs(first + second[::-1] - SCALE).max() <= 1


def test_at_one_point_each_to_need_a_game_is_the_match_and_a_tie_a_coin() -> None:
    after = equity.stakes(MATCH, (49, 49), 0).after(np.asarray([-7, -1, 0, 1, 20], np.int64))
    assert after.tolist() == [0, 0, SCALE // 2, SCALE, SCALE]


@pytest.mark.parametrize("score", [(50, 0), (0, 50), (-1, 0)])
def test_a_score_of_no_match_that_goes_on_is_refused(score: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="expected less than 50 each"):
        equity.stakes(MATCH, score, 0)


# The data ----------------------------------------------------------------------------------------------------------


def test_every_rule_set_that_scores_was_measured_once() -> None:
    measured = [(row["preset"], row["options"]) for rows in equity.measured().values() for row in rows]
    assert measured == [(rules.preset, options) for rules, options in measurement.rule_sets()]
    for preset, rules in {**malice.PRESETS, **bank.PRESETS}.items():
        assert (preset in equity.measured()) == getattr(rules, "scored", True)
    for rows in equity.measured().values():
        assert {sum(row["won"]) for row in rows} == {measurement.GAMES}
        assert max(row["adjudicated"] for row in rows) < 0.02 * measurement.GAMES


def test_what_games_are_worth_goes_by_the_options() -> None:
    for cards in (1, 20):
        assert len(equity.games_won(dataclasses.replace(MATCH, payoff_cards=cards))) == 1 + cards  # M12
    none, difference = (
        equity.games_won(dataclasses.replace(SPITEFUL, stalemate_scores=scores)) for scores in (False, True)
    )
    assert none[0] > difference[0]  # S8
    assert not any(none[1:31])  # B9: a win is worth 30 and the card that is left, at least
    assert any(difference[1:31])


def test_a_later_limit_of_turns_is_as_good_as_the_one_measured() -> None:
    for turns in (501, 30_000, 0):
        assert equity.games_won(dataclasses.replace(RUSSIAN, max_turns=turns)) == equity.games_won(RUSSIAN)


@pytest.mark.parametrize(
    ("rules", "option"),
    [
        (dataclasses.replace(malice.PRESETS["malice-classic"], match_target=50), "preset"),
        (dataclasses.replace(RUSSIAN, max_turns=499), "max_turns"),
    ],
    ids=["no points", "few turns"],
)
def test_what_was_not_measured_is_named(rules: equity.Rules, option: str) -> None:
    with pytest.raises(equity.Unavailable) as raised:
        equity.stakes(rules, (0, 0), 0)
    assert raised.value.option == option


@RULES
def test_the_rollouts_of_today_are_worth_as_many_points_as_those_measured(engine: Engine, rules: Any) -> None:
    """Else the data is out of date: make it anew. As long as no rollout changes, these are the first of those games."""
    row = measurement.measure(engine, rules, {}, 4 * measurement.BATCH)
    assert measurement.measure(engine, rules, {}, 4 * measurement.BATCH) == row
    before = np.asarray(equity.games_won(rules))
    now = np.pad(row["won"], (0, len(before) - len(row["won"])))
    assert (now <= before).all()
    # Results of which few are expected count together.
    edges = np.flatnonzero(np.diff(np.cumsum(before) // (before.sum() / 40), prepend=-1))
    assert_fits(np.add.reduceat(now, edges), np.add.reduceat(before, edges) / before.sum())


def test_the_data_is_as_the_command_writes_it() -> None:
    rows = [row for rows in equity.measured().values() for row in rows]
    assert Path(measurement.PATH).read_text() == measurement.written(measurement.GAMES, rows)
