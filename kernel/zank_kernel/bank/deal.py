"""The deal of Russian Bank (B0, S1, R1)."""

from typing import Final

from zank_kernel.bank.rules import ACES_OPEN, Rules
from zank_kernel.bank.state import KING, SUITS, TABLEAU
from zank_kernel.bank.table import ORIGIN, Table
from zank_kernel.shuffle import numbers, shuffled

DECK: Final = tuple(16 * suit + rank for suit in range(SUITS) for rank in range(1, KING + 1))
OWN_PILES: Final = TABLEAU // 2
COIN: Final = 2  # the shuffle's number from whose stream the coin is flipped; 0 and 1 are the players' decks


def dealt(rules: Rules, seed: int) -> Table:
    """The full position that a 64-bit seed deals: shuffle 0 for player 1's deck, shuffle 1 for player 2's."""
    decks = [tuple(card + ORIGIN * (player + 1) for card in shuffled(DECK, seed, player)) for player in (0, 1)]
    size = rules.reserve_cards
    reserve = (decks[0][:size], decks[1][:size])
    tops = [deck[size : size + OWN_PILES] for deck in decks]
    stock = (decks[0][size + OWN_PILES :], decks[1][size + OWN_PILES :])
    coin = numbers(seed, COIN, [2])[0]
    opening = bool(rules.bits & ACES_OPEN)
    return Table(
        rules=rules,
        mover=coin if opening else starter((reserve[0][-1], *tops[0]), (reserve[1][-1], *tops[1]), coin),
        tableau=tuple((card,) for card in (*tops[0], *tops[1])),
        reserve=reserve,
        stock=stock,
        opening=opening,
    )


def starter(first: tuple[int, ...], second: tuple[int, ...], coin: int) -> int:
    """The player with the lower card starts, ace low, by the first of these pairs that differs (R1)."""
    for one, other in zip(first, second, strict=True):
        if one & 15 != other & 15:
            return 0 if one & 15 < other & 15 else 1
    return coin
