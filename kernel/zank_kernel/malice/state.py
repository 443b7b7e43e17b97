"""State of a game of Spite & Malice over lanes.

What is asked of cards is mostly whether one of these is among those, so cards are bits: bit `r` of a word stands for
rank `r`, 1 (ace) to 13 (king), and 0 for no card, or a card that is not known. Suits never matter
(proto/rules-malice.md). Words are of 16 bits throughout, so that one loop over lanes handles them together.

Each player has five *piles*, the payoff pile and four side stacks, and five *slots* of cards in hand; those of player 0
come first. Lanes are the last axis, named `B`. Sizes leave room for four center stacks, 30 payoff cards and 162 cards.
"""

import dataclasses
from typing import Final

import jax
import numpy as np

from zank_kernel import host

KING: Final = 13
QUEEN: Final = 12
RANKS: Final = 13
HAND: Final = 5
SIDES: Final = 4
PILES: Final = 1 + SIDES
CENTERS: Final = 4
PAYOFF: Final = 30
DEPTH: Final = 160

# Rule bits, see `rules.Rules.bits`.
WILD_STARTS: Final = 1
SIDE_ENDS_TURN: Final = 2
ENDS_WHEN_SHORT: Final = 4
SHORTER_WINS: Final = 8

# Endings.
RUNNING: Final = 0
OUT: Final = 1
STOCK_OUT: Final = 2


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class State:
    """Games of Spite & Malice, one a lane.

    A card in a pile is stored with its *run*: the bits of the cards from it downwards that follow each other upwards in
    rank without a king, so that a path through a tidy stack is known without looking under its top. Its own bit is the
    lowest. A payoff card is a run of its own.
    """

    rules: jax.Array  # uint16 [B]: rule bits
    mover: jax.Array  # uint16 [B]: player to move, 0 or 1
    pile: jax.Array  # uint16 [1 + DEPTH, 2 * PILES, B]: runs, bottom first, upon a row of 0; stale above the top
    count: jax.Array  # uint16 [2 * PILES, B]: cards in each pile
    top: jax.Array  # uint16 [2 * PILES, B]: the run on top, 0 = none, or not known
    hand: jax.Array  # uint16 [2 * HAND, B]: the bit of the card in each slot
    needed: jax.Array  # uint16 [CENTERS, B]: the bit of the rank that each center stack needs, 0 = no such stack
    kings: jax.Array  # uint16 [CENTERS, B]: bit h set = the card at height h + 1 is a king
    stock: jax.Array  # uint16 [RANKS, B]: cards of rank at most 1, 2, … 13 in the stock
    due: jax.Array  # bool [B]: the mover must draw up to five cards before anything else
    drawn: jax.Array  # uint16 [2, B]: cards each player has drawn since the root
    key: jax.Array  # uint32 [2, B]: key of this world's stream of draws
    moves: jax.Array  # int16 [B]: moves played since the root
    ending: jax.Array  # int8 [B]: RUNNING, OUT, STOCK_OUT or ADJUDICATED
    points: jax.Array  # int16 [B]: result from player 0's view, 0 while running


def empty(lanes: int) -> State:
    """Lanes without a game: everything 0, already ended. Leaves of the host."""
    return State(
        rules=host.zeros((lanes,), np.uint16),
        mover=host.zeros((lanes,), np.uint16),
        pile=host.zeros((1 + DEPTH, 2 * PILES, lanes), np.uint16),
        count=host.zeros((2 * PILES, lanes), np.uint16),
        top=host.zeros((2 * PILES, lanes), np.uint16),
        hand=host.zeros((2 * HAND, lanes), np.uint16),
        needed=host.zeros((CENTERS, lanes), np.uint16),
        kings=host.zeros((CENTERS, lanes), np.uint16),
        stock=host.zeros((RANKS, lanes), np.uint16),
        due=host.zeros((lanes,), np.bool_),
        drawn=host.zeros((2, lanes), np.uint16),
        key=host.zeros((2, lanes), np.uint32),
        moves=host.zeros((lanes,), np.int16),
        ending=host.leaf(np.full((lanes,), OUT, np.int8)),
        points=host.zeros((lanes,), np.int16),
    )
