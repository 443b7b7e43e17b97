"""The deal of Spite & Malice (M1)."""

import dataclasses
from typing import Final

from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import HAND, RANKS, SIDES
from zank_kernel.malice.table import Ranks, Table
from zank_kernel.shuffle import numbers, shuffled

CENTER_STACKS: Final = 3
DECK: Final = tuple(range(52)) * 2  # a card is 13 * suit + rank - 1; suits in the order clubs, diamonds, hearts, spades


@dataclasses.dataclass(frozen=True, kw_only=True)
class Deal:
    """A deal: cards as numbers 0 … 51, piles bottom first; the stock is drawn from its end."""

    starter: int  # player to move, 0 or 1
    payoff: tuple[list[int], list[int]]
    hand: tuple[list[int], list[int]]
    stock: list[int]


def deal(rules: Rules, seed: int) -> Deal:
    """Shuffle number 0 of `seed` (64 bits) dealt by M1; the starter is drawn from the same stream."""
    cards = shuffled(DECK, seed, 0)
    size = rules.payoff_cards
    hands = 2 * size
    stock = hands + 2 * HAND
    return Deal(
        starter=numbers(seed, 0, [2])[0],
        payoff=(cards[:size], cards[size:hands]),
        hand=(cards[hands : hands + HAND], cards[hands + HAND : stock]),
        stock=cards[stock:],
    )


def dealt(rules: Rules, seed: int) -> Table:
    """The full position, in ranks, that `deal` makes."""

    def ranks(cards: list[int]) -> Ranks:
        return tuple(card % RANKS + 1 for card in cards)

    start = deal(rules, seed)
    none: tuple[Ranks, ...] = ((),) * SIDES
    return Table(
        rules=rules,
        mover=start.starter,
        payoff=(ranks(start.payoff[0]), ranks(start.payoff[1])),
        hand=(ranks(start.hand[0]), ranks(start.hand[1])),
        sides=(none, none),
        centers=((),) * CENTER_STACKS,
        stock=ranks(start.stock),
        recycled=(),
    )
