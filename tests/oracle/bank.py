"""Russian Bank as its rule text says it, one card at a time; slow, obvious, and independent of the kernel.

Players count from 0, tableau piles from 0 in lists and from 1 in move notation. Every pile is a list of cards from
bottom to top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self

from tests.oracle.shuffle import DECK, deal_bank

RANKS = "A23456789TJQK"
SUITS = "cdhs"
RED = "dh"
FULL_DECK = Counter(DECK[:52])
WIN_POINTS = 30

HOUSES = tuple(f"T{n}" for n in range(1, 9))
SOURCES = ("R", "D", *HOUSES)
TARGETS = ("F", *HOUSES, "OR", "OW")


class Card(NamedTuple):
    """A card and the deck it comes from; the deck never matters for play."""

    rank: int  # 1 (ace) to 13 (king)
    suit: str  # one of "cdhs"
    deck: int  # the player (0 or 1) whose deck it belongs to

    def __str__(self) -> str:
        return RANKS[self.rank - 1] + self.suit


def card(name: str, deck: int) -> Card:
    """The card of a name, "7h", from a player's deck."""
    return Card(RANKS.index(name[0]) + 1, name[1], deck)


Pile = list[Card]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The options in which Russian Bank rule sets differ; ValueError for an option that the order of play lacks."""

    order_of_play: Literal["spiteful", "russian", "crapette"]
    reserve_first: Literal["anywhere", "foundation"] = "anywhere"  # S4: where a playable reserve card must go first
    stalemate_scoring: Literal["none", "difference"] = "none"  # S8, R6, C5: what a stalemate is worth
    reserve_cards: int = 13  # B0: cards in each reserve, 12 or 13
    max_turns: int = 500  # B10: both players' turns together; 0 is no limit

    def __post_init__(self) -> None:
        if self.order_of_play != "spiteful":
            if self.reserve_first != "anywhere":
                raise ValueError("reserve_first is an option of the spiteful order of play (S4)")
            if self.stalemate_scoring != "difference":
                raise ValueError("only the spiteful order of play has stalemates without points (R6, C5)")
        if self.reserve_cards not in (12, 13) or self.max_turns < 0:
            raise ValueError(f"no such option: {self!r}")


BANK_SPITEFUL = Rules(order_of_play="spiteful")
BANK_RUSSIAN = Rules(order_of_play="russian", stalemate_scoring="difference")
BANK_CRAPETTE = Rules(order_of_play="crapette", stalemate_scoring="difference")


class Result(NamedTuple):
    """How a game ended, who won it, and what the winner gets (B9, S8, R6)."""

    ending: Literal["out", "stalemate", "adjudicated"]
    winner: int | None  # 0 or 1; None for a draw
    points: int  # 0 for a draw


@dataclass(frozen=True, order=True)
class Move:
    """A card's way from one of `SOURCES` to one of `TARGETS`, or TURN or END; ValueError for anything else."""

    source: str
    target: str = ""

    def __post_init__(self) -> None:
        is_card_move = self.source in SOURCES and self.target in TARGETS
        if not is_card_move and (self.source not in ("TURN", "END") or self.target):
            raise ValueError(f"no such move: {self!r}")

    def __str__(self) -> str:
        return f"{self.source}-{self.target}" if self.target else self.source

    @property
    def within_tableau(self) -> bool:
        """Whether a card goes from one tableau pile to another."""
        return self.source in HOUSES and self.target in HOUSES


TURN = Move("TURN")
END = Move("END")
EVERY_MOVE = (*(Move(source, target) for source in SOURCES for target in TARGETS), TURN, END)
"""The 112 moves there are, allowed or not."""

BY_NOTATION = {str(move): move for move in EVERY_MOVE}


def parse(notation: str) -> Move:
    """A move from public notation, "R-F", "D-T5", "T4-OR", "TURN", "END", allowed or not; else ValueError."""
    if notation not in BY_NOTATION:
        raise ValueError(f"not a move: {notation!r}")
    return BY_NOTATION[notation]


class IllegalMove(ValueError):
    """A refused move; `rule` is the id of the rule it breaks."""

    def __init__(self, move: Move, rule: str) -> None:
        super().__init__(f"{move} breaks {rule}")
        self.rule = rule


def first_player(rules: Rules, reserve: Sequence[Pile], tableau: Sequence[Pile], coin: int) -> int:
    """The player who starts a deal; `coin` is the player whom a coin flip names (S1, R1, C1)."""
    if rules.order_of_play == "spiteful":
        return coin  # S1
    # R1, C1: the reserve cards, then T1 with T5, T2 with T6, and so on; the lower card starts, ace low.
    for first, second in zip([reserve[0], *tableau[:4]], [reserve[1], *tableau[4:]], strict=True):
        if first[-1].rank != second[-1].rank:
            return int(second[-1].rank < first[-1].rank)
    return coin


@dataclass(kw_only=True)
class Game:
    """A game in progress or finished; the hidden cards are known to it."""

    rules: Rules
    reserve: list[Pile]  # [2] piles, the last card face up
    stock: list[Pile]  # [2] piles, turned from the end
    waste: list[Pile] = field(default_factory=lambda: [[], []])  # [2] piles
    foundations: list[Pile] = field(
        default_factory=lambda: [[] for _ in range(8)]
    )  # [8] piles, two per suit: cc dd hh ss
    tableau: list[Pile]  # [8] piles
    drawn: Card | None = None  # the mover's, until it is played or thrown
    mover: int = 0  # 0 or 1; in a finished game the player who moved last
    opening: bool = False  # S1: aces of the opening turn are still to be played
    quiet: list[int] = field(default_factory=lambda: [0, 0])  # [2] B10: turns each player ended since the last progress
    turns: int = 0  # turns ended, both players' together
    seen: set[tuple[tuple[str, ...], ...]] = field(
        default_factory=set
    )  # B12: tableaus since the last other kind of move
    result: Result | None = None

    @classmethod
    def deal(cls, rules: Rules, decks: Sequence[Sequence[str]], coin: int) -> Self:
        """The start of a game from two shuffled decks of 52 card names and the player whom the coin names (B0).

        Raises ValueError when a player's cards are not one full deck.
        """
        if any(Counter(deck) != FULL_DECK for deck in decks):
            raise ValueError("each player deals from an own deck of 52 cards")
        own = [[card(name, player) for name in deck] for player, deck in enumerate(decks)]
        n = rules.reserve_cards
        # B0: the reserve first, then four tableau piles of one card, the rest is the stock.
        reserve = [deck[:n] for deck in own]
        tableau = [[dealt] for deck in own for dealt in deck[n : n + 4]]
        game = cls(
            rules=rules,
            reserve=reserve,
            tableau=tableau,
            stock=[deck[n + 4 :] for deck in own],
            mover=first_player(rules, reserve, tableau, coin),
        )
        game.opening = rules.order_of_play == "spiteful" and bool(game._aces_on_tableau())  # S1
        return game

    @classmethod
    def from_seed(cls, rules: Rules, seed: int) -> Self:
        """The start of the game that the documented shuffle deals for a seed of 64 bits."""
        dealt = deal_bank(seed, rules.reserve_cards)
        return cls.deal(rules, dealt.decks, dealt.coin - 1)

    def cards(self) -> Counter[Card]:
        """Every card on the table, wherever it lies."""
        piles = [*self.reserve, *self.stock, *self.waste, *self.foundations, *self.tableau]
        if self.drawn is not None:
            piles.append([self.drawn])
        return Counter(each for pile in piles for each in pile)

    # What may be played ------------------------------------------------------------------------------------------

    def legal_moves(self) -> set[Move]:
        """The moves the mover may make, pointless ones too; empty when the game is over."""
        if self.result is not None:
            return set()
        for _, moves in self._compulsory():
            if moves:
                return moves
        possible = {move for move in EVERY_MOVE if self._broken_mechanics(move) is None}
        return {move for move in possible if not any(moves for _, moves in self._due_before(move))}

    def explain(self, move: Move) -> str | None:
        """None when the move is legal, else the id of the rule it breaks, the mechanics before the order of play."""
        if self.result is not None:
            return "B8" if self.result.ending == "out" else "B10"  # the rule that ended the game
        broken = self._broken_mechanics(move)
        if broken is not None:
            return broken
        for rule, moves in self._compulsory():
            if moves:
                return None if move in moves else rule
        return next((rule for rule, moves in self._due_before(move) if moves), None)

    def obligatory(self, instead_of: Move | None = None) -> set[Move]:
        """The moves of which one is compulsory now; empty when none is or the game is over.

        Some rules compel only before the stock is turned, the drawn card is played or the turn ends (S5, S6, R4, C3):
        what they ask for is told when `instead_of` is the possible move that has to wait.
        """
        if self.result is not None:
            return set()
        for _, moves in self._compulsory():
            if moves:
                return moves
        if instead_of is None or self._broken_mechanics(instead_of) is not None:
            return set()
        return next((moves for _, moves in self._due_before(instead_of) if moves), set())

    def pointless(self, move: Move) -> str | None:
        """The rule by which a move of the tableau, legal or not, is never suggested (B11, B12), else None."""
        if not move.within_tableau or self._broken_mechanics(move) is not None:
            return None
        source, target = self.tableau[int(move.source[1]) - 1], self.tableau[int(move.target[1]) - 1]
        if len(source) == 1 and not target:
            return "B11"
        others = [pile for pile in self.tableau if pile is not source and pile is not target]
        after = self._order_free([*others, source[:-1], [*target, source[-1]]])
        return "B12" if after in self.seen or after == self._order_free(self.tableau) else None

    def _broken_mechanics(self, move: Move) -> str | None:
        """The id of the rule B1 to B7 that the move breaks, if any."""
        player, opponent = self.mover, 1 - self.mover
        if not move.target:
            may_turn = bool(self.stock[player] or self.waste[player])
            if move == TURN:
                return None if self.drawn is None and may_turn else "B6"  # B6
            return None if self.drawn is not None or not may_turn else "B7"  # B7 (a), (b)
        moved = self._available(move.source)
        if moved is None:
            return "B1"  # B1: there is no such card
        if move.target == "F":
            return None if self._foundation_for(moved) is not None else "B2"
        if move.target in HOUSES:
            return None if self._fits_house(moved, self.tableau[int(move.target[1]) - 1]) else "B3"
        pile = self.reserve[opponent] if move.target == "OR" else self.waste[opponent]
        return None if self._loads(moved, pile) else "B4"

    def _available(self, source: str) -> Card | None:
        """The card that can be moved from a place (B1), or None when there is none."""
        if source == "D":
            return self.drawn
        pile = self.reserve[self.mover] if source == "R" else self.tableau[int(source[1]) - 1]
        return pile[-1] if pile else None

    def _foundation_for(self, moved: Card) -> Pile | None:
        """The foundation that takes a card (B2); of two equal ones the first."""
        suit = SUITS.index(moved.suit)
        pair = self.foundations[2 * suit : 2 * suit + 2]
        return next((pile for pile in pair if len(pile) == moved.rank - 1), None)

    @staticmethod
    def _fits_house(moved: Card, house: Pile) -> bool:
        """Whether a tableau pile takes a card (B3)."""
        if not house:
            return True  # B3: any card goes to a space
        top = house[-1]
        return (moved.suit in RED) != (top.suit in RED) and moved.rank == top.rank - 1

    @staticmethod
    def _loads(moved: Card, pile: Pile) -> bool:
        """Whether a card can be loaded on a pile of the opponent (B4)."""
        return bool(pile) and moved.suit == pile[-1].suit and abs(moved.rank - pile[-1].rank) == 1

    def _possible(self, sources: Sequence[str], targets: Sequence[str]) -> set[Move]:
        """The card moves between these places that the mechanics allow."""
        moves = {Move(source, target) for source in sources for target in targets}
        return {move for move in moves if self._broken_mechanics(move) is None}

    def _spaces(self) -> list[str]:
        return [house for house, pile in zip(HOUSES, self.tableau, strict=True) if not pile]

    def _aces_on_tableau(self) -> set[Move]:
        return {
            Move(house, "F") for house, pile in zip(HOUSES, self.tableau, strict=True) if pile and pile[-1].rank == 1
        }

    def _compulsory(self) -> Iterator[tuple[str, set[Move]]]:
        """The rules that leave nothing legal but certain moves, and those moves; the first with any decides."""
        if self.rules.order_of_play == "spiteful":
            yield "S1", self._aces_on_tableau() if self.opening else set()
            yield "S2", self._possible(["R"], ["F"])
            yield "S3", self._possible(["D"], ["F"])
            if self.rules.reserve_first == "anywhere":
                yield "S4", self._possible(["R"], TARGETS)
        elif self.rules.order_of_play == "russian":
            yield "R2", self._possible(SOURCES, ["F"])
            yield "R3", self._possible(["R"], self._spaces())
            if self.drawn is not None:
                yield "R5", self._possible(["D"], TARGETS) or {END}
        else:
            yield "C2", self._possible(["R"], ["F"])
            yield "C2", self._possible(SOURCES, ["F"])

    def _due_before(self, move: Move) -> Iterator[tuple[str, set[Move]]]:
        """The rules that ask for certain moves before this one, and those moves; none with an empty reserve."""
        if not self.reserve[self.mover]:
            return
        turns_or_ends = move in (TURN, END)
        turns_or_ends_undrawn = turns_or_ends and self.drawn is None
        if self.rules.order_of_play == "spiteful":
            if turns_or_ends or (move.source == "D" and move.target != "F"):
                # A pile's only card fills one space and opens another, so it is of no help.
                longer = [house for house, pile in zip(HOUSES, self.tableau, strict=True) if len(pile) > 1]
                yield "S5", self._possible(["R", *longer], self._spaces())
            if turns_or_ends:
                yield "S6", self._possible(HOUSES, ["F"])
        elif turns_or_ends_undrawn:
            if self.rules.order_of_play == "russian":
                yield "R4", self._possible(["R"], TARGETS)
            else:
                yield "C3", self._possible(["R"], self._spaces())

    # What a move does --------------------------------------------------------------------------------------------

    def play(self, move: Move) -> None:
        """Makes a move and everything that follows at once; IllegalMove, the game unchanged, when it breaks a rule."""
        broken = self.explain(move)
        if broken is not None:
            raise IllegalMove(move, broken)
        if move.within_tableau:
            self.seen.add(self._order_free(self.tableau))  # B12
        else:
            self.seen.clear()
        if move == TURN:
            self._turn()
        elif move == END:
            self._end()
        else:
            self._move_card(move)
        self.opening = self.opening and bool(self._aces_on_tableau())  # S1

    def _turn(self) -> None:
        """The top stock card is turned up (B6)."""
        player = self.mover
        if not self.stock[player]:
            self.stock[player] = self.waste[player][::-1]  # B6: turned over, the card thrown first comes first
            self.waste[player] = []
        self.drawn = self.stock[player].pop()

    def _move_card(self, move: Move) -> None:
        player, opponent = self.mover, 1 - self.mover
        if move.source == "D":
            assert self.drawn is not None
            moved, self.drawn = self.drawn, None
        elif move.source == "R":
            moved = self.reserve[player].pop()  # B5: the next card is up by that alone
        else:
            moved = self.tableau[int(move.source[1]) - 1].pop()

        if move.target == "F":
            foundation = self._foundation_for(moved)
            assert foundation is not None
            foundation.append(moved)
        elif move.target in HOUSES:
            self.tableau[int(move.target[1]) - 1].append(moved)
        else:
            (self.reserve if move.target == "OR" else self.waste)[opponent].append(moved)

        if move.target == "F" or (move.source in "RD" and move.target in HOUSES):
            self.quiet = [0, 0]  # B10: progress
        if self.drawn is None and not (self.reserve[player] or self.stock[player] or self.waste[player]):  # B8
            loser_reserve, loser_stock, loser_waste = (
                len(piles[opponent]) for piles in (self.reserve, self.stock, self.waste)
            )
            self.result = Result("out", player, WIN_POINTS + loser_stock + loser_waste + 2 * loser_reserve)  # B9

    def _end(self) -> None:
        """The turn ends (B7), and with it perhaps the game (B10)."""
        player = self.mover
        if self.drawn is not None:
            self.waste[player].append(self.drawn)  # B7 (a)
            self.drawn = None
        self.turns += 1
        self.quiet[player] += 1  # B10: also the turn that contained the last progress
        if all(self.quiet[p] >= max(1, len(self.stock[p]) + len(self.waste[p])) for p in range(2)):  # B10
            self._stop("stalemate")
        elif 0 < self.rules.max_turns <= self.turns:  # B10: after that test
            self._stop("adjudicated")
        else:
            self.mover = 1 - player

    def _stop(self, ending: Literal["stalemate", "adjudicated"]) -> None:
        """Ends a game that nobody has won (S8, R6, C5)."""
        totals = [len(self.stock[p]) + len(self.waste[p]) + 2 * len(self.reserve[p]) for p in range(2)]
        if self.rules.stalemate_scoring == "none" or totals[0] == totals[1]:
            self.result = Result(ending, None, 0)
        else:
            self.result = Result(ending, totals.index(min(totals)), abs(totals[0] - totals[1]))

    @staticmethod
    def _order_free(tableau: Sequence[Pile]) -> tuple[tuple[str, ...], ...]:
        """A tableau without the order of its piles and the decks of its cards (B11)."""
        return tuple(sorted(tuple(map(str, pile)) for pile in tableau))
