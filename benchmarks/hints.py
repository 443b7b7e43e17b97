"""Latency of a hint in process: from the question to the answer, what of it is not rollouts, and how full they are.

Not rollouts is the time of a hint in which no worker is in a rollout call. In the rest workers idle while one waits for
another, lanes while a call plays its last games.
"""

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
    measured: dict[str, list[float]] = {name: [] for name in ("seconds", "not_rollouts", "idle", "lane_utilisation")}
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
        meter = engine.meter
        playing = meter.playing_seconds - before.playing_seconds
        measured["seconds"].append(elapsed)
        measured["not_rollouts"].append(elapsed - playing)
        measured["idle"].append(1 - (meter.busy_seconds - before.busy_seconds) / (engine.workers * playing))
        measured["lane_utilisation"].append((meter.moves - before.moves) / (meter.steps - before.steps))
    engine.close()
    figures = {"rollouts": rollouts, "positions": len(measured["seconds"]), "seconds_max": max(measured["seconds"])}
    for name, values in measured.items():
        figures |= {f"{name}_p50": statistics.median(values), f"{name}_p90": statistics.quantiles(values, n=10)[-1]}
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match", choices=positions.GAMES)
    parser.add_argument("--rollouts", type=int, default=HINT_ROLLOUTS)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.rollouts, options.count, options.cache)))
