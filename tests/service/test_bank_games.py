"""Whole games of Russian Bank refereed over the wire, beside the oracle."""

import os
import random
from collections.abc import Callable, Sequence

import pytest

from tests.oracle.bank import (
    BANK_CRAPETTE,
    BANK_RUSSIAN,
    BANK_SPITEFUL,
    EVERY_MOVE,
    Card,
    Game,
    Move,
    Rules,
)
from tests.oracle.shuffle import DECK, deal_bank
from tests.service.bank_tables import cards, faces
from tests.service.wire import Served, refusal
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    ApplyMoveRequest,
    ApplyMoveResponse,
    BankOptions,
    CheckMoveRequest,
    DealRequest,
    Event,
    ListLegalMovesRequest,
    Pile,
    Position,
    Reveal,
    RuleSet,
    Slot,
    ViewRequest,
)

GAMES = int(os.environ.get("ZANK_TEST_GAMES", "150")) // 100  # of each rule set; every move is several calls

PRESETS = {
    "spiteful": (RuleSet(preset="bank-spiteful"), BANK_SPITEFUL),
    "russian": (RuleSet(preset="bank-russian"), BANK_RUSSIAN),
    "crapette": (RuleSet(preset="bank-crapette"), BANK_CRAPETTE),
}
RULE_SETS = {
    **PRESETS,
    "options": (
        RuleSet(
            preset="bank-spiteful",
            bank=BankOptions(
                reserve_cards=12,
                reserve_first=RESERVE_FIRST_FOUNDATION,
                stalemate_scoring=STALEMATE_SCORING_DIFFERENCE,
                max_turns=0,
            ),
        ),
        Rules(
            order_of_play="spiteful",
            reserve_first="foundation",
            stalemate_scoring="difference",
            reserve_cards=12,
            max_turns=0,
        ),
    ),
    "few turns": (
        RuleSet(preset="bank-crapette", bank=BankOptions(max_turns=5)),
        Rules(order_of_play="crapette", stalemate_scoring="difference", max_turns=5),
    ),
}
ENDINGS = {"out": ENDING_OUT, "stalemate": ENDING_STALEMATE, "adjudicated": ENDING_ADJUDICATED}
MOVES = [move for move in EVERY_MOVE if move.source != move.target]


def named(card: Card) -> str:
    return f"{card}{card.deck + 1}"


def names(pile: Sequence[Card]) -> list[str]:
    return list(map(named, pile))


def whole(pile: Pile, owner: int) -> list[str]:
    """Every card of a pile with its deck."""
    return [*(f"{card}{owner}" for card in pile.concealed), *pile.cards]


def assert_same(position: Position, game: Game) -> None:
    """The position on the wire is the oracle's."""
    table = position.bank
    assert position.player_to_move == game.mover + 1
    assert position.turns == game.turns
    for number, player in enumerate(table.players):
        assert whole(player.reserve, number + 1) == names(game.reserve[number])
        assert whole(player.stock, number + 1) == names(game.stock[number])
        assert whole(player.waste, number + 1) == names(game.waste[number])
        assert player.quiet_turns == game.quiet[number]
        assert not player.waste.hidden
        assert bool(player.reserve.cards) == bool(game.reserve[number])
    assert [list(pile.cards) for pile in table.foundations] == list(map(names, game.foundations))
    assert [list(pile.cards) for pile in table.tableau] == list(map(names, game.tableau))
    assert table.drawn == ("" if game.drawn is None else named(game.drawn))
    assert table.opening == game.opening
    assert len(table.tableau_moves) >= len(game.seen)
    assert bool(table.tableau_moves) == bool(game.seen)
    assert position.HasField("result") == (game.result is not None)
    if game.result is not None:
        assert position.result.ending == ENDINGS[game.result.ending]
        assert position.result.winner == (0 if game.result.winner is None else game.result.winner + 1)
        assert position.result.points == game.result.points


def replayed(before: Position, answer: ApplyMoveResponse) -> Position:
    """What the events alone make of the cards before, as a client that animates them would have it."""
    position = Position()
    position.CopyFrom(before)
    table = position.bank
    for event in answer.events:
        match event.WhichOneof("kind"):
            case "moved":
                moved = event.moved
                own, other = table.players[moved.player - 1], table.players[2 - moved.player]
                piles = {"R": own.reserve, "W": own.waste, "OR": other.reserve, "OW": other.waste}
                piles |= {f"T{index}": pile for index, pile in enumerate(table.tableau, start=1)}
                if moved.origin == "D":
                    assert table.drawn == moved.card
                    table.drawn = ""
                else:
                    assert piles[moved.origin].cards.pop() == moved.card
                if moved.destination == "F":
                    rank, suit = "A23456789TJQK".index(moved.card[0]), "cdhs".index(moved.card[1])
                    pair = table.foundations[2 * suit : 2 * suit + 2]
                    piles["F"] = next(pile for pile in pair if len(pile.cards) == rank)
                piles[moved.destination].cards.append(moved.card)
            case "waste_turned_over":
                player = table.players[event.waste_turned_over.player - 1]
                assert not player.stock.hidden
                assert not player.stock.cards
                assert event.waste_turned_over.count == len(player.waste.cards)
                player.stock.cards.extend(reversed(player.waste.cards))
                del player.waste.cards[:]
            case "turned_up":
                turned = event.turned_up
                player = table.players[turned.player - 1]
                pile = player.reserve if turned.place == "R" else player.stock
                if pile.hidden:
                    assert f"{pile.concealed.pop()}{turned.player}" == turned.card
                    pile.hidden -= 1
                else:
                    assert pile.cards.pop() == turned.card
                if turned.place == "R":
                    pile.cards.append(turned.card)
                else:
                    table.drawn = turned.card
            case "turn_passed":
                position.player_to_move = event.turn_passed.player
            case "game_over":
                position.result.CopyFrom(event.game_over)
    return position


def of_cards(position: Position) -> Position:
    """A position without what its events do not tell: counts, and what B12 has to know."""
    bare = Position()
    bare.CopyFrom(position)
    bare.ClearField("turns")
    bare.bank.ClearField("opening")
    del bare.bank.tableau_moves[:]
    for player in bare.bank.players:
        player.ClearField("quiet_turns")
    return bare


async def assert_checked_like(served: Served, position: Position, game: Game, move: Move) -> None:
    """A move, legal or not, is judged as the oracle judges it, and so is what comes before it."""
    checked = await served.referee.CheckMove(CheckMoveRequest(position=position, move=str(move)))
    broken = game.explain(move)
    assert (checked.legal, checked.rule) == (broken is None, broken or "")
    assert checked.canonical == (str(move) if checked.legal else "")
    assert bool(checked.text) != checked.legal
    obligatory = set() if checked.legal else game.obligatory(instead_of=move)
    assert list(checked.obligatory) == [str(each) for each in EVERY_MOVE if each in obligatory]
    if checked.obligatory:
        refused = await refusal(served.referee.ApplyMove(ApplyMoveRequest(position=position, move=str(move))))
        assert refused.metadata["rule"] == checked.rule
        assert refused.metadata["obligatory"] == ",".join(checked.obligatory)
        assert checked.text.startswith(refused.metadata["text"])


def keenness(chance: random.Random, keen: float) -> Callable[[Move], tuple[bool, bool, bool, bool, float]]:
    """A sorting key: who is keen builds the foundations, empties the reserve and places the drawn card."""
    eager = chance.random() < keen
    return lambda move: (
        eager and move.target == "F",
        eager and move.source == "R",
        eager and move.source == "D",
        eager and not move.within_tableau,
        chance.random(),
    )


def chosen(game: Game, chance: random.Random, keen: float) -> Move:
    """A legal move, one that B11 or B12 says nothing against unless there is no other."""
    legal = sorted(game.legal_moves())
    useful = [move for move in legal if game.pointless(move) is None or chance.random() < 0.05]
    return max(useful or legal, key=keenness(chance, keen))


@pytest.mark.parametrize("game_number", range(GAMES))
@pytest.mark.parametrize("name", RULE_SETS)
async def test_a_game_is_the_oracles_at_every_step(served: Served, name: str, game_number: int) -> None:
    rule_set, rules = RULE_SETS[name]
    chance = random.Random(f"{name} {game_number}")
    keen = chance.choice([0.5, 0.9, 1.0])
    seed = chance.getrandbits(64)
    position = (await served.referee.Deal(DealRequest(rule_set=rule_set, seed=seed))).position
    game = Game.from_seed(rules, seed)
    assert_same(position, game)
    for _ in range(1_500):
        listed = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
        legal = game.legal_moves()
        assert [move.move for move in listed] == [str(move) for move in EVERY_MOVE if move in legal]
        if game.result is not None:
            return
        if compulsory := game.obligatory():
            assert compulsory == legal
            (rule,) = {move.compelled_by for move in listed}
            assert rule == next(rule for rule, moves in game._compulsory() if moves)
        else:
            assert {move.compelled_by for move in listed} == {""}
        await assert_checked_like(served, position, game, chance.choice(MOVES))
        move = chosen(game, chance, keen)
        answer = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=str(move)))
        game.play(move)
        assert_same(answer.position, game)
        assert sorted(faces(cards(answer.position.bank))) == sorted(DECK)
        assert of_cards(replayed(position, answer)) == of_cards(answer.position)
        assert answer.position.shuffle == position.shuffle
        position = answer.position
    pytest.fail("the game has no end")


async def view(served: Served, position: Position, player: int) -> Position:
    return (await served.referee.View(ViewRequest(position=position, player=player))).position


def come_to_light(events: Sequence[Event], hidden: Position) -> list[Reveal]:
    """The cards that nobody had seen before, and where."""
    return [
        Reveal(slot=Slot(player=event.turned_up.player, place=event.turned_up.place), card=event.turned_up.card)
        for event in events
        if event.HasField("turned_up")
        and (event.turned_up.place == "R" or hidden.bank.players[event.turned_up.player - 1].stock.hidden)
    ]


@pytest.mark.parametrize(("name", "marked"), [("spiteful", True), ("russian", True), ("crapette", False)])
async def test_what_was_seen_of_a_game_is_the_view_of_it(served: Served, name: str, marked: bool) -> None:
    """A player keeps an own position by the moves and the cards that come up, from the deal to the end."""
    rule_set, rules = RULE_SETS[name]
    chance = random.Random(f"{name} {marked}")
    seed = chance.getrandbits(64)
    position = (await served.referee.Deal(DealRequest(rule_set=rule_set, seed=seed))).position
    game = Game.from_seed(rules, seed)
    kept = await view(served, position, 1)
    while game.result is None:
        move = chosen(game, chance, 0.9)
        game.play(move)
        answer = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=str(move)))
        position = answer.position
        assert await view(served, position, 1) == await view(served, position, 2)
        reveals = come_to_light(answer.events, kept)
        request = ApplyMoveRequest(position=kept, move=str(move))
        if reveals:
            unanswered = await served.referee.ApplyMove(request)
            assert unanswered == ApplyMoveResponse(needed=[reveal.slot for reveal in reveals])
        if not marked:
            for reveal in reveals:
                reveal.card = reveal.card[:2]
        request.reveals.extend(reveals)
        own = await served.referee.ApplyMove(request)
        assert own.events == answer.events
        assert own.position == await view(served, position, 1)
        kept = own.position


@pytest.mark.parametrize("reserve_cards", [12, 13])
@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1, 20_260_101])
@pytest.mark.parametrize("preset", ["bank-spiteful", "bank-russian", "bank-crapette"])
async def test_a_deal_is_the_documented_shuffle(served: Served, preset: str, seed: int, reserve_cards: int) -> None:
    rule_set = RuleSet(preset=preset, bank=BankOptions(reserve_cards=reserve_cards))
    position = (await served.referee.Deal(DealRequest(rule_set=rule_set, seed=seed))).position
    expected = deal_bank(seed, reserve_cards)
    assert (position.shuffle.seed, position.shuffle.count) == (seed, 3)
    for number, player in enumerate(position.bank.players, start=1):
        reserve, stock = expected.reserve[number - 1], expected.stock[number - 1]
        assert player.reserve == Pile(hidden=len(reserve) - 1, concealed=reserve[:-1], cards=[f"{reserve[-1]}{number}"])
        assert player.stock == Pile(hidden=len(stock), concealed=stock)
        assert player.waste == Pile()
    tops = [list(pile.cards) for pile in position.bank.tableau]
    assert tops == [[f"{card}{1 + index // 4}"] for index, card in enumerate(expected.tableau)]
    assert not any(pile.cards for pile in position.bank.foundations)
    if preset == "bank-spiteful":
        assert position.player_to_move == expected.coin


async def test_the_opening_turn_is_one_that_has_aces_to_play(served: Served) -> None:
    requests = [DealRequest(rule_set=RuleSet(preset="bank-spiteful"), seed=seed) for seed in range(20)]
    positions = [(await served.referee.Deal(request)).position for request in requests]
    with_aces = [any(pile.cards[-1][0] == "A" for pile in position.bank.tableau) for position in positions]
    assert {*with_aces} == {True, False}
    assert [position.bank.opening for position in positions] == with_aces


async def test_a_deal_drops_options_that_are_the_default(served: Served) -> None:
    options = BankOptions(reserve_cards=13, stalemate_scoring=STALEMATE_SCORING_DIFFERENCE, match_target=301)
    request = DealRequest(rule_set=RuleSet(preset="bank-russian", bank=options), seed=1)
    position = (await served.referee.Deal(request)).position
    assert position.rule_set == RuleSet(preset="bank-russian", bank=BankOptions(match_target=301))
