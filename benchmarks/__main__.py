"""Runs every benchmark, each in a process of its own, and prints one table."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peer import COMPILER
from benchmarks.positions import GAMES

OUT = Path(__file__).parent / "out"
HINTS = ("malice-match", "malice-classic", "bank-spiteful")  # presets of which hints are measured
PEERS = {"malice": "malice-match", "bank": "bank-spiteful"}  # by family, where the kernel is held to its C++ peer


def child(module: str, *arguments: str) -> dict[str, Any]:
    """Run `python -m benchmarks.<module>` and return what it printed."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Measure start-up, rollouts, hints, peers and self-play; print a table and write `benchmarks/out/bench.json`."""
    cores = len(os.sched_getaffinity(0))
    results: dict[str, Any] = {"cores": cores}
    with tempfile.TemporaryDirectory() as cache:
        row("start-up", "")
        results["compile_cold"] = child("startup", "--cache", cache)
        results["compile_warm"] = child("startup", "--cache", cache)
        for name, seconds in results["compile_cold"].items():
            row(f"  {name}", f"{seconds:.2f} s, again {results['compile_warm'][name]:.2f} s")
        if importlib.util.find_spec("zank_service"):
            results["serving_warm"] = child("startup", "--cache", cache, "--server")["seconds"]
            row("  server to SERVING, warm cache", f"{results['serving_warm']:.2f} s")
        for preset in GAMES:
            row(f"rollouts, {preset}", "")
            for count in sorted({1, cores}):
                figures = child("rollouts", "--preset", preset, "--cores", str(count), "--cache", cache)
                results[f"rollouts/{preset}/cores={count}"] = figures
                rate, share = figures["moves_per_second_per_core"], figures["lane_utilisation"]
                row(
                    f"  {count} core{'s' * (count > 1)}",
                    f"{rate / 1e6:.2f} M useful moves/s per core, {figures['games_per_second']:,.0f} games/s, "
                    f"lane utilisation {share:.2f}, {figures['bytes_per_move']:.0f} bytes of state a move, "
                    f"{figures['moves_per_rollout']:.0f} moves a rollout, {figures['seconds_per_call']:.3f} s a call",
                )
        for preset in HINTS:
            figures = child("hints", "--preset", preset, "--cache", cache)
            results[f"hints/{preset}"] = figures
            row(
                f"hint, {preset}",
                f"{figures['rollouts']:,} rollouts, p50 {figures['seconds_p50'] * 1e3:.0f} ms, "
                f"p90 {figures['seconds_p90'] * 1e3:.0f} ms, not rollouts {figures['not_rollouts_p50'] * 1e3:.0f} and "
                f"{figures['not_rollouts_p90'] * 1e3:.0f} ms, workers idle {figures['idle_p50']:.0%} and "
                f"{figures['idle_p90']:.0%}, lane utilisation {figures['lane_utilisation_p50']:.2f}",
            )
        for family, preset in PEERS.items() if shutil.which(COMPILER) else ():
            figures = child("peers", "--preset", preset, "--cache", cache)
            programs = [seconds for name, seconds in results["compile_cold"].items() if name.startswith(f"{family}/")]
            results[family] = {"compile_s": sum(programs), **figures}
            row(
                f"kernel against C++, {preset}",
                f"{figures['ratio_per_core']:.2f} on one core, {figures['ratio_all_cores']:.2f} all cores against one, "
                f"C++ {figures['one_core']['peer_moves_per_second']['median'] / 1e6:.1f} M moves/s",
            )
        for preset in GAMES:
            figures = child("games", "--preset", preset)
            results[f"games/{preset}"] = figures
            moves = figures["moves"]
            row(
                f"self-play, {preset}",
                f"{moves['mean']:.0f} moves a game (10 to 90 %: {moves['p10']} to {moves['p90']}), the starter wins "
                f"{figures['won_by_starter']:.1%} of those decided, {figures['tied']:.1%} are tied",
            )
    OUT.mkdir(exist_ok=True)
    (OUT / "bench.json").write_text(json.dumps(results, indent=2) + "\n")


def row(name: str, text: str) -> None:
    """Print one line of the table at once."""
    print(f"{name:<34}{text}", flush=True)


if __name__ == "__main__":
    main()
