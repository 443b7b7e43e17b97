"""Calls to a server, and what its refusals say."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2

from tests.service.errors import TABLE, Row
from zank.v1 import AnalystStub, RefereeStub, ServerStub, SolverStub

if TYPE_CHECKING:  # in the stubs only
    from zank.v1.analysis_pb2_grpc import AnalystAsyncStub
    from zank.v1.referee_pb2_grpc import RefereeAsyncStub
    from zank.v1.server_pb2_grpc import ServerAsyncStub
    from zank.v1.solver_pb2_grpc import SolverAsyncStub


@dataclass(frozen=True, kw_only=True)
class Served:
    """One connection to a server, and its stubs."""

    target: str
    channel: grpc.aio.Channel
    referee: "RefereeAsyncStub"
    solver: "SolverAsyncStub"
    analyst: "AnalystAsyncStub"
    about: "ServerAsyncStub"


@asynccontextmanager
async def connected(target: str) -> AsyncIterator[Served]:
    """A connection to the server at this target, which no other channel shares."""
    async with grpc.aio.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        yield Served(
            target=target,
            channel=channel,
            referee=RefereeStub(channel),
            solver=SolverStub(channel),
            analyst=AnalystStub(channel),
            about=ServerStub(channel),
        )


async def check_health(channel: grpc.aio.Channel, service: str = "") -> int:
    """What the server says of its health."""
    check = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        health_pb2.HealthCheckRequest.SerializeToString,
        health_pb2.HealthCheckResponse.FromString,
    )
    return int((await check(health_pb2.HealthCheckRequest(service=service))).status)


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A refusal as its rich status tells it."""

    code: grpc.StatusCode
    message: str
    reason: str
    metadata: dict[str, str]
    fields: dict[str, str]  # descriptions by path
    retry_seconds: float | None


def read(error: grpc.aio.AioRpcError) -> Refused:
    """What a failed call says, which must be what the table of errors says that a call can fail with."""
    trailers: Any = error.trailing_metadata()
    details = dict(trailers or {}).get("grpc-status-details-bin", b"")
    bad, info, retry = error_details_pb2.BadRequest(), error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    retry_seconds = None
    for detail in status_pb2.Status.FromString(details).details:
        if detail.Unpack(retry):
            retry_seconds = retry.retry_delay.ToMilliseconds() / 1000
        assert detail.Unpack(bad) or detail.Unpack(info) or retry_seconds is not None
    assert info.domain == ("zank" if info.reason else "")
    refused = Refused(
        code=error.code(),
        message=error.details() or "",
        reason=info.reason,
        metadata=dict(info.metadata),
        fields={violation.field: violation.description for violation in bad.field_violations},
        retry_seconds=retry_seconds,
    )
    documented(refused)
    return refused


def documented(refused: Refused) -> Row:
    """The row of the table of errors that a refusal is in; fails where there is none."""
    rows = [
        row
        for row in TABLE
        if (row.code, row.reason) == (refused.code.name, refused.reason)
        and row.fields == bool(refused.fields)
        and row.metadata == refused.metadata.keys()
        and row.retry == (refused.retry_seconds is not None)
    ]
    assert len(rows) == 1, f"{refused} is not in the table of errors"
    return rows[0]


async def refusal(call: Awaitable[object]) -> Refused:
    """The refusal of a call that must be refused."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    return read(raised.value)
