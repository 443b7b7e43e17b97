"""Refereeing Spite & Malice: the kernel says what is legal and what happens, one position at a time."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from zank.cards import RANKS, SUITS
from zank.presets import canonical_rule_set
from zank.v1 import (
    ENDING_OUT,
    ENDING_STOCK_OUT,
    ApplyMoveResponse,
    CheckMoveResponse,
    GameResult,
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
from zank_kernel.malice.deal import CENTER_STACKS
from zank_kernel.malice.deal import deal as deal_cards
from zank_kernel.malice.play import ACE_BIT
from zank_kernel.malice.rules import Rules
from zank_kernel.malice.state import OUT, RUNNING, SIDES, STOCK_OUT, State
from zank_kernel.malice.table import representatives, stand_in
from zank_service.malice.game import Game
from zank_service.malice.knowledge import table
from zank_service.malice.moves import Choice, choice, does_not_fit, move_name
from zank_service.malice.piles import open_hand
from zank_service.malice.rule_sets import rules as rules_of
from zank_service.refusals import Illegal
from zank_service.reveals import Reveals

NAME: Final = malice.FAMILY.name
DRAWS: Final = malice.FAMILY.draws
REVEALED: Final = ("P", "H")  # places where cards come to light

_ENDINGS: Final = {OUT: ENDING_OUT, STOCK_OUT: ENDING_STOCK_OUT}


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


def check_move(engine: Engine, position: Position, rules: Rules, text: str) -> CheckMoveResponse:
    """Whether the move written `text` is legal in a position that is not over; raises Refusal where it is no move."""
    try:
        chosen, _ = _legal_choice(engine, _copy(position), rules, text)
    except Illegal as broken:
        return CheckMoveResponse(rule=broken.rule, text=broken.text)
    return CheckMoveResponse(legal=True, canonical=str(chosen.canonical))


def apply_move(
    engine: Engine, position: Position, rules: Rules, text: str, reveals: Sequence[Reveal]
) -> ApplyMoveResponse:
    """What becomes of a position that is not over when the move written `text` is played; raises Refusal."""
    after = _copy(position)
    game = Game(after, Reveals(reveals, REVEALED))
    chosen, before = _legal_choice(engine, after, rules, text)
    state: State = engine.play(NAME, before, np.asarray([chosen.action], np.int32))

    game.move(chosen)
    game.turn_up()
    center = chosen.move.target.number - 1
    if not chosen.move.is_discard and state.needed[center, 0] == ACE_BIT:  # it was completed
        game.recycle(center)
    if state.mover[0] != before.mover[0]:
        game.pass_turn()
    if state.due[0]:
        state = engine.take(NAME, state, np.zeros((DRAWS, 1), np.int8))  # which cards they are makes no difference
        game.draw(int(state.drawn.sum()))
    if state.ending[0] != RUNNING:
        game.finish(_result(state))
    return game.response()


def _legal_choice(engine: Engine, position: Position, rules: Rules, text: str) -> tuple[Choice, State]:
    """The move written `text` in a copy of a position, and the state before it; raises Refusal unless it is legal."""
    chosen = choice(position, text)
    before = _state(position, rules)
    if not engine.legal(NAME, before)[chosen.action, 0]:
        raise does_not_fit(position, chosen)
    return chosen, before


def _copy(position: Position) -> Position:
    """A copy of a position to play on; the hand of the player to move is known there if its faces are given."""
    copy = Position()
    copy.CopyFrom(position)
    open_hand(copy.malice.players[copy.player_to_move - 1].hand)
    return copy


def _state(position: Position, rules: Rules) -> State:
    """The position in one lane of the kernel."""
    return malice.FAMILY.to_state([stand_in(table(position, rules))])


def _result(state: State) -> GameResult:
    points = int(state.points[0])
    winner = 0 if points == 0 else 1 if points > 0 else 2
    return GameResult(ending=_ENDINGS[int(state.ending[0])], winner=winner, points=abs(points))


def _names(cards: Sequence[int]) -> list[str]:
    """Names of cards that the kernel numbers 0 to 51."""
    return [RANKS[card % len(RANKS)] + SUITS[card // len(RANKS)] for card in cards]
