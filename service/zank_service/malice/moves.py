"""Moves of Spite & Malice: the public notation and the kernel's actions."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Final

from zank.cards import KING, rank_letter
from zank.errors import InvalidMove
from zank.notation import CenterStack, HandCard, MaliceMove, Payoff, SideStack, parse_malice_move
from zank.v1 import Pile, Position
from zank_kernel.malice.play import PLAYS
from zank_kernel.malice.state import CENTERS, HAND, SIDES
from zank_service.limits import SHOWN
from zank_service.malice.knowledge import why_not_drawn
from zank_service.malice.piles import rank
from zank_service.piles import lay_open
from zank_service.refusals import Illegal, invalid

RULES: Final = {
    "M3": "A center stack is built from the ace to the queen in order of rank, whatever the suit.",
    "M4": "No king starts a center stack in this rule set.",
    "M5": "The payoff top, the top of an own side stack or a card from hand is played to the center.",
    "M6": "A card from hand is discarded.",
    "M7": "Only cards from hand go to a side stack.",
}

_NOT_FROM_HAND: Final = re.compile(r"(P|S[1-4])-S[1-4]")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """A move of a position: what leaves which pile, and the kernel's action for it."""

    move: MaliceMove
    canonical: MaliceMove  # without the suit where the first listed card of its rank is meant
    action: int
    card: str
    pile: Pile  # of the position
    index: int  # of the card in the known cards of the pile
    slot: int = 0  # of a card in hand, the first of its rank


def move_name(position: Position, action: int) -> str:
    """An action in public notation; of a hand card the rank is enough, for the first listed leaves."""
    return action_name(action, list(map(rank, position.malice.players[position.player_to_move - 1].hand.cards)))


def action_name(action: int, hand: Sequence[int]) -> str:
    """The same, by the ranks of the hand."""
    source, target = divmod(action, CENTERS)
    if action >= PLAYS:
        return str(MaliceMove(HandCard(hand[source - 1 - SIDES - HAND]), SideStack(target + 1)))
    center = CenterStack(target + 1)
    if source == 0:
        return str(MaliceMove(Payoff(), center))
    if source <= SIDES:
        return str(MaliceMove(SideStack(source), center))
    return str(MaliceMove(HandCard(hand[source - 1 - SIDES]), center))


def choice(position: Position, text: str) -> Choice:
    """The move written `text`, legal or not; raises Refusal where it is no move, or where its card is not there.

    In `position` the hand of the player to move becomes known where its faces are given, and a card that is named from
    a hidden hand too.
    """
    if _NOT_FROM_HAND.fullmatch(text):
        raise illegal(text, "M7", f"{text.partition('-')[0]} is played to a center stack only")
    try:
        move = parse_malice_move(text[:SHOWN])
    except InvalidMove as error:
        raise invalid("INVALID_MOVE", "move", str(error)) from None
    mover = position.malice.players[position.player_to_move - 1]
    lay_open(mover.hand)
    match move.source:
        case Payoff():
            source, pile = 0, mover.payoff
        case SideStack(number):
            source, pile = number, mover.sides[number - 1]
            if not pile.cards:
                raise illegal(text, "M5", f"S{number} is empty")
        case HandCard() as wanted:
            return _from_hand(position, move, wanted, mover.hand)
    index = len(pile.cards) - 1
    action = CENTERS * source + move.target.number - 1
    return Choice(move=move, canonical=move, action=action, card=pile.cards[index], pile=pile, index=index)


def does_not_fit(position: Position, chosen: Choice) -> Illegal:
    """The refusal of a move that is not legal though its card is there: it does not fit its center stack."""
    center = position.malice.centers[chosen.move.target.number - 1]
    if rank(chosen.card) == KING:
        return illegal(str(chosen.move), "M4", f"{chosen.move.target} is empty and takes an ace")
    needed = rank_letter(len(center.cards) + 1)
    return illegal(str(chosen.move), "M3", f"{chosen.move.target} needs {needed}, not {chosen.card}")


def illegal(move: str, rule: str, found: str) -> Illegal:
    """The refusal of a move that breaks a rule; `found` says where."""
    return Illegal(move, rule, RULES[rule], found)


def _from_hand(position: Position, move: MaliceMove, wanted: HandCard, hand: Pile) -> Choice:
    hidden = hand.hidden > 0
    if hidden:
        _show(position, move, wanted, hand)
    alike = [index for index, card in enumerate(hand.cards) if rank(card) == wanted.rank]
    named = [index for index in alike if wanted.suit in (None, hand.cards[index][1])]
    if not named:
        raise _not_in_hand(move, "")
    # The kernel lists the first of equal ranks; which card leaves is the position's matter.
    source = 1 + SIDES + (HAND if move.is_discard else 0) + alike[0]
    action = CENTERS * source + move.target.number - 1
    first_listed = named[0] == alike[0] and not hidden
    canonical = MaliceMove(HandCard(wanted.rank), move.target) if first_listed else move
    return Choice(
        move=move,
        canonical=canonical,
        action=action,
        card=hand.cards[named[0]],
        pile=hand,
        index=named[0],
        slot=alike[0],
    )


def _show(position: Position, move: MaliceMove, wanted: HandCard, hand: Pile) -> None:
    """Let the card that a move names be known in a hidden hand; raises Refusal where it cannot be there."""
    if wanted.suit is None:
        raise invalid(
            "INVALID_MOVE",
            "move",
            f"expected the card with its suit, for example {wanted}h-{move.target}, for the hand of the player to move"
            f" is hidden; found {str(move)!r}",
        )
    card = str(wanted)
    if card in hand.cards:
        return
    if (why_not := why_not_drawn(position.malice, card)) is not None:
        raise _not_in_hand(move, f": {why_not}")
    hand.hidden -= 1
    hand.cards.append(card)


def _not_in_hand(move: MaliceMove, why: str) -> Illegal:
    return illegal(str(move), "M6" if move.is_discard else "M5", f"{move.source} is not in hand{why}")
