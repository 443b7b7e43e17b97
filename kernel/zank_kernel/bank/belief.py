"""Beliefs of Russian Bank: from what both players know to worlds, uniform over all that is consistent.

Hidden are cards of the reserves and of the stocks. A player's hidden cards come from that player's own deck, minus what
has been seen of it. Where the deck of a seen card is not known, its other copy may be hidden on either side: a card
both of whose copies are unseen goes once to each player, and single ones are split uniformly so that the counts fit.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from zank_kernel import random
from zank_kernel.bank.deal import DECK
from zank_kernel.bank.state import COUNTED, DEPTH, PILES, TABLEAU, UNKNOWN, State
from zank_kernel.bank.table import FACE, ORIGIN, Table
from zank_kernel.host import leaf
from zank_kernel.lanes import columns, of_entry, of_player

HIDDEN_RESERVE: Final = 13  # hidden cards lie at the bottom of a reserve
HIDDEN_STOCK: Final = len(DECK)  # and in a stock that has not been turned over

NOWHERE: Final = -1  # the number of a place where no hidden card lies
FACES: Final = np.asarray(DECK, np.int8)
SPLIT: Final = 0  # events: which player has a single card …
ORDER: Final = 64  # … and in which order each player's cards lie


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What is known of the hidden cards of positions, one position an entry of the last axis, named `Q`."""

    sure: jax.Array  # bool [2, DECK, Q]: this player's copy of the card is hidden, to be sure
    single: jax.Array  # bool [DECK, Q]: one copy of the card is hidden, on one side or the other
    share: jax.Array  # int8 [Q]: how many of the single cards are player 0's
    reserve: jax.Array  # bool [HIDDEN_RESERVE, 2, Q]: places of hidden reserve cards, bottom first
    stock: jax.Array  # bool [HIDDEN_STOCK, 2, Q]: places of hidden stock cards, in the order of turning
    seed: jax.Array  # uint32 [2, Q]: low and high word of the request's seed


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """Sampled assignments of the hidden cards, one world an entry of the last axis, named `W`; 0 elsewhere."""

    reserve: jax.Array  # int8 [HIDDEN_RESERVE, 2, W]
    stock: jax.Array  # int8 [HIDDEN_STOCK, 2, W]


def seen(table: Table) -> Iterator[int]:
    """Every card that is known."""
    known = (table.foundations, table.tableau, table.reserve, table.stock, table.waste, ((table.drawn,),))
    return (card for piles in known for pile in piles for card in pile if card)


def knowledge(tables: Sequence[Table], seeds: Sequence[int]) -> Knowledge:
    """What is known in `tables`, with the requests' 64-bit `seeds`; leaves of the host.

    Raises ValueError where the cards that are not known do not fill the places that are.
    """
    count = len(tables)
    sure = np.zeros((2, len(DECK), count), np.bool_)
    single = np.zeros((len(DECK), count), np.bool_)
    share = np.zeros((count,), np.int8)
    reserve = np.zeros((HIDDEN_RESERVE, 2, count), np.bool_)
    stock = np.zeros((HIDDEN_STOCK, 2, count), np.bool_)
    seed = np.zeros((2, count), np.uint32)
    for index, table in enumerate(tables):
        origins: dict[int, list[int]] = {card: [] for card in DECK}
        for card in seen(table):
            origins[card & FACE].append(card // ORIGIN)
        for number, card in enumerate(DECK):
            match origins[card]:
                case []:
                    sure[:, number, index] = True
                case [0]:
                    single[number, index] = True
                case [origin]:
                    sure[2 - origin, number, index] = True
                case [one, other] if one != other or not one:
                    pass
                case found:
                    raise ValueError(f"{len(found)} copies of card {card} are seen, at most one of each deck is there")
        for player in (0, 1):
            for place, card in enumerate(table.reserve[player]):
                if not card:
                    reserve[place, player, index] = True
            for place, card in enumerate(reversed(table.stock[player])):
                if not card:
                    stock[place, player, index] = True
        places = [int(reserve[:, player, index].sum() + stock[:, player, index].sum()) for player in (0, 1)]
        shares = [places[player] - int(sure[player, :, index].sum()) for player in (0, 1)]
        if min(shares) < 0 or sum(shares) != single[:, index].sum():
            raise ValueError(f"the unseen cards do not fill the hidden places, {places[0]} and {places[1]}")
        share[index] = shares[0]
        seed[:, index] = random.split_seed(seeds[index])
    return Knowledge(
        sure=leaf(sure),
        single=leaf(single),
        share=leaf(share),
        reserve=leaf(reserve),
        stock=leaf(stock),
        seed=leaf(seed),
    )


def sample(knowledge: Knowledge, entry: jax.Array, number: jax.Array) -> World:
    """World `number` (uint32 [W], below 2**31) of knowledge entry `entry` (int32 [W]).

    A world is fixed by the seed and its number alone, and every consistent assignment is equally likely.
    """
    # The number of each hidden place among those of its player, none elsewhere; the same for all worlds of an entry.
    hidden = jnp.concatenate([knowledge.reserve, knowledge.stock])
    numbers = of_entry(jnp.where(hidden, jnp.cumsum(hidden, axis=0, dtype=jnp.int16) - 1, jnp.int16(NOWHERE)), entry)
    seed, single, share, sure = (
        of_entry(values, entry) for values in (knowledge.seed, knowledge.single, knowledge.share, knowledge.sure)
    )
    key = random.stream_key(seed[0], seed[1], number)
    card = jnp.arange(len(DECK), dtype=jnp.uint32)[:, None]

    def drawn(event: int) -> jax.Array:
        return random.bits(key[0], key[1], card + jnp.uint32(event))

    first = single & (ranked(jnp.where(single, drawn(SPLIT), jnp.uint32(0xFFFFFFFF))) < share)
    dealt = []
    for player in (0, 1):
        own = sure[player] | (first if player == 0 else single & ~first)
        # The own cards first, in random order; a card's bits are halved to make room for "not own".
        place = ranked(jnp.where(own, drawn(ORDER * (player + 1)) >> 1, jnp.uint32(0xFFFFFFFF)))
        dealt.append(at_place(place, numbers[:, player]))
    together = jnp.stack(dealt, axis=1)
    return World(reserve=together[:HIDDEN_RESERVE], stock=together[HIDDEN_RESERVE:])


def ranked(values: jax.Array) -> jax.Array:
    """The place of each of `values` [N, W] in the order of its column, the first of equals first; int16.

    By counting: sorting columns takes XLA a hundred times as long on a CPU.
    """
    row = jnp.arange(values.shape[0])[:, None]

    def count(other: jax.Array, places: jax.Array) -> jax.Array:
        before = (values[other] < values) | ((values[other] == values) & (other < row))
        return places + before.astype(jnp.int16)

    places: jax.Array = jax.lax.fori_loop(0, values.shape[0], count, jnp.zeros(values.shape, jnp.int16))
    return places


def at_place(place: jax.Array, number: jax.Array) -> jax.Array:
    """The card of the deck whose `place` int16 [DECK, W] is `number` int16 [N, W], 0 = none; int8 [N, W]."""
    faces = jnp.asarray(FACES, jnp.int16)  # as wide as places, so that one loop over worlds handles them together

    def pick(card: jax.Array, cards: jax.Array) -> jax.Array:
        return cards + jnp.where(number == place[card], faces[card], jnp.int16(0))

    cards: jax.Array = jax.lax.fori_loop(0, len(DECK), pick, jnp.zeros(number.shape, jnp.int16))
    return cards.astype(jnp.int8)


def load(lanes: State, place: jax.Array, roots: State, root: jax.Array, worlds: World, world: jax.Array) -> State:
    """Put root `root` in world `world` into the lanes `place`, int32 [K] each; places beyond all lanes are left out.

    Roots are positions in which hidden cards are 0; the world supplies them, the drawn card included that a TURN took
    from a hidden stock (`UNKNOWN` in the root).
    """
    names = [field.name for field in dataclasses.fields(State) if field.name != "pile"]
    fresh = {name: getattr(roots, name)[..., root] for name in names}
    # A root's ring begins near 0: at most one card has been turned since the position was written down.
    end = fresh["head"] + fresh["stock"] + fresh["waste"]

    def filled(pile: jax.Array, first: int, last: int, depth: jax.Array, hidden: jax.Array | None) -> jax.Array:
        """Piles `first` … `last` - 1 with the root's cards, as deep as any goes, the hidden ones from the world."""

        def row(index: jax.Array, pile: jax.Array) -> jax.Array:
            cards = roots.pile[index, first:last][:, root]
            if hidden is not None:
                below = hidden[jnp.minimum(index, hidden.shape[0] - 1)][:, world].astype(cards.dtype)
                cards = cards + jnp.where(index < hidden.shape[0], below, jnp.zeros_like(below))
            return columns(pile, place, cards, index, first)

        deepest = jnp.minimum(depth.max().astype(jnp.int32), DEPTH)
        result: jax.Array = jax.lax.fori_loop(0, deepest, row, pile)
        return result

    pile = filled(lanes.pile, 0, TABLEAU, fresh["count"][:TABLEAU], None)
    pile = filled(pile, TABLEAU, COUNTED, fresh["count"][TABLEAU:], worlds.reserve)
    pile = filled(pile, COUNTED, PILES, end, worlds.stock)
    lane = jnp.minimum(place, pile.shape[-1] - 1)

    def top(count: jax.Array, last: jax.Array, index: int) -> jax.Array:
        """The card at place `last` of a pile that has `count` cards, 0 if it has none."""
        return jnp.where(count > 0, pile[last.astype(jnp.int32), index, lane], jnp.zeros_like(fresh["drawn"]))

    tops = [fresh["top"][:TABLEAU]]
    for index, count in enumerate(fresh["count"][TABLEAU:], TABLEAU):
        tops.append(top(count, jnp.maximum(count, 1) - 1, index)[None])
    for index, count in enumerate(fresh["waste"]):
        tops.append(top(count, (end[index] - 1) & (DEPTH - 1), COUNTED + index)[None])
    fresh["top"] = jnp.concatenate(tops)
    first = of_player(fresh["mover"], fresh["head"]).astype(jnp.int32)
    turned = pile[(first - 1) & (DEPTH - 1), COUNTED + fresh["mover"].astype(jnp.int32), lane]
    fresh["drawn"] = jnp.where(fresh["drawn"] == UNKNOWN, turned, fresh["drawn"])
    return State(pile=pile, **{name: columns(getattr(lanes, name), place, value) for name, value in fresh.items()})
