"""The typed, blocking client of a Zank server."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, Unpack

import grpc

from zank import _arguments as arguments
from zank import _requests as requests
from zank._connection import (
    DEFAULT_CONNECT_TIMEOUT,
    DEFAULT_START_TIMEOUT,
    DEFAULT_TIMEOUT,
    channel_options,
    not_connected,
    not_serving,
    unreachable,
    waits,
)
from zank._requests import AnalysisOptions, QuestionOptions, analysis_settings, deadline, question
from zank.embedded import EmbeddedServer
from zank.errors import typed_errors
from zank.notation import Move
from zank.v1 import (
    AnalystStub,
    AnalyzeGameResponse,
    AnalyzeGamesRequest,
    AnalyzeGamesResponse,
    AnalyzeRequest,
    AnalyzeResponse,
    Answer,
    ApplyMoveResponse,
    CheckMoveResponse,
    GameRecord,
    GetBestMoveRequest,
    GetHintRequest,
    GetInfoRequest,
    GetInfoResponse,
    LegalMove,
    Position,
    RefereeStub,
    Reveal,
    RuleSet,
    ServerStub,
    SolverStub,
)


class Client:
    """A connection to a Zank server: a running one at `target`, or one embedded in a child process.

    Positions are messages or their text form, moves values or their notation. Calls raise a ZankError, and
    InvalidInput for arguments that are not what is expected. A `timeout` given to a call is its whole deadline in
    seconds, instead of the client's: when it is over, the call raises DeadlineExceeded. A server that went away is
    tried again for two or three seconds before a call raises ServerUnavailable; once it is back, the client works on.
    Use it as a context manager, or call `close`. It may be used from several threads. `AsyncClient` is the same for
    asyncio.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        start_timeout: float | None = None,
    ) -> None:
        """Connects, and waits until the server serves.

        Args:
            target: "HOST:PORT" of a running server; None starts an embedded one, which needs `zank[server]`.
            timeout: deadline of each call that names none, in seconds; a time budget comes on top.
            start_timeout: how long to wait for the server, in seconds. By default 120 for an embedded one, 10 for one
                that is there and does not serve yet, and no time for one that is not there.

        Raises:
            InvalidInput: an argument is not what is expected.
            ServerNotInstalled: there is no target and the server is not installed here.
            ServerUnavailable: no server serves at the target within `start_timeout`, or the embedded one failed.
        """
        self._timeout = arguments.seconds("timeout", timeout)
        limit = None if start_timeout is None else arguments.seconds("start_timeout", start_timeout)
        self._server: EmbeddedServer | None = None
        self._channel: grpc.Channel | None = None
        self._services: _Services | None = None
        try:
            if target is None:
                self._server = EmbeddedServer()
                target = self._server.wait(DEFAULT_START_TIMEOUT if limit is None else limit)
                limit = DEFAULT_CONNECT_TIMEOUT if limit is None else limit
            self._channel = grpc.insecure_channel(arguments.target(target), options=channel_options(target))
            _wait_until_ready(self._channel, target, limit)
        except BaseException:
            self.close()
            raise
        self._services = _Services(
            referee=RefereeStub(self._channel),
            solver=SolverStub(self._channel),
            analyst=AnalystStub(self._channel),
            about=ServerStub(self._channel),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection and ends the embedded server."""
        self._services = None
        if self._channel is not None:
            self._channel.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    def deal(self, rules: str | RuleSet, *, seed: int | None = None, timeout: float | None = None) -> Position:
        """Deals a game of a preset or a rule set; without a `seed` (0 to 2**64 - 1) the server draws one."""
        return self._call(self._connected.referee.Deal, requests.deal(rules, seed), timeout).position

    def view(self, position: Position | str, player: int, *, timeout: float | None = None) -> Position:
        """What a player (1 or 2) can know of a position: a partial position."""
        return self._call(self._connected.referee.View, requests.view(position, player), timeout).position

    def legal_moves(self, position: Position | str, *, timeout: float | None = None) -> Sequence[LegalMove]:
        """The legal moves of a position, none in a finished game."""
        return self._call(self._connected.referee.ListLegalMoves, requests.legal_moves(position), timeout).moves

    def check(self, position: Position | str, move: Move | str, *, timeout: float | None = None) -> CheckMoveResponse:
        """Whether a move is legal and, where it is not, the rule that it breaks; raises GameOver."""
        return self._call(self._connected.referee.CheckMove, requests.check(position, move), timeout)

    def apply(
        self,
        position: Position | str,
        move: Move | str,
        *,
        reveals: Iterable[Reveal | str] = (),
        timeout: float | None = None,
    ) -> ApplyMoveResponse:
        """Plays a move and returns the next position and what happened.

        Args:
            position: full or partial.
            move: in public notation or parsed.
            reveals: cards that come to light and that a partial position does not hold: messages, or text such as
                "P=7h" (see `zank.parse_reveal`).
            timeout: deadline in seconds, instead of the client's.

        Raises:
            IllegalMove: the move breaks a rule.
            GameOver: the game is finished.
            RevealsNeeded: the `reveals` do not suffice; nothing was played, and `needed` names the slots.
        """
        request = requests.apply(position, move, reveals)
        return requests.played(request, self._call(self._connected.referee.ApplyMove, request, timeout))

    def hint(
        self, position: Position | str, *, timeout: float | None = None, **options: Unpack[QuestionOptions]
    ) -> Answer:
        """What to play for the player to move, why, and how sure that is; raises GameOver.

        The position may be full or partial; the options are those of `zank.QuestionOptions`.
        """
        asked = question("hint", position, options)
        limit = deadline(asked, timeout, self._timeout)
        return self._call(self._connected.solver.GetHint, GetHintRequest(question=asked), limit).answer

    def best(
        self, position: Position | str, *, timeout: float | None = None, **options: Unpack[QuestionOptions]
    ) -> Answer:
        """The best move with the rest of the turn, its `line`: a hint with a larger default budget; raises GameOver."""
        asked = question("best", position, options)
        limit = deadline(asked, timeout, self._timeout)
        return self._call(self._connected.solver.GetBestMove, GetBestMoveRequest(question=asked), limit).answer

    def analyze(
        self, position: Position | str, *, timeout: float | None = None, **options: Unpack[QuestionOptions]
    ) -> Iterator[AnalyzeResponse]:
        """All moves ranked, again and again as rollouts come in, until one is `final`; raises GameOver.

        From a server that stops meanwhile the final one is `partial`: what was known, which another may know more of.

        The work starts at once. To break off, close the iterator or let go of it.
        """
        asked = question("analyze", position, options)
        limit = deadline(asked, timeout, self._timeout)
        call = self._connected.solver.Analyze(AnalyzeRequest(question=asked), timeout=limit)
        return _updates(call, limit)

    def analyze_game(
        self,
        record: GameRecord,
        *,
        request_id: str = "",
        timeout: float | None = None,
        **options: Unpack[AnalysisOptions],
    ) -> Iterator[AnalyzeGameResponse]:
        """The moves of a recorded game judged: word of how far it has come, then the `report`.

        The options are those of `zank.AnalysisOptions`; without a `timeout` it may take as long as it takes. The work
        starts at once. To break off, close the iterator or let go of it. Raises InvalidRequest for a record that cannot
        be replayed.
        """
        request = requests.game_analysis(record, request_id, analysis_settings("analyze_game", options))
        limit = None if timeout is None else arguments.seconds("timeout", timeout)
        return _updates(self._connected.analyst.AnalyzeGame(request, timeout=limit), limit)

    def analyze_games(
        self,
        games: Iterable[GameRecord | AnalyzeGamesRequest],
        *,
        timeout: float | None = None,
        **options: Unpack[AnalysisOptions],
    ) -> Iterator[AnalyzeGamesResponse]:
        """Many recorded games, each answered when it is done, with its place among the games as `index`.

        A record that is bad is answered by its `fault`, and the others go on. Games are taken as they are needed, from
        another thread; a message says what is wanted of its game by itself. An exception in taking one is raised after
        the answers to those before. Otherwise as `analyze_game`.
        """
        settings = analysis_settings("analyze_games", options)
        limit = None if timeout is None else arguments.seconds("timeout", timeout)
        sent = requests.GameAnalyses(games, settings)
        return _checked(_updates(self._connected.analyst.AnalyzeGames(iter(sent), timeout=limit), limit), sent)

    def info(self, *, timeout: float | None = None) -> GetInfoResponse:
        """What the server is and can do."""
        return self._call(self._connected.about.GetInfo, GetInfoRequest(), timeout)

    def _call[Request, Response](
        self, method: "grpc.UnaryUnaryMultiCallable[Request, Response]", request: Request, timeout: float | None
    ) -> Response:
        limit = self._timeout if timeout is None else arguments.seconds("timeout", timeout)
        with typed_errors(limit):
            return method(request, timeout=limit)

    @property
    def _connected(self) -> "_Services":
        if self._services is None:
            raise not_connected("this client is closed; make another one")
        return self._services


@dataclass(frozen=True, kw_only=True, slots=True)
class _Services:
    referee: RefereeStub
    solver: SolverStub
    analyst: AnalystStub
    about: ServerStub


class _Stream[Response](Protocol):
    """A call that is answered by several messages; the stubs leave its `cancel` untyped."""

    def __iter__(self) -> Iterator[Response]: ...

    def cancel(self) -> bool: ...


def _updates[Response](call: _Stream[Response], limit: float | None) -> Iterator[Response]:
    try:
        with typed_errors(limit):
            yield from call
    finally:
        call.cancel()


def _wait_until_ready(channel: grpc.Channel, target: str, start_timeout: float | None) -> None:
    ready = grpc.channel_ready_future(channel)
    fault = ""
    try:
        for wait in waits(start_timeout):
            try:
                ready.result(timeout=wait)
                return
            except grpc.FutureTimeoutError:
                fault = unreachable(target)
            if fault:
                break
    finally:
        ready.cancel()
    raise not_serving(target, start_timeout, fault)


def _checked[Response](answers: Iterator[Response], sent: requests.GameAnalyses) -> Iterator[Response]:
    yield from answers
    sent.check()
