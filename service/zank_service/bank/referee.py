"""Refereeing Russian Bank: the kernel says what is legal and what happens, one position at a time."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from zank.notation import DRAWN, END, RESERVE, TURN, BankMove
from zank.presets import canonical_rule_set
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    ApplyMoveResponse,
    BankPlayer,
    BankTable,
    CheckMoveResponse,
    GameResult,
    LegalMove,
    Pile,
    Position,
    Reveal,
    RuleSet,
    Shuffle,
)
from zank_kernel import bank
from zank_kernel.bank.deal import dealt
from zank_kernel.bank.rules import Rules
from zank_kernel.bank.state import OUT, RUNNING, STALEMATE, State
from zank_kernel.bank.table import FACE, Cards, representatives
from zank_kernel.engine import Engine
from zank_kernel.family import ADJUDICATED, Rulings
from zank_service.bank.check import ace_on_top
from zank_service.bank.game import Game
from zank_service.bank.knowledge import table
from zank_service.bank.moves import action, choice, illegal, move_name
from zank_service.bank.piles import name
from zank_service.bank.rule_sets import rules as rules_of
from zank_service.refusals import Illegal
from zank_service.reveals import Reveals

NAME: Final = bank.FAMILY.name
SHUFFLES: Final = 3  # of a deal: both decks and the coin
REVEALED: Final = (RESERVE, DRAWN)  # places where cards come to light

_ENDINGS: Final = {OUT: ENDING_OUT, STALEMATE: ENDING_STALEMATE, ADJUDICATED: ENDING_ADJUDICATED}


def deal(rule_set: RuleSet, seed: int) -> Position:
    """The full position at the start of the game dealt by a 64-bit seed (B0)."""
    start = dealt(rules_of(rule_set), seed)
    position = Position(
        rule_set=canonical_rule_set(rule_set),
        player_to_move=start.mover + 1,
        shuffle=Shuffle(seed=seed, count=SHUFFLES),
        bank=BankTable(
            players=[
                BankPlayer(reserve=_face_down(reserve[:-1], reserve[-1:]), stock=_face_down(stock), waste=Pile())
                for reserve, stock in zip(start.reserve, start.stock, strict=True)
            ],
            foundations=[Pile() for _ in start.foundations],
            tableau=[Pile(cards=map(name, pile)) for pile in start.tableau],
        ),
    )
    position.bank.opening = start.opening and ace_on_top(position.bank)
    return position


def legal_moves(engine: Engine, position: Position, rules: Rules) -> list[LegalMove]:
    """The legal moves of a position that is not over, in the order of the kernel's actions."""
    known = table(position, rules)
    rulings = engine.rulings(NAME, bank.FAMILY.to_state([known]))
    actions = np.flatnonzero(rulings.barred[:, 0] == 0).tolist()
    first = representatives(known)
    forced = len({int(first[action]) for action in actions}) == 1
    compelled_by = _compelled_by(rulings, rules)
    return [
        LegalMove(
            move=move_name(action),
            forced=forced,
            equivalent_to="" if first[action] == action else move_name(int(first[action])),
            compelled_by=compelled_by,
        )
        for action in actions
    ]


def check_move(engine: Engine, position: Position, rules: Rules, text: str) -> CheckMoveResponse:
    """Whether the move written `text` is legal in a position that is not over; raises Refusal where it is no move."""
    try:
        move, _ = _legal_move(engine, position, rules, text)
    except Illegal as broken:
        return CheckMoveResponse(rule=broken.rule, text=broken.text, obligatory=broken.obligatory)
    return CheckMoveResponse(legal=True, canonical=str(move))


def apply_move(
    engine: Engine, position: Position, rules: Rules, text: str, reveals: Sequence[Reveal]
) -> ApplyMoveResponse:
    """What becomes of a position that is not over when the move written `text` is played; raises Refusal."""
    move, before = _legal_move(engine, position, rules, text)
    state: State = engine.play(NAME, before, np.asarray([action(move)], np.int32))
    after = Position()
    after.CopyFrom(position)
    game = Game(after, Reveals(reveals, REVEALED, decks=True))

    game.note(move, opening=bool(state.opening[0]), quiet_turns=state.quiet[:, 0].tolist())
    if move.source == TURN:
        game.turn()
    elif move.source == END:
        game.end_turn()
    else:
        game.move(move)
        game.turn_up()
    if state.mover[0] != before.mover[0]:
        game.pass_turn()
    if state.ending[0] != RUNNING:
        game.finish(_result(state))
    return game.response()


def _legal_move(engine: Engine, position: Position, rules: Rules, text: str) -> tuple[BankMove, State]:
    """The move written `text`, and the state before it; raises Refusal unless it is legal."""
    move = choice(text)
    before = bank.FAMILY.to_state([table(position, rules)])
    rulings = engine.rulings(NAME, before)
    barred = int(rulings.barred[action(move), 0])
    if barred:
        first = np.flatnonzero(rulings.compelled[max(barred, 0), :, 0]).tolist()
        raise illegal(position, move, rules.rule_id(barred), list(map(move_name, first)))
    return move, before


def _compelled_by(rulings: Rulings, rules: Rules) -> str:
    """The rule that leaves nothing legal but certain moves; empty where none does."""
    compelled, *asked = np.asarray(rulings.compelled[:, :, 0]).any(axis=1).tolist()
    return rules.rule_id(1 + asked.index(True)) if compelled else ""


def _result(state: State) -> GameResult:
    points = int(state.points[0])
    winner = 0 if points == 0 else 1 if points > 0 else 2
    return GameResult(ending=_ENDINGS[int(state.ending[0])], winner=winner, points=abs(points))


def _face_down(hidden: Cards, known: Cards = ()) -> Pile:
    """A pile of the deal; that hidden cards are from their owner's deck goes without saying."""
    return Pile(hidden=len(hidden), concealed=[name(card & FACE) for card in hidden], cards=map(name, known))
