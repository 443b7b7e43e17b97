"""The piles and cards of a table of Russian Bank, where they lie in a request, and the kernel's numbers for cards."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from zank.cards import RANKS, SUITS, Card, parse_card
from zank.v1 import BankTable, Pile
from zank_kernel.bank.table import FACE, ORIGIN, Cards
from zank_service.piles import Placed, side_by_side

FACES: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)  # of a deck


class Given(NamedTuple):
    """A card whose face is given, and its path in the request."""

    path: str
    card: str
    owner: int  # whose hidden card it is, 1 or 2; 0: it lies open

    @property
    def deck(self) -> int:
        """The deck that it comes from, 1 or 2; 0 where that is not known. A hidden card is from its owner's."""
        return read(self.card).deck or self.owner


def piles(table: BankTable, path: str) -> Iterator[Placed]:
    """Every pile of a table at this path."""
    for index, player in enumerate(table.players):
        owner = f"{path}.players[{index}]"
        yield Placed(f"{owner}.reserve", player.reserve)
        yield Placed(f"{owner}.stock", player.stock)
        yield Placed(f"{owner}.waste", player.waste)
    yield from side_by_side(table.foundations, f"{path}.foundations")
    yield from side_by_side(table.tableau, f"{path}.tableau")


def cards(table: BankTable, path: str) -> Iterator[Given]:
    """Every card whose face is given, of a table at this path."""
    for number, player in enumerate(table.players, start=1):
        for name, pile in (("reserve", player.reserve), ("stock", player.stock)):
            for index, card in enumerate(pile.concealed):
                yield Given(f"{path}.players[{number - 1}].{name}.concealed[{index}]", card, number)
    for place, pile in piles(table, path):
        for index, card in enumerate(pile.cards):
            yield Given(f"{place}.cards[{index}]", card, 0)
    if table.drawn:
        yield Given(f"{path}.drawn", table.drawn, 0)


def read(card: str) -> Card:
    """The card of that name, with its deck where that is known."""
    return parse_card(card, decks=True)


def face(card: str) -> str:
    """A card without the deck it comes from."""
    return card[:2]


def from_deck(card: str, player: int) -> str:
    """A card as one of the deck of a player, 1 or 2."""
    return f"{face(card)}{player}"


def number(card: str) -> int:
    """The kernel's number for a card."""
    found = read(card)
    return 16 * SUITS.index(found.suit) + found.rank + ORIGIN * found.deck


def numbers(pile: Pile) -> Cards:
    """The kernel's numbers for a pile from the bottom to the top, 0 for cards whose face is not given."""
    below = tuple(map(number, pile.concealed)) if pile.concealed else (0,) * pile.hidden
    return below + tuple(map(number, pile.cards))


def name(card: int) -> str:
    """The name of a card that the kernel numbers, with its deck where that is known."""
    suit, rank = divmod(card & FACE, 16)
    return str(Card(rank, SUITS[suit], card // ORIGIN))
