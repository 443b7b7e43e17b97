"""Keys of positions: they tell positions of one turn apart, whatever the order of like piles.

A key is a sum of hashes of 64 bits, one for each fact, so that facts about interchangeable piles can be summed in any
order; the contents of a pile are one fact, a hash of 32 bits.
"""

from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from zank_kernel import random
from zank_kernel.lanes import total

SALTS: Final = np.asarray([0x243F6A88, 0x85A308D3], np.uint32)  # of the two words


def fact(value: jax.Array, kind: int) -> jax.Array:
    """Hashes of one fact a lane: `value` [B] of a numbered `kind`; uint32 [2, B]."""
    salts = random.mix(jnp.asarray(SALTS + np.asarray([kind], np.uint32) * random.GOLDEN))
    return random.mix(random.mix(value.astype(jnp.uint32) ^ salts[:, None]) + salts[:, None])


def facts(values: jax.Array, kind: int) -> jax.Array:
    """The same for several facts of a kind, `values` [N, B], whose order does not matter; uint32 [2, B]."""
    count, lanes = values.shape
    return fact(values.reshape(count * lanes), kind).reshape(2, count, lanes).sum(axis=1, dtype=jnp.uint32)


def contents(cards: jax.Array, counts: jax.Array) -> jax.Array:
    """A hash of the first `counts` [N, B] cards, 16 bits at most, of each pile `cards` [DEPTH, N, B]; uint32 [N, B]."""

    def add(depth: jax.Array, sums: jax.Array) -> jax.Array:
        word = cards[depth].astype(jnp.uint32) + (depth.astype(jnp.uint32) << 16)
        return sums + jnp.where(depth < counts.astype(jnp.int32), random.mix(word ^ random.SECOND), jnp.uint32(0))

    deepest = jnp.minimum(counts.max().astype(jnp.int32), cards.shape[0])
    sums: jax.Array = jax.lax.fori_loop(0, deepest, add, jnp.zeros(counts.shape, jnp.uint32))
    return sums


def in_order(values: jax.Array, kind: int) -> jax.Array:
    """Hashes of facts whose order matters, `values` uint32 [N, B]; uint32 [2, B]."""
    place = jnp.arange(values.shape[0], dtype=jnp.uint32)[:, None]
    return facts(random.mix(values + place * random.GOLDEN), kind)


def together(*parts: jax.Array) -> jax.Array:
    """The key that facts make, uint32 [2, B] each."""
    return total(jnp.stack(parts))
