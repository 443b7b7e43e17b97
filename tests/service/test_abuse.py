"""Whatever is sent, the answer is a clear status, and the server answers the next request as it always did."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Any, Final, cast

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.service import bank_tables
from tests.service.methods import METHODS, Call, fate, raw
from tests.service.mutations import TEXTS, damaged, is_map, mutate, strewn
from tests.service.tables import full, partial
from tests.service.wire import Refused, Served
from zank.v1 import (
    ENDING_OUT,
    AnalysisSettings,
    AnalyzeGameRequest,
    AnalyzeGamesRequest,
    AnalyzeRequest,
    ApplyMoveRequest,
    ApplyMoveResponse,
    BankPlayer,
    Budget,
    CheckMoveRequest,
    CheckMoveResponse,
    Deal,
    DealRequest,
    GameRecord,
    GameResult,
    GetBestMoveRequest,
    GetHintRequest,
    GetHintResponse,
    GetInfoRequest,
    ListLegalMovesRequest,
    ListLegalMovesResponse,
    MaliceOptions,
    MalicePlayer,
    Pile,
    Position,
    Question,
    RecordEvent,
    Reveal,
    RuleSet,
    Slot,
    ViewRequest,
    ViewResponse,
)

SETTINGS: Final = AnalysisSettings(rollouts=64, luck_rollouts=16, seed=3)
BUDGET: Final = Budget(rollouts=16)
SEEDS: Final = st.integers(0, 2**32)
EFFORT: Final = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

FINISHED = partial(".....")
FINISHED.result.CopyFrom(GameResult(ending=ENDING_OUT, winner=1, points=20))
POSITIONS = (
    partial(c="Ac2d.."),
    full(partial(c="Ac2d..")),
    partial("3-Qh.Qd2c3cKh5c.2d..Ks.", "9h.5-.3d...", c="AdKdKc4d5d6d7d8dKhTdJd..As", recycled="2h2sTc"),
    partial(b="19-9s.2h2h3d3d4d....", rules="malice-classic~o.p20.x1.os", mover=1),
    FINISHED,
)
BANK_POSITIONS: Final = (
    bank_tables.partial(h="KcQd.Qd.Kh.Ks.Jc.Jd.Jh.Js", f="8h"),
    bank_tables.full(bank_tables.partial(h="KcQd.Qd.Kh.Ks.Jc.Jd.Jh.Js", rules="bank-spiteful")),
    bank_tables.partial("9h2..5c", "9s.3h.6c7d", h="Kc.Qd.Kh.Ks.Jc.Jd..Js", drawn="3c1", rules="bank-crapette"),
)
BANK_POSITIONS[2].bank.tableau_moves.extend(["T2-T1", "T1-T2"])


def record(chooser: Random) -> GameRecord:
    """The beginning of a game in which the first move is one of a few; the deal allows some of them."""
    preset, moves = chooser.choice(
        [("malice-match", ["2-S1", "5-S2", "Q-S1", "A-C1"]), ("bank-crapette", ["TURN", "R-F", "R-T1", "T1-F"])]
    )
    events = [RecordEvent(move=chooser.choice(moves)), RecordEvent(resigned=1)]
    return GameRecord(
        rule_set=RuleSet(preset=preset), deal=Deal(seed=chooser.randrange(5)), events=events, players=["Ann", "Bob"]
    )


def sound(method: str, chooser: Random) -> Message:
    """A request to a method that is in order, or nearly."""
    position = chooser.choice([*POSITIONS, *BANK_POSITIONS, strewn(chooser)])
    moves = (
        ["P-C1", "2c-S1", "Q-C1", "K-S2", "S1-C2"] if position.HasField("malice") else ["R-F", "TURN", "T2-T1", "END"]
    )
    move = chooser.choice(moves)
    question = Question(
        request_id="x",
        position=position,
        budget=BUDGET,
        seed=5,
        only_moves=chooser.choice([[], [], [move]]),
        keep_moves=chooser.choice([[], [], [move]]),
    )
    place, other = ("P", "H") if position.HasField("malice") else ("R", "D")
    reveals = [Reveal(slot=Slot(player=1, place=place), card="5h"), Reveal(slot=Slot(player=2, place=other), card="6h")]
    requests: list[Message] = [
        DealRequest(rule_set=RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=7)), seed=3),
        ViewRequest(position=position, player=1),
        ListLegalMovesRequest(position=position),
        CheckMoveRequest(position=position, move=move),
        ApplyMoveRequest(position=position, move=move, reveals=chooser.choice([[], reveals[:1], reveals])),
        GetHintRequest(question=question),
        GetBestMoveRequest(question=question),
        AnalyzeRequest(question=question),
        AnalyzeGameRequest(record=record(chooser), settings=SETTINGS),
        AnalyzeGamesRequest(record=record(chooser), settings=SETTINGS),
        GetInfoRequest(),
    ]
    (request,) = [request for request in requests if request.DESCRIPTOR is METHODS[method].input_type]
    return request


SANE = [Call(method=method, data=sound(method, Random(1)).SerializeToString()) for method in METHODS]
SANE_HINT = Call(
    method="Solver/GetHint",
    data=GetHintRequest(question=Question(position=POSITIONS[0], budget=BUDGET)).SerializeToString(),
)


@pytest.fixture(autouse=True)
async def unharmed(served: Served) -> AsyncIterator[None]:
    """The server answers as it did before the test."""
    before = [await fate(served, call) for call in (*SANE, SANE_HINT)]
    yield
    assert [await fate(served, call) for call in (*SANE, SANE_HINT)] == before


def parsed(method: str, data: bytes) -> Message:
    """The request that these bytes are."""
    return GetMessageClass(METHODS[method].input_type).FromString(data)


def tag(number: int, wire_type: int) -> bytes:
    """What stands before a field on the wire."""
    return varint(number << 3 | wire_type)


def varint(value: int) -> bytes:
    """A number on the wire."""
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def delimited(number: int, data: bytes) -> bytes:
    """A field that holds bytes, or a message, on the wire."""
    return tag(number, 2) + varint(len(data)) + data


def bounded(request: Message) -> Message:
    """A request that asks for little work, whatever was done to it: a large budget is no fault."""
    if isinstance(request, AnalyzeGameRequest | AnalyzeGamesRequest):
        settings = request.settings
        settings.rollouts = 64 if settings.rollouts in range(64, 1_000_001) else settings.rollouts or 64
        settings.luck_rollouts = 16 if settings.luck_rollouts in range(16, 65_537) else settings.luck_rollouts or 16
        return request
    question: Question | None = getattr(request, "question", None)
    if question is not None and question.HasField("budget"):
        if question.budget.rollouts <= 1_000_000:
            question.budget.rollouts = min(question.budget.rollouts, 16)
        if question.budget.time_ms <= 60_000:
            question.budget.time_ms = min(question.budget.time_ms, 2)
    elif question is not None:
        question.budget.CopyFrom(BUDGET)
    return request


async def send_all(served: Served, calls: list[Call]) -> None:
    await asyncio.gather(*(fate(served, call) for call in calls))


@settings(EFFORT, max_examples=60)
@given(data=st.binary(max_size=300))
async def test_random_bytes_get_a_clear_status_from_every_method(served: Served, data: bytes) -> None:
    await send_all(served, [Call(method=method, data=data, seconds=5) for method in METHODS])


@settings(EFFORT, max_examples=60)
@given(seed=SEEDS)
async def test_damaged_bytes_get_a_clear_status_from_every_method(served: Served, seed: int) -> None:
    chooser = Random(seed)
    calls = []
    for method in METHODS:
        data = damaged(sound(method, chooser).SerializeToString(), chooser)
        with suppress(DecodeError):
            data = bounded(parsed(method, data)).SerializeToString()
        calls.append(Call(method=method, data=data, seconds=5))
    await send_all(served, calls)


@settings(EFFORT, max_examples=100)
@given(seed=SEEDS)
async def test_requests_with_something_wrong_get_a_clear_status(served: Served, seed: int) -> None:
    chooser = Random(seed)
    calls = []
    for method in METHODS:
        request = sound(method, chooser)
        for _ in range(chooser.randint(1, 3)):
            mutate(request, chooser)
        calls.append(Call(method=method, data=bounded(request).SerializeToString(), seconds=5))
    await send_all(served, calls)


@settings(EFFORT, max_examples=100)
@given(seed=SEEDS)
async def test_a_position_is_refused_clearly_or_played_on(served: Served, seed: int) -> None:
    chooser = Random(seed)
    position = strewn(chooser)
    for _ in range(chooser.choice([0, 0, 1])):
        mutate(position, chooser)
    await assert_playable_if_taken(served, position, chooser, 2)


async def assert_playable_if_taken(served: Served, position: Position, chooser: Random, plies: int) -> None:
    """Every method agrees about the moves of a position that is not refused, and so it goes on."""
    request = ListLegalMovesRequest(position=position)
    listed = await fate(served, Call(method="Referee/ListLegalMoves", data=request.SerializeToString()))
    question = Question(position=position, budget=BUDGET)
    hint = await fate(served, Call(method="Solver/GetHint", data=GetHintRequest(question=question).SerializeToString()))
    await send_all(
        served,
        [
            Call(method="Referee/View", data=ViewRequest(position=position, player=player).SerializeToString())
            for player in (1, 2)
        ],
    )
    if isinstance(listed, Refused) or position.HasField("result"):
        return
    moves = [move.move for move in ListLegalMovesResponse.FromString(listed).moves]
    assert isinstance(hint, bytes)  # a solver sees less, and so finds less to object to
    ranked = GetHintResponse.FromString(hint).answer.moves
    considered = {name for move in ranked for name in (move.move, *move.equivalents)}
    unsaid = {move for move in moves if position.HasField("bank") and re.fullmatch("T.-T.", move)}  # B11, B12
    assert {*moves} - unsaid <= considered <= {*moves}
    move = chooser.choice(moves)
    check = CheckMoveRequest(position=position, move=move)
    checked = await fate(served, Call(method="Referee/CheckMove", data=check.SerializeToString()))
    assert isinstance(checked, bytes)
    assert CheckMoveResponse.FromString(checked).legal
    apply = ApplyMoveRequest(position=position, move=move)
    applied = await fate(served, Call(method="Referee/ApplyMove", data=apply.SerializeToString()))
    if isinstance(applied, Refused):
        assert applied.reason == "SHUFFLE_UNKNOWN"
        return
    response = ApplyMoveResponse.FromString(applied)
    assert response.HasField("position") != bool(response.needed)
    if response.needed:
        return
    for player in (1, 2):
        view = ViewRequest(position=response.position, player=player)
        seen = await fate(served, Call(method="Referee/View", data=view.SerializeToString()))
        assert isinstance(seen, bytes), seen
        assert ViewResponse.FromString(seen).HasField("position")
    if plies > 1:
        await assert_playable_if_taken(served, response.position, chooser, plies - 1)


def places(message: Message, path: str = "") -> Iterator[tuple[str, Message, str]]:
    """Every place in a message that holds a text or several: its path, the message there and the field's name."""
    for field in message.DESCRIPTOR.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            yield f"{path}{field.name}", message, field.name
        elif field.message_type is not None and not is_map(field):
            value = getattr(message, field.name)
            for index, part in enumerate(value if field.is_repeated else [value]):
                yield from places(part, f"{path}{field.name}[{index}].")


def with_texts_everywhere(method: str, family: str) -> Message:
    """A request with at least one text in every field that can hold one."""
    request: Any = sound(method, Random(0))
    position, move = {
        "malice": (full(partial("19-9h.2c3c4c5c6c.2d...", c="Ac2d..", recycled="2h2s")), "2c-S1"),
        "bank": (bank_tables.full(BANK_POSITIONS[2]), "END"),
    }[family]
    if hasattr(request, "question"):
        request.question.position.CopyFrom(position)
        request.question.only_moves[:] = request.question.keep_moves[:] = [move]  # forced: no rollouts
        request.question.avoid_moves[:] = ["3c-S1"]
    elif hasattr(request, "position"):
        request.position.CopyFrom(position)
    return cast(Message, request)


@pytest.mark.parametrize("family", ["malice", "bank"])
@pytest.mark.parametrize("method", METHODS)
async def test_no_text_in_any_field_does_harm(served: Served, method: str, family: str) -> None:
    seen = set[str]()
    calls = []
    for path, _, _ in places(with_texts_everywhere(method, family)):
        kind = re.sub(r"\[\d+\]", "", path)
        if kind in seen:
            continue
        seen.add(kind)
        for text in TEXTS:
            request = with_texts_everywhere(method, family)
            ((message, name),) = [(message, name) for found, message, name in places(request) if found == path]
            if message.DESCRIPTOR.fields_by_name[name].is_repeated:
                getattr(message, name)[:1] = [text]
            else:
                setattr(message, name, text)
            calls.append(Call(method=method, data=request.SerializeToString(), seconds=10))
    await send_all(served, calls[:150])
    await send_all(served, calls[150:])


UNKNOWN: Final = {
    "number": tag(1_000, 0) + b"\x05",
    "eight bytes": tag(1_000, 1) + bytes(8),
    "text": tag(1_000, 2) + b"\x02hi",
    "group": tag(1_000, 3) + tag(1, 0) + b"\x01" + tag(1_000, 4),
    "four bytes": tag(1_000, 5) + bytes(4),
    "the same many times": (tag(1_000, 0) + b"\x05") * 2_000,
}


@pytest.mark.parametrize("name", UNKNOWN)
async def test_fields_of_a_later_contract_change_no_answer(served: Served, name: str) -> None:
    for method in METHODS:
        data = sound(method, Random(1)).SerializeToString()
        expected = await fate(served, Call(method=method, data=data))
        assert await fate(served, Call(method=method, data=data + UNKNOWN[name])) == expected
    position = POSITIONS[0].SerializeToString() + UNKNOWN[name]
    question = delimited(2, position) + delimited(4, BUDGET.SerializeToString())
    known = GetHintRequest(question=Question(position=POSITIONS[0], budget=BUDGET)).SerializeToString()
    answers = [await fate(served, Call(method="Solver/GetHint", data=data)) for data in (known, delimited(1, question))]
    assert isinstance(answers[0], bytes)
    assert answers[0] == answers[1]


TWICE: Final = {
    "a question": delimited(1, delimited(2, POSITIONS[0].SerializeToString())) * 2,
    "a position": delimited(1, delimited(2, POSITIONS[0].SerializeToString()) * 2),
    "a table": delimited(
        1, delimited(2, POSITIONS[0].SerializeToString() + delimited(10, POSITIONS[0].malice.SerializeToString()))
    ),
}


@pytest.mark.parametrize("name", TWICE)
async def test_what_is_said_twice_is_put_together_and_refused(served: Served, name: str) -> None:
    refused = await fate(served, Call(method="Solver/GetHint", data=TWICE[name]))
    assert isinstance(refused, Refused)
    assert refused.fields["question.position.malice.players"] == "expected 2 players, found 4"


async def test_of_two_options_said_twice_the_last_counts(served: Served) -> None:
    first, last = (MaliceOptions(payoff_cards=cards).SerializeToString() for cards in (3, 4))
    rule_set = delimited(1, b"malice-match") + delimited(2, first) + delimited(2, last)
    answers = [
        await fate(served, Call(method="Referee/Deal", data=data))
        for data in (
            delimited(1, rule_set) + tag(2, 1) + bytes(8),
            DealRequest(
                rule_set=RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=4)), seed=0
            ).SerializeToString(),
        )
    ]
    assert isinstance(answers[0], bytes)
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "data",
    [b"\x0b" * 30_000, b"\x0b" * 30_000 + b"\x0c" * 30_000, b"\x0b" * 101 + b"\x0c" * 101],
    ids=["without an end", "with an end", "just too deep"],
)
async def test_deep_nesting_is_no_message(served: Served, data: bytes) -> None:
    for method in METHODS:
        refused = await fate(served, Call(method=method, data=data))
        assert isinstance(refused, Refused)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert not refused.fields


async def test_a_message_over_the_limit_is_refused_and_one_at_the_limit_is_read(served: Served) -> None:
    limit = (await served.about.GetInfo(GetInfoRequest())).limits.max_message_bytes
    for method in METHODS:
        sound_data = sound(method, Random(1)).SerializeToString()
        filler = limit - len(sound_data) - len(tag(1_000, 2)) - 3  # a length of three bytes
        data = sound_data + delimited(1_000, bytes(filler))
        assert len(data) == limit
        assert await fate(served, Call(method=method, data=data)) == await fate(
            served, Call(method=method, data=sound_data)
        )
        for large in (data + b"\0", data * 20):
            refused = await fate(served, Call(method=method, data=large))
            assert isinstance(refused, Refused)
            assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "")


def with_many(fill: Callable[[Position], object], base: Position = POSITIONS[0]) -> Position:
    position = Position()
    position.CopyFrom(base)
    fill(position)
    return position


MANY: Final[dict[str, Message]] = {
    "moves to consider": GetHintRequest(
        question=Question(position=POSITIONS[0], budget=BUDGET, only_moves=["2c-S1"] * 9_000)
    ),
    "moves to keep": GetHintRequest(
        question=Question(position=POSITIONS[0], budget=BUDGET, keep_moves=["2-S1", "3-S2"] * 5_000)
    ),
    "moves that are none": GetHintRequest(
        question=Question(position=POSITIONS[0], budget=BUDGET, avoid_moves=[""] * 30_000)
    ),
    "reveals": ApplyMoveRequest(position=POSITIONS[0], move="2c-S1", reveals=[Reveal()] * 30_000),
    "reveals of one slot": ApplyMoveRequest(
        position=POSITIONS[2], move="P-C1", reveals=[Reveal(slot=Slot(player=1, place="P"), card="5h")] * 4_000
    ),
    "players": ListLegalMovesRequest(position=with_many(lambda p: p.malice.players.extend([MalicePlayer()] * 30_000))),
    "side stacks": ListLegalMovesRequest(
        position=with_many(lambda p: p.malice.players[0].sides.extend([Pile()] * 30_000))
    ),
    "side stacks that hide cards": ListLegalMovesRequest(
        position=with_many(lambda p: p.malice.players[0].sides.extend([Pile(hidden=1)] * 15_000))
    ),
    "cards": ListLegalMovesRequest(position=with_many(lambda p: p.malice.stock.cards.extend(["7h"] * 16_000))),
    "cards that are none": ListLegalMovesRequest(
        position=with_many(lambda p: p.malice.stock.concealed.extend([""] * 30_000))
    ),
    "players of Russian Bank": ListLegalMovesRequest(
        position=with_many(lambda p: p.bank.players.extend([BankPlayer()] * 30_000), BANK_POSITIONS[0])
    ),
    "foundations": ListLegalMovesRequest(
        position=with_many(lambda p: p.bank.foundations.extend([Pile()] * 30_000), BANK_POSITIONS[0])
    ),
    "cards of a foundation": ListLegalMovesRequest(
        position=with_many(lambda p: p.bank.foundations[0].cards.extend(["Ac1"] * 12_000), BANK_POSITIONS[0])
    ),
    "tableau moves": ListLegalMovesRequest(
        position=with_many(lambda p: p.bank.tableau_moves.extend(["T2-T1", "T1-T2"] * 500), BANK_POSITIONS[2])
    ),
    "far too many tableau moves": ListLegalMovesRequest(
        position=with_many(lambda p: p.bank.tableau_moves.extend(["T2-T1", "T1-T2"] * 4_000), BANK_POSITIONS[2])
    ),
    "moves to consider in Russian Bank": GetHintRequest(
        question=Question(position=BANK_POSITIONS[1], budget=BUDGET, only_moves=["TURN"] * 9_000)
    ),
    "recycled cards": ListLegalMovesRequest(
        position=with_many(lambda p: p.malice.recycled.cards.extend(["7h"] * 16_000))
    ),
}


@pytest.mark.parametrize("name", MANY)
async def test_a_great_many_of_something_takes_no_great_time(served: Served, name: str) -> None:
    request = MANY[name]
    (method,) = [
        method
        for method in ("Solver/GetHint", "Referee/ApplyMove", "Referee/ListLegalMoves")
        if METHODS[method].input_type is request.DESCRIPTOR
    ]
    begin = time.monotonic()
    await fate(served, Call(method=method, data=request.SerializeToString()))
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize(
    ("budget", "field"),
    [
        (Budget(rollouts=2**32 - 1), "budget.rollouts"),
        (Budget(time_ms=2**32 - 1), "budget.time_ms"),
        (Budget(rollouts=1, rounds=2**32 - 1), "budget.rounds"),
        (Budget(rollouts=2**32 - 1, time_ms=2**32 - 1, rounds=2**32 - 1), "budget.rollouts"),
        (Budget(), "budget"),
    ],
    ids=["rollouts", "time", "rounds", "all", "nothing"],
)
async def test_an_absurd_budget_is_refused(served: Served, budget: Budget, field: str) -> None:
    question = Question(position=POSITIONS[0], budget=budget)
    for method in ("Solver/GetHint", "Solver/GetBestMove", "Solver/Analyze"):
        request = GetMessageClass(METHODS[method].input_type)(question=question)
        refused = await fate(served, Call(method=method, data=request.SerializeToString()))
        assert isinstance(refused, Refused)
        assert f"question.{field}" in refused.fields


@pytest.mark.parametrize("budget", [Budget(rollouts=1_000_000), Budget(time_ms=60_000)], ids=["rollouts", "time"])
async def test_who_asks_for_the_most_and_gives_up_holds_nothing_up(served: Served, budget: Budget) -> None:
    question = Question(position=POSITIONS[0], budget=budget)
    for method in ("Solver/GetHint", "Solver/GetBestMove", "Solver/Analyze"):
        request = GetMessageClass(METHODS[method].input_type)(question=question)
        refused = await fate(served, Call(method=method, data=request.SerializeToString(), seconds=0.2))
        assert isinstance(refused, Refused)
        assert refused.code == grpc.StatusCode.DEADLINE_EXCEEDED
    begin = time.monotonic()
    await raw(served, SANE_HINT)
    assert time.monotonic() - begin < 2


async def test_an_empty_request_gets_a_clear_status(served: Served) -> None:
    for method in METHODS:
        outcome = await fate(served, Call(method=method, data=b""))
        assert isinstance(outcome, bytes) == (method in ("Server/GetInfo", "Analyst/AnalyzeGames"))


NO_GRPC: Final = {
    "HTTP/1": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "TLS": bytes.fromhex("16030100a5010000a10303") + bytes(160),
    "zeros": bytes(5_000),
    "noise": Random(0).randbytes(5_000),
    "HTTP/2 and noise": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Random(1).randbytes(5_000),
    "nothing": b"",
}


@pytest.mark.parametrize("name", NO_GRPC)
async def test_what_does_not_speak_grpc_is_no_harm(served: Served, name: str) -> None:
    host, _, port = served.target.rpartition(":")
    for _ in range(20):
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(NO_GRPC[name])
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()
