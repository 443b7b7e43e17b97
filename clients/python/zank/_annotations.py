"""What the analysis of a game says, as comments on its moves."""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from zank.cards import face_of
from zank.sentences import format_chance, format_points
from zank.v1 import (
    MOVE_CLASS_BLUNDER,
    MOVE_CLASS_DOUBTFUL,
    MOVE_CLASS_MISTAKE,
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    GameReport,
    JudgedMove,
    Objective,
)

MARKS: Final = {MOVE_CLASS_DOUBTFUL: "?!", MOVE_CLASS_MISTAKE: "?", MOVE_CLASS_BLUNDER: "??"}


def annotations(report: GameReport) -> Mapping[int, Sequence[str]]:
    """Comments by the number of the event: faults, the chance after each turn, luck that is more than noise."""
    found: dict[int, list[str]] = defaultdict(list)
    for move in report.moves:
        if move.move_class in MARKS:
            lost, better = _lost(move, report.settings.objective), " ".join(move.best_line)
            found[move.event].append(f"{move.move} {MARKS[move.move_class]} gives away {lost}; better {better}")
    for move, following in itertools.zip_longest(report.moves, report.moves[1:]):
        if not move.skipped and (following is None or following.player != move.player):
            found[move.event].append(f"player {move.player} wins {100 * move.win_after.mean:.0f} %")
    for luck in report.luck:
        if abs(luck.win.mean) > 2 * luck.win.standard_error:
            cards = " ".join(map(face_of, luck.cards))
            found[luck.event].append(f"luck of player {luck.player}, {cards}: {format_chance(luck.win, sign=True)}")
    return found


def summary(report: GameReport) -> list[str]:
    """What the game comes to, for each player."""
    lines = []
    for number, player in enumerate(report.players, start=1):
        if not player.judged:
            continue
        faults = ", ".join(f"{player.classes[each]} {mark}" for each, mark in MARKS.items())
        lines.append(
            f"player {number} gave away {format_chance(player.win_loss)} in {player.unforced} moves with a choice"
            f" ({faults}); luck {format_chance(player.win_luck, sign=True)}"
        )
    if report.HasField("balance"):
        win = report.balance.win
        lines.append(
            f"result {win.result:g} = start {win.start:.2f} + luck {win.luck:.2f} - losses {win.losses:.2f}"
            f" + remainder {win.remainder:.2f} (± {win.standard_error:.2f}), from the view of player 1"
        )
    return lines


def _lost(move: JudgedMove, objective: Objective.ValueType) -> str:
    """What a move gave away, in what it is called by."""
    if objective == OBJECTIVE_POINTS:
        return f"{format_points(move.points_loss, sign=False)} points"
    if objective == OBJECTIVE_MATCH:
        return f"{format_chance(move.match_loss)} of the match"
    return format_chance(move.win_loss)
