"""Beliefs of Spite & Malice: from what one player knows to worlds, uniform over all that is consistent.

Hidden are the payoff cards below the tops, the other player's hand and the stock. The unseen cards are pooled;
recycled cards, where recorded, can lie in the stock or the other hand but never in a payoff pile: M9 puts them into the
stock.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from zank_kernel import random
from zank_kernel.host import leaf
from zank_kernel.lanes import columns, fold, of_entry, of_player, stage, total
from zank_kernel.malice.state import HAND, PAYOFF, PILES, RANKS, State
from zank_kernel.malice.table import Table, unseen

BELIEF_STREAM: Final = np.uint32(0x80000000)  # world numbers stay below: a world's beliefs and draws never share events


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What the movers of positions know of the hidden cards, one position an entry of the last axis, named `Q`."""

    unseen: jax.Array  # int16 [RANKS, Q]: cards of each rank that are not known, recycled ones included
    recycled: jax.Array  # int16 [RANKS, Q]: those of them that were recycled; 0 where not recorded
    payoff: jax.Array  # int8 [2, PAYOFF, Q]: payoff piles, bottom first, 0 = hidden
    payoff_count: jax.Array  # int8 [2, Q]
    hand_count: jax.Array  # int8 [2, Q]: hidden cards in each hand
    seed: jax.Array  # uint32 [2, Q]: low and high word of the request's seed


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """Sampled assignments of the hidden cards, one world an entry of the last axis, named `W`."""

    payoff: jax.Array  # int8 [2, PAYOFF, W]: whole payoff piles, known cards included
    hand: jax.Array  # int8 [2, HAND, W]: the cards of hidden hands, 0 elsewhere
    stock: jax.Array  # int16 [RANKS, W]: cards of each rank in the stock
    key: jax.Array  # uint32 [2, W]: key of the world's stream of draws


def knowledge(tables: Sequence[Table], seeds: Sequence[int]) -> Knowledge:
    """What the movers of `tables` know, with the requests' 64-bit `seeds`; leaves of the host.

    Anything known of the other player's hand, of hidden payoff cards or of the stock must be 0 in the tables.
    Raises ValueError where the cards that are not known do not fill the places that are, or more cards of a rank are
    recycled than unseen.
    """
    count = len(tables)
    payoff = np.zeros((2, PAYOFF, count), np.int8)
    payoff_count = np.zeros((2, count), np.int8)
    hand_count = np.zeros((2, count), np.int8)
    pool = np.zeros((RANKS, count), np.int16)
    recycled = np.zeros((RANKS, count), np.int16)
    seed = np.zeros((2, count), np.uint32)
    for index, table in enumerate(tables):
        pool[:, index] = unseen(table)
        for rank in table.recycled or ():
            recycled[rank - 1, index] += 1
        places = len(table.stock) + sum(pile.count(0) for pile in (*table.payoff, *table.hand))
        if pool[:, index].min() < 0 or pool[:, index].sum() != places:
            raise ValueError(f"{pool[:, index].tolist()} cards of each rank are unseen, for {places} hidden places")
        if (recycled[:, index] > pool[:, index]).any():
            raise ValueError("more cards of a rank are recycled than unseen")
        for player in (0, 1):
            payoff[player, : len(table.payoff[player]), index] = table.payoff[player]
            payoff_count[player, index] = len(table.payoff[player])
            hand_count[player, index] = table.hand[player].count(0)
        seed[:, index] = random.split_seed(seeds[index])
    return Knowledge(
        unseen=leaf(pool),
        recycled=leaf(recycled),
        payoff=leaf(payoff),
        payoff_count=leaf(payoff_count),
        hand_count=leaf(hand_count),
        seed=leaf(seed),
    )


def sample(knowledge: Knowledge, entry: jax.Array, number: jax.Array) -> World:
    """World `number` (uint32 [W], below 2**31) of knowledge entry `entry` (int32 [W]).

    A world is fixed by the seed and its number alone. Every assignment of the unseen cards to the hidden places
    that puts no recycled card into a payoff pile is equally likely.
    """
    knows = jax.tree.map(lambda values: of_entry(values, entry), knowledge)
    key = jnp.stack(random.stream_key(knows.seed[0], knows.seed[1], number))
    belief = random.stream_key(knows.seed[0], knows.seed[1], number | BELIEF_STREAM)

    def deal(event: int, hidden: jax.Array, ends: jax.Array) -> tuple[jax.Array, jax.Array]:
        """A card for every place that is hidden, bool [P, 2, W], of the players in turn; the first has this event.

        There are as many cards of rank at most 1, 2, … as `ends` [RANKS, W] says. Returns the cards, int8 [P, 2, W], 0
        elsewhere, and `ends` without them.
        """

        def place(number: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            cards, ends = carry
            for player in (0, 1):
                word = random.bits(belief[0], belief[1], (event + 2 * number + player).astype(jnp.uint32))
                index = stage(random.scale(word, ends[-1].astype(jnp.uint32)).astype(jnp.int16))
                wanted = jax.lax.dynamic_slice(hidden, (number, player, 0), (1, 1, hidden.shape[-1]))[0, 0]
                card = jnp.where(wanted, 1 + total((index >= ends[:-1]).astype(jnp.int8)), jnp.int8(0))
                cards = jax.lax.dynamic_update_slice(cards, card[None, None], (number, player, 0))
                ends = stage(ends - (wanted & (index < ends)).astype(jnp.int16))
            return cards, ends

        # Only as many places as are hidden anywhere.
        places = jnp.max(jnp.where(hidden.any(axis=(1, 2)), jnp.arange(1, hidden.shape[0] + 1), 0))
        dealt: tuple[jax.Array, jax.Array] = jax.lax.fori_loop(
            0, places, place, (jnp.zeros(hidden.shape, jnp.int8), ends)
        )
        return dealt

    def at_most(pool: jax.Array) -> jax.Array:
        """How many cards of rank at most 1, 2, … are in a pool [RANKS, W]."""
        return jnp.cumsum(pool, axis=0, dtype=jnp.int16)

    def below(count: jax.Array, places: int) -> jax.Array:
        """Which of so many places are among the first `count` [2, W]; bool [places, 2, W]."""
        return jnp.arange(places, dtype=jnp.int8)[:, None, None] < count

    known = jnp.swapaxes(knows.payoff, 0, 1)
    hidden = below(knows.payoff_count, PAYOFF) & (known == 0)
    payoff, left = deal(0, hidden, at_most(knows.unseen - knows.recycled))
    hand, left = deal(2 * PAYOFF, below(knows.hand_count, HAND), left + at_most(knows.recycled))
    return World(
        payoff=jnp.swapaxes(known + payoff, 0, 1),
        hand=jnp.swapaxes(hand, 0, 1),
        stock=jnp.diff(left, axis=0, prepend=jnp.int16(0)),
        key=key,
    )


def load(lanes: State, place: jax.Array, roots: State, root: jax.Array, worlds: World, world: jax.Array) -> State:
    """Put root `root` in world `world` into the lanes `place`, int32 [K] each; places beyond all lanes are left out.

    Roots are positions in which hidden cards are 0; the world supplies them. Cards that the root has returned to
    the stock are added to the world's.
    """
    fresh = {
        field.name: getattr(roots, field.name)[..., root] for field in dataclasses.fields(State) if field.name != "pile"
    }
    payoff_row = (jnp.arange(2 * PILES) % PILES == 0)[:, None]

    def payoffs(depth: jax.Array) -> jax.Array:
        """The payoff cards at some depth, 1 … PAYOFF, where piles have them: uint16 [2 * PILES, K]."""
        cards = bit(worlds.payoff[:, jnp.minimum(depth, PAYOFF) - 1, world])
        return jnp.where(payoff_row, jnp.repeat(cards, PILES, axis=0), jnp.uint16(0))

    def row(depth: jax.Array, pile: jax.Array) -> jax.Array:
        cards = jnp.where(payoff_row, payoffs(depth), roots.pile[depth][:, root])
        return columns(pile, place, cards, depth)

    # Only as deep as the deepest root: the rest is never read.
    deepest = fresh["count"].max().astype(jnp.int32)
    pile = jax.lax.fori_loop(1, deepest + 1, row, lanes.pile)
    # What is on top of a payoff pile is known, unless it has been turned up since the root.
    depth = fresh["count"].astype(jnp.int32)
    top = []
    for player in (0, 1):
        size = depth[player * PILES]
        top.append(bit(worlds.payoff[player, jnp.maximum(size, 1) - 1, world]) * (size > 0))
    fresh["top"] = jnp.where(payoff_row, jnp.repeat(jnp.stack(top), PILES, axis=0), fresh["top"])
    fresh["hand"] = fresh["hand"] | bit(worlds.hand.reshape(2 * HAND, -1)[:, world])
    # The root took a hidden hand for an empty one: what is due at the start of its owner's turn (M2) is known now.
    full = fold(jnp.minimum, of_player(fresh["mover"], fresh["hand"].reshape(2, HAND, -1))) != 0
    fresh["due"] = fresh["due"] & ~full
    fresh["stock"] = fresh["stock"] + jnp.cumsum(worlds.stock[:, world], axis=0, dtype=jnp.uint16)
    fresh["key"] = worlds.key[:, world]
    return State(pile=pile, **{name: columns(getattr(lanes, name), place, value) for name, value in fresh.items()})


def bit(ranks: jax.Array) -> jax.Array:
    """The bits of cards by their ranks, uint16; 0 for none."""
    return jnp.where(ranks > 0, jnp.uint16(1) << ranks.astype(jnp.uint16), jnp.uint16(0))
