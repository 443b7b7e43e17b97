"""Russian Bank as an implementation of the family protocol."""

from typing import Final

import jax

from zank_kernel.bank import belief, play, policy, turn
from zank_kernel.bank.belief import Knowledge, World
from zank_kernel.bank.rules import PRESETS, Rules
from zank_kernel.bank.state import STALEMATE, State, empty
from zank_kernel.bank.table import Table, history, pointless, spread, to_state
from zank_kernel.family import ADJUDICATED, Family


def take(state: State, cards: jax.Array) -> State:
    """Nothing is ever due: what a move turns up it turns up itself."""
    return state


def step(state: State) -> State:
    """Play the rollout policy's move in every lane whose game goes on."""
    return play.play(state, policy.choose(state))


FAMILY: Final[Family[State, World, Knowledge, Table]] = Family(
    name="bank",
    actions=play.ACTIONS,
    draws=0,
    ties=frozenset({STALEMATE, ADJUDICATED}),
    empty=empty,
    to_state=to_state,
    knowledge=belief.knowledge,
    spread=spread,
    pointless=pointless,
    history=history,
    legal=play.legal,
    rulings=play.rulings,
    play=play.play,
    take=take,
    step=step,
    choose=policy.choose,
    goes_on=turn.goes_on,
    left=turn.left,
    key=turn.key,
    arrangement=turn.arrangement,
    sample=belief.sample,
    load=belief.load,
)

__all__ = ["FAMILY", "PRESETS", "Knowledge", "Rules", "State", "Table", "World"]
