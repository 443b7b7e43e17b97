"""How the rollouts go on with a turn, as far as nothing unknown comes to light."""

from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.bank.play import NO_ACTION, play, view
from zank_kernel.bank.policy import choose
from zank_kernel.bank.state import State

LENGTH: Final = 32  # moves; longer turns are cut off


def rest_of_turn(state: State, player: jax.Array) -> jax.Array:
    """The policy's moves for `player` (int8 [B], who moved last), int32 [LENGTH, B]; NO_ACTION after the last.

    The line ends with the turn, with the game, and where an unknown card is turned up.
    """

    def step(index: int, carry: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
        state, line = carry
        seen = view(state)
        unknown = (state.drawn < 0) | ((seen.reserve_count > 0) & (seen.sources[0] == 0))
        goes_on = (state.ending == 0) & (state.mover == player) & ~unknown
        action = jnp.where(goes_on, choose(state), NO_ACTION)
        return play(state, action), line.at[index].set(action)

    nothing = jnp.full((LENGTH, player.shape[0]), NO_ACTION, jnp.int32)
    end: tuple[State, jax.Array] = jax.lax.fori_loop(0, LENGTH, step, (state, nothing))
    return end[1]
