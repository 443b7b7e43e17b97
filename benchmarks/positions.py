"""Positions to measure with: deals, and positions from games played by the rollout policy."""

import jax
import jax.numpy as jnp
import numpy as np

from zank_kernel import malice
from zank_kernel.malice import play, policy
from zank_kernel.malice.deal import deal_lanes, dealt
from zank_kernel.malice.table import Table, from_state, masked


def deals(preset: str, count: int) -> list[Table]:
    """Full positions at the start of games 0 … count - 1."""
    return [dealt(malice.PRESETS[preset], seed) for seed in range(count)]


def played(preset: str, count: int, moves: int) -> list[Table]:
    """Masked positions after `moves` moves of the rollout policy in the first `count` games that last so long."""
    rules = malice.PRESETS[preset]

    def games(low: jax.Array) -> malice.State:
        def step(_: int, lanes: malice.State) -> malice.State:
            return play.draw(play.play(lanes, policy.choose(lanes)))

        state: malice.State = jax.lax.fori_loop(0, moves, step, deal_lanes(rules, low, jnp.zeros_like(low)))
        return state

    after = jax.tree.map(np.asarray, jax.jit(games)(jnp.arange(2 * count, dtype=jnp.uint32)))
    going_on = np.flatnonzero(after.ending == 0)[:count]
    return [masked(from_state(after, int(lane), rules)) for lane in going_on]
