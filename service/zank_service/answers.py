"""Answers of the engine, on the wire."""

from zank.v1 import Answer, Estimate, MoveEvaluation, Value
from zank_kernel import search
from zank_service.digests import rule_set_digest
from zank_service.questions import Asked
from zank_service.version import ENGINE_VERSION


def wire_answer(asked: Asked, answer: search.Answer, schedule_rollouts: int) -> Answer:
    """An answer with all that it depends on."""
    reasons = asked.family.reasons(
        asked.position, asked.rules, [evaluation.candidate.action for evaluation in answer.evaluations]
    )
    moves = [_move_evaluation(asked, evaluation) for evaluation in answer.evaluations]
    for move, said in zip(moves, reasons, strict=True):
        move.reasons.extend(said)
    return Answer(
        request_id=asked.request.request_id,
        moves=moves,
        forced=answer.forced,
        objective=asked.objective,
        rollouts=answer.rollouts,
        schedule_rollouts=0 if answer.forced else schedule_rollouts,
        rounds_done=answer.rounds_done,
        seed=asked.seed,
        position_digest=asked.digest,
        rule_set_digest=rule_set_digest(asked.position),
        engine_version=ENGINE_VERSION,
    )


def _move_evaluation(asked: Asked, evaluation: search.Evaluation) -> MoveEvaluation:
    candidate = evaluation.candidate

    def name(action: int) -> str:
        return asked.family.move_name(asked.position, action)

    return MoveEvaluation(
        move=name(candidate.action),
        equivalents=map(name, candidate.equivalents),
        value=None if evaluation.value is None else _value(evaluation.value),
        gap=None if evaluation.gap is None else _estimate(evaluation.gap),
        tied_with_best=evaluation.tied_with_best,
        wins_at_once=candidate.wins_at_once,
        line=map(name, candidate.line),
    )


def _value(value: search.Value) -> Value:
    return Value(
        rollouts=value.rollouts,
        win=_estimate(value.win),
        tie=_estimate(value.tie),
        loss=_estimate(value.loss),
        points=_estimate(value.points),
        moves_to_end=value.moves,
    )


def _estimate(estimate: search.Estimate) -> Estimate:
    return Estimate(mean=estimate.mean, standard_error=estimate.standard_error)
