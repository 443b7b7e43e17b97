"""Reports of analysed games as tables in Parquet files (proto/analysis.md says what is in each column)."""

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from zank._bulk import Game
from zank._terminal import replaced_whole
from zank.errors import InvalidInput
from zank.v1 import Estimate, GameReport, MoveClass, SkipReason

GAMES: Final = "games.parquet"
MOVES: Final = "moves.parquet"
LUCK: Final = "luck.parquet"

_ROWS: Final = 20_000  # of one table, written together
_MEASURES: Final = ("win", "points", "match")
_CLASSES: Final = ("good", "doubtful", "mistake", "blunder")


def _estimates(*names: str) -> dict[str, str]:
    """The columns of estimates: a mean and a standard error."""
    return {column: "double" for name in names for column in (name, f"{name}_se")}


_PLAYER: Final = {
    "moves": "int32",
    "judged": "int32",
    "unforced": "int32",
    **dict.fromkeys(_CLASSES, "int32"),
    **_estimates("win_loss", "points_loss", "win_luck", "points_luck", "match_loss", "match_luck"),
    "result": "double",
    "luck_adjusted_result": "double",
}
_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    GAMES: {
        "file": "string",
        "line": "int64",
        "record_digest": "string",
        "preset": "string",
        "player1": "string",
        "player2": "string",
        **{f"player{player}_{name}": kind for player in (1, 2) for name, kind in _PLAYER.items()},
        **{
            f"{measure}_{part}": "double"
            for measure in _MEASURES
            for part in ("start", "luck", "losses", "remainder", "result", "se")
        },
    },
    MOVES: {
        "record_digest": "string",
        "event": "int32",
        "player": "int8",
        "move": "string",
        "skipped": "string",
        "best_move": "string",
        "best_line": "string",
        **_estimates(*(f"{measure}_{name}" for measure in _MEASURES for name in ("before", "after", "loss"))),
        "forced": "bool",
        "tied_with_best": "bool",
        "class": "string",
    },
    LUCK: {
        "record_digest": "string",
        "event": "int32",
        "player": "int8",
        "cards": "string",
        **_estimates(*_MEASURES),
    },
}


def require_parquet() -> None:
    """Raises InvalidInput, which says how to install it, where Parquet files cannot be written."""
    if importlib.util.find_spec("pyarrow") is None:
        raise InvalidInput("--parquet needs pyarrow: pip install 'zank[parquet]', in a clone pip install '.[parquet]'")


def write_tables(reports: Iterable[tuple[Game, GameReport]], folder: Path) -> None:
    """Writes GAMES, MOVES and LUCK into a folder, whole or not at all."""
    with ExitStack() as files:
        tables = {name: files.enter_context(_Table(folder / name, columns)) for name, columns in _COLUMNS.items()}
        for game, report in reports:
            tables[GAMES].add(_game(game, report))
            for row in _moves(report):
                tables[MOVES].add(row)
            for row in _luck(report):
                tables[LUCK].add(row)


class _Table:
    """A table that is written some rows at a time."""

    def __init__(self, path: Path, columns: Mapping[str, str]) -> None:
        arrow = importlib.import_module("pyarrow")  # by name: most clients have no use for it
        self._schema = arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in columns.items()])
        self._arrow = arrow
        self._path = path
        self._rows: list[Mapping[str, Any]] = []
        self._open = ExitStack()

    def __enter__(self) -> "_Table":
        temporary = self._open.enter_context(replaced_whole(self._path))
        parquet = importlib.import_module("pyarrow.parquet")
        self._writer = self._open.enter_context(parquet.ParquetWriter(temporary, self._schema, compression="zstd"))
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if kind is None:
            self._write()
        self._open.__exit__(kind, error, traceback)

    def add(self, row: Mapping[str, Any]) -> None:
        """One more row."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            self._write()

    def _write(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


def _estimate(of: Any, name: str) -> dict[str, float]:
    """The columns of an estimate in a message; none where it is not there."""
    if not of.HasField(name):
        return {}
    estimate: Estimate = getattr(of, name)
    return {name: estimate.mean, f"{name}_se": estimate.standard_error}


def _game(game: Game, report: GameReport) -> dict[str, Any]:
    row: dict[str, Any] = {
        "file": game.line.file,
        "line": game.line.number,
        "record_digest": report.record_digest,
        "preset": game.preset,
        **{f"player{number}": name for number, name in enumerate(game.players, start=1)},
    }
    for number, player in enumerate(report.players, start=1):
        values: dict[str, Any] = {name: getattr(player, name) for name in ("moves", "judged", "unforced")}
        values |= dict(zip(_CLASSES, player.classes[1:], strict=True))
        for name in ("win_loss", "points_loss", "match_loss", "win_luck", "points_luck", "match_luck"):
            values |= _estimate(player, name)
        values["result"] = player.result if player.HasField("result") else None
        values["luck_adjusted_result"] = (
            player.luck_adjusted_result if player.HasField("luck_adjusted_result") else None
        )
        row |= {f"player{number}_{name}": value for name, value in values.items()}
    for measure in _MEASURES:
        balance: Any = report.balance
        if report.HasField("balance") and balance.HasField(measure):
            account = getattr(balance, measure)
            row |= {
                f"{measure}_{part}": getattr(account, part)
                for part in ("start", "luck", "losses", "remainder", "result")
            }
            row[f"{measure}_se"] = account.standard_error
    return row


def _moves(report: GameReport) -> Iterator[dict[str, Any]]:
    for move in report.moves:
        row: dict[str, Any] = {
            "record_digest": report.record_digest,
            "event": move.event,
            "player": move.player,
            "move": move.move,
        }
        if move.skipped:
            yield {**row, "skipped": SkipReason.Name(move.skipped).removeprefix("SKIP_REASON_").lower()}
            continue
        for measure in _MEASURES:
            for name in ("before", "after", "loss"):
                row |= _estimate(move, f"{measure}_{name}")
        yield {
            **row,
            "best_move": move.best_line[0] if move.best_line else None,
            "best_line": " ".join(move.best_line),
            "forced": move.forced,
            "tied_with_best": move.tied_with_best,
            "class": MoveClass.Name(move.move_class).removeprefix("MOVE_CLASS_").lower(),
        }


def _luck(report: GameReport) -> Iterator[dict[str, Any]]:
    for luck in report.luck:
        yield {
            "record_digest": report.record_digest,
            "event": luck.event,
            "player": luck.player,
            "cards": " ".join(luck.cards),
            **_estimate(luck, "win"),
            **_estimate(luck, "points"),
            **_estimate(luck, "match"),
        }
