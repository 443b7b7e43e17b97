"""The protocol that each family of games implements for the wire; validation and services are written once, on it."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from zank.v1 import ApplyMoveResponse, Ending, GameResult, LegalMove, Position, Reason, Reveal, RuleSet
from zank_kernel.engine import Engine
from zank_kernel.family import Rulings
from zank_service.refusals import Illegal, Violations


class Choice(Protocol):
    """A move of a position, legal or not."""

    @property
    def action(self) -> int:
        """The kernel's action for it."""
        ...

    @property
    def canonical(self) -> object:
        """The move, whose text is the canonical notation."""
        ...


class Game(Protocol):
    """A position while a move is played, changed in place, and what happened to it."""

    position: Position

    def finish(self, result: GameResult) -> None:
        """The game is over."""
        ...

    def response(self) -> ApplyMoveResponse:
        """The position and the events, or the slots to be revealed; raises Refusal where one cannot be as revealed."""
        ...


class Revealed[Table](NamedTuple):
    """Cards that came to light, to the player who is to move."""

    cards: Sequence[str]
    table: Table | None  # for the kernel: what that player knew before drawing them, where the turn began so


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
    laid_open: Callable[[Position], Position]  # what could be known of it if all cards given were seen
    table: Callable[[Position, Rules], Table]  # a masked position, or one laid open, for the kernel
    # Between a position and what it is after one move, both masked for the player who is to move then.
    revealed: Callable[[Position, Position, Rules], Revealed[Table]]
    move_name: Callable[[Position, int], str]  # an action of the kernel in public notation
    action: Callable[[Position, str], int]  # the kernel's action for a move, legal or not; raises Refusal for none
    reasons: Callable[[Position, Rules, Sequence[int]], Sequence[Sequence[Reason]]]  # of actions, in a masked position
    deal: Callable[[RuleSet, int], Position]  # by a 64-bit seed
    legal_moves: Callable[[Engine, Position, Rules], Sequence[LegalMove]]  # of a position that is not over

    # How a move is played, on a position of one's own and a lane of the kernel: the parts that `plays` puts together.
    choice: Callable[[Position, str], Any]  # the Choice written; raises Refusal; shows what it names of a hidden hand
    lane: Callable[[Position, Rules], Table]  # the position for the kernel's rules
    exact: Callable[[Position], bool]  # whether its lane can go on from move to move: nothing unknown comes to light
    hands_known: Callable[[Position], bool]  # whether no hand is hidden from who keeps the position
    action_in: Callable[[Any, Any, int], int]  # the action for a Choice, by the kernel's state, in a lane
    name_in: Callable[[int, Any, int], str]  # an action there, by the state, in a lane, in public notation
    broken: Callable[[Position, Rules, Any, int, Rulings, int], Illegal | None]  # by a Choice that is this action there
    game: Callable[[Position, Sequence[Reveal], bool], Any]  # a Game; whether its host sees all that comes to light
    # A Choice in a Game, by the state after it in a lane, up to the draw; returns the cards drawn as the kernel
    # has them, 0 for those not known.
    carry_out: Callable[[Any, Any, Any, int], Sequence[int]]
    endings: Mapping[int, Ending.ValueType]  # by the kernel's number, in which 0 is a game that goes on
    ended_by: Mapping[Ending.ValueType, str]  # the id of the rule by which a game ends so


type AnyFamily = Family[Any, Any]
