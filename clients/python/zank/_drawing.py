"""Cards and piles, drawn: what the boards of both families have in common."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from zank.cards import Card, parse_card
from zank.errors import InvalidCard
from zank.phrases import Phrases
from zank.v1 import Pile

_CARD_WIDTH: Final = 4  # columns of a card and the space after it
_FEW_CARDS: Final = 4


def top(pile: Pile, phrases: Phrases) -> Text:
    """The top card, three columns wide; blank where it is hidden."""
    if pile.cards:
        return face(pile.cards[-1], top=True)
    return Text(f"{'' if pile.hidden else phrases.empty:3}", style="dim")


def over(line: Text, pile: Pile, margin: int, width: int, phrases: Phrases) -> list[Text]:
    """The `line`, which tells the top of a pile, with the known cards under it from the top down.

    They take as many lines as they need; where few would fit beside it, in lines of their own after the `margin`.
    """
    under = list(reversed(pile.cards[:-1]))
    if not under:
        return [line]
    word = Text.assemble((f"  {phrases.over}  ", "dim"))
    lines = list[Text]()
    if len(under) > _fitting(width - len(line) - len(word)) < _FEW_CARDS:
        lines.append(line)
        line = Text(" " * (margin - 2))
    first = line.append_text(word)
    indent = len(first)
    per_line = max(_fitting(width - indent), 1)
    for start in range(0, len(under), per_line):
        lines.append((Text(" " * indent) if start else first) + row(under[start : start + per_line]))
    return lines


def row(cards: Sequence[str]) -> Text:
    """Cards side by side."""
    return Text(" ").join(face(card, top=False) for card in cards)


def face(name: str, *, top: bool) -> Text:
    """A card without its deck, three columns wide; red suits are coloured, tops bold."""
    card = known_card(name)
    color = "red" if card is not None and card.is_red else "default"
    return Text(f"{name if card is None else card.face:3}", style=f"{'bold' if top else 'not bold'} {color}")


def known_card(name: str) -> Card | None:
    """The card of that name, or None where it is none."""
    try:
        return parse_card(name, decks=True)
    except InvalidCard:
        return None


def _fitting(width: int) -> int:
    """How many cards fit; the last one needs no space after it."""
    return (width + 1) // _CARD_WIDTH
