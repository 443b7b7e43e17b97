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
from zank_service.news import News
from zank_service.questions import PRIORITIES, Asked, Terms, engine_question, terms, understood
from zank_service.quota import Quota, client_of
from zank_service.refusals import unavailable


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
        self._streams = set[News[Answer]]()
        self._ending = False
        self._under_way = 0
        self._lock = threading.Lock()

    def end(self) -> None:
        """End the analyses under way with the answers that they have, and those to come too."""
        self._ending = True
        for news in self._streams:
            news.close()

    def close(self) -> None:
        """Wait for the answers under way; none may be waiting."""
        for gate in self._gates.values():
            gate.close()

    async def GetHint(self, request: GetHintRequest, context: Context) -> GetHintResponse:
        """Rank the legal moves of a position, quickly."""
        with self._counted(terms(request, self._limits, self._limits.hint_rollouts), context) as granted:
            asked = understood(request, granted)
            answer, timing = await self._answer(asked)
        told(context, timing, asked)
        return GetHintResponse(answer=answer)

    async def GetBestMove(self, request: GetBestMoveRequest, context: Context) -> GetBestMoveResponse:
        """Rank the legal moves of a position, thoroughly."""
        with self._counted(terms(request, self._limits, self._limits.best_move_rollouts), context) as granted:
            asked = understood(request, granted)
            answer, timing = await self._answer(asked)
        told(context, timing, asked)
        return GetBestMoveResponse(answer=answer)

    async def Analyze(self, request: AnalyzeRequest, context: Context) -> AsyncIterator[AnalyzeResponse]:
        """Rank the legal moves of a position, and say how it goes; a reader that is slow misses what is outdated."""
        with self._counted(terms(request, self._limits, self._limits.analysis_rollouts), context) as granted:
            asked = understood(request, granted)
            news = News[Answer]()
            answering = asyncio.ensure_future(self._answer(asked, news.tell))
            answering.add_done_callback(lambda _: news.close())
            self._streams.add(news)
            try:
                while not self._ending and (answer := await news.next()) is not None:
                    yield AnalyzeResponse(answer=answer)
                ended = answering.done()
                if ended:
                    last, timing = await answering
                elif news.latest is None:
                    raise unavailable("the server stopped before it had any answer")
                else:
                    last, timing = news.latest, None
            finally:
                self._streams.discard(news)
                answering.cancel()
        told(context, timing, asked)
        yield AnalyzeResponse(answer=last, final=True, partial=not ended)

    @contextmanager
    def _counted(self, asked: Terms, context: Context) -> Iterator[Terms]:
        """Counts a question of the caller, and gives its terms with the priority that it gets.

        Raises Refusal where the caller has too many, or there is no room for it in the queue: nothing that takes longer
        is done for a question before that is known.
        """
        wait = self._gates[asked.priority, asked.long].wait
        with self._quota.counted(client_of(context.peer()), asked.priority, wait) as priority:
            self._gates[priority, asked.long].refuse_if_full()
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


def told(context: Context, timing: Timing | None, asked: Asked) -> None:
    """Say beside an answer how long it took, if it is whole, and the priority that it had, if another was asked for."""
    metadata = [] if timing is None else [("server-timing", server_timing(timing))]
    if asked.priority != (asked.request.priority or PRIORITY_INTERACTIVE):
        metadata.append(("priority", Priority.Name(asked.priority)))
    context.set_trailing_metadata(tuple(metadata))


def server_timing(timing: Timing) -> str:
    """Durations in the form of the HTTP header Server-Timing, in milliseconds."""
    return f"queue;dur={timing.queued * 1000:.3f}, answer;dur={timing.worked * 1000:.3f}"
