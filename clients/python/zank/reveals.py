"""Cards that come to light, in text: `P=7h`, `H0=2c`, `2:H0=2c`; in Russian Bank `R=7h`, `D=2c`."""

import re
from typing import Final

from zank.cards import read_card
from zank.errors import InvalidCard, InvalidReveal
from zank.v1 import Reveal, Slot

_NUMBERED: Final = "H"  # a place where several cards come to light
_EXPECTED: Final = (
    "expected SLOT=CARD, for example P=7h (the next payoff card), H0=2c (the first card drawn to the hand), or 2:H0=2c"
    " where it is player 2's and player 1 moves; in Russian Bank R=7h (the next reserve card), D=2c (the card turned"
    " from the stock)"
)


def parse_reveal(text: str, player_to_move: int) -> Reveal:
    """The card and its slot written `text`; raises InvalidReveal.

    A slot is the place and, for a card drawn to the hand, its number from 0. It is of the player to move unless the
    other player is named before it. Either case is read, and "10" for a ten; in Russian Bank a card may say its deck.
    """
    match = re.fullmatch(r"(?:([12]):)?(?:([PRD])|H([0-9]))=(.*)", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise InvalidReveal(f"{text!r} is no revealed card: {_EXPECTED}")
    player, place, index, written = match.groups()
    place = place.upper() if place else _NUMBERED
    try:
        card = read_card(written, decks=place in "RD")
    except InvalidCard as error:
        raise InvalidReveal(f"{text!r} is no revealed card: {error}") from None
    slot = Slot(player=int(player or player_to_move), place=place, index=int(index or 0))
    return Reveal(slot=slot, card=str(card))


def written_reveal(text: str) -> str:
    """A revealed card as the notation has it, from what people write; raises InvalidReveal."""
    reveal = parse_reveal(text, player_to_move=0)
    return f"{format_slot(reveal.slot, player_to_move=0)}={reveal.card}"


def format_slot(slot: Slot, player_to_move: int) -> str:
    """The text of a slot, as `parse_reveal` reads it."""
    owner = "" if slot.player == player_to_move else f"{slot.player}:"
    return f"{owner}{slot.place}{slot.index if slot.place == _NUMBERED else ''}"
