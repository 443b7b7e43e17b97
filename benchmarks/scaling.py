"""Throughput of rollouts over lanes, roots, worlds and devices; roots and worlds are to make no difference.

On a single core time is processor time, so that what else runs there does not count.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import jax

from benchmarks import plot, programs
from benchmarks.deals import PRESETS, games
from benchmarks.player import ROOT, Player
from benchmarks.programs import Compiled, Rollouts
from zank_kernel import engine as engines

OUT: Final = ROOT / "benchmarks" / "out"

type Row = dict[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is measured."""

    lanes: tuple[int, ...] = (32, 64, 128, 256, 512, 1_024)
    tasks: int = 8  # for each lane, where lanes are counted
    roots: tuple[int, ...] = (1, 4, 16, 64, 256, 512)
    worlds: tuple[int, ...] = (1, 4, 16, 64, 256, 1_024)
    fixed: int = engines.LANES  # lanes, where roots and worlds are counted …
    rollouts: int = 8_192  # … and rollouts of a call there
    repeats: int = 5
    devices: tuple[tuple[int, int], ...] = ((1, 1), (1, 2), (2, 2))  # and the workers on them
    turns: int = 5  # with devices …
    seconds: float = 1.0  # … that take at least so long


CPU: Final = Sizes()
ACCELERATOR: Final = Sizes(
    lanes=(1_024, 4_096, 16_384, 65_536, 262_144), fixed=engines.ACCELERATOR_LANES, rollouts=131_072
)


def over_lanes(family: str, sizes: Sizes, device: jax.Device) -> list[Row]:
    """The same games in some numbers of lanes, so many a lane."""
    given = games(family)
    players = {}
    for lanes in sizes.lanes:
        tasks = sizes.tasks * lanes
        program = programs.compiled(device, programs.lowered_rollouts(family, lanes, tasks, device))
        players[lanes] = Rollouts(program, given, lanes, tasks)
    return costs("lanes", players, sizes.repeats)


def over_roots(family: str, sizes: Sizes, program: Compiled) -> list[Row]:
    """Games from some numbers of deals, in all the worlds that there is room for."""
    given = {deals: games(family, deals=deals) for deals in sizes.roots}
    players = {deals: Rollouts(program, each, sizes.fixed, sizes.rollouts) for deals, each in given.items()}
    return costs("roots", players, sizes.repeats)


def over_worlds(family: str, sizes: Sizes, program: Compiled) -> list[Row]:
    """Games from one deal in some numbers of worlds."""
    given = games(family, deals=1)
    players = {worlds: Rollouts(program, given, sizes.fixed, sizes.rollouts, worlds) for worlds in sizes.worlds}
    return costs("worlds", players, sizes.repeats)


def costs(what: str, players: Mapping[int, Rollouts], repeats: int) -> list[Row]:
    """What all tasks of each player cost: medians over `repeats` rounds, in each of which every one plays.

    Games differ in length, so that a few of them may be longer than others: `seconds_per_mean_rollout` is what rollouts
    of the length that all players' have in the mean would cost.
    """
    alone = jax.default_backend() == "cpu" and len(os.sched_getaffinity(0)) == 1
    clock = time.process_time if alone else time.perf_counter
    for player in players.values():
        player.play(player.tasks)  # the first call takes longer
    rounds = [{number: player.play(player.tasks, clock) for number, player in players.items()} for _ in range(repeats)]
    mean = statistics.mean(each.moves / players[number].tasks for number, each in rounds[0].items())
    rows: list[Row] = []
    for number, player in players.items():
        seconds = statistics.median(played[number].seconds for played in rounds)
        last = rounds[-1][number]
        rows.append(
            {
                what: number,
                "moves_per_second": last.moves / seconds,
                "seconds_per_rollout": seconds / player.tasks,
                "seconds_per_mean_rollout": seconds / last.moves * mean,
                "moves_per_rollout": last.moves / player.tasks,
                "lane_utilisation": last.moves / last.steps,
            }
        )
    return rows


def over_devices(sizes: Sizes, cache: Path) -> dict[str, list[Row]]:
    """Rollouts of the engine on some numbers of devices that the CPU is made to look like, by the clock, in turns."""
    with contextlib.ExitStack() as stack:
        players = {
            (devices, workers): stack.enter_context(
                Player(ROOT, cache, workers=workers, environment=looking_like(devices))
            )
            for devices, workers in sizes.devices
        }
        for player in players.values():
            player.ready()
        rows: dict[str, list[Row]] = {}
        for family in engines.FAMILIES:
            for player in players.values():
                player.play(family, 0.1 * sizes.seconds)  # the first calls take longer
            rounds = [
                {key: player.play(family, sizes.seconds) for key, player in players.items()} for _ in range(sizes.turns)
            ]
            rates = {key: [played[key].moves / played[key].seconds for played in rounds] for key in players}
            first = rates[sizes.devices[0]]
            rows[family] = [
                {
                    "devices": devices,
                    "workers": workers,
                    "moves_per_second": statistics.median(rate),
                    "ratio": statistics.median(one / other for one, other in zip(rate, first, strict=True)),
                }
                for (devices, workers), rate in rates.items()
            ]
        return rows


def looking_like(devices: int) -> dict[str, str]:
    """The environment in which JAX takes the CPU for so many devices."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    return {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags.strip()}


def show(title: str, what: str, rows: Sequence[Row]) -> None:
    """Print a table at once; last, how far costs are apart, where they are to be alike."""
    print(title)
    for row in rows:
        print(
            f"  {row[what]:>9,} {what:<8}{row['moves_per_second'] / 1e6:9.2f} M moves/s"
            f"{row['seconds_per_rollout'] * 1e6:9.2f} µs a rollout of {row['moves_per_rollout']:.0f} moves,"
            f"{row['seconds_per_mean_rollout'] * 1e6:9.2f} at mean length, utilisation {row['lane_utilisation']:.2f}"
        )
    if what != "lanes":
        print(f"  highest cost at mean length over the lowest: {apart(rows):.2f}")
    sys.stdout.flush()


def apart(rows: Sequence[Row]) -> float:
    """The highest cost of a rollout of mean length over the lowest."""
    values = [row["seconds_per_mean_rollout"] for row in rows]
    return float(max(values) / min(values))


def draw(out: Path, what: str, name: str, vertical: str, rows: Mapping[str, Sequence[Row]], scale: float = 1.0) -> None:
    """Draw a figure of each family's rows, with one point for each number of `what`."""
    series = {family: [(row[what], scale * row[name]) for row in each] for family, each in rows.items()}
    plot.write(out / f"scaling-{what}.svg", f"Rollouts over {what}", what, vertical, series)


def measure(sizes: Sizes, out: Path, cache: Path) -> dict[str, dict[str, list[Row]]]:
    """Measure and print everything, and write `scaling.json` and a chart for each table; rows by table and family."""
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    device, cores = jax.local_devices()[0], len(os.sched_getaffinity(0))
    results: dict[str, dict[str, list[Row]]] = {"lanes": {}, "roots": {}, "worlds": {}, "devices": {}}

    def write() -> None:
        about = {"device": device.device_kind, "cores": cores, "sizes": dataclasses.asdict(sizes)}
        (out / "scaling.json").write_text(json.dumps({**about, **results}, indent=2) + "\n")

    for family, preset in PRESETS.items():
        program = programs.compiled(device, programs.lowered_rollouts(family, sizes.fixed, sizes.rollouts, device))
        results["lanes"][family] = over_lanes(family, sizes, device)
        show(f"{preset}, {sizes.tasks} rollouts a lane", "lanes", results["lanes"][family])
        results["roots"][family] = over_roots(family, sizes, program)
        show(f"{preset}, {sizes.rollouts:,} rollouts, {sizes.fixed:,} lanes", "roots", results["roots"][family])
        results["worlds"][family] = over_worlds(family, sizes, program)
        show(f"{preset}, the same from one deal", "worlds", results["worlds"][family])
        write()
    draw(out, "lanes", "moves_per_second", "useful moves per second", results["lanes"])
    for what in ("roots", "worlds"):
        draw(out, what, "seconds_per_mean_rollout", "µs a rollout of mean length", results[what], 1e6)
    results["devices"] = over_devices(sizes, cache)
    write()
    for family, rows in results["devices"].items():
        print(f"{PRESETS[family]}, the engine on {cores} core{'s' * (cores > 1)}")
        for row in rows:
            print(
                f"  {row['devices']:>9,} devices{row['workers']:>4} workers"
                f"{row['moves_per_second'] / 1e6:9.2f} M moves/s, {row['ratio']:.2f} of the first",
                flush=True,
            )
    spread = {
        name: [row for row in rows if row["devices"] == row["workers"]] for name, rows in results["devices"].items()
    }
    draw(out, "devices", "moves_per_second", "useful moves per second", spread)
    return results


def main() -> None:
    """Measure with the sizes that fit the device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="where scaling.json and the charts go")
    parser.add_argument("--cache", type=Path, default=OUT / "programs", help="keeps compiled programs between runs")
    options = parser.parse_args()
    measure(CPU if jax.default_backend() == "cpu" else ACCELERATOR, options.out, options.cache)


if __name__ == "__main__":
    main()
