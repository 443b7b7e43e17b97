"""How the kernel's arithmetic over lanes is laid out for XLA.

XLA on CPUs turns a chain of array operations into loops over lanes and vectorises those that are elementwise. It does
not vectorise a reduction or a concatenation inside such a loop, and it computes a shared operand again in every loop
that reads it. So: reductions over the short leading axis are written out as elementwise operations, and `stage` marks
where an intermediate result is worth storing.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp


def stage[Tree](values: Tree) -> Tree:
    """The same values, stored before anything reads them."""
    stored: Tree = jax.lax.optimization_barrier(values)
    return stored


def fold(combine: Callable[[jax.Array, jax.Array], jax.Array], values: jax.Array) -> jax.Array:
    """Combine the rows of `values` [N, ...] with an associative function, in a balanced tree."""
    rows = list(values)
    while len(rows) > 1:
        rows = [functools.reduce(combine, rows[index : index + 2]) for index in range(0, len(rows), 2)]
    return rows[0]


def of_player(player: jax.Array, values: jax.Array) -> jax.Array:
    """The part of `values` [2, ..., B] that is `player`'s, 0 or 1, in each lane [B]."""
    return jnp.where(player == 0, values[0], values[1])


def total(values: jax.Array) -> jax.Array:
    """Sum over the leading axis, in the dtype of `values`."""
    return fold(jnp.add, values)


def largest(values: jax.Array) -> jax.Array:
    """Maximum over the leading axis."""
    return fold(jnp.maximum, values)


def any_of(values: jax.Array) -> jax.Array:
    """Whether any row of the leading axis is true."""
    return fold(jnp.logical_or, values)
