"""Positions to measure with: deals, and positions from games played by the rollout policy."""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from zank_kernel import malice, random
from zank_kernel.host import leaf
from zank_kernel.malice import play, policy
from zank_kernel.malice.deal import dealt
from zank_kernel.malice.table import Table, from_state, masked

DRAWS_STREAM: Final = 1  # of a deal's seed: what is drawn later


def deals(preset: str, count: int) -> list[Table]:
    """Full positions at the start of games 0 … count - 1."""
    return [dealt(malice.PRESETS[preset], seed) for seed in range(count)]


def played(preset: str, count: int, moves: int) -> list[Table]:
    """Masked positions after `moves` moves of the rollout policy in the first `count` games that last so long."""
    rules = malice.PRESETS[preset]
    seeds = np.arange(2 * count, dtype=np.uint32)
    start = malice.FAMILY.to_state([dealt(rules, int(seed)) for seed in seeds])
    key = random.stream_key(leaf(seeds), leaf(np.zeros_like(seeds)), jnp.uint32(DRAWS_STREAM))

    def games(lanes: malice.State) -> malice.State:
        state: malice.State = jax.lax.fori_loop(
            0, moves, lambda _, now: play.draw(play.play(now, policy.choose(now))), lanes
        )
        return state

    after = jax.tree.map(np.asarray, jax.jit(games)(dataclasses.replace(start, key=leaf(np.stack(key)))))
    going_on = np.flatnonzero(after.ending == 0)[:count]
    return [masked(from_state(after, int(lane), rules)) for lane in going_on]
