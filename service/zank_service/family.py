"""The protocol that each family of games implements for the wire; validation and services are written once, on it."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zank.v1 import ApplyMoveResponse, CheckMoveResponse, LegalMove, Position, Reason, Reveal, RuleSet
from zank_kernel.engine import Engine
from zank_service.refusals import Violations


@dataclasses.dataclass(frozen=True, kw_only=True)
class Family[Rules, Table]:
    """One family of games on the wire; `Rules` and `Table` are the kernel's.

    Positions given to anything but `check_table`, `check_known` and `view` have passed the checks.
    """

    name: str
    presets: Mapping[str, Rules]

    check_options: Callable[[RuleSet, str, Violations], None]  # the options of a rule set at a path in the request
    rules: Callable[[RuleSet], Rules]  # a rule set, every absent option set to its default
    defaults: Callable[[str], RuleSet]  # a preset with every option written out
    description: Callable[[Rules], str]  # a preset in one sentence
    scored: Callable[[Rules], bool]  # whether a game is worth points
    check_table: Callable[[Position, Rules, str, Violations], None]  # table and result of a position at a path
    check_known: Callable[[Position, str, Violations], None]  # what the player to move knows, of a position at a path
    view: Callable[[Position, int], Position]  # what a player, 1 or 2, can know of a position
    table: Callable[[Position, Rules], Table]  # a masked position for the kernel
    move_name: Callable[[Position, int], str]  # an action of the kernel in public notation
    action: Callable[[Position, str], int]  # the kernel's action for a move, legal or not; raises Refusal for none
    reasons: Callable[[Position, Rules, Sequence[int]], Sequence[Sequence[Reason]]]  # of actions, in a masked position
    deal: Callable[[RuleSet, int], Position]  # by a 64-bit seed
    legal_moves: Callable[[Engine, Position, Rules], Sequence[LegalMove]]  # of a position that is not over
    check_move: Callable[[Engine, Position, Rules, str], CheckMoveResponse]  # in a position that is not over
    apply_move: Callable[  # to a position that is not over
        [Engine, Position, Rules, str, Sequence[Reveal]], ApplyMoveResponse
    ]


type AnyFamily = Family[Any, Any]
