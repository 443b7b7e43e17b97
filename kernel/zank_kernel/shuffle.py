"""Shuffles by seed: a documented algorithm that any language can reproduce (`proto/README.md`).

`shuffled` shuffles whatever the host holds, one pack at a time.
"""

from collections.abc import Sequence

import numpy as np

from zank_kernel import random
from zank_kernel.host import leaf


def numbers(seed: int, count: int, below: Sequence[int]) -> list[int]:
    """Numbers 0 … below[i] - 1 for events i = 0, 1, … of shuffle `count` of a 64-bit `seed`."""
    low, high = (leaf(np.asarray([word])) for word in random.split_seed(seed))
    first, second = random.stream_key(low, high, leaf(np.asarray([count], np.uint32)))
    word = random.bits(first, second, leaf(np.arange(len(below), dtype=np.uint32)))
    values: list[int] = random.scale(word, leaf(np.asarray(below, np.uint32))).tolist()
    return values


def shuffled[Card](cards: Sequence[Card], seed: int, count: int) -> list[Card]:
    """`cards` in the order of shuffle `count` of `seed` (Fisher and Yates, from the last place down)."""
    result = list(cards)
    places = numbers(seed, count, range(1, len(result) + 1))
    for place in range(len(result) - 1, 0, -1):
        other = places[place]
        result[place], result[other] = result[other], result[place]
    return result
