"""Search: which outcome of the turn is best, on the same worlds for all, and what each move is worth.

Candidates are the outcomes of the turn that the moves to consider can lead to. They are rolled out in rounds of
sequential halving (Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits", 2013), all in the
same worlds, with the same cards to draw, so that gaps are measured in pairs.

Of many candidates the one that looks best is flattered. So leads over what the rollout policy would play count less the
less certain they are, as by a lower confidence bound (Jin, Yang, Wang, "Is pessimism provably efficient for offline
RL?", 2021). And two thirds of the rollouts choose: which outcomes are played on with, which is the best of a move, and
which move is the best. The last third, in worlds of its own, alone says what the chosen ones are worth.
"""

import copy
import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from zank_kernel import equity

type Objective = Literal["points", "win", "match"]
type Counts = npt.NDArray[np.int64]
type Part = tuple[Sequence[int], int, int]  # outcomes, and the worlds first … last - 1 that they are played in

ROUNDS: Final = 5
CHOOSING: Final = 2 / 3  # of a budget; the rest reports
CAUTION: Final = 0.75  # standard errors that a lead over what the policy would play is less worth
PRIOR_WORLDS: Final = 4  # worlds in which a lead is taken to have varied as leads do on average, besides those played
FINALISTS: Final = 4  # moves that half of the reporting rollouts are for; the other half is for all
REPORTING_WORLDS: Final = 1 << 30  # number of the first world that reports; those that choose come before
SLICE: Final = 16_384  # rollouts between two reports of progress


class Turn(Protocol):
    """The moves to consider, or positions gone through, and the outcomes of the turn that can be reached."""

    @property
    def moves(self) -> Sequence[tuple[int, ...]]:
        """Actions; those that lead to the same position together."""
        ...

    @property
    def reach(self) -> npt.NDArray[np.bool_]:
        """Which outcomes can be reached by which move, or from which position, bool [moves or positions, N]."""
        ...

    @property
    def complete(self) -> bool:
        """Whether these are all the outcomes there are."""
        ...

    def line(self, move: int, outcome: int) -> tuple[int, ...]:
        """The actions of a way to an outcome that begins with a move, or at a position, both by their index."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Results:
    """What became of rollouts, from the mover's view, one entry a world."""

    points: Counts  # int64 [N]
    score: Counts  # int64 [N]: 2 = won, 1 = tie, 0 = lost
    moves: Counts  # int64 [N]: moves to the end of the game, those of this turn included

    @property
    def count(self) -> int:
        """Rollouts played."""
        return len(self.points)


type Play = Callable[[Sequence[int], int, int, bool], Results]  # see `search`
type Begin = Callable[[Sequence[Part], bool], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measure:
    """What an objective ranks by, in whole numbers."""

    of: Callable[[Results], Counts]
    unit: int  # how many of these are one of what is reported
    spread: int  # how far apart two results can be


def measure(objective: Objective, spread: int, stakes: equity.Stakes | None) -> Measure:
    """The measure of an objective; `spread` is how many points apart two results can be.

    Raises ValueError where the match is the objective and there are no stakes.
    """
    match objective:
        case "points":
            return Measure(of=lambda results: results.points, unit=1, spread=spread)
        case "win":
            return Measure(of=lambda results: results.score, unit=2, spread=2)
        case "match":
            if stakes is None:
                raise ValueError("no score of a match, expected one")
            after = stakes.after
            return Measure(of=lambda results: after(results.points), unit=equity.SCALE, spread=stakes.spread)


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
    match: Estimate | None  # probability to win the match; None without a score of it
    moves: float  # mean moves to the end of the game


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One move's place in an answer."""

    action: int
    equivalents: tuple[int, ...]  # other actions that lead to the same position
    line: tuple[int, ...]  # the turn from this action on, to the best outcome that can be reached by it
    wins_at_once: bool
    wins_this_turn: bool  # by the line, whatever the hidden cards are
    value: Value | None  # of that outcome; None where no rollouts were spent
    gap: Estimate | None  # the best move's measure less this one's; None for the best itself
    tied_with_best: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """The moves ranked, best first, and what that cost."""

    evaluations: tuple[Evaluation, ...]
    forced: bool
    rollouts: int  # spent
    rounds_done: int
    outcomes: int  # of the turn, played out
    complete: bool  # whether these are all that the moves can lead to


@dataclasses.dataclass(frozen=True, kw_only=True)
class Passed:
    """A position that moves went through, by the best that could still be reached from it in that turn."""

    line: tuple[int, ...]  # the way there; empty where it is the position itself
    value: Value
    win: Estimate  # chance to win, a tie counting half


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss:
    """What a move gave away of what could be reached, by objective, on the same worlds; below 0 where it did better."""

    points: Estimate
    win: Estimate  # of the chance to win, a tie counting half
    match: Estimate | None  # in chance to win the match; None without a score of it


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement:
    """Moves played in a turn, from the mover's view."""

    passed: tuple[Passed, ...]  # before each move, and after the last
    losses: tuple[Loss, ...]  # of each move …
    loss: Loss  # … and of all of them
    rollouts: int  # spent
    outcomes: int  # of the turn, played out
    complete: bool  # whether these are all that could be reached


class Stopped(Exception):
    """The work was given up before it was complete."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Round:
    """One round of sequential halving: the best `candidates` play worlds `first` … `last` - 1."""

    candidates: int
    first: int
    last: int


def schedule(candidates: int, rollouts: int, kept: int = 0) -> tuple[Round, ...]:
    """Rounds for a number of candidates and a budget of rollouts in total, of which the rounds get their share.

    At most ROUNDS rounds of equal cost; each keeps about the same share of the candidates, a quarter to two thirds, the
    last two to four, and pays for `kept` further ones. A budget that does not reach every candidate is raised to one
    world.
    """
    count = min(ROUNDS, max(1, math.ceil(math.log2(candidates) / 2 + 0.5)))
    sizes = [max(min(2, candidates), math.ceil(candidates ** ((count - index) / count))) for index in range(count)]
    rounds: list[Round] = []
    first = 0
    left = int(rollouts * CHOOSING)
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


class Tally:
    """Results of outcomes; one that has played more worlds has played the others' too."""

    def __init__(self, candidates: int) -> None:
        self.results: list[list[Results]] = [[] for _ in range(candidates)]
        self.count = np.zeros((candidates,), np.int64)

    def add(self, candidates: Sequence[int], new: Results) -> None:
        """Results [candidates, worlds] in worlds that follow on those so far."""
        self.count[np.asarray(candidates)] += new.points.shape[-1]
        for row, candidate in enumerate(candidates):
            self.results[candidate].append(Results(points=new.points[row], score=new.score[row], moves=new.moves[row]))

    def of(self, candidate: int) -> Results:
        """A candidate's results."""
        parts = self.results[candidate]
        return Results(
            points=np.concatenate([part.points for part in parts]),
            score=np.concatenate([part.score for part in parts]),
            moves=np.concatenate([part.moves for part in parts]),
        )


class Choice(Tally):
    """Results that choose: outcome 0, the policy's own, has played every world, and the others are measured by it."""

    def __init__(self, candidates: int, measure: Measure) -> None:
        super().__init__(candidates)
        self._measure = measure
        # Sums.
        self.points = np.zeros((candidates,), np.int64)
        self.score = np.zeros((candidates,), np.int64)
        self.moves = np.zeros((candidates,), np.int64)
        self._lead = np.zeros((candidates,), np.int64)  # over outcome 0
        self._squares = np.zeros((candidates,), np.int64)  # of that

    def add(self, candidates: Sequence[int], new: Results) -> None:
        """Results [candidates, worlds] in worlds that follow on those so far; the first candidate is outcome 0."""
        super().add(candidates, new)
        chosen = np.asarray(candidates)
        self.points[chosen] += new.points.sum(axis=-1)
        self.score[chosen] += new.score.sum(axis=-1)
        self.moves[chosen] += new.moves.sum(axis=-1)
        measured = self._measure.of(new)
        lead = measured - measured[:1]
        self._lead[chosen] += lead.sum(axis=-1)
        self._squares[chosen] += (lead * lead).sum(axis=-1)

    def merits(self) -> npt.NDArray[np.float64]:
        """The lead of every outcome over outcome 0 less CAUTION standard errors, float64 [N]; 0 for itself.

        Those that have played equally many worlds can be compared.
        """
        lead = self._lead / self.count
        variance = np.maximum(self._squares / self.count - lead * lead, 0.0)
        _, group = np.unique(self.count, return_inverse=True)  # those that have played as many worlds
        sizes = np.bincount(group)
        sizes[group[0]] -= 1
        usual = np.bincount(group, variance) / np.maximum(1, sizes)
        variance = (self.count * variance + PRIOR_WORLDS * usual[group]) / (self.count + PRIOR_WORLDS)
        merits: npt.NDArray[np.float64] = lead - CAUTION * np.sqrt(variance / self.count)
        merits[0] = 0.0
        return merits


class Race:
    """A turn's outcomes, what the rollouts that choose and those that report say of them, and what follows."""

    def __init__(
        self, turn: Turn, made: Counts, objective: Objective, spread: int, stakes: equity.Stakes | None = None
    ) -> None:
        self.turn = turn
        self.made = made  # int64 [N]: moves made on the way to each outcome
        self.objective: Objective = objective
        self.spread = spread  # how many points apart two results can be; scales errors that cannot be measured
        self.stakes = stakes  # what results make of the match, if there is one
        self.measure = measure(objective, spread, stakes)
        self.of_move = [np.flatnonzero(row) for row in turn.reach]
        self.choosing = Choice(len(made), self.measure)
        self.reporting = Tally(len(made))

    def wins(self) -> npt.NDArray[np.bool_]:
        """Which outcomes end the game before anybody moves again, and win it, in whatever world; bool [N]."""
        tally = self.choosing
        won: npt.NDArray[np.bool_] = (tally.score == 2 * tally.count) & (tally.moves == self.made * tally.count)
        return won

    def places(self) -> Counts:
        """The place of every outcome, 0 = best, by the rollouts that choose; int64 [N].

        One that wins for certain is before all others, one that has come further before those that have not; then, of
        wins where winning is the objective, the fewest moves; then the merits, the other measure, the shorter games,
        the order in which the outcomes were found. Outcome 0 and those of moves to keep come as far as any, and so are
        preferred to better ones that were dropped.
        """
        tally = self.choosing
        second = tally.score if self.objective == "points" else tally.points
        wins = self.wins()
        nearest = np.where(wins, self.made, 0) if self.objective == "win" else np.zeros_like(self.made)
        # The last key counts first.
        # Candidates of one count have played the same worlds, so sums will do.
        order = np.lexsort((tally.moves, -second, -tally.merits(), -tally.count, nearest, ~wins))
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        return places

    def answer(self, rounds_done: int) -> Answer:
        """What the results so far say of the moves; as long as none report, by those that choose.

        The best move is the first by those that choose; the others follow by how far they are behind.
        """
        places = self.places()
        leading = self.leading(places)
        best = min(range(len(leading)), key=lambda move: (places[leading[move]], move))
        wins = self.wins()
        evaluations = [
            self.evaluation(move, outcome, bool(wins[outcome]), None if move == best else leading[best])
            for move, outcome in enumerate(leading)
        ]
        ranked = sorted(
            range(len(leading)),
            key=lambda move: (move != best, 0.0 if (gap := evaluations[move].gap) is None else gap.mean, move),
        )
        return Answer(
            evaluations=tuple(evaluations[move] for move in ranked),
            forced=False,
            rollouts=int(self.choosing.count.sum() + self.reporting.count.sum()),
            rounds_done=rounds_done,
            outcomes=len(self.made),
            complete=self.turn.complete,
        )

    def leading(self, places: Counts) -> list[int]:
        """The best outcome of each move."""
        return [least(places, outcomes) for outcomes in self.of_move]

    def said(self, outcome: int) -> Results:
        """What is reported of an outcome: until rollouts report, what chose it."""
        tally = self.reporting if self.reporting.count[outcome] else self.choosing
        return tally.of(outcome)

    def evaluation(self, move: int, outcome: int, wins: bool, best: int | None) -> Evaluation:
        """A move by the outcome that it should lead to; `best` is that of the best move, unless this is it."""
        line = self.turn.line(move, outcome)
        gap = None if best is None else self.gap(best, outcome)
        return Evaluation(
            action=self.turn.moves[move][0],
            equivalents=self.turn.moves[move][1:],
            line=line,
            wins_at_once=wins and len(line) == 1,
            wins_this_turn=wins,
            value=value(self.said(outcome), self.spread, self.stakes),
            gap=gap,
            tied_with_best=gap is None or gap.mean <= 2 * gap.standard_error,
        )

    def gap(self, best: int, other: int, by: Measure | None = None) -> Estimate:
        """How much better one outcome is than another by the objective or `by` another, where both played."""
        if best == other:
            return Estimate(mean=0.0, standard_error=0.0)  # nothing to estimate
        by = by or self.measure
        first, second = (by.of(self.said(outcome)) for outcome in (best, other))
        both = min(len(first), len(second))
        return mean(first[:both] - second[:both], 2 * by.spread, by.unit)

    def judgement(self) -> Judgement:
        """What the results say of the positions that moves went through, and of these moves."""
        leading = self.leading(self.places())
        points, score = measure("points", self.spread, None), measure("win", self.spread, None)
        match = None if self.stakes is None else measure("match", self.spread, self.stakes)

        def passed(position: int, outcome: int) -> Passed:
            results = self.said(outcome)
            return Passed(
                line=self.turn.line(position, outcome),
                value=value(results, self.spread, self.stakes),
                win=mean(results.score, score.spread, score.unit),
            )

        def lost(before: int, after: int) -> Loss:
            return Loss(
                points=self.gap(before, after, points),
                win=self.gap(before, after, score),
                match=None if match is None else self.gap(before, after, match),
            )

        return Judgement(
            passed=tuple(passed(position, outcome) for position, outcome in enumerate(leading)),
            losses=tuple(itertools.starmap(lost, itertools.pairwise(leading))),
            loss=lost(leading[0], leading[-1]),
            rollouts=int(self.choosing.count.sum() + self.reporting.count.sum()),
            outcomes=len(self.made),
            complete=self.turn.complete,
        )


def search(
    race: Race,
    rounds: Sequence[Round],
    play: Play,
    *,
    begin: Begin = lambda *_: None,
    keep: frozenset[int] = frozenset(),
    progress: Callable[[Answer], None] | None = None,
) -> Answer:
    """Rank the moves of a turn by playing the `rounds` of a schedule for its outcomes.

    `play(outcomes, first, last, required)` plays worlds `first` … `last` - 1 with these outcomes, as `required` in the
    first round and to report, and returns results [outcomes, worlds]; when it raises Stopped, the answer is that of the
    last complete round, and Stopped is raised where there is none. `begin` is told beforehand what will be asked of
    `play` where that is known, so that nobody waits for what comes in between. The best outcomes of the moves `keep`
    play in every round. `progress` is given the answer so far, after every round and now and then within.
    """
    done = choose(race, rounds, play, begin, keep, progress)
    report(race, play, begin, keep)
    return race.answer(done)


def judge(race: Race, rounds: Sequence[Round], play: Play, begin: Begin = lambda *_: None) -> Judgement:
    """Judge moves by what could be reached before and after each, on the same worlds; the rest is as for `search`."""
    every = frozenset(range(len(race.of_move)))
    choose(race, rounds, play, begin, every)
    report(race, play, begin, every)
    return race.judgement()


def choose(
    race: Race,
    rounds: Sequence[Round],
    play: Play,
    begin: Begin,
    keep: frozenset[int],
    progress: Callable[[Answer], None] | None = None,
) -> int:
    """Play rounds that choose (see `search`); returns how many were completed."""
    playing = list(range(len(race.made)))
    done = 0
    for number, step in enumerate(rounds, start=1):
        if number > 1:
            places, still = race.places(), np.asarray(playing)
            advancing = still[np.argsort(places[still])][: step.candidates].tolist()
            if 0 not in advancing:  # what the policy would play is departed from for what did better in as many worlds
                advancing.pop()
            kept = [least(places, np.intersect1d(still, race.of_move[move])) for move in keep]
            playing = sorted({0, *advancing, *kept})
        before = race.choosing if progress is None else copy.deepcopy(race.choosing)
        try:
            parts = slices(step, len(playing), whole=progress is None)
            for index, (first, last) in enumerate(parts):
                begin([(playing, *part) for part in parts[index : index + 2]], number == 1)
                race.choosing.add(playing, play(playing, first, last, number == 1))
                if progress is not None:
                    progress(race.answer(number if last == step.last else done))
        except Stopped:
            if done == 0:
                raise
            race.choosing = before
            break
        done = number
    return done


def report(race: Race, play: Play, begin: Begin, keep: frozenset[int]) -> None:
    """Play the best outcome of every move in worlds of their own: half as many rollouts as have chosen them.

    Half of these are for all moves alike, the others for the finalists and the moves `keep`.
    """
    places = race.places()
    leading = race.leading(places)
    everyone = sorted({*leading})
    finalists = sorted({*sorted(everyone, key=places.__getitem__)[:FINALISTS], *(leading[move] for move in keep)})
    budget = int(race.choosing.count.sum() * (1 - CHOOSING) / CHOOSING)
    middle, last = reporting_worlds(budget, len(everyone), len(finalists))
    parts = ((everyone, REPORTING_WORLDS, middle), (finalists, middle, last))
    begin(parts, True)
    for move, outcome in enumerate(leading):
        race.turn.line(move, outcome)  # found while the rollouts are played
    for outcomes, first, end in parts:
        race.reporting.add(outcomes, play(outcomes, first, end, True))


def reporting_worlds(budget: int, everyone: int, finalists: int) -> tuple[int, int]:
    """The worlds before which reporting ends for so many outcomes of all moves, and for those of the finalists."""
    middle = REPORTING_WORLDS + max(1, budget // 2 // everyone)
    return middle, middle + max(1, (budget - budget // 2) // finalists)


def least(places: Counts, outcomes: Counts) -> int:
    """Of some outcomes the one with the best place."""
    return int(outcomes[places[outcomes].argmin()])


def slices(step: Round, playing: int, *, whole: bool) -> list[tuple[int, int]]:
    """The worlds of a round, `first` and `last`, in parts of at most SLICE rollouts unless wanted as a whole."""
    worlds = step.last - step.first if whole else max(1, SLICE // playing)
    return [(first, min(first + worlds, step.last)) for first in range(step.first, step.last, worlds)]


def forced(turn: Turn, wins: npt.NDArray[np.bool_]) -> Answer:
    """The answer where there is no choice of a first move, without a value or rollouts; `wins` are outcomes that do."""
    line = turn.line(0, int(wins.argmax()))
    only = Evaluation(
        action=turn.moves[0][0],
        equivalents=turn.moves[0][1:],
        line=line,
        wins_at_once=bool(wins.any()) and len(line) == 1,
        wins_this_turn=bool(wins.any()),
        value=None,
        gap=None,
        tied_with_best=True,
    )
    return Answer(evaluations=(only,), forced=True, rollouts=0, rounds_done=0, outcomes=0, complete=turn.complete)


def value(results: Results, spread: int, stakes: equity.Stakes | None = None) -> Value:
    """What results say of the game and of the match; `spread` is how many points apart two of them can be."""
    count = results.count
    return Value(
        rollouts=count,
        win=chance(int((results.score == 2).sum()), count),
        tie=chance(int((results.score == 1).sum()), count),
        loss=chance(int((results.score == 0).sum()), count),
        points=mean(results.points, spread),
        match=None if stakes is None else mean(stakes.after(results.points), stakes.spread, equity.SCALE),
        moves=float(results.moves.sum() / count),
    )


def chance(hits: int, count: int) -> Estimate:
    """A probability from `hits` among `count` rollouts; where all agree the error is that of (hits + 1)/(count + 2)."""
    share = hits / count
    spread = share if 0 < hits < count else (hits + 1) / (count + 2)
    return Estimate(mean=share, standard_error=math.sqrt(spread * (1 - spread) / count))


def mean(values: Counts, spread: int, unit: int = 1) -> Estimate:
    """Mean of integers, of which `unit` make one of what is reported.

    Where all are equal the error is as if one rollout in count + 2 were `spread` away.
    """
    count = len(values)
    total, squares = int(values.sum()), int((values * values).sum())
    variance = (squares - total * total / count) / max(1, count - 1)
    if variance <= 0:
        share = 1 / (count + 2)
        variance = spread * spread * share * (1 - share)
    return Estimate(mean=total / count / unit, standard_error=math.sqrt(variance / count) / unit)
