"""What the client can say about a game: the table of phrases that every language fills in.

Names in braces are filled in by `zank.sentences` and `zank.board`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zank.v1 import ReasonCode


@dataclass(frozen=True, slots=True)
class Counted:
    """What is said of one thing, and of none or several."""

    one: str
    several: str

    def format(self, *, count: int, **names: object) -> str:
        """The phrase for the `count`, filled in."""
        return (self.one if count == 1 else self.several).format(count=f"{count:,}", **names)


@dataclass(frozen=True, kw_only=True, slots=True)
class MalicePhrases:
    """What is said of Spite & Malice only."""

    ranks: Sequence[str]  # the thirteen ranks with their article, ace first

    # Moves.
    from_payoff: str
    from_hand: str
    from_side: str
    play: str
    play_wild: str
    play_unknown: str  # to a center stack that takes no such card
    discard: str
    ends_turn: str

    # Cards that must be revealed.
    next_payoff: str
    card_drawn: str

    # Events and results.
    drawn: Counted
    recycled: str
    out: str
    stock_out: str
    stock_out_tie: str
    margin_won: Counted

    # The board.
    payoff: str
    hand: str
    center: str
    stock: str
    hidden: str
    needs: str
    needs_or_king: str
    standing_for: str
    recycled_count: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BankPhrases:
    """What is said of Russian Bank only."""

    # Moves.
    from_reserve: str
    from_stock: str  # the drawn card
    from_tableau: str
    play_to_foundation: str
    play_to_tableau: str
    play_to_space: str
    load_reserve: str
    load_waste: str
    turn: str
    turn_known: str
    turn_over: str
    end: str
    end_drawn: str

    # Cards that must be revealed.
    next_reserve: str
    card_turned: str

    # Events and results.
    turned_from_stock: str
    waste_turned_over: Counted
    out: str
    stalemate: str
    stalemate_tie: str
    adjudicated: str
    adjudicated_tie: str

    # The board.
    reserve: str
    stock: str
    waste: str
    drawn: str
    foundations: str
    tableau: str
    quiet_turns: Counted


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrases:
    """Every phrase, by what it says."""

    malice: MalicePhrases
    bank: BankPhrases

    # Places: those with a number by their letter, the others by their name.
    numbered_places: Mapping[str, str]
    places: Mapping[str, str]

    # Reasons, from the point of view of the player to move: {cards[0]}, {places[0]} and so on in the order that
    # `zank.v1.ReasonCode` says; {path} is all the cards.
    reasons: Mapping[ReasonCode.ValueType, str]
    why: str
    but: str

    # Hints.
    only_legal_move: str
    value: str
    match_value: str  # where the score of a match is known
    tie: str
    points: str
    margin: str
    tied: Counted
    tied_more: str
    equivalents: str

    then: str  # before the rest of a turn

    # The table of a hint.
    move_column: str
    match_column: str
    win_column: str
    tie_column: str
    points_column: str
    margin_column: str
    gap_column: str
    rollouts_column: str
    tied_mark: str
    more_moves: Counted
    effort: Counted
    few_rollouts: str
    repeat: str
    partial: str

    # Legal moves.
    equivalent: str
    compelled_by: str
    no_legal_moves: str
    legal: str
    broken_rule: str
    obligatory: str

    # Cards that must be revealed.
    needed: str

    # Events and results.
    moved: str
    turned_up: str
    turn_passed: str
    points_won: Counted

    # The board.
    heading: str
    finished_heading: str
    player: str
    left: str
    empty: str
    over: str
    to_move: str
