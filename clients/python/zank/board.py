"""A position drawn for people, as the player to move sees it."""

import io
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from zank.cards import ACE, KING, Card, parse_card, rank_face
from zank.english import ENGLISH, Phrases
from zank.errors import InvalidCard
from zank.presets import complete_options
from zank.sentences import describe_result
from zank.v1 import MalicePlayer, Pile, Position

DEFAULT_WIDTH = 80

_MARGIN = 10  # columns of the names on the left
_CENTER_WIDTH = 23
_MINIMUM_WIDTH = 40


def draw(
    position: Position,
    *,
    viewer: int | None = None,
    width: int = DEFAULT_WIDTH,
    color: bool = False,
    phrases: Phrases = ENGLISH,
) -> str:
    """The drawing as text of lines up to `width` columns, with ANSI colours if `color`; see `draw_lines`."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
    )
    with console.capture() as capture:
        for line in draw_lines(position, viewer=viewer, width=width, phrases=phrases):
            console.print(line, soft_wrap=True)
    return capture.get()


def draw_lines(
    position: Position, *, viewer: int | None = None, width: int = DEFAULT_WIDTH, phrases: Phrases = ENGLISH
) -> list[Text]:
    """The lines of the drawing: the other player, the center and the stock, the viewer (1 or 2).

    The viewer is the player to move unless another is given. Hidden cards are counted; so is the hand of the player
    who is not the viewer, also in a full position. Side stacks are listed from the top down. Raises InvalidRuleSet for
    a preset that this client does not know.
    """
    width = max(width, _MINIMUM_WIDTH)
    viewer = viewer or position.player_to_move
    players = list(enumerate(position.malice.players, start=1))
    lines = [Text(_heading(position, phrases), style="bold"), Text()]
    for number, player in players:
        if number != viewer:
            lines += [*_player_lines(position, player, number, False, width, phrases), Text()]
    lines += [*_center_lines(position, width, phrases), Text()]
    for number, player in players:
        if number == viewer:
            lines += _player_lines(position, player, number, True, width, phrases)
    for line in lines:
        line.rstrip()
    return lines


def _heading(position: Position, phrases: Phrases) -> str:
    turn = position.turns + 1
    if position.HasField("result"):
        result = describe_result(position.result, position.rule_set, phrases)
        return phrases.finished_heading.format(preset=position.rule_set.preset, turn=turn, result=result)
    return phrases.heading.format(preset=position.rule_set.preset, turn=turn, player=position.player_to_move)


def _player_lines(
    position: Position, player: MalicePlayer, number: int, is_viewer: bool, width: int, phrases: Phrases
) -> list[Text]:
    over = position.HasField("result")
    to_move = number == position.player_to_move and not over
    name = phrases.player.format(player=number)
    first = Text(f"{name:{_MARGIN}}", style="bold")
    first.append(f"{phrases.payoff}  ", style="not bold dim")
    first.append_text(_top(player.payoff, phrases))
    left = phrases.left.format(count=player.payoff.hidden + len(player.payoff.cards))
    first.append(f"  {left:10}  ", style="not bold")
    hand = Text.assemble((f"{phrases.hand}  ", "not bold dim"))
    hand.append_text(_hand(player.hand, is_viewer and not over, phrases))
    if len(first) + len(hand) <= width:
        lines = [first.append_text(hand)]
    else:
        lines = [first, Text(" " * _MARGIN).append_text(hand)]
    for side, pile in enumerate(player.sides, start=1):
        lines += _side_lines(f"S{side}", pile, width, phrases)
    if to_move and len(lines) > 1:
        # Under the player's name, where there is room.
        lines[1] = Text(f"{'(' + phrases.to_move + ')':{_MARGIN}}") + lines[1][_MARGIN:]
    return lines


def _hand(hand: Pile, shown: bool, phrases: Phrases) -> Text:
    if not shown or hand.hidden:
        return Text(phrases.hidden.format(count=hand.hidden + len(hand.cards)), style="not bold")
    return _row(hand.cards) if hand.cards else Text(phrases.empty)


def _side_lines(name: str, pile: Pile, width: int, phrases: Phrases) -> list[Text]:
    """The stack from the top down, in as many lines as it takes."""
    line = Text(" " * _MARGIN)
    line.append(f"{name}  ", style="dim")
    line.append_text(_top(pile, phrases))
    under = list(reversed(pile.cards[:-1]))
    if not under:
        return [line]
    line.append(f"  {phrases.over}  ", style="dim")
    indent = len(line)
    per_line = max((width - indent + 1) // 4, 1)
    rows = [under[start : start + per_line] for start in range(0, len(under), per_line)]
    return [(line if number == 0 else Text(" " * indent)) + _row(row) for number, row in enumerate(rows)]


def _center_lines(position: Position, width: int, phrases: Phrases) -> list[Text]:
    table = position.malice
    cells = [
        _center_cell(f"C{number}", pile, complete_options(position.rule_set).wild_starts_stack, phrases)
        for number, pile in enumerate(table.centers, start=1)
    ]
    per_line = max((width - _MARGIN + 1) // _CENTER_WIDTH, 1)  # the last one needs no space after it
    lines = list[Text]()
    for start in range(0, len(cells), per_line):
        line = Text(f"{phrases.center if start == 0 else '':{_MARGIN}}", style="bold")
        for cell in cells[start : start + per_line]:
            line.append_text(cell)
            line.append(" " * (_CENTER_WIDTH - len(cell)))
        lines.append(line)
    stock = Text(f"{phrases.stock:{_MARGIN}}", style="bold")
    stock.append(phrases.left.format(count=table.stock.hidden + len(table.stock.cards)), style="not bold")
    if table.recycled.cards:
        stock.append("  " + phrases.recycled_count.format(count=len(table.recycled.cards)), style="not bold dim")
    return [*lines, stock]


def _center_cell(name: str, pile: Pile, wild_starts: bool, phrases: Phrases) -> Text:
    cell = Text()
    cell.append(f"{name}  ", style="not bold dim")
    cell.append_text(_top(pile, phrases))
    height = len(pile.cards)
    needed = height + 1
    template = phrases.needs_or_king if needed == ACE and wild_starts else phrases.needs
    top = _card(pile.cards[-1]) if pile.cards else None
    if top is not None and top.rank == KING and height < KING:
        cell.append(f" {phrases.standing_for.format(rank=rank_face(height))},", style="not bold")
    if needed < KING:
        cell.append(f" {template.format(rank=rank_face(needed))}", style="not bold")
    return cell


def _top(pile: Pile, phrases: Phrases) -> Text:
    """The top card, three columns wide."""
    if not pile.cards:
        return Text(f"{phrases.empty:3}", style="dim")
    return _face(pile.cards[-1], top=True)


def _row(cards: Sequence[str]) -> Text:
    return Text(" ").join(_face(card, top=False) for card in cards)


def _face(name: str, *, top: bool) -> Text:
    """A card, three columns wide; red suits are coloured, tops bold."""
    card = _card(name)
    color = "red" if card is not None and card.is_red else "default"
    face = name if card is None else card.face
    return Text(f"{face:3}", style=f"{'bold' if top else 'not bold'} {color}")


def _card(name: str) -> Card | None:
    try:
        return parse_card(name)
    except InvalidCard:
        return None
