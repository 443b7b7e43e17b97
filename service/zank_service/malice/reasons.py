"""What there is to say for and against moves of Spite & Malice, in named cards."""

from collections.abc import Iterator, Sequence
from typing import Final

from zank.cards import KING, QUEEN
from zank.v1 import (
    REASON_CODE_COMPLETES_STACK,
    REASON_CODE_CONTINUES_RUN,
    REASON_CODE_COVERS_PLAYABLE,
    REASON_CODE_DISCARDS_KING,
    REASON_CODE_EMPTIES_SIDE,
    REASON_CODE_ENDS_GAME,
    REASON_CODE_LETS_IN,
    REASON_CODE_LOSES,
    REASON_CODE_ON_PATH,
    REASON_CODE_PLAYS_PAYOFF,
    REASON_CODE_REFILLS_HAND,
    REASON_CODE_SHUTS_OUT,
    REASON_CODE_UNCOVERS,
    REASON_CODE_WINS,
    Position,
    Reason,
)
from zank_kernel.malice.play import PLAYS
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import CENTERS, HAND, SIDES
from zank_service.malice.payoff_path import PayoffPaths
from zank_service.malice.piles import rank
from zank_service.piles import size

PAYOFF: Final = 0  # as a source of the kernel's actions


def reasons(position: Position, rules: Rules, actions: Sequence[int]) -> list[list[Reason]]:
    """What there is to say of each of some legal actions of a masked position that is not over.

    The reasons of an action are in the order of their codes, each code at most once. Of a move that ends the game
    nothing is said of what could be played after it.
    """
    table = _Table(position, rules)
    return [sorted(table.said_of(action), key=lambda reason: reason.code) for action in actions]


class _Table:
    """A position from its mover's side, and what the reasons of its moves share."""

    def __init__(self, position: Position, rules: Rules) -> None:
        table = position.malice
        self._rules = rules
        self._mover = table.players[position.player_to_move - 1]
        self._other = table.players[2 - position.player_to_move]
        self._heights = [len(center.cards) for center in table.centers]
        self._stock = size(table.stock)
        self._sides = [[rank(card) for card in pile.cards[-2:]] for pile in self._mover.sides]
        self._their_payoff = rank(self._other.payoff.cards[-1])
        self._entrance = self._fits(self._their_payoff, self._heights)
        payoff_fits = self._fits(rank(self._mover.payoff.cards[-1]), self._heights) is not None
        self._paths = None if payoff_fits else PayoffPaths(self._mover, self._heights, rules)

    def said_of(self, action: int) -> Iterator[Reason]:
        """The reasons of a legal action, in no order to speak of."""
        source, target = divmod(action, CENTERS)
        if action < PLAYS:
            return self._said_of_play(source, target)
        return self._said_of_discard(source - 1 - SIDES - HAND, target)

    def _said_of_play(self, source: int, target: int) -> Iterator[Reason]:
        """Of a play to a center stack."""
        center = f"C{target + 1}"
        heights = list(self._heights)
        heights[target] += 1
        if source == PAYOFF:
            yield Reason(code=REASON_CODE_PLAYS_PAYOFF, cards=self._mover.payoff.cards[-1:], places=[center])
            if size(self._mover.payoff) == 1:  # M10, before M9
                yield Reason(code=REASON_CODE_WINS)
                return
        stock = self._stock
        if heights[target] == QUEEN:  # M9
            yield Reason(code=REASON_CODE_COMPLETES_STACK, places=[center])
            stock += heights[target]
            heights[target] = 0

        side = source - 1 if PAYOFF < source <= SIDES else None
        last = source > SIDES and size(self._mover.hand) == 1
        ends_turn = side is not None and self._rules.side_play_ends_turn  # M6
        if side is not None and len(self._sides[side]) == 1:
            yield Reason(code=REASON_CODE_EMPTIES_SIDE, places=[f"S{side + 1}"])
        if ends_turn or last:
            due = HAND - size(self._other.hand) if ends_turn else HAND
            if self._runs_out(due, stock):
                yield from self._said_of_stock_out()
                return
        if last:  # M8
            yield Reason(code=REASON_CODE_REFILLS_HAND)
        yield from self._said_of_their_payoff(target, heights)
        if ends_turn:
            return
        if side is not None:
            yield from self._said_of_uncovered(side, heights)
        if self._paths is not None and (rest := self._paths.rest(source, target)):
            cards, places = zip(*rest, strict=True)
            yield Reason(code=REASON_CODE_ON_PATH, cards=cards, places=places)

    def _said_of_their_payoff(self, target: int, heights: Sequence[int]) -> Iterator[Reason]:
        """Of what a play to a center stack, which leaves these heights, does for the other player's payoff card."""
        entrance = self._fits(self._their_payoff, heights)
        # A play changes one center stack only, so where it changes the answer it is by that one.
        if (entrance is None) != (self._entrance is None):
            code = REASON_CODE_SHUTS_OUT if entrance is None else REASON_CODE_LETS_IN
            yield Reason(code=code, cards=self._other.payoff.cards[-1:], places=[f"C{target + 1}"])

    def _said_of_uncovered(self, side: int, heights: Sequence[int]) -> Iterator[Reason]:
        """Of what lies under the top of a side stack, which a play that leaves these heights took away."""
        if len(self._sides[side]) == 2:
            fitting = self._fits(self._sides[side][0], heights)
            if fitting is not None:
                cards = self._mover.sides[side].cards[-2:-1]
                yield Reason(code=REASON_CODE_UNCOVERS, cards=cards, places=[f"S{side + 1}", f"C{fitting + 1}"])

    def _said_of_discard(self, slot: int, side: int) -> Iterator[Reason]:
        """Of a discard on a side stack (M6)."""
        card = self._mover.hand.cards[slot]
        place = f"S{side + 1}"
        if rank(card) == KING:
            yield Reason(code=REASON_CODE_DISCARDS_KING, cards=[card])
        below = self._mover.sides[side].cards[-1] if self._sides[side] else None
        if below is not None:
            fitting = self._fits(rank(below), self._heights)
            if fitting is not None and rank(below) != KING:
                yield Reason(code=REASON_CODE_COVERS_PLAYABLE, cards=[below], places=[place, f"C{fitting + 1}"])
        due = HAND - size(self._other.hand)
        if self._runs_out(due, self._stock):
            yield from self._said_of_stock_out()
        elif below is not None and rank(card) + 1 == rank(below) != KING:  # a king follows nothing (M4)
            yield Reason(code=REASON_CODE_CONTINUES_RUN, cards=[card, below], places=[place])

    def _said_of_stock_out(self) -> Iterator[Reason]:
        """Of a move that ends the game by the draw after it (M11)."""
        yield Reason(code=REASON_CODE_ENDS_GAME)
        lead = size(self._other.payoff) - size(self._mover.payoff)
        if self._rules.shorter_payoff_wins and lead:
            yield Reason(code=REASON_CODE_WINS if lead > 0 else REASON_CODE_LOSES)

    def _runs_out(self, due: int, stock: int) -> bool:
        """Whether a draw of so many cards from so many ends the game (M11)."""
        dry = stock < due or (stock == due and self._rules.stock_out_when == "emptied")
        return due > 0 and dry

    def _fits(self, card: int, heights: Sequence[int]) -> int | None:
        """The first center stack, of these heights, that a card of this rank fits (M3, M4); None where it fits none."""
        for center, height in enumerate(heights):
            if card == height + 1 or (card == KING and (height > 0 or self._rules.wild_starts_stack)):
                return center
        return None
