"""Search: every legal move a candidate, the same worlds for all, sequential halving.

Sequential halving: Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits" (2013). Common random
numbers: candidate i in world w draws the same cards as candidate j in world w, so that gaps are measured in pairs.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

type Objective = Literal["points", "win"]
type Counts = npt.NDArray[np.int64]

ROUNDS: Final = 3
SLICE: Final = 16_384  # rollouts between two reports of progress


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcomes:
    """Results of a candidate's rollouts from the mover's view, one entry a world, in order of the world's number."""

    points: Counts  # int64 [N]
    score: Counts  # int64 [N]: 2 = won, 1 = tie, 0 = lost
    moves: Counts  # int64 [N]: moves to the end of the game

    @property
    def count(self) -> int:
        """Rollouts played."""
        return len(self.points)

    def measure(self, objective: Objective) -> Counts:
        """What `objective` ranks by: points, or the score in half games."""
        return self.points if objective == "points" else self.score


@dataclasses.dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean and its standard error."""

    mean: float
    standard_error: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Value:
    """What the rollouts say of a move, from the mover's view."""

    rollouts: int
    win: Estimate  # probability
    tie: Estimate  # probability
    loss: Estimate  # probability
    points: Estimate  # points, or cards of margin where the preset does not score
    moves: float  # mean moves to the end of the game


@dataclasses.dataclass(frozen=True, kw_only=True)
class Candidate:
    """One move to consider: an action and the other actions that lead to the same game."""

    action: int
    equivalents: tuple[int, ...]
    wins_at_once: bool
    line: tuple[int, ...]  # the turn from this action on, as the rollouts play it, up to the next unknown card


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One candidate's place in an answer."""

    candidate: Candidate
    value: Value | None  # None where no rollouts were spent
    gap: Estimate | None  # the best move's measure less this one's; None for the best itself
    tied_with_best: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """The candidates ranked, best first, and what they cost."""

    evaluations: tuple[Evaluation, ...]
    forced: bool
    rollouts: int  # spent
    rounds_done: int


class Stopped(Exception):
    """The work was given up before it was complete."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Round:
    """One round of sequential halving: the best `candidates` play worlds `first` … `last` - 1."""

    candidates: int
    first: int
    last: int


def schedule(candidates: int, rollouts: int, kept: int = 0) -> tuple[Round, ...]:
    """Rounds for a number of candidates and a budget of rollouts in total.

    At most three rounds of equal cost; each keeps about the same share of the candidates, the last two to four, and
    pays for `kept` further ones. A budget that does not reach every candidate once is raised to one world each.
    """
    count = min(ROUNDS, max(1, math.ceil(math.log2(candidates))))
    sizes = [max(2, math.ceil(candidates ** ((count - index) / count))) for index in range(count)]
    rounds: list[Round] = []
    first = 0
    left = rollouts
    for index, size in enumerate(sizes):
        playing = min(candidates, size + kept)
        worlds = left // (count - index) // playing
        if index == 0:
            worlds = max(1, worlds)
        if worlds > 0:
            rounds.append(Round(candidates=size, first=first, last=first + worlds))
            first += worlds
            left -= worlds * playing
    return tuple(rounds)


def search(
    candidates: Sequence[Candidate],
    rounds: Sequence[Round],
    objective: Objective,
    spread: int,
    play: Callable[[Sequence[int], int, int, bool], Sequence[Outcomes]],
    *,
    keep: frozenset[int] = frozenset(),
    progress: Callable[[Answer], None] | None = None,
) -> Answer:
    """Rank two or more `candidates` by playing the `rounds` of a schedule.

    `play(indices, first, last, required)` plays worlds `first` … `last` - 1 with the candidates of these indices, in
    the first round as `required`; when it raises Stopped, the answer is that of the last complete round, and Stopped is
    raised where there is none. `spread` is how many points apart two results can be; it scales errors that cannot be
    measured. The candidates `keep` play in every round. `progress` is given the answer so far, after every round and
    now and then within.
    """
    outcomes: dict[int, Outcomes] = {}
    order = list(range(len(candidates)))
    answer: Answer | None = None
    for number, step in enumerate(rounds, start=1):
        playing = sorted({*order[: step.candidates], *keep})
        try:
            for first, last in slices(step, len(playing), whole=progress is None):
                for index, new in zip(playing, play(playing, first, last, number == 1), strict=True):
                    outcomes[index] = join(outcomes[index], new) if index in outcomes else new
                ranked = sorted(
                    playing, key=lambda index: preference(candidates[index], outcomes[index], objective, index)
                )
                ranked += [index for index in order if index not in playing]
                done = number if last == step.last else number - 1
                so_far = summary(candidates, ranked, outcomes, objective, spread, done)
                if progress is not None:
                    progress(so_far)
        except Stopped:
            if answer is None:
                raise
            break
        order, answer = ranked, so_far
    assert answer is not None
    return answer


def slices(step: Round, playing: int, *, whole: bool) -> list[tuple[int, int]]:
    """The worlds of a round, `first` and `last`, in parts of at most SLICE rollouts unless wanted as a whole."""
    worlds = step.last - step.first if whole else max(1, SLICE // playing)
    return [(first, min(first + worlds, step.last)) for first in range(step.first, step.last, worlds)]


def summary(
    candidates: Sequence[Candidate],
    order: Sequence[int],
    outcomes: Mapping[int, Outcomes],
    objective: Objective,
    spread: int,
    rounds_done: int,
) -> Answer:
    """The answer that these outcomes give, candidates in this order."""
    best = outcomes[order[0]]
    evaluations = tuple(
        evaluate(candidates[index], outcomes[index], None if index == order[0] else best, objective, spread)
        for index in order
    )
    rollouts = sum(outcome.count for outcome in outcomes.values())
    return Answer(evaluations=evaluations, forced=False, rollouts=rollouts, rounds_done=rounds_done)


def forced(candidate: Candidate) -> Answer:
    """The answer where there is no choice: no rollouts, no value."""
    only = Evaluation(candidate=candidate, value=None, gap=None, tied_with_best=True)
    return Answer(evaluations=(only,), forced=True, rollouts=0, rounds_done=0)


def join(first: Outcomes, second: Outcomes) -> Outcomes:
    """Outcomes of the first worlds followed by those of later ones."""
    return Outcomes(
        points=np.concatenate([first.points, second.points]),
        score=np.concatenate([first.score, second.score]),
        moves=np.concatenate([first.moves, second.moves]),
    )


def preference(candidate: Candidate, outcomes: Outcomes, objective: Objective, index: int) -> tuple[int, ...]:
    """Sorting key among candidates that played the same worlds, best first.

    A move that wins at once is first; then the objective, the other measure, the shorter games, the order of moves.
    """
    other: Objective = "win" if objective == "points" else "points"
    return (
        -int(candidate.wins_at_once),
        -int(outcomes.measure(objective).sum()),
        -int(outcomes.measure(other).sum()),
        int(outcomes.moves.sum()),
        index,
    )


def evaluate(
    candidate: Candidate, outcomes: Outcomes, best: Outcomes | None, objective: Objective, spread: int
) -> Evaluation:
    """Value of a candidate, and its gap to the best where it is not the best itself."""
    count = outcomes.count
    value = Value(
        rollouts=count,
        win=chance(int((outcomes.score == 2).sum()), count),
        tie=chance(int((outcomes.score == 1).sum()), count),
        loss=chance(int((outcomes.score == 0).sum()), count),
        points=mean(outcomes.points, spread),
        moves=float(outcomes.moves.sum() / count),
    )
    if best is None:
        return Evaluation(candidate=candidate, value=value, gap=None, tied_with_best=True)
    both = min(count, best.count)
    difference = best.measure(objective)[:both] - outcomes.measure(objective)[:both]
    if objective == "points":
        gap = mean(difference, 2 * spread)
    else:
        halves = mean(difference, 4)
        gap = Estimate(mean=halves.mean / 2, standard_error=halves.standard_error / 2)
    return Evaluation(candidate=candidate, value=value, gap=gap, tied_with_best=gap.mean <= 2 * gap.standard_error)


def chance(hits: int, count: int) -> Estimate:
    """A probability from `hits` among `count` rollouts; where all agree the error is that of (hits + 1)/(count + 2)."""
    share = hits / count
    spread = share if 0 < hits < count else (hits + 1) / (count + 2)
    return Estimate(mean=share, standard_error=math.sqrt(spread * (1 - spread) / count))


def mean(values: Counts, spread: int) -> Estimate:
    """Mean of integers; where all are equal the error is as if one rollout in count + 2 were `spread` away."""
    count = len(values)
    total, squares = int(values.sum()), int((values * values).sum())
    variance = (squares - total * total / count) / max(1, count - 1)
    if variance <= 0:
        share = 1 / (count + 2)
        variance = spread * spread * share * (1 - share)
    return Estimate(mean=total / count, standard_error=math.sqrt(variance / count))
