"""Rules of play of Russian Bank over lanes: what fits, what the order of play compels, and playing a move.

An action is `11 * source + destination`. Sources 0: reserve, 1: drawn card, 2–9: tableau piles. Destinations 0: the
foundations, 1–8: tableau piles, 9: the opponent's reserve, 10: the opponent's waste. 110 is TURN, 111 is END, and -1 is
no action.
"""

import dataclasses
from typing import Final, NamedTuple

import jax
import jax.numpy as jnp

from zank_kernel.bank.rules import (
    ACES_OPEN,
    ANY_TO_FOUNDATION,
    DRAWN_ALONE,
    DRAWN_TO_FOUNDATION,
    OBLIGATIONS,
    RESERVE_BEFORE_TURNING,
    RESERVE_FILLS_SPACE,
    RESERVE_FIRST,
    RESERVE_TO_FOUNDATION,
    SPACES_FILLED,
    SPACES_FILLED_BY_RESERVE,
    STALEMATE_SCORES,
    TABLEAU_TO_FOUNDATION,
)
from zank_kernel.bank.state import (
    FOUNDATIONS,
    OUT,
    PILES,
    QUEUE,
    RESERVE,
    RUN,
    STALEMATE,
    SUITS,
    UNKNOWN,
    State,
)
from zank_kernel.family import ADJUDICATED, Rulings
from zank_kernel.lanes import any_of, of_player, stage, total

SOURCES: Final = 2 + PILES
DESTINATIONS: Final = 1 + PILES + 2
TURN: Final = SOURCES * DESTINATIONS
END: Final = TURN + 1
ACTIONS: Final = END + 1
NO_ACTION: Final = -1

FOUNDATION: Final = 0
OPPONENT_RESERVE: Final = 1 + PILES
OPPONENT_WASTE: Final = 2 + PILES


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """What lies open and can be moved, from the mover's side."""

    sources: jax.Array  # int8 [SOURCES, B]: reserve top, drawn card, tableau tops; 0 = none
    opponent_reserve: jax.Array  # int8 [B]: top card, 0 = none
    opponent_waste: jax.Array  # int8 [B]: top card, 0 = none
    reserve_count: jax.Array  # int16 [B]
    hand_count: jax.Array  # int16 [B]: cards in the own stock and waste


def view(state: State) -> View:
    """Look at the table from the mover's side."""
    lane = jnp.arange(state.mover.shape[0])
    mover = state.mover.astype(jnp.int32)
    other = 1 - mover

    def reserve_top(player: jax.Array, count: jax.Array) -> jax.Array:
        top = state.reserve[jnp.maximum(count - 1, 0).astype(jnp.int32), player, lane]
        return jnp.where(count > 0, top, jnp.int8(0))

    own_count, other_count = of_player(mover, state.reserve_count), of_player(other, state.reserve_count)
    tail = of_player(other, state.head + state.stock + state.waste) - 1
    waste = state.queue[(tail & (QUEUE - 1)).astype(jnp.int32), other, lane]
    own = reserve_top(mover, own_count)
    return View(
        sources=jnp.concatenate([own[None], state.drawn[None], state.tableau_top]),
        opponent_reserve=reserve_top(other, other_count),
        opponent_waste=jnp.where(of_player(other, state.waste) > 0, waste, jnp.int8(0)),
        reserve_count=own_count,
        hand_count=of_player(mover, state.stock + state.waste),
    )


def fitting(state: State, seen: View) -> jax.Array:
    """Which card fits where by the mechanics alone, bool [SOURCES, DESTINATIONS, B] (B1 to B4)."""
    card = seen.sources
    rank, suit = card & 15, card >> 4
    there = card > 0

    # B2: each suit takes the next rank of either copy.
    needed = jnp.int16(1) << (state.foundation + 1).astype(jnp.int16)
    wanted = [needed[2 * index] | needed[2 * index + 1] for index in range(SUITS)]
    by_suit = jnp.where(
        suit < 2, jnp.where(suit == 0, wanted[0], wanted[1]), jnp.where(suit == 2, wanted[2], wanted[3])
    )
    to_foundation = there & (((by_suit >> rank.astype(jnp.int16)) & 1) > 0)

    # B3: opposite colour, next rank down; any card to a space. Rank and colour in one number.
    face = 2 * rank + red(card)
    accepted = 2 * ((state.tableau_top & 15) - 1) + 1 - red(state.tableau_top)
    space = state.tableau_top == 0
    to_tableau = there[:, None] & (space | (face[:, None] == accepted))  # [SOURCES, PILES, B]
    own = jnp.arange(SOURCES)[:, None] == jnp.arange(PILES) + 2
    to_tableau = to_tableau & ~own[..., None]

    # B4: same suit, one rank up or down; an empty pile cannot be loaded.
    def loads(top: jax.Array) -> jax.Array:
        return there & (top > 0) & ((card == top + 1) | (card == top - 1))

    return jnp.concatenate(
        [
            to_foundation[:, None],
            to_tableau,
            loads(seen.opponent_reserve)[:, None],
            loads(seen.opponent_waste)[:, None],
        ],
        axis=1,
    )


def red(card: jax.Array) -> jax.Array:
    """1 for diamonds and hearts, 0 for clubs and spades."""
    suit = card >> 4
    return (suit ^ (suit >> 1)) & 1


class Obligation(NamedTuple):
    """A rule that leaves nothing legal but certain moves, of those that fit, or END."""

    bit: int  # its rule bit
    applies: jax.Array  # bool [B]: it asks for a move, where the rule set has it
    moves: jax.Array  # bool, to be broadcast to [SOURCES, DESTINATIONS, B]
    end: jax.Array | bool = False  # bool [B]


class Bar(NamedTuple):
    """A rule that asks for certain moves, of those that fit, before TURN, and before END without a drawn card."""

    bit: int  # its rule bit
    applies: jax.Array  # bool [B]: it asks for a move, where the rule set has it
    moves: jax.Array  # bool, to be broadcast to [SOURCES, DESTINATIONS, B]
    placing: bool = False  # also before the drawn card goes anywhere but to a foundation
    throwing: bool = False  # also before END with a drawn card


def order_of_play(state: State, seen: View, fits: jax.Array) -> tuple[tuple[Obligation, ...], tuple[Bar, ...]]:
    """What each rule of the order of play asks for, in the order in which they are tried.

    The first obligation that applies decides; only where there is none the bars count, each of them.
    """
    source, destination = jnp.arange(SOURCES)[:, None, None], jnp.arange(DESTINATIONS)[:, None]
    reserve, drawn, tableau = source == 0, source == 1, source >= 2
    foundation = destination == FOUNDATION
    nowhere = jnp.zeros((1, state.mover.shape[0]), bool)
    space = jnp.concatenate([nowhere, state.tableau_top == 0, nowhere, nowhere])
    # A pile's only card fills one space and opens another.
    fills = jnp.concatenate([~nowhere, nowhere, state.tableau_count > 1])[:, None]
    ace = (seen.sources & 15) == 1
    up = fits[:, FOUNDATION]  # [SOURCES, B]
    with_reserve = seen.reserve_count > 0
    aces_up, tableau_up, reserve_goes, drawn_goes, open_space = stage(
        (
            any_of(up[2:] & ace[2:]),
            any_of(up[2:]),
            any_of(fits[0]),
            any_of(fits[1]),
            any_of(state.tableau_top == 0) & with_reserve,  # S5, R3, C3 speak of players with a reserve
        )
    )
    drawn_up = state.drawn != 0
    obligations = (
        Obligation(ACES_OPEN, state.opening & aces_up, foundation & tableau & ace[:, None]),
        Obligation(RESERVE_TO_FOUNDATION, up[0], foundation & reserve),
        Obligation(DRAWN_TO_FOUNDATION, up[1], foundation & drawn),
        Obligation(ANY_TO_FOUNDATION, up[0] | up[1] | tableau_up, foundation),
        Obligation(RESERVE_FIRST, reserve_goes, reserve),
        Obligation(RESERVE_FILLS_SPACE, open_space, reserve & space),
        Obligation(DRAWN_ALONE, drawn_up, drawn, ~drawn_goes),
    )
    bars = (
        Bar(SPACES_FILLED, open_space, fills & space, placing=True, throwing=True),
        Bar(TABLEAU_TO_FOUNDATION, tableau_up & with_reserve, foundation & tableau, throwing=True),
        Bar(RESERVE_BEFORE_TURNING, reserve_goes, reserve),
        Bar(SPACES_FILLED_BY_RESERVE, open_space, reserve & space),
    )
    return obligations, bars


def has(state: State, rule: Obligation | Bar) -> jax.Array:
    """Where the rule set has a rule and it asks for a move, bool [B]."""
    return ((state.rules & rule.bit) != 0) & rule.applies


def placed() -> jax.Array:
    """The moves of the drawn card that are not to a foundation, bool [SOURCES, DESTINATIONS, 1]."""
    return (jnp.arange(SOURCES) == 1)[:, None, None] & (jnp.arange(DESTINATIONS) != FOUNDATION)[:, None]


def legal(state: State, seen: View) -> jax.Array:
    """Legal actions, bool [ACTIONS, B]; none in a finished game. `rulings` says the same with its reasons."""
    fits = stage(fitting(state, seen))
    obligations, bars = order_of_play(state, seen, fits)
    free = jnp.ones_like(state.opening)
    within, ending = jnp.zeros_like(fits), jnp.zeros_like(free)
    for obligation in obligations:
        first = stage(free & has(state, obligation))
        within = within | (obligation.moves & first)
        ending = ending | (obligation.end & first)
        free = free & ~first
    free = stage(free)
    placing = throwing = turning = free
    for bar in bars:
        clear = ~has(state, bar)
        placing = placing & clear if bar.placing else placing
        throwing = throwing & clear if bar.throwing else throwing
        turning = turning & clear
    drawn_up, stocked = state.drawn != 0, seen.hand_count > 0
    moves = fits & (within | (free & ~(placed() & ~placing)))
    turn = turning & ~drawn_up & stocked  # B6
    end = ((throwing | ending) & drawn_up) | (turning & ~drawn_up & ~stocked)  # B7
    actions = jnp.concatenate([moves.reshape(-1, free.shape[0]), turn[None], end[None]])
    return actions & (state.ending == 0)


def rulings(state: State) -> Rulings:
    """What bars each action, the mechanics before the order of play, and what is compulsory.

    `barred` is -n for rule Bn, also the one that ended a finished game (B8, B10), and n for bit n - 1 of the rules.
    """
    seen = view(state)
    fits = fitting(state, seen)
    drawn_up, stocked = state.drawn != 0, seen.hand_count > 0
    shape = (*fits.shape[:2], state.mover.shape[0])

    def actions(moves: jax.Array, turn: jax.Array | bool | int, end: jax.Array | bool | int) -> jax.Array:
        """[ACTIONS, B]."""
        rows = [jnp.broadcast_to(row, (1, shape[2])) for row in (turn, end)]
        return jnp.concatenate([jnp.broadcast_to(moves, shape).reshape(TURN, -1), *rows])

    fit = actions(fits, ~drawn_up & stocked, drawn_up | ~stocked)
    by_destination = jnp.asarray([-2, *[-3] * PILES, -4, -4], jnp.int8)[:, None]
    mechanics = actions(jnp.where(seen.sources[:, None] == 0, jnp.int8(-1), by_destination), -6, -7)
    over = jnp.where(state.ending == OUT, jnp.int8(-8), jnp.int8(-10))
    barred = jnp.where(state.ending != 0, over, jnp.where(fit, jnp.int8(0), mechanics)).astype(jnp.int8)
    compelled = [jnp.zeros_like(fit)] * (1 + OBLIGATIONS)
    free = state.ending == 0
    obligations, bars = order_of_play(state, seen, fits)
    for obligation in obligations:
        number = obligation.bit.bit_length()
        first = free & has(state, obligation)
        compelled[number] = fit & first & actions(obligation.moves, False, obligation.end)
        compelled[0] = compelled[0] | compelled[number]
        barred = jnp.where(first & (barred == 0) & ~compelled[number], jnp.int8(number), barred)
        free = free & ~first
    for bar in bars:
        number = bar.bit.bit_length()
        due = free & has(state, bar)
        compelled[number] = fit & due & actions(bar.moves, False, False)
        waits = actions(placed() & bar.placing, True, ~drawn_up | bar.throwing)
        barred = jnp.where(due & (barred == 0) & waits, jnp.int8(number), barred)
    return Rulings(barred=barred, compelled=jnp.stack(compelled))


def play(state: State, action: jax.Array) -> State:
    """Play one legal action a lane, int32 [B]; lanes with NO_ACTION stay as they are."""
    lanes = action.shape[0]
    lane = jnp.arange(lanes)
    action = action.astype(jnp.int32)
    seen = view(state)
    moves = (action >= 0) & (action < TURN)
    turns, ends = action == TURN, action == END
    source = jnp.where(moves, action // DESTINATIONS, -1)
    destination = jnp.where(moves, action % DESTINATIONS, -1)
    chosen = jnp.arange(SOURCES)[:, None] == source
    card = stage(total(jnp.where(chosen, seen.sources, jnp.int8(0))))
    mover = state.mover.astype(jnp.int32)
    other = 1 - mover
    own = jnp.arange(2)[:, None] == mover
    theirs = ~own
    from_reserve, from_drawn, from_pile = chosen[0], chosen[1], chosen[2:]
    to_foundation = destination == FOUNDATION
    to_pile = jnp.arange(1, 1 + PILES)[:, None] == destination
    to_reserve, to_waste = destination == OPPONENT_RESERVE, destination == OPPONENT_WASTE

    # B6: the waste is turned over when the stock is out; its first card follows the stock's last in the queue.
    stock, waste = state.stock, state.waste
    over = own & turns & (stock == 0)
    stock, waste = jnp.where(over, waste, stock), jnp.where(over, jnp.int16(0), waste)
    first = of_player(mover, state.head).astype(jnp.int32)
    top = state.queue[first & (QUEUE - 1), mover, lane]
    head = (state.head + (own & turns)) & (QUEUE - 1)
    stock = stock - (own & turns)

    # The card under the one that leaves a tableau pile.
    count = stage(total(jnp.where(from_pile, state.tableau_count, jnp.int8(0)))).astype(jnp.int32)
    pile = jnp.maximum(source - 2, 0)
    under = state.tableau[jnp.maximum(count - 2, 0), pile, lane]
    # What is read is read before anything is written, so that XLA updates in place, without copies.
    under, top, tableau, reserve, queue = stage((under, top, state.tableau, state.reserve, state.queue))
    under = jnp.where(count >= 2, under, jnp.int8(0))

    # B3: to the tableau.
    target = jnp.maximum(destination - 1, 0)
    height = stage(total(jnp.where(to_pile, state.tableau_count, jnp.int8(0)))).astype(jnp.int32)
    row = jnp.where(any_of(to_pile), height, RUN)
    tableau = tableau.at[row, jnp.minimum(target, PILES - 1), lane].set(card, mode="drop", unique_indices=True)
    tableau_count = state.tableau_count + to_pile.astype(jnp.int8) - from_pile.astype(jnp.int8)
    tableau_top = jnp.where(to_pile, card, jnp.where(from_pile, under, state.tableau_top))

    # B2: to the foundation of its suit whose turn it is.
    index = jnp.arange(FOUNDATIONS, dtype=jnp.int8)[:, None]
    fits = to_foundation & (index // 2 == card >> 4) & (state.foundation + 1 == card & 15)
    second = jnp.concatenate([jnp.zeros((1, lanes), bool), fits[:-1]]) & (index % 2 == 1)
    foundation = state.foundation + (fits & ~second).astype(jnp.int8)

    # B4: loading; B7: the drawn card is thrown on the own waste.
    loaded = of_player(other, state.reserve_count).astype(jnp.int32)
    reserve = reserve.at[jnp.where(to_reserve, loaded, RESERVE), other, lane].set(
        card, mode="drop", unique_indices=True
    )
    reserve_count = state.reserve_count + (theirs & to_reserve) - (own & from_reserve)
    thrown = ends & (state.drawn > 0)
    onto = jnp.where(ends, mover, other)
    tail = of_player(onto, head + stock + waste).astype(jnp.int32) & (QUEUE - 1)
    last = jnp.where(thrown, state.drawn, card)
    queue = queue.at[jnp.where(thrown | to_waste, tail, QUEUE), onto, lane].set(last, mode="drop", unique_indices=True)
    waste = waste + (theirs & to_waste) + (own & thrown)
    turned = jnp.where(top == 0, jnp.int8(UNKNOWN), top)
    drawn = jnp.where(turns, turned, jnp.where(from_drawn | ends, jnp.int8(0), state.drawn))

    # B8: everything gone wins at once; B9.
    gone = (reserve_count == 0) & (stock == 0) & (waste == 0)
    won = stage(any_of(own & gone) & moves & (drawn == 0))
    weight = stock + waste + 2 * reserve_count
    win = 30 + of_player(other, weight)

    # B10: progress, quiet turns, stalemate and adjudication, tested after an END.
    progress = moves & (to_foundation | ((from_reserve | from_drawn) & any_of(to_pile)))
    quiet = jnp.where(progress, jnp.int16(0), state.quiet) + (own & ends)
    turn = state.turns + ends
    still = quiet >= jnp.maximum(stock + waste, 1)
    tired = still[0] & still[1]
    stale = ends & tired
    late = ends & ~tired & (state.max_turns > 0) & (turn >= state.max_turns)
    scores = (state.rules & STALEMATE_SCORES) != 0
    difference = jnp.where(scores, weight[1] - weight[0], jnp.int16(0))  # R6

    # S1: over once no ace is on top of a pile.
    aces = any_of((tableau_top & 15) == 1)
    return dataclasses.replace(
        state,
        mover=jnp.where(ends & ~stale & ~late, 1 - state.mover, state.mover),
        foundation=foundation,
        tableau=tableau,
        tableau_count=tableau_count,
        tableau_top=tableau_top,
        reserve=reserve,
        reserve_count=reserve_count,
        queue=queue,
        head=head,
        stock=stock,
        waste=waste,
        drawn=drawn,
        opening=state.opening & (aces | (action < 0)),
        quiet=quiet,
        turns=turn,
        moves=state.moves + (action >= 0),
        ending=jnp.where(
            won,
            jnp.int8(OUT),
            jnp.where(stale, jnp.int8(STALEMATE), jnp.where(late, jnp.int8(ADJUDICATED), state.ending)),
        ),
        points=jnp.where(
            won, jnp.where(mover == 0, win, -win), jnp.where(stale | late, difference, state.points)
        ).astype(jnp.int16),
    )
