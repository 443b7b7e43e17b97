"""Rollouts of one round of a question: handed out to calls in parts, collected, and put side by side with others'."""

import dataclasses
import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt

from zank_kernel import rollout
from zank_kernel.host import blank, leaf

type Rows = npt.NDArray[np.int32]
type Worlds = Callable[[int, int], Sequence[Any]]  # tables of the worlds first … last - 1, in order; NumPy arrays


class Batch:
    """One rollout for each pair of a root and a world; `future` is given all results in order, as NumPy arrays."""

    def __init__(
        self,
        family: str,
        roots: Any,
        worlds: Worlds,
        root: Rows,
        world: Rows,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.family: Final = family
        self.roots: Final = roots  # a table with as many rows as a call has
        self.worlds: Final = worlds  # asked for what a call of the batch plays in when it is made
        self.root: Final = root  # rows of the table of roots
        self.world: Final = world  # numbers of worlds
        self.stop: Final = stop  # whether to give up what is not handed out yet
        self.future: Final = Future[rollout.Results]()
        self.handed = 0  # tasks handed out so far
        self._left = len(root)
        self._lock = threading.Lock()
        self._results = rollout.Results(
            points=leaf(np.zeros(root.shape, np.int16)),
            ending=leaf(np.zeros(root.shape, np.int8)),
            moves=leaf(np.zeros(root.shape, np.int16)),
        )
        if not self._left:
            self.future.set_result(self._results)

    @property
    def waiting(self) -> int:
        """Tasks not handed out yet."""
        return 0 if self.future.done() else len(self.root) - self.handed

    def take(self, most: int) -> "Part":
        """Hand out up to so many tasks."""
        part = Part(batch=self, first=self.handed, last=min(self.handed + most, len(self.root)))
        self.handed = part.last
        return part

    def fail(self, error: BaseException) -> None:
        """Give up: the future raises `error`."""
        with self._lock:
            if not self.future.done():
                self.future.set_exception(error)

    def put(self, first: int, results: rollout.Results, begin: int, count: int) -> None:
        """Results of the tasks from `first` on: so many of these, from `begin` on."""
        jax.tree.map(
            lambda all_, some: np.copyto(all_[first : first + count], some[begin : begin + count]),
            self._results,
            results,
        )
        with self._lock:
            self._left -= count
            if not self._left and not self.future.done():
                self.future.set_result(self._results)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """The tasks `first` … `last` - 1 of a batch."""

    batch: Batch
    first: int
    last: int

    @property
    def count(self) -> int:
        """Tasks."""
        return self.last - self.first

    @property
    def root(self) -> Rows:
        """Rows of the batch's table of roots."""
        return self.batch.root[self.first : self.last]

    @property
    def world(self) -> Rows:
        """Numbers of worlds."""
        return self.batch.world[self.first : self.last]

    @property
    def span(self) -> tuple[int, int]:
        """The numbers of the first world and after the last one."""
        return int(self.world.min()), int(self.world.max()) + 1


class Shared:
    """Parts of several batches of a family that fit into the tables of one call."""

    def __init__(self, first: Part, *, roots: int, worlds: int) -> None:
        self.parts = [first]
        self._roots, self._worlds = roots, worlds  # rows that are left
        self._counted = 0

    @property
    def count(self) -> int:
        """Tasks of all parts together."""
        return sum(part.count for part in self.parts)

    def add(self, batch: Batch, most: int) -> bool:
        """Take up to so many tasks of a batch, if the tables have room for their rows."""
        part = Part(batch=batch, first=batch.handed, last=min(batch.handed + most, len(batch.root)))
        for new in (*self.parts[self._counted :], part):
            first, last = new.span
            self._roots -= len(_used(new.root))
            self._worlds -= last - first
        self._counted = len(self.parts) + 1
        if min(self._roots, self._worlds) < 0:
            return False
        self.parts.append(batch.take(most))
        return True


def tasks(parts: Sequence[Part], *, roots: int, worlds: int, slots: int) -> rollout.Tasks[Any, Any]:
    """The tasks of all parts, in order, with tables of so many roots and worlds and so many slots for tasks."""
    root_table, root = _roots(parts, roots)
    world_table, world = _worlds(parts, worlds)
    return rollout.Tasks(
        roots=root_table,
        worlds=world_table,
        root=leaf(_slots(root, slots)),
        world=leaf(_slots(world, slots)),
        count=leaf(np.asarray(len(root), np.int32)),
    )


def _roots(parts: Sequence[Part], size: int) -> tuple[Any, Rows]:
    """A table of `size` roots for all parts, and what rows these are there. One that all share is used as it is."""
    shared = [list(group) for _, group in itertools.groupby(parts, key=lambda part: id(part.batch.roots))]
    if len(shared) == 1:
        return parts[0].batch.roots, np.concatenate([part.root for part in parts])
    tables, rows, begin = [], [], 0
    for group in shared:
        root = np.concatenate([part.root for part in group])
        used = _used(root)
        tables.append(jax.tree.map(lambda leaf, used=used: np.asarray(leaf).take(used, axis=-1), group[0].batch.roots))
        rows.append((np.cumsum(np.bincount(used), dtype=np.int32) + np.int32(begin - 1))[root])
        begin += len(used)
    return _side_by_side(tables, size), np.concatenate(rows)


def _worlds(parts: Sequence[Part], size: int) -> tuple[Any, Rows]:
    """A table of `size` worlds for all parts, and what rows these are there."""
    tables: list[Any] = []
    rows, begin = [], 0
    for part in parts:
        first, last = part.span
        tables += part.batch.worlds(first, last)
        rows.append(part.world + np.int32(begin - first))
        begin += last - first
    return _side_by_side(tables, size), np.concatenate(rows)


def _side_by_side(tables: Sequence[Any], size: int) -> Any:
    """One table of `size` rows, the first of which are those of all tables. NumPy arrays."""

    def put(*leaves: Any) -> Any:
        wide = blank((*leaves[0].shape[:-1], size), leaves[0].dtype)
        begin = 0
        for each in leaves:
            wide[..., begin : begin + each.shape[-1]] = each
            begin += each.shape[-1]
        return wide

    return jax.tree.map(put, *tables)


def _used(rows: Rows) -> Rows:
    """The different ones of some rows, in order."""
    return np.flatnonzero(np.bincount(rows)).astype(np.int32)


def _slots(rows: Rows, slots: int) -> Rows:
    """The rows, with 0 up to so many slots."""
    wide = blank((slots,), np.int32)
    wide[: len(rows)] = rows
    return wide
