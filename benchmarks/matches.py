"""Play between two ways of searching, whole turns and single moves, at equal rollouts: paired deals, both sides.

Both see what a player can see, and search before every move that is not forced. With --lines a player plays the line to
the outcome of its best move to its end, for nothing new comes to light before: so whole turns are searched less often.
"""

import argparse
import dataclasses
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np

from benchmarks.positions import GAMES, Watched, known_bank, watched
from zank_kernel import bank, malice
from zank_kernel import engine as engines
from zank_kernel.host import leaf
from zank_kernel.malice import play as malice_play
from zank_kernel.malice.table import from_state, masked

LONGEST: Final = 4_000  # moves of a game that are played; more were never seen
SINGLE: Final = 0  # instead of outcomes of a turn: single moves, each finished by the rollout policy
POLICY: Final = -1  # what the rollout policy would play, without a search


@dataclasses.dataclass
class MaliceGame:
    """A game of Spite & Malice, played move by move."""

    rules: malice.Rules
    state: malice.State

    @classmethod
    def deal(cls, rules: malice.Rules, seed: int) -> "MaliceGame":
        state = malice.FAMILY.to_state([GAMES[rules.preset].dealt(rules, seed)])
        return cls(rules, dataclasses.replace(state, key=leaf(np.asarray([[seed], [~seed & 0xFFFFFFFF]], np.uint32))))

    def known(self) -> malice.Table:
        """What the player to move knows. Hands are written down anew without gaps, so that actions name their slots."""
        full = from_state(self.state, 0, self.rules)
        self.state = dataclasses.replace(self.state, hand=malice.FAMILY.to_state([full]).hand)
        return masked(full)

    def play(self, action: int) -> None:
        """Make a move and draw what is due after it."""
        self.state = jax.tree.map(np.asarray, malice_after(self.state, leaf(np.asarray([action], np.int32))))


@jax.jit
def malice_after(state: malice.State, action: jax.Array) -> malice.State:
    """A move and the cards drawn after it."""
    return malice_play.draw(malice_play.play(state, action))


@dataclasses.dataclass
class BankGame:
    """A game of Russian Bank, played move by move."""

    rules: bank.Rules
    games: Watched
    shifts: tuple[int, ...] = ()

    @classmethod
    def deal(cls, rules: bank.Rules, seed: int) -> "BankGame":
        return cls(rules, watched(bank.FAMILY.to_state([GAMES[rules.preset].dealt(rules, seed)])))

    @property
    def state(self) -> bank.State:
        return self.games.state

    def known(self) -> bank.Table:
        """What both players know."""
        return dataclasses.replace(known_bank(self.games, 0, self.rules), shifts=self.shifts)

    def play(self, action: int) -> None:
        """Make a move."""
        source, destination = divmod(action, bank.play.DESTINATIONS)
        within = 2 <= source < bank.play.SOURCES and 1 <= destination <= bank.state.TABLEAU
        self.shifts = (*self.shifts, action) if within else ()
        self.games = jax.tree.map(np.asarray, bank_after(self.games, leaf(np.asarray([action], np.int32))))


@jax.jit
def bank_after(games: Watched, action: jax.Array) -> Watched:
    """A move."""
    return games.after(bank.FAMILY.play(games.state, action))


CHOOSE: Final = {family.name: jax.jit(family.choose) for family in (malice.FAMILY, bank.FAMILY)}
DEALS: Final[dict[str, Callable[[Any, int], Any]]] = {"malice": MaliceGame.deal, "bank": BankGame.deal}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Conditions:
    """What is played, and how."""

    preset: str
    rollouts: int  # of a search
    outcomes: tuple[int, int]  # of a turn that are looked at by either way of searching; SINGLE, or POLICY for none
    lines: bool  # whether lines are played to their end


def play_game(engine: engines.Engine, conditions: Conditions, seed: int, outcomes: tuple[int, int]) -> int:
    """Points of player 0 in a game whose players look at so many outcomes of a turn."""
    preset = conditions.preset
    family, rules = GAMES[preset].family, GAMES[preset].presets[preset]
    game = DEALS[family.name](rules, seed)
    objective: Any = "win" if preset == "malice-classic" else "points"
    moves = 0
    while not game.state.ending[0] and moves < LONGEST:
        known = game.known()
        if outcomes[known.mover] == POLICY:
            game.play(int(CHOOSE[family.name](game.state)[0]))
            moves += 1
            continue
        question = engines.Question(
            family=family.name,
            table=known,
            rollouts=conditions.rollouts,
            seed=seed * LONGEST + moves,
            objective=objective,
            outcomes=outcomes[known.mover],
        )
        line = engine.answer(question).evaluations[0].line
        for action in line if conditions.lines else line[:1]:
            game.play(action)
            moves += 1
    return int(game.state.points[0])


def measure(conditions: Conditions, deals: Sequence[int], cache: Path, kept: Path | None) -> dict[str, Any]:
    """Mean points a game of the first way of searching against the second, over these deals.

    Every pair is written to the file `kept` as it is done, and pairs that are there already are not played again.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    engine = engines.Engine(workers=1, cache_directory=cache)
    engine.warm_up()
    about: dict[str, Any] = dataclasses.asdict(conditions) | {"outcomes": [*conditions.outcomes]}  # as JSON has it
    results = {} if kept is None or not kept.exists() else done_before(kept, about)
    begin = time.perf_counter()
    for seed in deals:
        if seed in results:
            continue
        first = play_game(engine, conditions, seed, conditions.outcomes)
        second = -play_game(engine, conditions, seed, conditions.outcomes[::-1])
        results[seed] = (first, second)
        if kept is not None:
            with kept.open("a") as file:
                file.write(json.dumps({**about, "deal": seed, "points": results[seed]}) + "\n")
        if len(results) % 10 == 0:
            print(f"{time.perf_counter() - begin:.0f} s: {summary(results)}", file=sys.stderr, flush=True)
    engine.close()
    return about | summary({seed: results[seed] for seed in deals})


def done_before(kept: Path, about: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """The pairs in a file that were played in this way, by deal."""
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    return {line["deal"]: (line["points"][0], line["points"][1]) for line in lines if about.items() <= line.items()}


def summary(results: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
    """What the first way of searching got in both games of every deal."""
    means = [statistics.mean(pair) for pair in results.values()]
    games = [points for pair in results.values() for points in pair]
    return {
        "pairs": len(means),
        "points": statistics.mean(means),
        "standard_error": statistics.stdev(means) / len(means) ** 0.5 if len(means) > 1 else None,
        "won": sum(points > 0 for points in games),
        "tied": sum(points == 0 for points in games),
        "lost": sum(points < 0 for points in games),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="malice-classic", choices=GAMES)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first deal")
    parser.add_argument("--step", type=int, default=1, help="from one deal to the next, to share them out")
    parser.add_argument("--rollouts", type=int, default=1_024)
    parser.add_argument(
        "--outcomes", type=int, nargs=2, default=(engines.ROOTS, SINGLE), help="0 = single moves, -1 = the policy"
    )
    parser.add_argument("--lines", action="store_true", help="lines are played to their end")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--kept", type=Path, help="a file of pairs played so far, to go on with")
    options = parser.parse_args()
    conditions = Conditions(
        preset=options.preset,
        rollouts=options.rollouts,
        outcomes=(options.outcomes[0], options.outcomes[1]),
        lines=options.lines,
    )
    deals = range(options.first, options.first + options.step * options.pairs, options.step)
    print(json.dumps(measure(conditions, deals, options.cache, options.kept), indent=2))
