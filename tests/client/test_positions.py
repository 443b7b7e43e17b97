import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.strategies import expressible_positions
from zank.errors import InvalidPosition
from zank.positions import load, load_entries, to_json
from zank.text import format_position, parse_position
from zank.v1 import Answer, ApplyMoveResponse, Estimate, Event, MoveEvaluation, Position, TurnPassed, Value

TEXT = "malice-match~1~t.12~a.9-7h.2c7hKs.Jd..QsQd.~b.10-9s.5-....~c.Ac2d..~k.63-~r."
POSITION = parse_position(TEXT)


@given(expressible_positions)
def test_every_position_survives_its_json(position: Position) -> None:
    assert load(to_json(position)) == [position]


@given(st.lists(expressible_positions, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_text_and_json_may_share_a_file(positions: list[Position], as_json: list[bool]) -> None:
    canonical = [parse_position(format_position(position)) for position in positions]
    lines = [
        to_json(position) if json else format_position(position)
        for position, json in zip(canonical, as_json, strict=False)
    ]
    assert load("\n".join(["# several", *lines, ""])) == canonical


def test_comments_and_blank_lines_are_skipped() -> None:
    assert load(f"\n# a comment ~ with {{marks}}\n\n  {TEXT}  \r\n   \n# the end") == [POSITION]
    assert load("") == []
    assert load("# nothing") == []


def test_a_position_has_its_line_and_the_first_comment_directly_above_it() -> None:
    text = f"# lost\n\n#\n# opening\n# drawn board\n{TEXT}\n{TEXT}\n{to_json(POSITION)}\n#ending\n{TEXT}"
    entries = load_entries(text)
    assert [(entry.line, entry.comment) for entry in entries] == [(6, "opening"), (7, ""), (8, ""), (10, "ending")]


def test_json_may_span_lines_and_follow_on_directly() -> None:
    pretty = to_json(POSITION).replace(", ", ",\n  ")
    assert [entry.line for entry in load_entries(f"{pretty}\n{TEXT}\n")] == [1, pretty.count("\n") + 2]
    assert load(to_json(POSITION) * 2) == [POSITION] * 2


def test_json_has_what_is_zero_but_not_what_is_absent() -> None:
    written = json.loads(to_json(parse_position(TEXT.replace("~t.12", ""))))
    assert written["turns"] == 0
    assert written["malice"]["centers"][1] == {"hidden": 0, "cards": [], "concealed": []}
    assert "shuffle" not in written
    answer = Answer(moves=[MoveEvaluation(move="P-C1", value=Value(win=Estimate(standard_error=0.1)))])
    assert json.loads(to_json(answer))["moves"][0]["value"]["win"] == {"mean": 0.0, "standardError": 0.1}


def test_a_byte_order_mark_is_no_part_of_a_file() -> None:
    for text in (TEXT, f"# a comment\n{TEXT}", to_json(POSITION), f"{TEXT}\n\ufeff{TEXT}"):
        assert load(f"\ufeff{text}")[0] == POSITION


def test_the_answer_to_a_move_holds_a_position() -> None:
    answer = ApplyMoveResponse(position=POSITION, events=[Event(turn_passed=TurnPassed(player=2))])
    assert load(to_json(answer)) == [POSITION]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"# one\n{TEXT}\nmalice-match~7", "line 3: player to move"),
        (f"{TEXT}\n\n{{]", "line 3: not JSON"),
        ('{"turns": "many"}', "line 1: not the JSON of a zank.v1.Position"),
        ('{"turns": 1, "turn": 1}', 'no field named "turn"'),
        ('{"turn": 1}', "found an object with turn"),
        ('{"moves": [], "forced": false}', 'expected a zank.v1.Position, or an object that has one as "position"'),
        ('{"position": 3}', "found an object whose position is 3"),
        ('{"position": {"stock": 3}}', "found an object with stock"),
        ('{"malice": {"players": 3}}', "line 1: not the JSON"),
        ("[" * 5, "line 1: the text starts with"),
        ('{"a":' * 100_000, "line 1: not"),
    ],
)
def test_a_broken_file_is_refused_naming_the_line(text: str, says: str) -> None:
    with pytest.raises(InvalidPosition) as refusal:
        load(text)
    assert says in str(refusal.value)
