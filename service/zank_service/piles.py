"""Piles of any family: how large they are, what is known of them, and where they lie in a request."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zank.v1 import Pile


class Placed(NamedTuple):
    """A pile and its path in the request."""

    path: str
    pile: Pile


def side_by_side(piles: Sequence[Pile], path: str) -> Iterator[Placed]:
    """The piles of a repeated field at this path."""
    for index, pile in enumerate(piles):
        yield Placed(f"{path}[{index}]", pile)


def size(pile: Pile) -> int:
    """Cards in a pile, hidden ones included."""
    return pile.hidden + len(pile.cards)


def faces_known(pile: Pile) -> bool:
    """Whether the face of every card of a pile is given."""
    return len(pile.concealed) == pile.hidden


def faces(pile: Pile) -> tuple[str, ...]:
    """The cards of a pile whose face is given, from the bottom to the top."""
    return (*pile.concealed, *pile.cards)


def lay_open(pile: Pile) -> None:
    """Let hidden cards whose faces are given be known, in place."""
    if pile.concealed:
        pile.CopyFrom(Pile(cards=faces(pile)))


def given_cards(piles: Iterable[Placed]) -> Iterator[tuple[str, str]]:
    """Every card whose face is given, after its path."""
    for path, pile in piles:
        for name, cards in (("concealed", pile.concealed), ("cards", pile.cards)):
            for index, card in enumerate(cards):
                yield f"{path}.{name}[{index}]", card
