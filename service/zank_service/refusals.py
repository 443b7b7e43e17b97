"""Refusals: a status code, a message for people and details for programs, as `google.rpc` defines them."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc import status_pb2
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from grpc_status import rpc_status

DOMAIN: Final = "zank"
PUSHBACK: Final = "grpc-retry-pushback-ms"
MOST_VIOLATIONS: Final = 20  # listed in one refusal


class Refusal(Exception):
    """A request that is not answered, and why; `details` are messages of `google.rpc`."""

    def __init__(self, code: grpc.StatusCode, message: str, details: Sequence[Message]) -> None:
        super().__init__(message)
        self.code: Final = code
        self.message: Final = message
        self.details: Final = tuple(details)

    def status(self) -> grpc.Status:
        """The refusal as a rich status."""
        number, _ = self.code.value
        packed = [AnyMessage() for _ in self.details]
        for slot, detail in zip(packed, self.details, strict=True):
            slot.Pack(detail)
        return rpc_status.to_status(status_pb2.Status(code=number, message=self.message, details=packed))

    @property
    def pushback(self) -> tuple[tuple[str, str], ...]:
        """Trailing metadata by which gRPC's own retries wait as long as `RetryInfo` says, where there is one."""
        waits = [detail.retry_delay.ToMilliseconds() for detail in self.details if isinstance(detail, RetryInfo)]
        return tuple((PUSHBACK, str(milliseconds)) for milliseconds in waits)


class Illegal(Refusal):
    """FAILED_PRECONDITION for a move that breaks a rule; `text` is what the rule says and what was found.

    `obligatory` are the moves that come first, where it has to wait for others, in public notation.
    """

    def __init__(self, move: str, rule: str, says: str, found: str, obligatory: Sequence[str] = ()) -> None:
        metadata = {"rule": rule, "text": says}
        if obligatory:
            metadata["obligatory"] = ",".join(obligatory)
        info = ErrorInfo(reason="ILLEGAL_MOVE", domain=DOMAIN, metadata=metadata)
        super().__init__(grpc.StatusCode.FAILED_PRECONDITION, f"{move} breaks {rule}: {found}", [info])
        self.rule: Final = rule
        self.text: Final = f"{says} {found[:1].upper()}{found[1:]}."
        self.obligatory: Final = tuple(obligatory)


class Names(Protocol):
    """An enum of the contract."""

    def keys(self) -> Sequence[str]:
        """What its values are called."""
        ...

    def values(self) -> Sequence[int]:
        """Their numbers."""
        ...


class Violations:
    """The fields of a request that are not what they must be, collected so that a client learns of all at once."""

    def __init__(self) -> None:
        self._count = 0
        self._listed: list[BadRequest.FieldViolation] = []  # the first of them

    def __len__(self) -> int:
        return self._count

    def add(self, field: str, description: str) -> None:
        """Note that the field at this path in the request is not as `description` says it must be."""
        self._count += 1
        if self._count <= MOST_VIOLATIONS:
            self._listed.append(BadRequest.FieldViolation(field=field, description=description))

    def check_range(self, field: str, found: int, least: int, most: int) -> None:
        """Note a number that is not in its range."""
        if not least <= found <= most:
            self.add(field, f"expected {least} to {most}, found {found}")

    def check_length(self, field: str, found: str, most: int) -> None:
        """Note a text that is too long."""
        if len(found) > most:
            self.add(field, f"expected at most {most} characters, found {len(found)}")

    def check_name(self, field: str, found: int, names: Names) -> None:
        """Note a number that names nothing."""
        if found not in names.values():
            self.add(field, f"expected one of {', '.join(names.keys())}; found {found}")

    def refuse_if_any(self, reason: str) -> None:
        """Raise INVALID_ARGUMENT with what was found, if anything was."""
        if not self._count:
            return
        first = self._listed[0]
        more = f" (and {self._count - 1} more)" if self._count > 1 else ""
        raise Refusal(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"{first.field}: {first.description}{more}",
            [BadRequest(field_violations=self._listed), ErrorInfo(reason=reason, domain=DOMAIN)],
        )


def invalid(reason: str, field: str, description: str, metadata: Mapping[str, str] | None = None) -> Refusal:
    """INVALID_ARGUMENT for one field; `metadata` says more of the reason."""
    violation = BadRequest.FieldViolation(field=field, description=description)
    return Refusal(
        grpc.StatusCode.INVALID_ARGUMENT,
        f"{field}: {description}",
        [BadRequest(field_violations=[violation]), ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)],
    )


def bad_request(message: str) -> Refusal:
    """INVALID_ARGUMENT for a request as a whole."""
    info = ErrorInfo(reason="INVALID_REQUEST", domain=DOMAIN)
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, message, [info])


def not_possible(reason: str, message: str) -> Refusal:
    """FAILED_PRECONDITION: the request is well-formed, but what it is about does not allow it."""
    info = ErrorInfo(reason=reason, domain=DOMAIN)
    return Refusal(grpc.StatusCode.FAILED_PRECONDITION, message, [info])


def game_over() -> Refusal:
    """FAILED_PRECONDITION for a position of a finished game."""
    return not_possible("GAME_OVER", "the game is over: the position carries a result")


def overloaded(seconds: float) -> Refusal:
    """RESOURCE_EXHAUSTED: too much is waiting already; it may be worth a try after so many seconds."""
    return _later("OVERLOADED", "too many requests are waiting", seconds)


def over_quota(seconds: float) -> Refusal:
    """RESOURCE_EXHAUSTED: this client has too much waiting or under way; some may be done after so many seconds."""
    return _later("QUOTA", "too many requests of this client are waiting or under way", seconds)


def out_of_time(seconds: float) -> Refusal:
    """DEADLINE_EXCEEDED: the call had no deadline of its own, and took longer than the server gives such calls."""
    info = ErrorInfo(reason="DEFAULT_DEADLINE", domain=DOMAIN)
    message = f"the call took more than {seconds:g} s, which is what a call without a deadline gets"
    return Refusal(grpc.StatusCode.DEADLINE_EXCEEDED, message, [info])


def unavailable(message: str) -> Refusal:
    """UNAVAILABLE: this server does not answer now; another may."""
    return Refusal(grpc.StatusCode.UNAVAILABLE, message, [ErrorInfo(reason="NOT_SERVING", domain=DOMAIN)])


def internal() -> Refusal:
    """INTERNAL: a fault of the server, whose text stays in its log."""
    info = ErrorInfo(reason="INTERNAL", domain=DOMAIN)
    return Refusal(grpc.StatusCode.INTERNAL, "a fault in the server; its log says more", [info])


def _later(reason: str, message: str, seconds: float) -> Refusal:
    retry = RetryInfo()
    retry.retry_delay.FromMilliseconds(round(seconds * 1000))
    return Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, message, [ErrorInfo(reason=reason, domain=DOMAIN), retry])
