"""A server in this process, and clients in processes of their own."""

import asyncio
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.clients import Ended, Plan
from zank_kernel.engine import Engine
from zank_service.limits import Limits
from zank_service.server import Server

ROOT = Path(__file__).parents[1]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Serving:
    """A server that serves."""

    engine: Engine
    server: Server
    target: str


@asynccontextmanager
async def serving(engine: Engine) -> AsyncIterator[Serving]:
    """A server on a free port of this machine, with the limits that are the default."""
    server = Server(engine, Limits())
    port = await server.start("127.0.0.1", 0)
    await server.serve()
    yield Serving(engine=engine, server=server, target=f"127.0.0.1:{port}")
    await server.stop(grace=60)


@asynccontextmanager
async def idle_server() -> AsyncIterator[str]:
    """The target of a server in a process of its own that nobody asks for anything but its health."""
    command = (sys.executable, "-m", "benchmarks.idle")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=os.environ)
    assert process.stdout is not None
    yield f"127.0.0.1:{int(await process.stdout.readline())}"
    process.kill()
    await process.wait()


class Process:
    """A process of clients that carries out a plan; what it says goes to a file, so that it never waits for us."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process

    async def start(self) -> "Process":
        """Begin."""
        command = (sys.executable, "-m", "benchmarks.clients", json.dumps(dataclasses.asdict(self.plan)))
        self._process = await asyncio.create_subprocess_exec(*command, stdout=self._said, cwd=ROOT, env=os.environ)
        return self

    async def kill(self, after: float) -> None:
        """Kill it after a while, unless it has ended."""
        try:
            await asyncio.wait_for(self._process.wait(), after)
        except TimeoutError:
            self._process.kill()

    def stop(self) -> None:
        """Kill it at once."""
        if self._process.returncode is None:
            self._process.kill()

    async def ended(self) -> tuple[int, list[Ended]]:
        """How many requests it began, and what became of those that it saw the end of."""
        await self._process.wait()
        self._said.seek(0)
        lines = [json.loads(line) for line in self._said if line.endswith("\n")]
        self._said.close()
        return lines.count({}), [Ended(**line) for line in lines if line]


async def ask(plan: Plan) -> list[Ended]:
    """What becomes of the requests of a plan."""
    return (await (await Process(plan).start()).ended())[1]


def percentile(values: list[float], share: float) -> float:
    """The value that this share of the values does not exceed; 0 where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
