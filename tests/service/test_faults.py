"""What goes wrong around a server: clients that vanish or only sit there, and servers that come and go."""

import asyncio
import resource
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import grpc

import zank
from tests.service.conftest import serving
from tests.service.tables import partial
from tests.service.test_lifecycle import announced, outcome, started
from zank.v1 import AnalyzeRequest, Answer, Budget, GetHintRequest, Question, SolverStub
from zank_kernel.engine import Engine
from zank_service.limits import Limits
from zank_service.server import Server

POSITION: Final = partial(c="Ac..")
HINT: Final = GetHintRequest(question=Question(position=POSITION, budget=Budget(rollouts=256), seed=1))
LONG: Final = AnalyzeRequest(question=Question(position=POSITION, budget=Budget(rollouts=1_000_000)))

READER = """
import sys, grpc
from zank.v1 import AnalyzeRequest, SolverStub
with grpc.insecure_channel(sys.argv[1]) as channel:
    for update in SolverStub(channel).Analyze(AnalyzeRequest.FromString(bytes.fromhex(sys.argv[2]))):
        print(update.answer.rollouts, flush=True)
"""


async def test_a_reader_killed_in_the_middle_leaves_no_work_behind(engine: Engine) -> None:
    server = Server(engine, Limits())
    port = await server.start("127.0.0.1", 0)
    await server.serve()
    reader = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", READER, f"127.0.0.1:{port}", LONG.SerializeToString().hex()),
        stdout=asyncio.subprocess.PIPE,
    )
    assert reader.stdout is not None
    before = engine.meter.rollouts
    assert int(await reader.stdout.readline()) > 0
    reader.send_signal(signal.SIGKILL)
    await reader.communicate()
    async with asyncio.timeout(2):
        await server.calls.idle()
    assert server.calls.ended == {("/zank.v1.Solver/Analyze", "CANCELLED"): 1}
    assert await server.stop(grace=5)
    assert 0 < engine.meter.rollouts - before < 500_000


CONNECTIONS: Final = 1_000
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")  # and empty settings
SETTINGS: Final = 4  # the type of a frame


@contextmanager
def descriptors(count: int) -> Iterator[None]:
    """So many files may be open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, count), hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_thousand_connections_that_only_sit_there_are_no_burden(engine: Engine) -> None:
    with descriptors(4 * CONNECTIONS):
        async with serving(engine) as served:
            before = await served.solver.GetHint(HINT)
            host, _, port = served.target.rpartition(":")
            writers = []
            for _ in range(CONNECTIONS):
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(PREFACE)
                assert (await reader.readexactly(9))[3] == SETTINGS
                writers.append(writer)
            assert await served.solver.GetHint(HINT, timeout=5) == before
            for writer in writers:
                assert not writer.is_closing()
                writer.close()
            assert await served.solver.GetHint(HINT, timeout=5) == before


def test_told_to_stop_under_load_a_server_leaves_no_call_without_an_answer(
    programs_directory: Path, engine: Engine
) -> None:
    flags = ("--port", "0", "--announce", "--cache-dir", str(programs_directory), "--grace-seconds", "2")
    with started(*flags) as process:
        with grpc.insecure_channel(f"127.0.0.1:{announced(process)}") as channel:
            solver = SolverStub(channel)
            streams = [iter(solver.Analyze(LONG)) for _ in range(3)]
            assert all(next(stream).answer.moves for stream in streams)
            short = [solver.GetHint.future(HINT) for _ in range(20)]
            long = [solver.GetHint.future(GetHintRequest(question=LONG.question)) for _ in range(4)]
            assert short[0].result(10).answer.moves
            process.send_signal(signal.SIGTERM)
            ended = [list(stream)[-1] for stream in streams]
            codes = [hint.code() for hint in short], [hint.code() for hint in long]
        exit_status, log = outcome(process)
    assert all(last.final and last.partial and last.answer.moves for last in ended)
    # Those that had come were answered; the others may try elsewhere.
    assert {*codes[0]} <= {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
    assert {*codes[1]} == {grpc.StatusCode.UNAVAILABLE}
    assert exit_status == 0
    assert "stopped with calls unanswered after 2 s" in log
    assert "Traceback" not in log


@asynccontextmanager
async def asking(client: zank.AsyncClient, callers: int) -> AsyncIterator[list[Answer]]:
    """Hints asked for without a pause, from so many callers; what they are told."""
    answers = list[Answer]()
    over = asyncio.Event()

    async def caller() -> None:
        while not over.is_set():
            answers.append(await client.hint(POSITION, rollouts=256, seed=1))

    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(caller())
        yield answers
        over.set()


async def test_no_call_fails_while_the_servers_behind_a_name_are_replaced_one_after_the_other(engine: Engine) -> None:
    async def begun(port: int) -> tuple[Server, int]:
        server = Server(engine, Limits())
        port = await server.start("127.0.0.1", port)
        await server.serve()
        return server, port

    servers = [await begun(0) for _ in range(2)]
    target = "ipv4:" + ",".join(f"127.0.0.1:{port}" for _, port in servers)
    async with zank.AsyncClient(target) as client, asking(client, callers=6) as answers:
        for number, (server, port) in enumerate(servers):
            await asyncio.sleep(0.5)
            assert await server.stop(grace=10)
            await asyncio.sleep(0.5)  # the other one answers for both
            servers[number] = await begun(port)
        first = [server.calls.begun.total() for server, _ in servers]
        await asyncio.sleep(2)
        assert all(server.calls.begun.total() > before for (server, _), before in zip(servers, first, strict=True))
    assert len({answer.SerializeToString(deterministic=True) for answer in answers}) == 1
    for server, _ in servers:
        assert await server.stop(grace=5)
