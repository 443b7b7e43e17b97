import asyncio
import inspect
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.client.fake_server import DEALT, ILLEGAL, INVALID, OVERLOADED, FakeServer, running
from tests.client.test_client import OPTIONS, POSITION, QUESTION
from zank.aio import AsyncClient
from zank.client import Client
from zank.errors import (
    DeadlineExceeded,
    IllegalMove,
    InvalidInput,
    InvalidRequest,
    NotConnected,
    Overloaded,
    RevealsNeeded,
    ServerUnavailable,
)
from zank.v1 import AnalyzeRequest, GetBestMoveRequest, GetHintRequest, Slot


@pytest.fixture
async def client(fake: FakeServer) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(fake.target) as client:
        yield client


def _methods(kind: type) -> dict[str, inspect.Signature]:
    members = inspect.getmembers(kind, inspect.isfunction)
    return {name: inspect.signature(member) for name, member in members if not name.startswith("_")}


def test_both_clients_have_the_same_methods() -> None:
    asynchronous = _methods(AsyncClient)
    asynchronous.pop("connect")
    blocking = _methods(Client)
    assert asynchronous.keys() == blocking.keys()
    for name, signature in blocking.items():
        assert asynchronous[name].parameters == signature.parameters, name


async def test_every_method_asks_what_the_blocking_client_asks(client: AsyncClient, fake: FakeServer) -> None:
    assert await client.deal("malice-match", seed=1) == POSITION
    assert not (await client.view(DEALT, 2)).HasField("shuffle")
    assert [legal.move for legal in await client.legal_moves(DEALT)] == ["A-C1", "A-C2", "Q-S1"]
    assert (await client.check(DEALT, "Q-S1")).legal
    assert (await client.apply(DEALT, "Q-S1", reveals=["P=7h"])).position.player_to_move == 2
    assert (await client.hint(DEALT, **OPTIONS)).moves[0].move == "A-C1"
    assert (await client.best(DEALT, **OPTIONS)).moves[0].line == ["A-C1", "Q-S1"]
    assert [update.final async for update in client.analyze(DEALT, **OPTIONS)] == [False, False, True]
    assert (await client.info()).engine_version == "1.2.3"
    asynchronous = list(fake.requests)
    assert asynchronous[5:8] == [
        GetHintRequest(question=QUESTION),
        GetBestMoveRequest(question=QUESTION),
        AnalyzeRequest(question=QUESTION),
    ]
    fake.requests.clear()

    def ask() -> None:
        with Client(fake.target) as blocking:
            blocking.deal("malice-match", seed=1)
            blocking.view(DEALT, 2)
            blocking.legal_moves(DEALT)
            blocking.check(DEALT, "Q-S1")
            blocking.apply(DEALT, "Q-S1", reveals=["P=7h"])
            blocking.hint(DEALT, **OPTIONS)
            blocking.best(DEALT, **OPTIONS)
            list(blocking.analyze(DEALT, **OPTIONS))
            blocking.info()

    await asyncio.to_thread(ask)
    assert fake.requests == asynchronous


async def test_errors_are_typed(client: AsyncClient, fake: FakeServer) -> None:
    fake.refusals += [ILLEGAL, INVALID, OVERLOADED, INVALID]
    with pytest.raises(IllegalMove) as illegal:
        await client.apply(DEALT, "8-C1")
    assert illegal.value.metadata == {"rule": "M3"}
    with pytest.raises(InvalidRequest) as invalid:
        await client.hint(DEALT)
    assert invalid.value.violations[0].field == "position.malice.stock.hidden"
    with pytest.raises(Overloaded) as overloaded:
        await client.info()
    assert overloaded.value.retry_after == 1.5
    with pytest.raises(InvalidRequest):
        await anext(client.analyze(DEALT))
    with pytest.raises(InvalidInput):
        client.analyze("malice-match~1")
    fake.needed = [Slot(player=1, place="P")]
    with pytest.raises(RevealsNeeded):
        await client.apply(DEALT, "A-C1")


async def test_a_client_that_is_not_connected_says_how_to(fake: FakeServer) -> None:
    client = AsyncClient(fake.target)
    with pytest.raises(NotConnected, match="not connected: use `async with"):
        await client.info()
    async with client:
        await client.info()
    with pytest.raises(NotConnected, match="not connected"):
        await client.info()


async def test_calls_run_side_by_side(client: AsyncClient, fake: FakeServer) -> None:
    answers = await asyncio.gather(*(client.hint(DEALT, request_id=str(number)) for number in range(20)))
    assert [answer.request_id for answer in answers] == [str(number) for number in range(20)]


async def test_a_late_answer_is_an_error(client: AsyncClient, fake: FakeServer) -> None:
    fake.delay = 0.5
    with pytest.raises(DeadlineExceeded, match=r"no answer within 0\.05 s"):
        await client.info(timeout=0.05)


async def test_a_server_that_went_away_is_told_soon() -> None:
    with running() as fake:
        client = AsyncClient(fake.target)
        await client.connect()
    started = time.monotonic()
    with pytest.raises(ServerUnavailable, match="the server went away: nothing listens there"):
        await client.info()
    with pytest.raises(ServerUnavailable):
        await anext(client.analyze(DEALT))
    assert time.monotonic() - started < 10
    await client.close()


async def test_an_analysis_that_is_cancelled_ends_on_the_server(client: AsyncClient, fake: FakeServer) -> None:
    fake.delay = 1
    arrived = asyncio.Event()

    async def follow() -> None:
        async for _update in client.analyze(DEALT):
            arrived.set()

    following = asyncio.create_task(follow())
    await arrived.wait()
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
    assert await asyncio.to_thread(fake.analysis_ended.wait, 0.9)


async def test_a_client_waits_until_the_server_is_serving() -> None:
    with running(serving=False) as fake:
        client = AsyncClient(fake.target, start_timeout=0.3)
        with pytest.raises(ServerUnavailable, match=f"no server serves at {fake.target}"):
            await client.connect()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        target = f"127.0.0.1:{unused.getsockname()[1]}"
        for start_timeout in (None, 0.3):
            with pytest.raises(ServerUnavailable, match=f"no server serves at {target}: nothing listens there"):
                await AsyncClient(target, start_timeout=start_timeout).connect()


async def test_a_server_on_this_machine_is_asked_without_a_proxy(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with AsyncClient(fake.target) as client:
        assert (await client.info()).engine_version == "1.2.3"


async def test_without_a_target_a_server_is_started_and_ended(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = _as_server(monkeypatch, tmp_path)
    port = fake.target.rpartition(":")[2]
    script.write_text(f'#!/bin/sh\necho \'{{"port": {port}}}\'\ncat\ntouch "$0.ended"\n')
    async with AsyncClient() as client:
        assert (await client.info()).engine_version == "1.2.3"
        assert not script.with_name("server.ended").exists()
    assert script.with_name("server.ended").exists()


async def test_a_start_that_is_cancelled_leaves_no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = _as_server(monkeypatch, tmp_path)
    os.mkfifo(script.with_name("server.started"))
    script.write_text('#!/bin/sh\n: >"$0.started"\ncat\ntouch "$0.ended"\n')
    starting = asyncio.create_task(AsyncClient().connect())
    await asyncio.to_thread(script.with_name("server.started").read_text)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert script.with_name("server.ended").exists()


def _as_server(monkeypatch: pytest.MonkeyPatch, directory: Path) -> Path:
    """A shell script that runs where the embedded server would."""
    monkeypatch.setattr("zank.embedded.require_server", lambda: None)
    script = directory / "server"
    monkeypatch.setattr(sys, "executable", str(script))
    script.touch(mode=0o755)
    return script
