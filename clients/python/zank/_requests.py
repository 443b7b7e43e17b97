"""Requests made of what the caller of either client gives, and what both make of the answers."""

import math
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypedDict

from zank.errors import InvalidInput, RevealsNeeded
from zank.notation import Move
from zank.reveals import format_slot, parse_reveal
from zank.text import parse_position
from zank.v1 import (
    OBJECTIVE_POINTS,
    OBJECTIVE_UNSPECIFIED,
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    PRIORITY_INTERACTIVE,
    PRIORITY_NORMAL,
    PRIORITY_UNSPECIFIED,
    ApplyMoveRequest,
    ApplyMoveResponse,
    Budget,
    CheckMoveRequest,
    DealRequest,
    ListLegalMovesRequest,
    Position,
    Question,
    Reveal,
    RuleSet,
    ViewRequest,
)

type ObjectiveName = Literal["points", "win"]
type PriorityName = Literal["interactive", "normal", "bulk"]

OBJECTIVES: Final = {"points": OBJECTIVE_POINTS, "win": OBJECTIVE_WIN}
PRIORITIES: Final = {"interactive": PRIORITY_INTERACTIVE, "normal": PRIORITY_NORMAL, "bulk": PRIORITY_BULK}

_UINT32: Final = 2**32 - 1


class QuestionOptions(TypedDict, total=False):
    """What may be said beside the position when a solver is asked; everything may be left out."""

    rollouts: int | None
    """Games to play to the end, over all moves together; by default the server's choice."""

    time: float | None
    """Seconds that the work may take: alone, or beside `rollouts` as a limit."""

    rounds: int | None
    """Stop after so many rounds (1 to 3) of the schedule for `rollouts`: to repeat an answer that time cut short."""

    seed: int | None
    """Of the random numbers, 0 to 2**64 - 1; by default the server derives it from the position."""

    objective: ObjectiveName | None
    """What moves are ranked by; by default points where the preset scores."""

    priority: PriorityName | None
    """Who waits: a player ("interactive", the default), somebody with patience ("normal"), nobody ("bulk")."""

    only: Iterable[Move | str]
    """Consider these moves and no others."""

    avoid: Iterable[Move | str]
    """Leave these moves out."""

    keep: Iterable[Move | str]
    """Give these moves as many rollouts as the best, however they do."""

    request_id: str
    """Comes back with the answer; at most 128 characters."""


def question(
    position: Position | str,
    *,
    rollouts: int | None = None,
    time: float | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    objective: ObjectiveName | None = None,
    priority: PriorityName | None = None,
    only: Iterable[Move | str] = (),
    avoid: Iterable[Move | str] = (),
    keep: Iterable[Move | str] = (),
    request_id: str = "",
) -> Question:
    """What to ask a solver; see `QuestionOptions`. Raises InvalidInput for text or numbers that are not understood."""
    return Question(
        request_id=request_id,
        position=_position(position),
        budget=_budget(rollouts, time, rounds),
        seed=seed,
        objective=OBJECTIVE_UNSPECIFIED if objective is None else _named("objective", objective, OBJECTIVES),
        priority=PRIORITY_UNSPECIFIED if priority is None else _named("priority", priority, PRIORITIES),
        only_moves=_notation(only),
        avoid_moves=_notation(avoid),
        keep_moves=_notation(keep),
    )


def deal(rules: str | RuleSet, seed: int | None) -> DealRequest:
    """For a game of a preset or a rule set."""
    return DealRequest(rule_set=RuleSet(preset=rules) if isinstance(rules, str) else rules, seed=seed)


def view(position: Position | str, player: int) -> ViewRequest:
    """For what a player can know."""
    return ViewRequest(position=_position(position), player=player)


def legal_moves(position: Position | str) -> ListLegalMovesRequest:
    """For the legal moves of a position."""
    return ListLegalMovesRequest(position=_position(position))


def check(position: Position | str, move: Move | str) -> CheckMoveRequest:
    """For whether a move is legal."""
    return CheckMoveRequest(position=_position(position), move=str(move))


def apply(position: Position | str, move: Move | str, reveals: Iterable[Reveal | str]) -> ApplyMoveRequest:
    """For a move to be played; raises InvalidReveal."""
    position = _position(position)
    return ApplyMoveRequest(
        position=position,
        move=str(move),
        reveals=[
            parse_reveal(reveal, position.player_to_move) if isinstance(reveal, str) else reveal for reveal in reveals
        ],
    )


def played(request: ApplyMoveRequest, response: ApplyMoveResponse) -> ApplyMoveResponse:
    """The answer to a move that was played; raises RevealsNeeded where it was not."""
    if response.needed:
        slots = ", ".join(format_slot(slot, request.position.player_to_move) for slot in response.needed)
        raise RevealsNeeded(
            f"{request.move} is not played: the position does not hold every card that comes to light; reveal {slots}",
            needed=response.needed,
        )
    return response


def deadline(question: Question, timeout: float | None, default: float) -> float:
    """Seconds until an answer is late: `timeout`, or the client's default after the time budget."""
    return default + question.budget.time_ms / 1000 if timeout is None else timeout


def _position(position: Position | str) -> Position:
    return parse_position(position) if isinstance(position, str) else position


def _budget(rollouts: int | None, time: float | None, rounds: int | None) -> Budget | None:
    if rollouts is None and time is None and rounds is None:
        return None
    return Budget(rollouts=rollouts or 0, time_ms=0 if time is None else _milliseconds(time), rounds=rounds or 0)


def _milliseconds(seconds: float) -> int:
    """Rounded up: a budget of next to nothing is not one of no limit."""
    if not 0 < seconds < _UINT32 / 1000:
        raise InvalidInput(f"time: expected more than 0 seconds and at most {_UINT32 // 1000}, found {seconds:g}")
    return math.ceil(1000 * seconds)


def _named[Value: int](what: str, name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        raise InvalidInput(f"{what}: expected {' or '.join(values)}, found {name!r}")
    return values[name]


def _notation(moves: Iterable[Move | str]) -> list[str]:
    return [str(move) for move in moves]
