import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.strategies import BANK_MOVES, expressible_positions, game_positions
from zank.errors import InvalidPosition
from zank.presets import canonical_rule_set
from zank.text import format_position, parse_position
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    ENDING_STOCK_OUT,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    STOCK_OUT_WHEN_SHORT,
    BankOptions,
    BankPlayer,
    BankTable,
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
BANK_TABLE = "a.11-7h1.20-.Kd2~b.12-9s2.33-.2c2~f.Ac1.......~h.Qs1..5d24s1.Jh2.3c2.8d1.Td2.6s1"
BANK = f"bank-russian~2~t.31~{BANK_TABLE}~d.4h2~q.1.0"


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


def _bank_table() -> BankTable:
    return BankTable(
        players=[
            BankPlayer(
                reserve=Pile(hidden=2, concealed=["2h", "3c"], cards=["7h1", "8h2"]),
                stock=Pile(cards=["7h2", "2h"]),
                waste=Pile(cards=["7h", "2h"]),
                quiet_turns=3,
            ),
            BankPlayer(reserve=Pile(hidden=12, cards=["9s2"]), stock=Pile(hidden=33), waste=Pile()),
        ],
        foundations=[Pile(cards=["Ac1", "2c2"]), *[Pile()] * 6, Pile(cards=["As"])],
        tableau=[Pile(cards=["Qs1", "Jh2"]), *[Pile()] * 6, Pile(cards=["6s1"])],
    )


def _golden_turn() -> BankTable:
    table = _bank_table()
    table.drawn = "4h2"
    table.opening = True
    table.players[1].quiet_turns = 12
    table.tableau_moves.extend(["T2-T7", "T4-T1"])
    return table


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
    (
        "bank-russian~1~a.2h3c-7h18h2.7h22h.7h2h~b.12-9s2.33-.~f.Ac12c2.......As~h.Qs1Jh2.......6s1~q.3.0",
        Position(rule_set=RuleSet(preset="bank-russian"), player_to_move=1, bank=_bank_table()),
    ),
    (
        "bank-spiteful~o.r12.ff.sd.t0.m100~2~t.7"
        "~a.2h3c-7h18h2.7h22h.7h2h~b.12-9s2.33-.~f.Ac12c2.......As~h.Qs1Jh2.......6s1"
        "~d.4h2~i~q.3.12~m.T2-T7.T4-T1~e.stalemate.1.17~s.0.3",
        Position(
            rule_set=RuleSet(
                preset="bank-spiteful",
                bank=BankOptions(
                    reserve_cards=12,
                    reserve_first=RESERVE_FIRST_FOUNDATION,
                    stalemate_scoring=STALEMATE_SCORING_DIFFERENCE,
                    max_turns=0,
                    match_target=100,
                ),
            ),
            player_to_move=2,
            turns=7,
            bank=_golden_turn(),
            result=GameResult(ending=ENDING_STALEMATE, winner=1, points=17),
            shuffle=Shuffle(seed=0, count=3),
        ),
    ),
]


@pytest.mark.parametrize(("text", "position"), GOLDEN)
def test_the_text_of_a_position_never_changes(text: str, position: Position) -> None:
    assert format_position(position) == text
    assert parse_position(text) == position


@given(expressible_positions | game_positions)
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


def test_what_need_not_be_said_of_russian_bank_is_left_out() -> None:
    spelt_out = BANK.replace("~2~", "~o.m300.t500.sd.r13~2~").replace("q.1.0", "q.0.0~m")
    assert format_position(parse_position(spelt_out)) == BANK.removesuffix("~q.1.0")


def test_tableau_moves_are_written_in_public_notation() -> None:
    position = parse_position(f"{BANK}~m.t2-T7.T4-t1")
    assert position.bank.tableau_moves == ["T2-T7", "T4-T1"]
    position.bank.tableau_moves[0] = "t2-t7"
    assert format_position(position) == f"{BANK}~m.T2-T7.T4-T1"


def test_every_tableau_move_can_be_written() -> None:
    moves = [str(move) for move in BANK_MOVES if move.source[0] == "T" and move.target[:1] == "T"]
    assert len(moves) == 8 * 7
    assert parse_position(f"{BANK}~m.{'.'.join(moves)}").bank.tableau_moves == moves


@pytest.mark.parametrize(
    ("ending", "result"),
    [
        ("out.2.41", GameResult(ending=ENDING_OUT, winner=2, points=41)),
        ("stalemate.0.0", GameResult(ending=ENDING_STALEMATE)),
        ("adjudicated.1.3", GameResult(ending=ENDING_ADJUDICATED, winner=1, points=3)),
    ],
)
def test_the_endings_of_russian_bank(ending: str, result: GameResult) -> None:
    position = parse_position(f"{BANK}~e.{ending}")
    assert position.result == result
    assert format_position(position) == f"{BANK}~e.{ending}"


def test_a_finished_game_says_how_it_ended() -> None:
    position = parse_position(f"{PARTIAL}~e.out.1.11~s.18446744073709551615.3")
    assert position.result == GameResult(ending=ENDING_OUT, winner=1, points=11)
    assert position.shuffle == Shuffle(seed=2**64 - 1, count=3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the text starts with '': expected a preset, malice-match or malice-classic or bank-"),
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
        ("bank-spiteful~o.p10~1", "section o (options): found 'p10'; expected r<reserve cards>, fa or ff (the reserve"),
        ("bank-spiteful~o.fx~1", "found 'fx'; expected"),
        ("bank-spiteful~o.sn.sn~1", "'sn' repeats an option"),
        ("bank-spiteful~o.t~1", "section o (options), turns at most t: expected a number"),
        ("bank-russian~o.fa~1", "rule set: reserve_first is no option of bank-russian"),
        ("bank-crapette~o.sn~1", "rule set: stalemate_scoring is no option of bank-crapette"),
        ("bank-russian~1", "ends early: expected the section a.RESERVE.STOCK.WASTE"),
        ("bank-russian~1~a.7h..~b.7h.", "section b: expected b.RESERVE.STOCK.WASTE, which has 3 items; found 2"),
        ("bank-russian~1~a.7h3..~b.7h..", "player 1, reserve: '3' is no card: expected a rank (A23456789TJQK) and"),
        ("bank-russian~1~a.7h..~b.7h.7x.", "player 2, stock: '7x' is no card: expected a rank"),
        ("bank-russian~1~a.7h..K~b.7h..", "player 1, waste: 'K' is no card"),
        ("bank-russian~1~a.2h-7h..~b.7h3c4-7h..", "player 2, reserve, hidden cards: '4' is no card"),
        ("bank-russian~1~a.0-7h..", "player 1, reserve: expected a count above 0"),
        ("bank-russian~1~a.7h..~b.7h..~f.......", "section f: expected f.F1.F2.F3.F4.F5.F6.F7.F8, which has 8"),
        (BANK.replace("f.Ac1.", "f.Ac1Ac11."), "foundation F1: '1' is no card"),
        (
            BANK.replace("~h.Qs1.", "~h.Qs1.."),
            "section h: expected h.T1.T2.T3.T4.T5.T6.T7.T8, which has 8 items; found 9",
        ),
        (BANK.replace("5d24s1", "5d23s14"), "tableau pile T3: '4' is no card"),
        (BANK.replace("~h.", "~g."), "expected the section h.T1.T2"),
        (BANK.replace("d.4h2", "d.4h22c"), "section d (drawn card): expected one card, found 2"),
        (BANK.replace("d.4h2", "d."), "section d (drawn card): expected one card, found 0"),
        (BANK.replace("d.4h2", "d.4"), "section d (drawn card): '4' is no card"),
        (BANK.replace("d.4h2", "d"), "section d: expected d.CARD, which has 1 items; found 0"),
        (BANK.replace("~q", "~i.1~q"), "section i: expected i, which has 0 items; found 1"),
        (BANK.replace("q.1.0", "q.1"), "section q: expected q.PLAYER1.PLAYER2, which has 2 items; found 1"),
        (BANK.replace("q.1.0", "q.1.x"), "section q (quiet turns), player 2: expected a number"),
        (f"{BANK}~m.T2-F", "section m (tableau moves): expected moves from one tableau pile to another, found 'T2-F'"),
        (f"{BANK}~m.T2-T9", "section m (tableau moves): 'T2-T9' is no move: no tableau pile T9"),
        (f"{BANK}~m.", "section m (tableau moves): '' is no move"),
        (
            f"{BANK}~d.4h",
            "unexpected section 'd.4h': after the tableau come, each where it applies and in this order, d",
        ),
        (f"{BANK}~e.stock.1.1", "section e (result), ending: expected out or stalemate or adjudicated, found 'stock'"),
        (f"{PARTIAL}~e.stalemate.1.1", "section e (result), ending: expected out or stock, found 'stalemate'"),
    ],
)
def test_a_broken_text_is_refused_naming_the_place_and_what_was_expected(text: str, says: str) -> None:
    with pytest.raises(InvalidPosition) as refusal:
        parse_position(text)
    assert says in str(refusal.value)


@given(st.sampled_from([PARTIAL, f"{BANK}~m.T2-T7"]), st.data())
def test_a_damaged_text_is_read_or_refused_but_nothing_else(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 3))
    damaged = text[:at] + data.draw(st.text(max_size=3)) + text[at + length :]
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
    (
        lambda position: position.result.SetInParent(),
        "result, ending: expected ENDING_OUT or ENDING_STOCK_OUT, found 0",
    ),
    (
        lambda position: position.result.MergeFrom(GameResult(ending=ENDING_OUT, winner=3)),
        "result, winner: expected 1, 2 or 0 for a tie, found 3",
    ),
]


BANK_MESSAGES_WITHOUT_TEXT: list[tuple[Callable[[Position], object], str]] = [
    (
        lambda position: position.malice.SetInParent(),
        "table: expected a table of Russian Bank for the preset bank-russian, found one of Spite & Malice",
    ),
    (lambda position: position.ClearField("bank"), "for the preset bank-russian, found none"),
    (
        lambda position: position.rule_set.malice.SetInParent(),
        "rule set: bank-russian is a preset of Russian Bank: expected its options (bank), found those of Spite",
    ),
    (lambda position: position.bank.players.pop(), "players: expected 2, found 1"),
    (lambda position: position.bank.foundations.pop(), "foundations: expected 8, found 7"),
    (lambda position: position.bank.tableau.add(), "tableau piles: expected 8, found 9"),
    (
        lambda position: position.bank.players[1].stock.concealed.append("7h"),
        "player 2, stock: 33 cards are hidden and 1 faces given",
    ),
    (lambda position: position.bank.players[0].waste.cards.append("7h3"), "player 1, waste: '7h3' is no card"),
    (lambda position: position.bank.foundations[7].cards.append("s"), "foundation F8: 's' is no card"),
    (lambda position: position.bank.tableau[7].cards.append("7h12c"), "tableau pile T8: '7h12c' is no card"),
    (lambda position: setattr(position.bank, "drawn", "4"), "drawn card: '4' is no card"),
    (lambda position: position.bank.tableau_moves.append("P-C1"), "tableau moves): 'P-C1' is no move"),
    (
        lambda position: position.result.MergeFrom(GameResult(ending=ENDING_STOCK_OUT)),
        "result, ending: expected ENDING_OUT or ENDING_STALEMATE or ENDING_ADJUDICATED, found 2",
    ),
]


@pytest.mark.parametrize(
    ("text", "spoil", "says"),
    [
        *((PARTIAL, spoil, says) for spoil, says in MESSAGES_WITHOUT_TEXT),
        *((BANK, spoil, says) for spoil, says in BANK_MESSAGES_WITHOUT_TEXT),
    ],
)
def test_a_message_that_has_no_text_is_refused(text: str, spoil: Callable[[Position], object], says: str) -> None:
    position = parse_position(text)
    spoil(position)
    with pytest.raises(InvalidPosition) as refusal:
        format_position(position)
    assert says in str(refusal.value)
