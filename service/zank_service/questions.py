"""Questions from the wire: checked, completed, and put to the engine."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, Protocol

from zank.v1 import (
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_UNSPECIFIED,
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    PRIORITY_INTERACTIVE,
    PRIORITY_NORMAL,
    MatchScore,
    Objective,
    Position,
    Priority,
    Question,
)
from zank_kernel import engine as engines
from zank_kernel import equity, search
from zank_service.digests import default_seed, position_digest
from zank_service.family import AnyFamily
from zank_service.limits import LONG_ROLLOUTS, LONG_SECONDS, MAX_REQUEST_ID, Limits
from zank_service.positions import Checked, checked_position
from zank_service.refusals import Refusal, Violations, game_over, invalid, not_possible

OBJECTIVES: Final[dict[int, search.Objective]] = {
    OBJECTIVE_POINTS: "points",
    OBJECTIVE_WIN: "win",
    OBJECTIVE_MATCH: "match",
}
PRIORITIES: Final = (PRIORITY_INTERACTIVE, PRIORITY_NORMAL, PRIORITY_BULK)  # the most urgent first


class Request(Protocol):
    """A request of `Solver`."""

    @property
    def question(self) -> Question:
        """What is asked."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Terms:
    """What a question may cost, and who waits for the answer: enough to say whether there is room for it."""

    rollouts: int  # the schedule's; 0 = to be planned from the time
    seconds: float | None
    priority: Priority.ValueType

    @property
    def urgency(self) -> int:
        """Which of the engine's classes it is in: two of each priority, for short questions and for long ones."""
        return 2 * PRIORITIES.index(self.priority) + self.long

    @property
    def long(self) -> bool:
        """Whether the answer takes much longer than a hint, so that it must not hold a place that hints need."""
        return self.rollouts > LONG_ROLLOUTS or (self.seconds or 0) > LONG_SECONDS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked(Terms):
    """What a request asks, to the knowledge of the player to move."""

    request: Question
    family: AnyFamily
    position: Position  # masked
    rules: Any
    digest: str
    seed: int
    objective: Objective.ValueType
    score: tuple[int, int] | None  # of the match, by player


def terms(request: Request, limits: Limits, rollouts: int) -> Terms:
    """What an answer may cost, with so many rollouts where a request names no budget; raises Refusal.

    All that a question says beside its position is checked; the position, which takes longer, is not looked at.
    """
    question = request.question
    violations = Violations()
    _check_question(question, limits, violations)
    violations.refuse_if_any("INVALID_REQUEST")
    budget = question.budget
    return Terms(
        rollouts=budget.rollouts if question.HasField("budget") else rollouts,
        seconds=budget.time_ms / 1000 if budget.time_ms else None,
        priority=question.priority or PRIORITY_INTERACTIVE,
    )


def understood(request: Request, terms: Terms) -> Asked:
    """What a request asks, on these terms; raises Refusal."""
    question = request.question
    checked = checked_position(question, question.position, "question.position", masked=True)
    score = None
    if question.HasField("match_score"):
        score = checked_score(question.match_score, checked.rules, "question.match_score")
    if checked.over:
        raise game_over()
    digest = position_digest(checked.position)
    return Asked(
        **vars(terms),
        request=question,
        family=checked.family,
        position=checked.position,
        rules=checked.rules,
        digest=digest,
        seed=question.seed if question.HasField("seed") else default_seed(digest),
        objective=_objective(question, checked),
        score=score,
    )


def engine_question(asked: Asked, engine: engines.Engine, limits: Limits, sharing: int) -> engines.Question:
    """The question for the engine; raises Refusal where the moves to consider are not legal. Blocks.

    `sharing` is the number of questions under way, this one included: so many share the time.
    """
    family, question = asked.family, asked.request
    table = family.table(asked.position, asked.rules)
    only: frozenset[int] = frozenset()
    avoid = keep = only
    if question.only_moves or question.avoid_moves or question.keep_moves:
        legal = engine.legal_actions(family.name, table)
        only = _actions(asked, "only_moves", question.only_moves, legal)
        avoid = _actions(asked, "avoid_moves", question.avoid_moves, legal)
        left = engines.considered(legal, only, avoid)
        if not left:
            raise invalid(
                "INVALID_REQUEST", "question.avoid_moves", "expected to leave a move to consider; none is left"
            )
        keep = _actions(asked, "keep_moves", question.keep_moves, left)
    rollouts = asked.rollouts or limits.max_rollouts
    if asked.seconds is not None:
        rollouts = min(rollouts, engine.planned_rollouts(family.name, asked.seconds / sharing))
    return engines.Question(
        family=family.name,
        table=table,
        rollouts=rollouts,
        seed=asked.seed,
        objective=OBJECTIVES[asked.objective],
        score=asked.score,
        rounds=question.budget.rounds or search.ROUNDS,
        only=only,
        avoid=avoid,
        keep=keep,
        urgency=asked.urgency,
    )


def _check_question(question: Question, limits: Limits, violations: Violations) -> None:
    """What a question says beside its position."""
    violations.check_length("question.request_id", question.request_id, MAX_REQUEST_ID)
    budget = question.budget
    if question.HasField("budget"):
        violations.check_range("question.budget.rollouts", budget.rollouts, 0, limits.max_rollouts)
        violations.check_range("question.budget.time_ms", budget.time_ms, 0, limits.max_time_ms)
        violations.check_range("question.budget.rounds", budget.rounds, 0, search.ROUNDS)
        if not budget.rollouts and not budget.time_ms:
            violations.add("question.budget", "expected rollouts, time_ms or both; found neither")
        elif budget.rounds and not budget.rollouts:
            violations.add("question.budget.rounds", "expected rollouts beside it: the schedule that has these rounds")
    if question.objective == OBJECTIVE_MATCH and not question.HasField("match_score"):
        violations.add("question.match_score", "expected the score of the match, which is the objective; found none")
    violations.check_name("question.objective", question.objective, Objective)
    violations.check_name("question.priority", question.priority, Priority)


def checked_score(found: MatchScore, rules: Any, field: str) -> tuple[int, int]:
    """The score of a match by player, if a game can be valued by it; `field` is its path. Raises Refusal."""
    target = rules.match_target
    if not target:
        raise invalid("INVALID_REQUEST", field, "expected none: with a match_target of 0 these are single games")
    score = found.player1, found.player2
    violations = Violations()
    for player, points in enumerate(score, start=1):
        if points >= target:
            violations.add(f"{field}.player{player}", f"expected 0 to {target - 1}, found {points}")
    violations.refuse_if_any("INVALID_REQUEST")
    try:
        equity.games_won(rules)
    except equity.Unavailable as unavailable:
        raise not_possible(
            "MATCH_SCORE_UNAVAILABLE",
            f"a game cannot be valued by the score of its match: {_unmeasured(unavailable.option, rules)}",
        ) from None
    return score


def _unmeasured(option: str, rules: Any) -> str:
    """Why there is no distribution of points for a rule set."""
    if option == "preset":
        return f"games of {rules.preset} are worth no points"
    return f"it is not known how many points games with {option} {getattr(rules, option)} are worth"


def _actions(asked: Asked, field: str, moves: Sequence[str], allowed: Sequence[int]) -> frozenset[int]:
    """The kernel's actions for the moves of a field, each of which must be among those allowed."""
    actions = []
    for index, move in enumerate(moves):
        path = f"question.{field}[{index}]"
        try:
            action = asked.family.action(asked.position, move)
        except Refusal as refusal:
            raise invalid("INVALID_REQUEST", path, f"expected a legal move: {refusal.message}") from None
        if action not in allowed:
            raise invalid("INVALID_REQUEST", path, "expected a legal move among those considered")
        actions.append(action)
    return frozenset(actions)


def _objective(question: Question, checked: Checked) -> Objective.ValueType:
    """What moves are ranked by."""
    if question.objective != OBJECTIVE_UNSPECIFIED:
        return question.objective
    if question.HasField("match_score"):
        return OBJECTIVE_MATCH
    return OBJECTIVE_POINTS if checked.family.scored(checked.rules) else OBJECTIVE_WIN
