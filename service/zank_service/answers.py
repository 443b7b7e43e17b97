"""Answers of the engine, on the wire."""

from collections.abc import Sequence

from zank.v1 import Answer, Estimate, MoveEvaluation, Reason, Value
from zank_kernel import search
from zank_service.digests import rule_set_digest
from zank_service.questions import Asked
from zank_service.version import ENGINE_VERSION


class Answers:
    """Puts the engine's answers to one question on the wire; what does not change between them is computed once."""

    def __init__(self, asked: Asked, schedule_rollouts: int) -> None:
        self._asked = asked
        self._schedule_rollouts = schedule_rollouts
        self._rule_set_digest = rule_set_digest(asked.position)
        self._reasons: dict[int, Sequence[Reason]] = {}

    def on_the_wire(self, answer: search.Answer) -> Answer:
        """An answer with all that it depends on."""
        asked = self._asked
        actions = [evaluation.action for evaluation in answer.evaluations]
        if not self._reasons:  # every answer is about the same actions
            self._reasons = dict(zip(actions, asked.family.reasons(asked.position, asked.rules, actions), strict=True))
        return Answer(
            request_id=asked.request.request_id,
            moves=map(self._move_evaluation, answer.evaluations),
            forced=answer.forced,
            objective=asked.objective,
            rollouts=answer.rollouts,
            schedule_rollouts=0 if answer.forced else self._schedule_rollouts,
            rounds_done=answer.rounds_done,
            seed=asked.seed,
            position_digest=asked.digest,
            rule_set_digest=self._rule_set_digest,
            engine_version=ENGINE_VERSION,
            outcomes=answer.outcomes,
            complete=answer.complete,
        )

    def _move_evaluation(self, evaluation: search.Evaluation) -> MoveEvaluation:
        def name(action: int) -> str:
            return self._asked.family.move_name(self._asked.position, action)

        return MoveEvaluation(
            move=name(evaluation.action),
            equivalents=map(name, evaluation.equivalents),
            value=None if evaluation.value is None else _value(evaluation.value),
            gap=None if evaluation.gap is None else estimate(evaluation.gap),
            tied_with_best=evaluation.tied_with_best,
            wins_at_once=evaluation.wins_at_once,
            wins_this_turn=evaluation.wins_this_turn,
            line=map(name, evaluation.line),
            reasons=self._reasons[evaluation.action],
        )


def _value(value: search.Value) -> Value:
    return Value(
        rollouts=value.rollouts,
        win=estimate(value.win),
        tie=estimate(value.tie),
        loss=estimate(value.loss),
        points=estimate(value.points),
        moves_to_end=value.moves,
        match=None if value.match is None else estimate(value.match),
    )


def estimate(found: search.Estimate) -> Estimate:
    """An estimate on the wire."""
    return Estimate(mean=found.mean, standard_error=found.standard_error)
