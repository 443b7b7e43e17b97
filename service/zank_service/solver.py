"""The service `Solver`: what to play."""

import asyncio
import dataclasses
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial

from zank.v1 import (
    PRIORITY_INTERACTIVE,
    AnalyzeRequest,
    AnalyzeResponse,
    Answer,
    GetBestMoveRequest,
    GetBestMoveResponse,
    GetHintRequest,
    GetHintResponse,
    Priority,
    SolverServicer,
)
from zank_kernel import search
from zank_kernel.engine import Control, Engine
from zank_service.answers import Answers
from zank_service.calls import Context
from zank_service.gate import Gate, Timing
from zank_service.limits import ANSWERS_AT_ONCE, Limits
from zank_service.questions import PRIORITIES, Asked, engine_question, understood
from zank_service.quota import Quota, client_of


class Solver(SolverServicer):
    """Answers with the kernel's search."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self._engine = engine
        self._limits = limits
        # A gate for each priority, and one for long questions of each, so that nobody who is in no hurry holds a place
        # that a player waits for.
        self._gates = {
            (priority, long): Gate(
                f"solver-{Priority.Name(priority).removeprefix('PRIORITY_').lower()}{'-long' if long else ''}",
                threads=threads,
                waiting=limits.answers_waiting,
            )
            for priority, threads in zip(PRIORITIES, ANSWERS_AT_ONCE, strict=True)
            for long in (False, True)
        }
        self._quota = Quota(limits)
        self._under_way = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """Wait for the answers under way; none may be waiting."""
        for gate in self._gates.values():
            gate.close()

    async def GetHint(self, request: GetHintRequest, context: Context) -> GetHintResponse:
        """Rank the legal moves of a position, quickly."""
        asked = understood(request, self._limits, self._limits.hint_rollouts)
        with self._counted(asked, context) as asked:
            answer, timing = await self._answer(asked)
        told(context, timing, asked)
        return GetHintResponse(answer=answer)

    async def GetBestMove(self, request: GetBestMoveRequest, context: Context) -> GetBestMoveResponse:
        """Rank the legal moves of a position, thoroughly."""
        asked = understood(request, self._limits, self._limits.best_move_rollouts)
        with self._counted(asked, context) as asked:
            answer, timing = await self._answer(asked)
        told(context, timing, asked)
        return GetBestMoveResponse(answer=answer)

    async def Analyze(self, request: AnalyzeRequest, context: Context) -> AsyncIterator[AnalyzeResponse]:
        """Rank the legal moves of a position, and say how it goes; a reader that is slow misses what is outdated."""
        asked = understood(request, self._limits, self._limits.analysis_rollouts)
        news: asyncio.Queue[Answer | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(answer: Answer) -> None:
            loop.call_soon_threadsafe(news.put_nowait, answer)

        with self._counted(asked, context) as asked:
            answering = asyncio.ensure_future(self._answer(asked, tell))
            answering.add_done_callback(lambda _: news.put_nowait(None))
            try:
                while (latest := await newest(news)) is not None:
                    yield AnalyzeResponse(answer=latest)
                answer, timing = await answering
            finally:
                answering.cancel()
        told(context, timing, asked)
        yield AnalyzeResponse(answer=answer, final=True)

    @contextmanager
    def _counted(self, asked: Asked, context: Context) -> Iterator[Asked]:
        """Counts a question of the caller, and gives it with the priority that it gets; raises Refusal."""
        wait = self._gates[asked.priority, asked.long].wait
        with self._quota.counted(client_of(context.peer()), asked.priority, wait) as priority:
            yield dataclasses.replace(asked, priority=priority)

    async def _answer(self, asked: Asked, tell: Callable[[Answer], None] | None = None) -> tuple[Answer, Timing]:
        """The answer; raises Refusal. Cancelled, it gives up the work."""
        given_up = threading.Event()
        try:
            work = partial(self._work, asked, given_up, tell)
            return await self._gates[asked.priority, asked.long].run(work)
        except asyncio.CancelledError:
            given_up.set()
            raise

    def _work(self, asked: Asked, given_up: threading.Event, tell: Callable[[Answer], None] | None) -> Answer:
        # Rounds that choose may begin until so much of the time is over; the rest is for the rollouts that report.
        end = None if asked.seconds is None else time.monotonic() + asked.seconds * search.CHOOSING
        with self._sharing() as sharing:
            question = engine_question(asked, self._engine, self._limits, sharing)
            answers = Answers(asked, question.rollouts)

            def report(answer: search.Answer) -> None:
                assert tell is not None
                tell(answers.on_the_wire(answer))

            control = Control(
                stopped=given_up.is_set,
                expired=lambda: end is not None and time.monotonic() > end,
                progress=None if tell is None else report,
            )
            return answers.on_the_wire(self._engine.answer(question, control))

    @contextmanager
    def _sharing(self) -> Iterator[int]:
        """Counts one more question under way, and gives their number."""
        with self._lock:
            self._under_way += 1
            sharing = self._under_way
        try:
            yield sharing
        finally:
            with self._lock:
                self._under_way -= 1


async def newest[Item](queue: "asyncio.Queue[Item | None]") -> Item | None:
    """The last item in the queue, once there is one; None when None is in it."""
    item = await queue.get()
    while item is not None and not queue.empty():
        item = queue.get_nowait()
    return item


def told(context: Context, timing: Timing, asked: Asked) -> None:
    """Say beside an answer how long it took and, where it is not the one asked for, the priority that it had."""
    metadata = [("server-timing", server_timing(timing))]
    if asked.priority != (asked.request.priority or PRIORITY_INTERACTIVE):
        metadata.append(("priority", Priority.Name(asked.priority)))
    context.set_trailing_metadata(tuple(metadata))


def server_timing(timing: Timing) -> str:
    """Durations in the form of the HTTP header Server-Timing, in milliseconds."""
    return f"queue;dur={timing.queued * 1000:.3f}, answer;dur={timing.worked * 1000:.3f}"
