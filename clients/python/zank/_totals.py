"""What the reports of many games say of each player, together."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Self

from rich.console import Console
from rich.table import Table

from zank._bulk import Game
from zank.sentences import format_chance
from zank.v1 import Estimate, GameReport, MoveClass, PlayerReport

_CLASSES: Final = ("MOVE_CLASS_DOUBTFUL", "MOVE_CLASS_MISTAKE", "MOVE_CLASS_BLUNDER")


@dataclass
class Sum:
    """A sum of independent estimates."""

    mean: float = 0.0
    square: float = 0.0  # of its standard error

    def add(self, estimate: Estimate) -> None:
        """One more."""
        self.mean += estimate.mean
        self.square += estimate.standard_error**2

    def over(self, count: int) -> Estimate:
        """A share of it."""
        return Estimate(mean=self.mean / max(1, count), standard_error=math.sqrt(self.square) / max(1, count))


@dataclass
class Player:
    """What somebody did in all games."""

    games: int = 0
    unforced: int = 0
    classes: list[int] = field(default_factory=lambda: [0] * len(_CLASSES))
    win_loss: Sum = field(default_factory=Sum)
    win_luck: Sum = field(default_factory=Sum)
    results: list[float] = field(default_factory=list)
    adjusted: list[float] = field(default_factory=list)

    def add(self, report: PlayerReport) -> None:
        """One more game."""
        self.games += 1
        self.unforced += report.unforced
        for index, name in enumerate(_CLASSES):
            self.classes[index] += report.classes[MoveClass.Value(name)]
        self.win_loss.add(report.win_loss)
        self.win_luck.add(report.win_luck)
        if report.HasField("result"):
            self.results.append(report.result)
        if report.HasField("luck_adjusted_result"):
            self.adjusted.append(report.luck_adjusted_result)


@dataclass
class Totals:
    """What all players did."""

    games: int = 0
    players: dict[str, Player] = field(default_factory=dict)

    @classmethod
    def of(cls, reports: Iterable[tuple[Game, GameReport]]) -> Self:
        """Of these games; players without a name are told apart by their number."""
        totals = cls()
        for game, report in reports:
            totals.games += 1
            names = game.players or ("player 1", "player 2")
            for name, player in zip(names, report.players, strict=True):
                if player.judged:
                    totals.players.setdefault(name, Player()).add(player)
        return totals


def print_totals(console: Console, totals: Totals) -> None:
    """A table of the players, the one who gave away least first."""
    if not totals.players:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    titles = ("player", "games", "lost in a choice", "?! / ? / ??", "luck a game", "won", "adjusted")
    for title in titles:
        table.add_column(title, justify="left" if title == "player" else "right", no_wrap=True)
    for name, player in sorted(totals.players.items(), key=lambda item: item[1].win_loss.over(item[1].unforced).mean):
        table.add_row(
            name,
            f"{player.games:,}",
            format_chance(player.win_loss.over(player.unforced)),
            " / ".join(f"{count:,}" for count in player.classes),
            format_chance(player.win_luck.over(player.games), sign=True),
            _mean_percent(player.results),
            _mean_percent(player.adjusted),
        )
    console.print(table)


def _mean_percent(values: list[float]) -> str:
    return f"{100 * sum(values) / len(values):.0f} %" if values else "–"
