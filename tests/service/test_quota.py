"""What one client may have under way, what becomes of its priority, and when a refused one comes back."""

import asyncio
import time
from unittest.mock import patch

import grpc
import pytest

import zank
from tests.service.conftest import serving
from tests.service.held import held
from tests.service.tables import partial
from tests.service.wire import connected, refusal
from zank.v1 import (
    PRIORITY_BULK,
    PRIORITY_INTERACTIVE,
    PRIORITY_NORMAL,
    AnalyzeRequest,
    Budget,
    GetHintRequest,
    Priority,
    Question,
)
from zank_kernel.engine import Engine
from zank_service import gate as gates
from zank_service.gate import Gate
from zank_service.limits import ANSWERS_AT_ONCE, Limits
from zank_service.quota import Quota, client_of
from zank_service.refusals import Refusal

POSITION = partial(c="Ac..")


def asking(seed: int = 0, priority: Priority.ValueType = PRIORITY_INTERACTIVE) -> GetHintRequest:
    return GetHintRequest(
        question=Question(position=POSITION, budget=Budget(rollouts=64), seed=seed, priority=priority)
    )


async def test_a_client_with_too_much_under_way_is_refused_and_others_are_not(engine: Engine) -> None:
    with held(engine) as holder:
        async with serving(engine, Limits(answers_per_client=2)) as served:
            taken = [asyncio.ensure_future(served.solver.GetHint(asking(seed))) for seed in range(2)]
            await holder.wait_until_asked(2)
            refused = await refusal(served.solver.GetHint(asking()))
            assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA")
            assert refused.retry_seconds
            async with connected(served.target) as other:
                taken.append(asyncio.ensure_future(other.solver.GetHint(asking())))
                await holder.wait_until_asked(1)
                holder.release()
                await asyncio.gather(*taken)
            assert (await served.solver.GetHint(asking())).answer.moves


async def test_a_priority_above_the_allowance_is_lowered_and_the_answer_says_so(engine: Engine) -> None:
    async with serving(engine, Limits(interactive_per_client=0)) as served:
        call = served.solver.GetHint(asking())
        lowered = await call
        assert dict(await call.trailing_metadata())["priority"] == "PRIORITY_NORMAL"
        stream = served.solver.Analyze(AnalyzeRequest(question=asking().question))
        assert [part async for part in stream][-1].answer == lowered.answer
        assert dict(await stream.trailing_metadata())["priority"] == "PRIORITY_NORMAL"
        bulk = served.solver.GetHint(asking(priority=PRIORITY_BULK))
        assert (await bulk) == lowered
        assert "priority" not in dict(await bulk.trailing_metadata())
    async with serving(engine) as served:
        call = served.solver.GetHint(asking())
        assert await call == lowered
        assert "priority" not in dict(await call.trailing_metadata())


def test_interactive_questions_beyond_the_allowance_are_normal_ones() -> None:
    quota = Quota(Limits(answers_per_client=3, interactive_per_client=1))
    with (
        quota.counted("one", PRIORITY_INTERACTIVE, 1.0) as first,
        quota.counted("one", PRIORITY_INTERACTIVE, 1.0) as second,
        quota.counted("one", PRIORITY_BULK, 1.0) as third,
    ):
        assert (first, second, third) == (PRIORITY_INTERACTIVE, PRIORITY_NORMAL, PRIORITY_BULK)
        with pytest.raises(Refusal, match="this client"), quota.counted("one", PRIORITY_BULK, 1.0):
            pass
        with quota.counted("two", PRIORITY_INTERACTIVE, 1.0) as other:
            assert other == PRIORITY_INTERACTIVE
    with quota.counted("one", PRIORITY_INTERACTIVE, 1.0) as again:
        assert again == PRIORITY_INTERACTIVE


def test_a_client_is_a_machine_and_on_this_one_a_connection() -> None:
    assert client_of("ipv4:10.1.2.3:4567") == client_of("ipv4:10.1.2.3:4568") == "ipv4:10.1.2.3"
    assert client_of("ipv6:%5B2001:db8::1%5D:1") == client_of("ipv6:[2001:db8::1]:2")
    assert client_of("ipv4:127.0.0.1:4567") != client_of("ipv4:127.0.0.1:4568")
    assert client_of("ipv6:%5B::1%5D:1") != client_of("ipv6:%5B::1%5D:2")
    assert client_of("unix:") == "unix:"


async def test_a_refused_client_is_told_how_long_the_queue_is() -> None:
    gate = Gate("test", threads=2, waiting=20)
    for _ in range(40):
        await gate.run(lambda: time.sleep(0.02))
    waiting = [asyncio.ensure_future(gate.run(lambda: time.sleep(0.02))) for _ in range(22)]
    await asyncio.sleep(0.005)
    with pytest.raises(Refusal) as raised:
        await gate.run(lambda: None)
    (milliseconds,) = [int(value) for _, value in raised.value.pushback]
    assert 150 < milliseconds < 600  # 20 waiting and this one, 0.02 s each or a little more, two at once
    await asyncio.gather(*waiting)
    gate.close()


async def test_the_client_comes_back_when_the_server_said(engine: Engine) -> None:
    with held(engine) as holder, patch.object(gates, "RETRY_SECONDS", (1.0, 60.0)):
        async with serving(engine, Limits(answers_waiting=0)) as served:
            taken = [asyncio.ensure_future(served.solver.GetHint(asking(seed))) for seed in range(ANSWERS_AT_ONCE[0])]
            await holder.wait_until_asked(len(taken))
            async with zank.AsyncClient(served.target) as client:
                begin = time.monotonic()
                hint = asyncio.ensure_future(client.hint(POSITION, rollouts=64))
                await asyncio.sleep(0.1)
                holder.release()
                assert (await hint).moves
                assert time.monotonic() - begin > 1
            await asyncio.gather(*taken)
