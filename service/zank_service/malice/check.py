"""Whether a table of Spite & Malice can come about: its shape, its cards and its result."""

from collections import Counter
from collections.abc import Sequence

from zank.cards import KING, QUEEN, rank_letter
from zank.v1 import ENDING_OUT, ENDING_STOCK_OUT, MalicePlayer, MaliceTable, Pile, Position
from zank_kernel.malice.deal import CENTER_STACKS
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import HAND, SIDES
from zank_service.malice.knowledge import recycled_left, room_left
from zank_service.malice.piles import piles, rank
from zank_service.pile_checks import (
    CARDS,
    COPIES,
    PLAYERS,
    check_concealed,
    check_copies,
    check_count,
    check_face_up,
    check_names,
)
from zank_service.piles import given_cards, side_by_side, size
from zank_service.refusals import Violations


def check_table(position: Position, rules: Rules, field: str, violations: Violations) -> None:
    """Note everything in which the table, or the result, of the position at path `field` cannot be."""
    table = position.malice
    path = f"{field}.malice"
    for check in (_check_shape, _check_faces):  # what follows a failed one would make no sense
        check(table, path, violations)
        if len(violations):
            return
    check_copies(given_cards(piles(table, path)), violations)
    for index, player in enumerate(table.players):
        _check_payoff(position, rules, player, f"{path}.players[{index}].payoff", violations)
        _check_hand(position, index, f"{path}.players[{index}].hand", violations)
    _check_centers(position, rules, path, violations)
    _check_stock(position, rules, f"{path}.stock", violations)
    _check_recycled(table, path, violations)
    if position.HasField("result") and not len(violations):
        _check_result(position, rules, f"{field}.result", violations)


def check_known(position: Position, field: str, violations: Violations) -> None:
    """Note what the player to move would have to know, where the position at path `field` hides it.

    The table need not have been checked.
    """
    mover = position.player_to_move - 1
    for player in position.malice.players[mover:][:1]:
        if player.hand.hidden and not position.HasField("result"):
            violations.add(
                f"{field}.malice.players[{mover}].hand.hidden",
                f"expected 0: the hand of the player to move must be known; found {player.hand.hidden}",
            )


def _check_shape(table: MaliceTable, path: str, violations: Violations) -> None:
    """The number of players, stacks and cards, and what may be hidden."""
    check_count(f"{path}.players", len(table.players), PLAYERS, "players", violations)
    check_count(f"{path}.centers", len(table.centers), CENTER_STACKS, "center stacks", violations)
    face_up = list(side_by_side(table.centers, f"{path}.centers"))
    for index, player in enumerate(table.players):
        sides = f"{path}.players[{index}].sides"
        check_count(sides, len(player.sides), SIDES, "side stacks", violations)
        if len(violations):  # so many piles as a message can hold are not looked at one by one
            return
        face_up += side_by_side(player.sides, sides)
    check_face_up(face_up, violations)
    if table.stock.cards:
        violations.add(f"{path}.stock.cards", f"expected none: the stock is all hidden; found {len(table.stock.cards)}")
    if len(table.recycled.cards) > CARDS:
        violations.add(f"{path}.recycled.cards", f"expected at most {CARDS} cards; found {len(table.recycled.cards)}")
    check_concealed(piles(table, path), violations)
    check_count(path, sum(size(pile) for _, pile in piles(table, path)), CARDS, "cards on the table", violations)


def _check_faces(table: MaliceTable, path: str, violations: Violations) -> None:
    """Every card is the name of one."""
    recycled = ((f"{path}.recycled.cards[{index}]", card) for index, card in enumerate(table.recycled.cards))
    check_names((*given_cards(piles(table, path)), *recycled), violations)


def _check_payoff(position: Position, rules: Rules, player: MalicePlayer, path: str, violations: Violations) -> None:
    cards = size(player.payoff)
    fewest = 0 if position.HasField("result") else 1
    if not fewest <= cards <= rules.payoff_cards:
        why = "" if fewest == 0 else ": a game without a result goes on"
        violations.add(path, f"expected {fewest} to {rules.payoff_cards} cards{why}; found {cards}")
    elif cards and len(player.payoff.cards) != 1:
        found = len(player.payoff.cards)
        violations.add(f"{path}.cards", f"expected the top card, for all others lie face down; found {found} cards")


def _check_hand(position: Position, index: int, path: str, violations: Violations) -> None:
    hand = position.malice.players[index].hand
    moves = index == position.player_to_move - 1 and not position.HasField("result")
    fewest = 1 if moves else 0
    if not fewest <= size(hand) <= HAND:
        why = ": the player to move has a card to play" if moves else ""
        violations.add(path, f"expected {fewest} to {HAND} cards{why}; found {size(hand)}")


def _check_stock(position: Position, rules: Rules, path: str, violations: Violations) -> None:
    if not size(position.malice.stock) and not position.HasField("result") and rules.stock_out_when == "emptied":
        violations.add(path, "expected at least 1 card: the draw that emptied the stock ended the game (M11)")


def _check_centers(position: Position, rules: Rules, path: str, violations: Violations) -> None:
    """M3, M4; M9: a complete stack is seen only where the last payoff card completed it (M10)."""
    complete = 0
    for place, pile in side_by_side(position.malice.centers, f"{path}.centers"):
        complete += len(pile.cards) == QUEEN
        highest = QUEEN if position.result.ending == ENDING_OUT and complete <= 1 else QUEEN - 1
        if len(pile.cards) > highest:
            violations.add(
                f"{place}.cards",
                f"expected at most {highest} cards: a complete stack is recycled (M9); found {len(pile.cards)}",
            )
            continue
        for index, card in enumerate(pile.cards):
            wild = index > 0 or rules.wild_starts_stack
            if rank(card) != index + 1 and not (wild and rank(card) == KING):
                expected = rank_letter(index + 1) + (" or a king" if wild else ", for no king starts a stack (M4)")
                violations.add(f"{place}.cards[{index}]", f"expected {expected}; found {card}")


def _check_recycled(table: MaliceTable, path: str, violations: Violations) -> None:
    """Recycled cards lie in the stock or in a hand: there must be room for them, and no sight of them elsewhere."""
    seen = Counter(card for pile in _shown(table) for card in pile.cards)
    seen.update(card for player in table.players for card in player.payoff.concealed)
    counted = Counter[str]()
    for index, card in enumerate(table.recycled.cards):
        counted[card] += 1
        if counted[card] + seen[card] > COPIES:
            violations.add(
                f"{path}.recycled.cards[{index}]",
                f"expected a card that can lie in the stock or a hand; found {card}, whose copies are elsewhere",
            )
    unseen, room = recycled_left(table).total(), room_left(table)
    if unseen > room:
        violations.add(
            f"{path}.recycled.cards",
            f"expected at most {room} cards that are not seen in a hand or in the stock, for so many are hidden there;"
            f" found {unseen}",
        )


def _check_result(position: Position, rules: Rules, path: str, violations: Violations) -> None:
    """The result is what M10, M11 and M12 make of the table."""
    result = position.result
    left = [size(player.payoff) for player in position.malice.players]
    if result.ending == ENDING_OUT:
        winner = position.player_to_move  # M10: who moved last
        if left[winner - 1] or not left[2 - winner]:
            violations.add(
                f"{path}.ending",
                f"expected the payoff pile of player {winner}, who moved last, to be the only empty one",
            )
            return
    elif result.ending == ENDING_STOCK_OUT:
        if size(position.malice.stock) or not all(left):
            violations.add(f"{path}.ending", "expected an empty stock and no empty payoff pile")
            return
        decided = rules.shorter_payoff_wins and left[0] != left[1]
        winner = (1 if left[0] < left[1] else 2) if decided else 0
    else:
        violations.add(f"{path}.ending", "expected ENDING_OUT or ENDING_STOCK_OUT: how a game of this preset ends")
        return
    points = abs(left[0] - left[1]) if winner else 0  # M12
    for field, found, expected in (("winner", result.winner, winner), ("points", result.points, points)):
        if found != expected:
            violations.add(f"{path}.{field}", f"expected {expected} by the table; found {found}")


def _shown(table: MaliceTable) -> Sequence[Pile]:
    """The piles in which both players see the known cards."""
    payoffs = [player.payoff for player in table.players]
    sides = [pile for player in table.players for pile in player.sides]
    return [*payoffs, *sides, *table.centers]
