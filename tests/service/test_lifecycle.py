"""The server as a process: how it starts, announces itself, and ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from tests.service.tables import partial
from zank.v1 import Budget, GetHintRequest, GetInfoRequest, ServerStub, SolverStub
from zank_kernel.engine import Engine
from zank_service.cache import UnsafeCache, private_directory

WARM_START_SECONDS = 10


@contextmanager
def started(*arguments: str, code: str | None = None) -> Iterator["subprocess.Popen[str]"]:
    """A server process; `code` is run in place of the module."""
    program = ["-m", "zank_service"] if code is None else ["-c", code]
    process = subprocess.Popen(
        [sys.executable, *program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def announced(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr and process.stderr.read()
    port = json.loads(line)["port"]
    assert isinstance(port, int)
    return port


def outcome(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit status and log of a process that ends by itself."""
    status = process.wait(20)
    assert process.stderr is not None
    return status, process.stderr.read()


def wait_for_log(process: "subprocess.Popen[str]", words: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"{words!r} was never logged")


@pytest.fixture(scope="module")
def cache(programs_directory: Path, engine: Engine) -> str:
    """A cache that holds every program, for the engine of this process is warm."""
    assert engine.programs
    return str(programs_directory)


def test_it_is_ready_soon_after_a_warm_start_and_ends_by_sigterm(cache: str) -> None:
    begin = time.monotonic()
    with started("--port", "0", "--announce", "--cache-dir", cache) as process:
        port = announced(process)
        assert time.monotonic() - begin < WARM_START_SECONDS
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            check = channel.unary_unary(
                "/grpc.health.v1.Health/Check",
                health_pb2.HealthCheckRequest.SerializeToString,
                health_pb2.HealthCheckResponse.FromString,
            )
            assert check(health_pb2.HealthCheckRequest()).status == health_pb2.HealthCheckResponse.SERVING
            assert ServerStub(channel).GetInfo(GetInfoRequest()).programs
            assert SolverStub(channel).GetHint(GetHintRequest(position=partial())).moves
        process.send_signal(signal.SIGTERM)
        exit_status, log = outcome(process)
    assert exit_status == 0
    assert "stopped" in log
    assert "Traceback" not in log


def test_it_ends_with_its_standard_input(cache: str) -> None:
    with started("--port", "0", "--announce", "--exit-with-stdin", "--cache-dir", cache) as process:
        announced(process)
        assert process.stdin is not None
        process.stdin.close()
        assert outcome(process)[0] == 0


def test_a_first_signal_waits_for_an_answer_and_a_second_does_not(cache: str) -> None:
    with started("--port", "0", "--announce", "--cache-dir", cache) as process:
        port = announced(process)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            request = GetHintRequest(position=partial(c="Ac.."), budget=Budget(rollouts=1_000_000))
            answer = SolverStub(channel).GetHint.future(request)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            wait_for_log(process, "stopping")
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.send_signal(signal.SIGTERM)
            assert process.wait(2) == 128 + signal.SIGTERM
            assert answer.exception() is not None


def test_it_ends_by_sigterm_while_it_compiles(tmp_path: Path) -> None:
    with started("--port", "0", "--announce", "--cache-dir", str(tmp_path / "cold")) as process:
        wait_for_log(process, "compiling")
        process.send_signal(signal.SIGTERM)
        assert process.wait(3) == 0
        assert process.stdout is not None
        assert not process.stdout.read()


def test_a_port_in_use_is_said_before_anything_is_compiled(cache: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with started("--port", str(port), "--announce", "--cache-dir", cache) as process:
            exit_status, log = outcome(process)
    assert exit_status == 1
    assert f"cannot listen on 127.0.0.1:{port}" in log
    assert "compiling" not in log
    assert "Traceback" not in log


def test_a_failed_warm_up_is_fatal(cache: str) -> None:
    code = """
import sys
from zank_kernel.engine import Engine
from zank_service.__main__ import main
def fail(self):
    raise RuntimeError("no such device")
Engine.warm_up = fail
sys.exit(main())
"""
    with started("--port", "0", "--announce", "--cache-dir", cache, code=code) as process:
        exit_status, log = outcome(process)
        assert process.stdout is not None
        assert not process.stdout.read()
    assert exit_status == 1
    assert "the server failed to start" in log
    assert "no such device" in log


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "not encrypted"),
        (["--host", "example.org"], "not a loopback address"),
        (["--port", "65536"], "0 to 65535"),
        (["--workers", "0"], "1 to 1024"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments: list[str], words: str) -> None:
    with started(*arguments) as process:
        exit_status, log = outcome(process)
    assert exit_status == 2
    assert words in log


def test_a_cache_is_the_users_alone(tmp_path: Path) -> None:
    path = private_directory(tmp_path / "new" / "cache")
    assert path.stat().st_mode & 0o777 == 0o700
    path.chmod(0o770)
    with pytest.raises(UnsafeCache, match="other users can write"):
        private_directory(path)
    (tmp_path / "file").touch()
    with pytest.raises(UnsafeCache, match="--cache-dir"):
        private_directory(tmp_path / "file" / "cache")


def test_the_default_cache_is_in_the_users_cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert private_directory(None) == tmp_path / "zank"
    assert os.stat(private_directory(None)).st_uid == os.getuid()
