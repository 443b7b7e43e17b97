"""What is said of Spite & Malice only: its moves, and how they change the table."""

from zank.cards import KING, QUEEN, Card, parse_card, rank_face
from zank.errors import InvalidCard
from zank.notation import CenterStack, HandCard, MaliceMove, Payoff, SideStack
from zank.phrases import Phrases
from zank.presets import complete_rule_set
from zank.v1 import ENDING_OUT, GameResult, MalicePlayer, Position


def describe_malice_move(move: MaliceMove, position: Position, phrases: Phrases) -> str:
    """A move of the player to move as a sentence without its full stop."""
    words = phrases.malice
    card = moved_card(move, position)
    if isinstance(card, Card):
        face, rank = card.face, card.rank
    elif isinstance(move.source, HandCard):
        face, rank = rank_face(move.source.rank), move.source.rank
    else:
        face, rank = "?", 0
    match move.source:
        case Payoff():
            origin = words.from_payoff
        case SideStack(number):
            origin = words.from_side.format(number=number)
        case HandCard():
            origin = words.from_hand
    if isinstance(move.target, SideStack):
        return words.discard.format(card=face, number=move.target.number)
    needed = needed_rank(position, move.target)
    if rank == needed:
        template = words.play
    elif rank == KING:
        template = words.play_wild
    else:
        template = words.play_unknown
    sentence = template.format(
        card=face, origin=origin, number=move.target.number, rank=words.ranks[(needed or KING) - 1]
    )
    if isinstance(move.source, SideStack) and complete_rule_set(position.rule_set).malice.side_play_ends_turn:
        sentence += words.ends_turn
    return sentence


def moved_card(move: MaliceMove, position: Position) -> Card | None:
    """The card that a move of the player to move takes, or None when the position does not show it."""
    if len(position.malice.players) != 2 or position.player_to_move not in (1, 2):
        return None
    player = position.malice.players[position.player_to_move - 1]
    try:
        return _card_at(move.source, player)
    except (IndexError, InvalidCard):
        return None


def needed_rank(position: Position, target: CenterStack) -> int | None:
    """The rank (1 to 12) that a center stack needs next (M3), or None when the position has no such stack."""
    centers = position.malice.centers
    if target.number > len(centers):
        return None
    rank = len(centers[target.number - 1].cards) + 1
    return rank if rank < KING else None


def foresee_malice(move: MaliceMove, position: Position) -> None:
    """Moves the card, as far as the player to move can foresee the table: nothing comes to light."""
    card = moved_card(move, position)
    if card is None:
        return
    player = position.malice.players[position.player_to_move - 1]
    match move.source:
        case Payoff():
            player.payoff.cards.pop()
        case SideStack(number):
            player.sides[number - 1].cards.pop()
        case HandCard():
            player.hand.cards.remove(str(card))
    if isinstance(move.target, SideStack):
        player.sides[move.target.number - 1].cards.append(str(card))
        return
    center = position.malice.centers[move.target.number - 1]
    center.cards.append(str(card))
    if len(center.cards) == QUEEN:  # M9
        del center.cards[:]


def malice_result(result: GameResult, phrases: Phrases) -> str:
    """The phrase that says how a game ended."""
    if not result.winner:
        return phrases.malice.stock_out_tie
    return phrases.malice.out if result.ending == ENDING_OUT else phrases.malice.stock_out


def _card_at(source: Payoff | HandCard | SideStack, player: MalicePlayer) -> Card | None:
    match source:
        case Payoff():
            return parse_card(player.payoff.cards[-1])
        case SideStack(number):
            return parse_card(player.sides[number - 1].cards[-1])
        case HandCard(rank, suit):
            held = (parse_card(name) for name in player.hand.cards)
            return next((card for card in held if card.rank == rank and suit in (None, card.suit)), None)
