"""The protocol that each family of games implements; rollout, search and engine are written once, against it."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import jax

ADJUDICATED: Final = 3  # the ending of a game that was cut off, in every family
FORBIDDEN: Final = -1  # a ruling: barred whatever the order of play


class Lanes(Protocol):
    """What every family's state says of a game, one a lane."""

    @property
    def ending(self) -> jax.Array:
        """How the game ended, int8 [B]; 0 = it goes on."""
        ...

    @property
    def points(self) -> jax.Array:
        """Result from player 0's view, int16 [B]; 0 while the game goes on."""
        ...

    @property
    def moves(self) -> jax.Array:
        """Moves played since the root, int16 [B]."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Rulings:
    """What the rules say of every action, one position a lane.

    The moves that are obligatory instead of a barred action are those of row `max(barred, 0)` of `compelled`.
    """

    barred: jax.Array  # int8 [actions, B]: 0 = legal, below 0 = not to be played at all, n = obligation n comes first
    compelled: jax.Array  # bool [1 + obligations, actions, B]: what each asks for; row 0: what alone is legal, if so


@dataclasses.dataclass(frozen=True, kw_only=True)
class Family[State: Lanes, World, Knowledge, Table]:
    """One family of games: pure functions over lanes, and the host's view of a position (a table).

    `State`, `World` and `Knowledge` are pytrees whose leaves have lanes, worlds or entries as their last axis.
    """

    name: str
    actions: int  # how many there are, legal or not
    draws: int  # most cards that one action can make due
    ties: frozenset[int]  # endings that are a tie, whatever they score

    empty: Callable[[int], State]  # lanes without a game
    to_state: Callable[[Sequence[Table]], State]  # positions to lanes
    knowledge: Callable[[Sequence[Table], Sequence[int]], Knowledge]  # what the movers know, with request seeds
    spread: Callable[[Table], int]  # how many points apart two results of a game from here can be
    pointless: Callable[[Table], frozenset[int]]  # actions, legal or not, that are never suggested
    history: Callable[[Table], Sequence[Table]]  # positions of this turn that must not come back

    legal: Callable[[State], jax.Array]  # bool [actions, B]
    rulings: Callable[[State], Rulings]  # the same, with reasons
    play: Callable[[State, jax.Array], State]  # a choice, int32 [B]; -1 = none
    take: Callable[[State, jax.Array], State]  # cards due, given: int8 [draws, B]
    step: Callable[[State], State]  # cards due, drawn from the world's stream, then a move of the rollout policy
    choose: Callable[[State], jax.Array]  # the rollout policy's choice, int32 [B]; -1 = none
    goes_on: Callable[[State, jax.Array], jax.Array]  # whether a player int8 [B] can plan the turn further, bool [B]
    left: Callable[[State, jax.Array], jax.Array]  # cards a player int8 [B] must play to win, -1 = some unknown; int16
    key: Callable[[State], jax.Array]  # uint32 [2, B], equal for positions of a turn but for the order of like piles
    arrangement: Callable[[State], jax.Array]  # uint32 [2, B], with the key: equal for equal positions of a turn
    sample: Callable[[Knowledge, jax.Array, jax.Array], World]  # worlds by entry int32 [W] and number uint32 [W]
    load: Callable[[State, jax.Array, State, jax.Array, World, jax.Array], State]  # (lanes, place, roots, i, worlds, j)
