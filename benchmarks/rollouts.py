"""Rollout throughput: useful moves per second and lane utilisation, on one core and on all."""

import argparse
import dataclasses
import json
import os
import statistics
import time
from pathlib import Path

import jax
import numpy as np

from benchmarks import positions
from zank_kernel import engine as engines
from zank_kernel import malice
from zank_kernel.malice.table import masked

TASKS_PER_WORKER = 8 * engines.TASKS


def measure(preset: str, cores: int, repeats: int, cache: Path) -> dict[str, float]:
    """Play rollouts from one deal, each table of worlds over and over, on `cores` cores; medians over `repeats`."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    engine = engines.Engine(workers=cores, cache_directory=cache)
    engine.warm_up()
    tables = [masked(table) for table in positions.deals(preset, 1)]
    roots = jax.device_put(engines.padded(malice.FAMILY.to_state(tables), engines.ROOTS))
    count = TASKS_PER_WORKER * cores
    rates, utilisation, seconds_per_call = [], [], []
    worlds = engine.worlds("malice", malice.FAMILY.knowledge(tables, [1]), 0)
    root = np.zeros(count, np.int32)
    world = (np.arange(count) % engines.WORLDS).astype(np.int32)
    for _ in range(repeats):
        before = dataclasses.replace(engine.meter)
        begin = time.perf_counter()
        engine.rollouts("malice", roots, worlds, root, world).result()
        seconds = time.perf_counter() - begin
        moves = engine.meter.moves - before.moves
        rates.append(moves / seconds)
        utilisation.append(moves / (engine.meter.steps - before.steps))
        seconds_per_call.append((engine.meter.busy_seconds - before.busy_seconds) / (engine.meter.calls - before.calls))
    rollouts = engine.meter.rollouts
    result = {
        "moves_per_second": statistics.median(rates),
        "moves_per_second_per_core": statistics.median(rates) / cores,
        "lane_utilisation": statistics.median(utilisation),
        "seconds_per_call": statistics.median(seconds_per_call),
        "moves_per_rollout": engine.meter.moves / rollouts,
    }
    engine.close()
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match")
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.cores, options.repeats, options.cache)))
