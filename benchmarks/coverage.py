"""Whether stated standard errors cover: of the lines in answers, against many more rollouts of just these lines."""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np

from benchmarks import positions
from benchmarks.choices import played_out
from zank_kernel import engine as engines
from zank_kernel import malice, search
from zank_kernel.search import Answer, Estimate, Evaluation

TIMES = 12  # how many times the rollouts of the answers that are judged


def measure(preset: str, rollouts: int, count: int, cache: Path) -> dict[str, dict[str, float]]:
    """Ask about `count` positions, play on from where the lines lead, and compare in standard errors of both."""
    engine = engines.Engine(cache_directory=cache)
    engine.warm_up()
    tables = [table for moves in (1, 40, 80, 120) for table in positions.played(preset, count // 4, moves)]
    differences: dict[str, list[float]] = {}
    for seed, table in enumerate(tables):
        legal = engine.legal_actions("malice", table)
        chosen = frozenset({legal[len(legal) // 2]})  # beforehand, whatever it is worth
        question = engines.Question(
            family="malice", table=table, rollouts=rollouts, seed=seed, objective="points", keep=chosen
        )
        answer = engine.answer(question)
        if answer.forced:
            continue
        best, other = answer.evaluations[0], having(answer, chosen)
        spread = malice.FAMILY.spread(table)
        other_worlds = dataclasses.replace(question, seed=1_000_000 + seed)
        true_best = played_out(engine, other_worlds, best.line, 0, TIMES * rollouts)
        compare(differences, "best", best, search.value(true_best, spread))
        if other.gap is None:  # it came out best: no gap to judge
            continue
        true_other = played_out(engine, other_worlds, other.line, 0, TIMES * rollouts)
        compare(differences, "other", other, search.value(true_other, spread))
        note(differences, "gap", other.gap, search.mean(true_best.points - true_other.points, 2 * spread))
    engine.close()
    return {name: summary(np.asarray(values)) for name, values in differences.items()}


def having(answer: Answer, actions: frozenset[int] | set[int]) -> Evaluation:
    """The evaluation of the move that stands for one of these actions."""
    return next(e for e in answer.evaluations if {e.action, *e.equivalents} & actions)


def compare(differences: dict[str, list[float]], name: str, judged: Evaluation, truth: search.Value) -> None:
    """Note win chance and points of a move."""
    assert judged.value is not None
    note(differences, f"{name}, win", judged.value.win, truth.win)
    note(differences, f"{name}, points", judged.value.points, truth.points)


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
