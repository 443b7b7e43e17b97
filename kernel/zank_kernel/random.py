"""Counter-based random numbers: a hash of (key, event), equal on every backend, lane count and library version.

The mixing function is the 32-bit finaliser `lowbias32` by Chris Wellons (https://nullprogram.com/blog/2018/07/31/).
All arithmetic is on uint32 arrays, JAX's or the host's (`host.leaf`), with equal results.
"""

from typing import Final

import jax
import numpy as np

GOLDEN: Final = np.uint32(0x9E3779B9)
SECOND: Final = np.uint32(0x85EBCA6B)


def mix(x: jax.Array) -> jax.Array:
    """Scramble the bits of `x`, uint32 of any shape; a bijection."""
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def stream_key(seed_low: jax.Array, seed_high: jax.Array, stream: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Key of one stream of events, two uint32 words, from a 64-bit seed and the stream's number (all uint32)."""
    first = mix(seed_low ^ mix(stream + GOLDEN))
    second = mix(seed_high ^ mix(first + SECOND))
    return first, second


def bits(first: jax.Array, second: jax.Array, event: jax.Array) -> jax.Array:
    """32 random bits for one event of the stream with key (`first`, `second`); all uint32, broadcast together."""
    return mix(second ^ mix(first + event * GOLDEN))


def scale(word: jax.Array, count: jax.Array) -> jax.Array:
    """Map 32 random bits to 0 … count - 1: floor(word * count / 2**32), for uint32 `count` of at most 65,536."""
    low = (word & np.uint32(0xFFFF)) * count
    high = (word >> np.uint32(16)) * count
    return (high + (low >> np.uint32(16))) >> np.uint32(16)


def split_seed(seed: int) -> tuple[np.uint32, np.uint32]:
    """Low and high word of a 64-bit seed."""
    return np.uint32(seed & 0xFFFFFFFF), np.uint32((seed >> 32) & 0xFFFFFFFF)
