"""How the kernel's arithmetic over lanes is laid out for XLA.

XLA on CPUs turns a chain of array operations into loops over lanes and vectorises those that are elementwise. It does
not vectorise a reduction or a concatenation inside such a loop, and it computes a shared operand again in every loop
that reads it. So: reductions over the short leading axis are written out as elementwise operations, and `stage` marks
where an intermediate result is worth storing.
"""

import functools
from collections.abc import Callable, Sequence

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


def of_entry(values: jax.Array, entry: jax.Array) -> jax.Array:
    """The part of `values` [..., Q] that each `entry`, int32 [W], names: [..., W]. One entry is everybody's."""
    if values.shape[-1] == 1:
        return jnp.broadcast_to(values, (*values.shape[:-1], *entry.shape))
    return values[..., entry]


def total(values: jax.Array) -> jax.Array:
    """Sum over the leading axis, in the dtype of `values`."""
    return fold(jnp.add, values)


def any_of(values: jax.Array) -> jax.Array:
    """Whether any row of the leading axis is true."""
    return fold(jnp.logical_or, values)


def rows(count: int) -> jax.Array:
    """The numbers of `count` rows, uint16 [count, 1]."""
    return jnp.arange(count, dtype=jnp.uint16)[:, None]


def stacked(values: Sequence[jax.Array]) -> jax.Array:
    """Unsigned `values` [B] as the rows of one array, by elementwise operations."""
    place = rows(len(values))
    parts = [jnp.where(place == row, value, jnp.zeros_like(value)) for row, value in enumerate(values)]
    return functools.reduce(jnp.bitwise_or, parts)


def get(array: jax.Array, row: jax.Array, column: jax.Array) -> jax.Array:
    """In each lane the value of `array` [N, M, B] in a row and column that it has, integers [B]."""
    return array.reshape(-1).at[_place(array, row, column)].get(mode="promise_in_bounds")


def put(array: jax.Array, row: jax.Array, column: jax.Array, values: jax.Array) -> jax.Array:
    """`array` [N, M, B] with `values` [B] in a row and column of each lane that it has, integers [B].

    On a CPU the lanes are written one after the other: XLA does not compile a loop into one function that contains a
    scatter, and one function takes half the time of a call for each of its parts.
    """

    def one_by_one(flat: jax.Array, place: jax.Array) -> jax.Array:
        def write(lane: jax.Array, flat: jax.Array) -> jax.Array:
            at, value = (jax.lax.dynamic_slice(each, (lane,), (1,)) for each in (place, values))
            return jax.lax.dynamic_update_slice(flat, value, at)

        written: jax.Array = jax.lax.fori_loop(0, place.shape[0], write, flat)
        return written

    def at_once(flat: jax.Array, place: jax.Array) -> jax.Array:
        return flat.at[place].set(values, mode="promise_in_bounds", unique_indices=True)

    place = _place(array, row, column)
    flat: jax.Array = jax.lax.platform_dependent(array.reshape(-1), place, cpu=one_by_one, default=at_once)
    return flat.reshape(array.shape)


def _place(array: jax.Array, row: jax.Array, column: jax.Array) -> jax.Array:
    """Where in the flat `array` [N, M, B] a row and column of each lane are, int32 [B]."""
    _, width, lanes = array.shape
    return (row.astype(jnp.int32) * width + column.astype(jnp.int32)) * lanes + jnp.arange(lanes, dtype=jnp.int32)


def columns(
    array: jax.Array, place: jax.Array, values: jax.Array, row: jax.Array | None = None, first: int = 0
) -> jax.Array:
    """`array` [..., B] with `values` [..., K] in the lanes `place`, int32 [K]; those beyond B - 1 are left out.

    With a `row` of `array` [N, M, B], in that row only, from column `first` on. A single lane must be there.
    """
    if place.shape[0] == 1:
        zero = jnp.int32(0)
        begin = [row, jnp.int32(first)] if row is not None else [zero] * (array.ndim - 1)
        part = values if row is None else values[None]
        single: jax.Array = jax.lax.dynamic_update_slice(array, part, [*begin, place[0]])
        return single
    if row is None:
        return array.at[..., place].set(values, mode="drop")
    last = first + values.shape[0]
    return array.at[row, first:last].set(array[row, first:last].at[:, place].set(values, mode="drop"))
