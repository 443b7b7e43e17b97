"""The rollout policy of Spite & Malice."""

import functools
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.lanes import fold, of_player, rows, stage, total
from zank_kernel.malice.play import (
    KING_BIT,
    NATURALS,
    NO_ACTION,
    PLAYS,
    WORD,
    hand_of,
    lowest,
    piles,
    wild,
)
from zank_kernel.malice.state import CENTERS, HAND, KING, PILES, QUEEN, SIDES, State

FREE_DISTANCE: Final = 4
NONE: Final = 0xFFFF


def choose(state: State) -> jax.Array:
    """The policy's action in every lane, int32 [B]; NO_ACTION in a finished game or while a draw is due."""
    mine = piles(state, state.mover)
    hand = hand_of(state, state.mover)
    against = lowest(of_player(1 - state.mover, state.top.reshape(2, PILES, -1)[:, 0]))
    mine, hand, against = stage((mine, hand, against))
    own = mine[0]
    sides = mine[1:]
    tops = lowest(sides)
    held = fold(jnp.bitwise_or, hand)
    shown = fold(jnp.bitwise_or, tops)
    cards = held | shown
    wilds = total((hand == KING_BIT).astype(WORD)) + total((tops == KING_BIT).astype(WORD))
    needed = fold(jnp.bitwise_or, state.needed)
    stands = wild(state)
    past = -jnp.where(against == 0, WORD(1), against)
    near = (jnp.maximum(against, WORD(2 << FREE_DISTANCE)) >> (FREE_DISTANCE + 1)) - 1
    distant = past | jnp.where(against == 0, WORD(0), near)
    held, cards, wilds, needed, distant = stage((held, cards, wilds, needed, distant))

    # payoff
    fitting = needed & stands
    better = fitting & distant
    payoff = jnp.where(own == KING_BIT, jnp.where(better != 0, better, fitting), needed & own)

    # path
    below = (sides[:, None] & (state.needed - 1)) == 0
    reach = held | fold(jnp.bitwise_or, jnp.where(below, sides[:, None], WORD(0)))
    gap = own - state.needed
    missing = jax.lax.population_count(gap & ~reach)
    on_way = (state.needed != 0) & (state.needed < own) & (own < KING_BIT)
    cost = stage(jnp.where(on_way, missing << 12 | gap, WORD(NONE)))
    cheapest = fold(jnp.minimum, cost)
    start = jnp.where((cheapest >> 12) <= wilds, own - (cheapest & 0xFFF), WORD(0))
    kings = jnp.where(wilds > 0, stands, WORD(0))
    playable = cards | kings
    start = start & playable
    shut = needed & against & playable
    free = needed & distant & cards & NATURALS
    ranks = jnp.where(start != 0, start, jnp.where(shut != 0, shut, free))
    natural = ranks & cards & NATURALS
    seek = jnp.where(natural != 0, natural, jnp.where(ranks != 0, WORD(KING_BIT), WORD(0)))
    payoff, ranks, seek = stage((payoff, ranks, seek))

    def found(cards: jax.Array, first: int) -> jax.Array:
        key = (rows(cards.shape[0]) + first) << 12 | (cards & NATURALS) >> 1
        return fold(jnp.minimum, jnp.where((cards & seek) != 0, key, WORD(NONE)))

    key = stage(jnp.minimum(found(hand, 0), found(tops, HAND)))
    place = key >> 12
    natural = (key & 0xFFF) << 1
    source = jnp.where(payoff != 0, WORD(0), jnp.where(place < HAND, place + PILES, place - (HAND - 1)))
    onto = jnp.where(payoff != 0, payoff, jnp.where(natural != 0, natural, ranks))
    plays = (payoff != 0) | (seek != 0)
    source, onto = stage((source, onto))
    target = fold(jnp.minimum, jnp.where((state.needed & onto) != 0, rows(CENTERS), WORD(NONE)))

    # discards
    card = jax.lax.population_count(hand - 1).astype(jnp.int16)
    top = jax.lax.population_count(tops - 1).astype(jnp.int16)
    side = jnp.arange(SIDES, dtype=jnp.int16)[:, None]
    slot = jnp.arange(HAND, dtype=jnp.int16)[:, None]
    term = jnp.where(card == KING, jnp.int16(120 + QUEEN - 90), 120 + card) * 32 + 4 * (7 - slot)
    term = jnp.where(card == 16, jnp.int16(-(1 << 14)), term)
    king, none = top == KING, top == 16
    follow = jnp.where(king, jnp.int16(0), jnp.int16(60 * 32)) + (3 - side)
    fixed = jnp.where(king, jnp.int16(-30 * 32), jnp.where(none, jnp.int16(20 * 32), jnp.int16(0))) + (3 - side)
    special = king | none
    top = jnp.where(none, jnp.int16(100), top)
    card, top, term, follow, fixed, special = stage((card, top, term, follow, fixed, special))
    drop = top - card[:, None]
    far = jnp.where(drop > 1, jnp.int16(20 * 32) - 64 * drop, jnp.int16(10 * 32) + 64 * drop) + (3 - side)
    score = jnp.where(special, fixed, far)
    score = jnp.where(drop == 1, follow, score)
    score = jnp.where(drop == 0, 40 * 32 + (3 - side), score)
    bests = [fold(jnp.maximum, score[slot]) + term[slot] for slot in range(HAND)]
    best: jax.Array = stage(functools.reduce(jnp.maximum, bests))
    discard = jnp.where(best >= 32, PLAYS + 31 - (best & 31), jnp.int16(NO_ACTION))

    action = jnp.where(plays, (source * 4 + target).astype(jnp.int16), discard)
    open_ = (state.ending == 0) & ~state.due
    return jnp.where(open_, action, jnp.int16(NO_ACTION)).astype(jnp.int32)
