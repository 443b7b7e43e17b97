"""Every row of the table of errors is what some call meets; `wire.read` sees to it that no call meets anything else."""

import asyncio
from collections.abc import Awaitable, Callable
from unittest.mock import patch

import grpc
import pytest
from grpc_health.v1 import health_pb2

from tests.service import bank_tables
from tests.service.conftest import LIMITS, serving
from tests.service.errors import TABLE, Row
from tests.service.held import held
from tests.service.tables import full, partial
from tests.service.wire import Refused, Served, check_health, connected, documented, refusal
from zank.v1 import (
    ENDING_OUT,
    AnalyzeGameRequest,
    ApplyMoveRequest,
    Budget,
    Deal,
    DealRequest,
    GameRecord,
    GameResult,
    GetHintRequest,
    GetInfoRequest,
    ListLegalMovesRequest,
    MaliceTable,
    MatchScore,
    Pile,
    Position,
    Question,
    RecordEvent,
    RuleSet,
)
from zank_kernel.engine import Engine
from zank_service import server as server_module
from zank_service.limits import ANSWERS_AT_ONCE, Limits
from zank_service.server import Server

SOUND = partial()
HINT = GetHintRequest(question=Question(position=SOUND))
FINISHED = partial(".....")
FINISHED.result.CopyFrom(GameResult(ending=ENDING_OUT, winner=1, points=20))


async def bad_position(served: Served, engine: Engine) -> Refused:
    return await refusal(served.referee.ListLegalMoves(ListLegalMovesRequest(position=Position())))


async def bad_rule_set(served: Served, engine: Engine) -> Refused:
    return await refusal(served.referee.Deal(DealRequest()))


async def bad_move(served: Served, engine: Engine) -> Refused:
    return await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=SOUND, move="pass")))


async def bad_question(served: Served, engine: Engine) -> Refused:
    return await refusal(served.solver.GetHint(GetHintRequest(question=Question(budget=Budget()))))


async def no_message(served: Served, engine: Engine) -> Refused:
    return await refusal(served.channel.unary_unary("/zank.v1.Solver/GetHint", bytes, bytes)(b"\xff"))


async def bad_record(served: Served, engine: Engine) -> Refused:
    return await refusal(anext(aiter(served.analyst.AnalyzeGame(AnalyzeGameRequest()))))


async def illegal_record(served: Served, engine: Engine) -> Refused:
    record = GameRecord(rule_set=RuleSet(preset="bank-russian"), deal=Deal(seed=1), events=[RecordEvent(move="END")])
    record.events.add(abandoned=0)
    return await refusal(anext(aiter(served.analyst.AnalyzeGame(AnalyzeGameRequest(record=record)))))


async def illegal_move(served: Served, engine: Engine) -> Refused:
    return await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=SOUND, move="P-C1")))


async def move_that_has_to_wait(served: Served, engine: Engine) -> Refused:
    position = bank_tables.partial(f="8h")
    return await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=position, move="TURN")))


async def finished_game(served: Served, engine: Engine) -> Refused:
    return await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=FINISHED, move="P-C1")))


async def no_shuffle(served: Served, engine: Engine) -> Refused:
    position = full(partial("19-9h.Qd2c3c4c5c....", c="AdKdKc4d5d6d7d8dKhTdJd.."))
    return await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=position, move="Q-C1")))


async def match_score(served: Served, engine: Engine) -> Refused:
    classic = partial(rules="malice-classic~o.m50")
    question = Question(position=classic, match_score=MatchScore())
    return await refusal(served.solver.GetHint(GetHintRequest(question=question)))


async def full_queue(served: Served, engine: Engine) -> Refused:
    with held(engine) as holder:
        async with serving(engine, Limits(answers_waiting=0)) as crowded:
            taken = [asyncio.ensure_future(crowded.solver.GetHint(HINT)) for _ in range(ANSWERS_AT_ONCE[0])]
            await holder.wait_until_asked(len(taken))
            refused = await refusal(crowded.solver.GetHint(HINT))
            holder.release()
            await asyncio.gather(*taken)
    return refused


async def full_quota(served: Served, engine: Engine) -> Refused:
    with held(engine) as holder:
        async with serving(engine, Limits(answers_per_client=1)) as crowded:
            taken = asyncio.ensure_future(crowded.solver.GetHint(HINT))
            await holder.wait_until_asked(1)
            refused = await refusal(crowded.solver.GetHint(HINT))
            holder.release()
            await taken
    return refused


async def large_message(served: Served, engine: Engine) -> Refused:
    position = Position(malice=MaliceTable(stock=Pile(cards=["7h"] * 20_000)))
    return await refusal(served.referee.ListLegalMoves(ListLegalMovesRequest(position=position)))


async def many_calls(engine: Engine) -> Refused:
    with held(engine) as holder, patch.object(server_module, "MAX_CALLS", 1):
        async with serving(engine) as crowded:
            taken = asyncio.ensure_future(crowded.solver.GetHint(HINT))
            await holder.wait_until_asked(1)
            refused = await refusal(crowded.about.GetInfo(GetInfoRequest()))
            holder.release()
            await taken
    return refused


async def too_much(served: Served, engine: Engine) -> Refused:
    assert (await many_calls(engine)).code == grpc.StatusCode.RESOURCE_EXHAUSTED
    return await large_message(served, engine)


async def not_serving(served: Served, engine: Engine) -> Refused:
    server = Server(engine, LIMITS)
    port = await server.start("127.0.0.1", 0)
    async with connected(f"127.0.0.1:{port}") as early:
        refused = await refusal(early.about.GetInfo(GetInfoRequest()))
    await server.stop(grace=5)
    return refused


async def deadline(served: Served, engine: Engine) -> Refused:
    with held(engine):
        return await refusal(served.solver.GetHint(HINT, timeout=0.1))


async def default_deadline(served: Served, engine: Engine) -> Refused:
    with held(engine):
        async with serving(engine, Limits(default_deadline_seconds=0.1)) as hurried:
            return await refusal(hurried.solver.GetHint(HINT))


async def cancelled(served: Served, engine: Engine) -> Refused:
    with held(engine) as holder:
        call = served.solver.GetHint(HINT)
        waiting = asyncio.ensure_future(call.code())
        await holder.wait_until_asked(1)
        call.cancel()
        code = await waiting
    return Refused(code=code, message="", reason="", metadata={}, fields={}, retry_seconds=None)


async def unknown_service(served: Served, engine: Engine) -> Refused:
    return await refusal(check_health(served.channel, "zank.v1.Nobody"))


async def unknown_method(served: Served, engine: Engine) -> Refused:
    return await refusal(served.channel.unary_unary("/zank.v1.Solver/GetRich", bytes, bytes)(b""))


async def fault(served: Served, engine: Engine) -> Refused:
    with patch.object(engine, "answer", side_effect=RuntimeError("a secret")):
        refused = await refusal(served.solver.GetHint(HINT))
    assert "secret" not in refused.message
    return refused


# By code, reason and what the details are about.
PROVOKED: dict[tuple[str, str, str], Callable[[Served, Engine], Awaitable[Refused]]] = {
    ("INVALID_ARGUMENT", "INVALID_POSITION", "fields"): bad_position,
    ("INVALID_ARGUMENT", "INVALID_RULE_SET", "fields"): bad_rule_set,
    ("INVALID_ARGUMENT", "INVALID_MOVE", "fields"): bad_move,
    ("INVALID_ARGUMENT", "INVALID_RECORD", "fields"): bad_record,
    ("INVALID_ARGUMENT", "INVALID_RECORD", "fields rule"): illegal_record,
    ("INVALID_ARGUMENT", "INVALID_REQUEST", "fields"): bad_question,
    ("INVALID_ARGUMENT", "INVALID_REQUEST", ""): no_message,
    ("FAILED_PRECONDITION", "ILLEGAL_MOVE", ""): illegal_move,
    ("FAILED_PRECONDITION", "ILLEGAL_MOVE", "obligatory"): move_that_has_to_wait,
    ("FAILED_PRECONDITION", "GAME_OVER", ""): finished_game,
    ("FAILED_PRECONDITION", "SHUFFLE_UNKNOWN", ""): no_shuffle,
    ("FAILED_PRECONDITION", "MATCH_SCORE_UNAVAILABLE", ""): match_score,
    ("RESOURCE_EXHAUSTED", "OVERLOADED", ""): full_queue,
    ("RESOURCE_EXHAUSTED", "QUOTA", ""): full_quota,
    ("RESOURCE_EXHAUSTED", "", ""): too_much,
    ("UNAVAILABLE", "NOT_SERVING", ""): not_serving,
    ("DEADLINE_EXCEEDED", "", ""): deadline,
    ("DEADLINE_EXCEEDED", "DEFAULT_DEADLINE", ""): default_deadline,
    ("CANCELLED", "", ""): cancelled,
    ("NOT_FOUND", "", ""): unknown_service,
    ("UNIMPLEMENTED", "", ""): unknown_method,
    ("INTERNAL", "INTERNAL", ""): fault,
}


def key(row: Row) -> tuple[str, str, str]:
    about = (
        "fields" + " rule" * bool(row.metadata) if row.fields else "obligatory" if "obligatory" in row.metadata else ""
    )
    return row.code, row.reason, about


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.code} {row.reason}")
async def test_a_row_of_the_table_is_what_a_call_can_meet(served: Served, engine: Engine, row: Row) -> None:
    refused = await PROVOKED[key(row)](served, engine)
    assert documented(refused) == row
    assert (await served.solver.GetHint(HINT)).answer.moves


def test_the_table_has_every_error_once() -> None:
    assert [key(row) for row in TABLE] == list(dict.fromkeys(map(key, TABLE)))
    assert {key(row) for row in TABLE} == PROVOKED.keys()


async def test_health_and_reflection_too_refuse_what_is_no_message(served: Served) -> None:
    watch = served.channel.unary_stream("/grpc.health.v1.Health/Watch", bytes, bytes)
    reflect = served.channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", bytes, bytes
    )
    check = served.channel.unary_unary("/grpc.health.v1.Health/Check", bytes, bytes)
    row = documented(await no_message_to(check(b"\xff")))
    assert documented(await no_message_to(anext(aiter(watch(b"\xff"))))) == row
    assert documented(await no_message_to(anext(aiter(reflect(iter([b"\xff"])))))) == row
    assert await check_health(served.channel) == health_pb2.HealthCheckResponse.SERVING


async def no_message_to(call: Awaitable[object]) -> Refused:
    refused = await refusal(call)
    assert refused.message == "expected a message of this method's request type"
    return refused
