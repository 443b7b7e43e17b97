import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.strategies import expressible_positions, game_positions
from zank.errors import InvalidPosition
from zank.presets import canonical_rule_set
from zank.text import format_position, parse_position
from zank.v1 import (
    ENDING_OUT,
    ENDING_STOCK_OUT,
    STOCK_OUT_WHEN_SHORT,
    GameResult,
    MaliceOptions,
    MalicePlayer,
    MaliceTable,
    Pile,
    Position,
    RuleSet,
    Shuffle,
)

PARTIAL = "malice-match~1~t.12~a.9-7h.2c7hKs.Jd..QsQd.~b.10-9s.5-....~c.Ac2d..~k.63-~r."


def _table() -> MaliceTable:
    empty = [Pile()] * 4
    return MaliceTable(
        players=[
            MalicePlayer(payoff=Pile(cards=["7h"]), hand=Pile(cards=["Td", "Ts"]), sides=empty),
            MalicePlayer(payoff=Pile(hidden=2, concealed=["2h", "3c"], cards=["7h"]), hand=Pile(hidden=5), sides=empty),
        ],
        centers=[Pile(cards=["Ac"]), Pile(), Pile()],
        stock=Pile(hidden=54),
    )


GOLDEN = [
    (
        "malice-match~1~a.7h.TdTs....~b.2h3c-7h.5-....~c.Ac..~k.54-",
        Position(rule_set=RuleSet(preset="malice-match"), player_to_move=1, malice=_table()),
    ),
    (
        "malice-classic~o.p10.w1.x1.os.m100~2~t.7~a.7h.TdTs....~b.2h3c-7h.5-....~c.Ac..~k.54-~e.stock.0.0~s.0.1",
        Position(
            rule_set=RuleSet(
                preset="malice-classic",
                malice=MaliceOptions(
                    payoff_cards=10,
                    wild_starts_stack=True,
                    side_play_ends_turn=True,
                    stock_out_when=STOCK_OUT_WHEN_SHORT,
                    match_target=100,
                ),
            ),
            player_to_move=2,
            turns=7,
            malice=_table(),
            result=GameResult(ending=ENDING_STOCK_OUT),
            shuffle=Shuffle(seed=0, count=1),
        ),
    ),
]


@pytest.mark.parametrize(("text", "position"), GOLDEN)
def test_the_text_of_a_position_never_changes(text: str, position: Position) -> None:
    assert format_position(position) == text
    assert parse_position(text) == position


@given(expressible_positions | game_positions())
def test_every_position_survives_its_text(position: Position) -> None:
    text = format_position(position)
    expected = Position()
    expected.CopyFrom(position)
    expected.rule_set.CopyFrom(canonical_rule_set(position.rule_set))
    parsed = parse_position(text)
    assert format_position(parsed) == text
    if expected.malice.HasField("recycled"):
        assert sorted(parsed.malice.recycled.cards) == sorted(expected.malice.recycled.cards)
        expected.malice.recycled.CopyFrom(parsed.malice.recycled)
    assert parsed == expected


@given(expressible_positions)
def test_the_text_needs_no_quoting_in_a_url_or_a_shell(position: Position) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._~-]+", format_position(position))


def test_recycled_cards_are_a_multiset() -> None:
    texts = {
        format_position(parse_position(f"{PARTIAL}{cards}")) for cards in ("KsAcTd2h2c", "2c2hTdAcKs", "Ac2cTdKs2h")
    }
    assert texts == {f"{PARTIAL}Ac2c2hTdKs"}


def test_nothing_recycled_differs_from_not_recorded() -> None:
    recorded, unrecorded = parse_position(PARTIAL), parse_position(PARTIAL.removesuffix("~r."))
    assert recorded.malice.HasField("recycled")
    assert not unrecorded.malice.HasField("recycled")


def test_defaults_spelt_out_are_left_out() -> None:
    spelt_out = PARTIAL.replace("~1~", "~o.m50.oe.x0.w1.p20~1~").replace("t.12", "t.0")
    assert format_position(parse_position(spelt_out)) == PARTIAL.replace("~t.12", "")


def test_a_finished_game_says_how_it_ended() -> None:
    position = parse_position(f"{PARTIAL}~e.out.1.11~s.18446744073709551615.3")
    assert position.result == GameResult(ending=ENDING_OUT, winner=1, points=11)
    assert position.shuffle == Shuffle(seed=2**64 - 1, count=3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the text starts with '': expected a preset, malice-match or malice-classic"),
        ("malice-mach~1", "starts with 'malice-mach'"),
        ("malice-match", "ends early: expected the player to move"),
        ("malice-match~3~a", "player to move: expected 1 or 2, found '3'"),
        ("malice-match~o.q1~1", "section o (options): found 'q1'; expected p<payoff cards>"),
        ("malice-match~o.p1.p2~1", "'p2' repeats an option"),
        ("malice-match~o.p01~1", "payoff cards p: expected a number from 0 to 4294967295"),
        ("malice-match~o.w2~1", "found 'w2'"),
        ("malice-match~o~1~t.0.0", "section t: expected t.TURNS, which has 1 items; found 2"),
        ("malice-match~1~t.-1~a", "section t (turns): expected a number"),
        ("malice-match~1", "ends early: expected the section a.PAYOFF.HAND.S1.S2.S3.S4"),
        ("malice-match~1~b.7h.....", "expected the section a.PAYOFF.HAND.S1.S2.S3.S4, found 'b.7h.....'"),
        ("malice-match~1~a.7h....", "section a: expected a.PAYOFF.HAND.S1.S2.S3.S4, which has 6 items; found 5"),
        ("malice-match~1~a.7x.....", "player 1, payoff: '7x' is no card: expected a rank (A23456789TJQK)"),
        ("malice-match~1~a.7h.7.....", "section a"),
        ("malice-match~1~a.7h.7....", "player 1, hand: '7' is no card"),
        ("malice-match~1~a.7h.10h....", "player 1, hand: '10' is no card"),
        ("malice-match~1~a.7h...7hKx..", "player 1, side stack S2: 'Kx' is no card"),
        ("malice-match~1~a.0-7h.....", "player 1, payoff: expected a count above 0"),
        ("malice-match~1~a.-7h.....", "player 1, payoff: expected a count above 0"),
        ("malice-match~1~a.07-7h.....", "player 1, payoff, hidden cards: expected a number"),
        ("malice-match~1~a.99999999999-7h.....", "player 1, payoff, hidden cards: expected a number"),
        ("malice-match~1~a.7h-7h-7h.....", "player 1, payoff: '-7' is no card"),
        (PARTIAL.replace("c.Ac2d..", "c.Ac2d."), "section c: expected c.C1.C2.C3, which has 3 items; found 2"),
        (PARTIAL.replace("c.Ac2d..", "c.Ac2..."), "section c: expected c.C1.C2.C3"),
        (PARTIAL.replace("c.Ac2d..", "c.Ac2.."), "center stack C1: '2' is no card"),
        (PARTIAL.replace("~k.63-", ""), "expected the section k.STOCK, found 'r.'"),
        (f"{PARTIAL}7", "recycled cards: '7' is no card"),
        (f"{PARTIAL}~r.", "unexpected section 'r.'"),
        (f"{PARTIAL}~", "unexpected section ''"),
        (f"{PARTIAL}~s.1.1~e.out.1.1", "unexpected section 'e.out.1.1': after the stock come"),
        (f"{PARTIAL}~e.won.1.1", "section e (result), ending: expected out or stock, found 'won'"),
        (f"{PARTIAL}~e.out.3.1", "section e (result), winner (0 for a tie): expected a number from 0 to 2"),
        (f"{PARTIAL}~s.18446744073709551616.1", "section s (shuffle), seed: expected a number from 0 to 184467"),
        (f"{PARTIAL}~s.1", "section s: expected s.SEED.COUNT"),
    ],
)
def test_a_broken_text_is_refused_naming_the_place_and_what_was_expected(text: str, says: str) -> None:
    with pytest.raises(InvalidPosition) as refusal:
        parse_position(text)
    assert says in str(refusal.value)


@given(st.data())
def test_a_damaged_text_is_read_or_refused_but_nothing_else(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(PARTIAL)))
    length = data.draw(st.integers(0, 3))
    damaged = PARTIAL[:at] + data.draw(st.text(max_size=3)) + PARTIAL[at + length :]
    try:
        position = parse_position(damaged)
    except InvalidPosition:
        return
    assert parse_position(format_position(position)) == position


MESSAGES_WITHOUT_TEXT: list[tuple[Callable[[Position], object], str]] = [
    (lambda position: position.ClearField("player_to_move"), "player to move: expected 1 or 2, found 0"),
    (lambda position: position.rule_set.ClearField("preset"), "rule set: unknown preset ''"),
    (lambda position: position.ClearField("malice"), "table: expected a table of Spite & Malice"),
    (lambda position: position.malice.players.add(), "players: expected 2, found 3"),
    (lambda position: position.malice.players[1].sides.pop(), "side stacks of player 2: expected 4, found 3"),
    (lambda position: position.malice.centers.pop(), "center stacks: expected 3, found 2"),
    (lambda position: position.malice.stock.concealed.append("7h"), "stock: 63 cards are hidden and 1 faces given"),
    (lambda position: position.malice.centers[1].cards.append("A."), "center stack C2: 'A.' is no card"),
    (lambda position: position.malice.players[0].sides[0].cards.append("7hKd"), "player 1, side stack S1: '7hKd'"),
    (lambda position: position.malice.recycled.cards.append(""), "recycled cards: '' is no card"),
    (lambda position: position.result.SetInParent(), "result: unknown ending 0"),
    (
        lambda position: position.result.MergeFrom(GameResult(ending=ENDING_OUT, winner=3)),
        "result, winner: expected 1, 2 or 0 for a tie, found 3",
    ),
]


@pytest.mark.parametrize(("spoil", "says"), MESSAGES_WITHOUT_TEXT)
def test_a_message_that_has_no_text_is_refused(spoil: Callable[[Position], object], says: str) -> None:
    position = parse_position(PARTIAL)
    spoil(position)
    with pytest.raises(InvalidPosition) as refusal:
        format_position(position)
    assert says in str(refusal.value)
