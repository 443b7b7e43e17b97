"""How many outcomes the turns of played positions have, and whether every win this turn is found.

Positions are where something new is known, at the beginning of a turn and after an unknown card has come to light in
it, in games of the rollout policy that makes a random move now and then.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from zank.players import parse_player
from zank.presets import complete_rule_set
from zank.v1 import RuleSet
from zank_kernel import wins
from zank_kernel.engine import CPU_OPTIONS, FAMILIES, PACKINGS, Engine, Question, padded, suggested
from zank_kernel.host import zeros
from zank_kernel.turns import AT_ONCE, Turn
from zank_service.families import BY_PRESET
from zank_service.replay import decisions
from zank_service.simulation import simulate

PLAYER = "policy:0.1"
ROLLOUTS = 16_384  # of a hint by default
EVERYTHING = 1_048_576  # positions of a turn that are visited at most where every win is looked for
LAST = 4  # positions of a game that may be won this turn, from its end


def starts(engine: Engine, preset: str, name: str = PLAYER) -> Iterator[list[Any]]:
    """The positions of one game after the other, as their movers know them; tables of the kernel."""
    family = BY_PRESET[preset]
    rule_set = complete_rule_set(RuleSet(preset=preset))
    rules = family.rules(rule_set)
    player = parse_player(name)
    for seed in range(1_000_000):
        for record in simulate(engine, rule_set, 8, seed, (player, player)):
            tables: list[Any] = []
            before = None
            for decision in decisions(engine, record)[0]:
                mover = decision.position.player_to_move
                known = family.view(decision.position, mover)
                if (
                    before is None
                    or before.player_to_move != mover
                    or family.revealed(family.view(before, mover), known, rules).cards
                ):
                    tables.append(family.table(known, rules))
                before = decision.position
            yield tables


def asked(preset: str, table: Any) -> Question:
    """A hint by default."""
    return Question(family=BY_PRESET[preset].name, table=table, rollouts=ROLLOUTS, seed=1, objective="points")


def wins_by(turn: Turn, table: Any) -> bool:
    """Whether one of the outcomes wins."""
    sign = 1 if table.mover == 0 else -1
    return bool(((turn.outcomes.ending == 1) & (sign * turn.outcomes.points > 0)).any())


def distribution(engine: Engine, preset: str, count: int) -> dict[str, Any]:
    """Outcomes of `count` positions, ten a game."""
    chance = random.Random(preset)
    outcomes: list[int] = []
    complete: list[bool] = []
    for tables in starts(engine, preset):
        for table in chance.sample(tables, min(10, len(tables))):
            turn = engine.turn(asked(preset, table))
            outcomes.append(len(turn.departures))
            complete.append(turn.complete)
        if len(outcomes) >= count:
            break
    quantiles = [int(each) for each in np.quantile(outcomes, (0.1, 0.5, 0.9, 0.99), method="lower")]
    return {"positions": len(outcomes), "outcomes_10_50_90_99": quantiles, "complete": float(np.mean(complete))}


def exhaustive(preset: str) -> Callable[[Engine, Any], wins.Found]:
    """The search for a way to win from a table, in up to EVERYTHING positions."""
    name = BY_PRESET[preset].name
    family, packing = FAMILIES[name], PACKINGS[name]
    held = [jax.device_put(zeros((EVERYTHING + 1, wins.width(packing)), np.uint32))]
    find = jax.jit(partial(wins.find, family, packing), donate_argnums=0, compiler_options=CPU_OPTIONS)

    def search(engine: Engine, table: Any) -> wins.Found:
        actions = np.zeros((family.actions,), np.bool_)
        actions[suggested(engine.legal_actions(name, table), family.pointless(table), frozenset())] = True
        root = packing.pack(family.to_state([table, *family.history(table)[: AT_ONCE - 1]]))
        held[0], result = find(held[0], padded(root, AT_ONCE), actions, np.int8(table.mover), np.int32(EVERYTHING))
        found: wins.Found = jax.block_until_ready(result)
        return found

    return search


def found(engine: Engine, preset: str, count: int) -> dict[str, int]:
    """Of the last positions of games, `count` in which all that is needed to win is known: which wins are found.

    Positions are settled where a win was found, or all that can be reached in the turn was visited.
    """
    search = exhaustive(preset)
    counts = dict.fromkeys(("positions", "settled", "wins", "found"), 0)
    for tables in starts(engine, preset):
        for table in tables[-LAST:]:
            if counts["positions"] == count:
                return counts
            turn = engine.turn(asked(preset, table))
            if not turn.winnable:
                continue
            counts["positions"] += 1
            here = wins_by(turn, table)
            everything = None if here or turn.complete else search(engine, table)
            counts["settled"] += everything is None or bool(everything.complete)
            counts["wins"] += here or (everything is not None and bool(everything.won >= 0))
            counts["found"] += here
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="malice-match", choices=BY_PRESET)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--wins", type=int, default=500, help="positions in which wins are looked for")
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    warm = Engine(cache_directory=options.cache)
    warm.warm_up()
    print(json.dumps({"outcomes": distribution(warm, options.preset, options.count)}), flush=True)
    print(json.dumps({"wins": found(warm, options.preset, options.wins)}), flush=True)
    warm.close()
