"""The service `Solver`: what to play."""

import asyncio
import dataclasses
import threading
from functools import partial
from typing import Final

from zank.v1 import (
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_UNSPECIFIED,
    OBJECTIVE_WIN,
    Estimate,
    GetHintRequest,
    GetHintResponse,
    MoveEvaluation,
    Objective,
    Position,
    SolverServicer,
    Value,
)
from zank_kernel import search
from zank_kernel.engine import HINT_ROLLOUTS, Engine, Question
from zank_service.calls import Context
from zank_service.digests import default_seed, position_digest, rule_set_digest
from zank_service.family import AnyFamily
from zank_service.gate import Gate, Timing
from zank_service.limits import MAX_REQUEST_ID, MAX_ROLLOUTS
from zank_service.positions import Checked, checked_position
from zank_service.refusals import Violations, game_over, not_possible
from zank_service.version import ENGINE_VERSION

OBJECTIVES: Final[dict[int, search.Objective]] = {OBJECTIVE_POINTS: "points", OBJECTIVE_WIN: "win"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """What a request asks, to the knowledge of the player to move."""

    family: AnyFamily
    position: Position  # masked
    digest: str
    objective: Objective.ValueType
    question: Question


class Solver(SolverServicer):
    """Answers with the kernel's search."""

    def __init__(self, engine: Engine, gate: Gate) -> None:
        self._engine = engine
        self._gate = gate

    async def GetHint(self, request: GetHintRequest, context: Context) -> GetHintResponse:
        """Rank the legal moves of a position."""
        asked = understood(request)
        given_up = threading.Event()
        try:
            answer, timing = await self._gate.run(partial(self._engine.answer, asked.question, given_up.is_set))
        except asyncio.CancelledError:
            given_up.set()
            raise
        context.set_trailing_metadata((("server-timing", server_timing(timing)),))
        return GetHintResponse(
            request_id=request.request_id,
            moves=[move_evaluation(asked, evaluation) for evaluation in answer.evaluations],
            forced=answer.forced,
            objective=asked.objective,
            rollouts=answer.rollouts,
            rounds=answer.rounds,
            seed=asked.question.seed,
            position_digest=asked.digest,
            rule_set_digest=rule_set_digest(asked.position),
            engine_version=ENGINE_VERSION,
        )


def understood(request: GetHintRequest) -> Asked:
    """What a request asks; raises Refusal."""
    violations = Violations()
    if len(request.request_id) > MAX_REQUEST_ID:
        violations.add("request_id", f"expected at most {MAX_REQUEST_ID} characters, found {len(request.request_id)}")
    if request.HasField("budget") and not 1 <= request.budget.rollouts <= MAX_ROLLOUTS:
        violations.add("budget.rollouts", f"expected 1 to {MAX_ROLLOUTS}, found {request.budget.rollouts}")
    if request.objective not in Objective.values():
        violations.add("objective", f"expected one of {', '.join(Objective.keys())}; found {request.objective}")
    violations.refuse_if_any("INVALID_REQUEST")
    checked = checked_position(request, request.position, masked=True)
    if request.HasField("match_score") or request.objective == OBJECTIVE_MATCH:
        raise not_possible("MATCH_SCORE_UNAVAILABLE", "a game cannot be valued by the score of its match yet")
    if checked.over:
        raise game_over()
    family = checked.family
    position = checked.position
    digest = position_digest(position)
    objective = chosen_objective(request, checked)
    return Asked(
        family=family,
        position=position,
        digest=digest,
        objective=objective,
        question=Question(
            family=family.name,
            table=family.table(position, checked.rules),
            rollouts=request.budget.rollouts if request.HasField("budget") else HINT_ROLLOUTS,
            seed=request.seed if request.HasField("seed") else default_seed(digest),
            objective=OBJECTIVES[objective],
        ),
    )


def chosen_objective(request: GetHintRequest, checked: Checked) -> Objective.ValueType:
    """What moves are ranked by."""
    if request.objective != OBJECTIVE_UNSPECIFIED:
        return request.objective
    return OBJECTIVE_POINTS if checked.family.scored(checked.rules) else OBJECTIVE_WIN


def move_evaluation(asked: Asked, evaluation: search.Evaluation) -> MoveEvaluation:
    """One move of an answer on the wire."""
    candidate = evaluation.candidate
    return MoveEvaluation(
        move=asked.family.move_name(asked.position, candidate.action),
        equivalents=[asked.family.move_name(asked.position, action) for action in candidate.equivalents],
        value=None if evaluation.value is None else wire_value(evaluation.value),
        gap=None if evaluation.gap is None else wire_estimate(evaluation.gap),
        tied_with_best=evaluation.tied_with_best,
        wins_at_once=candidate.wins_at_once,
    )


def wire_value(value: search.Value) -> Value:
    """A move's value on the wire."""
    return Value(
        rollouts=value.rollouts,
        win=wire_estimate(value.win),
        tie=wire_estimate(value.tie),
        loss=wire_estimate(value.loss),
        points=wire_estimate(value.points),
        moves_to_end=value.moves,
    )


def wire_estimate(estimate: search.Estimate) -> Estimate:
    """An estimate on the wire."""
    return Estimate(mean=estimate.mean, standard_error=estimate.standard_error)


def server_timing(timing: Timing) -> str:
    """Durations in the form of the HTTP header Server-Timing, in milliseconds."""
    return f"queue;dur={timing.queued * 1000:.3f}, answer;dur={timing.worked * 1000:.3f}"
