"""What the command line prints for people."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from zank.board import draw_lines
from zank.english import ENGLISH, Phrases
from zank.presets import preset
from zank.sentences import describe_event, describe_hint, describe_move, format_chance, format_gap, format_points
from zank.text import format_position
from zank.v1 import (
    Event,
    GetHintResponse,
    GetInfoResponse,
    LegalMove,
    MaliceOptions,
    MoveEvaluation,
    Position,
    StockOutWhen,
)

_COMMENT: Final = "# "
_ALTERNATIVES: Final = 5


def print_position_file(
    console: Console, position: Position, events: Sequence[Event] = (), phrases: Phrases = ENGLISH
) -> None:
    """A position as a file that can be read back: the board and what happened as comments, then the text form."""
    lines = draw_lines(position, width=console.width - len(_COMMENT), phrases=phrases)
    if events:
        lines.append(Text())
    lines += [Text(describe_event(event, position.rule_set, phrases)) for event in events]
    for line in lines:
        comment = Text.assemble((_COMMENT, "dim"), line)
        comment.rstrip()
        _print(console, comment)
    _print(console, Text(format_position(position)))


def print_hint(console: Console, hint: GetHintResponse, position: Position, phrases: Phrases = ENGLISH) -> None:
    """The board, the recommended move in words, and how the nearest alternatives compare."""
    for line in draw_lines(position, width=console.width, phrases=phrases):
        _print(console, line)
    _print(console, Text())
    headline, *reasons = describe_hint(hint, position, phrases)
    _print(console, Text.assemble((hint.moves[0].move, "bold green"), "  ", (headline, "bold")))
    for sentence in reasons:
        console.print(Text(sentence))
    compared = [evaluation for evaluation in hint.moves if evaluation.HasField("value")]
    if compared:
        _print(console, Text())
        console.print(_comparison(compared[: 1 + _ALTERNATIVES], hint, position, phrases))
        if len(compared) > 1 + _ALTERNATIVES:
            _print(console, Text(phrases.more_moves.format(count=len(compared) - 1 - _ALTERNATIVES), style="dim"))
        _print(console, Text(phrases.effort.format(rollouts=f"{hint.rollouts:,}", seed=hint.seed), style="dim"))


def print_legal_moves(
    console: Console, moves: Sequence[LegalMove], position: Position, phrases: Phrases = ENGLISH
) -> None:
    """The moves, one a line, each in words."""
    if not moves:
        _print(console, Text(phrases.no_legal_moves))
    for legal in moves:
        line = Text.assemble((f"{legal.move:8}", "bold"), describe_move(legal.move, position, phrases) + ".")
        if legal.equivalent_to:
            line.append(f" ({phrases.equivalent.format(move=legal.equivalent_to)})", style="dim")
        elif legal.forced:
            line.append(f" {phrases.only_legal_move}")
        _print(console, line)


def print_info(console: Console, info: GetInfoResponse) -> None:
    """What the server is and can do."""
    lines = [f"engine {info.engine_version}"]
    lines += [f"device {device.platform} ({device.kind}), {device.workers} workers" for device in info.devices]
    limits = info.limits
    lines.append(
        f"rollouts {limits.default_hint_rollouts:,} by default for a hint, at most {limits.max_rollouts:,};"
        f" messages up to {limits.max_message_bytes:,} bytes"
    )
    for served in info.presets:
        lines += [f"preset {served.preset}: {served.description}", f"  {_options(served.defaults.malice)}"]
    seconds = sum(program.compile_seconds for program in info.programs)
    lines.append(f"{len(info.programs)} compiled programs, ready in {seconds:.1f} s")
    lines += [f"  {program.name} ({program.sizes}): {program.compile_seconds:.2f} s" for program in info.programs]
    for line in lines:
        _print(console, Text(line))


def _print(console: Console, text: Text) -> None:
    """One line, not wrapped: it is laid out already, or for machines to read."""
    console.print(text, soft_wrap=True)


def _comparison(
    compared: Sequence[MoveEvaluation], hint: GetHintResponse, position: Position, phrases: Phrases
) -> Table:
    scored = preset(position.rule_set.preset).scored
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for column in (
        phrases.move_column,
        phrases.win_column,
        phrases.points_column if scored else phrases.margin_column,
        phrases.gap_column,
        "",
    ):
        table.add_column(column)
    for number, evaluation in enumerate(compared):
        table.add_row(
            Text(evaluation.move, style="bold"),
            format_chance(evaluation.value.win),
            format_points(evaluation.value.points),
            format_gap(evaluation, hint.objective),
            phrases.tied_mark if evaluation.tied_with_best and number else "",
        )
    return table


def _options(options: MaliceOptions) -> str:
    names = {"stock_out_when": StockOutWhen.Name(options.stock_out_when)}
    return ", ".join(
        f"{field.name} {names.get(field.name, str(value).lower())}" for field, value in options.ListFields()
    )
