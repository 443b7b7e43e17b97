"""Spite & Malice as its rule text says it, one card at a time; slow, obvious, and independent of the kernel.

Cards are ranks, 1 (ace) to 13 (king): suits never matter for play. Players, side stacks and centers count from 0,
except in move notation, where they count from 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

KING = 13
HAND_SIZE = 5
COMPLETE_HEIGHT = 12
RANKS = "A23456789TJQK"
NOTATION = re.compile(r"(P|S[1-4]|[A2-9TJQK])-(C[1-3]|S[1-4]|H)")

DrawCards = Callable[[int, int, Counter[int]], list[int]]
"""Chooses drawn cards: (player, how many, a copy of the stock) -> ranks in the order drawn."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The options in which Spite & Malice rule sets differ."""

    payoff_cards: int = 20  # M1: cards in each payoff pile, 1 to 30
    wild_starts_stack: bool = True  # M4: a king may be played on an empty center stack
    side_play_ends_turn: bool = False  # M6: a play from a side stack to the center ends the turn too
    stock_out_when: Literal["emptied", "short"] = "emptied"  # M11: what ends the game
    stock_out_result: Literal["tie", "shorter"] = "tie"  # M11: who wins then


MALICE_MATCH = Rules()
MALICE_CLASSIC = Rules(wild_starts_stack=False, stock_out_result="shorter")


class Result(NamedTuple):
    """How a game ended, and what the winner gets: points, or the margin in payoff cards (M12)."""

    ending: Literal["out", "stock"]
    winner: int | None  # 0 or 1; None for a tie
    points: int  # 0 for a tie


@dataclass(frozen=True, order=True)
class Move:
    """One card's way from a pile of the mover to another place, allowed or not; ValueError if a place is not there."""

    source: Literal["payoff", "side", "hand"]
    which: int  # the side stack (0-3), the rank of the hand card (1-13), 0 for the payoff pile
    target: Literal["center", "side", "hand"]
    index: int  # the center stack (0-2), the own side stack (0-3), 0 for the hand

    def __post_init__(self) -> None:
        sources = {"payoff": range(1), "side": range(4), "hand": range(1, KING + 1)}
        targets = {"center": range(3), "side": range(4), "hand": range(1)}
        if self.which not in sources[self.source] or self.index not in targets[self.target]:
            raise ValueError(f"no such place: {self!r}")

    def __str__(self) -> str:
        source = {"payoff": "P", "side": f"S{self.which + 1}", "hand": RANKS[self.which - 1]}[self.source]
        target = {"center": f"C{self.index + 1}", "side": f"S{self.index + 1}", "hand": "H"}[self.target]
        return f"{source}-{target}"


def payoff_play(center: int) -> Move:
    """The payoff top to a center stack."""
    return Move("payoff", 0, "center", center)


def side_play(side: int, center: int) -> Move:
    """The top of an own side stack to a center stack."""
    return Move("side", side, "center", center)


def hand_play(rank: int, center: int) -> Move:
    """The first listed card of a rank in hand to a center stack."""
    return Move("hand", rank, "center", center)


def discard(rank: int, side: int) -> Move:
    """The first listed card of a rank in hand to an own side stack."""
    return Move("hand", rank, "side", side)


def parse(notation: str) -> Move:
    """A move from public notation without suits, "P-C2", "S3-C1", "7-C2", "Q-S4", allowed or not; else ValueError."""
    match = NOTATION.fullmatch(notation)
    if match is None:
        raise ValueError(f"not a move: {notation!r}")
    source, target = match.groups()
    index = 0 if target == "H" else int(target[1]) - 1
    place: Literal["center", "side", "hand"] = "hand" if target == "H" else "center" if target[0] == "C" else "side"
    if source == "P":
        return Move("payoff", 0, place, index)
    if source[0] == "S":
        return Move("side", int(source[1]) - 1, place, index)
    return Move("hand", RANKS.index(source) + 1, place, index)


class IllegalMove(ValueError):
    """A refused move; `rule` is the id of the rule it breaks."""

    def __init__(self, move: Move, rule: str) -> None:
        super().__init__(f"{move} breaks {rule}")
        self.rule = rule


@dataclass(kw_only=True)
class Game:
    """A game in progress or finished; every pile is a list of ranks from bottom to top."""

    rules: Rules
    payoff: list[list[int]]  # [2] piles, the cards below the top too
    hand: list[list[int]]  # [2] hands, in the order held
    sides: list[list[list[int]]] = field(default_factory=lambda: [[[] for _ in range(4)] for _ in range(2)])  # [2][4]
    centers: list[list[int]] = field(default_factory=lambda: [[] for _ in range(3)])  # [3] stacks, kings as kings
    stock: Counter[int]  # a multiset: its order is not knowable, so it is exchangeable
    recycled: Counter[int] = field(default_factory=Counter)  # went back by M9 and have not been shown from a hand since
    mover: int = 0  # 0 or 1; in a finished game the player who moved last, or who was to draw
    result: Result | None = None

    @classmethod
    def deal(cls, rules: Rules, deck: Sequence[int], starter: int) -> Game:
        """The start of a game from a shuffled deck of 104 ranks (M1)."""
        # M1: the payoff piles, then the hands, each player 1's first; the rest is the stock.
        p = rules.payoff_cards
        return cls(
            rules=rules,
            payoff=[list(deck[:p]), list(deck[p : 2 * p])],
            hand=[list(deck[2 * p : 2 * p + HAND_SIZE]), list(deck[2 * p + HAND_SIZE : 2 * p + 2 * HAND_SIZE])],
            stock=Counter(deck[2 * p + 2 * HAND_SIZE :]),
            mover=starter,
        )

    def cards(self) -> Counter[int]:
        """Every card on the table, wherever it lies."""
        piles = [*self.payoff, *self.hand, *self.sides[0], *self.sides[1], *self.centers]
        return sum((Counter(pile) for pile in piles), Counter(self.stock))

    def legal_moves(self) -> set[Move]:
        """The moves the mover may make; cards of one rank in hand are one move. Empty when the game is over."""
        ranks = set(self.hand[self.mover])
        moves = [payoff_play(center) for center in range(3)]
        moves += [side_play(side, center) for side in range(4) for center in range(3)]
        moves += [hand_play(rank, center) for rank in ranks for center in range(3)]
        moves += [discard(rank, side) for rank in ranks for side in range(4)]
        return {move for move in moves if self.explain(move) is None}

    def explain(self, move: Move) -> str | None:
        """None when the move is legal, else the id of the rule it breaks."""
        if self.result is not None:
            return "M10" if self.result.ending == "out" else "M11"  # the rule that ended the game
        if move.target == "hand":
            return "M7"  # nothing goes back to the hand
        if move.target == "side" and move.source != "hand":
            return "M7"  # only hand cards are discarded; nothing moves between side stacks
        card = self._card(move)
        if card is None:
            return "M6" if move.target == "side" else "M5"  # there is no such card to discard, or to play
        if move.target == "side":
            return None  # M6: any card, any stack, any depth
        height = len(self.centers[move.index])
        if card == KING:  # M4
            return "M4" if height == 0 and not self.rules.wild_starts_stack else None
        return None if card == height + 1 else "M3"  # M3

    def play(self, move: Move, draw: DrawCards) -> None:
        """Makes a move and everything that follows at once; `draw` is asked for cards when, and as many as, are drawn.

        Raises IllegalMove, the game unchanged, when the move breaks a rule; ValueError when `draw` answers wrongly.
        """
        broken = self.explain(move)
        if broken is not None:
            raise IllegalMove(move, broken)
        player = self.mover
        card = self._take(move)
        if move.source == "hand" and self.recycled[card] > 0:
            self.recycled[card] -= 1  # shown again, so it may be this one that was recycled
        if move.target == "side":
            self.sides[player][move.index].append(card)
            self._end_turn(draw)  # M6
            return

        center = self.centers[move.index]
        center.append(card)
        if not self.payoff[player]:  # M10, before M9
            self._finish("out", player)
            return
        if len(center) == COMPLETE_HEIGHT:  # M9, before M8
            self.stock.update(center)
            self.recycled.update(center)
            center.clear()
        if move.source == "hand" and not self.hand[player]:  # M8
            self._draw(draw)
        if move.source == "side" and self.rules.side_play_ends_turn:  # M6, the other reading
            self._end_turn(draw)

    def _card(self, move: Move) -> int | None:
        """The card that the move is about (M5), or None when it is not there."""
        player = self.mover
        if move.source == "hand":
            return move.which if move.which in self.hand[player] else None
        pile = self.payoff[player] if move.source == "payoff" else self.sides[player][move.which]
        return pile[-1] if pile else None

    def _take(self, move: Move) -> int:
        """Takes the moved card from where it lies; the next payoff card is turned up by that alone (M5)."""
        player = self.mover
        if move.source == "hand":
            self.hand[player].remove(move.which)  # of equal ranks the first listed leaves
            return move.which
        return self.payoff[player].pop() if move.source == "payoff" else self.sides[player][move.which].pop()

    def _end_turn(self, draw: DrawCards) -> None:
        self.mover = 1 - self.mover
        self._draw(draw)  # M2

    def _draw(self, draw: DrawCards) -> None:
        """The mover draws up to five cards in hand (M2, M8), and the stock may run out (M11)."""
        hand = self.hand[self.mover]
        wanted = HAND_SIZE - len(hand)
        if wanted == 0:
            return  # M11: no draw
        count = min(wanted, self.stock.total())  # M11: takes the cards there are
        if count > 0:
            drawn = draw(self.mover, count, self.stock.copy())
            if len(drawn) != count or not Counter(drawn) <= self.stock:
                raise ValueError(f"cannot draw {drawn}: {count} cards are due from {dict(self.stock)}")
            self.stock -= Counter(drawn)
            hand.extend(drawn)
        emptied = self.stock.total() == 0
        if count < wanted or (emptied and self.rules.stock_out_when == "emptied"):  # M11
            self._finish("stock", self._shorter() if self.rules.stock_out_result == "shorter" else None)

    def _shorter(self) -> int | None:
        """The player with fewer payoff cards left, None when they are equal (M11)."""
        first, second = map(len, self.payoff)
        return None if first == second else int(second < first)

    def _finish(self, ending: Literal["out", "stock"], winner: int | None) -> None:
        # M12: after M10 the winner has no payoff cards, so the margin is all that the loser has left.
        margin = 0 if winner is None else len(self.payoff[1 - winner]) - len(self.payoff[winner])
        self.result = Result(ending, winner, margin)
