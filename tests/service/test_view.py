"""What a referee leaves of a position for one player."""

import grpc
import pytest

from tests.service.tables import full, partial, piles
from tests.service.wire import Served, refusal
from zank.v1 import ENDING_OUT, GameResult, Pile, Position, Recycled, Shuffle, ViewRequest


async def view(served: Served, position: Position, player: int) -> Position:
    return (await served.referee.View(ViewRequest(position=position, player=player))).position


def dealt() -> Position:
    """A full position with both hands known, some recycled cards and a shuffle."""
    position = full(partial("19-9h.2c3c4c5c6c.7d...", "19-9s.2d3d4d5d6d.8c8d...", c="Ac.."))
    position.malice.recycled.CopyFrom(Recycled(cards=["2c", position.malice.stock.concealed[3]]))
    position.shuffle.CopyFrom(Shuffle(seed=7, count=2))
    position.turns = 12
    return position


@pytest.mark.parametrize("player", [1, 2])
@pytest.mark.parametrize("mover", [1, 2])
async def test_a_player_sees_the_own_hand_and_what_lies_open(served: Served, player: int, mover: int) -> None:
    position = dealt()
    position.player_to_move = mover
    expected = Position()
    expected.CopyFrom(position)
    expected.ClearField("shuffle")
    expected.malice.players[2 - player].hand.CopyFrom(Pile(hidden=5))
    for pile in piles(expected.malice):
        pile.ClearField("concealed")
    assert expected.malice.stock == Pile(hidden=position.malice.stock.hidden)
    assert await view(served, position, player) == expected


@pytest.mark.parametrize("player", [1, 2])
async def test_masking_twice_changes_nothing(served: Served, player: int) -> None:
    once = await view(served, dealt(), player)
    assert await view(served, once, player) == once


async def test_what_is_hidden_stays_hidden(served: Served) -> None:
    once = await view(served, dealt(), 1)
    twice = await view(served, once, 2)
    assert [player.hand for player in twice.malice.players] == [Pile(hidden=5), Pile(hidden=5)]
    assert await view(served, twice, 1) == twice


async def test_of_a_hand_that_is_known_in_part_its_owner_keeps_the_known_part(served: Served) -> None:
    position = partial("19-9h.2c3c-4c....", "19-9s.2-4d....")
    assert (await view(served, position, 1)).malice.players[0].hand == Pile(hidden=2, cards=["4c"])
    assert (await view(served, position, 1)).malice.players[1].hand == Pile(hidden=3)
    assert (await view(served, position, 2)).malice.players[0].hand == Pile(hidden=3)
    assert (await view(served, position, 2)).malice.players[1].hand == Pile(hidden=2, cards=["4d"])


async def test_a_finished_game_is_masked_too(served: Served) -> None:
    position = full(partial(".2c....", "19-9s.2d3d4d5d6d...."))
    position.result.CopyFrom(GameResult(ending=ENDING_OUT, winner=1, points=20))
    seen = await view(served, position, 2)
    assert seen.result == position.result
    assert [player.hand for player in seen.malice.players] == [Pile(hidden=1), position.malice.players[1].hand]
    assert not any(pile.concealed for pile in piles(seen.malice))


@pytest.mark.parametrize("player", [0, 3])
async def test_there_are_two_players(served: Served, player: int) -> None:
    refused = await refusal(view(served, dealt(), player))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert refused.fields == {"player": f"expected 1 or 2, found {player}"}


async def test_a_position_that_cannot_be_is_not_masked(served: Served) -> None:
    position = partial(c="Ac3d..")
    refused = await refusal(view(served, position, 1))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_POSITION")
    assert list(refused.fields) == ["position.malice.centers[0].cards[1]"]
    refused = await refusal(served.referee.View(ViewRequest(player=1)))
    assert refused.fields == {"position": "expected a position, found none"}
