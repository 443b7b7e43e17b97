"""Situations in which other programs of this family went wrong, on the kernel."""

from collections import Counter

import numpy as np
import pytest

from tests.kernel.lockstep import cards_of, census, counts_of, legal_notations, single, state_after
from tests.kernel.positions import CLASSIC, MATCH, table
from tests.oracle.malice import RANKS
from zank_kernel import malice
from zank_kernel.malice.state import KING, RUNNING, STOCK_OUT

UP_TO_JACK = "A23456789TJ"


def needed(state: malice.State) -> list[int]:
    """The rank that each center stack in use needs next."""
    return [height + 1 for height in cards_of(state).height[:3, 0].tolist()]


def stock(state: malice.State) -> str:
    """The stock by rank."""
    return "".join(letter * int(count) for letter, count in zip(RANKS, cards_of(state).stock[:, 0], strict=True))


def center_plays(state: malice.State) -> set[str]:
    """The listed moves to the center."""
    return {notation for notation in legal_notations(state) if "-C" in notation}


def hand(state: malice.State, player: int) -> str:
    """A hand by rank."""
    return "".join(RANKS[card - 1] for card in sorted(cards_of(state).hand[player, :, 0].tolist()) if card)


def side(state: malice.State, player: int, index: int) -> str:
    """A side stack, bottom to top."""
    cards = cards_of(state).side[:, player, index, 0]
    return "".join(RANKS[card - 1] for card in cards.tolist() if card)


def test_case_7_a_king_in_a_center_stack_counts_as_the_rank_it_stands_for() -> None:
    state = single(table(hand=("934AK", "56789"), centers=("AK", "A23", "A23")))
    assert center_plays(state) == {"3-C1", "4-C2", "4-C3", "K-C1", "K-C2", "K-C3"}


def test_case_8_kings_in_a_row_stand_for_one_rank_each() -> None:
    state = state_after(single(table(hand=("KKKK3", "56789"), centers=("", "A", ""))), "K-C1", "K-C1", "K-C2", "K-C2")
    assert needed(state) == [3, 4, 1]
    assert center_plays(state) == {"3-C1"}


def test_case_8_where_no_wild_starts_a_stack_kings_in_a_row_follow_an_ace() -> None:
    state = single(table(rules=CLASSIC, hand=("KKA34", "56789")))
    assert center_plays(state) == {"A-C1", "A-C2", "A-C3"}
    state = state_after(state, "A-C1", "K-C1", "K-C1")
    assert needed(state) == [4, 1, 1]
    assert center_plays(state) == {"4-C1"}


@pytest.mark.parametrize("last", ["Q", "K"])
def test_case_8_a_complete_stack_returns_its_kings_as_kings(last: str) -> None:
    state = single(table(hand=(last + "55", "56789"), centers=("A", "AKK456K89TJ", ""), stock="22"))
    state = state_after(state, f"{last}-C2")
    assert Counter(stock(state)) == Counter("22" + "AKK456K89TJ" + last)
    assert needed(state) == [2, 1, 1]


def test_case_8_a_stack_of_nothing_but_kings_returns_twelve_kings() -> None:
    assert stock(state_after(single(table(payoff=("9K", "9"), centers=("K" * 11, "", ""))), "P-C1")) == (
        "2233445566" + "K" * 12
    )


def test_case_9_a_king_discarded_on_a_side_stack_stays_wild() -> None:
    start = table(hand=("K5", "5678"), sides=("6", "", "", ""), centers=("A", "A2345", "A23456789T"))
    state = state_after(single(start), "K-S1")
    assert side(state, 0, 0) == "6K"
    waiting = single(table(sides=("6K", "", "", ""), centers=("A", "A2345", "A23456789T")))
    assert {"S1-C1", "S1-C2", "S1-C3"} <= legal_notations(waiting)
    after = state_after(waiting, "S1-C3")
    assert needed(after) == [2, 6, 12]
    assert {move for move in center_plays(after) if move.startswith("S1")} == {"S1-C2"}  # the six under it


def test_case_9_the_card_on_a_king_does_not_make_it_something_else() -> None:
    state = single(table(sides=("KQ", "QK", "", ""), centers=(UP_TO_JACK, "A", ""), hand=("55", "56789")))
    state = state_after(state, "S1-C1")
    assert {move for move in center_plays(state) if move.startswith("S")} == {
        f"S{pile}-C{center}" for pile in (1, 2) for center in (1, 2, 3)
    }


def test_case_10_the_same_king_in_hand_on_the_payoff_pile_and_on_a_side_stack_makes_three_moves() -> None:
    state = single(table(payoff=("9K", "9"), hand=("K5", "56789"), sides=("K", "", "", ""), centers=("A", "A", "A")))
    assert {"P-C1", "K-C1", "S1-C1"} <= legal_notations(state)
    from_payoff, from_hand, from_side = (state_after(state, move) for move in ("P-C1", "K-C1", "S1-C1"))
    left = [
        (int(counts_of(after)[0, 0, 0]), hand(after, 0), side(after, 0, 0))
        for after in (from_payoff, from_hand, from_side)
    ]
    assert left == [(1, "5K", "K"), (2, "5", "K"), (2, "5K", "")]


@pytest.mark.parametrize("rules", [MATCH, CLASSIC], ids=["malice-match", "malice-classic"])
@pytest.mark.parametrize("last", ["Q", "K"])
def test_case_11_twelve_cards_leave_a_complete_stack_and_the_stock_grows_by_twelve(
    rules: malice.Rules, last: str
) -> None:
    rest = Counter(RANKS * 8) - Counter(UP_TO_JACK + last + "5")
    cards = "".join(sorted(rest.elements()))
    start = table(
        rules=rules,
        payoff=(cards[:20], cards[20:40]),
        hand=(last + "5", cards[40:45]),
        centers=(UP_TO_JACK, "", ""),
        stock=cards[45:],
    )
    before = single(start)
    after = state_after(before, f"{last}-C1")
    assert (census(before)[:, 0] == 8).all()
    assert (census(after)[:, 0] == 8).all()
    assert Counter(stock(after)) == Counter(cards[45:] + UP_TO_JACK + last)
    assert needed(after) == [1, 1, 1]


def test_case_12_a_card_that_fits_one_stack_only_is_listed_for_that_one_only() -> None:
    state = single(table(payoff=("93", "9"), hand=("3", "56789"), sides=("3", "", "", ""), centers=("A", "A2", "")))
    assert center_plays(state) == {"P-C2", "S1-C2", "3-C2"}


def test_case_12_a_card_lands_on_the_stack_named_although_others_would_take_it() -> None:
    state = single(table(hand=("2K555", "56789"), centers=("A", "A", "A")))
    assert needed(state_after(state, "2-C2")) == [2, 3, 2]
    assert needed(state_after(state, "K-C3")) == [2, 2, 3]


def test_case_13_a_turn_goes_on_with_fewer_cards_and_nothing_is_drawn() -> None:
    state = single(table(hand=("2345", "5678"), centers=("A", "", "")))
    for move, left in (("2-C1", "345"), ("3-C1", "45"), ("4-C1", "5")):
        state = state_after(state, move)
        assert hand(state, 0) == left
        assert int(np.asarray(state.drawn).sum()) == 0


def test_case_13_a_draw_happens_once_for_each_turn_and_each_emptied_hand() -> None:
    state = state_after(single(table(hand=("2", "567"), centers=("A", "", ""), stock="3" * 20)), "2-C1")
    assert hand(state, 0) == "33333"
    assert np.asarray(state.drawn)[:, 0].tolist() == [5, 0]
    state = state_after(state, "3-S1")
    assert hand(state, 1) == "33567"
    assert np.asarray(state.drawn)[:, 0].tolist() == [5, 2]
    assert int(state.ending[0]) == RUNNING


def test_case_14_the_moves_do_not_depend_on_cards_the_mover_cannot_see() -> None:
    known = table(payoff=("2A9", "KK7"), hand=("2K55", "AAAA"), sides=("7", "", "", ""), centers=("A", "A2", ""))
    hidden = table(
        payoff=("xx9", "xx7"), hand=("2K55", "xxxx"), sides=("7", "", "", ""), centers=("A", "A2", ""), stock="x" * 10
    )
    assert legal_notations(single(known)) == legal_notations(single(hidden))


def test_m11_a_dry_stock_ends_the_game_in_mid_turn() -> None:
    state = single(table(payoff=("3", "9"), hand=("2", "56789"), centers=("A", "", ""), stock="44444"))
    state = state_after(state, "2-C1")
    assert int(state.ending[0]) == STOCK_OUT
    assert int(state.points[0]) == 0
    assert legal_notations(state) == set()


def test_m12_the_winner_gets_a_point_for_each_payoff_card_that_the_loser_has_left() -> None:
    for mover, payoff, points in ((0, ("2", "9" * 30), 30), (1, ("9" * 7, "2"), -7)):
        start = table(mover=mover, payoff=payoff, centers=("A", "", ""))
        assert int(state_after(single(start), "P-C1").points[0]) == points


def test_sizes_leave_room_for_side_stacks_of_every_depth() -> None:
    pile = "".join(RANKS[number % KING] for number in range(90))
    state = state_after(single(table(hand=("K5", "5678"), sides=("", "", "", pile))), "K-S4")
    assert side(state, 0, 3) == pile + "K"
