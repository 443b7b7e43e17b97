"""The rollout policy of Spite & Malice: it decides on what its player can see.

In order of preference it plays the payoff card; a card on the cheapest path to it, which takes fewest kings and is the
shortest of those; a card that shuts the other player's payoff card out; a natural card that does not bring the center
near the other player's payoff card; and else it discards tidily, keeping kings. A natural card goes before a king, a
card in hand before one on a side stack, and of equal moves the first.
"""

import dataclasses
import functools
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.lanes import fold, of_player, rows, stage, total
from zank_kernel.malice.play import KING_BIT, NATURALS, NO_ACTION, PLAYS, WORD, hand_of, lowest, piles, wild
from zank_kernel.malice.state import CENTERS, HAND, KING, PILES, QUEEN, SIDES, State

FREE_DISTANCE: Final = 4  # free plays must leave the other payoff card more than this many ranks away
NONE: Final = 0xFFFF


@dataclasses.dataclass(frozen=True, kw_only=True)
class Discards:
    """What a discard is worth: its place on a side stack, less the worth of keeping the card."""

    follow: int = 60  # on the next rank up
    same: int = 40
    empty: int = 20  # on an empty stack
    above: int = 20  # on a higher rank, less `bury` for each rank between
    below: int = 10  # on a lower rank, less the same
    bury: int = 2
    on_king: int = -30
    queen_on_king: int = 0
    keep_king: int = 90
    high: int = 1  # for each rank, queen and king alike: the higher, the sooner it goes


DISCARDS: Final = Discards()
SPAN: Final = 32  # scores of discards are multiples of it; below is which of the 20 it is, the first highest
NO_DISCARD: Final = -(1 << 14)  # less than any score
NO_CARD: Final = 16  # the rank that an empty slot or side stack seems to have


def choose(state: State) -> jax.Array:
    """The policy's action in every lane, int32 [B]; NO_ACTION in a finished game or while a draw is due."""
    mine, hand = piles(state, state.mover), hand_of(state, state.mover)
    against = lowest(of_player(1 - state.mover, state.top.reshape(2, PILES, -1)[:, 0]))
    mine, hand, against = stage((mine, hand, against))
    own, sides = mine[0], mine[1:]
    tops = lowest(sides)
    held = fold(jnp.bitwise_or, hand)
    cards = held | fold(jnp.bitwise_or, tops)
    wilds = total((hand == KING_BIT).astype(WORD)) + total((tops == KING_BIT).astype(WORD))
    needed = fold(jnp.bitwise_or, state.needed)
    # The ranks that a center stack can need without being near: it has passed the other payoff card, or is far below.
    some = against != 0
    passed = -jnp.where(some, against, WORD(1))
    below = (jnp.maximum(against, WORD(2 << FREE_DISTANCE)) >> (FREE_DISTANCE + 1)) - 1
    distant = passed | jnp.where(some, below, WORD(0))
    held, cards, wilds, needed, distant = stage((held, cards, wilds, needed, distant))

    # The ranks as which the payoff card can be played: a king rather where it does not help the other player.
    stands = wild(state)
    fitting = needed & stands
    better = fitting & distant
    payoff = jnp.where(own == KING_BIT, jnp.where(better != 0, better, fitting), needed & own)

    # The gap between each center stack and the payoff card, and how many kings it takes to close it: ranks can be put
    # there from the hand, and from side runs that start at or above the rank that the stack needs.
    usable = (sides[:, None] & (state.needed - 1)) == 0  # [SIDES, CENTERS, B]
    reach = held | fold(jnp.bitwise_or, jnp.where(usable, sides[:, None], WORD(0)))
    gap = own - state.needed  # the bits of the ranks between
    missing = jax.lax.population_count(gap & ~reach)
    on_way = (state.needed != 0) & (state.needed < own) & (own < KING_BIT)
    cheapest = fold(jnp.minimum, stage(jnp.where(on_way, missing << QUEEN | gap, WORD(NONE))))
    start = jnp.where((cheapest >> QUEEN) <= wilds, own - (cheapest & ((1 << QUEEN) - 1)), WORD(0))

    # The ranks to play, and the cards that will do: the natural ones, or kings.
    playable = cards | jnp.where(wilds > 0, stands, WORD(0))
    start, shut = start & playable, needed & against & playable
    free = needed & distant & cards & NATURALS
    ranks = jnp.where(start != 0, start, jnp.where(shut != 0, shut, free))
    natural = ranks & cards & NATURALS
    sought = jnp.where(natural != 0, natural, jnp.where(ranks != 0, WORD(KING_BIT), WORD(0)))
    payoff, ranks, sought = stage((payoff, ranks, sought))

    def first(cards: jax.Array, place: int) -> jax.Array:
        """The first card sought, of some with places from `place` on: the place, and the bit unless it is a king."""
        key = (rows(cards.shape[0]) + place) << QUEEN | (cards & NATURALS) >> 1
        return fold(jnp.minimum, jnp.where((cards & sought) != 0, key, WORD(NONE)))

    found = stage(jnp.minimum(first(hand, 0), first(tops, HAND)))
    place, bit = found >> QUEEN, (found & ((1 << QUEEN) - 1)) << 1
    source = jnp.where(place < HAND, place + PILES, place - (HAND - 1))
    source = jnp.where(payoff != 0, WORD(0), source)
    onto = jnp.where(payoff != 0, payoff, jnp.where(bit != 0, bit, ranks))
    source, onto = stage((source, onto))
    target = fold(jnp.minimum, jnp.where((state.needed & onto) != 0, rows(CENTERS), WORD(NONE)))
    play = (source * CENTERS + target).astype(jnp.int16)

    action = jnp.where((payoff | sought) != 0, play, discard(hand, tops))
    open_ = (state.ending == 0) & ~state.due
    return jnp.where(open_, action, jnp.int16(NO_ACTION)).astype(jnp.int32)


def discard(hand: jax.Array, tops: jax.Array) -> jax.Array:
    """The discard with the best score, the first of equals, int16 [B]; NO_ACTION without a card in hand."""
    d, int16 = DISCARDS, jnp.int16
    card, top = (jax.lax.population_count(bits - 1).astype(int16) for bits in (hand, tops))
    slot, side = jnp.arange(HAND, dtype=int16)[:, None], jnp.arange(SIDES, dtype=int16)[:, None]
    # Of equal scores the first slot is best, and there the first side stack.
    first_slot, first_side = SIDES * (HAND - 1 - slot), SIDES - 1 - side
    king, none = top == KING, top == NO_CARD
    follow = jnp.where(king, int16(d.queen_on_king * SPAN), int16(d.follow * SPAN)) + first_side
    fixed = jnp.where(king, int16(d.on_king * SPAN), int16(d.empty * SPAN)) + first_side
    rest = jnp.where(card == KING, int16((d.high * QUEEN - d.keep_king) * SPAN), card * (d.high * SPAN)) + first_slot
    rest = jnp.where(card == NO_CARD, int16(NO_DISCARD), rest)
    top = jnp.where(none, int16(10 * NO_CARD), top)  # neither follows nor repeats
    card, top, rest, follow, fixed, special = stage((card, top, rest, follow, fixed, king | none))
    drop = top - card[:, None]  # [HAND, SIDES, B]
    bury = d.bury * SPAN * drop
    place = jnp.where(drop > 1, d.above * SPAN - bury, d.below * SPAN + bury) + first_side
    place = jnp.where(special, fixed, place)
    place = jnp.where(drop == 1, follow, place)
    place = jnp.where(drop == 0, d.same * SPAN + first_side, place)
    best: jax.Array = functools.reduce(
        jnp.maximum, [fold(jnp.maximum, place[slot]) + rest[slot] for slot in range(HAND)]
    )
    best = stage(best)
    action = int16(PLAYS + HAND * SIDES - 1) - (best & (SPAN - 1))
    return jnp.where(best > NO_DISCARD // 2, action, int16(NO_ACTION))
