import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.strategies import bank_cards, cards
from zank.errors import InvalidReveal
from zank.reveals import format_slot, parse_reveal
from zank.v1 import Reveal, Slot

players = st.sampled_from([1, 2])
slots = st.builds(Slot, player=players, place=st.just("P")) | st.builds(
    Slot, player=players, place=st.just("H"), index=st.integers(0, 4)
)


@given(slots, cards, players)
def test_a_revealed_card_is_read_as_its_slot_is_written(slot: Slot, card: str, player_to_move: int) -> None:
    assert parse_reveal(f"{format_slot(slot, player_to_move)}={card}", player_to_move) == Reveal(slot=slot, card=card)


@given(st.builds(Slot, player=players, place=st.sampled_from("RD")), bank_cards, players)
def test_a_card_of_russian_bank_may_say_its_deck(slot: Slot, card: str, player_to_move: int) -> None:
    assert parse_reveal(f"{format_slot(slot, player_to_move)}={card}", player_to_move) == Reveal(slot=slot, card=card)


def test_a_slot_names_its_player_only_where_it_is_not_the_player_to_move() -> None:
    slot = Slot(player=2, place="H", index=3)
    assert (format_slot(slot, 2), format_slot(slot, 1)) == ("H3", "2:H3")


def test_what_people_write_is_read() -> None:
    assert parse_reveal("p=10H", 2) == Reveal(slot=Slot(player=2, place="P"), card="Th")
    assert parse_reveal("1:h3=aS", 2) == Reveal(slot=Slot(player=1, place="H", index=3), card="As")
    assert parse_reveal("d=10H2", 1) == Reveal(slot=Slot(player=1, place="D"), card="Th2")
    assert parse_reveal("2:r=7h", 1) == Reveal(slot=Slot(player=2, place="R"), card="7h")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7h",
        "P",
        "P=",
        "P=1h",
        "P0=7h",
        "H=7h",
        "H10=7h",
        "3:P=7h",
        "S1=7h",
        "P=7h ",
        "R",
        "D0=7h",
        "R=7h3",
        "T1=7h",
        "P=7h1",
    ],
)
def test_what_is_no_revealed_card_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(InvalidReveal, match="is no revealed card"):
        parse_reveal(text, 1)
