"""Rollouts in persistent lanes: a lane that finishes its game picks up the next task.

A task is one game: root `task_root[i]` in world `task_world[i]`, played to its end by the rollout policy. Its result
goes to slot i and depends on nothing but the root and the world, never on lanes, order or devices.
"""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp

from zank_kernel.family import Family, Lanes

REFILL_INTERVAL: Final = 16  # steps between two looks at which lanes are done
MOVE_LIMIT: Final = 16_384  # moves after which a game is cut off as adjudicated; never seen in play
CUT_OFF: Final = 3  # the ending of such a game

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


def run[State: Lanes, World, Knowledge, Table](
    family: Family[State, World, Knowledge, Table], lanes: State, tasks: Tasks[State, World]
) -> tuple[State, Results, Usage]:
    """Play all tasks in the given lanes (buffers only: their content is overwritten).

    Returns the lanes for the next call, the results and the usage.
    """
    width = lanes.ending.shape[0]
    slots = tasks.root.shape[0]

    def finished(state: State) -> jax.Array:
        return (state.ending != 0) | (state.moves >= MOVE_LIMIT)

    type Carry = tuple[State, jax.Array, jax.Array, Results, jax.Array]

    def refill(carry: Carry) -> Carry:
        state, task, following, results, blocks = carry
        done = finished(state)
        slot = jnp.where(done & (task >= 0), task, slots)
        cut = jnp.where(state.ending == 0, jnp.int8(CUT_OFF), state.ending)
        results = Results(
            points=results.points.at[slot].set(state.points, mode="drop"),
            ending=results.ending.at[slot].set(cut, mode="drop"),
            moves=results.moves.at[slot].set(state.moves, mode="drop"),
        )
        order = following + jnp.cumsum(done, dtype=jnp.int32) - 1
        taken = done & (order < tasks.count)
        task = jnp.where(done, jnp.where(taken, order, IDLE), task)
        row = jnp.where(taken, order, 0)
        state = family.load(state, taken, tasks.roots, tasks.root[row], tasks.worlds, tasks.world[row])
        following = following + taken.sum(dtype=jnp.int32)
        return state, task, following, results, blocks

    def block(carry: Carry) -> Carry:
        state, task, following, results, blocks = jax.lax.cond(
            (finished(carry[0]) & ((carry[1] >= 0) | (carry[2] < tasks.count))).any(), refill, lambda same: same, carry
        )
        state = jax.lax.fori_loop(0, REFILL_INTERVAL, lambda _, lanes: family.step(lanes), state)
        return state, task, following, results, blocks + 1

    def busy(carry: Carry) -> jax.Array:
        _, task, following, _, _ = carry
        return (following < tasks.count) | (task >= 0).any()

    nothing = Results(
        points=jnp.zeros((slots,), jnp.int16),
        ending=jnp.zeros((slots,), jnp.int8),
        moves=jnp.zeros((slots,), jnp.int16),
    )
    idle = dataclasses.replace(lanes, ending=jnp.ones((width,), jnp.int8))  # type: ignore[type-var]
    start: Carry = (idle, jnp.full((width,), IDLE, jnp.int32), jnp.int32(0), nothing, jnp.int32(0))
    state, _, _, results, blocks = jax.lax.while_loop(busy, block, start)
    moves = results.moves.astype(jnp.int32).sum()
    return state, results, Usage(steps=blocks * (REFILL_INTERVAL * width), moves=moves)
