"""A process that plays rollouts when asked, with whichever kernel its path has, and the one who asks.

Asked by a line of JSON, {"family": …, "seconds": …}, it plays for at least so many seconds of its clock and answers
with a line. It uses no more of the kernel than revisions from a55dff6 on have.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Self

ROOT: Final = Path(__file__).parents[1]
CALL: Final = 8_192  # rollouts between two looks at the clock, for each worker


@dataclasses.dataclass(frozen=True, kw_only=True)
class Turn:
    """What was played when asked for."""

    rollouts: int
    moves: int  # played in games
    seconds: float  # of the clock


class Player:
    """A process that plays with the kernel of a source tree; a context, at whose end the process ends.

    `workers` threads play. With `cores`, on the first so many cores only; on one core its clock is processor time, so
    that what else runs there does not count. `environment` is set for it on top of this process's. Raises RuntimeError
    where the process ends early; it does so, and says why, where its kernel is not the tree's.
    """

    def __init__(
        self,
        tree: Path,
        cache: Path,
        *,
        workers: int,
        cores: int | None = None,
        environment: Mapping[str, str] = {},
    ) -> None:
        kernel = tree / "kernel"
        command = [sys.executable, "-m", "benchmarks.player", str(kernel), "--cache", str(cache)]
        command += ["--workers", str(workers)]
        if cores is not None:
            command += ["--cores", str(cores)]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(kernel), str(ROOT)]),
                "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # several share a device
                **environment,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._kernel = kernel
        self.about: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ready(self) -> None:
        """Wait until everything is compiled; then `about` says what the process runs on."""
        self.about = self._heard()

    def play(self, family: str, seconds: float) -> Turn:
        """Play for at least so many seconds."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # that it has ended is found out as its answer is read
            self._process.stdin.write(json.dumps({"family": family, "seconds": seconds}) + "\n")
            self._process.stdin.flush()
        return Turn(**self._heard())

    def _heard(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the player with {self._kernel} ended with status {self._process.wait()}")
        said: dict[str, Any] = json.loads(line)
        return said


def main() -> None:
    """Answer requests until there are no more."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kernel", type=Path, help="where zank_kernel must lie")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--cores", type=int)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)  # before XLA makes its threads

    import jax

    import zank_kernel
    from benchmarks.deals import games
    from zank_kernel import engine as engines

    if not Path(zank_kernel.__file__).resolve().is_relative_to(options.kernel.resolve()):
        parser.exit(1, f"{zank_kernel.__file__} would be measured instead of {options.kernel}\n")
    engine = engines.Engine(workers=options.workers, cache_directory=options.cache)
    engine.warm_up()
    platform = jax.local_devices()[0].platform
    clock = time.process_time if platform == "cpu" and len(cores) == 1 else time.perf_counter
    count = CALL * options.workers
    given = {family: games(family) for family in engines.FAMILIES}
    roots = {family: jax.device_put(each.roots) for family, each in given.items()}
    worlds = {family: jax.device_put(each.worlds) for family, each in given.items()}
    about = {
        "platform": platform,
        "devices": len(engine.devices),
        "workers": engine.workers,
        "clock": "processor" if clock is time.process_time else "wall",
    }
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        family = request["family"]
        root, world = given[family].tasks(count)
        moves, rollouts, begin = engine.meter.moves, engine.meter.rollouts, clock()
        while (seconds := clock() - begin) < request["seconds"]:
            made: Any = engine.rollouts(family, roots[family], worlds[family], root, world)
            for future in (
                (made,) if isinstance(made, Future) else (call for _, call in made)
            ):  # earlier: one for each call
                future.result()
        turn = Turn(rollouts=engine.meter.rollouts - rollouts, moves=engine.meter.moves - moves, seconds=seconds)
        print(json.dumps(dataclasses.asdict(turn)), flush=True)
    engine.close()


if __name__ == "__main__":
    main()
