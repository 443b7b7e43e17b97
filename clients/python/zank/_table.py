"""The table that compares moves: as many columns as the width has room for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from zank.phrases import Phrases
from zank.presets import preset
from zank.sentences import format_chance, format_gap, format_points
from zank.v1 import OBJECTIVE_MATCH, OBJECTIVE_POINTS, OBJECTIVE_WIN, Answer, MoveEvaluation, Objective, RuleSet

_SPACE: Final = 3  # columns between two columns
_TIES_MATTER: Final = 0.01  # probability


@dataclass(frozen=True, kw_only=True, slots=True)
class _Column:
    header: str
    cells: list[str]
    worth: int  # the least is dropped first

    @property
    def width(self) -> int:
        return max(map(cell_len, [self.header, *self.cells]))


def comparison(
    compared: Sequence[MoveEvaluation],
    answer: Answer,
    rule_set: RuleSet,
    phrases: Phrases,
    *,
    width: int | None,
    equivalents: bool = False,
) -> list[Text]:
    """The moves of an answer with their values, a heading first, in lines of at most `width` columns where possible.

    None is as wide as it takes. With `equivalents` each move is followed by those that equal it.
    """
    columns = list(_columns(compared, answer, rule_set, phrases, equivalents))
    while width is not None and len(columns) > 1 and _total(columns) > width:
        columns.remove(min(columns, key=lambda column: column.worth))
    lines = []
    for number, row in enumerate(
        zip(*([column.header, *column.cells] for column in columns), strict=True),
    ):
        cells = [
            cell + " " * (column.width - cell_len(cell) + _SPACE) for column, cell in zip(columns, row, strict=True)
        ]
        line = Text(style="" if number else "dim", no_wrap=True, overflow="ellipsis")
        line.append(cells[0], style="bold" if number else "").append("".join(cells[1:]))
        line.rstrip()
        lines.append(line)
    return lines


def _columns(
    compared: Sequence[MoveEvaluation], answer: Answer, rule_set: RuleSet, phrases: Phrases, equivalents: bool
) -> Iterator[_Column]:
    values = [evaluation.value for evaluation in compared]

    def worth(objective: Objective.ValueType) -> int:
        """Of the column of an objective: what the moves are ranked by goes last."""
        return 8 if answer.objective == objective else 4

    yield _Column(header=phrases.move_column, cells=[evaluation.move for evaluation in compared], worth=9)
    if all(value.HasField("match") for value in values):
        yield _Column(
            header=phrases.match_column,
            cells=[format_chance(value.match) for value in values],
            worth=worth(OBJECTIVE_MATCH),
        )
    yield _Column(
        header=phrases.win_column, cells=[format_chance(value.win) for value in values], worth=worth(OBJECTIVE_WIN)
    )
    if any(value.tie.mean >= _TIES_MATTER for value in values):
        yield _Column(header=phrases.tie_column, cells=[format_chance(value.tie) for value in values], worth=3)
    yield _Column(
        header=phrases.points_column if preset(rule_set.preset).scored else phrases.margin_column,
        cells=[format_points(value.points) for value in values],
        worth=worth(OBJECTIVE_POINTS),
    )
    yield _Column(
        header=phrases.gap_column,
        cells=[format_gap(evaluation, answer.objective) for evaluation in compared],
        worth=5,
    )
    yield _Column(header=phrases.rollouts_column, cells=[f"{value.rollouts:,}" for value in values], worth=2)
    tied = [
        phrases.tied_mark if number and evaluation.tied_with_best else "" for number, evaluation in enumerate(compared)
    ]
    if any(tied):
        yield _Column(header="", cells=tied, worth=6)
    same = [
        phrases.equivalent.format(move=", ".join(evaluation.equivalents)) if evaluation.equivalents else ""
        for evaluation in compared
    ]
    if equivalents and any(same):
        yield _Column(header="", cells=same, worth=1)


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + _SPACE * (len(columns) - 1)
