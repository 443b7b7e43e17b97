"""Recorded games as the service judges them."""

import asyncio
import itertools
import math
import threading
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import grpc
import numpy as np
import pytest

from tests.records.test_replay import kept
from tests.records.test_simulation import simulated
from tests.service import bank_tables
from tests.service.conftest import serving
from tests.service.tables import cards, full, partial
from tests.service.wire import Served, read, refusal
from zank.cards import RANKS
from zank.records import canonical_record, record_digest
from zank.v1 import (
    ENDING_OUT,
    MOVE_CLASS_GOOD,
    OBJECTIVE_MATCH,
    OBJECTIVE_POINTS,
    OBJECTIVE_UNSPECIFIED,
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    SKIP_REASON_KNOWLEDGE_MISSING,
    AnalysisSettings,
    AnalyzeGameRequest,
    AnalyzeGamesRequest,
    AnalyzeGamesResponse,
    BankOptions,
    Deal,
    Estimate,
    GameRecord,
    GameReport,
    GameResult,
    LuckEvent,
    MaliceOptions,
    MatchScore,
    Position,
    RecordEvent,
    RuleSet,
    StopCall,
)
from zank_kernel import equity
from zank_kernel.engine import Engine
from zank_service import analyst as analyst_module
from zank_service.bank.knowledge import unseen
from zank_service.families import BY_PRESET
from zank_service.limits import ANALYSES_AT_ONCE
from zank_service.plays import apply_move
from zank_service.positions import Checked
from zank_service.replay import Decision, decisions

SETTINGS: Final = AnalysisSettings(rollouts=64, luck_rollouts=16)
RULE_SETS: Final = {
    "malice-match": RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=3)),
    "malice-classic": RuleSet(preset="malice-classic", malice=MaliceOptions(payoff_cards=3)),
    "side-play": RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=2, side_play_ends_turn=True)),
    "bank-spiteful": RuleSet(preset="bank-spiteful", bank=BankOptions(max_turns=4)),
    "bank-russian": RuleSet(preset="bank-russian", bank=BankOptions(max_turns=4)),
    "bank-crapette": RuleSet(preset="bank-crapette", bank=BankOptions(max_turns=4)),
}
LENGTHS: Final = range(15, 40)  # events of a game that has something to show, in no time

type Games = dict[str, GameRecord]


@pytest.fixture(scope="module")
def games(engine: Engine) -> Games:
    """A short game of every preset."""
    return {
        name: canonical_record(
            next(
                record
                for record in simulated(engine, rule_set, 20, 5, "policy", "policy:0.5")
                if len(record.events) in LENGTHS
            )
        )
        for name, rule_set in RULE_SETS.items()
    }


@pytest.fixture(scope="module")
async def reports(served: Served, games: Games) -> dict[str, GameReport]:
    """What each is answered with by itself."""
    return {name: await analyzed(served, record) for name, record in games.items()}


async def analyzed(
    served: Served, record: GameRecord, settings: AnalysisSettings = SETTINGS, request_id: str = ""
) -> GameReport:
    """The report of a game."""
    request = AnalyzeGameRequest(record=record, settings=settings, request_id=request_id)
    responses = [response async for response in served.analyst.AnalyzeGame(request)]
    assert [response.WhichOneof("kind") for response in responses[:-1]] == ["progress"] * (len(responses) - 1)
    return responses[-1].report


async def answers(served: Served, requests: Iterable[AnalyzeGamesRequest]) -> list[AnalyzeGamesResponse]:
    """The answers to many, in the order of the requests."""
    found = [response async for response in served.analyst.AnalyzeGames(iter(requests))]
    assert sorted(response.index for response in found) == list(range(len(found)))
    return sorted(found, key=lambda response: response.index)


def copied(record: GameRecord, *events: RecordEvent) -> GameRecord:
    """A record with other events, if there are any."""
    copy = GameRecord()
    copy.CopyFrom(record)
    if events:
        del copy.events[:]
        copy.events.extend(events)
    return copy


def begun(record: GameRecord, moves: int, closing: RecordEvent) -> GameRecord:
    """The beginning of a game, and its end."""
    return copied(record, *record.events[:moves], closing)


def in_bytes(report: GameReport) -> bytes:
    return report.SerializeToString(deterministic=True)


# The same report ---------------------------------------------------------------------------------------------------


async def test_a_game_has_the_same_report_alone_and_among_many_in_any_order(
    served: Served, games: Games, reports: dict[str, GameReport]
) -> None:
    for names in (list(games), list(games)[::-1]):
        found = await answers(served, (AnalyzeGamesRequest(record=games[name], settings=SETTINGS) for name in names))
        assert [in_bytes(each.report) for each in found] == [in_bytes(reports[name]) for name in names]


async def test_a_game_has_the_same_report_with_another_number_of_workers_and_threads(
    programs_directory: Path, games: Games, reports: dict[str, GameReport]
) -> None:
    engine = Engine(workers=1, cache_directory=programs_directory)
    engine.warm_up()
    with patch.object(analyst_module, "ANALYSIS_THREADS", 2):
        async with serving(engine) as other:
            for name in ("malice-match", "bank-crapette"):
                assert in_bytes(await analyzed(other, games[name])) == in_bytes(reports[name])
    engine.close()


async def test_the_report_says_what_it_is_of_and_with_which_settings(served: Served, games: Games) -> None:
    record = begun(games["malice-match"], 3, RecordEvent(abandoned=0))
    report = await analyzed(served, record, SETTINGS, "an id")
    assert (report.request_id, report.record_digest) == ("an id", record_digest(record))
    assert report.engine_version
    assert len(report.rule_set_digest) == 32
    assert report.settings.HasField("seed")
    assert (report.settings.objective, report.settings.priority) == (OBJECTIVE_POINTS, PRIORITY_BULK)
    assert list(report.settings.players) == [1, 2]
    again = await analyzed(served, record, report.settings, "an id")
    assert in_bytes(again) == in_bytes(report)
    other = AnalysisSettings(rollouts=64, luck_rollouts=16, seed=report.settings.seed + 1 & 7)
    assert list((await analyzed(served, record, other)).moves) != list(report.moves)


# Every move, and what it adds up to -----------------------------------------------------------------------------------


async def test_every_move_is_judged_in_order(games: Games, reports: dict[str, GameReport], engine: Engine) -> None:
    for name, report in reports.items():
        moves = [(index, event.move) for index, event in enumerate(games[name].events) if event.HasField("move")]
        assert [(move.event, move.move) for move in report.moves] == moves
        found, _ = decisions(engine, games[name])
        assert [move.player for move in report.moves] == [each.position.player_to_move for each in found]
        assert not any(move.skipped for move in report.moves)


async def test_the_best_move_is_legal_where_it_is_said(
    games: Games, reports: dict[str, GameReport], engine: Engine
) -> None:
    for name, report in reports.items():
        found, _ = decisions(engine, games[name])
        for decision, move in zip(found, report.moves, strict=True):
            family = BY_PRESET[games[name].rule_set.preset]
            rules = family.rules(games[name].rule_set)
            legal = {each.move for each in family.legal_moves(engine, decision.position, rules)}
            if move.best_line:
                assert move.best_line[0] in legal


async def test_a_result_is_the_start_and_the_luck_less_the_losses_and_what_remains(
    games: Games, reports: dict[str, GameReport]
) -> None:
    for name, report in reports.items():
        over = games[name].events[-1].over
        for account in (report.balance.win, report.balance.points):
            total = account.start + account.luck - account.losses + account.remainder
            assert account.result == pytest.approx(total, abs=1e-9)
        assert report.balance.points.result == over.points * (1 if over.winner == 1 else -1)
        first, second = report.players
        assert report.balance.win.losses == pytest.approx(first.win_loss.mean - second.win_loss.mean)
        assert report.balance.points.luck == pytest.approx(first.points_luck.mean - second.points_luck.mean)
        assert first.result + second.result == 1
        assert report.balance.win.result == first.result
        assert first.luck_adjusted_result == pytest.approx(
            first.result - first.win_luck.mean + second.win_luck.mean, abs=1e-9
        )


async def test_what_is_said_of_a_player_is_the_sum_over_the_moves(reports: dict[str, GameReport]) -> None:
    for report in reports.values():
        for number, player in enumerate(report.players, start=1):
            own = [move for move in report.moves if move.player == number]
            unforced = [move for move in own if not move.forced]
            assert (player.moves, player.judged, player.unforced) == (len(own), len(own), len(unforced))
            assert list(player.classes) == [sum(move.move_class == each for move in own) for each in range(5)]
            for measure in ("win", "points"):
                loss = math.fsum(getattr(move, f"{measure}_loss").mean for move in own)
                assert getattr(player, f"{measure}_loss").mean == pytest.approx(loss, abs=1e-9)
                each = getattr(player, f"{measure}_loss_each")
                assert each * len(unforced) == pytest.approx(loss if unforced else 0, abs=1e-9)
                luck = math.fsum(getattr(event, measure).mean for event in report.luck if event.player == number)
                assert getattr(player, f"{measure}_luck").mean == pytest.approx(luck, abs=1e-9)


async def test_a_class_needs_a_loss_beyond_two_standard_errors(reports: dict[str, GameReport]) -> None:
    named = 0
    for report in reports.values():
        for move in report.moves:
            loss = move.points_loss if report.settings.objective == OBJECTIVE_POINTS else move.win_loss
            assert move.tied_with_best == (loss.mean <= 2 * loss.standard_error)
            assert move.move_class == MOVE_CLASS_GOOD or not move.tied_with_best
            assert not move.forced or (loss.mean, loss.standard_error) == (0, 0)
            named += move.move_class != MOVE_CLASS_GOOD
    assert named > 0


async def test_the_moves_of_one_player_can_be_judged_alone(
    served: Served, games: Games, reports: dict[str, GameReport]
) -> None:
    for name in ("malice-match", "bank-russian"):
        settings = AnalysisSettings(rollouts=64, luck_rollouts=16, players=[2, 2])
        report = await analyzed(served, games[name], settings)
        assert list(report.settings.players) == [2]
        assert list(report.moves) == [move for move in reports[name].moves if move.player == 2]
        assert list(report.luck) == [event for event in reports[name].luck if event.player == 2]
        assert not report.HasField("balance")
        assert (report.players[0].judged, report.players[0].moves) == (0, reports[name].players[0].moves)
        assert report.players[1].win_loss == reports[name].players[1].win_loss
        assert not report.players[1].HasField("luck_adjusted_result")


async def test_objectives_change_what_a_move_is_called_by(served: Served, games: Games) -> None:
    record = games["malice-classic"]
    reports = [
        await analyzed(served, record, AnalysisSettings(rollouts=1_024, luck_rollouts=16, objective=objective))
        for objective in (OBJECTIVE_UNSPECIFIED, OBJECTIVE_WIN, OBJECTIVE_POINTS)
    ]
    assert [report.settings.objective for report in reports] == [OBJECTIVE_WIN, OBJECTIVE_WIN, OBJECTIVE_POINTS]
    assert in_bytes(reports[0]) == in_bytes(reports[1])
    assert list(reports[1].moves) != list(reports[2].moves)


async def test_a_weak_player_gives_away_more_with_each_move(served: Served, engine: Engine) -> None:
    settings = AnalysisSettings(rollouts=128, luck_rollouts=16)
    records = simulated(
        engine, RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=3)), 4, 3, "policy", "policy:0.5"
    )
    found = await answers(served, (AnalyzeGamesRequest(record=record, settings=settings) for record in records))
    losses, moves = [0.0, 0.0], [0, 0]
    for each in found:
        for number, player in enumerate(each.report.players):
            losses[number] += player.points_loss.mean
            moves[number] += player.unforced
    strong, weak = (loss / count for loss, count in zip(losses, moves, strict=True))
    assert weak > strong + 0.03


# What the player knew ------------------------------------------------------------------------------------------------


def swapped(position: Position) -> Position:
    """The same but for hidden cards: a card that only the other player has seen, or nobody, and one of the stock."""
    other = Position()
    other.CopyFrom(position)
    mover = position.player_to_move
    if position.HasField("malice"):
        hand, stock = other.malice.players[2 - mover].hand.cards, other.malice.stock.concealed
        hand[0], stock[0] = stock[0], hand[0]
    else:
        reserve, stock = (getattr(other.bank.players[mover - 1], pile).concealed for pile in ("reserve", "stock"))
        reserve[0], stock[0] = stock[0], reserve[0]
    return other


@pytest.mark.parametrize("name", ["malice-match", "malice-classic", "bank-spiteful", "bank-russian", "bank-crapette"])
async def test_hidden_cards_change_nothing(served: Served, games: Games, engine: Engine, name: str) -> None:
    """Two records that agree in what was known up to the end of the first part of a turn."""
    settings = AnalysisSettings(rollouts=64, luck_rollouts=16, seed=4)
    found, _ = decisions(engine, games[name])
    start = found[0].position
    reports = []
    for position in (start, swapped(start)):
        record = copied(games[name], *games[name].events[:1], RecordEvent(abandoned=0))
        record.deal.position.CopyFrom(position)
        record.deal.position.ClearField("rule_set")
        reports.append(await analyzed(served, record, settings))
    assert reports[0].record_digest != reports[1].record_digest
    assert list(reports[0].moves) == list(reports[1].moves)


@pytest.mark.parametrize("seat", [1, 2])
async def test_a_record_that_one_player_kept_is_judged_for_that_player(
    served: Served, games: Games, engine: Engine, seat: int
) -> None:
    settings = AnalysisSettings(rollouts=64, luck_rollouts=16, seed=4)
    record = games["malice-match"]
    family = BY_PRESET["malice-match"]
    own = kept(engine, record, family.view(family.deal(record.rule_set, record.deal.seed), seat), seat)
    whole, report = await analyzed(served, record, settings), await analyzed(served, own, settings)
    assert len(report.moves) == len(whole.moves)
    for known, move in zip(whole.moves, report.moves, strict=True):
        if move.player == seat:
            known.move = move.move
            assert move == known
        else:
            assert move.skipped == SKIP_REASON_KNOWLEDGE_MISSING
            assert not move.HasField("win_loss")
    assert list(report.luck) == [event for event in whole.luck if event.player == seat]
    assert not report.HasField("balance")
    player, other = report.players[seat - 1], report.players[2 - seat]
    assert player.judged == player.moves > 0
    assert other.judged == 0
    assert other.classes[0] == other.moves > 0
    assert player.HasField("result")
    assert not player.HasField("luck_adjusted_result")


# How games end -------------------------------------------------------------------------------------------------------

CLOSINGS: Final = {
    "resigned": (RecordEvent(resigned=1), 0.0),
    "timed out": (RecordEvent(timed_out=2), 1.0),
    "abandoned": (RecordEvent(abandoned=1), None),
    "left by both": (RecordEvent(abandoned=0), None),
}


@pytest.mark.parametrize("closing", CLOSINGS)
@pytest.mark.parametrize("name", ["malice-match", "bank-russian"])
async def test_a_game_may_be_given_up_at_any_time(served: Served, games: Games, name: str, closing: str) -> None:
    event, result = CLOSINGS[closing]
    for moves in (0, 1, 2, 7):
        report = await analyzed(served, begun(games[name], moves, event))
        assert len(report.moves) == moves
        first, second = report.players
        if result is None:
            assert not report.HasField("balance")
            assert not first.HasField("result")
            assert not first.HasField("luck_adjusted_result")
            continue
        assert (first.result, second.result) == (result, 1 - result)
        assert report.HasField("balance") == (moves > 0)
        assert not report.balance.HasField("points")
        if moves:
            win = report.balance.win
            assert win.result == pytest.approx(win.start + win.luck - win.losses + win.remainder, abs=1e-9)


async def test_a_call_of_stop_changes_no_number(served: Served, games: Games, engine: Engine) -> None:
    record = games["bank-russian"]
    mover = decisions(engine, record)[0][0].position.player_to_move
    call = StopCall(player=3 - mover, move=record.events[0].move)
    stopped = copied(record, RecordEvent(stop=call), *record.events[:4], RecordEvent(abandoned=0))
    settings = AnalysisSettings(rollouts=64, luck_rollouts=16, seed=4)
    report = await analyzed(served, stopped, settings)
    assert [move.event for move in report.moves] == [1, 2, 3, 4]
    assert [move.move for move in report.moves] == [event.move for event in record.events[:4]]


# Luck --------------------------------------------------------------------------------------------------------------


def came_to_light(engine: Engine, decision: Decision[None], record: GameRecord) -> tuple[int, list[str]] | None:
    """Who turned up or drew what by a move, as the referee tells it; cards that were known do not count."""
    family = BY_PRESET[record.rule_set.preset]
    checked = Checked(position=decision.position, family=family, rules=family.rules(record.rule_set))
    response = apply_move(engine, checked, decision.move, [])
    if response.position.HasField("result"):
        return None
    found: tuple[int, list[str]] | None = None
    for event in response.events:
        if event.HasField("drawn") and event.drawn.cards:
            found = event.drawn.player, list(event.drawn.cards)
        elif event.HasField("turned_up"):
            turned, mover = event.turned_up, decision.position.player_to_move
            if decision.position.HasField("bank"):
                player = decision.position.bank.players[mover - 1]
                hidden = player.reserve.hidden if turned.place == "R" else player.stock.hidden
                if not hidden:
                    continue
            found = mover, [turned.card]
    return found


async def test_luck_is_of_every_card_that_came_to_light_and_of_who_turned_it_up_or_drew_it(
    games: Games, reports: dict[str, GameReport], engine: Engine
) -> None:
    kinds = 0
    for name, report in reports.items():
        found, _ = decisions(engine, games[name])
        expected = [
            (decision.event, *light) for decision in found if (light := came_to_light(engine, decision, games[name]))
        ]
        assert [(event.event, event.player, list(event.cards)) for event in report.luck] == expected
        kinds += any(len(event.cards) > 1 for event in report.luck)
    assert kinds >= 2


async def luck_of(served: Served, start: Position, move: str, slot: str, card: str, seed: int = 1) -> LuckEvent:
    """The luck of a card that a move brings to light."""
    record = GameRecord(
        rule_set=start.rule_set,
        deal=Deal(position=start),
        events=[RecordEvent(move=move, reveals=[f"{slot}={card}"]), RecordEvent(abandoned=0)],
    )
    report = await analyzed(served, record, AnalysisSettings(rollouts=64, luck_rollouts=512, seed=seed))
    (event,) = report.luck
    assert [each[:2] for each in event.cards] == [card]
    return event


def without_bias(luck: Sequence[Estimate], weights: Sequence[int]) -> None:
    """The mean over all the cards that it could have been is nothing: what they are compared with is the same."""
    whole = sum(weights)
    mean = math.fsum(each.mean * weight / whole for each, weight in zip(luck, weights, strict=True))
    error = math.fsum(each.standard_error * weight / whole for each, weight in zip(luck, weights, strict=True))
    assert abs(mean) <= 3 * error
    assert len({each.mean for each in luck}) > 1


async def by_rank(served: Served, start: Position, move: str, slot: str, mover: int) -> None:
    """The luck of a card that can be any that is not seen."""
    seen = [card[0] for card in cards(start.malice)]
    left = {rank: 8 - seen.count(rank) for rank in RANKS}
    named = {rank: next(rank + suit for suit in "cdhs" if cards(start.malice).count(rank + suit) < 2) for rank in RANKS}
    found = [await luck_of(served, start, move, slot, named[rank]) for rank in left]
    assert {event.player for event in found} == {mover}
    for measure in ("win", "points"):
        without_bias([getattr(event, measure) for event in found], list(left.values()))


async def test_the_luck_of_a_payoff_card_is_what_it_is_better_than_the_mean(served: Served) -> None:
    """The last one but one: an ace or what fits in wins at once."""
    start = partial("1-3c.4c5c6c7c8c....", "1-9s.5-....", c="Ac2d..", rules="malice-match~o.p2")
    await by_rank(served, start, "P-C1", "P", 1)


async def test_the_luck_of_a_drawn_card_is_what_it_is_better_than_the_mean(served: Served) -> None:
    """Of the player who draws, by what that player knew before."""
    start = partial("1-3c.4c5c6c7c8c....", "1-2s.3s4s6s7s....", c="..", rules="malice-match~o.p2")
    await by_rank(served, start, "4c-S1", "2:H0", 2)


async def test_the_luck_of_a_stock_card_is_what_it_is_better_than_the_mean(served: Served) -> None:
    """One of four goes to a foundation, and one to the tableau; the game is soon over, by the cards that are left."""
    start = bank_tables.partial("9h.4-.", "9s.3h.6c7d", h="Kc.Kd.Kh.Ks.Jc.3d.Qd.Js", rules="bank-crapette")
    start.rule_set.bank.max_turns = 2
    possible = sorted(unseen(start.bank).own[0])
    assert len(possible) == 4
    found = [await luck_of(served, start, "TURN", "D", card) for card in possible]
    assert {event.player for event in found} == {1}
    without_bias([event.points for event in found], [1] * len(possible))
    luck = {card: event.points.mean for card, event in zip(possible, found, strict=True)}
    assert possible == ["2c", "3c", "4c", "Ac"]
    assert luck["Ac"] > luck["2c"] > 0 > luck["3c"]
    assert luck["3c"] == luck["4c"]


async def test_cards_drawn_after_the_last_card_of_the_hand_completed_a_stack_are_all_named(served: Served) -> None:
    """M9 before M8."""
    start = full(partial("2-3c.Qh....", "1-9s.5-....", c="AcKdKc4d5d6d7d8dKhTdJd..", rules="malice-match~o.p5"))
    start.shuffle.seed, start.shuffle.count = 5, 1
    record = GameRecord(rule_set=start.rule_set, deal=Deal(position=start))
    record.events.extend([RecordEvent(move="Q-C1"), RecordEvent(abandoned=0)])
    report = await analyzed(served, record)
    (luck,) = report.luck
    assert (luck.event, luck.player, len(luck.cards)) == (0, 1, 5)
    assert report.moves[0].best_line


# What is refused -----------------------------------------------------------------------------------------------------

BAD_SETTINGS: Final = {
    "settings.rollouts": AnalysisSettings(rollouts=63),
    "settings.luck_rollouts": AnalysisSettings(luck_rollouts=65_537),
    "settings.objective": AnalysisSettings(objective=9),  # type: ignore[arg-type]
    "record.match_score": AnalysisSettings(objective=OBJECTIVE_MATCH),
    "settings.priority": AnalysisSettings(priority=9),  # type: ignore[arg-type]
    "settings.players[1]": AnalysisSettings(players=[1, 3]),
}


def first_of(served: Served, request: AnalyzeGameRequest) -> Any:
    return anext(aiter(served.analyst.AnalyzeGame(request)))


@pytest.mark.parametrize("field", BAD_SETTINGS)
async def test_a_setting_that_cannot_be_is_refused_by_its_name(served: Served, games: Games, field: str) -> None:
    record, settings = games["malice-match"], BAD_SETTINGS[field]
    refused = await refusal(first_of(served, AnalyzeGameRequest(record=record, settings=settings)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert refused.fields.keys() == {field}
    assert refused.fields[field].startswith("expected ")
    (answer,) = await answers(served, [AnalyzeGamesRequest(record=record, settings=settings)])
    fault = answer.fault
    assert (fault.reason, fault.field, fault.text) == ("INVALID_REQUEST", field, refused.fields[field])


async def test_a_game_of_a_match_is_judged_by_its_match(served: Served, games: Games) -> None:
    record = copied(games["malice-match"])
    record.match_score.CopyFrom(MatchScore(player1=40, player2=47))
    report = await analyzed(served, record)
    assert report.settings.objective == OBJECTIVE_MATCH
    for move in report.moves:
        assert move.match_before.mean - move.match_after.mean == pytest.approx(move.match_loss.mean, abs=1e-9)
        assert move.tied_with_best == (move.match_loss.mean <= 2 * move.match_loss.standard_error)
    assert all(luck.HasField("match") for luck in report.luck)
    match = report.balance.match
    assert match.result == pytest.approx(match.start + match.luck - match.losses + match.remainder)
    stakes = equity.stakes(BY_PRESET["malice-match"].rules(record.rule_set), (40, 47), 0)
    after = stakes.after(np.asarray(report.balance.points.result, np.int64))
    assert match.result == pytest.approx(float(after) / equity.SCALE)


async def test_without_its_score_or_a_measured_rule_set_a_game_is_judged_by_itself(
    served: Served, games: Games, reports: dict[str, GameReport]
) -> None:
    assert not any(move.HasField("match_loss") for move in reports["malice-match"].moves)
    record = begun(games["bank-russian"], 3, RecordEvent(abandoned=0))
    record.rule_set.bank.max_turns = 7
    record.rule_set.bank.match_target = 300
    record.match_score.CopyFrom(MatchScore(player1=10, player2=20))
    assert (await analyzed(served, record)).settings.objective == OBJECTIVE_POINTS
    settings = AnalysisSettings(objective=OBJECTIVE_MATCH)
    refused = await refusal(first_of(served, AnalyzeGameRequest(record=record, settings=settings)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "MATCH_SCORE_UNAVAILABLE")


async def test_a_request_id_has_a_length(served: Served, games: Games) -> None:
    request = AnalyzeGameRequest(record=games["malice-match"], request_id="x" * 129)
    assert (await refusal(first_of(served, request))).fields.keys() == {"request_id"}


def bad_records(games: Games) -> dict[str, tuple[GameRecord, str, str]]:
    """Records that cannot be, with the field at fault and the rule."""
    malice, bank = games["malice-match"], games["bank-russian"]
    illegal = begun(bank, 3, RecordEvent(abandoned=0))
    illegal.events[0].move = "D-F"
    unknown = copied(malice)
    unknown.rule_set.preset = "whist"
    no_deal = copied(malice)
    no_deal.ClearField("deal")
    wrong_result = copied(malice)
    wrong_result.events[-1].over.points += 1
    unfinished = copied(malice, *malice.events[:-1])
    not_over = begun(malice, 2, RecordEvent(over=GameResult(ending=ENDING_OUT, winner=1, points=2)))
    no_move = begun(malice, 2, RecordEvent(abandoned=0))
    no_move.events[1].move = "X-C1"
    last = len(malice.events) - 1
    return {
        "illegal": (illegal, "record.events[0].move", "B1"),
        "no such preset": (unknown, "record.rule_set", ""),
        "no deal": (no_deal, "record.deal", ""),
        "another result": (wrong_result, f"record.events[{last}].over.points", "M10"),
        "no end": (unfinished, f"record.events[{last}]", ""),
        "not over": (not_over, "record.events[2].over", ""),
        "no move": (no_move, "record.events[1].move", ""),
        "empty": (GameRecord(), "record.rule_set", ""),
    }


async def test_a_bad_record_is_refused_by_its_field_and_among_many_fails_alone(
    served: Served, games: Games, reports: dict[str, GameReport]
) -> None:
    good = "malice-match"
    bad = bad_records(games)
    for record, field, rule in bad.values():
        refused = await refusal(first_of(served, AnalyzeGameRequest(record=record, settings=SETTINGS)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_RECORD")
        assert refused.fields.keys() == {field}
        assert refused.metadata.get("rule", "") == rule
    records = [*(record for record, _, _ in bad.values()), games[good]]
    requests = [AnalyzeGamesRequest(record=record, settings=SETTINGS) for record in records]
    *faults, last = await answers(served, [*requests, AnalyzeGamesRequest()][:-1])
    assert in_bytes(last.report) == in_bytes(reports[good])
    for (_, field, rule), answer in zip(bad.values(), faults, strict=True):
        assert (answer.fault.reason, answer.fault.field, answer.fault.rule) == ("INVALID_RECORD", field, rule)
        assert answer.fault.text
    (none,) = await answers(served, [AnalyzeGamesRequest()])
    assert (none.fault.reason, none.fault.field) == ("INVALID_RECORD", "record")


async def test_no_games_have_no_answers(served: Served) -> None:
    assert await answers(served, []) == []


async def test_a_fault_of_the_engine_is_one_game_s_only_and_says_nothing_of_itself(
    served: Served, games: Games, engine: Engine, reports: dict[str, GameReport]
) -> None:
    bank = begun(games["bank-russian"], 3, RecordEvent(abandoned=0))
    judge = engine.judge

    def failing(question: Any, *rest: Any) -> Any:
        if question.family == "bank":
            raise RuntimeError("a secret")
        return judge(question, *rest)

    with patch.object(engine, "judge", failing):
        requests = [AnalyzeGamesRequest(record=record, settings=SETTINGS) for record in (bank, games["malice-match"])]
        failed, other = await answers(served, requests)
        refused = await refusal(to_the_end(served, AnalyzeGameRequest(record=bank, settings=SETTINGS)))
    assert failed.fault.reason == "INTERNAL"
    assert "secret" not in failed.fault.text
    assert in_bytes(other.report) == in_bytes(reports["malice-match"])
    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "secret" not in refused.message


async def to_the_end(served: Served, request: AnalyzeGameRequest) -> None:
    async for _ in served.analyst.AnalyzeGame(request):
        pass


# Time, and work that is given up --------------------------------------------------------------------------------------


async def test_a_game_that_takes_longer_than_it_may_is_a_fault_and_the_others_go_on(
    served: Served, games: Games, reports: dict[str, GameReport], engine: Engine
) -> None:
    long = AnalysisSettings(rollouts=1_000_000, luck_rollouts=16)
    requests = [
        AnalyzeGamesRequest(record=games["bank-russian"], settings=long, time_ms=200),
        AnalyzeGamesRequest(record=games["malice-match"], settings=SETTINGS),
    ]
    late, other = await answers(served, requests)
    assert (late.fault.reason, late.fault.field) == ("DEADLINE_EXCEEDED", "")
    assert late.fault.text == "not done within 200 ms"
    assert in_bytes(other.report) == in_bytes(reports["malice-match"])
    await at_rest(engine)


async def at_rest(engine: Engine) -> None:
    """No rollouts are played any more, soon."""
    async with asyncio.timeout(20):
        calls = -1
        while calls != engine.meter.calls:
            calls = engine.meter.calls
            await asyncio.sleep(0.5)


async def until(condition: Callable[[], bool]) -> None:
    """Waits for something to come true."""
    async with asyncio.timeout(20):
        for _ in itertools.count():
            if condition():
                return
            await asyncio.sleep(0.01)


async def last_of(call: AsyncIterable[Any]) -> Any:
    return [response async for response in call][-1]


@pytest.mark.parametrize("how", ["cancelled", "late", "many"])
async def test_who_gives_up_takes_the_work_away(served: Served, games: Games, engine: Engine, how: str) -> None:
    settings = AnalysisSettings(rollouts=1_000_000, luck_rollouts=65_536)
    if how == "late":
        request = AnalyzeGameRequest(record=games["bank-russian"], settings=settings)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            async for _ in served.analyst.AnalyzeGame(request, timeout=0.7):
                pass
        assert read(raised.value).code == grpc.StatusCode.DEADLINE_EXCEEDED
    else:
        call: Any = (
            served.analyst.AnalyzeGame(AnalyzeGameRequest(record=games["bank-russian"], settings=settings))
            if how == "cancelled"
            else served.analyst.AnalyzeGames(
                AnalyzeGamesRequest(record=record, settings=settings) for record in games.values()
            )
        )
        waiting = asyncio.ensure_future(call.code())
        before = engine.meter.calls
        await until(lambda: engine.meter.calls >= before + 2)
        call.cancel()
        assert await waiting == grpc.StatusCode.CANCELLED
    await at_rest(engine)
    assert (await analyzed(served, games["malice-match"])).moves


@contextmanager
def held(engine: Engine) -> Iterator[threading.Event]:
    """An engine that judges no moves before this is set."""
    judge, opened = engine.judge, threading.Event()

    def waiting(*arguments: Any) -> Any:
        assert opened.wait(30)
        return judge(*arguments)

    with patch.object(engine, "judge", waiting):
        try:
            yield opened
        finally:
            opened.set()


async def test_more_analyses_than_a_server_takes_are_refused_until_one_is_done(games: Games, engine: Engine) -> None:
    record = begun(games["malice-match"], 2, RecordEvent(abandoned=0))
    request = AnalyzeGameRequest(record=record, settings=SETTINGS)
    with held(engine) as opened:
        async with serving(engine) as crowded:
            taken = [crowded.analyst.AnalyzeGame(request) for _ in range(ANALYSES_AT_ONCE)]
            reading = [asyncio.ensure_future(last_of(call)) for call in taken]
            await asyncio.sleep(0.5)  # they arrive in their order, but on no other word
            refused = await refusal(first_of(crowded, request))
            assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
            assert refused.retry_seconds
            many = crowded.analyst.AnalyzeGames(iter([AnalyzeGamesRequest(record=record)]))
            assert (await refusal(anext(aiter(many)))).reason == "OVERLOADED"
            opened.set()
            reports = [response.report for response in await asyncio.gather(*reading)]
            assert len({in_bytes(report) for report in reports}) == 1
            assert in_bytes(await analyzed(crowded, record)) == in_bytes(reports[0])


async def test_progress_counts_the_turns(served: Served, games: Games) -> None:
    request = AnalyzeGameRequest(record=games["malice-match"], settings=SETTINGS)
    told = [response.progress async for response in served.analyst.AnalyzeGame(request)][:-1]
    assert told
    assert len({each.turns for each in told}) == 1
    done = [each.turns_done for each in told]
    assert done == sorted(set(done))
    assert done[-1] <= told[0].turns


async def test_a_long_stream_is_answered_to_its_end(games: Games, engine: Engine) -> None:
    record = begun(games["malice-match"], 2, RecordEvent(abandoned=0))
    requests = [AnalyzeGamesRequest(record=record, settings=SETTINGS)] * 30

    with held(engine) as opened:
        async with serving(engine) as served:
            call = served.analyst.AnalyzeGames(iter(requests))
            await asyncio.sleep(0.5)
            opened.set()
            answered = [response.index async for response in call]
    assert sorted(answered) == list(range(30))
