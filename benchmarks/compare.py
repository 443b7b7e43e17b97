"""Rollouts of this source tree against those of another revision, in turns, so that both meet the same machine."""

import argparse
import contextlib
import json
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.deals import PRESETS
from benchmarks.player import ROOT, Player, Turn

OUT: Final = ROOT / "benchmarks" / "out"
PAIRS: Final = 7
SECONDS: Final = 1.0  # of a turn, at least


@contextlib.contextmanager
def worktree(revision: str, repository: Path = ROOT) -> Iterator[Path]:
    """The source tree of a revision, in a temporary git worktree that is gone afterwards.

    Raises ValueError where there is no such revision, or it has no kernel.
    """
    commit = git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise ValueError(f"{revision!r} is no revision of {repository}")
    if git(repository, "cat-file", "-e", f"{commit}:kernel/zank_kernel/engine.py") is None:
        raise ValueError(f"revision {revision!r} has no kernel")
    with tempfile.TemporaryDirectory(prefix="zank-") as directory:
        tree = Path(directory) / "tree"
        subprocess.run(
            ["git", "-C", str(repository), "worktree", "add", "--quiet", "--detach", str(tree), commit], check=True
        )
        try:
            yield tree
        finally:
            subprocess.run(["git", "-C", str(repository), "worktree", "remove", "--force", str(tree)], check=True)


def git(repository: Path, *arguments: str) -> str | None:
    """What git prints; None where it fails."""
    done = subprocess.run(["git", "-C", str(repository), *arguments], check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def measure(revision: str, pairs: int, seconds: float, cache: Path) -> dict[str, Any]:
    """Play turns of at least so many seconds with both kernels on one core, in pairs, the first now this, now that."""
    with (
        worktree(revision) as tree,
        Player(tree, cache, workers=1, cores=1) as other,
        Player(ROOT, cache, workers=1, cores=1) as present,
    ):
        for player in (other, present):
            player.ready()
        families = {}
        for family, preset in PRESETS.items():
            for player in (other, present):
                player.play(family, 0.1 * seconds)  # the first calls take longer
            turns = []
            for number in range(pairs):
                order = (present, other) if number % 2 == 0 else (other, present)
                played = {player: player.play(family, seconds) for player in order}
                turns.append((played[present], played[other]))
            families[family] = {"preset": preset, **figures(turns)}
        return {
            "revision": revision,
            "commit": git(tree, "rev-parse", "HEAD"),
            "platform": present.about["platform"],
            "clock": present.about["clock"],
            "families": families,
        }


def figures(turns: Sequence[tuple[Turn, Turn]]) -> dict[str, Any]:
    """Ratios of useful moves per second, the first of each pair over the second, and the medians of both."""
    rates = [(one.moves / one.seconds, other.moves / other.seconds) for one, other in turns]
    ratios = [one / other for one, other in rates]
    return {
        "ratio": {"median": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios)},
        "ratios": ratios,
        "moves_per_second": statistics.median(one for one, _ in rates),
        "moves_per_second_before": statistics.median(other for _, other in rates),
    }


def main() -> None:
    """Print the ratio of each family and write `benchmarks/out/compare.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="what git calls it: a commit, a branch, a tag")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that a turn takes at least")
    parser.add_argument("--cache", type=Path, default=OUT / "programs", help="keeps compiled programs between runs")
    options = parser.parse_args()
    try:
        result = measure(options.revision, options.pairs, options.seconds, options.cache)
    except (ValueError, RuntimeError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    print(
        f"useful moves per second, this tree / {options.revision}: median (lowest … highest) of {options.pairs} pairs"
    )
    for family in result["families"].values():
        ratio = family["ratio"]
        print(
            f"{family['preset']:<20}{ratio['median']:.3f} ({ratio['lowest']:.3f} … {ratio['highest']:.3f})"
            f"   {family['moves_per_second'] / 1e6:.2f} M / {family['moves_per_second_before'] / 1e6:.2f} M"
        )
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "compare.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
