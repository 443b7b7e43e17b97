"""Situations in which other programs of this family went wrong, on the kernel."""

from collections import Counter

import numpy as np
import pytest

from tests.kernel.bank_lockstep import EVERY_ORDER_OF_PLAY, LANES, Lockstep, advance, begin, idle
from tests.kernel.bank_positions import (
    faces,
    in_lanes,
    notations,
    pile,
    played_positions,
    position,
)
from zank_kernel import bank
from zank_kernel.bank.deal import DECK, dealt
from zank_kernel.bank.state import RUNNING
from zank_kernel.bank.table import FACE, ORIGIN


@EVERY_ORDER_OF_PLAY
def test_case_1_one_quiet_turn_each_is_no_stalemate(rules: bank.Rules) -> None:
    tableau = "Kc KdQs Kh Ks Kc Kd Kh Ks"
    start = position(rules, stock=("2c", "2d" * 18), waste=("-", "3d2d"), tableau=tableau, reserve=("9c", "9d"))
    game = begin(start).moves("TURN END TURN END")
    assert (game.seen["ending"], game.seen["quiet"]) == (RUNNING, [1, 1])
    assert "T2-T3" in game.listed


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize(("last", "notation"), [("Ah", "D-F"), ("Qh", "D-T1"), ("8d", "D-OR")])
def test_case_2_after_the_last_stock_card_is_played_the_waste_turns_over(
    rules: bank.Rules, last: str, notation: str
) -> None:
    start = position(rules, reserve=("9c", "9d"), stock=(last, "2d"), waste=("5c6c7c", "-"))
    game = begin(start).moves(f"TURN {notation}")
    assert "TURN" in game.listed
    game.moves("TURN")
    assert game.seen["drawn"] == faces(pile("5c", 0))[0]
    assert game.seen["stock"][0] == faces(pile("6c7c", 0))
    assert game.seen["waste"][0] == []
    assert game.seen["mover"] == 0


@EVERY_ORDER_OF_PLAY
def test_case_3_each_player_deals_a_full_deck(rules: bank.Rules) -> None:
    for seed in range(20):
        table = dealt(rules, seed)
        for player in (0, 1):
            own = [
                *table.reserve[player],
                *table.stock[player],
                *(card for house in table.tableau[4 * player : 4 * player + 4] for card in house),
            ]
            assert Counter(card & FACE for card in own) == Counter(DECK)
            assert {card // ORIGIN for card in own} == {player + 1}


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("place", ["OR", "OW"])
@pytest.mark.parametrize("source", ["R", "D", "T1"])
def test_case_4_a_load_fits_in_suit_and_by_one_rank(rules: bank.Rules, place: str, source: str) -> None:
    offers = [("7h", "8c", False), ("2s", "Ks", False), ("As", "Ks", False), ("7c", "9c", False), ("7h", "8d", False)]
    offers += [("7h", "7h", False), ("7h", "8h", True), ("7h", "6h", True)]
    positions = [
        position(
            rules,
            reserve=(moved if source == "R" else "-", top if place == "OR" else "Jd"),
            waste=("-", top if place == "OW" else "-"),
            tableau=f"Kc{moved if source == 'T1' else ''} Kd Kh Ks Kc Kd Kh Ks",
            drawn=moved if source == "D" else None,
            foundations="As As" if moved == "As" else "",  # so that no ace need go there
        )
        for moved, top, _ in offers
    ]
    games = Lockstep(positions, range(len(positions)))
    listed = [notations(np.flatnonzero(games.legal[:, lane]).tolist()) for lane in range(len(positions))]
    assert [f"{source}-{place}" in moves for moves in listed] == [fits for _, _, fits in offers]


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("place", ["OR", "OW"])
@pytest.mark.parametrize("source", ["R", "D", "T1"])
def test_case_5_a_card_that_fits_a_foundation_is_loaded_only_where_nothing_compels_it(
    rules: bank.Rules, place: str, source: str
) -> None:
    start = position(
        rules,
        reserve=("9c3h" if source == "R" else "9c", "4h" if place == "OR" else "Jd"),
        waste=("-", "4h" if place == "OW" else "-"),
        tableau=f"Kc{'3h' if source == 'T1' else ''} Kd Kh Ks Kc Kd Kh Ks",
        foundations="2h",
        drawn="3h" if source == "D" else None,
    )
    game = begin(start)
    if rules.preset == "bank-spiteful" and source == "T1":
        assert {"T1-F", f"T1-{place}"} <= game.listed
    else:
        assert game.listed == {f"{source}-F"}
        first = {"bank-spiteful": {"R": "S2", "D": "S3"}.get(source), "bank-russian": "R2", "bank-crapette": "C2"}
        assert game.refused(f"{source}-{place}") == (first[rules.preset], {f"{source}-F"})


@EVERY_ORDER_OF_PLAY
def test_case_6_a_player_with_nothing_to_play_or_turn_ends_the_turn(rules: bank.Rules) -> None:
    game = begin(position(rules, stock=("-", "2d3d")))
    assert game.listed == {"END"}
    assert game.moves("END").seen["mover"] == 1
    assert (game.moves("TURN END END").seen["mover"], game.seen["ending"]) == (1, RUNNING)


def test_case_14_the_moves_do_not_depend_on_hidden_cards() -> None:
    positions = played_positions(100)
    full, known = (
        np.asarray(advance(in_lanes(tables, LANES), idle()).legal)
        for tables in ([each.full() for each in positions], [each.known(marked=False) for each in positions])
    )
    np.testing.assert_array_equal(full, known)


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("place", ["OR", "OW"])
def test_a_reserve_and_a_waste_have_room_for_all_that_can_be_loaded(rules: bank.Rules, place: str) -> None:
    """Up and down the same two ranks, a hundred times."""
    start = position(
        rules,
        reserve=("9c" + "7h8h" * 50, "7h" if place == "OR" else "Jd"),
        waste=("-", "7h" if place == "OW" else "-"),
    )
    game = begin(start).moves(f"R-{place} " * 100)
    assert game.seen["ending"] == RUNNING
    count = [len(pile) for pile in (*game.seen["reserve"], *game.seen["waste"])]
    assert count == ([1, 101, 0, 0] if place == "OR" else [1, 1, 0, 101])
