"""Rollout throughput: useful moves per second and lane utilisation, on one core and on all."""

import argparse
import dataclasses
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from benchmarks import positions
from benchmarks.programs import step_bytes
from zank_kernel import engine as engines

TASKS_PER_WORKER = 8 * engines.TASKS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """What `Engine.rollouts` takes, as NumPy arrays: rollouts from one deal, each of a table of worlds in turn."""

    family: str
    roots: Any
    worlds: Any
    root: npt.NDArray[np.int32]
    world: npt.NDArray[np.int32]


def work(engine: engines.Engine, preset: str) -> Work:
    """So much that every worker of `engine` is busy for a while."""
    family = positions.GAMES[preset].family
    tables = positions.dealt(preset, 1)
    count = TASKS_PER_WORKER * engine.workers
    return Work(
        family=family.name,
        roots=engines.padded(family.to_state(tables), engines.ROOTS),
        worlds=jax.tree.map(np.asarray, engine.worlds(family.name, family.knowledge(tables, [1]), 0)),
        root=np.zeros(count, np.int32),
        world=(np.arange(count) % engines.WORLDS).astype(np.int32),
    )


def measure(preset: str, cores: int, repeats: int, cache: Path) -> dict[str, float]:
    """Play rollouts from one deal on `cores` cores; medians over `repeats`."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    engine = engines.Engine(workers=cores, cache_directory=cache)
    engine.warm_up()
    todo = work(engine, preset)
    roots, worlds = jax.device_put((todo.roots, todo.worlds))
    rates, utilisation, seconds_per_call = [], [], []
    for _ in range(repeats):
        before = dataclasses.replace(engine.meter)
        begin = time.perf_counter()
        engine.rollouts(todo.family, roots, worlds, todo.root, todo.world).result()
        seconds = time.perf_counter() - begin
        moves = engine.meter.moves - before.moves
        rates.append(moves / seconds)
        utilisation.append(moves / (engine.meter.steps - before.steps))
        seconds_per_call.append((engine.meter.busy_seconds - before.busy_seconds) / (engine.meter.calls - before.calls))
    moves_per_rollout = engine.meter.moves / engine.meter.rollouts
    result = {
        "moves_per_second": statistics.median(rates),
        "moves_per_second_per_core": statistics.median(rates) / cores,
        "games_per_second": statistics.median(rates) / moves_per_rollout,
        "lane_utilisation": statistics.median(utilisation),
        "bytes_per_move": step_bytes(todo.family)[0] / statistics.median(utilisation),
        "seconds_per_call": statistics.median(seconds_per_call),
        "moves_per_rollout": moves_per_rollout,
    }
    engine.close()
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match", choices=positions.GAMES)
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.cores, options.repeats, options.cache)))
