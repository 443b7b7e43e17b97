"""Positions in files: the text form or protobuf JSON, several in one file, with comments."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from google.protobuf import json_format
from google.protobuf.message import Message

from zank.errors import InvalidPosition
from zank.text import parse_position
from zank.v1 import Position

_COMMENT: Final = "#"
_BYTE_ORDER_MARK: Final = "\ufeff"
_FIELDS: Final = frozenset(name for field in Position.DESCRIPTOR.fields for name in (field.name, field.json_name))
_EXPECTED: Final = 'a zank.v1.Position, or an object that has one as "position" (what deal, apply and view print)'


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One position of a file."""

    position: Position
    line: int  # where it starts, from 1
    comment: str  # the first of the comment lines directly above it, without "#"; empty when there is none


def load(text: str) -> list[Position]:
    """The positions in `text`, in order; raises InvalidPosition, which names the line.

    Each is a line in the text form or a JSON object, which may span lines: a `zank.v1.Position`, or an object that
    has one as "position", as the answers of `Referee` do. Empty lines and lines that start with "#" are skipped.
    """
    return [entry.position for entry in load_entries(text)]


def load_entries(text: str) -> list[Entry]:
    """As `load`, with the line and the comment of each position."""
    return list(_entries(text))


def to_json(message: Message) -> str:
    """The canonical protobuf JSON of a message, on one line.

    Fields that are zero or empty are there, too, so that a reader needs no defaults; what is absent stays absent.
    """
    return json_format.MessageToJson(message, indent=None, always_print_fields_with_no_presence=True)


def _entries(text: str) -> Iterator[Entry]:
    start, comment = 0, ""
    number, counted = 1, 0  # line number of the character at `counted`
    while start < len(text):
        end = text.find("\n", start)
        after = len(text) if end < 0 else end + 1
        line = text[start:after].removeprefix(_BYTE_ORDER_MARK).strip()
        if not line:
            comment = ""
        elif line.startswith(_COMMENT):
            comment = comment or line.removeprefix(_COMMENT).strip()
        else:
            number += text.count("\n", counted, start)
            counted = start
            try:
                if line.startswith("{"):
                    position, after = _parse_json(text, text.index("{", start))
                else:
                    position = parse_position(line)
            except InvalidPosition as error:
                raise InvalidPosition(f"line {number}: {error}") from None
            yield Entry(position=position, line=number, comment=comment)
            comment = ""
        start = after


def _parse_json(text: str, start: int) -> tuple[Position, int]:
    """The position in the JSON object at `start`, and the index of the character after the object."""
    try:
        value, after = json.JSONDecoder().raw_decode(text, start)
        # The answers of Deal, View and ApplyMove hold the position beside what happened.
        inner = value.get("position", value)
        if not isinstance(inner, dict):
            raise InvalidPosition(f"expected {_EXPECTED}; found an object whose position is {inner!r}")
        if inner and not _FIELDS.intersection(inner):
            raise InvalidPosition(f"expected {_EXPECTED}; found an object with {', '.join(inner)}")
        return json_format.ParseDict(inner, Position()), after
    except json.JSONDecodeError as error:
        raise InvalidPosition(f"not JSON: {error}") from None
    except (RecursionError, json_format.ParseError) as error:
        raise InvalidPosition(f"not the JSON of a zank.v1.Position: {error}") from None
