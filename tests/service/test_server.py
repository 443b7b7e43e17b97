"""What a server does with calls when things go wrong: faults, too many calls, calls given up, and its own end."""

import asyncio
import threading
from collections.abc import AsyncIterator
from unittest.mock import patch

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from tests.service.conftest import LIMITS, serving
from tests.service.held import held
from tests.service.tables import partial
from tests.service.wire import Served, check_health, connected, refusal
from zank.v1 import AnalyzeRequest, Budget, GetHintRequest, GetInfoRequest, ListLegalMovesRequest, Position, Question
from zank_kernel.engine import Engine
from zank_service.gate import Gate
from zank_service.limits import ANSWERS_AT_ONCE, Limits
from zank_service.refusals import Refusal
from zank_service.server import PortUnavailable, Server

AT_ONCE = ANSWERS_AT_ONCE[0]  # questions of players
HINT = GetHintRequest(question=Question(position=partial(c="Ac..")))
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def test_health_is_serving(served: Served) -> None:
    for service in ("", "zank.v1.Referee", "zank.v1.Solver", "zank.v1.Server"):
        assert await check_health(served.channel, service) == SERVING


async def test_reflection_lists_the_services(served: Served) -> None:
    async def requests() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        yield reflection_pb2.ServerReflectionRequest(list_services="")

    method = served.channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        reflection_pb2.ServerReflectionRequest.SerializeToString,
        reflection_pb2.ServerReflectionResponse.FromString,
    )
    answers = [answer async for answer in method(requests())]
    names = {service.name for service in answers[0].list_services_response.service}
    assert {"zank.v1.Referee", "zank.v1.Solver", "zank.v1.Server", "grpc.health.v1.Health"} <= names


async def test_a_fault_is_logged_and_its_text_kept_from_the_client(
    served: Served, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    with patch.object(engine, "answer", side_effect=RuntimeError("a secret")):
        refused = await refusal(served.solver.GetHint(HINT))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "secret" not in refused.message
    assert "a secret" in caplog.text
    await served.solver.GetHint(HINT)


@pytest.mark.parametrize("give_up", ["deadline", "cancel"])
async def test_a_call_given_up_in_the_queue_never_reaches_the_engine(
    served: Served, engine: Engine, give_up: str
) -> None:
    with held(engine) as holder:
        busy = [asyncio.ensure_future(served.solver.GetHint(HINT)) for _ in range(AT_ONCE)]
        await holder.wait_until_asked(AT_ONCE)
        waiting = served.solver.GetHint(HINT, timeout=0.2 if give_up == "deadline" else None)
        await asyncio.sleep(0.1)
        if give_up == "cancel":
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        else:
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await waiting
            assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        await asyncio.sleep(0.1)
        holder.release()
        await asyncio.gather(*busy)
        await served.solver.GetHint(HINT)
        assert holder.asked == AT_ONCE + 1


async def test_a_call_given_up_at_work_keeps_its_place_until_the_work_is_done(served: Served, engine: Engine) -> None:
    with held(engine) as holder:
        for _ in range(AT_ONCE):
            with pytest.raises(grpc.aio.AioRpcError):
                await served.solver.GetHint(HINT, timeout=0.2)
        assert holder.asked == AT_ONCE
        waiting = asyncio.ensure_future(served.solver.GetHint(HINT))
        await asyncio.sleep(0.1)
        assert holder.asked == AT_ONCE
        holder.release()
        assert (await waiting).answer.moves


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_back(engine: Engine) -> None:
    with held(engine) as holder:
        async with serving(engine, Limits(answers_waiting=1)) as served:
            taken = [asyncio.ensure_future(served.solver.GetHint(HINT)) for _ in range(AT_ONCE)]
            await holder.wait_until_asked(AT_ONCE)
            taken.append(asyncio.ensure_future(served.solver.GetHint(HINT)))
            await asyncio.sleep(0.1)
            refused = await refusal(served.solver.GetHint(HINT))
            assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
            assert refused.retry_seconds == 0.2  # one is waiting for eight places
            # What takes time to look at is not looked at when there is no room, but all else is.
            nowhere = Question(position=Position(), budget=Budget(rollouts=64))
            refused = await refusal(served.solver.GetHint(GetHintRequest(question=nowhere)))
            assert refused.reason == "OVERLOADED"
            nothing = Question(position=HINT.question.position, budget=Budget())
            refused = await refusal(served.solver.GetHint(GetHintRequest(question=nothing)))
            assert refused.reason == "INVALID_REQUEST"
            moves = await served.referee.ListLegalMoves(ListLegalMovesRequest(position=HINT.question.position))
            assert moves.moves  # a referee has a queue of its own
            holder.release()
            assert all(hint.answer.moves for hint in await asyncio.gather(*taken))


async def test_a_gate_takes_no_more_than_it_may() -> None:
    gate = Gate("test", threads=1, waiting=1)
    release = threading.Event()
    first, second = [asyncio.ensure_future(gate.run(release.wait)) for _ in range(2)]
    await asyncio.sleep(0.02)
    with pytest.raises(Refusal):
        await gate.run(release.wait)
    release.set()
    (_, before), (_, after) = await asyncio.gather(first, second)
    assert after.queued > before.queued
    with pytest.raises(ZeroDivisionError):
        await gate.run(lambda: 1 // 0)
    assert (await gate.run(lambda: 7))[0] == 7
    gate.close()


async def test_a_server_takes_no_calls_before_it_serves_and_finishes_what_it_took(engine: Engine) -> None:
    server = Server(engine, LIMITS)
    port = await server.start("127.0.0.1", 0)
    async with connected(f"127.0.0.1:{port}") as served:
        assert await check_health(served.channel) == NOT_SERVING
        refused = await refusal(served.about.GetInfo(GetInfoRequest()))
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
        await server.serve()
        assert await check_health(served.channel) == SERVING
        with held(engine) as holder:
            answer = asyncio.ensure_future(served.solver.GetHint(HINT))
            await holder.wait_until_asked(1)
            stopping = asyncio.create_task(server.stop(grace=5))
            await asyncio.sleep(0.05)
            assert await check_health(served.channel) == NOT_SERVING
            refused = await refusal(served.solver.GetHint(HINT))
            assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
            holder.release()
            assert (await answer).answer.moves
            assert await stopping


async def test_a_stop_waits_no_longer_than_its_grace(engine: Engine) -> None:
    server = Server(engine, LIMITS)
    port = await server.start("127.0.0.1", 0)
    await server.serve()
    async with connected(f"127.0.0.1:{port}") as served:
        with held(engine) as holder:
            answer = asyncio.ensure_future(served.solver.GetHint(HINT))
            await holder.wait_until_asked(1)
            assert not await server.stop(grace=0.1)
            with pytest.raises(grpc.aio.AioRpcError):
                await answer


async def test_a_health_watcher_does_not_hold_up_the_end(engine: Engine) -> None:
    server = Server(engine, LIMITS)
    port = await server.start("127.0.0.1", 0)
    await server.serve()
    async with connected(f"127.0.0.1:{port}") as served:
        watch = served.channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        statuses = aiter(watch(health_pb2.HealthCheckRequest()))
        assert (await anext(statuses)).status == SERVING
        async with asyncio.timeout(3):
            assert await server.stop(grace=30)
        assert (await anext(statuses)).status == NOT_SERVING


async def test_a_second_server_does_not_share_the_port(served: Served, engine: Engine) -> None:
    port = int(served.target.rpartition(":")[2])
    with pytest.raises(PortUnavailable, match=f"127.0.0.1:{port}"):
        await Server(engine, LIMITS).start("127.0.0.1", port)


@pytest.mark.parametrize("reads", [True, False], ids=["reading", "never having read"])
async def test_a_stream_given_up_stops_playing_and_holds_nothing_up(engine: Engine, reads: bool) -> None:
    server = Server(engine, LIMITS)
    port = await server.start("127.0.0.1", 0)
    await server.serve()
    async with connected(f"127.0.0.1:{port}") as served:
        question = Question(position=partial(c="Ac.."), budget=Budget(rollouts=1_000_000))
        before = engine.meter.rollouts
        call = served.solver.Analyze(AnalyzeRequest(question=question))
        if reads:
            assert (await anext(aiter(call))).answer.moves
        else:
            await asyncio.sleep(0.5)
        call.cancel()
        async with asyncio.timeout(2):
            assert await server.stop(grace=30)
        assert 0 < engine.meter.rollouts - before < 500_000
