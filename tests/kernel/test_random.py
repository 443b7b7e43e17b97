"""Counter-based random numbers: golden values, equal words everywhere, and no pattern that a chi-square can see."""

import math
from collections.abc import Callable

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.chi_square import DEVIATIONS, assert_uniform
from tests.oracle import shuffle as oracle
from zank_kernel import random, shuffle
from zank_kernel.host import leaf
from zank_kernel.malice.belief import BELIEF_STREAM

type Words = jax.Array  # uint32; arrays of the host unless said otherwise

WORD = st.integers(0, 2**32 - 1)
SEED = st.integers(0, 2**64 - 1)
COUNT = 1 << 19
SAMPLE_SEEDS = (0, 1, 0x0123456789ABCDEF)


def one(word: int) -> Words:
    return leaf(np.asarray([word], np.uint32))


def numbers(count: int) -> Words:
    return leaf(np.arange(count, dtype=np.uint32))


def words(seed: int, stream: Words, event: Words) -> Words:
    """Random words of streams and events, broadcast together."""
    low, high = (leaf(np.asarray([word])) for word in random.split_seed(seed))
    first, second = random.stream_key(low, high, stream)
    return random.bits(first, second, event)


# The documented numbers --------------------------------------------------------------------------------------------


GOLDEN_MIX = [0x00000000, 0x688990C0, 0xD1132181, 0xE628C683, 0x6768824A]
GOLDEN_WORDS = {  # (seed, stream, event): word
    (0, 0, 0): 0xDD8FD3CE,
    (0, 0, 1): 0x0B7C5098,
    (0, 1, 0): 0x71B64A90,
    (1, 0, 0): 0xB387955C,
    (0x100000000, 0, 0): 0x0A81980A,
    (0x0123456789ABCDEF, 7, 103): 0x24768D7C,
    (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF): 0x299BDCC5,
}


def test_golden_values() -> None:
    """Fixed for ever: deals by seed, worlds and answers rest on them."""
    assert [int(random.mix(one(word))[0]) for word in (0, 1, 2, 0xDEADBEEF, 0xFFFFFFFF)] == GOLDEN_MIX
    assert {key: int(words(key[0], one(key[1]), one(key[2]))[0]) for key in GOLDEN_WORDS} == GOLDEN_WORDS


@given(word=WORD)
def test_mix_is_the_documented_function(word: int) -> None:
    assert int(random.mix(one(word))[0]) == oracle.mix(word)


@given(seed=SEED, stream=WORD, event=WORD)
def test_the_word_of_an_event_is_the_documented_one(seed: int, stream: int, event: int) -> None:
    assert int(words(seed, one(stream), one(event))[0]) == oracle.Stream(seed, stream).word(event)


@given(word=st.one_of(WORD, st.sampled_from([0, 0xFFFF, 0x10000, 0xFFFFFFFF])), count=st.integers(1, 65_536))
def test_scale_is_exactly_the_floor_of_word_times_count(word: int, count: int) -> None:
    assert int(random.scale(one(word), one(count))[0]) == word * count >> 32


@given(seed=SEED)
def test_a_seed_splits_into_two_words(seed: int) -> None:
    low, high = random.split_seed(seed)
    assert int(low) + (int(high) << 32) == seed


@given(seed=SEED, count=WORD, size=st.integers(0, 110))
def test_a_shuffle_is_the_documented_one(seed: int, count: int, size: int) -> None:
    cards = [f"card {number}" for number in range(size)]
    assert shuffle.shuffled(cards, seed, count) == oracle.Stream(seed, count).shuffle(cards)


@given(seed=SEED, count=WORD, below=st.lists(st.integers(1, 65_536), max_size=20))
def test_numbers_below_a_bound_are_the_documented_ones(seed: int, count: int, below: list[int]) -> None:
    stream = oracle.Stream(seed, count)
    assert shuffle.numbers(seed, count, below) == [stream.below(event, bound) for event, bound in enumerate(below)]


def compute(low: Words, high: Words, stream: Words, event: Words, count: Words) -> tuple[Words, Words, Words]:
    first, second = random.stream_key(low, high, stream)
    word = random.bits(first, second, event)
    return random.mix(event), word, random.scale(word, count)


def test_numpy_and_jax_give_the_same_words() -> None:
    chance = np.random.default_rng(1)
    zero = np.uint32(0)
    low, high, stream, event, count = (
        leaf(chance.integers(0, bound, 4_096, dtype=np.uint32) + least)
        for bound, least in ((2**32, zero), (2**32, zero), (2**32, zero), (2**32, zero), (65_536, np.uint32(1)))
    )
    expected = compute(low, high, stream, event, count)
    compiled = jax.jit(compute)(*jax.device_put((low, high, stream, event, count)))
    for mine, other in zip(expected, compiled, strict=True):
        assert type(mine) is not type(other)
        assert other.dtype == np.uint32
        np.testing.assert_array_equal(mine, other)


# No pattern --------------------------------------------------------------------------------------------------------


def test_mix_maps_no_two_of_many_words_to_one() -> None:
    """It is a bijection; small words are those that events and worlds are numbered by."""
    for start in (0, 1 << 31, (1 << 32) - COUNT):
        mixed = random.mix(leaf(np.arange(start, start + COUNT).astype(np.uint32)))
        assert len(np.unique(mixed)) == COUNT


WAYS: dict[str, Callable[[int], Words]] = {
    "events of one stream": lambda seed: words(seed, one(0), numbers(COUNT)),
    "streams, the same event": lambda seed: words(seed, numbers(COUNT), one(3)),
    "streams of beliefs": lambda seed: words(seed, numbers(COUNT) | BELIEF_STREAM, one(3)),
    "draws of many worlds": lambda seed: words(seed, numbers(COUNT // 128)[:, None], numbers(128)).ravel(),
    "draws of many worlds, world after world": lambda seed: words(
        seed, numbers(COUNT // 128), numbers(128)[:, None]
    ).ravel(),
    "seeds that differ in the low word": lambda seed: bits_of_seeds(numbers(COUNT), one(seed >> 32)),
    "seeds that differ in the high word": lambda seed: bits_of_seeds(one(seed & 0xFFFFFFFF), numbers(COUNT)),
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
seeds = pytest.mark.parametrize("seed", SAMPLE_SEEDS)


def bits_of_seeds(low: Words, high: Words) -> Words:
    first, second = random.stream_key(low, high, one(0))
    return random.bits(first, second, one(0))


@ways
@seeds
def test_numbers_below_a_bound_are_uniform(way: Callable[[int], Words], seed: int) -> None:
    word = way(seed)
    for count in (2, 3, 5, 7, 13, 54, 104, 1_000, 65_536):
        assert_uniform(np.bincount(random.scale(word, one(count)), minlength=count))


@ways
@seeds
def test_every_bit_is_as_often_1_as_0_and_no_two_bits_go_together(way: Callable[[int], Words], seed: int) -> None:
    word = way(seed)
    bits = (word >> numbers(32)[:, None]) & np.uint32(1)
    signs = 2 * np.asarray(bits, np.float32) - 1  # [32, COUNT]
    allowed = (DEVIATIONS + 1) * math.sqrt(COUNT)  # 32 means and 496 pairs are looked at
    assert np.abs(signs.sum(axis=1)).max() <= allowed
    together = signs @ signs.T
    np.fill_diagonal(together, 0)
    assert np.abs(together).max() <= allowed


@ways
@seeds
def test_neighbours_are_independent(way: Callable[[int], Words], seed: int) -> None:
    place = random.scale(way(seed), one(32)).astype(np.int64)
    for lag in (1, 2, 5, 128):
        assert_uniform(np.bincount(place[:-lag] * 32 + place[lag:], minlength=32 * 32))


@seeds
def test_three_events_in_a_row_are_independent(seed: int) -> None:
    place = random.scale(words(seed, one(0), numbers(COUNT)), one(16)).astype(np.int64)
    triples = (place[:-2] * 16 + place[1:-1]) * 16 + place[2:]
    assert_uniform(np.bincount(triples, minlength=16**3))


PAIRS: dict[str, Callable[[int], tuple[Words, Words]]] = {
    "a world's draws and its beliefs": lambda seed: (
        words(seed, numbers(COUNT), one(0)),
        words(seed, numbers(COUNT) | BELIEF_STREAM, one(0)),
    ),
    "both players' first draws": lambda seed: (
        words(seed, numbers(COUNT), one(0)),
        words(seed, numbers(COUNT), one(1)),
    ),
    "a player's first and second draw": lambda seed: (
        words(seed, numbers(COUNT), one(0)),
        words(seed, numbers(COUNT), one(2)),
    ),
    "two seeds, the same worlds": lambda seed: (
        words(seed, numbers(COUNT), one(0)),
        words(seed + 1, numbers(COUNT), one(0)),
    ),
    "two seeds that differ in the high word": lambda seed: (
        words(seed, numbers(COUNT), one(0)),
        words(seed ^ 1 << 32, numbers(COUNT), one(0)),
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
@seeds
def test_streams_are_independent_of_each_other(pair: Callable[[int], tuple[Words, Words]], seed: int) -> None:
    first, second = (random.scale(word, one(52)).astype(np.int64) for word in pair(seed))
    assert_uniform(np.bincount(first * 52 + second, minlength=52 * 52))


@pytest.mark.parametrize("changed", ["seed low", "seed high", "stream", "event"])
def test_one_changed_bit_changes_every_bit_of_the_word_half_the_time(changed: str) -> None:
    chance = np.random.default_rng(2)
    size = 1 << 14
    names = ("seed low", "seed high", "stream", "event")
    inputs = {name: leaf(chance.integers(0, 2**32, size, dtype=np.uint32)) for name in names}
    before = word_of(inputs)
    for bit in range(32):
        after = word_of({**inputs, changed: inputs[changed] ^ np.uint32(1 << bit)})
        flipped = ((before ^ after) >> numbers(32)[:, None]) & np.uint32(1)
        share = flipped.mean(axis=1)
        assert np.abs(share - 0.5).max() <= (DEVIATIONS + 1) / (2 * math.sqrt(size)), f"bit {bit}"


def word_of(inputs: dict[str, Words]) -> Words:
    first, second = random.stream_key(inputs["seed low"], inputs["seed high"], inputs["stream"])
    return random.bits(first, second, inputs["event"])
