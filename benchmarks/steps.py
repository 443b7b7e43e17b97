"""The bare step of each family: one move in every lane, the policy's choice included, on one core."""

import argparse
import json
import os
import time
from typing import Any

import jax
import numpy as np

from benchmarks import positions
from zank_kernel import engine

STEPS = 100  # from the deal on: no game is over so soon


def measure(lanes: int, repeats: int) -> dict[str, float]:
    """Nanoseconds a lane and step by preset: the best of `repeats`, for what slows a step down is other work."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    figures: dict[str, float] = {}
    for preset, game in positions.GAMES.items():
        state = game.started(game.presets[preset], lanes)

        def steps(lanes: Any, step: Any = game.family.step) -> Any:
            return jax.lax.fori_loop(0, STEPS, lambda _, lanes: step(lanes), lanes)

        run = jax.jit(steps, donate_argnums=0).lower(state).compile(compiler_options=engine.CPU_OPTIONS)
        seconds = []
        for _ in range(repeats):
            lanes_now = jax.block_until_ready(jax.device_put(state))
            begin = time.perf_counter()
            jax.block_until_ready(run(lanes_now))
            seconds.append(time.perf_counter() - begin)
        figures[preset] = float(np.min(seconds)) / STEPS / lanes * 1e9
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", type=int, default=engine.LANES)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    print(json.dumps(measure(options.lanes, options.repeats), indent=2))
