"""The sections of the text form of a position: "~" between sections, "." between the items of one."""

import re
from collections.abc import Iterable, Sized
from typing import Final

from zank.cards import parse_card, split_cards
from zank.errors import InvalidCard, InvalidPosition
from zank.v1 import Pile

UINT32: Final = 2**32 - 1
UINT64: Final = 2**64 - 1


class SectionReader:
    """Takes the sections of a text one after the other."""

    def __init__(self, text: str) -> None:
        self._sections = text.split("~")
        self._next = 0

    def take(self, expected: str) -> str:
        """The next section as it stands; raises InvalidPosition, naming what was `expected`, when there is none."""
        if self._next == len(self._sections):
            raise InvalidPosition(f"the text ends early: expected {expected}")
        section = self._sections[self._next]
        self._next += 1
        return section

    def take_items(self, form: str) -> list[str]:
        """The items after the letter of the next section, which must have the `form`, for example "k.STOCK"."""
        items = self.take(f"the section {form}").split(".")
        expected = form.split(".")
        if items[0] != expected[0]:
            raise InvalidPosition(f"expected the section {form}, found {'.'.join(items)!r}")
        if len(items) != len(expected):
            raise InvalidPosition(
                f"section {expected[0]}: expected {form}, which has {len(expected) - 1} items; found {len(items) - 1}"
            )
        return items[1:]

    def take_items_if_present(self, form: str) -> list[str] | None:
        """The items of the next section, or None when the next section starts with another letter."""
        return self.take_items(form) if self._is_next(form.partition(".")[0]) else None

    def take_list_if_present(self, letter: str) -> list[str] | None:
        """As `take_items_if_present`, for a section of as many items as there are."""
        return self.take(letter).split(".")[1:] if self._is_next(letter) else None

    def finish(self, allowed: str) -> None:
        """Raises InvalidPosition unless every section was taken; `allowed` says which may come at the end."""
        if self._next < len(self._sections):
            raise InvalidPosition(f"unexpected section {self._sections[self._next]!r}: {allowed}")

    def _is_next(self, letter: str) -> bool:
        return self._next < len(self._sections) and self._sections[self._next].partition(".")[0] == letter


def parse_number(text: str, what: str, limit: int = UINT32) -> int:
    """A decimal number from 0 to `limit` without leading zeros; raises InvalidPosition."""
    # At most 20 digits: enough for 64 bits.
    if not re.fullmatch(r"0|[1-9][0-9]{0,19}", text) or int(text) > limit:
        raise InvalidPosition(f"{what}: expected a number from 0 to {limit} without leading zeros, found {text!r}")
    return int(text)


def parse_cards(text: str, what: str, *, decks: bool = False) -> list[str]:
    """The names in a run of cards, which with `decks` may say their decks; raises InvalidPosition."""
    try:
        return split_cards(text, decks=decks)
    except InvalidCard as error:
        raise InvalidPosition(f"{what}: {error}") from None


def parse_pile(text: str, what: str, *, decks: bool = False) -> Pile:
    """A pile: its cards, after "<count>-" or "<concealed cards>-" when some are hidden; raises InvalidPosition."""
    below, dash, known = text.partition("-")
    if not dash:
        return Pile(cards=parse_cards(text, what, decks=decks))
    if re.fullmatch(r"[0-9]+", below):
        hidden = parse_number(below, f"{what}, hidden cards")
        concealed = list[str]()
    else:
        concealed = parse_cards(below, f"{what}, hidden cards", decks=decks)
        hidden = len(concealed)
    if not hidden:
        raise InvalidPosition(
            f'{what}: expected a count above 0 or cards before "-" (no "-" without hidden cards), found {text!r}'
        )
    return Pile(hidden=hidden, cards=parse_cards(known, what, decks=decks), concealed=concealed)


def format_cards(cards: Iterable[str], what: str, *, decks: bool = False) -> str:
    """A run of cards, which with `decks` may say their decks; raises InvalidPosition when one is no card."""
    try:
        return "".join(str(parse_card(card, decks=decks)) for card in cards)
    except InvalidCard as error:
        raise InvalidPosition(f"{what}: {error}") from None


def format_pile(pile: Pile, what: str, *, decks: bool = False) -> str:
    """The text of a pile; raises InvalidPosition when its cards or its hidden cards are impossible."""
    known = format_cards(pile.cards, what, decks=decks)
    if pile.concealed:
        if len(pile.concealed) != pile.hidden:
            raise InvalidPosition(
                f"{what}: {pile.hidden} cards are hidden and {len(pile.concealed)} faces given; expected all or none"
            )
        return f"{format_cards(pile.concealed, what, decks=decks)}-{known}"
    return f"{pile.hidden}-{known}" if pile.hidden else known


def check_count(found: Sized, expected: int, what: str) -> None:
    """Raises InvalidPosition unless there are as many as expected."""
    if len(found) != expected:
        raise InvalidPosition(f"{what}: expected {expected}, found {len(found)}")
