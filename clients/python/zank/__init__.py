r"""Zank: hints and analysis for two-player quarrel patience, answered by a gRPC server.

    with zank.Client() as client:
        position = client.deal("malice-match", seed=1)
        hint = client.hint(position)
        print(zank.draw(position), *zank.describe_hint(hint, position), sep="\n")

The messages are in `zank.v1`.
"""

from importlib.metadata import version

from zank.board import draw
from zank.client import Client
from zank.errors import (
    DeadlineExceeded,
    FieldViolation,
    GameOver,
    IllegalMove,
    InvalidCard,
    InvalidInput,
    InvalidMove,
    InvalidPosition,
    InvalidRequest,
    InvalidRuleSet,
    Overloaded,
    Refused,
    ServerNotInstalled,
    ServerUnavailable,
    ZankError,
)
from zank.notation import Move, format_move, parse_move
from zank.positions import load, to_json
from zank.sentences import describe_event, describe_hint, describe_move
from zank.text import format_position, parse_position

__all__ = [
    "Client",
    "DeadlineExceeded",
    "FieldViolation",
    "GameOver",
    "IllegalMove",
    "InvalidCard",
    "InvalidInput",
    "InvalidMove",
    "InvalidPosition",
    "InvalidRequest",
    "InvalidRuleSet",
    "Move",
    "Overloaded",
    "Refused",
    "ServerNotInstalled",
    "ServerUnavailable",
    "ZankError",
    "describe_event",
    "describe_hint",
    "describe_move",
    "draw",
    "format_move",
    "format_position",
    "load",
    "parse_move",
    "parse_position",
    "to_json",
]

__version__ = version("zank")
