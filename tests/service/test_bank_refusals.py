"""Positions and rule sets of Russian Bank that are refused: the field, and what was expected there."""

from collections.abc import Callable
from typing import cast

import grpc
import pytest

from tests.service.bank_tables import full, partial, pile, piles
from tests.service.test_refusals import assert_bad_position, assert_refused_by_every_method, refereed
from tests.service.wire import Served, refusal
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    ENDING_STOCK_OUT,
    RESERVE_FIRST_ANYWHERE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    STALEMATE_SCORING_NONE,
    BankOptions,
    DealRequest,
    Ending,
    GameResult,
    ListLegalMovesRequest,
    MaliceOptions,
    MaliceTable,
    Pile,
    Position,
    ReserveFirst,
    RuleSet,
    StalemateScoring,
)

SPITEFUL = "bank-spiteful"
SHIFTED = "KcQd..Kh.Ks.Jc.Jd.Jh.Js"  # after T2-T1
ACES = "Ac.Kd.Ah.Ks.Jc.Jd.Jh.Js"


def changed(change: Callable[[Position], object], base: Position | None = None) -> Position:
    """A sound position after a change."""
    position = base or partial()
    change(position)
    return position


def reserve(position: Position, player: int = 0) -> Pile:
    return position.bank.players[player].reserve


def stock(position: Position, player: int = 0) -> Pile:
    return position.bank.players[player].stock


def opening(position: Position) -> Position:
    position.bank.opening = True
    return position


def shifted(position: Position, *moves: str) -> Position:
    """The same after these tableau moves."""
    position.bank.tableau_moves.extend(moves)
    return position


def with_turns(turns: int, position: Position) -> Position:
    position.turns = turns
    return position


def with_result(ending: int, winner: int, points: int, position: Position) -> Position:
    position.result.CopyFrom(GameResult(ending=cast(Ending.ValueType, ending), winner=winner, points=points))
    return position


def won(turns: int = 0) -> Position:
    """Player 1 has no cards left, the other one plenty."""
    return with_turns(turns, partial("..", "12-9s.?.2c"))


WIN = 30 + 34 + 1 + 2 * (13 + 48)  # the reserve in `won`: 13 cards, and all of player 1's but the four on the tableau


def still(first: int = 2, second: int = 3, rules: str = "bank-russian", *, even: bool = False) -> Position:
    """After so many quiet turns of each; a player has a stock of two cards, the other one a waste of three, or two."""
    position = partial("9h.2c3c.", "9s..2d3d" if even else "9s..2d3d4d", rules=rules)
    for player, turns in zip(position.bank.players, (first, second), strict=True):
        player.quiet_turns = turns
    return position


DIFFERENCE = (3 + 2 * 46) - (2 + 2 * 45)  # to player 1 in `still`


def limited(turns: int, max_turns: int, position: Position) -> Position:
    position.rule_set.bank.max_turns = max_turns
    return with_turns(turns, position)


def crowded() -> Position:
    """Player 1 has 47 hidden cards, though nine of the own deck lie open; player 2's are fewer than that deck has."""
    position = partial("12-9h1.35-.", h="Kc1.Kd1.Kh1.Ks1.Jc1.Jd1.Jh1.Js1")
    del reserve(position).cards[:-1]
    return position


POSITIONS = {
    "one player": (changed(lambda p: p.bank.players.pop()), "bank.players", "2 players"),
    "seven foundations": (changed(lambda p: p.bank.foundations.pop()), "bank.foundations", "8 foundations"),
    "nine tableau piles": (changed(lambda p: p.bank.tableau.add()), "bank.tableau", "8 tableau piles"),
    "no table": (changed(lambda p: p.ClearField("bank")), "bank", "the table of bank-russian"),
    "a table of the other family": (changed(lambda p: p.malice.CopyFrom(MaliceTable())), "bank", "bank-russian"),
    "a card more": (changed(lambda p: p.bank.players[0].waste.cards.append("5c")), "bank", "104 cards"),
    "a drawn card more": (changed(lambda p: p.bank.MergeFrom(type(p.bank)(drawn="5c"))), "bank", "104 cards"),
    "far too many cards": (changed(lambda p: setattr(stock(p), "hidden", 2**32 - 1)), "bank", "104 cards"),
    "no such card": (
        changed(lambda p: p.bank.tableau[0].CopyFrom(Pile(cards=["4x"]))),
        "bank.tableau[0].cards[0]",
        "expected a rank (A23456789TJQK) and a suit (cdhs), for example 7h, or 7h1 where the deck (1 or 2) is known",
    ),
    "no such deck": (
        changed(lambda p: p.bank.tableau[0].CopyFrom(Pile(cards=["Kc3"]))),
        "bank.tableau[0].cards[0]",
        "'Kc3'",
    ),
    "no such drawn card": (
        changed(lambda p: setattr(p.bank, "drawn", "xx"), partial(drawn="5c")),
        "bank.drawn",
        "'xx'",
    ),
    "third copy": (
        changed(lambda p: p.bank.tableau[1].CopyFrom(pile("Kc")), partial(h="Kc.Kd.Kh.Ks.Kc.Jd.Jh.Js")),
        "bank.tableau[4].cards[0]",
        "2 copies of Kc",
    ),
    "twice of one deck": (
        changed(lambda p: p.bank.tableau[1].CopyFrom(pile("Kc1")), partial(h="Kc1.Kd.Kh.Ks.Jc.Jd.Jh.Js")),
        "bank.tableau[1].cards[0]",
        "expected Kc of player 1's deck once",
    ),
    "twice of one deck, hidden": (
        changed(lambda p: reserve(p).concealed.extend(["2c", "2c", *(f"{rank}d" for rank in "A23456789T")])),
        "bank.players[0].reserve.concealed[1]",
        "expected 2c of player 1's deck once",
    ),
    "a card of the other deck, hidden": (
        changed(lambda p: reserve(p).concealed.__setitem__(0, "2c2"), full(partial())),
        "bank.players[0].reserve.concealed[0]",
        "expected a card of player 1's deck",
    ),
    "too few faces, hidden": (
        changed(lambda p: reserve(p, 1).concealed.append("2d")),
        "bank.players[1].reserve.concealed",
        "(12)",
    ),
    "hidden waste card": (
        changed(lambda p: p.bank.players[0].waste.CopyFrom(Pile(hidden=1))),
        "bank.players[0].waste.hidden",
        "expected 0",
    ),
    "hidden tableau card": (
        changed(lambda p: p.bank.tableau[2].CopyFrom(Pile(hidden=1))),
        "bank.tableau[2].hidden",
        "0",
    ),
    "hidden foundation card": (
        changed(lambda p: p.bank.foundations[2].CopyFrom(Pile(hidden=1))),
        "bank.foundations[2].hidden",
        "expected 0",
    ),
    "no reserve top": (
        partial("12-.?.9h"),
        "bank.players[0].reserve.cards",
        "expected the top card",
    ),
    "more of the reserve hidden than was dealt face down": (
        partial("13-9h.34-."),
        "bank.players[0].reserve.hidden",
        "at most 12",
    ),
    "more of a smaller reserve hidden than was dealt face down": (
        changed(lambda p: setattr(p.rule_set.bank, "reserve_cards", 12)),
        "bank.players[0].reserve.hidden",
        "at most 11",
    ),
    "more of the stock hidden than was dealt": (
        partial(b="11-9s.36-."),
        "bank.players[1].stock.hidden",
        "at most 35",
    ),
    "a stock known in part": (
        partial("12-9h.34-5c."),
        "bank.players[0].stock.cards",
        "all hidden, or all known",
    ),
    "quiet turns": (
        changed(lambda p: setattr(p.bank.players[1], "quiet_turns", 30_001)),
        "bank.players[1].quiet_turns",
        "at most 30000",
    ),
    "a foundation without its ace": (
        changed(lambda p: p.bank.foundations[4].cards.remove("Ah"), partial(f="2h", b="12-9s.?.")),
        "bank",
        "104 cards",
    ),
    "a foundation that starts high": (
        changed(lambda p: p.bank.foundations[4].CopyFrom(pile("3h")), partial(f="Ah")),
        "bank.foundations[4].cards[0]",
        "expected Ah; found 3h",
    ),
    "a foundation of another suit": (
        changed(lambda p: p.bank.foundations[4].CopyFrom(pile("As")), partial(f="Ah")),
        "bank.foundations[4].cards[0]",
        "expected Ah; found As",
    ),
    "a foundation above the king": (
        changed(lambda p: p.bank.foundations[4].cards.append("Ah"), partial("12-8s.?.5c", f="Kh")),
        "bank",
        "104 cards",
    ),
    "a tableau pile that does not go down": (
        partial(h="KcJd.Kd.Kh.Ks.Jc.Jd.Jh.Js"),
        "bank.tableau[0].cards[1]",
        "one rank lower than Kc (B3); found Jd",
    ),
    "a tableau pile of one colour": (
        partial(h="Kc.KdQhJs.Kh.Ks.Jc.Jd.Jh.Js"),
        "bank.tableau[1].cards[1]",
        "the other colour and one rank lower than Kd",
    ),
    "more hidden cards than the own deck has": (crowded(), "bank.players[0]", "at most 43 hidden cards"),
    "too many turns": (with_turns(500, partial()), "turns", "fewer than 500"),
    "too many turns for the option": (limited(7, 7, partial()), "turns", "fewer than 7"),
    "nothing left and no result": (won(), "bank.players[0]", "the game is won (B8)"),
    "the other one has nothing left and no result": (
        partial("12-9h.?.", ".."),
        "bank.players[1]",
        "the game is won (B8)",
    ),
    "opening of another preset": (opening(partial(h=ACES)), "bank.opening", "bank-russian has no opening turn"),
    "opening after a turn": (opening(with_turns(1, partial(h=ACES, rules=SPITEFUL))), "bank.opening", "the first one"),
    "opening without an ace": (opening(partial(rules=SPITEFUL)), "bank.opening", "no ace lies on top"),
    "opening with a drawn card": (
        opening(partial(h=ACES, drawn="5c", rules=SPITEFUL)),
        "bank.opening",
        "more than aces of the tableau",
    ),
    "opening with a waste": (
        opening(partial(b="12-9s.?.3c", h=ACES, rules=SPITEFUL)),
        "bank.opening",
        "more than aces of the tableau",
    ),
    "opening after a two": (
        opening(partial(f="2c", h="Ac..Kh.Ks.Jc.Jd.Jh.Js", rules=SPITEFUL)),
        "bank.opening",
        "more than aces",
    ),
    "opening in a finished game": (
        changed(lambda p: setattr(p.rule_set, "preset", SPITEFUL), opening(with_result(ENDING_OUT, 1, WIN, won()))),
        "bank.opening",
        "expected false",
    ),
    "what is no tableau move": (shifted(partial(), "T1-F"), "bank.tableau_moves[0]", "found 'T1-F'"),
    "a tableau move in lower case": (
        shifted(partial(h=SHIFTED), "t2-t1"),
        "bank.tableau_moves[0]",
        "for example T2-T7; found 't2-t1'",
    ),
    "a very long tableau move": (shifted(partial(), "T1" * 5_000), "bank.tableau_moves[0]", "found 'T1T1"),
    "a tableau move to a space": (
        shifted(partial(h=SHIFTED), "T1-T2"),
        "bank.tableau_moves[0]",
        "led to the tableau as it was after it (B3); found T1-T2",
    ),
    "a tableau move of a card that fits where it came from": (
        shifted(partial(), "T5-T1"),
        "bank.tableau_moves[0]",
        "found T5-T1",
    ),
    "a tableau move before others": (
        shifted(partial(h=SHIFTED), "T3-T1", "T2-T1"),
        "bank.tableau_moves[0]",
        "found T3-T1",
    ),
    "too many tableau moves": (
        shifted(partial(h=SHIFTED), *["T1-T2", "T2-T1"] * 501),
        "bank.tableau_moves",
        "at most 1000 moves, found 1002",
    ),
    "drawn in a finished game": (
        changed(lambda p: setattr(p.bank, "drawn", "5c"), with_result(ENDING_OUT, 1, WIN, partial("..", drawn="5c"))),
        "bank.drawn",
        "the game is over",
    ),
    "tableau moves in a finished game": (
        shifted(with_result(ENDING_OUT, 1, WIN, won()), "T2-T1"),
        "bank.tableau_moves",
        "the game is over",
    ),
    "an ending of the other family": (
        with_result(ENDING_STOCK_OUT, 0, 0, still()),
        "result.ending",
        "ENDING_OUT, ENDING_STALEMATE or ENDING_ADJUDICATED",
    ),
    "out with cards left": (with_result(ENDING_OUT, 1, WIN, partial()), "result.ending", "player 1, who moved last"),
    "out, the wrong player to move": (
        changed(lambda p: setattr(p, "player_to_move", 2), with_result(ENDING_OUT, 1, WIN, won())),
        "result.ending",
        "player 2, who moved last",
    ),
    "out, the wrong winner": (with_result(ENDING_OUT, 2, WIN, won()), "result.winner", "expected 1"),
    "out, the wrong points": (with_result(ENDING_OUT, 1, 30, won()), "result.points", f"expected {WIN}"),
    "out after the last turn": (with_result(ENDING_OUT, 1, WIN, won(500)), "turns", "at most 499"),
    "stalemate, quiet too short": (
        with_result(ENDING_STALEMATE, 1, DIFFERENCE, still(2, 2)),
        "result.ending",
        "as many quiet turns as either has in stock and waste (B10)",
    ),
    "stalemate, nobody ended a turn": (
        with_result(ENDING_STALEMATE, 0, 0, partial("9h..", "9s..")),
        "result.ending",
        "as many quiet turns",
    ),
    "stalemate, won": (with_result(ENDING_STALEMATE, 0, 0, won()), "result.ending", "cards with both players"),
    "stalemate, no winner": (with_result(ENDING_STALEMATE, 0, 0, still()), "result.winner", "expected 1"),
    "stalemate, the wrong winner": (
        with_result(ENDING_STALEMATE, 2, DIFFERENCE, still()),
        "result.winner",
        "expected 1",
    ),
    "stalemate, the wrong points": (
        with_result(ENDING_STALEMATE, 1, 1, still()),
        "result.points",
        f"expected {DIFFERENCE}",
    ),
    "stalemate that is worth nothing": (
        with_result(ENDING_STALEMATE, 1, DIFFERENCE, still(rules=SPITEFUL)),
        "result.winner",
        "expected 0",
    ),
    "stalemate after the last turn": (
        with_result(ENDING_STALEMATE, 1, DIFFERENCE, with_turns(501, still())),
        "turns",
        "at most 500",
    ),
    "adjudicated too early": (
        with_result(ENDING_ADJUDICATED, 1, DIFFERENCE, with_turns(499, still(0, 0))),
        "result.ending",
        "as many turns as max_turns says",
    ),
    "adjudicated too late": (
        with_result(ENDING_ADJUDICATED, 1, DIFFERENCE, with_turns(501, still(0, 0))),
        "result.ending",
        "as many turns as max_turns says",
    ),
    "adjudicated without a limit": (
        with_result(ENDING_ADJUDICATED, 1, DIFFERENCE, limited(0, 0, still(0, 0))),
        "result.ending",
        "as many turns as max_turns says",
    ),
    "adjudicated in a stalemate": (
        with_result(ENDING_ADJUDICATED, 1, DIFFERENCE, with_turns(500, still())),
        "result.ending",
        "no stalemate",
    ),
    "adjudicated, the wrong points": (
        with_result(ENDING_ADJUDICATED, 1, 0, with_turns(500, still(0, 0))),
        "result.points",
        f"expected {DIFFERENCE}",
    ),
}


@pytest.mark.parametrize("name", POSITIONS)
async def test_a_position_that_cannot_be_is_refused_by_every_method(served: Served, name: str) -> None:
    await assert_refused_by_every_method(served, name, POSITIONS[name], lambda position: piles(position.bank))


SOUND = {
    "as dealt": partial(),
    "as dealt, every card given": full(partial()),
    "hidden cards that say their deck": changed(
        lambda p: reserve(p).concealed.__setitem__(0, f"{reserve(p).concealed[0]}1"), full(partial())
    ),
    "faces of one pile alone": changed(lambda p: stock(p, 1).ClearField("concealed"), full(partial())),
    "decks known in part": partial(h="Kc2.Kd1.Kh.Ks.Kc.Jd.Jh.Js"),
    "a reserve larger than was dealt": partial("12-9h8h7h6h.?.", "12-9s..", h="Kc.Kd.Kh.Ks.Jc.Jd.Jh.Js"),
    "the second foundation is the higher one": partial(f="3h 8h"),
    "complete foundations": partial(f="Kc Kc Kd", h=".Qd.Kh.Ks.Jh.Jh.Js.Js"),
    "an ace in the tableau after the opening": partial(h=ACES, rules=SPITEFUL),
    "the opening": opening(partial(h=ACES, rules=SPITEFUL)),
    "the opening, an ace played": opening(partial(h="Ac..Kh.Ks.Jc.Jd.Jh.Js", f="Ad", rules=SPITEFUL)),
    "tableau moves": shifted(partial(h=SHIFTED), "T1-T2", "T2-T1"),
    "a great many tableau moves": shifted(partial(h=SHIFTED), *["T1-T2", "T2-T1"] * 500),
    "the last turn": with_turns(499, partial()),
    "any number of turns": limited(1_000_000, 0, partial()),
    "quiet turns": changed(lambda p: setattr(p.bank.players[1], "quiet_turns", 30_000)),
    "an empty stock and waste": partial("9h.."),
    "out": with_result(ENDING_OUT, 1, WIN, won()),
    "out in the last turn": with_result(ENDING_OUT, 1, WIN, won(499)),
    "stalemate": with_result(ENDING_STALEMATE, 1, DIFFERENCE, still()),
    "stalemate by the last turn": with_result(ENDING_STALEMATE, 1, DIFFERENCE, with_turns(500, still())),
    "stalemate, more quiet turns than needed": with_result(ENDING_STALEMATE, 1, DIFFERENCE, still(3, 3)),
    "stalemate, equal": with_result(ENDING_STALEMATE, 0, 0, still(even=True)),
    "stalemate that is worth nothing": with_result(ENDING_STALEMATE, 0, 0, still(rules=SPITEFUL)),
    "stalemate that is worth the difference": with_result(
        ENDING_STALEMATE,
        1,
        DIFFERENCE,
        changed(
            lambda p: setattr(p.rule_set.bank, "stalemate_scoring", STALEMATE_SCORING_DIFFERENCE), still(rules=SPITEFUL)
        ),
    ),
    "adjudicated": with_result(ENDING_ADJUDICATED, 1, DIFFERENCE, with_turns(500, still(0, 0))),
    "adjudicated that is worth nothing": with_result(
        ENDING_ADJUDICATED, 0, 0, with_turns(500, still(0, 0, rules=SPITEFUL))
    ),
}


@pytest.mark.parametrize("name", SOUND)
async def test_a_position_that_can_be_is_accepted(served: Served, name: str) -> None:
    await served.referee.ListLegalMoves(ListLegalMovesRequest(position=SOUND[name]))


async def test_every_fault_is_named_at_once(served: Served) -> None:
    position = partial(h="KcJd.Kd.Kh.Ks.Jc.Jd.Jh.Js", f="Ah")
    position.bank.foundations[4].cards[0] = "2h"
    position.bank.players[0].quiet_turns = 40_000
    refused = await refusal(served.referee.ListLegalMoves(ListLegalMovesRequest(position=position)))
    assert set(refused.fields) == {
        "position.bank.players[0].quiet_turns",
        "position.bank.foundations[4].cards[0]",
        "position.bank.tableau[0].cards[1]",
    }
    assert "(and 2 more)" in refused.message


OPTIONS = {
    "eleven reserve cards": ("bank-russian", BankOptions(reserve_cards=11), "bank.reserve_cards", "12 or 13"),
    "no reserve cards": ("bank-russian", BankOptions(reserve_cards=0), "bank.reserve_cards", "found 0"),
    "max_turns": ("bank-crapette", BankOptions(max_turns=30_001), "bank.max_turns", "0 to 30000"),
    "match_target": ("bank-russian", BankOptions(match_target=1_001), "bank.match_target", "0 to 1000"),
    "unknown reserve_first": (
        SPITEFUL,
        BankOptions(reserve_first=cast(ReserveFirst.ValueType, 3)),
        "bank.reserve_first",
        "RESERVE_FIRST_FOUNDATION; found 3",
    ),
    "unknown stalemate_scoring": (
        SPITEFUL,
        BankOptions(stalemate_scoring=cast(StalemateScoring.ValueType, -1)),
        "bank.stalemate_scoring",
        "STALEMATE_SCORING_DIFFERENCE; found -1",
    ),
    "reserve_first of another preset": (
        "bank-russian",
        BankOptions(reserve_first=RESERVE_FIRST_ANYWHERE),
        "bank.reserve_first",
        "no option of bank-russian",
    ),
    "stalemate_scoring of another preset": (
        "bank-crapette",
        BankOptions(stalemate_scoring=STALEMATE_SCORING_NONE),
        "bank.stalemate_scoring",
        "no option of bank-crapette",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
async def test_a_rule_set_that_cannot_be_is_not_dealt(served: Served, name: str) -> None:
    preset, options, field, expected = OPTIONS[name]
    rule_set = RuleSet(preset=preset, bank=options)
    refused = await refusal(served.referee.Deal(DealRequest(rule_set=rule_set)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_RULE_SET")
    assert list(refused.fields) == [f"rule_set.{field}"]
    assert expected in refused.fields[f"rule_set.{field}"]
    position = partial(rules=preset)
    position.rule_set.CopyFrom(rule_set)
    await assert_bad_position(refereed(served, position)[1], f"position.rule_set.{field}", expected)


@pytest.mark.parametrize(
    "rule_set",
    [
        RuleSet(preset="bank-russian", malice=MaliceOptions(payoff_cards=10)),
        RuleSet(preset="malice-match", bank=BankOptions(max_turns=10)),
    ],
    ids=["of Spite & Malice", "of Russian Bank"],
)
async def test_options_are_of_the_presets_family(served: Served, rule_set: RuleSet) -> None:
    refused = await refusal(served.referee.Deal(DealRequest(rule_set=rule_set)))
    assert list(refused.fields) == [f"rule_set.{rule_set.WhichOneof('options')}"]


@pytest.mark.parametrize(
    "options",
    [
        BankOptions(reserve_first=RESERVE_FIRST_FOUNDATION, stalemate_scoring=STALEMATE_SCORING_DIFFERENCE),
        BankOptions(reserve_cards=12, max_turns=0, match_target=1_000),
        BankOptions(max_turns=30_000),
    ],
)
async def test_options_in_range_are_dealt(served: Served, options: BankOptions) -> None:
    rule_set = RuleSet(preset=SPITEFUL, bank=options)
    assert (await served.referee.Deal(DealRequest(rule_set=rule_set))).position.rule_set == rule_set
