"""The example positions: each is valid and shows what it is there for, and where one move is right it is the hint."""

from pathlib import Path
from typing import Final

import pytest

from tests.service.wire import Served
from zank.positions import Entry, load_entries
from zank.v1 import (
    REASON_CODE_ENDS_GAME,
    REASON_CODE_FREES_RESERVE,
    REASON_CODE_LOADS,
    REASON_CODE_MAKES_SPACE,
    REASON_CODE_PLAYS_RESERVE,
    REASON_CODE_THROWS_PLAYABLE,
    REASON_CODE_UNCOVERS,
    Answer,
    CheckMoveRequest,
    GetHintRequest,
    ListLegalMovesRequest,
    Question,
    ReasonCode,
)

FOLDER: Final = Path(__file__).parents[2] / "clients" / "python" / "examples"
EXAMPLES: Final = sorted(FOLDER.glob("*.txt"))
BEST: Final = "# best: "
SEEDS: Final = 10

# Russian Bank: the rule that compels the player, and all that it leaves.
COMPELLED: Final = {
    "bank-opening": ("S1", ["T1-F", "T5-F", "T8-F"]),
    "bank-forced": ("S2", ["R-F"]),
    "bank-reserve-first": ("S4", ["R-T8", "R-OW"]),
    "bank-foundations-first": ("R2", ["R-F", "T5-F"]),
    "bank-forced-space": ("R3", ["R-T6"]),
    "bank-drawn-card": ("R5", ["D-T5", "D-T6", "D-OW"]),
}

# Why the stock may not be turned yet, and what comes first.
BEFORE_THE_STOCK: Final = {
    "bank-space": ("S5", ["R-T4", "T2-T4", "T6-T4", "T7-T4", "T8-T4"]),
    "bank-foundation-before-turn": ("S6", ["T1-F"]),
    "bank-without-decks": ("R4", ["R-T6", "R-OR"]),
    "bank-space-on-loan": ("C3", ["R-T8"]),
    "bank-load-returned": ("C3", ["R-T8"]),
}

WON_AT_ONCE: Final = ("bank-win-at-once", "bank-win-with-load", "win-at-once")

# What is said of a move.
SAID: Final = (
    ("bank-uncover", "T5-T3", REASON_CODE_UNCOVERS),
    ("bank-load", "T7-OR", REASON_CODE_LOADS),
    ("bank-chain", "T1-T6", REASON_CODE_FREES_RESERVE),
    ("bank-chain", "T1-T6", REASON_CODE_MAKES_SPACE),
    ("bank-load-returned", "R-T8", REASON_CODE_PLAYS_RESERVE),
    ("bank-throw", "END", REASON_CODE_THROWS_PLAYABLE),
    ("bank-stalemate", "END", REASON_CODE_ENDS_GAME),
    ("bank-stalemate", "T4-OW", REASON_CODE_FREES_RESERVE),
    ("bank-last-turn", "END", REASON_CODE_ENDS_GAME),
)


def entry(path: Path) -> Entry:
    (only,) = load_entries(path.read_text())
    return only


def best_moves(path: Path) -> list[str]:
    """The moves that a file says are best; none where it does not say."""
    lines = [line for line in path.read_text().splitlines() if line.startswith(BEST)]
    return [move for line in lines for move in line.removeprefix(BEST).split()]


SOLVED: Final = [path for path in EXAMPLES if best_moves(path)]


async def hint(served: Served, name: str, seed: int | None = None) -> Answer:
    """The hint for an example."""
    question = Question(position=entry(FOLDER / f"{name}.txt").position, seed=seed)
    return (await served.solver.GetHint(GetHintRequest(question=question))).answer


def test_there_are_examples_of_every_kind() -> None:
    for family in ("malice", "bank"):
        solved = [entry(path).position.WhichOneof("table") for path in SOLVED]
        assert solved.count(family) >= 10
    assert {entry(path).position.rule_set.preset for path in EXAMPLES} == {
        "malice-match",
        "malice-classic",
        "bank-spiteful",
        "bank-russian",
        "bank-crapette",
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
async def test_an_example_is_a_valid_position_with_a_choice(served: Served, path: Path) -> None:
    request = ListLegalMovesRequest(position=entry(path).position)
    moves = [move.move for move in (await served.referee.ListLegalMoves(request)).moves]
    _, compelled = COMPELLED.get(path.stem, ("", []))
    assert len(moves) > 1 or moves == compelled
    assert set(moves) >= set(best_moves(path))


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
async def test_the_hint_is_the_right_move_for_ten_seeds(served: Served, path: Path) -> None:
    hints = [await hint(served, path.stem, seed) for seed in range(SEEDS)]
    assert {answer.moves[0].move for answer in hints} <= set(best_moves(path))


@pytest.mark.parametrize("name", COMPELLED)
async def test_a_rule_compels_the_player(served: Served, name: str) -> None:
    position = entry(FOLDER / f"{name}.txt").position
    moves = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
    rule, compelled = COMPELLED[name]
    assert [(move.move, move.compelled_by) for move in moves] == [(move, rule) for move in compelled]
    answer = await hint(served, name)
    assert answer.forced == (len(compelled) == 1)
    assert {move.move for move in answer.moves} == set(compelled)


@pytest.mark.parametrize("name", BEFORE_THE_STOCK)
async def test_something_comes_before_the_stock(served: Served, name: str) -> None:
    position = entry(FOLDER / f"{name}.txt").position
    checked = await served.referee.CheckMove(CheckMoveRequest(position=position, move="TURN"))
    assert (checked.rule, list(checked.obligatory)) == BEFORE_THE_STOCK[name]


@pytest.mark.parametrize("name", WON_AT_ONCE)
async def test_the_first_move_wins_at_once(served: Served, name: str) -> None:
    assert (await hint(served, name)).moves[0].wins_at_once


@pytest.mark.parametrize(("name", "move", "code"), SAID)
async def test_it_is_said_of_the_move(served: Served, name: str, move: str, code: ReasonCode.ValueType) -> None:
    (evaluation,) = [each for each in (await hint(served, name)).moves if each.move == move]
    assert code in {reason.code for reason in evaluation.reasons}


async def test_a_move_that_goes_round_in_circles_is_legal_but_not_suggested(served: Served) -> None:
    position = entry(FOLDER / "bank-circle.txt").position
    listed = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
    assert "T1-T4" in [move.move for move in listed]
    considered = (await hint(served, "bank-circle")).moves
    assert "T1-T4" not in [name for move in considered for name in (move.move, *move.equivalents)]
