"""Positions for tests, written as the sections of the text form; the stock holds whatever is missing."""

import random
from collections import Counter

from tests.oracle.shuffle import DECK
from zank.text import parse_position
from zank.v1 import MaliceTable, Pile, Position

HIDDEN = "19-9s.5-...."  # twenty payoff cards with a nine on top, five cards in hand, empty side stacks


def partial(
    a: str = "19-9h.2c3c4c5c6c....",
    b: str = HIDDEN,
    *,
    c: str = "..",
    rules: str = "malice-match",
    mover: int = 1,
    recycled: str | None = None,
) -> Position:
    """A position as one player knows it: `a` and `b` are the players' sections, `c` the center stacks."""
    recycled_section = "" if recycled is None else f"~r.{recycled}"
    position = parse_position(f"{rules}~{mover}~a.{a}~b.{b}~c.{c}~k.104-{recycled_section}")
    position.malice.stock.hidden = 2 * 104 - sum(len(pile.cards) + pile.hidden for pile in piles(position.malice))
    return position


def full(position: Position) -> Position:
    """The same position with a face for every hidden card, in no order to speak of."""
    left = Counter(DECK) - Counter(cards(position.malice))
    faces = random.Random(0).sample(list(left.elements()), left.total())
    for pile in piles(position.malice):
        pile.concealed.extend(faces[: pile.hidden])
        del faces[: pile.hidden]
    assert not faces
    return position


def piles(table: MaliceTable) -> list[Pile]:
    """Every pile of a table."""
    zones = [[player.payoff, player.hand, *player.sides] for player in table.players]
    return [*zones[0], *zones[1], *table.centers, table.stock]


def cards(table: MaliceTable) -> list[str]:
    """Every card whose face is given."""
    return [card for pile in piles(table) for card in (*pile.concealed, *pile.cards)]
