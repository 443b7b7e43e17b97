"""Each rule of Russian Bank on the kernel, in positions in which it and nothing else decides."""

import dataclasses
from typing import Any, Final

import pytest

from tests.kernel.bank_lockstep import ENDINGS, EVERY_ORDER_OF_PLAY, begin
from tests.kernel.bank_positions import (
    CRAPETTE,
    FOUNDATION_FIRST,
    ORDERS,
    RUSSIAN,
    SPITEFUL,
    Position,
    faces,
    pile,
    position,
)
from tests.oracle.bank import parse
from zank_kernel import bank
from zank_kernel.bank.state import OUT, RUNNING, STALEMATE
from zank_kernel.family import ADJUDICATED

SCORED: Final = dataclasses.replace(SPITEFUL, stalemate_scores=True)


def cards(*piles: str) -> list[list[int]]:
    """Piles as the kernel has them, from the names of their cards."""
    return [faces(pile(text, 0)) for text in piles]


# What may be played ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ruling:
    """A position with its legal moves, some that a rule refuses, and a like position in which these are legal."""

    rule: str
    where: Position
    legal: str
    refused: str
    instead: str  # the moves that are obligatory instead
    like: Position


def ruling(
    rule: str,
    rules: bank.Rules,
    legal: str,
    refused: str,
    instead: str | None = None,
    *,
    unless: dict[str, Any],
    unless_rules: bank.Rules | None = None,
    **where: Any,
) -> Ruling:
    """A ruling in the position `where`; `unless` and `unless_rules` say what is otherwise in the like position.

    Most rules of the order of play leave nothing legal but what is obligatory `instead`.
    """
    return Ruling(
        rule=rule,
        where=position(rules, **where),
        legal=legal,
        refused=refused,
        instead="" if rule[0] == "B" else legal if instead is None else instead,
        like=position(unless_rules or rules, **(where | unless)),
    )


WITH_SPACE: Final = "KcQd KdJs Kh Ks Kc Kd Kh -"
FILLED: Final = "KcQd KdJs Kh Ks Kc Kd Kh Kc"
SHIFTS: Final = "T1-T4 T1-T5 T1-T8 T2-T1 T2-T8 T3-T8 T4-T8 T5-T8 T6-T8 T7-T8"
FILLS: Final = "R-T8 T1-T8 T2-T8"
NINES: Final = "9c Kd Kh Ks 9s Kd Kh Ks"
NINES_AND_QUEEN: Final = "9c KdQs Kh Ks 9s Kd Kh Ks"
QUEEN: Final = "T2-T3 T2-T6 T2-T7"
NINES_AND_SPACE: Final = "9c Kd Kh Ks 9s Kd Kh -"
ACE_UP: Final = "KcAd Kd Kh Ks Kc Kd Kh Ks"
THREE: Final = "Kc 3s KhQs Kd Kc Kd Kh Ks"

NOTHING_LEFT: Final = ("-", "9d")  # reserves of which the mover's is empty
STUCK_TEN: Final = ("9cTc", "7h")

RULINGS: Final = [
    # Which card may be moved where: bank-crapette asks for least beside it.
    ruling(
        "B1",
        CRAPETTE,
        f"D-T1 D-T5 {QUEEN} END",
        "R-T1 R-T5",
        reserve=NOTHING_LEFT,
        tableau=NINES_AND_QUEEN,
        drawn="8h",
        unless={"reserve": ("8d", "9h")},
    ),
    ruling("B1", CRAPETTE, f"{QUEEN} TURN", "D-T1", tableau=NINES_AND_QUEEN, unless={"drawn": "8d"}),
    ruling(
        "B1",
        CRAPETTE,
        "R-T8 T1-T8 T2-T8 T3-T8 T4-T8 T5-T8 T6-T8 T7-T8",
        "T8-T1 T8-T5",
        tableau=NINES_AND_SPACE,
        unless={"tableau": f"{NINES_AND_SPACE[:-1]}8d"},
    ),
    ruling("B2", CRAPETTE, "TURN", "R-F", reserve=("3h", "9d"), foundations="Ah", unless={"foundations": "2h"}),
    ruling("B2", CRAPETTE, "TURN", "R-F", reserve=("3h", "9d"), foundations="3h Ah", unless={"foundations": "Ah 2h"}),
    ruling("B2", CRAPETTE, "TURN", "R-F", reserve=("3h", "9d"), foundations="2d", unless={"foundations": "2d 2h"}),
    ruling("B3", CRAPETTE, "TURN", "R-T1 R-T5", reserve=("8c", "9d"), tableau=NINES, unless={"reserve": ("8d", "9d")}),
    ruling("B3", CRAPETTE, "TURN", "R-T1 R-T5", reserve=("Td", "Jh"), tableau=NINES, unless={"reserve": ("8h", "9d")}),
    ruling("B3", CRAPETTE, "TURN", "R-T1 R-T5", reserve=("7d", "9d"), tableau=NINES, unless={"reserve": ("8d", "9d")}),
    ruling(
        "B4",
        CRAPETTE,
        "TURN",
        "R-OR R-OW",
        reserve=("8h", "-"),
        waste=("-", "8h"),
        unless={"reserve": ("8h", "9h"), "waste": ("-", "7h")},
    ),
    ruling(
        "B4",
        CRAPETTE,
        "TURN",
        "R-OR R-OW",
        reserve=("Ah", "Kh"),
        waste=("-", "3h"),
        foundations="Ah Ah",
        unless={"reserve": ("Qh", "Kh"), "waste": ("-", "Jh")},
    ),
    ruling(
        "B4",
        CRAPETTE,
        "TURN",
        "R-OR R-OW",
        reserve=("8h", "9d"),
        waste=("-", "7d"),
        unless={"reserve": ("8d", "9d")},
    ),
    ruling("B6", CRAPETTE, "END", "TURN", drawn="Jc", unless={"drawn": None}),
    ruling("B6", CRAPETTE, "END", "TURN", stock=("-", "2d"), unless={"waste": ("2c", "-")}),
    ruling("B7", CRAPETTE, "TURN", "END", unless={"drawn": "Jc"}),
    ruling("B7", CRAPETTE, "TURN", "END", waste=("2c", "-"), stock=("-", "2d"), unless={"waste": ("-", "-")}),
    # bank-spiteful.
    ruling(
        "S1",
        SPITEFUL,
        "T1-F",
        "TURN",
        reserve=NOTHING_LEFT,
        tableau=ACE_UP,
        opening=True,
        unless={"opening": False},
    ),
    ruling(
        "S1",
        SPITEFUL,
        "T1-F T6-F",
        "R-F",
        reserve=("9c2h", "9d"),
        tableau="KcAd 2c Kh Ks Kc Ac Kh Ks",
        foundations="Ah",
        opening=True,
        unless={"opening": False},
    ),
    ruling(
        "S2",
        SPITEFUL,
        "R-F",
        "D-F",
        reserve=("9c2h", "3h"),
        tableau=ACE_UP,
        foundations="Ah",
        drawn="As",
        unless={"foundations": ""},
    ),
    ruling(
        "S2",
        FOUNDATION_FIRST,
        "R-F",
        "R-T2 R-OR T3-T4 T3-T6 TURN",
        reserve=("9c2h", "3h"),
        tableau=THREE,
        foundations="Ah",
        unless={"foundations": ""},
    ),
    ruling(
        "S3",
        SPITEFUL,
        "D-F",
        "R-T1 R-T5 R-OR",
        reserve=("9c8h", "7h"),
        tableau=NINES,
        foundations="Ah",
        drawn="2h",
        unless={"foundations": ""},
    ),
    ruling(
        "S3",
        SPITEFUL,
        "D-F",
        "T1-F D-T2",
        tableau="KcAd 3c Kh Ks Kc Kd Kh Ks",
        foundations="Ah",
        drawn="2h",
        unless={"foundations": ""},
    ),
    ruling(
        "S3",
        FOUNDATION_FIRST,
        "D-F",
        "D-T2 D-OR T3-T4 T3-T6 END",
        reserve=("-", "3h"),
        tableau=THREE,
        foundations="Ah",
        drawn="2h",
        unless={"foundations": ""},
    ),
    ruling(
        "S4",
        SPITEFUL,
        "R-T1 R-T5 R-OR",
        "T6-F T2-T3",
        reserve=("9c8h", "7h"),
        tableau="9c KdQs Kh Ks 9s KdAd Kh Ks",
        unless={"reserve": STUCK_TEN},
    ),
    ruling(
        "S4",
        SPITEFUL,
        "R-T1 R-T5 R-OR",
        "TURN",
        reserve=("9c8h", "7h"),
        tableau=NINES,
        unless={"reserve": STUCK_TEN},
    ),
    ruling(
        "S4",
        SPITEFUL,
        "R-T1 R-T5",
        "D-T1 D-T5 D-OR END",
        reserve=("9c8h", "7d"),
        tableau=NINES,
        drawn="8d",
        unless={"reserve": ("9cTc", "7d")},
    ),
    ruling(
        "S4",
        SPITEFUL,
        "R-OW",
        "T1-T4 TURN",
        waste=("-", "Ts"),
        tableau="KcQd Kd Kh Ks Kc Kd Kh Ks",
        unless={"waste": ("-", "Js")},
    ),
    ruling(
        "S4",
        SPITEFUL,
        "R-T1 R-T5 R-OR",
        "TURN",
        reserve=("9c8h", "7h"),
        tableau=NINES,
        unless={},
        unless_rules=FOUNDATION_FIRST,
    ),
    ruling("S4", SPITEFUL, "R-T8", SHIFTS, tableau=WITH_SPACE, unless={}, unless_rules=FOUNDATION_FIRST),
    ruling(
        "S5",
        FOUNDATION_FIRST,
        f"R-T8 {SHIFTS}",
        "TURN",
        FILLS,
        tableau=WITH_SPACE,
        unless={"reserve": NOTHING_LEFT},
    ),
    ruling("S5", FOUNDATION_FIRST, f"R-T8 {SHIFTS}", "TURN", FILLS, tableau=WITH_SPACE, unless={"tableau": FILLED}),
    ruling(
        "S5",
        FOUNDATION_FIRST,
        f"R-T8 {SHIFTS}",
        "END",
        FILLS,
        tableau=WITH_SPACE,
        stock=("-", "2d"),
        unless={"tableau": FILLED},
    ),
    ruling(
        "S5",
        FOUNDATION_FIRST,
        f"R-T8 {SHIFTS}",
        "D-T4 D-T5 D-T8 D-OR D-OW END",
        FILLS,
        reserve=("9s", "Jh"),
        waste=("-", "Kh"),
        tableau=WITH_SPACE,
        drawn="Qh",
        unless={"reserve": ("-", "Jh")},
    ),
    ruling(
        "S5",
        FOUNDATION_FIRST,
        f"R-T8 {SHIFTS}",
        "D-T4 D-T5 D-OR D-OW END",
        FILLS,
        reserve=("9s", "Jh"),
        waste=("-", "Kh"),
        tableau=WITH_SPACE,
        drawn="Qh",
        unless={"tableau": FILLED},
    ),
    ruling("S6", SPITEFUL, "T1-F", "TURN", "T1-F", tableau=ACE_UP, unless={"reserve": NOTHING_LEFT}),
    ruling("S6", SPITEFUL, "T1-F", "TURN", "T1-F", tableau=ACE_UP, unless={"foundations": "Ad Ad"}),
    ruling("S6", SPITEFUL, "T1-F", "END", "T1-F", tableau=ACE_UP, stock=("-", "2d"), unless={"reserve": NOTHING_LEFT}),
    ruling(
        "S6",
        SPITEFUL,
        "T1-F D-T4 D-T5 D-T8",
        "END",
        "T1-F",
        tableau=ACE_UP,
        drawn="Qd",
        unless={"reserve": NOTHING_LEFT},
    ),
    # bank-russian.
    ruling(
        "R2",
        RUSSIAN,
        "R-F T1-F",
        "R-T2 R-OR T3-T4",
        reserve=("9c2h", "3h"),
        tableau=f"KcAd{THREE[2:]}",
        foundations="Ah",
        unless={"foundations": "Ad Ad"},
    ),
    ruling("R2", RUSSIAN, "D-F T1-F", "END", tableau=ACE_UP, drawn="As", unless={"foundations": "Ad Ad As As"}),
    ruling("R2", RUSSIAN, "T1-F", "TURN", tableau=ACE_UP, unless={"foundations": "Ad Ad"}),
    ruling(
        "R3",
        RUSSIAN,
        "R-T8",
        f"{SHIFTS} TURN",
        tableau=WITH_SPACE,
        unless={"reserve": NOTHING_LEFT},
    ),
    ruling(
        "R3",
        RUSSIAN,
        "R-T8",
        "R-OR T1-T4",
        reserve=("9c8d", "9d"),
        tableau=WITH_SPACE,
        unless={"tableau": FILLED},
    ),
    ruling(
        "R3",
        RUSSIAN,
        "R-T8",
        "D-T8",
        tableau=WITH_SPACE,
        drawn="7c",
        unless={"reserve": NOTHING_LEFT},
    ),
    ruling(
        "R4",
        RUSSIAN,
        f"R-T1 R-T5 R-OR {QUEEN}",
        "TURN",
        "R-T1 R-T5 R-OR",
        reserve=("9c8h", "7h"),
        tableau=NINES_AND_QUEEN,
        unless={"reserve": STUCK_TEN},
    ),
    ruling("R4", RUSSIAN, "R-OW", "TURN", waste=("-", "Ts"), unless={"waste": ("-", "Js")}),
    ruling("R4", RUSSIAN, "R-OW", "END", waste=("-", "Ts"), stock=("-", "2d"), unless={"waste": ("-", "Js")}),
    ruling("R5", RUSSIAN, "D-T1 D-T5 D-OR", "END", tableau=NINES_AND_QUEEN, drawn="8h", unless={"drawn": "2s"}),
    ruling(
        "R5",
        RUSSIAN,
        "D-T1 D-T5",
        f"{QUEEN} R-T1 R-T5",
        reserve=("9c8d", "7h"),
        tableau=NINES_AND_QUEEN,
        drawn="8d",
        unless={"drawn": None},
    ),
    ruling("R5", RUSSIAN, "D-OR", "END", drawn="8h", unless={"reserve": ("9s", "9d")}),
    ruling(
        "R5",
        RUSSIAN,
        "D-T8",
        "END",
        reserve=NOTHING_LEFT,
        tableau=NINES_AND_SPACE,
        drawn="2c",
        unless={"tableau": NINES},
    ),
    ruling("R5", RUSSIAN, "END", QUEEN, tableau=NINES_AND_QUEEN, drawn="2s", unless={"drawn": None}),
    # bank-crapette.
    ruling(
        "C2",
        CRAPETTE,
        "R-F",
        "D-F T1-F",
        reserve=("9c2h", "3h"),
        tableau=ACE_UP,
        foundations="Ah",
        drawn="As",
        unless={"foundations": ""},
    ),
    ruling(
        "C2",
        CRAPETTE,
        "R-F",
        "R-T2 R-OR T3-T4 T3-T6 TURN",
        reserve=("9c2h", "3h"),
        tableau=THREE,
        foundations="Ah",
        unless={"foundations": ""},
    ),
    ruling(
        "C2",
        CRAPETTE,
        "T2-F",
        "R-T1 R-T5 T3-T6 TURN",
        reserve=("9c8h", "7d"),
        tableau="9c KdAd KhQs Ks 9s Kd Kh Ks",
        unless={"foundations": "Ad Ad"},
    ),
    ruling(
        "C2",
        CRAPETTE,
        "D-F",
        "D-T2 END",
        tableau="Kc 3c Kh Ks Kc Kd Kh Ks",
        foundations="Ah",
        drawn="2h",
        unless={"foundations": "Ad"},
    ),
    ruling("C3", CRAPETTE, f"R-T8 {SHIFTS}", "TURN", "R-T8", tableau=WITH_SPACE, unless={"reserve": NOTHING_LEFT}),
    ruling("C3", CRAPETTE, f"R-T8 {SHIFTS}", "TURN", "R-T8", tableau=WITH_SPACE, unless={"tableau": FILLED}),
    ruling(
        "C3",
        CRAPETTE,
        f"R-T8 {SHIFTS}",
        "END",
        "R-T8",
        tableau=WITH_SPACE,
        stock=("-", "2d"),
        unless={"drawn": "7c"},
    ),
]


@pytest.mark.parametrize("case", RULINGS, ids=[f"{case.rule} {case.refused}" for case in RULINGS])
def test_a_rule_refuses_these_moves_and_no_other_rule_does(case: Ruling) -> None:
    refused, instead = {*case.refused.split()}, {*case.instead.split()}
    assert {case.where.game.explain(parse(notation)) for notation in refused} == {case.rule}
    game, like = begin(case.where), begin(case.like)
    assert game.listed == {*case.legal.split()}
    for notation in refused:
        assert game.refused(notation) == (case.rule, instead)
        assert like.refused(notation) is None
    assert like.listed >= refused


def test_every_rule_that_can_refuse_a_move_is_seen_to_do_so() -> None:
    asked = {rule for rules in ORDERS.values() for _, rule in rules.order}
    assert {case.rule for case in RULINGS} == asked | {"B1", "B2", "B3", "B4", "B6", "B7"}


@EVERY_ORDER_OF_PLAY
def test_a_move_that_no_rule_would_allow_is_refused_by_the_mechanics_first(rules: bank.Rules) -> None:
    """What is compulsory anyway is compulsory instead; what only comes before other moves is not."""
    start = position(rules, reserve=("9cAh", "9d"), tableau="Kc Kd Kh Ks Kc Kd Kh -")
    assert begin(start).refused("D-T1") == ("B1", {"R-F"})
    due = begin(position(rules, tableau=WITH_SPACE, foundations="Jd")).refused("R-F")
    before = {"bank-spiteful": {"R-T8"}, "bank-russian": {"T1-F"}, "bank-crapette": {"T1-F"}}[rules.preset]
    assert due == ("B2", set() if rules.reserve_first == "foundation" else before)


@EVERY_ORDER_OF_PLAY
def test_s7_c4_with_nothing_compulsory_a_turn_may_be_ended(rules: bank.Rules) -> None:
    game = begin(position(rules, drawn="Jc", reserve=NOTHING_LEFT, tableau="Kc KdQs Kh Ks Kc Kd Kh Ks"))
    assert "END" in game.listed
    assert ("T2-T3" in game.listed) == (rules.preset != "bank-russian")  # R5


def test_b11_the_only_card_of_a_pile_is_pointlessly_moved_to_a_space() -> None:
    game = begin(position(CRAPETTE, reserve=NOTHING_LEFT, tableau=WITH_SPACE, drawn="7c"))
    singles = {"T3-T8", "T4-T8", "T5-T8", "T6-T8", "T7-T8"}
    assert game.pointless == singles | {"T1-T5"}  # one black king is like the other
    assert singles <= game.listed


def test_b12_a_tableau_seen_since_the_last_other_move_is_pointlessly_restored() -> None:
    start = position(CRAPETTE, reserve=NOTHING_LEFT, tableau="KcQd Kd8h Kh Ks 9c 9s Jd9c Jh", drawn="Tc")
    assert begin(start).pointless == set()
    assert begin(start).moves("T1-T4").pointless == {"T4-T1"}
    assert begin(start).moves("T2-T5 T5-T6 T6-T7").pointless == {"T7-T5", "T7-T6"}
    assert begin(start).moves("T2-T5 T1-T4 T5-T6").pointless == {"T6-T5"}  # T4-T1 leads to a new one
    for notation in ("D-T8", "END"):
        game = begin(start).moves(f"T2-T5 T1-T4 {notation}")
        assert game.pointless == set()
        assert "T4-T1" in game.listed or notation == "END"


# What a move does --------------------------------------------------------------------------------------------------


def test_b2_equal_foundations_are_built_one_after_the_other_and_unequal_ones_by_rank() -> None:
    game = begin(position(reserve=("9sAhAh", "9d"))).moves("R-F R-F")
    assert game.seen["foundation"][4:6] == [1, 1]
    game = begin(position(reserve=("9s3h5h", "9d"), foundations="4h 2h")).moves("R-F R-F")
    assert game.seen["foundation"][4:6] == [5, 3]


@EVERY_ORDER_OF_PLAY
def test_b5_a_reserve_card_uncovered_by_a_play_is_up_at_once(rules: bank.Rules) -> None:
    game = begin(position(rules, reserve=("9c2hAh", "9d"))).moves("R-F")
    assert game.listed == {"R-F"}


@EVERY_ORDER_OF_PLAY
def test_b6_an_empty_stock_is_the_waste_turned_over_as_it_lies(rules: bank.Rules) -> None:
    game = begin(position(rules, stock=("-", "2d"), waste=("5c6c7c", "Js"))).moves("TURN")
    assert [game.seen["drawn"]] == cards("5c")[0]
    assert game.seen["stock"] == cards("6c7c", "2d")
    assert game.seen["waste"] == cards("-", "Js")


def test_b6_loaded_cards_come_up_with_the_waste_after_those_thrown_before() -> None:
    game = begin(position(reserve=("7h", "9d9s"), waste=("-", "6h"), stock=("2c", "-"))).moves("R-OW TURN END TURN")
    assert [game.seen["drawn"]] == cards("6h")[0]
    assert game.seen["stock"] == cards("-", "7h")


@EVERY_ORDER_OF_PLAY
def test_b7_the_drawn_card_is_thrown_on_the_own_waste(rules: bank.Rules) -> None:
    game = begin(position(rules, waste=("Jc", "-"))).moves("TURN END")
    assert game.seen["waste"] == cards("Jc4c", "-")
    assert [game.seen[name] for name in ("drawn", "mover", "turns")] == [0, 1, 1]


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
    rules: bank.Rules, reserve: str, drawn: str | None, notation: str
) -> None:
    game = begin(
        position(rules, reserve=(reserve, "9s9d"), stock=("-", "2d3d4d"), waste=("-", "5c"), drawn=drawn)
    ).moves(notation)
    loaded_reserve, loaded_waste = notation.endswith("OR"), notation.endswith("OW")
    assert game.seen["ending"] == OUT
    assert game.seen["points"] == 30 + 3 + 1 + loaded_waste + 2 * (2 + loaded_reserve)
    assert game.listed == set()
    assert game.refused("TURN") == ("B8", set())


def test_b8_player_1_wins_with_points_below_0() -> None:
    start = position(reserve=("9c9s", "Ah"), stock=("2c3c", "-"))
    start.game.mover = 1
    assert begin(start).moves("R-F").seen["points"] == -36


@EVERY_ORDER_OF_PLAY
@pytest.mark.parametrize("left", ["reserve", "stock", "waste", "drawn"])
def test_b8_a_player_with_a_card_left_anywhere_has_not_won(rules: bank.Rules, left: str) -> None:
    game = begin(
        position(
            rules,
            reserve=("9c" if left == "reserve" else "-", "9d"),
            stock=("9c" if left == "stock" else "-", "2d"),
            waste=("9c" if left == "waste" else "-", "-"),
            tableau="Ah Kd Kh Ks Kc Kd Kh Ks",
            drawn="9c" if left == "drawn" else None,
        )
    ).moves("T1-F")
    assert game.seen["ending"] == RUNNING


def test_b8_turning_the_last_card_does_not_win_and_playing_it_does() -> None:
    game = begin(position(reserve=("-", "9d"), stock=("Ah", "2d"), waste=("-", "-"))).moves("TURN")
    assert game.seen["ending"] == RUNNING
    assert game.moves("D-F").seen["points"] == 33


@EVERY_ORDER_OF_PLAY
def test_b10_the_game_is_stalemated_when_both_players_have_gone_through_their_cards(rules: bank.Rules) -> None:
    game = begin(position(rules, stock=("2c3c", "2d3d4d"))).moves("TURN END " * 5 + "TURN")
    assert (game.seen["ending"], game.seen["quiet"]) == (RUNNING, [3, 2])
    assert game.moves("END").seen["ending"] == STALEMATE
    assert game.seen["mover"] == 1  # who moved last
    assert game.listed == set()
    assert game.refused("TURN") == ("B10", set())


@pytest.mark.parametrize("mover", [0, 1])
def test_b10_a_player_without_stock_and_waste_must_have_ended_a_turn_too(mover: int) -> None:
    start = position(stock=("-", "-"))
    start.game.mover = mover
    game = begin(start).moves("END")
    assert game.seen["ending"] == RUNNING
    assert game.moves("END").seen["ending"] == STALEMATE


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
        ("R-OW", False),
        ("D-OR", False),
        ("D-OW", False),
        ("T1-OR", False),
        ("T1-OW", False),
        ("T1-T2", False),
        ("TURN", False),
    ],
)
def test_b10_progress_is_a_card_to_a_foundation_or_from_reserve_or_stock_to_the_tableau(
    rules: bank.Rules, notation: str, progress: bool
) -> None:
    moved = "Ah" if notation.endswith("F") else "8h"
    start = position(
        rules,
        reserve=(moved if notation[0] == "R" else "-", "7h"),
        waste=("-", "7h"),
        tableau=f"Kc{moved if notation[:2] == 'T1' else ''} 9s Kh Ks Kc Kd Kh Ks",
        drawn=moved if notation[0] == "D" else None,
    )
    start.game.quiet = [1, 2]
    assert begin(start).moves(notation).seen["quiet"] == ([0, 0] if progress else [1, 2])


def test_b10_the_end_of_the_turn_with_the_last_progress_counts() -> None:
    start = position(stock=("2c", "2d"), reserve=("9cAh", "9d"))
    start.game.quiet = [1, 1]
    game = begin(start).moves("R-F TURN END")
    assert (game.seen["ending"], game.seen["quiet"]) == (RUNNING, [1, 0])
    assert game.moves("TURN END").seen["ending"] == STALEMATE


def test_b10_the_cards_are_counted_when_the_turn_ends() -> None:
    start = position(reserve=("9c9h", "9d"), stock=("2c3c", "2d"), waste=("-", "8h"))
    start.game.quiet = [1, 1]
    game = begin(start).moves("R-OW TURN END")  # the load makes three cards of the opponent's two
    assert game.moves("TURN END TURN END").seen["ending"] == RUNNING
    assert game.moves("TURN END").seen["ending"] == STALEMATE


def test_b10_a_game_of_max_turns_is_adjudicated_and_0_is_no_limit() -> None:
    for max_turns, ending in ((3, ADJUDICATED), (4, RUNNING), (0, RUNNING)):
        rules = dataclasses.replace(SPITEFUL, max_turns=max_turns)
        game = begin(position(rules, stock=("2c3c4c5c", "2d3d4d5d"))).moves("TURN END TURN END TURN END")
        assert game.seen["ending"] == ending
    start = position(SPITEFUL)
    start.game.turns = 499
    assert begin(start).moves("TURN END").seen["ending"] == ADJUDICATED


def test_b10_a_stalemate_comes_before_the_adjudication() -> None:
    game = begin(position(dataclasses.replace(SPITEFUL, max_turns=2), stock=("-", "-"))).moves("END END")
    assert game.seen["ending"] == STALEMATE


@pytest.mark.parametrize("how", ["stalemate", "adjudicated"])
@pytest.mark.parametrize(
    ("reserve", "stock", "waste", "points"),
    [
        (("9c9s", "9d9h9d"), ("2c3c", "2d"), ("4c", "3d4d"), 2),
        (("9c9s", "9d"), ("2c", "2d"), ("3c4c", "-"), -4),
        (("9c", "9d9h"), ("2c", "-"), ("3c", "-"), 0),
    ],
)
def test_r6_c5_the_lower_count_wins_a_stalemate_by_the_difference_and_s8_gives_no_points(
    how: str, reserve: tuple[str, str], stock: tuple[str, str], waste: tuple[str, str], points: int
) -> None:
    for rules in (*ORDERS.values(), SCORED):
        start = position(rules, reserve=reserve, stock=stock, waste=waste)
        start.game.quiet, start.game.turns = ([9, 9], 9) if how == "stalemate" else ([0, 0], 499)
        game = begin(start).moves("TURN END")
        assert game.seen["ending"] == ENDINGS[how]
        assert game.seen["points"] == (points if rules.stalemate_scores else 0)
