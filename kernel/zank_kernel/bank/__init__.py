"""Russian Bank as an implementation of the family protocol."""

from typing import Final

import jax

from zank_kernel.bank import belief, line, play, policy
from zank_kernel.bank.belief import Knowledge, World
from zank_kernel.bank.rules import PRESETS, Rules
from zank_kernel.bank.state import STALEMATE, State, empty
from zank_kernel.bank.table import Table, pointless, representatives, spread, to_state
from zank_kernel.family import ADJUDICATED, Family


def take(state: State, cards: jax.Array) -> State:
    """Nothing is ever due: what a move turns up it turns up itself."""
    return state


def step(state: State) -> State:
    """Play the rollout policy's move in every lane whose game goes on."""
    return play.play(state, policy.choose(state))


FAMILY: Final[Family[State, World, Knowledge, Table]] = Family(
    name="bank",
    draws=0,
    ties=frozenset({STALEMATE, ADJUDICATED}),
    empty=empty,
    to_state=to_state,
    knowledge=belief.knowledge,
    representatives=representatives,
    spread=spread,
    stand_in=lambda table: table,
    pointless=pointless,
    rulings=play.rulings,
    play=play.play,
    take=take,
    step=step,
    rest_of_turn=line.rest_of_turn,
    sample=belief.sample,
    load=belief.load,
)

__all__ = ["FAMILY", "PRESETS", "Knowledge", "Rules", "State", "Table", "World"]
