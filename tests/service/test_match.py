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

type Case = tuple[tuple[int, int] | None, str]


def of(score: tuple[int, int] | None) -> MatchScore | None:
    return None if score is None else MatchScore(player1=score[0], player2=score[1])


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

STEPS = 5  # standard errors by which each best move is ahead of the other, at least

# Positions of played games, and for two scores of player 1 and player 2, or none, the best move.
CHANGED: dict[str, tuple[str, Case, Case]] = {
    "where a tie is not enough": (
        # Three ties of four and hardly a win, or a win one time of four and mostly a loss.
        "malice-match~1~a.3-Qc.QcJc2c2c.Tc9c7c7c7d.7d6c6c5c4c4c4d.3c3c3d2dAc.QdJcTcTdTdJdJdJhJhThTh9c~b.1-3"
        "d.4-.Js9d.6d5c5d4d3h2d2h.QdJs9d8c9h9h9s8c7h.9s8d8d8h8h7h5d~c.Ac2h3h4h5h6d7s.Ad2sKcKc5hKd7s.Ad2s3s4"
        "h5s6h~k.16-",
        (None, "J-S4"),
        ((49, 45), "Q-S2"),
    ),
    "a win that is too small": (
        # A sure tie, or a win three times of five, which leaves the other player two or three cards.
        "malice-match~2~a.2-Ac.3-.3c2c2cAc.JcJc9c8c9cJdJdJhQcQc.JhTc9d8c7c4c2d2d.8d7c6c3c~b.7-2h.QdQd4cQh"
        ".QhJsTc7d5c4d3dAdAdAh.TdTdTh7d6c6d9d9h5cJs.8d5d.4d~c.Kc2h3d4h5d6d7h8h9hTh.Ah2s3h4h5h6h.Kc2s3h4s5"
        "h6h7h~k.14-",
        (None, "Q-S4"),
        ((49, 45), "Q-S2"),
    ),
    "where any win wins the match": (
        # Mostly a tie, or a win or a loss.
        "malice-match~1~a.6-Qc.3cKcTcTc2c.5c4c4c3c2cAc.7c6c5c3d2dAc.QcJcTd9c8cQd.Jc9c8c8dTd7c3d~b.1-Ad.4-"
        ".QdJdTh9d9dJdJh9h.Th9h8d7d.6c5d5d4d3h2dAd.JhJsTs9s9s8h~c.Ah2h3h4dKc6d7d8h.Ah2h3s4h5h6d7h8s.As2s3"
        "s4h5h6h7h~k.13-",
        ((0, 25), "K-C3"),
        ((49, 40), "K-C2"),
    ),
    "a stalemate that is worth five points": (
        # The turns without progress are nearly used up: END makes a stalemate of it, in which player 1 has fewer cards.
        "bank-crapette~o.m300~1~t.29~a..2-.3sKcTdJhThJhQhJdQs5h9s8s6hKhQcJcTc9cTcJc4d~b..7-.Kd7hJs6s7s8s7sQ"
        "h9cKh8c5s4s5s3dTs4c5cQsKs3c2c~f.Ac2c3c4c5c6c7c.Ac.Ad2d3d4d5d6d7d8d9d.Ad2d.Ah2h3h4h5h6h7h8h9hTh.Ah2"
        "h3h4h.As2s3s.As2s~h.6s.KdQcJdTs9h.JsTd9s8h.Qd.6d..8d.~d.5d~q.23.29",
        (None, "D-T1"),
        ((299, 150), "END"),
    ),
    "a stalemate instead of a game that is nearly won": (
        # END makes a stalemate of it, for nineteen points; with the queen on, player 1 wins five times of six.
        "bank-crapette~o.m300~1~t.39~a..JdKdQsKs2s3sTd9d4c5c7h3cQcTsJs2d3d.9cJh~b.5-Tc.5s6sJdKhTd7c8c4h3h"
        "Qd5d6d7dTc9c8c7cQc8sTh9h8h7hJc4d.6cKs~f.Ac2c3c4c5c6c.Ac2c.Ad2d3d4d5d6d.Ad.Ah2h3h4h5h6h.Ah.As2s3s"
        "4s5s.As~h.8d7s.9h8s.7d6s5h4s.KcQhJcTh9s8d7s6h.Kc.Kh.KdQsJhTs.8h~d.Qd~q.19.27",
        (None, "D-T5"),
        ((299, 150), "END"),
    ),
    "a stalemate that loses the match": (
        # END makes a stalemate of it, eighteen points for player 2; with the queen on, player 1 wins one time in three.
        "bank-crapette~o.m300~1~t.32~a.6-8c.5-.6c5c4h5cJdJs9h8h7h3c2cJh2h9sTsKcKsQs3d4c8sTc~b..QcJcTc8dJh"
        "Th9h2s3s7hKcKhTs9s8s7s6sJdQd9d2d4d.QhKs~f.Ac2c3c4c.Ac.Ad2d3d4d5d6d.Ad.Ah2h3h4h5h6h..As2s3s4s5s.A"
        "s~h.9c8h7c6h5s.JcTd9c8d.7d6c.QhJsTd.5h4s3h.8c.Kd.7s6d~d.Qc~q.27.24",
        (None, "END"),
        ((150, 299), "D-T7"),
    ),
}


@pytest.mark.parametrize("name", CHANGED)
async def test_the_score_changes_the_best_move(served: Served, name: str) -> None:
    text, *cases = CHANGED[name]
    moves = [best for _, best in cases]
    for (score, best), other in zip(cases, reversed(moves), strict=True):
        answer = await hint(served, parse_position(text), 16_384, seed=1, keep_moves=moves, match_score=of(score))
        assert answer.moves[0].move == best
        gap = next(move.gap for move in answer.moves if other in (move.move, *move.equivalents))
        assert gap.mean > STEPS * gap.standard_error > 0
