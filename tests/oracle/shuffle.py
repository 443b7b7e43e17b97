"""The documented shuffle on plain Python integers and named cards ("7h", "Td"): the source of golden values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MASK = 0xFFFFFFFF
DECK = tuple(rank + suit for suit in "cdhs" for rank in "A23456789TJQK") * 2
"""The 104 cards in the order in which they are shuffled."""


def mix(x: int) -> int:
    """Scrambles a 32-bit word; a bijection."""
    x ^= x >> 16
    x = x * 0x7FEB352D & MASK
    x ^= x >> 15
    x = x * 0x846CA68B & MASK
    return x ^ x >> 16


@dataclass(frozen=True)
class Stream:
    """The random numbers of one shuffle: the seed of the deal (64 bits) and the number of the shuffle (32 bits)."""

    seed: int
    count: int

    def word(self, event: int) -> int:
        """The 32-bit random word of an event."""
        low, high = self.seed & MASK, self.seed >> 32
        k0 = mix(low ^ mix(self.count + 0x9E3779B9 & MASK))
        k1 = mix(high ^ mix(k0 + 0x85EBCA6B & MASK))
        return mix(k1 ^ mix(k0 + event * 0x9E3779B9 & MASK))

    def below(self, event: int, n: int) -> int:
        """A random number from 0 to n - 1."""
        return self.word(event) * n >> 32

    def shuffle(self, cards: Sequence[str]) -> list[str]:
        """The cards in a random order."""
        shuffled = list(cards)
        for i in range(len(shuffled) - 1, 0, -1):
            j = self.below(i, i + 1)
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        return shuffled


@dataclass(frozen=True, kw_only=True)
class Deal:
    """A deal of Spite & Malice (M1), piles from bottom to top; the stock is drawn from its end."""

    payoff: tuple[list[str], list[str]]
    hand: tuple[list[str], list[str]]
    stock: list[str]
    starter: int  # 1 or 2


def deal(seed: int, payoff_cards: int = 20) -> Deal:
    """The deal of a seed, which is shuffle number 0 (M1)."""
    stream = Stream(seed, 0)
    cards = stream.shuffle(DECK)
    piles: list[list[str]] = []
    for size in (payoff_cards, payoff_cards, 5, 5):
        piles.append(cards[:size])
        cards = cards[size:]
    # Event 0 is free: a shuffle uses the events from 1 up.
    return Deal(payoff=(piles[0], piles[1]), hand=(piles[2], piles[3]), stock=cards, starter=1 + stream.below(0, 2))


def recycle(stock: Sequence[str], center: Sequence[str], seed: int, count: int) -> list[str]:
    """The stock after a complete center stack was shuffled into it as shuffle number `count` (M9)."""
    return Stream(seed, count).shuffle([*stock, *center])


@dataclass(frozen=True, kw_only=True)
class BankDeal:
    """A deal of Russian Bank (B0) for players 1 and 2, piles from bottom to top; a stock is turned from its end."""

    decks: tuple[list[str], list[str]]  # each player's 52 cards in the order in which they are dealt
    reserve: tuple[list[str], list[str]]
    tableau: list[str]  # the one card of each pile: T1 to T4 from player 1's deck, T5 to T8 from player 2's
    stock: tuple[list[str], list[str]]
    coin: int  # 1 or 2: the player who starts if it comes to a coin flip (S1, R1)


def deal_bank(seed: int, reserve_cards: int = 13) -> BankDeal:
    """The deal of a seed (B0): shuffle 0 for player 1's deck, 1 for player 2's, event 0 of shuffle 2 for the coin."""
    own = DECK[:52]
    first, second = Stream(seed, 0).shuffle(own), Stream(seed, 1).shuffle(own)
    n = reserve_cards
    return BankDeal(
        decks=(first, second),
        reserve=(first[:n], second[:n]),
        tableau=first[n : n + 4] + second[n : n + 4],
        stock=(first[n + 4 :], second[n + 4 :]),
        coin=1 + Stream(seed, 2).below(0, 2),
    )
