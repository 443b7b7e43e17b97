"""What can go wrong: input that is not understood, and answers of a server that refuses or fails."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, cast

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from zank.v1 import Slot


class InvalidInput(ValueError):
    """Text or data that is not what was expected; the message says what was."""


class InvalidCard(InvalidInput):
    """Not the name of a card."""


class InvalidMove(InvalidInput):
    """Not a move in the public notation."""


class InvalidReveal(InvalidInput):
    """Not a card that comes to light, with its place."""


class InvalidPlayer(InvalidInput):
    """Not a player of a simulation."""


class InvalidRuleSet(InvalidInput):
    """Not a rule set this client knows."""


class InvalidPosition(InvalidInput):
    """Not a position in its text form or its JSON, or a message without a text form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordFault:
    """Something in a recorded game that cannot be."""

    field: str  # path in the record, for example "events[12].move"; empty: the record as a whole
    text: str  # what was expected there, and what was found
    rule: str = ""  # the id of the rule that a move breaks, if it does

    @property
    def event(self) -> int | None:
        """The number of the event that it is in, from 0; None where it is elsewhere."""
        match = re.match(r"events\[([0-9]+)\]", self.field)
        return int(match[1]) if match else None

    def __str__(self) -> str:
        return ": ".join(part for part in (self.field, self.rule, self.text) if part)


class InvalidRecord(InvalidInput):
    """Not a recorded game; `fault` says why."""

    def __init__(self, field: str, text: str, rule: str = "") -> None:
        self.fault: Final = RecordFault(field=field, text=text, rule=rule)
        super().__init__(str(self.fault))


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldViolation:
    """One field of a request that the server refuses."""

    field: str  # path in the request, for example "position.malice.players[0].hand"
    description: str  # what was expected there


class ZankError(Exception):
    """A call that failed, with everything the server said about why."""

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode,
        reason: str = "",
        violations: tuple[FieldViolation, ...] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message: Final = message
        self.code: Final = code
        self.reason: Final = reason  # stable, for example "ILLEGAL_MOVE"; empty when the server gave none
        self.violations: Final = violations
        self.metadata: Final[Mapping[str, str]] = dict(metadata or {})
        self.retry_after: Final = retry_after  # seconds to wait before another try; None when the server did not say

    def __str__(self) -> str:
        heading = f"{self.message or 'the call failed'} [{self.reason or self.code.name}]"
        lines = [heading]
        fields = [f"{violation.field}: {violation.description}" for violation in self.violations]
        lines += [f"  {line}" for line in fields if line not in self.message]
        lines += [f"  {key}: {value}" for key, value in sorted(self.metadata.items())]
        if self.retry_after is not None:
            lines.append(f"  try again in {self.retry_after:.3g} s")
        return "\n".join(lines)


class InvalidRequest(ZankError):
    """The server does not accept the request: `violations` names the fields (INVALID_ARGUMENT, OUT_OF_RANGE)."""


class Refused(ZankError):
    """The request is well-formed but the position does not allow it (FAILED_PRECONDITION)."""


class IllegalMove(Refused):
    """The move breaks a rule, which `metadata` names."""


class GameOver(Refused):
    """The game is finished."""


class RevealsNeeded(Refused):
    """A move was not played because the position does not hold every card that comes to light.

    The server answers with the slots; an error stands in for that answer, so that the absent position is not taken
    for the next one.
    """

    def __init__(self, message: str, *, needed: Sequence[Slot]) -> None:
        super().__init__(message, code=grpc.StatusCode.FAILED_PRECONDITION, reason="REVEALS_NEEDED")
        self.needed: Final = tuple(needed)  # in the order in which they come to light


class NotConnected(ZankError):
    """The client is closed, or was not connected yet."""


class Overloaded(ZankError):
    """The server has too much to do: try again after `retry_after` seconds (RESOURCE_EXHAUSTED)."""


class DeadlineExceeded(ZankError):
    """No answer within the deadline (DEADLINE_EXCEEDED)."""


class ServerUnavailable(ZankError):
    """No server answers there, or it went away (UNAVAILABLE)."""


class ServerNotInstalled(ServerUnavailable):
    """The embedded server was asked for, and the package's `server` extra is not installed."""


_BY_REASON: Final[Mapping[str, type[ZankError]]] = {"ILLEGAL_MOVE": IllegalMove, "GAME_OVER": GameOver}

_BY_CODE: Final[Mapping[grpc.StatusCode, type[ZankError]]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequest,
    grpc.StatusCode.FAILED_PRECONDITION: Refused,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Overloaded,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.UNAVAILABLE: ServerUnavailable,
}

_CONNECTION_FAULTS: Final = (  # what gRPC says, and what a person is told
    ("Connection refused", "nothing listens there"),
    ("lookup", "its address is not known"),
    ("resolv", "its address is not known"),
)


def connection_fault(details: str) -> str:
    """Why no connection was made, by the details of a failed call; empty where these do not tell."""
    return next((said for mark, said in _CONNECTION_FAULTS if mark in details), "")


@contextmanager
def typed_errors(timeout: float | None) -> Iterator[None]:
    """Turns what gRPC raises for a failed call, blocking or not, into the typed error; `timeout` in seconds."""
    try:
        yield
    except grpc.RpcError as error:
        # It has all that a finished call has; the stubs cannot say so.
        raise _from_call(cast(grpc.Call, error), timeout) from None


def _from_call(call: grpc.Call, timeout: float | None) -> ZankError:
    """The typed error for a failed call, read from its rich status where it has one."""
    reason, metadata = "", dict[str, str]()
    violations: list[FieldViolation] = []
    retry_after: float | None = None
    for detail in _rich_status(call).details:
        bad_request, info, retry = (
            error_details_pb2.BadRequest(),
            error_details_pb2.ErrorInfo(),
            error_details_pb2.RetryInfo(),
        )
        if detail.Unpack(bad_request):
            violations += [
                FieldViolation(field=item.field, description=item.description) for item in bad_request.field_violations
            ]
        elif detail.Unpack(info):
            reason, metadata = info.reason, dict(info.metadata)
        elif detail.Unpack(retry):
            retry_after = _seconds(retry.retry_delay)
    code = call.code()
    kind = _BY_REASON.get(reason) or _BY_CODE.get(code, ZankError)
    message = call.details() or ""
    if kind is DeadlineExceeded:
        message = (
            f"no answer within {timeout:g} s; to wait longer: timeout=SECONDS in a program, --timeout SECONDS on the"
            " command line"
        )
    elif kind is ServerUnavailable and (fault := connection_fault(message)):
        message = f"the server went away: {fault}"
    return kind(
        message,
        code=code,
        reason=reason,
        violations=tuple(violations),
        metadata=metadata,
        retry_after=retry_after,
    )


def _rich_status(call: grpc.Call) -> status_pb2.Status:
    try:
        status = rpc_status.from_call(call)
    except ValueError:  # the trailer contradicts the status; something between here and the server rewrote it
        status = None
    return status or status_pb2.Status()


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9
