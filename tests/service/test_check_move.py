"""Whether a referee calls a move legal, which rule it breaks, and how it is written."""

import grpc
import pytest

from tests.service.tables import full, partial
from tests.service.wire import Served, refusal
from zank.v1 import (
    ENDING_OUT,
    ApplyMoveRequest,
    CheckMoveRequest,
    CheckMoveResponse,
    GameResult,
    Position,
)

# C1 needs a 3, C2 a queen, C3 is empty.
CENTERS = "Ac2d.AsKh3s4s5s6s7s8s9cTcJc."
MIDDLE = "19-9h.KcKsQd4c.3d.Kd7c..Jh"
HIDDEN = "19-9h.4-.3d.Kd7c..Jh"

CORRECT = "A center stack is built from the ace to the queen in order of rank, whatever the suit."
PLAYED = "The payoff top, the top of an own side stack or a card from hand is played to the center."


async def check(served: Served, position: Position, move: str) -> CheckMoveResponse:
    return await served.referee.CheckMove(CheckMoveRequest(position=position, move=move))


LEGAL = {
    "S1-C1": "S1-C1",
    "K-C1": "K-C1",
    "Kc-C1": "K-C1",
    "Ks-C2": "Ks-C2",  # not the first listed
    "Qd-C2": "Q-C2",
    "4c-S3": "4-S3",
    "Ks-S1": "Ks-S1",
}


@pytest.mark.parametrize("move", LEGAL)
async def test_a_legal_move_is_written_without_a_suit_that_says_nothing(served: Served, move: str) -> None:
    checked = await check(served, partial(MIDDLE, c=CENTERS), move)
    assert checked == CheckMoveResponse(legal=True, canonical=LEGAL[move])


async def test_two_equal_cards_need_no_suit(served: Served) -> None:
    position = partial("19-9h.KcKcTc....")
    assert (await check(served, position, "Kc-S1")).canonical == "K-S1"


ILLEGAL = {
    "M3, hand": (MIDDLE, "4-C1", "M3", f"{CORRECT} C1 needs 3, not 4c."),
    "M3, payoff": (MIDDLE, "P-C1", "M3", f"{CORRECT} C1 needs 3, not 9h."),
    "M3, side": (MIDDLE, "S4-C2", "M3", f"{CORRECT} C2 needs Q, not Jh."),
    "M4": (MIDDLE, "K-C3", "M4", "No king starts a center stack in this rule set. C3 is empty and takes an ace."),
    "M5, hand": (MIDDLE, "Qh-C2", "M5", f"{PLAYED} Qh is not in hand."),
    "M5, side": (MIDDLE, "S3-C1", "M5", f"{PLAYED} S3 is empty."),
    "M6": (MIDDLE, "9-S1", "M6", "A card from hand is discarded. 9 is not in hand."),
    "M7": (MIDDLE, "S1-S3", "M7", "Only cards from hand go to a side stack. S1 is played to a center stack only."),
    "M3, hidden hand": (HIDDEN, "4c-C1", "M3", f"{CORRECT} C1 needs 3, not 4c."),
    "M4, hidden hand": (
        HIDDEN,
        "Kc-C3",
        "M4",
        "No king starts a center stack in this rule set. C3 is empty and takes an ace.",
    ),
    "M5, hidden hand": (
        "19-9h.4-.3d.Qh.Qh.Jh",
        "Qh-C2",
        "M5",
        f"{PLAYED} Qh is not in hand: both copies of Qh lie elsewhere.",
    ),
}


@pytest.mark.parametrize("name", ILLEGAL)
async def test_an_illegal_move_is_explained(served: Served, name: str) -> None:
    player, move, rule, text = ILLEGAL[name]
    checked = await check(served, partial(player, c=CENTERS, rules="malice-classic"), move)
    assert checked == CheckMoveResponse(rule=rule, text=text)


@pytest.mark.parametrize("move", ["3h-C1", "Ac-C3", "As-C3", "Kc-C2", "7h-S2", "P-C1", "S1-C1"])
async def test_a_hidden_hand_can_hold_whatever_is_not_seen(served: Served, move: str) -> None:
    checked = await check(served, partial("19-3c.4-.3d...", c=CENTERS), move)
    assert checked == CheckMoveResponse(legal=True, canonical=move)


async def test_a_hidden_hand_whose_faces_the_position_gives_is_known(served: Served) -> None:
    position = partial("19-9h.3c4c-5c....", c=CENTERS)
    assert (await check(served, position, "3c-C1")).canonical == "3-C1"
    assert (await check(served, position, "3h-C1")).rule == "M5"


@pytest.mark.parametrize("move", ["7-C1", "7-S1", "K-C1"])
async def test_a_card_from_a_hidden_hand_is_named_with_its_suit(served: Served, move: str) -> None:
    position = partial("19-9h.4-Kc....", c=CENTERS)
    for call in (
        check(served, position, move),
        served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move)),
    ):
        refused = await refusal(call)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_MOVE")
        assert list(refused.fields) == ["move"]
        assert f"with its suit, for example {move[0]}h{move[1:]}" in refused.fields["move"]


@pytest.mark.parametrize("move", ["", "P", "P-C4", "4-H", "4-C1 "])
async def test_what_is_no_move_is_refused(served: Served, move: str) -> None:
    refused = await refusal(check(served, partial(MIDDLE, c=CENTERS), move))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_MOVE")
    assert list(refused.fields) == ["move"]


async def test_a_move_that_would_need_an_unknown_card_or_shuffle_is_legal_all_the_same(served: Served) -> None:
    assert (await check(served, partial("19-3h.7c....", c="Ac2d.."), "P-C1")).legal
    assert (await check(served, full(partial("19-9h.Qd7c....", c=CENTERS)), "Q-C2")).legal


async def test_a_finished_game_has_no_moves_to_check(served: Served) -> None:
    position = partial(".2c....")
    position.result.CopyFrom(GameResult(ending=ENDING_OUT, winner=1, points=20))
    refused = await refusal(check(served, position, "2-S1"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "GAME_OVER")


async def test_a_position_that_cannot_be_is_refused(served: Served) -> None:
    refused = await refusal(check(served, partial(c="Ac3d.."), "2-S1"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_POSITION")


@pytest.mark.parametrize(("move", "canonical"), [("10-s1", "T-S1"), ("tc-S1", "T-S1"), ("p-c1", "P-C1")])
async def test_lower_case_and_10_are_understood(served: Served, move: str, canonical: str) -> None:
    position = partial("19-Ah.Tc2d....")
    checked = await served.referee.CheckMove(CheckMoveRequest(position=position, move=move))
    assert (checked.legal, checked.canonical) == (True, canonical)
