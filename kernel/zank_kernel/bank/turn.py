"""What a turn of Russian Bank is to the player who plans it."""

import jax
import jax.numpy as jnp

from zank_kernel.bank.play import RESERVE, view
from zank_kernel.bank.state import COUNTED, DEPTH, FOUNDATIONS, SUITS, TABLEAU, UNKNOWN, State
from zank_kernel.keys import contents, fact, facts, in_order, together
from zank_kernel.lanes import of_player


def goes_on(state: State, player: jax.Array) -> jax.Array:
    """Whether the turn of `player` (int8 [B]) goes on and nothing unknown has come to light, bool [B].

    It does not where the turn or the game is over, and where an unknown card is turned up, from the reserve (B5) or the
    stock (B6).
    """
    seen = view(state)
    unknown = (state.drawn == UNKNOWN) | ((seen.reserve_count > 0) & (seen.sources[RESERVE] == 0))
    return (state.ending == 0) & (state.mover == player) & ~unknown


def left(state: State, player: jax.Array) -> jax.Array:
    """Cards that `player` (int8 [B]) has to play to win (B8), int16 [B]; -1 where one of them is not known."""
    reserve, stock = of_player(player, state.count[TABLEAU:]), of_player(player, state.stock)
    place = jnp.arange(DEPTH, dtype=jnp.uint16)[:, None]
    turned_down = ((place - of_player(player, state.head)) & (DEPTH - 1)) < stock
    piles = state.pile.swapaxes(0, 1)
    unknown = ((of_player(player, piles[TABLEAU:COUNTED]) == 0) & (place < reserve)).any(axis=0)
    unknown |= ((of_player(player, piles[COUNTED:]) == 0) & turned_down).any(axis=0)
    own = (state.mover == player) & (state.drawn != 0)
    count = reserve + stock + of_player(player, state.waste) + own
    return jnp.where(unknown, jnp.int16(-1), count.astype(jnp.int16))


def arrangement(state: State) -> jax.Array:
    """What the key leaves open, the order of the tableau piles and of the foundations; uint32 [2, B]."""
    return together(in_order(_contents(state)[:TABLEAU], 0), in_order(state.foundation.astype(jnp.uint32), 1))


def key(state: State) -> jax.Array:
    """Key of a position within a turn, uint32 [2, B]: tableau piles, and foundations of a suit, in any order (B11)."""
    suit = (jnp.arange(FOUNDATIONS, dtype=jnp.uint32) % SUITS)[:, None]
    owner = jnp.arange(2, dtype=jnp.uint32)[:, None]
    turn = (state.mover.astype(jnp.uint32) * 8 + state.ending.astype(jnp.uint32)) * 2 + state.opening
    piles = _contents(state)
    return together(
        fact(turn, 0),
        fact(state.drawn, 1),
        *(
            facts(counts.astype(jnp.uint32) * 2 + owner, kind)
            for kind, counts in ((2, state.stock), (3, state.waste), (4, state.quiet))
        ),
        facts(piles[COUNTED:] + owner, 5),
        facts(piles[TABLEAU:COUNTED] + owner, 6),
        facts(state.foundation.astype(jnp.uint32) * SUITS + suit, 7),
        facts(piles[:TABLEAU], 8),
    )


def _contents(state: State) -> jax.Array:
    """Hashes of the contents of the piles, uint32 [PILES, B].

    The rings begin at 0 when a turn is planned, so that equal cards lie in equal places.
    """
    return contents(state.pile, jnp.concatenate([state.count, state.head + state.stock + state.waste]))
