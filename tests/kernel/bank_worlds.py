"""Worlds of Russian Bank for the kernel's tests: sampled, put into tables, and loaded into lanes."""

import dataclasses
from collections.abc import Sequence
from typing import Final

import jax
import numpy as np
import numpy.typing as npt

from tests.kernel.bank_lockstep import host
from zank_kernel import bank
from zank_kernel.bank.table import Cards
from zank_kernel.engine import CPU_OPTIONS
from zank_kernel.host import leaf

ENTRIES: Final = 30  # rows of the table of knowledge
WORLDS: Final = 6_000  # worlds of one call

_sample = jax.jit(bank.FAMILY.sample, compiler_options=CPU_OPTIONS)
_load = jax.jit(bank.FAMILY.load, compiler_options=CPU_OPTIONS)

type Counts = npt.NDArray[np.int64]


def worlds_of(known: Sequence[bank.Table], seeds: Sequence[int], entry: Counts, number: Counts) -> bank.World:
    """WORLDS worlds by entry and number, of up to ENTRIES positions."""
    spare = ENTRIES - len(known)
    knowledge = bank.FAMILY.knowledge([*known, *[known[-1]] * spare], [*seeds, *[0] * spare])
    worlds: bank.World = host(_sample(knowledge, leaf(entry.astype(np.int32)), leaf(number.astype(np.uint32))))
    return worlds


def many_worlds(known: bank.Table, calls: int, seed: int) -> bank.World:
    """The first `calls * WORLDS` worlds of one position."""
    entry = np.zeros(WORLDS, np.int64)
    parts = [worlds_of([known], [seed], entry, np.arange(WORLDS) + call * WORLDS) for call in range(calls)]
    joined: bank.World = jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=-1), *parts)
    return joined


def loaded(
    lanes: bank.State, place: Counts, roots: bank.State, root: Counts, worlds: bank.World, world: Counts
) -> bank.State:
    """Roots in worlds, put into these lanes; LANES lanes and roots, WORLDS worlds. NumPy arrays."""
    places, rows, numbers = (leaf(part.astype(np.int32)) for part in (place, root, world))
    state: bank.State = host(_load(lanes, places, roots, rows, worlds, numbers))
    return state


def in_world(known: bank.Table, worlds: bank.World, number: int) -> bank.Table:
    """A position in which the hidden cards lie as in a world."""

    def filled(pile: Cards, cards: list[int]) -> Cards:
        return tuple(card or hidden for card, hidden in zip(pile, cards, strict=False))

    reserve = [
        filled(known.reserve[player], [*np.asarray(worlds.reserve)[:, player, number].tolist(), *[0] * 104])
        for player in (0, 1)
    ]
    stock = [
        filled(known.stock[player][::-1], [*np.asarray(worlds.stock)[:, player, number].tolist(), *[0] * 104])[::-1]
        for player in (0, 1)
    ]
    return dataclasses.replace(known, reserve=(reserve[0], reserve[1]), stock=(stock[0], stock[1]))
