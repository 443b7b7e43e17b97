"""What is said of moves: by hand for every code, and in games of the oracle that every word is true."""

import dataclasses
import os
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

from tests.kernel import bank_positions
from tests.kernel.bank_positions import ACTION_OF, RUSSIAN, keenness, oracle_copy
from tests.oracle.bank import EVERY_MOVE, HOUSES, TURN, Game, Move, parse
from tests.service.bank_tables import DEALT, partial
from zank.v1 import BankPlayer, BankTable, Pile, Position, ReasonCode, RuleSet
from zank_kernel.bank.rules import Rules
from zank_kernel.bank.table import Cards
from zank_service.bank.piles import name
from zank_service.bank.reasons import reasons
from zank_service.bank.rule_sets import rules as rules_of

GAMES = int(os.environ.get("ZANK_TEST_GAMES", "140")) // 10

CODES = [
    "WINS",
    "SHUTS_OUT",
    "UNCOVERS",
    "LETS_IN",
    "COVERS_PLAYABLE",
    "ENDS_GAME",
    "PLAYS_TO_FOUNDATION",
    "PLAYS_RESERVE",
    "FREES_RESERVE",
    "MAKES_SPACE",
    "FILLS_SPACE",
    "LOADS",
    "THROWS_PLAYABLE",
    "TURNS_WASTE_OVER",
]
"""Those of Russian Bank, in order."""


class Said(NamedTuple):
    """A reason: its code without the prefix, cards and places."""

    code: str
    cards: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def said_of(position: Position, rules: Rules, moves: Sequence[Move]) -> list[list[Said]]:
    """What is said of each of these moves."""
    answer = reasons(position, rules, [ACTION_OF[move] for move in moves])
    return [
        [
            Said(ReasonCode.Name(reason.code).removeprefix("REASON_CODE_"), tuple(reason.cards), tuple(reason.places))
            for reason in of_move
        ]
        for of_move in answer
    ]


def said(position: Position, move: str) -> list[Said]:
    """What is said of a move of a position by its own rule set."""
    (of_move,) = said_of(position, rules_of(position.rule_set), [parse(move)])
    return of_move


# By hand. Where nothing else is said both players have a nine on the reserve, which fits nothing.


def test_nothing_is_said_of_a_move_of_which_nothing_is_to_be_said() -> None:
    assert said(partial(h="5h.6c5d.6s.Ks.Jc.Jd.Jh.Kc"), "T2-T3") == []
    assert said(partial(h="5h.6c5d.6s.Ks.Jc.Jd.Jh.Kc"), "TURN") == []
    assert said(partial(drawn="4c"), "END") == []


def test_the_last_card_wins_wherever_it_goes() -> None:
    won = [Said("WINS"), Said("PLAYS_TO_FOUNDATION", ("5h",)), Said("PLAYS_RESERVE", ("5h",), ("F",))]
    assert said(partial("5h..", f="4h"), "R-F") == won
    assert said(partial("5h..2c", f="4h"), "R-F") == won[1:]
    assert said(partial("5h.2c.", f="4h"), "R-F") == won[1:]
    assert said(partial("..", f="4h", drawn="5h"), "D-F") == won[:2]
    assert said(partial("2c..", f="4h", drawn="5h"), "D-F") == won[1:2]
    loaded = [Said("WINS"), Said("PLAYS_RESERVE", ("8s",), ("OR",)), Said("LOADS", ("8s",), ("OR",))]
    assert said(partial("8s.."), "R-OR") == loaded
    assert said(partial("8s..", drawn="2c"), "R-OR") == loaded[1:]


def test_of_a_move_that_wins_nothing_is_said_of_what_could_be_played_after_it() -> None:
    played = [Said("PLAYS_TO_FOUNDATION", ("5h",)), Said("PLAYS_RESERVE", ("5h",), ("F",))]
    assert said(partial("5h..", "12-6h.?.", f="4h"), "R-F") == [Said("WINS"), *played]
    assert said(partial("5h.2c.", "12-6h.?.", f="4h"), "R-F") == [Said("LETS_IN", ("6h",), ("F",)), *played]


def test_the_other_player_is_shut_out() -> None:
    h = "Th.Kd.Kh.Ks.Jc.Jd.Jh.Js"
    reserve_card = Said("PLAYS_RESERVE", ("9c",), ("T1",))
    assert said(partial("12-9c.?.", h=h), "R-T1") == [Said("SHUTS_OUT", ("9s",), ("T1",)), reserve_card]
    assert said(partial("12-9c.?.", h=h.replace("Kd", "Td")), "R-T1") == [reserve_card]
    assert said(partial(h=h, drawn="9c"), "D-T1") == [Said("SHUTS_OUT", ("9s",), ("T1",))]
    position = partial("12-5h.?.", "12-5h.?.", f="4h")
    assert said(position, "R-F")[0] == Said("SHUTS_OUT", ("5h",), ("F",))
    # It fits the other foundation of its suit too.
    position = partial("12-5h.?.", "12-5h.?.", f="4h 4h")
    assert said(position, "R-F")[0] == Said("PLAYS_TO_FOUNDATION", ("5h",))


def test_the_other_player_is_shut_out_by_a_load_and_let_in_by_one_that_fits_itself() -> None:
    loaded = [Said("PLAYS_RESERVE", ("8s",), ("OR",)), Said("LOADS", ("8s",), ("OR",))]
    h = "{}.{}.Kh.Ks.Jc.Jd.Jh.Js"
    assert said(partial("12-8s.?.", h=h.format("Kc", "Kd")), "R-OR") == loaded
    assert said(partial("12-8s.?.", h=h.format("Th", "Kd")), "R-OR") == [Said("SHUTS_OUT", ("9s",), ("T1",)), *loaded]
    assert said(partial("12-8s.?.", h=h.format("Th", "9d")), "R-OR") == loaded
    assert said(partial("12-8s.?.", h=h.format("Kc", "9d")), "R-OR") == [Said("LETS_IN", ("8s",), ("T2",)), *loaded]


def test_the_other_player_is_let_in() -> None:
    h = "Th9c.{}.Kh.Ks.Jc.Jd.Jh.Js"
    foundation = Said("PLAYS_TO_FOUNDATION", ("9c",))
    assert said(partial(h=h.format("Kd"), f="8c"), "T1-F") == [Said("LETS_IN", ("9s",), ("T1",)), foundation]
    assert said(partial(h=h.format("Td"), f="8c"), "T1-F") == [foundation]
    # Of several places the first is named, foundations before tableau piles.
    assert said(partial(b="12-Tc.?.", h="Jd.Kd.Kh.Ks.Jc.9c.Jh.Js", f="8c"), "T6-F")[0] == foundation
    assert said(partial(b="12-Tc.?.", h="Kc.Kd.Kh.Ks.Jc.9c.Qh.Js", f="8c"), "T6-F")[0] == Said(
        "LETS_IN", ("Tc",), ("F",)
    )


def test_a_card_that_fits_a_foundation_is_uncovered() -> None:
    h = "6c5h.6s.Kh.Ks.Jc.Jd.Jh.Js"
    uncovered = Said("UNCOVERS", ("6c",), ("T1", "F"))
    assert said(partial(h=h, f="5c"), "T1-T2") == [uncovered]
    assert said(partial(h=h, f="5c 4h"), "T1-F") == [uncovered, Said("PLAYS_TO_FOUNDATION", ("5h",))]
    assert said(partial(h=h, f="4c"), "T1-T2") == []


def test_a_card_that_fits_a_foundation_is_covered() -> None:
    h = "8h.Kd.Kh.Ks.Jc.Jd.Jh.Js"
    reserve_card = Said("PLAYS_RESERVE", ("7c",), ("T1",))
    covered = Said("COVERS_PLAYABLE", ("8h",), ("T1", "F"))
    assert said(partial("12-7c.?.", h=h, f="7h"), "R-T1") == [covered, reserve_card]
    assert said(partial("12-7c.?.", h=h, f="6h"), "R-T1") == [reserve_card]


@pytest.mark.parametrize(
    ("own", "other", "quiet", "ends"),
    [
        ("2c3c.", ".4c", (2, 1), True),  # three cards with the drawn one, and one
        ("2c.3c", ".4c", (2, 1), True),
        ("2c3c.", ".4c", (1, 1), False),
        ("2c3c.", ".4c", (2, 0), False),
        ("2c3c.", "4c.4d", (2, 1), False),
        ("2c3c.", ".", (2, 0), False),  # a turn at least
        ("2c3c.", ".", (2, 1), True),
        (".", ".", (0, 1), True),
    ],
)
def test_a_turn_without_progress_may_end_the_game(own: str, other: str, quiet: tuple[int, int], ends: bool) -> None:
    position = partial(f"12-9h.{own}", f"12-9s.{other}", drawn="8c")
    for player, turns in zip(position.bank.players, quiet, strict=True):
        player.quiet_turns = turns
    assert said(position, "END") == ([Said("ENDS_GAME")] if ends else [])


@pytest.mark.parametrize(("turns", "limit", "ends"), [(499, None, True), (498, None, False), (499, 0, False)])
def test_the_last_turn_ends_the_game(turns: int, limit: int | None, ends: bool) -> None:
    position = partial("12-9h..")
    position.turns = turns
    if limit is not None:
        position.rule_set.bank.max_turns = limit
    assert said(position, "END") == ([Said("ENDS_GAME")] if ends else [])


def test_the_own_reserve_card_is_freed() -> None:
    h = "Ts9d.{}.Kh.Ks.Jc.Jd.Jh.Js"
    foundation = Said("PLAYS_TO_FOUNDATION", ("9d",))
    assert said(partial(h=h.format("Kd"), f="8d"), "T1-F") == [foundation, Said("FREES_RESERVE", ("9h",), ("T1",))]
    assert said(partial(h=h.format("Tc"), f="8d"), "T1-F") == [foundation]


def test_the_next_reserve_card_is_freed_where_it_is_known() -> None:
    h = "Td.Kd.Kh.Ks.Jc.Jd.Jh.Js"
    reserve_card = Said("PLAYS_RESERVE", ("9c",), ("T1",))
    freed = Said("FREES_RESERVE", ("4h",), ("F",))
    b = "12-2h.?."  # which fits nothing either
    assert said(partial("11-4h9c.?.", b, h=h, f="3h"), "R-T1") == [reserve_card, freed]
    assert said(partial("11-4d9c.?.", b, h=h, f="3h"), "R-T1") == [reserve_card]
    assert said(partial("12-9c.?.", b, h=h, f="3h"), "R-T1") == [reserve_card]


def test_a_space_is_made() -> None:
    h = "9c.{}.Kh.Ks.Jc.Jd.Jh.Js"
    foundation = Said("PLAYS_TO_FOUNDATION", ("9c",))
    assert said(partial(h=h.format("Kd"), f="8c"), "T1-F") == [
        Said("LETS_IN", ("9s",), ("T1",)),
        foundation,
        Said("FREES_RESERVE", ("9h",), ("T1",)),
        Said("MAKES_SPACE", (), ("T1",)),
    ]
    # Where there is one already, it lets nobody in.
    assert said(partial(h=h.format(""), f="8c"), "T1-F") == [foundation, Said("MAKES_SPACE", (), ("T1",))]


def test_the_only_space_is_filled() -> None:
    reserve_card = Said("PLAYS_RESERVE", ("9h",), ("T8",))
    assert said(partial(h="Kc.Kd.Kh.Ks.Jc.Jd.QsJh."), "R-T8") == [
        Said("SHUTS_OUT", ("9s",), ("T8",)),
        reserve_card,
        Said("FILLS_SPACE", (), ("T8",)),
    ]
    assert said(partial(h="Kc.Kd.Kh.Ks.QsJh.QcJd.."), "R-T8") == [reserve_card]


def test_the_only_card_of_a_pile_in_the_only_space_changes_nothing() -> None:
    assert said(partial(h="Kc.Kd.Kh.Ks.Jc.Jd.Jh."), "T1-T8") == []  # B11


def test_a_card_is_loaded() -> None:
    assert said(partial("12-5c1.?.", "12-9s.?.4c"), "R-OW") == [
        Said("PLAYS_RESERVE", ("5c1",), ("OW",)),
        Said("LOADS", ("5c1",), ("OW",)),
    ]
    h = "6s5h.Kd.Kh.Ks.Jc.Jd.Jh.Js"
    assert said(partial(b="12-9s.?.4h", h=h), "T1-OW") == [Said("LOADS", ("5h",), ("OW",))]


@pytest.mark.parametrize(
    ("drawn", "place"),
    [("9c", "T1"), ("8s", "OR"), ("6s", "OW"), ("9s", "T1"), ("7s", None), ("7d", "F"), ("8c", None)],
)
def test_a_drawn_card_that_could_be_played_is_thrown_away(drawn: str, place: str | None) -> None:
    position = partial(DEALT, "12-9s.?.7s", h="Td.8c.Kh.Ks.Jc.Jd.Jh.Th", f="6d", drawn=drawn, rules="bank-crapette")
    assert said(position, "END") == ([Said("THROWS_PLAYABLE", (drawn,), (place,))] if place else [])


def test_the_waste_is_turned_over() -> None:
    assert said(partial("12-9h..4c25d"), "TURN") == [Said("TURNS_WASTE_OVER", ("4c2",))]
    assert said(partial("12-9h.2c.4c25d"), "TURN") == []


def test_the_second_player_is_the_mover() -> None:
    position = partial(b="12-8h.?.", mover=2)
    assert said(position, "R-OR") == [Said("PLAYS_RESERVE", ("8h",), ("OR",)), Said("LOADS", ("8h",), ("OR",))]


# In games. Everything that is said is worked out again from what the oracle says of the position before and after.

VARIANTS = [*bank_positions.VARIANTS, dataclasses.replace(RUSSIAN, max_turns=20)]
BUILDING = ("F", *HOUSES)


def named(position: bank_positions.Position) -> Position:
    """A position of the oracle as both players know it; what bears on no reason is left out."""
    known = position.known()

    def pile(cards: Cards) -> Pile:
        return Pile(hidden=cards.count(0), cards=[name(card) for card in cards if card])

    players = [
        BankPlayer(reserve=pile(reserve), stock=pile(stock), waste=pile(waste), quiet_turns=quiet)
        for reserve, stock, waste, quiet in zip(known.reserve, known.stock, known.waste, known.quiet, strict=True)
    ]
    return Position(
        rule_set=RuleSet(preset=position.rules.preset),
        player_to_move=known.mover + 1,
        turns=known.turns,
        bank=BankTable(
            players=players,
            foundations=map(pile, known.foundations),
            tableau=map(pile, known.tableau),
            drawn=name(known.drawn) if known.drawn else "",
        ),
    )


def positions(rules: Rules, seed: int) -> Iterator[bank_positions.Position]:
    """Positions of a game between players who play now at random, now eagerly."""
    chance = random.Random(seed)
    now = bank_positions.Position.deal(rules, seed)
    eager = chance.choice([0.3, 0.7, 0.95])
    while now.game.result is None:
        game = now.game
        few = len(game.reserve[game.mover]) + len(game.stock[game.mover]) + len(game.waste[game.mover]) < 3
        if few or chance.random() < 0.1:
            yield now.copy()
        if chance.random() < 0.1:
            # As if there had been little progress of late, which is rare.
            idle = now.copy()
            idle.game.quiet = [chance.randrange(40), chance.randrange(40)]
            yield idle
        moves = sorted(game.legal_moves())
        move = max(moves, key=lambda move: keenness(move, chance))
        now.play(chance.choice(moves) if chance.random() > eager else move)


def top(game: Game, player: int, source: str) -> str:
    """The name of the card that a player may move from a place."""
    if source == "D":
        card = game.drawn
        assert card is not None
    else:
        card = (game.reserve[player] if source == "R" else game.tableau[int(source[1]) - 1])[-1]
    return f"{card}{card.deck + 1}"


def fit(game: Game, player: int, source: str, targets: Sequence[str]) -> tuple[str, str] | None:
    """A player's card and the first of these targets that takes it if it were that player's turn (B1 to B4)."""
    asked = oracle_copy(game)
    asked.mover = player
    for target in targets:
        if not (asked.explain(Move(source, target)) or "").startswith("B"):
            return top(game, player, source), target
    return None


def expected(position: bank_positions.Position, move: Move) -> list[Said]:
    """What is to be said of a move."""
    game, mover, other = position.game, position.game.mover, 1 - position.game.mover
    after = oracle_copy(game)
    after.play(move)
    over = after.result is not None
    source, target = move.source, move.target
    found: list[Said] = []
    if after.result is not None and after.result.ending == "out":
        found.append(Said("WINS"))
    their_before, their_after = fit(game, other, "R", BUILDING), None if over else fit(after, other, "R", BUILDING)
    if their_before and not their_after and not over:
        found.append(Said("SHUTS_OUT", (their_before[0],), (their_before[1],)))
    if source in HOUSES and not over and (uncovered := fit(after, mover, source, ["F"])):
        found.append(Said("UNCOVERS", (uncovered[0],), (source, "F")))
    if their_after and not their_before:
        found.append(Said("LETS_IN", (their_after[0],), (their_after[1],)))
    if target in HOUSES and (covered := fit(game, mover, target, ["F"])):
        found.append(Said("COVERS_PLAYABLE", (covered[0],), (target, "F")))
    if after.result is not None and after.result.ending != "out":
        found.append(Said("ENDS_GAME"))
    if target == "F":
        found.append(Said("PLAYS_TO_FOUNDATION", (top(game, mover, source),)))
    if source == "R":
        found.append(Said("PLAYS_RESERVE", (top(game, mover, "R"),), (target,)))
    if not over and (freed := fit(after, mover, "R", BUILDING)):
        seen = source != "R" or len(after.reserve[mover]) > position.face_down[mover]
        new = source == "R" or not fit(game, mover, "R", BUILDING)
        if seen and new:
            found.append(Said("FREES_RESERVE", (freed[0],), (freed[1],)))
    spaces_before, spaces_after = game.tableau.count([]), after.tableau.count([])
    if spaces_after > spaces_before:
        found.append(Said("MAKES_SPACE", (), (source,)))
    if spaces_before == 1 and spaces_after == 0:
        found.append(Said("FILLS_SPACE", (), (target,)))
    if target in ("OR", "OW"):
        found.append(Said("LOADS", (top(game, mover, source),), (target,)))
    if source == "END" and (legal := [move for move in EVERY_MOVE if move.source == "D" and not game.explain(move)]):
        found.append(Said("THROWS_PLAYABLE", (top(game, mover, "D"),), (legal[0].target,)))
    if move == TURN and len(after.waste[mover]) < len(game.waste[mover]):
        found.append(Said("TURNS_WASTE_OVER", (top(after, mover, "D"),)))
    return found


def test_in_games_all_that_is_said_is_true_and_all_that_is_to_be_said_is_said() -> None:
    met = set[str]()
    for number in range(GAMES):
        rules = VARIANTS[number % len(VARIANTS)]
        for position in positions(rules, number):
            moves = sorted(position.game.legal_moves())
            for move, told in zip(moves, said_of(named(position), rules, moves), strict=True):
                assert told == expected(position, move), (position, str(move))
                met.update(reason.code for reason in told)
    assert met == set(CODES)
