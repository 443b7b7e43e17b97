"""State of a game of Russian Bank over lanes.

A card is `16 * suit + rank`: rank 1 (ace) to 13 (king) in the low half, suit 0 to 3 (clubs, diamonds, hearts, spades)
in the high half; 0 is no card, or a card that is not known. So two cards of one suit and neighbouring ranks differ by
1, and no others do. Words are of 16 bits throughout, so that one loop over lanes handles them together.

There are twelve *piles*: eight of the tableau, the reserves of both players, and their queues. A player's stock and
waste are one queue in a ring: the stock from the card to be turned next, then the waste from the card thrown first.
Turning the waste over (B6) moves no card. Lanes are the last axis, named `B`.
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
TABLEAU: Final = 8  # tableau piles
RESERVES: Final = 2  # then those of player 0 and player 1
COUNTED: Final = TABLEAU + RESERVES
PILES: Final = COUNTED + 2  # then the queues of player 0 and player 1
DEPTH: Final = 128  # a power of two, for the rings; there are 104 cards
UNKNOWN: Final = 64  # a drawn card that a root does not know: of no rank

# Endings.
RUNNING: Final = 0
OUT: Final = 1
STALEMATE: Final = 4


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class State:
    """Games of Russian Bank, one a lane."""

    rules: jax.Array  # uint16 [B]: rule bits, see `rules.Rules.bits`
    max_turns: jax.Array  # uint16 [B]: turns after which a game is adjudicated, 0 = never (B10)
    mover: jax.Array  # uint16 [B]: player to move, 0 or 1; in a finished game who moved last
    foundation: jax.Array  # uint16 [FOUNDATIONS, B]: heights, one copy of each suit, then the other
    pile: jax.Array  # uint16 [DEPTH, PILES, B]: cards, bottom first, or a ring; stale above the top
    count: jax.Array  # uint16 [COUNTED, B]: cards in each pile but the queues
    top: jax.Array  # uint16 [PILES, B]: top cards, of a queue that of the waste; 0 = none, or not known
    head: jax.Array  # uint16 [2, B]: where the stock begins in the ring
    stock: jax.Array  # uint16 [2, B]: cards in the stock
    waste: jax.Array  # uint16 [2, B]: cards in the waste
    drawn: jax.Array  # uint16 [B]: the mover's drawn card, 0 = none, UNKNOWN = turned from a hidden stock
    begun: (
        jax.Array
    )  # uint16 [B]: bit 1 + p: a tableau move began pile p in a space, and no other move came since (B12)
    opening: jax.Array  # bool [B]: the opening turn has not got past its aces yet (S1)
    quiet: jax.Array  # uint16 [2, B]: turns each player has ended since the last progress (B10)
    turns: jax.Array  # uint16 [B]: turns ended
    moves: jax.Array  # int16 [B]: moves played since the root
    ending: jax.Array  # int8 [B]: RUNNING, OUT, STALEMATE or ADJUDICATED
    points: jax.Array  # int16 [B]: result from player 0's view, 0 while running


def empty(lanes: int) -> State:
    """Lanes without a game: everything 0, already ended. Leaves of the host."""
    shapes: dict[str, tuple[int, ...]] = {
        "foundation": (FOUNDATIONS,),
        "pile": (DEPTH, PILES),
        "count": (COUNTED,),
        "top": (PILES,),
        "head": (2,),
        "stock": (2,),
        "waste": (2,),
        "quiet": (2,),
    }
    words = ("rules", "max_turns", "mover", *shapes, "drawn", "begun", "turns")
    return State(
        **{name: host.zeros((*shapes.get(name, ()), lanes), np.uint16) for name in words},
        opening=host.zeros((lanes,), np.bool_),
        moves=host.zeros((lanes,), np.int16),
        ending=host.leaf(np.full((lanes,), OUT, np.int8)),
        points=host.zeros((lanes,), np.int16),
    )
