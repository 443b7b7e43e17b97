"""The engine: a fixed list of compiled programs on the local devices, and questions answered with them.

Every program is compiled in `Engine.warm_up`; nothing compiles afterwards, since only compiled executables are
called. The rollouts of one question are spread over worker threads: one per core on a CPU, one on an accelerator.
"""

import dataclasses
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np
import numpy.typing as npt

from zank_kernel import malice, rollout, search
from zank_kernel.family import Family
from zank_kernel.host import leaf, zeros

ROOTS: Final = 64  # rows of a table of roots
WORLDS: Final = 1_024  # rows of a table of worlds
TASKS: Final = 2_048  # tasks of one rollout call, which bounds how long it runs
LANES: Final = 128  # lanes of one worker
HINT_ROLLOUTS: Final = 16_384  # what a hint may cost when the question does not say

FAMILIES: Final[Mapping[str, Family[Any, Any, Any, Any]]] = {family.name: family for family in (malice.FAMILY,)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Program:
    """A compiled program and what it took to make it."""

    name: str
    sizes: str
    compile_seconds: float
    call: Callable[..., Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """What is the best move in this position, to the knowledge of the player to move?"""

    family: str
    table: Any  # the family's table; hidden cards are 0
    rollouts: int  # in total over all candidates
    seed: int  # 64 bits
    objective: search.Objective


class Stopped(Exception):
    """The question was given up before its answer was complete."""


def never() -> bool:
    """The question is never given up."""
    return False


@dataclasses.dataclass
class Meter:
    """What the rollout workers have done since the engine was made."""

    rollouts: int = 0
    moves: int = 0  # moves played in rollouts
    steps: int = 0  # lane steps taken, idle ones included
    busy_seconds: float = 0.0  # worker time spent in rollout calls, all workers together


class Engine:
    """Compiled programs and the workers that run them.

    `lanes` is the number of lanes a worker plays in; `workers` the number of threads (default: one per core on a CPU,
    one on an accelerator; only the first device is used); `cache_directory` keeps compiled programs between starts and
    must be private to the user, for what lies in it is run.
    """

    def __init__(self, *, lanes: int = LANES, workers: int | None = None, cache_directory: Path | None = None) -> None:
        if cache_directory is not None:
            cache_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            jax.config.update("jax_compilation_cache_dir", str(cache_directory))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
            jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        self.devices = jax.local_devices()[:1]
        on_cpu = self.devices[0].platform == "cpu"
        self.workers = workers or (len(os.sched_getaffinity(0)) if on_cpu else 1)
        # Cores are kept busy by workers, one call each; a call that also splits its many small loops over a thread
        # pool spends most of its time there.
        self._compiler_options = {"xla_disable_hlo_passes": "cpu-parallel-task-assigner"} if on_cpu else None
        self.lanes = lanes
        self.meter = Meter()
        self.programs: dict[str, Program] = {}
        self._buffers: list[dict[str, Any]] = [{} for _ in range(self.workers)]
        self._free = list(range(self.workers))
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="rollout")

    def close(self) -> None:
        """Finish the calls under way and stop the workers."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def warm_up(self) -> None:
        """Compile every program and run each once."""
        for family in FAMILIES.values():
            self._compile_family(family)

    def legal(self, family: str, state: Any) -> npt.NDArray[np.bool_]:
        """Legal actions of up to ROOTS lanes, bool [actions, B]."""
        count = state.ending.shape[-1]
        mask: npt.NDArray[np.bool_] = np.asarray(self._call(family, "legal", padded(state, ROOTS)))
        return mask[:, :count]

    def play(self, family: str, state: Any, actions: npt.NDArray[np.int32]) -> Any:
        """State after one legal action in each of up to ROOTS lanes; cards due are not drawn yet. NumPy arrays."""
        count = state.ending.shape[-1]
        after = self._call(family, "play", padded(state, ROOTS), padded(np.asarray(actions, np.int32), ROOTS))
        return jax.tree.map(lambda leaf: np.asarray(leaf)[..., :count], after)

    def take(self, family: str, state: Any, cards: npt.NDArray[np.int8]) -> Any:
        """State after the cards due were drawn as given, int8 [draws, B], in up to ROOTS lanes. NumPy arrays."""
        count = state.ending.shape[-1]
        after = self._call(family, "take", padded(state, ROOTS), padded(np.asarray(cards, np.int8), ROOTS))
        return jax.tree.map(lambda leaf: np.asarray(leaf)[..., :count], after)

    def answer(self, question: Question, stop: Callable[[], bool] = never) -> search.Answer:
        """Rank the legal moves of a position that is not over; the evaluations' candidates hold the actions.

        The answer depends on nothing but the question. `stop` is asked before every rollout call; once it says yes
        the question is given up and Stopped is raised. Raises ValueError where there is no legal move, or more
        distinct ones than a table of roots has rows.
        """
        family = FAMILIES[question.family]
        table = question.table
        before = family.to_state([table])
        legal = np.flatnonzero(self.legal(question.family, before)[:, 0])
        if len(legal) == 0:
            raise ValueError("no legal move in this position")
        first = family.representatives(table)
        groups: dict[int, list[int]] = {}
        for action in legal.tolist():
            groups.setdefault(int(first[action]), []).append(action)
        if len(groups) > ROOTS:
            raise ValueError(f"{len(groups)} distinct moves, at most {ROOTS} are supported")
        actions = np.asarray([members[0] for members in groups.values()], np.int32)
        repeated = jax.tree.map(lambda leaf: np.repeat(leaf, len(actions), axis=-1), before)
        roots = self.play(question.family, repeated, actions)
        sign = 1 if table.mover == 0 else -1
        won = self._won_at_once(family, table, actions, sign)
        candidates = [
            search.Candidate(
                action=members[0],
                equivalents=tuple(members[1:]),
                wins_at_once=bool(won[index]),
            )
            for index, members in enumerate(groups.values())
        ]
        if len(candidates) == 1:
            return search.forced(candidates[0])
        knowledge = family.knowledge([table], [question.seed])
        playing = _Playing(self, family, padded(roots, ROOTS), knowledge, sign, stop)
        return search.search(candidates, question.rollouts, question.objective, family.spread(table), playing.play)

    def _won_at_once(
        self, family: Family[Any, Any, Any, Any], table: Any, actions: npt.NDArray[np.int32], sign: int
    ) -> npt.NDArray[np.bool_]:
        """Which actions win before the other player can do anything, by a draw that ends the game too; bool [N]."""
        before = family.to_state([family.stand_in(table)])
        repeated = jax.tree.map(lambda leaf: np.repeat(leaf, len(actions), axis=-1), before)
        after = self.play(family.name, repeated, actions)
        after = self.take(family.name, after, np.zeros((family.draws, len(actions)), np.int8))
        won: npt.NDArray[np.bool_] = (after.ending != 0) & (after.points * sign > 0)
        return won

    def _call(self, family: str, name: str, *arguments: Any) -> Any:
        return self.programs[f"{family}/{name}"].call(*arguments)

    def _compile_family(self, family: Family[Any, Any, Any, Any]) -> None:
        state = family.empty(ROOTS)
        knowledge = jax.tree.map(lambda leaf: np.zeros((*leaf.shape[:-1], 1), leaf.dtype), family.knowledge([], []))
        entry, number = np.zeros((WORLDS,), np.int32), np.zeros((WORLDS,), np.uint32)
        worlds = self._compile(family, "sample", f"worlds={WORLDS}", family.sample, knowledge, entry, number)
        self._compile(family, "legal", f"roots={ROOTS}", family.legal, state)
        self._compile(family, "play", f"roots={ROOTS}", family.play, state, np.full((ROOTS,), -1, np.int32))
        self._compile(family, "take", f"roots={ROOTS}", family.take, state, np.zeros((family.draws, ROOTS), np.int8))

        def run(lanes: Any, tasks: rollout.Tasks[Any, Any]) -> tuple[Any, rollout.Results, rollout.Usage]:
            return rollout.run(family, lanes, tasks)

        index = zeros((TASKS,), np.int32)
        tasks = rollout.Tasks(roots=state, worlds=worlds, root=index, world=index, count=zeros((), np.int32))
        sizes = f"lanes={self.lanes} roots={ROOTS} worlds={WORLDS} tasks={TASKS}"
        self._compile(family, "rollout", sizes, run, family.empty(self.lanes), tasks, donated=0)

    def _lanes(self, worker: int, family: Family[Any, Any, Any, Any]) -> Any:
        """The lanes of a worker, for one call: the call gives back others, unless it fails."""
        lanes = self._buffers[worker].pop(family.name, None)
        return jax.device_put(family.empty(self.lanes)) if lanes is None else lanes

    def _compile(
        self,
        family: Family[Any, Any, Any, Any],
        name: str,
        sizes: str,
        function: Callable[..., Any],
        *arguments: Any,
        donated: int | None = None,
    ) -> Any:
        """Compile `function` for the shapes of `arguments`, call it once, and return what it returned."""
        begin = time.perf_counter()
        jitted = jax.jit(function, donate_argnums=() if donated is None else donated)
        call = jitted.lower(*arguments).compile(compiler_options=self._compiler_options)
        program = Program(
            name=f"{family.name}/{name}", sizes=sizes, compile_seconds=time.perf_counter() - begin, call=call
        )
        self.programs[program.name] = program
        return call(*jax.device_put(arguments))

    def worlds(self, family: str, knowledge: Any, chunk: int) -> Any:
        """Worlds number `chunk * WORLDS` … of the first entry of `knowledge`: a table of WORLDS rows."""
        number = np.arange(chunk * WORLDS, (chunk + 1) * WORLDS, dtype=np.uint32)
        return self._call(family, "sample", knowledge, np.zeros((WORLDS,), np.int32), number)

    def rollouts(
        self,
        family: str,
        roots: Any,
        worlds: Any,
        root: npt.NDArray[np.int32],
        world: npt.NDArray[np.int32],
        stop: Callable[[], bool] = never,
    ) -> list[tuple[int, Future[rollout.Results]]]:
        """Queue one rollout for each pair of rows of `roots` [ROOTS] and `worlds` [WORLDS]; returns at once.

        The tasks go to the workers in calls of at most TASKS tasks each, about equal in size; each entry of the
        list is the number of its tasks, in order, and the future of their results (NumPy arrays), or of Stopped.
        """
        calls = -(-len(root) // (TASKS * self.workers)) * self.workers
        queued = []
        for part_root, part_world in zip(np.array_split(root, calls), np.array_split(world, calls), strict=True):
            tasks = rollout.Tasks(
                roots=roots,
                worlds=worlds,
                root=padded(leaf(part_root), TASKS),
                world=padded(leaf(part_world), TASKS),
                count=leaf(np.asarray(len(part_root), np.int32)),
            )
            queued.append((len(part_root), self._pool.submit(self._rollout, FAMILIES[family], tasks, stop)))
        return queued

    def _rollout(
        self, family: Family[Any, Any, Any, Any], tasks: rollout.Tasks[Any, Any], stop: Callable[[], bool]
    ) -> rollout.Results:
        if stop():
            raise Stopped
        with self._lock:
            worker = self._free.pop()
        try:
            begin = time.perf_counter()
            lanes, results, usage = self._call(family.name, "rollout", self._lanes(worker, family), tasks)
            self._buffers[worker][family.name] = lanes
            host: rollout.Results = jax.tree.map(np.asarray, results)
            seconds = time.perf_counter() - begin
            with self._lock:
                self.meter.rollouts += int(tasks.count)
                self.meter.moves += int(usage.moves)
                self.meter.steps += int(usage.steps)
                self.meter.busy_seconds += seconds
            return host
        finally:
            with self._lock:
                self._free.append(worker)


class _Playing:
    """The rollouts of one question: its roots, its knowledge and the tables of worlds made so far."""

    def __init__(
        self,
        engine: Engine,
        family: Family[Any, Any, Any, Any],
        roots: Any,
        knowledge: Any,
        sign: int,
        stop: Callable[[], bool],
    ) -> None:
        self.engine = engine
        self.family = family
        self.roots = jax.device_put(roots)
        self.knowledge = knowledge
        self.sign = sign
        self.stop = stop
        self.chunk = -1
        self.worlds: Any = None

    def table_of_worlds(self, chunk: int) -> Any:
        """Worlds `chunk * WORLDS` … of this question."""
        if chunk != self.chunk:
            self.worlds = self.engine.worlds(self.family.name, self.knowledge, chunk)
            self.chunk = chunk
        return self.worlds

    def play(self, indices: Sequence[int], first: int, last: int) -> list[search.Outcomes]:
        """Worlds `first` … `last` - 1 with the roots of these indices."""
        queued: list[tuple[int, Future[rollout.Results]]] = []
        for chunk in range(first // WORLDS, (last - 1) // WORLDS + 1):
            begin, end = max(first, chunk * WORLDS), min(last, (chunk + 1) * WORLDS)
            world = np.repeat(np.arange(begin, end, dtype=np.int32) - chunk * WORLDS, len(indices))
            root = np.tile(np.asarray(indices, np.int32), end - begin)
            worlds = self.table_of_worlds(chunk)
            queued += self.engine.rollouts(self.family.name, self.roots, worlds, root, world, self.stop)
        parts = [(count, future.result()) for count, future in queued]
        points = np.concatenate([results.points[:count] for count, results in parts]).astype(np.int64)
        moves = np.concatenate([results.moves[:count] for count, results in parts]).astype(np.int64)
        points = self.sign * points.reshape(last - first, len(indices))
        moves = moves.reshape(last - first, len(indices))
        return [
            search.Outcomes(points=points[:, i], score=1 + np.sign(points[:, i]), moves=moves[:, i])
            for i in range(len(indices))
        ]


def padded[Tree](tree: Tree, size: int) -> Tree:
    """Fill the last axis of every leaf up to `size` entries with 0. Raises ValueError where it is longer."""

    def pad(leaf: Any) -> Any:
        count = leaf.shape[-1]
        if count > size:
            raise ValueError(f"{count} entries, at most {size} are supported")
        wide = np.zeros((*leaf.shape[:-1], size), leaf.dtype)
        wide[..., :count] = leaf
        return wide

    padded_tree: Tree = jax.tree.map(pad, tree)
    return padded_tree
