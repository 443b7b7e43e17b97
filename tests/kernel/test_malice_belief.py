"""Beliefs of Spite & Malice: every world is possible, all possible worlds are equally likely, and seeds fix them."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence

import jax
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernel.chi_square import assert_fits, assert_uniform
from tests.kernel.lockstep import cards_of, census, described_lanes, host
from tests.kernel.positions import (
    MATCH,
    Position,
    action_of,
    deal,
    masked,
    played_positions,
    ranks,
    table,
    table_of,
)
from tests.oracle.shuffle import MASK, Stream, mix
from zank_kernel import malice
from zank_kernel.host import leaf
from zank_kernel.malice import play
from zank_kernel.malice import table as tables
from zank_kernel.malice.state import HAND, PAYOFF, RANKS

ENTRIES = 30  # rows of the table of knowledge
WORLDS = 6_000  # worlds of one call

sample = jax.jit(malice.FAMILY.sample)
load = jax.jit(malice.FAMILY.load)
choose = jax.jit(play.play)
settle = jax.jit(play.draw)
list_moves = jax.jit(play.legal)

type Counts = npt.NDArray[np.int64]


def worlds_of(known: Sequence[malice.Table], seeds: Sequence[int], entry: Counts, number: Counts) -> malice.World:
    """Worlds by entry and number, of up to ENTRIES positions."""
    spare = ENTRIES - len(known)
    knowledge = malice.FAMILY.knowledge([*known, *[known[-1]] * spare], [*seeds, *[0] * spare])
    worlds: malice.World = sample(knowledge, leaf(entry.astype(np.int32)), leaf(number.astype(np.uint32)))
    return host(worlds)


def many_worlds(known: malice.Table, calls: int, seed: int) -> malice.World:
    """The first `calls * WORLDS` worlds of one position."""
    entry = np.zeros(WORLDS, np.int64)
    parts = [worlds_of([known], [seed], entry, np.arange(WORLDS) + call * WORLDS) for call in range(calls)]
    joined: malice.World = jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=-1), *parts)
    return joined


def counts_of(cards: npt.ArrayLike) -> Counts:
    """How many of each rank lie in `cards` [..., W], int64 [RANKS, W]."""
    places = np.asarray(cards)
    places = places.reshape(-1, places.shape[-1])
    counts: Counts = np.asarray([(places == rank).sum(axis=0) for rank in range(1, RANKS + 1)], np.int64)
    return counts


def multiset(cards: Sequence[int]) -> Counts:
    """How many of each rank are in `cards`, int64 [RANKS, 1]."""
    return np.bincount(np.asarray(cards, np.int64), minlength=RANKS + 1)[1:, None].astype(np.int64)


def assert_possible(known: malice.Table, world: malice.World) -> None:
    """Fail unless every one of these worlds is a way in which the hidden cards of `known` may lie."""
    payoff, hand = np.asarray(world.payoff), np.asarray(world.hand)
    stock = np.asarray(world.stock).astype(np.int64)
    hidden_payoff = np.zeros_like(stock)
    for player in (0, 1):
        pile = known.payoff[player]
        assert (payoff[player, len(pile) :] == 0).all()
        assert ((payoff[player, : len(pile)] >= 1) & (payoff[player, : len(pile)] <= RANKS)).all()
        for place, card in enumerate(pile):
            assert card == 0 or (payoff[player, place] == card).all()
        hidden_payoff += counts_of(payoff[player, [place for place, card in enumerate(pile) if card == 0]])
        hidden = known.hand[player].count(0)
        assert ((hand[player] > 0).sum(axis=0) == hidden).all()
        assert ((hand[player] >= 0) & (hand[player] <= RANKS)).all()
    assert (stock >= 0).all()
    assert (stock.sum(axis=0) == len(known.stock)).all()
    seen = multiset(list(known.seen().elements()))
    assert (seen + hidden_payoff + counts_of(hand) + stock == 8).all()
    if known.recycled is not None:
        assert (hidden_payoff + multiset(known.recycled) + seen <= 8).all()  # the recycled are elsewhere


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    return played_positions(ENTRIES, 7_000_000)


@pytest.mark.parametrize("recorded", [True, False], ids=["recycled recorded", "not recorded"])
def test_every_world_is_possible(positions: list[Position], recorded: bool) -> None:
    known = [masked(table_of(position), recorded=recorded) for position in positions]
    assert sum(bool(position.game.recycled) for position in positions) >= ENTRIES // 3
    each = WORLDS // ENTRIES
    worlds = worlds_of(known, range(ENTRIES), np.repeat(np.arange(ENTRIES), each), np.tile(np.arange(each), ENTRIES))
    for entry, position in enumerate(known):
        assert_possible(position, jax.tree.map(lambda part: part[..., entry * each : (entry + 1) * each], worlds))  # noqa: B023


def test_the_kernel_s_own_mask_leaves_what_the_mover_knows(positions: list[Position]) -> None:
    for position in positions:
        full = table_of(position)
        assert dataclasses.replace(tables.masked(full), recycled=None) == masked(full, recorded=False)


def test_recycled_cards_that_came_to_the_own_hand_are_not_hidden(positions: list[Position]) -> None:
    """However the record is masked, the cards as they really lie must stay a possible world."""
    affected = 0
    for position in positions:
        full = table_of(position)
        knowledge = malice.FAMILY.knowledge([tables.masked(full)], [0])
        free = np.asarray(knowledge.unseen).astype(np.int64) - np.asarray(knowledge.recycled)
        assert (free >= multiset([*full.payoff[0][:-1], *full.payoff[1][:-1]])).all()
        affected += bool(position.game.recycled & Counter(full.hand[full.mover]))
    assert affected >= 3


# What is equally likely, on pools small enough to list every world -------------------------------------------------


def nearly_known(
    hidden: str,
    *,
    payoff: tuple[str, str],
    hand: tuple[str, str],
    stock: str,
    mover: int = 0,
    recycled: str | None = None,
) -> malice.Table:
    """A position in which the pool of unseen cards is `hidden`: all others lie on a side stack, but the listed."""
    position = table(mover=mover, payoff=payoff, hand=hand, stock=stock, recycled=recycled)
    rest = Counter(dict.fromkeys(range(1, RANKS + 1), 8)) - position.seen() - Counter(ranks(hidden))
    sides = (tuple(sorted(rest.elements())), (), (), ())
    return dataclasses.replace(position, sides=(sides, position.sides[1]))


type Joint = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def all_worlds(hidden: str, recycled: str, sizes: tuple[int, int, int]) -> Counter[Joint]:
    """Every order of the hidden cards, laid out on both payoff piles and the other hand, the rest in the stock."""
    cards = [(card, number < len(recycled)) for number, card in enumerate(ranks(recycled + remove(hidden, recycled)))]
    first, second, hand = sizes
    ways: Counter[Joint] = Counter()
    for order in itertools.permutations(cards):
        payoff = order[: first + second]
        if any(was_recycled for _, was_recycled in payoff):
            continue
        laid = tuple(card for card, _ in order)
        ways[laid[:first], laid[first : first + second], laid[first + second : first + second + hand]] += 1
    return ways


def remove(cards: str, some: str) -> str:
    """`cards` without `some` of them."""
    return "".join((Counter(cards) - Counter(some)).elements())


def joint(world: malice.World, known: malice.Table) -> list[Joint]:
    """The hidden cards of each world: both payoff piles and the other hand."""
    payoff, hand = np.asarray(world.payoff), np.asarray(world.hand)
    other = 1 - known.mover
    zones = [
        payoff[0, : len(known.payoff[0]) - 1].T.tolist(),
        payoff[1, : len(known.payoff[1]) - 1].T.tolist(),
        hand[other, : len(known.hand[other])].T.tolist(),
    ]
    return [(tuple(a), tuple(b), tuple(c)) for a, b, c in zip(*zones, strict=True)]


@pytest.mark.parametrize("mover", [0, 1])
@pytest.mark.parametrize("recycled", ["", "K", "3K", "33"])
def test_all_assignments_of_a_small_pool_are_equally_likely(mover: int, recycled: str) -> None:
    hidden = "AA2333K"
    hands = ("5678", "xx") if mover == 0 else ("xx", "5678")
    known = nearly_known(hidden, mover=mover, payoff=("x9", "xxT"), hand=hands, stock="xx", recycled=recycled)
    assert tables.unseen(known).sum() == len(hidden)
    ways = all_worlds(hidden, recycled, (1, 2, 2))
    seen = Counter(joint(many_worlds(known, 10, 20 + mover), known))
    assert set(seen) <= set(ways)
    cells = sorted(ways)
    assert_fits([seen[cell] for cell in cells], [ways[cell] / ways.total() for cell in cells])


def test_an_absent_record_pools_all_unseen_cards() -> None:
    hidden = "A2233K"
    known = nearly_known(hidden, payoff=("x9", "xT"), hand=("5678", "xx"), stock="xx")
    assert known.recycled is None
    ways = all_worlds(hidden, "", (1, 1, 2))
    seen = Counter(joint(many_worlds(known, 5, 30), known))
    cells = sorted(ways)
    assert_fits([seen[cell] for cell in cells], [ways[cell] / ways.total() for cell in cells])


def test_the_known_cards_of_a_payoff_pile_and_of_the_stock_stay_where_they_are() -> None:
    known = nearly_known("A23K", payoff=("x7x9", "T"), hand=("5678", "x"), stock="x")
    world = many_worlds(known, 1, 31)
    assert_possible(known, world)
    assert (np.asarray(world.payoff)[0, [1, 3]] == np.asarray([[7], [9]])).all()
    hidden = np.asarray(world.payoff)[0, [0, 2]].T.tolist()
    orders = list(itertools.permutations(ranks("A23K"), 2))
    seen = Counter(map(tuple, hidden))
    assert_uniform([seen[order] for order in orders])


def test_every_hidden_place_of_a_whole_deal_has_the_same_distribution() -> None:
    known = masked(table_of(deal(MATCH, 8)))
    known = dataclasses.replace(known, recycled=None)
    world = many_worlds(known, 2, 32)
    pool = tables.unseen(known).astype(np.float64)
    share = pool / pool.sum()
    other = 1 - known.mover
    piles = [np.asarray(world.payoff)[player, : len(known.payoff[player]) - 1] for player in (0, 1)]
    places = np.concatenate([*piles, np.asarray(world.hand)[other, : len(known.hand[other])]])
    assert len(places) == 19 + 19 + HAND
    for place in places:
        assert_fits(np.bincount(place, minlength=RANKS + 1)[1:], share)


# What fixes a world ------------------------------------------------------------------------------------------------


def test_a_world_depends_on_the_position_its_seed_and_its_number_only(positions: list[Position]) -> None:
    chance = np.random.default_rng(9)
    known = [masked(table_of(position)) for position in positions]
    seeds = chance.integers(0, 2**63, ENTRIES).tolist()
    entry, number = chance.integers(0, ENTRIES, WORLDS), chance.integers(0, 50, WORLDS)
    worlds = worlds_of(known, seeds, entry, number)
    order = chance.permutation(WORLDS)
    rows = chance.permutation(ENTRIES)
    moved = worlds_of(
        [known[row] for row in rows], [seeds[row] for row in rows], np.argsort(rows)[entry[order]], number[order]
    )
    jax.tree.map(lambda part, other: np.testing.assert_array_equal(part[..., order], other), worlds, moved)


def test_worlds_of_other_numbers_and_seeds_differ() -> None:
    known = masked(table_of(deal(MATCH, 9)))
    zeros, numbers = np.zeros(WORLDS, np.int64), np.arange(WORLDS)
    first, second = (worlds_of([known], [seed], zeros, numbers) for seed in (1, 1 + 2**32))
    piles = [np.asarray(world.payoff).reshape(2 * PAYOFF, WORLDS).T for world in (first, second)]
    assert len(np.unique(np.concatenate(piles), axis=0)) == 2 * WORLDS


def test_a_world_s_draws_use_the_stream_of_its_number() -> None:
    known = masked(table_of(deal(MATCH, 10)))
    seed = 0x0123456789ABCDEF
    world = worlds_of([known], [seed], np.zeros(WORLDS, np.int64), np.arange(WORLDS))
    for number in range(0, WORLDS, 500):
        first, second = (int(word) for word in np.asarray(world.key)[:, number])
        assert (first, second) == stream_key(Stream(seed, number))


def stream_key(stream: Stream) -> tuple[int, int]:
    """The two words from which a stream's random words are made, on plain integers."""
    first = mix((stream.seed & MASK) ^ mix(stream.count + 0x9E3779B9 & MASK))
    return first, mix((stream.seed >> 32) ^ mix(first + 0x85EBCA6B & MASK))


# From a root and a world to a lane ---------------------------------------------------------------------------------


def in_world(full: malice.Table, world: malice.World, number: int) -> malice.Table:
    """The position in which the hidden cards of the mover lie as in a world."""
    other = 1 - full.mover
    hand = tuple(np.asarray(world.hand)[other, : len(full.hand[other]), number].tolist())
    own = full.hand[full.mover]
    first, second = (
        tuple(np.asarray(world.payoff)[player, : len(full.payoff[player]), number].tolist()) for player in (0, 1)
    )
    return dataclasses.replace(
        full,
        payoff=(first, second),
        hand=(own, hand) if full.mover == 0 else (hand, own),
        stock=tuple(np.repeat(np.arange(1, RANKS + 1), np.asarray(world.stock)[:, number]).tolist()),
    )


def test_to_play_a_move_and_then_learn_the_world_is_to_learn_it_first(positions: list[Position]) -> None:
    """A root holds a move played with hidden cards; in a lane it must be what that move leads to in the world."""
    width = play.ACTIONS
    for index, position in enumerate(positions):
        known = masked(table_of(position))
        worlds = worlds_of([known], [index], np.zeros(WORLDS, np.int64), np.arange(WORLDS))
        before = malice.FAMILY.to_state([known] * width)
        legal = np.asarray(list_moves(before))[:, 0]
        actions = np.where(legal, np.arange(width), play.NO_ACTION).astype(np.int32)
        roots = host(choose(before, leaf(actions)))
        lanes, world = leaf(np.arange(width, dtype=np.int32)), np.arange(width, dtype=np.int32) * 7
        loaded = host(load(malice.FAMILY.empty(width), lanes, roots, lanes, worlds, leaf(world)))
        full = malice.FAMILY.to_state([in_world(known, worlds, number) for number in world.tolist()])
        full = dataclasses.replace(full, key=leaf(np.asarray(worlds.key)[:, world]))
        direct = host(choose(full, leaf(actions)))
        assert described_lanes(loaded, range(width)) == described_lanes(direct, range(width))
        drawn, expected = host(settle(loaded)), host(settle(direct))
        assert (census(drawn) == 8).all()
        assert described_lanes(drawn, range(width)) == described_lanes(expected, range(width))


def test_after_a_discard_the_other_player_draws_what_a_hidden_hand_lacks() -> None:
    """M2."""
    for held in range(HAND + 1):
        known = nearly_known("A2345A2345A2345"[: 8 + held], payoff=("9", "T"), hand=("67", "x" * held), stock="x" * 8)
        worlds = worlds_of([known], [1], np.zeros(WORLDS, np.int64), np.arange(WORLDS))
        before = malice.FAMILY.to_state([known] * play.ACTIONS)
        actions = leaf(np.full(play.ACTIONS, action_of("6-S1", known.hand[0]), np.int32))
        lanes = leaf(np.arange(play.ACTIONS, dtype=np.int32))
        loaded = load(
            malice.FAMILY.empty(play.ACTIONS),
            lanes,
            host(choose(before, actions)),
            lanes,
            worlds,
            lanes,
        )
        drawn = host(settle(loaded))
        assert (cards_of(drawn).stock.sum(axis=0) == 8 - (HAND - held)).all(), f"{held} cards held"


@pytest.mark.parametrize("together", [True, False], ids=["together", "one at a time"])
def test_lanes_that_are_not_taken_stay_as_they_are(together: bool) -> None:
    positions = played_positions(ENTRIES, 7_100_000)
    known = [masked(table_of(position)) for position in positions]
    worlds = worlds_of(known, range(ENTRIES), np.arange(WORLDS) % ENTRIES, np.arange(WORLDS))
    width = play.ACTIONS
    lanes = malice.FAMILY.to_state([table_of(positions[lane % ENTRIES]) for lane in range(width)])
    roots = malice.FAMILY.to_state([known[lane % ENTRIES] for lane in range(width)])
    taken = np.arange(width) % 3 == 0
    root = np.asarray([(7 * lane) % ENTRIES for lane in range(width)], np.int32)
    if together:  # those beyond the last lane are nobody's
        place = np.where(taken, np.arange(width), width + np.arange(width)).astype(np.int32)
        order = np.random.default_rng(4).permutation(width)
        row = leaf(root[order])
        loaded = host(load(lanes, leaf(place[order]), roots, row, worlds, row))
    else:
        loaded = lanes
        for lane in np.flatnonzero(taken).astype(np.int32):
            row = leaf(root[[lane]])
            loaded = host(load(loaded, leaf(lane[None]), roots, row, worlds, row))
    others = np.flatnonzero(~taken).tolist()
    assert described_lanes(loaded, others) == described_lanes(lanes, others)
    expected = malice.FAMILY.to_state([in_world(known[row], worlds, row) for row in root[taken].tolist()])
    mine = np.flatnonzero(taken).tolist()
    assert described_lanes(loaded, mine) == described_lanes(expected, range(len(mine)))
    np.testing.assert_array_equal(np.asarray(loaded.key)[:, taken], np.asarray(worlds.key)[:, root[taken]])
