"""Moves on partial positions of Russian Bank: which cards a referee must be told, and what it makes of them."""

import grpc
import pytest

from tests.service.bank_tables import full, partial, pile
from tests.service.wire import Refused, Served, refusal
from zank.v1 import ApplyMoveRequest, ApplyMoveResponse, Event, Moved, Pile, Position, Reveal, Slot, TurnedUp

RESERVE = partial(f="8h")  # R-F uncovers a card
STOCK = partial()  # TURN turns one


def reveal(card: str, place: str, player: int = 1, index: int = 0) -> Reveal:
    return Reveal(slot=Slot(player=player, place=place, index=index), card=card)


async def apply(served: Served, position: Position, move: str, *reveals: Reveal) -> ApplyMoveResponse:
    return await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move, reveals=reveals))


async def refused(served: Served, position: Position, move: str, *reveals: Reveal) -> Refused:
    found = await refusal(apply(served, position, move, *reveals))
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    return found


NEEDED = {
    "reserve card": (RESERVE, "R-F", Slot(player=1, place="R")),
    "reserve card of player 2": (
        partial(b="12-9h.?.", a="12-9s.?.", f="8h", mover=2),
        "R-F",
        Slot(player=2, place="R"),
    ),
    "reserve card after a load": (partial(b="12-Th.?."), "R-OR", Slot(player=1, place="R")),
    "stock card": (STOCK, "TURN", Slot(player=1, place="D")),
    "stock card of player 2": (partial(mover=2), "TURN", Slot(player=2, place="D")),
}


@pytest.mark.parametrize("name", NEEDED)
async def test_nothing_is_played_before_the_card_is_known(served: Served, name: str) -> None:
    position, move, slot = NEEDED[name]
    assert await apply(served, position, move) == ApplyMoveResponse(needed=[slot])


@pytest.mark.parametrize("card", ["5s", "5s1"])
async def test_a_reserve_card_is_turned_up_as_revealed(served: Served, card: str) -> None:
    answer = await apply(served, RESERVE, "R-F", reveal(card, "R"))
    assert list(answer.events) == [
        Event(moved=Moved(player=1, card="9h", origin="R", destination="F")),
        Event(turned_up=TurnedUp(player=1, place="R", card="5s1")),
    ]
    assert answer.position.bank.players[0].reserve == pile("11-5s1")
    assert not answer.needed


@pytest.mark.parametrize("card", ["5s", "5s2"])
async def test_a_stock_card_is_turned_as_revealed(served: Served, card: str) -> None:
    answer = await apply(served, partial(mover=2), "TURN", reveal(card, "D", 2))
    assert list(answer.events) == [Event(turned_up=TurnedUp(player=2, place="D", card="5s2"))]
    assert answer.position.bank.players[1].stock == Pile(hidden=34)
    assert answer.position.bank.drawn == "5s2"


KNOWN = {
    "no card comes to light": (partial(h="Kc.Qd.Kh.Ks.Jc.Jd.Jh.Js"), "T2-T1", reveal("5s", "R")),
    "the last reserve card": (partial("9h.?.", f="8h"), "R-F", reveal("5s", "R")),
    "a card below a loaded one": (partial("12-9h2Th1.?.", h="Js.Kd.Kh.Ks.Jc.Jd.Jh.Kc"), "R-T1", reveal("5s", "R")),
    "the reserve card is given": (full(RESERVE), "R-F", reveal("5s", "R")),
    "the stock card is given": (full(STOCK), "TURN", reveal("5s", "D")),
    "the stock was turned over": (partial("9h.3c.6c"), "TURN", reveal("3c", "D")),
    "the waste is turned over": (partial("9h..3c"), "TURN", reveal("3c", "D")),
}


@pytest.mark.parametrize("name", KNOWN)
async def test_a_card_that_the_position_gives_is_not_revealed(served: Served, name: str) -> None:
    position, move, given = KNOWN[name]
    position.rule_set.preset = "bank-crapette"
    found = await refused(served, position, move, given)
    assert list(found.fields) == ["reveals[0].slot"]
    assert "expected no card, for this move brings none to light" in found.message


CARDS = {
    "never seen": (RESERVE, "R-F", "5s", None),
    "seen once, its deck not known": (RESERVE, "R-F", "9s", None),
    "seen twice": (partial(f="8h 8h"), "R-F", "4h", "the 4h of the deck of player 1 lies elsewhere"),
    "seen, from the own deck": (
        partial(h="Kc1.Kd.Kh.Ks.Jc.Jd.Jh.Js"),
        "TURN",
        "Kc",
        "the Kc of the deck of player 1 lies elsewhere",
    ),
    "seen, from the other deck": (partial(h="Kc2.Kd.Kh.Ks.Jc.Jd.Jh.Js"), "TURN", "Kc", None),
    "seen just now": (RESERVE, "R-F", "9h", None),
    "said to be from the other deck": (RESERVE, "R-F", "5s2", "the hidden cards of player 1 are from the own deck"),
}


@pytest.mark.parametrize("name", CARDS)
async def test_a_revealed_card_is_one_that_can_lie_there(served: Served, name: str) -> None:
    position, move, card, why_not = CARDS[name]
    place = "D" if move == "TURN" else "R"
    if why_not is None:
        answer = await apply(served, position, move, reveal(card, place))
        assert answer.events[-1].turned_up.card == f"{card}1"
    else:
        found = await refused(served, position, move, reveal(card, place))
        assert found.fields == {"reveals[0].card": f"expected a card that can lie there; found {card}: {why_not}"}


@pytest.mark.parametrize("mover", [1, 2])
async def test_how_many_cards_are_hidden_says_whose_deck_a_seen_one_is_from(served: Served, mover: int) -> None:
    """Of player 1's deck five cards lie open with the jack of spades, and 47 are hidden."""
    position = partial("12-9h1.?.", "12-9s2.?.", h="Kc1.Kd1.Kh1.Js.Jc2.Jd2.Jh2.Ks2", mover=mover)
    given = reveal("Js", "D", mover)
    if mover == 1:
        found = await refused(served, position, "TURN", given)
        assert "Js: the hidden cards of player 1 are all known to be others" in found.message
    else:
        assert (await apply(served, position, "TURN", given)).position.bank.drawn == "Js2"


@pytest.mark.parametrize("card", ["", "5", "5x", "10s", "xx", "5s3", "5s11", "5s" * 5_000])
async def test_a_revealed_card_is_the_name_of_one(served: Served, card: str) -> None:
    found = await refused(served, RESERVE, "R-F", reveal(card, "R"))
    assert list(found.fields) == ["reveals[0].card"]
    assert "for example 7h, or 7h1 where the deck (1 or 2) is known" in found.message
    assert len(found.message) < 250


OTHER_SLOTS = {
    "another player": reveal("5s", "R", player=2),
    "no player": reveal("5s", "R", player=0),
    "another place": reveal("5s", "D"),
    "a place of another family": reveal("5s", "P"),
    "a very long place": reveal("5s", "R" * 5_000),
    "another index": reveal("5s", "R", index=1),
    "no slot": Reveal(card="5s"),
}


@pytest.mark.parametrize("name", OTHER_SLOTS)
async def test_a_slot_that_does_not_come_to_light_is_refused(served: Served, name: str) -> None:
    found = await refused(served, RESERVE, "R-F", reveal("5s", "R"), OTHER_SLOTS[name])
    assert list(found.fields) == ["reveals[1].slot"]
    assert "expected one of R 0 of player 1, which the position does not give; found" in found.message
    assert len(found.message) < 200


async def test_an_illegal_move_is_refused_before_its_reveals_are_looked_at(served: Served) -> None:
    found = await refusal(apply(served, STOCK, "R-F", reveal("5x", "D")))
    assert found.reason == "ILLEGAL_MOVE"
