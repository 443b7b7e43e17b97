"""Whether a referee of Russian Bank calls a move legal, which rule it breaks, and what comes before it."""

import grpc
import pytest

from tests.service.bank_tables import SCATTERED, partial
from tests.service.wire import Served, refusal
from zank.v1 import (
    RESERVE_FIRST_FOUNDATION,
    ApplyMoveRequest,
    BankOptions,
    CheckMoveRequest,
    CheckMoveResponse,
    Position,
)
from zank_service.bank.moves import RULES

SPACE = "KcQd.Kd.Kh.Ks..Jd.Jh.Js"  # T5 is one
FITS = "Ts.Kd.Kh.Ks.Jc.Jd.Jh.Js"  # the nine of hearts on T1
ACES = "Ac.Kd.Ah.Ks.Jc.Jd.Jh.Js"
SHIFTS = "Kc.Qd.Kh.Ks.Jc.Jd.Jh.Js"  # T2-T1 and T5-T2


def foundation_first(position: Position) -> Position:
    """The same where only S2 forces the reserve."""
    position.rule_set.bank.CopyFrom(BankOptions(reserve_first=RESERVE_FIRST_FOUNDATION))
    return position


def opening(position: Position) -> Position:
    position.bank.opening = True
    return position


async def check(served: Served, position: Position, move: str) -> CheckMoveResponse:
    return await served.referee.CheckMove(CheckMoveRequest(position=position, move=move))


crapette = "bank-crapette"
spiteful = "bank-spiteful"

MECHANICS = {
    "B1, reserve": (partial(".2c.", rules=crapette), "R-T1", "B1", "The reserve is empty"),
    "B1, drawn card": (partial(rules=crapette), "D-T1", "B1", "No drawn card is up"),
    "B1, space": (partial(h=SPACE, rules=crapette), "T5-F", "B1", "T5 is empty"),
    "B2, no foundation": (partial(), "R-F", "B2", "The foundations need Ah, not 9h"),
    "B2, one foundation": (partial(f="4h"), "R-F", "B2", "The foundations need Ah or 5h, not 9h"),
    "B2, equal foundations": (partial(f="4h 4h"), "R-F", "B2", "The foundations need 5h, not 9h"),
    "B2, complete foundation": (
        partial(f="Kd 2d", h="Kc.Qd.Kh.Ks.Jc..Jh.Js", rules=crapette),
        "T2-F",
        "B2",
        "The foundations need 3d, not Qd",
    ),
    "B2, drawn card": (partial(drawn="5c1"), "D-F", "B2", "The foundations need Ac, not 5c"),
    "B3, rank": (partial(), "R-T5", "B3", "T5, with Jc on top, does not take 9h"),
    "B3, colour": (partial(h="Th.Kd.Kh.Ks.Jc.Jd.Jh.Js"), "R-T1", "B3", "T1, with Th on top, does not take 9h"),
    "B3, upwards": (partial("12-Qs.?."), "R-T6", "B3", "T6, with Jd on top, does not take Qs"),
    "B4, reserve": (partial(), "R-OR", "B4", "Their reserve, with 9s on top, does not take 9h"),
    "B4, waste": (partial("12-9h.?.", "12-9s.?.Td"), "R-OW", "B4", "Their waste, with Td on top, does not take 9h"),
    "B4, no waste": (partial(), "T5-OW", "B4", "Their waste is empty"),
    "B6, drawn card up": (partial(drawn="5c"), "TURN", "B6", "A drawn card is up"),
    "B6, nothing to turn": (partial("9h.."), "TURN", "B6", "Stock and waste are empty"),
    "B7, stock": (partial(), "END", "B7", "No drawn card is up, and there are cards to turn"),
    "B7, waste": (partial("9h..3c"), "END", "B7", "No drawn card is up, and there are cards to turn"),
}


@pytest.mark.parametrize("name", MECHANICS)
async def test_a_move_against_the_mechanics_is_explained(served: Served, name: str) -> None:
    position, move, rule, found = MECHANICS[name]
    checked = await check(served, position, move)
    assert (checked.legal, checked.rule, checked.canonical) == (False, rule, "")
    assert checked.text == f"{RULES[rule]} {found}."


ORDER_OF_PLAY = {
    "S1": (opening(partial(h=ACES, rules=spiteful)), "TURN", "S1", "T1-F T3-F"),
    "S1, other plays": (opening(partial("12-8h.?.", h=ACES, f="", rules=spiteful)), "T5-OR", "B4", "T1-F T3-F"),
    "S2": (partial(f="8h", rules=spiteful), "TURN", "S2", "R-F"),
    "S2, before the drawn card": (partial(f="8h 4c", drawn="5c", rules=spiteful), "D-F", "S2", "R-F"),
    "S3": (partial(f="4c", drawn="5c", rules=spiteful), "END", "S3", "D-F"),
    "S4": (partial(h=FITS, rules=spiteful), "TURN", "S4", "R-T1"),
    "S4, a space or a load": (
        partial("12-9h.?.", "12-9s.?.8h", h=SPACE, rules=spiteful),
        "T1-T5",
        "S4",
        "R-T5 R-OW",
    ),
    "S5, turning": (foundation_first(partial(h=SPACE, rules=spiteful)), "TURN", "S5", "R-T5 T1-T5"),
    "S5, the drawn card": (foundation_first(partial(h=SPACE, drawn="5c", rules=spiteful)), "D-T5", "S5", "R-T5 T1-T5"),
    "S5, ending": (foundation_first(partial(h=SPACE, drawn="5c", rules=spiteful)), "END", "S5", "R-T5 T1-T5"),
    "S6, turning": (partial(f="Tc Td", rules=spiteful), "TURN", "S6", "T5-F T6-F"),
    "S6, ending": (partial(f="Tc", drawn="5d", rules=spiteful), "END", "S6", "T5-F"),
    "R2": (partial(f="8h Tc"), "TURN", "R2", "R-F T5-F"),
    "R2, the drawn card": (partial(f="4c", drawn="5c"), "END", "R2", "D-F"),
    "R3": (partial(h=SPACE), "T1-T5", "R3", "R-T5"),
    "R4, turning": (partial(h=FITS), "TURN", "R4", "R-T1"),
    "R4, ending": (partial("9h..", h=FITS), "END", "R4", "R-T1"),
    "R5, ending": (partial(h=FITS, drawn="9d"), "END", "R5", "D-T1"),
    "R5, another card": (partial(h=SHIFTS, drawn="5c"), "T2-T1", "R5", "END"),
    "C2, reserve": (partial(f="8h Tc", rules=crapette), "T5-F", "C2", "R-F"),
    "C2, others": (partial(f="Tc 4d", drawn="5d", rules=crapette), "END", "C2", "D-F T5-F"),
    "C3, turning": (partial(h=SPACE, rules=crapette), "TURN", "C3", "R-T5"),
    "C3, ending": (partial("9h..", h=SPACE, rules=crapette), "END", "C3", "R-T5"),
    "the mechanics come first, and still something is compulsory": (partial(f="8h"), "R-T1", "B3", "R-F"),
}


@pytest.mark.parametrize("name", ORDER_OF_PLAY)
async def test_a_move_that_has_to_wait_is_told_what_comes_first(served: Served, name: str) -> None:
    position, move, rule, obligatory = ORDER_OF_PLAY[name]
    checked = await check(served, position, move)
    assert (checked.legal, checked.rule, checked.canonical) == (False, rule, "")
    assert list(checked.obligatory) == obligatory.split()
    if not rule.startswith("B"):
        assert checked.text == f"{RULES[rule]} {' or '.join(checked.obligatory)} comes first."
    refused = await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_MOVE")
    assert refused.metadata == {"rule": rule, "text": RULES[rule], "obligatory": ",".join(checked.obligatory)}
    assert refused.message.startswith(f"{move} breaks {rule}: ")
    for first in checked.obligatory:
        assert (await check(served, position, first)).legal


def test_every_rule_that_can_be_broken_is_broken_here() -> None:
    broken = {rule for _, _, rule, _ in [*MECHANICS.values(), *ORDER_OF_PLAY.values()]}
    assert broken == RULES.keys()


FREE = {
    "loads from the tableau before the reserve": (
        partial("12-9h.?.", "12-Tc.?.", h="Ts.Kd.Kh.Ks.Jc.Jd.Jh.Js"),
        "T5-OR",
    ),
    "tableau moves before the reserve": (partial("12-9h.?.", h="Ts.Qd.Kh.Ks.Jc.Jd.Jh.Js"), "T5-T2"),
    "a card that fits a foundation stays with an empty reserve": (partial(".2c.", f="Tc", rules=spiteful), "TURN"),
    "a space stays open with an empty reserve": (partial(".2c.", "12-9s.?.3h", h=SPACE), "TURN"),
    "a space is used for other moves": (partial(h=SPACE, rules=crapette), "T1-T5"),
    "a playable drawn card is thrown": (partial(h=FITS, drawn="9d", rules=crapette), "END"),
    "a space open behind the drawn card": (partial(h=SPACE, drawn="5c", rules=crapette), "END"),
    "the reserve card stays": (foundation_first(partial(h=FITS, rules=spiteful)), "TURN"),
    "the reserve card stays at the loosest table": (partial(h=FITS, rules=crapette), "TURN"),
}


@pytest.mark.parametrize("name", FREE)
async def test_what_nothing_compels_is_free(served: Served, name: str) -> None:
    position, move = FREE[name]
    assert await check(served, position, move) == CheckMoveResponse(legal=True, canonical=move)


@pytest.mark.parametrize(("move", "canonical"), [("turn", "TURN"), ("t5-t2", "T5-T2"), ("T5-t2", "T5-T2")])
async def test_lower_case_is_understood(served: Served, move: str, canonical: str) -> None:
    position = partial(h="Kc.Qd.Kh.Ks.Jc.Jd.Jh.Js")
    assert await check(served, position, move) == CheckMoveResponse(legal=True, canonical=canonical)


@pytest.mark.parametrize(
    "move", ["", "R", "T9-F", "T0-T1", "T1-T1", "F-T1", "R-W", "W-F", "TURN-F", "END ", "P-C1", "7-C2"]
)
async def test_what_is_no_move_is_refused(served: Served, move: str) -> None:
    position = partial()
    for call in (
        check(served, position, move),
        served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move)),
    ):
        refused = await refusal(call)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_MOVE")
        assert list(refused.fields) == ["move"]


async def test_a_move_that_would_need_an_unknown_card_is_legal_all_the_same(served: Served) -> None:
    assert (await check(served, partial(f="8h"), "R-F")).legal
    assert (await check(served, partial(h=SCATTERED), "TURN")).legal
