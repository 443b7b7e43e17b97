r"""Zank: hints and analysis for two-player quarrel patience, answered by a gRPC server.

    with zank.Client() as client:
        position = client.deal("malice-match", seed=1)
        hint = client.hint(position)
        print(zank.draw(position), *zank.describe_hint(hint, position), sep="\n")

The messages are in `zank.v1`.
"""

from importlib.metadata import version

from zank._requests import AnalysisOptions, QuestionOptions
from zank.aio import AsyncClient
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
    InvalidRecord,
    InvalidRequest,
    InvalidReveal,
    InvalidRuleSet,
    NotConnected,
    Overloaded,
    Refused,
    RevealsNeeded,
    ServerNotInstalled,
    ServerUnavailable,
    ZankError,
)
from zank.notation import BankMove, MaliceMove, Move, format_move, parse_move
from zank.positions import load, to_json
from zank.records import format_record, parse_record, record_digest
from zank.reveals import parse_reveal
from zank.sentences import (
    describe_event,
    describe_hint,
    describe_line,
    describe_move,
    describe_reasons,
    describe_result,
)
from zank.text import format_position, parse_position

__all__ = [
    "AnalysisOptions",
    "AsyncClient",
    "BankMove",
    "Client",
    "DeadlineExceeded",
    "FieldViolation",
    "GameOver",
    "IllegalMove",
    "InvalidCard",
    "InvalidInput",
    "InvalidMove",
    "InvalidPosition",
    "InvalidRecord",
    "InvalidRequest",
    "InvalidReveal",
    "InvalidRuleSet",
    "MaliceMove",
    "Move",
    "NotConnected",
    "Overloaded",
    "QuestionOptions",
    "Refused",
    "RevealsNeeded",
    "ServerNotInstalled",
    "ServerUnavailable",
    "ZankError",
    "describe_event",
    "describe_hint",
    "describe_line",
    "describe_move",
    "describe_reasons",
    "describe_result",
    "draw",
    "format_move",
    "format_position",
    "format_record",
    "load",
    "parse_move",
    "parse_position",
    "parse_record",
    "parse_reveal",
    "record_digest",
    "to_json",
]

__version__ = version("zank")
