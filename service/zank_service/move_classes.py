"""What a move is called, by what it gave away: the one table of thresholds."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from zank.v1 import (
    MOVE_CLASS_BLUNDER,
    MOVE_CLASS_DOUBTFUL,
    MOVE_CLASS_GOOD,
    MOVE_CLASS_MISTAKE,
    MoveClass,
)
from zank_kernel import equity, search

THRESHOLDS: Final = (  # in chance to win, the worst class first
    (0.12, MOVE_CLASS_BLUNDER),
    (0.05, MOVE_CLASS_MISTAKE),
    (0.02, MOVE_CLASS_DOUBTFUL),
)
NOISE: Final = 2.0  # standard errors within which a loss is none

SWING: Final[Mapping[str, float]] = {
    "malice-match": 13.4,
    "malice-classic": 12.4,
    "bank-spiteful": 106.0,
    "bank-russian": 107.0,
    "bank-crapette": 107.0,
}
"""Points between losing and winning a game, about: twice what games that are no ties score (benchmarks/games.py)."""


def unit(objective: search.Objective, preset: str, stakes: equity.Stakes | None) -> float:
    """What an objective is between losing and winning a game, about."""
    swing = SWING[preset]
    match objective:
        case "points":
            return swing
        case "win":
            return 1.0
        case "match":
            assert stakes is not None
            lost, won = stakes.after(np.asarray([-round(swing / 2), round(swing / 2)], np.int64))
            return float(won - lost) / equity.SCALE


def move_class(loss: search.Estimate, unit: float) -> MoveClass.ValueType:
    """The class of a move that gave away `loss`; `unit` is what the measure of it is between losing and winning."""
    if loss.mean <= NOISE * loss.standard_error:
        return MOVE_CLASS_GOOD
    return next((named for threshold, named in THRESHOLDS if loss.mean >= threshold * unit), MOVE_CLASS_GOOD)
