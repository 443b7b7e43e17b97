"""Hints for Russian Bank over the wire: which moves are considered, and that only what is known counts."""

import random
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import grpc
import pytest

from tests.service.bank_tables import full, partial, piles
from tests.service.wire import Served, refusal
from zank.text import format_position
from zank.v1 import (
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    Answer,
    ApplyMoveRequest,
    BankOptions,
    Budget,
    DealRequest,
    GetBestMoveRequest,
    GetHintRequest,
    ListLegalMovesRequest,
    Position,
    Question,
    RuleSet,
)

ROLLOUTS = 512
crapette = "bank-crapette"
SHIFTS = "Kc.Qd.Kh.Ks.Jc.Jd.Jh.Js"  # T2-T1, and then T5-T1; or T5-T2


@pytest.fixture(scope="module")
async def played(served: Served) -> Position:
    """A full position some way into a game, with more than one move to choose from."""
    chooser = random.Random(5)
    request = DealRequest(rule_set=RuleSet(preset=crapette), seed=11)
    position = (await served.referee.Deal(request)).position
    while position.turns < 6 or len(await legal(served, position)) < 4:
        moves = await legal(served, position)
        move = chooser.choice([move for move in moves if not move.startswith("T")] or moves)
        answer = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))
        position = answer.position
        assert not position.HasField("result")
    return position


async def legal(served: Served, position: Position) -> list[str]:
    moves = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
    return [move.move for move in moves]


async def hint(served: Served, position: Position, **arguments: Any) -> Answer:
    question = Question(position=position, **{"budget": Budget(rollouts=ROLLOUTS), **arguments})
    return (await served.solver.GetHint(GetHintRequest(question=question))).answer


def considered(answer: Answer) -> set[str]:
    return {name for move in answer.moves for name in (move.move, *move.equivalents)}


def masked(position: Position) -> Position:
    """What both players know, written down anew."""
    known = Position()
    known.CopyFrom(position)
    known.ClearField("shuffle")
    for pile in piles(known.bank):
        del pile.concealed[:]
    return known


def permuted(position: Position) -> Position:
    """The same to the players: the cards that they cannot see are shuffled among the places of each."""
    other = Position()
    other.CopyFrom(position)
    for player in other.bank.players:
        faces = [*player.reserve.concealed, *player.stock.concealed]
        random.Random(3).shuffle(faces)
        for pile in (player.reserve, player.stock):
            if pile.concealed:
                pile.concealed[:] = faces[: pile.hidden]
                del faces[: pile.hidden]
    return other


def another_shuffle(position: Position) -> Position:
    changed = Position()
    changed.CopyFrom(position)
    changed.shuffle.seed += 1
    return changed


@pytest.mark.parametrize("change", [masked, permuted, another_shuffle])
async def test_hidden_cards_change_no_byte(
    served: Served, played: Position, change: Callable[[Position], Position]
) -> None:
    assert change(played) != played
    expected = (await hint(served, played)).SerializeToString(deterministic=True)
    assert (await hint(served, change(played))).SerializeToString(deterministic=True) == expected


def unmarked(position: Position) -> None:
    """The deck of a card is forgotten."""
    cards = next(pile.cards for pile in position.bank.tableau if pile.cards)
    cards[0] = cards[0][:2]


def quieter(position: Position) -> None:
    position.bank.players[0].quiet_turns += 1


def later(position: Position) -> None:
    position.turns += 1


@pytest.mark.parametrize("change", [unmarked, quieter, later])
async def test_what_is_known_changes_the_digest(
    served: Served, played: Position, change: Callable[[Position], None]
) -> None:
    other = masked(played)
    change(other)
    assert (await hint(served, other)).position_digest != (await hint(served, played)).position_digest


async def test_an_answer_says_all_that_it_depends_on(served: Served, played: Position) -> None:
    answer = await hint(served, played)
    digest = blake2b(format_position(masked(played)).encode(), digest_size=16).hexdigest()
    assert answer.position_digest == digest
    assert answer.rule_set_digest == blake2b(b"bank-crapette", digest_size=16).hexdigest()
    assert answer.seed == int.from_bytes(bytes.fromhex(digest[:16]), "little")
    assert answer.objective == OBJECTIVE_POINTS
    for move in answer.moves:
        value = move.value
        assert value.win.mean + value.tie.mean + value.loss.mean == pytest.approx(1)
        assert min(value.win.standard_error, value.tie.standard_error, value.points.standard_error) > 0
        assert move.line[0] == move.move
    assert (await hint(served, played, objective=OBJECTIVE_WIN)).objective == OBJECTIVE_WIN


async def test_options_are_part_of_the_rule_set(served: Served) -> None:
    position = partial(h=SHIFTS)
    position.rule_set.bank.CopyFrom(BankOptions(max_turns=0))
    answer = await hint(served, position)
    assert answer.rule_set_digest == blake2b(b"bank-russian~o.t0", digest_size=16).hexdigest()


async def test_any_number_of_turns_has_been_played_where_there_is_no_limit(served: Served) -> None:
    position = partial(h=SHIFTS)
    position.rule_set.bank.CopyFrom(BankOptions(max_turns=0))
    answers = []
    for turns in (0, 40_000, 1_000_000):
        position.turns = turns
        answers.append(await hint(served, position, seed=1))
    assert [answer.moves for answer in answers[1:]] == [answers[0].moves] * 2


async def test_every_useful_move_is_considered_once(served: Served, played: Position) -> None:
    answer = await hint(served, played)
    names = [name for move in answer.moves for name in (move.move, *move.equivalents)]
    assert len(names) == len({*names})
    assert {*names} <= {*await legal(served, played)}


async def test_a_card_that_only_changes_its_space_is_not_considered(served: Served) -> None:
    position = partial(".2c.", "12-9s.?.3h", h="KcQd.Kd.Kh.Ks..Jd.Jh.Js")
    assert {"T2-T5", "T1-T5"} <= {*await legal(served, position)}
    answer = await hint(served, position)
    useful = {"T1-T4", "T1-T5", "T8-T1", "TURN"}
    assert considered(answer) == useful
    named = await hint(served, position, keep_moves=["T2-T5"])
    assert considered(named) == {*useful, "T2-T5"}
    assert considered(await hint(served, position, only_moves=["T2-T5", "T3-T5"])) == {"T2-T5", "T3-T5"}


async def test_a_tableau_of_this_turn_is_not_brought_back(served: Served) -> None:
    position = partial(h="KcQd..Kh.Ks.Jc.Jd.Jh.Js", rules=crapette)
    assert "T1-T2" in considered(await hint(served, position))
    position.bank.tableau_moves.append("T2-T1")
    assert "T1-T2" in await legal(served, position)
    assert "T1-T2" not in considered(await hint(served, position))


async def test_equivalent_moves_are_merged(served: Served) -> None:
    answer = await hint(served, partial("12-Td1.?.", h="Jc1.Jc2.Kh.Ks.Js.Jd.Jh.Ks2", rules=crapette))
    equivalents = {move.move: list(move.equivalents) for move in answer.moves}
    assert equivalents == {"R-T1": ["R-T2"], "R-T5": [], "TURN": []}


async def test_a_forced_move_costs_nothing(served: Served) -> None:
    answer = await hint(served, partial(f="8h"))
    (only,) = answer.moves
    assert answer.forced
    assert (only.move, answer.rollouts) == ("R-F", 0)


async def test_the_last_card_wins_at_once(served: Served) -> None:
    answer = await hint(served, partial("Td..", "12-9s.?.3h", rules=crapette))
    first, *others = answer.moves
    assert first.wins_at_once
    assert first.value.win.mean == 1
    assert first.move in ("R-T5", "R-T8")
    assert "END" in {move.move for move in others}


async def test_a_line_ends_where_an_unknown_card_is_turned(served: Served) -> None:
    question = Question(position=partial(h=SHIFTS), budget=Budget(rollouts=ROLLOUTS))
    answer = (await served.solver.GetBestMove(GetBestMoveRequest(question=question))).answer
    lines = {move.move: list(move.line) for move in answer.moves}
    assert lines["TURN"] == ["TURN"]
    assert all(line[0] == move and "TURN" not in line[:-1] for move, line in lines.items())


@pytest.mark.parametrize(("field", "move"), [("only_moves", "R-F"), ("avoid_moves", "T9-F"), ("keep_moves", "P-C1")])
async def test_a_move_that_cannot_be_considered_is_refused(served: Served, field: str, move: str) -> None:
    refused = await refusal(hint(served, full(partial(h=SHIFTS)), **{field: [move]}))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert list(refused.fields) == [f"question.{field}[0]"]
