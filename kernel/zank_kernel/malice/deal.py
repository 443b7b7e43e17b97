"""The deal of Spite & Malice (M1)."""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel import random
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import HAND, RANKS, RUNNING, SIDES, State, empty
from zank_kernel.malice.table import Ranks, Table
from zank_kernel.shuffle import numbers, shuffled, shuffled_lanes

CENTER_STACKS: Final = 3
DRAWS_STREAM: Final = 1  # of the seed: what lanes draw later
DECK: Final = tuple(range(52)) * 2  # a card is 13 * suit + rank - 1; suits in the order clubs, diamonds, hearts, spades


@dataclasses.dataclass(frozen=True, kw_only=True)
class Deal:
    """A deal: cards as numbers 0 … 51, piles bottom first; the stock is drawn from its end."""

    starter: int  # player to move, 0 or 1
    payoff: tuple[list[int], list[int]]
    hand: tuple[list[int], list[int]]
    stock: list[int]


def deal(rules: Rules, seed: int) -> Deal:
    """Shuffle number 0 of `seed` (64 bits) dealt by M1; the starter is drawn from the same stream."""
    cards = shuffled(DECK, seed, 0)
    size = rules.payoff_cards
    hands = 2 * size
    stock = hands + 2 * HAND
    return Deal(
        starter=numbers(seed, 0, [2])[0],
        payoff=(cards[:size], cards[size:hands]),
        hand=(cards[hands : hands + HAND], cards[hands + HAND : stock]),
        stock=cards[stock:],
    )


def dealt(rules: Rules, seed: int) -> Table:
    """The full position, in ranks, that `deal` makes."""

    def ranks(cards: list[int]) -> Ranks:
        return tuple(card % RANKS + 1 for card in cards)

    start = deal(rules, seed)
    none: tuple[Ranks, ...] = ((),) * SIDES
    return Table(
        rules=rules,
        mover=start.starter,
        payoff=(ranks(start.payoff[0]), ranks(start.payoff[1])),
        hand=(ranks(start.hand[0]), ranks(start.hand[1])),
        sides=(none, none),
        centers=((),) * CENTER_STACKS,
        stock=ranks(start.stock),
        recycled=(),
    )


def deal_lanes(rules: Rules, low: jax.Array, high: jax.Array) -> State:
    """The state that `dealt` describes in every lane, by the lanes' seeds: their low and high words, uint32 [B].

    The stock is rank counts, as everywhere in lanes: later draws come from a stream of the same seed, not from the
    order in which `deal` leaves the cards.
    """
    ranks = shuffled_lanes(jnp.asarray([card % RANKS + 1 for card in DECK], jnp.int8), low, high, 0)
    size = rules.payoff_cards
    hands = 2 * size
    stock = hands + 2 * HAND
    lanes = low.shape[0]
    state = empty(lanes)
    first, second = random.stream_key(low, high, jnp.uint32(0))
    coin = random.scale(random.bits(first, second, jnp.uint32(0)), jnp.uint32(2))
    rank = jnp.arange(1, RANKS + 1, dtype=jnp.int8)[:, None, None]
    return dataclasses.replace(
        state,
        rules=jnp.full((lanes,), rules.bits, jnp.int8),
        mover=coin.astype(jnp.int8),
        payoff=jnp.asarray(state.payoff).at[:, :size].set(ranks[:hands].reshape(2, size, lanes)),
        payoff_count=jnp.full((2, lanes), size, jnp.int8),
        hand=ranks[hands:stock].reshape(2, HAND, lanes),
        height=jnp.asarray(state.height).at[CENTER_STACKS:].set(-1),
        stock=(ranks[stock:] == rank).sum(axis=1, dtype=jnp.int16),
        key=jnp.stack(random.stream_key(low, high, jnp.uint32(DRAWS_STREAM))),
        ending=jnp.full((lanes,), RUNNING, jnp.int8),
    )
