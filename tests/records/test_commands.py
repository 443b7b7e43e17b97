import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.client.command import zank
from tests.records.games import moves_of, random_record
from zank import _record_files
from zank._progress import Progress
from zank.records import format_record, parse_record
from zank.v1 import GameRecord
from zank_kernel.engine import Engine
from zank_service import local, simulation


@pytest.fixture(autouse=True)
def warm(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands have the engine of the tests."""

    @contextmanager
    def shared() -> Iterator[Engine]:
        yield engine

    monkeypatch.setattr(local, "local_engine", shared)


@pytest.fixture(scope="module")
def good() -> list[str]:
    return [format_record(random_record(preset, 3)) for preset in ("malice-match", "bank-russian")]


def illegal(line: str) -> str:
    """The record without its third move."""
    record = GameRecord()
    record.CopyFrom(parse_record(line))
    del record.events[2]
    return format_record(record)


def test_sound_records_are_counted(good: list[str], tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text("\n".join([*good, "", ""]), encoding="utf-8")
    result = zank("games", "validate", str(file))
    assert result.exit_code == 0
    assert result.stdout.startswith("2 records: 2 sound, 0 bad; ")
    assert len(result.stdout.splitlines()) == 1


def test_every_bad_record_has_a_line_and_the_rest_go_on(good: list[str], tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("a.jsonl", "b.jsonl"))
    lines = [good[0], "not JSON", illegal(good[0]), '{"events": 5}', good[1], good[0]]
    first.write_bytes("\n".join(lines).encode() + b'\n{"a\xff": 1}\n')
    second.write_text(good[1] + "\n" + good[0][:-30], encoding="utf-8")
    result = zank("games", "validate", str(first), str(second))
    assert result.exit_code == 1
    *bad, summary = result.stdout.splitlines()
    starts = [
        f"{first}:2: expected JSON: ",
        f"{first}:3: events[",
        f"{first}:4: events: expected an array, found 5",
        f"{first}:6: the same record as {first}:1",
        f"{first}:7: expected UTF-8; byte 4 of the line is none",
        f"{second}:1: the same record as {first}:5",
        f"{second}:2: the file breaks off within this line; expected JSON: ",
    ]
    assert len(bad) == len(starts)
    for line, start in zip(bad, starts, strict=True):
        assert line.startswith(start)
    assert summary.startswith("9 records: 2 sound, 7 bad; ")


def test_a_bad_move_is_named_with_its_rule(good: list[str]) -> None:
    record = GameRecord()
    record.CopyFrom(parse_record(good[1]))
    record.events[0].move = "D-F"
    result = zank("games", "validate", "-", stdin=format_record(record))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == (
        "standard input:1: events[0].move: B1: The top of the own reserve, the own drawn card and the top of any"
        " tableau pile can be moved. No drawn card is up."
    )


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.touch()
    result = zank("games", "validate", str(file))
    assert (result.exit_code, result.stdout.split(";")[0]) == (0, "0 records: 0 sound, 0 bad")


def test_ignored_fields_are_noted_once(good: list[str]) -> None:
    lines = [
        good[0].replace('"events":[{', '"elo":1,"events":[{"x":1,'),
        good[1].replace('"events"', '"elo":2,"events"'),
    ]
    result = zank("games", "validate", "-", stdin="\n".join(lines))
    assert result.exit_code == 0
    notes = [line for line in result.stderr.splitlines() if line.startswith("note:")]
    assert notes == [
        "note: in 2 of the records elo: no field of this format, ignored",
        "note: in 1 of the records events[].x: no field of this format, ignored",
    ]


def test_a_line_without_end_is_not_read_into_memory(
    good: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_record_files, "LONGEST_LINE", 20_000)
    file = tmp_path / "games.jsonl"
    file.write_text("[" * 90_000 + "\n" + good[0], encoding="utf-8")
    result = zank("games", "validate", str(file))
    assert result.stdout.splitlines()[0] == f"{file}:1: expected at most 20000 bytes in a line"
    assert result.stdout.splitlines()[1].startswith("2 records: 1 sound, 1 bad")


def test_records_convert_to_text_and_back(good: list[str], tmp_path: Path) -> None:
    text = zank("games", "convert", "-", "--to", "text", stdin="\n".join(good))
    assert text.exit_code == 0
    assert text.stdout.count('[Zank "1"]') == 2
    json = zank("games", "convert", "-", "--to", "json", stdin=text.stdout)
    assert json.stdout.splitlines() == good
    assert zank("games", "convert", "-", "--to", "text", stdin=text.stdout).stdout == text.stdout


def test_what_cannot_be_converted_is_named_and_left_out(good: list[str]) -> None:
    result = zank("games", "convert", "-", "--to", "json", stdin=f"\n{good[0]}\n{{}}\n")
    assert (result.exit_code, result.stdout) == (1, good[0] + "\n")
    assert result.stderr.startswith("standard input:3: rule_set: unknown preset")
    bad = '\n\n[Zank "1"]\n[Preset "whist"]\n{resigned 1}\n'
    result = zank("games", "convert", "-", "--to", "json", stdin=bad)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("standard input:3: rule_set: unknown preset 'whist'")


def test_simulated_games_can_be_validated(tmp_path: Path) -> None:
    arguments = "simulate --preset malice-classic --games 5 --seed 9 --payoff-cards 2 --players policy policy:0.5"
    result = zank(*arguments.split())
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 5
    assert "5 of 5 games" in result.stderr
    assert zank("games", "validate", "-", stdin=result.stdout).exit_code == 0
    assert zank(*arguments.split()).stdout == result.stdout
    assert all(len(moves_of(parse_record(line))) >= 2 for line in result.stdout.splitlines())


def test_an_interrupted_simulation_leaves_whole_lines(monkeypatch: pytest.MonkeyPatch, good: list[str]) -> None:
    def interrupted(*arguments: object) -> Iterator[GameRecord]:
        yield parse_record(good[0])
        signal.raise_signal(signal.SIGINT)
        yield parse_record(good[1])

    monkeypatch.setattr(simulation, "simulate", interrupted)
    result = zank("simulate", "--preset", "bank-russian", "--games", "9", "--seed", "1")
    assert result.exit_code == 130
    assert result.stdout.splitlines() == good
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("players", ["policy:2 policy", "policy nobody"])
def test_a_player_that_is_none_is_a_usage_error(players: str) -> None:
    arguments = f"simulate --preset malice-match --games 1 --seed 1 --players {players}"
    result = zank(*arguments.split())
    assert result.exit_code == 2
    assert "is no player: expected policy" in result.stderr


def test_without_the_server_a_command_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = zank("games", "validate", "-", stdin="")
    assert result.exit_code == 1
    assert "pip install 'zank[server]'" in result.stderr


def test_progress_says_rate_and_time_left(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    clock = iter([0.0, 1.0, 2.0, 10.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    progress = Progress(400)
    progress.add()
    progress.add()
    progress.end()
    printed = capsys.readouterr().err.replace("\r\x1b[K", "\n").split("\n")
    assert printed == [
        "",
        "1 of 400 games, 1 a second, 6:39 left",
        "2 of 400 games, 1 a second, 6:38 left",
        "2 of 400 games, 0.2 a second, 33:10 left",
        "",
    ]
