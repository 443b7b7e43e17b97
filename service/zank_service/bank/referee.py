"""Refereeing Russian Bank: the kernel says what is legal and what happens."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from zank.notation import DRAWN, END, RESERVE, TURN
from zank.presets import canonical_rule_set
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    BankPlayer,
    BankTable,
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
from zank_kernel.bank.state import OUT, STALEMATE, State
from zank_kernel.bank.table import FACE, Cards, Table, representatives
from zank_kernel.engine import Engine
from zank_kernel.family import ADJUDICATED, Rulings
from zank_service.bank.check import ace_on_top
from zank_service.bank.game import Game
from zank_service.bank.knowledge import table
from zank_service.bank.moves import Choice, illegal, move_name
from zank_service.bank.piles import name
from zank_service.bank.rule_sets import rules as rules_of
from zank_service.piles import faces_known
from zank_service.refusals import Illegal
from zank_service.reveals import Reveals

NAME: Final = bank.FAMILY.name
SHUFFLES: Final = 3  # of a deal: both decks and the coin
REVEALED: Final = (RESERVE, DRAWN)  # places where cards come to light

ENDINGS: Final = {OUT: ENDING_OUT, STALEMATE: ENDING_STALEMATE, ADJUDICATED: ENDING_ADJUDICATED}
ENDED_BY: Final = {ENDING_OUT: "B8", ENDING_STALEMATE: "B10", ENDING_ADJUDICATED: "B10"}  # the rules that end a game


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


def lane(position: Position, rules: Rules) -> Table:
    """The position for the kernel's rules."""
    return table(position, rules)


def exact(position: Position) -> bool:
    """Whether the lane of a position goes on from move to move: all cards are known."""
    return all(faces_known(player.reserve) and faces_known(player.stock) for player in position.bank.players)


def hands_known(position: Position) -> bool:
    """There are no hands."""
    return True


def action_in(chosen: Choice, state: State, lane: int) -> int:
    """The kernel's action for a move, the same in every lane."""
    return chosen.action


def name_in(action: int, state: State, lane: int) -> str:
    """An action in public notation."""
    return move_name(action)


def broken(
    position: Position, rules: Rules, chosen: Choice, action: int, rulings: Rulings, lane: int
) -> Illegal | None:
    """The refusal of a move, with those that come first, by what the kernel rules in a lane; None for a legal one."""
    barred = int(rulings.barred[action, lane])
    if not barred:
        return None
    first = np.flatnonzero(rulings.compelled[max(barred, 0), :, lane]).tolist()
    return illegal(position, chosen.move, rules.rule_id(barred), list(map(move_name, first)))


def game(position: Position, reveals: Sequence[Reveal], all_seen: bool = False) -> Game:
    """The position in motion, changed in place; both players see all that comes to light in any case."""
    return Game(position, Reveals(reveals, REVEALED, decks=True))


def carry_out(game: Game, chosen: Choice, after: State, lane: int) -> list[int]:
    """Play a legal move in a game, whose state after it is in a lane; nothing is drawn."""
    move = chosen.move
    game.note(move, opening=bool(after.opening[lane]), quiet_turns=after.quiet[:, lane].tolist())
    if move.source == TURN:
        game.turn()
    elif move.source == END:
        game.end_turn()
    else:
        game.move(move)
        game.turn_up()
    if after.mover[lane] != game.position.player_to_move - 1:
        game.pass_turn()
    return []


def _compelled_by(rulings: Rulings, rules: Rules) -> str:
    """The rule that leaves nothing legal but certain moves; empty where none does."""
    compelled, *asked = np.asarray(rulings.compelled[:, :, 0]).any(axis=1).tolist()
    return rules.rule_id(1 + asked.index(True)) if compelled else ""


def _face_down(hidden: Cards, known: Cards = ()) -> Pile:
    """A pile of the deal; that hidden cards are from their owner's deck goes without saying."""
    return Pile(hidden=len(hidden), concealed=[name(card & FACE) for card in hidden], cards=map(name, known))
