"""What the parts of a game add up to: for each player, and for the result."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_STALEMATE,
    Account,
    Balance,
    Estimate,
    JudgedMove,
    LuckEvent,
    MoveClass,
    PlayerReport,
    RecordEvent,
)
from zank_kernel import equity, search

TIES: Final = (ENDING_STALEMATE, ENDING_ADJUDICATED)  # whatever they score

type Measured = tuple[float, float]  # a number and the square of its standard error


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a turn, analysed."""

    player: int
    moves: Sequence[JudgedMove]
    luck: LuckEvent | None  # of what came to light at its end
    start: search.Passed | None  # None where it was not judged, here and below
    loss: search.Loss | None  # of all its moves together
    complete: bool  # whether everything was judged and measured


def player_report(player: int, parts: Sequence[Part], closing: RecordEvent, *, whole: bool) -> PlayerReport:
    """What a player did; `closing` is the last event of the record, `whole`: all of the game was analysed."""
    own = [part for part in parts if part.player == player]
    moves = [move for part in own for move in part.moves]
    judged = [move for move in moves if not move.skipped]
    unforced = sum(not move.forced for move in judged)
    named = [move.move_class for move in moves]
    win_loss, points_loss = (total(_losses(own, measure)) for measure in ("win", "points"))
    win_luck, points_luck = (total(_luck(parts, player, measure)) for measure in ("win", "points"))
    by_match = any(part.loss is not None and part.loss.match is not None for part in own)
    result = _score_of(closing, player)
    report = PlayerReport(
        moves=len(moves),
        judged=len(judged),
        unforced=unforced,
        classes=[named.count(each) for each in MoveClass.values()],
        win_loss=win_loss,
        points_loss=points_loss,
        win_loss_each=win_loss.mean / unforced if unforced else 0.0,
        points_loss_each=points_loss.mean / unforced if unforced else 0.0,
        win_luck=win_luck,
        points_luck=points_luck,
        match_loss=total(_losses(own, "match")) if by_match else None,
        match_luck=total(_luck(parts, player, "match")) if by_match else None,
    )
    if result is not None:
        report.result = result
        if whole:
            others = total(_luck(parts, 3 - player, "win"))
            report.luck_adjusted_result = result - win_luck.mean + others.mean
    return report


def balance(parts: Sequence[Part], closing: RecordEvent, stakes: equity.Stakes | None) -> Balance | None:
    """How the result came about; None where there is none. All of the game must have been analysed.

    `stakes` is what the result makes of the match for player 1, if it is judged by that.
    """
    result = _score_of(closing, 1)
    if result is None or not parts:
        return None
    first = parts[0]
    assert first.start is not None
    found = Balance(win=_account(parts, "win", _for_first(first, first.start.win, 1.0), result))
    if closing.HasField("over"):
        margin = closing.over.points * (1 if closing.over.winner == 1 else -1)
        found.points.CopyFrom(_account(parts, "points", _for_first(first, first.start.value.points, 0.0), margin))
        if stakes is not None and first.start.value.match is not None:
            after = float(stakes.after(np.asarray(margin))) / equity.SCALE
            found.match.CopyFrom(_account(parts, "match", _for_first(first, first.start.value.match, 1.0), after))
    return found


def total(terms: Iterable[Measured]) -> Estimate:
    """The sum of independent terms."""
    listed = list(terms)
    return Estimate(
        mean=math.fsum(mean for mean, _ in listed), standard_error=math.sqrt(math.fsum(square for _, square in listed))
    )


def _account(parts: Sequence[Part], measure: search.Objective, start: Measured, result: float) -> Account:
    """The parts of a result, from the view of player 1."""
    luck = [total(_luck(parts, player, measure)) for player in (1, 2)]
    losses = [total(_losses([part for part in parts if part.player == player], measure)) for player in (1, 2)]
    lucky, lost = luck[0].mean - luck[1].mean, losses[0].mean - losses[1].mean
    squares = start[1] + math.fsum(each.standard_error**2 for each in (*luck, *losses))
    return Account(
        start=start[0],
        luck=lucky,
        losses=lost,
        remainder=result - start[0] - lucky + lost,
        result=result,
        standard_error=math.sqrt(squares),
    )


def _for_first(part: Part, estimate: search.Estimate, both: float) -> Measured:
    """What its player expects, from the view of player 1; what both players expect adds up to `both`."""
    mean = estimate.mean if part.player == 1 else both - estimate.mean
    return mean, estimate.standard_error**2


def _luck(parts: Sequence[Part], player: int, measure: search.Objective) -> Iterator[Measured]:
    for part in parts:
        if part.luck is not None and part.luck.player == player:
            found: Estimate = getattr(part.luck, measure)
            yield found.mean, found.standard_error**2


def _losses(parts: Sequence[Part], measure: search.Objective) -> Iterator[Measured]:
    for part in parts:
        if part.loss is not None:
            found: search.Estimate = getattr(part.loss, measure)
            yield found.mean, found.standard_error**2


def _score_of(closing: RecordEvent, player: int) -> float | None:
    """What the end of a game is worth to a player: 1, 0 or 0.5; None where it was left."""
    match closing.WhichOneof("kind"):
        case "resigned":
            return float(closing.resigned != player)
        case "timed_out":
            return float(closing.timed_out != player)
        case "over":
            over = closing.over
            return 0.5 if not over.winner or over.ending in TIES else float(over.winner == player)
    return None
