"""Both clients ask for recorded games to be judged, of a server that does."""

import time
from collections.abc import Iterator

import pytest

from tests.records.test_analyze import target
from tests.records.test_simulation import simulated
from zank import Client
from zank.aio import AsyncClient
from zank.errors import DeadlineExceeded, InvalidInput, InvalidRequest
from zank.v1 import AnalysisSettings, AnalyzeGamesRequest, BankOptions, GameRecord, MaliceOptions, RuleSet
from zank_kernel.engine import Engine

__all__ = ["target"]


@pytest.fixture(scope="module")
def games(engine: Engine) -> list[GameRecord]:
    malice = RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=1))
    bank = RuleSet(preset="bank-russian", bank=BankOptions(max_turns=2))
    shortest = sorted(simulated(engine, malice, 20, 1), key=lambda game: len(game.events))[4:6]
    return [*shortest, *simulated(engine, bank, 1, 1)]


@pytest.fixture
def client(target: str) -> Iterator[Client]:
    with Client(target) as client:
        yield client


def test_a_game_is_judged(client: Client, games: list[GameRecord]) -> None:
    *progress, last = client.analyze_game(games[0], request_id="x", rollouts=64, luck_rollouts=16, seed=3)
    assert all(response.HasField("progress") for response in progress)
    assert last.report.request_id == "x"
    settings = last.report.settings
    assert (settings.rollouts, settings.luck_rollouts, settings.seed) == (64, 16, 3)
    assert len(last.report.moves) == len(games[0].events) - 1


def test_games_are_judged_each_as_by_itself(client: Client, games: list[GameRecord]) -> None:
    alone = [[*client.analyze_game(game, rollouts=64, luck_rollouts=16)][-1].report for game in games]
    found = {each.index: each.report for each in client.analyze_games(games, rollouts=64, luck_rollouts=16)}
    assert [found[index] for index in range(len(games))] == alone


def test_a_message_says_what_is_wanted_of_its_game_by_itself(client: Client, games: list[GameRecord]) -> None:
    own = AnalyzeGamesRequest(record=games[0], settings=AnalysisSettings(rollouts=99, luck_rollouts=17))
    found = {each.index: each for each in client.analyze_games([own, games[1], GameRecord()], rollouts=64, players=[2])}
    assert found[0].report.settings.rollouts == 99
    assert list(found[0].report.settings.players) == [1, 2]
    assert found[1].report.settings.rollouts == 64
    assert list(found[1].report.settings.players) == [2]
    assert found[2].fault.reason == "INVALID_RECORD"


def test_what_cannot_be_asked_is_refused_before_it_is_sent(client: Client, games: list[GameRecord]) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        client.analyze_game(games[0], speed=3)  # type: ignore[call-arg]
    for options in ({"rollouts": 0}, {"players": [3]}, {"objective": "luck"}, {"seed": -1}, {"timeout": 0}):
        with pytest.raises(InvalidInput):
            client.analyze_game(games[0], **options)


def test_a_bad_record_is_an_invalid_request(client: Client) -> None:
    with pytest.raises(InvalidRequest, match="rule_set"):
        list(client.analyze_game(GameRecord()))


def test_time_that_is_over_is_an_error(client: Client, games: list[GameRecord]) -> None:
    with pytest.raises(DeadlineExceeded):
        list(client.analyze_game(games[0], rollouts=1_000_000, timeout=0.3))


@pytest.mark.slow
def test_games_are_taken_as_they_are_needed(client: Client, games: list[GameRecord]) -> None:
    taken = 0

    def endless() -> Iterator[GameRecord]:
        nonlocal taken
        while True:
            taken += 1
            yield games[0]

    answers = client.analyze_games(endless(), rollouts=64, luck_rollouts=16)
    for _ in range(3):
        next(answers)
    before = -1
    while before != taken:  # what the connection takes without anybody who reads it
        before = taken
        time.sleep(0.3)
    answers.close()  # type: ignore[attr-defined]


async def test_the_asynchronous_client_says_the_same(client: Client, target: str, games: list[GameRecord]) -> None:
    expected = [[*client.analyze_game(game, rollouts=64, luck_rollouts=16)][-1].report for game in games]
    async with AsyncClient(target) as other:
        alone = [response async for response in other.analyze_game(games[0], rollouts=64, luck_rollouts=16)]
        many = [response async for response in other.analyze_games(games, rollouts=64, luck_rollouts=16)]
        with pytest.raises(InvalidRequest, match="rule_set"):
            async for _ in other.analyze_game(GameRecord()):
                pass
    assert alone[-1].report == expected[0]
    assert [response.report for response in sorted(many, key=lambda each: each.index)] == expected


@pytest.mark.parametrize("junk", ["junk", None])
def test_what_is_no_record_is_named(client: Client, games: list[GameRecord], junk: object) -> None:
    answers = client.analyze_games([games[0], junk, games[1]], rollouts=64, luck_rollouts=16)  # type: ignore[list-item]
    assert next(answers).HasField("report")
    with pytest.raises(InvalidInput, match="record"):
        next(answers)
