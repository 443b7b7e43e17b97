"""What can be set about a server: one table, from which flags, variables, keys, checks and the documentation come."""

import dataclasses
import ipaddress
import json
import logging
import os.path
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from platformdirs import user_cache_path

from zank_service.limits import Limits

DEFAULTS: Final = Limits()
MOST_ROLLOUTS: Final = 10_000_000  # the result of each is kept until the answer is made
LOG_LEVELS: Final = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO}


class Unexpected(Exception):
    """A value is not of the setting's kind."""


class Kind(Protocol):
    """The type and range of a setting."""

    @property
    def expected(self) -> str:
        """What a value must be, in words."""

    @property
    def metavar(self) -> str:
        """What stands for a value in the list of flags."""

    def from_text(self, text: str) -> Any:
        """The value of a flag or variable; raises Unexpected."""

    def from_toml(self, value: object) -> Any:
        """The value of a key in a file; raises Unexpected."""


@dataclasses.dataclass(frozen=True)
class WholeNumber:
    """A whole number in a range, both ends included."""

    least: int
    most: int
    metavar: str = "NUMBER"

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        return f"a whole number from {self.least} to {self.most}"

    def from_text(self, text: str) -> int:
        """The number in decimal digits; raises Unexpected."""
        if not text.isascii() or not text.isdecimal() or len(text) > 20:  # digits: int() takes no more than thousands
            raise Unexpected
        return self.from_toml(int(text))

    def from_toml(self, value: object) -> int:
        """The number itself; raises Unexpected."""
        if not isinstance(value, int) or isinstance(value, bool) or not self.least <= value <= self.most:
            raise Unexpected
        return value


@dataclasses.dataclass(frozen=True)
class Switch:
    """True or false."""

    expected: str = "true or false"
    metavar: str = "true|false"

    def from_text(self, text: str) -> bool:
        """The word `true` or `false`; raises Unexpected."""
        if text not in ("true", "false"):
            raise Unexpected
        return text == "true"

    def from_toml(self, value: object) -> bool:
        """The value itself; raises Unexpected."""
        if not isinstance(value, bool):
            raise Unexpected
        return value


class Text:
    """Base of the kinds whose values are written the same way everywhere."""

    def from_text(self, text: str) -> Any:
        """The value that a text stands for; raises Unexpected."""
        raise NotImplementedError

    def from_toml(self, value: object) -> Any:
        """The value that a string stands for; raises Unexpected."""
        if not isinstance(value, str):
            raise Unexpected
        return self.from_text(value)


@dataclasses.dataclass(frozen=True)
class Choice(Text):
    """One of a few words."""

    words: Sequence[str]

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        return f"one of {', '.join(self.words)}"

    @property
    def metavar(self) -> str:
        """The words."""
        return f"{{{','.join(self.words)}}}"

    def from_text(self, text: str) -> str:
        """The word itself; raises Unexpected."""
        if text not in self.words:
            raise Unexpected
        return text


@dataclasses.dataclass(frozen=True)
class LoopbackAddress(Text):
    """An address that only this machine can reach."""

    expected: str = "a loopback address (127.0.0.1, ::1 or localhost)"
    metavar: str = "ADDRESS"

    def from_text(self, text: str) -> str:
        """The address itself; raises Unexpected."""
        try:
            allowed = text == "localhost" or ipaddress.ip_address(text).is_loopback
        except ValueError:
            allowed = False
        if not allowed:
            raise Unexpected
        return text


@dataclasses.dataclass(frozen=True)
class Directory(Text):
    """A directory, which need not be there yet."""

    expected: str = "a directory, in printable characters"
    metavar: str = "DIRECTORY"

    def from_text(self, text: str) -> Path:
        """The path, its `~` replaced by the user's home; raises Unexpected."""
        if not text or not text.isprintable():  # what cannot be printed cannot be written as TOML either
            raise Unexpected
        return Path(os.path.expanduser(text))


def setting(default: object, kind: Kind, help: str, *, default_in_words: str | None = None) -> Any:
    """One row of the table; a default that depends on the user is a function, and is given in words too."""
    metadata = {"kind": kind, "help": help, "default": default_in_words or written(default)}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def written(value: object) -> str:
    """A setting's value in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else json.dumps(str(value), ensure_ascii=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """How a server is run; the fields are the table of settings."""

    host: str = setting(
        "127.0.0.1",
        LoopbackAddress(),
        "address to listen on; calls are not encrypted, so others than loopback need a proxy that does TLS",
    )
    port: int = setting(50051, WholeNumber(0, 65_535), "port to listen on; 0: any that is free")
    workers: int = setting(0, WholeNumber(0, 1_024), "rollout calls at a time; 0: one per core, or one on a GPU")
    cache_dir: Path = setting(  # noqa: RUF009 - a field, like the others
        lambda: user_cache_path("zank"),
        Directory(),
        "where compiled programs are kept between starts; must be writable by this user alone",
        default_in_words="zank in the user's cache directory",
    )
    reflection: bool = setting(True, Switch(), "serve gRPC reflection")
    max_rollouts: int = setting(
        DEFAULTS.max_rollouts, WholeNumber(1, MOST_ROLLOUTS), "largest budget of rollouts accepted"
    )
    max_time_ms: int = setting(
        DEFAULTS.max_time_ms, WholeNumber(1, 3_600_000), "largest budget of time accepted, in milliseconds"
    )
    default_hint_rollouts: int = setting(
        DEFAULTS.hint_rollouts, WholeNumber(1, MOST_ROLLOUTS), "rollouts of a hint that names no budget"
    )
    default_best_move_rollouts: int = setting(
        DEFAULTS.best_move_rollouts, WholeNumber(1, MOST_ROLLOUTS), "rollouts of a best move that names no budget"
    )
    default_analysis_rollouts: int = setting(
        DEFAULTS.analysis_rollouts, WholeNumber(1, MOST_ROLLOUTS), "rollouts of an analysis that names no budget"
    )
    answers_waiting: int = setting(
        DEFAULTS.answers_waiting,
        WholeNumber(0, 100),  # six such queues, what is at work and the referee's stay below MAX_CALLS
        "questions of one priority that may wait for their turn, and as many long ones; more are refused as OVERLOADED",
    )
    answers_per_client: int = setting(
        DEFAULTS.answers_per_client,
        WholeNumber(1, 1_000),
        "questions of one client, a connection or another machine, that may be under way or wait; more are refused as"
        " QUOTA",
    )
    interactive_per_client: int = setting(
        DEFAULTS.interactive_per_client,
        WholeNumber(0, 1_000),
        "how many of these may be interactive; further ones get the priority normal",
    )
    default_deadline_seconds: int = setting(
        DEFAULTS.default_deadline_seconds,
        WholeNumber(1, 86_400),
        "seconds that a call without a deadline may take, unless it analyses games; it then ends with"
        " DEADLINE_EXCEEDED",
    )
    hung_seconds: int = setting(
        60,
        WholeNumber(1, 3_600),
        "seconds after which a call of the device counts as hung; the server then exits with 75",
    )
    grace_seconds: int = setting(
        30,
        WholeNumber(0, 3_600),
        "seconds that a server told to stop waits for the answers under way; it then ends them",
    )
    log_level: str = setting("info", Choice(tuple(LOG_LEVELS)), "least severe messages logged to standard error")

    def limits(self) -> Limits:
        """What the server accepts."""
        return Limits(
            max_rollouts=self.max_rollouts,
            max_time_ms=self.max_time_ms,
            hint_rollouts=self.default_hint_rollouts,
            best_move_rollouts=self.default_best_move_rollouts,
            analysis_rollouts=self.default_analysis_rollouts,
            answers_waiting=self.answers_waiting,
            answers_per_client=self.answers_per_client,
            interactive_per_client=self.interactive_per_client,
            default_deadline_seconds=self.default_deadline_seconds,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the table of settings."""

    name: str  # the key in a file
    kind: Kind
    default: str  # in TOML, or in words where it depends on the user
    help: str

    @property
    def flag(self) -> str:
        """The command-line option."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"ZANK_{self.name.upper()}"


TABLE: Final = tuple(Row(name=field.name, **field.metadata) for field in dataclasses.fields(Settings))
