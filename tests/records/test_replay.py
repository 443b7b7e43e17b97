"""Records replayed by the referee, beside the oracles."""

import os
import random
from collections.abc import Iterator, Sequence

import pytest

from tests.records.games import PRESETS, begin, moves_of, random_record, record_of
from zank.errors import RecordFault
from zank.records import canonical_record, format_record, parse_record
from zank.v1 import (
    ENDING_OUT,
    Deal,
    GameRecord,
    GameResult,
    MaliceOptions,
    Position,
    RecordEvent,
    RuleSet,
    StopCall,
)
from zank_kernel.engine import Engine
from zank_service.families import BY_PRESET
from zank_service.plays import apply_move
from zank_service.positions import Checked
from zank_service.replay import Replayed, decisions, replay

GAMES = max(4, int(os.environ.get("ZANK_TEST_GAMES", "60")) // 15)  # of each preset, some thousand in the full run
MUTANTS = 2  # of every kind, of each game


@pytest.fixture(scope="module")
def played() -> list[GameRecord]:
    return [random_record(preset, number) for preset in PRESETS for number in range(GAMES)]


def replayed(engine: Engine, records: Sequence[GameRecord]) -> list[Replayed[int]]:
    """What came of each record, in their order."""
    return sorted(replay(engine, enumerate(records)), key=lambda each: each.key)


def fault(engine: Engine, record: GameRecord) -> RecordFault | None:
    ((_, found),) = [decisions(engine, canonical_record(record))]
    return found.fault


def sound(engine: Engine, record: GameRecord) -> None:
    assert fault(engine, record) is None


def test_random_games_of_the_oracles_end_as_they_did(engine: Engine, played: list[GameRecord]) -> None:
    for record, found in zip(played, replayed(engine, played), strict=True):
        assert found.fault is None
        assert found.events == len(record.events)
        assert found.position.result == record.events[-1].over
        assert parse_record(format_record(record)) == record


def judged(record: GameRecord) -> tuple[int, str] | None:
    """Where the oracle finds a record wrong, and by which rule; None where it is right."""
    game = begin(record.rule_set.preset, record.deal.seed)
    for index, event in enumerate(record.events):
        if not event.HasField("move"):
            return None if game.result == event.over else (index, "")
        if (rule := game.broken(event.move)) is not None:
            return index, rule
        game.play(event.move)
    return len(record.events), ""


def mutants(record: GameRecord, chance: random.Random) -> list[GameRecord]:
    """A move dropped, two swapped, one made another one."""
    moves = moves_of(record)
    changed: list[list[str]] = []
    for _ in range(MUTANTS):
        at = chance.randrange(len(moves))
        changed.append([*moves[:at], *moves[at + 1 :]])
        changed.append([*moves[:at], *moves[at : at + 2][::-1], *moves[at + 2 :]])
        changed.append([*moves[:at], moves[at].translate(str.maketrans("123", "231")), *moves[at + 1 :]])
        changed.append([*moves[:at], chance.choice(moves), *moves[at + 1 :]])
    preset, seed, over = record.rule_set.preset, record.deal.seed, record.events[-1].over
    return [record_of(preset, seed, each, over) for each in changed]


def test_changed_records_are_refused_where_the_oracle_refuses_them(engine: Engine, played: list[GameRecord]) -> None:
    chance = random.Random(1)
    changed = [mutant for record in played[:: max(1, GAMES // 40)] for mutant in mutants(record, chance)]
    refused = 0
    for record, found in zip(changed, replayed(engine, changed), strict=True):
        expected = judged(record)
        if expected is None:
            assert found.fault is None
            continue
        refused += 1
        index, rule = expected
        assert found.fault is not None
        assert found.fault.event == index == found.events
        assert found.fault.rule == rule or not rule or rule in ("M10", "M11", "B8", "B10")
    assert refused > len(changed) / 2


def test_a_decision_is_the_whole_position(engine: Engine) -> None:
    record = random_record("malice-match", 1)
    found, _ = decisions(engine, record)
    assert [decision.move for decision in found] == moves_of(record)
    first = found[0]
    assert first.position == BY_PRESET["malice-match"].deal(RuleSet(preset="malice-match"), record.deal.seed)
    assert [decision.event for decision in found] == list(range(len(found)))


def kept(engine: Engine, record: GameRecord, start: Position, seat: int | None) -> GameRecord:
    """The record as somebody keeps it who begins with another position: both hands, or those of one seat."""
    family = BY_PRESET[record.rule_set.preset]
    rules = family.rules(record.rule_set)
    found, _ = decisions(engine, record)
    position, events = Position(), list[RecordEvent]()
    position.CopyFrom(start)
    recycled = False
    for decision in found:
        mover = decision.position.player_to_move
        happened = apply_move(
            engine, Checked(position=decision.position, family=family, rules=rules), decision.move, []
        ).events
        move, reveals = decision.move, list[str]()
        for event in happened:
            if event.HasField("moved") and seat not in (None, mover) and event.moved.origin == "H":
                move = f"{event.moved.card}-{event.moved.destination}"
            recycled = recycled or event.HasField("center_recycled")
            if event.HasField("turned_up") and seat is not None:
                reveals.append(f"{event.turned_up.place}={event.turned_up.card}")
            if event.HasField("drawn") and (event.drawn.player == seat or (seat is None and recycled)):
                owner = "" if event.drawn.player == mover else f"{event.drawn.player}:"
                reveals += [f"{owner}H{index}={card}" for index, card in enumerate(event.drawn.cards)]
        events.append(RecordEvent(move=move, reveals=reveals))
    events.append(record.events[-1])
    return canonical_record(GameRecord(rule_set=record.rule_set, deal=Deal(position=position), events=events))


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("preset", ["malice-match", "malice-classic"])
def test_a_shuffle_of_people_is_revealed_card_by_card(engine: Engine, preset: str, number: int) -> None:
    record = random_record(preset, number)
    start = BY_PRESET[preset].deal(record.rule_set, record.deal.seed)
    start.ClearField("shuffle")
    own = kept(engine, record, start, None)
    assert any(event.reveals for event in own.events)
    sound(engine, own)
    index, event = next((index, event) for index, event in enumerate(own.events) if event.reveals)
    missing = GameRecord()
    missing.CopyFrom(own)
    del missing.events[index].reveals[0]
    found = fault(engine, missing)
    assert found is not None
    assert (found.field, found.event) == (f"events[{index}].reveals", index)
    assert event.reveals[0].partition("=")[0] in found.text
    wrong = GameRecord()
    wrong.CopyFrom(own)
    wrong.events[index].reveals.append("P=7h")
    found = fault(engine, wrong)
    assert found is not None
    assert found.field.startswith(f"events[{index}].reveals[")


@pytest.mark.parametrize("seat", [1, 2])
@pytest.mark.parametrize("preset", ["malice-match", "malice-classic"])
def test_a_record_kept_by_one_player_is_sound(engine: Engine, preset: str, seat: int) -> None:
    record = random_record(preset, seat)
    family = BY_PRESET[preset]
    start = family.view(family.deal(record.rule_set, record.deal.seed), seat)
    own = kept(engine, record, start, seat)
    assert any("h-" in event.move or "c-" in event.move for event in own.events)
    sound(engine, own)


def test_a_record_of_what_lies_open_in_russian_bank_is_sound(engine: Engine) -> None:
    record = short_bank()
    family = BY_PRESET["bank-russian"]
    found, _ = decisions(engine, record)
    start = family.view(found[0].position, 1)
    rules = family.rules(record.rule_set)
    events = []
    for decision in found:
        checked = Checked(position=decision.position, family=family, rules=rules)
        happened = apply_move(engine, checked, decision.move, []).events
        up = [event.turned_up for event in happened if event.HasField("turned_up")]
        hidden = [each for each in up if each.place == "R" or decision.position.turns < 30]
        events.append(RecordEvent(move=decision.move, reveals=[f"{each.place}={each.card}" for each in hidden]))
    events.append(RecordEvent(abandoned=0))
    sound(engine, GameRecord(rule_set=record.rule_set, deal=Deal(position=start), events=events))


def short_bank(moves: int = 60) -> GameRecord:
    """The beginning of a game of Russian Bank."""
    record = GameRecord()
    record.CopyFrom(random_record("bank-russian", 0))
    del record.events[moves:]
    record.events.add(abandoned=0)
    return record


@pytest.mark.parametrize("closing", [RecordEvent(resigned=1), RecordEvent(timed_out=2), RecordEvent(abandoned=0)])
def test_a_game_may_be_given_up(engine: Engine, closing: RecordEvent) -> None:
    record = short_bank()
    record.events[-1].CopyFrom(closing)
    sound(engine, record)


def stopped(stop: StopCall) -> GameRecord:
    """A call of stop on the first move, which R2 or the like compels to be another one."""
    record = short_bank(10)
    event = RecordEvent(stop=stop)
    del record.events[0:]
    record.events.extend([event, *short_bank(10).events])
    return record


def test_a_call_of_stop_names_the_rule(engine: Engine) -> None:
    record = short_bank(10)
    game = begin("bank-russian", record.deal.seed)
    mover = decisions(engine, record)[0][0].position.player_to_move
    other = 3 - mover
    rule = game.broken("END")
    first = record.events[0].move
    assert rule is not None
    sound(engine, stopped(StopCall(player=other, move="END", rule=rule)))
    sound(engine, stopped(StopCall(player=other, move=first)))
    for call, field in (
        (StopCall(player=other, move="END", rule="B1"), "rule"),
        (StopCall(player=other, move="END"), "rule"),
        (StopCall(player=other, move=first, rule="R2"), "rule"),
        (StopCall(player=mover, move="END", rule=rule), "player"),
    ):
        found = fault(engine, stopped(call))
        assert found is not None
        assert found.field == f"events[0].stop.{field}"


def test_the_result_must_be_that_of_the_rules(engine: Engine) -> None:
    record = random_record("malice-classic", 0)
    last = len(record.events) - 1
    for name, value in (("winner", (record.events[-1].over.winner + 1) % 3), ("points", 77)):
        other = GameRecord()
        other.CopyFrom(record)
        setattr(other.events[-1].over, name, value)
        found = fault(engine, other)
        assert found is not None
        assert found.field == f"events[{last}].over.{name}"
        assert found.rule in ("M10", "M11")
    other.events[-1].CopyFrom(RecordEvent(resigned=1))
    found = fault(engine, other)
    assert found is not None
    assert found.text.startswith("expected over, for the game has ended")


def test_a_game_that_goes_on_is_not_over(engine: Engine) -> None:
    record = short_bank()
    record.events[-1].over.CopyFrom(GameResult(ending=ENDING_OUT, winner=1, points=30))
    found = fault(engine, record)
    assert found is not None
    assert found.field == "events[60].over"
    assert "is to move" in found.text


def test_a_deal_of_other_cards_is_refused(engine: Engine) -> None:
    record = random_record("malice-match", 0)
    start = BY_PRESET["malice-match"].deal(record.rule_set, record.deal.seed)
    start.malice.players[0].hand.cards[0] = start.malice.players[0].hand.cards[1]
    copies = [*start.malice.stock.concealed, *start.malice.players[0].payoff.concealed].count("7h")
    start.malice.players[1].hand.cards[:2] = ["7h", "7h"]
    record.deal.position.CopyFrom(start)
    found = fault(engine, record)
    assert found is not None
    assert found.field.startswith("deal.position.malice") or copies == 0
    assert "at most 2 copies" in found.text


def test_an_option_out_of_its_range_is_refused(engine: Engine) -> None:
    record = random_record("malice-match", 0)
    record.rule_set.malice.CopyFrom(MaliceOptions(payoff_cards=31))
    found = fault(engine, record)
    assert found is not None
    assert found.field == "rule_set.malice.payoff_cards"


def test_no_more_records_are_taken_than_are_replayed_at_once(engine: Engine) -> None:
    record = GameRecord()
    record.CopyFrom(short_bank(3))
    taken = 0

    def endless() -> Iterator[tuple[int, GameRecord]]:
        nonlocal taken
        while True:
            taken += 1
            yield taken, record

    running = replay(engine, endless())
    for done in range(200):
        next(running)
        assert taken <= done + 130
