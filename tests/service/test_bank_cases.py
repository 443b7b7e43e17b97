"""Situations of Russian Bank in which other programs went wrong, over the wire."""

from collections import Counter

import pytest

from tests.oracle.shuffle import DECK
from tests.service.bank_tables import full, partial, pile
from tests.service.wire import Served
from zank.v1 import (
    ApplyMoveRequest,
    Budget,
    CheckMoveRequest,
    CheckMoveResponse,
    DealRequest,
    GetHintRequest,
    ListLegalMovesRequest,
    Pile,
    Position,
    Question,
    RuleSet,
)

EVERY_PRESET = pytest.mark.parametrize("rules", ["bank-spiteful", "bank-russian", "bank-crapette"])


async def legal(served: Served, position: Position) -> set[str]:
    moves = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
    return {move.move for move in moves}


async def check(served: Served, position: Position, move: str) -> CheckMoveResponse:
    return await served.referee.CheckMove(CheckMoveRequest(position=position, move=move))


async def play(served: Served, position: Position, *moves: str) -> Position:
    for move in moves:
        answer = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))
        position = answer.position
    return position


@EVERY_PRESET
async def test_case_1_one_quiet_turn_each_is_no_stalemate(served: Served, rules: str) -> None:
    """Player 2 has 18 cards in the stock and 2 in the waste, and there is a move left."""
    before = partial(
        "9h.2c.", f"9s.{'3s4s5s6s' * 2}{'3c4c5c6c7c' * 2}.2h2d", h="Kc.KdQs.Kh.Ks.Jd.Js.Jh.Jc", rules=rules
    )
    after = await play(served, before, "TURN", "END", "TURN", "END")
    assert not after.HasField("result")
    assert [player.quiet_turns for player in after.bank.players] == [1, 1]
    assert len(after.bank.players[1].stock.cards) == 17
    assert await legal(served, after)


@EVERY_PRESET
@pytest.mark.parametrize(("last", "move"), [("Ah", "D-F"), ("Td", "D-T1"), ("8d", "D-OR")])
async def test_case_2_after_the_last_stock_card_is_played_the_waste_turns_over(
    served: Served, rules: str, last: str, move: str
) -> None:
    before = partial(f"9h.{last}.5c6c7c", "12-9d.?.", h="Jc.Kd.Kh.Ks.Kc.Jd.Jh.Js", rules=rules)
    before = await play(served, before, "TURN", move)
    assert "TURN" in await legal(served, before)
    after = await play(served, before, "TURN")
    assert (after.bank.drawn, after.player_to_move) == ("5c", 1)
    assert (after.bank.players[0].stock, after.bank.players[0].waste) == (pile("7c6c"), Pile())


@EVERY_PRESET
async def test_case_3_each_player_deals_a_full_deck(served: Served, rules: str) -> None:
    for seed in range(20):
        request = DealRequest(rule_set=RuleSet(preset=rules), seed=seed)
        table = (await served.referee.Deal(request)).position.bank
        for number, player in enumerate(table.players):
            own = [*player.reserve.concealed, *player.reserve.cards, *player.stock.concealed]
            own += [card for house in table.tableau[4 * number : 4 * number + 4] for card in house.cards]
            assert Counter(card[:2] for card in own) == Counter(DECK[:52])
            assert all(card[2:] in ("", str(number + 1)) for card in own)


LOADS = {
    "another suit, one rank apart": ("7h", "8c", False),
    "king and two": ("2s", "Ks", False),
    "ace and king": ("As", "Ks", False),
    "the suit alone": ("7c", "9c", False),
    "the other red suit": ("7h", "8d", False),
    "the same card": ("7h", "7h", False),
    "upwards": ("7h", "6h", True),
    "downwards": ("7h", "8h", True),
}


@EVERY_PRESET
@pytest.mark.parametrize("place", ["OR", "OW"])
@pytest.mark.parametrize("source", ["R", "D", "T1"])
@pytest.mark.parametrize("name", LOADS)
async def test_case_4_a_load_fits_in_suit_and_by_one_rank(
    served: Served, rules: str, source: str, place: str, name: str
) -> None:
    moved, top, fits = LOADS[name]
    position = partial(
        f"{moved}.." if source == "R" else "9d..",
        f"12-{top}.?.Jd" if place == "OR" else f"12-9d.?.{top}",
        h=f"{moved if source == 'T1' else 'Jh'}.Kd.Kh.Kc.Jc.Jd.Jh.Js",
        drawn=moved if source == "D" else "",
        rules=rules,
    )
    checked = await check(served, position, f"{source}-{place}")
    assert checked.legal == fits
    assert checked.rule == ("" if fits else "B4")


@EVERY_PRESET
@pytest.mark.parametrize("place", ["OR", "OW"])
@pytest.mark.parametrize("source", ["R", "D", "T1"])
async def test_case_5_a_card_that_fits_a_foundation_is_loaded_only_where_nothing_compels_it(
    served: Served, rules: str, source: str, place: str
) -> None:
    position = partial(
        "12-3h.?." if source == "R" else "12-9c.?.",
        "12-4h.?.Jd" if place == "OR" else "12-9d.?.4h",
        h=f"{'3h' if source == 'T1' else 'Kc'}.Kd.Kh.Ks.Jc.Jd.Jh.Js",
        f="2h",
        drawn="3h" if source == "D" else "",
        rules=rules,
    )
    checked = await check(served, position, f"{source}-{place}")
    rule = {"bank-russian": "R2", "bank-crapette": "C2"}.get(rules, {"R": "S2", "D": "S3"}.get(source, ""))
    assert (checked.rule, list(checked.obligatory)) == (rule, [f"{source}-F"] if rule else [])
    assert checked.legal == (not rule)


@EVERY_PRESET
async def test_case_6_a_player_with_nothing_to_play_or_turn_ends_the_turn(served: Served, rules: str) -> None:
    position = partial("9h..", rules=rules)
    assert await legal(served, position) == {"END"}
    assert (await play(served, position, "END")).player_to_move == 2


@EVERY_PRESET
@pytest.mark.parametrize("drawn", ["", "5c"])
async def test_case_14_hidden_cards_that_the_client_supplies_change_nothing(
    served: Served, rules: str, drawn: str
) -> None:
    bare = partial("12-Td.?.", h="KcQd.Qh.Kh.Ks.Jc.Jd.Jh.Js", drawn=drawn, rules=rules)
    given = full(bare)
    other = full(bare)
    for player in other.bank.players:
        for hidden in (player.reserve, player.stock):
            hidden.concealed[:] = reversed(hidden.concealed)
    requests = [
        GetHintRequest(question=Question(position=position, budget=Budget(rollouts=256)))
        for position in (bare, given, other)
    ]
    answers = [(await served.solver.GetHint(request)).SerializeToString(deterministic=True) for request in requests]
    assert answers[0] == answers[1] == answers[2]
    assert await legal(served, bare) == await legal(served, given) == await legal(served, other)
