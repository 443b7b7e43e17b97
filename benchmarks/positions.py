"""Positions to measure with: deals, and positions from games played by the rollout policy."""

import dataclasses
from typing import Any

import jax
import numpy as np

from zank_kernel import malice
from zank_kernel.host import leaf
from zank_kernel.malice import play, policy
from zank_kernel.malice.deal import dealt
from zank_kernel.malice.table import Table, from_state, masked


def deals(preset: str, count: int) -> list[Table]:
    """Full positions at the start of games 0 … count - 1."""
    return [dealt(malice.FAMILY.presets[preset], seed) for seed in range(count)]


def played(preset: str, count: int, moves: int) -> list[Table]:
    """Masked positions after `moves` moves of the rollout policy in the first `count` games that last so long."""
    tables = deals(preset, 2 * count)
    state = malice.FAMILY.to_state(tables)
    key = np.random.default_rng(moves).integers(0, 2**32, (2, len(tables)), dtype=np.uint32)
    state = dataclasses.replace(state, key=leaf(key))

    def advance(lanes: Any) -> Any:
        def step(_: Any, lanes: Any) -> Any:
            return play.draw(play.play(lanes, policy.choose(lanes)))

        return jax.lax.fori_loop(0, moves, step, lanes)

    after = jax.tree.map(np.asarray, jax.jit(advance)(state))
    rules = malice.FAMILY.presets[preset]
    going_on = np.flatnonzero(after.ending == 0)[:count]
    return [masked(from_state(after, int(lane), rules)) for lane in going_on]
