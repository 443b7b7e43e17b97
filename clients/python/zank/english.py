"""What the client says about a game, in English. Another language is another table like this one.

Names in braces are filled in by `zank.sentences`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

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
    ReasonCode,
)


@dataclass(frozen=True, slots=True)
class Counted:
    """What is said of one thing, and of none or several."""

    one: str
    several: str

    def format(self, *, count: int, **names: object) -> str:
        """The phrase for the `count`, filled in."""
        return (self.one if count == 1 else self.several).format(count=f"{count:,}", **names)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrases:
    """Every phrase, by what it says."""

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

    # Places.
    center_stack: str
    side_stack: str

    # Reasons, from the point of view of the player to move: {cards[0]}, {places[0]} and so on in the order that
    # `zank.v1.ReasonCode` says; {path} is all the cards.
    reasons: Mapping[ReasonCode.ValueType, str]
    why: str
    but: str

    # Hints.
    only_legal_move: str
    value: str
    tie: str
    points: str
    margin: str
    tied: Counted
    tied_more: str
    equivalents: str

    then: str  # before the rest of a turn

    # The table of a hint.
    move_column: str
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

    # Legal moves.
    equivalent: str
    no_legal_moves: str
    legal: str
    broken_rule: str
    obligatory: str

    # Cards that must be revealed.
    needed: str
    next_payoff: str
    card_drawn: str

    # Events.
    moved: str
    turned_up: str
    drawn: Counted
    recycled: str
    turn_passed: str
    out: str
    stock_out: str
    points_won: Counted
    margin_won: Counted
    stock_out_tie: str

    # The board.
    heading: str
    finished_heading: str
    player: str
    payoff: str
    hand: str
    center: str
    stock: str
    left: str
    hidden: str
    empty: str
    over: str
    needs: str
    needs_or_king: str
    standing_for: str
    to_move: str
    recycled_count: str


ENGLISH: Final = Phrases(
    ranks=(
        "an ace",
        "a 2",
        "a 3",
        "a 4",
        "a 5",
        "a 6",
        "a 7",
        "an 8",
        "a 9",
        "a 10",
        "a jack",
        "a queen",
        "a king",
    ),
    from_payoff="from the payoff pile",
    from_hand="from hand",
    from_side="from side stack {number}",
    play="Play the {card} {origin} onto center stack {number}, which needs {rank}",
    play_wild="Play the {card} {origin} onto center stack {number} as {rank}",
    play_unknown="Play the {card} {origin} onto center stack {number}",
    discard="Discard the {card} on side stack {number}, which ends the turn",
    ends_turn="; this ends the turn",
    center_stack="center stack {number}",
    side_stack="side stack {number}",
    reasons={
        REASON_CODE_WINS: "It wins the game at once.",
        REASON_CODE_PLAYS_PAYOFF: "It plays the payoff card, the {cards[0]}.",
        REASON_CODE_ON_PATH: "It leads to the payoff card: next {path}.",
        REASON_CODE_SHUTS_OUT: "It shuts the other player's {cards[0]} out of {places[0]}.",
        REASON_CODE_UNCOVERS: "It uncovers the {cards[0]} on {places[0]}, which fits {places[1]}.",
        REASON_CODE_EMPTIES_SIDE: "It empties {places[0]}.",
        REASON_CODE_REFILLS_HAND: "It empties the hand, and five cards are drawn.",
        REASON_CODE_COMPLETES_STACK: "It completes {places[0]}.",
        REASON_CODE_CONTINUES_RUN: "It continues the run on {places[0]}: the {cards[0]} on the {cards[1]}.",
        REASON_CODE_LETS_IN: "It lets the other player's {cards[0]} onto {places[0]}.",
        REASON_CODE_COVERS_PLAYABLE: "It covers the {cards[0]} on {places[0]}, which fits {places[1]}.",
        REASON_CODE_DISCARDS_KING: "It gives the {cards[0]} away.",
        REASON_CODE_LOSES: "It loses the game at once: the stock runs out.",
        REASON_CODE_ENDS_GAME: "It ends the game: the stock runs out.",
    },
    why="Why: {reasons}",
    but="But: {reasons}",
    only_legal_move="The only legal move.",
    value="Wins {win}{tie}, {points} expected.",
    tie=", ties {tie}",
    points="{points} points",
    margin="a margin of {points} payoff cards",
    tied=Counted(
        "As good as far as 1 rollout a move can tell: {moves}.",
        "As good as far as {count} rollouts a move can tell: {moves}.",
    ),
    tied_more="{moves} and {count} more",
    equivalents="The same as {moves}.",
    then="Then:",
    move_column="move",
    win_column="wins",
    tie_column="ties",
    points_column="points",
    margin_column="margin",
    gap_column="behind by",
    rollouts_column="rollouts",
    tied_mark="as good",
    more_moves=Counted("1 more move", "{count} more moves"),
    effort=Counted(
        "1 rollout, seed {seed}; ± is one standard error.",
        "{count} rollouts, seed {seed}; ± is one standard error.",
    ),
    few_rollouts="Few rollouts: these numbers say little.",
    repeat="The same again: --rollouts {rollouts} --rounds {rounds} --seed {seed}",
    equivalent="the same as {move}",
    no_legal_moves="No legal moves: the game is over.",
    legal="legal",
    broken_rule="{rule}: {text}",
    obligatory="To be played first: {moves}",
    needed="Not played. These cards come to light, and the position does not hold them:",
    next_payoff="the next payoff card of player {player}",
    card_drawn="card {number} that player {player} draws",
    moved="Player {player}: {card} {origin} → {destination}.",
    turned_up="Player {player} turns up the {card} on {place}.",
    drawn=Counted("Player {player} draws 1 card.", "Player {player} draws {count} cards."),
    recycled="{place} is complete: its {count} cards are shuffled into the stock.",
    turn_passed="Player {player} is to move.",
    out="Player {player} has played the last payoff card and wins ({points})",
    stock_out="The stock is out: player {player} wins ({points})",
    points_won=Counted("1 point", "{count} points"),
    margin_won=Counted("a margin of 1 payoff card", "a margin of {count} payoff cards"),
    stock_out_tie="The stock is out: a tie",
    heading="{preset} · turn {turn} · player {player} to move",
    finished_heading="{preset} · turn {turn} · {result}",
    player="Player {player}",
    payoff="payoff",
    hand="hand",
    center="Center",
    stock="Stock",
    left="{count} left",
    hidden="{count} hidden",
    empty="–",
    over="over",
    needs="needs {rank}",
    needs_or_king="needs {rank} or K",
    standing_for="as {rank}",
    to_move="to move",
    recycled_count="{count} recycled",
)
