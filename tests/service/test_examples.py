"""The example positions: each is valid, and where the right move can be argued by hand the hint is that move."""

from pathlib import Path

import pytest

from tests.service.wire import Served
from zank.positions import Entry, load_entries
from zank.v1 import GetHintRequest, ListLegalMovesRequest, Question

EXAMPLES = sorted((Path(__file__).parents[2] / "clients" / "python" / "examples").glob("*.txt"))
BEST = "# best: "
SEEDS = 10


def entry(path: Path) -> Entry:
    (only,) = load_entries(path.read_text())
    return only


def best_moves(path: Path) -> list[str]:
    """The moves that a file says are best; none where it does not say."""
    lines = [line for line in path.read_text().splitlines() if line.startswith(BEST)]
    return [move for line in lines for move in line.removeprefix(BEST).split()]


SOLVED = [path for path in EXAMPLES if best_moves(path)]


def test_there_are_examples_of_every_kind() -> None:
    assert len(EXAMPLES) >= 20
    assert len(SOLVED) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
async def test_an_example_is_a_valid_position_with_a_choice(served: Served, path: Path) -> None:
    request = ListLegalMovesRequest(position=entry(path).position)
    moves = (await served.referee.ListLegalMoves(request)).moves
    assert len(moves) > 1
    assert {move.move for move in moves} >= set(best_moves(path))


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
async def test_the_hint_is_the_right_move_for_ten_seeds(served: Served, path: Path) -> None:
    position = entry(path).position
    questions = [Question(position=position, seed=seed) for seed in range(SEEDS)]
    hints = [await served.solver.GetHint(GetHintRequest(question=question)) for question in questions]
    assert {hint.answer.moves[0].move for hint in hints} <= set(best_moves(path))
