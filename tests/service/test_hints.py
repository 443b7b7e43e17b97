"""Hints over the wire: everything an answer says, and that it says the same to the same question."""

import asyncio
import random
from collections.abc import Callable
from hashlib import blake2b
from importlib.metadata import version

import grpc
import jax
import pytest

from tests.service.tables import partial, piles
from tests.service.wire import Served
from zank.presets import PRESETS
from zank.text import format_position
from zank.v1 import (
    OBJECTIVE_POINTS,
    OBJECTIVE_WIN,
    ApplyMoveRequest,
    Budget,
    DealRequest,
    GetHintRequest,
    GetHintResponse,
    GetInfoRequest,
    ListLegalMovesRequest,
    Objective,
    Pile,
    Position,
    RuleSet,
)
from zank_kernel.engine import HINT_ROLLOUTS, Engine

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


async def hint(served: Served, position: Position, **arguments: object) -> GetHintResponse:
    request = GetHintRequest(position=position, budget=Budget(rollouts=ROLLOUTS))
    for name, value in arguments.items():
        setattr(request, name, value)
    return await served.solver.GetHint(request)


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
    assert 1 <= answer.rounds <= 3
    assert sum(move.value.rollouts for move in answer.moves) == answer.rollouts
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
    assert (answer.rollouts, answer.rounds) == (0, 0)
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


async def test_a_budget_too_small_is_raised_to_one_rollout_a_move(served: Served, played: Position) -> None:
    request = GetHintRequest(position=played, budget=Budget(rollouts=1))
    answer = await served.solver.GetHint(request)
    assert answer.rollouts == len(answer.moves)


async def test_times_travel_beside_the_answer(served: Served, played: Position) -> None:
    call = served.solver.GetHint(GetHintRequest(position=played, budget=Budget(rollouts=64)))
    await call
    trailers = dict(await call.trailing_metadata())
    queue, answer = str(trailers["server-timing"]).split(", ")
    assert queue.startswith("queue;dur=")
    assert float(answer.removeprefix("answer;dur=")) > 0


async def test_a_hint_that_is_given_up_stops_playing(served: Served, played: Position, engine: Engine) -> None:
    before = engine.meter.rollouts
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await served.solver.GetHint(
            GetHintRequest(position=played, budget=Budget(rollouts=1_000_000), seed=1), timeout=0.3
        )
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    # The next answers wait for the calls under way, and for no more of them.
    for seed in range(3):
        await served.solver.GetHint(GetHintRequest(position=played, budget=Budget(rollouts=64), seed=seed))
    assert engine.meter.rollouts - before < 500_000


async def test_nothing_compiles_once_the_engine_is_warm(served: Served, played: Position) -> None:
    compiled: list[str] = []

    def listen(event: str, duration_secs: float, **details: str | int) -> None:
        if "compile" in event:
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    classic = partial(rules="malice-classic~o.p30.x1.os", c="Ac..")
    await served.referee.Deal(DealRequest(rule_set=RuleSet(preset="malice-classic")))
    for position in (played, classic):
        await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))
        for rollouts in (1, 100, 5_000):
            await served.solver.GetHint(GetHintRequest(position=position, budget=Budget(rollouts=rollouts)))
    await served.referee.ApplyMove(ApplyMoveRequest(position=classic, move="2-C1"))
    await served.solver.GetHint(GetHintRequest(position=partial("19-9h.7c....")))
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
    ]
    for preset in info.presets:
        assert preset.description
        assert preset.defaults.preset == preset.preset
        assert len(preset.defaults.malice.ListFields()) == len(preset.defaults.malice.DESCRIPTOR.fields)
    assert info.devices[0].workers >= 1
    assert (info.limits.max_message_bytes, info.limits.default_hint_rollouts) == (65_536, HINT_ROLLOUTS)
    assert {program.name for program in info.programs} >= {"malice/legal", "malice/play", "malice/rollout"}


async def test_the_client_and_the_kernel_agree_on_every_default(served: Served) -> None:
    info = await served.about.GetInfo(GetInfoRequest())
    assert {preset.preset: preset.defaults.malice for preset in info.presets} == {
        name: preset.defaults.options() for name, preset in PRESETS.items()
    }
