"""Hints over the wire: everything an answer says, and that it says the same to the same question."""

import asyncio
import random
from collections.abc import Callable
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

import grpc
import jax
import pytest

from tests.service import bank_tables
from tests.service.tables import partial, piles
from tests.service.wire import Served, refusal
from zank._requests import MAX_ROUNDS
from zank.presets import PRESETS, complete_rule_set
from zank.text import format_position
from zank.v1 import (
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    PRIORITY_BULK,
    PRIORITY_NORMAL,
    AnalyzeRequest,
    AnalyzeResponse,
    Answer,
    ApplyMoveRequest,
    Budget,
    DealRequest,
    GetBestMoveRequest,
    GetHintRequest,
    GetInfoRequest,
    ListLegalMovesRequest,
    Objective,
    Pile,
    Position,
    Question,
    RuleSet,
)
from zank_kernel import search
from zank_kernel.defaults import HINT_ROLLOUTS
from zank_kernel.engine import Engine

ROLLOUTS = 512


@pytest.fixture(scope="module")
async def played(served: Served) -> Position:
    """A full position some way into a game, with recycled cards."""
    chooser = random.Random(5)
    position = (await served.referee.Deal(DealRequest(rule_set=RuleSet(preset="malice-match"), seed=11))).position
    while len(position.malice.recycled.cards) < 6 or len(position.malice.players[0].hand.cards) < 3:
        moves = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
        plays = [move.move for move in moves if "-C" in move.move]
        move = chooser.choice(plays or [move.move for move in moves])
        position = (await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))).position
        assert not position.HasField("result")
    return position


def asking(position: Position, rollouts: int = ROLLOUTS, **arguments: Any) -> Question:
    return Question(position=position, **{"budget": Budget(rollouts=rollouts), **arguments})


async def hint(served: Served, position: Position, rollouts: int = ROLLOUTS, **arguments: Any) -> Answer:
    question = asking(position, rollouts, **arguments)
    return (await served.solver.GetHint(GetHintRequest(question=question))).answer


async def analysis(served: Served, question: Question) -> list[AnalyzeResponse]:
    return [part async for part in served.solver.Analyze(AnalyzeRequest(question=question))]


def copied(position: Position) -> Position:
    copy = Position()
    copy.CopyFrom(position)
    return copy


def masked(position: Position) -> Position:
    """What the player to move knows, written down anew."""
    known = copied(position)
    known.ClearField("shuffle")
    other = known.malice.players[2 - known.player_to_move].hand
    other.CopyFrom(Pile(hidden=len(other.cards) + other.hidden))
    for pile in piles(known.malice):
        del pile.concealed[:]
    return known


def permuted(position: Position) -> Position:
    """The same to the player to move: the cards they cannot see are shuffled among all places they cannot see."""
    other = copied(position)
    hidden = [other.malice.players[2 - other.player_to_move].hand.cards]
    hidden += [pile.concealed for pile in piles(other.malice)]
    faces = [card for cards in hidden for card in cards]
    random.Random(3).shuffle(faces)
    for cards in hidden:
        count = len(cards)
        del cards[:]
        cards.extend(faces[:count])
        del faces[:count]
    return other


def other_hand_concealed(position: Position) -> Position:
    concealed = copied(position)
    hand = concealed.malice.players[2 - concealed.player_to_move].hand
    hand.CopyFrom(Pile(hidden=len(hand.cards), concealed=hand.cards))
    return concealed


def another_shuffle(position: Position) -> Position:
    changed = copied(position)
    changed.shuffle.seed += 1
    return changed


@pytest.mark.parametrize("change", [masked, permuted, other_hand_concealed, another_shuffle])
async def test_hidden_cards_change_no_byte(
    served: Served, played: Position, change: Callable[[Position], Position]
) -> None:
    assert change(played) != played
    expected = (await hint(served, played)).SerializeToString(deterministic=True)
    assert (await hint(served, change(played))).SerializeToString(deterministic=True) == expected


async def test_what_can_be_known_changes_the_digest(served: Served, played: Position) -> None:
    turns, recycled, hand = copied(played), copied(played), copied(played)
    turns.turns += 1
    recycled.malice.recycled.cards.pop()
    cards = hand.malice.players[hand.player_to_move - 1].hand.cards
    cards.append(cards.pop(0))
    digests = {(await hint(served, position)).position_digest for position in (played, turns, recycled, hand)}
    assert len(digests) == 4


async def test_the_same_question_has_the_same_bytes_alone_and_in_a_crowd(served: Served, played: Position) -> None:
    alone = await hint(served, played)
    crowd = await asyncio.gather(*(hint(served, played, seed=seed) for seed in (1, alone.seed, 2, alone.seed, 3)))
    assert crowd[1] == crowd[3] == alone
    assert len({answer.SerializeToString(deterministic=True) for answer in crowd}) == 4


async def test_an_answer_says_all_that_it_depends_on(served: Served, played: Position) -> None:
    answer = await hint(served, played, request_id="é" * 128)
    text = format_position(masked(played))
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    assert answer.request_id == "é" * 128
    assert answer.position_digest == digest
    assert answer.rule_set_digest == blake2b(b"malice-match", digest_size=16).hexdigest()
    assert answer.seed == int.from_bytes(bytes.fromhex(digest[:16]), "little")
    assert answer.engine_version == version("zank")
    assert answer.objective == OBJECTIVE_POINTS
    assert not answer.forced
    assert 0 < answer.rollouts <= ROLLOUTS
    assert 1 <= answer.rounds_done <= MAX_ROUNDS
    assert answer.schedule_rollouts == ROLLOUTS
    assert answer.outcomes >= len(answer.moves)
    # Two rollouts of three choose what the third is reported of; what several moves lead to is played once.
    assert max(move.value.rollouts for move in answer.moves) < answer.rollouts / 3
    assert min(move.value.rollouts for move in answer.moves) > 1
    assert (await hint(served, played, seed=0)).seed == 0


async def test_every_legal_move_is_considered_once(served: Served, played: Position) -> None:
    answer = await hint(served, played)
    legal = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=played))).moves
    considered = [name for move in answer.moves for name in (move.move, *move.equivalents)]
    assert sorted(considered) == sorted(move.move for move in legal)
    best, *others = answer.moves
    assert best.tied_with_best
    assert not best.HasField("gap")
    for move in others:
        assert move.HasField("gap")
        assert move.tied_with_best == (move.gap.mean <= 2 * move.gap.standard_error)
    for move in answer.moves:
        value = move.value
        assert value.win.mean + value.tie.mean + value.loss.mean == pytest.approx(1)
        assert min(value.win.standard_error, value.tie.standard_error, value.points.standard_error) > 0
        assert value.moves_to_end > 0


@pytest.mark.parametrize(
    ("rules", "objective"),
    [("malice-match", OBJECTIVE_POINTS), ("malice-classic", OBJECTIVE_WIN)],
)
async def test_points_matter_where_a_game_is_scored(served: Served, rules: str, objective: Objective.ValueType) -> None:
    position = partial(c="Ac..", rules=rules)
    assert (await hint(served, position)).objective == objective
    other = OBJECTIVE_WIN if objective == OBJECTIVE_POINTS else OBJECTIVE_POINTS
    assert (await hint(served, position, objective=other)).objective == other


async def test_options_are_part_of_the_rule_set(served: Served) -> None:
    answer = await hint(served, partial(rules="malice-match~o.x1"))
    assert answer.rule_set_digest == blake2b(b"malice-match~o.x1", digest_size=16).hexdigest()


async def test_a_forced_move_costs_nothing(served: Served) -> None:
    answer = await hint(served, partial("19-9h.7c....", rules="malice-classic"))
    (only,) = answer.moves
    assert answer.forced
    assert (only.move, list(only.equivalents)) == ("7-S1", ["7-S2", "7-S3", "7-S4"])
    assert (answer.rollouts, answer.rounds_done, answer.schedule_rollouts) == (0, 0, 0)
    assert answer.objective == OBJECTIVE_WIN
    assert not only.HasField("value")
    assert not only.HasField("gap")
    assert only.tied_with_best


async def test_a_move_that_wins_at_once_is_the_hint(served: Served) -> None:
    answer = await hint(served, partial("3h.2c3c4c5c6c....", c="Ac2d.Ah2h3h."))
    assert answer.moves[0].move == "P-C1"
    assert answer.moves[0].wins_at_once
    assert answer.moves[0].value.win.mean == 1
    assert not any(move.wins_at_once for move in answer.moves[1:])


async def test_a_budget_too_small_is_raised_to_a_few_rollouts_a_move(served: Served, played: Position) -> None:
    answer = await hint(served, played, 1)
    assert all(move.value.rollouts >= 1 for move in answer.moves)
    assert len(answer.moves) <= answer.rollouts <= 3 * answer.outcomes


async def test_times_travel_beside_the_answer(served: Served, played: Position) -> None:
    call = served.solver.GetHint(GetHintRequest(question=asking(played, 64)))
    await call
    trailers = dict(await call.trailing_metadata())
    queue, answer = str(trailers["server-timing"]).split(", ")
    assert queue.startswith("queue;dur=")
    assert float(answer.removeprefix("answer;dur=")) > 0


async def test_a_hint_that_is_given_up_stops_playing(served: Served, played: Position, engine: Engine) -> None:
    before = engine.meter.rollouts
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await served.solver.GetHint(GetHintRequest(question=asking(played, 1_000_000, seed=1)), timeout=0.3)
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    # The next answers wait for the calls under way, and for no more of them.
    for seed in range(3):
        await hint(served, played, 64, seed=seed)
    assert engine.meter.rollouts - before < 500_000


async def test_a_best_move_is_a_hint_with_a_larger_budget(served: Served, played: Position) -> None:
    question = asking(played, 2_000)
    best = (await served.solver.GetBestMove(GetBestMoveRequest(question=question))).answer
    assert best == await hint(served, played, 2_000)
    question.ClearField("budget")
    best = (await served.solver.GetBestMove(GetBestMoveRequest(question=question))).answer
    info = await served.about.GetInfo(GetInfoRequest())
    assert best.schedule_rollouts == info.limits.default_best_move_rollouts


async def test_the_line_of_a_move_can_be_played_up_to_the_next_unknown_card(served: Served, played: Position) -> None:
    answer = await hint(served, played)
    for move in answer.moves:
        assert move.line[0] == move.move
        position = masked(played)
        for number, name in enumerate(move.line, start=1):
            after = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=name))
            last = number == len(move.line)
            turn_ended = after.position.player_to_move != position.player_to_move
            assert last == bool(after.needed or turn_ended or after.position.HasField("result"))
            position = after.position


async def test_an_analysis_ends_with_what_a_hint_of_its_budget_says(served: Served, played: Position) -> None:
    rollouts = 150_000
    parts = await analysis(served, asking(played, rollouts, request_id="x"))
    assert [part.final for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].answer == await hint(served, played, rollouts, request_id="x")
    assert len(parts) > 2
    spent = [part.answer.rollouts for part in parts]
    assert spent == sorted(spent)
    assert {part.answer.schedule_rollouts for part in parts} == {rollouts}
    moves = {frozenset(move.move for move in part.answer.moves) for part in parts}
    assert len(moves) == 1


async def test_a_forced_move_is_analysed_at_once(served: Served) -> None:
    (part,) = await analysis(served, asking(partial("19-9h.7c...."), 1_000))
    assert part.final
    assert part.answer.forced


async def test_an_analysis_that_is_given_up_stops_playing(served: Served, played: Position, engine: Engine) -> None:
    before = engine.meter.rollouts
    call = served.solver.Analyze(AnalyzeRequest(question=asking(played, 1_000_000)))
    async for _ in call:
        call.cancel()
        break
    for seed in range(3):
        await hint(served, played, 64, seed=seed)
    assert engine.meter.rollouts - before < 500_000


async def test_moves_are_chosen_left_out_and_kept(served: Served, played: Position) -> None:
    everything = await hint(served, played)
    names = [name for move in everything.moves for name in (move.move, *move.equivalents)]
    worst = everything.moves[-1].move
    only = await hint(served, played, only_moves=names[:3])
    assert {name for move in only.moves for name in (move.move, *move.equivalents)} == set(names[:3])
    without = await hint(served, played, avoid_moves=[names[0]])
    assert names[0] not in {name for move in without.moves for name in (move.move, *move.equivalents)}
    kept = await hint(served, played, keep_moves=[worst])
    counts = {move.move: move.value.rollouts for move in kept.moves}
    assert counts[worst] == max(counts.values())
    forced = await hint(served, played, only_moves=[worst])
    assert forced.forced


@pytest.mark.parametrize(
    ("field", "moves", "expected"),
    [
        ("only_moves", ["P-C9"], "question.only_moves[0]"),
        ("only_moves", ["5-S1", "A-S1"], "question.only_moves[1]"),
        ("avoid_moves", ["2-C2"], "question.avoid_moves[0]"),
        ("keep_moves", [""], "question.keep_moves[0]"),
    ],
)
async def test_moves_that_are_not_legal_are_refused(
    served: Served, field: str, moves: list[str], expected: str
) -> None:
    question = asking(partial(c="Ac.."))
    getattr(question, field).extend(moves)
    refused = await refusal(served.solver.GetHint(GetHintRequest(question=question)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert list(refused.fields) == [expected]


async def test_some_move_must_be_left(served: Served) -> None:
    position = partial("19-9h.7c....")
    question = asking(position, avoid_moves=["7-S1", "7-S2", "7-S3", "7-S4"])
    refused = await refusal(served.solver.GetHint(GetHintRequest(question=question)))
    assert "question.avoid_moves" in refused.fields
    question = asking(position, only_moves=["7-S1"], keep_moves=["7-S2"])
    refused = await refusal(served.solver.GetHint(GetHintRequest(question=question)))
    assert "question.keep_moves[0]" in refused.fields


async def test_a_time_budget_is_a_schedule_that_can_be_asked_for_again(served: Served, played: Position) -> None:
    for milliseconds in (1, 30, 150):
        timed = await hint(served, played, budget=Budget(time_ms=milliseconds))
        assert 1 <= timed.rounds_done <= MAX_ROUNDS
        assert timed.schedule_rollouts > 0
        again = await hint(served, played, budget=Budget(rollouts=timed.schedule_rollouts, rounds=timed.rounds_done))
        assert again.SerializeToString(deterministic=True) == timed.SerializeToString(deterministic=True)


async def test_of_rollouts_and_time_the_smaller_budget_counts(served: Served, played: Position) -> None:
    answer = await hint(served, played, budget=Budget(rollouts=1_000_000, time_ms=20))
    assert answer.schedule_rollouts < 100_000
    again = await hint(served, played, budget=Budget(rollouts=answer.schedule_rollouts, rounds=answer.rounds_done))
    assert again == answer
    answer = await hint(served, played, budget=Budget(rollouts=300, time_ms=60_000))
    assert (answer.schedule_rollouts, answer.rounds_done) == (300, 3)


async def test_small_questions_do_not_spoil_the_planning_of_time(
    served: Served, played: Position, engine: Engine
) -> None:
    await hint(served, played, 20_000)
    before = engine.planned_rollouts("malice", 1.0)
    for seed in range(50):
        await hint(served, played, 10, seed=seed)
    assert engine.planned_rollouts("malice", 1.0) > before / 2


async def test_long_questions_leave_room_for_hints(served: Served, played: Position) -> None:
    long = [asyncio.ensure_future(analysis(served, asking(played, 1_000_000, seed=seed))) for seed in range(2 * 8)]
    await asyncio.sleep(0.05)
    await hint(served, played, 64)
    assert not any(task.done() for task in long)
    for task in long:
        task.cancel()
    await asyncio.gather(*long, return_exceptions=True)
    await hint(served, played, 64)


@pytest.mark.parametrize(
    ("budget", "field"),
    [
        (Budget(), "question.budget"),
        (Budget(rollouts=1_000_001), "question.budget.rollouts"),
        (Budget(time_ms=60_001), "question.budget.time_ms"),
        (Budget(rollouts=5, rounds=6), "question.budget.rounds"),
        (Budget(time_ms=5, rounds=1), "question.budget.rounds"),
    ],
)
async def test_a_budget_that_cannot_be_is_refused(served: Served, budget: Budget, field: str) -> None:
    refused = await refusal(served.solver.GetHint(GetHintRequest(question=asking(partial(), budget=budget))))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert list(refused.fields) == [field]


async def test_a_player_does_not_wait_for_bulk_work(served: Served, played: Position) -> None:
    bulk = [
        asyncio.ensure_future(hint(served, played, 200_000, seed=seed, priority=PRIORITY_BULK)) for seed in range(3)
    ]
    await asyncio.sleep(0.05)
    interactive = await hint(served, played, 256)
    assert not any(task.done() for task in bulk)
    for task in bulk:
        task.cancel()
    assert interactive == await hint(served, played, 256, priority=PRIORITY_NORMAL)


async def test_nothing_compiles_once_the_engine_is_warm(served: Served, played: Position) -> None:
    compiled: list[str] = []

    def listen(event: str, duration_secs: float, **details: str | int) -> None:
        if "compile" in event:
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    classic = partial(rules="malice-classic~o.p30.x1.os", c="Ac..")
    bank = bank_tables.partial(h="Kc.Qd.Kh.Ks.Jc.Jd.Jh.Js")
    for preset in ("malice-classic", "bank-russian"):
        await served.referee.Deal(DealRequest(rule_set=RuleSet(preset=preset)))
    for position in (played, classic, bank):
        await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))
        for rollouts in (1, 100, 5_000):
            await hint(served, position, rollouts)
        await analysis(served, asking(position, 5_000, keep_moves=[(await hint(served, position)).moves[-1].move]))
        await served.solver.GetBestMove(
            GetBestMoveRequest(question=asking(position, priority=PRIORITY_BULK, budget=Budget(time_ms=50)))
        )
    await served.referee.ApplyMove(ApplyMoveRequest(position=classic, move="2-C1"))
    await hint(served, partial("19-9h.7c...."))
    await served.referee.ApplyMove(ApplyMoveRequest(position=bank, move="T2-T1"))
    assert not compiled
    jax.jit(lambda x: x * 17 + 4)(3)
    jax.monitoring.unregister_event_duration_listener(listen)
    assert compiled  # the listener hears a compilation


async def test_get_info_describes_the_server(served: Served) -> None:
    info = await served.about.GetInfo(GetInfoRequest())
    assert info.engine_version == version("zank")
    assert [(preset.preset, preset.family) for preset in info.presets] == [
        ("malice-match", "malice"),
        ("malice-classic", "malice"),
        ("bank-spiteful", "bank"),
        ("bank-russian", "bank"),
        ("bank-crapette", "bank"),
    ]
    for preset in info.presets:
        assert preset.description
        assert preset.defaults.preset == preset.preset
        assert preset.defaults.WhichOneof("options") == preset.family
    assert info.devices[0].workers >= 1
    limits = info.limits
    assert (limits.max_message_bytes, limits.max_rollouts, limits.max_time_ms) == (65_536, 1_000_000, 60_000)
    assert limits.default_hint_rollouts == HINT_ROLLOUTS
    assert HINT_ROLLOUTS < limits.default_best_move_rollouts < limits.default_analysis_rollouts
    assert {program.name for program in info.programs} >= {
        f"{family}/{name}" for family in ("malice", "bank") for name in ("rulings", "play", "rollout")
    }


async def test_the_client_and_the_kernel_agree_on_every_default(served: Served) -> None:
    info = await served.about.GetInfo(GetInfoRequest())
    assert {preset.preset: preset.defaults for preset in info.presets} == {
        name: complete_rule_set(RuleSet(preset=name)) for name in PRESETS
    }


def test_the_client_takes_as_many_rounds_as_there_can_be() -> None:
    assert MAX_ROUNDS == search.ROUNDS
