"""Rules of play of Spite & Malice over lanes: legal moves, playing a move, drawing.

An action is `4 * source + target`. Sources 0: payoff, 1–4: side stacks, 5–9: hand slots, each to a center stack
(`target` 0–3); sources 10–14: hand slots discarded on a side stack (`target` 0–3). -1 is no action.
A move is played in two halves: `play` is the player's choice, `draw` what the stock then does; between the two
`State.need` says how many cards are due.
"""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel import random
from zank_kernel.family import FORBIDDEN, Rulings
from zank_kernel.lanes import any_of, of_player, stage, total
from zank_kernel.malice.state import (
    CENTERS,
    ENDS_WHEN_SHORT,
    HAND,
    KING,
    OUT,
    QUEEN,
    RANKS,
    SHORTER_WINS,
    SIDE_ENDS_TURN,
    SIDES,
    STOCK_OUT,
    WILD_STARTS,
    State,
)

PLAYS: Final = (1 + SIDES + HAND) * CENTERS
DISCARDS: Final = HAND * SIDES
ACTIONS: Final = PLAYS + DISCARDS
NO_ACTION: Final = -1
SOURCES: Final = 1 + SIDES + HAND


def payoff_tops(state: State) -> jax.Array:
    """Rank of the top payoff card of each player, int8 [2, B]; 0 = none, or not known."""
    top = jnp.maximum(state.payoff_count, 1).astype(jnp.int32) - 1
    return jnp.take_along_axis(state.payoff, top[:, None, :], axis=1)[:, 0, :] * (state.payoff_count > 0)


def sources(state: State) -> jax.Array:
    """Ranks the mover can play from, int8 [SOURCES, B]: payoff top, side tops, hand slots; 0 = none."""
    tops = of_player(state.mover, state.side_top.reshape(2, SIDES, -1))
    return jnp.concatenate(
        [
            of_player(state.mover, payoff_tops(state))[None],
            (tops & 15).astype(jnp.int8),
            of_player(state.mover, state.hand),
        ]
    )


def center_plays(state: State, ranks: jax.Array) -> jax.Array:
    """Which of `ranks` [SOURCES, B] fit which center stack, bool [SOURCES, CENTERS, B] (M3, M4, M5)."""
    needed = state.height + 1
    wild = (needed > 1) | ((needed == 1) & ((state.rules & WILD_STARTS) != 0))
    rank = ranks[:, None]
    return ((rank == needed) & (rank > 0)) | ((rank == KING) & wild)


def legal(state: State) -> jax.Array:
    """Legal actions, bool [ACTIONS, B]; none in a finished game or while a draw is due (M5, M6, M7).

    Of two equal ranks in hand only the first slot's moves are listed.
    """
    ranks = sources(state)
    hand = ranks[1 + SIDES :]
    earlier = jnp.arange(HAND)[:, None] > jnp.arange(HAND)
    repeated = ((hand[:, None] == hand) & earlier[..., None]).any(axis=1)
    fresh = jnp.concatenate([jnp.ones_like(repeated, shape=(1 + SIDES, hand.shape[-1])), ~repeated])
    lanes = hand.shape[-1]
    plays = (center_plays(state, ranks) & fresh[:, None]).reshape(PLAYS, lanes)
    discards = jnp.broadcast_to(((hand > 0) & ~repeated)[:, None], (HAND, SIDES, lanes)).reshape(DISCARDS, lanes)
    open_ = (state.ending == 0) & (state.need == 0)
    return jnp.concatenate([plays, discards]) & open_


def rulings(state: State) -> Rulings:
    """What bars each action; nothing is compulsory."""
    listed = legal(state)
    return Rulings(barred=jnp.where(listed, 0, FORBIDDEN).astype(jnp.int8), compelled=jnp.zeros_like(listed)[None])


def play(state: State, action: jax.Array) -> State:
    """Play one legal action a lane, int32 [B]; lanes with NO_ACTION stay as they are. Nothing is drawn yet."""
    lanes = action.shape[-1]
    lane = jnp.arange(lanes)
    action = action.astype(jnp.int32)
    source = action >> 2
    target = (action & 3).astype(jnp.int8)
    acts = action >= 0
    discard = action >= PLAYS
    to_center = acts & ~discard
    card_source = jnp.where(discard, source - HAND, source).astype(jnp.int8)
    ranks = sources(state)
    chosen = (jnp.arange(SOURCES, dtype=jnp.int8)[:, None] == card_source) & acts
    rank = stage(total(jnp.where(chosen, ranks, jnp.int8(0))))
    mover = state.mover
    from_payoff = chosen[0]
    from_side = chosen[1 : 1 + SIDES]  # [SIDES, B]
    from_hand = chosen[1 + SIDES :]  # [HAND, B]
    player = jnp.arange(2, dtype=jnp.int8)[:, None] == mover  # [2, B]

    # The card leaves its source (M5, M7).
    payoff_count = state.payoff_count - (player & from_payoff).astype(jnp.int8)
    hand = jnp.where(player[:, None] & from_hand, jnp.int8(0), state.hand)

    # The card reaches a center stack (M3, M4).
    at_center = (jnp.arange(CENTERS, dtype=jnp.int8)[:, None] == target) & to_center
    bit = jnp.where(at_center & (rank == KING), jnp.int16(1) << state.height.astype(jnp.int16), jnp.int16(0))
    height = state.height + at_center
    kings = state.kings | bit

    # M10: the last payoff card wins at once, before M9.
    won = stage(from_payoff & any_of((payoff_count == 0) & player))

    # M9: a complete stack goes back to the stock, kings as kings.
    complete = at_center & (height == QUEEN) & ~won
    gone = stage(total(jnp.where(complete, kings, jnp.int16(0))))
    place = jnp.arange(RANKS, dtype=jnp.int16)[:, None]
    returned = jnp.where(place < QUEEN, 1 - ((gone >> place) & 1), jax.lax.population_count(gone))
    stock = state.stock + jnp.where(stage(any_of(complete)), returned, jnp.int16(0))
    height = jnp.where(complete, jnp.int8(0), height)
    kings = jnp.where(complete, jnp.int16(0), kings)

    # Side stacks: one pop or one push (M5, M6).
    pile_target = (jnp.arange(SIDES, dtype=jnp.int8)[:, None] == target) & discard
    touched = (player[:, None] & (from_side | pile_target)).reshape(2 * SIDES, lanes)
    count = stage(total(jnp.where(touched, state.side_count, jnp.uint8(0)))).astype(jnp.int32)
    pile = jnp.where(discard, target, card_source - 1).astype(jnp.int32) + SIDES * mover.astype(jnp.int32)
    pile = jnp.where(any_of(touched), pile, 0)
    old_top = stage(total(jnp.where(touched, state.side_top, jnp.uint8(0))))
    follows = ((old_top & 15) == (rank.astype(jnp.uint8) + 1)) & (rank < QUEEN)
    run = jnp.where(follows, old_top >> 4, 0).astype(jnp.uint8) + 1
    pushed = rank.astype(jnp.uint8) + (run << 4)
    below = jnp.where(count >= 2, state.side[jnp.maximum(count - 2, 0), pile, lane], 0)
    new_top = jnp.where(discard, pushed, below)
    side_top = jnp.where(touched, new_top, state.side_top)
    step = jnp.where(discard, jnp.uint8(1), jnp.uint8(255))
    side_count = state.side_count + jnp.where(touched, step, jnp.uint8(0))
    # A pop writes back what it read, so that the write depends on the read: XLA then updates in place, without a copy.
    row = jnp.where(discard, count, jnp.where(count >= 2, count - 2, state.side.shape[0]))
    side = state.side.at[row, pile, lane].set(new_top, mode="drop", unique_indices=True)

    # End of the turn (M6) or an emptied hand (M8); M2: the next player draws up to five.
    held = total((hand > 0).astype(jnp.int8).swapaxes(0, 1))
    ends = discard | (any_of(from_side) & ((state.rules & SIDE_ENDS_TURN) != 0))
    emptied = any_of(from_hand) & to_center & (of_player(mover, held) == 0)
    need = jnp.where(ends, HAND - of_player(1 - mover, held), jnp.where(emptied, jnp.int8(HAND), jnp.int8(0)))
    need = jnp.where(acts, jnp.where(won, jnp.int8(0), need), state.need)
    next_mover = jnp.where(ends & ~won, 1 - mover, mover)

    # M12: the winner gets what the loser's payoff pile has left.
    loser_left = of_player(1 - mover, payoff_count).astype(jnp.int16)
    gain = jnp.where(mover == 0, loser_left, -loser_left)
    return dataclasses.replace(
        state,
        mover=next_mover,
        payoff_count=payoff_count,
        hand=hand,
        side=side,
        side_count=side_count,
        side_top=side_top,
        height=height,
        kings=kings,
        stock=stock,
        need=need,
        moves=state.moves + acts,
        ending=jnp.where(won, jnp.int8(OUT), state.ending),
        points=jnp.where(won, gain, state.points),
    )


def draw_ranks(state: State) -> jax.Array:
    """Ranks of the next five cards the mover would draw, int8 [HAND, B], from the world's stream of draws.

    The stock is exchangeable: card j is the `scale(bits(...), left - j)`-th of the cards still there in rank order.
    """
    left = total(state.stock)
    order = jnp.arange(HAND, dtype=jnp.int16)[:, None]
    number = of_player(state.mover, state.drawn) + order
    event = number.astype(jnp.uint32) * 2 + state.mover.astype(jnp.uint32)
    word = random.bits(state.key[0], state.key[1], event)
    index = stage(random.scale(word, jnp.maximum(left - order, 1).astype(jnp.uint32)).astype(jnp.int16))
    # Numbers among the cards left become places among all cards: those drawn earlier are stepped over.
    for earlier in range(HAND - 2, -1, -1):
        index = stage(index + ((order > earlier) & (index >= index[earlier])))
    ends = jnp.cumsum(state.stock, axis=0, dtype=jnp.int16)
    return 1 + total((index >= ends[:-1, None]).astype(jnp.int8))


def take(state: State, ranks: jax.Array) -> State:
    """Let the mover draw the cards due, the first of `ranks` int8 [HAND, B] (M2, M8), and test M11."""
    need = jnp.where(state.ending == 0, state.need, 0)
    left = total(state.stock)
    count = jnp.minimum(need, left).astype(jnp.int8)  # M11: a draw that cannot be completed takes what there is
    order = jnp.arange(HAND, dtype=jnp.int8)[:, None]
    dealt = stage(jnp.where(order < count, ranks, jnp.int8(0)))
    rank = jnp.arange(1, RANKS + 1, dtype=jnp.int8)[:, None]
    stock = state.stock - total((dealt[:, None] == rank).astype(jnp.int16))

    # The drawn cards fill the empty slots in order.
    mine = of_player(state.mover, state.hand)
    free = mine == 0
    place = jnp.cumsum(free, axis=0, dtype=jnp.int8) - 1
    filled = total(jnp.where(free & (place == order[:, None]), dealt[:, None], jnp.int8(0)))
    player = jnp.arange(2, dtype=jnp.int8)[:, None] == state.mover
    hand = state.hand + jnp.where(player[:, None], filled, jnp.int8(0))

    # M11: a draw of no card is no draw.
    short = left < need
    dry = short | ((left == need) & ((state.rules & ENDS_WHEN_SHORT) == 0))
    over = (need > 0) & dry
    lead = (state.payoff_count[1] - state.payoff_count[0]).astype(jnp.int16)
    shorter = (state.rules & SHORTER_WINS) != 0
    return dataclasses.replace(
        state,
        hand=hand,
        stock=stock,
        need=jnp.zeros_like(state.need),
        drawn=state.drawn + jnp.where(player, count, jnp.int8(0)),
        ending=jnp.where(over, jnp.int8(STOCK_OUT), state.ending),
        points=jnp.where(over & shorter, lead, state.points),
    )


def draw(state: State) -> State:
    """Draw the cards due at random from the world's stream of draws; lanes with nothing due stay as they are."""
    return take(state, draw_ranks(state))
