"""A server of one's own: a child process on a loopback port, which ends with this process."""

import contextlib
import importlib.util
import json
import queue
import re
import subprocess
import sys
import tempfile
import threading
from typing import IO, Final

import grpc

from zank.errors import ServerNotInstalled, ServerUnavailable

_SERVER_MODULES: Final = ("zank_service", "zank_kernel", "jax", "grpc_health", "grpc_reflection")
_STOP_SECONDS: Final = 5.0
_LOG_TAIL: Final = 20_000  # bytes
_LOG_PREFIX: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:,]+ [A-Z]+ |^zank serve: "


def require_server() -> None:
    """Raises ServerNotInstalled, which says how to install it, unless the `server` extra is there."""
    missing = [name for name in _SERVER_MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise ServerNotInstalled(
            f"the engine is not installed here ({', '.join(missing)} missing): pip install 'zank[server]', in a clone"
            " pip install '.[server]'; or name a running server: --server HOST:PORT, zank.Client('HOST:PORT')",
            code=grpc.StatusCode.UNAVAILABLE,
        )


class EmbeddedServer:
    """A child process with a server; `close` ends it, and so does the end of this process."""

    def __init__(self, workers: int = 0) -> None:
        """Starts the process, without waiting for it; raises ServerNotInstalled.

        `workers` is how many calls play rollouts at a time; 0 = one for each core, or one on an accelerator.
        """
        require_server()
        # The log goes to a file: nobody would read a pipe while the server runs.
        self._log: Final = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._process: Final = subprocess.Popen(
            # -P: what happens to lie in the current directory is not part of the server.
            [
                *(sys.executable, "-P", "-m", "zank_service"),
                *("--host", "127.0.0.1", "--port", "0", "--workers", str(workers), "--announce", "--exit-with-stdin"),
            ],
            stdin=subprocess.PIPE,  # its end tells the server that this process is gone
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the server
        )
        assert self._process.stdout is not None
        self._lines: Final = queue.SimpleQueue[bytes]()
        self._reader: Final = threading.Thread(
            target=_read_lines, args=(self._process.stdout, self._lines), daemon=True
        )
        self._reader.start()

    def wait(self, timeout: float) -> str:
        """Waits until it serves, at most `timeout` seconds, and returns its target; to be called once.

        Raises ServerUnavailable with the last words of the server's log. `close` from another thread ends the wait.
        """
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise self._failed(f"the embedded server was not ready within {timeout:g} s") from None
        if not line:
            raise self._failed(f"the embedded server ended at once (exit status {self._process.wait()})")
        try:
            return f"127.0.0.1:{int(json.loads(line)['port'])}"
        except (ValueError, KeyError, TypeError):
            raise self._failed(f"the embedded server announced {line!r} where a port was expected") from None

    def close(self) -> None:
        """Ends the server; does nothing the second time."""
        process = self._process
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        for stop in (process.terminate, process.kill):
            try:
                process.wait(_STOP_SECONDS)
                break
            except subprocess.TimeoutExpired:
                stop()
        process.wait()
        assert process.stdout is not None
        self._reader.join()
        process.stdout.close()
        self._log.close()

    def _failed(self, message: str) -> ServerUnavailable:
        size = self._log.seek(0, 2)
        self._log.seek(max(size - _LOG_TAIL, 0))
        cause = _last_words(self._log.read().decode(errors="replace"))
        if cause:
            message = f"{message}: {cause} (`zank serve` shows more)"
        return ServerUnavailable(message, code=grpc.StatusCode.UNAVAILABLE)


def _last_words(log: str) -> str:
    """The line of a log that says why it ends: the last exception, without its traceback, or the last line."""
    lines = [line for line in log.splitlines() if line.strip() and not line[0].isspace()]
    exceptions = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit)\b", line)]
    last = (exceptions or lines or [""])[-1]
    return re.sub(_LOG_PREFIX, "", last).strip()


def _read_lines(stream: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Passes on the first line, or nothing at the end of the stream, and reads the rest so that it never blocks."""
    lines.put(stream.readline())
    for _ in stream:
        pass
