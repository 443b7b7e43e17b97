"""The board of Russian Bank, of which both players know the same."""

from typing import Final

from rich.text import Text

from zank._drawing import face, known_card, over, top
from zank.cards import SUIT_SYMBOLS, SUITS, Card, rank_face
from zank.phrases import Phrases
from zank.v1 import Pile, Position

_MARGIN: Final = 15  # columns of the names on the left
_FOUNDATION_WIDTH: Final = 12


def bank_player(position: Position, number: int, width: int, phrases: Phrases) -> list[Text]:
    """What lies before a player: the reserve, the stock and the waste, and the drawn card of the player to move."""
    player = position.bank.players[number - 1]
    words = phrases.bank
    label_width = max(map(len, (words.reserve, words.stock, words.waste, words.drawn)))
    lines = list[Text]()
    for label, pile in ((words.reserve, player.reserve), (words.stock, player.stock), (words.waste, player.waste)):
        line = _labelled(label, label_width).append_text(top(pile, phrases))
        left = phrases.left.format(count=pile.hidden + len(pile.cards))
        line.append(f"  {left:7}", style="not bold")
        lines += over(line, pile, _MARGIN, width, phrases)
    if position.bank.drawn and number == position.player_to_move:
        lines.append(_labelled(words.drawn, label_width).append_text(face(position.bank.drawn, top=True)))
    to_move = number == position.player_to_move and not position.HasField("result")
    margin = [
        Text(phrases.player.format(player=number), style="bold"),
        Text(f"({phrases.to_move})" if to_move else ""),
        Text(words.quiet_turns.format(count=player.quiet_turns) if player.quiet_turns else "", style="dim"),
    ]
    for at, note in enumerate(margin):
        lines[at] = _beside(note, lines[at])
    return lines


def bank_table(position: Position, width: int, phrases: Phrases) -> list[Text]:
    """What lies between the players: the foundations and the tableau."""
    return [*_foundation_lines(position, width, phrases), *_tableau_lines(position, width, phrases)]


def _foundation_lines(position: Position, width: int, phrases: Phrases) -> list[Text]:
    """How high the two foundations of each suit are."""
    foundations = position.bank.foundations
    cells = []
    for number, suit in enumerate(SUITS):
        cell = Text(SUIT_SYMBOLS[suit], style="red" if Card(1, suit).is_red else "")
        for pile in foundations[2 * number : 2 * number + 2]:
            cell.append(f"  {_height(pile, phrases):2}", style="default")
        cells.append(cell)
    per_line = max((width - _MARGIN + 3) // _FOUNDATION_WIDTH, 1)  # the last one needs no space after it
    lines = []
    for start in range(0, len(cells), per_line):
        line = Text()
        for cell in cells[start : start + per_line]:
            line.append_text(cell)
            line.append(" " * (_FOUNDATION_WIDTH - len(cell)))
        lines.append(_beside(_name(phrases.bank.foundations, start == 0), Text(" " * _MARGIN) + line))
    return lines


def _tableau_lines(position: Position, width: int, phrases: Phrases) -> list[Text]:
    lines = []
    for number, pile in enumerate(position.bank.tableau, start=1):
        line = _labelled(f"T{number}", 2).append_text(top(pile, phrases))
        first, *more = over(line, pile, _MARGIN, width, phrases)
        lines += [_beside(_name(phrases.bank.tableau, number == 1), first), *more]
    return lines


def _height(pile: Pile, phrases: Phrases) -> str:
    """The rank of the top card, which is how many cards lie there."""
    if not pile.cards:
        return phrases.empty
    card = known_card(pile.cards[-1])
    return pile.cards[-1] if card is None else rank_face(card.rank)


def _labelled(label: str, width: int) -> Text:
    return Text.assemble(" " * _MARGIN, (f"{label:{width}}  ", "dim"))


def _beside(note: Text, line: Text) -> Text:
    """The line with a note in its margin."""
    return Text.assemble(note, " " * max(_MARGIN - len(note), 1), line[_MARGIN:])


def _name(name: str, shown: bool) -> Text:
    return Text(name if shown else "", style="bold")
