import pytest
from hypothesis import given

from tests.client.strategies import cards
from zank.cards import Card, parse_card, split_cards
from zank.errors import InvalidCard


@given(cards)
def test_every_card_survives_its_name(name: str) -> None:
    assert str(parse_card(name)) == name


def test_a_card_for_people() -> None:
    assert parse_card("7h").face == "7♥"
    assert parse_card("Td").face == "10♦"
    assert parse_card("Td") == Card(rank=10, suit="d")


def test_diamonds_and_hearts_are_red() -> None:
    assert [card for card in ("Ac", "Ad", "Ah", "As") if parse_card(card).is_red] == ["Ad", "Ah"]


@pytest.mark.parametrize("name", ["", "7", "7H", "10h", "1h", "h7", "xx", "7h ", "hh"])
def test_what_is_no_card_is_refused(name: str) -> None:
    with pytest.raises(InvalidCard, match="expected a rank"):
        parse_card(name)


def test_a_run_of_cards_is_taken_apart() -> None:
    assert split_cards("7hKdTc") == ["7h", "Kd", "Tc"]
    assert split_cards("") == []
    with pytest.raises(InvalidCard, match="'K' is no card"):
        split_cards("7hK")
