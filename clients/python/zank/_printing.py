"""What the command line prints for people."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from zank._table import comparison
from zank.board import draw_lines
from zank.english import ENGLISH
from zank.phrases import Phrases
from zank.presets import options_of
from zank.reveals import format_slot
from zank.sentences import (
    describe_event,
    describe_hint,
    describe_line,
    describe_move,
    describe_slot,
)
from zank.text import format_position
from zank.v1 import (
    AnalyzeResponse,
    Answer,
    CheckMoveResponse,
    Event,
    GetInfoResponse,
    LegalMove,
    MoveEvaluation,
    Position,
    RuleSet,
    Slot,
)

_COMMENT: Final = "# "
_ALTERNATIVES: Final = 5
_FEW_ROLLOUTS: Final = 30  # a move
_OUTPUT_WIDTH: Final = 80  # columns of a board elsewhere than on a terminal


def print_position_file(
    console: Console,
    position: Position,
    *,
    events: Sequence[Event] = (),
    viewer: int | None = None,
    phrases: Phrases = ENGLISH,
) -> None:
    """A position as a file that can be read back: the board and what happened as comments, then the text form."""
    lines = draw_lines(position, viewer=viewer, width=console.width - len(_COMMENT), phrases=phrases)
    if events:
        lines.append(Text())
    lines += [Text(describe_event(event, position.rule_set, phrases)) for event in events]
    for line in lines:
        comment = Text.assemble((_COMMENT, "dim"), line)
        comment.rstrip()
        _print(console, comment)
    _print(console, Text(format_position(position)))


def print_hint(
    console: Console, answer: Answer, position: Position, *, timed: bool = False, phrases: Phrases = ENGLISH
) -> None:
    """The board, the recommended move in words, and how the nearest alternatives compare.

    After a time budget (`timed`) also the options that give the same answer again.
    """
    _print_recommendation(console, answer, position, phrases)
    compared = _with_value(answer)
    if compared:
        _print(console, Text())
        shown = compared[: 1 + _ALTERNATIVES]
        for line in comparison(shown, answer, position.rule_set, phrases, width=_width(console)):
            _print(console, line)
        if len(compared) > len(shown):
            _print(console, Text(phrases.more_moves.format(count=len(compared) - len(shown)), style="dim"))
        _print_sentences(console, _effort(answer, timed, phrases))


def print_best_move(
    console: Console, answer: Answer, position: Position, *, timed: bool = False, phrases: Phrases = ENGLISH
) -> None:
    """The board, the best move in words, and the rest of the turn."""
    _print_recommendation(console, answer, position, phrases)
    line = answer.moves[0].line
    if len(line) > 1:
        _print(console, Text())
        _print(console, Text(phrases.then))
        width = max(map(len, line[1:]))
        for move, sentence in list(zip(line, describe_line(line, position, phrases), strict=True))[1:]:
            _print(console, Text.assemble("  ", (f"{move:{width}}", "bold"), f"  {sentence}"))
    if _with_value(answer):
        _print(console, Text())
        _print_sentences(console, _effort(answer, timed, phrases))


def print_analysis(
    console: Console,
    updates: Iterable[AnalyzeResponse],
    position: Position,
    *,
    timed: bool = False,
    phrases: Phrases = ENGLISH,
) -> None:
    """The board and a table of all moves, which on a terminal changes with every update; elsewhere only the last."""
    _print_board(console, position, phrases)
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            for update in updates:
                live.update(Group(*_analysis(console, update, position, timed, phrases)), refresh=True)
        return
    last = None
    for update in updates:
        last = update
    if last is not None:
        _print_sentences(console, _analysis(console, last, position, timed, phrases))


def print_check(console: Console, answer: CheckMoveResponse, phrases: Phrases = ENGLISH) -> None:
    """Whether the move is legal; where it is not, the rule that it breaks."""
    if answer.legal:
        _print(console, Text(phrases.legal))
        return
    _print(console, Text(phrases.broken_rule.format(rule=answer.rule, text=answer.text)))
    if answer.obligatory:
        _print(console, Text(phrases.obligatory.format(moves=", ".join(answer.obligatory))))


def print_needed(console: Console, needed: Sequence[Slot], position: Position, phrases: Phrases = ENGLISH) -> None:
    """The cards that must be revealed before a move can be played, each as the option that reveals it."""
    _print(console, Text(phrases.needed))
    options = [f"--reveal {format_slot(slot, position.player_to_move)}=" for slot in needed]
    width = max(map(len, options))
    for option, slot in zip(options, needed, strict=True):
        _print(console, Text.assemble("  ", (f"{option:{width}}", "bold"), f"  {describe_slot(slot, phrases)}"))


def print_legal_moves(
    console: Console, moves: Sequence[LegalMove], position: Position, phrases: Phrases = ENGLISH
) -> None:
    """The moves, one a line, each in words."""
    if not moves:
        _print(console, Text(phrases.no_legal_moves))
    for legal in moves:
        line = Text.assemble((f"{legal.move:8}", "bold"), describe_move(legal.move, position, phrases) + ".")
        notes = []
        if legal.equivalent_to:
            notes.append(phrases.equivalent.format(move=legal.equivalent_to))
        elif legal.forced:
            line.append(f" {phrases.only_legal_move}")
        if legal.compelled_by:
            notes.append(phrases.compelled_by.format(rule=legal.compelled_by))
        if notes:
            line.append(f" ({', '.join(notes)})", style="dim")
        _print(console, line)


def print_info(console: Console, info: GetInfoResponse) -> None:
    """What the server is and can do."""
    lines = [f"engine {info.engine_version}"]
    lines += [f"device {device.platform} ({device.kind}), workers: {device.workers}" for device in info.devices]
    limits = info.limits
    lines += [
        f"rollouts {limits.default_hint_rollouts:,} for a hint, {limits.default_best_move_rollouts:,} for a best move,"
        f" {limits.default_analysis_rollouts:,} for an analysis, unless the request says otherwise",
        f"at most {limits.max_rollouts:,} rollouts, {limits.max_time_ms / 1000:g} s, and"
        f" {limits.max_message_bytes:,} bytes a message",
    ]
    for served in info.presets:
        lines += [f"preset {served.preset}: {served.description}", f"  {_options(served.defaults)}"]
    seconds = sum(program.compile_seconds for program in info.programs)
    lines.append(f"compiled programs: {len(info.programs)}, ready in {seconds:.1f} s")
    lines += [f"  {program.name} ({program.sizes}): {program.compile_seconds:.2f} s" for program in info.programs]
    for line in lines:
        _print(console, Text(line))


def _print(console: Console, text: Text) -> None:
    """One line, not wrapped: it is laid out already, or for machines to read."""
    console.print(text, soft_wrap=True)


def _print_sentences(console: Console, sentences: Iterable[Text]) -> None:
    """Lines that a terminal wraps between words; elsewhere they stay whole."""
    for sentence in sentences:
        console.print(sentence, soft_wrap=not console.is_terminal)


def _width(console: Console) -> int | None:
    """Columns that there are; None where nobody counts them."""
    return console.width if console.is_terminal else None


def _print_board(console: Console, position: Position, phrases: Phrases) -> None:
    for line in draw_lines(position, width=_width(console) or _OUTPUT_WIDTH, phrases=phrases):
        _print(console, line)
    _print(console, Text())


def _print_recommendation(console: Console, answer: Answer, position: Position, phrases: Phrases) -> None:
    _print_board(console, position, phrases)
    headline, *sentences = describe_hint(answer, position, phrases)
    heading = Text.assemble((answer.moves[0].move, "bold green"), "  ", (headline, "bold"))
    _print_sentences(console, [heading, *map(Text, sentences)])


def _with_value(answer: Answer) -> list[MoveEvaluation]:
    return [evaluation for evaluation in answer.moves if evaluation.HasField("value")]


def _analysis(
    console: Console, update: AnalyzeResponse, position: Position, timed: bool, phrases: Phrases
) -> list[Text]:
    answer = update.answer
    compared = _with_value(answer)
    if not compared:
        return [Text(sentence) for sentence in describe_hint(answer, position, phrases)]
    table = comparison(compared, answer, position.rule_set, phrases, width=_width(console), equivalents=True)
    lines = table + _effort(answer, timed and update.final and not update.partial, phrases)
    return [*lines, Text(phrases.partial)] if update.partial else lines


def _effort(answer: Answer, timed: bool, phrases: Phrases) -> list[Text]:
    lines = [Text(phrases.effort.format(count=answer.rollouts, seed=answer.seed), style="dim")]
    if min(evaluation.value.rollouts for evaluation in _with_value(answer)) < _FEW_ROLLOUTS:
        lines.append(Text(phrases.few_rollouts))
    if timed:
        repeat = phrases.repeat.format(rollouts=answer.schedule_rollouts, rounds=answer.rounds_done, seed=answer.seed)
        lines.append(Text(repeat, style="dim"))
    return lines


def _options(rule_set: RuleSet) -> str:
    """The options that are set, in words, for example "payoff cards 20"."""
    family = rule_set.WhichOneof("options")
    words = list[str]()
    for field, value in options_of(rule_set, family).ListFields() if family else ():
        if field.enum_type:
            names = field.enum_type.values_by_number
            value = names[value].name.removeprefix(names[0].name.removesuffix("UNSPECIFIED")).lower()
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        words.append(f"{field.name.replace('_', ' ')} {value}")
    return ", ".join(words)
