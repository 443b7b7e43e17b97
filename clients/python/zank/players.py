"""Who plays in a simulation, in text: `policy`, `policy:0.2`, `search:256`."""

import re
from dataclasses import dataclass
from typing import Final

from zank.errors import InvalidPlayer

MOST_ROLLOUTS: Final = 1_000_000

_EXPECTED: Final = (
    "expected policy (the policy of the rollouts), policy:SHARE (with this probability, 0 to 1, a move drawn from all"
    f" legal ones instead), or search:ROLLOUTS (the best move by so many rollouts, 1 to {MOST_ROLLOUTS})"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Player:
    """How a player of a simulation decides."""

    name: str  # as it was written
    rollouts: int = 0  # of a search for the best move; 0: by the policy
    random_share: float = 0.0  # of decisions, those drawn from all legal moves


def parse_player(text: str) -> Player:
    """The player written `text`; raises InvalidPlayer."""
    kind, _, amount = text.partition(":")
    if text == "policy":
        return Player(name=text)
    if kind == "policy" and re.fullmatch(r"0|1|[01]?\.[0-9]{1,9}", amount) and float(amount) <= 1:
        return Player(name=text, random_share=float(amount))
    if kind == "search" and re.fullmatch("[1-9][0-9]{0,6}", amount, re.ASCII) and int(amount) <= MOST_ROLLOUTS:
        return Player(name=text, rollouts=int(amount))
    raise InvalidPlayer(f"{text!r} is no player: {_EXPECTED}")
