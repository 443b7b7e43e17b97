"""The `zank` command."""

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, Unpack

import click
from google.protobuf.message import Message

from zank._games import games, simulate
from zank._options import SEED, MoveType, PositionType, connected, output_option, question_options, server_options
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
from zank._reading import Input, all_of, only_one
from zank._requests import QuestionOptions, question
from zank._rule_set_options import chosen_rule_set, rule_set_options
from zank._terminal import OutputFile, console, prepare_output
from zank.embedded import require_server
from zank.errors import (
    InvalidInput,
    InvalidRequest,
    InvalidReveal,
    Refused,
    RevealsNeeded,
    ZankError,
)
from zank.notation import Move
from zank.positions import to_json
from zank.presets import PRESETS
from zank.reveals import parse_reveal
from zank.v1 import (
    Answer,
    ApplyMoveResponse,
    DealResponse,
    Event,
    ListLegalMovesResponse,
    Position,
    ViewResponse,
)

_NOT_PLAYABLE: Final = 3  # exit status: an illegal move, or one whose cards are not known
_INTERRUPTED: Final = 130  # exit status after Ctrl-C, as shells have it

_HELP: Final = """\
Hints for two-player quarrel patience: Spite & Malice (malice-...) and Russian Bank (bank-...).

\b
  zank deal malice-match --seed 1 | zank hint
  zank deal malice-match -o game.txt
  zank legal game.txt
  zank check Q-S4 game.txt && zank apply Q-S4 game.txt -o game.txt
  zank analyze game.txt --time 5

\b
  zank simulate --preset malice-match --games 100 --seed 1 > games.jsonl
  zank games validate games.jsonl
  zank games convert games.jsonl --to text

A move is SOURCE-TARGET. Spite & Malice: P-C2 plays the payoff card to center stack 2, S3-C1 the top of side stack 3,
7-C2 a seven from hand (7h-C2 names the card); Q-S4 discards a queen on side stack 4. A ten is T.

Russian Bank: R-F plays the reserve card to its foundation, D-T5 the drawn card to tableau pile 5, T2-T7 the top of
tableau pile 2 to pile 7, T4-OR and D-OW load the other player's reserve and waste. TURN turns a stock card, END ends
the turn.

Each command starts a server of its own, which takes about 3 seconds. With a server that stays, answers come at once:

\b
  zank serve &
  export ZANK_SERVER=localhost:50051

Exit status: 0, 1 when the server fails or is not there, 2 when the input or the usage is at fault, 3 when `check`
finds a move illegal or `apply` lacks a card that comes to light, 130 after Ctrl-C. The commands about records say
theirs.
"""

_POSITION_HELP: Final = (
    "A POSITION is a file, the text form itself, or - for standard input, which is also read when there is no"
    " POSITION. Lines that start with # are comments."
)


class _InputFault(click.ClickException):
    """The input is not accepted."""

    exit_code = 2


class _Commands(click.Group):
    """The commands; whatever goes wrong in one ends it with a message and an exit status."""

    def invoke(self, context: click.Context) -> Any:
        """Runs a command."""
        try:
            return super().invoke(context)
        except ZankError as error:
            raise _failure(error) from None
        except InvalidInput as error:
            raise _InputFault(str(error)) from None
        except KeyboardInterrupt:
            sys.exit(_INTERRUPTED)


def _failure(error: ZankError, origin: str = "") -> click.ClickException:
    """How a failed call ends a command: exit status 2 when the input is at fault, 1 when the server is."""
    kind = _InputFault if isinstance(error, InvalidRequest | Refused) else click.ClickException
    return kind(f"{origin}: {error}" if origin else str(error))


@click.group(cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="zank")
def main() -> None:
    """Hints for two-player quarrel patience."""
    prepare_output()


@main.command(short_help="Deal a game.")
@click.argument("preset", type=click.Choice(list(PRESETS)))
@click.option("--seed", type=SEED, help="The same seed gives the same deal. Default: drawn by the server.")
@rule_set_options
@output_option
@server_options
def deal(
    preset: str,
    seed: int | None,
    output: str | None,
    server: str | None,
    timeout: float,
    as_json: bool,
    **options: int | str | None,
) -> None:
    """Deal a game of PRESET and print it as a file: the board as comments, then the position in its text form."""
    rule_set = chosen_rule_set(preset, options)
    with connected(server, timeout) as client:
        position = client.deal(rule_set, seed=seed)
    _give(DealResponse(position=position), position, output, as_json=as_json)


@main.command(short_help="List the legal moves.", epilog=_POSITION_HELP)
@click.argument("position", type=PositionType(), required=False)
@server_options
def legal(position: list[Input] | None, server: str | None, timeout: float, as_json: bool) -> None:
    """List the legal moves of a position, each in words."""
    item = only_one(position)
    with connected(server, timeout) as client:
        moves = client.legal_moves(item.position)
    if as_json:
        click.echo(to_json(ListLegalMovesResponse(moves=moves)))
    else:
        print_legal_moves(console(), moves, item.position)


@main.command(short_help="Say whether a move is legal.", epilog=_POSITION_HELP)
@click.argument("move", type=MoveType())
@click.argument("position", type=PositionType(), required=False)
@server_options
def check(move: Move, position: list[Input] | None, server: str | None, timeout: float, as_json: bool) -> None:
    """Print "legal", or the rule that MOVE breaks and what it says; exit status 0 or 3."""
    item = only_one(position)
    with connected(server, timeout) as client:
        answer = client.check(item.position, move)
    if as_json:
        click.echo(to_json(answer))
    else:
        print_check(console(), answer)
    sys.exit(0 if answer.legal else _NOT_PLAYABLE)


@main.command(short_help="Play a move.", epilog=_POSITION_HELP)
@click.argument("move", type=MoveType())
@click.argument("position", type=PositionType(), required=False)
@click.option(
    "--reveal",
    "reveals",
    metavar="SLOT=CARD",
    multiple=True,
    help="A card that comes to light, where the position does not hold it: P=7h the next payoff card, H0=2c the first"
    " card drawn, 2:H0=2c when it is player 2's and player 1 moves; R=7h the next reserve card, D=2c the card turned"
    " from the stock. Repeatable.",
)
@output_option
@server_options
def apply(
    move: Move,
    position: list[Input] | None,
    reveals: tuple[str, ...],
    output: str | None,
    server: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Play MOVE in a position and print the next one as a file, with what happened as comments.

    Where cards come to light that the position does not hold, say which must be revealed; exit status 3.

    To go on in the same file: zank apply MOVE FILE --output FILE. (The shell empties the file of > FILE first.)
    """
    item = only_one(position)
    try:
        cards = [parse_reveal(reveal, item.position.player_to_move) for reveal in reveals]
    except InvalidReveal as error:
        raise click.BadParameter(str(error), param_hint="--reveal") from None
    with connected(server, timeout) as client:
        try:
            answer = client.apply(item.position, move, reveals=cards)
        except RevealsNeeded as error:
            answer = ApplyMoveResponse(needed=error.needed)
    if not answer.needed:
        _give(answer, answer.position, output, as_json=as_json, events=answer.events)
        return
    if as_json:
        click.echo(to_json(answer))
    else:
        print_needed(console(), answer.needed, item.position)
    sys.exit(_NOT_PLAYABLE)


@main.command(short_help="Print what a player can know.", epilog=_POSITION_HELP)
@click.argument("position", type=PositionType(), required=False)
@click.option("--player", type=click.IntRange(1, 2), required=True, help="Who looks.")
@output_option
@server_options
def view(
    position: list[Input] | None,
    player: int,
    output: str | None,
    server: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Print what one player can know of a position, as a file: hidden cards and the other hand are left out."""
    item = only_one(position)
    with connected(server, timeout) as client:
        seen = client.view(item.position, player)
    _give(ViewResponse(position=seen), seen, output, as_json=as_json, viewer=player)


@main.command(short_help="Say what to play, why, and how sure that is.", epilog=_POSITION_HELP)
@click.argument("positions", metavar="[POSITION]...", type=PositionType(), nargs=-1)
@question_options
@server_options
def hint(
    positions: tuple[list[Input], ...],
    server: str | None,
    timeout: float,
    as_json: bool,
    **options: Unpack[QuestionOptions],
) -> None:
    """Say what to play in each position: the move, why, the chance to win, and the nearest alternatives.

    A POSITION may hold several positions, one a line. The JSON answers carry FILE:LINE as their requestId.
    """
    inputs = all_of(positions)
    _check("hint", inputs, options)
    with connected(server, timeout) as client:
        sys.exit(_answer_each(client.hint, print_hint, inputs, options, as_json=as_json))


@main.command(short_help="Say how to play the turn.", epilog=_POSITION_HELP)
@click.argument("positions", metavar="[POSITION]...", type=PositionType(), nargs=-1)
@question_options
@server_options
def best(
    positions: tuple[list[Input], ...],
    server: str | None,
    timeout: float,
    as_json: bool,
    **options: Unpack[QuestionOptions],
) -> None:
    """Say how to play the turn in each position: the best move, and the moves after it up to the next unknown card.

    A POSITION may hold several positions, one a line. The JSON answers carry FILE:LINE as their requestId.
    """
    inputs = all_of(positions)
    _check("best", inputs, options)
    with connected(server, timeout) as client:
        sys.exit(_answer_each(client.best, print_best_move, inputs, options, as_json=as_json))


@main.command(short_help="Compare all moves.", epilog=_POSITION_HELP)
@click.argument("position", type=PositionType(), required=False)
@question_options
@server_options
def analyze(
    position: list[Input] | None,
    server: str | None,
    timeout: float,
    as_json: bool,
    **options: Unpack[QuestionOptions],
) -> None:
    """Compare all moves, in a table that a terminal shows while it changes.

    With --json every message is printed as it comes, the last one with "final".
    """
    item = only_one(position)
    options["request_id"] = item.request_id
    _check("analyze", [item], options)
    with connected(server, timeout) as client:
        updates = client.analyze(item.position, **options)
        if as_json:
            for update in updates:
                click.echo(to_json(update))
        else:
            print_analysis(console(), updates, item.position, timed=options.get("time") is not None)


@main.command(short_help="Say what the server is and can do.")
@server_options
def info(server: str | None, timeout: float, as_json: bool) -> None:
    """Say what the server is and can do: presets and their options, limits, devices, compiled programs."""
    with connected(server, timeout) as client:
        answer = client.info()
    if as_json:
        click.echo(to_json(answer))
    else:
        print_info(console(), answer)


@main.command(
    short_help="Run a server.",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve(arguments: tuple[str, ...]) -> None:
    """Run a server until it is stopped; `zank serve --help` lists its options. Needs zank[server]."""
    require_server()
    # By name: the client is installed without the server, and does not depend on it.
    sys.exit(importlib.import_module("zank_service.__main__").main(list(arguments)))


main.add_command(games)
main.add_command(simulate)


def _check(command: str, inputs: list[Input], options: QuestionOptions) -> None:
    """Finds fault with a question before a server is started for it."""
    for item in inputs:
        question(command, item.position, options)


def _give(
    answer: Message,
    position: Position,
    output: str | None,
    *,
    as_json: bool,
    events: Sequence[Event] = (),
    viewer: int | None = None,
) -> None:
    """Prints the position of an answer as a file, or the answer as JSON, to standard output or to the `output`."""
    file = None if output is None else OutputFile(output)
    screen = console() if file is None else file.console
    if as_json:
        click.echo(to_json(answer), file=screen.file)
    else:
        print_position_file(screen, position, events=events, viewer=viewer)
    if file is not None:
        try:
            file.replace()
        except OSError as error:
            raise _InputFault(f"{output} cannot be written: {error.strerror}") from None


def _answer_each(
    ask: Callable[..., Answer],
    show: Callable[..., None],
    inputs: list[Input],
    options: QuestionOptions,
    *,
    as_json: bool,
) -> int:
    """Asks about each position and shows the answer; returns the exit status.

    A position that is refused among others fails alone.
    """
    exit_code = 0
    screen = console()
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
            screen.print(title, style="bold reverse", soft_wrap=True)
        show(screen, answer, item.position, timed=options.get("time") is not None)
        if len(inputs) > 1:
            screen.print()
    return exit_code
