"""Cards: a rank and a suit, for example "7h" or "Td"; in Russian Bank "7h1" where the deck is known, too."""

import re
from dataclasses import dataclass
from typing import Final

from zank.errors import InvalidCard

RANKS: Final = "A23456789TJQK"
SUITS: Final = "cdhs"  # clubs, diamonds, hearts, spades
DECKS: Final = "12"  # player 1's and player 2's
ACE: Final = 1
QUEEN: Final = 12
KING: Final = 13
WRITTEN_CARD: Final = f"([{RANKS}]|10)([{SUITS}])"  # by people, in either case

CARD_FORM: Final = f"a rank ({RANKS}) and a suit ({SUITS}), for example 7h"
BANK_CARD_FORM: Final = f"{CARD_FORM}, or 7h1 where the deck ({' or '.join(DECKS)}) is known"

SUIT_SYMBOLS: Final = dict(zip(SUITS, "♣♦♥♠", strict=True))

_CARD: Final = f"([{RANKS}])([{SUITS}])"
_DECK_IN_RUN: Final = f"(?:1|2(?![{SUITS}]))?"  # a 2 with a suit after it is the next card's rank


@dataclass(frozen=True, slots=True)
class Card:
    """A card's face and, where it is known, the deck that it is from; the double deck holds each face twice."""

    rank: int  # 1 (ace) to 13 (king)
    suit: str  # one of SUITS
    deck: int = 0  # 1 or 2; 0 = not known

    def __str__(self) -> str:
        return RANKS[self.rank - 1] + self.suit + (str(self.deck) if self.deck else "")

    @property
    def is_red(self) -> bool:
        """Whether the card is a diamond or a heart."""
        return self.suit in "dh"

    @property
    def face(self) -> str:
        """The card for people, without its deck, for example "7♥" or "10♦"."""
        return rank_face(self.rank) + SUIT_SYMBOLS[self.suit]


def parse_card(name: str, *, decks: bool = False) -> Card:
    """The card of that name, with `decks` also of a name that ends with the deck; raises InvalidCard."""
    match = re.fullmatch(_CARD + _deck(decks), name)
    if match is None:
        raise InvalidCard(f"{name!r} is no card: expected {BANK_CARD_FORM if decks else CARD_FORM}")
    return Card(parse_rank(match[1]), match[2], int(match[3] or 0))


def face_of(name: str) -> str:
    """The card of that name for people, without its deck; what is no card stays as it is."""
    try:
        return parse_card(name, decks=True).face
    except InvalidCard:
        return name


def read_card(text: str, *, decks: bool = False) -> Card:
    """The card that a person wrote: also in the other case, also "10" for a ten; raises InvalidCard."""
    match = re.fullmatch(WRITTEN_CARD + _deck(decks), text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise InvalidCard(f"{text!r} is no card: expected {BANK_CARD_FORM if decks else CARD_FORM}; a ten is T")
    return Card(read_rank(match[1]), match[2].lower(), int(match[3] or 0))


def read_rank(text: str) -> int:
    """The rank (1 to 13) that a person wrote; raises InvalidCard."""
    return parse_rank("T" if text == "10" else text.upper())


def split_cards(text: str, *, decks: bool = False) -> list[str]:
    """The names in a run of cards such as "7hKd", with `decks` also "7h1Kd2"; raises InvalidCard at the first fault.

    "7h2h" is two cards, the second a two; "7h22h" is a seven from deck 2 before it.
    """
    card = re.compile(_CARD + (_DECK_IN_RUN if decks else ""))
    names = []
    start = 0
    while start < len(text):
        match = card.match(text, start)
        name = match[0] if match else text[start : start + 2]
        if match is None:
            parse_card(name, decks=decks)
        names.append(name)
        start += len(name)
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


def _deck(decks: bool) -> str:
    return f"([{DECKS}])?" if decks else "()"
