"""What a referee says of single positions, full and partial: the list of moves, and what becomes of one."""

import grpc
import pytest

from tests.oracle.shuffle import recycle
from tests.service.tables import cards, full, partial
from tests.service.wire import Served, refusal
from zank.text import format_position, parse_position
from zank.v1 import (
    ENDING_OUT,
    ENDING_STOCK_OUT,
    ApplyMoveRequest,
    ApplyMoveResponse,
    CenterRecycled,
    Drawn,
    Event,
    GameResult,
    LegalMove,
    ListLegalMovesRequest,
    Moved,
    Pile,
    Position,
    Shuffle,
    TurnedUp,
    TurnPassed,
)

TO_THE_JACK = "AsKh3s4s5s6s7s8s9cTcJc"


async def legal(served: Served, position: Position) -> list[LegalMove]:
    return list((await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves)


async def apply(served: Served, position: Position, move: str) -> ApplyMoveResponse:
    return await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))


def moved(card: str, origin: str, destination: str, player: int = 1) -> Event:
    return Event(moved=Moved(player=player, card=card, origin=origin, destination=destination))


async def test_moves_are_listed_by_source_then_by_destination(served: Served) -> None:
    position = partial("19-3h.KcKsQd4c.3d.3d.Kd.", c=f"Ac2d.{TO_THE_JACK}.")
    moves = await legal(served, position)
    assert [move.move for move in moves] == [
        *("P-C1", "S1-C1", "S2-C1", "S3-C1", "S3-C2", "S3-C3"),
        *("K-C1", "K-C2", "K-C3", "Q-C2"),
        *(f"{card}-S{side}" for card in "KQ4" for side in (1, 2, 3, 4)),
    ]
    assert {move.move: move.equivalent_to for move in moves if move.equivalent_to} == {
        "S2-C1": "S1-C1",
        "K-S2": "K-S1",
        "Q-S2": "Q-S1",
        "4-S2": "4-S1",
    }
    assert not any(move.forced for move in moves)


async def test_center_stacks_of_identical_content_are_equivalent(served: Served) -> None:
    moves = await legal(served, partial("19-Ah.2c....", c="Ac.Ad.Kd"))
    assert {move.move: move.equivalent_to for move in moves if "-C" in move.move} == {
        "2-C1": "",
        "2-C2": "2-C1",
        "2-C3": "",  # of equal height, but a king will go back to the stock
    }


async def test_the_only_move_up_to_equivalents_is_forced(served: Served) -> None:
    moves = await legal(served, partial("19-9h.7c...."))
    assert [(move.move, move.forced) for move in moves] == [(f"7-S{side}", True) for side in (1, 2, 3, 4)]


async def test_a_move_that_shows_nothing_new_is_played_on_a_partial_position(served: Served) -> None:
    before = partial("19-9h.KcKs7c...2h3d.", c="Ac2d..", recycled="3d7c")
    answer = await apply(served, before, "S3-C1")
    assert list(answer.events) == [moved("3d", "S3", "C1")]
    assert answer.position == partial("19-9h.KcKs7c...2h.", c="Ac2d3d..", recycled="3d7c")


@pytest.mark.parametrize(("move", "left"), [("K-C1", "KsKcTc"), ("Ks-C1", "KcKcTc"), ("Kc-C1", "KsKcTc")])
async def test_of_equal_ranks_the_first_leaves_unless_one_is_named(served: Served, move: str, left: str) -> None:
    answer = await apply(served, partial("19-9h.KcKsKcTc...."), move)
    assert "".join(answer.position.malice.players[0].hand.cards) == left


async def test_a_recycled_card_that_leaves_a_hand_is_taken_off(served: Served) -> None:
    before = partial("19-9h.7c7d8c....", recycled="7c7c7d8h")
    assert list((await apply(served, before, "7-S1")).position.malice.recycled.cards) == ["7c", "7d", "8h"]
    assert list((await apply(served, before, "7d-S1")).position.malice.recycled.cards) == ["7c", "7c", "8h"]
    assert list((await apply(served, before, "8-S1")).position.malice.recycled.cards) == ["7c", "7c", "7d", "8h"]


async def test_a_discard_passes_the_turn(served: Served) -> None:
    answer = await apply(served, partial("19-9h.7c...."), "7-S2")
    assert list(answer.events) == [moved("7c", "H", "S2"), Event(turn_passed=TurnPassed(player=2))]
    assert answer.position == parse_position("malice-match~2~t.1~a.19-9h...7c..~b.19-9s.5-....~c...~k.58-")


async def test_the_hand_of_the_player_to_move_becomes_known_where_it_is_given(served: Served) -> None:
    answer = await apply(served, partial("19-9h.7c....", "19-9s.2c3c4c-5c6c...."), "7-S1")
    assert answer.position.malice.players[1].hand == Pile(cards=["2c", "3c", "4c", "5c", "6c"])


async def test_a_payoff_card_is_turned_up(served: Served) -> None:
    answer = await apply(served, partial("2c5d-3h.7c....", c="Ac2d.."), "P-C1")
    assert list(answer.events) == [
        moved("3h", "P", "C1"),
        Event(turned_up=TurnedUp(player=1, place="P", card="5d")),
    ]
    assert answer.position.malice.players[0].payoff == Pile(hidden=1, concealed=["2c"], cards=["5d"])


async def test_the_last_payoff_card_wins_before_its_stack_is_recycled(served: Served) -> None:
    answer = await apply(served, partial("Qh.7c....", "6-9s.5-....", c=f".{TO_THE_JACK}."), "P-C2")
    result = GameResult(ending=ENDING_OUT, winner=1, points=7)
    assert list(answer.events) == [moved("Qh", "P", "C2"), Event(game_over=result)]
    assert answer.position.result == result
    assert len(answer.position.malice.centers[1].cards) == 12
    assert not await legal(served, answer.position)


async def test_a_complete_stack_joins_a_stock_of_unknown_cards(served: Served) -> None:
    before = partial("19-9h.Qc7c....", c=f".{TO_THE_JACK}.", recycled="2h")
    answer = await apply(served, before, "Q-C2")
    gone = ["As", "Kh", "3s", "4s", "5s", "6s", "7s", "8s", "9c", "Tc", "Jc", "Qc"]
    assert list(answer.events) == [
        moved("Qc", "H", "C2"),
        Event(center_recycled=CenterRecycled(place="C2", cards=gone)),
    ]
    assert answer.position.malice.stock == Pile(hidden=before.malice.stock.hidden + 12)
    assert format_position(answer.position).endswith("~r.As2h3s4s5s6s7s8s9cTcJcQcKh")


async def test_what_was_recycled_is_not_recorded_where_it_was_not(served: Served) -> None:
    answer = await apply(served, partial("19-9h.Qc7c....", c=f".{TO_THE_JACK}."), "Q-C2")
    assert not answer.position.malice.HasField("recycled")


async def test_a_complete_stack_is_shuffled_by_the_next_number_of_the_seed(served: Served) -> None:
    before = full(partial("19-9h.QcQdQh2c....", c=f"{TO_THE_JACK}.."))
    before.shuffle.CopyFrom(Shuffle(seed=99, count=7))
    answer = await apply(served, before, "Qd-C1")
    center = [*before.malice.centers[0].cards, "Qd"]
    stock = answer.position.malice.stock
    assert list(stock.concealed) == recycle(before.malice.stock.concealed, center, 99, 7)
    assert stock.hidden == len(stock.concealed)
    assert answer.position.shuffle == Shuffle(seed=99, count=8)
    assert sorted(cards(answer.position.malice)) == sorted(cards(before.malice))


async def test_a_full_position_without_a_seed_cannot_shuffle(served: Served) -> None:
    before = full(partial("19-9h.QcQdQh2c....", c=f"{TO_THE_JACK}.."))
    refused = await refusal(apply(served, before, "Q-C1"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "SHUFFLE_UNKNOWN")
    assert (await apply(served, before, "2-S1")).position.turns == 1


async def test_a_stack_without_a_seed_becomes_a_stock_of_unknown_cards_where_there_was_none(served: Served) -> None:
    before = full(partial("19-9h.Qc7c....", c=f"{TO_THE_JACK}..", rules="malice-match~o.os"))
    before.malice.players[1].sides[0].cards.extend(before.malice.stock.concealed)
    before.malice.stock.CopyFrom(Pile())
    assert (await apply(served, before, "Q-C1")).position.malice.stock == Pile(hidden=12)


async def test_shuffles_of_a_stock_that_is_not_given_are_counted(served: Served) -> None:
    before = partial("19-9h.Qc7c....", c=f"{TO_THE_JACK}..")
    before.shuffle.CopyFrom(Shuffle(seed=1, count=3))
    answer = await apply(served, before, "Q-C1")
    assert answer.position.shuffle.count == 4
    assert not answer.position.malice.stock.concealed


async def test_cards_are_drawn_from_the_top_of_the_stock(served: Served) -> None:
    before = full(partial(b="19-9s.3-...."))
    answer = await apply(served, before, "5-S4")
    drawn = list(before.malice.stock.concealed)[:-3:-1]
    assert list(answer.events) == [
        moved("5c", "H", "S4"),
        Event(turn_passed=TurnPassed(player=2)),
        Event(drawn=Drawn(player=2, cards=drawn, count=2)),
    ]
    other = before.malice.players[1].hand
    assert answer.position.malice.players[1].hand == Pile(cards=[*other.concealed, *drawn])
    assert sorted(cards(answer.position.malice)) == sorted(cards(before.malice))


def nearly_dry(stock: list[str], rules: str = "malice-match") -> Position:
    """The stock is known, player 2 is two cards short, and everything else lies in a side stack."""
    position = partial("19-9h.2c3d....", "18-9s.TsJsQs....", rules=rules)
    deck = [rank + suit for suit in "cdhs" for rank in "45678TJQK"] * 2
    filled = deck[: position.malice.stock.hidden - len(stock)]
    position.malice.players[0].sides[0].cards.extend(filled)
    position.malice.stock.CopyFrom(Pile(hidden=len(stock), concealed=stock))
    return position


DRY = {
    "emptied": ("malice-match", ["Ac", "Ad"], 0, 0),
    "emptied, the shorter pile wins": ("malice-classic", ["Ac", "Ad"], 2, 1),
    "short of a card": ("malice-classic~o.os", ["Ac"], 2, 1),
    "nothing to draw": ("malice-match~o.os", [], 0, 0),
}


@pytest.mark.parametrize("name", DRY)
async def test_the_game_ends_when_the_stock_runs_out(served: Served, name: str) -> None:
    rules, stock, winner, points = DRY[name]
    answer = await apply(served, nearly_dry(stock, rules), "2-S2")
    result = GameResult(ending=ENDING_STOCK_OUT, winner=winner, points=points)
    drawn = [Event(drawn=Drawn(player=2, cards=stock[::-1], count=len(stock)))] if stock else []
    assert list(answer.events) == [
        moved("2c", "H", "S2"),
        Event(turn_passed=TurnPassed(player=2)),
        *drawn,
        Event(game_over=result),
    ]
    assert answer.position.result == result
    assert answer.position.player_to_move == 2
    assert not await legal(served, answer.position)


async def test_an_emptied_stock_goes_on_where_only_a_short_one_ends_the_game(served: Served) -> None:
    answer = await apply(served, nearly_dry(["Ac", "Ad"], "malice-match~o.os"), "2-S2")
    assert not answer.position.HasField("result")
    assert answer.position.malice.stock == Pile()
