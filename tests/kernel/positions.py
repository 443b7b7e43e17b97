"""Positions of Spite & Malice for the kernel's tests: games of the oracle as tables, and actions as its moves."""

import dataclasses
import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from tests.oracle import malice as oracle
from tests.oracle import shuffle
from zank_kernel import malice
from zank_kernel.malice import play
from zank_kernel.malice.rules import PRESETS
from zank_kernel.malice.state import HAND, KING, SIDES

MATCH = PRESETS["malice-match"]
CLASSIC = PRESETS["malice-classic"]
CENTERS = 3  # in use; the kernel has room for a fourth


class Position(NamedTuple):
    """A game of the oracle and its rule set as the kernel has it."""

    rules: malice.Rules
    game: oracle.Game


def oracle_rules(rules: malice.Rules) -> oracle.Rules:
    """A rule set of the kernel as one of the oracle."""
    return oracle.Rules(
        payoff_cards=rules.payoff_cards,
        wild_starts_stack=rules.wild_starts_stack,
        side_play_ends_turn=rules.side_play_ends_turn,
        stock_out_when=rules.stock_out_when,
        stock_out_result="shorter" if rules.shorter_payoff_wins else "tie",
    )


def ranks(text: str) -> tuple[int, ...]:
    """A pile from its rank letters, bottom to top; "x" is a card that is not known."""
    return tuple(0 if letter == "x" else oracle.RANKS.index(letter) + 1 for letter in text)


def table(
    *,
    rules: malice.Rules = MATCH,
    mover: int = 0,
    payoff: tuple[str, str] = ("99", "99"),
    hand: tuple[str, str] = ("5678", "56789"),
    sides: tuple[str, str, str, str] = ("", "", "", ""),
    other_sides: tuple[str, str, str, str] = ("", "", "", ""),
    centers: tuple[str, str, str] = ("", "", ""),
    stock: str = "2233445566",
    recycled: str | None = None,
) -> malice.Table:
    """A position with player 0 to move unless said otherwise; `sides` are player 0's, `other_sides` player 1's."""
    return malice.Table(
        rules=rules,
        mover=mover,
        payoff=(ranks(payoff[0]), ranks(payoff[1])),
        hand=(ranks(hand[0]), ranks(hand[1])),
        sides=(tuple(map(ranks, sides)), tuple(map(ranks, other_sides))),
        centers=tuple(map(ranks, centers)),
        stock=ranks(stock),
        recycled=None if recycled is None else ranks(recycled),
    )


def table_of(position: Position) -> malice.Table:
    """A position with every card known."""
    rules, game = position
    first, second = game.sides
    return malice.Table(
        rules=rules,
        mover=game.mover,
        payoff=(tuple(game.payoff[0]), tuple(game.payoff[1])),
        hand=(tuple(game.hand[0]), tuple(game.hand[1])),
        sides=(tuple(map(tuple, first)), tuple(map(tuple, second))),
        centers=tuple(map(tuple, game.centers)),
        stock=tuple(game.stock.elements()),
        recycled=tuple(game.recycled.elements()),
    )


def masked(full: malice.Table, *, recorded: bool = True) -> malice.Table:
    """A position as the player to move knows it, with or without the record of recycled cards."""
    first, second = full.payoff
    other = (0,) * len(full.hand[1 - full.mover])
    own = full.hand[full.mover]
    unseen_recycled = Counter(full.recycled) - Counter(own)  # those in the own hand are seen again
    return dataclasses.replace(
        full,
        payoff=((0,) * (len(first) - 1) + first[-1:], (0,) * (len(second) - 1) + second[-1:]),
        hand=(own, other) if full.mover == 0 else (other, own),
        stock=(0,) * len(full.stock),
        recycled=tuple(unseen_recycled.elements()) if recorded else None,
    )


def in_lanes(tables: Sequence[malice.Table], width: int) -> malice.State:
    """`width` lanes, the first of which hold `tables`; the others are empty. NumPy arrays."""
    count = len(tables)
    lanes: malice.State = jax.tree.map(
        lambda leaf, blank: np.concatenate([leaf, blank[..., count:]], axis=-1),
        malice.FAMILY.to_state(tables),
        malice.FAMILY.empty(width),
    )
    return lanes


def move_of(action: int, hand: Sequence[int]) -> oracle.Move | None:
    """The oracle's move for an action with these hand slots; None for an empty slot and the fourth center stack."""
    source, target = divmod(action, 4)
    if action >= play.PLAYS:
        card = hand[source - 1 - SIDES - HAND]
        return oracle.discard(card, target) if card else None
    if target == CENTERS:
        return None
    if source == 0:
        return oracle.payoff_play(target)
    if source <= SIDES:
        return oracle.side_play(source - 1, target)
    card = hand[source - 1 - SIDES]
    return oracle.hand_play(card, target) if card else None


def action_of(notation: str, hand: Sequence[int]) -> int:
    """The action of a move in public notation; of equal ranks in these hand slots the first listed is meant."""
    move = oracle.parse(notation)
    if move.source == "payoff":
        return move.index
    if move.source == "side":
        return 4 * (1 + move.which) + move.index
    slot = list(hand).index(move.which)
    return (play.PLAYS if move.target == "side" else 4 * (1 + SIDES)) + 4 * slot + move.index


def deal(rules: malice.Rules, seed: int) -> Position:
    """The documented deal of a seed (M1), by the oracle."""
    named = shuffle.deal(seed, rules.payoff_cards)
    deck = [*named.payoff[0], *named.payoff[1], *named.hand[0], *named.hand[1], *named.stock]
    cards = [oracle.RANKS.index(card[0]) + 1 for card in deck]
    return Position(rules, oracle.Game.deal(oracle_rules(rules), cards, named.starter - 1))


def keenness(move: oracle.Move, chance: random.Random) -> tuple[bool, bool, float]:
    """Sorting key of a player who plays the payoff card, else to the center, a king from hand only now and then."""
    spends_king = move.source == "hand" and move.which == KING
    return (
        move.source == "payoff",
        move.target == "center" and (not spends_king or chance.random() < 0.3),
        chance.random(),
    )


def played(rules: malice.Rules, seed: int, moves: int) -> Position:
    """A position before a move from an eagerly played game of the oracle, at most `moves` moves after the deal."""
    chance = random.Random(seed)
    position = deal(rules, seed)
    game = position.game
    before = oracle_copy(game)
    for _ in range(moves):
        move = max(sorted(game.legal_moves()), key=lambda move: keenness(move, chance))
        game.play(move, lambda player, count, stock: chance.sample(sorted(stock.elements()), count))
        if game.result is not None:
            return Position(rules, before)
        before = oracle_copy(game)
    return position


def oracle_copy(game: oracle.Game) -> oracle.Game:
    """A game that can be played on without changing the given one."""
    return dataclasses.replace(
        game,
        payoff=[list(pile) for pile in game.payoff],
        hand=[list(cards) for cards in game.hand],
        sides=[[list(pile) for pile in sides] for sides in game.sides],
        centers=[list(pile) for pile in game.centers],
        stock=game.stock.copy(),
        recycled=game.recycled.copy(),
    )


def played_positions(count: int, seed: int) -> list[Position]:
    """Positions from the first 250 moves of games of both presets and a few options."""
    chance = random.Random(seed)
    variants = [
        MATCH,
        CLASSIC,
        MATCH,
        dataclasses.replace(MATCH, side_play_ends_turn=True, payoff_cards=30),
        dataclasses.replace(CLASSIC, stock_out_when="short", payoff_cards=5),
    ]
    return [played(variants[number % len(variants)], seed + number, chance.randrange(250)) for number in range(count)]
