"""Rules of play of Russian Bank over lanes: what fits, what the order of play compels, and playing a move.

An action is `11 * source + destination`. Sources 0: reserve, 1: drawn card, 2–9: tableau piles. Destinations 0: the
foundations, 1–8: tableau piles, 9: the opponent's reserve, 10: the opponent's waste. 110 is TURN, 111 is END, and -1 is
no action.

Moves are *words*, uint16 [SOURCES, B]: bit d of a source's word is the move to destination d. There the tableau piles
are the first sources, as in the state; the reserve and the drawn card come after them.
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
    COUNTED,
    DEPTH,
    FOUNDATIONS,
    OUT,
    PILES,
    STALEMATE,
    SUITS,
    TABLEAU,
    UNKNOWN,
    State,
)
from zank_kernel.family import ADJUDICATED, Rulings
from zank_kernel.lanes import any_of, fold, get, of_player, put, rows, stage, total

SOURCES: Final = TABLEAU + 2
DESTINATIONS: Final = 1 + TABLEAU + 2
TURN: Final = SOURCES * DESTINATIONS
END: Final = TURN + 1
ACTIONS: Final = END + 1
NO_ACTION: Final = -1

RESERVE: Final = TABLEAU  # rows of sources
DRAWN: Final = TABLEAU + 1

FOUNDATION: Final = 0  # destinations
OPPONENT_RESERVE: Final = 1 + TABLEAU
OPPONENT_WASTE: Final = 2 + TABLEAU

WORD: Final = jnp.uint16
ANYWHERE: Final = (1 << DESTINATIONS) - 1
TO_FOUNDATION: Final = 1 << FOUNDATION
TO_TABLEAU: Final = (2 << TABLEAU) - 2
LOADS: Final = 1 << OPPONENT_RESERVE | 1 << OPPONENT_WASTE
NO_FACE: Final = 0xFF


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """What lies open and can be moved, from the mover's side."""

    sources: jax.Array  # uint16 [SOURCES, B]: tableau tops, reserve top, drawn card; 0 = none
    spaces: jax.Array  # uint16 [B]: word of the moves to spaces
    opponent_reserve: jax.Array  # uint16 [B]: top card, 0 = none
    opponent_waste: jax.Array  # uint16 [B]: top card, 0 = none
    reserve_count: jax.Array  # uint16 [B]
    hand_count: jax.Array  # uint16 [B]: cards in the own stock and waste


def view(state: State) -> View:
    """Look at the table from the mover's side."""
    mover, other = state.mover, 1 - state.mover
    own = of_player(mover, state.top[TABLEAU:COUNTED])
    row = rows(SOURCES)
    sources = jnp.where(row == RESERVE, own, jnp.where(row == DRAWN, state.drawn, state.top[:SOURCES]))
    spaces = jnp.where(state.top[:TABLEAU] == 0, WORD(2) << rows(TABLEAU), WORD(0))
    return View(
        sources=stage(sources),
        spaces=stage(fold(jnp.bitwise_or, spaces)),
        opponent_reserve=of_player(other, state.top[TABLEAU:COUNTED]),
        opponent_waste=of_player(other, state.top[COUNTED:]),
        reserve_count=of_player(mover, state.count[TABLEAU:]),
        hand_count=of_player(mover, state.stock + state.waste),
    )


def fitting(state: State, seen: View) -> jax.Array:
    """Which card fits where by the mechanics alone: words of moves (B1 to B4)."""
    card = seen.sources
    rank, suit = card & 15, card >> 4

    # B2: each suit takes the next rank of either copy.
    needed = WORD(2) << state.foundation
    wanted = stage(needed[:SUITS] | needed[SUITS:])
    low, high = (jnp.where(suit & 1 == 0, wanted[first], wanted[first + 1]) for first in (0, 2))
    word = (jnp.where(suit < 2, low, high) >> rank) & TO_FOUNDATION

    # B3: opposite colour, next rank down; any card to a space. Rank and colour in one number.
    top = state.top[:TABLEAU]
    accepted = jnp.where((top & 15) > 1, 2 * (top & 15) - 1 - red(top), WORD(NO_FACE))
    accepted, face = stage((accepted, 2 * rank + red(card)))
    for pile in range(TABLEAU):
        word = word | jnp.where(face == accepted[pile], WORD(2 << pile), WORD(0))
    word = word | seen.spaces

    # B4: same suit, one rank up or down; an empty pile cannot be loaded.
    for destination, onto in ((OPPONENT_RESERVE, seen.opponent_reserve), (OPPONENT_WASTE, seen.opponent_waste)):
        loads = (onto > 0) & ((card == onto + 1) | (card + 1 == onto))
        word = word | jnp.where(loads, WORD(1 << destination), WORD(0))
    return jnp.where(rank > 0, word, WORD(0))


def red(card: jax.Array) -> jax.Array:
    """1 for diamonds and hearts, 0 for clubs and spades."""
    suit = card >> 4
    return (suit ^ (suit >> 1)) & 1


class Obligation(NamedTuple):
    """A rule that leaves nothing legal but certain moves, of those that fit, or END."""

    bit: int  # its rule bit
    applies: jax.Array  # bool [B]: it asks for a move, where the rule set has it
    moves: jax.Array  # words, to be broadcast to [SOURCES, B]
    end: jax.Array | bool = False  # bool [B]


class Bar(NamedTuple):
    """A rule that asks for certain moves, of those that fit, before TURN, and before END without a drawn card."""

    bit: int  # its rule bit
    applies: jax.Array  # bool [B]: it asks for a move, where the rule set has it
    moves: jax.Array  # words, to be broadcast to [SOURCES, B]
    placing: bool = False  # also before the drawn card goes anywhere but to a foundation
    throwing: bool = False  # also before END with a drawn card


def order_of_play(state: State, seen: View, fits: jax.Array) -> tuple[tuple[Obligation, ...], tuple[Bar, ...]]:
    """What each rule of the order of play asks for, in the order in which they are tried.

    The first obligation that applies decides; only where there is none the bars count, each of them.
    """
    row = rows(SOURCES)

    def of(source: jax.Array, word: jax.Array | int) -> jax.Array:
        """Words of those moves of the given sources, bool [SOURCES, B or 1]."""
        return jnp.where(source, jnp.asarray(word, WORD), WORD(0))

    reserve, drawn, tableau = row == RESERVE, row == DRAWN, row < TABLEAU
    up = fits & TO_FOUNDATION
    ace = seen.sources & 15 == 1
    with_reserve = seen.reserve_count > 0
    aces_up = fold(jnp.bitwise_or, jnp.where(ace, up, WORD(0))[:TABLEAU]) != 0
    tableau_up = fold(jnp.bitwise_or, up[:TABLEAU]) != 0
    open_space = (seen.spaces != 0) & with_reserve  # S5, R3, C3 speak of players with a reserve
    # A pile's only card fills one space and opens another.
    several = jnp.where(row == DRAWN, WORD(0), jnp.where(row == RESERVE, WORD(2), state.count)) > 1
    drawn_up = state.drawn != 0
    obligations = (
        Obligation(ACES_OPEN, state.opening & aces_up, of(tableau & ace, TO_FOUNDATION)),
        Obligation(RESERVE_TO_FOUNDATION, up[RESERVE] != 0, of(reserve, TO_FOUNDATION)),
        Obligation(DRAWN_TO_FOUNDATION, up[DRAWN] != 0, of(drawn, TO_FOUNDATION)),
        Obligation(
            ANY_TO_FOUNDATION, (up[RESERVE] | up[DRAWN] != 0) | tableau_up, jnp.full((SOURCES, 1), TO_FOUNDATION, WORD)
        ),
        Obligation(RESERVE_FIRST, fits[RESERVE] != 0, of(reserve, ANYWHERE)),
        Obligation(RESERVE_FILLS_SPACE, open_space, of(reserve, seen.spaces)),
        Obligation(DRAWN_ALONE, drawn_up, of(drawn, ANYWHERE), fits[DRAWN] == 0),
    )
    bars = (
        Bar(SPACES_FILLED, open_space, of(several, seen.spaces), placing=True, throwing=True),
        Bar(TABLEAU_TO_FOUNDATION, tableau_up & with_reserve, of(tableau, TO_FOUNDATION), throwing=True),
        Bar(RESERVE_BEFORE_TURNING, fits[RESERVE] != 0, of(reserve, ANYWHERE)),
        Bar(SPACES_FILLED_BY_RESERVE, open_space, of(reserve, seen.spaces)),
    )
    return obligations, bars


def has(state: State, rule: Obligation | Bar) -> jax.Array:
    """Where the rule set has a rule and it asks for a move, bool [B]."""
    return ((state.rules & rule.bit) != 0) & rule.applies


def placed() -> jax.Array:
    """Words of the moves of the drawn card that are not to a foundation, uint16 [SOURCES, 1]."""
    return jnp.where(rows(SOURCES) == DRAWN, WORD(ANYWHERE - TO_FOUNDATION), WORD(0))


class LegalMoves(NamedTuple):
    """The legal moves; none in a finished game."""

    moves: jax.Array  # words, uint16 [SOURCES, B]
    turn: jax.Array  # bool [B]
    end: jax.Array  # bool [B]


def legal(state: State) -> jax.Array:
    """Legal actions, bool [ACTIONS, B]; none in a finished game. `rulings` says the same with its reasons."""
    return listed(*legal_moves(state, view(state)))


def legal_moves(state: State, seen: View) -> LegalMoves:
    """What is legal, in words."""
    fits = stage(fitting(state, seen))
    obligations, bars = order_of_play(state, seen, fits)
    free = state.ending == 0
    within, ending = jnp.zeros_like(fits), jnp.zeros_like(free)
    for obligation in obligations:
        first = stage(free & has(state, obligation))
        within = within | jnp.where(first, obligation.moves, WORD(0))
        ending = ending | (obligation.end & first)
        free = free & ~first
    free = stage(free)
    placing = throwing = turning = free
    for bar in bars:
        clear = ~has(state, bar)
        placing = placing & clear if bar.placing else placing
        throwing = throwing & clear if bar.throwing else throwing
        turning = turning & clear
    placing, throwing, turning, ending = stage((placing, throwing, turning, ending))
    drawn_up, stocked = state.drawn != 0, seen.hand_count > 0
    rest = jnp.where(free, jnp.where(placing, WORD(ANYWHERE), ANYWHERE & ~placed()), WORD(0))
    return LegalMoves(
        moves=fits & (within | rest),
        turn=turning & ~drawn_up & stocked,  # B6
        end=((throwing | ending) & drawn_up) | (turning & ~drawn_up & ~stocked),  # B7
    )


def listed(moves: jax.Array, turn: jax.Array | bool | int, end: jax.Array | bool | int) -> jax.Array:
    """Words of moves, TURN and END by action, bool [ACTIONS, B]."""
    words = jnp.concatenate([moves[TABLEAU:], moves[:TABLEAU]])
    lanes = words.shape[-1]
    bits = (words[:, None] >> rows(DESTINATIONS)) & 1 != 0
    return jnp.concatenate([bits.reshape(TURN, lanes), *(jnp.broadcast_to(row, (1, lanes)) for row in (turn, end))])


def rulings(state: State) -> Rulings:
    """What bars each action, the mechanics before the order of play, and what is compulsory.

    `barred` is -n for rule Bn, also the one that ended a finished game (B8, B10), and n for bit n - 1 of the rules.
    """
    seen = view(state)
    fits = fitting(state, seen)
    drawn_up, stocked = state.drawn != 0, seen.hand_count > 0
    lanes = state.mover.shape[0]

    def actions(moves: jax.Array, turn: jax.Array | bool | int, end: jax.Array | bool | int) -> jax.Array:
        """Which actions, bool [ACTIONS, B]."""
        return listed(jnp.broadcast_to(moves, fits.shape), turn, end)

    fit = actions(fits, ~drawn_up & stocked, drawn_up | ~stocked)
    by_destination = jnp.asarray([-2, *[-3] * TABLEAU, -4, -4], jnp.int8)[:, None]
    card = jnp.concatenate([seen.sources[TABLEAU:], seen.sources[:TABLEAU]])[:, None]
    mechanics = jnp.where(card == 0, jnp.int8(-1), by_destination).reshape(TURN, lanes)
    last = jnp.broadcast_to(jnp.asarray([-6, -7], jnp.int8)[:, None], (2, lanes))
    over = jnp.where(state.ending == OUT, jnp.int8(-8), jnp.int8(-10))
    barred = jnp.where(fit, jnp.int8(0), jnp.concatenate([mechanics, last]))
    barred = jnp.where(state.ending != 0, over, barred)
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
        waits = actions(placed() if bar.placing else jnp.zeros_like(placed()), True, ~drawn_up | bar.throwing)
        barred = jnp.where(due & (barred == 0) & waits, jnp.int8(number), barred)
    return Rulings(barred=barred, compelled=jnp.stack(compelled))


def play(state: State, action: jax.Array) -> State:
    """Play one legal action a lane, int32 [B]; lanes with NO_ACTION stay as they are."""
    seen = view(state)
    word = action.astype(WORD)
    acts, moves = action >= 0, word < TURN
    turns, ends = word == TURN, word == END
    source = word // DESTINATIONS  # as actions count them
    destination = jnp.where(moves, word - source * DESTINATIONS, WORD(DESTINATIONS))
    row = jnp.where(moves, jnp.where(source < 2, source + TABLEAU, source - 2), WORD(SOURCES))
    row, destination = stage((row, destination))
    card = stage(fold(jnp.bitwise_or, jnp.where(rows(SOURCES) == row, seen.sources, WORD(0))))
    mover, other = state.mover, 1 - state.mover
    own = rows(2) == mover
    from_reserve, from_drawn = row == RESERVE, row == DRAWN
    to_foundation, to_waste = destination == FOUNDATION, destination == OPPONENT_WASTE
    to_pile = (destination >= 1) & (destination <= TABLEAU)
    thrown = ends & (state.drawn & 15 != 0)

    # The pile that a card leaves and the pile that it comes to; PILES where there is none (B3, B4, B7).
    leaves = jnp.where(row < TABLEAU, row, jnp.where(from_reserve, TABLEAU + mover, WORD(PILES)))
    loaded = jnp.where(to_waste, COUNTED + other, jnp.where(thrown, COUNTED + mover, WORD(PILES)))
    comes = jnp.where(destination == OPPONENT_RESERVE, TABLEAU + other, loaded)
    comes = jnp.where(to_pile, destination - 1, comes)

    # B6: the waste is turned over when the stock is out; its first card follows the stock's last in the queue.
    over = turns & (of_player(mover, state.stock) == 0)
    leaves, comes, over = stage((leaves, comes, over))
    stock, waste = state.stock, state.waste
    stock, waste = jnp.where(own & over, waste, stock), jnp.where(own & over, WORD(0), waste)
    first = of_player(mover, state.head)
    head = (state.head + (own & turns)) & (DEPTH - 1)
    stock = stock - (own & turns)

    # One card is read: the one under the card that leaves, or the one that is turned.
    count = stage(total(jnp.where(rows(COUNTED) == leaves, state.count, WORD(0))))
    column = jnp.where(turns, COUNTED + mover, jnp.minimum(leaves, PILES - 1))
    place = jnp.where(turns, first & (DEPTH - 1), jnp.maximum(count, 2) - 2)
    read = get(state.pile, place, column)
    under = jnp.where((count >= 2), read, WORD(0))
    turned = jnp.where(read == 0, WORD(UNKNOWN), read)

    # And one is written, or what was read is written back: the write waits for the read, and so XLA writes in place.
    height = total(jnp.where(rows(COUNTED) == comes, state.count, WORD(0)))
    owner = jnp.where(to_waste, other, mover)
    tail = of_player(owner, head + stock + waste) & (DEPTH - 1)
    writes = comes < PILES
    last = jnp.where(thrown, state.drawn, card)
    last = stage(jnp.where(writes, last, read))
    height = jnp.where(comes < COUNTED, height, tail)
    place, column = stage((jnp.where(writes, height, place), jnp.where(writes, comes, column)))
    pile = put(state.pile, place, column, last)
    gone = jnp.where(over, COUNTED + mover, leaves)
    under, gone = stage((under, gone))
    top = jnp.where(rows(PILES) == comes, last, jnp.where(rows(PILES) == gone, under, state.top))
    counts = state.count + (rows(COUNTED) == comes) - (rows(COUNTED) == leaves)
    at_waste = rows(2) + COUNTED == comes
    waste = waste + at_waste
    drawn = jnp.where(turns, turned, jnp.where(from_drawn | ends, WORD(0), state.drawn))

    # B2: to the foundation of its suit whose turn it is, the first copy before the second.
    suit, below = card >> 4, (card & 15) - 1
    copy = fold(jnp.bitwise_or, jnp.where(rows(SUITS) == suit, state.foundation[:SUITS], WORD(0))) != below
    index = stage(jnp.where(to_foundation, jnp.where(copy, suit + SUITS, suit), WORD(FOUNDATIONS)))
    foundation = state.foundation + (rows(FOUNDATIONS) == index)

    # B12: which piles tableau moves have begun, and not left again.
    shifts = to_pile & (row < TABLEAU)
    arrives, departs = WORD(1) << destination, jnp.where(count == 1, WORD(2) << row, WORD(0))
    begun = (state.begun | (seen.spaces & arrives)) & ~departs

    # B8: everything gone wins at once; B9.
    reserve = counts[TABLEAU:]
    hidden = stock + waste
    weight = (hidden + 2 * reserve).astype(jnp.int16)
    won = moves & (drawn == 0) & (of_player(mover, reserve + hidden) == 0)
    win = 30 + of_player(other, weight)

    # B10: progress, quiet turns, stalemate and adjudication, tested after an END.
    progress = to_foundation | ((from_reserve | from_drawn) & to_pile)
    quiet = jnp.where(progress, WORD(0), state.quiet) + (own & ends)
    turn = state.turns + ends
    still = quiet >= jnp.maximum(hidden, 1)
    tired = still[0] & still[1]
    stale = ends & tired
    late = ends & ~tired & (state.max_turns > 0) & (turn >= state.max_turns)
    won, stale, late = stage((won, stale, late))
    scores = (state.rules & STALEMATE_SCORES) != 0
    difference = jnp.where(scores, weight[1] - weight[0], jnp.int16(0))  # R6

    # S1: over once no ace is on top of a pile.
    aces = any_of((top[:TABLEAU] & 15) == 1)
    return dataclasses.replace(
        state,
        mover=jnp.where(ends & ~stale & ~late, other, mover),
        foundation=foundation,
        pile=pile,
        count=counts,
        top=top,
        head=head,
        stock=stock,
        waste=waste,
        drawn=drawn,
        begun=jnp.where(shifts, begun, jnp.where(acts, WORD(0), state.begun)),
        opening=state.opening & (aces | ~acts),
        quiet=quiet,
        turns=turn,
        moves=state.moves + acts,
        ending=jnp.where(
            won,
            jnp.int8(OUT),
            jnp.where(stale, jnp.int8(STALEMATE), jnp.where(late, jnp.int8(ADJUDICATED), state.ending)),
        ),
        points=jnp.where(won, jnp.where(mover == 0, win, -win), jnp.where(stale | late, difference, state.points)),
    )
