"""What becomes of the server's work when the device fails or hangs."""

import asyncio
import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import grpc
import pytest
from grpc_health.v1 import health_pb2

from tests.service.tables import partial
from tests.service.test_lifecycle import announced, outcome, started
from tests.service.wire import Served, refusal
from zank.v1 import Budget, GetHintRequest, Question, SolverStub
from zank_kernel.engine import Engine
from zank_service.lifecycle import DEVICE_STATUS

HINT = GetHintRequest(question=Question(position=partial(c="Ac.."), budget=Budget(rollouts=500)))


@contextmanager
def failing(engine: Engine, calls: int) -> Iterator[None]:
    """The device fails so many calls, with the lanes they were given lost."""
    program = engine.programs["malice/rollout"]
    left = iter(range(calls))

    def call(*arguments: Any) -> Any:
        if next(left, None) is not None:
            for lanes in [leaf for leaf in vars(arguments[0]).values() if hasattr(leaf, "delete")]:
                lanes.delete()
            raise RuntimeError("the device is on fire")
        return program.call(*arguments)

    with patch.dict(engine.programs, {"malice/rollout": dataclasses.replace(program, call=call)}):
        yield


async def test_a_device_error_fails_its_question_and_the_next_one_works(
    served: Served, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    before = await served.solver.GetHint(HINT)
    with failing(engine, engine.workers):
        refused = await refusal(served.solver.GetHint(HINT))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
        assert "fire" not in refused.message
        assert "the device is on fire" in caplog.text
        results = await asyncio.gather(*(served.solver.GetHint(HINT) for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(result, grpc.aio.AioRpcError) for result in results) < 4
    assert await served.solver.GetHint(HINT) == before
    assert not engine.faults


HUNG = """
import sys, time
from zank_kernel.engine import Engine
from zank_service.__main__ import main
warm_up = Engine.warm_up
def warm(self):
    warm_up(self)
    for name, program in self.programs.items():
        if name.endswith("/rollout"):
            object.__setattr__(program, "call", lambda *arguments: {fault})
Engine.warm_up = warm
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("fault", "said"), [("time.sleep(3600)", "a call has run for 1 s"), ("1 // 0", "calls in a row failed")]
)
def test_a_device_that_hangs_or_only_fails_ends_the_server_with_a_status_of_its_own(
    programs_directory: Path, engine: Engine, fault: str, said: str
) -> None:
    flags = ("--port", "0", "--announce", "--cache-dir", str(programs_directory), "--hung-seconds", "1")
    with started(*flags, code=HUNG.format(fault=fault)) as process:
        port = announced(process)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            watch = channel.unary_stream(
                "/grpc.health.v1.Health/Watch",
                health_pb2.HealthCheckRequest.SerializeToString,
                health_pb2.HealthCheckResponse.FromString,
            )
            statuses = iter(watch(health_pb2.HealthCheckRequest(), timeout=20))
            assert next(statuses).status == health_pb2.HealthCheckResponse.SERVING
            hints = [SolverStub(channel).GetHint.future(HINT) for _ in range(8)]
            assert next(statuses).status == health_pb2.HealthCheckResponse.NOT_SERVING
            exit_status, log = outcome(process)
            assert all(hint.exception() is not None for hint in hints)
    assert exit_status == DEVICE_STATUS == os.EX_TEMPFAIL
    assert said in log
