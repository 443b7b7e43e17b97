"""Comments on the moves of an analysed game."""

import pytest

from zank._annotations import annotations, summary
from zank.v1 import (
    MOVE_CLASS_BLUNDER,
    MOVE_CLASS_GOOD,
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    SKIP_REASON_KNOWLEDGE_MISSING,
    Account,
    AnalysisSettings,
    Balance,
    Estimate,
    GameReport,
    JudgedMove,
    LuckEvent,
    MoveClass,
    Objective,
    PlayerReport,
)


def estimate(mean: float, error: float = 0.01) -> Estimate:
    return Estimate(mean=mean, standard_error=error)


def judged(event: int, player: int, move_class: MoveClass.ValueType = MOVE_CLASS_GOOD) -> JudgedMove:
    return JudgedMove(
        event=event,
        player=player,
        move="7-S1",
        best_line=["A-C1", "5-S1"],
        move_class=move_class,
        win_after=estimate(0.4),
        win_loss=estimate(0.2),
        points_loss=estimate(3.0, 0.5),
        match_loss=estimate(0.1),
    )


def report(objective: Objective.ValueType, *moves: JudgedMove, luck: LuckEvent | None = None) -> GameReport:
    return GameReport(settings=AnalysisSettings(objective=objective), moves=moves, luck=[] if luck is None else [luck])


@pytest.mark.parametrize(
    ("objective", "lost"),
    [
        (OBJECTIVE_WIN, "20 % ± 1 %"),
        (OBJECTIVE_POINTS, "3.0 ± 0.5 points"),
        (OBJECTIVE_MATCH, "10 % ± 1 % of the match"),
    ],
)
def test_a_fault_is_told_in_what_it_is_called_by(objective: Objective.ValueType, lost: str) -> None:
    found = annotations(report(objective, judged(4, 1, MOVE_CLASS_BLUNDER)))
    assert found[4][0] == f"7-S1 ?? gives away {lost}; better A-C1 5-S1"


def test_the_chance_is_told_after_the_last_move_of_a_turn() -> None:
    found = annotations(report(OBJECTIVE_WIN, judged(0, 1), judged(1, 1), judged(2, 2)))
    assert dict(found) == {1: ["player 1 wins 40 %"], 2: ["player 2 wins 40 %"]}


def test_nothing_is_said_of_a_move_that_was_not_judged() -> None:
    skipped = JudgedMove(event=0, player=1, move="7-S1", skipped=SKIP_REASON_KNOWLEDGE_MISSING)
    assert not annotations(report(OBJECTIVE_WIN, skipped))


@pytest.mark.parametrize(("mean", "told"), [(0.019, True), (-0.019, True), (0.017, False)])
def test_luck_within_its_noise_is_not_told(mean: float, told: bool) -> None:
    luck = LuckEvent(event=3, player=2, cards=["Kd", "Th2"], win=estimate(mean, 0.009))
    found = annotations(report(OBJECTIVE_WIN, luck=luck))
    assert dict(found) == ({3: [f"luck of player 2, K♦ 10♥: {100 * mean:+.1f} % ± 0.9 %"]} if told else {})


def test_the_game_is_summed_up_for_who_was_judged() -> None:
    player = PlayerReport(
        judged=9, unforced=5, classes=[0, 5, 2, 1, 1], win_loss=estimate(0.3), win_luck=estimate(-0.1)
    )
    balance = Balance(win=Account(start=0.5, luck=0.1, losses=0.2, remainder=0.6, result=1.0, standard_error=0.05))
    assert summary(GameReport(players=[PlayerReport(), player], balance=balance)) == [
        "player 2 gave away 30 % ± 1 % in 5 moves with a choice (2 ?!, 1 ?, 1 ??); luck -10 % ± 1 %",
        "result 1 = start 0.50 + luck 0.10 - losses 0.20 + remainder 0.60 (± 0.05), from the view of player 1",
    ]
