"""Where the time of a step goes, by HLO fusion: the step by itself, so that each of its loops is called and timed.

Within rollouts XLA compiles the loop of steps into one function (`zank_kernel.lanes.put` says when it does not). There
the same loops stand one after the other, and what a call of one costs falls away: the least time of any is taken for
that and subtracted.
"""

import argparse
import collections
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Final

import jax

from benchmarks.positions import GAMES
from zank_kernel import engine

STEPS: Final = 400
SHOWN: Final = 12
OPERATION: Final = re.compile(r"\s*(?:ROOT )?%?([\w.\-]+) = (\S+?)(?:\{[^}]*\})? .*?op_name=\"([^\"]*)\"")


def measure(preset: str, lanes: int) -> dict[str, Any]:
    """Nanoseconds a lane and step of each loop of a step, the longest first, and of all: the least of STEPS each."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    game = GAMES[preset]
    state: Any = game.family.to_state([game.dealt(game.presets[preset], seed) for seed in range(lanes)])
    step = jax.jit(game.family.step, donate_argnums=0).lower(state).compile(compiler_options=engine.CPU_OPTIONS)
    operations = {
        found[1]: (found[2], found[3].split("/", 1)[-1])
        for line in str(step.as_text()).splitlines()
        if (found := OPERATION.match(line))
    }
    now = jax.block_until_ready(step(jax.device_put(state)))
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level = 3, 0
    with tempfile.TemporaryDirectory() as directory:
        with jax.profiler.trace(directory, profiler_options=options):
            for _ in range(STEPS):
                now = step(now)
            jax.block_until_ready(now)
        (trace,) = Path(directory).rglob("*.xplane.pb")
        planes = list(jax.profiler.ProfileData.from_file(str(trace)).planes)
        spent: dict[str, list[float]] = collections.defaultdict(list)
        for plane in planes:
            for line in plane.lines:
                for event in line.events:
                    if event.name in operations:
                        spent[event.name].append(event.duration_ns)
    least = {name: min(times) for name, times in spent.items() if len(times) >= STEPS // 2}
    call = min(least.values())
    loops = sorted(((time - call) / lanes, name) for name, time in least.items())[::-1]
    return {
        "preset": preset,
        "lanes": lanes,
        "loops": len(loops),
        "nanoseconds_in_all": sum(time for time, _ in loops),
        "longest": [
            {"nanoseconds": round(time, 3), "shape": operations[name][0], "operation": operations[name][1]}
            for time, name in loops[:SHOWN]
        ],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match", choices=GAMES)
    parser.add_argument("--lanes", type=int, default=engine.LANES)
    given = parser.parse_args()
    print(json.dumps(measure(given.preset, given.lanes), indent=1))
