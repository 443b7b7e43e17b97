"""Spite & Malice as an implementation of the family protocol."""

from typing import Final

from zank_kernel.family import Family
from zank_kernel.malice import belief, line, play, policy
from zank_kernel.malice.belief import Knowledge, World
from zank_kernel.malice.rules import PRESETS, Rules
from zank_kernel.malice.state import HAND, State, empty
from zank_kernel.malice.table import Table, representatives, spread, stand_in, to_state


def step(state: State) -> State:
    """Draw the cards due, then play the rollout policy's move in every lane whose game goes on."""
    state = play.draw(state)
    return play.play(state, policy.choose(state))


FAMILY: Final[Family[State, World, Knowledge, Table]] = Family(
    name="malice",
    draws=HAND,
    ties=frozenset(),
    empty=empty,
    to_state=to_state,
    knowledge=belief.knowledge,
    representatives=representatives,
    spread=spread,
    stand_in=stand_in,
    pointless=lambda table: frozenset(),
    rulings=play.rulings,
    play=play.play,
    take=play.take,
    step=step,
    rest_of_turn=line.rest_of_turn,
    sample=belief.sample,
    load=belief.load,
)

__all__ = ["FAMILY", "PRESETS", "Knowledge", "Rules", "State", "Table", "World"]
