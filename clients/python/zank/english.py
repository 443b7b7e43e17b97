"""What the client says about a game, in English. Another language is another table like this one.

Names in braces are filled in by `zank.sentences`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


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

    # Hints.
    only_legal_move: str
    wins_at_once: str
    value: str
    tie: str
    points: str
    margin: str
    tied: str
    tied_more: str
    equivalents: str

    # The table of a hint.
    move_column: str
    win_column: str
    points_column: str
    margin_column: str
    gap_column: str
    tied_mark: str
    more_moves: str
    effort: str

    # Lists of moves.
    equivalent: str
    no_legal_moves: str

    # Events.
    moved: str
    turned_up: str
    drawn_one: str
    drawn: str
    recycled: str
    turn_passed: str
    out: str
    stock_out: str
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
    only_legal_move="The only legal move.",
    wins_at_once="It wins the game at once.",
    value="Wins {win}{tie}, {points} expected.",
    tie=", ties {tie}",
    points="{points} points",
    margin="a margin of {points} payoff cards",
    tied="As good as far as {rollouts} rollouts a move can tell: {moves}.",
    tied_more="{moves} and {count} more",
    equivalents="The same as {moves}.",
    move_column="move",
    win_column="wins",
    points_column="points",
    margin_column="margin",
    gap_column="behind by",
    tied_mark="as good",
    more_moves="{count} more moves",
    effort="{rollouts} rollouts, seed {seed}; ± is one standard error.",
    equivalent="the same as {move}",
    no_legal_moves="No legal moves: the game is over.",
    moved="Player {player}: {card} {origin} → {destination}.",
    turned_up="Player {player} turns up the {card} on {place}.",
    drawn_one="Player {player} draws 1 card.",
    drawn="Player {player} draws {count} cards.",
    recycled="{place} is complete: its {count} cards are shuffled into the stock.",
    turn_passed="Player {player} is to move.",
    out="Player {player} has played the last payoff card and wins ({points})",
    stock_out="The stock is out: player {player} wins ({points})",
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
