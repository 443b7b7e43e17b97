"""Moves, hints, reasons and events in words."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

from zank._bank_sentences import bank_result, describe_bank_move, foresee_bank
from zank._malice_sentences import describe_malice_move, foresee_malice, malice_result
from zank.cards import face_of
from zank.english import ENGLISH
from zank.notation import BankMove, Move, parse_move
from zank.phrases import Phrases
from zank.presets import preset
from zank.v1 import (
    OBJECTIVE_MATCH,
    OBJECTIVE_WIN,
    REASON_CODE_COMPLETES_STACK,
    REASON_CODE_CONTINUES_RUN,
    REASON_CODE_COVERS_PLAYABLE,
    REASON_CODE_DISCARDS_KING,
    REASON_CODE_EMPTIES_SIDE,
    REASON_CODE_ENDS_GAME,
    REASON_CODE_FILLS_SPACE,
    REASON_CODE_FREES_RESERVE,
    REASON_CODE_LETS_IN,
    REASON_CODE_LOADS,
    REASON_CODE_LOSES,
    REASON_CODE_MAKES_SPACE,
    REASON_CODE_ON_PATH,
    REASON_CODE_PLAYS_PAYOFF,
    REASON_CODE_PLAYS_RESERVE,
    REASON_CODE_PLAYS_TO_FOUNDATION,
    REASON_CODE_REFILLS_HAND,
    REASON_CODE_SHUTS_OUT,
    REASON_CODE_THROWS_PLAYABLE,
    REASON_CODE_TURNS_WASTE_OVER,
    REASON_CODE_UNCOVERS,
    REASON_CODE_WINS,
    Answer,
    Estimate,
    Event,
    GameResult,
    MoveEvaluation,
    Objective,
    Position,
    Reason,
    RuleSet,
    Slot,
    Value,
)

_TIED_MOVES_NAMED: Final = 4
_REASONS_NAMED: Final = 3

# The most important first.
_IMPORTANCE: Final = (
    REASON_CODE_WINS,
    REASON_CODE_LOSES,
    REASON_CODE_ENDS_GAME,
    REASON_CODE_PLAYS_PAYOFF,
    REASON_CODE_PLAYS_RESERVE,
    REASON_CODE_FREES_RESERVE,
    REASON_CODE_SHUTS_OUT,
    REASON_CODE_LETS_IN,
    REASON_CODE_ON_PATH,
    REASON_CODE_LOADS,
    REASON_CODE_REFILLS_HAND,
    REASON_CODE_DISCARDS_KING,
    REASON_CODE_THROWS_PLAYABLE,
    REASON_CODE_PLAYS_TO_FOUNDATION,
    REASON_CODE_UNCOVERS,
    REASON_CODE_EMPTIES_SIDE,
    REASON_CODE_MAKES_SPACE,
    REASON_CODE_FILLS_SPACE,
    REASON_CODE_COVERS_PLAYABLE,
    REASON_CODE_CONTINUES_RUN,
    REASON_CODE_COMPLETES_STACK,
    REASON_CODE_TURNS_WASTE_OVER,
)
_AGAINST: Final = frozenset(
    {
        REASON_CODE_LOSES,
        REASON_CODE_LETS_IN,
        REASON_CODE_COVERS_PLAYABLE,
        REASON_CODE_DISCARDS_KING,
        REASON_CODE_FILLS_SPACE,
        REASON_CODE_THROWS_PLAYABLE,
    }
)


def describe_move(move: Move | str, position: Position, phrases: Phrases = ENGLISH) -> str:
    """A move of the player to move as a sentence without its full stop; raises InvalidMove for what is no move."""
    move = parse_move(move) if isinstance(move, str) else move
    if isinstance(move, BankMove):
        return describe_bank_move(move, position, phrases)
    return describe_malice_move(move, position, phrases)


def describe_line(line: Iterable[Move | str], position: Position, phrases: Phrases = ENGLISH) -> list[str]:
    """The moves of a planned turn, one sentence each; raises InvalidMove for what is no move."""
    ahead = Position()
    ahead.CopyFrom(position)
    sentences = []
    for item in line:
        move = parse_move(item) if isinstance(item, str) else item
        sentences.append(describe_move(move, ahead, phrases) + ".")
        if isinstance(move, BankMove):
            foresee_bank(move, ahead)
        else:
            foresee_malice(move, ahead)
    return sentences


def describe_hint(answer: Answer, position: Position, phrases: Phrases = ENGLISH) -> list[str]:
    """The recommended move, why, and how sure: one sentence each."""
    best = answer.moves[0]
    sentences = [describe_move(best.move, position, phrases) + "."]
    if best.wins_at_once:
        sentences.append(phrases.reasons[REASON_CODE_WINS])
    else:
        sentences += _why(best.reasons, phrases)
    if best.equivalents:
        sentences.append(phrases.equivalents.format(moves=", ".join(best.equivalents)))
    if answer.forced:
        sentences.append(phrases.only_legal_move)
    if best.wins_at_once:
        return sentences
    if best.HasField("value"):
        sentences.append(describe_value(best.value, position.rule_set, phrases))
    tied = [evaluation.move for evaluation in answer.moves[1:] if evaluation.tied_with_best]
    if tied:
        moves = ", ".join(tied[:_TIED_MOVES_NAMED])
        if len(tied) > _TIED_MOVES_NAMED:
            moves = phrases.tied_more.format(moves=moves, count=len(tied) - _TIED_MOVES_NAMED)
        # The one with the fewest rollouts is known worst: it says how far the claim goes.
        rollouts = min(evaluation.value.rollouts for evaluation in answer.moves if evaluation.tied_with_best)
        sentences.append(phrases.tied.format(count=rollouts, moves=moves))
    return sentences


def describe_reasons(reasons: Iterable[Reason], phrases: Phrases = ENGLISH) -> list[str]:
    """What there is to say for and against a move, the most important first, one sentence each.

    Reasons of a newer server, which this client has no words for, are left out.
    """
    sentences = (describe_reason(reason, phrases) for reason in _by_importance(reasons))
    return [sentence for sentence in sentences if sentence]


def describe_reason(reason: Reason, phrases: Phrases = ENGLISH) -> str:
    """One reason as a sentence; empty where this client has no words for it."""
    cards = [face_of(card) for card in reason.cards]
    places = [describe_place(place, phrases) for place in reason.places]
    try:
        return phrases.reasons[reason.code].format(cards=cards, places=places, path=", ".join(cards))
    except LookupError:
        return ""


def describe_place(place: str, phrases: Phrases = ENGLISH) -> str:
    """A place on the table, for example "center stack 1" for "C1"; what is none stays as it is."""
    numbered = re.fullmatch("([A-Z])([0-9]+)", place)
    if numbered is not None and numbered[1] in phrases.numbered_places:
        return phrases.numbered_places[numbered[1]].format(number=numbered[2])
    return phrases.places.get(place, place)


def describe_slot(slot: Slot, phrases: Phrases = ENGLISH) -> str:
    """A place where a card comes to light."""
    template = {
        "P": phrases.malice.next_payoff,
        "R": phrases.bank.next_reserve,
        "D": phrases.bank.card_turned,
    }.get(slot.place, phrases.malice.card_drawn)
    return template.format(player=slot.player, number=slot.index + 1)


def describe_value(value: Value, rule_set: RuleSet, phrases: Phrases = ENGLISH) -> str:
    """The chances to win the match, if there is one, and the game, and the expected points, each with its error."""
    points = phrases.points if preset(rule_set.preset).scored else phrases.margin
    tie = phrases.tie.format(tie=format_chance(value.tie)) if value.tie.mean >= 0.005 else ""
    template = phrases.match_value if value.HasField("match") else phrases.value
    return template.format(
        match=format_chance(value.match),
        win=format_chance(value.win),
        tie=tie,
        points=points.format(points=format_points(value.points)),
    )


def describe_event(event: Event, rule_set: RuleSet, phrases: Phrases = ENGLISH) -> str:
    """What happened on the table; the faces of drawn cards are not told."""
    match event.WhichOneof("kind"):
        case "moved":
            moved = event.moved
            return phrases.moved.format(
                player=moved.player, card=face_of(moved.card), origin=moved.origin, destination=moved.destination
            )
        case "turned_up":
            up = event.turned_up
            template = phrases.bank.turned_from_stock if up.place == "D" else phrases.turned_up
            return template.format(player=up.player, card=face_of(up.card), place=up.place)
        case "drawn":
            return phrases.malice.drawn.format(player=event.drawn.player, count=event.drawn.count)
        case "center_recycled":
            recycled = event.center_recycled
            return phrases.malice.recycled.format(place=recycled.place, count=len(recycled.cards))
        case "waste_turned_over":
            over = event.waste_turned_over
            return phrases.bank.waste_turned_over.format(player=over.player, count=over.count)
        case "turn_passed":
            return phrases.turn_passed.format(player=event.turn_passed.player)
        case "game_over":
            return describe_result(event.game_over, rule_set, phrases) + "."
        case None:  # an event of a newer server
            return ""


def describe_result(result: GameResult, rule_set: RuleSet, phrases: Phrases = ENGLISH) -> str:
    """How a game ended, without a full stop."""
    row = preset(rule_set.preset)
    template = malice_result(result, phrases) if row.family == "malice" else bank_result(result, phrases)
    points = (phrases.points_won if row.scored else phrases.malice.margin_won).format(count=result.points)
    return template.format(player=result.winner, points=points)


def format_gap(evaluation: MoveEvaluation, objective: Objective.ValueType) -> str:
    """How much better the best move is, in the unit of the objective; "–" for the best move itself."""
    if not evaluation.HasField("gap"):
        return "–"
    if objective in (OBJECTIVE_WIN, OBJECTIVE_MATCH):
        return format_chance(evaluation.gap)
    return format_points(evaluation.gap, sign=False)


def format_chance(estimate: Estimate, *, sign: bool = False) -> str:
    """A probability and its standard error in per cent, for example "63 % ± 2 %"; with a `sign`, a difference."""
    digits = _digits(100 * estimate.standard_error, at_least=0)
    mean = f"{100 * estimate.mean:{'+' if sign else ''}.{digits}f}"
    return f"{mean} % ± {100 * estimate.standard_error:.{digits}f} %"


def format_points(estimate: Estimate, *, sign: bool = True) -> str:
    """Points and their standard error, for example "+3.1 ± 0.4"."""
    digits = _digits(estimate.standard_error, at_least=1)
    mean = f"{estimate.mean:{'+' if sign else ''}z.{digits}f}"
    return f"{mean} ± {estimate.standard_error:.{digits}f}"


def _why(reasons: Sequence[Reason], phrases: Phrases) -> list[str]:
    """The most important reasons in up to two sentences: those for the move and those against it."""
    told = [
        (reason.code in _AGAINST, sentence)
        for reason in _by_importance(reasons)
        if (sentence := describe_reason(reason, phrases))
    ]
    told = told[:_REASONS_NAMED]
    return [
        template.format(reasons=" ".join(sentences))
        for template, against in ((phrases.why, False), (phrases.but, True))
        if (sentences := [sentence for is_against, sentence in told if is_against is against])
    ]


def _by_importance(reasons: Iterable[Reason]) -> list[Reason]:
    return sorted(
        reasons, key=lambda reason: _IMPORTANCE.index(reason.code) if reason.code in _IMPORTANCE else len(_IMPORTANCE)
    )


def _digits(standard_error: float, *, at_least: int) -> int:
    """Decimals that show a standard error with one significant digit, so that it never reads as zero."""
    rounded = float(f"{standard_error:.1g}")  # 0.96 reads "1", not "1.0"
    if not 0 < rounded < 1:
        return at_least
    return min(max(at_least, -math.floor(math.log10(rounded))), 9)
