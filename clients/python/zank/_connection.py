"""What the two clients share about their connection: how it is made, how long it waits, how its failures read."""

import json
from typing import Final

import grpc

from zank.errors import ServerUnavailable

DEFAULT_TIMEOUT: Final = 60.0  # seconds for one call, on top of its time budget
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

CHANNEL_OPTIONS: Final = (("grpc.service_config", _SERVICE_CONFIG),)


def not_serving(target: str, waited: float) -> ServerUnavailable:
    """The error for a target at which no server served within `waited` seconds."""
    return ServerUnavailable(f"no server serves at {target} (waited {waited:g} s)", code=grpc.StatusCode.UNAVAILABLE)
