"""Settings by flag, environment and file: which one counts, what is refused, and what is printed."""

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zank_service import config
from zank_service.__main__ import main
from zank_service.config import Configuration, InvalidConfiguration, add_flags, configured
from zank_service.limits import Limits
from zank_service.settings import TABLE, Choice, Directory, LoopbackAddress, Row, Settings, Switch, WholeNumber, written

PAGE = Path(__file__).parents[2] / "service" / "README.md"
NAMES = [row.name for row in TABLE]


def load(*flags: str, environment: Mapping[str, str] | None = None, **keys: object) -> Configuration:
    """The configuration of these flags, variables and keys of a file."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_flags(parser)
    with patch.object(config, "_read", return_value=keys):
        return configured(parser.parse_args(["--config", "zank.toml", *flags]), environment or {})


def faults(*flags: str, environment: Mapping[str, str] | None = None, **keys: object) -> tuple[str, ...]:
    """What is wrong with them."""
    with pytest.raises(InvalidConfiguration) as raised:
        load(*flags, environment=environment, **keys)
    return raised.value.faults


def others(row: Row) -> tuple[Any, Any, Any]:
    """Three values of a setting that differ from its default where they can."""
    match row.kind:
        case WholeNumber(least=least):
            return least + 1, least + 2, least + 3
        case Switch():
            return False, True, False
        case Choice(words=words):
            return words[0], words[1], words[0]
        case LoopbackAddress():
            return "127.0.0.2", "::1", "localhost"
        case Directory():
            return Path("/one"), Path("/two"), Path("/three")
    raise AssertionError(row.kind)


def flag(row: Row, value: Any) -> list[str]:
    if isinstance(row.kind, Switch):
        return [row.flag if value else f"--no-{row.flag[2:]}"]
    return [row.flag, str(value)]


def text(value: Any) -> str:
    return written(value) if isinstance(value, bool) else str(value)


def key(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


# A default budget may not exceed the largest one.
LOW = {"default_hint_rollouts": 1, "default_best_move_rollouts": 1, "default_analysis_rollouts": 1}


@pytest.mark.parametrize("row", TABLE, ids=NAMES)
def test_a_flag_comes_before_the_environment_before_the_file_before_the_default(row: Row) -> None:
    low = {name: value for name, value in LOW.items() if name != row.name}
    by_file, by_variable, by_flag = others(row)
    sources: list[tuple[list[str], dict[str, str], dict[str, object]]] = [
        (flag(row, by_flag), {row.variable: text(by_variable)}, {row.name: key(by_file)}),
        ([], {row.variable: text(by_variable)}, {row.name: key(by_file)}),
        ([], {}, {row.name: key(by_file)}),
        ([], {}, {}),
    ]
    configurations = [load(*flags, environment=variables, **keys, **low) for flags, variables, keys in sources]
    default = getattr(Settings(), row.name)
    assert [getattr(loaded.settings, row.name) for loaded in configurations] == [by_flag, by_variable, by_file, default]
    assert [loaded.origins[row.name] for loaded in configurations] == [
        f"flag {flag(row, by_flag)[0]}",
        f"environment {row.variable}",
        "file 'zank.toml'",
        "default",
    ]


def test_without_any_the_settings_and_limits_are_the_defaults() -> None:
    loaded = configured(argparse.Namespace(config=None), {})
    assert loaded.settings == Settings()
    assert loaded.settings.limits() == Limits()
    assert set(loaded.origins.values()) == {"default"}


def test_every_limit_that_can_be_set_reaches_the_server() -> None:
    settings = Settings(
        max_rollouts=70,
        max_time_ms=71,
        default_hint_rollouts=2,
        default_best_move_rollouts=3,
        default_analysis_rollouts=4,
        answers_waiting=5,
    )
    assert settings.limits() == Limits(
        max_rollouts=70, max_time_ms=71, hint_rollouts=2, best_move_rollouts=3, analysis_rollouts=4, answers_waiting=5
    )


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a port that is none": (
        {"flags": ["--port", "65536"]},
        "port (flag --port): expected a whole number from 0 to 65535; found '65536'",
    ),
    "no digits": (
        {"environment": {"ZANK_WORKERS": "two"}},
        "workers (environment ZANK_WORKERS): expected a whole number from 0 to 1024; found 'two'",
    ),
    "an empty variable": (
        {"environment": {"ZANK_PORT": ""}},
        "port (environment ZANK_PORT): expected a whole number from 0 to 65535; found ''",
    ),
    "what a Kubernetes service sets": (
        {"environment": {"ZANK_PORT": "tcp://10.0.0.1:50051"}},
        "port (environment ZANK_PORT): expected a whole number from 0 to 65535; found 'tcp://10.0.0.1:50051'",
    ),
    "more digits than a number takes": (
        {"environment": {"ZANK_PORT": "1" * 5_000}},
        f"port (environment ZANK_PORT): expected a whole number from 0 to 65535; found '{'1' * 5_000}'",
    ),
    "a sign": (
        {"keys": {"port": -1}},
        "port (file 'zank.toml'): expected a whole number from 0 to 65535; found -1",
    ),
    "a string for a number": (
        {"keys": {"max_rollouts": "5"}},
        "max_rollouts (file 'zank.toml'): expected a whole number from 1 to 10000000; found '5'",
    ),
    "a truth for a number": (
        {"keys": {"grace_seconds": True}},
        "grace_seconds (file 'zank.toml'): expected a whole number from 0 to 3600; found True",
    ),
    "a number for a truth": (
        {"keys": {"reflection": 1}},
        "reflection (file 'zank.toml'): expected true or false; found 1",
    ),
    "a word for a truth": (
        {"environment": {"ZANK_REFLECTION": "yes"}},
        "reflection (environment ZANK_REFLECTION): expected true or false; found 'yes'",
    ),
    "an address that others can reach": (
        {"flags": ["--host", "0.0.0.0"]},
        "host (flag --host): expected a loopback address (127.0.0.1, ::1 or localhost); found '0.0.0.0'",
    ),
    "a name": (
        {"keys": {"host": "example.org"}},
        "host (file 'zank.toml'): expected a loopback address (127.0.0.1, ::1 or localhost); found 'example.org'",
    ),
    "a number for an address": (
        {"keys": {"host": 7}},
        "host (file 'zank.toml'): expected a loopback address (127.0.0.1, ::1 or localhost); found 7",
    ),
    "no directory": (
        {"keys": {"cache_dir": ""}},
        "cache_dir (file 'zank.toml'): expected a directory, in printable characters; found ''",
    ),
    "a directory that cannot be": (
        {"keys": {"cache_dir": "a\0b"}},
        "cache_dir (file 'zank.toml'): expected a directory, in printable characters; found 'a\\x00b'",
    ),
    "a level that is none": (
        {"flags": ["--log-level", "loud"]},
        "log_level (flag --log-level): expected one of error, warning, info; found 'loud'",
    ),
    "an unknown key": (
        {"keys": {"prot": 1}},
        f"prot (file 'zank.toml'): no such setting; expected one of {', '.join(NAMES)}",
    ),
    "a table": (
        {"keys": {"server": {"port": 1}}},
        f"server (file 'zank.toml'): no such setting; expected one of {', '.join(NAMES)}",
    ),
    "a default budget that would be refused": (
        {
            "keys": {"max_rollouts": 1000, "default_best_move_rollouts": 1, "default_analysis_rollouts": 1},
            "flags": ["--default-hint-rollouts", "1001"],
        },
        "default_hint_rollouts (flag --default-hint-rollouts): expected at most max_rollouts, 1000"
        " (file 'zank.toml'); found 1001",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_with_its_origin_and_what_was_expected(name: str) -> None:
    given_, fault = REFUSED[name]
    sources: dict[str, Any] = {"flags": [], "environment": {}, "keys": {}, **given_}
    assert faults(*sources["flags"], environment=sources["environment"], **sources["keys"]) == (fault,)


def test_every_fault_is_named_at_once_also_in_what_is_overridden() -> None:
    found = faults("--port", "1", environment={"ZANK_PORT": "x", "ZANK_HOST": "y"}, port="z", prot=1)
    assert [fault.partition(":")[0] for fault in found] == [
        "host (environment ZANK_HOST)",
        "port (file 'zank.toml')",
        "port (environment ZANK_PORT)",
        "prot (file 'zank.toml')",
    ]


def test_the_flag_names_the_file_before_the_variable(tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text("port = 1\n")
    two.write_text("port = 2\n")
    environment = {config.FILE_VARIABLE: str(two)}
    assert configured(argparse.Namespace(config=one), environment).settings.port == 1
    assert configured(argparse.Namespace(config=None), environment).settings.port == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file"),
        (b"port = ", "expected TOML: Invalid value (at end of document)"),
        (b"port = 1\nport = 2", "expected TOML: Cannot overwrite a value (at end of document)"),
        (b"host = '\xff'", "expected TOML: 'utf-8' codec can't decode"),
        (b"port = " + b"9" * 5_000, "expected TOML: Exceeds the limit"),
    ],
    ids=["missing", "no value", "twice", "not text", "endless number"],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "zank.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidConfiguration) as raised:
        configured(argparse.Namespace(config=path), {})
    (fault,) = raised.value.faults
    assert fault.startswith(f"file {str(path)!r}: ")
    assert words in fault


def values(row: Row) -> st.SearchStrategy[Any]:
    match row.kind:
        case WholeNumber(least=least, most=most):
            return st.integers(least, most)
        case Switch():
            return st.booleans()
        case Choice(words=words):
            return st.sampled_from(words)
        case LoopbackAddress():
            return st.sampled_from(["127.0.0.1", "127.9.9.9", "::1", "localhost"])
        case Directory():
            return st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1).filter(str.isprintable)
    raise AssertionError(row.kind)


@given(keys=st.fixed_dictionaries({}, optional={row.name: values(row) for row in TABLE}))
def test_what_is_printed_is_a_file_that_sets_the_same(keys: dict[str, Any]) -> None:
    for name in LOW:
        keys[name] = min(keys.get(name, 1), keys.get("max_rollouts", 1_000_000))
    first = load(**keys)
    again = load(**tomllib.loads(first.as_toml()))
    assert again.settings == first.settings
    assert list(tomllib.loads(first.as_toml())) == NAMES


@given(row=st.sampled_from(TABLE), found=st.text())
def test_no_text_gets_past_the_checks_by_a_variable(row: Row, found: str) -> None:
    low = {name: 1 for name in LOW if name != row.name}
    try:
        loaded = load(environment={row.variable: found}, **low)
    except InvalidConfiguration:
        (fault,) = faults(environment={row.variable: found}, **low)
        assert fault.startswith(f"{row.name} (environment {row.variable}): ")
    else:
        assert load(**tomllib.loads(loaded.as_toml())).settings == loaded.settings


def test_a_cache_may_lie_in_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert load(cache_dir="~/programs").settings.cache_dir == Path("/home/somebody/programs")


def test_the_default_cache_is_in_the_users_cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert Settings().cache_dir == tmp_path / "zank"


def test_print_config_prints_the_settings_in_effect_with_their_origins_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "zank.toml"
    path.write_text("max_rollouts = 500_000\nport = 7\n")
    done = subprocess.run(
        [sys.executable, "-m", "zank_service", "--config", str(path), "--port", "0", "--print-config"],
        env={**os.environ, "ZANK_WORKERS": "2"},
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        'host = "127.0.0.1"  # default',
        "port = 0  # flag --port",
        "workers = 2  # environment ZANK_WORKERS",
    ]
    assert f"max_rollouts = 500000  # file {str(path)!r}" in lines
    assert len(lines) == len(TABLE)


def test_a_server_with_settings_that_cannot_be_does_not_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", "-1", "--host", "0.0.0.0"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "zank serve: host (flag --host): expected a loopback address (127.0.0.1, ::1 or localhost); found '0.0.0.0'",
        "zank serve: port (flag --port): expected a whole number from 0 to 65535; found '-1'",
    ]


@pytest.mark.parametrize("arguments", [["--prot", "1"], ["--por", "1"], ["--port"], ["7"]])
def test_a_flag_that_is_none_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_the_help_names_every_setting_with_its_range_and_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), patch.dict(os.environ, COLUMNS="1000"):
        main(["--help"])
    page = capsys.readouterr().out
    for row in TABLE:
        assert row.flag in page
        assert row.help in page
        assert f"default: {row.default})" in page


def test_the_page_on_settings_is_the_table() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [f"| `{row.name}` | {row.kind.expected} | {row.default} | {row.help} |" for row in TABLE]
