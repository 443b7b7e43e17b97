"""The piles of a table of Spite & Malice and where they lie in a request."""

from collections.abc import Iterator

from zank.cards import parse_card
from zank.v1 import MaliceTable, Pile
from zank_service.piles import Placed, side_by_side


def piles(table: MaliceTable, path: str) -> Iterator[Placed]:
    """Every pile of a table at this path."""
    for index, player in enumerate(table.players):
        owner = f"{path}.players[{index}]"
        yield Placed(f"{owner}.payoff", player.payoff)
        yield Placed(f"{owner}.hand", player.hand)
        yield from side_by_side(player.sides, f"{owner}.sides")
    yield from side_by_side(table.centers, f"{path}.centers")
    yield Placed(f"{path}.stock", table.stock)


def rank(card: str) -> int:
    """Rank of a card, 1 (ace) to 13 (king)."""
    return parse_card(card).rank


def ranks(pile: Pile) -> tuple[int, ...]:
    """Ranks of a pile from the bottom to the top, 0 for cards whose face is not given."""
    below = tuple(map(rank, pile.concealed)) if pile.concealed else (0,) * pile.hidden
    return below + tuple(map(rank, pile.cards))
