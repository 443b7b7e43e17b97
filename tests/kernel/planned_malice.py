"""Turns of Spite & Malice that have to be planned.

Player 0 is to move. Payoff piles are short, so that a card is worth much: in a long game one more or less is hard to
tell from chance. Most of what is to be played brings the center near the other player's payoff card, which the policy
of the rollouts avoids for as long as it sees nothing to be gained.
"""

import dataclasses
import random
from collections import Counter
from typing import Any, Final

from tests.kernel.planned import Planned
from tests.kernel.positions import CLASSIC, MATCH, Position, oracle_rules, table
from tests.oracle import malice as oracle
from zank_kernel.malice.state import KING
from zank_kernel.malice.table import COPIES

SIDE_PLAY_ENDS_TURN: Final = dataclasses.replace(MATCH, side_play_ends_turn=True)


def position(**piles: Any) -> Position:
    """A position with a card for every hidden one ("x") of two decks, in no order to speak of; the stock has the rest.

    The piles are those of `table`.
    """
    seen = table(stock="", **piles)
    rest = Counter(dict.fromkeys(range(1, KING + 1), COPIES))
    rest.subtract(seen.seen())
    assert min(rest.values()) >= 0
    cards = random.Random(0).sample(list(rest.elements()), rest.total())

    def given(pile: tuple[int, ...]) -> list[int]:
        return [rank or cards.pop() for rank in pile]

    game = oracle.Game(
        rules=oracle_rules(seen.rules),
        payoff=[given(pile) for pile in seen.payoff],
        hand=[given(hand) for hand in seen.hand],
        sides=[[[*pile] for pile in sides] for sides in seen.sides],
        centers=[[*pile] for pile in seen.centers],
        stock=Counter(cards),
    )
    return Position(seen.rules, game)


# What is gained ----------------------------------------------------------------------------------------------------


def won(_: Position, now: Position) -> bool:
    """The game, by the last payoff card."""
    return now.game.result == oracle.Result("out", 0, len(now.game.payoff[1]))


def payoff_card(start: Position, now: Position) -> bool:
    """The payoff card is played."""
    return len(now.game.payoff[0]) < len(start.game.payoff[0])


def five_cards(_: Position, now: Position) -> bool:
    """The whole hand is played to the center, and five cards are drawn."""
    return now.game.result is None and now.game.mover == 0 and not now.game.hand[0]


def shut_out(_: Position, now: Position) -> bool:
    """No center stack takes the other player's payoff card."""
    return all(len(center) + 1 != now.game.payoff[1][-1] for center in now.game.centers)


def stock_refilled(start: Position, now: Position) -> bool:
    """A complete stack goes back to the stock."""
    return now.game.recycled.total() > start.game.recycled.total()


# Where -------------------------------------------------------------------------------------------------------------

PLANNED: Final = (
    # The 10 makes room for the jack of S1, which uncovers the 6. With the 5 from hand and the king as 7 it leads to the
    # payoff card, the last but one, an 8. 10 and jack alone help nobody but the other player, who needs the queen.
    Planned(
        name="payoff-card-freed-from-all-sides",
        start=position(
            payoff=("x8", "xQ"),
            hand=("5TKQ2", "xxxx"),
            sides=("Q96J", "94", "J8", "KTT4"),
            other_sides=("QJ8", "7", "Q9", "K6"),
            centers=("A234", "A23K56789", "A2"),
        ),
        gain=payoff_card,
        first="5-C1 T-C2",
        line="T-C2 S1-C2 5-C1 S1-C1 K-C1 P-C1",
    ),
    # No stack is below the payoff card, a 2. The 10, the king as jack and the queen of S2 complete C1: the ace starts
    # it afresh, and the 2 follows. To stop before the queen would let the other player's in.
    Planned(
        name="stack-completed-for-an-ace",
        start=position(
            payoff=("x2", "xxQ"),
            hand=("TKA33", "xxx"),
            sides=("J73", "TQ", "99", "55"),
            other_sides=("9T3", "4", "K7", ""),
            centers=("A23456789", "A2K4567", "A23456"),
        ),
        gain=payoff_card,
        first="T-C1",
        line="T-C1 K-C1 S2-C1 A-C1 P-C1",
    ),
    # The 10 makes room for the jack of S2 and so uncovers the 4: with the 3 before it and the king as 5 the 6 is
    # played. Below it lies a 9, the last: the ace of S3 uncovers the 8, and the 7 is still in hand.
    Planned(
        name="two-payoff-cards",
        start=position(
            payoff=("96", "xxQ"),
            hand=("T3K7Q", "xxx"),
            sides=("J7", "T4J", "98A", "22"),
            other_sides=("9T3", "4", "K7", ""),
            centers=("A2", "A2K456789", ""),
        ),
        gain=payoff_card,
        first="3-C1 T-C2",
        line="T-C2 S2-C2 3-C1 S2-C1 K-C1 P-C1",
    ),
    # The 7 that is missing lies below a 9 and a 10, which go to C3 and C2. Each makes way for the other player and
    # gains nothing; both let the 7 follow on the 6 and the payoff card on it.
    Planned(
        name="dug-through-two-cards",
        start=position(
            payoff=("x8", "xxQ"),
            hand=("63AJJ", "xxxx"),
            sides=("QQ2", "5", "J79T", "4"),
            other_sides=("TT4", "3", "6", "K"),
            centers=("A2345", "A2K456789", "A23K5678"),
        ),
        gain=payoff_card,
        first="6-C1 S3-C2",
        line="S3-C2 S3-C3 6-C1 S3-C1 P-C1",
    ),
    # 9, 10, jack and queen complete C1, and the ace starts it afresh as the last card of the hand: five more are drawn,
    # and the payoff card, a 2, has its place. With any card kept back C1 is left to the other player's jack, or without
    # an ace.
    Planned(
        name="whole-hand",
        start=position(
            payoff=("x2", "xxJ"),
            hand=("9TJQA", "xxxx"),
            sides=("Q964", "TT4", "J8", "5"),
            other_sides=("QJ8", "7", "Q9", "K"),
            centers=("A2345678", "A23K56", "A2"),
        ),
        gain=five_cards,
        first="9-C1",
        line="9-C1 T-C1 J-C1 Q-C1 A-C1",
    ),
    # The 2 makes room for the 3 of S1, which uncovers the 9. After the 8 from hand it goes on C1, then the king as 10,
    # and the jack is the last payoff card.
    Planned(
        name="win-by-a-buried-nine",
        start=position(
            payoff=("J", "xxx5"),
            hand=("28KQ6", "xxxx"),
            sides=("QQ93", "TTQ", "Q7", "6"),
            other_sides=("QJ8", "7", "Q9", "K"),
            centers=("A234567", "A", "A234"),
        ),
        gain=won,
        first="2-C2 8-C1",
        line="2-C2 S1-C2 8-C1 S1-C1 K-C1 P-C1",
    ),
    # No king may start a stack here, but two complete C1, as jack and as queen; then ace and 2 lead to the payoff card,
    # a 3. One king alone is thrown away.
    Planned(
        name="kings-complete-a-stack",
        start=position(
            rules=CLASSIC,
            payoff=("x3", "xx9"),
            hand=("KKA24", "xxxx"),
            sides=("Q965", "TT", "94", "J3"),
            other_sides=("QJ8", "7", "Q9", "K"),
            centers=("A23456789T", "A2345", "A2345"),
        ),
        gain=payoff_card,
        first="K-C1",
        line="K-C1 K-C1 A-C1 2-C1 P-C1",
    ),
    # A play from a side stack ends the turn. 3 and 5 from hand with a king between them and one after them lead to the
    # last payoff card, a 7; the 4 of S2, which fits too, would leave a 5 to the other player.
    Planned(
        name="win-without-the-side-stacks",
        start=position(
            rules=SIDE_PLAY_ENDS_TURN,
            payoff=("7", "x5"),
            hand=("35KKJ", "xxxx"),
            sides=("Q96", "TT4", "J", "8"),
            other_sides=("QJ8", "7", "Q9", "K"),
            centers=("A2", "AK", "A23456789"),
        ),
        gain=won,
        first="3-C1 3-C2",
        line="3-C1 K-C1 5-C1 K-C1 P-C1",
    ),
    # Two stacks wait for the other player's last payoff card, a 6. One 6 is in hand, the other lies below the 3 of S1,
    # which has no place before the 2 is played. To shut one stack only is to shut none.
    Planned(
        name="two-stacks-shut",
        start=position(
            payoff=("xxx9", "6"),
            hand=("26JQQ", "xxxx"),
            sides=("QT63", "TT5", "J", "T8"),
            other_sides=("QJ8", "7", "Q9", ""),
            centers=("A2345", "A2345", "A"),
        ),
        gain=shut_out,
        first="2-C3 6-C1",
        line="2-C3 S1-C3 S1-C2 6-C1",
    ),
    # One card is left in the stock, which the other player must draw: any discard ends the game as a tie, three payoff
    # cards against fifteen. The 10, the king as jack and the queen of S2 put twelve cards back.
    Planned(
        name="stock-refilled",
        start=position(
            payoff=("xx7", 14 * "x" + "Q"),
            hand=("TK995", "xxxx"),
            sides=("QT63A2JT985", "JT5Q", "J86449332J6", "T87A6697"),
            other_sides=("QJ84JQA3", "75578", "Q9722T9", "TT2A58754"),
            centers=("A23456789", "A2", "AK"),
        ),
        gain=stock_refilled,
        first="T-C1",
        line="T-C1 K-C1 S2-C1",
    ),
)

WON_CARD_BY_CARD: Final = tuple(each for each in PLANNED if each.name == "two-payoff-cards")
"""Where the same turn wins, though its last payoff card is not known before it is turned up."""
