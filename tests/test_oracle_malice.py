"""The rules of Spite & Malice, stated on the plain-Python oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.malice import (
    HAND_SIZE,
    KING,
    MALICE_CLASSIC,
    MALICE_MATCH,
    RANKS,
    DrawCards,
    Game,
    IllegalMove,
    Move,
    Result,
    Rules,
    discard,
    hand_play,
    parse,
    payoff_play,
    side_play,
)
from tests.oracle.shuffle import DECK, Stream, recycle
from tests.oracle.shuffle import deal as deal_named

SHORT = replace(MALICE_MATCH, stock_out_when="short")
SIDE_PLAY_ENDS_TURN = replace(MALICE_MATCH, side_play_ends_turn=True)
UP_TO_JACK = "A23456789TJ"
DECK_OF_RANKS = [rank for rank in range(1, KING + 1) for _ in range(8)]
PRESETS = pytest.mark.parametrize("rules", [MALICE_MATCH, MALICE_CLASSIC], ids=["malice-match", "malice-classic"])

EVERY_MOVE = [
    parse(f"{source}-{target}")
    for source, target in product(
        ["P", "S1", "S2", "S3", "S4", *RANKS], ["C1", "C2", "C3", "S1", "S2", "S3", "S4", "H"]
    )
]


def ranks(text: str) -> list[int]:
    """A pile from its rank letters, bottom to top."""
    return [RANKS.index(letter) + 1 for letter in text]


def table(
    *,
    rules: Rules = MALICE_MATCH,
    payoff: tuple[str, str] = ("99", "99"),
    hand: tuple[str, str] = ("5678", "56789"),
    sides: tuple[str, str, str, str] = ("", "", "", ""),
    centers: tuple[str, str, str] = ("", "", ""),
    stock: str = "2233445566",
) -> Game:
    """A position with player 0 in mid-turn; `sides` are player 0's."""
    return Game(
        rules=rules,
        payoff=[ranks(pile) for pile in payoff],
        hand=[ranks(pile) for pile in hand],
        sides=[[ranks(pile) for pile in sides], [[], [], [], []]],
        centers=[ranks(pile) for pile in centers],
        stock=Counter(ranks(stock)),
    )


def gives(text: str) -> DrawCards:
    """Draws that hand out exactly these cards in this order, if as many are asked for."""
    return lambda player, count, stock: ranks(text)


def no_draw(player: int, count: int, stock: Counter[int]) -> list[int]:
    """Draws that must not happen."""
    raise AssertionError("nothing should be drawn")


def chance(rng: random.Random) -> DrawCards:
    """Draws at random."""
    return lambda player, count, stock: rng.sample(sorted(stock.elements()), count)


def refusal(game: Game, notation: str) -> str | None:
    """The rule a move breaks; a refused move is checked to change nothing and not to be listed."""
    move = parse(notation)
    rule = game.explain(move)
    assert (rule is None) == (move in game.legal_moves())
    if rule is not None:
        before = deepcopy(game)
        with pytest.raises(IllegalMove) as caught:
            game.play(move, no_draw)
        assert caught.value.rule == rule
        assert game == before
    return rule


def random_deal(rules: Rules, rng: random.Random) -> Game:
    deck = list(DECK_OF_RANKS)
    rng.shuffle(deck)
    return Game.deal(rules, deck, rng.randrange(2))


def eager(moves: list[Move], rng: random.Random) -> Move:
    """Plays to the center while it can, the payoff top first, a hand king only now and then."""

    def keenness(move: Move) -> tuple[bool, bool, float]:
        spends_king = move.source == "hand" and move.which == KING
        return (
            move.source == "payoff",
            move.target == "center" and (not spends_king or rng.random() < 0.3),
            rng.random(),
        )

    return max(moves, key=keenness)


# M1: setup ---------------------------------------------------------------------------------------------------------


@PRESETS
@pytest.mark.parametrize("payoff_cards", [1, 20, 30])
def test_m1_deals_payoff_piles_and_hands_and_leaves_the_rest_as_stock(rules: Rules, payoff_cards: int) -> None:
    game = random_deal(replace(rules, payoff_cards=payoff_cards), random.Random(1))
    assert [len(pile) for pile in game.payoff] == [payoff_cards] * 2
    assert [len(hand) for hand in game.hand] == [5, 5]
    assert game.stock.total() == 104 - 2 * payoff_cards - 10
    assert not any(game.centers)
    assert not any(game.sides[0] + game.sides[1])
    assert game.cards() == Counter(DECK_OF_RANKS)


@pytest.mark.parametrize("starter", [0, 1])
def test_m1_the_starter_is_part_of_the_deal(starter: int) -> None:
    deck = list(DECK_OF_RANKS)
    assert Game.deal(MALICE_MATCH, deck, starter).mover == starter


# M2: drawing at the start of a turn --------------------------------------------------------------------------------


def test_m2_a_turn_starts_by_drawing_up_to_five_cards() -> None:
    game = table(hand=("56", "78"))
    game.play(parse("5-S1"), gives("236"))
    assert game.mover == 1
    assert game.hand == [ranks("6"), ranks("78236")]
    assert game.stock == Counter(ranks("2344556"))


def test_m2_nothing_is_drawn_with_five_cards_in_hand() -> None:
    game = table(hand=("56", "56789"))
    game.play(parse("5-S1"), no_draw)
    assert game.hand[1] == ranks("56789")
    assert game.result is None


def test_m2_only_the_player_whose_turn_starts_draws() -> None:
    game = table(hand=("5", "6789"))
    asked: list[tuple[int, int]] = []

    def draw(player: int, count: int, stock: Counter[int]) -> list[int]:
        asked.append((player, count))
        return ranks("2")

    game.play(parse("5-S1"), draw)
    assert asked == [(1, 1)]
    assert game.hand[0] == []  # emptied by a discard: M8 does not apply


@pytest.mark.parametrize("drawn", ["2", "223", "77"])
def test_m2_the_drawn_cards_are_as_many_as_due_and_come_from_the_stock(drawn: str) -> None:
    with pytest.raises(ValueError, match="cannot draw"):
        table(hand=("56", "789")).play(parse("5-S1"), gives(drawn))


# M3, M4: the center ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("height", range(12))
def test_m3_m4_the_next_rank_and_the_king_fit_and_nothing_else(height: int) -> None:
    stack = UP_TO_JACK[:height]
    for letter in RANKS:
        game = table(hand=(letter, "56789"), centers=(stack, "", ""))
        fits = letter == "K" or RANKS.index(letter) == height
        assert refusal(game, f"{letter}-C1") == (None if fits else "M3")


def test_m3_each_center_stack_has_its_own_height() -> None:
    game = table(hand=("3", "56789"), centers=("A", "A2", "A23"))
    assert [refusal(game, f"3-C{n}") for n in (1, 2, 3)] == ["M3", None, "M3"]


@pytest.mark.parametrize("source", ["P", "S2", "K"])
def test_m4_a_king_starts_a_stack_only_where_a_wild_may(source: str) -> None:
    for wild_starts_stack, rule in ((True, None), (False, "M4")):
        rules = replace(MALICE_MATCH, wild_starts_stack=wild_starts_stack)
        game = table(rules=rules, payoff=("9K", "9"), hand=("K8", "56789"), sides=("", "K", "", ""))
        assert refusal(game, f"{source}-C1") == rule


def test_m4_the_presets_differ_in_whether_a_king_starts_a_stack() -> None:
    assert refusal(table(rules=MALICE_MATCH, hand=("K", "5")), "K-C1") is None
    assert refusal(table(rules=MALICE_CLASSIC, hand=("K", "5")), "K-C1") == "M4"


def test_m4_without_starting_wilds_an_ace_starts_a_stack_and_a_king_continues_it() -> None:
    game = table(rules=MALICE_CLASSIC, hand=("AK5", "56789"))
    assert refusal(game, "5-C1") == "M3"
    game.play(parse("A-C1"), no_draw)
    game.play(parse("K-C1"), no_draw)
    assert game.centers[0] == ranks("AK")


def test_m4_a_stack_emptied_by_completion_takes_a_king_only_where_a_wild_may_start() -> None:
    for rules, rule in ((MALICE_MATCH, None), (MALICE_CLASSIC, "M4")):
        game = table(rules=rules, hand=("QK", "56789"), centers=(UP_TO_JACK, "A", "A"))
        game.play(parse("Q-C1"), no_draw)
        assert refusal(game, "K-C1") == rule


# M5: plays to the center -------------------------------------------------------------------------------------------


def test_m5_payoff_side_and_hand_are_played_in_any_order_within_a_turn() -> None:
    for order in (("P-C1", "S2-C2", "4-C3"), ("4-C3", "P-C1", "S2-C2"), ("S2-C2", "4-C3", "P-C1")):
        game = table(payoff=("82", "9"), hand=("49", "56789"), sides=("", "73", "", ""), centers=("A", "A2", "A23"))
        for notation in order:
            game.play(parse(notation), no_draw)
        assert game.mover == 0
        assert game.centers == [ranks("A2"), ranks("A23"), ranks("A234")]
        assert (game.payoff[0], game.sides[0][1], game.hand[0]) == (ranks("8"), ranks("7"), ranks("9"))


def test_m5_the_next_payoff_card_can_be_played_at_once() -> None:
    game = table(payoff=("932", "9"), centers=("A", "", ""))
    assert refusal(game, "P-C1") is None
    game.play(parse("P-C1"), no_draw)
    game.play(parse("P-C1"), no_draw)
    assert game.centers[0] == ranks("A23")


def test_m5_only_the_top_of_a_side_stack_and_of_the_payoff_pile_is_played() -> None:
    game = table(payoff=("29", "9"), sides=("27", "", "", ""), centers=("A", "", ""))
    assert refusal(game, "S1-C1") == "M3"
    assert refusal(game, "P-C1") == "M3"


def test_m5_a_card_that_is_not_there_is_not_played() -> None:
    game = table(hand=("56", "23456"), centers=("A", "", ""))
    assert refusal(game, "2-C1") == "M5"  # only the opponent holds a two
    assert refusal(game, "S3-C1") == "M5"
    game.sides[1][2] = ranks("2")
    assert refusal(game, "S3-C1") == "M5"  # the opponent's side stacks are not one's own


def test_m5_of_two_equal_ranks_in_hand_one_leaves_and_the_order_of_the_others_stays() -> None:
    game = table(hand=("72627", "56789"), centers=("A", "", ""))
    assert sum(move.which == 2 and move.target == "center" for move in game.legal_moves()) == 1
    game.play(parse("2-C1"), no_draw)
    assert game.hand[0] == ranks("7627")


# M6, M7: discarding ------------------------------------------------------------------------------------------------


def test_m6_any_hand_card_goes_on_any_own_side_stack_of_any_depth() -> None:
    deep = "3KQ9" * 6
    game = table(hand=("AK7", "56789"), sides=("", "A", "K", deep))
    for letter, side in product("AK7", range(4)):
        after = deepcopy(game)
        assert refusal(after, f"{letter}-S{side + 1}") is None
        after.play(parse(f"{letter}-S{side + 1}"), no_draw)
        assert after.sides[0][side] == game.sides[0][side] + ranks(letter)
        assert not any(after.sides[1])


def test_m6_a_discard_ends_the_turn_and_nothing_else_does() -> None:
    game = table(payoff=("9A", "9"), hand=("2399", "56789"), sides=("4", "", "", ""))
    for notation, mover in (("P-C1", 0), ("2-C1", 0), ("3-C1", 0), ("S1-C1", 0), ("9-S1", 1)):
        game.play(parse(notation), no_draw)
        assert game.mover == mover


def test_m6_there_is_no_passing_and_no_discarding_a_card_not_held() -> None:
    game = table(hand=("5", "56789"))
    assert game.legal_moves() == {discard(5, side) for side in range(4)}
    assert refusal(game, "6-S1") == "M6"
    for notation in ("END", "PASS", "TURN", "", "5", "5-"):
        with pytest.raises(ValueError, match="not a move"):
            parse(notation)


def test_m6_side_play_ends_turn_lets_a_play_from_a_side_stack_end_the_turn() -> None:
    game = table(rules=SIDE_PLAY_ENDS_TURN, sides=("2", "", "", ""), centers=("A", "", ""), hand=("56", "789"))
    game.play(parse("S1-C1"), gives("23"))
    assert game.mover == 1
    assert game.hand == [ranks("56"), ranks("78923")]


@pytest.mark.parametrize(("notation", "mover"), [("P-C1", 0), ("2-C1", 0), ("5-S1", 1)])
def test_m6_side_play_ends_turn_changes_no_other_move(notation: str, mover: int) -> None:
    game = table(rules=SIDE_PLAY_ENDS_TURN, payoff=("92", "9"), hand=("25", "56789"), centers=("A", "", ""))
    game.play(parse(notation), no_draw)
    assert game.mover == mover


def test_m6_a_side_play_that_completes_a_stack_recycles_before_the_next_player_draws() -> None:
    game = table(
        rules=SIDE_PLAY_ENDS_TURN, sides=("Q", "", "", ""), centers=(UP_TO_JACK, "", ""), hand=("5", "5678"), stock=""
    )
    game.play(parse("S1-C1"), gives("Q"))
    assert game.hand[1] == ranks("5678Q")
    assert (game.mover, game.result, game.stock.total()) == (1, None, 11)


@pytest.mark.parametrize("notation", ["P-S1", "P-H", "S1-S2", "S1-S1", "S1-H", "5-H"])
def test_m7_only_hand_cards_are_discarded_and_nothing_moves_elsewhere(notation: str) -> None:
    assert refusal(table(sides=("7", "", "", "")), notation) == "M7"


# M8: the emptied hand ----------------------------------------------------------------------------------------------


def test_m8_a_hand_emptied_by_a_play_to_the_center_is_refilled_in_the_same_turn() -> None:
    game = table(hand=("2", "56789"), centers=("A", "", ""))
    game.play(parse("2-C1"), gives("34256"))
    assert game.mover == 0
    assert game.hand[0] == ranks("34256")


def test_m8_a_hand_that_still_holds_a_card_is_not_refilled() -> None:
    game = table(hand=("27", "56789"), centers=("A", "", ""))
    game.play(parse("2-C1"), no_draw)
    assert game.hand[0] == ranks("7")


# M9: completed stacks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", ["Q", "K"])
@pytest.mark.parametrize("source", ["payoff", "side", "hand"])
def test_m9_a_completed_stack_goes_back_to_the_stock_from_whichever_source(source: str, last: str) -> None:
    game = table(
        payoff=("9" + last, "9"),
        hand=(last + "5", "56789"),
        sides=("", "", last, ""),
        centers=("A", "KK3K56789TJ", "A2"),
        stock="22",
    )
    before = game.cards()
    game.play(parse({"payoff": "P-C2", "side": "S3-C2", "hand": f"{last}-C2"}[source]), no_draw)
    assert game.centers == [ranks("A"), [], ranks("A2")]
    assert game.stock == Counter(ranks("22" + "KK3K56789TJ" + last))
    assert game.recycled == Counter(ranks("KK3K56789TJ" + last))
    assert game.cards() == before
    assert game.mover == 0


def test_m9_happens_before_m8_draws() -> None:
    game = table(hand=("Q", "56789"), centers=(UP_TO_JACK, "", ""), stock="")
    game.play(parse("Q-C1"), gives("A23JQ"))  # nothing else was in the stock
    assert game.hand[0] == ranks("A23JQ")
    assert (game.result, game.stock.total()) == (None, 7)


def test_recycled_cards_leave_the_record_when_shown_from_a_hand_and_not_otherwise() -> None:
    game = table(payoff=("999", "9"), hand=("9555", "5678"), sides=("8", "", "", ""), centers=("A23456K", "", ""))
    game.recycled = Counter(ranks("5889"))
    game.play(parse("S1-C1"), no_draw)  # it lay open before
    assert game.recycled == Counter(ranks("5889"))
    game.play(parse("P-C1"), no_draw)  # payoff cards were never recycled
    assert game.recycled == Counter(ranks("5889"))
    game.play(parse("5-S1"), gives("2"))
    assert game.recycled == Counter(ranks("889"))
    game.play(parse("5-S1"), gives("23"))  # none is recorded any more
    assert game.recycled == Counter(ranks("889"))


# M10: winning ------------------------------------------------------------------------------------------------------


@PRESETS
def test_m10_playing_the_last_payoff_card_wins_at_once(rules: Rules) -> None:
    game = table(rules=rules, payoff=("2", "999"), centers=("A", "", ""))
    game.play(parse("P-C1"), no_draw)
    assert game.result == Result("out", 0, 3)
    assert game.mover == 0
    assert game.legal_moves() == set()
    assert refusal(game, "5-S1") == "M10"


def test_m10_comes_before_m9() -> None:
    game = table(payoff=("Q", "99"), centers=(UP_TO_JACK, "", ""), stock="22")
    game.play(parse("P-C1"), no_draw)
    assert game.result == Result("out", 0, 2)
    assert game.centers[0] == ranks(UP_TO_JACK + "Q")
    assert game.stock == Counter(ranks("22"))
    assert not game.recycled


def test_m10_also_the_second_player_wins() -> None:
    game = table(payoff=("9999", "2"), centers=("A", "", ""))
    game.mover = 1
    game.play(parse("P-C1"), no_draw)
    assert game.result == Result("out", 1, 4)


# M11: the stock runs out -------------------------------------------------------------------------------------------


def test_m11_a_draw_at_the_start_of_a_turn_that_empties_the_stock_ends_the_game() -> None:
    game = table(hand=("5", "678"), stock="23")
    game.play(parse("5-S1"), gives("23"))
    assert game.result == Result("stock", None, 0)
    assert game.hand[1] == ranks("67823")
    assert game.mover == 1
    assert game.legal_moves() == set()
    assert refusal(game, "6-S1") == "M11"


def test_m11_ends_the_game_in_mid_turn_although_the_payoff_top_could_be_played() -> None:
    game = table(payoff=("3", "9"), hand=("2", "56789"), centers=("A", "", ""), stock="44444")
    game.play(parse("2-C1"), gives("44444"))
    assert game.result == Result("stock", None, 0)
    assert game.payoff[0] == ranks("3")


@pytest.mark.parametrize("rules", [MALICE_MATCH, SHORT], ids=["emptied", "short"])
def test_m11_a_draw_that_cannot_be_completed_takes_the_cards_there_are(rules: Rules) -> None:
    game = table(rules=rules, hand=("2", "56789"), centers=("A", "", ""), stock="34")
    game.play(parse("2-C1"), gives("43"))
    assert game.result == Result("stock", None, 0)
    assert game.hand[0] == ranks("43")
    assert game.stock.total() == 0


@pytest.mark.parametrize("rules", [MALICE_MATCH, SHORT], ids=["emptied", "short"])
def test_m11_a_full_hand_draws_nothing_so_an_empty_stock_does_not_matter(rules: Rules) -> None:
    game = table(rules=rules, hand=("56", "56789"), stock="")
    game.play(parse("5-S1"), no_draw)
    assert game.result is None
    assert game.mover == 1


def test_m11_a_stock_with_one_card_left_plays_on() -> None:
    game = table(hand=("56", "5678"), stock="23")
    game.play(parse("5-S1"), gives("3"))
    assert game.result is None


def test_m11_short_plays_on_with_an_empty_stock_until_a_draw_falls_short() -> None:
    game = table(rules=SHORT, hand=("56", "678"), stock="23")
    game.play(parse("5-S1"), gives("23"))
    assert (game.result, game.stock.total()) == (None, 0)
    game.play(parse("2-S1"), no_draw)  # player 0 holds one card and can draw none
    assert game.result == Result("stock", None, 0)
    assert game.mover == 0


def test_m11_m9_may_refill_an_empty_stock_before_the_next_draw() -> None:
    game = table(rules=SHORT, hand=("Q5", "56"), centers=(UP_TO_JACK, "", ""), stock="")
    game.play(parse("Q-C1"), no_draw)
    game.play(parse("5-S1"), gives("A23"))
    assert (game.result, game.stock.total()) == (None, 9)


@pytest.mark.parametrize(
    ("payoff", "result"),
    [
        (("99", "9"), Result("stock", 1, 1)),
        (("9", "9999"), Result("stock", 0, 3)),
        (("99", "99"), Result("stock", None, 0)),
    ],
)
def test_m11_malice_classic_gives_a_dry_stock_to_the_shorter_payoff_pile(
    payoff: tuple[str, str], result: Result
) -> None:
    game = table(rules=MALICE_CLASSIC, payoff=payoff, hand=("5", "678"), stock="23")
    game.play(parse("5-S1"), gives("23"))
    assert game.result == result


def test_m11_counts_the_payoff_card_just_played() -> None:
    game = table(rules=MALICE_CLASSIC, payoff=("92", "99"), hand=("3", "56789"), centers=("A", "", ""), stock="44444")
    game.play(parse("P-C1"), no_draw)
    game.play(parse("3-C1"), gives("44444"))
    assert game.result == Result("stock", 0, 1)


# M12: the score ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [1, 7, 20])
def test_m12_the_winner_gets_a_point_for_each_payoff_card_the_loser_has_left(left: int) -> None:
    game = table(payoff=("2", "9" * left), centers=("A", "", ""))
    game.play(parse("P-C1"), no_draw)
    assert game.result == Result("out", 0, left)


def test_m12_a_tie_scores_nothing_however_far_apart_the_payoff_piles_are() -> None:
    game = table(payoff=("9", "9" * 20), hand=("5", "678"), stock="23")
    game.play(parse("5-S1"), gives("23"))
    assert game.result == Result("stock", None, 0)


# Situations in which other programs went wrong ---------------------------------------------------------------------


def test_case_7_a_king_counts_as_the_rank_it_stands_for() -> None:
    game = table(hand=("934AK", "56789"), centers=("AK", "", ""))
    assert {letter: refusal(game, f"{letter}-C1") for letter in "934AK"} == {
        "9": "M3",
        "3": None,
        "4": "M3",
        "A": "M3",
        "K": None,
    }


def test_case_8_two_kings_in_a_row_stand_for_two_ranks() -> None:
    game = table(hand=("KKKK3", "56789"), centers=("", "A", ""))
    for notation in ("K-C1", "K-C1", "K-C2", "K-C2"):
        game.play(parse(notation), no_draw)
    assert game.centers[:2] == [ranks("KK"), ranks("AKK")]
    assert refusal(game, "3-C1") is None
    assert refusal(game, "3-C2") == "M3"
    game.hand[0] = ranks("4")
    assert refusal(game, "4-C2") is None
    assert refusal(game, "4-C1") == "M3"


def test_case_8_a_completed_stack_gives_its_kings_back_as_kings() -> None:
    game = table(hand=("K5", "56789"), centers=("AKK456789TJ", "", ""), stock="")
    game.play(parse("K-C1"), no_draw)
    assert game.stock == Counter(ranks("AKK456789TJK"))


def test_case_9_a_king_discarded_on_a_side_stack_stays_wild() -> None:
    game = table(hand=("K", "56789"), sides=("6", "", "", ""), centers=("A", "A2345", "A23456789T"))
    game.play(parse("K-S1"), no_draw)
    assert game.sides[0][0] == ranks("6K")
    game.mover = 0
    assert {side_play(0, center) for center in range(3)} <= game.legal_moves()
    game.play(parse("S1-C3"), no_draw)
    assert game.centers[2] == ranks("A23456789TK")
    assert refusal(game, "S1-C2") is None  # the six under it
    assert refusal(game, "S1-C3") == "M3"


def test_case_10_the_same_king_in_hand_and_on_the_payoff_pile_makes_two_moves() -> None:
    game = table(payoff=("9K", "9"), hand=("K5", "56789"), sides=("K", "", "", ""), centers=("A", "", ""))
    assert {payoff_play(0), hand_play(KING, 0), side_play(0, 0)} <= game.legal_moves()
    from_payoff, from_hand = deepcopy(game), deepcopy(game)
    from_payoff.play(parse("P-C1"), no_draw)
    assert (from_payoff.payoff[0], from_payoff.hand[0]) == (ranks("9"), ranks("K5"))
    from_hand.play(parse("K-C1"), no_draw)
    assert (from_hand.payoff[0], from_hand.hand[0]) == (ranks("9K"), ranks("5"))


@pytest.mark.parametrize("last", ["Q", "K"])
def test_case_11_twelve_cards_leave_a_completed_stack_and_the_stock_grows_by_twelve(last: str) -> None:
    game = random_deal(MALICE_MATCH, random.Random(11))
    rest = game.cards() - Counter(ranks(UP_TO_JACK + last + "5"))
    others = sorted(rest.elements())
    game.centers[0], game.hand = ranks(UP_TO_JACK), [ranks(last + "5"), others[:5]]
    game.payoff, game.stock = [others[5:25], others[25:45]], Counter(others[45:])
    before = game.stock.copy()
    assert game.cards().total() == 104
    game.play(parse(f"{last}-C1"), no_draw)
    assert game.stock - before == Counter(ranks(UP_TO_JACK + last))
    assert game.cards() == Counter(DECK_OF_RANKS)


def test_case_12_a_card_that_does_not_fit_is_refused_and_lands_nowhere_else() -> None:
    game = table(payoff=("93", "9"), hand=("3", "56789"), sides=("3", "", "", ""), centers=("A", "A2", ""))
    for source in ("P", "S1", "3"):
        assert refusal(game, f"{source}-C1") == "M3"  # C2 would take it
        assert refusal(game, f"{source}-C3") == "M3"
        assert refusal(game, f"{source}-C2") is None


def test_case_13_no_draw_is_a_move_and_a_turn_goes_on_with_fewer_cards() -> None:
    for notation in ("DRAW", "D", "K-D", "D-H"):
        with pytest.raises(ValueError, match="not a move"):
            parse(notation)
    game = table(hand=("2345", "56789"), centers=("A", "", ""))
    for notation, left in (("2-C1", "345"), ("3-C1", "45"), ("4-C1", "5")):
        game.play(parse(notation), no_draw)
        assert game.hand[0] == ranks(left)


@given(st.integers(0, 2**32))
def test_case_14_cards_the_mover_cannot_see_change_no_legal_move(seed: int) -> None:
    rng = random.Random(seed)
    game = random_deal(rng.choice([MALICE_MATCH, MALICE_CLASSIC]), rng)
    for _ in range(rng.randrange(30)):
        game.play(rng.choice(sorted(game.legal_moves())), chance(rng))
        if game.result is not None:
            return
    legal = game.legal_moves()
    me, other = game.mover, 1 - game.mover
    hidden = [*game.payoff[me][:-1], *game.payoff[other][:-1], *game.hand[other], *game.stock.elements()]
    rng.shuffle(hidden)
    for pile in (game.payoff[me], game.payoff[other]):
        pile[:-1] = [hidden.pop() for _ in pile[:-1]]
    game.hand[other] = [hidden.pop() for _ in game.hand[other]]
    game.stock = Counter(hidden)
    assert game.legal_moves() == legal


# Whole games -------------------------------------------------------------------------------------------------------

ANY_RULES = st.builds(
    Rules,
    payoff_cards=st.sampled_from([1, 3, 20, 30]),
    wild_starts_stack=st.booleans(),
    side_play_ends_turn=st.booleans(),
    stock_out_when=st.sampled_from(["emptied", "short"]),
    stock_out_result=st.sampled_from(["tie", "shorter"]),
)


def uniform(moves: list[Move], rng: random.Random) -> Move:
    return rng.choice(moves)


def play_out(game: Game, rng: random.Random, choose: Callable[[list[Move], random.Random], Move], bound: int) -> int:
    """Plays to the end or to `bound` moves, checking what must hold at every step; the number of moves made."""
    deck = game.cards()
    for made in range(bound):
        if game.result is not None:
            return made
        mover = game.mover
        moves = sorted(game.legal_moves())
        assert moves  # a player always holds a card to discard
        move = choose(moves, rng)
        game.play(move, chance(rng))
        assert game.cards() == deck
        assert all(len(hand) <= HAND_SIZE for hand in game.hand)
        assert game.recycled <= game.stock + Counter(game.hand[0] + game.hand[1])
        if game.result is None:
            assert all(game.payoff)
            assert game.hand[game.mover]
            assert all(card in (height + 1, KING) for stack in game.centers for height, card in enumerate(stack))
            assert all(len(stack) < 12 for stack in game.centers)
            side_play_ends = game.rules.side_play_ends_turn and move.source == "side"
            assert (game.mover != mover) == (move.target == "side" or side_play_ends)
    return bound


@settings(deadline=None, max_examples=60)
@given(rules=ANY_RULES, seed=st.integers(0, 2**32), choose=st.sampled_from([uniform, eager]))
def test_a_game_conserves_its_104_cards_and_comes_to_an_end(
    rules: Rules, seed: int, choose: Callable[[list[Move], random.Random], Move]
) -> None:
    rng = random.Random(seed)
    game = random_deal(rules, rng)
    assert game.cards() == Counter(DECK_OF_RANKS)
    play_out(game, rng, choose, 3000)
    if game.result is None:
        return  # cut at the bound
    ending, winner, points = game.result
    left = [len(pile) for pile in game.payoff]
    if ending == "out":
        assert winner is not None
        assert left[winner] == 0
        assert points == left[1 - winner] > 0
        assert game.mover == winner
    else:
        assert min(left) > 0
        assert (game.stock.total() == 0) or rules.stock_out_when == "short"
        if rules.stock_out_result == "tie":
            assert (winner, points) == (None, 0)
        else:
            assert points == abs(left[0] - left[1])
            assert winner == (None if points == 0 else left.index(min(left)))


@settings(deadline=None, max_examples=30)
@given(rules=ANY_RULES, seed=st.integers(0, 2**32), steps=st.integers(0, 60))
def test_a_move_is_listed_exactly_when_it_can_be_played_and_a_refused_one_changes_nothing(
    rules: Rules, seed: int, steps: int
) -> None:
    rng = random.Random(seed)
    game = random_deal(rules, rng)
    play_out(game, rng, eager, steps)
    legal = game.legal_moves()
    for move in EVERY_MOVE:
        after = deepcopy(game)
        if game.explain(move) is None:
            assert move in legal
            after.play(move, chance(rng))
            assert after != game
        else:
            assert move not in legal
            with pytest.raises(IllegalMove):
                after.play(move, chance(rng))
            assert after == game


@PRESETS
def test_games_of_both_presets_end_in_both_ways(rules: Rules) -> None:
    endings: Counter[str] = Counter()
    for seed in range(20):
        for choose in (uniform, eager):
            rng = random.Random(seed)
            game = random_deal(rules, rng)
            assert play_out(game, rng, choose, 3000) < 3000
            assert game.result is not None
            endings[game.result.ending] += 1
    assert set(endings) == {"out", "stock"}


# Notation ----------------------------------------------------------------------------------------------------------


def test_every_move_is_read_back_from_its_notation() -> None:
    assert all(parse(str(move)) == move for move in EVERY_MOVE)
    assert len({str(move) for move in EVERY_MOVE}) == len(EVERY_MOVE)


@pytest.mark.parametrize("notation", ["P-C4", "S5-C1", "S0-C1", "1-C1", "10-C1", "P-C0", "7-S5", "7h-C2", "p-c1"])
def test_a_place_or_card_that_does_not_exist_is_no_move(notation: str) -> None:
    with pytest.raises(ValueError, match="not a move"):
        parse(notation)


# The documented shuffle --------------------------------------------------------------------------------------------

SEEDS = st.integers(0, 2**64 - 1)


@given(seed=SEEDS, payoff_cards=st.integers(1, 30))
def test_m1_a_deal_by_seed_is_two_decks_and_repeats(seed: int, payoff_cards: int) -> None:
    deal = deal_named(seed, payoff_cards)
    assert [len(pile) for pile in (*deal.payoff, *deal.hand)] == [payoff_cards, payoff_cards, 5, 5]
    assert Counter([*deal.payoff[0], *deal.payoff[1], *deal.hand[0], *deal.hand[1], *deal.stock]) == Counter(DECK)
    assert deal.starter in (1, 2)
    assert deal == deal_named(seed, payoff_cards)


@given(seed=SEEDS, count=st.integers(1, 2**32 - 1))
def test_m9_recycling_by_seed_keeps_the_cards_and_depends_on_the_number_of_the_shuffle(seed: int, count: int) -> None:
    stock, center = list(DECK[:20]), list(DECK[52:64])
    shuffled = recycle(stock, center, seed, count)
    assert Counter(shuffled) == Counter(stock + center)
    assert shuffled != recycle(stock, center, seed, count - 1)


@given(seed=SEEDS, count=st.integers(0, 2**32 - 1), event=st.integers(0, 2**32 - 1), n=st.integers(1, 104))
def test_random_numbers_stay_below_their_bound(seed: int, count: int, event: int, n: int) -> None:
    assert 0 <= Stream(seed, count).below(event, n) < n


def test_a_shuffle_puts_every_card_everywhere_equally_often() -> None:
    cards = ["Ac", "2c", "3c", "4c"]
    orders = Counter(tuple(Stream(seed, 0).shuffle(cards)) for seed in range(24 * 200))
    assert len(orders) == 24
    # 24 orders, 200 expected each: chi-squared with 23 degrees of freedom exceeds 50 once in a thousand samples.
    assert sum((seen - 200) ** 2 / 200 for seen in orders.values()) < 50


def test_each_player_starts_half_of_the_deals() -> None:
    starters = Counter(1 + Stream(seed, 0).below(0, 2) for seed in range(4000))
    assert abs(starters[1] - 2000) < 4 * 32  # the standard deviation is 32
