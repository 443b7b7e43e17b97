import pytest

from zank._table import comparison
from zank.english import ENGLISH
from zank.v1 import (
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    Answer,
    Estimate,
    MoveEvaluation,
    Objective,
    RuleSet,
    Value,
)

MATCH = RuleSet(preset="malice-match")


def answer(objective: Objective.ValueType = OBJECTIVE_POINTS, tie: float = 0.2) -> Answer:
    value = Value(
        rollouts=1500,
        win=Estimate(mean=0.5, standard_error=0.02),
        tie=Estimate(mean=tie, standard_error=0.02),
        points=Estimate(mean=-1.0, standard_error=0.3),
    )
    gap = Estimate(mean=0.25, standard_error=0.04)
    return Answer(
        objective=objective,
        moves=[
            MoveEvaluation(move="A-C1", value=value, tied_with_best=True, equivalents=["A-C2", "A-C3"]),
            MoveEvaluation(move="Q-S1", value=value, tied_with_best=True, gap=gap),
        ],
    )


def table(answer: Answer, width: int | None, *, equivalents: bool = True) -> list[str]:
    lines = comparison(answer.moves, answer, MATCH, ENGLISH, width=width, equivalents=equivalents)
    return [line.plain for line in lines]


def test_every_column_is_shown_where_there_is_room() -> None:
    assert table(answer(), None) == [
        "move   wins         ties         points       behind by     rollouts",
        "A-C1   50 % ± 2 %   20 % ± 2 %   -1.0 ± 0.3   –             1,500                the same as A-C2, A-C3",
        "Q-S1   50 % ± 2 %   20 % ± 2 %   -1.0 ± 0.3   0.25 ± 0.04   1,500      as good",
    ]


def test_ties_are_shown_where_there_are_any() -> None:
    assert "ties" in table(answer(tie=0.01), None)[0]
    assert "ties" not in table(answer(tie=0.009), None)[0]


@pytest.mark.parametrize(
    ("width", "heading"),
    [
        (80, "move   wins         ties         points       behind by     rollouts"),
        (70, "move   wins         ties         points       behind by"),
        (60, "move   wins         points       behind by"),
        (45, "move   points       behind by"),
        (32, "move   points"),
        (17, "move   points"),
        (5, "move"),
    ],
)
def test_what_a_table_is_read_for_is_left_out_last(width: int, heading: str) -> None:
    lines = table(answer(), width)
    assert lines[0] == heading
    assert all(len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_the_measure_that_ranks_the_moves_stays() -> None:
    assert table(answer(OBJECTIVE_WIN), 45)[0] == "move   wins         behind by"


def test_in_a_match_the_chance_to_win_it_has_a_column_before_the_others() -> None:
    of_match = answer(OBJECTIVE_MATCH)
    for evaluation in of_match.moves:
        evaluation.value.match.CopyFrom(Estimate(mean=0.4213, standard_error=0.0041))
    assert table(of_match, None, equivalents=False) == [
        "move   wins match       wins         ties         points       behind by    rollouts",
        "A-C1   42.1 % ± 0.4 %   50 % ± 2 %   20 % ± 2 %   -1.0 ± 0.3   –            1,500",
        "Q-S1   42.1 % ± 0.4 %   50 % ± 2 %   20 % ± 2 %   -1.0 ± 0.3   25 % ± 4 %   1,500      as good",
    ]
    assert table(of_match, 45)[0] == "move   wins match       behind by"
