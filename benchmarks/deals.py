"""Deals of both families as the players know them, and tables of roots and worlds made of them.

It uses no more of the kernel than older revisions have too, for `benchmarks.player` measures those.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt

from zank_kernel import bank, malice
from zank_kernel import engine as engines
from zank_kernel.bank.deal import dealt as dealt_bank
from zank_kernel.host import leaf
from zank_kernel.malice.deal import dealt as dealt_malice
from zank_kernel.malice.table import masked

PRESETS: Final[Mapping[str, str]] = {"malice": "malice-match", "bank": "bank-spiteful"}  # by family, what is measured
DEALS: Final = 16  # roots of a table


def dealt(family: str, seed: int) -> Any:
    """The deal of a 64-bit seed with every card given, a table of the family."""
    if family == "malice":
        return dealt_malice(malice.PRESETS[PRESETS[family]], seed)
    return dealt_bank(bank.PRESETS[PRESETS[family]], seed)


def bank_masked(table: bank.Table) -> bank.Table:
    """What the players know of a deal of Russian Bank: stocks and reserves below their tops become 0."""
    first, second = table.reserve
    return dataclasses.replace(
        table,
        reserve=((*(0,) * (len(first) - 1), first[-1]), (*(0,) * (len(second) - 1), second[-1])),
        stock=((0,) * len(table.stock[0]), (0,) * len(table.stock[1])),
    )


def known(family: str, seed: int) -> Any:
    """The same as the player to move knows it."""
    table = dealt(family, seed)
    return masked(table) if family == "malice" else bank_masked(table)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Games:
    """Tables of roots and worlds and the games that they make: world `w` is one of root `w % DEALS`. NumPy arrays."""

    family: str
    roots: Any  # state [ROOTS], the first DEALS of which are deals
    worlds: Any  # [WORLDS]

    def tasks(self, count: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Rows of roots and of worlds of `count` games, int32 [count] each; the worlds come round in order."""
        world = (np.arange(count) % engines.WORLDS).astype(np.int32)
        return world % DEALS, world


def games(family: str, device: jax.Device | None = None) -> Games:
    """DEALS deals, and as many worlds of each as there is room for, sampled on a device (default: JAX's)."""
    each = engines.FAMILIES[family]
    tables = [known(family, seed) for seed in range(DEALS)]
    row = np.arange(engines.WORLDS)
    entry, number = leaf((row % DEALS).astype(np.int32)), leaf((row // DEALS).astype(np.uint32))
    with jax.default_device(device):
        worlds = jax.tree.map(np.asarray, jax.jit(each.sample)(each.knowledge(tables, range(DEALS)), entry, number))
    return Games(family=family, roots=engines.padded(each.to_state(tables), engines.ROOTS), worlds=worlds)
