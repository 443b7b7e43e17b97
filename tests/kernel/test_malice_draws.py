"""Draws of Spite & Malice: keyed by world, player and that player's draw number, and as likely as the stock says."""

import dataclasses
import itertools
import math
from collections import Counter

import jax
import numpy as np
import numpy.typing as npt

from tests.kernel.chi_square import assert_fits, assert_uniform
from tests.kernel.lockstep import cards_of, described_lanes, ranks_of, words_of
from tests.kernel.positions import table
from tests.oracle.shuffle import Stream
from zank_kernel import malice, random
from zank_kernel.host import leaf
from zank_kernel.malice import play
from zank_kernel.malice.state import HAND, OUT, RANKS

WORLDS = 60_000

hands_after = jax.jit(lambda state: play.draw(state).hand)


def waiting(stock: str, *, seed: int = 1, mover: int = 0, drawn: tuple[int, int] = (0, 0)) -> malice.State:
    """WORLDS lanes in which the mover is about to draw from this stock, each with the stream of its own number."""
    hand = ("", "56789") if mover == 0 else ("5678", "")
    start = malice.FAMILY.to_state([table(mover=mover, hand=hand, stock=stock)])
    lanes: malice.State = jax.tree.map(lambda part: np.broadcast_to(part, (*part.shape[:-1], WORLDS)), start)
    low, high = (leaf(np.asarray([word])) for word in random.split_seed(seed))
    key = random.stream_key(low, high, leaf(np.arange(WORLDS, dtype=np.uint32)))
    counts = np.repeat(np.asarray(drawn, np.uint16)[:, None], WORLDS, axis=1)
    due = leaf(np.ones(WORLDS, np.bool_))
    return dataclasses.replace(lanes, key=leaf(np.stack(key)), drawn=leaf(counts), due=due)


def draws(state: malice.State) -> npt.NDArray[np.int64]:
    """Ranks of the next five cards in every lane, which an empty hand shows as they come, int64 [HAND, WORLDS]."""
    mover = int(state.mover[0])
    drawn: npt.NDArray[np.int64] = ranks_of(hands_after(state)).reshape(2, HAND, WORLDS)[mover]
    assert (drawn > 0).all()
    return drawn


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
    """With the cards that one is told, or with the next of the world's stream, whatever is held."""
    chance = np.random.default_rng(5)
    width = 120
    for mover in (0, 1):
        stock = Counter("A23456789TJQK" * 2)
        start = malice.FAMILY.to_state([table(mover=mover, stock="".join(stock.elements()))] * width)
        hand = chance.integers(1, 14, (2, HAND, width)) * chance.integers(0, 2, (2, HAND, width))
        state = dataclasses.replace(
            start,
            hand=leaf(words_of(hand).reshape(2 * HAND, width)),
            due=leaf(np.ones(width, np.bool_)),
            key=leaf(chance.integers(0, 2**32, (2, width), dtype=np.uint32)),
            drawn=leaf(chance.integers(0, 90, (2, width)).astype(np.uint16)),
        )
        emptied = dataclasses.replace(state, hand=leaf(np.zeros((2 * HAND, width), np.uint16)))
        told = chance.permuted(np.repeat(np.arange(1, 14)[:, None], width, axis=1), axis=0)[:HAND].astype(np.int8)
        for ranks, after in (
            (told, jax.jit(play.take)(state, leaf(told))),
            (cards_of(jax.jit(play.draw)(emptied)).hand[mover], jax.jit(play.draw)(state)),
        ):
            cards, number = cards_of(after), (hand[mover] == 0).sum(axis=0)
            for lane in range(width):
                new = ranks[: number[lane], lane].tolist()
                left = [2 - new.count(rank) for rank in range(1, RANKS + 1)]
                assert cards.stock[:, lane].tolist() == left
                expected = [card or new.pop(0) for card in hand[mover, :, lane].tolist()]
                assert cards.hand[mover, :, lane].tolist() == expected
                assert cards.hand[1 - mover, :, lane].tolist() == hand[1 - mover, :, lane].tolist()
            drawn = np.asarray(after.drawn, np.int64) - np.asarray(state.drawn)
            assert (drawn[mover] == number).all()
            assert not drawn[1 - mover].any()
            assert not np.asarray(after.due).any()


def test_nothing_is_drawn_where_nothing_is_due_or_the_game_is_over() -> None:
    start = malice.FAMILY.to_state([table(hand=("5", "56"))] * 2)
    state = dataclasses.replace(start, ending=leaf(np.asarray([0, OUT], np.int8)))
    idle = dataclasses.replace(state, due=leaf(np.asarray([False, True])))
    ranks = leaf(np.ones((HAND, 2), np.int8))
    for after in (jax.jit(play.draw)(idle), jax.jit(play.take)(idle, ranks)):
        after = dataclasses.replace(after, due=idle.due)
        assert described_lanes(after, range(2)) == described_lanes(idle, range(2))
