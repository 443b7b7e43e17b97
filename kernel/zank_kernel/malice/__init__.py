"""Spite & Malice as an implementation of the family protocol."""

from typing import Final

from zank_kernel.family import Family
from zank_kernel.malice import belief, play, policy, turn
from zank_kernel.malice.belief import Knowledge, World
from zank_kernel.malice.rules import PRESETS, Rules
from zank_kernel.malice.state import HAND, State, empty
from zank_kernel.malice.table import Table, spread, to_state


def step(state: State) -> State:
    """Draw the cards due, then play the rollout policy's move in every lane whose game goes on."""
    state = play.draw(state)
    return play.play(state, policy.choose(state))


FAMILY: Final[Family[State, World, Knowledge, Table]] = Family(
    name="malice",
    actions=play.ACTIONS,
    draws=HAND,
    ties=frozenset(),
    empty=empty,
    to_state=to_state,
    knowledge=belief.knowledge,
    spread=spread,
    pointless=lambda table: frozenset(),
    history=lambda table: (),
    legal=play.legal,
    rulings=play.rulings,
    play=play.play,
    take=play.take,
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
