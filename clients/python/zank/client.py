"""The typed, synchronous client of a Zank server."""

import json
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Literal, Self, cast

import grpc

from zank.embedded import EmbeddedServer
from zank.errors import ServerUnavailable, from_call
from zank.notation import Move
from zank.text import parse_position
from zank.v1 import (
    OBJECTIVE_POINTS,
    OBJECTIVE_UNSPECIFIED,
    OBJECTIVE_WIN,
    ApplyMoveRequest,
    ApplyMoveResponse,
    Budget,
    DealRequest,
    GetHintRequest,
    GetHintResponse,
    GetInfoRequest,
    GetInfoResponse,
    LegalMove,
    ListLegalMovesRequest,
    Position,
    RefereeStub,
    RuleSet,
    ServerStub,
    SolverStub,
)

type ObjectiveName = Literal["points", "win"]

OBJECTIVES: Final = {"points": OBJECTIVE_POINTS, "win": OBJECTIVE_WIN}

DEFAULT_TIMEOUT: Final = 60.0  # seconds for one call
DEFAULT_START_TIMEOUT: Final = 120.0  # seconds until an embedded server serves; the first start compiles
DEFAULT_CONNECT_TIMEOUT: Final = 10.0  # seconds until a running server answers

# The channel counts as ready once the server's health is SERVING, and every call may be repeated: none has an effect.
_SERVICE_CONFIG: Final = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": ""},
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 3,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ],
    }
)


class Client:
    """A connection to a Zank server: a running one at `target`, or one embedded in a child process.

    Positions are messages or their text form. Calls raise a ZankError, and InvalidInput for text that is not
    understood. Use it as a context manager, or call `close`. It may be used from several threads.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        start_timeout: float | None = None,
    ) -> None:
        """Connects, and waits until the server serves.

        Args:
            target: "HOST:PORT" of a running server; None starts an embedded one, which needs `zank[server]`.
            timeout: deadline of each call, in seconds.
            start_timeout: how long to wait for the server, in seconds; by default 10, and 120 for an embedded one.

        Raises:
            ServerNotInstalled: there is no target and the server is not installed here.
            ServerUnavailable: no server serves at the target within `start_timeout`, or the embedded one failed.
        """
        self._timeout = timeout
        self._server: EmbeddedServer | None = None
        if target is None:
            self._server = EmbeddedServer(timeout=DEFAULT_START_TIMEOUT if start_timeout is None else start_timeout)
            target = self._server.target
        self._channel = grpc.insecure_channel(target, options=[("grpc.service_config", _SERVICE_CONFIG)])
        try:
            self._wait_until_ready(target, DEFAULT_CONNECT_TIMEOUT if start_timeout is None else start_timeout)
        except BaseException:
            self.close()
            raise
        self._referee = RefereeStub(self._channel)
        self._solver = SolverStub(self._channel)
        self._about = ServerStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection and ends the embedded server."""
        self._channel.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    def deal(self, rules: str | RuleSet, *, seed: int | None = None, timeout: float | None = None) -> Position:
        """Deals a game of a preset or a rule set; without a `seed` (0 to 2**64 - 1) the server draws one."""
        rule_set = RuleSet(preset=rules) if isinstance(rules, str) else rules
        return self._call(self._referee.Deal, DealRequest(rule_set=rule_set, seed=seed), timeout).position

    def legal_moves(self, position: Position | str, *, timeout: float | None = None) -> Sequence[LegalMove]:
        """The legal moves of a position, none in a finished game."""
        request = ListLegalMovesRequest(position=_position(position))
        return self._call(self._referee.ListLegalMoves, request, timeout).moves

    def apply(self, position: Position | str, move: Move | str, *, timeout: float | None = None) -> ApplyMoveResponse:
        """Plays a move and returns the next position and what happened; raises IllegalMove or GameOver."""
        request = ApplyMoveRequest(position=_position(position), move=str(move))
        return self._call(self._referee.ApplyMove, request, timeout)

    def hint(
        self,
        position: Position | str,
        *,
        rollouts: int | None = None,
        seed: int | None = None,
        objective: ObjectiveName | None = None,
        request_id: str = "",
        timeout: float | None = None,
    ) -> GetHintResponse:
        """What to play for the player to move, and how sure that is; raises GameOver.

        Args:
            position: full or partial.
            rollouts: games to play to the end, over all moves together; by default the server's choice.
            seed: of the random numbers, 0 to 2**64 - 1; by default the server derives it from the position.
            objective: what moves are ranked by; by default points where the preset scores.
            request_id: comes back with the answer; at most 128 characters.
            timeout: deadline in seconds, instead of the client's.
        """
        request = GetHintRequest(
            request_id=request_id,
            position=_position(position),
            budget=None if rollouts is None else Budget(rollouts=rollouts),
            seed=seed,
            objective=OBJECTIVE_UNSPECIFIED if objective is None else OBJECTIVES[objective],
        )
        return self._call(self._solver.GetHint, request, timeout)

    def info(self, *, timeout: float | None = None) -> GetInfoResponse:
        """What the server is and can do."""
        return self._call(self._about.GetInfo, GetInfoRequest(), timeout)

    def _call[Request, Response](
        self, method: "grpc.UnaryUnaryMultiCallable[Request, Response]", request: Request, timeout: float | None
    ) -> Response:
        try:
            return method(request, timeout=self._timeout if timeout is None else timeout, wait_for_ready=True)
        except grpc.RpcError as error:
            # What the blocking call raises is the finished call, too; the stubs cannot say so.
            raise from_call(cast(grpc.Call, error)) from None

    def _wait_until_ready(self, target: str, timeout: float) -> None:
        ready = grpc.channel_ready_future(self._channel)
        try:
            ready.result(timeout=timeout)
        except grpc.FutureTimeoutError:
            ready.cancel()
            raise ServerUnavailable(
                f"no server serves at {target} (waited {timeout:g} s)", code=grpc.StatusCode.UNAVAILABLE
            ) from None


def _position(position: Position | str) -> Position:
    return parse_position(position) if isinstance(position, str) else position
