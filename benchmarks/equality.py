"""Whether two engines say the same, bit for bit: worlds, turn expansion, rollouts and whole answers."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt

from benchmarks.deals import DEALS, Games, games, known
from zank_kernel import engine as engines
from zank_kernel import rollout, turns

DEPTH: Final = 12  # moves of the rollout policy after each first move of a deal


@dataclasses.dataclass(frozen=True, kw_only=True)
class Check:
    """One comparison of what an engine said with what the reference said."""

    name: str
    compared: int  # numbers, or answers
    different: int  # how many of them
    first: str = ""  # the first that differs

    @property
    def passed(self) -> bool:
        """Whether all are equal, and there are any."""
        return self.compared > 0 and self.different == 0


def checks(
    engine: engines.Engine, reference: engines.Engine, *, rollouts: int, questions: int, budget: int
) -> dict[str, Callable[[], Check]]:
    """Comparisons of two warm engines in both families, to be made by name.

    `rollouts` games are played, and so many `questions` asked with a `budget` of rollouts each; seeds are fixed.
    """

    def compares(name: str, says: Callable[[engines.Engine], Any]) -> Callable[[], Check]:
        return lambda: compared(name, says(engine), says(reference))

    made: dict[str, Callable[[], Check]] = {}
    for family in engines.FAMILIES:

        def plays(each: engines.Engine, family: str = family) -> rollout.Results:
            return played(each, games(family, reference.devices[0]), rollouts)

        says: dict[str, Callable[[engines.Engine], Any]] = {
            "worlds": functools.partial(sampled, family=family),
            "turns": functools.partial(expanded, family=family),
            "rollouts": plays,
        }
        made.update({f"{family}/{what}": compares(f"{family}/{what}", each) for what, each in says.items()})
        made[f"{family}/answers"] = functools.partial(answered, engine, reference, family, questions, budget)
    return made


def sampled(engine: engines.Engine, family: str) -> list[Any]:
    """The second WORLDS worlds of some deals. NumPy arrays."""
    each = engines.FAMILIES[family]
    tables = [engine.worlds(family, each.knowledge([known(family, seed)], [seed]), 1) for seed in range(DEALS)]
    return [jax.tree.map(np.asarray, table) for table in tables]


def expanded(engine: engines.Engine, family: str) -> list[Any]:
    """What every first move of some deals leads to, and then DEPTH moves of the rollout policy. NumPy arrays."""
    each = engines.FAMILIES[family]
    tables: list[Any] = []
    actions: list[int] = []
    seed = 0
    while len(actions) < turns.AT_ONCE:
        table = known(family, seed)
        legal = engine.legal_actions(family, table)
        actions += legal
        tables += [table] * len(legal)
        seed += 1
    state = each.to_state(tables[: turns.AT_ONCE])
    packing = engines.PACKINGS[family]
    action = np.asarray(actions[: turns.AT_ONCE], np.int32)
    program = engine.programs[f"{family}/expand"].call
    steps: list[Any] = []
    for _ in range(1 + DEPTH):
        player = np.asarray(state.mover).astype(np.int8)
        reached: turns.Reached = jax.tree.map(np.asarray, program(packing.pack(state), action, player))
        steps.append(reached)
        state, action = packing.unpack(np.asarray(reached.words)), np.asarray(reached.choice)
    return steps


def played(engine: engines.Engine, given: Games, count: int) -> rollout.Results:
    """Results of the first `count` games of these tables, one entry a game. NumPy arrays."""
    roots, worlds = jax.device_put((given.roots, given.worlds), engine.devices[0])
    root, world = given.tasks(count)
    return engine.rollouts(given.family, roots, worlds, root, world).result()


def answered(engine: engines.Engine, reference: engines.Engine, family: str, questions: int, budget: int) -> Check:
    """Whether whole answers are equal: ranks, lines, estimates and their errors."""
    different: list[str] = []
    for seed in range(questions):
        question = engines.Question(
            family=family, table=known(family, seed), rollouts=budget, seed=seed, objective="points"
        )
        found, expected = engine.answer(question), reference.answer(question)
        if found != expected:
            best = [answer.evaluations[0].action for answer in (found, expected)]
            different.append(f"deal {seed}: best move {best[0]}, expected {best[1]}")
    return Check(
        name=f"{family}/answers",
        compared=questions,
        different=len(different),
        first=different[0] if different else "",
    )


def compared(name: str, found: Any, expected: Any) -> Check:
    """Whether two pytrees of arrays are equal in structure, shapes, dtypes and every number."""
    leaves, others = (jax.tree_util.tree_leaves_with_path(tree) for tree in (found, expected))
    if [path for path, _ in leaves] != [path for path, _ in others]:
        return Check(name=name, compared=1, different=1, first="structure")
    count, different, first = 0, 0, ""
    for (path, leaf), (_, other) in zip(leaves, others, strict=True):
        one, two = np.asarray(leaf), np.asarray(other)
        count += two.size
        if (one.shape, one.dtype) != (two.shape, two.dtype):
            wrong: npt.NDArray[np.bool_] = np.ones(two.shape, np.bool_)
            says = f"{one.dtype}{list(one.shape)}, expected {two.dtype}{list(two.shape)}"
        else:
            wrong = one != two
            place = tuple(np.argwhere(wrong)[0].tolist()) if wrong.any() else ()
            says = f"{list(place)}: {one[place]}, expected {two[place]}" if wrong.any() else ""
        different += max(int(wrong.sum()), bool(says))
        first = first or (f"{jax.tree_util.keystr(path)} {says}" if says else "")
    return Check(name=name, compared=count, different=different, first=first)
