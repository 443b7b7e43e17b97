"""Latency of a hint in process: from the question to the answer, and the share of it spent in rollouts."""

import argparse
import dataclasses
import json
import statistics
import time
from pathlib import Path

from benchmarks import positions
from zank_kernel import engine as engines
from zank_kernel.defaults import HINT_ROLLOUTS


def measure(preset: str, rollouts: int, count: int, cache: Path) -> dict[str, float]:
    """Answer questions about `count` positions each from the opening, the middle and late in games."""
    game = positions.GAMES[preset]
    engine = engines.Engine(cache_directory=cache)
    engine.warm_up()
    stages = (1, game.length // 3, 2 * game.length // 3)
    tables = [table for moves in stages for table in positions.played(preset, count, moves)]
    seconds, shares, utilisation = [], [], []
    for index, table in enumerate(tables):
        question = engines.Question(
            family=game.family.name, table=table, rollouts=rollouts, seed=index, objective="points"
        )
        before = dataclasses.replace(engine.meter)
        begin = time.perf_counter()
        answer = engine.answer(question)
        elapsed = time.perf_counter() - begin
        if answer.forced:
            continue
        seconds.append(elapsed)
        shares.append((engine.meter.busy_seconds - before.busy_seconds) / engine.workers / elapsed)
        utilisation.append((engine.meter.moves - before.moves) / (engine.meter.steps - before.steps))
    engine.close()
    ordered = sorted(seconds)
    return {
        "rollouts": rollouts,
        "positions": len(seconds),
        "seconds_p50": statistics.median(seconds),
        "seconds_p90": ordered[int(0.9 * (len(ordered) - 1))],
        "seconds_max": ordered[-1],
        "share_in_rollouts": statistics.median(shares),
        "lane_utilisation": statistics.median(utilisation),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match", choices=positions.GAMES)
    parser.add_argument("--rollouts", type=int, default=HINT_ROLLOUTS)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.rollouts, options.count, options.cache)))
