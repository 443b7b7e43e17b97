"""The board of Spite & Malice."""

from typing import Final

from rich.text import Text

from zank._drawing import known_card, over, row, top
from zank.cards import ACE, KING, rank_face
from zank.phrases import Phrases
from zank.presets import complete_rule_set
from zank.v1 import Pile, Position

_MARGIN: Final = 10  # columns of the names on the left
_CENTER_WIDTH: Final = 23


def malice_player(position: Position, number: int, viewer: int, width: int, phrases: Phrases) -> list[Text]:
    """What lies before a player; the hand is shown to its owner, the viewer."""
    player = position.malice.players[number - 1]
    words = phrases.malice
    is_over = position.HasField("result")
    to_move = number == position.player_to_move and not is_over
    first = Text(f"{phrases.player.format(player=number):{_MARGIN}}", style="bold")
    first.append(f"{words.payoff}  ", style="not bold dim")
    first.append_text(top(player.payoff, phrases))
    left = phrases.left.format(count=player.payoff.hidden + len(player.payoff.cards))
    first.append(f"  {left:10}  ", style="not bold")
    hand = Text.assemble((f"{words.hand}  ", "not bold dim"))
    hand.append_text(_hand(player.hand, number == viewer and not is_over, phrases))
    if len(first) + len(hand) <= width:
        lines = [first.append_text(hand)]
    else:
        lines = [first, Text(" " * _MARGIN).append_text(hand)]
    for side, pile in enumerate(player.sides, start=1):
        line = Text(" " * _MARGIN)
        line.append(f"S{side}  ", style="dim")
        line.append_text(top(pile, phrases))
        lines += over(line, pile, _MARGIN, width, phrases)
    if to_move and len(lines) > 1:
        # Under the player's name, where there is room.
        lines[1] = Text(f"{'(' + phrases.to_move + ')':{_MARGIN}}") + lines[1][_MARGIN:]
    return lines


def malice_table(position: Position, width: int, phrases: Phrases) -> list[Text]:
    """What lies between the players: the center and the stock."""
    table = position.malice
    words = phrases.malice
    wild_starts = complete_rule_set(position.rule_set).malice.wild_starts_stack
    cells = [
        _center_cell(f"C{number}", pile, wild_starts, phrases) for number, pile in enumerate(table.centers, start=1)
    ]
    per_line = max((width - _MARGIN + 1) // _CENTER_WIDTH, 1)  # the last one needs no space after it
    lines = list[Text]()
    for start in range(0, len(cells), per_line):
        line = Text(f"{words.center if start == 0 else '':{_MARGIN}}", style="bold")
        for cell in cells[start : start + per_line]:
            line.append_text(cell)
            line.append(" " * (_CENTER_WIDTH - len(cell)))
        lines.append(line)
    stock = Text(f"{words.stock:{_MARGIN}}", style="bold")
    stock.append(phrases.left.format(count=table.stock.hidden + len(table.stock.cards)), style="not bold")
    if table.recycled.cards:
        stock.append("  " + words.recycled_count.format(count=len(table.recycled.cards)), style="not bold dim")
    return [*lines, stock]


def _hand(hand: Pile, shown: bool, phrases: Phrases) -> Text:
    if not shown or hand.hidden:
        return Text(phrases.malice.hidden.format(count=hand.hidden + len(hand.cards)), style="not bold")
    return row(hand.cards) if hand.cards else Text(phrases.empty)


def _center_cell(name: str, pile: Pile, wild_starts: bool, phrases: Phrases) -> Text:
    words = phrases.malice
    cell = Text()
    cell.append(f"{name}  ", style="not bold dim")
    cell.append_text(top(pile, phrases))
    height = len(pile.cards)
    needed = height + 1
    template = words.needs_or_king if needed == ACE and wild_starts else words.needs
    card = known_card(pile.cards[-1]) if pile.cards else None
    if card is not None and card.rank == KING and height < KING:
        cell.append(f" {words.standing_for.format(rank=rank_face(height))},", style="not bold")
    if needed < KING:
        cell.append(f" {template.format(rank=rank_face(needed))}", style="not bold")
    return cell
