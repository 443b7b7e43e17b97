"""How calls end that nobody ends: by the deadline that the server gives, and with the server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import grpc
import pytest

from tests.service.conftest import serving
from tests.service.held import held
from tests.service.tables import partial
from tests.service.wire import Served, connected, refusal
from zank.v1 import AnalyzeRequest, AnalyzeResponse, Budget, GetHintRequest, GetInfoRequest, Question, SolverStub
from zank_kernel.engine import Engine
from zank_service.limits import ANSWERS_AT_ONCE, Limits
from zank_service.server import Server

LONG: Final = Question(position=partial(c="Ac.."), budget=Budget(rollouts=1_000_000))
AT_ONCE: Final = ANSWERS_AT_ONCE[0]
NO_ROOM: Final = (  # for so much as one message that is not read
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.http2.lookahead_bytes", 1),
    ("grpc.http2.bdp_probe", 0),
)


@asynccontextmanager
async def stoppable(engine: Engine, limits: Limits | None = None) -> AsyncIterator[tuple[Server, Served]]:
    """A server that serves until the test stops it, and a connection."""
    server = Server(engine, limits or Limits())
    port = await server.start("127.0.0.1", 0)
    await server.serve()
    async with connected(f"127.0.0.1:{port}") as served:
        yield server, served


async def quiet(engine: Engine) -> bool:
    """Whether no rollouts are played any more, but for those of the calls under way."""
    await asyncio.sleep(0.3)
    before = engine.meter.rollouts
    await asyncio.sleep(0.2)
    return engine.meter.rollouts == before


async def test_a_call_without_a_deadline_gets_the_servers_and_its_work_ends(engine: Engine) -> None:
    async with serving(engine, Limits(default_deadline_seconds=0.5)) as served:
        assert (await served.about.GetInfo(GetInfoRequest())).limits.default_deadline_ms == 500
        before = engine.meter.rollouts
        refused = await refusal(served.solver.GetHint(GetHintRequest(question=LONG)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEFAULT_DEADLINE")
        assert "0.5 s" in refused.message
        stream = served.solver.Analyze(AnalyzeRequest(question=LONG))
        assert not (await anext(aiter(stream))).final
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            [part async for part in stream]
        assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        assert 0 < engine.meter.rollouts - before < 500_000
        assert await quiet(engine)


async def test_the_servers_deadline_counts_while_a_question_waits_and_then_it_never_begins(engine: Engine) -> None:
    with held(engine) as holder:
        async with serving(engine, Limits(default_deadline_seconds=0.5)) as served:
            hint = GetHintRequest(question=Question(position=LONG.position, budget=Budget(rollouts=64)))
            patient = [asyncio.ensure_future(served.solver.GetHint(hint, timeout=20)) for _ in range(AT_ONCE)]
            await holder.wait_until_asked(AT_ONCE)
            refused = await refusal(served.solver.GetHint(hint))
            assert refused.reason == "DEFAULT_DEADLINE"
            holder.release()
            # Who brought a deadline has that one, though the server's is over.
            assert all(answer.answer.moves for answer in await asyncio.gather(*patient))
            assert holder.asked == AT_ONCE


async def test_a_stream_that_nobody_reads_ends_by_the_servers_deadline(engine: Engine) -> None:
    async with (
        stoppable(engine, Limits(default_deadline_seconds=1.0)) as (server, served),
        grpc.aio.insecure_channel(served.target, options=NO_ROOM) as channel,
    ):
        unread = [SolverStub(channel).Analyze(AnalyzeRequest(question=LONG)) for _ in range(3)]
        await asyncio.sleep(0.5)
        hint = Question(position=LONG.position, budget=Budget(rollouts=64))
        assert (await served.solver.GetHint(GetHintRequest(question=hint))).answer.moves
        async with asyncio.timeout(5):
            await server.calls.idle()
        assert server.calls.ended["/zank.v1.Solver/Analyze", "DEADLINE_EXCEEDED"] == 3
        assert await quiet(engine)
        assert await server.stop(grace=5)
        assert not any(call.done() for call in unread)


async def test_past_the_grace_an_analysis_ends_with_what_is_known_and_is_marked_so(engine: Engine) -> None:
    async with stoppable(engine) as (server, served):
        stream = aiter(served.solver.Analyze(AnalyzeRequest(question=LONG)))
        parts: list[AnalyzeResponse] = [await anext(stream)]
        stopping = asyncio.create_task(server.stop(grace=0.2))
        parts += [part async for part in stream]
        assert not await stopping
        assert [part.final for part in parts] == [False] * (len(parts) - 1) + [True]
        assert [part.partial for part in parts] == [part.final for part in parts]
        assert 0 < parts[-1].answer.rollouts < 500_000
        assert parts[-1].answer.moves
        assert await quiet(engine)


async def test_past_the_grace_what_has_no_answer_yet_is_told_to_try_elsewhere(engine: Engine) -> None:
    with held(engine) as holder:
        async with stoppable(engine) as (server, served):
            hint = asyncio.ensure_future(refusal(served.solver.GetHint(GetHintRequest(question=LONG))))
            stream = served.solver.Analyze(AnalyzeRequest(question=LONG))
            silent = asyncio.ensure_future(refusal(anext(aiter(stream))))
            await holder.wait_until_asked(2)
            assert not await server.stop(grace=0.1)
            for refused in await asyncio.gather(hint, silent):
                assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
                assert "stopped before" in refused.message


async def test_an_analysis_that_ends_within_the_grace_is_whole(engine: Engine) -> None:
    question = Question(position=LONG.position, budget=Budget(rollouts=20_000), seed=4)
    async with stoppable(engine) as (server, served):
        *_, alone = [part async for part in served.solver.Analyze(AnalyzeRequest(question=question))]
        stream = aiter(served.solver.Analyze(AnalyzeRequest(question=question)))
        parts = [await anext(stream)]
        stopping = asyncio.create_task(server.stop(grace=20))
        parts += [part async for part in stream]
        assert await stopping
        assert parts[-1] == alone
        assert alone.final
        assert not alone.partial


async def test_a_stream_that_nobody_reads_does_not_hold_up_the_end(engine: Engine) -> None:
    async with (
        stoppable(engine) as (server, served),
        grpc.aio.insecure_channel(served.target, options=NO_ROOM) as channel,
    ):
        unread = SolverStub(channel).Analyze(AnalyzeRequest(question=LONG))
        await asyncio.sleep(0.5)
        async with asyncio.timeout(5):
            assert not await server.stop(grace=0.2)
        assert server.calls.ended == {("/zank.v1.Solver/Analyze", "UNAVAILABLE"): 1}
        assert not unread.done()
