"""Refereeing Spite & Malice: the kernel says what is legal and what happens."""

from collections.abc import Sequence
from typing import Final

from zank.cards import RANKS, SUITS
from zank.notation import HandCard
from zank.presets import canonical_rule_set
from zank.v1 import (
    ENDING_OUT,
    ENDING_STOCK_OUT,
    LegalMove,
    MalicePlayer,
    MaliceTable,
    Pile,
    Position,
    Recycled,
    Reveal,
    RuleSet,
    Shuffle,
)
from zank_kernel import malice
from zank_kernel.engine import Engine
from zank_kernel.family import Rulings
from zank_kernel.malice.deal import CENTER_STACKS
from zank_kernel.malice.deal import deal as deal_cards
from zank_kernel.malice.play import ACE_BIT
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import CENTERS, HAND, OUT, SIDES, STOCK_OUT, State
from zank_kernel.malice.table import Table, representatives, stand_in
from zank_service.malice.game import Game
from zank_service.malice.knowledge import table
from zank_service.malice.moves import Choice, action_name, does_not_fit, move_name
from zank_service.malice.piles import rank
from zank_service.malice.rule_sets import rules as rules_of
from zank_service.piles import faces_known, lay_open
from zank_service.refusals import Illegal
from zank_service.reveals import Reveals

NAME: Final = malice.FAMILY.name
REVEALED: Final = ("P", "H")  # places where cards come to light

ENDINGS: Final = {OUT: ENDING_OUT, STOCK_OUT: ENDING_STOCK_OUT}
ENDED_BY: Final = {ENDING_OUT: "M10", ENDING_STOCK_OUT: "M11"}  # the rules that end a game


def deal(rule_set: RuleSet, seed: int) -> Position:
    """The full position at the start of the game dealt by a 64-bit seed (M1)."""
    cards = deal_cards(rules_of(rule_set), seed)
    players = [
        MalicePlayer(
            payoff=Pile(hidden=len(payoff) - 1, concealed=_names(payoff[:-1]), cards=_names(payoff[-1:])),
            hand=Pile(cards=_names(hand)),
            sides=[Pile() for _ in range(SIDES)],
        )
        for payoff, hand in zip(cards.payoff, cards.hand, strict=True)
    ]
    return Position(
        rule_set=canonical_rule_set(rule_set),
        player_to_move=cards.starter + 1,
        shuffle=Shuffle(seed=seed, count=1),
        malice=MaliceTable(
            players=players,
            centers=[Pile() for _ in range(CENTER_STACKS)],
            stock=Pile(hidden=len(cards.stock), concealed=_names(cards.stock)),
            recycled=Recycled(),
        ),
    )


def legal_moves(engine: Engine, position: Position, rules: Rules) -> list[LegalMove]:
    """The legal moves of a position that is not over, in the order of the kernel's actions."""
    known = table(position, rules)
    actions = engine.legal_actions(NAME, known)
    first = representatives(known)
    forced = len({int(first[action]) for action in actions}) == 1
    return [
        LegalMove(
            move=move_name(position, action),
            forced=forced,
            equivalent_to="" if first[action] == action else move_name(position, int(first[action])),
        )
        for action in actions
    ]


def lane(position: Position, rules: Rules) -> Table:
    """The position for the kernel's rules."""
    return stand_in(table(position, rules))


def exact(position: Position) -> bool:
    """Whether the lane of a position goes on from move to move: both hands and all payoff cards are known."""
    players = position.malice.players
    return all(not player.hand.hidden and faces_known(player.payoff) for player in players)


def hands_known(position: Position) -> bool:
    """Whether the faces of both hands are given."""
    return all(faces_known(player.hand) for player in position.malice.players)


def action_in(chosen: Choice, state: State, lane: int) -> int:
    """The kernel's action for a move in a lane, where cards in hand lie in other slots than they are listed in."""
    if not isinstance(chosen.move.source, HandCard):
        return chosen.action
    slot = _hand(state, lane).index(1 << chosen.move.source.rank)
    return chosen.action + CENTERS * (slot - chosen.slot)


def name_in(action: int, state: State, lane: int) -> str:
    """An action in a lane in public notation."""
    return action_name(action, [bit.bit_length() - 1 for bit in _hand(state, lane)])


def broken(
    position: Position, rules: Rules, chosen: Choice, action: int, rulings: Rulings, lane: int
) -> Illegal | None:
    """The refusal of a move whose card is there, by what the kernel rules in a lane; None for a legal one."""
    return does_not_fit(position, chosen) if rulings.barred[action, lane] else None


def game(position: Position, reveals: Sequence[Reveal], all_seen: bool = False) -> Game:
    """The position in motion, changed in place; the hand of the player to move is known if its faces are given."""
    lay_open(position.malice.players[position.player_to_move - 1].hand)
    return Game(position, Reveals(reveals, REVEALED), all_seen=all_seen)


def carry_out(game: Game, chosen: Choice, after: State, lane: int) -> list[int]:
    """Play a legal move in a game, whose state after it is in a lane; returns the ranks drawn, 0 for unseen ones."""
    game.move(chosen)
    game.turn_up()
    center = chosen.move.target.number - 1
    if not chosen.move.is_discard and after.needed[center, lane] == ACE_BIT:
        game.recycle(center)
    if after.mover[lane] != game.position.player_to_move - 1:
        game.pass_turn()
    if not after.due[lane]:
        return []
    return [rank(card) for card in game.draw()]


def _hand(state: State, lane: int) -> list[int]:
    """The bits of the cards in the slots of the player to move."""
    first = HAND * int(state.mover[lane])
    bits: list[int] = state.hand[first : first + HAND, lane].tolist()
    return bits


def _names(cards: Sequence[int]) -> list[str]:
    """Names of cards that the kernel numbers 0 to 51."""
    return [RANKS[card % len(RANKS)] + SUITS[card // len(RANKS)] for card in cards]
