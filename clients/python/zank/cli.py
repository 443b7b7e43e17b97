"""The `zank` command."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Unpack

import click
from rich.console import Console

from zank._connection import DEFAULT_TIMEOUT
from zank._printing import (
    print_analysis,
    print_best_move,
    print_check,
    print_hint,
    print_info,
    print_legal_moves,
    print_needed,
    print_position_file,
)
from zank._requests import OBJECTIVES, PRIORITIES, QuestionOptions
from zank.client import Client
from zank.embedded import require_server
from zank.errors import (
    InvalidInput,
    InvalidMove,
    InvalidRequest,
    InvalidReveal,
    Refused,
    RevealsNeeded,
    ServerNotInstalled,
    ZankError,
)
from zank.notation import Move, parse_move
from zank.positions import load_entries, to_json
from zank.presets import PRESETS
from zank.reveals import parse_reveal
from zank.v1 import (
    STOCK_OUT_WHEN_EMPTIED,
    STOCK_OUT_WHEN_SHORT,
    Answer,
    ApplyMoveResponse,
    DealResponse,
    ListLegalMovesResponse,
    MaliceOptions,
    Position,
    RuleSet,
    ViewResponse,
)

_SEED: Final = click.IntRange(0, 2**64 - 1)
_UINT32: Final = 2**32 - 1
_STOCK_OUT_WHEN: Final = {"emptied": STOCK_OUT_WHEN_EMPTIED, "short": STOCK_OUT_WHEN_SHORT}
_REQUEST_ID_LIMIT: Final = 128  # characters
_NOT_PLAYABLE: Final = 3  # exit status: an illegal move, or one whose cards are not known

_HELP: Final = """\
Hints for two-player quarrel patience.

\b
  zank deal malice-match --seed 1 | zank hint
  zank deal malice-match > game.txt
  zank legal game.txt
  zank check Q-S4 game.txt && zank apply Q-S4 game.txt
  zank analyze game.txt --time 5

A move is SOURCE-TARGET: P-C2 plays the payoff card to center stack 2, S3-C1 the top of side stack 3, 7-C2 a seven
from hand (7h-C2 names the card); Q-S4 discards a queen on side stack 4. A ten is T.

Exit status: 0, 1 when the server fails or is not there, 2 when the input or the usage is at fault, 3 when `check`
finds a move illegal or `apply` lacks a card that comes to light.
"""

_POSITION_HELP: Final = (
    "A POSITION is a file, the text form itself, or - for standard input, which is also read when there is no"
    " POSITION. Lines that start with # are comments."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Input:
    """A position and where it was read."""

    position: Position
    origin: str  # for example "opening.txt:2"
    comment: str

    @property
    def request_id(self) -> str:
        """What tells its answer from others: the end of the origin."""
        return self.origin[-_REQUEST_ID_LIMIT:]


class _PositionType(click.ParamType[list[_Input]]):
    """The positions in a file, in the argument itself, or on standard input."""

    name = "position"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> list[_Input]:
        try:
            return _read(str(value))
        except (InvalidInput, OSError, UnicodeDecodeError) as error:
            self.fail(str(error), param, context)


class _MoveType(click.ParamType[Move]):
    """A move in the public notation."""

    name = "move"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Move:
        try:
            return parse_move(str(value))
        except InvalidMove as error:
            self.fail(str(error), param, context)


class _InputFault(click.ClickException):
    """The server does not accept the input."""

    exit_code = 2


def _failure(error: ZankError, origin: str = "") -> click.ClickException:
    """How a failed call ends a command: exit status 2 when the input is at fault, 1 when the server is."""
    kind = _InputFault if isinstance(error, InvalidRequest | Refused) else click.ClickException
    return kind(f"{origin}: {error}" if origin else str(error))


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that asks a server."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON, one object per line."),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=DEFAULT_TIMEOUT,
            show_default=True,
            help="Seconds to wait for one answer, on top of --time.",
        ),
        click.option(
            "--server",
            metavar="HOST:PORT",
            envvar="ZANK_SERVER",
            show_envvar=True,
            help="A running server. Default: one is started for this command, which needs zank[server].",
        ),
    ):
        command = option(command)
    return command


def _question_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that asks a solver, named as in `QuestionOptions`."""
    for option in (
        click.option(
            "--priority",
            type=click.Choice(list(PRIORITIES)),
            help="Who waits: a player, somebody with patience, nobody. Default: interactive.",
        ),
        click.option(
            "--objective",
            type=click.Choice(list(OBJECTIVES)),
            help="What moves are ranked by. Default: points where the preset scores, else win.",
        ),
        click.option(
            "--keep", type=_MoveType(), multiple=True, help="Study this move as long as the best one. Repeatable."
        ),
        click.option("--avoid", type=_MoveType(), multiple=True, help="Leave this move out. Repeatable."),
        click.option("--only", type=_MoveType(), multiple=True, help="Consider no other moves. Repeatable."),
        click.option("--seed", type=_SEED, help="Seed of the random numbers. Default: derived from the position."),
        click.option(
            "--rounds",
            type=click.IntRange(1, 3),
            help="Stop after so many rounds of --rollouts, to repeat an answer that --time cut short.",
        ),
        click.option(
            "--time",
            type=click.FloatRange(min=0, min_open=True),
            help="Seconds that the work may take, alone or as a limit beside --rollouts.",
        ),
        click.option(
            "--rollouts",
            type=click.IntRange(1, _UINT32),
            help="Games to play to the end, over all moves together. Default: the server's (see zank info).",
        ),
    ):
        command = option(command)
    return command


@click.group(help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="zank")
def main() -> None:
    """Hints for two-player quarrel patience."""


@main.command(short_help="Deal a game.")
@click.argument("preset", type=click.Choice(list(PRESETS)))
@click.option("--seed", type=_SEED, help="The same seed gives the same deal. Default: drawn by the server.")
@click.option("--payoff-cards", type=click.IntRange(1, 30), help="Cards in each payoff pile. Default: 20.")
@click.option(
    "--wild-starts-stack/--no-wild-starts-stack",
    default=None,
    help="A king may start a center stack (M4). Default: in malice-match only.",
)
@click.option(
    "--side-play-ends-turn/--no-side-play-ends-turn",
    default=None,
    help="A play from a side stack ends the turn (M6). Default: no.",
)
@click.option(
    "--stock-out-when",
    type=click.Choice(list(_STOCK_OUT_WHEN)),
    help="When an exhausted stock ends the game (M11). Default: emptied.",
)
@click.option(
    "--match-target",
    type=click.IntRange(0, 1000),
    help="Points at which a match is won, 0 for single games (M12). Default: 50 in malice-match, else 0.",
)
@_server_options
def deal(
    preset: str,
    seed: int | None,
    payoff_cards: int | None,
    wild_starts_stack: bool | None,
    side_play_ends_turn: bool | None,
    stock_out_when: str | None,
    match_target: int | None,
    server: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Deal a game of PRESET and print it as a file: the board as comments, then the position in its text form."""
    options = MaliceOptions(
        payoff_cards=payoff_cards,
        wild_starts_stack=wild_starts_stack,
        side_play_ends_turn=side_play_ends_turn,
        stock_out_when=None if stock_out_when is None else _STOCK_OUT_WHEN[stock_out_when],
        match_target=match_target,
    )
    rule_set = RuleSet(preset=preset, malice=options if options.ListFields() else None)
    with _connected(server, timeout) as client:
        position = client.deal(rule_set, seed=seed)
    if as_json:
        click.echo(to_json(DealResponse(position=position)))
    else:
        print_position_file(_console(), position)


@main.command(short_help="List the legal moves.", epilog=_POSITION_HELP)
@click.argument("position", type=_PositionType(), required=False)
@_server_options
def legal(position: list[_Input] | None, server: str | None, timeout: float, as_json: bool) -> None:
    """List the legal moves of a position, each in words."""
    item = _only(position)
    with _connected(server, timeout) as client:
        moves = client.legal_moves(item.position)
    if as_json:
        click.echo(to_json(ListLegalMovesResponse(moves=moves)))
    else:
        print_legal_moves(_console(), moves, item.position)


@main.command(short_help="Say whether a move is legal.", epilog=_POSITION_HELP)
@click.argument("move", type=_MoveType())
@click.argument("position", type=_PositionType(), required=False)
@_server_options
def check(move: Move, position: list[_Input] | None, server: str | None, timeout: float, as_json: bool) -> None:
    """Print "legal", or the rule that MOVE breaks and what it says; exit status 0 or 3."""
    item = _only(position)
    with _connected(server, timeout) as client:
        answer = client.check(item.position, move)
    if as_json:
        click.echo(to_json(answer))
    else:
        print_check(_console(), answer)
    sys.exit(0 if answer.legal else _NOT_PLAYABLE)


@main.command(short_help="Play a move.", epilog=_POSITION_HELP)
@click.argument("move", type=_MoveType())
@click.argument("position", type=_PositionType(), required=False)
@click.option(
    "--reveal",
    "reveals",
    metavar="SLOT=CARD",
    multiple=True,
    help="A card that comes to light, where the position does not hold it: P=7h the next payoff card, H0=2c the first"
    " card drawn; 2:H0=2c when it is player 2's and player 1 moves. Repeatable.",
)
@_server_options
def apply(
    move: Move,
    position: list[_Input] | None,
    reveals: tuple[str, ...],
    server: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Play MOVE in a position and print the next one as a file, with what happened as comments.

    Where cards come to light that the position does not hold, say which must be revealed; exit status 3.
    """
    item = _only(position)
    try:
        cards = [parse_reveal(reveal, item.position.player_to_move) for reveal in reveals]
    except InvalidReveal as error:
        raise click.BadParameter(str(error), param_hint="--reveal") from None
    with _connected(server, timeout) as client:
        try:
            answer = client.apply(item.position, move, reveals=cards)
        except RevealsNeeded as error:
            answer = ApplyMoveResponse(needed=error.needed)
    if as_json:
        click.echo(to_json(answer))
    elif answer.needed:
        print_needed(_console(), answer.needed, item.position)
    else:
        print_position_file(_console(), answer.position, events=answer.events)
    sys.exit(_NOT_PLAYABLE if answer.needed else 0)


@main.command(short_help="Print what a player can know.", epilog=_POSITION_HELP)
@click.argument("position", type=_PositionType(), required=False)
@click.option("--player", type=click.IntRange(1, 2), required=True, help="Who looks.")
@_server_options
def view(position: list[_Input] | None, player: int, server: str | None, timeout: float, as_json: bool) -> None:
    """Print what one player can know of a position, as a file: hidden cards and the other hand are left out."""
    item = _only(position)
    with _connected(server, timeout) as client:
        seen = client.view(item.position, player)
    if as_json:
        click.echo(to_json(ViewResponse(position=seen)))
    else:
        print_position_file(_console(), seen, viewer=player)


@main.command(short_help="Say what to play, why, and how sure that is.", epilog=_POSITION_HELP)
@click.argument("positions", metavar="[POSITION]...", type=_PositionType(), nargs=-1)
@_question_options
@_server_options
def hint(
    positions: tuple[list[_Input], ...],
    server: str | None,
    timeout: float,
    as_json: bool,
    **options: Unpack[QuestionOptions],
) -> None:
    """Say what to play in each position: the move, why, the chance to win, and the nearest alternatives.

    A POSITION may hold several positions, one a line. The JSON answers carry FILE:LINE as their requestId.
    """
    inputs = _all(positions)
    with _connected(server, timeout) as client:
        sys.exit(_answer_each(client.hint, print_hint, inputs, options, as_json=as_json))


@main.command(short_help="Say how to play the turn.", epilog=_POSITION_HELP)
@click.argument("positions", metavar="[POSITION]...", type=_PositionType(), nargs=-1)
@_question_options
@_server_options
def best(
    positions: tuple[list[_Input], ...],
    server: str | None,
    timeout: float,
    as_json: bool,
    **options: Unpack[QuestionOptions],
) -> None:
    """Say how to play the turn in each position: the best move, and the moves after it up to the next unknown card.

    A POSITION may hold several positions, one a line. The JSON answers carry FILE:LINE as their requestId.
    """
    inputs = _all(positions)
    with _connected(server, timeout) as client:
        sys.exit(_answer_each(client.best, print_best_move, inputs, options, as_json=as_json))


@main.command(short_help="Compare all moves.", epilog=_POSITION_HELP)
@click.argument("position", type=_PositionType(), required=False)
@_question_options
@_server_options
def analyze(
    position: list[_Input] | None,
    server: str | None,
    timeout: float,
    as_json: bool,
    **options: Unpack[QuestionOptions],
) -> None:
    """Compare all moves, in a table that a terminal shows while it changes.

    With --json every message is printed as it comes, the last one with "final".
    """
    item = _only(position)
    options["request_id"] = item.request_id
    with _connected(server, timeout) as client:
        updates = client.analyze(item.position, **options)
        if as_json:
            for update in updates:
                click.echo(to_json(update))
        else:
            print_analysis(_console(), updates, item.position, timed=options.get("time") is not None)


@main.command(short_help="Say what the server is and can do.")
@_server_options
def info(server: str | None, timeout: float, as_json: bool) -> None:
    """Say what the server is and can do: presets and their options, limits, devices, compiled programs."""
    with _connected(server, timeout) as client:
        answer = client.info()
    if as_json:
        click.echo(to_json(answer))
    else:
        print_info(_console(), answer)


@main.command(
    short_help="Run a server.",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve(arguments: tuple[str, ...]) -> None:
    """Run a server until it is stopped; `zank serve --help` lists its options. Needs zank[server]."""
    try:
        require_server()
    except ServerNotInstalled as error:
        raise _failure(error) from None
    # By name: the client is installed without the server, and does not depend on it.
    sys.exit(importlib.import_module("zank_service.__main__").main(list(arguments)))


def _read(value: str) -> list[_Input]:
    """The positions that an argument stands for: standard input, a file, or text."""
    if value == "-":
        return _inputs(sys.stdin.read(), "standard input")
    if os.path.isfile(value):
        with open(value, encoding="utf-8") as file:
            return _inputs(file.read(), value)
    if any(mark in value for mark in "~{\n"):
        return _inputs(value, "the argument")
    raise InvalidInput(
        f"{value!r} is no file, and no position: expected a file, the text form (malice-match~1~...), JSON, or -"
    )


def _inputs(text: str, origin: str) -> list[_Input]:
    try:
        entries = load_entries(text)
    except InvalidInput as error:
        raise InvalidInput(f"{origin}, {error}") from None
    if not entries:
        raise InvalidInput(f"no position in {origin}")
    return [
        _Input(position=entry.position, origin=f"{origin}:{entry.line}", comment=entry.comment) for entry in entries
    ]


def _standard_input() -> list[_Input]:
    if _stdin_is_terminal():
        raise click.UsageError(
            "a position is missing: expected a file, the text form (malice-match~1~...), or standard input,"
            " for example from `zank deal malice-match |`"
        )
    try:
        return _read("-")
    except InvalidInput as error:
        raise click.UsageError(str(error)) from None


def _stdin_is_terminal() -> bool:
    return sys.stdin.isatty()


def _all(given: tuple[list[_Input], ...]) -> list[_Input]:
    return [item for inputs in given for item in inputs] or _standard_input()


def _only(given: list[_Input] | None) -> _Input:
    inputs = given or _standard_input()
    if len(inputs) > 1:
        raise click.UsageError(f"expected one position, found {len(inputs)}")
    return inputs[0]


@contextmanager
def _connected(server: str | None, timeout: float) -> Iterator[Client]:
    """A client for one command; its errors become the command's."""
    try:
        if server is None:
            with Console(stderr=True).status("starting the engine"):
                client = Client(timeout=timeout)
        else:
            client = Client(server, timeout=timeout)
        with client:
            yield client
    except ZankError as error:
        raise _failure(error) from None


def _answer_each(
    ask: Callable[..., Answer],
    show: Callable[..., None],
    inputs: list[_Input],
    options: QuestionOptions,
    *,
    as_json: bool,
) -> int:
    """Asks about each position and shows the answer; returns the exit status.

    A position that is refused among others fails alone.
    """
    exit_code = 0
    console = _console()
    for item in inputs:
        options["request_id"] = item.request_id
        try:
            answer = ask(item.position, **options)
        except ZankError as error:
            failure = _failure(error, item.origin)
            if len(inputs) == 1 or not isinstance(failure, _InputFault):
                raise failure from None
            failure.show()
            exit_code = failure.exit_code
            continue
        if as_json:
            click.echo(to_json(answer))
            continue
        if len(inputs) > 1:
            title = f"{item.origin} · {item.comment}" if item.comment else item.origin
            console.print(title, style="bold reverse", soft_wrap=True)
        show(console, answer, item.position, timed=options.get("time") is not None)
        if len(inputs) > 1:
            console.print()
    return exit_code


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
