"""Hints at the score of a match, over the wire."""

import pytest

from tests.service.test_hints import analysis, asking, hint
from tests.service.wire import Served
from zank.text import parse_position
from zank.v1 import (
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    GetBestMoveRequest,
    MatchScore,
    Objective,
    Position,
)

MALICE = "malice-match~1~t.3~a.18-3c.2d9sTsKh7c.QhJd.8s..~b.19-5d.4-.Qc...~c.Ah..~k.51-"
BANK = "bank-russian~2~t.1~a.12-7h.34-.4d5d~b.11-8h.35-.~f........~h.Kc.Jd.3d.Th.7c.9c.Kh.3d"
BOTH = pytest.mark.parametrize("position", [parse_position(MALICE), parse_position(BANK)], ids=["malice", "bank"])
SCORE = MatchScore(player1=38, player2=45)


@BOTH
async def test_with_a_score_moves_are_ranked_by_the_chance_to_win_the_match(served: Served, position: Position) -> None:
    answer = await hint(served, position, 4_096, match_score=SCORE)
    assert answer.objective == OBJECTIVE_MATCH
    best = answer.moves[0]
    for move in answer.moves:
        assert 0 < move.value.match.mean < 1
        assert 0 < move.value.match.standard_error < 0.1
        if move is not best and move.value.rollouts == best.value.rollouts:
            gap = best.value.match.mean - move.value.match.mean
            assert move.gap.mean == pytest.approx(gap, abs=1e-9)


@BOTH
async def test_without_a_score_nothing_is_said_of_a_match(served: Served, position: Position) -> None:
    answer = await hint(served, position)
    assert answer.objective == OBJECTIVE_POINTS
    assert not any(move.value.HasField("match") for move in answer.moves)


@BOTH
@pytest.mark.parametrize("objective", [OBJECTIVE_POINTS, OBJECTIVE_WIN])
async def test_another_objective_ranks_as_without_a_score_and_tells_of_the_match(
    served: Served, position: Position, objective: Objective.ValueType
) -> None:
    alone = await hint(served, position, objective=objective)
    answer = await hint(served, position, objective=objective, match_score=SCORE)
    assert all(move.value.HasField("match") for move in answer.moves)
    for move in answer.moves:
        move.value.ClearField("match")
    assert answer == alone


@BOTH
async def test_the_same_score_has_the_same_bytes(served: Served, position: Position) -> None:
    answers = [await hint(served, position, match_score=SCORE) for _ in range(2)]
    question = asking(position, match_score=SCORE)
    answers.append((await served.solver.GetBestMove(GetBestMoveRequest(question=question))).answer)
    answers.append((await analysis(served, question))[-1].answer)
    assert {answer.SerializeToString(deterministic=True) for answer in answers} == {
        answers[0].SerializeToString(deterministic=True)
    }
    other = await hint(served, position, match_score=MatchScore(player1=45, player2=38))
    assert other.moves[0].value.match != answers[0].moves[0].value.match
    assert other.moves[0].value.match != other.moves[0].value.win


async def test_who_is_ahead_is_likelier_to_win_the_match(served: Served) -> None:
    position = parse_position(MALICE)  # player 1 moves
    chances = [
        (await hint(served, position, match_score=MatchScore(player1=own, player2=49 - own))).moves[0].value.match.mean
        for own in (0, 12, 24, 36, 49)
    ]
    assert chances == sorted(chances)
    assert chances[0] < 0.2
    assert chances[-1] > 0.8


async def test_a_match_may_go_to_any_target(served: Served) -> None:
    for target in (1, 31, 1_000):
        position = parse_position(BANK.replace("bank-russian", f"bank-spiteful~o.m{target}"))
        score = MatchScore(player1=target - 1, player2=target - 1)
        answer = await hint(served, position, match_score=score)
        for move in answer.moves:  # one game decides, but for ties, after which the next one does
            expected = move.value.win.mean + move.value.tie.mean / 2
            assert move.value.match.mean == pytest.approx(expected, abs=1e-6)


# Where the score changes the best move -----------------------------------------------------------------------------

AT_LEAST = 4  # standard errors by which the best move of one score is ahead of the other's, and the other way round

# Two scores of player 1 and player 2, or none, and the best move at each, in positions of played games.
CHANGED: dict[str, tuple[str, tuple[Score, str], tuple[Score, str]]] = {
    # Eight of twelve payoff cards are where they were, and the stock ends the game soon.
    "far behind, nothing but a win counts; far ahead, a tie will do": (
        "malice-match~1~a.9-5c.Kc6c6c3cKc.QcJcTc9c8c7c5c4c3c2cAc.7c4c3d.3d3h2c2dAcAd.9c9d7dTcTd8c~b.Ad.2-."
        "QcQdJcJd.7d6d5d4d4d2d.Td8d8d9d9hThJdJhJhQdQhQhQsJs.7h6d5d~c.AhKd3h4h5h6h7h8h9hThJs.Ah2h3s4h5h6h7s8h."
        "As2h3s4s5s6s7s8s~k.6-",
        ((0, 49), "3-S2"),
        ((49, 40), "K-C1"),
    ),
}


@pytest.mark.parametrize("name", CHANGED)
async def test_the_score_changes_the_best_move(served: Served, name: str) -> None:
    text, *cases = CHANGED[name]
    moves = [move for _, move in cases]
    for (score, best), other in zip(cases, reversed(moves), strict=True):
        arguments: dict[str, Any] = {} if score is None else {"match_score": MatchScore(player1=score[0], player2=score[1])}
        answer = await hint(served, parse_position(text), 16_384, keep_moves=moves, seed=1, **arguments)
        assert answer.moves[0].move == best
        gap = said(answer, other).gap
        assert gap.mean > AT_LEAST * gap.standard_error


def said(answer: Answer, move: str) -> MoveEvaluation:
    return next(each for each in answer.moves if move in (each.move, *each.equivalents))
