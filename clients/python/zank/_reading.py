"""The positions that a command is given: in files, in an argument, on standard input."""

import os
import sys
from dataclasses import dataclass
from typing import Final

import click

from zank._requests import REQUEST_ID_LIMIT
from zank.errors import InvalidInput
from zank.positions import load_entries
from zank.v1 import Position

_STANDARD_INPUT: Final = "standard input"


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """A position and where it was read."""

    position: Position
    origin: str  # for example "opening.txt:2"
    comment: str

    @property
    def request_id(self) -> str:
        """What tells its answer from others: the end of the origin."""
        return self.origin.encode(errors="replace").decode()[-REQUEST_ID_LIMIT:]


def read(value: str) -> list[Input]:
    """The positions that an argument stands for: standard input, a file, or text; raises InvalidInput."""
    if value == "-":
        return _inputs(_decode(sys.stdin.buffer.read(), _STANDARD_INPUT), _STANDARD_INPUT)
    if os.path.isdir(value):
        raise InvalidInput(f"{value!r} is a directory: expected a file")
    if os.path.exists(value):  # a pipe will do as well
        try:
            with open(value, "rb") as file:
                content = file.read()
        except OSError as error:
            raise InvalidInput(f"{value!r} cannot be read: {error.strerror}") from None
        return _inputs(_decode(content, repr(value)), value)
    if any(mark in value for mark in "~{\n"):
        return _inputs(value, "the argument")
    raise InvalidInput(
        f"{value!r} is no file, and no position: expected a file, the text form (malice-match~1~...), JSON, or -"
    )


def all_of(given: tuple[list[Input], ...]) -> list[Input]:
    """The positions of all arguments, or those on standard input when there is no argument."""
    return [item for inputs in given for item in inputs] or _standard_input()


def only_one(given: list[Input] | None) -> Input:
    """The position of the argument or on standard input; there may be no other."""
    inputs = given or _standard_input()
    if len(inputs) > 1:
        raise click.UsageError(f"expected one position, found {len(inputs)}")
    return inputs[0]


def _decode(content: bytes, origin: str) -> str:
    if b"\0" in content:
        raise InvalidInput(f"{origin} is not text: expected a position in its text form or JSON, in UTF-8")
    # Only comments, which are for people, may hold what is not ASCII.
    return content.decode(errors="replace")


def _inputs(text: str, origin: str) -> list[Input]:
    try:
        entries = load_entries(text)
    except InvalidInput as error:
        raise InvalidInput(f"{origin}, {error}") from None
    if not text:
        raise InvalidInput(f"{origin} is empty; note that `zank ... FILE > FILE` empties FILE first: use --output FILE")
    if not entries:
        raise InvalidInput(f"no position in {origin}")
    return [Input(position=entry.position, origin=f"{origin}:{entry.line}", comment=entry.comment) for entry in entries]


def _standard_input() -> list[Input]:
    if _stdin_is_terminal():
        raise click.UsageError(
            "a position is missing: expected a file, the text form (malice-match~1~...), or standard input,"
            " for example from `zank deal malice-match |`"
        )
    try:
        return read("-")
    except InvalidInput as error:
        raise click.UsageError(str(error)) from None


def _stdin_is_terminal() -> bool:
    return sys.stdin.isatty()
