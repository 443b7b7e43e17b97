from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest

from tests.service.wire import Served, connected
from zank_kernel.engine import Engine
from zank_service.limits import Limits
from zank_service.server import Server

LIMITS: Final = Limits()


@asynccontextmanager
async def serving(engine: Engine, limits: Limits = LIMITS) -> AsyncIterator[Served]:
    """A server in this process, on a free port."""
    server = Server(engine, limits)
    port = await server.start("127.0.0.1", 0)
    await server.serve()
    async with connected(f"127.0.0.1:{port}") as served:
        yield served
    await server.stop(grace=5)


@pytest.fixture(scope="session")
async def served(engine: Engine) -> AsyncIterator[Served]:
    """One server for all tests."""
    async with serving(engine) as served:
        yield served
