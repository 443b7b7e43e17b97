"""Whether stated standard errors cover: answers against answers of many more rollouts with other seeds."""

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks import positions
from zank_kernel import engine as engines
from zank_kernel import malice
from zank_kernel.malice.table import Table
from zank_kernel.search import Answer, Estimate, Evaluation

TIMES = 12  # how many times the rollouts of the answers that are judged


def measure(preset: str, rollouts: int, count: int, cache: Path) -> dict[str, dict[str, float]]:
    """Ask about `count` positions twice and compare, in stated standard errors of both answers."""
    engine = engines.Engine(cache_directory=cache)
    engine.warm_up()
    tables = [table for moves in (1, 40, 80, 120) for table in positions.played(preset, count // 4, moves)]
    differences: dict[str, list[float]] = {}
    for seed, table in enumerate(tables):
        legal = engine.legal_actions("malice", table)
        chosen = frozenset({legal[len(legal) // 2]})  # beforehand, whatever it is worth

        def ask(rollouts: int, seed: int, keep: frozenset[int], table: Table = table) -> Answer:
            return engine.answer(
                engines.Question(
                    family="malice", table=table, rollouts=rollouts, seed=seed, objective="points", keep=keep
                )
            )

        judged = ask(rollouts, seed, chosen)
        if judged.forced:
            continue
        best, other = judged.evaluations[0], having(judged, chosen)
        keep = chosen | {best.action}
        truth = ask(TIMES * rollouts, 1_000_000 + seed, keep)
        true_best, true_other = having(truth, {best.action}), having(truth, chosen)
        compare(differences, "best", best, true_best)
        if other.gap is None:  # it came out best: no gap to judge
            continue
        compare(differences, "other", other, true_other)
        if true_other.value and true_best.value:
            gap = true_best.value.points.mean - true_other.value.points.mean
            error = true_other.gap if true_other.gap is not None else true_best.gap
            if error is not None:
                note(differences, "gap", other.gap, Estimate(mean=gap, standard_error=error.standard_error))
    engine.close()
    return {name: summary(np.asarray(values)) for name, values in differences.items()}


def having(answer: Answer, actions: frozenset[int] | set[int]) -> Evaluation:
    """The evaluation of the move that stands for one of these actions."""
    return next(e for e in answer.evaluations if {e.action, *e.equivalents} & actions)


def compare(differences: dict[str, list[float]], name: str, judged: Evaluation, truth: Evaluation) -> None:
    """Note win chance and points of the same move in both answers."""
    assert judged.value is not None
    assert truth.value is not None
    note(differences, f"{name}, win", judged.value.win, truth.value.win)
    note(differences, f"{name}, points", judged.value.points, truth.value.points)


def note(differences: dict[str, list[float]], name: str, judged: Estimate, truth: Estimate) -> None:
    """Note by how many standard errors of the difference an estimate is too high."""
    error = float(np.hypot(judged.standard_error, truth.standard_error))
    differences.setdefault(name, []).append((judged.mean - truth.mean) / error)


def summary(z: np.ndarray) -> dict[str, float]:
    """What a sound standard error would make 0, 1, 0.68 and 0.95."""
    return {
        "count": len(z),
        "mean": float(z.mean()),
        "deviation": float(z.std()),
        "within_1": float((abs(z) <= 1).mean()),
        "within_1.96": float((abs(z) <= 1.96).mean()),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="malice-match", choices=malice.PRESETS)
    parser.add_argument("--rollouts", type=int, default=2_000)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(measure(options.preset, options.rollouts, options.count, options.cache), indent=2))
