"""Where settings come from: flags, environment variables and a file, in this order, then the defaults."""

import argparse
import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from zank_service.settings import TABLE, Kind, Row, Settings, Switch, Unexpected, written

FILE_VARIABLE: Final = "ZANK_CONFIG"


class InvalidConfiguration(Exception):
    """Settings that cannot be; each fault names the setting, where it came from and what was expected."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults: Final = tuple(faults)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Configuration:
    """The settings in effect, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]  # by name

    def as_toml(self) -> str:
        """The settings as a file that sets the same, with their origins as comments."""
        return "".join(
            f"{row.name} = {written(getattr(self.settings, row.name))}  # {self.origins[row.name]}\n" for row in TABLE
        )


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give a parser a flag for every setting, and `--config`; a flag that is not used leaves no attribute."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help=f"TOML file with settings, each a top-level key (environment variable: {FILE_VARIABLE})",
    )
    for row in TABLE:
        if isinstance(row.kind, Switch):
            described = f"{row.help} (default: {row.default})"
            parser.add_argument(
                row.flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=described
            )
        else:
            described = f"{row.help} ({row.kind.expected}; default: {row.default})"
            parser.add_argument(row.flag, metavar=row.kind.metavar, default=argparse.SUPPRESS, help=described)


def configured(flags: argparse.Namespace, environment: Mapping[str, str]) -> Configuration:
    """The settings in effect. Every value given is checked, also one that another overrides.

    Raises InvalidConfiguration.
    """
    path = flags.config or environment.get(FILE_VARIABLE)
    keys = {} if path is None else _read(Path(path))
    faults: list[str] = []
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for row in TABLE:
        origins[row.name] = "default"
        for origin, value, read in _given(row, flags, environment, keys, f"file {str(path)!r}"):
            try:
                values[row.name] = read(value)
            except Unexpected:
                faults.append(f"{row.name} ({origin}): expected {row.kind.expected}; found {value!r}")
            origins[row.name] = origin
    for key in keys.keys() - {row.name for row in TABLE}:
        names = ", ".join(row.name for row in TABLE)
        faults.append(f"{key} (file {str(path)!r}): no such setting; expected one of {names}")
    if not faults:
        settings = Settings(**values)
        faults = _contradictions(settings, origins)
    if faults:
        raise InvalidConfiguration(faults)
    return Configuration(settings=settings, origins=origins)


def _given(
    row: Row, flags: argparse.Namespace, environment: Mapping[str, str], keys: Mapping[str, object], file: str
) -> list[tuple[str, Any, Callable[[Any], Any]]]:
    """Every value given for a setting, the weakest first: its origin, the value, and what reads it."""
    kind: Kind = row.kind
    given: list[tuple[str, Any, Callable[[Any], Any]]] = []
    if row.name in keys:
        given.append((file, keys[row.name], kind.from_toml))
    if row.variable in environment:
        given.append((f"environment {row.variable}", environment[row.variable], kind.from_text))
    if row.name in flags:
        value = getattr(flags, row.name)
        flag = f"--no-{row.flag.removeprefix('--')}" if value is False else row.flag
        given.append((f"flag {flag}", value, kind.from_toml if isinstance(kind, Switch) else kind.from_text))
    return given


def _contradictions(settings: Settings, origins: Mapping[str, str]) -> list[str]:
    """What is wrong with settings that are sound by themselves."""
    most = settings.max_rollouts
    return [
        f"{name} ({origins[name]}): expected at most max_rollouts, {most} ({origins['max_rollouts']}); found {found}"
        for name in ("default_hint_rollouts", "default_best_move_rollouts", "default_analysis_rollouts")
        if (found := getattr(settings, name)) > most
    ]


def _read(path: Path) -> dict[str, object]:
    """The keys of a TOML file; raises InvalidConfiguration."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InvalidConfiguration([f"file {str(path)!r}: cannot be read: {error.strerror}"]) from None
    except ValueError as error:  # not UTF-8 or not TOML
        raise InvalidConfiguration([f"file {str(path)!r}: expected TOML: {error}"]) from None
