"""Rollout policy of Russian Bank: one look at the table, which both players see alike.

In order of preference the policy plays to the foundations; gets the reserve card away; loads the opponent; moves the
only card of a tableau pile to make a space for the reserve; places the drawn card; turns the stock; and ends the turn.
It makes no other tableau move while there is anything else to do, so that no turn goes round in circles (B12).
"""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.bank.play import (
    DESTINATIONS,
    FOUNDATION,
    NO_ACTION,
    OPPONENT_RESERVE,
    SOURCES,
    TURN,
    legal,
    view,
)
from zank_kernel.bank.state import State
from zank_kernel.lanes import largest, stage

ACTION_SPAN: Final = 128  # scores are multiples of it, actions below it


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weights:
    """Scores by which the policy ranks moves; each move's score must stay within 1 … 255."""

    foundation: int = 236
    reserve_to_tableau: int = 220
    reserve_loads: int = 215
    reserve_to_space: int = 200
    tableau_loads: int = 190
    make_space: int = 185
    drawn_loads: int = 180
    drawn_to_tableau: int = 176
    drawn_to_space: int = 120
    turn: int = 100
    end: int = 60
    other: int = 1


WEIGHTS: Final = Weights()


def choose(state: State) -> jax.Array:
    """The policy's action in every lane, int32 [B]; NO_ACTION in a finished game."""
    seen = view(state)
    possible = stage(legal(state, seen))
    lanes = state.mover.shape[0]
    with_reserve = seen.reserve_count > 0

    # Scores by kind of source and destination; the few that depend on the position are spliced in.
    source = jnp.arange(SOURCES)[:, None, None]
    destination = jnp.arange(DESTINATIONS)[None, :, None]
    reserve, drawn = source == 0, source == 1
    to_foundation, loads = destination == FOUNDATION, destination >= OPPONENT_RESERVE
    nowhere = jnp.zeros((1, lanes), bool)
    space = jnp.concatenate([nowhere, state.tableau_top == 0, nowhere, nowhere])[None]  # [1, DESTINATIONS, B]
    single = jnp.concatenate([nowhere, nowhere, state.tableau_count == 1])[:, None] & with_reserve  # [SOURCES, 1, B]

    def score(of_reserve: int, of_drawn: int, of_tableau: int) -> jax.Array:
        return jnp.where(reserve, jnp.int16(of_reserve), jnp.where(drawn, jnp.int16(of_drawn), jnp.int16(of_tableau)))

    w = WEIGHTS
    spare = jnp.where(with_reserve, jnp.int16(w.other), jnp.int16(w.drawn_to_space))
    to_space = jnp.where(drawn, spare, score(w.reserve_to_space, 0, w.other))
    shift = jnp.where(single, jnp.int16(w.make_space), jnp.int16(w.other))
    to_pile = jnp.where(source >= 2, shift, score(w.reserve_to_tableau, w.drawn_to_tableau, 0))
    to_tableau = jnp.where(space, to_space, to_pile)
    other = jnp.where(loads, score(w.reserve_loads, w.drawn_loads, w.tableau_loads), to_tableau)
    scores = jnp.where(to_foundation, jnp.int16(w.foundation), other)
    moves = jnp.where(possible[:TURN].reshape(SOURCES, DESTINATIONS, lanes), scores, jnp.int16(0))
    action = jnp.arange(TURN, dtype=jnp.int16).reshape(SOURCES, DESTINATIONS, 1)
    keys = stage(moves * ACTION_SPAN + (ACTION_SPAN - 1 - action))
    rest = jnp.where(possible[TURN:], jnp.asarray([w.turn, w.end], jnp.int16)[:, None], jnp.int16(0))
    rest = rest * ACTION_SPAN + (ACTION_SPAN - 1 - jnp.arange(TURN, TURN + 2, dtype=jnp.int16)[:, None])
    best = stage(jnp.maximum(largest(stage(largest(keys))), largest(rest)))
    return jnp.where(best >= ACTION_SPAN, ACTION_SPAN - 1 - (best & (ACTION_SPAN - 1)), NO_ACTION).astype(jnp.int32)
