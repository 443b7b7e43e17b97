"""The command that analyses files of records: what it writes, and that it goes on from wherever it was ended."""

import asyncio
import dataclasses
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

import pytest
from click.testing import Result

from tests.client.command import zank
from tests.records.test_simulation import simulated
from tests.service.conftest import serving
from zank import _options, _record_files
from zank._bulk import Bulk, Filter
from zank._journal import Journal
from zank.client import Client
from zank.records import format_record, parse_record
from zank.v1 import (
    AnalysisSettings,
    AnalyzeGamesRequest,
    AnalyzeGamesResponse,
    BankOptions,
    Device,
    GameRecord,
    GetInfoResponse,
    MaliceOptions,
    RuleSet,
)
from zank_kernel.engine import Engine
from zank_service.analyst import Analyst
from zank_service.limits import Limits
from zank_service.server import Server

parquet: Any = importlib.import_module("pyarrow.parquet")  # by name: it has no types
SMALL: Final = ("--rollouts", "64", "--luck-rollouts", "16")
KINDS: Final = ("reports.jsonl", "faults.jsonl")


@pytest.fixture(scope="module")
def target(engine: Engine) -> Iterator[str]:
    """A server in a thread of its own, so that commands can wait for it."""
    loop, found = asyncio.new_event_loop(), list[str]()
    ready, done = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with serving(engine) as served:
            found.append(served.target)
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    yield found[0]
    loop.call_soon_threadsafe(done.set)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def records(engine: Engine) -> list[str]:
    """A few short games, with names."""
    malice = RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=1))
    bank = RuleSet(preset="bank-russian", bank=BankOptions(max_turns=2))
    shortest = sorted(simulated(engine, malice, 40, 1), key=lambda game: len(game.events))[4:10]
    games = [*shortest, *simulated(engine, bank, 2, 1)]
    for number, game in enumerate(games):
        game.players[:] = [("Ann", "Bob"), ("Bob", "Cem"), ("Ann", "Cem")][number % 3]
    return [format_record(game) for game in games]


@pytest.fixture(scope="module")
def few(records: list[str], target: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `whole`, of two records."""
    return analyzed(target, tmp_path_factory.mktemp("few"), records[:2])


@pytest.fixture
def file(records: list[str], tmp_path: Path) -> Path:
    return written(tmp_path / "games.jsonl", *records)


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def analyze(target: str, out: Path | None, *arguments: str | Path) -> Result:
    """Runs the command in this process; `target` are servers, separated by spaces."""
    where = () if out is None else ("--out", str(out))
    servers = [part for each in target.split() for part in ("--server", each)]
    return zank("games", "analyze", *map(str, arguments), *where, *SMALL, *servers)


def command(target: str, out: Path, *arguments: str | Path) -> list[str]:
    """The command for a process of its own."""
    main = [sys.executable, "-c", "from zank.cli import main; main()", "games", "analyze"]
    return [*main, *map(str, arguments), "--out", str(out), *SMALL, "--server", target]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def outputs(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in KINDS]


@pytest.fixture(scope="module")
def whole(target: str, records: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What comes of all records when nothing interferes."""
    return analyzed(target, tmp_path_factory.mktemp("whole"), records)


def analyzed(target: str, folder: Path, records: list[str]) -> Path:
    result = analyze(target, folder / "out", written(folder / "games.jsonl", *records))
    assert result.exit_code == 0, result.output
    return folder


def test_every_record_has_a_report_in_order(records: list[str], whole: Path) -> None:
    found = rows(whole / "out" / "reports.jsonl")
    assert [row["line"] for row in found] == list(range(1, len(records) + 1))
    assert {row["file"] for row in found} == {str(whole / "games.jsonl")}
    for text, row in zip(records, found, strict=True):
        moves = [event.move for event in parse_record(text).events if event.HasField("move")]
        assert [move["move"] for move in row["moves"]] == moves
        assert row["settings"]["rollouts"] == 64
    assert rows(whole / "out" / "faults.jsonl") == []


def test_what_is_done_is_not_done_again(target: str, records: list[str], whole: Path, tmp_path: Path) -> None:
    before = outputs(whole / "out")
    journal = (whole / "out" / "journal").read_bytes()
    result = analyze(target, whole / "out", whole / "games.jsonl")
    assert result.exit_code == 0
    assert f"{len(records)} of {len(records)} games are done already" in result.stderr
    assert outputs(whole / "out") == before
    assert (whole / "out" / "journal").read_bytes() == journal


PLACES: Final = (0, 1, 14, 15, 16, 35, 54, 55, 56, 200, -200, -1)  # before, within and behind magic, head and data


@pytest.mark.parametrize("place", PLACES)
def test_a_journal_that_breaks_off_anywhere_goes_on_from_its_last_whole_entry(
    target: str, few: Path, tmp_path: Path, place: int
) -> None:
    (tmp_path / "journal").write_bytes((few / "out" / "journal").read_bytes()[:place])
    result = analyze(target, tmp_path, few / "games.jsonl")
    assert result.exit_code == 0, result.output
    assert outputs(tmp_path) == outputs(few / "out")
    assert sorted(entries(tmp_path / "journal")) == sorted(entries(few / "out" / "journal"))
    assert ("1 of 2 games are done already" in result.stderr) == (place < 0)


def entries(path: Path) -> list[tuple[bytes, bytes]]:
    with Journal(path) as journal:
        return [(key, journal[key]) for key in journal._places]


@pytest.mark.parametrize("place", [20, 47, 51, 60, -1])  # in a key, a length, a checksum, and data
def test_a_damaged_journal_gives_no_wrong_report(target: str, few: Path, tmp_path: Path, place: int) -> None:
    damaged = bytearray((few / "out" / "journal").read_bytes())
    damaged[place] ^= 0xFF
    (tmp_path / "journal").write_bytes(damaged)
    assert analyze(target, tmp_path, few / "games.jsonl").exit_code == 0
    assert outputs(tmp_path) == outputs(few / "out")


def test_a_file_that_is_no_journal_is_left_alone(target: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "journal").write_text("dear diary")
    result = analyze(target, out, file)
    assert result.exit_code == 2
    assert f"{out / 'journal'}: expected a journal of this command" in result.stderr
    assert (out / "journal").read_text() == "dear diary"


def test_other_settings_are_done_anew_and_kept_beside(target: str, few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "journal").write_bytes((few / "out" / "journal").read_bytes())
    assert analyze(target, out, few / "games.jsonl", "--seed", "7").exit_code == 0
    assert {row["settings"]["seed"] for row in rows(out / "reports.jsonl")} == {"7"}
    assert outputs(out) != outputs(few / "out")
    result = analyze(target, out, few / "games.jsonl")
    assert "2 of 2 games are done already" in result.stderr
    assert outputs(out) == outputs(few / "out")


# Ended by force ------------------------------------------------------------------------------------------------------


def size_of(path: Path) -> int:
    """In bytes; 0 where there is no file."""
    return path.stat().st_size if path.exists() else 0


def ended(target: str, out: Path, file: Path, size: int, how: signal.Signals) -> "subprocess.Popen[str]":
    """The command, ended by a signal once its journal is this large."""
    process = subprocess.Popen(command(target, out, file), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while size_of(out / "journal") < size and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(how)
    return process


@pytest.mark.parametrize(
    "share", [0.3, *(pytest.param(share, marks=pytest.mark.slow) for share in (0, 0.1, 0.5, 0.7, 0.9))]
)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_it_goes_on_where_it_was_ended(
    target: str, whole: Path, tmp_path: Path, how: signal.Signals, share: float
) -> None:
    out, size = tmp_path / "out", (whole / "out" / "journal").stat().st_size
    process = ended(target, out, whole / "games.jsonl", max(1, int(size * share)), how)
    _, errors = process.communicate(timeout=60)
    if how == signal.SIGINT and "8 of 8 games" not in errors:  # it may have been done by then
        assert process.returncode == 130, errors
        assert "Traceback" not in errors
        assert "the same command goes on from here" in errors
        assert not (out / "reports.jsonl").exists()
    result = analyze(target, out, whole / "games.jsonl")
    assert result.exit_code == 0, result.output
    assert outputs(out) == outputs(whole / "out")


def test_two_at_once_do_not_write_into_one_folder(target: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with Journal(out / "journal"):
        result = analyze(target, out, file)
    assert result.exit_code == 2
    assert f"{out / 'journal'}: expected to have it alone; another process is at work here" in result.stderr
    assert analyze(target, out, file).exit_code == 0


def test_a_server_that_ends_is_said_and_the_rest_goes_on_with_another(
    target: str, engine: Engine, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = engine.judge

    def slowly(*arguments: Any) -> Any:
        time.sleep(0.02)  # so that it ends before all games are done
        return judge(*arguments)

    async def cut_off() -> tuple[int | None, str]:
        server = Server(engine, Limits())
        port = await server.start("127.0.0.1", 0)
        await server.serve()
        process = await asyncio.create_subprocess_exec(
            *command(f"127.0.0.1:{port}", tmp_path, whole / "games.jsonl"), stderr=asyncio.subprocess.PIPE
        )
        for _ in range(3_000):
            if size_of(tmp_path / "journal") > 100 or process.returncode is not None:
                break
            await asyncio.sleep(0.01)
        await server.stop(grace=0)
        _, errors = await process.communicate()
        return process.returncode, errors.decode()

    with monkeypatch.context() as patched:
        patched.setattr(engine, "judge", slowly)
        status, errors = asyncio.run(cut_off())
    assert status == 1, errors
    assert "Traceback" not in errors
    assert "Error: " in errors
    result = analyze(target, tmp_path, whole / "games.jsonl")
    assert "games are done already" in result.stderr
    assert outputs(tmp_path) == outputs(whole / "out")


def test_several_servers_share_the_games_and_say_the_same_as_one(
    target: str, engine: Engine, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed: dict[int, int] = {}
    answered = Analyst._answered

    async def counted(self: Analyst, index: int, request: AnalyzeGamesRequest) -> AnalyzeGamesResponse:
        analysed[id(self)] = max(analysed.get(id(self), 0), index + 1)
        return await answered(self, index, request)

    async def shared() -> Result:
        async with serving(engine) as other:
            return await asyncio.to_thread(analyze, f"{target} {other.target}", tmp_path, whole / "games.jsonl")

    monkeypatch.setattr(Analyst, "_answered", counted)
    result = asyncio.run(shared())
    assert result.exit_code == 0, result.output
    assert outputs(tmp_path) == outputs(whole / "out")
    assert len(analysed) == 2
    assert sum(analysed.values()) == len((whole / "games.jsonl").read_text().splitlines())


def test_servers_of_different_versions_are_refused(target: str, file: Path, tmp_path: Path) -> None:
    versions = iter(("1.0", "1.1"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Client, "info", lambda self: GetInfoResponse(engine_version=next(versions)))
        result = analyze(f"{target} {target}", tmp_path / "out", file)
    assert result.exit_code == 2
    assert "--server: expected servers of one version, found 1.0, 1.1" in result.stderr
    assert not (tmp_path / "out").exists()


@dataclasses.dataclass
class Started:
    """A server that was started, and a client of it."""

    workers: int
    platform: str = "cpu"
    closed: bool = False

    def wait(self, timeout: float) -> "Started":
        return self

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def info(self) -> GetInfoResponse:
        return GetInfoResponse(devices=[Device(platform=self.platform)])


@pytest.mark.parametrize(
    ("platform", "cores", "count", "workers"),
    [("cpu", 3, 3, 1), ("cpu", 1, 1, 1), ("cpu", 50, 16, 4), ("gpu", 3, 1, 1)],
)
def test_without_a_server_one_is_started_for_each_core(
    platform: str, cores: int, count: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Started] = []

    def start(workers: int) -> Started:
        started.append(Started(workers, platform))
        return started[-1]

    monkeypatch.setattr(_options, "EmbeddedServer", start)
    monkeypatch.setattr(_options, "Client", lambda target, **_: target)
    monkeypatch.setattr(_options, "cores", lambda: cores)
    with _options.connected_to_all((), 1.0) as clients:
        assert list[object](clients) == started
        assert [server.workers for server in started] == [workers] * count
        assert not any(server.closed for server in started)
    assert all(server.closed for server in started)


def test_no_server_is_a_clear_message(file: Path, tmp_path: Path) -> None:
    result = analyze("127.0.0.1:1", tmp_path / "out", file)
    assert result.exit_code == 1
    assert "127.0.0.1:1" in result.stderr
    assert not (tmp_path / "out").exists()


# Lines that are no records -------------------------------------------------------------------------------------------


def illegal(line: str) -> str:
    """The record without its first move."""
    record = GameRecord()
    record.CopyFrom(parse_record(line))
    del record.events[0]
    return format_record(record)


def test_every_line_without_a_report_is_named_with_its_file_and_the_others_are_analysed(
    target: str, records: list[str], tmp_path: Path
) -> None:
    first = written(tmp_path / "a.jsonl", records[0], "not JSON", "", illegal(records[-1]), records[0])
    second = tmp_path / "b.jsonl"
    second.write_bytes(
        b"\xef\xbb\xbf"
        + records[1].encode()
        + b'\r\n{"a\xff": 1}\r\n'
        + records[0].encode()
        + b"\n"
        + records[2].encode()[:-9]
    )
    result = analyze(target, tmp_path / "out", first, second)
    assert result.exit_code == 1
    expected = [
        (first, 2, "INVALID_RECORD", "expected JSON"),
        (first, 4, "INVALID_RECORD", ""),
        (first, 5, "DUPLICATE", f"the same record as {first}:1"),
        (second, 2, "INVALID_RECORD", "expected UTF-8"),
        (second, 3, "DUPLICATE", f"the same record as {first}:1"),
        (second, 4, "INVALID_RECORD", "the file breaks off within this line"),
    ]
    faults = rows(tmp_path / "out" / "faults.jsonl")
    assert [(row["file"], row["line"], row["reason"]) for row in faults] == [(str(a), b, c) for a, b, c, _ in expected]
    for row, (path, number, _, text) in zip(faults, expected, strict=True):
        assert row["text"].startswith(text)
        assert result.stderr.count(f"{path}:{number}: ") == 1
    assert faults[1]["field"].startswith("record.events[")
    assert "rule" in faults[1]
    reports = rows(tmp_path / "out" / "reports.jsonl")
    assert [(row["file"], row["line"]) for row in reports] == [(str(first), 1), (str(second), 1)]
    assert result.stdout.splitlines()[-1].startswith("2 games analysed, 4 bad records, 2 duplicates: ")


def test_a_file_named_twice_is_analysed_once(target: str, records: list[str], tmp_path: Path) -> None:
    first, second = written(tmp_path / "a.jsonl", *records[:2]), written(tmp_path / "b.jsonl", records[-1])
    result = analyze(target, tmp_path / "out", first, second, first)
    assert result.exit_code == 0, result.output
    assert [row["line"] for row in rows(tmp_path / "out" / "reports.jsonl")] == [1, 2, 1]
    assert [row["reason"] for row in rows(tmp_path / "out" / "faults.jsonl")] == ["DUPLICATE"] * 2


def test_an_empty_file_has_no_reports(target: str, tmp_path: Path) -> None:
    result = analyze(target, tmp_path / "out", written(tmp_path / "games.jsonl"))
    assert result.exit_code == 0
    assert result.stdout.startswith("0 games analysed, 0 bad records, 0 duplicates")
    assert outputs(tmp_path / "out") == [b"", b""]


def test_a_line_without_end_is_not_read_into_memory(
    target: str, records: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_record_files, "LONGEST_LINE", 20_000)
    result = analyze(target, tmp_path / "out", written(tmp_path / "games.jsonl", "[" * 90_000, records[0]))
    assert result.exit_code == 1
    assert f"{tmp_path / 'games.jsonl'}:1: expected at most 20000 bytes in a line" in result.stderr
    assert [row["line"] for row in rows(tmp_path / "out" / "reports.jsonl")] == [2]


def test_a_record_larger_than_the_server_takes_fails_alone(target: str, records: list[str], tmp_path: Path) -> None:
    record = GameRecord()
    record.CopyFrom(parse_record(records[0]))
    record.tags["note"] = "x" * 2_000_000
    result = analyze(
        target, tmp_path / "out", written(tmp_path / "games.jsonl", records[1], format_record(record), records[2])
    )
    assert result.exit_code == 1, result.output
    assert [row["line"] for row in rows(tmp_path / "out" / "reports.jsonl")] == [1, 3]
    assert [row["line"] for row in rows(tmp_path / "out" / "faults.jsonl")] == [2]


# Whose moves, what for, and where to ----------------------------------------------------------------------------------


def test_one_player_s_moves(target: str, records: list[str], file: Path, tmp_path: Path) -> None:
    assert analyze(target, tmp_path / "out", file, "--player", "2").exit_code == 0
    for row in rows(tmp_path / "out" / "reports.jsonl"):
        assert row["settings"]["players"] == [2]
        assert {move["player"] for move in row.get("moves", [])} <= {2}


def test_the_moves_of_who_has_a_name(target: str, records: list[str], file: Path, tmp_path: Path) -> None:
    assert analyze(target, tmp_path / "out", file, "--name", "Bob").exit_code == 0
    found = rows(tmp_path / "out" / "reports.jsonl")
    seats = {number: list(parse_record(text).players) for number, text in enumerate(records, start=1)}
    assert [row["line"] for row in found] == [number for number, names in seats.items() if "Bob" in names]
    for row in found:
        assert row["settings"]["players"] == [1 + seats[row["line"]].index("Bob")]


def test_nobody_of_a_name_is_said(target: str, file: Path, tmp_path: Path) -> None:
    result = analyze(target, tmp_path / "out", file, "--name", "Zoe")
    assert result.exit_code == 0
    assert result.stdout.startswith("0 games analysed, 0 bad records, 0 duplicates")
    assert "8 records left out, for nobody whose moves are to be judged is in them" in result.stderr


def test_a_dry_run_writes_nothing(target: str, file: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for out in (None, tmp_path / "out"):
        result = analyze(target, out, file, "--dry-run")
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("8 games, ")
        assert " ms a move" in result.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_a_dry_run_keeps_all_servers_at_work(target: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, one would have the cores that they share in a real run."""
    games: list[int] = []
    analyze_games = Client.analyze_games

    def counted(self: Client, requests: Any, **options: Any) -> Iterator[AnalyzeGamesResponse]:
        for response in analyze_games(self, requests, **options):
            games.append(response.index)
            yield response

    monkeypatch.setattr(Client, "analyze_games", counted)
    result = analyze(f"{target} {target}", None, file, "--dry-run")
    assert result.exit_code == 0, result.output
    assert games == [0, 0]


def test_nothing_to_do_is_done_at_once(target: str, tmp_path: Path) -> None:
    with Client(target) as client, Journal(tmp_path / "journal") as journal:
        Bulk(clients=[client], files=[], settings=AnalysisSettings(), whose=Filter()).run(journal, lambda fault: None)


def test_without_a_folder_it_is_a_usage_error(target: str, file: Path) -> None:
    result = analyze(target, None, file)
    assert result.exit_code == 2
    assert "--out" in result.stderr


@pytest.mark.parametrize("place", ["file/out", "out/reports.jsonl"])
def test_a_place_that_cannot_be_written_to_is_named(target: str, file: Path, tmp_path: Path, place: str) -> None:
    if place == "file/out":
        (tmp_path / "file").write_text("")
        out = tmp_path / "file" / "out"
    else:
        out = tmp_path / "out"
        (out / "journal").mkdir(parents=True)
    result = analyze(target, out, file)
    assert result.exit_code in (1, 2)
    assert str(out) in result.stderr
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_not_ours_is_named(target: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o500)
    result = analyze(target, out, file)
    assert result.exit_code in (1, 2)
    assert str(out) in result.stderr


@pytest.mark.parametrize("option", ["--rollouts 0", "--player 3", "--seed -1", "--objective luck", "--luck-rollouts x"])
def test_an_option_that_cannot_be_is_a_usage_error(target: str, file: Path, tmp_path: Path, option: str) -> None:
    result = zank("games", "analyze", str(file), "--out", str(tmp_path / "out"), *option.split(), "--server", target)
    assert result.exit_code == 2
    assert option.split(maxsplit=1)[0] in result.stderr


def test_settings_that_the_server_refuses_are_said_of_each_game(target: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = zank("games", "analyze", str(file), "--out", str(out), "--rollouts", "63", "--server", target)
    assert result.exit_code == 1
    assert f"{file}:1: settings.rollouts: expected 64 to " in result.stderr


# Tables --------------------------------------------------------------------------------------------------------------


def test_the_tables_say_what_the_json_does(target: str, records: list[str], whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "journal").write_bytes((whole / "out" / "journal").read_bytes())
    assert analyze(target, out, whole / "games.jsonl", "--parquet").exit_code == 0
    reports = rows(out / "reports.jsonl")
    games, moves, luck = (
        parquet.read_table(out / f"{name}.parquet").to_pylist() for name in ("games", "moves", "luck")
    )

    assert [(row["file"], row["line"], row["record_digest"]) for row in games] == [
        (report["file"], report["line"], report["recordDigest"]) for report in reports
    ]
    for text, row, report in zip(records, games, reports, strict=True):
        record = parse_record(text)
        assert (row["preset"], row["player1"], row["player2"]) == (record.rule_set.preset, *record.players)
        for number, player in enumerate(report["players"], start=1):
            assert row[f"player{number}_moves"] == player.get("moves", 0)
            assert row[f"player{number}_points_loss"] == player["pointsLoss"].get("mean", 0)
            assert row[f"player{number}_points_loss_se"] == player["pointsLoss"].get("standardError", 0)
            assert row[f"player{number}_blunder"] == player["classes"][4]
            assert row[f"player{number}_result"] == player["result"]
            assert row[f"player{number}_luck_adjusted_result"] == player["luckAdjustedResult"]
        for part in ("start", "luck", "losses", "remainder", "result"):
            assert row[f"win_{part}"] == report["balance"]["win"].get(part, 0)
            assert row[f"points_{part}"] == report["balance"]["points"].get(part, 0)

    judged = [(report["recordDigest"], move) for report in reports for move in report["moves"]]
    assert len(moves) == len(judged)
    for row, (digest, move) in zip(moves, judged, strict=True):
        assert (row["record_digest"], row["event"], row["player"]) == (digest, move.get("event", 0), move["player"])
        assert (row["move"], row["skipped"]) == (move["move"], None)
        assert row["best_line"].split() == move.get("bestLine", [])
        assert row["best_move"] == next(iter(move.get("bestLine", [])), None)
        assert row["win_loss"] == move["winLoss"].get("mean", 0)
        assert row["points_before_se"] == move["pointsBefore"].get("standardError", 0)
        assert (row["forced"], row["tied_with_best"]) == (move.get("forced", False), move.get("tiedWithBest", False))
        assert row["class"] == move["moveClass"].removeprefix("MOVE_CLASS_").lower()

    events = [(report["recordDigest"], event) for report in reports for event in report.get("luck", [])]
    assert len(luck) == len(events) > 0
    for row, (digest, event) in zip(luck, events, strict=True):
        assert (row["record_digest"], row["event"], row["player"]) == (digest, event.get("event", 0), event["player"])
        assert row["cards"].split() == event["cards"]
        assert row["win"] == event["win"].get("mean", 0)
        assert row["points_se"] == event["points"]["standardError"]


def test_no_games_make_empty_tables(target: str, tmp_path: Path) -> None:
    assert analyze(target, tmp_path / "out", written(tmp_path / "games.jsonl"), "--parquet").exit_code == 0
    for name in ("games", "moves", "luck"):
        assert parquet.read_table(tmp_path / "out" / f"{name}.parquet").num_rows == 0


def test_without_pyarrow_it_says_how_to_install_it(
    target: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = analyze(target, tmp_path / "out", file, "--parquet")
    assert result.exit_code == 2
    assert "pip install 'zank[parquet]'" in result.stderr
    assert not (tmp_path / "out").exists()


# For people --------------------------------------------------------------------------------------------------------


def test_a_game_with_comments_is_still_its_record(target: str, records: list[str], tmp_path: Path) -> None:
    file = written(tmp_path / "games.jsonl", *records[:2])
    result = zank("games", "annotate", str(file), *SMALL, "--server", target)
    assert result.exit_code == 0, result.output
    assert "; result " in result.stdout
    assert "; player 1 wins " in result.stdout
    text = tmp_path / "games.txt"
    text.write_text(result.stdout, encoding="utf-8")
    assert zank("games", "convert", str(text), "--to", "json").stdout.splitlines() == records[:2]


def test_a_game_that_cannot_be_annotated_is_said_and_the_others_go_on(
    target: str, records: list[str], tmp_path: Path
) -> None:
    file = written(tmp_path / "games.jsonl", "{}", illegal(records[0]), records[1])
    result = zank("games", "annotate", str(file), *SMALL, "--server", target)
    assert result.exit_code == 1
    bad = [line for line in result.stderr.splitlines() if line.startswith(f"{file}:")]
    assert [line.removeprefix(f"{file}:").partition(":")[0] for line in bad] == ["1", "2"]
    assert result.stdout.count("[Zank ") == 1
