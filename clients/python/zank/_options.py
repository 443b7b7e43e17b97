"""What the arguments and options of the `zank` command are, and what they accept."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import click

from zank import _arguments as arguments
from zank._connection import DEFAULT_CONNECT_TIMEOUT, DEFAULT_START_TIMEOUT, DEFAULT_TIMEOUT
from zank._reading import Input, read
from zank._requests import MAX_ROUNDS, OBJECTIVES, PRIORITIES
from zank._terminal import status_console
from zank.client import Client
from zank.embedded import EmbeddedServer
from zank.errors import InvalidInput
from zank.notation import Move, parse_move

SEED: Final = click.IntRange(0, arguments.UINT64)
MOST_SERVERS: Final = 16  # that are started for one command: each takes about half a GB of memory


class PositionType(click.ParamType[list[Input]]):
    """The positions in a file, in the argument itself, or on standard input."""

    name = "position"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> list[Input]:
        """Reads them."""
        try:
            return read(str(value))
        except InvalidInput as error:
            self.fail(str(error), param, context)


class MoveType(click.ParamType[Move]):
    """A move, in public notation or as people write it."""

    name = "move"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Move:
        """Parses it."""
        try:
            return parse_move(str(value))
        except InvalidInput as error:
            self.fail(str(error), param, context)


class _ServerType(click.ParamType[str]):
    """Where a server is."""

    name = "server"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> str:
        try:
            return arguments.target(value)
        except InvalidInput as error:
            self.fail(str(error), param, context)


class _ScoreType(click.ParamType[tuple[int, int]]):
    """The score of a match."""

    name = "score"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> tuple[int, int]:
        score = re.fullmatch("([0-9]{1,9})[-:]([0-9]{1,9})", str(value))
        if score is None:
            self.fail(f"expected the points of both players, for example 38-45, found {value!r}", param, context)
        return int(score[1]), int(score[2])


class _Seconds(click.ParamType[float]):
    """A span of time."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        try:
            return arguments.seconds("seconds", float(value))
        except ValueError as error:
            self.fail(str(error), param, context)


server_option = click.option(
    "--server",
    type=_ServerType(),
    metavar="HOST:PORT",
    envvar="ZANK_SERVER",
    show_envvar=True,
    help="A running server. Default: one is started for this command, which needs zank[server] and takes 2 to 3"
    " seconds.",
)
"""Where the server is that a command asks."""

servers_option = click.option(
    "--server",
    "servers",
    type=_ServerType(),
    multiple=True,
    metavar="HOST:PORT",
    envvar="ZANK_SERVER",
    show_envvar=True,
    help="A running server. Repeatable: the work is shared out. Default: as many as there are cores, up to 16, are"
    " started for this command, one where there is a GPU, which needs zank[server].",
)
"""Where the servers are that a command with much to do asks."""


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that asks a server."""
    for option in (
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print the server's answer as JSON, one object per line. Fields that are zero or empty are printed;"
            " a field that is not there has no value, such as the value of a forced move.",
        ),
        click.option(
            "--timeout",
            type=_Seconds(),
            default=DEFAULT_TIMEOUT,
            show_default=True,
            help="Seconds to wait for one answer, on top of --time.",
        ),
        server_option,
    ):
        command = option(command)
    return command


def output_option(command: Callable[..., None]) -> Callable[..., None]:
    """The option of every command that prints a position as a file."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, writable=True),
        metavar="FILE",
        help="Write the position to FILE, which may be the POSITION that is read, rather than print it.",
    )(command)


def question_options(command: Callable[..., None]) -> Callable[..., None]:
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
            help="What moves are ranked by. Default: the match with --score, else points where the preset scores, else"
            " win.",
        ),
        click.option(
            "--score",
            "match_score",
            type=_ScoreType(),
            metavar="POINTS-POINTS",
            help="Points of player 1 and of player 2 in the match before this game, for example 38-45: moves are ranked"
            " by the chance to win the match.",
        ),
        click.option(
            "--keep", type=MoveType(), multiple=True, help="Study this move as long as the best one. Repeatable."
        ),
        click.option("--avoid", type=MoveType(), multiple=True, help="Leave this move out. Repeatable."),
        click.option("--only", type=MoveType(), multiple=True, help="Consider no other moves. Repeatable."),
        click.option("--seed", type=SEED, help="Seed of the random numbers. Default: derived from the position."),
        click.option(
            "--rounds",
            type=click.IntRange(1, MAX_ROUNDS),
            help="Stop after so many rounds of --rollouts, to repeat an answer that --time cut short.",
        ),
        click.option(
            "--time",
            type=_Seconds(),
            help="Seconds that the work may take, alone or as a limit beside --rollouts.",
        ),
        click.option(
            "--rollouts",
            type=click.IntRange(1, arguments.UINT32),
            help="Games to play to the end, over all moves together. Default: the server's (see zank info).",
        ),
    ):
        command = option(command)
    return command


@contextmanager
def connected(server: str | None, timeout: float) -> Iterator[Client]:
    """A client for one command."""
    if server is None:
        with status_console().status("starting the engine", spinner="line"):
            client = Client(timeout=timeout)
    else:
        client = Client(server, timeout=timeout)
    with client:
        yield client


@contextmanager
def connected_to_all(servers: Sequence[str], timeout: float) -> Iterator[Sequence[Client]]:
    """Clients for one command with much to do, of these servers; without any, of as many as keep the machine busy.

    A server finds moves in one interpreter, which keeps little more than one core busy with rollouts.
    """
    with ExitStack() as stack:
        if servers:
            yield [stack.enter_context(Client(server, timeout=timeout)) for server in servers]
            return
        usable = cores()
        count = min(usable, MOST_SERVERS)

        def started() -> EmbeddedServer:
            server = EmbeddedServer(workers=-(-usable // count))
            stack.callback(server.close)
            return server

        def client(server: EmbeddedServer) -> Client:
            target = server.wait(DEFAULT_START_TIMEOUT)
            return stack.enter_context(Client(target, timeout=timeout, start_timeout=DEFAULT_CONNECT_TIMEOUT))

        with status_console().status("starting the engine", spinner="line"):
            clients = [client(started())]  # alone: it may have to compile what the others find compiled
            if all(device.platform == "cpu" for device in clients[0].info().devices):
                others = [started() for _ in range(count - 1)]
                clients += map(client, others)
        yield clients


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
