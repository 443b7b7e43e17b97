"""What a referee leaves of a position of Russian Bank for a player: as much as for the other one."""

import pytest

from tests.service.bank_tables import full, partial, piles
from tests.service.wire import Served
from zank.v1 import Position, Shuffle, ViewRequest


async def view(served: Served, position: Position, player: int) -> Position:
    return (await served.referee.View(ViewRequest(position=position, player=player))).position


def dealt() -> Position:
    """A full position with a shuffle and something of everything that both players know."""
    position = full(partial("12-9h1Td2.?.", "12-9s.3c4d.5d6c", h="KcQd.Kd.Kh.Ks.Jc.Jd.Jh.Js", f="2s", drawn="8c1"))
    position.shuffle.CopyFrom(Shuffle(seed=7, count=3))
    position.turns = 12
    position.bank.players[0].quiet_turns = 3
    position.bank.tableau_moves.extend(["T5-T1", "T1-T5"])
    return position


@pytest.mark.parametrize("player", [1, 2])
@pytest.mark.parametrize("mover", [1, 2])
async def test_both_players_see_all_but_what_is_hidden(served: Served, player: int, mover: int) -> None:
    position = dealt()
    position.player_to_move = mover
    expected = Position()
    expected.CopyFrom(position)
    expected.ClearField("shuffle")
    for each in piles(expected.bank):
        each.ClearField("concealed")
    assert await view(served, position, player) == expected
    assert await view(served, expected, player) == expected
