"""The service `Analyst`: recorded games, judged."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from google.rpc.error_details_pb2 import BadRequest, ErrorInfo

from zank.errors import InvalidRecord, RecordFault
from zank.records import canonical_record
from zank.v1 import (
    PRIORITY_BULK,
    AnalysisProgress,
    AnalysisSettings,
    AnalystServicer,
    AnalyzeGameRequest,
    AnalyzeGameResponse,
    AnalyzeGamesRequest,
    AnalyzeGamesResponse,
    GameFault,
    GameReport,
    Objective,
    Priority,
)
from zank_kernel import search
from zank_kernel.engine import Engine
from zank_service.analysis import GameAnalysis
from zank_service.balance import Part
from zank_service.calls import Context
from zank_service.limits import (
    ANALYSES_AT_ONCE,
    ANALYSIS_GAMES_AT_ONCE,
    ANALYSIS_LUCK_ROLLOUTS,
    ANALYSIS_MOVE_ROLLOUTS,
    ANALYSIS_THREADS,
    LEAST_LUCK_ROLLOUTS,
    LEAST_MOVE_ROLLOUTS,
    MAX_LUCK_ROLLOUTS,
    MAX_REQUEST_ID,
    SHOWN_OF_FAULT,
    Limits,
)
from zank_service.news import News
from zank_service.refusals import Refusal, Violations, invalid, overloaded
from zank_service.replay import decisions

RETRY_SECONDS: Final = 10.0  # what a client is told to wait for a place: analyses take long

logger = logging.getLogger(__name__)


class Analyst(AnalystServicer):
    """Judges games with the kernel's search; the turns of all games under way share a number of threads."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self._engine = engine
        self._limits = limits
        self._pool = ThreadPoolExecutor(ANALYSIS_THREADS, thread_name_prefix="analyst")
        self._under_way = 0

    def close(self) -> None:
        """Wait for the turns under way and end the threads; no call may be under way."""
        self._pool.shutdown(wait=True)

    async def AnalyzeGame(self, request: AnalyzeGameRequest, context: Context) -> AsyncIterator[AnalyzeGameResponse]:
        """Judge one game, and say how it goes; a reader that is slow misses what is outdated."""
        news = News[AnalysisProgress]()
        with self._place():
            work = asyncio.ensure_future(self._analyzed(request, news.tell))
            work.add_done_callback(lambda _: news.close())
            try:
                while (latest := await news.next()) is not None:
                    yield AnalyzeGameResponse(progress=latest)
                yield AnalyzeGameResponse(report=await work)
            finally:
                work.cancel()

    async def AnalyzeGames(
        self, requests: AsyncIterator[AnalyzeGamesRequest], context: Context
    ) -> AsyncIterator[AnalyzeGamesResponse]:
        """Judge many games, each answered when it is done."""
        room = asyncio.Semaphore(ANALYSIS_GAMES_AT_ONCE)
        done: asyncio.Queue[AnalyzeGamesResponse | None] = asyncio.Queue()
        under_way: set[asyncio.Task[None]] = set()

        async def answer(index: int, request: AnalyzeGamesRequest) -> None:
            done.put_nowait(await self._answered(index, request))

        async def read() -> None:
            index = 0
            async for request in requests:
                await room.acquire()  # until an answer has been sent
                task = asyncio.create_task(answer(index, request))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
                index += 1
            while under_way:
                await asyncio.wait(under_way)

        with self._place():
            reading = asyncio.create_task(read())
            reading.add_done_callback(lambda _: done.put_nowait(None))
            try:
                while (response := await done.get()) is not None:
                    yield response
                    room.release()
                await reading  # raises what reading the requests did
            finally:
                for task in (reading, *under_way):
                    task.cancel()

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of the analyses that the server works on at once; raises Refusal where there is none left."""
        if self._under_way >= ANALYSES_AT_ONCE:
            raise overloaded(RETRY_SECONDS)
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    async def _answered(self, index: int, request: AnalyzeGamesRequest) -> AnalyzeGamesResponse:
        """What one of many is answered with: its report, or why there is none."""
        try:
            async with asyncio.timeout(request.time_ms / 1000 if request.time_ms else None):
                return AnalyzeGamesResponse(index=index, report=await self._analyzed(request))
        except TimeoutError:
            fault = GameFault(reason="DEADLINE_EXCEEDED", text=f"not done within {request.time_ms} ms")
        except Refusal as refusal:
            fault = _fault(refusal)
        except Exception:
            logger.exception("the analysis of a game failed")
            fault = GameFault(reason="INTERNAL", text="a fault in the server; its log says more")
        return AnalyzeGamesResponse(index=index, fault=fault)

    async def _analyzed(
        self,
        request: AnalyzeGameRequest | AnalyzeGamesRequest,
        tell: Callable[[AnalysisProgress], None] = lambda progress: None,
    ) -> GameReport:
        """The report of one game; raises Refusal. Cancelled, it gives up the work."""
        loop, given_up = asyncio.get_running_loop(), threading.Event()
        try:
            analysis = await loop.run_in_executor(self._pool, self._begun, request)
            work = [
                loop.run_in_executor(self._pool, _parts, analysis, number, given_up)
                for number in range(len(analysis.turns))
            ]
            progress = AnalysisProgress(turns=len(work))
            for turn in work:
                turn.add_done_callback(lambda _: tell(_one_more(progress)))
            parts = [part for turn in await asyncio.gather(*work) for part in turn]
            return await loop.run_in_executor(self._pool, analysis.report, parts, request.request_id)
        finally:
            given_up.set()

    def _begun(self, request: AnalyzeGameRequest | AnalyzeGamesRequest) -> GameAnalysis:
        """The game of a request, replayed; raises Refusal. Blocks."""
        settings = self._settings(request)
        try:
            record = canonical_record(request.record)
        except InvalidRecord as error:
            raise _bad_record(error.fault) from None
        found, replayed = decisions(self._engine, record)
        if replayed.fault is not None:
            raise _bad_record(replayed.fault)
        return GameAnalysis(self._engine, record, settings, found, replayed)

    def _settings(self, request: AnalyzeGameRequest | AnalyzeGamesRequest) -> AnalysisSettings:
        """The settings of a request with every default but those that depend on its record; raises Refusal."""
        violations = Violations()
        settings = AnalysisSettings()
        settings.CopyFrom(request.settings)
        settings.rollouts = settings.rollouts or ANALYSIS_MOVE_ROLLOUTS
        settings.luck_rollouts = settings.luck_rollouts or ANALYSIS_LUCK_ROLLOUTS
        settings.priority = settings.priority or PRIORITY_BULK
        settings.players[:] = sorted({*settings.players}) or (1, 2)
        violations.check_range("settings.rollouts", settings.rollouts, LEAST_MOVE_ROLLOUTS, self._limits.max_rollouts)
        violations.check_range("settings.luck_rollouts", settings.luck_rollouts, LEAST_LUCK_ROLLOUTS, MAX_LUCK_ROLLOUTS)
        violations.check_name("settings.objective", settings.objective, Objective)
        violations.check_name("settings.priority", settings.priority, Priority)
        for index, player in enumerate(request.settings.players):
            if player not in (1, 2):
                violations.add(f"settings.players[{index}]", f"expected 1 or 2, found {player}")
        violations.check_length("request_id", request.request_id, MAX_REQUEST_ID)
        violations.refuse_if_any("INVALID_REQUEST")
        if not request.HasField("record"):
            raise invalid("INVALID_RECORD", "record", "expected a record, found none")
        return settings


def _parts(analysis: GameAnalysis, number: int, given_up: threading.Event) -> Sequence[Part]:
    """The parts of one turn; of none any more once the game is given up."""
    if given_up.is_set():
        raise search.Stopped
    return analysis.parts(analysis.turns[number], given_up.is_set)


def _one_more(progress: AnalysisProgress) -> AnalysisProgress:
    """Counts one more turn done, and gives a copy."""
    progress.turns_done += 1
    copy = AnalysisProgress()
    copy.CopyFrom(progress)
    return copy


def _bad_record(fault: RecordFault) -> Refusal:
    """INVALID_ARGUMENT for a record that cannot be."""
    rule = {"rule": fault.rule} if fault.rule else {}
    text = fault.text if len(fault.text) <= SHOWN_OF_FAULT else f"{fault.text[:SHOWN_OF_FAULT]}…"
    return invalid("INVALID_RECORD", f"record.{fault.field}".rstrip("."), text, rule)


def _fault(refusal: Refusal) -> GameFault:
    """A refusal as the answer to one of many."""
    fault = GameFault(text=refusal.message)
    for detail in refusal.details:
        if isinstance(detail, ErrorInfo):
            fault.reason, fault.rule = detail.reason, detail.metadata.get("rule", "")
        elif isinstance(detail, BadRequest):
            fault.field, fault.text = detail.field_violations[0].field, detail.field_violations[0].description
    return fault
