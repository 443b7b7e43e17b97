"""Moves on partial positions: which cards a referee must be told, and what it makes of them."""

from collections import Counter

import grpc
import pytest

from tests.oracle.shuffle import DECK
from tests.service.tables import cards, full, partial
from tests.service.wire import Refused, Served, refusal
from zank.v1 import (
    ApplyMoveRequest,
    ApplyMoveResponse,
    Drawn,
    Event,
    Moved,
    Pile,
    Position,
    Reveal,
    Slot,
    TurnedUp,
    TurnPassed,
)

TO_THE_JACK = "AsKh3s4s5s6s7s8s9cTcJc"


def slots(place: str, player: int, count: int = 1) -> list[Slot]:
    return [Slot(player=player, place=place, index=index) for index in range(count)]


def reveal(card: str, place: str = "H", index: int = 0, player: int = 1) -> Reveal:
    return Reveal(slot=Slot(player=player, place=place, index=index), card=card)


def names(text: str) -> list[str]:
    return [text[start : start + 2] for start in range(0, len(text), 2)]


def drawn(text: str, player: int) -> list[Reveal]:
    """The cards drawn to a hand, in order."""
    return [reveal(card, "H", index, player) for index, card in enumerate(names(text))]


async def apply(served: Served, position: Position, move: str, *reveals: Reveal) -> ApplyMoveResponse:
    return await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move, reveals=reveals))


async def refused(served: Served, position: Position, move: str, *reveals: Reveal) -> Refused:
    found = await refusal(apply(served, position, move, *reveals))
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    return found


def moved(card: str, origin: str, destination: str, player: int = 1) -> Event:
    return Event(moved=Moved(player=player, card=card, origin=origin, destination=destination))


def with_stock(count: int, position: Position, kept: str = "") -> Position:
    """The same with so many cards in the stock; those that leave it, none of `kept`, lie in a side stack."""
    table = position.malice
    left = Counter(DECK) - Counter(cards(table)) - Counter(names(kept))
    table.players[1].sides[3].cards.extend(list(left.elements())[: table.stock.hidden - count])
    table.stock.hidden = count
    return position


NEEDED = {
    "payoff card": (partial("19-3h.7c8c....", c="Ac2d.."), "P-C1", slots("P", 1)),
    "payoff card of player 2": (
        partial(b="19-3h.7c8c....", a="19-9s.5-....", c="Ac2d..", mover=2),
        "P-C1",
        slots("P", 2),
    ),
    "payoff card beside a hidden hand": (partial("19-3h.5-....", c="Ac2d.."), "P-C1", slots("P", 1)),
    "payoff card that completes a stack": (partial("19-Qh.7c....", c=f"{TO_THE_JACK}.."), "P-C1", slots("P", 1)),
    "draw after the last card in hand": (partial("19-9h.3c....", c="Ac2d.."), "3-C1", slots("H", 1, 5)),
    "draw after a recycled stack": (partial("19-9h.Qc....", c=f"{TO_THE_JACK}.."), "Q-C1", slots("H", 1, 5)),
    "draw of a hand known to its owner": (
        partial("19-9h.5-....", "19-9s.2h3h4h...."),
        "7c-S1",
        slots("H", 2, 2),
    ),
    "draw to an empty hand, not the hidden one": (partial("19-9h.5-....", "19-9s....."), "7c-S1", slots("H", 2, 5)),
    "draw of the cards there are": (with_stock(3, partial("19-9h.3c....", c="Ac2d..")), "3-C1", slots("H", 1, 3)),
    "draw with both hands known": (partial("19-9h.7c....", "19-9s.2h3h4h...."), "7-S1", slots("H", 2, 2)),
}


@pytest.mark.parametrize("name", NEEDED)
async def test_nothing_is_played_before_all_cards_are_known(served: Served, name: str) -> None:
    position, move, needed = NEEDED[name]
    assert await apply(served, position, move) == ApplyMoveResponse(needed=needed)
    given = [Reveal(slot=slot, card="Js") for slot in needed[1:2]]
    assert await apply(served, position, move, *given) == ApplyMoveResponse(needed=needed)


async def test_a_payoff_card_is_turned_up_as_revealed(served: Served) -> None:
    before = partial("19-3h.7c8c....", c="Ac2d..", recycled="7c")
    answer = await apply(served, before, "P-C1", reveal("Kd", "P"))
    assert list(answer.events) == [
        moved("3h", "P", "C1"),
        Event(turned_up=TurnedUp(player=1, place="P", card="Kd")),
    ]
    assert answer.position == partial("18-Kd.7c8c....", c="Ac2d3h..", recycled="7c")
    assert not answer.needed


async def test_cards_are_drawn_as_revealed_in_any_order(served: Served) -> None:
    reveals = drawn("KhAs2s2sTd", 1)
    answer = await apply(served, partial("19-9h.3c....", c="Ac2d.."), "3-C1", *reversed(reveals))
    assert list(answer.events) == [
        moved("3c", "H", "C1"),
        Event(drawn=Drawn(player=1, cards=["Kh", "As", "2s", "2s", "Td"], count=5)),
    ]
    assert answer.position == partial("19-9h.KhAs2s2sTd....", c="Ac2d3c..")


async def test_a_card_can_be_drawn_again_as_soon_as_it_was_recycled(served: Served) -> None:
    before = partial("19-9h.Qc.Qc...", c=f"{TO_THE_JACK}..", recycled="2h")
    answer = await apply(served, before, "Q-C1", *drawn("QcAs2h3c4c", 1))
    assert [event.WhichOneof("kind") for event in answer.events] == ["moved", "center_recycled", "drawn"]
    assert answer.position == partial("19-9h.QcAs2h3c4c.Qc...", recycled="As2h3s4s5s6s7s8s9cTcJcQcKh")


async def test_the_turn_passes_to_a_hand_known_to_its_owner(served: Served) -> None:
    before = partial("19-9h.5-....", "19-9s.2h3h4h....", recycled="8dAs")
    answer = await apply(served, before, "8d-S1", *drawn("AsKc", 2))
    assert list(answer.events) == [
        moved("8d", "H", "S1"),
        Event(turn_passed=TurnPassed(player=2)),
        Event(drawn=Drawn(player=2, cards=["As", "Kc"], count=2)),
    ]
    after = partial("19-9h.4-.8d...", "19-9s.2h3h4hAsKc....", mover=2, recycled="As")
    after.turns = 1
    assert answer.position == after


@pytest.mark.parametrize("hand", ["3-", ""])
async def test_cards_drawn_to_a_hidden_hand_are_counted(served: Served, hand: str) -> None:
    answer = await apply(served, partial("19-9h.7c8c....", f"19-9s.{hand}...."), "7-S1")
    assert list(answer.events) == [
        moved("7c", "H", "S1"),
        Event(turn_passed=TurnPassed(player=2)),
        Event(drawn=Drawn(player=2, count=2 if hand else 5)),
    ]
    after = partial("19-9h.8c.7c...", "19-9s.5-....", mover=2)
    after.turns = 1
    assert answer.position == after


async def test_a_hidden_hand_is_drawn_anew_unseen(served: Served) -> None:
    answer = await apply(served, partial("19-9h.1-....", c="Ac2d.."), "3c-C1")
    assert list(answer.events) == [moved("3c", "H", "C1"), Event(drawn=Drawn(player=1, count=5))]
    assert answer.position == partial("19-9h.5-....", c="Ac2d3c..")


async def test_cards_of_a_known_stock_are_lost_from_sight_in_a_hidden_hand(served: Served) -> None:
    before = partial("19-9h.7c8c....", "19-9s.3-....")
    stock = [*(full(partial("19-9h.7c8c....", "19-9s.3-....")).malice.stock.concealed)]
    before.malice.stock.concealed.extend(stock)
    answer = await apply(served, before, "7-S1")
    assert answer.events[2] == Event(drawn=Drawn(player=2, count=2))
    assert answer.position.malice.players[1].hand == Pile(hidden=5)
    assert list(answer.position.malice.stock.concealed) == stock[:-2]


async def test_a_stock_runs_out_into_a_hidden_hand(served: Served) -> None:
    answer = await apply(
        served, with_stock(2, partial("19-9h.7c8c....", "18-9s.3-....", rules="malice-classic")), "7-S1"
    )
    assert answer.events[2] == Event(drawn=Drawn(player=2, count=2))
    assert answer.events[3].game_over == answer.position.result
    assert (answer.position.result.winner, answer.position.result.points) == (2, 1)
    assert answer.position.malice.stock == Pile()


HIDDEN_HAND = {
    "discarded": ("4-", "7h-S2", "3-", "7h"),
    "played": ("4-", "3h-C1", "3-", "3h"),
    "an ace, for which hidden cards stand in": ("4-", "Ah-C3", "3-", "Ah"),
    "the known part": ("4-Kc", "Kc-C1", "4-", "Kc"),
    "the hidden part": ("4-Kc", "Ks-C1", "3-Kc", "Ks"),
    "an ace of the known part": ("3-AhAs", "As-C3", "3-Ah", "As"),
    "not the recycled card": ("4-", "8h-S2", "3-", "8h"),
}


@pytest.mark.parametrize("name", HIDDEN_HAND)
async def test_a_named_card_leaves_a_hidden_hand(served: Served, name: str) -> None:
    hand, move, left, card = HIDDEN_HAND[name]
    before = partial(f"19-9h.{hand}....", c="Ac2d..", recycled="3h7h7hAhKc")
    answer = await apply(served, before, move)
    destination = move.partition("-")[2]
    assert answer.events[0] == moved(card, "H", destination)
    player = answer.position.malice.players[0]
    assert player.hand == partial(f"19-9h.{left}....").malice.players[0].hand
    target = player.sides[1] if destination == "S2" else answer.position.malice.centers[int(destination[1]) - 1]
    assert target.cards[-1] == card
    recycled = Counter(before.malice.recycled.cards) - Counter([card])
    assert Counter(answer.position.malice.recycled.cards) == recycled


@pytest.mark.parametrize(("move", "card"), [("P-C1", "3h"), ("S1-C1", "3d")])
async def test_what_lies_open_is_played_beside_a_hidden_hand(served: Served, move: str, card: str) -> None:
    before = partial("19-3h.4-.3d...", c="Ac2d..")
    answer = await apply(served, before, move, *([reveal("Kd", "P")] if move == "P-C1" else []))
    assert answer.events[0].moved.card == card
    assert answer.position.malice.players[0].hand == Pile(hidden=4)


async def test_a_hidden_hand_whose_faces_are_given_is_a_known_one(served: Served) -> None:
    answer = await apply(served, partial("19-9h.2c3c-4c....", c="Ac2d.."), "3-C1")
    assert answer.position.malice.players[0].hand == Pile(cards=["2c", "4c"])


NOT_IN_HAND = {
    "played": ("3h-C1", "M5", "3h is not in hand: both copies of 3h lie elsewhere"),
    "discarded": ("3h-S1", "M6", "3h is not in hand: both copies of 3h lie elsewhere"),
}


@pytest.mark.parametrize("name", NOT_IN_HAND)
async def test_a_hidden_hand_does_not_hold_a_third_copy(served: Served, name: str) -> None:
    move, rule, why = NOT_IN_HAND[name]
    found = await refusal(apply(served, partial("19-9h.4-.3h3h...", c="Ac2d.."), move))
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_MOVE")
    assert found.metadata["rule"] == rule
    assert found.message == f"{move} breaks {rule}: {why}"


def recycled_only() -> Position:
    """All that is hidden in the stock and in hands, four cards, was recycled."""
    a, b = "19-9h.2-....", "19-9s.TsJsQs...."
    return with_stock(2, partial(a, b, recycled="AdAs2d2s"), kept="AdAs2d2sAh")


async def test_where_all_hidden_cards_were_recycled_no_other_comes_to_light(served: Served) -> None:
    found = await refusal(apply(served, recycled_only(), "Ah-S1"))
    assert found.metadata["rule"] == "M6"
    assert "all cards hidden in the stock and in hands were recycled, this one was not" in found.message
    found = await refused(served, recycled_only(), "Ad-S1", *drawn("AsAh", 2))
    assert list(found.fields) == ["reveals[1].card"]
    assert "were recycled" in found.message
    answer = await apply(served, recycled_only(), "Ad-S1", *drawn("As2s", 2))
    assert list(answer.position.malice.players[1].hand.cards) == ["Ts", "Js", "Qs", "As", "2s"]
    assert sorted(answer.position.malice.recycled.cards) == ["2d", "2s", "As"]


PAYOFF = {
    "not seen": ("7c8c....", None, None),
    "seen once": ("7c8c.9d...", None, None),
    "seen twice": ("7c8c.9d.9d..", None, "both copies of 9d lie elsewhere"),
    "seen and in hand": ("9d8c.9d...", None, "both copies of 9d lie elsewhere"),
    "recycled once": ("7c8c....", "9d", None),
    "recycled twice": ("7c8c....", "9d9d", "every copy of 9d that is not seen elsewhere was recycled"),
    "seen and recycled": ("7c8c.9d...", "9d", "every copy of 9d that is not seen elsewhere was recycled"),
    "recycled and back in hand": ("9d8c....", "9d", None),
    "recycled twice and once back in hand": (
        "9d8c....",
        "9d9d",
        "every copy of 9d that is not seen elsewhere was recycled",
    ),
    "others recycled": ("7c8c.9d...", "9c9s", None),
}


@pytest.mark.parametrize("name", PAYOFF)
async def test_a_payoff_card_is_one_that_can_lie_there(served: Served, name: str) -> None:
    player, recycled, why_not = PAYOFF[name]
    before = partial(f"19-3h.{player}", c="Ac2d..", recycled=recycled)
    if why_not is None:
        answer = await apply(served, before, "P-C1", reveal("9d", "P"))
        assert answer.position.malice.players[0].payoff == Pile(hidden=18, cards=["9d"])
    else:
        found = await refused(served, before, "P-C1", reveal("9d", "P"))
        assert found.fields == {"reveals[0].card": f"expected a card that can lie there; found 9d: {why_not}"}


async def test_a_payoff_card_does_not_come_from_the_stack_that_it_completes(served: Served) -> None:
    before = partial("19-Qh.As7c....", c=f"{TO_THE_JACK}..", recycled="")
    found = await refused(served, before, "P-C1", reveal("As", "P"))
    assert "both copies of As lie elsewhere" in found.fields["reveals[0].card"]


async def test_cards_drawn_are_no_third_copies(served: Served) -> None:
    found = await refused(served, partial("19-9h.3c....", c="Ac2d.."), "3-C1", *drawn("3c7h7h7h3c", 1))
    assert set(found.fields) == {"reveals[3].card", "reveals[4].card"}
    assert "both copies of 7h lie elsewhere" in found.fields["reveals[3].card"]


@pytest.mark.parametrize("card", ["", "7", "7x", "10h", "xx", "7h" * 5_000])
async def test_a_revealed_card_is_the_name_of_one(served: Served, card: str) -> None:
    found = await refused(served, partial("19-3h.7c8c....", c="Ac2d.."), "P-C1", reveal(card, "P"))
    assert list(found.fields) == ["reveals[0].card"]
    assert "expected a rank (A23456789TJQK) and a suit (cdhs)" in found.message
    assert len(found.message) < 200


OTHER_SLOTS = {
    "another player": reveal("7h", "P", player=2),
    "no player": reveal("7h", "P", player=0),
    "another place": reveal("7h", "H"),
    "no such place": reveal("7h", "S1"),
    "a very long place": reveal("7h", "P" * 5_000),
    "no place": reveal("7h", ""),
    "another index": reveal("7h", "P", 1),
    "no slot": Reveal(card="7h"),
}


@pytest.mark.parametrize("name", OTHER_SLOTS)
async def test_a_slot_that_does_not_come_to_light_is_refused(served: Served, name: str) -> None:
    position = partial("19-3h.7c8c....", c="Ac2d..")
    found = await refused(served, position, "P-C1", reveal("Kd", "P"), OTHER_SLOTS[name])
    assert list(found.fields) == ["reveals[1].slot"]
    assert "expected one of P 0 of player 1, which the position does not give; found" in found.message
    assert len(found.message) < 200


NOTHING_UNKNOWN = {
    "no card comes to light": (partial("19-9h.7c8c...."), "7-S1", reveal("7h", "P")),
    "the hand drawn to is hidden": (partial("19-9h.7c8c....", "19-9s.3-...."), "7-S1", reveal("7h", "H", 0, 2)),
    "the last payoff card": (partial("3h.7c8c....", c="Ac2d.."), "P-C1", reveal("7h", "P")),
    "the payoff card is given": (full(partial("19-3h.7c8c....", c="Ac2d..")), "P-C1", reveal("7h", "P")),
    "the stock is given": (full(partial("19-9h.7c8c....", "19-9s.3-....")), "7-S1", reveal("7h", "H", 0, 2)),
}


@pytest.mark.parametrize("name", NOTHING_UNKNOWN)
async def test_a_card_that_the_position_gives_or_hides_is_not_revealed(served: Served, name: str) -> None:
    position, move, given = NOTHING_UNKNOWN[name]
    found = await refused(served, position, move, given)
    assert list(found.fields) == ["reveals[0].slot"]
    assert "expected no card, for this move brings none to light" in found.message


async def test_a_draw_that_cannot_be_completed_takes_no_more_cards_than_there_are(served: Served) -> None:
    before = with_stock(1, partial("19-9h.3c....", c="Ac2d..", rules="malice-classic"), kept="7h8h")
    found = await refused(served, before, "3-C1", *drawn("7h8h", 1))
    assert list(found.fields) == ["reveals[1].slot"]
    answer = await apply(served, before, "3-C1", *drawn("7h", 1))
    assert [event.WhichOneof("kind") for event in answer.events] == ["moved", "drawn", "game_over"]


async def test_every_slot_is_revealed_once(served: Served) -> None:
    position = partial("19-3h.7c8c....", c="Ac2d..")
    found = await refused(served, position, "P-C1", reveal("Kd", "P"), reveal("Kd", "P"))
    assert found.fields == {"reveals[1].slot": "expected every slot once; reveals[0] has this one, too"}


async def test_every_faulty_reveal_is_named_at_once(served: Served) -> None:
    reveals = [reveal("7x", "H", 1), reveal("8h", "H", 9), reveal("9h", "H", 0), reveal("2d", "H", 2)]
    position = partial("19-9h.3c.9h...", c="Ac2d..")
    found = await refused(served, position, "3-C1", *reveals)
    assert list(found.fields) == ["reveals[0].card", "reveals[1].slot", "reveals[2].card"]


async def test_an_illegal_move_is_refused_before_its_reveals_are_looked_at(served: Served) -> None:
    found = await refusal(apply(served, partial("19-9h.7c8c....", c="Ac2d.."), "P-C1", reveal("7x", "H")))
    assert found.reason == "ILLEGAL_MOVE"
