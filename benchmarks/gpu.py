"""What one accelerator makes of the kernel: correct first, then how fast, and what holds it back.

It runs from the source tree with JAX and NumPy alone, without a network, in a fixed time; on a CPU with smaller sizes.
Programs compile in the background; what is not ready when its section's time is over is left out, and said so.
"""

import argparse
import dataclasses
import itertools
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np

from benchmarks import equality, plot, programs
from benchmarks.deals import PRESETS, games, known
from benchmarks.equality import Check
from benchmarks.programs import Compiled, Played, Rollouts
from zank_kernel import engine as engines
from zank_kernel import rollout
from zank_kernel.defaults import HINT_ROLLOUTS

OUT: Final = Path(__file__).parent / "out"
SECONDS: Final = 200.0  # that everything may take
REPEATS: Final = 3  # calls that are timed
# When each section is to be over, as a share of all the time.
DEADLINES: Final[Mapping[str, float]] = {
    "correctness": 0.42,
    "throughput": 0.66,
    "refill": 0.78,
    "limits": 0.88,
    "hints": 0.97,
}
NEAR: Final = 1.5  # a step that takes less than so many times as long in many more lanes waits for launches …
FULL: Final = 0.5  # … and one that moves more than this share of what a copy moves is bound by bandwidth


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is measured."""

    lanes: tuple[int, ...]
    tasks: int  # for each lane
    intervals: tuple[int, ...]  # REFILL_INTERVAL
    steps: int  # bare steps of one call
    copied: int  # bytes of the array that is copied
    checked: int  # rollouts
    questions: int  # asked of both engines, in each family …
    budget: int  # … with so many rollouts each
    hints: int  # timed, in each family …
    hint: int  # … with so many rollouts each


SIZES: Final[Mapping[str, Sizes]] = {
    "tiny": Sizes(
        lanes=(16, 32),
        tasks=8,
        intervals=(8, 16),
        steps=16,
        copied=1 << 22,
        checked=256,
        questions=1,
        budget=256,
        hints=2,
        hint=256,
    ),
    "cpu": Sizes(
        lanes=(32, 128, 512),
        tasks=8,
        intervals=(8, 16, 32, 64),
        steps=512,
        copied=1 << 28,
        checked=4_096,
        questions=4,
        budget=2_048,
        hints=12,
        hint=HINT_ROLLOUTS,
    ),
    "gpu": Sizes(
        lanes=(1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576),
        tasks=8,
        intervals=(8, 16, 32, 64),
        steps=512,
        copied=1 << 30,
        checked=16_384,
        questions=6,
        budget=4_096,
        hints=24,
        hint=HINT_ROLLOUTS,
    ),
}


class Report:
    """The table as it is printed, and the figures as they are written: after every section, whatever comes next."""

    def __init__(self, out: Path, seconds: float) -> None:
        self.figures: dict[str, Any] = {"checks": [], "left_out": [], "failed": []}
        self._out = out
        self._begin = time.perf_counter()
        self._seconds = seconds

    def row(self, name: str, text: str) -> None:
        """Print one line of the table at once."""
        print(f"{name:<34}{text}", flush=True)

    def check(self, check: Check) -> None:
        """Note a check and how it came out."""
        self.figures["checks"].append({**dataclasses.asdict(check), "passed": check.passed})
        said = f"{check.compared:,} equal" if check.passed else f"DIFFERENT: {check.different:,} of {check.compared:,}"
        self.row(f"  {check.name}", f"{said} {check.first}".rstrip())

    def leave_out(self, what: str, why: str) -> None:
        """Note what was not measured."""
        self.figures["left_out"].append(f"{what}: {why}")
        self.row(f"  {what}", f"left out: {why}")

    def fail(self, what: str, why: str) -> None:
        """Note what could not be done at all."""
        self.figures["failed"].append(f"{what}: {why}")
        self.row(f"  {what}", f"FAILED: {why}")

    @property
    def passed(self) -> bool:
        """Whether every check passed, some were made, and nothing failed."""
        checks = self.figures["checks"]
        return bool(checks) and all(check["passed"] for check in checks) and not self.figures["failed"]

    def left(self, section: str) -> float:
        """Seconds until a section is to be over."""
        return self._begin + DEADLINES[section] * self._seconds - time.perf_counter()

    def write(self) -> None:
        """Write all figures so far."""
        self.figures["seconds"] = time.perf_counter() - self._begin
        self._out.mkdir(parents=True, exist_ok=True)
        (self._out / "gpu.json").write_text(json.dumps(self.figures, indent=2) + "\n")

    def draw(self) -> None:
        """Draw throughput over lanes."""
        series: dict[str, list[tuple[float, float]]] = {}
        for row in self.figures.get("throughput", []):
            series.setdefault(row["family"], []).append((row["lanes"], row["moves_per_second"]))
        if series:
            title = f"Rollouts on {self.figures['device']}"
            plot.write(self._out / "gpu.svg", title, "lanes", "useful moves per second", series)


class Bench:
    """What the sections share: sizes, the device, its engine, the CPU's engine as reference, and the report.

    An engine that has no programs yet is warmed up in the background.
    """

    def __init__(self, sizes: Sizes, report: Report, engine: engines.Engine, reference: engines.Engine) -> None:
        self.sizes: Final = sizes
        self.report: Final = report
        self.engine: Final = engine
        self.reference: Final = reference
        self.device: Final = engine.devices[0]
        self._idle = threading.Semaphore(len(os.sched_getaffinity(0)))
        self.put_off = False  # the checks
        self.warm: Final = [
            self.later(each.warm_up) for each in dict.fromkeys((engine, reference)) if not each.programs
        ]
        self.games: Final = {name: games(name, reference.devices[0]) for name in engines.FAMILIES}
        self.rollouts: Final = {
            (name, lanes): self.compiling(programs.lowered_rollouts(name, lanes, sizes.tasks * lanes, self.device))
            for name in engines.FAMILIES
            for lanes in sizes.lanes
        }

    def later[Result](self, work: Callable[[], Result]) -> "Future[Result]":
        """Do something in a thread, as soon as a core is free; the program can end before it is done."""
        future: Future[Result] = Future()

        def run() -> None:
            with self._idle:
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future

    def compiling(self, lowered: jax.stages.Lowered) -> Future[Compiled]:
        """Compile a program in the background."""
        return self.later(lambda: programs.compiled(self.device, lowered))

    def ready[Key](
        self, section: str, compiling: "Mapping[Key, Future[Compiled]]", name: Callable[[Key], str]
    ) -> dict[Key, Compiled]:
        """The programs that compile within half of the section's time; the others are left out."""
        wait(compiling.values(), timeout=max(0.0, self.report.left(section) / 2))
        done: dict[Key, Compiled] = {}
        for key, future in compiling.items():
            if not future.done():
                self.report.leave_out(name(key), "not compiled in time")
            elif error := future.exception():
                self.report.fail(name(key), summary(error))
            else:
                done[key] = future.result()
        return done

    def warmed(self, section: str) -> bool:
        """Wait for the engines until a section is to be over; whether they are warm."""
        wait(self.warm, timeout=max(0.0, self.report.left(section)))
        return all(future.done() and future.exception() is None for future in self.warm)

    def expected(self, family: str) -> rollout.Results | None:
        """What becomes of each world's game [WORLDS] by the reference; None where it is not warm yet."""
        if not all(future.done() and future.exception() is None for future in self.warm):
            return None
        return equality.played(self.reference, self.games[family], engines.WORLDS)


def correctness(bench: Bench, section: str = "correctness") -> None:
    """What the device says, against what the CPU says; put off where the engines are not warm yet."""
    sizes, report = bench.sizes, bench.report
    if not bench.warmed(section):
        errors = [error for future in bench.warm if future.done() and (error := future.exception())]
        if errors or section != "correctness":
            report.fail("correctness", summary(errors[0]) if errors else "engines not compiled in time")
        else:
            bench.put_off = True
            report.row("  put off", "engines not compiled yet")
        return
    bench.put_off = False
    for name, engine in {"engine": bench.engine, "reference": bench.reference}.items():
        seconds = {key: program.compile_seconds for key, program in engine.programs.items()}
        report.figures[f"compile_seconds_{name}"] = seconds
        again = " (the engine itself)" if name == "reference" and engine is bench.engine else ""
        report.row(f"  {name}", f"{engine.devices[0].device_kind}, compiled in {sum(seconds.values()):.1f} s{again}")
    checks = equality.checks(
        bench.engine,
        bench.reference,
        rollouts=sizes.checked,
        questions=sizes.questions,
        budget=sizes.budget,
    )
    for name, check in checks.items():
        if report.left(section) < 0:
            report.leave_out(name, "no time")
        else:
            report.check(check())


def throughput(bench: Bench) -> None:
    """Rollouts over lane counts."""
    report = bench.report
    rows: list[dict[str, Any]] = report.figures.setdefault("throughput", [])

    def name(key: tuple[str, int]) -> str:
        return f"{key[0]}, {key[1]:,} lanes"

    ready = bench.ready("throughput", bench.rollouts, name)
    expected: dict[str, rollout.Results] = {}
    seconds = dict.fromkeys(engines.FAMILIES, 0.0)
    for lanes, family in itertools.product(bench.sizes.lanes, engines.FAMILIES):
        key = (family, lanes)
        if key not in ready:
            continue
        # A call of the next size takes four times as long at most.
        if report.left("throughput") < 4 * seconds[family] * (1 + REPEATS):
            report.leave_out(name(key), "no time")
            continue
        played = timed(bench, "throughput", family, lanes, ready[key], name(key))
        if not played:
            continue
        seconds[family] = max(each.seconds for each in played)
        row: dict[str, Any] = {"family": family, "lanes": lanes, **figures(played, lanes, ready[key])}
        rows.append(row)
        report.row(
            f"  {name(key)}",
            f"{row['moves_per_second'] / 1e6:9.2f} M moves/s, utilisation {row['lane_utilisation']:.2f}, "
            f"{row['seconds_per_call']:.4f} s a call, compiled in {row['compile_seconds']:.1f} s",
        )
        # Games come round with the worlds: each is that of the reference, or at least of fewer lanes.
        results = played[-1].results
        if family not in expected and (wanted := bench.expected(family) or whole_round(results)):
            expected[family] = wanted
        if family in expected:
            again = jax.tree.map(lambda leaf, like: np.resize(leaf, like.shape), expected[family], results)
            report.check(equality.compared(name(key), results, again))


def whole_round(results: rollout.Results) -> rollout.Results | None:
    """Results of the first game of every world, if all were played."""
    if len(results.moves) < engines.WORLDS:
        return None
    first: rollout.Results = jax.tree.map(lambda leaf: leaf[: engines.WORLDS], results)
    return first


def refill(bench: Bench) -> None:
    """Rollouts over REFILL_INTERVAL, in the number of lanes that was best."""
    report, sizes = bench.report, bench.sizes
    rows: list[dict[str, Any]] = report.figures.setdefault("refill", [])
    lanes_of = {family: best["lanes"] for family, best in fastest(report).items()}

    def name(key: tuple[str, int]) -> str:
        return f"{key[0]}, every {key[1]} steps"

    compiling = {
        (family, interval): bench.rollouts[family, lanes]
        if interval == rollout.REFILL_INTERVAL
        else bench.compiling(programs.lowered_rollouts(family, lanes, sizes.tasks * lanes, bench.device, interval))
        for family, lanes in lanes_of.items()
        for interval in sizes.intervals
    }
    for (family, interval), program in bench.ready("refill", compiling, name).items():
        lanes = lanes_of[family]
        if report.left("refill") < (1 + REPEATS) * fastest(report)[family]["seconds_per_call"]:
            report.leave_out(name((family, interval)), "no time")
            continue
        played = timed(bench, "refill", family, lanes, program, name((family, interval)))
        if played:
            row: dict[str, Any] = {
                "family": family,
                "lanes": lanes,
                "interval": interval,
                **figures(played, lanes, program),
            }
            rows.append(row)
            report.row(
                f"  {name((family, interval))}",
                f"{row['moves_per_second'] / 1e6:9.2f} M moves/s, utilisation {row['lane_utilisation']:.2f}, "
                f"{lanes:,} lanes",
            )


def limits(bench: Bench) -> None:
    """Bytes, kernels and seconds of a bare step, in the fewest lanes and in the number that was best."""
    report, sizes = bench.report, bench.sizes
    rows: list[dict[str, Any]] = report.figures.setdefault("limits", [])
    bandwidth = programs.copy_rate(bench.device, sizes.copied, REPEATS)
    report.figures["copy_bytes_per_second"] = bandwidth
    report.row("  copy", f"{bandwidth / 1e9:9.2f} GB/s read and written, {sizes.copied >> 20} MiB")
    best = fastest(report)
    compiling = {
        (family, lanes): bench.compiling(programs.lowered_steps(family, lanes, sizes.steps, bench.device))
        for family in best
        for lanes in sorted({sizes.lanes[0], best[family]["lanes"]})
    }

    def name(key: tuple[str, int]) -> str:
        return f"{key[0]}, {key[1]:,} lanes"

    first: dict[str, float] = {}  # seconds of a step in the fewest lanes, by family
    for (family, lanes), program in bench.ready("limits", compiling, name).items():
        if report.left("limits") < 0:
            report.leave_out(name((family, lanes)), "no time")
            continue
        seconds = programs.seconds_of_steps(program, family, lanes, REPEATS) / sizes.steps
        kernels = programs.kernels_of_step(program.text, sizes.steps)
        least, whole = programs.step_bytes(family)
        share, whole_share = (size * lanes / seconds / bandwidth for size in (least, whole))
        growth = seconds / first.setdefault(family, seconds)
        rollouts = next(row for row in report.figures["throughput"] if (row["family"], row["lanes"]) == (family, lanes))
        rows.append(
            {
                "family": family,
                "lanes": lanes,
                "seconds_per_step": seconds,
                "seconds_per_rollout_step": rollouts["seconds_per_step"],
                "kernels_per_step": kernels.total(),
                "kernels": kernels,
                "seconds_per_kernel": seconds / kernels.total(),
                "bytes_per_lane_step": least,
                "bytes_per_lane_step_whole": whole,
                "share_of_bandwidth": share,
                "share_of_bandwidth_whole": whole_share,
                "bound": bound(share, growth, lanes > sizes.lanes[0]),
            }
        )
        report.row(
            f"  {name((family, lanes))}",
            f"{seconds * 1e6:.1f} µs a step, in rollouts {rollouts['seconds_per_step'] * 1e6:.1f}; "
            f"{kernels.total()} kernels of {seconds / kernels.total() * 1e6:.2f} µs",
        )
        report.row("", "kernels: " + ", ".join(f"{count} {kind}" for kind, count in kernels.most_common()))
        report.row(
            "",
            f"{least:,} B a lane and step: {share:.1%} of the copy; whole state {whole:,} B: {whole_share:.1%}; "
            f"bound by {rows[-1]['bound']}",
        )


def bound(share: float, growth: float, wider: bool) -> str:
    """What holds a step back that moves such a share of what a copy moves.

    It takes `growth` times as long as in the fewest lanes; nothing follows from that unless these are more (`wider`).
    """
    if share > FULL:
        return "bandwidth"
    if wider and growth < NEAR:
        return "launches"
    return "computation or access, not bandwidth" if wider else "launches, or computation"


def hints(bench: Bench) -> None:
    """Latency of whole answers in process."""
    report, sizes, engine = bench.report, bench.sizes, bench.engine
    if bench.put_off:
        correctness(bench, "hints")
    if not bench.warmed("hints"):
        report.leave_out("hints", "engine not compiled in time")
        return
    rows: list[dict[str, Any]] = report.figures.setdefault("hints", [])
    for number, family in enumerate(engines.FAMILIES):
        end = time.perf_counter() + report.left("hints") / (len(engines.FAMILIES) - number)
        seconds: list[float] = []
        busy: list[float] = []
        for seed in range(1 + 4 * sizes.hints):  # the first only warms up
            if len(seconds) == sizes.hints or time.perf_counter() > end:
                break
            question = engines.Question(
                family=family, table=known(family, seed), rollouts=sizes.hint, seed=seed, objective="points"
            )
            before = engine.meter.busy_seconds
            begin = time.perf_counter()
            answer = engine.answer(question)
            elapsed = time.perf_counter() - begin
            if seed > 0 and not answer.forced:
                seconds.append(elapsed)
                busy.append((engine.meter.busy_seconds - before) / engine.workers / elapsed)
        if not seconds:
            report.leave_out(f"{family}, hints", "no time")
            continue
        row: dict[str, Any] = {
            "family": family,
            "rollouts": sizes.hint,
            "answers": len(seconds),
            "seconds_p50": statistics.median(seconds),
            "seconds_p90": float(np.quantile(seconds, 0.9)),
            "share_in_rollouts": statistics.median(busy),
            "lanes": engine.lanes,
            "workers": engine.workers,
        }
        rows.append(row)
        report.row(
            f"  {family}, {sizes.hint:,} rollouts",
            f"p50 {row['seconds_p50'] * 1e3:.0f} ms, p90 {row['seconds_p90'] * 1e3:.0f} ms of {len(seconds)}, "
            f"{row['share_in_rollouts']:.0%} in rollouts, {engine.lanes:,} lanes",
        )


SECTIONS: Final[Mapping[str, Callable[[Bench], None]]] = {
    "correctness": correctness,
    "throughput": throughput,
    "refill": refill,
    "limits": limits,
    "hints": hints,
}


def timed(bench: Bench, section: str, family: str, lanes: int, program: Compiled, name: str) -> list[Played]:
    """Calls of all tasks, up to REPEATS as time permits; none, and said so, where the device cannot."""
    played: list[Played] = []
    try:
        rollouts = Rollouts(program, bench.games[family], lanes, bench.sizes.tasks * lanes)
        rollouts.play(lanes)  # not timed: the first call of a program takes longer
        while not played or (len(played) < REPEATS and bench.report.left(section) > played[-1].seconds):
            played.append(rollouts.play(rollouts.tasks))
    except jax.errors.JaxRuntimeError as error:
        bench.report.leave_out(name, summary(error))
        return []
    return played


def figures(played: Sequence[Played], lanes: int, program: Compiled) -> dict[str, float]:
    """Medians over calls."""
    return {
        "moves_per_second": statistics.median(each.moves / each.seconds for each in played),
        "lane_utilisation": played[-1].moves / played[-1].steps,
        "moves_per_rollout": played[-1].moves / len(played[-1].results.moves),
        "seconds_per_call": statistics.median(each.seconds for each in played),
        "seconds_per_step": statistics.median(each.seconds * lanes / each.steps for each in played),
        "compile_seconds": program.seconds,
    }


def fastest(report: Report) -> dict[str, Any]:
    """The row of each family with the most useful moves per second."""
    best: dict[str, Any] = {}
    for row in report.figures["throughput"]:
        if row["family"] not in best or row["moves_per_second"] > best[row["family"]]["moves_per_second"]:
            best[row["family"]] = row
    return best


def summary(error: BaseException) -> str:
    """The kind of an error and the first line of what it says."""
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')[:200]}"


def measure(sizes: Sizes, seconds: float, out: Path, make: Callable[[], tuple[engines.Engine, engines.Engine]]) -> bool:
    """Run every section with the engine and the reference that `make` makes, and write `gpu.json` and `gpu.svg`.

    Whether all checks passed. What fails does not stop what follows.
    """
    report = Report(out, seconds)
    engine, reference = make()
    device = engine.devices[0]
    report.figures.update(
        device=device.device_kind,
        platform=device.platform,
        jax=jax.__version__,
        numpy=np.__version__,
        cores=len(os.sched_getaffinity(0)),
        presets=dict(PRESETS),
        sizes=dataclasses.asdict(sizes),
    )
    report.row("device", f"{device.device_kind} ({device.platform}), {len(engine.devices)} of them")
    report.row("software", f"jax {jax.__version__}, numpy {np.__version__}")
    bench = Bench(sizes, report, engine, reference)
    for name, section in SECTIONS.items():
        report.row(name, f"{report.left(name):.0f} s left")
        try:
            section(bench)
        except Exception as error:
            report.fail(name, summary(error))
        report.write()
    report.draw()
    report.row("checks", "all passed" if report.passed else "NOT PASSED")
    report.row("seconds", f"{report.figures['seconds']:.0f}")
    return report.passed


def engines_of(cache: Path | None) -> tuple[engines.Engine, engines.Engine]:
    """An engine on the default device, and one on the CPU: the same where that is the default."""
    engine = engines.Engine(devices=jax.local_devices()[:1], cache_directory=cache)
    if engine.devices[0].platform == "cpu":
        return engine, engine
    return engine, engines.Engine(devices=jax.local_devices(backend="cpu")[:1])


def main() -> None:
    """Measure, print a table and end with status 1 where a check did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that everything may take, compiling included")
    parser.add_argument("--out", type=Path, default=OUT, help="where gpu.json and gpu.svg go")
    parser.add_argument("--sizes", choices=SIZES, help="default: as the device is")
    parser.add_argument("--cache", type=Path, help="keeps compiled programs between runs")
    options = parser.parse_args()
    platforms = jax.config.jax_platforms
    if platforms and "cpu" not in platforms.split(","):
        jax.config.update("jax_platforms", f"{platforms},cpu")  # the reference
    sizes = SIZES[options.sizes or ("cpu" if jax.default_backend() == "cpu" else "gpu")]
    passed = measure(sizes, options.seconds, options.out, lambda: engines_of(options.cache))
    sys.stdout.flush()
    os._exit(not passed)  # what still compiles would be waited for


if __name__ == "__main__":
    main()
