"""Rollouts and bare steps compiled for given sizes, what a call of them takes, and what limits it."""

import dataclasses
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.deals import Games, dealt
from zank_kernel import engine as engines
from zank_kernel import rollout
from zank_kernel.host import zeros

DEALS: Final = 256  # different ones among the lanes of bare steps
PILES: Final = "pile"  # the array of a state of which a step reads one cell in each lane, and writes one
FREE: Final = frozenset(  # instructions that run nothing
    ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "opt-barrier", "partition-id")
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Compiled:
    """A program compiled for one device, and the seconds that took."""

    device: jax.Device
    call: Callable[..., Any]
    text: str  # the optimized HLO
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Played:
    """What one call of rollouts did."""

    moves: int  # played in games
    steps: int  # lane steps, idle ones included
    seconds: float
    results: rollout.Results  # [tasks], NumPy arrays


def compiled(device: jax.Device, lowered: jax.stages.Lowered) -> Compiled:
    """Compile as the engine does."""
    options = engines.CPU_OPTIONS if device.platform == "cpu" else None
    begin = time.perf_counter()
    call = lowered.compile(compiler_options=options)
    seconds = time.perf_counter() - begin
    return Compiled(device=device, call=call, text=call.as_text() or "", seconds=seconds)


def lowered_rollouts(
    family: str, lanes: int, tasks: int, device: jax.Device, interval: int = rollout.REFILL_INTERVAL
) -> jax.stages.Lowered:
    """The rollout program for so many lanes and task slots, which looks for idle lanes every `interval` steps."""
    each = engines.FAMILIES[family]

    def run(lanes: Any, tasks: rollout.Tasks[Any, Any]) -> tuple[Any, rollout.Results, rollout.Usage]:
        return rollout.run(each, lanes, tasks)

    knowledge = jax.tree.map(lambda leaf: np.zeros((*leaf.shape[:-1], 1), leaf.dtype), each.knowledge([], []))
    entry, number = zeros((engines.WORLDS,), np.int32), zeros((engines.WORLDS,), np.uint32)
    worlds = jax.eval_shape(each.sample, knowledge, entry, number)
    row = zeros((tasks,), np.int32)
    work = rollout.Tasks(roots=each.empty(engines.ROOTS), worlds=worlds, root=row, world=row, count=zeros((), np.int32))
    with mock.patch.object(rollout, "REFILL_INTERVAL", interval):
        return jax.jit(run, donate_argnums=0).lower(shapes(wide(family, lanes), device), shapes(work, device))


class Rollouts:
    """Rollouts of some games in so many lanes of a device; the first `worlds` rows of worlds come round in order."""

    def __init__(self, program: Compiled, given: Games, lanes: int, tasks: int, worlds: int = engines.WORLDS) -> None:
        self.tasks: Final = tasks
        self._program = program
        self._tables = jax.device_put((given.roots, given.worlds, *given.tasks(tasks, worlds)), program.device)
        self._lanes = filled(engines.FAMILIES[given.family].empty(1), lanes, program.device)

    def play(self, count: int, clock: Callable[[], float] = time.perf_counter) -> Played:
        """Play the first `count` tasks in one call, timed by a clock in seconds."""
        roots, worlds, root, world = self._tables
        number = jax.device_put(np.asarray(count, np.int32), self._program.device)
        tasks = rollout.Tasks(roots=roots, worlds=worlds, root=root, world=world, count=number)
        jax.block_until_ready(self._lanes)
        begin = clock()
        self._lanes, on_device, usage = jax.block_until_ready(self._program.call(self._lanes, tasks))
        seconds = clock() - begin
        results: rollout.Results = jax.tree.map(lambda leaf: np.asarray(leaf)[:count], on_device)
        moves = int(results.moves.sum(dtype=np.int64))
        return Played(moves=moves, steps=unwrapped(int(usage.steps), moves), seconds=seconds, results=results)


def unwrapped(counted: int, least: int) -> int:
    """A number of at least `least` and less than 2**32 more, from its last 32 bits: counters on the device wrap."""
    return least + (counted - least) % (1 << 32)


def lowered_steps(family: str, lanes: int, steps: int, device: jax.Device) -> jax.stages.Lowered:
    """So many bare steps: one move in every lane, the policy's choice included."""
    step = engines.FAMILIES[family].step

    def run(lanes: Any) -> Any:
        return jax.lax.fori_loop(0, steps, lambda _, now: step(now), lanes)

    return jax.jit(run, donate_argnums=0).lower(shapes(wide(family, lanes), device))


def seconds_of_steps(program: Compiled, family: str, lanes: int, repeats: int) -> float:
    """Seconds that a call of bare steps takes, from the deal on: the best of `repeats`."""
    start = engines.FAMILIES[family].to_state([dealt(family, seed) for seed in range(min(DEALS, lanes))])
    seconds = []
    for _ in range(1 + repeats):  # the first is not counted
        state = filled(start, lanes, program.device)
        begin = time.perf_counter()
        jax.block_until_ready(program.call(state))
        seconds.append(time.perf_counter() - begin)
    return min(seconds[1:])


def wide(family: str, lanes: int) -> Any:
    """The shapes of so many lanes of a family's state."""
    return jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((*leaf.shape[:-1], lanes), leaf.dtype), engines.FAMILIES[family].empty(1)
    )


def shapes(tree: Any, device: jax.Device) -> Any:
    """The shapes of arrays that will be on a device."""
    there = jax.sharding.SingleDeviceSharding(device)
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=there), tree)


def filled(state: Any, lanes: int, device: jax.Device) -> Any:
    """So many lanes that hold those of `state` over and over, on a device and ready."""

    def repeated(leaf: Any) -> jax.Array:
        times = -(-lanes // leaf.shape[-1])
        return jnp.tile(leaf, (*(1,) * (leaf.ndim - 1), times))[..., :lanes]

    there = jax.sharding.SingleDeviceSharding(device)
    fill = jax.jit(lambda small: jax.tree.map(repeated, small), out_shardings=there)
    return jax.block_until_ready(fill(jax.device_put(state, device)))


def step_bytes(family: str) -> tuple[int, int]:
    """Bytes of state that a step reads and writes in a lane: at least, and were the piles read and written whole."""
    least = whole = 0
    state = engines.FAMILIES[family].empty(1)
    for field in dataclasses.fields(state):
        leaf = np.asarray(getattr(state, field.name))
        whole += 2 * leaf.nbytes
        least += 2 * (leaf.itemsize if field.name == PILES else leaf.nbytes)
    return least, whole


def copy_rate(device: jax.Device, size: int, repeats: int) -> float:
    """Bytes per second that the device reads and writes, copying an array of `size` bytes: the best of `repeats`."""
    source, target = (jax.device_put(np.zeros((size // 4,), np.uint32), device) for _ in range(2))
    # Into memory that is there already: a CPU would spend its time on getting pages.
    jitted = jax.jit(lambda words, into: words ^ np.uint32(1), donate_argnums=1, keep_unused=True)
    copy = jitted.lower(source, target).compile()
    seconds = []
    for _ in range(1 + repeats):
        jax.block_until_ready((source, target))
        begin = time.perf_counter()
        target = jax.block_until_ready(copy(source, target))
        seconds.append(time.perf_counter() - begin)
    return 2 * int(source.nbytes) / min(seconds[1:])


def kernels_of_step(text: str, steps: int) -> Counter[str]:
    """How many instructions of which kind one of `steps` steps runs, by the optimized HLO of bare steps.

    A fusion, a copy or a custom call is one kernel on an accelerator and one loop or call on a CPU; a loop within a
    step counts as one "while". Raises ValueError where there is no loop over steps.
    """
    bodies = computations(text)
    best: tuple[int, int, Counter[str]] | None = None
    for line in text.splitlines():
        if loop := re.search(r"\bwhile\(.*body=%?([\w.\-]+)", line):
            ran = instructions(bodies, loop[1])
            trips = re.search(r'known_trip_count"?:\{"n":"(\d+)"', line)
            if best is None or ran.total() > best[0]:
                best = ran.total(), int(trips[1]) if trips else steps, ran
    if best is None:
        raise ValueError("no loop in the program")
    _, times, ran = best
    return Counter({kind: -(-count * times // steps) for kind, count in ran.items()})


def computations(text: str) -> dict[str, list[tuple[str, str]]]:
    """The computations of an HLO text by name: the kind of each instruction, and its line."""
    found: dict[str, list[tuple[str, str]]] = {}
    lines: list[tuple[str, str]] = []
    for line in text.splitlines():
        if begins := re.match(r"(?:ENTRY )?%?([\w.\-]+) .*\{$", line):
            lines = found.setdefault(begins[1], [])
        elif instruction := re.match(r"\s+(?:ROOT )?%?[\w.\-]+ = .*? ([a-z][\w\-]*)\(", line):
            lines.append((instruction[1], line))
    return found


def instructions(bodies: Mapping[str, list[tuple[str, str]]], name: str) -> Counter[str]:
    """What a computation runs, with what it calls."""
    ran: Counter[str] = Counter()
    for kind, line in bodies[name]:
        called = re.search(r"to_apply=%?([\w.\-]+)", line)
        if kind == "call" and called:
            ran += instructions(bodies, called[1])
        elif kind not in FREE and not kind.endswith("-done"):
            ran[kind] += 1
    return ran
