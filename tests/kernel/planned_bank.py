"""Turns of Russian Bank that have to be planned.

Player 0 is to move, late in a game. The policy of the rollouts moves nothing from one tableau pile to another, unless
it is a pile's only card and makes a space for the reserve: so two such moves are nothing that it comes upon.
"""

import random
from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.kernel.bank_positions import CRAPETTE, RUSSIAN, SPITEFUL, Position, oracle_rules
from tests.kernel.planned import Planned
from tests.oracle import bank as oracle
from zank_kernel import bank

FACES: Final = [rank + suit for suit in oracle.SUITS for rank in oracle.RANKS]
TURNS: Final = 60  # both players' together


def position(
    rules: bank.Rules,
    *,
    reserve: tuple[str, str],
    stock: str = "",
    waste: tuple[str, str],
    tableau: str,
    foundations: str,
    drawn: str = "",
) -> Position:
    """A position with a card of its owner's deck for every hidden one, in no order to speak of.

    A pile is hidden cards, as a number, and those that are known, from the bottom to the top: "2-Kd", "7hKd". Player
    1's stock has what is left, and was never turned over. Tableau piles are separated by spaces, "-" is an empty one;
    foundations are named by their tops.
    """
    own = [[split(reserve[player]), split((stock, "")[player]), split(waste[player])] for player in (0, 1)]
    houses = [split(text)[1] for text in tableau.split()]
    built: list[list[str]] = [[] for _ in range(8)]
    for top in foundations.split():
        first = 2 * oracle.SUITS.index(top[1])
        built[first + bool(built[first])] = FACES[FACES.index("A" + top[1]) : FACES.index(top) + 1]

    # What of each card is left to be placed, by deck: own cards first, then the hidden ones, then all others.
    left = {face: [0, 1] for face in FACES}

    def take(face: str, deck: int | None = None) -> oracle.Card:
        deck = left[face][0] if deck is None else deck
        left[face].remove(deck)
        return oracle.card(face, deck)

    known = [[[take(face, player) for face in faces] for _, faces in own[player]] for player in (0, 1)]
    up = take(drawn, 0) if drawn else None
    shared = Counter(face for faces in (*built, *houses) for face in faces)
    hidden = [[face for face in FACES if player in left[face] and not shared[face]] for player in (0, 1)]
    either = [face for face in FACES if len(left[face]) == 2 and shared[face] == 1]
    random.Random(0).shuffle(either)
    more = sum(count for count, _ in own[0]) - len(hidden[0])
    assert 0 <= more <= len(either)
    hidden[0] += either[:more]
    hidden[1] += either[more:]
    cards = [[take(face, player) for face in hidden[player]] for player in (0, 1)]
    for each in cards:
        random.Random(1).shuffle(each)
    counts = [[count for count, _ in own[player]] for player in (0, 1)]
    counts[1][1] = len(hidden[1]) - counts[1][0]
    piles = [
        [[*(cards[player].pop() for _ in range(counts[player][zone])), *known[player][zone]] for zone in range(3)]
        for player in (0, 1)
    ]
    game = oracle.Game(
        rules=oracle_rules(rules),
        reserve=[piles[player][0] for player in (0, 1)],
        stock=[piles[player][1] for player in (0, 1)],
        waste=[piles[player][2] for player in (0, 1)],
        foundations=[[take(face) for face in faces] for faces in built],
        tableau=[[take(face) for face in faces] for faces in houses],
        drawn=up,
        turns=TURNS,
    )
    return Position(rules, game, [counts[player][0] for player in (0, 1)], [counts[player][1] > 0 for player in (0, 1)])


def split(text: str) -> tuple[int, list[str]]:
    """How many cards of a pile are hidden, and the names of the others."""
    hidden, _, known = text.rpartition("-")
    return int(hidden or 0), [known[place : place + 2] for place in range(0, len(known), 2)]


# What is gained ----------------------------------------------------------------------------------------------------


def won(_: Position, now: Position) -> bool:
    """The game."""
    result = now.game.result
    return result is not None and (result.ending, result.winner) == ("out", 0)


def reserve_cards(count: int) -> Callable[[Position, Position], bool]:
    """So many cards less in the reserve."""
    return lambda start, now: len(now.game.reserve[0]) <= len(start.game.reserve[0]) - count


def loads(count: int) -> Callable[[Position, Position], bool]:
    """So many cards more in the other player's reserve."""
    return lambda start, now: len(now.game.reserve[1]) >= len(start.game.reserve[1]) + count


# Where -------------------------------------------------------------------------------------------------------------

PLANNED: Final = (
    # The reserve's king needs a space: the 7, the 8 and the 9 of T1 find places on three piles, in this order.
    Planned(
        name="space-for-the-reserve",
        start=position(
            SPITEFUL,
            reserve=("1-Kd", "2-6h"),
            stock="4-",
            waste=("8cQh", "6c5h"),
            tableau="9c8h7c Th9c8d Th9s JcTd KhQc Ks KhQs Kc",
            foundations="7c 5c Kd 6d 8h 4h Ks 7s",
        ),
        gain=reserve_cards(1),
        first="T1-T2 T2-T3 T3-T4",
        line="T1-T2 T1-T3 T1-T4 R-T1",
    ),
    # The 6 and the 7 on T1 cover the 8 that the hearts wait for: it goes up, the 9 of T4 follows, then the 10 of the
    # reserve.
    Planned(
        name="foundations-up-to-the-reserve",
        start=position(
            SPITEFUL,
            reserve=("1-Th", "2-Jc"),
            stock="5-",
            waste=("9d", "Td7d4c"),
            tableau="9s8h7s6d 8d7c 9c8d Ts9h QsJh KsQd KcQd Kd",
            foundations="Kc 3c 6d 4d Kh 7h Ks 5s",
        ),
        gain=reserve_cards(1),
        first="T1-T2 T2-T3",
        line="T1-T2 T1-T3 T1-F T4-F R-F",
    ),
    # The 9 on the other player's 8 opens the way for 10 and jack. It lies at the bottom of T1, whose 7 and 8 have to
    # go first.
    Planned(
        name="loads-from-below",
        start=position(
            CRAPETTE,
            reserve=("1-Kd", "2-8s"),
            stock="4-",
            waste=("8cQh", "6c5h"),
            tableau="9s8h7c Th9c8d Th9c JhTs QdJs KhQc Ks KhQs",
            foundations="7c 5c Kd 6d 8h 4h Ks 6s",
        ),
        gain=loads(3),
        first="T1-T2",
        line="T1-T2 T1-T3 T1-OR T4-OR T5-OR",
    ),
    # The stock was turned over and has two kings, for one space. With the 7 in it for a while the 8 and then the 7 go
    # on T2 and the 9 on T3: two spaces. Once the stock is turned, the drawn king takes the only one (R5).
    Planned(
        name="win-by-a-second-space",
        start=position(
            RUSSIAN,
            reserve=("", "2-6c"),
            stock="KcKd",
            waste=("", "8h6d"),
            tableau="9d8c7h Tc9h JhTs Kh QdJc QhJs 9s8d -",
            foundations="Kc 5c Kd 5d Kh 5h Ks 6s",
        ),
        gain=won,
        first="T1-T8 T2-T3 T2-T8 T3-T8 T5-T8 T6-T8 T7-T8",
        line="T1-T8 T1-T2 T8-T2 T1-T3 TURN D-T1 TURN D-T8",
    ),
    # Without a space. The 9 on T2 and the 10 on T4 cover the 10 and the jack that the diamonds wait for;
    # the queen of the reserve is the last card.
    Planned(
        name="win-without-a-space",
        start=position(
            CRAPETTE,
            reserve=("Qd", "2-7h"),
            waste=("", "6s8h"),
            tableau="KhQs JsTd9s JcTh QcJdTs QcJh KcQhJc 8s Tc9h8c",
            foundations="9c 5c Kd 9d Kh 6h Ks 5s",
        ),
        gain=won,
        first="T2-T3 T3-T6 T4-T5 T5-T1",
        line="T2-T3 T2-F T4-T5 T4-F R-F",
    ),
    # The waste, turned over, comes up as two kings and a queen. Two piles have to be cleared for the kings before each
    # is drawn, and the queen fits the second.
    Planned(
        name="waste-turned-over",
        start=position(
            RUSSIAN,
            reserve=("", "2-Qh"),
            waste=("KcKdQs", "5cJh"),
            tableau="8h7c 6s5d Th9c8d Td9s 7d6c 8s7h KhQc QdJc",
            foundations="Kc 4c Kd 3d Kh 5h Ks 4s",
        ),
        gain=won,
        first="T1-T3 T2-T5 T3-T4 T5-T6",
        line="T1-T3 T1-T4 T2-T5 T2-T6 TURN D-T1 TURN D-T2 TURN D-T2",
    ),
    # The reserve's queen was loaded on the jack below. It needs a space, made of the three cards of T1; the jack
    # follows on a red queen.
    Planned(
        name="two-cards-of-the-reserve",
        start=position(
            RUSSIAN,
            reserve=("1-JsQs", "2-6h"),
            stock="4-",
            waste=("8cTc", "6c5h"),
            tableau="9c8h7c Th9c8d Th9s JcTd KhQc KhQc KsQh KcQd",
            foundations="7c 5c Kd 6d 8h 4h Ks 7s",
        ),
        gain=reserve_cards(2),
        first="T1-T2 T2-T3 T3-T4",
        line="T1-T2 T1-T3 T1-T4 R-T1 R-T7",
    ),
    # The drawn king is the last card, and there is no space. Both cards of T1 find a place, as long as the 8 of T2 has
    # not taken that of the other 8.
    Planned(
        name="win-by-the-drawn-card",
        start=position(
            CRAPETTE,
            reserve=("", "2-Jh"),
            waste=("", "5c6h"),
            drawn="Kd",
            tableau="8h7c Th9c8d Td9s KhQc Ks Kc Qs 9h8s",
            foundations="Kc 4c Kd 6d Kh 5h Ks 5s",
        ),
        gain=won,
        first="T1-T2 T2-T3",
        line="T1-T2 T1-T3 D-T1",
    ),
    # King and queen of the reserve are the last cards: the king was loaded, and fits the space. Lent to the 7 of T1
    # instead, until the 8 lies on T3, the space comes back, and with the 9 on T4 it is two.
    Planned(
        name="win-by-a-space-on-loan",
        start=position(
            CRAPETTE,
            reserve=("QhKh", "2-6h"),
            waste=("", "4c5h"),
            tableau="9c8h7c KdQc Th9s JcTd JdTs9d 7h6c 5c -",
            foundations="Kc 3c Kd 6d Kh 4h Ks 7s",
        ),
        gain=won,
        first="T1-T8 T2-T8 T3-T4 T3-T8 T4-T8 T5-T8 T6-T8",
        line="T1-T8 T1-T3 T8-T3 T1-T4 R-T1 R-T8",
    ),
    # The reserve's 9 fits the 10 at the bottom of T1. The 7 goes to T2; the 8 follows the 7 of T3, as soon as the 6 on
    # that has gone to T4; and the 9 goes up by itself.
    Planned(
        name="reserve-freed-by-foundations",
        start=position(
            CRAPETTE,
            reserve=("1-9h", "2-Td"),
            stock="2-",
            waste=("9c", "5hQd"),
            tableau="Ts9d8c7h 8s 9s8h7c6h 7s KhQc KdQs Kc QhJc",
            foundations="Kc 6c Kd 8d Kh 4h Ks 5s",
        ),
        gain=reserve_cards(1),
        first="T1-T2 T3-T4",
        line="T3-T4 T3-F T1-T2 T1-F T1-F R-T1",
    ),
)
