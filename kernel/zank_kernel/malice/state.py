"""State of a game of Spite & Malice over lanes.

Ranks are 1 (ace) to 13 (king); 0 is no card, or a card that is not known. Suits never matter (proto/rules-malice.md).
Lanes are the last axis, named `B`. Sizes leave room for four center stacks, 30 payoff cards and 162 cards.
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

    A side card is stored with its *run*: how many cards from it downwards follow each other upwards in rank without
    a king (`rank + 16 * run`), so that a path through a tidy stack is known without looking under its top.
    """

    rules: jax.Array  # int8 [B]: rule bits
    mover: jax.Array  # int8 [B]: player to move, 0 or 1
    payoff: jax.Array  # int8 [2, PAYOFF, B]: payoff piles, bottom first
    payoff_count: jax.Array  # int8 [2, B]
    hand: jax.Array  # int8 [2, HAND, B]: hand slots, 0 = empty or unknown
    side: jax.Array  # uint8 [DEPTH, 2 * SIDES, B]: side stacks, bottom first, rank + 16 * run; stale above the top
    side_count: jax.Array  # uint8 [2 * SIDES, B]
    side_top: jax.Array  # uint8 [2 * SIDES, B]: rank + 16 * run of the top card, 0 = empty
    height: jax.Array  # int8 [CENTERS, B]: center heights 0 … 11, -1 = no such stack
    kings: jax.Array  # int16 [CENTERS, B]: bit h set = the card at height h + 1 is a king
    stock: jax.Array  # int16 [RANKS, B]: cards of each rank in the stock
    need: jax.Array  # int8 [B]: cards the mover must draw before anything else
    drawn: jax.Array  # int16 [2, B]: cards each player has drawn since the root
    key: jax.Array  # uint32 [2, B]: key of this world's stream of draws
    moves: jax.Array  # int16 [B]: moves played since the root
    ending: jax.Array  # int8 [B]: RUNNING, OUT, STOCK_OUT or ADJUDICATED
    points: jax.Array  # int16 [B]: result from player 0's view, 0 while running


def empty(lanes: int) -> State:
    """Lanes without a game: everything 0, already ended. Leaves of the host."""
    return State(
        rules=host.zeros((lanes,), np.int8),
        mover=host.zeros((lanes,), np.int8),
        payoff=host.zeros((2, PAYOFF, lanes), np.int8),
        payoff_count=host.zeros((2, lanes), np.int8),
        hand=host.zeros((2, HAND, lanes), np.int8),
        side=host.zeros((DEPTH, 2 * SIDES, lanes), np.uint8),
        side_count=host.zeros((2 * SIDES, lanes), np.uint8),
        side_top=host.zeros((2 * SIDES, lanes), np.uint8),
        height=host.zeros((CENTERS, lanes), np.int8),
        kings=host.zeros((CENTERS, lanes), np.int16),
        stock=host.zeros((RANKS, lanes), np.int16),
        need=host.zeros((lanes,), np.int8),
        drawn=host.zeros((2, lanes), np.int16),
        key=host.zeros((2, lanes), np.uint32),
        moves=host.zeros((lanes,), np.int16),
        ending=host.leaf(np.full((lanes,), OUT, np.int8)),
        points=host.zeros((lanes,), np.int16),
    )
