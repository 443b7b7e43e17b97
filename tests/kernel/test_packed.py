"""States packed into words and back, on the host and within a program."""

from typing import Any

import jax
import numpy as np
import numpy.typing as npt
import pytest

from zank_kernel.engine import FAMILIES, PACKINGS

LANES = 7


def noise(leaf: Any, chance: np.random.Generator) -> npt.NDArray[Any]:
    """Any value that its type has."""
    words = chance.integers(0, 256, (*leaf.shape[:-1], LANES, leaf.dtype.itemsize), np.uint8)
    return (words[..., 0] & 1).astype(np.bool_) if leaf.dtype == np.bool_ else words.view(leaf.dtype)[..., 0]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("within", [lambda function: function, jax.jit], ids=["host", "program"])
def test_what_is_packed_comes_back_bit_for_bit(family: str, within: Any) -> None:
    chance = np.random.default_rng(5)
    state = jax.tree.map(lambda leaf: noise(leaf, chance), FAMILIES[family].empty(1))
    packing = PACKINGS[family]
    words = np.asarray(within(packing.pack)(state))
    assert (words.dtype, words.shape[-1]) == (np.uint16, LANES)
    back = within(packing.unpack)(words)
    for one, other in zip(jax.tree.leaves(back), jax.tree.leaves(state), strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(np.asarray(one), other)
    assert np.array_equal(np.asarray(within(packing.pack)(back)), words)
