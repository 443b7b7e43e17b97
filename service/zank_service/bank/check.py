"""Whether a table of Russian Bank can come about: its shape, its cards and its result."""

from typing import Final

from zank.cards import KING, SUITS, rank_letter
from zank.errors import InvalidMove
from zank.notation import TABLEAU, BankMove, parse_bank_move
from zank.v1 import BankPlayer, BankTable, Position
from zank_kernel.bank.deal import DECK, OWN_PILES
from zank_kernel.bank.rules import ACES_OPEN, Rules
from zank_kernel.bank.state import COPIES, FOUNDATIONS
from zank_kernel.bank.table import accepts
from zank_service.bank.endings import check_going_on, check_result
from zank_service.bank.knowledge import unseen
from zank_service.bank.piles import cards, face, numbers, piles
from zank_service.limits import SHOWN
from zank_service.pile_checks import (
    CARDS,
    PLAYERS,
    check_concealed,
    check_copies,
    check_count,
    check_face_up,
    check_names,
)
from zank_service.piles import side_by_side, size
from zank_service.refusals import Violations

MOST_TABLEAU_MOVES: Final = 1_000
MOST_QUIET_TURNS: Final = 30_000


def check_table(position: Position, rules: Rules, field: str, violations: Violations) -> None:
    """Note everything in which the table, or the result, of the position at path `field` cannot be."""
    table = position.bank
    path = f"{field}.bank"
    for check in (_check_shape, _check_names, _check_decks):  # what follows a failed one would make no sense
        check(table, path, violations)
        if len(violations):
            return
    for index, player in enumerate(table.players):
        _check_player(player, rules, f"{path}.players[{index}]", violations)
    _check_foundations(table, path, violations)
    _check_tableau(table, path, violations)
    _check_hidden(table, path, violations)
    _check_turn(position, path, violations)
    _check_opening(position, rules, f"{path}.opening", violations)
    if len(violations):
        return
    if position.HasField("result"):
        check_result(position, rules, field, violations)
    else:
        check_going_on(position, rules, field, violations)


def check_known(position: Position, field: str, violations: Violations) -> None:
    """Note nothing: what the position at path `field` hides no player knows."""


def ace_on_top(table: BankTable) -> bool:
    """Whether an ace lies on top of a tableau pile (S1)."""
    return any(pile.cards and pile.cards[-1].startswith("A") for pile in table.tableau)


def _check_shape(table: BankTable, path: str, violations: Violations) -> None:
    """The number of players, piles and cards, and what may be hidden."""
    check_count(f"{path}.players", len(table.players), PLAYERS, "players", violations)
    check_count(f"{path}.foundations", len(table.foundations), FOUNDATIONS, "foundations", violations)
    check_count(f"{path}.tableau", len(table.tableau), len(TABLEAU), "tableau piles", violations)
    if len(table.tableau_moves) > MOST_TABLEAU_MOVES:
        found = len(table.tableau_moves)
        violations.add(f"{path}.tableau_moves", f"expected at most {MOST_TABLEAU_MOVES} moves, found {found}")
    if len(violations):  # so many piles as a message can hold are not looked at one by one
        return
    hiding = {f"{path}.players[{index}].{name}" for index in range(PLAYERS) for name in ("reserve", "stock")}
    check_face_up((placed for placed in piles(table, path) if placed.path not in hiding), violations)
    check_concealed(piles(table, path), violations)
    found = sum(size(pile) for _, pile in piles(table, path)) + bool(table.drawn)
    check_count(path, found, CARDS, "cards on the table", violations)


def _check_names(table: BankTable, path: str, violations: Violations) -> None:
    """Every card is the name of one."""
    check_names(((given.path, given.card) for given in cards(table, path)), violations, decks=True)


def _check_decks(table: BankTable, path: str, violations: Violations) -> None:
    """Each of two decks holds every card once; hidden cards are from their owner's."""
    check_copies(((given.path, face(given.card)) for given in cards(table, path)), violations)
    found = set[tuple[str, int]]()
    for given in cards(table, path):
        card, deck = face(given.card), given.deck
        if given.owner and deck != given.owner:
            violations.add(
                given.path,
                f"expected a card of player {given.owner}'s deck, as all hidden ones are; found {given.card}",
            )
        elif deck and (card, deck) in found:
            violations.add(given.path, f"expected {card} of player {deck}'s deck once; this is another one")
        found.add((card, deck))


def _check_player(player: BankPlayer, rules: Rules, path: str, violations: Violations) -> None:
    """What a player's reserve and stock can hide, and the quiet turns (B0, B5, B6)."""
    reserve, stock = player.reserve, player.stock
    most_reserve = rules.reserve_cards - 1
    most_stock = len(DECK) - OWN_PILES - rules.reserve_cards
    if reserve.hidden > most_reserve:
        violations.add(f"{path}.reserve.hidden", f"expected at most {most_reserve}, found {reserve.hidden}")
    elif reserve.hidden and not reserve.cards:
        violations.add(f"{path}.reserve.cards", "expected the top card, for it was turned up (B5); found none")
    if stock.hidden > most_stock:
        violations.add(f"{path}.stock.hidden", f"expected at most {most_stock}, found {stock.hidden}")
    elif stock.hidden and stock.cards:
        violations.add(
            f"{path}.stock.cards",
            f"expected none: a stock is all hidden, or all known once the waste was turned over (B6); found"
            f" {len(stock.cards)}",
        )
    if player.quiet_turns > MOST_QUIET_TURNS:
        violations.add(f"{path}.quiet_turns", f"expected at most {MOST_QUIET_TURNS}, found {player.quiet_turns}")


def _check_foundations(table: BankTable, path: str, violations: Violations) -> None:
    """B2."""
    for index, (place, pile) in enumerate(side_by_side(table.foundations, f"{path}.foundations")):
        suit = SUITS[index // COPIES]
        for height, card in enumerate(pile.cards):
            expected = rank_letter(height + 1) + suit if height < KING else "no card above the king"
            if face(card) != expected:
                violations.add(f"{place}.cards[{height}]", f"expected {expected}; found {card}")
                break


def _check_tableau(table: BankTable, path: str, violations: Violations) -> None:
    """B3: a pile is built from single cards, so each fits the one below."""
    for place, pile in side_by_side(table.tableau, f"{path}.tableau"):
        found = numbers(pile)
        for index in range(1, len(found)):
            if not accepts(found[:index], found[index]):
                below, card = pile.cards[index - 1 : index + 1]
                violations.add(
                    f"{place}.cards[{index}]",
                    f"expected a card of the other colour and one rank lower than {below} (B3); found {card}",
                )


def _check_hidden(table: BankTable, path: str, violations: Violations) -> None:
    """The hidden cards of a player are from that player's deck: there must be as many left of it."""
    left = unseen(table)
    for index, places in enumerate(left.places):
        most = len(left.own[index]) + len(left.either)
        if places > most:
            violations.add(
                f"{path}.players[{index}]",
                f"expected at most {most} hidden cards in reserve and stock, for so many of this player's deck can lie"
                f" there; found {places}",
            )


def _check_turn(position: Position, path: str, violations: Violations) -> None:
    """The drawn card, and the tableau moves of the turn, which can be taken back one by one (B12)."""
    table = position.bank
    if position.HasField("result"):
        if table.drawn:
            violations.add(f"{path}.drawn", f"expected none: the game is over; found {table.drawn}")
        if table.tableau_moves:
            found = len(table.tableau_moves)
            violations.add(f"{path}.tableau_moves", f"expected none: the game is over; found {found}")
        return
    moves = [_tableau_move(text) for text in table.tableau_moves]
    for index, move in enumerate(moves):
        if move is None:
            violations.add(
                f"{path}.tableau_moves[{index}]",
                f"expected a move from one tableau pile to another, for example T2-T7; found"
                f" {table.tableau_moves[index][:SHOWN]!r}",
            )
    if len(violations):
        return
    now = list(map(numbers, table.tableau))
    for index in reversed(range(len(moves))):
        move = moves[index]
        assert move is not None
        source, target = TABLEAU.index(move.source), TABLEAU.index(move.target)
        if not now[target] or not accepts(now[source], now[target][-1]):
            violations.add(
                f"{path}.tableau_moves[{index}]",
                f"expected a move that led to the tableau as it was after it (B3); found {move}",
            )
            return
        now[source] = (*now[source], now[target][-1])
        now[target] = now[target][:-1]


def _tableau_move(text: str) -> BankMove | None:
    """A move from one tableau pile to another in public notation; None where it is none."""
    try:
        move = parse_bank_move(text[:SHOWN])
    except InvalidMove:
        return None
    return move if str(move) == text and move.source in TABLEAU and move.target in TABLEAU else None


def _check_opening(position: Position, rules: Rules, path: str, violations: Violations) -> None:
    """S1: nothing but aces has been played in the opening turn, and some are left."""
    table = position.bank
    if not table.opening:
        return
    untouched = (
        not table.drawn
        and not table.tableau_moves
        and all(len(pile.cards) <= 1 for pile in (*table.foundations, *table.tableau))
        and all(not player.waste.cards and not player.quiet_turns for player in table.players)
        and all(size(player.reserve) == rules.reserve_cards for player in table.players)
    )
    if not rules.bits & ACES_OPEN:
        violations.add(path, f"expected false: {rules.preset} has no opening turn (S1)")
    elif position.turns or position.HasField("result"):
        violations.add(path, "expected false: the opening turn is the first one (S1)")
    elif not ace_on_top(table):
        violations.add(path, "expected false: no ace lies on top of a tableau pile (S1)")
    elif not untouched:
        violations.add(path, "expected false: more than aces of the tableau has been played (S1)")
