"""What there is to say for and against moves of Russian Bank, in named cards."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from zank.cards import SUITS, Card
from zank.notation import DRAWN, END, FOUNDATION, OPPONENT_RESERVE, OPPONENT_WASTE, RESERVE, TABLEAU, TURN
from zank.v1 import (
    REASON_CODE_COVERS_PLAYABLE,
    REASON_CODE_ENDS_GAME,
    REASON_CODE_FILLS_SPACE,
    REASON_CODE_FREES_RESERVE,
    REASON_CODE_LETS_IN,
    REASON_CODE_LOADS,
    REASON_CODE_MAKES_SPACE,
    REASON_CODE_PLAYS_RESERVE,
    REASON_CODE_PLAYS_TO_FOUNDATION,
    REASON_CODE_SHUTS_OUT,
    REASON_CODE_THROWS_PLAYABLE,
    REASON_CODE_TURNS_WASTE_OVER,
    REASON_CODE_UNCOVERS,
    REASON_CODE_WINS,
    BankTable,
    Pile,
    Position,
    Reason,
)
from zank_kernel.bank.rules import Rules
from zank_service.bank.moves import move_name
from zank_service.bank.piles import read
from zank_service.piles import size

BUILDING: Final = (FOUNDATION, *TABLEAU)
LOADING: Final = (OPPONENT_RESERVE, OPPONENT_WASTE)


def reasons(position: Position, rules: Rules, actions: Sequence[int]) -> list[list[Reason]]:
    """What there is to say of each of some legal actions of a masked position that is not over.

    The reasons of an action are in the order of their codes, each code at most once. Of a move that ends the game
    nothing is said of what could be played after it, and of a card that is not known nothing ever.
    """
    table = _Table(position.bank, position.player_to_move - 1)

    def said_of(action: int) -> Iterator[Reason]:
        source, _, target = move_name(action).partition("-")
        if source == TURN:
            return _said_of_turning(table)
        if source == END:
            return _said_of_ending(table, rules, turns=position.turns + 1)
        return _said_of_card(table, source, target)

    return [sorted(said_of(action), key=lambda reason: reason.code) for action in actions]


class _Fit(NamedTuple):
    """A card and the first place that it fits."""

    card: str
    place: str


class _Table:
    """A table from its mover's side, and what fits where by the mechanics alone; a place is named as in a move."""

    def __init__(self, table: BankTable, mover: int) -> None:
        self._table = table
        self._mover = mover
        self.own, self.theirs = table.players[mover], table.players[1 - mover]
        self._piles = {
            RESERVE: self.own.reserve,
            **dict(zip(TABLEAU, table.tableau, strict=True)),
            OPPONENT_RESERVE: self.theirs.reserve,
            OPPONENT_WASTE: self.theirs.waste,
        }

    @property
    def is_out(self) -> bool:
        """Whether the mover has got rid of every card (B8)."""
        return not self.top(DRAWN) and not any(map(size, (self.own.reserve, self.own.stock, self.own.waste)))

    @property
    def spaces(self) -> list[str]:
        """The tableau piles without cards."""
        return [place for place in TABLEAU if not self.top(place)]

    def top(self, place: str) -> str:
        """The card that lies on top of a place, or is drawn; empty where there is none or it is not known."""
        if place == DRAWN:
            return self._table.drawn
        cards = self._piles[place].cards
        return cards[-1] if cards else ""

    def fit(self, place: str, targets: Sequence[str]) -> _Fit | None:
        """The top card of a place and the first of these targets that it fits; None if it fits none or is not known."""
        card = self.top(place)
        fitting = (target for target in targets if card and self._takes(target, read(card)))
        return next((_Fit(card, target) for target in fitting), None)

    def after(self, source: str, target: str) -> "_Table":
        """The table once a card has gone from one place to another. What this uncovers is known only if it was."""
        copy = BankTable()
        copy.CopyFrom(self._table)
        after = _Table(copy, self._mover)
        card = self.top(source)
        if source == DRAWN:
            copy.drawn = ""
        else:
            after._piles[source].cards.pop()
        onto = after._foundation(read(card)) if target == FOUNDATION else after._piles[target]
        assert onto is not None
        onto.cards.append(card)
        return after

    def _takes(self, target: str, card: Card) -> bool:
        """Whether a card fits a target."""
        if target == FOUNDATION:
            return self._foundation(card) is not None
        if not self.top(target):
            return target in TABLEAU  # B3: a space takes any card; B4: an empty pile takes none
        below = read(self.top(target))
        if target in TABLEAU:
            return card.rank == below.rank - 1 and card.is_red != below.is_red  # B3
        return abs(card.rank - below.rank) == 1 and card.suit == below.suit  # B4

    def _foundation(self, card: Card) -> Pile | None:
        """The foundation that takes a card, None where none does (B2)."""
        pair = self._table.foundations[2 * SUITS.index(card.suit) :][:2]
        return next((pile for pile in pair if len(pile.cards) == card.rank - 1), None)


def _said_of_card(before: _Table, source: str, target: str) -> Iterator[Reason]:
    """Of a card's way from one place to another."""
    after = before.after(source, target)
    card = before.top(source)
    if target == FOUNDATION:
        yield Reason(code=REASON_CODE_PLAYS_TO_FOUNDATION, cards=[card])
    if source == RESERVE:
        yield Reason(code=REASON_CODE_PLAYS_RESERVE, cards=[card], places=[target])
    if target in LOADING:
        yield Reason(code=REASON_CODE_LOADS, cards=[card], places=[target])
    if len(after.spaces) > len(before.spaces):  # not so where the only card of a pile goes to a space (B11)
        yield Reason(code=REASON_CODE_MAKES_SPACE, places=[source])
    if before.spaces and not after.spaces:
        yield Reason(code=REASON_CODE_FILLS_SPACE, places=[target])
    if target in TABLEAU and (covered := before.fit(target, [FOUNDATION])):
        yield Reason(code=REASON_CODE_COVERS_PLAYABLE, cards=[covered.card], places=[target, covered.place])
    if after.is_out:
        yield Reason(code=REASON_CODE_WINS)
        return
    if source in TABLEAU and (uncovered := after.fit(source, [FOUNDATION])):
        yield Reason(code=REASON_CODE_UNCOVERS, cards=[uncovered.card], places=[source, uncovered.place])
    own = after.fit(RESERVE, BUILDING)
    if own and (source == RESERVE or not before.fit(RESERVE, BUILDING)):
        yield Reason(code=REASON_CODE_FREES_RESERVE, cards=[own.card], places=[own.place])
    theirs_before, theirs_after = before.fit(OPPONENT_RESERVE, BUILDING), after.fit(OPPONENT_RESERVE, BUILDING)
    if theirs_before and not theirs_after:
        yield Reason(code=REASON_CODE_SHUTS_OUT, cards=[theirs_before.card], places=[theirs_before.place])
    if theirs_after and not theirs_before:
        yield Reason(code=REASON_CODE_LETS_IN, cards=[theirs_after.card], places=[theirs_after.place])


def _said_of_turning(table: _Table) -> Iterator[Reason]:
    """Of TURN (B6)."""
    if not size(table.own.stock):
        yield Reason(code=REASON_CODE_TURNS_WASTE_OVER, cards=table.own.waste.cards[:1])


def _said_of_ending(table: _Table, rules: Rules, turns: int) -> Iterator[Reason]:
    """Of END, after which so many turns are over (B7)."""
    thrown = table.fit(DRAWN, [*BUILDING, *LOADING])
    if thrown:
        yield Reason(code=REASON_CODE_THROWS_PLAYABLE, cards=[thrown.card], places=[thrown.place])
    quiet = (table.own.quiet_turns + 1, table.theirs.quiet_turns)
    own_left, their_left = (size(player.stock) + size(player.waste) for player in (table.own, table.theirs))
    left = (own_left + bool(table.top(DRAWN)), their_left)
    stalemate = all(ended >= max(cards, 1) for ended, cards in zip(quiet, left, strict=True))
    if stalemate or 0 < rules.max_turns <= turns:  # B10
        yield Reason(code=REASON_CODE_ENDS_GAME)
