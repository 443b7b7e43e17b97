"""What the parts of a game add up to: for each player, and for the result."""

import math
from collections.abc import Callable, Iterable, Sequence
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
    win_loss, points_loss = (total(_losses(own, measure)) for measure in (_score, _points))
    win_luck, points_luck = (total(_luck(parts, player, measure)) for measure in (_win_luck, _points_luck))
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
        match_loss=total(_losses(own, _match)) if by_match else None,
        match_luck=total(_luck(parts, player, _match_luck)) if by_match else None,
    )
    if result is not None:
        report.result = result
        if whole:
            others = total(_luck(parts, 3 - player, _win_luck))
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
    score, points = first.start.score, first.start.value.points
    start = score.mean if first.player == 1 else 1 - score.mean
    found = Balance(win=_account(parts, (start, score.standard_error**2), _win_luck, _score, result))
    if closing.HasField("over"):
        margin = closing.over.points * (1 if closing.over.winner == 1 else -1)
        start = points.mean if first.player == 1 else -points.mean
        found.points.CopyFrom(_account(parts, (start, points.standard_error**2), _points_luck, _points, margin))
        match = first.start.value.match
        if stakes is not None and match is not None:
            start = match.mean if first.player == 1 else 1 - match.mean
            after = float(stakes.after(np.asarray(margin))) / equity.SCALE
            found.match.CopyFrom(_account(parts, (start, match.standard_error**2), _match_luck, _match, after))
    return found


def total(terms: Iterable[Measured]) -> Estimate:
    """The sum of independent terms."""
    listed = list(terms)
    return Estimate(
        mean=math.fsum(mean for mean, _ in listed), standard_error=math.sqrt(math.fsum(square for _, square in listed))
    )


def _account(
    parts: Sequence[Part],
    start: Measured,
    luck_of: Callable[[LuckEvent], Estimate],
    loss_of: Callable[[search.Loss], search.Estimate],
    result: float,
) -> Account:
    """The parts of a result, from the view of player 1."""
    luck = [total(_luck(parts, player, luck_of)) for player in (1, 2)]
    losses = [total(_losses([part for part in parts if part.player == player], loss_of)) for player in (1, 2)]
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


def _luck(parts: Sequence[Part], player: int, measure: Callable[[LuckEvent], Estimate]) -> Iterable[Measured]:
    for part in parts:
        if part.luck is not None and part.luck.player == player:
            found = measure(part.luck)
            yield found.mean, found.standard_error**2


def _losses(parts: Sequence[Part], measure: Callable[[search.Loss], search.Estimate]) -> Iterable[Measured]:
    for part in parts:
        if part.loss is not None:
            found = measure(part.loss)
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


def _score(loss: search.Loss) -> search.Estimate:
    return loss.score


def _points(loss: search.Loss) -> search.Estimate:
    return loss.points


def _match(loss: search.Loss) -> search.Estimate:
    assert loss.match is not None
    return loss.match


def _win_luck(luck: LuckEvent) -> Estimate:
    return luck.win


def _points_luck(luck: LuckEvent) -> Estimate:
    return luck.points


def _match_luck(luck: LuckEvent) -> Estimate:
    return luck.match
