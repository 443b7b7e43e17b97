"""The typed client of a Zank server for asyncio."""

# ruff: noqa: ASYNC109 - a call's deadline travels with it to the server, which asyncio.timeout does not tell

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, Unpack

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

if TYPE_CHECKING:  # in the stubs only
    from zank.v1.analysis_pb2_grpc import AnalystAsyncStub
    from zank.v1.referee_pb2_grpc import RefereeAsyncStub
    from zank.v1.server_pb2_grpc import ServerAsyncStub
    from zank.v1.solver_pb2_grpc import SolverAsyncStub


@dataclass(frozen=True, kw_only=True, slots=True)
class _Services:
    referee: "RefereeAsyncStub"
    solver: "SolverAsyncStub"
    analyst: "AnalystAsyncStub"
    about: "ServerAsyncStub"


class AsyncClient:
    """As `Client`, for asyncio: the same methods and errors, to be awaited.

        async with zank.AsyncClient("localhost:50051") as client:
            hint = await client.hint(position)
            async for update in client.analyze(position):
                ...

    Without a context manager, await `connect` before the first call and `close` after the last. It belongs to the
    event loop in which it connected. Cancelling a call ends its work on the server.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        start_timeout: float | None = None,
    ) -> None:
        """Says where to connect; the arguments are those of `Client`."""
        self._target = None if target is None else arguments.target(target)
        self._timeout = arguments.seconds("timeout", timeout)
        self._start_timeout = None if start_timeout is None else arguments.seconds("start_timeout", start_timeout)
        self._server: EmbeddedServer | None = None
        self._channel: grpc.aio.Channel | None = None
        self._services: _Services | None = None

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connects, and waits until the server serves; raises as `Client` does."""
        try:
            target, limit = self._target, self._start_timeout
            if target is None:
                self._server = EmbeddedServer()
                target = await asyncio.to_thread(self._server.wait, DEFAULT_START_TIMEOUT if limit is None else limit)
                limit = DEFAULT_CONNECT_TIMEOUT if limit is None else limit
            self._channel = grpc.aio.insecure_channel(target, options=channel_options(target))
            await _wait_until_ready(self._channel, target, limit)
        except BaseException:
            await self.close()
            raise
        self._services = _Services(
            referee=RefereeStub(self._channel),
            solver=SolverStub(self._channel),
            analyst=AnalystStub(self._channel),
            about=ServerStub(self._channel),
        )

    async def close(self) -> None:
        """Closes the connection and ends the embedded server."""
        self._services = None
        if self._channel is not None:
            await self._channel.close(None)
        if self._server is not None:
            server, self._server = self._server, None
            await asyncio.to_thread(server.close)

    async def deal(self, rules: str | RuleSet, *, seed: int | None = None, timeout: float | None = None) -> Position:
        """As `Client.deal`."""
        return (await self._call(self._connected.referee.Deal, requests.deal(rules, seed), timeout)).position

    async def view(self, position: Position | str, player: int, *, timeout: float | None = None) -> Position:
        """As `Client.view`."""
        return (await self._call(self._connected.referee.View, requests.view(position, player), timeout)).position

    async def legal_moves(self, position: Position | str, *, timeout: float | None = None) -> Sequence[LegalMove]:
        """As `Client.legal_moves`."""
        return (await self._call(self._connected.referee.ListLegalMoves, requests.legal_moves(position), timeout)).moves

    async def check(
        self, position: Position | str, move: Move | str, *, timeout: float | None = None
    ) -> CheckMoveResponse:
        """As `Client.check`."""
        return await self._call(self._connected.referee.CheckMove, requests.check(position, move), timeout)

    async def apply(
        self,
        position: Position | str,
        move: Move | str,
        *,
        reveals: Iterable[Reveal | str] = (),
        timeout: float | None = None,
    ) -> ApplyMoveResponse:
        """As `Client.apply`."""
        request = requests.apply(position, move, reveals)
        return requests.played(request, await self._call(self._connected.referee.ApplyMove, request, timeout))

    async def hint(
        self, position: Position | str, *, timeout: float | None = None, **options: Unpack[QuestionOptions]
    ) -> Answer:
        """As `Client.hint`."""
        asked = question("hint", position, options)
        limit = deadline(asked, timeout, self._timeout)
        return (await self._call(self._connected.solver.GetHint, GetHintRequest(question=asked), limit)).answer

    async def best(
        self, position: Position | str, *, timeout: float | None = None, **options: Unpack[QuestionOptions]
    ) -> Answer:
        """As `Client.best`."""
        asked = question("best", position, options)
        limit = deadline(asked, timeout, self._timeout)
        return (await self._call(self._connected.solver.GetBestMove, GetBestMoveRequest(question=asked), limit)).answer

    def analyze(
        self, position: Position | str, *, timeout: float | None = None, **options: Unpack[QuestionOptions]
    ) -> AsyncIterator[AnalyzeResponse]:
        """As `Client.analyze`; the work starts with the first step."""
        asked = question("analyze", position, options)
        limit = deadline(asked, timeout, self._timeout)
        return _updates(partial(self._connected.solver.Analyze, AnalyzeRequest(question=asked)), limit)

    def analyze_game(
        self,
        record: GameRecord,
        *,
        request_id: str = "",
        timeout: float | None = None,
        **options: Unpack[AnalysisOptions],
    ) -> AsyncIterator[AnalyzeGameResponse]:
        """As `Client.analyze_game`; the work starts with the first step."""
        request = requests.game_analysis(record, request_id, analysis_settings("analyze_game", options))
        return _updates(partial(self._connected.analyst.AnalyzeGame, request), timeout)

    def analyze_games(
        self,
        games: Iterable[GameRecord | AnalyzeGamesRequest],
        *,
        timeout: float | None = None,
        **options: Unpack[AnalysisOptions],
    ) -> AsyncIterator[AnalyzeGamesResponse]:
        """As `Client.analyze_games`; the records are iterated over in the event loop."""
        settings = analysis_settings("analyze_games", options)
        sent = requests.GameAnalyses(games, settings)
        return _checked(_updates(partial(self._connected.analyst.AnalyzeGames, iter(sent)), timeout), sent)

    async def info(self, *, timeout: float | None = None) -> GetInfoResponse:
        """As `Client.info`."""
        return await self._call(self._connected.about.GetInfo, GetInfoRequest(), timeout)

    @property
    def _connected(self) -> _Services:
        if self._services is None:
            raise not_connected("use `async with AsyncClient(...)`, or await `connect` first")
        return self._services

    async def _call[Request, Response](
        self, method: "grpc.aio.UnaryUnaryMultiCallable[Request, Response]", request: Request, timeout: float | None
    ) -> Response:
        limit = self._timeout if timeout is None else arguments.seconds("timeout", timeout)
        with typed_errors(limit):
            return await method(request, timeout=limit)


class _Stream[Response](Protocol):
    """A call that is answered by several messages."""

    def __aiter__(self) -> AsyncIterator[Response]: ...

    def cancel(self) -> bool: ...


class _Begin[Response](Protocol):
    """What begins a call."""

    def __call__(self, *, timeout: float | None) -> _Stream[Response]: ...


async def _updates[Response](begin: _Begin[Response], timeout: float | None) -> AsyncIterator[Response]:
    limit = None if timeout is None else arguments.seconds("timeout", timeout)
    call = begin(timeout=limit)
    try:
        with typed_errors(limit):
            async for update in call:
                yield update
    finally:
        call.cancel()


async def _wait_until_ready(channel: grpc.aio.Channel, target: str, start_timeout: float | None) -> None:
    fault = ""
    for wait in waits(start_timeout):
        try:
            return await asyncio.wait_for(channel.channel_ready(), wait)
        except TimeoutError:
            fault = await asyncio.to_thread(unreachable, target)
        if fault:
            break
    raise not_serving(target, start_timeout, fault)


async def _checked[Response](answers: AsyncIterator[Response], sent: requests.GameAnalyses) -> AsyncIterator[Response]:
    async for answer in answers:
        yield answer
    sent.check()
