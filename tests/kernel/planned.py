"""Turns that have to be planned: positions in which nothing short of three moves gains what a longer line does."""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True, kw_only=True)
class Planned[Position]:
    """A position, what can be gained in it, and how."""

    name: str
    start: Position  # every card given; the solver is shown what its player knows
    gain: Callable[[Position, Position], bool]  # whether a position of the same turn, the second, has what is gained
    first: str  # the moves that such a line can begin with, in public notation
    line: str  # one of them
