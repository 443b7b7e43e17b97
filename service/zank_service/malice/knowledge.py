"""What the player to move knows of a table of Spite & Malice, and the table as the kernel takes it."""

from collections import Counter

from zank.v1 import Pile, Position
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.table import Table
from zank_service.malice.piles import piles, rank, ranks, size


def masked(position: Position) -> Position:
    """What the player to move can know: no faces of hidden cards, nothing of the other hand, no shuffles.

    The table need not have been checked.
    """
    known = Position()
    known.CopyFrom(position)
    known.ClearField("shuffle")
    for player in known.malice.players[2 - known.player_to_move :][:1]:
        player.hand.CopyFrom(Pile(hidden=size(player.hand)))
    for _, pile in piles(known.malice, ""):
        pile.ClearField("concealed")
    return known


def table(position: Position, rules: Rules) -> Table:
    """The table in ranks; cards whose face is not given are 0, so a masked position becomes a masked table."""
    wire = position.malice
    first, second = wire.players
    mover = position.player_to_move - 1
    recycled = None
    if wire.HasField("recycled"):
        # One's own hand is seen: of the recycled cards, those in it are not in the stock or the other hand.
        unseen = Counter(wire.recycled.cards) - Counter(wire.players[mover].hand.cards)
        recycled = tuple(sorted(map(rank, unseen.elements())))
    return Table(
        rules=rules,
        mover=mover,
        payoff=(ranks(first.payoff), ranks(second.payoff)),
        hand=(ranks(first.hand), ranks(second.hand)),
        sides=(tuple(map(ranks, first.sides)), tuple(map(ranks, second.sides))),
        centers=tuple(map(ranks, wire.centers)),
        stock=ranks(wire.stock),
        recycled=recycled,
    )
