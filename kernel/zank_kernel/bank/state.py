"""State of a game of Russian Bank over lanes.

A card is `16 * suit + rank`: rank 1 (ace) to 13 (king) in the low half, suit 0 to 3 (clubs, diamonds, hearts, spades)
in the high half; 0 is no card, or a card that is not known. So two cards of one suit and neighbouring ranks differ by
1, and no others do. Lanes are the last axis, named `B`.
"""

import dataclasses
from typing import Final

import jax
import numpy as np

from zank_kernel import host

SUITS: Final = 4
KING: Final = 13
COPIES: Final = 2
FOUNDATIONS: Final = SUITS * COPIES
PILES: Final = 8  # tableau piles
RUN: Final = 13  # cards in a tableau pile at most: it goes down by one rank a card (B3)
RESERVE: Final = 104  # loading may go on for ever, but there are no more cards
QUEUE: Final = 128  # a power of two, at least 104
UNKNOWN: Final = -1  # a drawn card that a root does not know

# Endings.
RUNNING: Final = 0
OUT: Final = 1
STALEMATE: Final = 4


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class State:
    """Games of Russian Bank, one a lane.

    A player's stock and waste are one queue in a ring: the stock from the card to be turned next, then the waste from
    the card thrown first. Turning the waste over (B6) moves no card.
    """

    rules: jax.Array  # int32 [B]: rule bits, see `rules.Rules.bits`
    max_turns: jax.Array  # int16 [B]: turns after which a game is adjudicated, 0 = never (B10)
    mover: jax.Array  # int8 [B]: player to move, 0 or 1; in a finished game who moved last
    foundation: jax.Array  # int8 [FOUNDATIONS, B]: height of the copies of each suit, suit by suit
    tableau: jax.Array  # int8 [RUN, PILES, B]: tableau piles, bottom first; stale above the top
    tableau_count: jax.Array  # int8 [PILES, B]
    tableau_top: jax.Array  # int8 [PILES, B]: 0 = a space
    reserve: jax.Array  # int8 [RESERVE, 2, B]: reserves, bottom first; stale above the top
    reserve_count: jax.Array  # int16 [2, B]
    queue: jax.Array  # int8 [QUEUE, 2, B]: stock and waste of each player, a ring
    head: jax.Array  # int16 [2, B]: where the stock begins in the ring
    stock: jax.Array  # int16 [2, B]: cards in the stock
    waste: jax.Array  # int16 [2, B]: cards in the waste
    drawn: jax.Array  # int8 [B]: the mover's drawn card, 0 = none, UNKNOWN = turned from a hidden stock
    opening: jax.Array  # bool [B]: the opening turn has not got past its aces yet (S1)
    quiet: jax.Array  # int16 [2, B]: turns each player has ended since the last progress (B10)
    turns: jax.Array  # int16 [B]: turns ended
    moves: jax.Array  # int16 [B]: moves played since the root
    ending: jax.Array  # int8 [B]: RUNNING, OUT, STALEMATE or ADJUDICATED
    points: jax.Array  # int16 [B]: result from player 0's view, 0 while running


def empty(lanes: int) -> State:
    """Lanes without a game: everything 0, already ended. Leaves of the host."""
    shapes: dict[str, tuple[tuple[int, ...], type]] = {
        "rules": ((), np.int32),
        "max_turns": ((), np.int16),
        "mover": ((), np.int8),
        "foundation": ((FOUNDATIONS,), np.int8),
        "tableau": ((RUN, PILES), np.int8),
        "tableau_count": ((PILES,), np.int8),
        "tableau_top": ((PILES,), np.int8),
        "reserve": ((RESERVE, 2), np.int8),
        "reserve_count": ((2,), np.int16),
        "queue": ((QUEUE, 2), np.int8),
        "head": ((2,), np.int16),
        "stock": ((2,), np.int16),
        "waste": ((2,), np.int16),
        "drawn": ((), np.int8),
        "opening": ((), np.bool_),
        "quiet": ((2,), np.int16),
        "turns": ((), np.int16),
        "moves": ((), np.int16),
        "points": ((), np.int16),
    }
    zeros = {name: host.zeros((*shape, lanes), dtype) for name, (shape, dtype) in shapes.items()}
    return State(**zeros, ending=host.leaf(np.full((lanes,), OUT, np.int8)))
