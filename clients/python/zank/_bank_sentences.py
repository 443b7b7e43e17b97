"""What is said of Russian Bank only: its moves, and how they change the table."""

from typing import Final

from zank.cards import face_of
from zank.notation import DRAWN, END, FOUNDATION, OPPONENT_RESERVE, OPPONENT_WASTE, RESERVE, TABLEAU, TURN, BankMove
from zank.phrases import BankPhrases, Phrases
from zank.v1 import ENDING_ADJUDICATED, ENDING_OUT, BankPlayer, GameResult, Pile, Position

_UNKNOWN: Final = "?"


def describe_bank_move(move: BankMove, position: Position, phrases: Phrases) -> str:
    """A move of the player to move as a sentence without its full stop."""
    words = phrases.bank
    if move.source == TURN:
        return _describe_turn(position, words)
    if move.source == END:
        return words.end_drawn.format(card=_face(position.bank.drawn)) if position.bank.drawn else words.end
    if move.source == RESERVE:
        origin = words.from_reserve
    elif move.source == DRAWN:
        origin = words.from_stock
    else:
        origin = words.from_tableau.format(number=_number(move.source))
    if move.target in TABLEAU:
        template = words.play_to_tableau if _pile(move.target, position).cards else words.play_to_space
    else:
        template = {
            FOUNDATION: words.play_to_foundation,
            OPPONENT_RESERVE: words.load_reserve,
            OPPONENT_WASTE: words.load_waste,
        }[move.target]
    return template.format(card=_face(_available(move.source, position)), origin=origin, number=_number(move.target))


def foresee_bank(move: BankMove, position: Position) -> None:
    """Moves the cards, as far as the player to move can foresee the table: nothing comes to light."""
    if len(position.bank.players) != 2:
        return
    player, _ = _players(position)
    if move.source == TURN:
        if not (player.stock.cards or player.stock.hidden):  # B6
            player.stock.cards.extend(reversed(player.waste.cards))
            del player.waste.cards[:]
        if player.stock.cards:
            position.bank.drawn = player.stock.cards.pop()
        return
    card = _available(move.source, position)
    if not card:
        return
    if move.source in (DRAWN, END):
        position.bank.drawn = ""
    else:
        _pile(move.source, position).cards.pop()
    if move.source == END:
        player.waste.cards.append(card)
    elif move.target != FOUNDATION:
        _pile(move.target, position).cards.append(card)


def bank_result(result: GameResult, phrases: Phrases) -> str:
    """The phrase that says how a game ended."""
    words = phrases.bank
    if result.ending == ENDING_OUT:
        return words.out
    if result.ending == ENDING_ADJUDICATED:
        return words.adjudicated if result.winner else words.adjudicated_tie
    return words.stalemate if result.winner else words.stalemate_tie


def _describe_turn(position: Position, words: BankPhrases) -> str:
    player, _ = _players(position)
    if player.stock.cards:
        return words.turn_known.format(card=_face(player.stock.cards[-1]))
    if player.waste.cards and not player.stock.hidden:
        return words.turn_over.format(card=_face(player.waste.cards[0]))
    return words.turn


def _available(source: str, position: Position) -> str:
    """The card that a move takes, also the one that END throws; empty where the position does not show it."""
    if source in (DRAWN, END):
        return position.bank.drawn
    cards = _pile(source, position).cards
    return cards[-1] if cards else ""


def _pile(place: str, position: Position) -> Pile:
    """The pile of a place that cards lie on; an empty one where the position has none."""
    player, other = _players(position)
    if place == RESERVE:
        return player.reserve
    if place == OPPONENT_RESERVE:
        return other.reserve
    if place == OPPONENT_WASTE:
        return other.waste
    index = TABLEAU.index(place)
    return position.bank.tableau[index] if index < len(position.bank.tableau) else Pile()


def _players(position: Position) -> tuple[BankPlayer, BankPlayer]:
    """The player to move and the other one, who have nothing where the position has no such players."""
    players = position.bank.players
    if len(players) != 2 or position.player_to_move not in (1, 2):
        return BankPlayer(), BankPlayer()
    return players[position.player_to_move - 1], players[2 - position.player_to_move]


def _number(place: str) -> str:
    """The number of a tableau pile; empty for other places."""
    return place[1:] if place in TABLEAU else ""


def _face(card: str) -> str:
    return face_of(card) or _UNKNOWN
