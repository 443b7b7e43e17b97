"""Deals of both families as the players know them, and tables of roots and worlds made of them.

It uses no more of the kernel than older revisions have too, for `benchmarks.player` measures those.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
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
DEALS: Final = 16  # that are played


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


@functools.cache
def known(family: str, seed: int) -> Any:
    """The same as the player to move knows it."""
    table = dealt(family, seed)
    return masked(table) if family == "malice" else bank_masked(table)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Games:
    """Tables of roots and worlds and the games that they make: world `w` is one of root `w % deals`. NumPy arrays."""

    family: str
    deals: int
    roots: Any  # state [ROOTS], of which the first `deals` are played
    worlds: Any  # [WORLDS]

    def tasks(self, count: int, worlds: int = engines.WORLDS) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Rows of roots and of worlds of `count` games, int32 [count] each; the first `worlds` come round in order."""
        world = (np.arange(count) % worlds).astype(np.int32)
        return world % self.deals, world


def games(family: str, device: jax.Device | None = None, *, deals: int = DEALS) -> Games:
    """So many deals, ROOTS at most, and as many worlds of each as there is room for, sampled on a device."""
    each = engines.FAMILIES[family]
    seeds = [row % deals for row in range(engines.ROOTS)]
    tables = [known(family, seed) for seed in seeds]
    row = np.arange(engines.WORLDS)
    entry, number = leaf((row % deals).astype(np.int32)), leaf((row // deals).astype(np.uint32))
    with jax.default_device(device):
        worlds = jax.tree.map(np.asarray, _sampling(family)(each.knowledge(tables, seeds), entry, number))
    return Games(family=family, deals=deals, roots=each.to_state(tables), worlds=worlds)


@functools.cache
def _sampling(family: str) -> Callable[..., Any]:
    return jax.jit(engines.FAMILIES[family].sample)
