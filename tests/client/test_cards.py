import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.strategies import bank_cards, cards
from zank.cards import Card, face_of, parse_card, read_card, split_cards
from zank.errors import InvalidCard


@given(cards)
def test_every_card_survives_its_name(name: str) -> None:
    assert str(parse_card(name)) == name
    assert parse_card(name, decks=True) == parse_card(name)


@given(bank_cards)
def test_every_card_of_russian_bank_survives_its_name(name: str) -> None:
    assert str(parse_card(name, decks=True)) == name
    assert str(read_card(name.upper(), decks=True)) == name


def test_a_card_for_people() -> None:
    assert parse_card("7h").face == "7♥"
    assert parse_card("Td").face == "10♦"
    assert parse_card("Td") == Card(rank=10, suit="d")
    assert [face_of(name) for name in ("Td", "Td2", "?", "")] == ["10♦", "10♦", "?", ""]


def test_a_card_may_say_its_deck() -> None:
    assert parse_card("7h1", decks=True) == Card(rank=7, suit="h", deck=1)
    assert parse_card("7h2", decks=True) != parse_card("7h1", decks=True)
    assert parse_card("7h2", decks=True).face == "7♥"
    assert parse_card("7h", decks=True).deck == 0
    assert read_card("10H2", decks=True) == Card(rank=10, suit="h", deck=2)


def test_diamonds_and_hearts_are_red() -> None:
    assert [card for card in ("Ac", "Ad", "Ah", "As") if parse_card(card).is_red] == ["Ad", "Ah"]


@pytest.mark.parametrize("name", ["", "7", "7H", "10h", "1h", "h7", "xx", "7h ", "hh", "7h1"])
def test_what_is_no_card_is_refused(name: str) -> None:
    with pytest.raises(InvalidCard, match=r"expected a rank \(A23456789TJQK\) and a suit \(cdhs\), for example 7h$"):
        parse_card(name)


@pytest.mark.parametrize("name", ["", "7", "7H1", "7h0", "7h3", "7h12", "7h\u0661", "71", "7h1 "])
def test_what_is_no_card_of_russian_bank_is_refused(name: str) -> None:
    with pytest.raises(InvalidCard, match=r"for example 7h, or 7h1 where the deck \(1 or 2\) is known$"):
        parse_card(name, decks=True)


def test_a_card_that_people_write_has_no_deck_in_spite_and_malice() -> None:
    with pytest.raises(InvalidCard, match="for example 7h; a ten is T"):
        read_card("7h1")


def test_a_run_of_cards_is_taken_apart() -> None:
    assert split_cards("7hKdTc") == ["7h", "Kd", "Tc"]
    assert split_cards("") == []
    with pytest.raises(InvalidCard, match="'K' is no card"):
        split_cards("7hK")
    with pytest.raises(InvalidCard, match="'1K' is no card"):
        split_cards("7h1Kd")


@pytest.mark.parametrize(
    ("run", "names"),
    [
        ("7h2h", ["7h", "2h"]),
        ("7h22h", ["7h2", "2h"]),
        ("7h12h", ["7h1", "2h"]),
        ("2h2", ["2h2"]),
        ("2h22d22s", ["2h2", "2d2", "2s"]),
        ("7h2Kd", ["7h2", "Kd"]),
        ("", []),
    ],
)
def test_in_a_run_a_2_before_a_suit_is_the_next_card(run: str, names: list[str]) -> None:
    assert split_cards(run, decks=True) == names


@given(st.lists(bank_cards))
def test_every_run_of_cards_is_taken_apart_as_it_was_put_together(names: list[str]) -> None:
    assert split_cards("".join(names), decks=True) == names


@pytest.mark.parametrize(
    ("run", "found"), [("7h3", "3"), ("7h13c4", "4"), ("7h11c", "1c"), ("7h222", "22"), ("2", "2")]
)
def test_the_first_fault_in_a_run_is_named(run: str, found: str) -> None:
    with pytest.raises(InvalidCard, match=f"^'{found}' is no card: .* or 7h1 where the deck"):
        split_cards(run, decks=True)
