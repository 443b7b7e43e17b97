"""Rollouts in persistent lanes: a lane that finishes its game picks up the next task.

A task is one game: root `Tasks.root[i]` in world `Tasks.world[i]`, played to its end by the rollout policy. Its result
goes to slot i and depends on nothing but the root and the world, never on lanes, order or devices.
"""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.family import ADJUDICATED, Family, Lanes
from zank_kernel.lanes import columns

REFILL_INTERVAL: Final = 16  # steps between two looks at which lanes are done
TAIL: Final = 4  # the last games of a call are played in this part of the lanes
MOVE_LIMIT: Final = 16_384  # moves after which a game is cut off as adjudicated; never seen in play

IDLE: Final = -1


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Tasks[State: Lanes, World]:
    """Work for one call: tables of roots and worlds, and up to `T` tasks that refer to them."""

    roots: State  # [R]
    worlds: World  # [W]
    root: jax.Array  # int32 [T]: row of the table of roots
    world: jax.Array  # int32 [T]: row of the table of worlds
    count: jax.Array  # int32 []: tasks present


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Results:
    """What became of each task; slots beyond `Tasks.count` hold 0."""

    points: jax.Array  # int16 [T]: from player 0's view
    ending: jax.Array  # int8 [T]
    moves: jax.Array  # int16 [T]: moves from the root to the end


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Usage:
    """What a call cost."""

    steps: jax.Array  # int32 []: steps taken by all lanes together, idle ones included
    moves: jax.Array  # int32 []: moves played in games


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Progress[State: Lanes]:
    """What the loop of one call carries."""

    lanes: State  # [B]
    task: jax.Array  # int32 [B]: the task in each lane, IDLE = none
    stuck: jax.Array  # bool [B]: the policy found no move in a game that goes on; never so in a position of a real game
    following: jax.Array  # int32 []: the next task to hand out
    results: Results
    steps: jax.Array  # int32 []: steps taken by all lanes together, idle ones included


def run[State: Lanes, World, Knowledge, Table](
    family: Family[State, World, Knowledge, Table], lanes: State, tasks: Tasks[State, World]
) -> tuple[State, Results, Usage]:
    """Play all tasks in the given lanes (buffers only: what lies in them is overwritten).

    Returns the lanes for the next call, the results and the usage. A game without an end is cut off as adjudicated.
    """
    slots = tasks.root.shape[0]

    def finished(now: Progress[State]) -> jax.Array:
        return (now.task < 0) | (now.lanes.ending != 0) | (now.lanes.moves >= MOVE_LIMIT) | now.stuck

    def hand_out(now: Progress[State], place: jax.Array, number: jax.Array) -> Progress[State]:
        """Write down what became of the games in the lanes `place` and begin tasks `number` there, int32 [K] each.

        Places beyond all lanes are nobody's.
        """
        task, width = now.task[place], now.task.shape[0]
        slot = jnp.where((place < width) & (task >= 0), task, slots)
        ending = now.lanes.ending[place]
        taken = (place < width) & (number < tasks.count)
        row = jnp.where(taken, number, 0)
        return Progress(
            lanes=family.load(now.lanes, place, tasks.roots, tasks.root[row], tasks.worlds, tasks.world[row]),
            task=columns(now.task, place, jnp.where(taken, number, IDLE)),
            stuck=columns(now.stuck, place, jnp.zeros_like(taken)),
            following=now.following + taken.sum(dtype=jnp.int32),
            results=Results(
                points=columns(now.results.points, slot, now.lanes.points[place]),
                ending=columns(now.results.ending, slot, jnp.where(ending == 0, jnp.int8(ADJUDICATED), ending)),
                moves=columns(now.results.moves, slot, now.lanes.moves[place]),
            ),
            steps=now.steps,
        )

    def refill(now: Progress[State]) -> Progress[State]:
        waiting = finished(now) & ((now.task >= 0) | (now.following < tasks.count))
        width = now.task.shape[0]
        lane = jnp.arange(width, dtype=jnp.int32)

        def one_by_one(now: Progress[State]) -> Progress[State]:
            def note(lane: jax.Array, noted: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
                places, count = noted
                more = jax.lax.dynamic_slice(waiting, (lane,), (1,))[0].astype(jnp.int32)
                return jax.lax.dynamic_update_slice(places, lane[None], (count,)), count + more

            # The lanes that wait, in order. XLA compiles no loop that holds a sort into one function.
            places, count = jax.lax.fori_loop(0, width, note, (jnp.zeros((width,), jnp.int32), jnp.int32(0)))

            def one(index: jax.Array, now: Progress[State]) -> Progress[State]:
                return hand_out(now, jax.lax.dynamic_slice(places, (index,), (1,)), now.following[None])

            result: Progress[State] = jax.lax.fori_loop(0, count, one, now)
            return result

        def at_once(now: Progress[State]) -> Progress[State]:
            def all_(now: Progress[State]) -> Progress[State]:
                number = now.following + jnp.cumsum(waiting, dtype=jnp.int32) - 1
                return hand_out(now, jnp.where(waiting, lane, width), number)

            result: Progress[State] = jax.lax.cond(waiting.any(), all_, lambda same: same, now)
            return result

        result: Progress[State] = jax.lax.platform_dependent(now, cpu=one_by_one, default=at_once)
        return result

    def block(now: Progress[State]) -> Progress[State]:
        now = refill(now)
        state = jax.lax.fori_loop(0, REFILL_INTERVAL, lambda _, lanes: family.step(lanes), now.lanes)
        stuck = now.stuck | ((state.ending == 0) & (state.moves == now.lanes.moves))
        steps = now.steps + REFILL_INTERVAL * now.task.shape[0]
        return dataclasses.replace(now, lanes=state, stuck=stuck, steps=steps)

    def many(now: Progress[State]) -> jax.Array:
        return (now.following < tasks.count) | ((now.task >= 0).sum() > few)

    def some(now: Progress[State]) -> jax.Array:
        return (now.task >= 0).any()

    width = lanes.ending.shape[0]
    few = max(1, width // TAIL)
    start = Progress(
        lanes=lanes,
        task=jnp.full((width,), IDLE, jnp.int32),
        stuck=jnp.zeros((width,), bool),
        following=jnp.int32(0),
        results=Results(
            points=jnp.zeros((slots + 1,), jnp.int16),
            ending=jnp.zeros((slots + 1,), jnp.int8),
            moves=jnp.zeros((slots + 1,), jnp.int16),
        ),
        steps=jnp.int32(0),
    )
    wide = jax.lax.while_loop(many, block, start)
    # The last games, long ones among them, go on in as many lanes as they need.
    left = jnp.argsort(wide.task < 0)[:few]
    narrow = dataclasses.replace(
        wide,
        lanes=jax.tree.map(lambda leaf: leaf[..., left], wide.lanes),
        task=wide.task[left],
        stuck=wide.stuck[left],
    )
    end = jax.lax.while_loop(some, block, narrow)
    results: Results = jax.tree.map(lambda part: part[:slots], end.results)
    before = jnp.where(jnp.arange(slots) < tasks.count, tasks.roots.moves[tasks.root], 0)  # of the turn, say
    moves = (results.moves.astype(jnp.int32) - before).sum()
    return wide.lanes, results, Usage(steps=end.steps, moves=moves)
