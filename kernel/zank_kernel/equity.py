"""Match equity: what the result of a game is worth where a match is played for points (M12, R7, S9).

Every game of a match is dealt anew, and by chance (M1, S1) or by the cards (R1) either player is as likely to start it
as the other. So the chance to win the match depends on nothing but the points that each player still needs, and it is
a dynamic programme over these, given how often a game is worth how many points. That was measured in games of the
rollout policy against itself, for every preset that scores and all its options (`python -m benchmarks.equity`).
"""

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

type Counts = npt.NDArray[np.int64]

DATA: Final = "equity.json"
SCALE: Final = 1 << 20  # chances are kept as whole numbers of 1 / SCALE, whose sums are exact in any order
LEAST: Final = 64  # points to need that a table goes to at least; it is made for the next power of two
TABLES: Final = 8  # kept
LATER: Final = "max_turns"  # the option of which higher values are as good as the one measured; see `fits`


class Rules(Protocol):
    """What every family's rule set says of matches; its options are attributes too."""

    @property
    def preset(self) -> str:
        """The preset's name."""
        ...

    @property
    def match_target(self) -> int:
        """Points that win the match, 0 where these are single games."""
        ...


class Unavailable(LookupError):
    """Games of a rule set were not measured, for the sake of an `option`; "preset" where they are worth no points."""

    def __init__(self, option: str) -> None:
        super().__init__(f"no games with this {option} were measured")
        self.option: Final = option


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stakes:
    """What the results of a game make of a match, from the view of one player."""

    needed: int  # points that the other player needs
    chances: Counts  # int64 [needed + 1 + own]: after -needed, … points of this game; unit: 1 / SCALE
    spread: int  # how far apart two results that occur in play can be; unit: 1 / SCALE

    def after(self, points: Counts) -> Counts:
        """The chance to win the match once the game has brought so many points; unit: 1 / SCALE."""
        after: Counts = self.chances[np.clip(points + self.needed, 0, len(self.chances) - 1)]
        return after


def stakes(rules: Rules, score: tuple[int, int], player: int) -> Stakes:
    """What a game is about for a player, 0 or 1, at a score by player.

    Raises ValueError for a score that no match has that goes on, and Unavailable.
    """
    if not all(0 <= points < rules.match_target for points in score):
        raise ValueError(f"a score of {score[0]} to {score[1]}, expected less than {rules.match_target} each")
    won = games_won(rules)
    own, other = rules.match_target - score[player], rules.match_target - score[1 - player]
    chance = table(won, max(LEAST, 1 << (max(own, other) - 1).bit_length()))
    after = np.concatenate([chance[own, : other + 1], chance[own - 1 :: -1, other]])
    chances = np.floor(after * SCALE + 0.5).astype(np.int64)
    most = len(won) - 1
    spread = int(chances[min(other + most, len(chances) - 1)] - chances[max(other - most, 0)])
    return Stakes(needed=other, chances=chances, spread=max(1, spread))


@functools.lru_cache(maxsize=TABLES)
def table(won: Sequence[int], size: int) -> npt.NDArray[np.float64]:
    """The chance to win a match by the points that oneself and the other player need, float64 [size + 1, size + 1].

    `won` are the games whose winner scores 0, 1, … points, either player as often as the other. Of those that
    bring nobody any points, as many follow as it takes: they count for nothing. Who needs none has won.
    """
    points = np.flatnonzero(won[1:]) + 1
    share = np.asarray(won)[points, None] / (2 * sum(won[1:]))  # of the games that are decided, to either player
    # By the sum of the points needed, and by the own ones: all that a game can lead to has a smaller sum. Where the
    # other player needs none, or less, it is 0. The rows before 0 are for sums that are less.
    first = len(won) - 1
    by_sum = np.zeros((first + 2 * size + 1, size + 1))
    for both in range(2, 2 * size + 1):
        own = slice(max(1, both - size), min(size, both - 1) + 1)
        lost = (share * by_sum[first + both - points, own]).sum(axis=0)
        # A game that is won leaves the other player what this one has after a loss with the needs exchanged.
        by_sum[first + both, own] = 0.5 + (lost - lost[::-1])
    needed = np.arange(size + 1)
    chance: npt.NDArray[np.float64] = by_sum[first + needed[:, None] + needed, needed[:, None]]
    chance[0, 1:] = 1.0
    return chance


def games_won(rules: Rules) -> tuple[int, ...]:
    """How many of the games measured were worth 0, 1, … points to their winner; raises Unavailable."""
    rows = measured().get(rules.preset)
    if rows is None:
        raise Unavailable("preset")
    for option in rows[0]["options"]:
        rows = [row for row in rows if fits(option, row["options"][option], getattr(rules, option))]
        if not rows:
            raise Unavailable(option)
    return tuple(rows[0]["won"])


def fits(option: str, value: object, asked: Any) -> bool:
    """Whether games with one value of an option tell of those with another."""
    # One game in two hundred lasts for as many turns as were allowed: to allow more, or any number (0), changes little.
    return bool(asked == value or (option == LATER and (asked == 0 or asked > value)))


@functools.cache
def measured() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """What was measured, by preset: a row for each rule set, of its `options` and of how many games were `won` how."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in json.loads(resources.files(__package__).joinpath(DATA).read_text())["rule_sets"]:
        rows.setdefault(row["preset"], []).append(row)
    return rows
