"""The rules of Russian Bank, stated on the plain-Python oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.bank import (
    BANK_CRAPETTE,
    BANK_RUSSIAN,
    BANK_SPITEFUL,
    END,
    EVERY_MOVE,
    FULL_DECK,
    RANKS,
    SUITS,
    TURN,
    Game,
    IllegalMove,
    Move,
    Pile,
    Result,
    Rules,
    card,
    parse,
)
from tests.oracle.shuffle import DECK, Stream, deal_bank

FOUNDATION_FIRST = replace(BANK_SPITEFUL, reserve_first="foundation")
SCORED_STALEMATE = replace(BANK_SPITEFUL, stalemate_scoring="difference")
NAMES = {
    "bank-spiteful": BANK_SPITEFUL,
    "foundation": FOUNDATION_FIRST,
    "bank-russian": BANK_RUSSIAN,
    "bank-crapette": BANK_CRAPETTE,
}
PRESETS = pytest.mark.parametrize(
    "rules", [BANK_SPITEFUL, BANK_RUSSIAN, BANK_CRAPETTE], ids=["bank-spiteful", "bank-russian", "bank-crapette"]
)
EVERY_ORDER_OF_PLAY = pytest.mark.parametrize("rules", NAMES.values(), ids=NAMES)

# Nothing fits on anything here, and there is no space.
BLOCKED = "Kc Kd Kh Ks Kc Kd Kh Ks"
ONE_SPACE = "Kc Kd Kh Ks Kc Kd Kh -"


def pile(text: str, deck: int = 0) -> Pile:
    """A pile from the names of its cards, bottom to top, "7hKd"; "-" is an empty one."""
    return [] if text == "-" else [card(text[i : i + 2], deck) for i in range(0, len(text), 2)]


def foundation_piles(tops: str) -> list[Pile]:
    """Eight foundations built up to the top cards named; of a suit named twice both."""
    piles: list[Pile] = [[] for _ in range(8)]
    for top in tops.split():
        first = 2 * SUITS.index(top[1])
        which = first if not piles[first] else first + 1
        piles[which] = pile("".join(rank + top[1] for rank in RANKS[: RANKS.index(top[0]) + 1]))
    return piles


def table(
    rules: Rules = BANK_SPITEFUL,
    *,
    reserve: tuple[str, str] = ("9c9s", "9d9h"),
    stock: tuple[str, str] = ("2c3c4c", "2d3d4d"),
    waste: tuple[str, str] = ("-", "-"),
    tableau: str = BLOCKED,
    foundations: str = "",
    drawn: str | None = None,
) -> Game:
    """A position with player 0 in mid-turn; tableau piles are separated by spaces, foundations named by their tops."""
    return Game(
        rules=rules,
        reserve=[pile(text) for text in reserve],
        stock=[pile(text) for text in stock],
        waste=[pile(text) for text in waste],
        tableau=[pile(text) for text in tableau.split()],
        foundations=foundation_piles(foundations),
        drawn=None if drawn is None else card(drawn, 0),
    )


def moves(notations: str) -> set[Move]:
    """Moves from their notations, separated by spaces."""
    return {parse(notation) for notation in notations.split()}


def refusal(game: Game, notation: str) -> str | None:
    """The rule a move breaks; a refused move is checked to change nothing and not to be listed."""
    move = parse(notation)
    rule = game.explain(move)
    assert (rule is None) == (move in game.legal_moves())
    if rule is not None:
        before = deepcopy(game)
        with pytest.raises(IllegalMove) as caught:
            game.play(move)
        assert caught.value.rule == rule
        assert game == before
    return rule


def refusals(game: Game, notations: str) -> dict[str, str | None]:
    return {notation: refusal(game, notation) for notation in notations.split()}


def all_refused(game: Game, notations: str) -> str | None:
    """The one rule that all these moves break."""
    (rule,) = set(refusals(game, notations).values())
    return rule


def instead_of(game: Game, notation: str) -> set[Move]:
    """The moves that were obligatory instead; each of them is checked to be legal."""
    obligatory = game.obligatory(parse(notation))
    assert obligatory <= game.legal_moves()
    return obligatory


def is_all_that_is_legal(game: Game, notations: str, rule: str) -> bool:
    """Whether these moves are compulsory, and every other possible move is refused by the rule."""
    compulsory = moves(notations)
    possible = {move for move in EVERY_MOVE if (broken := game.explain(move)) is None or broken[0] != "B"}
    assert {game.explain(move) for move in possible - compulsory} <= {rule}
    return game.legal_moves() == game.obligatory() == compulsory


def play(game: Game, notations: str) -> Game:
    for notation in notations.split():
        game.play(parse(notation))
    return game


def ending(game: Game) -> str | None:
    """How the game ended, None while it goes on."""
    return None if game.result is None else game.result.ending


def shuffled_decks(rng: random.Random) -> list[list[str]]:
    return [rng.sample(DECK[:52], 52) for _ in range(2)]


def random_deal(rules: Rules, rng: random.Random) -> Game:
    return Game.deal(rules, shuffled_decks(rng), rng.randrange(2))


# B0, S1, R1, C1: setup and starter ---------------------------------------------------------------------------------


@PRESETS
@pytest.mark.parametrize(("reserve_cards", "stock_cards"), [(13, 35), (12, 36)])
def test_b0_each_player_deals_reserve_tableau_and_stock_from_an_own_deck(
    rules: Rules, reserve_cards: int, stock_cards: int
) -> None:
    decks = shuffled_decks(random.Random(1))
    game = Game.deal(replace(rules, reserve_cards=reserve_cards), decks, 0)
    for player, deck in enumerate(decks):
        houses = [house[0] for house in game.tableau[4 * player : 4 * player + 4]]
        own = [*game.reserve[player], *houses, *game.stock[player]]
        assert [str(c) for c in own] == deck
        assert {c.deck for c in own} == {player}
        assert (len(game.reserve[player]), len(game.stock[player])) == (reserve_cards, stock_cards)
    assert [len(house) for house in game.tableau] == [1] * 8
    assert not any(game.foundations)
    assert not any(game.waste)
    assert (game.drawn, game.turns, game.quiet, game.result) == (None, 0, [0, 0], None)


def dealt(rules: Rules, first: str, second: str, coin: int = 0, reserve_cards: int = 13) -> Game:
    """A deal with the reserve top and the tableau cards of both players given."""
    decks = []
    for text in (first, second):
        shown = text.split()
        others = [name for name in DECK[:52] if name not in shown]
        decks.append(others[: reserve_cards - 1] + shown + others[reserve_cards - 1 :])
    return Game.deal(replace(rules, reserve_cards=reserve_cards), decks, coin)


@pytest.mark.parametrize("coin", [0, 1])
def test_s1_the_coin_names_the_starter(coin: int) -> None:
    assert dealt(BANK_SPITEFUL, "Ac 2c 3c 4c 5c", "Kc Qc Jc Tc 9c", coin).mover == coin


@pytest.mark.parametrize("rules", [BANK_RUSSIAN, BANK_CRAPETTE], ids=["bank-russian", "bank-crapette"])
@pytest.mark.parametrize("reserve_cards", [12, 13])
@pytest.mark.parametrize(
    ("first", "second", "starter"),
    [
        ("Ac Kc Qc Jc Tc", "2c 3c 4c 5c 6c", 0),  # the ace is low
        ("Kc 2c 3c 4c 5c", "Qd 3d 4d 5d 6d", 1),
        ("7c 9c 2c 3c 4c", "7s 8s 3s 4s 5s", 1),  # equal reserves: T1 with T5
        ("7c 9c 2c 8c 4c", "7s 9s 3s 4s 5s", 0),  # T2 with T6
        ("7c 9c 2c 8c 4c", "7s 9s 2s 6s 5s", 1),  # T3 with T7
        ("7c 9c 2c 8c 4c", "7s 9s 2s 8s 5s", 0),  # T4 with T8
    ],
)
def test_r1_c1_the_lower_card_starts(rules: Rules, reserve_cards: int, first: str, second: str, starter: int) -> None:
    for coin in range(2):
        assert dealt(rules, first, second, coin, reserve_cards).mover == starter


@pytest.mark.parametrize("rules", [BANK_RUSSIAN, BANK_CRAPETTE], ids=["bank-russian", "bank-crapette"])
@pytest.mark.parametrize("coin", [0, 1])
def test_r1_c1_if_all_cards_tie_the_coin_names_the_starter(rules: Rules, coin: int) -> None:
    assert dealt(rules, "7c 9c 2c 8c 4c", "7s 9s 2s 8s 4s", coin).mover == coin


# B1: available cards -----------------------------------------------------------------------------------------------


@EVERY_ORDER_OF_PLAY
def test_b1_a_card_that_is_not_there_is_not_moved(rules: Rules) -> None:
    game = table(rules, reserve=("-", "9d"), tableau=ONE_SPACE)
    assert set(refusals(game, "R-F R-T8 R-OR D-F D-T8 D-OW T8-F T8-T1 T8-T8 T8-OR").values()) == {"B1"}


def test_b1_only_the_top_card_of_a_pile_is_available() -> None:
    game = table(BANK_CRAPETTE, reserve=("8h9c", "9d"), tableau="AsKc 7cJc 9s Ks Kc Kd Kh Ks")
    assert refusals(game, "R-T3 T1-F T2-T3") == {"R-T3": "B3", "T1-F": "B2", "T2-T3": "B3"}


def test_b1_the_opponents_reserve_is_not_available() -> None:
    game = table(BANK_CRAPETTE, reserve=("9c", "As"))
    assert refusal(game, "R-F") == "B2"


@pytest.mark.parametrize("notation", ["W-T1", "S-T1", "OR-T1", "F-T1", "OW-F", "W-F"])
def test_b1_nothing_is_played_from_waste_stock_foundations_or_the_opponents_piles(notation: str) -> None:
    with pytest.raises(ValueError, match="not a move"):
        parse(notation)


# B2: foundations ---------------------------------------------------------------------------------------------------


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("height", range(13))
def test_b2_a_foundation_takes_the_next_rank_of_its_suit(rules: Rules, height: int) -> None:
    tops = " ".join(RANKS[height - 1] + suit for suit in "hh") if height else ""
    for rank, letter in enumerate(RANKS):
        for suit in SUITS:
            game = table(rules, reserve=(letter + suit, "9d"), foundations=tops, tableau="- - - - - - - -")
            fits = rank == height if suit == "h" else rank == 0
            assert refusal(game, "R-F") == (None if fits else "B2")


def test_b2_each_suit_has_two_foundations_and_rank_decides_between_them() -> None:
    game = table(reserve=("9s3h5h", "9d"), foundations="4h 2h")
    play(game, "R-F R-F")
    assert [len(foundation) for foundation in game.foundations] == [0, 0, 0, 0, 5, 3, 0, 0]
    game = table(reserve=("9sAhAh", "9d"))
    play(game, "R-F R-F")
    assert [len(foundation) for foundation in game.foundations] == [0, 0, 0, 0, 1, 1, 0, 0]


def test_b2_a_complete_foundation_takes_nothing_more() -> None:
    game = table(reserve=("Ah", "9d"), foundations="Kh Kh")
    assert refusal(game, "R-F") == "B2"


# B3: tableau -------------------------------------------------------------------------------------------------------


def test_b3_a_house_takes_the_next_lower_rank_of_the_other_colour() -> None:
    for moved in DECK[:52]:
        for top in DECK[:52]:
            game = table(BANK_CRAPETTE, reserve=(moved, "-"), tableau=f"{top} Kd Kh Ks Kc Kd Kh Ks", foundations="")
            other_colour = (moved[1] in "dh") != (top[1] in "dh")
            fits = other_colour and RANKS.index(moved[0]) + 1 == RANKS.index(top[0])
            assert (game.explain(parse("R-T1")) == "B3") == (not fits)


@pytest.mark.parametrize("name", ["As", "7h", "Kd"])
def test_b3_a_space_takes_any_card(name: str) -> None:
    for source in ("R", "D", "T1"):
        game = table(
            FOUNDATION_FIRST if source == "T1" else BANK_CRAPETTE,
            reserve=(name if source == "R" else "-", "9d"),
            tableau=f"{'Kc' + name if source == 'T1' else 'Kc'} Kd Kh Ks Kc Kd Kh -",
            drawn=name if source == "D" else None,
            foundations="As As",  # so that no ace need go there
        )
        assert refusal(game, f"{source}-T8") is None


def test_b3_one_card_moves_at_a_time() -> None:
    game = table(BANK_CRAPETTE, tableau="9s8h7s 8d 9c Ks Kc Kd Kh Ks", reserve=("Jc", "9d"))
    assert refusals(game, "T1-T2 T1-T3") == {"T1-T2": None, "T1-T3": "B3"}
    play(game, "T1-T2")
    assert [str(top) for top in game.tableau[0] + game.tableau[1]] == ["9s", "8h", "8d", "7s"]


def test_b3_a_house_does_not_take_its_own_top_card() -> None:
    game = table(BANK_CRAPETTE, reserve=("-", "9d"), tableau=ONE_SPACE)
    assert refusal(game, "T1-T1") == "B3"


# B4: loading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["OR", "OW"])
@pytest.mark.parametrize("source", ["R", "D", "T1"])
def test_b4_loading_takes_the_same_suit_one_rank_up_or_down(place: str, source: str) -> None:
    for top in ("7h", "Ac", "Kd"):
        for moved in DECK[:52]:
            game = table(
                BANK_CRAPETTE,
                reserve=(moved if source == "R" else "-", top if place == "OR" else "Qs"),
                waste=("-", top if place == "OW" else "-"),
                tableau=f"{moved if source == 'T1' else 'Kc'} Kd Kh Ks Kc Kd Kh Ks",
                drawn=moved if source == "D" else None,
                foundations="Ac Ac Ad Ad Ah Ah As As",
            )
            apart = abs(RANKS.index(moved[0]) - RANKS.index(top[0]))  # king and ace are twelve apart
            fits = moved[1] == top[1] and apart == 1
            assert (game.explain(parse(f"{source}-{place}")) == "B4") == (not fits)


def test_b4_an_empty_pile_cannot_be_loaded() -> None:
    game = table(BANK_CRAPETTE, reserve=("7h", "-"), stock=("2c", "8h"))
    assert refusals(game, "R-OR R-OW") == {"R-OR": "B4", "R-OW": "B4"}  # nor is the stock


def test_b4_only_the_top_card_counts_and_the_loaded_card_is_the_new_top() -> None:
    game = table(BANK_CRAPETTE, reserve=("5h6h7h", "8h9d"), waste=("8h", "8h"))
    assert refusals(game, "R-OR R-OW") == {"R-OR": "B4", "R-OW": None}  # neither the own waste nor a covered card
    play(game, "R-OW R-OW")
    assert game.waste == [pile("8h"), pile("8h7h6h")]
    assert refusal(game, "R-OW") is None


# B5: the next reserve card -----------------------------------------------------------------------------------------


@EVERY_ORDER_OF_PLAY
def test_b5_a_reserve_card_uncovered_by_a_play_is_up_at_once(rules: Rules) -> None:
    game = table(rules, reserve=("9c2hAh", "9d"))
    play(game, "R-F")
    assert game.legal_moves() == moves("R-F")
    play(game, "R-F")
    assert game.foundations[4] == pile("Ah2h")
    assert game.reserve[0] == pile("9c")


# B6: turning the stock ---------------------------------------------------------------------------------------------


@EVERY_ORDER_OF_PLAY
def test_b6_the_top_stock_card_is_turned_and_only_one_at_a_time(rules: Rules) -> None:
    game = play(table(rules, stock=("2c3c4c", "2d")), "TURN")
    assert game.drawn == card("4c", 0)
    assert game.stock[0] == pile("2c3c")
    assert game.mover == 0
    assert refusal(game, "TURN") == "B6"


@EVERY_ORDER_OF_PLAY
def test_b6_an_empty_stock_is_the_waste_turned_over_as_it_lies(rules: Rules) -> None:
    game = play(table(rules, stock=("-", "2d"), waste=("5c6c7c", "Js")), "TURN")
    assert game.drawn == card("5c", 0)  # thrown first
    assert game.stock == [pile("7c6c"), pile("2d")]
    assert game.waste == [[], pile("Js")]


@EVERY_ORDER_OF_PLAY
def test_b6_with_stock_and_waste_empty_nothing_is_turned(rules: Rules) -> None:
    assert refusal(table(rules, stock=("-", "2d"), waste=("-", "Js")), "TURN") == "B6"


def test_b6_loaded_cards_come_up_again_with_the_waste() -> None:
    game = table(reserve=("7h", "9d9s"), waste=("-", "6h"), stock=("2c", "-"))
    play(game, "R-OW TURN END TURN")
    assert game.drawn == card("6h", 0)
    assert game.stock[1] == pile("7h")


# B7: ending the turn -----------------------------------------------------------------------------------------------


@EVERY_ORDER_OF_PLAY
def test_b7_a_turn_ends_by_throwing_the_drawn_card_on_the_waste(rules: Rules) -> None:
    game = table(rules, waste=("Jc", "-"))
    assert refusal(game, "END") == "B7"
    play(game, "TURN END")
    assert game.waste[0] == pile("Jc4c")
    assert (game.drawn, game.mover, game.turns) == (None, 1, 1)


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize(
    ("stock", "waste", "rule"), [("-", "-", None), ("2c", "-", "B7"), ("-", "2c", "B7"), ("2c", "3c", "B7")]
)
def test_b7_without_a_drawn_card_it_ends_only_when_stock_and_waste_are_empty(
    rules: Rules, stock: str, waste: str, rule: str | None
) -> None:
    game = table(rules, stock=(stock, "2d3d"), waste=(waste, "-"))
    assert refusal(game, "END") == rule


# B8, B9: winning and the score -------------------------------------------------------------------------------------


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize(
    ("reserve", "drawn", "notation"),
    [
        ("Ah", None, "R-F"),
        ("Qh", None, "R-T1"),
        ("8d", None, "R-OR"),
        ("-", "Ah", "D-F"),
        ("-", "Qh", "D-T1"),
        ("-", "6c", "D-OW"),
    ],
)
def test_b8_b9_the_player_whose_cards_are_gone_wins_at_once_and_scores(
    rules: Rules, reserve: str, drawn: str | None, notation: str
) -> None:
    game = table(rules, reserve=(reserve, "9s9d"), stock=("-", "2d3d4d"), waste=("-", "5c"), drawn=drawn)
    play(game, notation)
    loaded_reserve, loaded_waste = notation.endswith("OR"), notation.endswith("OW")
    assert game.result == Result("out", 0, 30 + 3 + 1 + loaded_waste + 2 * (2 + loaded_reserve))
    assert game.mover == 0
    assert game.legal_moves() == game.obligatory() == set()
    assert refusal(game, "END") == "B8"


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("left", ["reserve", "stock", "waste", "drawn"])
def test_b8_a_player_with_a_card_left_anywhere_has_not_won(rules: Rules, left: str) -> None:
    game = table(
        rules,
        reserve=("9c" if left == "reserve" else "-", "9d"),
        stock=("9c" if left == "stock" else "-", "2d"),
        waste=("9c" if left == "waste" else "-", "-"),
        tableau="Ah Kd Kh Ks Kc Kd Kh Ks",
        drawn="9c" if left == "drawn" else None,
    )
    play(game, "T1-F")
    assert game.result is None


def test_b8_turning_the_last_card_does_not_win_and_playing_it_does() -> None:
    game = play(table(reserve=("-", "9d"), stock=("Ah", "2d"), waste=("-", "-")), "TURN")
    assert game.result is None
    play(game, "D-F")
    assert game.result == Result("out", 0, 33)


def test_b8_also_the_second_player_wins() -> None:
    game = table(reserve=("9c9s", "Ah"), stock=("2c3c", "-"))
    game.mover = 1
    assert play(game, "R-F").result == Result("out", 1, 36)


# B10: stalemate ----------------------------------------------------------------------------------------------------


@PRESETS
def test_b10_the_game_is_stalemated_when_both_players_have_gone_through_their_cards(rules: Rules) -> None:
    game = table(rules, stock=("2c3c", "2d3d4d"))
    for _ in range(5):
        assert play(game, "TURN END").result is None
    play(game, "TURN")
    assert game.quiet == [3, 2]
    assert ending(game) is None  # tested only after an END
    play(game, "END")
    assert game.quiet == [3, 3]
    assert ending(game) == "stalemate"
    assert game.legal_moves() == game.obligatory() == set()
    assert refusal(game, "TURN") == "B10"


def test_b10_a_player_without_stock_and_waste_must_have_ended_a_turn_too() -> None:
    game = table(stock=("-", "-"))
    assert play(game, "END").result is None  # player 1 has ended none
    assert play(game, "END").result is not None


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize(
    ("notation", "progress"),
    [
        ("R-F", True),
        ("D-F", True),
        ("T1-F", True),
        ("R-T2", True),
        ("D-T2", True),
        ("R-OR", False),
        ("D-OW", False),
        ("T1-OR", False),
        ("T1-T2", False),
        ("TURN", False),
    ],
)
def test_b10_progress_is_a_card_to_a_foundation_or_from_reserve_or_stock_to_the_tableau(
    rules: Rules, notation: str, progress: bool
) -> None:
    moved = "Ah" if notation.endswith("F") else "8h"
    source = notation[0]
    game = table(
        rules,
        reserve=(moved if source == "R" else "-", "7h"),
        waste=("-", "7h"),
        tableau=f"{'Kc' + moved if source == 'T' and notation != 'TURN' else 'Kc'} 9s Kh Ks Kc Kd Kh Ks",
        drawn=moved if source == "D" else None,
    )
    game.quiet = [1, 2]
    play(game, notation)
    assert game.quiet == ([0, 0] if progress else [1, 2])


def test_b10_the_end_of_the_turn_with_the_last_progress_counts() -> None:
    game = table(stock=("2c", "2d"), reserve=("9cAh", "9d"))
    game.quiet = [1, 1]
    play(game, "R-F TURN END")
    assert game.quiet == [1, 0]
    assert game.result is None
    assert play(game, "TURN END").result is not None


def test_b10_the_cards_are_counted_when_the_turn_ends() -> None:
    game = table(reserve=("9c9h", "9d"), stock=("2c3c", "2d"), waste=("-", "8h"))
    game.quiet = [1, 1]
    play(game, "R-OW TURN END")  # the load makes three cards of the opponent's two
    assert game.quiet == [2, 1]
    assert game.result is None
    play(game, "TURN END TURN END")
    assert game.quiet == [3, 2]
    assert game.result is None
    assert play(game, "TURN END").result is not None


def test_b10_a_stalemate_does_not_ask_whether_progress_could_be_made() -> None:
    game = table(FOUNDATION_FIRST, stock=("-", "-"), reserve=("Qh", "9d"))
    game.quiet = [0, 1]
    assert parse("R-T1") in game.legal_moves()
    assert play(game, "END").result is not None


@PRESETS
def test_b10_a_game_of_max_turns_is_adjudicated(rules: Rules) -> None:
    game = table(replace(rules, max_turns=3), stock=("2c3c4c5c", "2d"))
    play(game, "TURN END TURN END TURN")
    assert ending(game) is None
    assert ending(play(game, "END")) == "adjudicated"
    assert refusal(game, "TURN") == "B10"


def test_b10_max_turns_of_0_is_no_limit_and_the_default_is_500() -> None:
    for max_turns, over in ((0, False), (500, True)):
        game = table(replace(BANK_SPITEFUL, max_turns=max_turns))
        game.turns = 499
        assert (play(game, "TURN END").result is not None) == over
    assert {rules.max_turns for rules in NAMES.values()} == {500}


def test_b10_a_stalemate_comes_before_the_adjudication() -> None:
    game = table(replace(BANK_SPITEFUL, max_turns=2), stock=("-", "-"))
    play(game, "END END")
    assert game.result == Result("stalemate", None, 0)


# S8, R6, C5: what a stalemate is worth -----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["stalemate", "adjudicated"])
@pytest.mark.parametrize(
    ("reserve", "stock", "waste", "winner", "points"),
    [
        (("9c9s", "9d9h9d"), ("2c3c", "2d"), ("4c", "3d4d"), 0, 2),
        (("9c9s", "9d"), ("2c", "2d"), ("3c4c", "-"), 1, 4),
        (("9c", "9d9h"), ("2c", "-"), ("3c", "-"), None, 0),
    ],
)
def test_r6_c5_the_lower_count_wins_a_stalemate_by_the_difference_and_s8_gives_no_points(
    how: Literal["stalemate", "adjudicated"],
    reserve: tuple[str, str],
    stock: tuple[str, str],
    waste: tuple[str, str],
    winner: int | None,
    points: int,
) -> None:
    for rules in (BANK_SPITEFUL, SCORED_STALEMATE, BANK_RUSSIAN, BANK_CRAPETTE):
        game = table(rules, reserve=reserve, stock=stock, waste=waste)
        if how == "stalemate":
            game.quiet = [9, 9]
        else:
            game.turns = 499
        play(game, "TURN END")
        expected = Result(how, None, 0) if rules == BANK_SPITEFUL else Result(how, winner, points)
        assert game.result == expected


def test_the_options_of_the_spiteful_order_of_play_are_refused_elsewhere() -> None:
    for rules in (BANK_RUSSIAN, BANK_CRAPETTE):
        with pytest.raises(ValueError, match="S4"):
            replace(rules, reserve_first="foundation")
        with pytest.raises(ValueError, match="R6"):
            replace(rules, stalemate_scoring="none")
    for reserve_cards, max_turns in ((11, 500), (14, 500), (13, -1)):
        with pytest.raises(ValueError, match="no such option"):
            replace(BANK_SPITEFUL, reserve_cards=reserve_cards, max_turns=max_turns)


# B11, B12: moves that are never suggested --------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [FOUNDATION_FIRST, BANK_CRAPETTE], ids=["foundation", "bank-crapette"])
def test_b11_moving_the_only_card_of_a_pile_to_a_space_is_legal_and_pointless(rules: Rules) -> None:
    game = table(rules, tableau="Kc KdQs Kh Ks Kc Kd Kh -")
    assert refusals(game, "T1-T8 T2-T8") == {"T1-T8": None, "T2-T8": None}
    assert (game.pointless(parse("T1-T8")), game.pointless(parse("T2-T8"))) == ("B11", None)


@EVERY_ORDER_OF_PLAY
def test_b12_a_tableau_move_back_is_legal_and_pointless(rules: Rules) -> None:
    game = table(rules, tableau="9c8h 9s Kh Ks Kc Kd Kh Ks", reserve=("Jc", "9d"))
    assert game.pointless(parse("T1-T2")) is None
    play(game, "T1-T2")
    assert refusal(game, "T2-T1") is None
    assert game.pointless(parse("T2-T1")) == "B12"


def test_b12_a_way_round_that_leads_back_is_pointless_at_its_last_step() -> None:
    game = table(BANK_CRAPETTE, tableau="9c8h 9s 9c Ks Kc Kd Kh Ks", reserve=("Jc", "9d"))
    play(game, "T1-T2")
    assert game.pointless(parse("T2-T3")) == "B12"  # like the start but for the order of the piles
    game = table(BANK_CRAPETTE, tableau="9c8h 9sKd Kh - Kc Kd Kh Ks", reserve=("-", "9d"))
    play(game, "T2-T4 T1-T2")
    assert game.pointless(parse("T2-T1")) == "B12"
    play(game, "T2-T1")
    assert game.pointless(parse("T4-T2")) is None  # a king does not go back on a nine
    assert refusal(game, "T4-T2") == "B3"


@pytest.mark.parametrize(
    "between", ["T4-F", "R-T5", "T6-OR", "TURN"], ids=["foundation play", "reserve play", "load", "turned card"]
)
def test_b12_any_other_kind_of_move_makes_it_a_new_position(between: str) -> None:
    game = table(
        FOUNDATION_FIRST,
        tableau="9c8h 9s Kh KsAd Kc 8d Kh Ks" if between == "T4-F" else "9c8h 9s Kh Ks Kc 8d Kh Ks",
        reserve=("JcQh", "9d"),
    )
    play(game, "T1-T2")
    assert game.pointless(parse("T2-T1")) == "B12"
    play(game, between)
    assert game.pointless(parse("T2-T1")) is None


def test_b12_a_new_turn_is_a_new_start() -> None:
    game = play(table(FOUNDATION_FIRST, tableau="9c8h 9s Kh Ks Kc Kd Kh Ks", reserve=("Jc", "Jd")), "T1-T2 TURN END")
    assert refusal(game, "T2-T1") is None
    assert game.pointless(parse("T2-T1")) is None


def test_b12_a_move_that_only_swaps_equal_piles_is_pointless() -> None:
    game = table(BANK_CRAPETTE, tableau="9c8h 9c Kh Ks Kc Kd Kh Ks", reserve=("Jc", "9d"))
    assert refusal(game, "T1-T2") is None
    assert game.pointless(parse("T1-T2")) == "B12"


# S1 to S7: the order of play of bank-spiteful ----------------------------------------------------------------------


def test_s1_the_opening_turn_begins_with_every_ace_on_the_tableau() -> None:
    game = dealt(BANK_SPITEFUL, "Ac Ad 5c As 7c", "Qc Ah 9c 4c 6c")
    assert is_all_that_is_legal(game, "T1-F T3-F T5-F", "S1")
    assert refusals(game, "R-F TURN T4-T6") == {"R-F": "S1", "TURN": "S1", "T4-T6": "B3"}
    play(game, "T3-F T1-F")
    assert is_all_that_is_legal(game, "T5-F", "S1")
    play(game, "T5-F")
    assert not game.opening
    assert is_all_that_is_legal(game, "R-F", "S2")


@pytest.mark.parametrize("coin", [0, 1])
def test_s1_holds_for_whoever_starts_and_for_aces_from_both_decks(coin: int) -> None:
    game = dealt(BANK_SPITEFUL, "9c Ad 5c 6c 7c", "Qc Ah 2c 4c 6s", coin)
    assert is_all_that_is_legal(game, "T1-F T5-F", "S1")


def test_s1_without_an_ace_on_the_tableau_the_opening_is_like_any_turn() -> None:
    game = dealt(BANK_SPITEFUL, "9c 3d 5c 6s 7c", "Qc Th 2c 4c 8s")
    assert refusal(game, "R-T5") is None
    assert is_all_that_is_legal(game, "R-T5", "S4")


def test_s1_binds_only_in_the_opening() -> None:
    game = table(tableau="Ac Kd Kh Ks Kc Kd Kh Ks", reserve=("-", "9d"))
    game.opening = True
    assert refusal(game, "TURN") == "S1"
    game.opening = False
    assert refusal(game, "TURN") is None


@pytest.mark.parametrize("rules", [BANK_SPITEFUL, FOUNDATION_FIRST], ids=["anywhere", "foundation"])
def test_s2_a_reserve_card_that_fits_a_foundation_goes_there_and_nothing_else_is_legal(rules: Rules) -> None:
    busy = "KcAd 9c8d Kh Ks Kc 3s Kh -"
    game = table(rules, reserve=("9c2h", "3h"), tableau=busy, foundations="Ah", drawn="As")
    assert is_all_that_is_legal(game, "R-F", "S2")
    assert all_refused(game, "D-F T1-F T2-T8 R-T6 R-T8 R-OR END D-T8") == "S2"
    game = table(rules, reserve=("9c2h", "3h"), tableau=busy, drawn="As")
    assert is_all_that_is_legal(game, "D-F", "S3")


@pytest.mark.parametrize("rules", [BANK_SPITEFUL, FOUNDATION_FIRST], ids=["anywhere", "foundation"])
@pytest.mark.parametrize("reserve", ["9c", "8h", "-"])
def test_s3_a_drawn_card_that_fits_a_foundation_goes_there_next(rules: Rules, reserve: str) -> None:
    game = table(rules, reserve=(reserve, "7h"), tableau="KcAd 9c Kh Ks Kc 3s Kh -", foundations="Ah", drawn="2h")
    assert is_all_that_is_legal(game, "D-F", "S3")
    assert all_refused(game, "T1-F D-T6 D-T8 END") == "S3"
    if reserve == "8h":
        assert refusals(game, "R-T2 R-OR") == {"R-T2": "S3", "R-OR": "S3"}
    game.drawn = card("3h", 0)
    assert game.explain(parse("END")) != "S3"


@pytest.mark.parametrize(
    ("tableau", "opponent", "places"),
    [
        ("9c Kd Kh Ks 9s KdAd Kh Ks", "2d", "R-T1 R-T5"),
        ("Kc Kd Kh Ks Kc KdAd Kh -", "2d", "R-T8"),
        ("Kc Kd Kh Ks Kc KdAd Kh Ks", "7h", "R-OR"),
        ("9c Kd Kh Ks - KdAd Kh -", "9h", "R-T1 R-T5 R-T8 R-OR"),
    ],
)
@pytest.mark.parametrize("drawn", [None, "7s"])
def test_s4_a_reserve_card_that_goes_anywhere_goes_before_anything_else(
    tableau: str, opponent: str, places: str, drawn: str | None
) -> None:
    game = table(reserve=("9c8h", opponent), tableau=tableau, drawn=drawn)
    assert is_all_that_is_legal(game, places, "S4")
    assert refusals(game, "T6-F") == {"T6-F": "S4"}
    assert refusal(game, "TURN" if drawn is None else "END") == "S4"
    game.reserve[0] = pile("Kc")
    assert (refusal(game, "T6-F") is None) == ("-" not in tableau)


def test_s4_counts_a_load_on_the_waste_too() -> None:
    game = table(reserve=("9c8h", "Jd"), waste=("-", "7h"))
    assert is_all_that_is_legal(game, "R-OW", "S4")


def test_s4_reserve_first_foundation_compels_only_the_way_to_a_foundation() -> None:
    game = table(FOUNDATION_FIRST, reserve=("9c8h", "7h"), tableau="9c Kd Kh Ks 9s Kd Kh Ks")
    assert game.obligatory() == set()
    assert refusals(game, "TURN R-T1 R-OR") == {"TURN": None, "R-T1": None, "R-OR": None}


WITH_SPACE = "KcQd KdJs Kh Ks Kc Kd Kh -"


@pytest.mark.parametrize(
    ("drawn", "notation", "rule"),
    [
        (None, "TURN", "S5"),
        ("Qh", "D-T1", "B3"),
        ("Qh", "D-T4", "S5"),
        ("Qh", "D-T8", "S5"),
        ("Qh", "D-OR", "S5"),
        ("Qh", "D-OW", "S5"),
        ("Qh", "END", "S5"),
        ("Ah", "D-F", None),
        ("Qh", "T1-T8", None),
        ("Qh", "T3-T8", None),
        ("Qh", "T1-T4", None),
        ("Qh", "T2-T1", None),
        ("Qh", "R-T8", None),
    ],
)
def test_s5_with_a_reserve_a_space_is_filled_before_turning_playing_the_drawn_card_and_ending(
    drawn: str | None, notation: str, rule: str | None
) -> None:
    game = table(FOUNDATION_FIRST, reserve=("9c", "Kh"), waste=("-", "Jh"), tableau=WITH_SPACE, drawn=drawn)
    assert refusal(game, notation) == rule
    if rule == "S5":
        assert instead_of(game, notation) == moves("R-T8 T1-T8 T2-T8")  # T3-T8 would only move the space
        play(game, "T1-T8" if notation == "D-T4" else "T2-T8")
        assert refusal(game, notation.replace("T8", "T4")) is None
        game.tableau[7], game.reserve[0] = [], []
        assert refusal(game, notation) is None  # with an empty reserve the space may stay open


def test_s5_ending_without_a_drawn_card_asks_for_the_space_too() -> None:
    game = table(FOUNDATION_FIRST, reserve=("9c", "Kh"), stock=("-", "2d"), tableau=WITH_SPACE)
    assert refusal(game, "END") == "S5"
    assert instead_of(game, "END") == moves("R-T8 T1-T8 T2-T8")


def test_s5_every_space_counts() -> None:
    game = table(FOUNDATION_FIRST, reserve=("9c9s", "Kh"), tableau="KcQd Kd Kh Ks Kc Kd - -")
    assert instead_of(game, "TURN") == moves("R-T7 R-T8 T1-T7 T1-T8")
    play(game, "R-T7")
    assert refusal(game, "TURN") == "S5"
    play(game, "T1-T8")
    assert refusal(game, "TURN") is None


@pytest.mark.parametrize("rules", [BANK_SPITEFUL, FOUNDATION_FIRST], ids=["anywhere", "foundation"])
def test_s5_with_an_empty_reserve_a_space_takes_any_card_or_stays(rules: Rules) -> None:
    game = table(rules, reserve=("-", "Kh"), tableau=WITH_SPACE, drawn="7s")
    assert refusals(game, "D-T8 T1-T8 END") == {"D-T8": None, "T1-T8": None, "END": None}
    game.drawn = None
    assert refusal(game, "TURN") is None


@pytest.mark.parametrize("rules", [BANK_SPITEFUL, FOUNDATION_FIRST], ids=["anywhere", "foundation"])
@pytest.mark.parametrize(
    ("drawn", "stock", "notation"), [(None, "2c", "TURN"), (None, "-", "END"), ("7c", "2c", "END"), ("7c", "-", "END")]
)
def test_s6_with_a_reserve_the_tableau_cards_go_to_the_foundations_before_turning_and_ending(
    rules: Rules, drawn: str | None, stock: str, notation: str
) -> None:
    tableau = "KcAd KdQs Kh KsQdJc3h Kc 8h KhAh Ks"
    game = table(rules, reserve=("9c", "8s"), stock=(stock, "2d"), tableau=tableau, foundations="2h", drawn=drawn)
    assert refusal(game, notation) == "S6"
    assert instead_of(game, notation) == moves("T1-F T4-F T7-F")
    assert game.obligatory() == set()
    assert refusal(game, "T2-T3") is None  # until then the player moves freely
    if drawn is not None:
        assert refusal(game, "D-T6") is None
    play(game, "T4-F T1-F")
    assert refusal(game, notation) == "S6"
    play(game, "T7-F")
    assert refusal(game, notation) is None


@pytest.mark.parametrize("rules", [BANK_SPITEFUL, FOUNDATION_FIRST], ids=["anywhere", "foundation"])
@pytest.mark.parametrize(("drawn", "notation"), [(None, "TURN"), ("7c", "END")])
def test_s6_with_an_empty_reserve_they_may_stay(rules: Rules, drawn: str | None, notation: str) -> None:
    game = table(rules, reserve=("-", "8s"), tableau="KcAd Kd Kh Ks Kc Kd Kh Ks", drawn=drawn)
    assert refusals(game, f"{notation} T1-F") == {notation: None, "T1-F": None}


def test_s5_is_named_before_s6() -> None:
    game = table(FOUNDATION_FIRST, tableau="KcAd Kd Kh Ks Kc Kd Kh -")
    assert refusal(game, "TURN") == "S5"
    play(game, "R-T8")
    assert refusal(game, "TURN") == "S6"


def test_s7_otherwise_the_player_moves_freely_and_ends_the_turn_at_will() -> None:
    game = table(reserve=("9d", "7h"), waste=("-", "Ts"), tableau="KcQd KdTd 8c 9d Kc 9h 8h Js", drawn="Jc")
    free = "D-T1 T1-T5 T2-T8 T3-T4 T3-T6 T7-OR T8-T1 T8-OW END"
    assert game.obligatory() == set()
    assert game.legal_moves() == moves(free)


# R2 to R5: the order of play of bank-russian -----------------------------------------------------------------------


def test_r2_while_any_card_fits_a_foundation_only_such_moves_are_legal() -> None:
    game = table(
        BANK_RUSSIAN, reserve=("9c2h", "3h"), tableau="KcAd 3s Kh Ks Kc KdQs KhAs -", foundations="Ah", drawn="2h"
    )
    assert is_all_that_is_legal(game, "R-F D-F T1-F T7-F", "R2")
    assert all_refused(game, "R-T2 R-T8 R-OR D-T8 D-OR T6-T3 END") == "R2"
    play(game, "D-F")  # the player chooses which
    assert game.legal_moves() == moves("T1-F T7-F")


@pytest.mark.parametrize("reserve", ["9c", "-"])
def test_r2_binds_before_the_stock_is_turned_with_or_without_a_reserve(reserve: str) -> None:
    game = table(BANK_RUSSIAN, reserve=(reserve, "3h"), tableau="KcAd Kd Kh Ks Kc Kd Kh Ks")
    assert refusal(game, "TURN") == "R2"
    assert instead_of(game, "TURN") == moves("T1-F")
    play(game, "T1-F")
    assert refusal(game, "TURN") is None


def test_r3_a_space_is_filled_from_the_reserve_before_anything_else() -> None:
    game = table(BANK_RUSSIAN, reserve=("9c8h", "7h"), tableau="9c KdQs Kh - Kc Kd Kh -")
    assert is_all_that_is_legal(game, "R-T4 R-T8", "R3")
    assert all_refused(game, "R-T1 R-OR T2-T3 T2-T4 T1-T8 TURN") == "R3"
    play(game, "R-T8")
    assert is_all_that_is_legal(game, "R-T4", "R3")
    play(game, "R-T4")
    assert game.obligatory() == set()


def test_r3_with_an_empty_reserve_a_space_takes_any_card_or_stays_open() -> None:
    game = table(BANK_RUSSIAN, reserve=("-", "7h"), tableau="9c KdQs Kh Ks Kc Kd Kh -")
    assert game.obligatory() == set()
    assert refusals(game, "TURN T2-T8 T2-T3") == {"TURN": None, "T2-T8": None, "T2-T3": None}


def test_r3_comes_before_r5_where_a_position_has_both() -> None:
    game = table(BANK_RUSSIAN, reserve=("9c8h", "7h"), tableau=ONE_SPACE, drawn="Qh")
    assert is_all_that_is_legal(game, "R-T8", "R3")


@pytest.mark.parametrize(
    ("tableau", "opponent", "waste", "places"),
    [
        ("9c KdQs Kh Ks 9s Kd Kh Ks", "2d", "-", "R-T1 R-T5"),
        ("Kc KdQs Kh Ks Kc Kd Kh Ks", "7h", "9h", "R-OR R-OW"),
    ],
)
@pytest.mark.parametrize(("stock", "notation"), [("2c", "TURN"), ("-", "END")])
def test_r4_the_stock_is_turned_and_the_turn_ended_only_when_the_reserve_card_has_no_destination(
    tableau: str, opponent: str, waste: str, places: str, stock: str, notation: str
) -> None:
    game = table(BANK_RUSSIAN, reserve=("JcJs8h", opponent), stock=(stock, "2d"), waste=("-", waste), tableau=tableau)
    assert refusal(game, notation) == "R4"
    assert instead_of(game, notation) == moves(places)
    assert game.obligatory() == set()
    assert refusal(game, "T2-T3") is None  # tableau moves are free before that
    play(game, places.split(maxsplit=1)[0])
    assert refusal(game, notation) is None


def test_r4_loading_from_the_tableau_is_free_before_turning() -> None:
    game = table(BANK_RUSSIAN, reserve=("9c8h", "3d"), tableau="9c Kd2d Kh Ks Kc Kd Kh Ks")
    assert refusals(game, "T2-OR TURN") == {"T2-OR": None, "TURN": "R4"}


@pytest.mark.parametrize(
    ("reserve", "tableau", "places"),
    [
        ("9c", "Kc KdQsJd Kh Ks Kc JdTs Kh Ks", "D-OR D-OW"),
        ("9c", "9c KdQsJd Kh 9s Kc JdTs Kh Ks", "D-T1 D-T4 D-OR D-OW"),
        ("-", "9c KdQsJd Kh Ks Kc JdTs - Ks", "D-T1 D-T7 D-OR D-OW"),  # a space, with an empty reserve
    ],
)
def test_r5_a_drawn_card_with_a_destination_must_be_played(reserve: str, tableau: str, places: str) -> None:
    game = table(BANK_RUSSIAN, reserve=(reserve, "7h"), waste=("-", "9h"), tableau=tableau, drawn="8h")
    assert is_all_that_is_legal(game, places, "R5")
    assert refusals(game, "END T6-T2") == {"END": "R5", "T6-T2": "R5"}
    play(game, places.split(maxsplit=1)[0])
    assert refusal(game, "T6-T2") is None  # the order starts again


def test_r5_an_unplayable_drawn_card_is_thrown_and_no_other_card_moves() -> None:
    game = table(BANK_RUSSIAN, reserve=("9cTs", "Jd"), tableau="Kc KdQsJd Kh Ks Kc JdTs Kh Ks", drawn="7h")
    assert is_all_that_is_legal(game, "END", "R5")
    assert refusals(game, "R-T2 T6-T2") == {"R-T2": "R5", "T6-T2": "R5"}
    game.drawn = None
    assert refusals(game, "R-T2 T6-T2") == {"R-T2": None, "T6-T2": None}


def test_r5_yields_to_r2() -> None:
    game = table(BANK_RUSSIAN, tableau="KcAd 9c Kh Ks Kc Kd Kh Ks", drawn="8h")
    assert is_all_that_is_legal(game, "T1-F", "R2")


# C2 to C4: the order of play of bank-crapette ----------------------------------------------------------------------


def test_c2_first_the_reserve_card_then_any_other_goes_to_a_foundation() -> None:
    game = table(
        BANK_CRAPETTE, reserve=("9c2h", "3h"), tableau="KcAd 3s Kh Ks Kc KdQs KhAs -", foundations="Ah", drawn="2h"
    )
    assert is_all_that_is_legal(game, "R-F", "C2")
    assert all_refused(game, "T1-F D-F R-T2 R-OR T6-T3 END D-T2") == "C2"
    game.reserve[0].pop()
    assert is_all_that_is_legal(game, "D-F T1-F T7-F", "C2")
    assert all_refused(game, "R-T8 T6-T3 END") == "C2"
    play(game, "T1-F T7-F D-F")
    assert game.obligatory() == set()


@pytest.mark.parametrize(("stock", "notation"), [("2c", "TURN"), ("-", "END")])
def test_c3_spaces_are_filled_from_the_reserve_before_turning_and_ending_undrawn(stock: str, notation: str) -> None:
    game = table(BANK_CRAPETTE, reserve=("9c8c", "3h"), stock=(stock, "2d"), tableau="KcQd KdQs Kh Ks Kc Kd - -")
    assert refusal(game, notation) == "C3"
    assert instead_of(game, notation) == moves("R-T7 R-T8")
    assert game.obligatory() == set()
    play(game, "T1-T7")  # until then the space may be used
    assert refusal(game, notation) == "C3"
    assert instead_of(game, notation) == moves("R-T8")
    play(game, "R-T8")
    assert refusal(game, notation) is None


def test_c3_does_not_bind_with_an_empty_reserve_or_while_a_drawn_card_is_up() -> None:
    game = table(BANK_CRAPETTE, reserve=("-", "3h"), tableau=ONE_SPACE)
    assert refusal(game, "TURN") is None
    game = table(BANK_CRAPETTE, reserve=("9c", "3h"), tableau=ONE_SPACE, drawn="8h")
    assert refusals(game, "END D-T8 R-T8") == {"END": None, "D-T8": None, "R-T8": None}


def test_c4_nothing_else_is_compulsory() -> None:
    game = table(BANK_CRAPETTE, reserve=("9c8h", "9h"), tableau="9c KdQs Kh Ks 9s Kd Kh Ks")
    assert game.legal_moves() == moves("R-T1 R-T5 R-OR T2-T3 T2-T6 T2-T7 TURN")
    game.drawn = card("8d", 0)
    assert game.legal_moves() == moves("R-T1 R-T5 R-OR T2-T3 T2-T6 T2-T7 D-T1 D-T5 END")
    play(game, "T2-T3 R-T1")
    assert {parse("D-T5"), END} <= game.legal_moves()


# Situations in which other programs went wrong ---------------------------------------------------------------------


@PRESETS
def test_case_1_one_quiet_turn_each_is_no_stalemate(rules: Rules) -> None:
    game = table(
        rules, stock=("2c", "2d" * 18), waste=("-", "3d2d"), tableau="Kc KdQs Kh Ks Kc Kd Kh Ks", reserve=("9c", "9d")
    )
    play(game, "TURN END TURN END")
    assert game.quiet == [1, 1]
    assert game.result is None
    assert parse("T2-T3") in game.legal_moves()


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize(("last", "notation"), [("Ah", "D-F"), ("Qh", "D-T1"), ("8d", "D-OR")])
def test_case_2_after_the_last_stock_card_is_played_the_waste_turns_over(
    rules: Rules, last: str, notation: str
) -> None:
    game = table(rules, reserve=("9c", "9d"), stock=(last, "2d"), waste=("5c6c7c", "-"))
    play(game, f"TURN {notation}")
    assert refusal(game, "TURN") is None
    assert game.mover == 0
    play(game, "TURN")
    assert game.drawn == card("5c", 0)
    assert (game.stock[0], game.waste[0]) == (pile("7c6c"), [])


def test_case_3_each_player_deals_a_full_deck() -> None:
    game = random_deal(BANK_SPITEFUL, random.Random(3))
    for player in range(2):
        assert Counter(str(c) for c in game.cards().elements() if c.deck == player) == FULL_DECK
    shared = random.Random(3).sample(DECK, 104)
    with pytest.raises(ValueError, match="own deck"):
        Game.deal(BANK_SPITEFUL, [shared[:52], shared[52:]], 0)


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("place", ["OR", "OW"])
@pytest.mark.parametrize(
    ("moved", "top", "fits"),
    [
        ("7h", "8c", False),
        ("2s", "Ks", False),
        ("As", "Ks", False),
        ("7c", "9c", False),  # suit only
        ("7h", "8d", False),  # rank only
        ("7h", "7h", False),
        ("7h", "8h", True),
        ("7h", "6h", True),
    ],
)
def test_case_4_a_load_fits_in_suit_and_by_one_rank(rules: Rules, place: str, moved: str, top: str, fits: bool) -> None:
    opponent = (top if place == "OR" else "Jd", top if place == "OW" else "-")
    for source in ("R", "D", "T1"):
        game = table(
            rules,
            reserve=(moved if source == "R" else "-", opponent[0]),
            waste=("-", opponent[1]),
            tableau=f"Kc{moved if source == 'T1' else ''} Kd Kh Ks Kc Kd Kh Ks",
            drawn=moved if source == "D" else None,
            foundations="As As" if moved == "As" else "",  # so that no ace need go there
        )
        assert refusal(game, f"{source}-{place}") == (None if fits else "B4")


@pytest.mark.parametrize("place", ["OR", "OW"])
@pytest.mark.parametrize(
    ("rules", "source", "rule"),
    [
        ("bank-spiteful", "R", "S2"),
        ("bank-spiteful", "D", "S3"),
        ("bank-spiteful", "T1", None),
        ("foundation", "R", "S2"),
        ("foundation", "D", "S3"),
        ("foundation", "T1", None),
        ("bank-russian", "R", "R2"),
        ("bank-russian", "D", "R2"),
        ("bank-russian", "T1", "R2"),
        ("bank-crapette", "R", "C2"),
        ("bank-crapette", "D", "C2"),
        ("bank-crapette", "T1", "C2"),
    ],
)
def test_case_5_a_card_that_fits_a_foundation_is_loaded_only_where_nothing_compels_it(
    rules: str, source: str, rule: str | None, place: str
) -> None:
    game = table(
        NAMES[rules],
        reserve=("9c3h" if source == "R" else "9c", "4h" if place == "OR" else "Jd"),
        waste=("-", "4h" if place == "OW" else "-"),
        tableau=f"Kc{'3h' if source == 'T1' else ''} Kd Kh Ks Kc Kd Kh Ks",
        foundations="2h",
        drawn="3h" if source == "D" else None,
    )
    assert refusal(game, f"{source}-{place}") == rule
    assert instead_of(game, f"{source}-{place}") == (set() if rule is None else moves(f"{source}-F"))


@EVERY_ORDER_OF_PLAY
def test_case_6_a_player_with_nothing_to_play_or_turn_ends_the_turn(rules: Rules) -> None:
    game = table(rules, stock=("-", "2d3d"))
    assert game.legal_moves() == {END}
    play(game, "END")
    assert game.mover == 1
    play(game, "TURN END END")
    assert (game.mover, game.result) == (1, None)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32), rules=st.sampled_from(list(NAMES.values())))
def test_case_14_hidden_cards_change_no_legal_move(seed: int, rules: Rules) -> None:
    rng = random.Random(seed)
    game = random_deal(rules, rng)
    play_out(game, rng, uniform, rng.randrange(60))
    legal, explained = game.legal_moves(), {move: game.explain(move) for move in EVERY_MOVE}
    for player in range(2):
        hidden = [*game.reserve[player][:-1], *game.stock[player]]
        rng.shuffle(hidden)
        game.reserve[player][:-1] = [hidden.pop() for _ in game.reserve[player][:-1]]
        game.stock[player] = hidden
    assert game.legal_moves() == legal
    assert {move: game.explain(move) for move in EVERY_MOVE} == explained


# Whole games -------------------------------------------------------------------------------------------------------

ANY_RULES = st.one_of(
    st.builds(
        Rules,
        order_of_play=st.just("spiteful"),
        reserve_first=st.sampled_from(["anywhere", "foundation"]),
        stalemate_scoring=st.sampled_from(["none", "difference"]),
        reserve_cards=st.sampled_from([12, 13]),
        max_turns=st.sampled_from([20, 200]),
    ),
    st.builds(
        Rules,
        order_of_play=st.sampled_from(["russian", "crapette"]),
        stalemate_scoring=st.just("difference"),
        reserve_cards=st.sampled_from([12, 13]),
        max_turns=st.sampled_from([20, 200]),
    ),
)
Choose = Callable[[list[Move], random.Random], Move]


def uniform(moves: list[Move], rng: random.Random) -> Move:
    return rng.choice(moves)


def eager(moves: list[Move], rng: random.Random) -> Move:
    """Plays to the foundations, then from the reserve, then the drawn card, and seldom moves within the tableau."""

    def keenness(move: Move) -> tuple[bool, bool, bool, bool, float]:
        dallies = move.within_tableau and rng.random() < 0.8
        return (move.target == "F", move.source == "R", move.source == "D", not dallies, rng.random())

    return max(moves, key=keenness)


def play_out(game: Game, rng: random.Random, choose: Choose, bound: int) -> int:
    """Plays to the end or to `bound` moves, none pointless, checking what must hold at each; the number of moves."""
    deck = game.cards()
    for made in range(bound):
        if game.result is not None:
            return made
        mover, turns = game.mover, game.turns
        legal = sorted(game.legal_moves())
        assert legal
        assert game.obligatory() in (set(), set(legal))
        useful = [move for move in legal if game.pointless(move) is None]
        assert useful  # so a turn ends
        move = choose(useful, rng)
        game.play(move)
        assert game.cards() == deck
        assert [len(foundation) for foundation in game.foundations] == [
            foundation[-1].rank if foundation else 0 for foundation in game.foundations
        ]
        assert all(len({c.suit for c in foundation}) <= 1 for foundation in game.foundations)
        assert game.turns == turns + (move == END)
        if game.result is None:
            assert (game.mover != mover) == (move == END)
            assert (game.drawn is not None) or game.reserve[mover] or game.stock[mover] or game.waste[mover]
    return bound


@settings(deadline=None, max_examples=25)
@given(rules=ANY_RULES, seed=st.integers(0, 2**32), choose=st.sampled_from([uniform, eager]))
def test_a_game_conserves_two_full_decks_and_comes_to_an_end(rules: Rules, seed: int, choose: Choose) -> None:
    rng = random.Random(seed)
    game = random_deal(rules, rng)
    assert Counter((str(c), c.deck) for c in game.cards().elements()) == Counter(
        (name, player) for name in DECK[:52] for player in range(2)
    )
    assert play_out(game, rng, choose, 20_000) < 20_000
    assert game.result is not None
    ending, winner, points = game.result
    left = [len(game.stock[p]) + len(game.waste[p]) + 2 * len(game.reserve[p]) for p in range(2)]
    if ending == "out":
        assert winner == game.mover
        assert left[winner] == 0
        assert points == 30 + left[1 - winner] > 30
        return
    assert (ending == "adjudicated") <= (game.turns == rules.max_turns)
    if rules.stalemate_scoring == "none":
        assert (winner, points) == (None, 0)
    else:
        assert points == abs(left[0] - left[1])
        assert winner == (None if points == 0 else left.index(min(left)))


@settings(deadline=None, max_examples=25)
@given(rules=ANY_RULES, seed=st.integers(0, 2**32), steps=st.integers(0, 150))
def test_a_move_is_listed_exactly_when_it_can_be_played_and_a_refused_one_changes_nothing(
    rules: Rules, seed: int, steps: int
) -> None:
    rng = random.Random(seed)
    game = random_deal(rules, rng)
    play_out(game, rng, uniform, steps)
    legal = game.legal_moves()
    for move in EVERY_MOVE:
        after = deepcopy(game)
        if game.explain(move) is None:
            assert move in legal
            after.play(move)
            assert after != game
            assert not game.obligatory() or move in game.obligatory()
        else:
            assert move not in legal
            assert game.obligatory(move) <= legal
            with pytest.raises(IllegalMove):
                after.play(move)
            assert after == game


@settings(deadline=None, max_examples=25)
@given(rules=ANY_RULES, seed=st.integers(0, 2**32), steps=st.integers(0, 150))
def test_a_refusal_by_the_order_of_play_always_names_what_was_obligatory(rules: Rules, seed: int, steps: int) -> None:
    rng = random.Random(seed)
    game = random_deal(rules, rng)
    play_out(game, rng, uniform, steps)
    for move in EVERY_MOVE:
        rule = game.explain(move)
        if rule is not None and game.result is None and rule[0] in "SRC":
            assert game.obligatory(move)


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("choose", [uniform, eager])
def test_random_games_are_won_late_by_either_side(rules: Rules, choose: Choose) -> None:
    results: list[Result] = []
    lengths, turns, won_by_starter = 0, 0, 0
    for seed in range(8):
        game = Game.from_seed(rules, seed)
        starter = game.mover
        lengths += play_out(game, random.Random(seed), choose, 20_000)
        assert game.result is not None
        results.append(game.result)
        turns += game.turns
        won_by_starter += game.result.winner == starter
    won = [result.points for result in results if result.ending == "out"]
    print(
        f"{rules.order_of_play}/{rules.reserve_first} {choose.__name__}: "
        f"{dict(Counter(result.ending for result in results))}, {lengths / 8:.0f} moves and {turns / 8:.0f} turns "
        f"a game, {sum(won) / len(won):.0f} points a win, {won_by_starter} of 8 won by the starter"
    )
    assert len(won) >= 3
    assert {result.winner for result in results} >= {0, 1}
    assert lengths / 8 > 150
    assert 20 < turns / 8 < 200


# Notation ----------------------------------------------------------------------------------------------------------


def test_there_are_112_moves_and_each_is_read_back_from_its_notation() -> None:
    assert len(EVERY_MOVE) == len({str(move) for move in EVERY_MOVE}) == 112
    assert all(parse(str(move)) == move for move in EVERY_MOVE)
    assert [str(move) for move in (Move("R", "F"), Move("T4", "OR"), TURN, END)] == ["R-F", "T4-OR", "TURN", "END"]


@pytest.mark.parametrize("notation", ["", "R", "R-", "R-T9", "T0-F", "R-R", "r-f", "D-D", "TURN-", "END-F", "R-OT"])
def test_a_place_that_does_not_exist_is_no_move(notation: str) -> None:
    with pytest.raises(ValueError, match="not a move"):
        parse(notation)


@pytest.mark.parametrize(("source", "target"), [("R", ""), ("TURN", "F"), ("W", "F"), ("R", "W")])
def test_a_move_between_places_that_do_not_exist_is_not_made(source: str, target: str) -> None:
    with pytest.raises(ValueError, match="no such move"):
        Move(source, target)


# The documented deal -----------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**64 - 1), reserve_cards=st.sampled_from([12, 13]))
def test_b0_a_deal_by_seed_is_a_full_deck_each_and_repeats(seed: int, reserve_cards: int) -> None:
    deal = deal_bank(seed, reserve_cards)
    for player in range(2):
        own = deal.reserve[player] + deal.tableau[4 * player : 4 * player + 4] + deal.stock[player]
        assert own == deal.decks[player]
        assert Counter(own) == FULL_DECK
        assert own == Stream(seed, player).shuffle(DECK[:52])
        assert len(deal.reserve[player]) == reserve_cards
    assert deal.decks[0] != deal.decks[1]
    assert deal == deal_bank(seed, reserve_cards)


@given(seed=st.integers(0, 2**64 - 1))
def test_s1_r1_the_starter_by_seed_is_the_coin_or_the_lower_card(seed: int) -> None:
    deal = deal_bank(seed)
    assert Game.from_seed(BANK_SPITEFUL, seed).mover == deal.coin - 1 == Stream(seed, 2).below(0, 2)
    ranks = [RANKS.index(deal.reserve[player][-1][0]) for player in range(2)]
    if ranks[0] != ranks[1]:
        for rules in (BANK_RUSSIAN, BANK_CRAPETTE):
            assert Game.from_seed(rules, seed).mover == ranks.index(min(ranks))


def test_each_player_starts_about_half_of_the_games() -> None:
    for rules in (BANK_SPITEFUL, BANK_RUSSIAN):
        starters = Counter(Game.from_seed(rules, seed).mover for seed in range(1000))
        assert abs(starters[0] - 500) < 4 * 16  # the standard deviation is 16
