"""The life of a server process: open the port, warm up, announce, serve, drain, end."""

import asyncio
import json
import logging
import os
import signal
import threading
from functools import partial
from typing import Final

from zank_kernel.engine import Engine
from zank_service.priority import put_clients_first
from zank_service.server import Server
from zank_service.settings import Settings

DEVICE_STATUS: Final = 75  # EX_TEMPFAIL: the device hangs or fails again and again; a supervisor should start anew
MOST_FAULTS: Final = 8  # calls of the device in a row that may fail
SAYING_SECONDS: Final = 0.5  # for word of it to reach who watches the health

logger = logging.getLogger(__name__)


async def run(settings: Settings, *, announce: bool, exit_with_stdin: bool) -> None:
    """Run a server until it is told to stop; raises PortUnavailable, and whatever a warm-up that fails raises.

    SIGTERM and SIGINT stop it when the calls under way are answered; the second one stops it at once. `announce`: print
    the port, as one line of JSON, once the server serves; `exit_with_stdin`: stop when standard input ends. The process
    exits with DEVICE_STATUS when the device does not work any more.
    """
    stopping = asyncio.Event()
    _stop_on_signals(stopping)
    if exit_with_stdin:
        _stop_with_stdin(stopping)
    engine = put_clients_first(partial(Engine, workers=settings.workers or None, cache_directory=settings.cache_dir))
    server = Server(engine, settings.limits(), with_reflection=settings.reflection)
    port = await server.start(settings.host, settings.port)
    logger.info("listening on %s port %d, compiling", settings.host, port)
    await _warm_up(engine, stopping)
    await server.serve()
    logger.info("serving")
    if announce:
        print(json.dumps({"port": port}), flush=True)
    watching = asyncio.create_task(_watch(engine, server, settings.hung_seconds))
    await stopping.wait()
    logger.info("stopping")
    if not await server.stop(settings.grace_seconds):
        logger.warning("stopped with calls unanswered after %d s", settings.grace_seconds)
        _exit_now(0)
    watching.cancel()
    engine.close()
    logger.info("stopped")


async def _warm_up(engine: Engine, stopping: asyncio.Event) -> None:
    """Compile every program, off the event loop; the process ends here if it is told to stop meanwhile."""
    warming = asyncio.create_task(asyncio.to_thread(engine.warm_up))
    told = asyncio.create_task(stopping.wait())
    await asyncio.wait((warming, told), return_when=asyncio.FIRST_COMPLETED)
    if not warming.done():
        _exit_now(0)
    told.cancel()
    await warming


async def _watch(engine: Engine, server: Server, hung: float) -> None:
    """End the process once a call of the device has taken so many seconds, or many in a row have failed."""
    while True:
        await asyncio.sleep(min(1.0, hung / 4))
        faults = max(engine.faults.copy().values(), default=0)
        if engine.longest_call > hung or faults >= MOST_FAULTS:
            break
    await server.fail()
    fault = f"{faults} calls in a row failed" if faults >= MOST_FAULTS else f"a call has run for {hung} s"
    logger.error("the device does not work: %s; exiting with status %d", fault, DEVICE_STATUS)
    await asyncio.sleep(SAYING_SECONDS)
    _exit_now(DEVICE_STATUS)


def _stop_on_signals(stopping: asyncio.Event) -> None:
    def stop(number: int) -> None:
        if stopping.is_set():
            logger.warning("stopped at once")
            _exit_now(128 + number)
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)


def _stop_with_stdin(stopping: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()

    def read() -> None:
        # Not sys.stdin, whose lock would be held for good.
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(stopping.set)

    threading.Thread(target=read, name="stdin", daemon=True).start()


def _exit_now(status: int) -> None:
    """End the process without waiting for threads that cannot be interrupted."""
    logging.shutdown()
    os._exit(status)
