"""The same request gets the same bytes, alone and among two hundred others."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from tests.service.conftest import serving
from tests.service.methods import Call, raw
from tests.service.wire import Served
from zank.presets import PRESETS
from zank.v1 import (
    OBJECTIVE_POINTS,
    OBJECTIVE_UNSPECIFIED,
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    PRIORITY_INTERACTIVE,
    PRIORITY_NORMAL,
    AnalyzeRequest,
    ApplyMoveRequest,
    Budget,
    CheckMoveRequest,
    DealRequest,
    GetBestMoveRequest,
    GetHintRequest,
    GetInfoRequest,
    ListLegalMovesRequest,
    Position,
    Question,
    RuleSet,
    ViewRequest,
)
from zank_kernel.engine import Engine
from zank_service.limits import Limits

GAMES = 10
CROWD = 200


@pytest.fixture
async def crowded(engine: Engine) -> AsyncIterator[Served]:
    """A server that lets a crowd wait."""
    async with serving(
        engine, Limits(answers_waiting=CROWD, answers_per_client=2 * CROWD, interactive_per_client=2 * CROWD)
    ) as served:
        yield served


async def played(served: Served, game: int, chooser: random.Random) -> list[tuple[Position, str]]:
    """Positions with a choice, from a game played at random, each with one of its moves."""
    rule_set = RuleSet(preset=list(PRESETS)[game % len(PRESETS)])
    position = (await served.referee.Deal(DealRequest(rule_set=rule_set, seed=game))).position
    found: list[tuple[Position, str]] = []
    while len(found) < CROWD // GAMES and not position.HasField("result"):
        listed = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
        plays = [move.move for move in listed if "-C" in move.move or move.move.startswith(("R", "D"))]
        move = chooser.choice(plays or [move.move for move in listed])
        if len(listed) > 1:
            found.append((position, move))
        position = (await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))).position
    return found


def asking(position: Position, move: str, chooser: random.Random, number: int) -> Call:
    """A request about a position that nobody else makes."""
    question = Question(
        request_id=str(number),
        position=position,
        objective=chooser.choice([OBJECTIVE_UNSPECIFIED, OBJECTIVE_POINTS, OBJECTIVE_WIN]),
        priority=chooser.choice([PRIORITY_INTERACTIVE, PRIORITY_NORMAL, PRIORITY_BULK]),
        budget=Budget(rollouts=chooser.randint(1, 1_000), rounds=chooser.choice([0, 0, 1, 2, 3])),
        avoid_moves=[move] if chooser.random() < 0.2 else [],
        keep_moves=[move] if chooser.random() < 0.2 else [],
    )
    if question.avoid_moves and question.keep_moves:
        del question.keep_moves[:]
    if chooser.random() < 0.5:
        question.seed = chooser.getrandbits(64)
    method, request = chooser.choice(
        [
            ("Solver/GetHint", GetHintRequest(question=question)),
            ("Solver/GetBestMove", GetBestMoveRequest(question=question)),
            ("Solver/Analyze", AnalyzeRequest(question=question)),
            ("Solver/GetHint", GetHintRequest(question=question)),
            ("Solver/GetBestMove", GetBestMoveRequest(question=question)),
            ("Solver/Analyze", AnalyzeRequest(question=question)),
            ("Referee/ListLegalMoves", ListLegalMovesRequest(position=position)),
            ("Referee/View", ViewRequest(position=position, player=1 + number % 2)),
            ("Referee/CheckMove", CheckMoveRequest(position=position, move=move)),
            ("Referee/ApplyMove", ApplyMoveRequest(position=position, move=move)),
            ("Referee/Deal", DealRequest(rule_set=position.rule_set, seed=number)),
            ("Server/GetInfo", GetInfoRequest()),
        ]
    )
    return Call(method=method, data=request.SerializeToString())


async def test_the_same_request_gets_the_same_bytes_alone_and_in_a_crowd(crowded: Served) -> None:
    chooser = random.Random(3)
    found = [pair for game in range(GAMES) for pair in await played(crowded, game, chooser)]
    calls = [asking(position, move, chooser, number) for number, (position, move) in enumerate(found)]
    assert len(calls) == CROWD
    assert sum(call.method.startswith("Solver/") for call in calls) > CROWD // 3
    alone = [await raw(crowded, call) for call in calls]
    # Questions of which nobody knows how far they get, for more of a crowd.
    timed = [Question(position=position, budget=Budget(time_ms=30)) for position, _ in found[::20]]
    others = [asyncio.ensure_future(crowded.solver.GetHint(GetHintRequest(question=question))) for question in timed]
    order = chooser.sample(range(CROWD), CROWD)
    answers = await asyncio.gather(*(raw(crowded, calls[index]) for index in order))
    assert dict(zip(order, answers, strict=True)) == dict(enumerate(alone))
    await asyncio.gather(*others)
