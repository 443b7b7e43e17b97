"""States packed into one array, so that a call has one argument instead of many, and lanes are copied at once.

A word has 16 bits, as most of a state does; what has 32 takes two words. It works on JAX's arrays within a program, on
NumPy's outside.
"""

import math
from typing import Any, Final

import jax
import numpy as np

HALF: Final = 16  # bits


class Packing[State]:
    """How states of a family are packed."""

    def __init__(self, empty: State) -> None:
        """`empty` is a state of any number of lanes."""
        leaves, self._tree = jax.tree.flatten(empty)
        self._leaves = [(leaf.shape[:-1], np.dtype(leaf.dtype)) for leaf in leaves]
        self.words: Final[int] = sum(math.prod(shape) * -(-dtype.itemsize * 8 // HALF) for shape, dtype in self._leaves)

    def pack(self, state: State) -> Any:
        """The words of a state, uint16 [words, B]."""
        parts: list[Any] = []
        for leaf, (shape, dtype) in zip(jax.tree.leaves(state), self._leaves, strict=True):
            rows = leaf.reshape(math.prod(shape), leaf.shape[-1])
            parts.append(rows.astype(np.uint16))
            if dtype.itemsize == 4:
                parts.append((rows >> dtype.type(HALF)).astype(np.uint16))
        return parts[0].__array_namespace__().concatenate(parts)

    def unpack(self, words: Any) -> State:
        """The state that was packed into words [words, B]."""
        leaves: list[Any] = []
        begin = 0
        for shape, dtype in self._leaves:
            count = math.prod(shape)
            rows = words[begin : begin + count].astype(dtype)
            if dtype.itemsize == 4:
                begin += count
                rows = rows | words[begin : begin + count].astype(dtype) << dtype.type(HALF)
            begin += count
            leaves.append(rows.reshape(*shape, words.shape[-1]))
        state: State = jax.tree.unflatten(self._tree, leaves)
        return state
