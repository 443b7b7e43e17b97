"""Rules of play of Spite & Malice over lanes: legal moves, playing a move, drawing.

An action is `4 * source + target`. Sources 0: payoff, 1–4: side stacks, 5–9: hand slots, each to a center stack
(`target` 0–3); sources 10–14: hand slots discarded on a side stack (`target` 0–3). -1 is no action.
A move is played in two halves: `play` is the player's choice, `draw` what the stock then does; between the two
`State.due` says that cards are to be drawn.
"""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel import random
from zank_kernel.family import FORBIDDEN, Rulings
from zank_kernel.lanes import fold, get, of_player, put, rows, stacked, stage, total
from zank_kernel.malice.state import (
    CENTERS,
    ENDS_WHEN_SHORT,
    HAND,
    KING,
    OUT,
    PILES,
    QUEEN,
    RANKS,
    SHORTER_WINS,
    SIDE_ENDS_TURN,
    SIDES,
    STOCK_OUT,
    WILD_STARTS,
    State,
)

SOURCES: Final = PILES + HAND
PLAYS: Final = SOURCES * CENTERS
DISCARDS: Final = HAND * SIDES
ACTIONS: Final = PLAYS + DISCARDS
NO_ACTION: Final = -1

WORD: Final = jnp.uint16
ACE_BIT: Final = 1 << 1
QUEEN_BIT: Final = 1 << QUEEN
KING_BIT: Final = 1 << KING
NATURALS: Final = KING_BIT - ACE_BIT  # the bits of ace to queen
BEYOND: Final = 1 << 12  # a place in the stock beyond all


def lowest(runs: jax.Array) -> jax.Array:
    """The lowest bit of each word: of a run, the bit of its top card."""
    return runs & -runs


def piles(state: State, player: jax.Array) -> jax.Array:
    """Runs on the piles of `player`, uint16 [PILES, B]."""
    return of_player(player, state.top.reshape(2, PILES, -1))


def hand_of(state: State, player: jax.Array) -> jax.Array:
    """Cards in the hand of `player`, uint16 [HAND, B]."""
    return of_player(player, state.hand.reshape(2, HAND, -1))


def wild(state: State) -> jax.Array:
    """The ranks that a king can stand for, uint16 [B] (M4)."""
    starts = (state.rules & WILD_STARTS) != 0
    return jnp.where(starts, WORD(NATURALS), WORD(NATURALS - ACE_BIT))


def legal(state: State) -> jax.Array:
    """Legal actions, bool [ACTIONS, B]; none in a finished game or while a draw is due (M3–M7).

    Of two equal ranks in hand only the first slot's moves are listed.
    """
    lanes = state.mover.shape[-1]
    hand = hand_of(state, state.mover)
    slot = jnp.arange(HAND)
    repeated = ((hand[:, None] == hand) & (slot[:, None] > slot)[..., None]).any(axis=1)
    hand = jnp.where(repeated, WORD(0), hand)
    cards = jnp.concatenate([lowest(piles(state, state.mover)), hand])
    stands_for = jnp.where(cards == KING_BIT, wild(state), cards)
    plays = (stands_for[:, None] & state.needed) != 0
    discards = jnp.broadcast_to((hand != 0)[:, None], (HAND, SIDES, lanes))
    open_ = (state.ending == 0) & ~state.due
    return jnp.concatenate([plays.reshape(PLAYS, lanes), discards.reshape(DISCARDS, lanes)]) & open_


def rulings(state: State) -> Rulings:
    """What bars each action; nothing is compulsory."""
    listed = legal(state)
    return Rulings(barred=jnp.where(listed, 0, FORBIDDEN).astype(jnp.int8), compelled=jnp.zeros_like(listed)[None])


def play(state: State, action: jax.Array) -> State:
    """Play one legal action a lane, int32 [B]; lanes with NO_ACTION stay as they are. Nothing is drawn yet."""
    action = action.astype(jnp.int16)
    acts = action >= 0
    discard = action >= PLAYS
    word = action.astype(WORD)
    target = word & 3
    source = (word >> 2) - jnp.where(discard, WORD(HAND), WORD(0))  # of the card; beyond all where there is no action
    mover = state.mover
    from_hand = acts & (source >= PILES)
    slot = jnp.where(from_hand, source - PILES + HAND * mover, WORD(2 * HAND))
    pile = jnp.where(discard, 1 + target, source) + PILES * mover
    pile = jnp.where(discard | (acts & ~from_hand), pile, WORD(2 * PILES))
    center = jnp.where(acts & ~discard, target, WORD(CENTERS))
    slot, pile, center = stage((slot, pile, center))
    in_slot = rows(2 * HAND) == slot
    touched = rows(2 * PILES) == pile
    at_center = rows(CENTERS) == center

    # The card leaves its source (M5, M7).
    run = stage(fold(jnp.bitwise_or, jnp.where(touched, state.top, WORD(0))))  # on the pile, before the move
    held = fold(jnp.bitwise_or, jnp.where(in_slot, state.hand, WORD(0)))
    card = stage(jnp.where(from_hand, held, lowest(run)))
    hand = jnp.where(in_slot, WORD(0), state.hand)

    # Piles: one pop or one push (M5, M6).
    size = stage(total(jnp.where(touched, state.count, WORD(0))))
    column = jnp.minimum(pile, WORD(2 * PILES - 1))
    row = jnp.maximum(size, 1) - 1
    below = get(state.pile, row, column)
    above = jnp.where(card < QUEEN_BIT, card << 1, WORD(0))  # what the card follows; nothing follows a king
    pushed = card | jnp.where(lowest(run) == above, run, WORD(0))
    # Where nothing is pushed, what was read is written back: the write waits for the read, and so XLA writes in place.
    top = jnp.where(discard, pushed, below)
    stored = put(state.pile, jnp.where(discard, size + 1, row), column, top)
    left = jnp.where(discard, size + 1, row)

    # The card reaches a center stack (M3, M4). M10: the last payoff card wins at once, before M9.
    from_payoff = acts & (source == 0)
    won = from_payoff & (left == 0)
    rank = fold(jnp.bitwise_or, jnp.where(at_center, state.needed, WORD(0)))
    complete = (rank == QUEEN_BIT) & ~won
    advanced = jnp.where(complete, WORD(ACE_BIT), rank << 1)
    king_at = jnp.where(card == KING_BIT, rank >> 1, WORD(0))
    won, complete, advanced, king_at, left = stage((won, complete, advanced, king_at, left))
    needed = jnp.where(at_center, advanced, state.needed)
    kings = state.kings | jnp.where(at_center, king_at, WORD(0))

    # M9: a complete stack goes back to the stock, kings as kings.
    gone = total(jnp.where(at_center & complete, kings, WORD(0)))
    kings = jnp.where(at_center & complete, WORD(0), kings)
    height = rows(RANKS)
    wilds = jax.lax.population_count(gone & ((WORD(2) << height) - 1))
    returned = jnp.where(height < QUEEN, 1 + height - wilds, WORD(QUEEN))
    stock = state.stock + jnp.where(complete, returned, WORD(0))

    # End of the turn (M6) or an emptied hand (M8); M2: the next player draws up to five.
    from_side = acts & ~from_hand & ~from_payoff
    ends = discard | (from_side & ((state.rules & SIDE_ENDS_TURN) != 0))
    hands = hand.reshape(2, HAND, -1)
    emptied = fold(jnp.bitwise_or, of_player(mover, hands)) == 0
    full = fold(jnp.minimum, of_player(1 - mover, hands)) != 0
    due = jnp.where(ends, ~full, from_hand & emptied) & ~won

    # M12: the winner gets what the loser's payoff pile has left.
    loser_left = of_player(1 - mover, state.count.reshape(2, PILES, -1)[:, 0]).astype(jnp.int16)
    gain = jnp.where(mover == 0, loser_left, -loser_left)
    return dataclasses.replace(
        state,
        mover=jnp.where(ends & ~won, 1 - mover, mover),
        pile=stored,
        count=jnp.where(touched, left, state.count),
        top=jnp.where(touched, top, state.top),
        hand=hand,
        needed=needed,
        kings=kings,
        stock=stock,
        due=jnp.where(acts, due, state.due),
        moves=state.moves + acts,
        ending=jnp.where(won, jnp.int8(OUT), state.ending),
        points=jnp.where(won, gain, state.points),
    )


def empty_before(hand: jax.Array) -> jax.Array:
    """How many slots before each one are empty, uint16 [HAND, B]."""
    slot = rows(HAND)
    return total(jnp.where((hand == 0)[:, None] & (slot[:, None] < slot), WORD(1), WORD(0)))


def draw(state: State) -> State:
    """Draw the cards due at random from the world's stream of draws; lanes with nothing due stay as they are.

    The stock is exchangeable: card j is the `scale(bits(...), left - j)`-th of the cards still there in rank order.
    """
    left = state.stock[-1]
    mine = stage(hand_of(state, state.mover))
    order = stage(empty_before(mine))
    event = (of_player(state.mover, state.drawn) + order).astype(jnp.uint32) * 2 + state.mover.astype(jnp.uint32)
    word = random.bits(state.key[0], state.key[1], event)
    index = random.scale(word, jnp.maximum(left - order, 1).astype(jnp.uint32)).astype(WORD)
    active = (mine == 0) & state.due & (state.ending == 0) & (order < left)
    places = list(stage(jnp.where(active, index, WORD(BEYOND))))
    # Numbers among the cards left become places among all cards: those drawn earlier are stepped over.
    for earlier in range(HAND - 2, -1, -1):
        for later in range(earlier + 1, HAND):
            places[later] = places[later] + (places[later] >= places[earlier])
    place = stage(stacked(places))
    cards = WORD(ACE_BIT)
    for rank in range(1, RANKS):
        cards = cards + jnp.where(place >= state.stock[rank - 1], WORD(1 << rank), WORD(0))
    gone = total(jnp.where(place[:, None] < state.stock, WORD(1), WORD(0)))
    return filled(state, stage(jnp.where(place < BEYOND, cards, WORD(0))), gone)


def filled(state: State, cards: jax.Array, gone: jax.Array) -> State:
    """Let the mover draw `cards`, uint16 [HAND, B], by slot, and test M11.

    `gone`, uint16 [RANKS, B], says how many of them are of rank at most 1, 2, … 13.
    """
    mine = hand_of(state, state.mover)
    due = state.due & (state.ending == 0)
    left = state.stock[-1]
    need = total((mine == 0).astype(WORD))
    count = total((cards != 0).astype(WORD))
    mover = (rows(2 * HAND) >= HAND) == (state.mover > 0)
    hand = state.hand | jnp.where(mover, jnp.tile(cards, (2, 1)), WORD(0))

    # M11: a draw of no card is no draw; one that cannot be completed takes what there is.
    dry = (left < need) | ((left == need) & ((state.rules & ENDS_WHEN_SHORT) == 0))
    over = due & (need > 0) & dry
    payoff = state.count.reshape(2, PILES, -1)[:, 0].astype(jnp.int16)
    lead = payoff[1] - payoff[0]
    shorter = (state.rules & SHORTER_WINS) != 0
    return dataclasses.replace(
        state,
        hand=hand,
        stock=state.stock - gone,
        due=jnp.zeros_like(state.due),
        drawn=state.drawn + jnp.where(rows(2) == state.mover, count, WORD(0)),
        ending=jnp.where(over, jnp.int8(STOCK_OUT), state.ending),
        points=jnp.where(over & shorter, lead, state.points),
    )


def take(state: State, ranks: jax.Array) -> State:
    """Let the mover draw the cards due, the first of `ranks` int8 [HAND, B] (M2, M8), into empty slots in order."""
    mine = hand_of(state, state.mover)
    order = empty_before(mine)
    active = (mine == 0) & state.due & (state.ending == 0) & (order < state.stock[-1])
    bits = WORD(1) << ranks.astype(WORD)
    chosen = fold(jnp.bitwise_or, jnp.where(order == rows(HAND)[:, None], bits[:, None], WORD(0)))
    cards = jnp.where(active, chosen, WORD(0))
    gone = total(jnp.where((cards != 0)[:, None] & (cards[:, None] < (WORD(4) << rows(RANKS))), WORD(1), WORD(0)))
    return filled(state, cards, gone)
