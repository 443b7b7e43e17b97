"""Draws of Spite & Malice: keyed by world, player and that player's draw number, and as likely as the stock says."""

import dataclasses
import itertools
import math
from collections import Counter

import jax
import numpy as np
import numpy.typing as npt

from tests.kernel.chi_square import assert_fits, assert_uniform
from tests.kernel.positions import table
from tests.oracle.shuffle import Stream
from zank_kernel import malice, random
from zank_kernel.host import leaf
from zank_kernel.malice import play
from zank_kernel.malice.state import HAND, RANKS

WORLDS = 60_000

draw_ranks = jax.jit(play.draw_ranks)


def waiting(stock: str, *, seed: int = 1, mover: int = 0, drawn: tuple[int, int] = (0, 0)) -> malice.State:
    """WORLDS lanes in which the mover is about to draw from this stock, each with the stream of its own number."""
    start = malice.FAMILY.to_state([table(mover=mover, stock=stock)])
    lanes: malice.State = jax.tree.map(lambda part: np.repeat(part, WORLDS, axis=-1), start)
    low, high = (leaf(np.asarray([word])) for word in random.split_seed(seed))
    key = random.stream_key(low, high, leaf(np.arange(WORLDS, dtype=np.uint32)))
    counts = np.repeat(np.asarray(drawn, np.int16)[:, None], WORLDS, axis=1)
    return dataclasses.replace(lanes, key=leaf(np.stack(key)), drawn=leaf(counts))


def draws(state: malice.State) -> npt.NDArray[np.int8]:
    """Ranks of the next five cards in every lane, int8 [HAND, WORLDS]."""
    return np.asarray(draw_ranks(state))


def test_three_cards_come_in_any_order_as_often_as_the_stock_says() -> None:
    stock = [1, 1, 1, 2, 2, 7, 13]
    text = "AAA227K"
    expected = Counter(itertools.permutations(stock, 3))
    ways = math.perm(len(stock), 3)
    observed = Counter(map(tuple, draws(waiting(text))[:3].T.tolist()))
    assert set(observed) <= set(expected)
    orders = sorted(expected)
    assert_fits([observed[order] for order in orders], [expected[order] / ways for order in orders])


def test_every_place_of_a_draw_of_five_has_the_same_distribution() -> None:
    stock = "AA2334K"
    share = [Counter(stock)[letter] / len(stock) for letter in "A234K"]
    for drawn in draws(waiting(stock, seed=2)):
        counts = Counter(drawn.tolist())
        assert set(counts) == {1, 2, 3, 4, 13}
        assert_fits([counts[rank] for rank in (1, 2, 3, 4, 13)], share)


def test_no_card_is_drawn_twice() -> None:
    drawn = draws(waiting("A23456789TJQK", seed=3))
    assert (np.sort(drawn, axis=0)[1:] != np.sort(drawn, axis=0)[:-1]).all()


def test_a_draw_that_takes_all_takes_what_there_is() -> None:
    drawn = np.sort(draws(waiting("AA2KK", seed=4)), axis=0)
    assert (drawn == np.asarray([1, 1, 2, 13, 13])[:, None]).all()


def test_the_word_of_a_draw_is_that_of_the_player_and_the_draw_number() -> None:
    stock = "A23456789TJQK"
    for mover, drawn in ((0, (0, 0)), (0, (7, 3)), (1, (7, 3)), (1, (0, 60))):
        first = draws(waiting(stock, seed=99, mover=mover, drawn=drawn))[0]
        for world in range(20):
            index = Stream(99, world).below(2 * drawn[mover] + mover, RANKS)
            assert first[world] == 1 + index


def test_a_player_s_draws_do_not_depend_on_how_much_the_other_player_drew() -> None:
    stock = "A23456789TJQK"
    for mover in (0, 1):
        few, many = ((5, 2), (5, 40)) if mover == 0 else ((2, 5), (40, 5))
        np.testing.assert_array_equal(
            draws(waiting(stock, mover=mover, drawn=few)), draws(waiting(stock, mover=mover, drawn=many))
        )


def test_draws_of_both_players_and_of_later_numbers_are_independent() -> None:
    stock = "A23456789TJQK"
    first = draws(waiting(stock))[0].astype(np.int64) - 1
    others = [
        draws(waiting(stock, mover=1))[0],
        draws(waiting(stock, drawn=(1, 0)))[0],
        draws(waiting(stock, drawn=(5, 0)))[0],
        np.roll(draws(waiting(stock))[0], 1),  # the next world
    ]
    for other in others:
        assert_uniform(np.bincount(first * RANKS + other - 1, minlength=RANKS * RANKS))


def test_a_draw_fills_the_empty_hand_slots_and_leaves_the_held_cards() -> None:
    chance = np.random.default_rng(5)
    width = 120
    start = malice.FAMILY.to_state([table(stock="A23456789TJQK")] * width)
    hand = chance.integers(1, 14, (2, HAND, width)) * chance.integers(0, 2, (2, HAND, width))
    held = (hand[0] > 0).sum(axis=0)
    state = dataclasses.replace(start, hand=leaf(hand.astype(np.int8)), need=leaf((HAND - held).astype(np.int8)))
    ranks = chance.permuted(np.repeat(np.arange(1, 14)[:, None], width, axis=1), axis=0)[:HAND].astype(np.int8)
    after = jax.jit(play.take)(state, leaf(ranks))
    for lane in range(width):
        new = iter(ranks[:, lane].tolist())
        expected = [card or next(new) for card in hand[0, :, lane].tolist()]
        assert np.asarray(after.hand)[0, :, lane].tolist() == expected
        assert np.asarray(after.hand)[1, :, lane].tolist() == hand[1, :, lane].tolist()
