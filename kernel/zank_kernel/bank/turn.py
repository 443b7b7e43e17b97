"""What a turn of Russian Bank is to the player who plans it."""

import jax
import jax.numpy as jnp

from zank_kernel.bank.play import view
from zank_kernel.bank.state import COPIES, FOUNDATIONS, QUEUE, RESERVE, SUITS, State
from zank_kernel.keys import contents, fact, facts, in_order, together
from zank_kernel.lanes import of_player


def goes_on(state: State, player: jax.Array) -> jax.Array:
    """Whether the turn of `player` (int8 [B]) goes on and nothing unknown has come to light, bool [B].

    It does not where the turn or the game is over, and where an unknown card is turned up, from the reserve (B5) or the
    stock (B6).
    """
    seen = view(state)
    unknown = (state.drawn < 0) | ((seen.reserve_count > 0) & (seen.sources[0] == 0))
    return (state.ending == 0) & (state.mover == player) & ~unknown


def left(state: State, player: jax.Array) -> jax.Array:
    """Cards that `player` (int8 [B]) has to play to win (B8), int16 [B]; -1 where one of them is not known."""
    reserve, stock = of_player(player, state.reserve_count), of_player(player, state.stock)
    head = of_player(player, state.head)
    depth = jnp.arange(RESERVE, dtype=jnp.int16)[:, None]
    cell = jnp.arange(QUEUE, dtype=jnp.int16)[:, None]
    turned_down = ((cell - head) & (QUEUE - 1)) < stock
    unknown = ((of_player(player, state.reserve.swapaxes(0, 1)) == 0) & (depth < reserve)).any(axis=0)
    unknown |= ((of_player(player, state.queue.swapaxes(0, 1)) == 0) & turned_down).any(axis=0)
    own = (state.mover == player) & (state.drawn != 0)
    return jnp.where(unknown, jnp.int16(-1), reserve + stock + of_player(player, state.waste) + own)


def arrangement(state: State) -> jax.Array:
    """What the key leaves open, the order of the tableau piles and of the foundations; uint32 [2, B]."""
    tableau = contents(state.tableau, state.tableau_count)
    return together(in_order(tableau, 0), in_order(state.foundation.astype(jnp.uint32), 1))


def key(state: State) -> jax.Array:
    """Key of a position within a turn, uint32 [2, B]: tableau piles, and foundations of a suit, in any order (B11)."""
    suit = (jnp.arange(FOUNDATIONS, dtype=jnp.uint32) // COPIES)[:, None]
    owner = jnp.arange(2, dtype=jnp.uint32)[:, None]
    turn = (state.mover.astype(jnp.uint32) * 8 + state.ending.astype(jnp.uint32)) * 2 + state.opening
    # The rings begin at 0 when a turn is planned, so that equal cards lie in equal cells.
    end = state.head + state.stock + state.waste
    return together(
        fact(turn, 0),
        fact(state.drawn, 1),
        *(
            facts(counts.astype(jnp.uint32) * 2 + owner, kind)
            for kind, counts in ((2, state.stock), (3, state.waste), (4, state.quiet))
        ),
        facts(contents(state.queue, end) + owner, 5),
        facts(contents(state.reserve, state.reserve_count) + owner, 6),
        facts(state.foundation.astype(jnp.uint32) * SUITS + suit, 7),
        facts(contents(state.tableau, state.tableau_count), 8),
    )
