import hashlib
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client.strategies import BANK_MOVES, expressible_positions, malice_moves
from zank._record_text import format_text, parse_texts
from zank.errors import InvalidRecord
from zank.presets import PRESETS, complete_rule_set
from zank.records import canonical_record, format_record, parse_record, read_record, record_digest
from zank.v1 import (
    ENDING_OUT,
    ENDING_STALEMATE,
    Deal,
    GameRecord,
    GameResult,
    MatchScore,
    RecordEvent,
    RuleSet,
    StopCall,
)

PAGE = (Path(__file__).parents[2] / "proto" / "records.md").read_text(encoding="utf-8")
MALICE = '{"ruleSet":{"preset":"malice-match"},"deal":{"seed":"1"},"events":[{"move":"A-C1"},{"resigned":2}]}'


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def changed(**fields: object) -> str:
    return json.dumps(json.loads(MALICE) | fields)


names = st.text(st.characters(codec="utf-8"), max_size=8)
reveals = st.lists(st.sampled_from(["P=7h", "2:P=Td", "H0=2c", "1:H4=Ks"]), max_size=2)
bank_reveals = st.lists(st.sampled_from(["R=7h", "D=Td", "R=2c1"]), max_size=1)
closings = st.one_of(
    st.builds(RecordEvent, resigned=st.integers(1, 2)),
    st.builds(RecordEvent, abandoned=st.integers(0, 2)),
    st.builds(RecordEvent, timed_out=st.integers(1, 2)),
    st.builds(
        lambda ending, winner, points: RecordEvent(over=GameResult(ending=ending, winner=winner, points=points)),
        st.sampled_from([ENDING_OUT, ENDING_STALEMATE]),
        st.integers(0, 2),
        st.integers(0, 200),
    ),
)
stops = st.builds(
    lambda player, move, rule: RecordEvent(stop=StopCall(player=player, move=move, rule=rule)),
    st.integers(1, 2),
    st.sampled_from(BANK_MOVES).map(str),
    st.sampled_from(["", "S2", "R5"]),
)


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    """Records in canonical form, of games that need not be possible."""
    name = draw(st.sampled_from(list(PRESETS)))
    family = PRESETS[name].family
    position = draw(expressible_positions.filter(lambda position: not position.HasField("result")) | st.none())
    if position is not None:
        rule_set = position.rule_set
        family = PRESETS[rule_set.preset].family
        deal = Deal(position=position)
    else:
        rule_set, deal = RuleSet(preset=name), Deal(seed=draw(st.integers(0, 2**64 - 1)))
    if family == "malice":
        happening = st.builds(RecordEvent, move=malice_moves.map(str), reveals=reveals)
    else:
        happening = st.builds(RecordEvent, move=st.sampled_from(BANK_MOVES).map(str), reveals=bank_reveals) | stops
    events = [*draw(st.lists(happening, max_size=8)), draw(closings)]
    times = sorted(draw(st.lists(st.integers(0, 9_999_999), max_size=len(events))))
    for event, time in zip(events, times, strict=False):
        event.time_ms = time
    record = GameRecord(
        rule_set=rule_set,
        players=draw(st.just([]) | st.lists(names, min_size=2, max_size=2)),
        deal=deal,
        events=events,
        tags=draw(st.dictionaries(names, names, max_size=2)),
    )
    target = getattr(getattr(complete_rule_set(rule_set), family), "match_target")  # noqa: B009 - of either family
    if target and draw(st.booleans()):
        record.match_score.CopyFrom(MatchScore(player1=draw(st.integers(0, target - 1)), player2=0))
    return canonical_record(record)


@settings(max_examples=40)
@given(records())
def test_writing_what_was_read_in_canonical_form_changes_nothing(record: GameRecord) -> None:
    line = format_record(record)
    assert "\n" not in line
    assert parse_record(line) == record
    assert format_record(parse_record(line)) == line


@settings(max_examples=40)
@given(records())
def test_the_text_form_has_all_that_a_record_has(record: GameRecord) -> None:
    (game,) = parse_texts(format_text(record).split("\n"))
    assert game.record == record


@settings(max_examples=10)
@given(st.lists(records(), max_size=3))
def test_several_games_are_a_text(games: list[GameRecord]) -> None:
    text = "".join(map(format_text, games))
    assert [game.record for game in parse_texts(text.split("\n"))] == games


def test_the_canonical_form_says_every_option() -> None:
    assert format_record(parse_record(MALICE)) == (
        '{"formatVersion":1,"ruleSet":{"preset":"malice-match","malice":{"payoffCards":20,"wildStartsStack":true,'
        '"sidePlayEndsTurn":false,"stockOutWhen":"STOCK_OUT_WHEN_EMPTIED","matchTarget":50}},"deal":{"seed":"1"},'
        '"events":[{"move":"A-C1"},{"resigned":2}]}'
    )


def test_the_digest_is_that_of_the_canonical_bytes() -> None:
    expected = hashlib.sha256(format_record(parse_record(MALICE)).encode()).hexdigest()
    assert record_digest(parse_record(MALICE)) == expected == record_digest(parse_record(changed(elo=5)))
    assert read_record(MALICE).digest == record_digest(parse_record(MALICE))


def test_other_spellings_are_the_same_record() -> None:
    spelled = (
        '{"rule_set": {"preset": "malice-match", "malice": {"payoff_cards": 20}}, "format_version": 1,'
        ' "deal": {"seed": 1}, "events": [{"move": "a-c1", "reveals": []}, {"resigned": "2"}], "tags": null}'
    )
    assert parse_record(spelled) == parse_record(MALICE)
    (event, _) = parse_record(changed(events=[{"move": "10H-c2", "reveals": ["2:h0=10H"]}, {"abandoned": 0}])).events
    assert (event.move, list(event.reveals)) == ("Th-C2", ["2:H0=Th"])


def test_unknown_fields_are_ignored_with_a_note() -> None:
    read = read_record(changed(elo=[1, 2], events=[{"move": "A-C1", "think": {"ms": 5}}, {"resigned": 2}]))
    assert read.record == parse_record(MALICE)
    assert read.notes == (
        "elo: no field of this format, ignored",
        "events[0].think: no field of this format, ignored",
    )


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        ("", "", "expected JSON"),
        (MALICE[:-20], "", "expected JSON"),
        ("[1]", "", "expected a JSON object, found an array"),
        ("[" * 100_000, "", "brackets"),
        ("{}", "rule_set", "unknown preset"),
        (changed(formatVersion=2), "format_version", "expected 1, found 2"),
        (changed(formatVersion=-1), "format_version", "expected a whole number"),
        (changed(ruleSet={"preset": 7}), "rule_set.preset", "expected a string, found 7"),
        (changed(ruleSet={"preset": "whist"}), "rule_set", "unknown preset 'whist'"),
        (changed(ruleSet={"preset": "bank-russian", "malice": {}}), "rule_set", "expected its options"),
        (changed(players=["Ann"]), "players", "two names or none, found 1"),
        (changed(players={"1": "Ann"}), "players", "expected an array, found an object"),
        (changed(players=["Ann", "\ud800"]), "players[1]", "surrogate"),
        (changed(deal={}), "deal", "expected a seed or a position"),
        (changed(deal={"seed": "x"}), "deal.seed", "expected a whole number of 64 bits"),
        (changed(deal={"seed": 2**64}), "deal.seed", "expected a whole number of 64 bits"),
        (changed(deal={"seed": "1", "position": {}}), "", "oneof"),
        (changed(deal={"position": {"playerToMove": 1}}), "deal.position", "expected a table"),
        (changed(matchScore={"player1": 50}), "match_score.player1", "expected 0 to 49, found 50"),
        (changed(events=7), "events", "expected an array, found 7"),
        (changed(events=["A-C1"]), "events[0]", 'expected an object, found "A-C1"'),
        (changed(events=[]), "events[0]", "how the game ended; found nothing"),
        (changed(events=[{"move": "A-C1"}]), "events[1]", "how the game ended; found nothing"),
        (changed(events=[{"move": "A-C9"}, {"resigned": 2}]), "events[0].move", "no center stack C9"),
        (changed(events=[{"move": "T1-F"}, {"resigned": 2}]), "events[0].move", "is no move"),
        (changed(events=[{"move": 7}, {"resigned": 2}]), "events[0].move", "expected a string"),
        (changed(events=[{}, {"resigned": 2}]), "events[0]", "expected one of move, stop"),
        (changed(events=[{"resigned": 2}, {"move": "A-C1"}]), "events[1]", "expected nothing after resigned"),
        (changed(events=[{"resigned": 3}]), "events[0].resigned", "expected 1 or 2, found 3"),
        (changed(events=[{"over": {}}]), "events[0].over.ending", "expected one of ENDING_OUT"),
        (changed(events=[{"over": {"ending": "WON"}}]), "events[0].over.ending", "expected one of"),
        (changed(events=[{"stop": {"player": 1}}, {"resigned": 2}]), "events[0].stop", "Spite & Malice"),
        (changed(events=[{"resigned": 2, "reveals": ["P=7h"]}]), "events[0].reveals", "only a move"),
        (changed(events=[{"move": "A-C1", "reveals": ["P=1h"]}]), "events[0].reveals[0]", "no card"),
        (
            changed(events=[{"move": "A-C1", "timeMs": 5}, {"resigned": 2, "timeMs": 4}]),
            "events[1].time_ms",
            "expected 5 or more, found 4",
        ),
        (changed(tags={"date": 7}), "tags.date", "expected a string"),
    ],
)
def test_what_cannot_be_understood_is_named(text: str, field: str, says: str) -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record(text)
    assert caught.value.fault.field == field
    assert says in caught.value.fault.text


def test_a_fault_names_its_event() -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record(changed(events=[{"move": "A-C1"}, {"move": "A-C9"}, {"resigned": 2}]))
    assert caught.value.fault.event == 1
    assert str(caught.value).startswith("events[1].move: ")


@pytest.mark.parametrize("block", blocks("json"))
def test_every_json_example_of_the_page_is_a_canonical_record(block: str) -> None:
    assert format_record(parse_record(block)) == block.rstrip("\n")


def test_the_text_example_of_the_page_is_the_partial_record() -> None:
    (block,) = blocks("text")
    assert format_text(parse_record(blocks("json")[1])).strip() == block.strip()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[Colour 'red']", "expected a header"),
        ('[Colour "red"]', "expected one of the headers"),
        ('[payoff_cards "many"]', "expected a whole number"),
        ('[stock_out_when "never"]', "expected unspecified or emptied or short"),
        ('[Seed "1" "2"]', "expected 1 after Seed, found 2"),
        ("{P=7h}", "expected a move before"),
        ("{over out}", "expected {stop PLAYER MOVE RULE}"),
        ("A-C1 {@5}", "expected a time in seconds"),
        ('[Seed "1"]\nA-C1 } B', "is no move"),
    ],
)
def test_a_text_that_is_not_understood_is_refused_with_its_line(line: str, says: str) -> None:
    bad = f'[Zank "1"]\n[Preset "malice-match"]\n{line}\n{{resigned 1}}'
    good = '[Zank "1"]\n[Preset "malice-match"]\n[Seed "1"]\n; a comment\n1. a-c1\n{resigned 2}'
    first, second = parse_texts(f"{bad}\n\n{good}".split("\n"))
    assert (first.line, second.line) == (1, bad.count("\n") + 3)
    assert isinstance(first.record, InvalidRecord)
    assert says in str(first.record)
    assert second.record == parse_record(MALICE)
