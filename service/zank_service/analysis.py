"""The moves of a recorded game judged, and the luck of what came to light in it (proto/analysis.md)."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, Final

from zank.records import record_digest
from zank.v1 import (
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    SKIP_REASON_KNOWLEDGE_MISSING,
    AnalysisSettings,
    Estimate,
    GameRecord,
    GameReport,
    JudgedMove,
    LuckEvent,
    Position,
)
from zank_kernel import equity, search
from zank_kernel.engine import FAMILIES, Control, Engine, Judgement, Question
from zank_service.answers import estimate
from zank_service.balance import Part, balance, player_report
from zank_service.digests import default_seed, rule_set_digest
from zank_service.families import BY_PRESET
from zank_service.family import AnyFamily
from zank_service.move_classes import NOISE, move_class, unit
from zank_service.questions import OBJECTIVES, PRIORITIES, checked_score
from zank_service.refusals import Refusal, Violations, invalid
from zank_service.replay import Decision, Replayed
from zank_service.version import ENGINE_VERSION

LUCK_WORLDS: Final = 3 << 29  # number of the first world in which luck is measured; those that judge come before


@dataclasses.dataclass(frozen=True, kw_only=True)
class Turn:
    """The moves of one turn, and the position after them."""

    decisions: Sequence[Decision[None]]
    after: Position


class GameAnalysis:
    """The analysis of one game, turn by turn: in any order, at the same time, the report is the same."""

    def __init__(
        self,
        engine: Engine,
        record: GameRecord,
        settings: AnalysisSettings,
        decisions: Sequence[Decision[None]],
        replayed: Replayed[None],
    ) -> None:
        """`record` is canonical, `settings` are complete but for the seed; `decisions` and `replayed` are its own.

        Without an objective that is the default one: the chance to win the match where the record has its score and a
        game can be valued by it, else points where the preset scores, else the chance to win. Raises Refusal where the
        objective is the match and cannot be.
        """
        self._engine = engine
        self._record = record
        self._decisions = decisions
        self._end = replayed.position
        self._digest = record_digest(record)
        self._settings = AnalysisSettings()
        self._settings.CopyFrom(settings)
        if not settings.HasField("seed"):
            self._settings.seed = default_seed(self._digest)
        self._family: AnyFamily = BY_PRESET[record.rule_set.preset]
        self._rules = self._family.rules(record.rule_set)
        self._whose = frozenset(settings.players) or frozenset((1, 2))
        self._score = self._match_score()
        if not settings.objective:
            scored = self._family.scored(self._rules)
            default = OBJECTIVE_MATCH if self._score else OBJECTIVE_POINTS if scored else OBJECTIVE_WIN
            self._settings.objective = default
        self._objective = OBJECTIVES[self._settings.objective]

    def _match_score(self) -> tuple[int, int] | None:
        """The score of the match before the game, if it can be valued by it."""
        required = self._settings.objective == OBJECTIVE_MATCH
        if not self._record.HasField("match_score"):
            if required:
                expected = "expected the score of the match, which is the objective; found none"
                raise invalid("INVALID_REQUEST", "record.match_score", expected)
            return None
        try:
            return checked_score(self._record.match_score, self._rules, "record.match_score")
        except Refusal:
            if required:
                raise
            return None

    def _stakes(self, player: int) -> equity.Stakes | None:
        """What the result of the game makes of the match, for player 1 or 2."""
        return None if self._score is None else equity.stakes(self._rules, self._score, player - 1)

    @cached_property
    def turns(self) -> Sequence[Turn]:
        """The turns of the game."""
        groups = [
            list(group)
            for _, group in itertools.groupby(
                self._decisions, key=lambda each: (each.position.turns, each.position.player_to_move)
            )
        ]
        following = itertools.chain((group[0].position for group in groups[1:]), [self._end])
        return [Turn(decisions=group, after=after) for group, after in zip(groups, following, strict=False)]

    def parts(self, turn: Turn, stopped: Callable[[], bool] = lambda: False) -> list[Part]:
        """The parts of a turn, judged, with the luck of what came to light after each; raises search.Stopped."""
        parts: list[Part] = []
        control = Control(stopped=stopped)
        left = list(turn.decisions)
        while left:
            part, made = self._part(left, control)
            after = left[made].position if made < len(left) else turn.after
            self._add_luck(part, left[made - 1].position, after, control)
            parts.append(part.finished)
            left = left[made:]
        return parts

    def report(self, parts: Sequence[Part], request_id: str) -> GameReport:
        """The report, of the parts of all turns in order."""
        settings, whose = self._settings, self._whose
        whole = len(whose) == 2 and all(part.complete for part in parts)
        closing = self._record.events[-1]
        return GameReport(
            request_id=request_id,
            record_digest=self._digest,
            rule_set_digest=rule_set_digest(self._end),
            engine_version=ENGINE_VERSION,
            settings=settings,
            moves=[move for part in parts for move in part.moves if move.player in whose],
            luck=[part.luck for part in parts if part.luck is not None],
            players=[player_report(player, parts, closing, whole=whole) for player in (1, 2)],
            balance=balance(parts, closing, self._stakes(1)) if whole else None,
        )

    def _part(self, decisions: Sequence[Decision[None]], control: Control) -> tuple["_Judged", int]:
        """The part of a turn that begins with the first of these moves, and how many moves it has."""
        first = decisions[0]
        player = first.position.player_to_move
        question = self._question(self._known(first), first.event) if player in self._whose else None
        if question is None:
            skipped = [
                JudgedMove(event=each.event, player=player, move=each.move, skipped=SKIP_REASON_KNOWLEDGE_MISSING)
                for each in decisions
            ]
            return _Judged(player=player, moves=skipped, question=None, judgement=None), len(decisions)
        judgement = self._engine.judge(question, [self._action(each) for each in decisions], control)
        made = len(judgement.actions)
        moves = list(self._moves(decisions[:made], judgement))
        return _Judged(player=player, moves=moves, question=question, judgement=judgement), made

    def _known(self, decision: Decision[None]) -> Position:
        """What is taken to be known by who makes a move."""
        return self._seen(decision.position, decision.position.player_to_move)

    def _seen(self, position: Position, player: int) -> Position:
        """What a player is taken to know of a position."""
        return self._family.laid_open(position) if self._settings.hindsight else self._family.view(position, player)

    def _question(self, known: Position, event: int) -> Question | None:
        """What is the best way on for the player to move, who knows this; None where it is not all that one knows."""
        missing = Violations()
        self._family.check_known(known, "position", missing)
        return None if missing else self._asked(self._family.table(known, self._rules), event)

    def _asked(self, table: Any, event: int) -> Question:
        """The question about a table after so many events; events have seeds of their own."""
        word = blake2b(f"{self._settings.seed} {event}".encode(), digest_size=8).digest()
        return Question(
            family=self._family.name,
            table=table,
            rollouts=self._settings.rollouts,
            seed=int.from_bytes(word, "little"),
            objective=self._objective,
            score=self._score,
            urgency=2 * PRIORITIES.index(self._settings.priority) + 1,
        )

    def _action(self, decision: Decision[None]) -> Callable[[Any, int], int]:
        """A move as the kernel's action, by the state before it and its lane."""
        return partial(self._family.action_in, self._family.choice(self._known(decision), decision.move))

    def _moves(self, decisions: Sequence[Decision[None]], judgement: Judgement) -> Iterator[JudgedMove]:
        said = judgement.said
        player = decisions[0].position.player_to_move
        swing = unit(self._objective, self._record.rule_set.preset, self._stakes(player))
        known = self._known(decisions[0])  # actions name cards in hand by where they were at the start
        for number, decision in enumerate(decisions):
            before, after, loss = said.passed[number], said.passed[number + 1], said.losses[number]
            measured: search.Estimate = getattr(loss, self._objective)
            yield JudgedMove(
                event=decision.event,
                player=player,
                move=decision.move,
                best_line=(self._family.move_name(known, action) for action in before.line),
                win_before=estimate(before.win),
                win_after=estimate(after.win),
                points_before=estimate(before.value.points),
                points_after=estimate(after.value.points),
                win_loss=estimate(loss.win),
                points_loss=estimate(loss.points),
                match_before=None if before.value.match is None else estimate(before.value.match),
                match_after=None if after.value.match is None else estimate(after.value.match),
                match_loss=None if loss.match is None else estimate(loss.match),
                forced=judgement.choices[number] == 1,
                tied_with_best=measured.mean <= NOISE * measured.standard_error,
                move_class=move_class(measured, swing),
            )

    def _add_luck(self, part: "_Judged", before: Position, after: Position, control: Control) -> None:
        """Measure the luck of what came to light between two positions a move apart, if anything did."""
        player = after.player_to_move
        if after.HasField("result") or player not in self._whose:
            return
        event = part.moves[-1].event
        known = self._seen(after, player)
        found = self._family.revealed(self._seen(before, player), known, self._rules)
        if not found.cards:
            return
        now = self._question(known, event)
        if now is None:
            part.complete = False
            return
        if found.table is not None:
            was, state = self._asked(found.table, event), FAMILIES[self._family.name].to_state([found.table])
        elif part.judgement is not None and part.question is not None:
            was, state = dataclasses.replace(part.question, seed=now.seed), part.judgement.end
        else:
            part.complete = False
            return
        first, last = LUCK_WORLDS, LUCK_WORLDS + self._settings.luck_rollouts
        expected = self._engine.results(was, state, first, last, control)
        came = self._engine.results(now, FAMILIES[self._family.name].to_state([now.table]), first, last, control)
        spread = FAMILIES[self._family.name].spread(was.table)

        def better(objective: search.Objective) -> Estimate:
            measure = search.measure(objective, spread, self._stakes(player))
            return estimate(search.mean(measure.of(came) - measure.of(expected), 2 * measure.spread, measure.unit))

        part.luck = LuckEvent(
            event=event,
            player=player,
            cards=found.cards,
            win=better("win"),
            points=better("points"),
            match=None if self._score is None else better("match"),
        )


@dataclasses.dataclass
class _Judged:
    """A part of a turn while it is analysed."""

    player: int
    moves: list[JudgedMove]
    question: Question | None
    judgement: Judgement | None
    luck: LuckEvent | None = None
    complete: bool = True  # whether the luck of all that came to light was measured

    @property
    def finished(self) -> Part:
        said = None if self.judgement is None else self.judgement.said
        return Part(
            player=self.player,
            moves=self.moves,
            luck=self.luck,
            loss=None if said is None else said.loss,
            start=None if said is None else said.passed[0],
            complete=self.complete and said is not None,
        )
