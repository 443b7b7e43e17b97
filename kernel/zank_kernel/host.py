"""Leaves that the host builds: NumPy arrays standing where the programs' pytrees have JAX arrays.

They stay on the host, cheap to slice and to write, until a compiled program is called with them.
"""

from typing import Any, cast

import jax
import numpy as np
import numpy.typing as npt


def leaf(array: npt.NDArray[Any]) -> jax.Array:
    """`array` as a pytree leaf."""
    return cast(jax.Array, array)


def zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> jax.Array:
    """A leaf of zeros."""
    return leaf(np.zeros(shape, dtype))
