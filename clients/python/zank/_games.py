"""The commands about recorded games: `zank games …` and `zank simulate`."""

import codecs
import importlib
import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, Unpack

import click

from zank._annotations import annotations, summary
from zank._bulk import Bulk, Fault, Filter, journal_in
from zank._connection import DEFAULT_TIMEOUT
from zank._journal import Journal
from zank._options import SEED, connected, connected_to_all, server_option, servers_option
from zank._progress import Progress
from zank._record_files import Line, Validation, lines, read_line
from zank._record_text import format_text, parse_texts
from zank._report_tables import require_parquet, write_tables
from zank._requests import OBJECTIVES, AnalysisOptions, analysis_settings
from zank._rule_set_options import chosen_rule_set, rule_set_options
from zank._terminal import console, status_console
from zank._totals import Totals, print_totals
from zank.client import Client
from zank.embedded import require_server
from zank.errors import InvalidPlayer, InvalidRecord, InvalidRequest
from zank.players import Player, parse_player
from zank.presets import PRESETS
from zank.records import format_record
from zank.v1 import GameRecord, GameReport

_INTERRUPTED: Final = 130
_FILES_HELP: Final = "A FILE holds one record a line, in JSON (proto/records.md); - is standard input."


class _PlayerType(click.ParamType[Player]):
    """A player of a simulation."""

    name = "player"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Player:
        if isinstance(value, Player):
            return value
        try:
            return parse_player(value)
        except InvalidPlayer as error:
            self.fail(str(error), param, context)


@click.group()
def games() -> None:
    """Validate recorded games, convert them, and judge their moves."""


@games.command(short_help="Say which records are not sound.", epilog=_FILES_HELP)
@click.argument("files", metavar="FILE...", type=click.File("rb"), nargs=-1, required=True)
def validate(files: tuple[IO[bytes], ...]) -> None:
    """Replay the records of each FILE by the rules, and print a line for each that is not sound; exit status 0 or 1.

    A line names the file, the line, the event, the rule that is broken, and what was expected. Needs zank[server].
    """
    with _engine() as engine:
        progress = Progress()
        validation = Validation(report=lambda line, fault: _report(progress, line, fault), done=progress.add)
        replay = importlib.import_module("zank_service.replay").replay
        validation.run(((_name(file), file) for file in files), lambda records: replay(engine, records))
    progress.clear()
    for note, count in sorted(validation.notes.items()):
        click.echo(f"note: in {count:,} of the records {note}", err=True)
    good = validation.games - validation.bad
    click.echo(f"{validation.games:,} records: {good:,} sound, {validation.bad:,} bad; {progress.rate:.3g} a second")
    sys.exit(1 if validation.bad else 0)


@games.command(short_help="Convert records to JSON, or to text for people.")
@click.argument("file", metavar="FILE", type=click.File("rb"))
@click.option("--to", "form", type=click.Choice(["text", "json"]), required=True, help="What to print.")
def convert(file: IO[bytes], form: str) -> None:
    """Print the records of FILE, JSON or text, in canonical JSON or as text for people.

    A record that cannot be read is reported and left out; exit status 1.
    """
    bad = 0
    for line, record in _records(file):
        if isinstance(record, InvalidRecord):
            bad += 1
            click.echo(f"{line}: {record}", err=True)
        else:
            click.echo(format_text(record) if form == "text" else format_record(record), nl=form == "json")
    sys.exit(1 if bad else 0)


def analysis_options(command: Callable[..., None]) -> Callable[..., None]:
    """How games are analysed."""
    for option in (
        click.option("--hindsight", is_flag=True, default=None, help="Judge as if every card had been known."),
        click.option("--objective", type=click.Choice(list(OBJECTIVES)), help="What moves are judged by."),
        click.option("--seed", type=SEED, help="The same seed gives the same numbers. Default: of each record."),
        click.option(
            "--luck-rollouts", type=click.IntRange(1), metavar="N", help="To measure the luck of cards, twice."
        ),
        click.option(
            "--rollouts", type=click.IntRange(1), metavar="N", help="For the moves of a part of a turn, together."
        ),
    ):
        command = option(command)
    return command


@games.command(short_help="Print recorded games with comments on their moves.")
@click.argument("file", metavar="FILE", type=click.File("rb"))
@analysis_options
@server_option
def annotate(file: IO[bytes], server: str | None, **options: Unpack[AnalysisOptions]) -> None:
    """Print the records of FILE, JSON or text, as text with what there is to say of their moves as comments.

    What was given away and what would have been better, luck that is more than noise, and the chance to win after each
    turn; proto/analysis.md says how. A record that cannot be analysed is reported and left out; exit status 1.
    """
    bad = 0
    with connected(server, DEFAULT_TIMEOUT) as client:
        for line, record in _records(file):
            try:
                if isinstance(record, InvalidRecord):
                    raise record
                report = _analyzed(client, record, options)
            except (InvalidRecord, InvalidRequest) as error:
                bad += 1
                click.echo(f"{line}: {error}", err=True)
                continue
            for sentence in summary(report):
                click.echo(f"; {sentence}")
            click.echo(format_text(record, annotations(report)), nl=False)
    sys.exit(1 if bad else 0)


@games.command(short_help="Judge every move of recorded games.")
@click.argument(
    "files", metavar="FILE...", type=click.Path(exists=True, dir_okay=False, path_type=Path), nargs=-1, required=True
)
@click.option(
    "--out", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Where results go."
)
@analysis_options
@click.option("--player", type=click.IntRange(1, 2), help="Judge the moves of this player only.")
@click.option("--name", metavar="NAME", help="Judge the moves of whoever has this name only.")
@click.option("--parquet", is_flag=True, help="Write tables in Parquet, too. Needs zank[parquet].")
@click.option("--dry-run", is_flag=True, help="Say how long it would take, and write nothing.")
@servers_option
def analyze(
    files: tuple[Path, ...],
    folder: Path | None,
    player: int | None,
    name: str | None,
    parquet: bool,
    dry_run: bool,
    servers: tuple[str, ...],
    **options: Unpack[AnalysisOptions],
) -> None:
    """Analyse the records of each FILE, a game a line, and write DIR/reports.jsonl and DIR/faults.jsonl.

    Every move is judged from what its player knew, and the luck of what came to light is measured; proto/analysis.md
    says how. What is done is kept in DIR: the same command goes on where it was stopped, by Ctrl-C (exit status 130) or
    by force. Exit status 1 where a record cannot be analysed; the others are.
    """
    if folder is None and not dry_run:
        raise click.UsageError("Missing option '--out'.")
    if parquet:
        require_parquet()
    with connected_to_all(servers, DEFAULT_TIMEOUT) as clients:
        bulk = Bulk(
            clients=clients,
            files=files,
            settings=analysis_settings("analyze", options),
            whose=Filter(player=player, name=name),
        )
        bulk.read()
        if folder is None or dry_run:
            _estimate(bulk)
            return
        try:
            with journal_in(folder) as journal:
                _analyze(bulk, journal)
                bulk.write(journal, folder)
                if parquet:
                    write_tables(bulk.reports(journal), folder)
                totals = Totals.of(bulk.reports(journal))
        except OSError as error:
            raise click.FileError(str(error.filename or folder), error.strerror) from None
    print_totals(console(), totals)
    bad = len(bulk.bad)
    repeated = len(bulk.faults) - bad
    click.echo(f"{totals.games:,} games analysed, {bad:,} bad records, {repeated:,} duplicates: {folder}")
    sys.exit(1 if bad else 0)


@click.command(short_help="Let the engine play against itself.")
@click.option("--preset", type=click.Choice(list(PRESETS)), required=True, help="The rules to play by.")
@click.option("--games", "count", type=click.IntRange(0), required=True, metavar="N", help="How many games.")
@click.option("--seed", type=SEED, required=True, help="The same seed gives the same games.")
@click.option(
    "--players",
    type=_PlayerType(),
    nargs=2,
    metavar="SPEC SPEC",
    default=("policy", "policy"),
    help="Player 1 and player 2, each policy, policy:SHARE (with this probability a random move instead), or"
    " search:ROLLOUTS. Default: policy policy.",
)
@rule_set_options
def simulate(preset: str, count: int, seed: int, players: tuple[Player, Player], **options: int | str | None) -> None:
    """Play games and print their records, one a line; progress goes to standard error. Needs zank[server].

    Ctrl-C ends it after the last whole line; exit status 130.
    """
    rule_set = chosen_rule_set(preset, options)
    with _engine() as engine, _interruptible() as interrupted:
        play = importlib.import_module("zank_service.simulation").simulate
        progress = Progress(count)
        for record in play(engine, rule_set, count, seed, players, lambda: bool(interrupted)):
            click.echo(format_record(record))
            progress.add()
        progress.end()
    sys.exit(_INTERRUPTED if interrupted else 0)


def _analyzed(client: Client, record: GameRecord, options: AnalysisOptions) -> GameReport:
    """The report of a game."""
    with status_console().status("analysing", spinner="line") as status:
        options["priority"] = "normal"
        for update in client.analyze_game(record, **options):
            if update.HasField("report"):
                return update.report
            status.update(f"turn {update.progress.turns_done} of {update.progress.turns}")
    raise AssertionError("the last message carries the report")


def _analyze(bulk: Bulk, journal: Journal) -> None:
    """Analyses what is left to do."""
    for fault in bulk.faults:
        click.echo(str(fault), err=True)
    if bulk.left_out:
        click.echo(f"{bulk.left_out:,} records left out, for nobody whose moves are to be judged is in them", err=True)
    left = sum(game.key not in journal for game in bulk.games)
    if left < len(bulk.games):
        click.echo(f"{len(bulk.games) - left:,} of {len(bulk.games):,} games are done already", err=True)
    if not left:
        return
    progress = Progress(left)

    def done(fault: Fault | None) -> None:
        if fault is not None:
            progress.clear()
            click.echo(str(fault), err=True)
        progress.add()

    try:
        bulk.run(journal, done)
    except KeyboardInterrupt:
        progress.end()
        click.echo("stopped; the same command goes on from here", err=True)
        raise
    progress.end()


def _estimate(bulk: Bulk) -> None:
    """Says how long an analysis would take."""
    moves, each = sum(game.moves for game in bulk.games), bulk.seconds_a_move()
    click.echo(
        f"{len(bulk.games):,} games, {moves:,} moves, {len(bulk.bad):,} records that cannot be analysed;"
        f" about {moves * each / 3600:.2g} hours, by one game: {each * 1000:.3g} ms a move"
    )


def _name(file: IO[bytes]) -> str:
    """What a file is called in messages."""
    name = getattr(file, "name", "<stdin>")
    return "standard input" if name == "<stdin>" else str(name)


def _report(progress: Progress, line: Line, fault: str) -> None:
    progress.clear()
    click.echo(f"{line}: {fault}")


@contextmanager
def _engine() -> Iterator[object]:
    """An engine in this process; raises ServerNotInstalled, which says how to install it."""
    require_server()
    with status_console().status("starting the engine", spinner="line"):
        # By name: the client is installed without the server, and does not depend on it.
        opened = importlib.import_module("zank_service.local").local_engine()
        engine = opened.__enter__()
    try:
        yield engine
    finally:
        opened.__exit__(None, None, None)


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Signals that came in while it is open: the first Ctrl-C is noted here, the second one ends the program."""
    noted: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, _: object) -> None:
        noted.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _records(file: IO[bytes]) -> Iterator[tuple[Line, GameRecord | InvalidRecord]]:
    """The records of a file in either form, one by one."""
    name, numbered = _name(file), lines(file)
    first = next(((number, line) for number, line in numbered if line.strip()), None)
    if first is None:
        return
    rest = itertools.chain([first], numbered)
    if first[1].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        for number, line in rest:
            if line.isspace():
                continue
            try:
                yield Line(name, number), read_line(line).record
            except InvalidRecord as error:
                yield Line(name, number), error
        return
    text = (line.decode("utf-8-sig", errors="replace") for _, line in rest)
    for game in parse_texts(itertools.chain(itertools.repeat("", first[0] - 1), text)):
        yield Line(name, game.line), game.record
