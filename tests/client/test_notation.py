import pytest
from hypothesis import given

from tests.client.strategies import BANK_MOVES, malice_moves
from zank.errors import InvalidMove
from zank.notation import (
    BankMove,
    CenterStack,
    HandCard,
    MaliceMove,
    Payoff,
    SideStack,
    format_move,
    parse_bank_move,
    parse_malice_move,
    parse_move,
)


@given(malice_moves)
def test_every_move_of_spite_and_malice_survives_its_notation(move: MaliceMove) -> None:
    assert parse_move(format_move(move)) == move
    assert parse_malice_move(format_move(move).lower()) == move
    with pytest.raises(InvalidMove, match="expected R, D, or T1 to T8"):
        parse_bank_move(format_move(move))


def test_every_move_of_russian_bank_survives_its_notation() -> None:
    texts = {format_move(move): move for move in BANK_MOVES}
    assert len(texts) == 2 * 11 + 8 * 10 + 2
    for text, move in texts.items():
        assert parse_move(text) == parse_move(text.lower()) == parse_bank_move(text) == move
        with pytest.raises(InvalidMove, match=r"expected SOURCE-TARGET, for example P-C2|expected P, S1 to S4"):
            parse_malice_move(text)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("P-C2", MaliceMove(Payoff(), CenterStack(2))),
        ("S3-C1", MaliceMove(SideStack(3), CenterStack(1))),
        ("7-C2", MaliceMove(HandCard(7), CenterStack(2))),
        ("7h-C2", MaliceMove(HandCard(7, "h"), CenterStack(2))),
        ("Q-S4", MaliceMove(HandCard(12), SideStack(4))),
        ("Th-S1", MaliceMove(HandCard(10, "h"), SideStack(1))),
        ("A-C3", MaliceMove(HandCard(1), CenterStack(3))),
        ("K-C1", MaliceMove(HandCard(13), CenterStack(1))),
        ("T-C2", MaliceMove(HandCard(10), CenterStack(2))),
        ("R-F", BankMove("R", "F")),
        ("R-T3", BankMove("R", "T3")),
        ("D-T5", BankMove("D", "T5")),
        ("T2-F", BankMove("T2", "F")),
        ("T2-T7", BankMove("T2", "T7")),
        ("T4-OR", BankMove("T4", "OR")),
        ("D-OW", BankMove("D", "OW")),
        ("TURN", BankMove("TURN")),
        ("END", BankMove("END")),
    ],
)
def test_the_notation_of_each_kind_of_move(text: str, move: MaliceMove | BankMove) -> None:
    assert parse_move(text) == move
    assert format_move(move) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("p-c2", "P-C2"),
        ("s3-c1", "S3-C1"),
        ("10-S1", "T-S1"),
        ("10H-s1", "Th-S1"),
        ("td-c1", "Td-C1"),
        ("5D-C1", "5d-C1"),
        ("as-C1", "As-C1"),
        ("k-C3", "K-C3"),
        ("r-f", "R-F"),
        ("t4-Or", "T4-OR"),
        ("turn", "TURN"),
        ("End", "END"),
    ],
)
def test_what_people_write_becomes_public_notation(written: str, text: str) -> None:
    assert format_move(parse_move(written)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected SOURCE-TARGET"),
        ("P", "expected SOURCE-TARGET"),
        ("P-", "expected C1 to C3 or S1 to S4"),
        ("-C1", "expected P, S1 to S4, or a card in hand"),
        ("P-C4", "no center stack C4: expected C1 to C3"),
        ("P-C0", "no center stack C0: expected C1 to C3"),
        ("S5-C1", "no side stack S5: expected S1 to S4"),
        ("Q-S0", "no side stack S0: expected S1 to S4"),
        ("P-S1", "only a card from hand goes to a side stack (M7)"),
        ("S1-S2", "only a card from hand goes to a side stack (M7)"),
        ("1-C1", "a rank (A23456789TJQK, a ten is T)"),
        ("11-C1", "a rank (A23456789TJQK, a ten is T)"),
        ("\u017f3-C1", "expected P, S1 to S4"),  # an "s" of old, whose capital is S
        ("7x-C1", "a suit (cdhs)"),
        ("7hh-C1", "a suit (cdhs)"),
        (" P-C2", "expected P, S1 to S4"),
        ("P-C2 ", "expected C1 to C3"),
        ("P-C2\n", "expected C1 to C3"),
        ("P-C2-C3", "expected C1 to C3"),
        ("P-C\u0661", "expected C1 to C3"),
        ("R", "expected SOURCE-TARGET, for example R-F (reserve card to its foundation)"),
        ("T2", "or TURN (turn a stock card) or END (end the turn)"),
        ("END-", "expected SOURCE-TARGET, for example R-F"),
        ("R-", "nothing is played to ''; expected F, T1 to T8, OR or OW (END throws the drawn card on the own waste)"),
        ("-F", "nothing is played from ''; expected R, D, or T1 to T8 (or TURN or END alone)"),
        ("T9-F", "no tableau pile T9: expected T1 to T8"),
        ("R-T0", "no tableau pile T0: expected T1 to T8"),
        ("T10-F", "nothing is played from 'T10'"),
        ("W-F", "nothing is played from 'W'"),
        ("D-W", "nothing is played to 'W'"),
        ("R-F3", "nothing is played to 'F3'; expected F,"),
        ("T2-R", "nothing is played to 'R'; expected F, T1 to T8, OR or OW"),
        ("T3-T3", "T3-T3 moves nothing; expected another target than T3"),
        ("TURN-F", "TURN has no target; expected TURN alone"),
        ("END-OW", "END has no target; expected END alone"),
        ("T2-T7-F", "nothing is played to 'T7-F'"),
        ("T2-F\n", "nothing is played to 'F\\n'"),
        ("\u017f1-F", "nothing is played from"),
        ("T\u0662-F", "nothing is played from"),
        ("7-T3", "P-C2, S3-C1, 7-C2 or Q-S4 in Spite & Malice (a ten is T), R-F, D-T5,"),  # half of each family
        ("D-C1", "in Spite & Malice (a ten is T), R-F, D-T5"),
        ("PASS", "in Spite & Malice (a ten is T), R-F, D-T5"),
    ],
)
def test_what_is_no_move_is_refused_saying_what_was_expected(text: str, says: str) -> None:
    with pytest.raises(InvalidMove) as refusal:
        parse_move(text)
    assert says in str(refusal.value)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("R", "", "nothing is played to ''"),
        ("r", "F", "nothing is played from 'r'"),
        ("END", "F", "END has no target"),
        ("T1", "T1", "moves nothing"),
        ("OR", "T1", "nothing is played from 'OR'"),
    ],
)
def test_what_cannot_be_a_move_of_russian_bank_is_none(source: str, target: str, says: str) -> None:
    with pytest.raises(InvalidMove, match=says):
        BankMove(source, target)


def test_a_discard_is_known_by_its_target() -> None:
    assert parse_malice_move("Q-S4").is_discard
    assert not parse_malice_move("Q-C1").is_discard
