"""How often a game is worth how many points, by which the kernel values the score of a match.

Games of the rollout policy against itself from random deals, of every preset that scores and all values of its options,
are written to the kernel's `equity.json`, the same bytes each time.
"""

import argparse
import dataclasses
import functools
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt

from benchmarks.deals import bank_masked
from zank_kernel import bank, equity, malice
from zank_kernel import engine as engines
from zank_kernel.bank.deal import dealt as dealt_bank
from zank_kernel.family import ADJUDICATED
from zank_kernel.host import leaf
from zank_kernel.malice.deal import CENTER_STACKS, DECK
from zank_kernel.malice.state import HAND, PAYOFF, SIDES

BATCH: Final = engines.WORLDS  # games
GAMES: Final = 128 * BATCH  # of each rule set
PATH: Final = Path(equity.__file__).with_name(equity.DATA)

type Options = Mapping[str, Any]

OPTIONS: Final[Mapping[str, Mapping[str, Sequence[Any]]]] = {
    "malice-match": {
        "payoff_cards": range(1, PAYOFF + 1),
        "wild_starts_stack": (True, False),
        "side_play_ends_turn": (False, True),
        "stock_out_when": ("emptied", "short"),
    },
    "bank-spiteful": {
        "reserve_cards": (13, 12),
        "reserve_first": ("anywhere", "foundation"),
        "stalemate_scores": (False, True),
        "max_turns": (500,),
    },
    "bank-russian": {"reserve_cards": (13, 12), "max_turns": (500,)},
    "bank-crapette": {"reserve_cards": (13, 12), "max_turns": (500,)},
}
"""By preset, the options that change what games are worth, and the values of them that are measured."""


def rule_sets() -> Iterator[tuple[Any, Options]]:
    """Every rule set that is measured, and its options."""
    presets: Mapping[str, Any] = {**malice.PRESETS, **bank.PRESETS}
    for preset, values in OPTIONS.items():
        for chosen in itertools.product(*values.values()):
            options = dict(zip(values, chosen, strict=True))
            yield dataclasses.replace(presets[preset], **options), options


def roots_malice(rules: malice.Rules, seeds: range) -> list[malice.Table]:
    """Deals of which nothing is known: their worlds are what is dealt. Either player starts half of them (M1)."""
    none = ((),) * SIDES
    return [
        malice.Table(
            rules=rules,
            mover=mover,
            payoff=((0,) * rules.payoff_cards, (0,) * rules.payoff_cards),
            hand=((0,) * HAND, (0,) * HAND),
            sides=(none, none),
            centers=((),) * CENTER_STACKS,
            stock=(0,) * (len(DECK) - 2 * (rules.payoff_cards + HAND)),
        )
        for mover in (0, 1)
    ]


def roots_bank(rules: bank.Rules, seeds: range) -> list[bank.Table]:
    """Deals as the players know them, each of which has two worlds; who starts is as dealt (S1, R1)."""
    return [bank_masked(dealt_bank(rules, seed)) for seed in seeds[: engines.ROOTS]]


ROOTS: Final[Mapping[str, Callable[[Any, range], list[Any]]]] = {"malice": roots_malice, "bank": roots_bank}


def played(engine: engines.Engine, family: str, rules: Any, batch: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Points of player 0 and endings of the games of a batch, [BATCH] each."""
    each = engines.FAMILIES[family]
    seeds = range(batch * BATCH, (batch + 1) * BATCH)
    tables = ROOTS[family](rules, seeds)
    row = np.arange(BATCH)
    entry, number = (row % len(tables)).astype(np.int32), (row // len(tables)).astype(np.uint32)
    worlds = _sampling(family)(each.knowledge(tables, seeds[: len(tables)]), leaf(entry), leaf(number))
    roots = engines.padded(each.to_state(tables), engines.ROOTS)
    results = engine.rollouts(family, roots, worlds, entry, row.astype(np.int32)).result()
    return np.asarray(results.points), np.asarray(results.ending)


def measure(engine: engines.Engine, rules: Any, options: Options, games: int) -> dict[str, Any]:
    """One rule set's row of the data."""
    family = next(name for name, each in (("malice", malice), ("bank", bank)) if isinstance(rules, each.Rules))
    batches = [played(engine, family, rules, batch) for batch in range(games // BATCH)]
    points, ending = (np.concatenate(parts).astype(np.int64) for parts in zip(*batches, strict=True))
    return {
        "preset": rules.preset,
        "options": dict(options),
        "adjudicated": int((ending == ADJUDICATED).sum()),
        "won": np.bincount(np.abs(points)).tolist(),
    }


@functools.cache
def _sampling(family: str) -> Callable[..., Any]:
    return jax.jit(engines.FAMILIES[family].sample)


def written(games: int, rows: Sequence[Mapping[str, Any]]) -> str:
    """The data as JSON, a rule set a line."""
    about = {
        "made_by": "python -m benchmarks.equity",
        "engine_version": version("zank"),
        "games": games,
        "first_seed": 0,
    }
    head = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in about.items())
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return f'{{\n{head},\n"rule_sets": [\n{lines}\n]\n}}\n'


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--games", type=int, default=GAMES, help=f"of each rule set, in batches of {BATCH}")
    parser.add_argument("--out", type=Path, default=PATH)
    given = parser.parse_args()
    engine = engines.Engine(cache_directory=given.cache)
    engine.warm_up()
    rows = []
    for rules, options in rule_sets():
        rows.append(measure(engine, rules, options, given.games))
        print(rules.preset, options, sum(p * n for p, n in enumerate(rows[-1]["won"])) / given.games, file=sys.stderr)
    engine.close()
    given.out.write_text(written(given.games, rows))
