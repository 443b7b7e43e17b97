"""Whole games refereed over the wire, beside the oracle."""

import os
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from unittest.mock import patch

import pytest

from tests.oracle.malice import RANKS, Game, Rules, parse
from tests.oracle.shuffle import DECK, recycle
from tests.oracle.shuffle import deal as deal_named
from tests.service.tables import cards
from tests.service.wire import Served
from zank.v1 import (
    ENDING_OUT,
    STOCK_OUT_WHEN_SHORT,
    ApplyMoveRequest,
    ApplyMoveResponse,
    CheckMoveRequest,
    DealRequest,
    Event,
    ListLegalMovesRequest,
    MaliceOptions,
    Pile,
    Position,
    Reveal,
    RuleSet,
    Slot,
    ViewRequest,
)

GAMES = int(os.environ.get("ZANK_TEST_GAMES", "150")) // 25  # of each rule set; every move is two or three calls

PLACES = [*(f"C{number}" for number in (1, 2, 3)), *(f"S{number}" for number in (1, 2, 3, 4))]
MOVES = [f"{source}-{place}" for source in ("P", *PLACES[3:], *RANKS) for place in PLACES]

RULE_SETS = {
    "match": (RuleSet(preset="malice-match"), Rules()),
    "classic": (
        RuleSet(preset="malice-classic"),
        Rules(wild_starts_stack=False, stock_out_result="shorter"),
    ),
    "options": (
        RuleSet(
            preset="malice-classic",
            malice=MaliceOptions(
                payoff_cards=30,
                wild_starts_stack=True,
                side_play_ends_turn=True,
                stock_out_when=STOCK_OUT_WHEN_SHORT,
            ),
        ),
        Rules(
            payoff_cards=30,
            wild_starts_stack=True,
            side_play_ends_turn=True,
            stock_out_when="short",
            stock_out_result="shorter",
        ),
    ),
}


def ranks(cards: Sequence[str]) -> list[int]:
    return [RANKS.index(card[0]) + 1 for card in cards]


def whole(pile: Pile) -> list[int]:
    return ranks([*pile.concealed, *pile.cards])


def assert_same(position: Position, game: Game) -> None:
    """The position on the wire is the oracle's."""
    table = position.malice
    assert position.player_to_move == game.mover + 1
    for player, payoff, hand, sides in zip(table.players, game.payoff, game.hand, game.sides, strict=True):
        assert whole(player.payoff) == payoff
        assert player.payoff.hidden == max(0, len(payoff) - 1)
        assert ranks(player.hand.cards) == hand
        assert [ranks(pile.cards) for pile in player.sides] == sides
    assert [ranks(pile.cards) for pile in table.centers] == game.centers
    assert Counter(whole(table.stock)) == game.stock
    assert position.HasField("result") == (game.result is not None)
    if game.result is not None:
        winner = 0 if game.result.winner is None else game.result.winner + 1
        assert (position.result.winner, position.result.points) == (winner, game.result.points)
        assert (position.result.ending == ENDING_OUT) == (game.result.ending == "out")


def replayed(before: Position, answer: ApplyMoveResponse) -> Position:
    """What the events alone make of the position before, as a client that animates them would have it."""
    position = Position()
    position.CopyFrom(before)
    table = position.malice
    for event in answer.events:
        match event.WhichOneof("kind"):
            case "moved":
                moved = event.moved
                player = table.players[moved.player - 1]
                if moved.origin == "H":
                    player.hand.cards.remove(moved.card)
                else:
                    pile = player.payoff if moved.origin == "P" else player.sides[int(moved.origin[1]) - 1]
                    assert pile.cards.pop() == moved.card
                targets = {"C": table.centers, "S": player.sides}[moved.destination[0]]
                targets[int(moved.destination[1]) - 1].cards.append(moved.card)
                if moved.origin == "H" and moved.card in table.recycled.cards:
                    table.recycled.cards.remove(moved.card)
            case "turned_up":
                payoff = table.players[event.turned_up.player - 1].payoff
                assert payoff.concealed.pop() == event.turned_up.card
                payoff.hidden -= 1
                payoff.cards.append(event.turned_up.card)
            case "center_recycled":
                center = table.centers[int(event.center_recycled.place[1]) - 1]
                gone = list(event.center_recycled.cards)
                assert list(center.cards) == gone
                del center.cards[:]
                stock = recycle(table.stock.concealed, gone, position.shuffle.seed, position.shuffle.count)
                table.stock.CopyFrom(Pile(hidden=len(stock), concealed=stock))
                position.shuffle.count += 1
                table.recycled.cards.extend(gone)
            case "drawn":
                drawn = list(event.drawn.cards)
                assert list(table.stock.concealed)[::-1][: len(drawn)] == drawn
                stock = list(table.stock.concealed)[: -len(drawn)]
                table.stock.CopyFrom(Pile(hidden=len(stock), concealed=stock))
                table.players[event.drawn.player - 1].hand.cards.extend(drawn)
            case "turn_passed":
                position.player_to_move = event.turn_passed.player
                position.turns += 1
            case "game_over":
                position.result.CopyFrom(event.game_over)
    table.recycled.cards.sort()
    return position


def sorted_recycled(position: Position) -> Position:
    copy = Position()
    copy.CopyFrom(position)
    copy.malice.recycled.cards.sort()
    return copy


async def assert_checked_like(served: Served, position: Position, game: Game, move: str) -> None:
    """A move, legal or not, is judged as the oracle judges it."""
    checked = await served.referee.CheckMove(CheckMoveRequest(position=position, move=move))
    broken = game.explain(parse(move))
    assert (checked.legal, checked.rule) == (broken is None, broken or "")
    assert checked.canonical == (move if checked.legal else "")
    assert bool(checked.text) != checked.legal


@pytest.mark.parametrize("game_number", range(GAMES))
@pytest.mark.parametrize("name", RULE_SETS)
async def test_a_game_is_the_oracles_at_every_step(served: Served, name: str, game_number: int) -> None:
    rule_set, rules = RULE_SETS[name]
    chooser = random.Random(game_number)
    eager = chooser.choice([0.0, 0.5, 0.95])
    seed = chooser.getrandbits(64)
    position = (await served.referee.Deal(DealRequest(rule_set=rule_set, seed=seed))).position
    dealt = deal_named(seed, rules.payoff_cards)
    deck = [*dealt.payoff[0], *dealt.payoff[1], *dealt.hand[0], *dealt.hand[1], *dealt.stock]
    game = Game.deal(rules, ranks(deck), dealt.starter - 1)
    assert_same(position, game)
    for _ in range(400):
        listed = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
        assert {move.move for move in listed} == {str(move) for move in game.legal_moves()}
        assert len(listed) == len({move.move for move in listed})
        if game.result is not None:
            assert not listed
            return
        await assert_checked_like(served, position, game, chooser.choice(MOVES))
        plays = [move.move for move in listed if "-C" in move.move]
        payoff = [move for move in plays if move.startswith("P")]
        move = chooser.choice([item.move for item in listed])
        if plays and chooser.random() < eager:
            move = (payoff or plays)[0]
        answer = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))

        drawn = [event.drawn for event in answer.events if event.HasField("drawn")]

        def draw(player: int, count: int, stock: Counter[int], drawn: object = drawn) -> list[int]:
            assert isinstance(drawn, list)
            (only,) = drawn
            assert (only.player, len(only.cards), only.count) == (player + 1, count, count)
            return ranks(only.cards)

        game.play(parse(move), draw)
        assert_same(answer.position, game)
        assert sorted(cards(answer.position.malice)) == sorted(DECK)
        assert replayed(position, answer) == sorted_recycled(answer.position)
        recycled = Counter(answer.position.malice.recycled.cards)
        hidden = Counter(answer.position.malice.stock.concealed)
        hidden.update(card for player in answer.position.malice.players for card in player.hand.cards)
        assert recycled <= hidden
        position = answer.position


async def view(served: Served, position: Position, player: int) -> Position:
    return (await served.referee.View(ViewRequest(position=position, player=player))).position


def known_events(answer: ApplyMoveResponse, player: int) -> list[Event]:
    """What happened, as a player saw it."""
    events = []
    for event in answer.events:
        seen = Event()
        seen.CopyFrom(event)
        if seen.HasField("drawn") and seen.drawn.player != player:
            seen.drawn.ClearField("cards")
        events.append(seen)
    return events


def come_to_light(events: Sequence[Event]) -> list[Reveal]:
    """The cards that a player saw for the first time, and where."""
    reveals = []
    for event in events:
        if event.HasField("turned_up"):
            slot = Slot(player=event.turned_up.player, place=event.turned_up.place)
            reveals.append(Reveal(slot=slot, card=event.turned_up.card))
        for index, card in enumerate(event.drawn.cards):
            reveals.append(Reveal(slot=Slot(player=event.drawn.player, place="H", index=index), card=card))
    return reveals


VIEWED = {
    **{name: rule_set for name, (rule_set, _) in RULE_SETS.items()},
    "few payoff cards": RuleSet(
        preset="malice-match",
        malice=MaliceOptions(payoff_cards=4, side_play_ends_turn=True, stock_out_when=STOCK_OUT_WHEN_SHORT),
    ),
}


@pytest.mark.parametrize("game_number", range(GAMES // 3))
@pytest.mark.parametrize("name", VIEWED)
async def test_what_each_player_saw_of_a_game_is_the_view_of_it(served: Served, name: str, game_number: int) -> None:
    """Both players keep their own position by the moves and the cards that they saw, from the deal to the end."""
    chooser = random.Random(f"{name} {game_number}")
    eager = chooser.choice([0.5, 0.95, 1.0])
    request = DealRequest(rule_set=VIEWED[name], seed=chooser.getrandbits(64))
    position = (await served.referee.Deal(request)).position
    kept = {player: await view(served, position, player) for player in (1, 2)}
    for _ in range(400):
        listed = (await served.referee.ListLegalMoves(ListLegalMovesRequest(position=position))).moves
        if not listed:
            return
        plays = [move.move for move in listed if "-C" in move.move]
        move = chooser.choice([item.move for item in listed])
        if plays and chooser.random() < eager:
            move = plays[0]
        mover = position.player_to_move
        answer = await served.referee.ApplyMove(ApplyMoveRequest(position=position, move=move))
        position = answer.position
        moved = answer.events[0].moved
        for player in (1, 2):
            seen = move if player == mover or moved.origin != "H" else f"{moved.card}-{moved.destination}"
            events = known_events(answer, player)
            reveals = come_to_light(events)
            request_ = ApplyMoveRequest(position=kept[player], move=seen)
            checked = await served.referee.CheckMove(CheckMoveRequest(position=kept[player], move=seen))
            assert (checked.legal, checked.canonical) == (True, seen)
            if reveals:
                unanswered = await served.referee.ApplyMove(request_)
                assert list(unanswered.needed) == [reveal.slot for reveal in reveals]
                assert not unanswered.HasField("position")
                assert not unanswered.events
            request_.reveals.extend(chooser.sample(reveals, len(reveals)))
            own = await served.referee.ApplyMove(request_)
            assert list(own.events) == events
            assert own.position == await view(served, position, player)
            kept[player] = own.position


@pytest.mark.parametrize("payoff_cards", [1, 20, 30])
@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1, 20_260_101])
async def test_a_deal_is_the_documented_shuffle(served: Served, seed: int, payoff_cards: int) -> None:
    rule_set = RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=payoff_cards))
    position = (await served.referee.Deal(DealRequest(rule_set=rule_set, seed=seed))).position
    expected = deal_named(seed, payoff_cards)
    assert position.player_to_move == expected.starter
    assert (position.shuffle.seed, position.shuffle.count) == (seed, 1)
    for player, payoff, hand in zip(position.malice.players, expected.payoff, expected.hand, strict=True):
        assert [*player.payoff.concealed, *player.payoff.cards] == payoff
        assert player.payoff.hidden == payoff_cards - 1
        assert list(player.hand.cards) == hand
    assert list(position.malice.stock.concealed) == expected.stock
    assert position.malice.HasField("recycled")
    assert not position.malice.recycled.cards


async def test_a_deal_without_a_seed_is_random_and_says_its_seed(served: Served) -> None:
    request = DealRequest(rule_set=RuleSet(preset="malice-classic"))
    first, second = [(await served.referee.Deal(request)).position for _ in range(2)]
    assert first.shuffle.seed != second.shuffle.seed
    request.seed = first.shuffle.seed
    assert (await served.referee.Deal(request)).position == first
    with patch.object(secrets, "randbits", return_value=0):
        request.ClearField("seed")
        assert (await served.referee.Deal(request)).position.shuffle.seed == 0


async def test_a_deal_drops_options_that_are_the_default(served: Served) -> None:
    rule_set = RuleSet(preset="malice-match", malice=MaliceOptions(payoff_cards=20, match_target=100))
    position = (await served.referee.Deal(DealRequest(rule_set=rule_set, seed=1))).position
    assert position.rule_set == RuleSet(preset="malice-match", malice=MaliceOptions(match_target=100))
