"""What the two clients share about their connection: how it is made, how long it waits, how its failures read."""

import ipaddress
import json
from typing import Final

import grpc

from zank.errors import NotConnected, ServerUnavailable, connection_fault
from zank.v1 import GetInfoRequest, ServerStub

DEFAULT_TIMEOUT: Final = 60.0  # seconds for one call, on top of its time budget
DEFAULT_START_TIMEOUT: Final = 120.0  # seconds until an embedded server serves; the first start compiles
DEFAULT_CONNECT_TIMEOUT: Final = 10.0  # seconds until a server that is there serves
_FIRST_WAIT: Final = 0.5  # seconds, after which it is looked whether there is a server at all
_PROBE_TIMEOUT: Final = 2.0  # seconds

# The channel counts as ready once the server's health is SERVING, and every call may be repeated: none has an effect.
# The repetitions take two to three seconds, for so long a server may be gone unnoticed. One that is overloaded says how
# long to wait instead, in `RetryInfo` and in the trailer by which gRPC goes.
_SERVICE_CONFIG: Final = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": ""},
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 5,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 3,
                    "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
                },
            }
        ],
    }
)

_SHARED_OPTIONS: Final = (
    ("grpc.service_config", _SERVICE_CONFIG),
    ("grpc.max_reconnect_backoff_ms", 1000),  # a server that comes back is found soon
)
_PROBE_OPTIONS: Final = (("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1))
_NO_PROXY: Final = (("grpc.enable_http_proxy", 0),)  # of http_proxy and the like: it is not this machine


def channel_options(target: str) -> tuple[tuple[str, str | int], ...]:
    """The options of the channel to a server."""
    return _SHARED_OPTIONS + _proxy_options(target)


def waits(start_timeout: float | None) -> tuple[float, ...]:
    """How long to wait for a running server, in seconds; after each wait it is asked whether to go on.

    Who says how long to wait gets just that: the server may come up meanwhile.
    """
    if start_timeout is not None:
        return (start_timeout,)
    return _FIRST_WAIT, DEFAULT_CONNECT_TIMEOUT - _FIRST_WAIT


def unreachable(target: str) -> str:
    """Why no server can be reached; empty when one is there, be it that it does not serve yet. Blocks for a while."""
    with grpc.insecure_channel(target, options=_PROBE_OPTIONS + _proxy_options(target)) as channel:
        try:
            ServerStub(channel).GetInfo(GetInfoRequest(), timeout=_PROBE_TIMEOUT)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                return "nothing answers there"
            if error.code() == grpc.StatusCode.UNAVAILABLE:
                return connection_fault(error.details() or "") or "what answers there is no Zank server"
    return ""


def not_serving(target: str, start_timeout: float | None, fault: str) -> ServerUnavailable:
    """The error for a target at which no server serves: for the `fault`, or because it is not ready in time."""
    waited = DEFAULT_CONNECT_TIMEOUT if start_timeout is None else start_timeout
    return ServerUnavailable(
        f"no server serves at {target}: {fault or f'the one there is not ready (waited {waited:g} s)'}",
        code=grpc.StatusCode.UNAVAILABLE,
    )


def not_connected(how: str) -> NotConnected:
    """The error for a call without a connection; `how` to get one."""
    return NotConnected(f"not connected: {how}", code=grpc.StatusCode.FAILED_PRECONDITION, reason="NOT_CONNECTED")


def _proxy_options(target: str) -> tuple[tuple[str, str | int], ...]:
    return _NO_PROXY if _is_loopback(target.rpartition(":")[0].strip("[]")) else ()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
