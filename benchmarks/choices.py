"""What the choices of a search are worth: whole turns against single moves, more rollouts against fewer.

Each way of searching, some rollouts and some outcomes of a turn to look at, is asked about the same positions. The line
that it would play is judged by rollouts in worlds of their own, the same for all ways. Positions are those of
`benchmarks.outcomes`; forced ones do not count.
"""

import argparse
import dataclasses
import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.matches import POLICY, SINGLE
from benchmarks.outcomes import PLAYER, starts
from zank_kernel import search
from zank_kernel.engine import FAMILIES, ROOTS, Engine, Question
from zank_service.families import BY_PRESET

JUDGED: Final = 8_192  # rollouts by which a line is judged
EACH: Final = 8  # positions of a game at most


def measure(
    engine: Engine, preset: str, objective: search.Objective, ways: list[tuple[int, int]], count: int, player: str
) -> list[dict[str, Any]]:
    """How much more the choices of each way are worth than those of the first, with the standard error of that."""
    chance = random.Random(preset)
    values: list[list[float]] = []
    games = starts(engine, preset, player)
    while len(values) < count:
        tables = next(games)
        for table in chance.sample(tables, min(EACH, len(tables))):
            found = chosen(engine, preset, objective, table, ways, seed=len(values))
            if found is not None and len(values) < count:
                values.append(found)
    by_way = np.asarray(values).T
    more = by_way - by_way[0]
    return [
        {
            "preset": preset,
            "objective": objective,
            "positions": count,
            "rollouts": rollouts,
            "outcomes": outcomes,
            "value": float(value.mean()),
            "more": float(each.mean()),
            "standard_error": float(each.std(ddof=1) / count**0.5),
        }
        for (rollouts, outcomes), value, each in zip(ways, by_way, more, strict=True)
    ]


def chosen(
    engine: Engine, preset: str, objective: search.Objective, table: Any, ways: list[tuple[int, int]], seed: int
) -> list[float] | None:
    """What the choice of each way is worth in a position; None where it is forced."""
    family = FAMILIES[BY_PRESET[preset].name]
    worth: dict[Sequence[int], float] = {}
    values: list[float] = []
    for rollouts, outcomes in ways:
        question = Question(
            family=family.name, table=table, rollouts=rollouts, seed=seed, objective=objective, outcomes=outcomes
        )
        line = planned(engine, question)
        if line is None:
            return None
        if line not in worth:
            first = search.REPORTING_WORLDS  # and on: none of these has had a say in the choice
            results = played_out(engine, question, line, first, first + JUDGED)
            by = search.measure(objective, family.spread(table), None)
            worth[line] = float(by.of(results).mean()) / by.unit
        values.append(worth[line])
    return values


def played_out(engine: Engine, question: Question, line: Sequence[int], first: int, last: int) -> search.Results:
    """What becomes of a line in worlds `first` … `last` - 1 of a question."""
    state = FAMILIES[question.family].to_state([question.table])
    for action in line:
        state = engine.play(question.family, state, np.asarray([action], np.int32))
    return engine.results(question, state, first, last)


def planned(engine: Engine, question: Question) -> Sequence[int] | None:
    """The line that a search would play, or the policy where it looks at POLICY outcomes; None where it is forced."""
    if question.outcomes == POLICY:
        turn = engine.turn(dataclasses.replace(question, outcomes=SINGLE))
        return None if len(turn.moves) == 1 else turn.line(int(turn.reach[:, 0].argmax()), 0)  # departs least: its own
    answer = engine.answer(question)
    return None if answer.forced else answer.evaluations[0].line


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="malice-match", choices=BY_PRESET)
    parser.add_argument("--objective", default="points", choices=("points", "win"))
    parser.add_argument("--rollouts", type=int, nargs="+", default=[1_024, 16_384])
    parser.add_argument(
        "--outcomes", type=int, nargs="+", default=[SINGLE, ROOTS], help="0 = single moves, -1 = the policy"
    )
    parser.add_argument("--player", default=PLAYER, help="who played the games that positions are from")
    parser.add_argument("--count", type=int, default=250, help="positions")
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    warm = Engine(cache_directory=options.cache)
    warm.warm_up()
    ways = list(itertools.product(options.rollouts, options.outcomes))
    for line in measure(warm, options.preset, options.objective, ways, options.count, options.player):
        print(json.dumps(line), flush=True)
    warm.close()
