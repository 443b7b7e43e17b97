import pytest
from hypothesis import given

from tests.client.strategies import moves
from zank.errors import InvalidMove
from zank.notation import CenterStack, HandCard, Move, Payoff, SideStack, format_move, parse_move


@given(moves)
def test_every_move_survives_its_notation(move: Move) -> None:
    assert parse_move(format_move(move)) == move


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("P-C2", Move(Payoff(), CenterStack(2))),
        ("S3-C1", Move(SideStack(3), CenterStack(1))),
        ("7-C2", Move(HandCard(7), CenterStack(2))),
        ("7h-C2", Move(HandCard(7, "h"), CenterStack(2))),
        ("Q-S4", Move(HandCard(12), SideStack(4))),
        ("Th-S1", Move(HandCard(10, "h"), SideStack(1))),
        ("A-C3", Move(HandCard(1), CenterStack(3))),
        ("K-C1", Move(HandCard(13), CenterStack(1))),
    ],
)
def test_the_notation_of_each_kind_of_move(text: str, move: Move) -> None:
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
    ],
)
def test_what_is_no_move_is_refused_saying_what_was_expected(text: str, says: str) -> None:
    with pytest.raises(InvalidMove) as refusal:
        parse_move(text)
    assert says in str(refusal.value)
    assert repr(text) in str(refusal.value)


def test_a_discard_is_known_by_its_target() -> None:
    assert parse_move("Q-S4").is_discard
    assert not parse_move("Q-C1").is_discard
