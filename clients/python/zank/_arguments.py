"""What callers of either client pass, checked: whatever is wrong is an InvalidInput that names the argument."""

import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from zank.errors import InvalidInput
from zank.notation import Move, parse_move
from zank.reveals import parse_reveal
from zank.text import parse_position
from zank.v1 import GameRecord, MatchScore, Position, Reveal, RuleSet

UINT32: Final = 2**32 - 1
UINT64: Final = 2**64 - 1
MAX_PORT: Final = 2**16 - 1
MAX_SECONDS: Final = UINT32 // 1000  # 49 days

_TARGET_EXPECTED: Final = "expected HOST:PORT, for example localhost:50051 or [::1]:50051"
_HOST_AND_PORT: Final = r"([^\s:/\[\]]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}"
_GRPC_NAME: Final = r"(dns:|ipv4:|ipv6:|unix:)\S*[/,]\S+"  # for several servers, or a socket: see gRPC's name syntax


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """The value as an int from `low` to `high`; NumPy's integers are welcome."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # what has no index raises the TypeError awaited here
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise InvalidInput(f"{name}: expected a whole number from {low} to {high}, found {value!r}")
    return number


def match_score(name: str, value: object) -> MatchScore:
    """The points of player 1 and of player 2 in a match."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise InvalidInput(f"{name}: expected the points of both players, for example (38, 45), found {value!r}")
    first, second = (whole_number(name, points, 0, UINT32) for points in value)
    return MatchScore(player1=first, player2=second)


def seconds(name: str, value: object) -> float:
    """The value as a number of seconds above 0."""
    if not isinstance(value, int | float) or not 0 < value <= MAX_SECONDS:
        raise InvalidInput(f"{name}: expected more than 0 seconds and at most {MAX_SECONDS}, found {value!r}")
    return float(value)


def milliseconds(name: str, value: object) -> int:
    """A number of seconds in milliseconds, rounded up: a budget of next to nothing is not one of no limit."""
    return math.ceil(1000 * seconds(name, value))


def string(name: str, value: object, limit: int) -> str:
    """The value as text of at most `limit` characters."""
    if not isinstance(value, str) or len(value) > limit or not _is_unicode(value):
        raise InvalidInput(f"{name}: expected text of at most {limit} characters, found {value!r}")
    return value


def one_of[Value](name: str, value: object, values: Mapping[str, Value]) -> Value:
    """What the value names."""
    if not isinstance(value, str) or value not in values:
        raise InvalidInput(f"{name}: expected {' or '.join(values)}, found {value!r}")
    return values[value]


def position(value: object) -> Position:
    """A position, as a message or in its text form; raises InvalidPosition."""
    if isinstance(value, str):
        return parse_position(value)
    if not isinstance(value, Position):
        raise InvalidInput(f"position: expected a zank.v1.Position or its text form, found {_kind(value)}")
    return value


def record(value: object) -> GameRecord:
    """A recorded game."""
    if not isinstance(value, GameRecord):
        raise InvalidInput(f"record: expected a zank.v1.GameRecord, found {_kind(value)}")
    return value


def rule_set(value: object) -> RuleSet:
    """A rule set, as a message or the name of a preset."""
    if isinstance(value, str) and _is_unicode(value):
        return RuleSet(preset=value)
    if not isinstance(value, RuleSet):
        raise InvalidInput(f"rules: expected the name of a preset or a zank.v1.RuleSet, found {_kind(value)}")
    return value


def notation(value: object) -> str:
    """A move, as a value or in any notation that `parse_move` reads, in public notation; raises InvalidMove."""
    if isinstance(value, str):
        return str(parse_move(value))
    if not isinstance(value, Move):
        raise InvalidInput(f"move: expected a zank.Move or its notation, found {_kind(value)}")
    return str(value)


def notations(name: str, values: object) -> list[str]:
    """Several moves; raises InvalidMove."""
    return [notation(value) for value in _several(name, values, "moves")]


def reveals(values: object, player_to_move: int) -> list[Reveal]:
    """Cards that come to light, as messages or text; raises InvalidReveal."""
    found = []
    for value in _several("reveals", values, "reveals"):
        if isinstance(value, str):
            value = parse_reveal(value, player_to_move)
        if not isinstance(value, Reveal):
            raise InvalidInput(f"reveals: expected a zank.v1.Reveal or its text, found {_kind(value)}")
        found.append(value)
    return found


def target(value: object) -> str:
    """Where a server is."""
    if not isinstance(value, str):
        raise InvalidInput(f"target: {_TARGET_EXPECTED}, found {_kind(value)}")
    if re.fullmatch(_HOST_AND_PORT, value) and 1 <= int(value.rpartition(":")[2]) <= MAX_PORT:
        return value
    if re.fullmatch(_GRPC_NAME, value):
        return value
    if not value.strip():
        found = "found nothing"
    elif "://" in value:
        found = f"found {value!r}, which has a scheme"
    elif ":" not in value.rpartition("]")[2]:
        found = f"found {value!r}, which has no port"
    else:
        found = f"found {value!r}"
    raise InvalidInput(f"{_TARGET_EXPECTED}; {found}")


def _several(name: str, values: object, what: str) -> Iterable[object]:
    # A string is iterable, too, but its characters are no moves.
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name}: expected a list of {what}, found {values!r}")
    return values


def _kind(value: object) -> str:
    return f"a {value.DESCRIPTOR.full_name}" if isinstance(value, Message) else repr(value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True
