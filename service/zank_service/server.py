"""A server on a port: its services, its health and how it comes to an end."""

import asyncio
from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection

from zank.v1 import (
    add_AnalystServicer_to_server,
    add_RefereeServicer_to_server,
    add_ServerServicer_to_server,
    add_SolverServicer_to_server,
)
from zank_kernel.engine import Engine
from zank_service.about import About
from zank_service.analyst import Analyst
from zank_service.calls import Calls
from zank_service.gate import Gate
from zank_service.limits import MAX_CALLS, RULINGS_AT_ONCE, RULINGS_WAITING, Limits
from zank_service.referee import Referee
from zank_service.solver import Solver

SERVICES: Final = ("zank.v1.Referee", "zank.v1.Solver", "zank.v1.Analyst", "zank.v1.Server")
CLOSING_SECONDS: Final = 0.5  # for answers on their way out; health watchers never end by themselves

OPTIONS: Final = (
    ("grpc.so_reuseport", 0),  # a second server on the same port fails, instead of taking half of the calls
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),  # by default a client that pings is dropped
)


class PortUnavailable(Exception):
    """The port cannot be opened."""


class Server:
    """Serves an engine on one port. It takes calls once `serve` is called: the engine must be warm by then."""

    def __init__(self, engine: Engine, limits: Limits, *, with_reflection: bool = True) -> None:
        self.calls: Final = Calls(limits.default_deadline_seconds)
        self._rulings = Gate("referee", threads=RULINGS_AT_ONCE, waiting=RULINGS_WAITING)
        self._solver = Solver(engine, limits)
        self._analyst = Analyst(engine, limits)
        self._health = HealthServicer()
        options = (*OPTIONS, ("grpc.max_receive_message_length", limits.max_message_bytes))
        self._server = grpc.aio.server(interceptors=[self.calls], options=options, maximum_concurrent_rpcs=MAX_CALLS)
        add_RefereeServicer_to_server(Referee(engine, self._rulings), self._server)
        add_SolverServicer_to_server(self._solver, self._server)
        add_AnalystServicer_to_server(self._analyst, self._server)
        add_ServerServicer_to_server(About(engine, limits), self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if with_reflection:
            names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)

    async def start(self, host: str, port: int) -> int:
        """Open a port (0: any that is free) and return it; health is NOT_SERVING and calls are refused so far.

        Raises PortUnavailable.
        """
        await self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        # One address: of the several that a name can stand for, gRPC is content if it can open one.
        host = "127.0.0.1" if host == "localhost" else host
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            bound = self._server.add_insecure_port(address)
        except RuntimeError:
            raise PortUnavailable(f"cannot listen on {address}: the port is in use, or not ours to open") from None
        await self._server.start()
        return bound

    async def serve(self) -> None:
        """Take calls, and say so to health checks."""
        self.calls.open()
        await self._set_health(health_pb2.HealthCheckResponse.SERVING)

    async def fail(self) -> None:
        """Refuse new calls, and say so to health checks: nothing that is under way may ever end."""
        await self._health.enter_graceful_shutdown()
        self.calls.close()

    async def stop(self, grace: float) -> bool:
        """Refuse new calls, wait up to `grace` seconds for those under way, and close the port.

        Returns whether all were answered in time. Of those that were not, analyses end with the answers that they have,
        the others with UNAVAILABLE; their threads may go on for a while.
        """
        await self.fail()
        done = await self._idle_within(grace)
        if not done:
            self._solver.end()
            if not await self._idle_within(CLOSING_SECONDS):
                self.calls.cut()
                await self._idle_within(CLOSING_SECONDS)
        await self._server.stop(CLOSING_SECONDS)
        if done:
            self._rulings.close()
            self._solver.close()
            self._analyst.close()
        return done

    async def _idle_within(self, seconds: float) -> bool:
        """Whether no call is under way any more after so many seconds at most."""
        try:
            async with asyncio.timeout(seconds):
                await self.calls.idle()
        except TimeoutError:
            return False
        return True

    async def _set_health(self, status: int) -> None:
        for service in ("", *SERVICES):
            await self._health.set(service, status)
