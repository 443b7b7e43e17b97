"""What every family checks of its piles and cards."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from zank.cards import BANK_CARD_FORM, CARD_FORM, parse_card
from zank.errors import InvalidCard
from zank_service.limits import SHOWN
from zank_service.piles import Placed
from zank_service.refusals import Violations

PLAYERS: Final = 2
CARDS: Final = 104  # on every table
COPIES: Final = 2  # of every card


def check_count(field: str, found: int, expected: int, what: str, violations: Violations) -> None:
    """Note a number of things that is not the one expected."""
    if found != expected:
        violations.add(field, f"expected {expected} {what}, found {found}")


def check_face_up(piles: Iterable[Placed], violations: Violations) -> None:
    """Note every hidden card in piles that lie face up."""
    for path, pile in piles:
        if pile.hidden:
            violations.add(f"{path}.hidden", f"expected 0: this pile lies face up; found {pile.hidden}")


def check_concealed(piles: Iterable[Placed], violations: Violations) -> None:
    """Note the piles of which the faces of some hidden cards are given, and not those of others."""
    for path, pile in piles:
        if pile.concealed and len(pile.concealed) != pile.hidden:
            violations.add(
                f"{path}.concealed",
                f"expected no card, or as many as are hidden ({pile.hidden}); found {len(pile.concealed)}",
            )


def check_names(cards: Iterable[tuple[str, str]], violations: Violations, *, decks: bool = False) -> None:
    """Note every card, after its path, that is not the name of one; with `decks` it may say which deck it is from."""
    for path, card in cards:
        if (fault := misnamed(card, decks=decks)) is not None:
            violations.add(path, fault)


def misnamed(card: str, *, decks: bool = False) -> str | None:
    """What was expected of a card that is not the name of one; None where it is."""
    try:
        parse_card(card, decks=decks)
    except InvalidCard:
        return f"expected {BANK_CARD_FORM if decks else CARD_FORM}; found {card[:SHOWN]!r}"
    return None


def check_copies(cards: Iterable[tuple[str, str]], violations: Violations) -> None:
    """Note every copy of a card, after its path and without its deck, that two decks do not hold."""
    copies = Counter[str]()
    for path, card in cards:
        copies[card] += 1
        if copies[card] > COPIES:
            violations.add(path, f"expected at most {COPIES} copies of {card} on the table; this is another one")
