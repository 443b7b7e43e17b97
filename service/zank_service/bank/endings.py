"""Whether a game of Russian Bank goes on, or has ended as its position says (B8, B9, B10)."""

from collections.abc import Sequence
from typing import Final

from zank.v1 import ENDING_ADJUDICATED, ENDING_OUT, ENDING_STALEMATE, Position
from zank_kernel.bank.rules import Rules
from zank_service.piles import size
from zank_service.refusals import Violations

WIN_POINTS: Final = 30  # B9


def check_going_on(position: Position, rules: Rules, field: str, violations: Violations) -> None:
    """Note where a game without a result, at path `field`, is over: won (B8), or after the last turn (B10)."""
    for index, left in enumerate(_left(position)):
        if not left:
            violations.add(
                f"{field}.bank.players[{index}]",
                "expected a card in reserve, stock or waste: without any the game is won (B8), and there is a result",
            )
    if 0 < rules.max_turns <= position.turns:
        violations.add(
            f"{field}.turns",
            f"expected fewer than {rules.max_turns}: after so many turns the game is over (B10), and there is a result;"
            f" found {position.turns}",
        )


def check_result(position: Position, rules: Rules, field: str, violations: Violations) -> None:
    """Note where the result of the position at path `field` is not what the rules make of the table."""
    result, players = position.result, position.bank.players
    path = f"{field}.result"
    left = _left(position)
    hands = [size(player.stock) + size(player.waste) for player in players]
    totals = [hand + 2 * size(player.reserve) for hand, player in zip(hands, players, strict=True)]
    stalemate = all(player.quiet_turns >= max(hand, 1) for hand, player in zip(hands, players, strict=True))  # B10
    winner = points = 0
    if result.ending == ENDING_OUT:
        winner = position.player_to_move  # B8: who moved last
        points = WIN_POINTS + totals[2 - winner]  # B9
        possible = left[2 - winner] > 0 == left[winner - 1]
        expected = f"player {winner}, who moved last, to be the only one without cards (B8)"
    elif result.ending == ENDING_STALEMATE:
        possible = all(left) and stalemate
        expected = "cards with both players, and as many quiet turns as either has in stock and waste (B10)"
    elif result.ending == ENDING_ADJUDICATED:
        possible = all(left) and not stalemate and 0 < rules.max_turns == position.turns
        expected = "cards with both players, as many turns as max_turns says, and no stalemate (B10)"
    else:
        possible = False
        expected = "ENDING_OUT, ENDING_STALEMATE or ENDING_ADJUDICATED: how a game of this preset ends"
    if not possible:
        violations.add(f"{path}.ending", f"expected {expected}")
        return
    ended_a_turn = result.ending != ENDING_OUT
    if 0 < rules.max_turns < position.turns + (not ended_a_turn):
        most = rules.max_turns - (not ended_a_turn)
        violations.add(f"{field}.turns", f"expected at most {most}, for the game was not over before (B10)")
    if ended_a_turn and rules.stalemate_scores and totals[0] != totals[1]:  # S8, R6, C5
        winner = 1 if totals[0] < totals[1] else 2
        points = abs(totals[0] - totals[1])
    for name, found, value in (("winner", result.winner, winner), ("points", result.points, points)):
        if found != value:
            violations.add(f"{path}.{name}", f"expected {value} by the table; found {found}")


def _left(position: Position) -> Sequence[int]:
    """How many cards each player still has to get rid of."""
    left = [size(player.reserve) + size(player.stock) + size(player.waste) for player in position.bank.players]
    left[position.player_to_move - 1] += bool(position.bank.drawn)
    return left
