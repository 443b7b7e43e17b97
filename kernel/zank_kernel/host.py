"""Leaves that the host builds: NumPy arrays standing where the programs' pytrees have JAX arrays.

They stay on the host, cheap to slice and to write, until a compiled program is called with them.
"""

import math
from typing import Any, Final, cast

import jax
import numpy as np
import numpy.typing as npt

ALIGNED: Final = 64  # bytes


def leaf(array: npt.NDArray[Any]) -> jax.Array:
    """`array` as a pytree leaf."""
    return cast(jax.Array, array)


def zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> jax.Array:
    """A leaf of zeros."""
    return leaf(blank(shape, dtype))


def blank(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Zeros that begin where XLA wants an array to, so that a program on a CPU takes them as they are, uncopied."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros((size + ALIGNED,), np.uint8)
    begin = -room.ctypes.data % ALIGNED
    array: npt.NDArray[Any] = room[begin : begin + size].view(dtype).reshape(shape)
    return array
