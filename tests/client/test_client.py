import importlib.util
import socket
import sys
import time
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import grpc
import pytest
from google.rpc import code_pb2

from tests.client.fake_server import DEALT, ILLEGAL, INVALID, OVERLOADED, FakeServer, refusal, running
from zank._connection import channel_options
from zank._requests import QuestionOptions
from zank.client import Client
from zank.embedded import EmbeddedServer
from zank.errors import (
    DeadlineExceeded,
    FieldViolation,
    IllegalMove,
    InvalidPosition,
    InvalidRequest,
    InvalidReveal,
    NotConnected,
    Overloaded,
    Refused,
    RevealsNeeded,
    ServerNotInstalled,
    ServerUnavailable,
    ZankError,
)
from zank.notation import parse_move
from zank.text import format_position, parse_position
from zank.v1 import (
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    AnalyzeRequest,
    ApplyMoveRequest,
    Budget,
    CheckMoveRequest,
    DealRequest,
    GetBestMoveRequest,
    GetHintRequest,
    ListLegalMovesRequest,
    MaliceOptions,
    MatchScore,
    Question,
    Reveal,
    RuleSet,
    Slot,
    ViewRequest,
)

POSITION = parse_position(DEALT)


@pytest.fixture
def client(fake: FakeServer) -> Iterator[Client]:
    with Client(fake.target) as client:
        yield client


def test_a_preset_or_a_rule_set_is_dealt(client: Client, fake: FakeServer) -> None:
    assert format_position(client.deal("malice-match", seed=0)) == DEALT
    rule_set = RuleSet(preset="malice-classic", malice=MaliceOptions(payoff_cards=5))
    client.deal(rule_set)
    assert fake.requests == [
        DealRequest(rule_set=RuleSet(preset="malice-match"), seed=0),
        DealRequest(rule_set=rule_set),
    ]


def test_positions_are_messages_or_text(client: Client, fake: FakeServer) -> None:
    assert [legal.move for legal in client.legal_moves(POSITION)] == ["A-C1", "A-C2", "Q-S1"]
    client.legal_moves(DEALT)
    assert fake.requests == [ListLegalMovesRequest(position=POSITION)] * 2
    with pytest.raises(InvalidPosition):
        client.legal_moves("malice-match~1")


def test_a_view_is_asked_for_by_player(client: Client, fake: FakeServer) -> None:
    assert not client.view(DEALT, 2).HasField("shuffle")
    assert fake.requests == [ViewRequest(position=POSITION, player=2)]


def test_a_check_answers_instead_of_refusing(client: Client, fake: FakeServer) -> None:
    assert client.check(DEALT, "Q-S1").legal
    answer = client.check(DEALT, parse_move("8-C1"))
    assert (answer.legal, answer.rule, answer.text) == (False, "M3", "C1 needs an ace")
    assert fake.requests[-1] == CheckMoveRequest(position=POSITION, move="8-C1")


def test_a_move_that_needs_reveals_is_not_taken_for_played(client: Client, fake: FakeServer) -> None:
    fake.needed = [Slot(player=1, place="P"), Slot(player=2, place="H", index=1)]
    with pytest.raises(RevealsNeeded, match=r"A-C1 is not played: .* reveal P, 2:H1") as caught:
        client.apply(DEALT, "A-C1")
    assert caught.value.needed == tuple(fake.needed)
    reveals = [Reveal(slot=fake.needed[0], card="7h"), Reveal(slot=fake.needed[1], card="2c")]
    client.apply(DEALT, "A-C1", reveals=["P=7h", reveals[1]])
    assert fake.requests[-1] == ApplyMoveRequest(position=POSITION, move="A-C1", reveals=reveals)
    with pytest.raises(InvalidReveal):
        client.apply(DEALT, "A-C1", reveals=["7h"])


def test_moves_are_values_or_notation(client: Client, fake: FakeServer) -> None:
    assert client.apply(DEALT, "Q-S1").position.player_to_move == 2
    client.apply(DEALT, parse_move("Q-S1"))
    assert fake.requests == [ApplyMoveRequest(position=POSITION, move="Q-S1")] * 2


OPTIONS: QuestionOptions = {
    "rollouts": 64,
    "time": 0.25,
    "rounds": 2,
    "seed": 0,
    "match_score": (38, 45),
    "objective": "win",
    "priority": "bulk",
    "only": ["A-C1", parse_move("Q-S1")],
    "avoid": ["8-S1"],
    "keep": ["Q-S1"],
    "request_id": "me",
}
QUESTION = Question(
    position=POSITION,
    match_score=MatchScore(player1=38, player2=45),
    budget=Budget(rollouts=64, time_ms=250, rounds=2),
    seed=0,
    objective=OBJECTIVE_WIN,
    priority=PRIORITY_BULK,
    only_moves=["A-C1", "Q-S1"],
    avoid_moves=["8-S1"],
    keep_moves=["Q-S1"],
    request_id="me",
)


def test_a_solver_is_asked_for_what_was_given_and_nothing_else(client: Client, fake: FakeServer) -> None:
    assert client.hint(DEALT).moves[0].move == "A-C1"
    assert client.best(DEALT, **OPTIONS).request_id == "me"
    *_, last = client.analyze(DEALT, **OPTIONS)
    assert last.final
    assert fake.requests == [
        GetHintRequest(question=Question(position=POSITION)),
        GetBestMoveRequest(question=QUESTION),
        AnalyzeRequest(question=QUESTION),
    ]


def test_a_time_is_never_rounded_to_no_limit(client: Client, fake: FakeServer) -> None:
    client.hint(DEALT, time=0.0001)
    (request,) = fake.requests
    assert request == GetHintRequest(question=Question(position=POSITION, budget=Budget(time_ms=1)))


def test_a_time_budget_comes_on_top_of_the_deadline(fake: FakeServer) -> None:
    fake.delay = 0.5
    with Client(fake.target, timeout=0.1) as client:
        client.hint(DEALT, time=2)
        with pytest.raises(DeadlineExceeded):
            client.hint(DEALT)


def test_an_analysis_arrives_in_parts_and_its_errors_are_typed(client: Client, fake: FakeServer) -> None:
    assert [(update.answer.rollouts, update.final) for update in client.analyze(DEALT)] == [
        (256, False),
        (512, False),
        (1024, True),
    ]
    fake.refusals.append(INVALID)
    with pytest.raises(InvalidRequest):
        next(client.analyze(DEALT))


def test_a_server_that_went_away_is_told_soon_and_found_again_when_it_is_back() -> None:
    with running() as fake:
        client = Client(fake.target)
        client.info()
    with client:
        for call in (client.info, lambda: next(client.analyze(DEALT))):
            started = time.monotonic()
            with pytest.raises(ServerUnavailable, match="the server went away: nothing listens there"):
                call()
            assert time.monotonic() - started < 6
        with running(port=int(fake.target.rpartition(":")[2])):
            assert client.info().engine_version == "1.2.3"


def test_an_analysis_that_is_left_ends_on_the_server(client: Client, fake: FakeServer) -> None:
    fake.delay = 1
    for _update in client.analyze(DEALT):
        break
    assert fake.analysis_ended.wait(0.9)


def test_an_illegal_move_names_the_rule(client: Client, fake: FakeServer) -> None:
    fake.refusals.append(ILLEGAL)
    with pytest.raises(IllegalMove) as caught:
        client.apply(DEALT, "8-C1")
    error = caught.value
    assert isinstance(error, Refused)
    assert (error.code, error.reason, error.metadata) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "ILLEGAL_MOVE",
        {"rule": "M3"},
    )
    assert str(error) == "a seven does not fit on C2 [ILLEGAL_MOVE]\n  rule: M3"


def test_an_invalid_request_names_the_fields(client: Client, fake: FakeServer) -> None:
    fake.refusals.append(INVALID)
    with pytest.raises(InvalidRequest) as caught:
        client.hint(DEALT)
    assert caught.value.violations == (
        FieldViolation(field="position.malice.stock.hidden", description="expected 54, found 53"),
    )
    assert str(caught.value) == (
        "the position is impossible [INVALID_ARGUMENT]\n  position.malice.stock.hidden: expected 54, found 53"
    )


def test_an_overloaded_server_says_when_to_try_again(client: Client, fake: FakeServer) -> None:
    fake.refusals.append(OVERLOADED)
    with pytest.raises(Overloaded) as caught:
        client.info()
    assert caught.value.retry_after == 1.5
    assert "try again in 1.5 s" in str(caught.value)


def test_an_overloaded_call_is_repeated_after_as_long_as_the_server_says(client: Client, fake: FakeServer) -> None:
    fake.refusals += [OVERLOADED] * 2
    fake.pushback = "150"
    begin = time.monotonic()
    assert client.info().engine_version == "1.2.3"
    assert 0.3 <= time.monotonic() - begin < 2
    assert len(fake.requests) == 3


def test_an_error_without_details_keeps_its_code(client: Client, fake: FakeServer) -> None:
    fake.refusals.append(refusal(code_pb2.INTERNAL, "the device failed"))
    with pytest.raises(ZankError) as caught:
        client.info()
    assert caught.value.code == grpc.StatusCode.INTERNAL
    assert str(caught.value) == "the device failed [INTERNAL]"


def test_a_call_is_repeated_while_the_server_is_briefly_away(client: Client, fake: FakeServer) -> None:
    fake.refusals += [refusal(code_pb2.UNAVAILABLE, "restarting")] * 2
    assert client.info().engine_version == "1.2.3"
    assert len(fake.requests) == 3


def test_a_late_answer_is_an_error(client: Client, fake: FakeServer) -> None:
    fake.delay = 0.5
    with pytest.raises(
        DeadlineExceeded, match=r"no answer within 0.05 s; to wait longer: timeout=SECONDS in a program"
    ):
        client.info(timeout=0.05)
    with pytest.raises(DeadlineExceeded, match=r"no answer within 0\.05 s"):
        next(client.analyze(DEALT, timeout=0.05))


def test_a_client_waits_until_the_server_is_serving() -> None:
    with running() as fake, Client(fake.target) as client:
        assert client.info().engine_version == "1.2.3"
    with (
        running(serving=False) as fake,
        pytest.raises(ServerUnavailable, match=f"no server serves at {fake.target}"),
    ):
        Client(fake.target, start_timeout=0.3)


def test_a_target_without_a_server_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        target = f"127.0.0.1:{unused.getsockname()[1]}"
        for start_timeout in (None, 0.3):
            with pytest.raises(ServerUnavailable, match=f"no server serves at {target}: nothing listens there"):
                Client(target, start_timeout=start_timeout)


def test_an_unknown_host_is_told_soon() -> None:
    with pytest.raises(ServerUnavailable, match=r"no server serves at nowhere\.invalid:1: its address is not known"):
        Client("nowhere.invalid:1")


def test_a_server_on_this_machine_is_asked_without_a_proxy(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    for host in ("127.0.0.1", "localhost"):
        with Client(fake.target.replace("127.0.0.1", host)) as client:
            assert client.info().engine_version == "1.2.3"
    assert ("grpc.enable_http_proxy", 0) in channel_options("[::1]:50051")
    for elsewhere in ("10.0.0.1:50051", "example.org:50051", "localhost.example.org:1", "dns:///example.org:1"):
        assert ("grpc.enable_http_proxy", 0) not in channel_options(elsewhere)


def test_a_closed_client_says_so(fake: FakeServer) -> None:
    client = Client(fake.target)
    updates = client.analyze(DEALT)
    next(updates)
    client.close()
    client.close()
    for call in (client.info, lambda: client.hint(DEALT), lambda: client.analyze(DEALT)):
        with pytest.raises(NotConnected, match="this client is closed"):
            call()
    with pytest.raises(ZankError):
        list(updates)


def test_without_the_server_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    with pytest.raises(ServerNotInstalled, match=r"pip install 'zank\[server\]'"):
        Client()


@pytest.fixture
def as_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A shell script that runs where the embedded server would."""
    monkeypatch.setattr("zank.embedded.require_server", lambda: None)
    script = tmp_path / "server"
    monkeypatch.setattr(sys, "executable", str(script))
    script.touch(mode=0o755)
    return script


def test_the_embedded_server_is_where_it_says_and_ends_when_its_input_does(as_server: Path) -> None:
    as_server.write_text('#!/bin/sh\necho \'{"port": 4711}\'\necho more\ncat\ntouch "$0.ended"\n')
    server = EmbeddedServer()
    assert server.wait(10) == "127.0.0.1:4711"
    server.close()
    server.close()
    assert as_server.with_name("server.ended").exists()


CRASH = """\
2030-01-02 03:04:05,678 ERROR the server failed to start
Traceback (most recent call last):
  File "server.py", line 3, in main
    raise ValueError("no such device")
ValueError: no such device
"""


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo no device >&2; exit 3", r"ended at once \(exit status 3\): no device \(`zank serve` shows more\)"),
        (f"printf %s '{CRASH}' >&2; exit 1", r"\(exit status 1\): ValueError: no such device \(`zank serve`"),
        ("echo '2030-01-02 03:04:05,678 ERROR port 1 is in use' >&2; exit 1", r"1\): port 1 is in use \(`zank serve`"),
        ("exit 1", r"\(exit status 1\) \[UNAVAILABLE\]"),
        ("echo listening; cat", r"announced b'listening\\n' where a port was expected"),
        ("""echo '{"host": 1}'; cat""", r"where a port was expected"),
        ("echo compiling >&2; cat", r"not ready within 0.5 s: compiling"),
    ],
)
def test_an_embedded_server_that_does_not_start_says_why(as_server: Path, script: str, says: str) -> None:
    as_server.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(ServerUnavailable, match=says):
        Client(start_timeout=0.5)
