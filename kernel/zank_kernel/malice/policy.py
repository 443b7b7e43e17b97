"""Rollout policy of Spite & Malice: decides on what the player to move can see.

Seen are the own hand, both payoff tops, all side stacks and the center. In order of preference the policy plays the
payoff card; a card on the cheapest covered path to it; a card that shuts the other player's payoff card out; cards
that do not bring the center near the other player's payoff card; and discards tidily, keeping kings.
"""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.malice.play import NO_ACTION, SOURCES, center_plays, of_mover, payoff_tops, sources
from zank_kernel.malice.state import CENTERS, HAND, KING, QUEEN, SIDES, State


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weights:
    """Scores by which the policy ranks moves; each move's score must stay within 1 … 511."""

    payoff: int = 500
    path: int = 440
    path_king: int = 420
    block: int = 380
    block_king: int = 340
    free_side: int = 300
    free_hand: int = 310
    free_distance: int = 4  # free plays must leave the other payoff card more than this many ranks away
    discard: int = 120
    follow: int = 60
    same: int = 40
    empty: int = 20
    bury: int = 2
    bury_king: int = 30
    keep_king: int = 90
    high: int = 1


DEFAULT: Final = Weights()


def choose(state: State, weights: Weights = DEFAULT) -> jax.Array:
    """The policy's action in every lane, int32 [B]; NO_ACTION in a finished game or while a draw is due."""
    ranks = sources(state)  # [SOURCES, B]
    fits = center_plays(state, ranks)  # [SOURCES, CENTERS, B]
    hand = ranks[1 + SIDES :]
    tops = of_mover(state.mover, state.side_top.reshape(2, SIDES, -1))
    top_rank = (tops & 15).astype(jnp.int8)
    own = ranks[0]
    other = of_mover(1 - state.mover, payoff_tops(state))
    needed = state.height + 1  # [CENTERS, B]

    # Which ranks can be put on each center stack this turn: the hand, and side runs that start at or above it.
    one = jnp.int16(1)
    in_hand = jnp.int16(0)
    for slot in range(HAND):
        in_hand = in_hand | (one << hand[slot].astype(jnp.int16))
    run = (((one << (tops >> 4).astype(jnp.int16)) - 1) << top_rank.astype(jnp.int16)) * (top_rank < KING)
    reach = jnp.broadcast_to(in_hand, needed.shape)
    for pile in range(SIDES):
        reach = reach | jnp.where(top_rank[pile] >= needed, run[pile], jnp.int16(0))
    wilds = (ranks[1:] == KING).sum(axis=0, dtype=jnp.int16)

    # The gap between each center stack and the payoff card, and how many kings it takes to close it.
    gap = (one << own.astype(jnp.int16)) - (one << needed.astype(jnp.int16))
    on_way = (own > needed) & (own < KING) & (needed > 0)
    missing = jax.lax.population_count(jnp.where(on_way, gap & ~reach, jnp.int16(0)))
    length = (own - needed).astype(jnp.int16)
    cost = jnp.where(on_way & (missing <= wilds), missing * 64 + length * 4, jnp.int16(2000))
    cost = cost + jnp.arange(CENTERS, dtype=jnp.int16)[:, None]
    cheapest = cost.min(axis=0)
    on_path = (cost == cheapest) & (cheapest < 2000)  # [CENTERS, B]: at most one

    # Center plays.
    king = (ranks == KING)[:, None]
    source = jnp.arange(SOURCES, dtype=jnp.int16)[:, None, None]
    from_side = (source >= 1) & (source <= SIDES)
    after = (other - needed - 1).astype(jnp.int16)  # ranks between the stack after a play and the other payoff card
    shuts = (needed == other) & (other > 0)
    far = (after < 0) | (after > weights.free_distance)
    side_first = jnp.where(from_side, jnp.int16(4), jnp.int16(0))
    path = jnp.where(king, jnp.int16(weights.path_king), jnp.int16(weights.path)) + side_first
    block = jnp.where(king, jnp.int16(weights.block_king), jnp.int16(weights.block)) + side_first
    free = jnp.where(from_side, jnp.int16(weights.free_side), jnp.int16(weights.free_hand))
    score = jnp.where(far & ~king, free, jnp.int16(0))
    score = jnp.where(shuts, block, score)
    score = jnp.where(on_path, path, score)
    score = jnp.where(source == 0, jnp.int16(weights.payoff) + jnp.where(far, jnp.int16(1), jnp.int16(0)), score)
    score = jnp.where(fits, score, jnp.int16(0))  # [SOURCES, CENTERS, B]

    # Discards.
    card = hand[:, None].astype(jnp.int16)  # [HAND, 1, B]
    top = top_rank[None].astype(jnp.int16)  # [1, SIDES, B]
    drop = top - card
    place = jnp.where(
        drop > 1,
        jnp.int16(20) - weights.bury * drop,
        jnp.int16(10) + weights.bury * drop,
    )
    place = jnp.where(top == KING, jnp.int16(-weights.bury_king), place)
    place = jnp.where(drop == 1, jnp.where(top == KING, jnp.int16(0), jnp.int16(weights.follow)), place)
    place = jnp.where(drop == 0, jnp.int16(weights.same), place)
    place = jnp.where(top == 0, jnp.int16(weights.empty), place)
    keep = (hand == KING).astype(jnp.int16) * weights.keep_king - weights.high * jnp.minimum(hand, QUEEN).astype(
        jnp.int16
    )
    discard = jnp.where(card > 0, place - keep[:, None] + weights.discard, jnp.int16(0))  # [HAND, SIDES, B]

    lanes = hand.shape[-1]
    scores = jnp.concatenate([score.reshape(-1, lanes), discard.reshape(-1, lanes)])
    action = jnp.arange(scores.shape[0], dtype=jnp.int16)[:, None]
    best = (scores * 64 + (63 - action)).max(axis=0)
    open_ = (state.ending == 0) & (state.need == 0) & (best >= 64)
    return jnp.where(open_, 63 - (best & 63), NO_ACTION).astype(jnp.int32)
