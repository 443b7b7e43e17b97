"""Rollout policy of Russian Bank: one look at the table, which both players see alike.

In order of preference the policy plays to the foundations; gets the reserve card away, to the tableau, to the opponent
or to a space; loads the opponent from the tableau; moves the only card of a tableau pile to make a space for the
reserve; places the drawn card; turns the stock; and ends the turn. It makes no other tableau move while there is
anything else to do, so that no turn goes round in circles (B12). Of equal moves it takes the first.
"""

import jax
import jax.numpy as jnp

from zank_kernel.bank.play import (
    DESTINATIONS,
    DRAWN,
    END,
    LOADS,
    NO_ACTION,
    RESERVE,
    TO_FOUNDATION,
    TO_TABLEAU,
    TURN,
    WORD,
    legal_moves,
    view,
)
from zank_kernel.bank.state import TABLEAU, State
from zank_kernel.lanes import fold, rows, stage


def choose(state: State) -> jax.Array:
    """The policy's action in every lane, int32 [B]; NO_ACTION in a finished game."""
    seen = view(state)
    possible = legal_moves(state, seen)
    moves, turn, end = stage((possible.moves, possible.turn, possible.end))
    reserve, drawn, tableau = moves[RESERVE], moves[DRAWN], moves[:TABLEAU]
    with_reserve = seen.reserve_count > 0
    to_piles = TO_TABLEAU & ~seen.spaces
    # A pile that a tableau move has just begun is left alone: to move its card back would restore the tableau (B12).
    begun = state.begun >> (1 + rows(TABLEAU)) & 1
    single = (state.count[:TABLEAU] + begun == 1) & with_reserve
    alone = jnp.where(single, tableau & to_piles, WORD(0))  # makes a space
    any_tableau, any_alone = stage((fold(jnp.bitwise_or, tableau), fold(jnp.bitwise_or, alone)))

    # What would be played from the reserve, of the drawn card, and from the tableau.
    of_reserve = preferred(reserve, TO_FOUNDATION, to_piles, LOADS)
    of_drawn = preferred(drawn, TO_FOUNDATION, LOADS, to_piles)
    kinds = (any_tableau & TO_FOUNDATION, any_tableau & LOADS, any_alone)
    of_tableau = jnp.where(kinds[0] != 0, WORD(TO_FOUNDATION), jnp.where(kinds[1] != 0, WORD(LOADS), to_piles))
    other = (kinds[0] | kinds[1] | kinds[2]) == 0
    of_tableau = jnp.where(other, WORD(0xFFFF), of_tableau)
    makes_space = ~other & (kinds[0] == 0) & (kinds[1] == 0)
    of_tableau, makes_space = stage((of_tableau, makes_space))
    shown = jnp.where(makes_space, alone, tableau) & of_tableau
    low = shown & -shown
    key = jnp.where(shown != 0, rows(TABLEAU) << 4 | jax.lax.population_count(low - 1), WORD(0xFFFF))
    key = stage(fold(jnp.minimum, key))

    # Which of them it is.
    up = TO_FOUNDATION
    drawn_waits = with_reserve & (of_drawn & seen.spaces != 0) & (of_drawn & ~seen.spaces == 0)
    by_reserve = (of_reserve & up != 0) | ((of_reserve != 0) & (of_drawn & up == 0) & (kinds[0] == 0))
    by_drawn = (of_drawn & up != 0) | ((of_drawn != 0) & ~drawn_waits & other)
    rest = turn | end
    by_drawn = by_drawn | ((of_drawn != 0) & other & ~rest)
    by_tableau = (any_tableau != 0) & ~(other & rest)
    word = jnp.where(by_reserve, of_reserve, of_drawn)
    destination = jax.lax.population_count((word & -word) - 1)
    single_source = jnp.where(by_reserve, WORD(0), WORD(DESTINATIONS)) + destination
    from_tableau = (2 + (key >> 4)) * DESTINATIONS + (key & 15)
    action = jnp.where(by_tableau, from_tableau, jnp.where(turn, WORD(TURN), WORD(END)))
    action = jnp.where(by_reserve | by_drawn, single_source, action)
    plays = by_reserve | by_drawn | by_tableau | rest
    return jnp.where(plays, action.astype(jnp.int32), NO_ACTION)


def preferred(word: jax.Array, *kinds: jax.Array | int) -> jax.Array:
    """The moves of `word` that are of the first kind that any is of; all of them where there is none."""
    chosen = word
    for kind in reversed(kinds):
        chosen = jnp.where(word & kind != 0, word & kind, chosen)
    return chosen
