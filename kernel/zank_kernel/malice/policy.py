"""Rollout policy of Spite & Malice: decides on what the player to move can see.

Seen are the own hand, both payoff tops, all side stacks and the center. In order of preference the policy plays the
payoff card; a card on the cheapest covered path to it; a card that shuts the other player's payoff card out; cards
that do not bring the center near the other player's payoff card; and discards tidily, keeping kings.
"""

import dataclasses
import functools
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.lanes import fold, largest, of_player, stage, total
from zank_kernel.malice.play import NO_ACTION, PLAYS, center_plays, payoff_tops, sources
from zank_kernel.malice.state import CENTERS, HAND, KING, QUEEN, SIDES, State


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weights:
    """Scores by which the policy ranks moves; each move's score must stay within 1 … 511."""

    payoff: int = 500
    path: int = 440
    path_king: int = 420
    block: int = 380
    block_king: int = 340
    free: int = 310
    side: int = 10
    free_distance: int = 4  # free plays must leave the other payoff card more than this many ranks away
    discard: int = 120
    follow: int = 60
    same: int = 40
    empty: int = 20
    bury: int = 2
    bury_king: int = 30
    keep_king: int = 90
    high: int = 1


WEIGHTS: Final = Weights()
ACTION_SPAN: Final = 64  # scores are multiples of it, actions below it
NO_PATH: Final = 2_000  # more than any path costs


def choose(state: State) -> jax.Array:
    """The policy's action in every lane, int32 [B]; NO_ACTION in a finished game or while a draw is due."""
    ranks = sources(state)  # [SOURCES, B]
    fits = center_plays(state, ranks)  # [SOURCES, CENTERS, B]
    hand = ranks[1 + SIDES :]
    tops = of_player(state.mover, state.side_top.reshape(2, SIDES, -1))
    top_rank = (tops & 15).astype(jnp.int8)
    other = of_player(1 - state.mover, payoff_tops(state))
    needed = state.height + 1  # [CENTERS, B]

    # Which ranks can be put on each center stack this turn: the hand, and side runs that start at or above it.
    one = jnp.int16(1)
    hand_bits = one << hand.astype(jnp.int16)
    runs = (((one << (tops >> 4).astype(jnp.int16)) - 1) << top_rank.astype(jnp.int16)) * (top_rank < KING)
    in_hand, wilds, own, other, runs = stage(
        (fold(jnp.bitwise_or, hand_bits), total((ranks[1:] == KING).astype(jnp.int8)), ranks[0], other, runs)
    )
    startable = jnp.where(top_rank[:, None] >= needed, runs[:, None], jnp.int16(0))  # [SIDES, CENTERS, B]
    reach = in_hand | fold(jnp.bitwise_or, startable)

    # The gap between each center stack and the payoff card, and how many kings it takes to close it.
    gap = (one << own.astype(jnp.int16)) - (one << needed.astype(jnp.int16))
    on_way = (own > needed) & (own < KING) & (needed > 0)
    missing = jax.lax.population_count(gap & ~reach)
    length = (own - needed).astype(jnp.int16)
    cost = missing * 64 + length * 4 + jnp.arange(CENTERS, dtype=jnp.int16)[:, None]
    cost = jnp.where(on_way & (missing <= wilds), cost, jnp.int16(NO_PATH))
    cheapest = stage(fold(jnp.minimum, stage(cost)))
    chosen = jnp.where(cheapest < NO_PATH, cheapest & 3, jnp.int16(-1))
    on_path = jnp.arange(CENTERS, dtype=jnp.int16)[:, None] == chosen  # [CENTERS, B]: at most one

    # Center plays: what a natural card and a king are worth on each center stack, a little less from a side stack.
    after = other - needed - 1  # ranks between the stack after a play and the other payoff card
    shuts = (needed == other) & (other > 0)
    far = (after < 0) | (after > WEIGHTS.free_distance)

    def worth(path: int, block: int, free: int) -> jax.Array:
        score = jnp.where(far, jnp.int16(free), jnp.int16(0))
        return jnp.where(on_path, jnp.int16(path), jnp.where(shuts, jnp.int16(block), score))

    natural = worth(WEIGHTS.path, WEIGHTS.block, WEIGHTS.free)
    wild = worth(WEIGHTS.path_king, WEIGHTS.block_king, 0)
    payoff = jnp.where(far, jnp.int16(WEIGHTS.payoff + 1), jnp.int16(WEIGHTS.payoff))
    natural, wild, payoff = stage((natural, wild, payoff))
    own_side = (jnp.arange(SIDES + HAND) < SIDES).astype(jnp.int16)[:, None, None] * WEIGHTS.side
    plays = jnp.where((ranks[1:] == KING)[:, None], wild, natural)
    plays = jnp.where(fits[1:] & (plays > 0), plays - own_side, jnp.int16(0))  # [SIDES + HAND, CENTERS, B]
    payoff = jnp.where(fits[:1], payoff, jnp.int16(0))  # [1, CENTERS, B]

    # Discards.
    card = hand[:, None].astype(jnp.int16)  # [HAND, 1, B]
    top = top_rank[None].astype(jnp.int16)  # [1, SIDES, B]
    drop = top - card
    place = jnp.where(
        drop > 1,
        jnp.int16(20) - WEIGHTS.bury * drop,
        jnp.int16(10) + WEIGHTS.bury * drop,
    )
    place = jnp.where(top == KING, jnp.int16(-WEIGHTS.bury_king), place)
    place = jnp.where(drop == 1, jnp.where(top == KING, jnp.int16(0), jnp.int16(WEIGHTS.follow)), place)
    place = jnp.where(drop == 0, jnp.int16(WEIGHTS.same), place)
    place = jnp.where(top == 0, jnp.int16(WEIGHTS.empty), place)
    keep = (hand == KING).astype(jnp.int16) * WEIGHTS.keep_king - WEIGHTS.high * jnp.minimum(hand, QUEEN).astype(
        jnp.int16
    )
    discard = jnp.where(card > 0, place - keep[:, None] + WEIGHTS.discard, jnp.int16(0))  # [HAND, SIDES, B]

    # The action travels in the low bits of its score, so that one maximum finds both.
    best = functools.reduce(jnp.maximum, (ranked(payoff, 0), ranked(plays, CENTERS), ranked(discard, PLAYS)))
    best = stage(best)
    open_ = (state.ending == 0) & (state.need == 0) & (best >= ACTION_SPAN)
    return jnp.where(open_, ACTION_SPAN - 1 - (best & (ACTION_SPAN - 1)), NO_ACTION).astype(jnp.int32)


def ranked(score: jax.Array, first: int) -> jax.Array:
    """Best of `score` [source, target, B] with its action in the low bits, the first being `first`.

    One maximum finds both; lower actions win ties.
    """
    sources, targets, _ = score.shape
    action = jnp.arange(first, first + sources * targets, dtype=jnp.int16).reshape(sources, targets, 1)
    return largest(largest(stage(score * ACTION_SPAN + (ACTION_SPAN - 1 - action))))
