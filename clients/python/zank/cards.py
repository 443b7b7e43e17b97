"""Cards: two characters, a rank and a suit, for example "7h" or "Td"."""

import re
from dataclasses import dataclass
from typing import Final

from zank.errors import InvalidCard

RANKS: Final = "A23456789TJQK"
SUITS: Final = "cdhs"  # clubs, diamonds, hearts, spades
ACE: Final = 1
QUEEN: Final = 12
KING: Final = 13
WRITTEN_CARD: Final = f"([{RANKS}]|10)([{SUITS}])"  # by people, in either case

SUIT_SYMBOLS: Final = dict(zip(SUITS, "♣♦♥♠", strict=True))


@dataclass(frozen=True, slots=True)
class Card:
    """A card's face; the double deck holds each twice."""

    rank: int  # 1 (ace) to 13 (king)
    suit: str  # one of SUITS

    def __str__(self) -> str:
        return RANKS[self.rank - 1] + self.suit

    @property
    def is_red(self) -> bool:
        """Whether the card is a diamond or a heart."""
        return self.suit in "dh"

    @property
    def face(self) -> str:
        """The card for people, for example "7♥" or "10♦"."""
        return rank_face(self.rank) + SUIT_SYMBOLS[self.suit]


def parse_card(name: str) -> Card:
    """The card of that name; raises InvalidCard."""
    if len(name) != 2 or name[0] not in RANKS or name[1] not in SUITS:
        raise InvalidCard(f"{name!r} is no card: expected a rank ({RANKS}) and a suit ({SUITS}), for example 7h")
    return Card(RANKS.index(name[0]) + 1, name[1])


def read_card(text: str) -> Card:
    """The card that a person wrote: also in the other case, also "10" for a ten; raises InvalidCard."""
    match = re.fullmatch(WRITTEN_CARD, text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise InvalidCard(
            f"{text!r} is no card: expected a rank ({RANKS}, a ten is T) and a suit ({SUITS}), for example 7h"
        )
    return Card(read_rank(match[1]), match[2].lower())


def read_rank(text: str) -> int:
    """The rank (1 to 13) that a person wrote; raises InvalidCard."""
    return parse_rank("T" if text == "10" else text.upper())


def split_cards(text: str) -> list[str]:
    """The names in a run of cards such as "7hKd"; raises InvalidCard at the first that is none."""
    names = [text[start : start + 2] for start in range(0, len(text), 2)]
    for name in names:
        parse_card(name)
    return names


def parse_rank(letter: str) -> int:
    """The rank (1 to 13) for its letter; raises InvalidCard."""
    if len(letter) != 1 or letter not in RANKS:
        raise InvalidCard(f"{letter!r} is no rank: expected one of {RANKS}")
    return RANKS.index(letter) + 1


def rank_letter(rank: int) -> str:
    """The letter of a rank (1 to 13) in card names and moves: "T" for a ten."""
    return RANKS[rank - 1]


def rank_face(rank: int) -> str:
    """A rank (1 to 13) for people: "10" for a ten."""
    return "10" if rank == 10 else rank_letter(rank)
