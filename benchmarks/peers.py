"""The kernel against its C++ peer: the same rollouts in turns of a second, so that both meet the same machine."""

import argparse
import dataclasses
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import jax
import numpy as np

from benchmarks import peer, positions
from benchmarks.rollouts import work
from zank_kernel import engine as engines

SECONDS = 1.0  # that a turn takes at least

type Play = Callable[[], tuple[int, int]]  # plays for a while; moves and games of that


@dataclasses.dataclass(frozen=True, kw_only=True)
class Turn:
    """Useful moves and games per second of one turn."""

    moves: float
    games: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contest:
    """The turns of the kernel on some cores and of the peer on one, in pairs."""

    kernel: list[Turn]
    peer: list[Turn]
    lane_utilisation: float

    def ratios(self) -> list[float]:
        """The kernel's rate over the peer's in each pair of turns."""
        return [one.moves / other.moves for one, other in zip(self.kernel, self.peer, strict=True)]


def measure(preset: str, repeats: int, cache: Path) -> dict[str, Any]:
    """Both contests, on one core and on all, each in a process of its own."""
    cores = len(os.sched_getaffinity(0))
    contests = []
    for count in (1, cores):
        # XLA makes its threads for the cores that it finds at its start.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            contests.append(process.submit(contest, preset, count, repeats, cache).result())
    one, full = contests
    return {
        "ratio_per_core": statistics.median(one.ratios()),
        "ratio_all_cores": statistics.median(full.ratios()),
        "lane_utilisation": one.lane_utilisation,
        "cores": cores,
        "one_core": figures(one),
        "all_cores": figures(full),
    }


def contest(preset: str, cores: int, repeats: int, cache: Path) -> Contest:
    """Play rollouts from one deal in turns: the kernel on so many cores, the peer on one.

    On one core, time is processor time, so that what else runs there does not count.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    clock = time.process_time if cores == 1 else time.perf_counter
    engine = engines.Engine(workers=cores, cache_directory=cache)
    engine.warm_up()
    todo = work(engine, preset)
    count = len(todo.root)
    device_roots, device_worlds = jax.device_put((todo.roots, todo.worlds))

    def in_kernel() -> tuple[int, int]:
        before = engine.meter.moves
        engine.rollouts(todo.family, device_roots, device_worlds, todo.root, todo.world).result()
        return engine.meter.moves - before, count

    def in_peer() -> tuple[int, int]:
        results = peer.rollouts(todo.family, todo.roots, todo.worlds, todo.root, todo.world)
        return int(results.moves.sum(dtype=np.int64)), count

    in_peer()  # built before anything is measured
    turns = [(turn(in_kernel, clock), turn(in_peer, clock)) for _ in range(repeats)]
    engine.close()
    return Contest(
        kernel=[one for one, _ in turns],
        peer=[other for _, other in turns],
        lane_utilisation=engine.meter.moves / engine.meter.steps,
    )


def turn(play: Play, clock: Callable[[], float]) -> Turn:
    """Call `play` for SECONDS of `clock`."""
    moves = games = 0
    begin = clock()
    while (seconds := clock() - begin) < SECONDS:
        more_moves, more_games = play()
        moves += more_moves
        games += more_games
    return Turn(moves=moves / seconds, games=games / seconds)


def figures(contest: Contest) -> dict[str, Any]:
    """Median, lowest and highest of the ratios and rates of a contest."""
    values = {"ratio": contest.ratios()}
    for name, turns in (("kernel", contest.kernel), ("peer", contest.peer)):
        values[f"{name}_moves_per_second"] = [each.moves for each in turns]
        values[f"{name}_games_per_second"] = [each.games for each in turns]
    return {name: spread(each) for name, each in values.items()}


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, lowest and highest."""
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match", choices=positions.GAMES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.repeats, options.cache)))
