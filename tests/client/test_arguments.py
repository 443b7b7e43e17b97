"""What a caller passes that is not what is expected: refused by name, before anything is sent."""

import inspect
import math
from typing import Any

import pytest

from tests.client.fake_server import DEALT, FakeServer
from tests.client.test_client import POSITION
from zank._arguments import target
from zank._requests import QuestionOptions
from zank.aio import AsyncClient
from zank.client import Client
from zank.errors import InvalidInput, InvalidMove, InvalidPosition
from zank.v1 import DealResponse


class Seven:
    """As NumPy's integers are."""

    def __index__(self) -> int:
        return 7


FAULTS: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("deal", ["malice-match"], {"seed": 2**64}, f"seed: expected a whole number from 0 to {2**64 - 1}, found {2**64}"),
    ("deal", ["malice-match"], {"seed": -1}, "seed: expected"),
    ("deal", ["malice-match"], {"seed": "x"}, "found 'x'"),
    ("deal", ["malice-match"], {"seed": 1.0}, "seed: expected a whole number"),
    ("deal", [3], {}, "rules: expected the name of a preset or a zank.v1.RuleSet, found 3"),
    ("deal", ["malice-match"], {"timeout": 0}, "timeout: expected more than 0 seconds"),
    ("view", [DEALT, 3], {}, "player: expected a whole number from 1 to 2, found 3"),
    ("view", [DEALT, None], {}, "player: expected"),
    ("legal_moves", [None], {}, "position: expected a zank.v1.Position or its text form, found None"),
    ("legal_moves", [DealResponse(position=POSITION)], {}, "found a zank.v1.DealResponse"),
    ("check", [DEALT, 7], {}, "move: expected a zank.Move or its notation, found 7"),
    ("apply", [DEALT, "A-C1"], {"reveals": "P=7h"}, "reveals: expected a list of reveals, found 'P=7h'"),
    ("apply", [DEALT, "A-C1"], {"reveals": [7]}, "reveals: expected a zank.v1.Reveal or its text, found 7"),
    ("hint", [DEALT], {"rollouts": -3}, "rollouts: expected a whole number from 1 to 4294967295, found -3"),
    ("hint", [DEALT], {"rollouts": 0}, "rollouts: expected"),
    ("hint", [DEALT], {"rollouts": 2**32}, "rollouts: expected"),
    ("hint", [DEALT], {"rounds": 2}, "rounds: expected together with rollouts"),
    ("hint", [DEALT], {"rollouts": 64, "rounds": 6}, "rounds: expected a whole number from 1 to 5, found 6"),
    *(("hint", [DEALT], {"time": time}, "time: expected more than") for time in (0.0, -1, math.nan, math.inf, "1")),
    ("best", [DEALT], {"objective": "foo"}, "objective: expected points or win or match, found 'foo'"),
    *(
        (
            "hint",
            [DEALT],
            {"match_score": score},
            "match_score: expected the points of both players, for example (38, 45)",
        )
        for score in (38, (38,), (38, 45, 0), "38-45", "38")
    ),
    ("hint", [DEALT], {"match_score": (38, -1)}, "match_score: expected a whole number from 0"),
    ("hint", [DEALT], {"match_score": (38, "45")}, "match_score: expected a whole number from 0"),
    ("best", [DEALT], {"priority": ["bulk"]}, "priority: expected interactive or normal or bulk, found"),
    ("best", [DEALT], {"only": "A-C1"}, "only: expected a list of moves, found 'A-C1'"),
    ("best", [DEALT], {"avoid": 3}, "avoid: expected a list of moves, found 3"),
    ("best", [DEALT], {"request_id": "x" * 129}, "request_id: expected text of at most 128 characters"),
    ("best", [DEALT], {"request_id": "\ud800"}, "request_id: expected text"),
    ("analyze", [DEALT], {"seed": "x"}, "seed: expected"),
    ("analyze", [DEALT], {"timeout": "1"}, "timeout: expected more than 0 seconds"),
    ("info", [], {"timeout": math.nan}, "timeout: expected more than 0 seconds"),
]


@pytest.mark.parametrize(("method", "arguments", "options", "says"), FAULTS)
async def test_a_wrong_argument_is_named(
    fake: FakeServer, method: str, arguments: list[Any], options: dict[str, Any], says: str
) -> None:
    with Client(fake.target) as blocking, pytest.raises(InvalidInput) as caught:
        getattr(blocking, method)(*arguments, **options)
    assert says in str(caught.value)
    async with AsyncClient(fake.target) as client:
        call = getattr(client, method)
        with pytest.raises(InvalidInput) as caught:
            await call(*arguments, **options) if inspect.iscoroutinefunction(call) else call(*arguments, **options)
    assert says in str(caught.value)
    assert not fake.requests


@pytest.mark.parametrize("method", ["hint", "best", "analyze"])
async def test_an_option_that_is_none_is_a_type_error_of_the_method(fake: FakeServer, method: str) -> None:
    unknown: Any = {"roll": 3}
    said = rf"^{method}\(\) got an unexpected keyword argument 'roll'; see zank.QuestionOptions$"
    with Client(fake.target) as blocking, pytest.raises(TypeError, match=said):
        getattr(blocking, method)(DEALT, **unknown)
    async with AsyncClient(fake.target) as client:
        call = getattr(client, method)
        with pytest.raises(TypeError, match=said):
            await call(DEALT, **unknown) if inspect.iscoroutinefunction(call) else call(DEALT, **unknown)


def test_text_that_is_not_understood_is_refused_as_such(fake: FakeServer) -> None:
    with Client(fake.target) as client:
        with pytest.raises(InvalidPosition):
            client.hint("malice-match~1")
        all_options: list[QuestionOptions] = [{"only": ["11-C1"]}, {"avoid": ["11-C1"]}, {"keep": ["11-C1"]}]
        for options in all_options:
            with pytest.raises(InvalidMove, match="a ten is T"):
                client.hint(DEALT, **options)


def test_whatever_counts_as_a_whole_number_is_one(fake: FakeServer) -> None:
    with Client(fake.target) as client:
        seven: Any = Seven()
        client.hint(DEALT, rollouts=seven, seed=seven)
    (request,) = fake.requests
    assert "rollouts: 7" in str(request)
    assert "seed: 7" in str(request)


def test_moves_are_sent_in_public_notation(fake: FakeServer) -> None:
    with Client(fake.target) as client:
        client.apply(DEALT, "10D-s1")
        client.hint(DEALT, only=["q-s1", "a-C1"])
    assert 'move: "Td-S1"' in str(fake.requests[0])
    assert 'only_moves: "Q-S1"\n  only_moves: "A-C1"' in str(fake.requests[1])


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_client_is_made_of_a_target_and_seconds(kind: Any) -> None:
    for options in ({"timeout": 0}, {"timeout": None}, {"start_timeout": -1}):
        with pytest.raises(InvalidInput, match="timeout: expected more than 0 seconds"):
            kind("127.0.0.1:1", **options)
    with pytest.raises(InvalidInput, match=r"target: expected HOST:PORT, .* found 50051"):
        kind(50051)
    with pytest.raises(InvalidInput, match="expected HOST:PORT"):
        kind("localhost")


@pytest.mark.parametrize(
    "name",
    ["localhost:1", "a.example.org:65535", "[::1]:50051", "dns:///zank:50051", "ipv4:10.0.0.1:1,10.0.0.2:1", "unix:/a"],
)
def test_a_target_is_host_and_port_or_a_name_of_grpc(name: str) -> None:
    assert target(name) == name


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("", "found nothing"),
        ("  ", "found nothing"),
        ("localhost", "which has no port"),
        ("[::1]", "which has no port"),
        ("https://localhost:1", "which has a scheme"),
        ("localhost:", "found 'localhost:'"),
        ("localhost:http", "found 'localhost:http'"),
        ("localhost:0", "found 'localhost:0'"),
        ("localhost:65536", "found 'localhost:65536'"),
        ("::1:50051", "found '::1:50051'"),
        (":50051", "found ':50051'"),
        ("a b:1", "found 'a b:1'"),
    ],
)
def test_what_is_no_target_is_refused_with_what_is_missing(name: str, found: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        target(name)
    assert str(refusal.value).startswith("expected HOST:PORT, for example localhost:50051")
    assert found in str(refusal.value)
