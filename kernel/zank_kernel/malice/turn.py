"""What a turn of Spite & Malice is to the player who plans it."""

import jax
import jax.numpy as jnp

from zank_kernel.keys import contents, fact, facts, in_order, together
from zank_kernel.lanes import of_player
from zank_kernel.malice.play import piles
from zank_kernel.malice.state import DEPTH, HAND, PILES, RANKS, SIDES, State


def goes_on(state: State, player: jax.Array) -> jax.Array:
    """Whether the turn of `player` (int8 [B]) goes on and nothing unknown has come to light, bool [B].

    It does not where the turn or the game is over, where cards are drawn (M8), and where an unknown payoff card is
    turned up (M5).
    """
    unknown = (_payoff(state, state.mover)[0] > 0) & (piles(state, state.mover)[0] == 0)
    return (state.ending == 0) & ~state.due & (state.mover == player) & ~unknown


def left(state: State, player: jax.Array) -> jax.Array:
    """Payoff cards that `player` (int8 [B]) has to play to win (M10), int16 [B]; -1 where one of them is not known."""
    count, cards = _payoff(state, player)
    place = jnp.arange(1 + DEPTH, dtype=jnp.uint16)[:, None]
    unknown = ((cards == 0) & (place >= 1) & (place <= count)).any(axis=0)
    return jnp.where(unknown, jnp.int16(-1), count.astype(jnp.int16))


def arrangement(state: State) -> jax.Array:
    """What the key leaves open, the order of the stacks; uint32 [2, B]."""
    return together(in_order(_centers(state), 0), in_order(_sides(state), 1))


def key(state: State) -> jax.Array:
    """Key of a position within a turn, uint32 [2, B]: stacks, and cards in hand, in any order."""
    owner = (jnp.arange(2 * SIDES, dtype=jnp.uint32) // SIDES)[:, None]
    rank = jnp.arange(RANKS, dtype=jnp.uint32)[:, None]
    turn = (state.mover.astype(jnp.uint32) * 8 + state.ending.astype(jnp.uint32)) * 2 + state.due
    hand = state.hand.reshape(2, HAND, -1)
    return together(
        fact(turn, 0),
        *(fact(state.count[player * PILES], 1 + player) for player in (0, 1)),
        *(facts(hand[player], 3 + player) for player in (0, 1)),
        facts(_centers(state), 5),
        facts(state.stock.astype(jnp.uint32) * RANKS + rank, 6),
        facts(_sides(state) + owner, 7),
    )


def _payoff(state: State, player: jax.Array) -> tuple[jax.Array, jax.Array]:
    """How many cards a player's payoff pile has, uint16 [B], and which, in the rows of `State.pile`."""
    cards = of_player(player, state.pile[:, ::PILES].swapaxes(0, 1))
    return of_player(player, state.count[::PILES]), cards


def _centers(state: State) -> jax.Array:
    """The contents of the center stacks in a number each, uint32 [CENTERS, B]."""
    return state.needed.astype(jnp.uint32) * (1 << 16) + state.kings.astype(jnp.uint32)


def _sides(state: State) -> jax.Array:
    """Hashes of the contents of the side stacks, uint32 [2 * SIDES, B]."""
    hashes = contents(state.pile[1:], state.count).reshape(2, PILES, -1)
    return hashes[:, 1:].reshape(2 * SIDES, -1)
