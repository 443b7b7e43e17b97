"""Games between two ways of searching, at equal rollouts: paired deals, each played from both sides."""

import argparse
import dataclasses
import json
import os
import statistics
from pathlib import Path
from typing import Any

import jax
import numpy as np

from zank_kernel import engine as engines
from zank_kernel import malice
from zank_kernel.malice import play
from zank_kernel.malice.deal import dealt
from zank_kernel.malice.table import from_state, masked

LONGEST = 3_000  # moves of a game that are played; more were never seen


@jax.jit
def after(state: malice.State, action: jax.Array) -> malice.State:
    """A move and the cards drawn after it."""
    return play.draw(play.play(state, action))


def game(engine: engines.Engine, rules: malice.Rules, seed: int, rollouts: int, outcomes: tuple[int, int]) -> int:
    """Points of player 0 in a game whose players look at so many outcomes of a turn."""
    state: Any = malice.FAMILY.to_state([dealt(rules, seed)])
    state = dataclasses.replace(state, key=np.asarray([[seed], [~seed & 0xFFFFFFFF]], np.uint32))
    for number in range(LONGEST):
        full = from_state(state, 0, rules)
        # Hands are written down anew without gaps, so that actions name the same slots.
        state = dataclasses.replace(malice.FAMILY.to_state([full]), key=state.key, drawn=state.drawn)
        question = engines.Question(
            family="malice",
            table=masked(full),
            rollouts=rollouts,
            seed=seed * LONGEST + number,
            objective="points" if rules.scored else "win",
            outcomes=outcomes[full.mover],
        )
        action = np.asarray([engine.answer(question).evaluations[0].action], np.int32)
        state = jax.tree.map(np.asarray, after(state, action))
        if state.ending[0]:
            break
    return int(state.points[0])


def measure(preset: str, pairs: int, first: int, rollouts: int, outcomes: tuple[int, int], cache: Path) -> Any:
    """Mean points a game of the first way of searching against the second, over deals `first` and on."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    engine = engines.Engine(workers=1, cache_directory=cache)
    engine.warm_up()
    rules = malice.PRESETS[preset]
    results = []
    for seed in range(first, first + pairs):
        results += [
            game(engine, rules, seed, rollouts, outcomes),
            -game(engine, rules, seed, rollouts, outcomes[::-1]),
        ]
    engine.close()
    means = [statistics.mean(pair) for pair in zip(results[::2], results[1::2], strict=True)]
    return {
        "points": statistics.mean(means),
        "standard_error": statistics.stdev(means) / len(means) ** 0.5,
        "won": sum(points > 0 for points in results),
        "tied": sum(points == 0 for points in results),
        "lost": sum(points < 0 for points in results),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-classic", choices=malice.PRESETS)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first deal")
    parser.add_argument("--rollouts", type=int, default=1_024)
    parser.add_argument("--outcomes", type=int, nargs=2, default=(engines.ROOTS, 0), help="0 = single moves")
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    one, other = options.outcomes
    print(
        json.dumps(
            measure(options.preset, options.pairs, options.first, options.rollouts, (one, other), options.cache),
            indent=2,
        )
    )
