"""The server as a process: how it starts, announces itself, and ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from tests.service.tables import partial
from zank.v1 import Budget, GetHintRequest, GetInfoRequest, Question, ServerStub, SolverStub
from zank_kernel.engine import Engine
from zank_service.cache import UnsafeCache, private_directory

WARM_START_SECONDS = 10


@contextmanager
def started(
    *arguments: str, code: str | None = None, environment: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A server process; `code` is run in place of the module."""
    program = ["-m", "zank_service"] if code is None else ["-c", code]
    process = subprocess.Popen(
        [sys.executable, *program, *arguments],
        env={**os.environ, **(environment or {})},
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
            assert SolverStub(channel).GetHint(GetHintRequest(question=Question(position=partial()))).answer.moves
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
            question = Question(position=partial(c="Ac.."), budget=Budget(rollouts=1_000_000))
            answer = SolverStub(channel).GetHint.future(GetHintRequest(question=question))
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


def test_settings_reach_the_server(cache: str) -> None:
    environment = {"ZANK_MAX_ROLLOUTS": "1000", "ZANK_DEFAULT_BEST_MOVE_ROLLOUTS": "900", "ZANK_WORKERS": "1"}
    flags = ("--default-hint-rollouts", "64", "--default-analysis-rollouts", "1000", "--no-reflection")
    with started("--port", "0", "--announce", "--cache-dir", cache, *flags, environment=environment) as process:
        port = announced(process)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            info = ServerStub(channel).GetInfo(GetInfoRequest())
            answer = SolverStub(channel).GetHint(GetHintRequest(question=Question(position=partial()))).answer
            question = Question(position=partial(), budget=Budget(rollouts=1001))
            with pytest.raises(grpc.RpcError) as raised:
                SolverStub(channel).GetHint(GetHintRequest(question=question))
            assert raised.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            name = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
            reflect = channel.unary_unary(name, bytes, bytes)
            with pytest.raises(grpc.RpcError) as raised:
                reflect(b"")
            assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED
    limits = info.limits
    assert [device.workers for device in info.devices] == [1]
    assert (limits.max_rollouts, limits.default_hint_rollouts) == (1000, 64)
    assert (limits.default_best_move_rollouts, limits.default_analysis_rollouts) == (900, 1000)
    assert 0 < answer.rollouts <= 64


def test_a_server_waits_no_longer_than_the_grace_that_is_set_and_logs_what_is_severe_enough(cache: str) -> None:
    flags = ("--grace-seconds", "0", "--log-level", "warning")
    with started("--port", "0", "--announce", "--cache-dir", cache, *flags) as process:
        port = announced(process)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            question = Question(position=partial(c="Ac.."), budget=Budget(rollouts=1_000_000))
            answer = SolverStub(channel).GetHint.future(GetHintRequest(question=question))
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            exit_status, log = outcome(process)
            assert answer.exception() is not None
    assert exit_status == 0
    assert "stopped with calls unanswered after 0 s" in log
    assert "listening" not in log


def test_settings_that_cannot_be_are_refused_before_anything_starts() -> None:
    with started("--workers", "0", environment={"ZANK_PORT": "65536"}) as process:
        exit_status, log = outcome(process)
    assert exit_status == 2
    assert log == ("zank serve: port (environment ZANK_PORT): expected a whole number from 0 to 65535; found '65536'\n")


def test_a_cache_is_the_users_alone(tmp_path: Path) -> None:
    path = private_directory(tmp_path / "new" / "cache")
    assert path.stat().st_mode & 0o777 == 0o700
    path.chmod(0o770)
    with pytest.raises(UnsafeCache, match="other users can write"):
        private_directory(path)
    (tmp_path / "file").touch()
    with pytest.raises(UnsafeCache, match="ZANK_CACHE_DIR"):
        private_directory(tmp_path / "file" / "cache")


SLOW_IMPORT = """
import sys
import time
from zank_service.__main__ import main


class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "zank_service.lifecycle":
            print("importing", flush=True)
            time.sleep(30)


sys.meta_path.insert(0, Slow())
main(["--port", "0"])
"""


def test_ctrl_c_while_the_engine_is_imported_ends_the_process_quietly() -> None:
    command = [sys.executable, "-c", SLOW_IMPORT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "importing\n"
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=20)
    assert (server.returncode, errors) == (130, "")
