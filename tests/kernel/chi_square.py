"""Pearson's test of observed counts against expected ones, for tests with fixed seeds."""

import math

import numpy as np
import numpy.typing as npt

DEVIATIONS = 4.75
"""How far out the critical value lies, in standard deviations of a normal variable: a chance of one in a million."""


def critical(freedom: int) -> float:
    """What the statistic exceeds once in a million times (Wilson and Hilferty's cube-root approximation)."""
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + DEVIATIONS * math.sqrt(spread)) ** 3)


def assert_fits(observed: npt.ArrayLike, share: npt.ArrayLike) -> None:
    """Fail unless counts fit their expected shares, which add up to 1; a share of 0 must have a count of 0."""
    counts, shares = np.asarray(observed, np.float64).ravel(), np.asarray(share, np.float64).ravel()
    assert math.isclose(shares.sum(), 1)
    assert not counts[shares == 0].any(), "something impossible was seen"
    counts, shares = counts[shares > 0], shares[shares > 0]
    expected = counts.sum() * shares
    assert expected.min() >= 5, "too few observations for the approximation"
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert statistic <= critical(len(counts) - 1), f"chi-square {statistic:.1f} with {len(counts) - 1} degrees"


def assert_uniform(observed: npt.ArrayLike) -> None:
    """Fail unless all counts could come from equal chances."""
    cells = np.asarray(observed).size
    assert_fits(observed, np.full(cells, 1 / cells))
