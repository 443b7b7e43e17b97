"""A position drawn for people, as the player to move sees it."""

import io
from typing import Final

from rich.console import Console
from rich.text import Text

from zank._bank_board import bank_player, bank_table
from zank._malice_board import malice_player, malice_table
from zank.english import ENGLISH
from zank.phrases import Phrases
from zank.presets import preset
from zank.sentences import describe_result
from zank.v1 import Position

DEFAULT_WIDTH: Final = 80

_MINIMUM_WIDTH: Final = 40


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
    """The lines of the drawing: the other player, what lies between the players, the viewer (1 or 2).

    The viewer is the player to move unless another is given. Hidden cards are counted; so is the hand of the player
    who is not the viewer, also in a full position. Piles are listed from the top down. Raises InvalidRuleSet for a
    preset that this client does not know.
    """
    width = max(width, _MINIMUM_WIDTH)
    viewer = viewer or position.player_to_move
    if preset(position.rule_set.preset).family == "malice":
        players = [
            malice_player(position, number, viewer, width, phrases)
            for number in range(1, len(position.malice.players) + 1)
        ]
        table = malice_table(position, width, phrases)
    else:
        players = [bank_player(position, number, width, phrases) for number in range(1, len(position.bank.players) + 1)]
        table = bank_table(position, width, phrases)
    lines = [Text(_heading(position, phrases), style="bold"), Text()]
    for number, player in enumerate(players, start=1):
        if number != viewer:
            lines += [*player, Text()]
    lines += [*table, Text()]
    for number, player in enumerate(players, start=1):
        if number == viewer:
            lines += player
    for line in lines:
        line.rstrip()
    return lines


def _heading(position: Position, phrases: Phrases) -> str:
    turn = position.turns + 1
    if position.HasField("result"):
        result = describe_result(position.result, position.rule_set, phrases)
        return phrases.finished_heading.format(preset=position.rule_set.preset, turn=turn, result=result)
    return phrases.heading.format(preset=position.rule_set.preset, turn=turn, player=position.player_to_move)
